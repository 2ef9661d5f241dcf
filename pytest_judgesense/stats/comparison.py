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
pseudo-cluster in which all is lost, as large as the cluster of a unit drawn by chance. So nothing
that changed is no proof that nothing can: of 20 items without a change the bound says that the
share lost is below 0.14, of 40 below 0.07. Tango's score interval, and Student's, take what was not
seen for 0: a judge that had lost 5% of its items as a whole was called unchanged on 20 items in 37
of 100 comparisons.

**Other statistics** (kappa, d', ...): the interval is that of the delete-one-cluster jackknife of
the difference, ``D -/+ t(K - 1, q) se``. Swapping a cluster turns the sign of what it adds to the
difference, to first order; so the test is the same, of the pseudo-values ``K D - (K - 1) D_(c)``
moved to their mean D, and of 0 for a cluster without a verdict that changed.

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
    S. Holm (1979), Scandinavian Journal of Statistics 6, 65-70.
    W. C. Guenther (1981), The American Statistician 35, 243-244 (sample size of Student's test).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from pytest_judgesense.stats.dirichlet import PROPORTION_METHOD, share_bounds, share_tail
from pytest_judgesense.stats.inputs import LEVEL, Clusters, check_within, clustered_vector
from pytest_judgesense.stats.settle import fewest_clusters

_Ends: TypeAlias = tuple[float, float]
# From a coverage, and how many times the clusters there are, to the ends of an interval.
_Interval: TypeAlias = Callable[[float, float], _Ends]

_EXACT_CLUSTERS: Final = 400  # more than these that differ: the normal limit of the swaps
_POWER: Final = 0.8  # with which so many clusters settle it
_CLOSE: Final = 0.01  # of the number of clusters
_STEPS: Final = 10_000  # in which pseudo-values are counted, all of them together


@dataclass(frozen=True, slots=True)
class Difference:
    """New minus old, oriented so that above 0 is better.

    Attributes:
        method: that of a share (paired units), ``cluster-jackknife`` or ``mover`` (unpaired).
        value: the difference.
        n: units compared; 0 where no units are paired.
        clusters: number of clusters; if unpaired, the smaller of the two numbers.
        interval: from a nominal coverage, and how many times the clusters there are, to the ends of
            the two-sided interval.
        error: standard error of the difference.
        p_worse: one-sided p-value of "not worse"; ``p_better`` of "not better".
        better: number of paired units that got better, ``worse``: worse; ``None`` if unknown.
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

    def at_worst(self, worst: Difference | None) -> Difference:
        """The same with the lower bound, and the p-value of "not better", of a worse case."""
        if worst is None:
            return self

        def interval(coverage: float, times: float) -> _Ends:
            return worst.interval(coverage, times)[0], self.interval(coverage, times)[1]

        return replace(self, interval=interval, p_better=worst.p_better)

    def at_most(self, other: Difference | None) -> Difference:
        """The same with the worse lower bound and p-value of "not better" of both."""
        if other is None:
            return self

        def interval(coverage: float, times: float) -> _Ends:
            low, high = self.interval(coverage, times)
            return min(low, other.interval(coverage, times)[0]), high

        return replace(self, interval=interval, p_better=max(self.p_better, other.p_better))

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


def paired_difference(
    differences: ArrayLike, clusters: Clusters, each: float | None = None
) -> Difference | None:
    """The mean of paired differences of units within [0, 1]: 0 or 1, halves, probabilities.

    Args:
        differences: new minus old, one for each unit, within [-1, 1], above 0 if better.
        clusters: cluster of each unit.
        each: mean number of unlike units of a cluster (see `stats.dirichlet`); default: all are.

    Returns:
        The difference; ``None`` with fewer than two clusters.

    Raises:
        ValueError: a difference is outside [-1, 1], or lengths differ.
    """
    vector, codes, count = clustered_vector(differences, clusters)
    check_within(vector, -1.0, 1.0)
    if count < 2:
        return None
    totals = np.bincount(codes, weights=vector, minlength=count).astype(np.float64)
    sizes = np.bincount(codes, minlength=count).astype(np.float64)
    doubled = 2 * vector
    if (doubled == np.rint(doubled)).all():
        p_values = _swap_p(totals, alone=count == vector.size)
    else:
        p_values = _real_swap_p(totals)
    better, worse = int((vector > 0).sum()), int((vector < 0).sum())
    return bounded_difference(totals, sizes, each, p_values, better, worse)


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
    if whole.size > _EXACT_CLUSTERS:
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


def jackknife_difference(
    value: float, left_out: Sequence[float], changed: Sequence[bool]
) -> Difference | None:
    """The difference of a statistic that is not a mean, such as kappa.

    Args:
        value: the oriented difference over all clusters.
        left_out: the same without each cluster in turn; NaN where it is undefined.
        changed: whether a verdict of the cluster has changed.

    Returns:
        The difference; ``None`` with fewer than two clusters, where it is not defined without a
        cluster, or where no cluster moves it: no spread is no certainty.
    """
    without = np.asarray(left_out, dtype=np.float64)
    count = without.size
    if count < 2 or not (math.isfinite(value) and np.isfinite(without).all()):
        return None
    deviations = without - without.mean()
    error = math.sqrt((count - 1) / count * float(deviations @ deviations))
    if error <= 1e-12:
        return None

    def interval(coverage: float, times: float) -> _Ends:
        reach = _student(count - 1, coverage) * error / math.sqrt(times)
        return value - reach, value + reach

    totals = np.where(changed, value - (count - 1) * deviations, 0.0)
    p_values = _real_swap_p(totals)
    return Difference("cluster-jackknife", value, 0, count, interval, error, *p_values)


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
        The difference; ``None`` with fewer than two clusters.
    """
    if clusters < 2:
        return None
    (x, (lower_x, upper_x)), (y, (lower_y, upper_y)) = new, old
    down, up = math.hypot(x - lower_x, upper_y - y), math.hypot(upper_x - x, y - lower_y)
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
