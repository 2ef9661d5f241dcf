r"""Grades that one reply gives together, against the same criteria asked for in calls of their own.

Trials of both are paired by item, wording, order and replicate. With r_cd the correlation of the
grades of two criteria over replies, of the pairs in which all grades are there::

    mean halo        mean of r_cd over the pairs of criteria, less that of the human grades
    ceiling share    share of grades that are the highest of their scale
    agreement        share of grades that are the human ones
    missing grades   share of grades that the replies lack

The human grades drop out of the change of the mean halo, which is therefore known without them:
then the values are the mean correlations themselves. It is tested by its interval, the jackknife
over clusters; the other lines by swaps of the two ways within clusters (`stats.comparison`). All
lines are one family (Holm): where asking apart changes nothing, a line says that it does in at most
5% of comparisons. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.instruments.rubric.grades import criteria_of, scores
from pytest_judgesense.instruments.rubric.halo import mean_difference
from pytest_judgesense.instruments.rubric.measures import CEILING_SHARE, MEAN_HALO, MISSING_GRADES
from pytest_judgesense.measures.cell import FAILED, Cell
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.measures.shared import AGREEMENT
from pytest_judgesense.registry import ChangeByCalls
from pytest_judgesense.stats.clustered import clustered_statistic
from pytest_judgesense.stats.comparison import (
    Adjusted,
    agreeing_ends,
    holm,
    level_reached,
    paired_difference,
)
from pytest_judgesense.stats.correlation import pearson
from pytest_judgesense.stats.inputs import LEVEL, Floats
from pytest_judgesense.trial import Criterion, Order

_ROUNDING: Final = 1e-9
_Place: TypeAlias = tuple[str, str, Order, int]


class _Paired(NamedTuple):
    """The grades of trials that were asked in both ways, NaN for one that is missing.

    Attributes:
        joint: shares of the grades given together, shape (trials, criteria); ``each`` apart.
        human: shares of the human grades, the same shape.
        clusters: the cluster of each trial, as a code.
    """

    joint: Floats
    each: Floats
    human: Floats
    clusters: NDArray[np.intp]


class _Tested(NamedTuple):
    """The change of a measure, before it is one of several.

    Attributes:
        p: of no change, two-sided.
        ends: the 95% interval.
    """

    p: float
    ends: tuple[float, float]


class _Line(NamedTuple):
    """A measure in both ways, and its change; ``None`` of fewer clusters than tell of others."""

    measure: Measure
    joint: float
    each: float
    tested: _Tested | None
    n: int
    clusters: int

    def in_family(self, adjusted: Adjusted) -> ChangeByCalls:
        """The line as one of several, with the p-value of its test in their family."""
        ends = None
        if self.tested is not None:
            change = self.each - self.joint
            ends = agreeing_ends(change, self.tested.ends, self.tested.p, adjusted)
        of_both = self.measure, self.joint, self.each
        return ChangeByCalls(*of_both, adjusted.p, ends, self.n, self.clusters)


def changes_by_calls(joint: Cell, each: Cell) -> tuple[ChangeByCalls, ...]:
    """What differs where each criterion has a call of its own; nothing without common trials.

    Args:
        joint: the judgments on all criteria in one call.
        each: those of the same judge on the same trials, asked apart.
    """
    paired = _paired(joint, each)
    if not paired.clusters.size:
        return ()
    both, criteria = (paired.joint, paired.each), criteria_of(joint.design)
    every = (
        _halo(paired),
        _of_grades(CEILING_SHARE, paired, *map(_highest, both)),
        _of_grades(AGREEMENT, paired, *(_as_people(g, paired.human, criteria) for g in both)),
        _of_grades(MISSING_GRADES, paired, *map(_missing, both)),
    )
    lines = [line for line in every if line is not None]
    adjusted = holm([1.0 if line.tested is None else line.tested.p for line in lines])
    return tuple(line.in_family(of_line) for line, of_line in zip(lines, adjusted, strict=True))


def _paired(joint: Cell, each: Cell) -> _Paired:
    """The trials of which both cells have a reply."""
    replied = [cell.outcomes != FAILED for cell in (joint, each)]
    by_place = {_place(each, n): n for n in np.flatnonzero(replied[1]).tolist()}
    places = [
        (number, by_place[place])
        for number in np.flatnonzero(replied[0]).tolist()
        if (place := _place(joint, number)) in by_place
    ]
    of_joint, of_each = np.array(places, dtype=np.intp).reshape(-1, 2).T
    (grades, human), (apart, human_apart) = _grades(joint), _grades(each)
    # Where one of the two replies has no grade, its trial says nothing of people.
    of_people = np.where(np.isnan(human[of_joint]), human_apart[of_each], human[of_joint])
    clusters = joint.cluster_codes[0][of_joint].astype(np.intp)
    return _Paired(grades[of_joint], apart[of_each], of_people, clusters)


def _place(cell: Cell, number: int) -> _Place:
    trial = cell.judgments[number].trial
    return trial.item, trial.template, trial.order, trial.replicate


def _grades(cell: Cell) -> tuple[Floats, Floats]:
    """The shares of the grades of each judgment, and of the human ones; NaN for none."""
    table = scores(cell)
    shape = len(cell.judgments), len(criteria_of(cell.design))
    grades, human = np.full(shape, np.nan), np.full(shape, np.nan)
    grades[table.replies], human[table.replies] = table.judge, table.human
    return grades, human


def _halo(paired: _Paired) -> _Line | None:
    """The mean correlation of two criteria beyond that of the human grades, where there are any."""
    whole = ~np.isnan(np.hstack([paired.joint, paired.each])).any(axis=1)
    has_human = whole & ~np.isnan(paired.human).any(axis=1)
    rows = has_human if has_human.any() else whole
    if not rows.any():
        return None
    clusters, compared = paired.clusters[rows], [paired.joint[rows], paired.each[rows]]
    compared += [paired.human[rows]] * bool(has_human.any())
    # A pair of which a side never varies is left out everywhere.
    varies = np.all([np.ptp(grades, axis=0) > _ROUNDING for grades in compared], axis=0)
    joint, each, *human = (grades[:, varies] for grades in compared)
    columns = [*each.T, *joint.T]
    change = mean_difference(*columns)
    if math.isnan(change):
        return None
    value = _mean_correlation(joint) - sum(map(_mean_correlation, human))
    interval = clustered_statistic(mean_difference, columns, clusters, (-2.0, 2.0))
    return _Line(MEAN_HALO, value, value + change, _by_bounds(interval), *_counts(clusters))


def _by_bounds(interval: Clustered | None) -> _Tested | None:
    """The test of no change that rejects where an interval excludes 0."""
    if interval is None or interval.at is None:
        return None
    at = interval.at
    one_sided = level_reached(lambda alpha: not at(1 - alpha)[0] <= 0 <= at(1 - alpha)[1])
    return _Tested(min(1.0, 2 * one_sided), (interval.lower, interval.upper))


def _mean_correlation(grades: Floats) -> float:
    """The mean correlation of two criteria, all of which vary."""
    return float(np.mean([pearson(a, b) for a, b in combinations(grades.T, 2)]))


def _of_grades(measure: Measure, paired: _Paired, joint: Floats, each: Floats) -> _Line | None:
    """A share of grades in both ways: 0 or 1 for each grade, NaN where it does not count."""
    both = ~np.isnan(joint) & ~np.isnan(each)
    if not both.any():
        return None
    clusters = np.broadcast_to(paired.clusters[:, None], both.shape)[both]
    difference = paired_difference(each[both] - joint[both], clusters)
    tested = None
    if difference is not None:
        p = min(1.0, 2 * min(difference.p_worse, difference.p_better))
        tested = _Tested(p, difference.ends(LEVEL))
    means = float(joint[both].mean()), float(each[both].mean())
    return _Line(measure, *means, tested, *_counts(clusters))


def _counts(clusters: NDArray[np.intp]) -> tuple[int, int]:
    return clusters.size, np.unique(clusters).size


def _highest(grades: Floats) -> Floats:
    return np.where(np.isnan(grades), np.nan, grades > 1 - _ROUNDING)


def _missing(grades: Floats) -> Floats:
    return np.isnan(grades).astype(np.float64)


def _as_people(grades: Floats, human: Floats, criteria: Sequence[Criterion]) -> Floats:
    """Whether each grade is the human one, of which the nearest counts, halves upwards."""
    steps = np.array([len(criterion.labels) - 1 for criterion in criteria])
    nearest = np.floor(human * steps + 0.5 + _ROUNDING)
    known = ~np.isnan(grades) & ~np.isnan(human)
    return np.where(known, np.rint(grades * steps) == nearest, np.nan)
