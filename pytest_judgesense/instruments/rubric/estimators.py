r"""Measures of a rubric judge's grades: stability, use of the scale, halo, agreement.

A unit is a grade: one criterion in one reply (see `grades`). A *share* is the place of a grade on
its scale, from 0 to 1. Without a criterion among its conditions an estimate is taken over the
grades of all criteria; those of human agreement and of length are taken of the overall score.

**Stability**: JSS, flips, kappa, agreement within one, quadratic kappa and repeat flips are those
of `paraphrase`, of grades. ``pass_mark_flips``: outputs, in one order and replicate, that two
wordings put on two sides of the mark, over those that two or more have graded.

**Use of the scale**, p_g the share of grade g among the grades of a criterion::

    ceiling_share = mean 1[g is the highest label]
    levels_used   = exp(-sum p_g ln p_g), mean over criteria

the number of equally frequent grades of the same entropy (Hill 1973, order 1).

**Separability**: y_st the mean overall score of system s on cluster t. Two systems are told apart
if Student's t test of y_at - y_bt over the clusters that both have is significant at 5% after Holm
over all pairs of systems; ``separability`` is the share of pairs. Its interval is that of the same
share on clusters drawn anew, 1,000 times with the cell's seed (percentiles): what it would be with
other tasks, and as many.

**Halo**, r_cd the correlation (Pearson) of the shares of two criteria over replies::

    excess_cd = r_cd of the judge - r_cd of the human grades of the same replies
    excess_cd = r_cd - median of all r_cd               without human grades
    halo      = max excess_cd

(Cooper 1981; Murphy, Jako, Anhalt 1993: correlations of ratings are halo as far as those of true
scores do not explain them.) The flags say which pair is the worst, of how many, and against what.
Each pair is an estimate too (``criterion_pair``). A mean over pairs would hide one criterion that
copies another. Pairs of which a side never varies are left out. The median is taken as it is: its
own error, which goes along with that of r_cd, would make intervals shorter and not wider.

The interval of the largest of m pairs is drawn from those of the pairs. Its lower end is the
largest lower end at the level 1 - alpha / (5 m) (Bonferroni), because any pair may be the largest
by chance, or that of the mean over the pairs at 1 - 4 alpha / 5, below which the largest cannot be:
it finds halo of all criteria alike, and needs human grades (without them all of alpha goes to the
pairs). Its upper end needs no correction, because the pair that is truly the largest is one,
whichever it is::

    [max(max lower_cd(1 - alpha / 5m), lower_mean(1 - 4 alpha / 5)), max upper_cd(1 - alpha)]

**Human grades**, of a criterion, or overall::

    human_kappa       = quadratic kappa of grade and human grade, over replies
    human_correlation = Spearman's rho of mean share and human share, over items
    human_error       = mean |share - human share| (L - 1)          steps of the longest scale
    human_bias        = mean (share - human share) (L - 1), and by human grade (``gold``)

**Length**, m the mean overall score of an item, w the words of its output, h its human score::

    length_dependence = |rho(m, w | h)|              |rho(m, w)| without human grades

Intervals of shares are those of `stats.clustered` over clusters, of kappa those of
`stats.agreement`, of other statistics the jackknife over clusters. That of an absolute value is the
interval of the signed statistic, folded.

References:
    M. O. Hill (1973), Ecology 54, 427-432 (effective numbers).
    W. H. Cooper (1981), Psychological Bulletin 90, 218-244 (halo).
    K. R. Murphy, R. A. Jako, R. L. Anhalt (1993), Journal of Applied Psychology 78, 218-225.
    S. Holm (1979), Scandinavian Journal of Statistics 6, 65-70.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, stdtr

from pytest_judgesense.estimate import Clustered, Estimate, Missing
from pytest_judgesense.instruments.paraphrase.estimators import estimates as of_wordings
from pytest_judgesense.instruments.rubric import measures as of
from pytest_judgesense.instruments.rubric.grades import (
    APART,
    OVERALL,
    by_criterion,
    grade_at,
    marked,
    parts,
    pooled,
    scores,
)
from pytest_judgesense.measures.cell import (
    FAILED,
    UNPARSED,
    VERDICT,
    Cell,
    Units,
    estimated,
    missing_of,
    once_a_cell,
    rate,
    unavailable,
)
from pytest_judgesense.measures.measure import Measure
from pytest_judgesense.measures.order import folded
from pytest_judgesense.measures.rates import agreement as agreements
from pytest_judgesense.measures.rates import rate_of_disagreement, repeat_flip_rate
from pytest_judgesense.measures.shared import AGREEMENT
from pytest_judgesense.stats.agreement import clustered_kappa, table_kappa
from pytest_judgesense.stats.clustered import (
    Statistic,
    clustered_by,
    clustered_mean,
    clustered_positive_mean,
    clustered_statistic,
)
from pytest_judgesense.stats.comparison import holm
from pytest_judgesense.stats.correlation import dense_ranks, partial_spearman, pearson, spearman
from pytest_judgesense.stats.dirichlet import drawn_units, grouped
from pytest_judgesense.stats.inputs import cluster_codes
from pytest_judgesense.stats.redraw import drawn_counts
from pytest_judgesense.trial import Condition

_ALPHA: Final = 0.05
_DRAWS: Final = 1000
_FEWEST_TO_PAIR: Final = 3
# The part of alpha that the mean excess over all pairs of criteria takes.
_OF_MEAN: Final = 0.8
_NO_HUMAN: Final = "the items have no human grades"
_NO_GRADES: Final = "no reply has a grade"

_Floats = NDArray[np.float64]


def _of_parts(
    cell: Cell, estimate: Callable[[Cell, Condition], list[Estimate]], *, whole: bool = True
) -> list[Estimate]:
    """Estimates of all grades, of each criterion and, where it is ``whole``, of the overall grade.

    Trials hold several grades, so two measurements cannot be paired by grades.
    """
    found: list[Estimate] = []
    for name in (None, *(one for one in parts(cell) if whole or one in by_criterion(cell))):
        condition = {} if name is None else {"criterion": name}
        part = pooled(cell) if name is None else parts(cell)[name]
        # Without the units, which would be much to keep until the last part is done.
        found += [replace(one, observations=None) for one in estimate(part, condition)]
    return found


def stability(cell: Cell) -> list[Estimate]:
    """The effect of the wording, by criterion and, over all grades, by pair of templates."""

    def estimate(one: Cell, condition: Condition) -> list[Estimate]:
        if not condition:
            reason = "criteria have scales of their own; it is measured for each criterion"
            unlike = (unavailable(measure, cell, reason) for measure in of.ORDINAL)
            return [*of_wordings(one), *(() if one.design.ordinal else unlike)]
        found = of_wordings(one, by_pair=False)
        return [replace(e, condition=dict(condition)) for e in found if not e.condition]

    return _of_parts(cell, estimate)


def repeats(cell: Cell) -> list[Estimate]:
    """Grades that asking again changes."""
    return _of_parts(cell, lambda one, condition: [repeat_flip_rate(one, condition)])


def agreement(cell: Cell) -> list[Estimate]:
    """Grades that are the human ones."""
    if not _has_human(cell):
        return [unavailable(AGREEMENT, cell, _NO_HUMAN)]
    return _of_parts(
        cell, lambda one, at: [replace(e, condition=dict(at)) for e in agreements(one)]
    )


def missing_grades(cell: Cell) -> list[Estimate]:
    """Grades that replies lack, of those asked for in the replies received."""

    def estimate(one: Cell, condition: Condition) -> list[Estimate]:
        units = Units.of_calls(one, one.outcomes == UNPARSED, usable=one.outcomes != FAILED)
        return [rate(of.MISSING_GRADES, cell, units, condition)]

    return _of_parts(cell, estimate, whole=False)


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
    found = rate_of_disagreement(of.PASS_MARK_FLIPS, sides, groups)
    return [replace(found, observations=None)]


def ceiling_share(cell: Cell) -> list[Estimate]:
    """The share of the highest grade."""
    tops = {name: one.design.labels[-1] for name, one in by_criterion(cell).items()}

    def estimate(one: Cell, condition: Condition) -> list[Estimate]:
        verdicts, words = one.coded("verdict")
        criteria, names = one.coded("criterion", lambda grade: grade.trial.id.rpartition(APART)[2])
        place = {word: code for code, word in enumerate(words)}
        highest = np.array([place.get(tops[name], len(words)) for name in names])
        units = Units.of_calls(one, verdicts == highest[criteria])
        return [rate(of.CEILING_SHARE, cell, units, condition)]

    return _of_parts(cell, estimate, whole=False)


def _statistic(
    measure: Measure,
    cell: Cell,
    condition: Condition,
    statistic: Statistic,
    columns: Sequence[NDArray[Any]],
    clusters: NDArray[np.int32],
    bounds: tuple[float, float],
    *,
    missing: Missing,
    undefined: str,
    flags: tuple[str, ...] = (),
    biased: bool = False,
) -> Estimate:
    """The estimate of a statistic of columns, with its jackknife over clusters."""
    value = statistic(*columns) if clusters.size else math.nan
    if math.isnan(value):
        reason = undefined if clusters.size else _NO_GRADES
        return unavailable(measure, cell, reason, condition, missing=missing)
    interval = None  # a scale of one grade leaves nothing to vary
    if bounds[0] < bounds[1]:
        interval = clustered_statistic(statistic, columns, clusters, bounds, biased=biased)
    return estimated(
        measure,
        cell,
        condition,
        value=value,
        n=clusters.size,
        clustered=interval,
        missing=missing,
        flags=(*flags, *(() if interval else ("no interval over clusters",))),
    )


def levels_used(cell: Cell) -> list[Estimate]:
    """The effective number of grades, mean over criteria and for each."""
    cells = by_criterion(cell)
    found: list[Estimate] = []
    for chosen in (tuple(cells), *((name,) for name in cells)):
        condition = {} if len(chosen) == len(cells) and not found else {"criterion": chosen[0]}
        of_each = [cells[name] for name in chosen]
        read = [one.outcomes == VERDICT for one in of_each]
        numbers = [one.coded("verdict")[0][there] for one, there in zip(of_each, read, strict=True)]
        which = np.repeat(np.arange(len(chosen)), [one.size for one in numbers])
        clusters = [one.cluster_codes[0][there] for one, there in zip(of_each, read, strict=True)]
        # Criteria without any grade do not count.
        found.append(
            _statistic(
                of.LEVELS_USED,
                cell,
                condition,
                _effective_levels,
                [which, np.concatenate(numbers)],
                np.concatenate(clusters),
                (1.0, float(max(len(one.design.labels) for one in of_each))),
                missing=missing_of(np.concatenate([one.outcomes for one in of_each])),
                undefined=_NO_GRADES,
                biased=True,
            )
        )
    return found


def _effective_levels(
    criteria: NDArray[np.intp], grades: NDArray[np.int32], counts: NDArray[np.intp] | None = None
) -> float:
    shape = int(criteria.max(initial=0)) + 1, int(grades.max(initial=0)) + 1
    table = np.bincount(criteria * shape[1] + grades, counts, shape[0] * shape[1]).reshape(shape)
    entropies = [entr(one / one.sum()).sum() for one in table if one.sum()]
    return float(np.mean(np.exp(entropies))) if entropies else math.nan


# --- systems --------------------------------------------------------------------------------------


class SystemPair(NamedTuple):
    """Two systems on the clusters that both have.

    Attributes:
        difference: mean overall score of ``first`` less that of ``second``, over clusters.
        p: of Student's test, after Holm over all pairs.
        apart: whether they are told apart.
    """

    first: str
    second: str
    difference: float
    p: float
    clusters: int
    apart: bool


@once_a_cell
def _differences(cell: Cell) -> tuple[dict[tuple[str, str], _Floats], int]:
    """By pair of systems the difference on each cluster, NaN where one is missing; the clusters."""
    table = scores(cell)
    there = ~np.isnan(table.overall) & (table.systems >= 0)
    codes, count = cluster_codes(table.clusters[there])
    systems, values = table.systems[there], table.overall[there]
    means = {}
    for code in sorted({*systems.tolist()}):
        of_system = systems == code
        sizes = np.bincount(codes[of_system], minlength=count)
        sums = np.bincount(codes[of_system], values[of_system], count)
        means[table.system_names[code]] = sums / np.where(sizes > 0, sizes, np.nan)
    pairs = {(a, b): means[a] - means[b] for a, b in combinations(means, 2)}
    usable = {two: d for two, d in pairs.items() if (~np.isnan(d)).sum() >= _FEWEST_TO_PAIR}
    return usable, count


def _p_values(
    differences: _Floats, counts: NDArray[Any], groups: NDArray[np.intp] | None = None
) -> _Floats:
    """Student's two-sided p over clusters drawn ``counts`` times, of one pair; shape (draws,).

    ``groups``: that of each cluster, where whole groups of clusters are drawn.
    """
    there = ~np.isnan(differences)
    d = differences[there]
    columns = [np.ones(d.size), d, d**2]
    if groups is not None:
        columns = [
            np.bincount(groups[there], one, counts.shape[1]).astype(np.float64) for one in columns
        ]
    units, sums, squared = columns
    times = counts if groups is not None else counts[:, there]
    n = times @ units
    total, squares = times @ sums, times @ squared
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / n
        variance = np.maximum(0.0, (squares - n * mean**2) / (n - 1))
        # The same difference throughout: p is 0, unless the difference is 0.
        spread = np.where(variance > 1e-18, variance, np.nan)
        t = mean / np.sqrt(spread / n)
        p = 2 * stdtr(np.maximum(1, n - 1), -np.abs(t))
    p = np.where(np.isnan(t), np.where(np.abs(mean) > 1e-9, 0.0, 1.0), p)
    return np.where(n >= _FEWEST_TO_PAIR, p, 1.0)


def system_pairs(cell: Cell) -> list[SystemPair]:
    """Every two systems that share three or more clusters."""
    pairs, clusters = _differences(cell)
    once = np.ones((1, clusters), dtype=np.int64)
    p_values = [float(_p_values(d, once)[0]) for d in pairs.values()]
    return [
        SystemPair(
            a, b, float(np.nanmean(d)), adjusted.p, int((~np.isnan(d)).sum()), adjusted.p <= _ALPHA
        )
        for ((a, b), d), adjusted in zip(pairs.items(), holm(p_values, _ALPHA), strict=True)
    ]


def separability(cell: Cell) -> list[Estimate]:
    """The share of pairs of systems with a significant difference."""
    found = system_pairs(cell)
    missing = missing_of(parts(cell)[OVERALL].outcomes)
    if not found:
        reason = f"needs two systems that share {_FEWEST_TO_PAIR} clusters; items name their system"
        return [unavailable(of.SEPARABILITY, cell, reason, missing=missing)]
    apart = sum(pair.apart for pair in found)
    return [
        estimated(
            of.SEPARABILITY,
            cell,
            value=apart / len(found),
            count=apart,
            n=len(found),
            clustered=_on_other_tasks(cell, apart / len(found)),
            missing=missing,
        )
    ]


def _on_other_tasks(cell: Cell, value: float) -> Clustered:
    """The same share on resampled clusters, as percentiles of the draws."""
    pairs, clusters = _differences(cell)
    units, groups = drawn_units(clusters), None
    if units < clusters:
        groups = grouped(np.arange(clusters), clusters)
    counts = drawn_counts(units, _DRAWS, [cell.seed])
    p = np.sort(np.stack([_p_values(d, counts, groups) for d in pairs.values()]), axis=0)
    steps = _ALPHA / np.arange(len(pairs), 0, -1)[:, None]
    # Holm's steps down: those before the first that is not rejected.
    shares = np.sort(np.cumprod(p <= steps, axis=0).sum(axis=0) / len(pairs))

    def at(level: float) -> tuple[float, float]:
        low = shares[math.floor((_DRAWS - 1) * (1 - level))]
        high = shares[math.ceil((_DRAWS - 1) * level)]
        return min(value, float(low)), max(value, float(high))

    return clustered_by("cluster-bootstrap", lambda *of: [*map(at, of)], clusters=clusters)


# --- halo -----------------------------------------------------------------------------------------


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


def _correlations(
    columns: Sequence[_Floats], counts: NDArray[np.intp] | None = None
) -> list[float]:
    """The correlation of every two columns in turn, over the rows that all of them have."""
    there = ~np.isnan(np.stack(columns)).any(axis=0)
    often = None if counts is None else counts[there]
    given = [column[there] for column in columns]
    return [pearson(a, b, often) for a, b in zip(given[::2], given[1::2], strict=True)]


def _excess_over_people(*columns: _Floats, counts: NDArray[np.intp] | None = None) -> float:
    judge, people = _correlations(columns, counts)
    return judge - people


def _excess_over(
    expected: float, *columns: _Floats, counts: NDArray[np.intp] | None = None
) -> float:
    return _correlations(columns, counts)[0] - expected


@once_a_cell
def criterion_pairs(cell: Cell) -> tuple[CriterionPair, ...]:
    """Every two criteria whose grades vary, those with the largest excess first."""
    table, missing = scores(cell), missing_of(cell.outcomes)
    names, compared = list(by_criterion(cell)), _compared_with_people(cell)
    couples = list(combinations(range(len(names)), 2))

    def grades_of(pair: tuple[int, int]) -> list[_Floats]:
        return [table.given[:, at] for at in pair]

    alone = [_correlations(grades_of(pair))[0] for pair in couples] if not compared else []
    known = [r for r in alone if not math.isnan(r)]
    median = float(np.median(known)) if known else math.nan
    pairs: list[CriterionPair] = []
    for pair in couples:
        two, columns = [names[at] for at in pair], grades_of(pair)
        if compared:
            columns += [table.human[:, at] for at in pair]
            statistic: Statistic = _excess_over_people
            judge, people = _correlations(columns)
        else:
            statistic = partial(_excess_over, median)
            (judge,), people = _correlations(columns), median
        excess = _statistic(
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
    count = scores(cell).given.shape[1]
    if count < 2 or (count < 3 and not compared):
        reason = "without human grades it needs three or more criteria"
        reason = "needs two or more criteria" if count < 2 else reason
        return [unavailable(of.HALO, cell, reason, missing=missing)]
    pairs = criterion_pairs(cell)
    if not pairs:
        reason = "no two criteria vary" if scores(cell).clusters.size else _NO_GRADES
        return [unavailable(of.HALO, cell, reason, missing=missing)]
    worst = pairs[0]
    flags = [f"against {'the human grades' if compared else 'the median pair of criteria'}"]
    if len(pairs) > 1:
        flags.append(f"{worst.first} and {worst.second}, the largest of {len(pairs)} pairs")
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
    bounds_of = [one.at for one in each if one is not None and one.at is not None]
    if len(bounds_of) < len(pairs):
        return None
    if len(pairs) == 1:
        return each[0]
    mean = _mean_excess(cell) if _compared_with_people(cell) else None
    # What is left of alpha for the pairs, where the mean takes its part.
    share = 1 - _OF_MEAN if mean else 1.0

    def ends(*levels: float) -> list[tuple[float, float]]:
        found = []
        for level in levels:
            alpha = 1 - level
            lower = max(bounds(1 - share * alpha / len(pairs))[0] for bounds in bounds_of)
            if mean and mean.at:
                lower = max(lower, mean.at(1 - _OF_MEAN * alpha)[0])
            found.append((lower, max(bounds(level)[1] for bounds in bounds_of)))
        return found

    clusters = len({*scores(cell).clusters.tolist()})
    return clustered_by("jackknife-z-of-largest", ends, clusters=clusters)


def _mean_excess(cell: Cell) -> Clustered | None:
    """The interval of the mean excess over all pairs, below which the largest cannot be."""
    table = scores(cell)
    count = table.given.shape[1]

    def mean(*columns: _Floats, counts: NDArray[np.intp] | None = None) -> float:
        places = ((a, b, count + a, count + b) for a, b in combinations(range(count), 2))
        found = [_excess_over_people(*(columns[at] for at in of), counts=counts) for of in places]
        known = [one for one in found if not math.isnan(one)]
        return float(np.mean(known)) if known else math.nan

    columns = [*table.given.T, *table.human.T]
    return clustered_statistic(mean, columns, table.clusters, (-2.0, 2.0))


# --- human grades and length ----------------------------------------------------------------------


def _has_human(cell: Cell) -> bool:
    return bool(pooled(cell).coded("label")[1])


def _human_parts(
    measure: Measure, cell: Cell, estimate: Callable[[str, Condition, Missing], Iterable[Estimate]]
) -> list[Estimate]:
    """The estimates of the overall score, and of each criterion."""
    if not _has_human(cell):
        return [unavailable(measure, cell, _NO_HUMAN)]
    found: list[Estimate] = []
    for name in (OVERALL, *(one for one in by_criterion(cell) if one != OVERALL)):
        one = parts(cell)[name]
        missing = missing_of(one.outcomes[one.coded("label")[0] >= 0])
        found += estimate(name, {} if name == OVERALL else {"criterion": name}, missing)
    return found


def human_kappa(cell: Cell) -> list[Estimate]:
    """Quadratic kappa with the human grades."""

    def estimate(name: str, condition: Condition, missing: Missing) -> Iterator[Estimate]:
        one, scale = parts(cell)[name], parts(cell)[name].design.labels
        streams = [one.coded("verdict"), one.coded("label")]
        both = (streams[0][0] >= 0) & (streams[1][0] >= 0)
        given, people = (
            np.array([*map(scale.index, words), -1])[codes][both] for codes, words in streams
        )
        table = np.bincount(given * len(scale) + people, minlength=len(scale) ** 2)
        value = table_kappa(table.reshape(len(scale), len(scale)), quadratic=True)
        if value is None:
            reason = "undefined: judge and humans give one and the same grade throughout"
            why = reason if given.size else _NO_GRADES
            yield unavailable(of.HUMAN_KAPPA, cell, why, condition, missing=missing)
            return
        clusters = one.cluster_codes[0][both]
        yield estimated(
            of.HUMAN_KAPPA,
            cell,
            condition,
            value=value,
            n=given.size,
            clustered=clustered_kappa(given, people, clusters, scale=scale),
            missing=missing,
        )

    return _human_parts(of.HUMAN_KAPPA, cell, estimate)


class _Compared(NamedTuple):
    """Shares of judge and people in replies that have both."""

    given: _Floats
    human: _Floats
    words: _Floats
    items: NDArray[np.int32]
    clusters: NDArray[np.int32]


def _compared(cell: Cell, name: str, *, with_human: bool = True) -> _Compared:
    table = scores(cell)
    if name == OVERALL:
        given, people = table.overall, table.human_overall
    else:
        column = list(by_criterion(cell)).index(name)
        given, people = table.given[:, column], table.human[:, column]
    usable = ~np.isnan(given) & (~np.isnan(people) if with_human else True)
    columns = given, people, table.words, table.items, table.clusters
    return _Compared._make(column[usable] for column in columns)


def _by_item(found: _Compared) -> _Compared:
    """Means over the replies of each item."""
    codes, count = cluster_codes(found.items)
    sizes = np.bincount(codes, minlength=count)

    def mean(column: _Floats) -> _Floats:
        return np.asarray(np.bincount(codes, column, count) / sizes, dtype=np.float64)

    _, first = np.unique(codes, return_index=True)
    return _Compared._make([*map(mean, found[:3]), found.items[first], found.clusters[first]])


def human_correlation(cell: Cell) -> list[Estimate]:
    """Spearman's correlation with the human grades, over items."""

    def estimate(name: str, condition: Condition, missing: Missing) -> Iterator[Estimate]:
        items = _by_item(_compared(cell, name))
        yield _statistic(
            of.HUMAN_CORRELATION,
            cell,
            condition,
            spearman,
            [dense_ranks(items.given), dense_ranks(items.human)],
            items.clusters,
            (-1.0, 1.0),
            missing=missing,
            undefined="undefined: judge or humans give one grade throughout",
        )

    return _human_parts(of.HUMAN_CORRELATION, cell, estimate)


def _steps(cell: Cell, name: str) -> int:
    return len(parts(cell)[name].design.labels) - 1


def human_error(cell: Cell) -> list[Estimate]:
    """The mean distance from the human grades, in steps."""

    def estimate(name: str, condition: Condition, missing: Missing) -> Iterator[Estimate]:
        found, most = _compared(cell, name), _steps(cell, name)
        distances = np.abs(found.given - found.human) * most
        interval = partial(clustered_positive_mean, upper=float(most))
        yield _mean(of.HUMAN_ERROR, cell, condition, distances, found.clusters, interval, missing)

    return _human_parts(of.HUMAN_ERROR, cell, estimate)


def human_bias(cell: Cell) -> list[Estimate]:
    """The mean signed distance from the human grades, in steps; of the overall score by level."""

    def estimate(name: str, condition: Condition, missing: Missing) -> Iterator[Estimate]:
        found, most = _compared(cell, name), _steps(cell, name)
        above = (found.given - found.human) * most
        interval = partial(_bias_interval, most)
        yield _mean(of.HUMAN_BIAS, cell, condition, above, found.clusters, interval, missing)
        labels = parts(cell)[name].design.labels
        shares, codes = np.unique(found.human, return_inverse=True)
        levels = np.array([grade_at(share, labels) for share in shares.tolist()], dtype=object)
        for level in labels:
            if not (at := (levels == level)[codes]).any():
                continue
            clusters, by_level = found.clusters[at], {**condition, "gold": level}
            yield _mean(of.HUMAN_BIAS, cell, by_level, above[at], clusters, interval, Missing())

    return _human_parts(of.HUMAN_BIAS, cell, estimate)


def _bias_interval(most: int, values: _Floats, clusters: NDArray[np.int32]) -> Clustered | None:
    """Student's interval; where all values are one, the bounds of a mean on the scale."""
    found = clustered_mean(values, clusters)
    if found is None or found.method != "constant":
        return found
    # Rounding may leave a value a little above the scale.
    return clustered_mean(np.clip(values, -most, most), clusters, (-most, most))


def _mean(
    measure: Measure,
    cell: Cell,
    condition: Mapping[str, Any],
    values: _Floats,
    clusters: NDArray[np.int32],
    interval: Callable[..., Clustered | None],
    missing: Missing,
) -> Estimate:
    if not values.size:
        return unavailable(measure, cell, _NO_GRADES, condition, missing=missing)
    clustered = interval(values, clusters)
    return estimated(
        measure,
        cell,
        condition,
        value=float(values.mean()),
        n=values.size,
        clustered=clustered,
        missing=missing,
        flags=() if clustered else ("too few clusters",),
    )


def length_dependence(cell: Cell) -> list[Estimate]:
    """How far the overall score follows the length of the output."""
    with_human = bool(np.isfinite(scores(cell).human_overall).any())
    found = _compared(cell, OVERALL, with_human=with_human)
    missing = missing_of(parts(cell)[OVERALL].outcomes)
    if np.isnan(found.words).any():
        reason = "the log does not say how long the outputs are"
        return [unavailable(of.LENGTH_DEPENDENCE, cell, reason, missing=missing)]
    items = _by_item(found) if found.items.size else found

    columns = [items.given, items.words, *((items.human,) if with_human else ())]
    one = _statistic(
        of.LENGTH_DEPENDENCE,
        cell,
        {},
        partial_spearman if with_human else spearman,
        [*map(dense_ranks, columns)],
        items.clusters,
        (-1.0, 1.0),
        missing=missing,
        undefined="undefined: scores or lengths do not vary",
    )
    if one.value is None:
        return [one]
    way = ("longer scores higher" if one.value > 0 else "longer scores lower",) * bool(one.value)
    held = ("human grades held fixed",) if with_human else ("without human grades",)
    interval = one.clustered and replace(folded(one.clustered, 0.0), method=one.clustered.method)
    flags = (*way, *held, *one.flags)
    return [replace(one, value=abs(one.value), clustered=interval, flags=flags)]
