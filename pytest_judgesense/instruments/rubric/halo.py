r"""Halo: grades of criteria that go along with each other beyond what they should.

With r_cd the correlation (Pearson) of the shares of two criteria over replies::

    excess_cd = r_cd of the judge - r_cd of the human grades of the same replies
    excess_cd = r_cd - median of all r_cd               without human grades
    halo      = max excess_cd

(Cooper 1981; Murphy, Jako, Anhalt 1993: correlations of ratings are halo as far as those of true
scores do not explain them.) The flags say which pair is the worst, of how many, and against what.
Each pair is an estimate too (``criterion_pair``). A mean over pairs would hide one criterion that
copies another; beside the largest it stands as a measure of its own, ``mean_halo``, where there are
human grades, with the jackknife over clusters. Pairs of which a side never varies are left out. The
median is taken as it is: its own error, which goes along with that of r_cd, would make intervals
shorter and not wider.

The interval of the largest of m pairs is drawn from those of the pairs. Its lower end is the
largest lower end at the level 1 - alpha / (5 m) (Bonferroni), because any pair may be the largest
by chance, or that of the mean over the pairs at 1 - 4 alpha / 5, below which the largest cannot be:
it finds halo of all criteria alike, and needs human grades (without them all of alpha goes to the
pairs). Its upper end needs no correction, because the pair that is truly the largest is one,
whichever it is::

    [max(max lower_cd(1 - alpha / 5m), lower_mean(1 - 4 alpha / 5)), max upper_cd(1 - alpha)]

References:
    W. H. Cooper (1981), Psychological Bulletin 90, 218-244 (halo).
    K. R. Murphy, R. A. Jako, R. L. Anhalt (1993), Journal of Applied Psychology 78, 218-225.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import Clustered, Estimate
from pytest_judgesense.instruments.rubric import measures as of
from pytest_judgesense.instruments.rubric.grades import (
    by_criterion,
    scores,
)
from pytest_judgesense.instruments.rubric.statistic import (
    NO_GRADES,
    NO_HUMAN,
    statistic_estimate,
)
from pytest_judgesense.measures.cell import (
    Cell,
    missing_of,
    once_a_cell,
    unavailable,
)
from pytest_judgesense.stats.clustered import (
    Statistic,
    clustered_by,
    clustered_statistic,
)
from pytest_judgesense.stats.correlation import pearson
from pytest_judgesense.stats.inputs import Floats

_ALPHA: Final = 0.05
# The part of alpha that the mean excess over all pairs of criteria takes.
_OF_MEAN: Final = 0.8


class CriterionPair(NamedTuple):
    """Two criteria: the correlation of their grades, and by how much it is too large.

    Attributes:
        judge: correlation of the judge's grades; ``people``: that of the human grades, or the
            median of all pairs where there are none.
        excess: the first less the second, with its interval.
    """

    first: str
    second: str
    judge: float
    people: float
    excess: Estimate

    @property
    def name(self) -> str:
        return f"{self.first}~{self.second}"


def _compared_with_people(cell: Cell) -> bool:
    human = scores(cell).human
    return bool(human.size > 0 and not np.isnan(human).all(axis=0).any())


def _correlations(columns: Sequence[Floats], counts: NDArray[np.intp] | None = None) -> list[float]:
    """The correlation of every two columns in turn, over the rows that all of them have."""
    there = ~np.isnan(np.stack(columns)).any(axis=0)
    often = None if counts is None else counts[there]
    values = [column[there] for column in columns]
    return [pearson(a, b, often) for a, b in zip(values[::2], values[1::2], strict=True)]


def _excess_over_people(*columns: Floats, counts: NDArray[np.intp] | None = None) -> float:
    judge, people = _correlations(columns, counts)
    return judge - people


def _excess_over(
    expected: float, *columns: Floats, counts: NDArray[np.intp] | None = None
) -> float:
    return _correlations(columns, counts)[0] - expected


@once_a_cell
def criterion_pairs(cell: Cell) -> tuple[CriterionPair, ...]:
    """Every two criteria whose grades vary, those with the largest excess first."""
    table, missing = scores(cell), missing_of(cell.outcomes)
    names, compared = list(by_criterion(cell)), _compared_with_people(cell)
    couples = list(combinations(range(len(names)), 2))

    def grades_of(pair: tuple[int, int]) -> list[Floats]:
        return [table.judge[:, place] for place in pair]

    alone = [_correlations(grades_of(pair))[0] for pair in couples] if not compared else []
    defined = [r for r in alone if not math.isnan(r)]
    median = float(np.median(defined)) if defined else math.nan
    pairs: list[CriterionPair] = []
    for pair in couples:
        two, columns = [names[place] for place in pair], grades_of(pair)
        if compared:
            columns += [table.human[:, place] for place in pair]
            statistic: Statistic = _excess_over_people
            judge, people = _correlations(columns)
        else:
            statistic = partial(_excess_over, median)
            (judge,), people = _correlations(columns), median
        excess = statistic_estimate(
            of.HALO,
            cell,
            {"criterion_pair": "~".join(two)},
            statistic,
            columns,
            table.clusters,
            (-2.0, 2.0),
            missing=missing,
            undefined="the grades of one of the two do not vary",
        )
        if excess.value is not None:
            pairs.append(CriterionPair(two[0], two[1], judge, people, excess))
    return tuple(sorted(pairs, key=lambda pair: -(pair.excess.value or 0.0)))


def worst_pair(cell: Cell) -> CriterionPair | None:
    """The two criteria whose grades correlate most beyond what they should."""
    return next(iter(criterion_pairs(cell)), None)


def halo(cell: Cell) -> list[Estimate]:
    """How much more the grades of two criteria correlate than they should: at most, and by pair."""
    missing, compared = missing_of(cell.outcomes), _compared_with_people(cell)
    count = scores(cell).judge.shape[1]
    if count < 2 or (count < 3 and not compared):
        reason = "without human grades it needs three or more criteria"
        reason = "needs two or more criteria" if count < 2 else reason
        return [unavailable(of.HALO, cell, reason, missing=missing)]
    pairs = criterion_pairs(cell)
    if not pairs:
        reason = "no two criteria vary" if scores(cell).clusters.size else NO_GRADES
        return [unavailable(of.HALO, cell, reason, missing=missing)]
    worst = pairs[0]
    flags = [f"against {'the human grades' if compared else 'the median pair of criteria'}"]
    of_pairs = f", the largest of {len(pairs)} pairs" if len(pairs) > 1 else ""
    flags.append(f"{worst.first} and {worst.second}{of_pairs}")
    of_largest = replace(
        worst.excess,
        condition={},
        clustered=_of_largest(cell, pairs),
        flags=(*flags, *worst.excess.flags),
    )
    return [of_largest, *(pair.excess for pair in pairs)]


def _of_largest(cell: Cell, pairs: Sequence[CriterionPair]) -> Clustered | None:
    """The interval of the largest excess; ``None`` where a pair has none. See the module."""
    each = [pair.excess.clustered for pair in pairs]
    bounds_of = [
        interval.at for interval in each if interval is not None and interval.at is not None
    ]
    if len(bounds_of) < len(pairs):
        return None
    if len(pairs) == 1:
        return each[0]
    mean = _mean_excess(cell) if _compared_with_people(cell) else None
    # What is left of alpha for the pairs, where the mean takes its part.
    share = 1 - _OF_MEAN if mean else 1.0

    def ends(*levels: float) -> list[tuple[float, float]]:
        ends_of_levels = []
        for level in levels:
            alpha = 1 - level
            lower = max(bounds(1 - share * alpha / len(pairs))[0] for bounds in bounds_of)
            if mean and mean.at:
                lower = max(lower, mean.at(1 - _OF_MEAN * alpha)[0])
            ends_of_levels.append((lower, max(bounds(level)[1] for bounds in bounds_of)))
        return ends_of_levels

    clusters = len({*scores(cell).clusters.tolist()})
    return clustered_by("jackknife-z-of-largest", ends, clusters=clusters)


def _mean_excess(cell: Cell) -> Clustered | None:
    """The interval of the mean excess over all pairs, below which the largest cannot be."""
    table = scores(cell)
    columns = [*table.judge.T, *table.human.T]
    return clustered_statistic(mean_difference, columns, table.clusters, (-2.0, 2.0))


def mean_difference(*columns: Floats, counts: NDArray[np.intp] | None = None) -> float:
    """How much more the first half of the columns correlate with each other than the second half.

    Both halves have one column a criterion; the mean is over its pairs in which every column
    varies, of the rows that have all four numbers. NaN without such a pair.
    """
    count = len(columns) // 2
    places = ((a, b, count + a, count + b) for a, b in combinations(range(count), 2))
    excesses = [
        _excess_over_people(*(columns[place] for place in of), counts=counts) for of in places
    ]
    defined = [excess for excess in excesses if not math.isnan(excess)]
    return float(np.mean(defined)) if defined else math.nan


def mean_halo(cell: Cell) -> list[Estimate]:
    """How much more the grades of two criteria correlate than for people, over the pairs."""
    table, missing = scores(cell), missing_of(cell.outcomes)
    if table.judge.shape[1] < 2:
        return [unavailable(of.MEAN_HALO, cell, "needs two or more criteria", missing=missing)]
    if not _compared_with_people(cell):
        return [unavailable(of.MEAN_HALO, cell, NO_HUMAN, missing=missing)]
    estimate_of_mean = statistic_estimate(
        of.MEAN_HALO,
        cell,
        {},
        mean_difference,
        [*table.judge.T, *table.human.T],
        table.clusters,
        (-2.0, 2.0),
        missing=missing,
        undefined="no two criteria vary",
    )
    return [estimate_of_mean]
