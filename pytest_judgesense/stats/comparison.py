r"""Differences between two measurements, oriented so that above 0 is better.

**The test: swaps within clusters.** If both measurements are of one judge, swapping the two within
a cluster changes nothing: given its size, the sign of every cluster's total is a coin. The p-value
of "not worse" is the probability of a sum of the totals as low as the one seen, that of "not
better" of one as high, over all patterns of signs, counted and not drawn. So it keeps its level
exactly for a judge compared with itself, however alike the units of a cluster are and however many
differ. With one unit a cluster it is the one-sided sign test of McNemar's table.

That test is coarse where every cluster is one unit: of 8 that differ 7 may be for the worse (0.035)
but not 6 (0.14). There, and only there, the pattern seen counts half (mid-P), and the p-value is at
least that of the score, ``sum / sqrt(sum of squares)``. For flips by chance (an answer given with
probability r flips in 2 r (1 - r), at most half, of the pairs) it is at or below 0.05 in at most
0.0502 of comparisons: `benchmarks/regression.py` enumerates them, for 2 to 400 clusters.

**The bound of paired units.** A difference d of a unit lies between -1 and 1, so ``(d + 1) / 2`` is
a share, and its bounds are those of `stats.dirichlet`: over clusters, monotone, with a
pseudo-cluster in which all is lost, as large as the cluster of a unit drawn by chance. Units may
weigh differently (informedness, where those of a rare class weigh most): then no end lies nearer
than where the units of one weight alone may move the mean. So nothing that changed is no proof that
nothing can: of 20 items without a change the bound says that the share lost is below 0.14, of 40
below 0.07. Tango's score interval, and Student's, take what was not seen for 0: a judge that had
lost 5% of its items as a whole was called unchanged on 20 items in 37 of 100 comparisons.

**Distances of a share from 1/2** (side bias). With a the signed bias of then, mirrored to be at
least 0, and b that of now, the size has grown by ``max(b - a, -(a + b))``. Both sums are gaps
between two shares over the same clusters, and at half the level each::

    lower end of what is gained = min(-upper(b - a), lower(a + b))
    upper end of what is gained = min(-lower(b - a), upper(a + b))

"Not better" is rejected where swaps reject ``b >= a`` and the bound ``a + b <= 0``; "not worse"
where either is rejected on its other side; p-values are doubled, for a may be mirrored by chance.
The jackknife of the absolute value knows nothing of the fold: it called a bias that had grown by
the margin unchanged in up to 10% of comparisons, at any size.

**Other statistics** (kappa, d', ...): swapping a cluster turns the sign of what it adds to the
difference, to first order. With D^(c) the difference if only cluster c were swapped, c adds ``(D -
D^(c)) / 2``, and the test is the same: a cluster that does not move the statistic has no part in
it, and k that do never give a p-value below ``2^-k``. What holds to first order only is tested on
both sides: the p-values are doubled. (The pseudo-values ``K D - (K - 1) D_(c)`` of clusters that
add nothing are D, all on one side. They stand in only for two judges, which are not swapped.) The
bounds are those of the pseudo-values. With R the most that a whole cluster may move the statistic
(of kappa ``1 / (1 - p_e)``), or the largest pseudo-value that was seen, the pseudo-values lie
between -R and R, and ``(x + R) / 2 R`` is bounded as a share is, with one more cluster in which all
is lost. Where R is not known, the bound is at least as wide as Student's, ``D -/+ t(K - 1, q) se``.

**Bounds that agree with the test.** A bound of a share and a test by swaps are made differently,
and may disagree about 0. There the test decides, and the end that is shown is that of its p-value:
``D (1 - z(1 - a) / z(1 - p))``, which holds 0 exactly where p is above a (Miettinen).

**Unpaired** (MOVER): with the values x, y and their intervals (l, u)::

    lower = x - y - sqrt((x - l_x)^2 + (u_y - y)^2)
    upper = x - y + sqrt((u_x - x)^2 + (y - l_y)^2)

For another coverage than that of the intervals their arms are scaled by Student's quantiles, and
the p-value is the level at which the end reaches 0.

**How many clusters would settle it.** With f times the clusters, alike, the bound is that of f
times as many of each kind, and the standard error ``s / sqrt f``: the bound clears a target in four
of five cases if it does so less 0.84 of these. A test at the level a rejects in four of five from
about ``K (s / D)^2 (z(1 - a) + z(0.8))^2 + z(1 - a)^2 / 2`` clusters.

Edges: one cluster says nothing of the spread between clusters: `None`.

References:
    Q. McNemar (1947), Psychometrika 12, 153-157.
    R. A. Fisher (1935), The Design of Experiments, ch. 3 (the test by swaps).
    M. W. Fagerland, S. Lydersen, P. Laake (2013), BMC Medical Research Methodology 13:91 (mid-P).
    G. Y. Zou, A. Donner (2008), Statistics in Medicine 27, 1693-1702 (MOVER).
    O. Miettinen (1976), American Journal of Epidemiology 103, 226-235 (test-based limits).
    J. W. Tukey (1958), Annals of Mathematical Statistics 29, 614 (pseudo-values).
    S. Holm (1979), Scandinavian Journal of Statistics 6, 65-70.
    W. C. Guenther (1981), The American Statistician 35, 243-244 (sample size of Student's test).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from pytest_judgesense.stats.dirichlet import PROPORTION_METHOD, share_bounds, share_tail
from pytest_judgesense.stats.inputs import (
    LEVEL,
    Clusters,
    check_within,
    clustered_vector,
    finite_vector,
    first_positions,
)
from pytest_judgesense.stats.settle import fewest_clusters

_Ends: TypeAlias = tuple[float, float]
# From a coverage, and how many times the clusters there are, to the ends of an interval.
_Interval: TypeAlias = Callable[[float, float], _Ends]

EXACT_CLUSTERS: Final = 400  # more than these that differ: the normal limit of the swaps
_POWER: Final = 0.8  # with which so many clusters settle it
_CLOSE: Final = 0.01  # of the number of clusters
_LEVEL: Final = 0.05  # of a one-sided bound that is shown, and of a family of tests
_NO_SPREAD: Final = 1e-12  # of pseudo-values: rounding
_DECIMALS: Final = 4  # of pseudo-values as shares
_HALVINGS: Final = 30  # of a level: to 5e-10
_STEPS: Final = 10_000  # in which pseudo-values are counted, all of them together


class Swaps(NamedTuple):
    """What the signs of a test by swaps are turned of.

    Attributes:
        totals: by cluster, of those that differ, what it adds to the difference, in any unit.
        alone: whether every cluster is one unit that weighs as much as any other.
    """

    totals: Mapping[Hashable, float]
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """New minus old, oriented so that above 0 is better.

    Attributes:
        method: that of a share (paired units), the same ``-folded`` (distances from 1/2),
            ``cluster-jackknife`` or ``mover`` (unpaired).
        value: the difference.
        n: units compared; 0 where no units are paired.
        clusters: number of clusters; if unpaired, the smaller of the two numbers.
        interval: from a nominal coverage, and how many times the clusters there are, to the ends of
            the two-sided interval.
        error: standard error of the difference.
        p_worse: one-sided p-value of "not worse"; ``p_better`` of "not better".
        better: number of paired units that got better, ``worse``: worse; ``None`` if unknown.
        swaps: what the p-values were counted from, where it was nothing but swaps.
    """

    method: str
    value: float
    n: int
    clusters: int
    interval: _Interval = field(compare=False, repr=False)
    error: float
    p_worse: float
    p_better: float
    better: int | None = None
    worse: int | None = None
    swaps: Swaps | None = field(default=None, compare=False, repr=False)

    def ends(self, coverage: float) -> _Ends:
        """The ends of the two-sided interval of a nominal coverage."""
        return self.interval(coverage, 1.0)

    def lower(self, alpha: float, times: float = 1.0) -> float:
        """One-sided bound: with probability ``1 - alpha`` the true difference is above it.

        ``times``: of so many times the clusters, alike.
        """
        return self.interval(1 - 2 * alpha, times)[0]

    def upper(self, alpha: float, times: float = 1.0) -> float:
        """One-sided bound: with probability ``1 - alpha`` the true difference is below it."""
        return self.interval(1 - 2 * alpha, times)[1]

    def decided(self, worse: Adjusted, better: Adjusted) -> _Ends:
        """Both one-sided 95% bounds, of which none contradicts the tests.

        Args:
            worse: the adjusted p-value of "not worse"; it belongs to the upper end.
            better: the adjusted p-value of "not better"; it belongs to the lower end.
        """
        low, high = self.ends(1 - 2 * _LEVEL)
        if (low > 0) != (better.p <= _LEVEL):
            low = end_of_test(self.value, self.p_better, better.alpha)
        if (high < 0) != (worse.p <= _LEVEL):
            high = end_of_test(self.value, self.p_worse, worse.alpha)
        return min(low, self.value), max(high, self.value)

    def by_bounds(self) -> Difference:
        """The same with the p-values at which its own bounds reach 0.

        They hold for two judges too, of which nobody says that swapping them changes nothing.
        """
        return replace(
            self,
            p_worse=level_reached(lambda alpha: self.upper(alpha) < 0),
            p_better=level_reached(lambda alpha: self.lower(alpha) > 0),
            swaps=None,
        )

    def times(self, factor: float) -> Difference:
        """That of a quantity which moves by so much, above 0, if this one moves by 1."""

        def interval(coverage: float, times: float) -> _Ends:
            low, high = self.interval(coverage, times)
            return factor * low, factor * high

        return replace(
            self, value=factor * self.value, error=factor * self.error, interval=interval
        )

    def at_worst(self, worst: Difference | None) -> Difference:
        """The same with the lower bound, and the p-value of "not better", of a worse case."""
        if worst is None:
            return self

        def interval(coverage: float, times: float) -> _Ends:
            return worst.interval(coverage, times)[0], self.interval(coverage, times)[1]

        return replace(self, interval=interval, p_better=worst.p_better, swaps=None)

    def at_most(self, other: Difference | None) -> Difference:
        """The same with the worse lower bound and p-value of "not better" of both."""
        if other is None:
            return self

        def interval(coverage: float, times: float) -> _Ends:
            low, high = self.interval(coverage, times)
            return min(low, other.interval(coverage, times)[0]), high

        p_better = max(self.p_better, other.p_better)
        return replace(self, interval=interval, p_better=p_better, swaps=None)

    def over(self, cases: Sequence[Difference]) -> Difference:
        """The same with the farthest bounds and the largest p-values of all cases that may hold."""
        every = (self, *cases)

        def interval(coverage: float, times: float) -> _Ends:
            ends = [case.interval(coverage, times) for case in every]
            return min(low for low, _ in ends), max(high for _, high in ends)

        return replace(
            self,
            interval=interval,
            p_worse=max(case.p_worse for case in every),
            p_better=max(case.p_better for case in every),
            swaps=None,
        )

    def clusters_to_clear(self, target: float, alpha: float) -> int | None:
        """Clusters whose one-sided bound clears ``target`` with a probability of 80%.

        It assumes that the difference is ``value``, and is larger than the present number, which
        has not settled it. ``None`` if the value is the target, or no reasonable number is enough.
        """
        if self.value == target:
            return None

        def enough(clusters: int) -> bool:
            times = clusters / self.clusters
            chance = float(ndtri(_POWER)) * self.error / math.sqrt(times)
            if self.value > target:
                return self.lower(alpha, times) - chance > target
            return self.upper(alpha, times) + chance < target

        return fewest_clusters(enough, self.clusters + 1, within=_CLOSE)

    def clusters_to_reject(self, alpha: float) -> int | None:
        """Clusters with which a test at ``alpha`` finds this difference in 80%, likewise."""
        if not self.value:
            return None
        z = float(ndtri(1 - alpha))
        ratio = self.clusters * (self.error / self.value) ** 2
        count = math.ceil(ratio * (z + float(ndtri(_POWER))) ** 2 + z**2 / 2)
        return max(self.clusters + 1, count)


class Adjusted(NamedTuple):
    """A Holm-adjusted p-value, and the alpha at which its bound agrees with it.

    Attributes:
        p: adjusted p-value: rejected at the level of the family if at most that level.
        alpha: level of the one-sided bound that lies beyond 0 exactly if it is rejected.
    """

    p: float
    alpha: float


def level_reached(excludes_zero: Callable[[float], bool]) -> float:
    """The lowest level at which a bound excludes 0; 1 where it does so at none below one half."""
    low, high = 0.0, 0.49  # at one half there is no interval
    if not excludes_zero(high):
        return 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if excludes_zero(middle) else (middle, high)
    return high


def end_of_test(value: float, p: float, alpha: float) -> float:
    """The end, on the side of 0, of what a one-sided test leaves open at ``alpha``.

    Args:
        value: that was seen.
        p: its p-value, not adjusted.
        alpha: the level of the test; in a family that of its step.
    """
    reached = float(ndtri(1 - p))
    if reached <= 0:
        return 0.0  # the test saw nothing
    return value * (1 - float(ndtri(1 - alpha)) / reached)


def agreeing_ends(
    value: float, ends: _Ends, p: float, adjusted: Adjusted, level: float = _LEVEL
) -> _Ends:
    """The ends of an interval that hold 0 exactly where a two-sided test does not reject.

    Args:
        value: that was seen.
        ends: of its interval, which keeps the end that lies away from 0.
        p: the two-sided p-value of the test.
        adjusted: the same in its family.
        level: of the family.
    """
    low, high = ends
    if (low > 0 or high < 0) == (adjusted.p <= level):
        return ends
    end = end_of_test(value, p / 2, adjusted.alpha / 2)
    return (min(end, value), high) if value > 0 else (low, max(end, value))


def paired_difference(
    differences: ArrayLike,
    clusters: Clusters,
    each: float | None = None,
    weights: ArrayLike | None = None,
) -> Difference | None:
    """The mean of paired differences of units within [0, 1]: 0 or 1, halves, probabilities.

    Args:
        differences: new minus old, one for each unit, within [-1, 1], above 0 if better.
        clusters: cluster of each unit.
        each: mean number of unlike units of a cluster (see `stats.dirichlet`); default: all are.
        weights: what each unit weighs in the mean, 1 on average, whatever was answered; default: 1.

    Returns:
        The difference; ``None`` with fewer than two clusters.

    Raises:
        ValueError: a difference is outside [-1, 1], or lengths differ.
    """
    vector, codes, count = clustered_vector(differences, clusters)
    check_within(vector, -1.0, 1.0)
    if count < 2:
        return None
    weighing = np.ones(vector.size) if weights is None else finite_vector(weights)
    totals, sizes = (
        np.bincount(codes, weights=numbers, minlength=count).astype(np.float64)
        for numbers in (weighing * vector, weighing)
    )
    alone = count == vector.size and weights is None
    better, worse = int((vector > 0).sum()), int((vector < 0).sum())
    difference = bounded_difference(
        totals, sizes, each, swap_p_values(totals, alone=alone), better, worse
    )
    first = first_positions(codes)
    differing = np.flatnonzero(totals)
    names = (clusters[place] for place in first[differing].tolist())
    swaps = Swaps(dict(zip(names, totals[differing].tolist(), strict=True)), alone)
    strata = _strata(vector, codes, weighing, each)
    return replace(difference, interval=_beyond_strata(difference, strata), swaps=swaps)


# Of units that weigh the same their part of all weights, and their difference.
_Stratum: TypeAlias = tuple[float, Difference | None]


def _strata(
    vector: NDArray[np.float64],
    codes: NDArray[np.intp],
    weighing: NDArray[np.float64],
    each: float | None,
) -> list[_Stratum]:
    """The units by their weights; none where all weigh the same."""
    different = np.unique(weighing)
    if different.size < 2:
        return []
    return [
        (
            float(weighing[of_weight].sum() / weighing.sum()),
            paired_difference(vector[of_weight], codes[of_weight], each),
        )
        for of_weight in (weighing == weight for weight in different)
    ]


def _beyond_strata(difference: Difference, strata: Sequence[_Stratum]) -> _Interval:
    """The interval, no end of which lies nearer than where one stratum alone may move the mean."""
    own, value = difference.interval, difference.value
    if not strata:
        return own

    @cache
    def interval(coverage: float, times: float) -> _Ends:
        low, high = own(coverage, times)
        for part, of_part in strata:
            # Of one cluster nothing is known of others.
            least, most = of_part.interval(coverage, times) if of_part else (-1.0, 1.0)
            at = of_part.value if of_part else 0.0
            low, high = min(low, value + part * (least - at)), max(high, value + part * (most - at))
        return low, high

    return interval


def bounded_difference(
    totals: NDArray[np.float64],
    sizes: NDArray[np.float64],
    each: float | None = None,
    p_values: _Ends | None = None,
    better: int | None = None,
    worse: int | None = None,
) -> Difference:
    """The mean of differences within [-1, 1], from their sums over each of two or more clusters.

    Args:
        totals: sums of the differences, shape (clusters,).
        sizes: numbers of the differences, shape (clusters,).
        each: as in `paired_difference`.
        p_values: of "not worse" and "not better"; by default those at which a bound reaches 0,
            which also hold where the two measurements are not exchangeable.
        better: number of differences above 0.
        worse: number of differences below 0.
    """
    count, n = totals.size, float(sizes.sum())
    value = math.fsum(totals) / n
    away = totals - value * sizes
    error = math.sqrt(count / (count - 1) * math.fsum(away * away)) / n
    halves = (totals + sizes) / 2

    @cache  # of a verdict that is asked for in several places
    def interval(coverage: float, times: float) -> _Ends:
        return bounded_ends(totals, sizes, coverage, each, times)

    if p_values is None:
        p_values = (
            share_tail(0.5, sizes - halves, sizes, each),
            share_tail(0.5, halves, sizes, each),
        )
    return Difference(
        PROPORTION_METHOD, value, round(n), count, interval, error, *p_values, better, worse
    )


def bounded_ends(
    totals: NDArray[np.float64],
    sizes: NDArray[np.float64],
    coverage: float = LEVEL,
    each: float | None = None,
    times: float = 1.0,
) -> _Ends:
    """The ends of the interval of `bounded_difference` alone, which takes no p-values."""
    halves = (totals + sizes) / 2
    ((low, high),) = share_bounds(halves, sizes, ((1 + coverage) / 2,), each, times)
    return 2 * low - 1, 2 * high - 1


def swap_p_values(totals: NDArray[np.float64], *, alone: bool = False) -> tuple[float, float]:
    """The p-values of "not worse" and "not better" by swaps within clusters; see the module.

    Args:
        totals: what each cluster adds to the difference, in halves or in any unit.
        alone: whether every cluster is one unit, whose value is 0, a half or 1.
    """
    doubled = 2 * totals
    if (doubled == np.rint(doubled)).all():
        return _swap_p(totals, alone=alone)
    return _real_swap_p(totals)


def _real_swap_p(totals: NDArray[np.float64]) -> tuple[float, float]:
    """The same p-values of totals that are real numbers: rounded to steps, and counted."""
    scale = max(float(np.abs(totals).sum()), math.ulp(1.0))
    # Sums that are equal are so but for about half the root of their number.
    return _swap_p(totals * (_STEPS / 2 / scale), near=math.isqrt(totals.size))


def _swap_p(totals: ArrayLike, *, alone: bool = False, near: int = 0) -> tuple[float, float]:
    """Probability of a sum as low, and as high, as that of ``totals`` under random signs.

    Args:
        totals: of each cluster, in halves.
        alone: whether every cluster is one unit: mid-P, and at least the p-value of the score.
        near: sums within this many halves count as equal.
    """
    whole = np.rint(2 * np.asarray(totals)).astype(np.int64)  # doubled: halves are counts too
    whole = whole[whole != 0]
    score = float(whole.sum()) / math.sqrt(max(1.0, float((whole**2).sum())))
    normal = float(ndtr(score)), float(ndtr(-score))
    if whole.size > EXACT_CLUSTERS:
        return normal
    # chance[s]: probability that the clusters so far which count as worse add up to s.
    chance = np.ones(1)
    for size in np.abs(whole):
        longer = np.zeros(chance.size + size)
        longer[: chance.size] += chance / 2
        longer[size:] += chance / 2
        chance = longer
    lost = int(-whole[whole < 0].sum())
    low = float(chance[max(0, lost - near) :].sum())
    high = float(chance[: lost + near + 1].sum())
    if alone:
        half = float(chance[lost]) / 2
        low, high = max(low - half, normal[0]), max(high - half, normal[1])
    return min(1.0, low), min(1.0, high)


class ClusteredShare(NamedTuple):
    """A share over clusters, of units that may weigh differently.

    Attributes:
        totals: weights of the units that count, of each cluster, shape (clusters,).
        sizes: weights of all its units, of the same shape.
    """

    totals: NDArray[np.float64]
    sizes: NDArray[np.float64]

    @classmethod
    def of_units(
        cls, values: ArrayLike, codes: ArrayLike, clusters: int, weights: ArrayLike | None = None
    ) -> ClusteredShare:
        """The share of units.

        Args:
            values: of the units, within [0, 1].
            codes: the cluster of each unit, from 0 to ``clusters - 1``.
            clusters: number of clusters.
            weights: of the units; by default all weigh 1.
        """
        of_units, place = np.asarray(values, dtype=np.float64), np.asarray(codes, dtype=np.intp)
        weighing = np.ones(of_units.size) if weights is None else np.asarray(weights)
        totals, sizes = (
            np.bincount(place, weights=numbers, minlength=clusters).astype(np.float64)
            for numbers in (of_units * weighing, weighing)
        )
        return cls(totals, sizes)

    @property
    def value(self) -> float:
        return math.fsum(self.totals) / math.fsum(self.sizes)

    @property
    def mirrored(self) -> ClusteredShare:
        """The share of the units that do not count."""
        return ClusteredShare(self.sizes - self.totals, self.sizes)

    def gaps(self, other: ClusteredShare) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums and sizes of clusters whose ratio is this share minus the other one.

        The other weighs as much as this one, whose units are another number if some are missing.
        """
        weight = self.sizes.sum() / other.sizes.sum()
        gained = self.totals - weight * other.totals
        return 2 * gained - (self.sizes - weight * other.sizes), self.sizes + weight * other.sizes


def _totals(*shares: ClusteredShare) -> Iterator[float]:
    return (total for share in shares for total in share.totals.tolist())


def folded_difference(
    old: ClusteredShare, new: ClusteredShare, each: float | None = None
) -> Difference | None:
    """How much closer a share has come to 1/2, over the same clusters; see the module.

    Args:
        old: the share of then.
        new: the share of now.
        each: as in `paired_difference`.

    Returns:
        The difference of the distances; ``None`` with fewer than two clusters that have units.
    """
    sides = (old, new), (old.mirrored, new.mirrored)
    # Of two that lie at 1/2 themselves the clusters tell which, whatever the slots are called.
    old, new = max(sides, key=lambda side: (*(of.value for of in side), *_totals(*side)))
    there = old.sizes + new.sizes > 0
    if there.sum() < 2:
        return None
    grown, sizes = (numbers[there] for numbers in new.gaps(old))
    added, _ = (numbers[there] for numbers in new.gaps(old.mirrored))
    each = float(sizes.mean()) / 2 if each is None else each
    whole = bool((grown == np.rint(grown)).all())
    alone = bool((sizes == 2).all())
    swapped = _swap_p(grown / 2, alone=alone) if whole else _real_swap_p(grown)
    apart = bounded_difference(grown, sizes, each, swapped)
    summed = bounded_difference(added, sizes, each)

    @cache
    def interval(coverage: float, times: float) -> _Ends:
        halved = (1 + coverage) / 2  # half of what either end leaves out
        (low, high), (least, most) = (of.interval(halved, times) for of in (apart, summed))
        return min(-high, least), min(-low, most)

    deciding = apart if new.value >= 0.5 else summed
    return replace(
        deciding,
        method=f"{PROPORTION_METHOD}-folded",
        value=abs(old.value - 0.5) - abs(new.value - 0.5),
        n=0,
        interval=interval,
        p_worse=_doubled(min(apart.p_better, summed.p_worse)),
        p_better=_doubled(max(apart.p_worse, summed.p_better)),
    )


def _doubled(p: float) -> float:
    """The two-sided p-value of the smaller tail."""
    return min(1.0, 2 * p)


def jackknife_difference(
    value: float,
    left_out: Sequence[float],
    changed: Sequence[bool],
    reach: float | None = None,
    swapped: Sequence[float] | None = None,
) -> Difference | None:
    """The difference of a statistic that is not a mean, such as kappa.

    Args:
        value: the oriented difference over all clusters.
        left_out: the same without each cluster in turn; NaN where it is undefined.
        changed: whether a verdict of the cluster has changed.
        reach: the most that one cluster may move the statistic, times their number; ``None`` if
            that is not known.
        swapped: the difference with each cluster in turn swapped between the measurements, if they
            may be; else the test is that of the pseudo-values.

    Returns:
        The difference; ``None`` with fewer than two clusters, where it is not defined without a
        cluster, or where no cluster moves it and no reach is known: no spread is no certainty.
    """
    without = np.asarray(left_out, dtype=np.float64)
    count = without.size
    if count < 2 or not (math.isfinite(value) and np.isfinite(without).all()):
        return None
    deviations = without - without.mean()
    error = math.sqrt((count - 1) / count * float(deviations @ deviations))
    if error <= _NO_SPREAD and reach is None:
        return None
    pseudo = value - (count - 1) * deviations
    totals = np.where(changed, pseudo, 0.0)

    def end(sign: int, coverage: float, times: float) -> float:
        """How far the difference may lie to this side, in its direction."""
        student = sign * value + _student(count - 1, coverage) * error / math.sqrt(times)
        moved = float((sign * totals).max()) > _NO_SPREAD
        most = max(reach or 0.0, float(np.abs(totals).max()) if moved else 0.0)
        if most <= _NO_SPREAD:
            return student
        share = _pseudo_bound(sign * pseudo, most, coverage, times)
        return share if reach else max(share, student)

    @cache
    def interval(coverage: float, times: float) -> _Ends:
        return -end(-1, coverage, times), end(1, coverage, times)

    tested = totals if swapped is None else _added(value, swapped)
    if tested is None:
        return None
    p_worse, p_better = map(_doubled, _real_swap_p(tested))
    return Difference("cluster-jackknife", value, 0, count, interval, error, p_worse, p_better)


def _added(value: float, swapped: Sequence[float]) -> NDArray[np.float64] | None:
    """What each cluster adds to a difference, to first order; ``None`` where that is not defined.

    A swap takes away twice what the cluster adds. What all of them add together has the sign of the
    difference, or there is nothing that a test by swaps could tell.
    """
    added = (value - np.asarray(swapped, dtype=np.float64)) / 2
    if not np.isfinite(added).all():
        return None
    added[np.abs(added) <= _NO_SPREAD] = 0.0
    return added if added.sum() * value > 0 else np.zeros_like(added)


def _pseudo_bound(pseudo: NDArray[np.float64], most: float, coverage: float, times: float) -> float:
    """The upper bound of the mean of pseudo-values, of which none may lie beyond ``most``."""
    shares = np.clip(np.round((pseudo + most) / (2 * most), _DECIMALS), 0.0, 1.0)
    levels = ((1 + coverage) / 2,)
    ((_, high),) = share_bounds(shares, np.ones(shares.size), levels, times=times)
    return most * (2 * high - 1)


def unpaired_difference(
    old: tuple[float, _Ends], new: tuple[float, _Ends], clusters: int, coverage: float = 0.95
) -> Difference | None:
    """The difference of two measurements on different units, from their clustered intervals.

    Args:
        old: value and ends of the interval, oriented so that higher is better.
        new: the same of the new measurement.
        clusters: the smaller number of clusters of the two.
        coverage: of both intervals.

    Returns:
        The difference; ``None`` with fewer than two clusters, or where neither interval has a
        width: no spread is no certainty.
    """
    if clusters < 2:
        return None
    (x, (lower_x, upper_x)), (y, (lower_y, upper_y)) = new, old
    down, up = math.hypot(x - lower_x, upper_y - y), math.hypot(upper_x - x, y - lower_y)
    if max(down, up) <= _NO_SPREAD:
        return None
    unit = _student(clusters - 1, coverage)

    def interval(wanted: float, times: float) -> _Ends:
        scale = _student(clusters - 1, wanted) / unit / math.sqrt(times)
        return x - y - scale * down, x - y + scale * up

    # The level whose end reaches 0, on the side of the arm that points there.
    arm = max(up if x < y else down, sys.float_info.min)
    p_worse = float(stdtr(clusters - 1, unit * (x - y) / arm))
    error = (down if x > y else up) / unit
    return Difference("mover", x - y, 0, clusters, interval, error, p_worse, 1 - p_worse)


def holm(p_values: Sequence[float], alpha: float = 0.05) -> list[Adjusted]:
    """Holm's step-down adjustment: the probability of any false rejection is at most ``alpha``.

    Args:
        p_values: one for each hypothesis of the family.
        alpha: level of the family.

    Returns:
        For each, in the same order, the adjusted p-value and the level of its bound: that of its
        step if it is rejected, else that of the step at which Holm stopped.
    """
    size = len(p_values)
    adjusted: dict[int, Adjusted] = {}
    so_far, level, stopped = 0.0, alpha, False
    for step, index in enumerate(sorted(range(size), key=lambda i: p_values[i])):
        so_far = max(so_far, min(1.0, (size - step) * p_values[index]))
        level = level if stopped else alpha / (size - step)
        stopped = stopped or so_far > alpha
        adjusted[index] = Adjusted(so_far, level)
    return [adjusted[index] for index in range(size)]


def _student(degrees: int, coverage: float) -> float:
    # At coverage 0 both quantiles are 0, and their ratio is that of the densities: 1 in the limit.
    return float(stdtrit(degrees, (1 + max(coverage, 1e-9)) / 2))
