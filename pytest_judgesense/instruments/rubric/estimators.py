"""Measures of a rubric judge's grades: stability, use of the scale, missing grades.

A unit is a grade: one criterion in one reply (see `grades`). A *share* is the place of a grade on
its scale, from 0 to 1. Without a criterion among its conditions an estimate is taken over the
grades of all criteria.

**Stability**: JSS, flips, kappa, agreement within one, quadratic kappa and repeat flips are those
of `paraphrase`, of grades. ``pass_mark_flips``: outputs, in one order and replicate, that two
wordings put on two sides of the mark, over those that two or more have graded.

**Use of the scale**, p_g the share of grade g among the grades of a criterion::

    ceiling_share = mean 1[g is the highest label]
    levels_used   = exp(-sum p_g ln p_g), mean over criteria

the number of equally frequent grades of the same entropy (Hill 1973, order 1).

Intervals of shares are those of `stats.clustered` over clusters, of other statistics the jackknife
over clusters.

The replies behind a number on grades. Pure.

Finders get whole replies and look at grades in derived cells (see `grades`); they return the
replies that hold these grades.

References:
    M. O. Hill (1973), Ecology 54, 427-432 (effective numbers).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.paraphrase.estimators import estimates as of_wordings
from pytest_judgesense.instruments.paraphrase.estimators import flips as differing
from pytest_judgesense.instruments.rubric import measures as of
from pytest_judgesense.instruments.rubric.grades import (
    APART,
    SYSTEM,
    WORDS,
    by_criterion,
    grades_said,
    marked,
    named,
    overall,
    scores,
)
from pytest_judgesense.instruments.rubric.halo import worst_pair
from pytest_judgesense.instruments.rubric.separability import system_pairs
from pytest_judgesense.instruments.rubric.statistic import NO_GRADES, of_parts, statistic_estimate
from pytest_judgesense.measures.cell import (
    FAILED,
    UNPARSED,
    VERDICT,
    Cell,
    Units,
    answered,
    missing_of,
    rate,
    unavailable,
)
from pytest_judgesense.measures.every_suite import Find, Group
from pytest_judgesense.measures.every_suite import repeats as differing_repeats
from pytest_judgesense.measures.rates import disagree, rate_of_disagreement, repeat_flip_rate
from pytest_judgesense.trial import Condition, grouped


def stability(cell: Cell) -> list[Estimate]:
    """The effect of the wording, by criterion and, over all grades, by pair of templates."""

    def estimate(part: Cell, condition: Condition) -> list[Estimate]:
        if not condition:
            reason = "criteria have scales of their own; it is measured for each criterion"
            unlike = (unavailable(measure, cell, reason) for measure in of.ORDINAL)
            return [*of_wordings(part), *(() if part.design.ordinal else unlike)]
        estimates = of_wordings(part, by_pair=False)
        return [replace(e, condition=dict(condition)) for e in estimates if not e.condition]

    return of_parts(cell, estimate)


def repeats(cell: Cell) -> list[Estimate]:
    """Grades that asking again changes."""
    return of_parts(cell, lambda part, condition: [repeat_flip_rate(part, condition)])


def missing_grades(cell: Cell) -> list[Estimate]:
    """Grades that replies lack, of those asked for in the replies received."""

    def estimate(part: Cell, condition: Condition) -> list[Estimate]:
        units = Units.of_calls(part, part.outcomes == UNPARSED, usable=part.outcomes != FAILED)
        return [rate(of.MISSING_GRADES, cell, units, condition)]

    return of_parts(cell, estimate, whole=False)


def pass_mark_flips(cell: Cell) -> list[Estimate]:
    """Outputs on both sides of the pass mark."""
    sides = marked(cell)
    if sides is None:
        reason = "the suite has no pass mark; set pass_mark in [space]"
        return [unavailable(of.PASS_MARK_FLIPS, cell, reason)]
    groups = sides.alike("order", "replicate")
    groups = groups.subset(groups.sizes > 1)
    if not groups.starts.size:
        reason = "fewer than two templates were run on one item"
        return [unavailable(of.PASS_MARK_FLIPS, cell, reason)]
    flips = rate_of_disagreement(of.PASS_MARK_FLIPS, sides, groups)
    return [replace(flips, observations=None)]


def ceiling_share(cell: Cell) -> list[Estimate]:
    """The share of the highest grade."""
    tops = {name: part.design.labels[-1] for name, part in by_criterion(cell).items()}

    def estimate(part: Cell, condition: Condition) -> list[Estimate]:
        verdicts, words = part.coded("verdict")
        criteria, names = part.coded("criterion", lambda grade: grade.trial.id.rpartition(APART)[2])
        place = {word: code for code, word in enumerate(words)}
        highest = np.array([place.get(tops[name], len(words)) for name in names])
        units = Units.of_calls(part, verdicts == highest[criteria])
        return [rate(of.CEILING_SHARE, cell, units, condition)]

    return of_parts(cell, estimate, whole=False)


def levels_used(cell: Cell) -> list[Estimate]:
    """The effective number of grades, mean over criteria and for each."""
    cells = by_criterion(cell)
    estimates: list[Estimate] = []
    for chosen in (tuple(cells), *((name,) for name in cells)):
        condition = {} if len(chosen) == len(cells) and not estimates else {"criterion": chosen[0]}
        of_each = [cells[name] for name in chosen]
        read = [part.outcomes == VERDICT for part in of_each]
        numbers = [
            part.coded("verdict")[0][there] for part, there in zip(of_each, read, strict=True)
        ]
        which = np.repeat(np.arange(len(chosen)), [codes.size for codes in numbers])
        clusters = [part.cluster_codes[0][there] for part, there in zip(of_each, read, strict=True)]
        # Criteria without any grade do not count.
        estimates.append(
            statistic_estimate(
                of.LEVELS_USED,
                cell,
                condition,
                _effective_levels,
                [which, np.concatenate(numbers)],
                np.concatenate(clusters),
                (1.0, float(max(len(part.design.labels) for part in of_each))),
                missing=missing_of(np.concatenate([part.outcomes for part in of_each])),
                undefined=NO_GRADES,
                biased=True,
            )
        )
    return estimates


def _effective_levels(
    criteria: NDArray[np.intp], grades: NDArray[np.int32], counts: NDArray[np.intp] | None = None
) -> float:
    shape = int(criteria.max(initial=0)) + 1, int(grades.max(initial=0)) + 1
    table = np.bincount(criteria * shape[1] + grades, counts, shape[0] * shape[1]).reshape(shape)
    entropies = [entr(counts / counts.sum()).sum() for counts in table if counts.sum()]
    return float(np.mean(np.exp(entropies))) if entropies else math.nan


# Of each end of a scale on which no single reply is at fault.
_AT_EACH_END = 10


def _whole(cell: Cell, groups: Iterable[Group]) -> list[Group]:
    """The replies behind grades, each group once."""
    by_id = {judgment.trial.id: judgment for judgment in cell.judgments}
    ids_of_groups = {
        tuple(judgment.trial.id.rpartition(APART)[0] for judgment in group): None
        for group in groups
    }
    return [tuple(by_id[name] for name in ids) for ids in ids_of_groups]


def flips(cell: Cell, condition: Mapping[str, Any]) -> list[Group]:
    """Replies under two wordings whose grades differ."""
    groups = _whole(cell, differing(named(cell, condition), {}))
    two = str(condition.get("template_pair", "")).split("~")
    if len(two) < 2:
        return groups
    return [
        group for group in groups if {judgment.trial.template for judgment in group} == set(two)
    ]


def repeated(cell: Cell, condition: Mapping[str, Any]) -> list[Group]:
    """Replicates whose grades differ."""
    return _whole(cell, differing_repeats(named(cell, condition), {}))


def over_the_mark(cell: Cell, _: Mapping[str, Any]) -> list[Group]:
    """Replies on one output that put it on both sides of the mark."""
    sides = marked(cell)
    groups = sides.judged(sides.alike("order", "replicate")) if sides else ()
    return _whole(cell, (group for group in groups if disagree(*group)))


def _with_grade(grade: Callable[[Cell], str | None]) -> Find:
    """A finder of replies with a grade of each criterion, those with most of them first."""

    def find(cell: Cell, condition: Mapping[str, Any]) -> list[Group]:
        name = condition.get("criterion")
        counts: Counter[str] = Counter()
        for part in by_criterion(cell).values() if name is None else [named(cell, condition)]:
            graded = filter(answered, part.judgments)
            wanted = grade(part)
            counts.update(j.trial.id.rpartition(APART)[0] for j in graded if j.verdict == wanted)
        return _ranked(cell, counts)

    return find


def _usual(cell: Cell) -> str | None:
    grades = Counter(judgment.verdict for judgment in cell.judgments if answered(judgment))
    return max(grades, key=grades.__getitem__, default=None)


at_the_ceiling = _with_grade(lambda cell: cell.design.labels[-1])
most_frequent = _with_grade(_usual)


def _ranked(cell: Cell, counts: Mapping[str, float]) -> list[Group]:
    """The replies with the highest counts, as single calls."""
    counted = [judgment for judgment in cell.judgments if counts.get(judgment.trial.id)]
    return [(judgment,) for judgment in sorted(counted, key=lambda j: -counts[j.trial.id])]


def lacking(cell: Cell, condition: Mapping[str, Any]) -> list[Group]:
    """Replies without a grade that was asked for."""
    derived = named(cell, condition)
    return _whole(cell, ((judgment,) for judgment in derived.judgments if not answered(judgment)))


def not_apart(cell: Cell, _: Mapping[str, Any]) -> list[Group]:
    """Replies on the two systems with the least significant difference, by item of a cluster."""
    together = [pair for pair in system_pairs(cell) if not pair.apart]
    if not together:
        return []
    pair = max(together, key=lambda pair: pair.p)
    place = attrgetter("trial.cluster", "trial.template", "trial.replicate")
    groups = grouped(cell.judgments, place).values()
    by_system = [
        {judgment.trial.condition.get(SYSTEM): judgment for judgment in some} for some in groups
    ]
    both: list[Group] = [
        (by[pair.first], by[pair.second]) for by in by_system if {*pair[:2]} <= {*by}
    ]
    return both


def alike_in_pair(cell: Cell, condition: Mapping[str, Any]) -> list[Group]:
    """Replies that grade two criteria alike, those that people grade most unlike first.

    The criteria are those of the condition, else those of the worst pair.
    """
    names = list(by_criterion(cell))
    pair = str(condition.get("criterion_pair", "")).split("~")
    if len(pair) != 2:
        worst = worst_pair(cell)
        pair = [] if worst is None else [worst.first, worst.second]
    if not {*pair} <= {*names} or not pair:
        return []
    table, (first_criterion, other) = scores(cell), map(names.index, pair)
    apart = np.abs(np.nan_to_num(table.human[:, first_criterion] - table.human[:, other]))
    even = np.flatnonzero(table.judge[:, first_criterion] == table.judge[:, other])
    first = even[np.argsort(-apart[even], kind="stable")]
    return [(cell.judgments[position],) for position in table.replies[first].tolist()]


def by_length(cell: Cell, _: Mapping[str, Any]) -> list[Group]:
    """Replies on the longest and the shortest output that have an overall score."""
    design = cell.design
    read = [
        j for j in cell.judgments if not np.isnan(overall(design, grades_said(design, j.verdict)))
    ]
    ranked = sorted(read, key=lambda judgment: float(judgment.trial.condition.get(WORDS, 0)))
    return [(judgment,) for judgment in (*ranked[::-1][:_AT_EACH_END], *ranked[:_AT_EACH_END])]


def far_from_human(cell: Cell, condition: Mapping[str, Any]) -> list[Group]:
    """Replies whose grades are farthest from the human ones."""
    table = scores(cell)
    names = list(by_criterion(cell))
    name = condition.get("criterion")
    columns = [names.index(str(name))] if name in names else list(range(len(names)))
    distances = np.nan_to_num(np.abs(table.judge - table.human)[:, columns]).sum(axis=1)
    read = [cell.judgments[position] for position in table.replies.tolist()]
    far = {judgment.trial.id: float(d) for judgment, d in zip(read, distances, strict=True)}
    return _ranked(cell, far)
