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

**Interval of paired proportions** (Tango's score interval). Of n units b got better and c got
worse. With z the normal quantile, the ends solve ``T(D) = z`` (lower) and ``T(D) = -z`` (upper)::

    T(D) = (b - c - n D) / sqrt(n (2 q + D (1 - D)))
    q    = (sqrt(B^2 - 8 n C) - B) / (4 n),   B = (2 n - b + c) D - b - c,   C = -c D (1 - D)

Units of one cluster are not independent: with the design effect of the clustered variance of the
differences (never below 1) and Student's quantiles t(d, q) the counts are deflated::

    f = (t(n - 1, q) / t(K - 1, q))^2 / max(1, design effect)        b f, c f out of n f

With one unit a cluster f is 1, and it is Tango's interval itself.

**Real units** (probabilities): the interval is Student's over clusters, and the test counts the
same swaps of the totals of the clusters, rounded to 1/10,000 of the sum of their sizes.

**Other statistics** (kappa, d', ...): the interval is that of the delete-one-cluster jackknife of
the difference, ``D -/+ t(K - 1, q) se``. Swapping a cluster turns the sign of what it adds to the
difference, to first order; so the test is the same, of the pseudo-values ``K D - (K - 1) D_(c)``
moved to their mean D, and of 0 for a cluster without a verdict that changed.

**Unpaired** (MOVER): with the values x, y and their intervals (l, u)::

    lower = x - y - sqrt((x - l_x)^2 + (u_y - y)^2)
    upper = x - y + sqrt((u_x - x)^2 + (y - l_y)^2)

For another coverage than that of the intervals their arms are scaled by Student's quantiles, and
the p-value is the level at which the end reaches 0.

Edges: without a unit that differs, Tango's ends are ``-/+ z^2 / (n + z^2)``. One cluster says
nothing of the spread between clusters: `None`.

References:
    T. Tango (1998), Statistics in Medicine 17, 891-908, equations 5 to 9.
    Q. McNemar (1947), Psychometrika 12, 153-157.
    R. A. Fisher (1935), The Design of Experiments, ch. 3 (the test by swaps).
    M. W. Fagerland, S. Lydersen, P. Laake (2013), BMC Medical Research Methodology 13:91 (mid-P).
    G. Y. Zou, A. Donner (2008), Statistics in Medicine 27, 1693-1702 (MOVER).
    S. Holm (1979), Scandinavian Journal of Statistics 6, 65-70.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from pytest_judgesense.stats.clustered import clustered_mean
from pytest_judgesense.stats.inputs import Clusters, check_within, clustered_vector

_Ends: TypeAlias = tuple[float, float]

_HALVINGS: Final = 60  # of an interval of length 2: more than a double holds
_EXACT_CLUSTERS: Final = 400  # more than these that differ: the normal limit of the swaps
_POWER: Final = 0.8  # with which so many clusters settle it
_STEPS: Final = 10_000  # in which pseudo-values are counted, all of them together


@dataclass(frozen=True, slots=True)
class Difference:
    """New minus old, oriented so that above 0 is better.

    Attributes:
        method: ``tango``, ``tango-clustered``, ``clustered-t`` (units that are real numbers),
            ``cluster-jackknife`` or ``mover`` (unpaired).
        value: the difference.
        n: units compared; 0 where no units are paired.
        clusters: number of clusters; if unpaired, the smaller of the two numbers.
        ends: from a nominal coverage to the ends of the two-sided interval.
        p_worse: one-sided p-value of "not worse"; ``p_better`` of "not better".
        better: number of paired units that got better, ``worse``: worse; ``None`` if unknown.
    """

    method: str
    value: float
    n: int
    clusters: int
    ends: Callable[[float], _Ends] = field(compare=False, repr=False)
    p_worse: float
    p_better: float
    better: int | None = None
    worse: int | None = None

    def lower(self, alpha: float) -> float:
        """One-sided bound: with probability ``1 - alpha`` the true difference is above it."""
        return self.ends(1 - 2 * alpha)[0]

    def upper(self, alpha: float) -> float:
        """One-sided bound: with probability ``1 - alpha`` the true difference is below it."""
        return self.ends(1 - 2 * alpha)[1]

    def clusters_to_clear(self, target: float, alpha: float) -> int | None:
        """Clusters whose one-sided bound clears ``target`` with a probability of 80%.

        It assumes that the difference is ``value``, and is larger than the present number, which
        has not settled it. ``None`` if the value is the target.
        """
        room = self.value - target
        if not room:
            return None
        reach = self.value - (self.lower(alpha) if room > 0 else self.upper(alpha))
        # The width of an interval is proportional to one over the root of the number of clusters.
        share = reach / room * (1 + float(ndtri(_POWER) / ndtri(1 - alpha)))
        return max(self.clusters + 1, math.ceil(self.clusters * share**2))


@dataclass(frozen=True, slots=True)
class Adjusted:
    """A Holm-adjusted p-value, and the alpha at which its bound agrees with it.

    Attributes:
        p: adjusted p-value: rejected at the level of the family if at most that level.
        alpha: level of the one-sided bound that lies beyond 0 exactly if it is rejected.
    """

    p: float
    alpha: float


def tango(better: float, worse: float, n: float, coverage: float = 0.95) -> _Ends:
    """Tango's score interval of ``(better - worse) / n``; counts may be fractional.

    Args:
        better: units that got better.
        worse: units that got worse.
        n: units in all, above 0.
        coverage: nominal coverage, from 0 to below 1.

    Raises:
        ValueError: counts do not fit into ``n``, or the coverage is none.
    """
    if not (min(better, worse) >= 0 and n > 0 and better + worse <= n * (1 + 1e-9)):
        raise ValueError(f"units that differ are among all n, found {better!r}, {worse!r} of {n!r}")
    if not 0 <= coverage < 1:
        raise ValueError(f"a coverage lies between 0 and 1, found {coverage!r}")
    z = float(ndtri((1 + coverage) / 2))
    value = (better - worse) / n

    def statistic(delta: float) -> float:
        b = (2 * n - better + worse) * delta - better - worse
        c = -worse * delta * (1 - delta)
        q = (math.sqrt(max(0.0, b * b - 8 * n * c)) - b) / (4 * n)
        variance = n * (2 * q + delta * (1 - delta))
        gap = better - worse - n * delta
        return gap / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, gap)

    lower = _root(lambda delta: statistic(delta) - z, -1.0, value)
    upper = _root(lambda delta: statistic(delta) + z, value, 1.0)
    return lower, upper


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """The zero of a decreasing function between two ends, at which it may be infinite."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if falling(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def paired_difference(differences: ArrayLike, clusters: Clusters) -> Difference | None:
    """The mean of paired differences of units that are 0 or 1 (or halves).

    Args:
        differences: new minus old, one for each unit, within [-1, 1], above 0 if better.
        clusters: cluster of each unit.

    Returns:
        The difference; ``None`` with fewer than two clusters.

    Raises:
        ValueError: a difference is outside [-1, 1], or lengths differ.
    """
    vector, codes, count = clustered_vector(differences, clusters)
    check_within(vector, -1.0, 1.0)
    found = clustered_mean(vector, clusters)
    if found is None:
        return None
    n = vector.size
    better, worse = float(vector[vector > 0].sum()), float(-vector[vector < 0].sum())
    alone = count == n
    effect = 1.0 if alone else max(1.0, found.design_effect or 1.0)

    @cache  # of a verdict that is asked for in several places
    def ends(coverage: float) -> _Ends:
        ratio = 1.0 if alone else _student(n - 1, coverage) / _student(count - 1, coverage)
        share = ratio**2 / effect
        return tango(better * share, worse * share, n * share, coverage)

    p_values = _swap_p(np.bincount(codes, weights=vector, minlength=count), alone=alone)
    return _of_units("tango" if alone else "tango-clustered", vector, count, ends, p_values)


def paired_mean_difference(differences: ArrayLike, clusters: Clusters) -> Difference | None:
    """The mean of paired differences of units that are real numbers, such as probabilities.

    Args:
        differences: new minus old, one for each unit, finite, above 0 if better.
        clusters: cluster of each unit.

    Returns:
        The difference; ``None`` with fewer than two clusters, or if all differences are equal: no
        spread is no certainty.

    Raises:
        ValueError: a difference is not finite, or lengths differ.
    """
    vector, codes, count = clustered_vector(differences, clusters)
    found = clustered_mean(vector, clusters)
    if found is None or found.at is None or found.method == "constant":
        return None
    at = found.at
    totals = np.bincount(codes, weights=vector, minlength=count).astype(np.float64)

    def ends(coverage: float) -> _Ends:
        return at((1 + coverage) / 2)

    return _of_units("clustered-t", vector, count, ends, _real_swap_p(totals))


def _of_units(
    method: str,
    vector: NDArray[np.float64],
    clusters: int,
    ends: Callable[[float], _Ends],
    p_values: tuple[float, float],
) -> Difference:
    """The mean of paired differences, with the p-values of "not worse" and of "not better"."""
    better, worse = int((vector > 0).sum()), int((vector < 0).sum())
    value = float(vector.mean())
    return Difference(method, value, vector.size, clusters, ends, *p_values, better, worse)


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

    def ends(coverage: float) -> _Ends:
        reach = _student(count - 1, coverage) * error
        return value - reach, value + reach

    totals = np.where(changed, value - (count - 1) * deviations, 0.0)
    return Difference("cluster-jackknife", value, 0, count, ends, *_real_swap_p(totals))


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

    def ends(wanted: float) -> _Ends:
        scale = _student(clusters - 1, wanted) / unit
        return x - y - scale * down, x - y + scale * up

    # The level whose end reaches 0, on the side of the arm that points there.
    arm = max(up if x < y else down, sys.float_info.min)
    p_worse = float(stdtr(clusters - 1, unit * (x - y) / arm))
    return Difference("mover", x - y, 0, clusters, ends, p_worse, 1 - p_worse)


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
    found: dict[int, Adjusted] = {}
    so_far, level, stopped = 0.0, alpha, False
    for step, index in enumerate(sorted(range(size), key=lambda i: p_values[i])):
        so_far = max(so_far, min(1.0, (size - step) * p_values[index]))
        level = level if stopped else alpha / (size - step)
        stopped = stopped or so_far > alpha
        found[index] = Adjusted(so_far, level)
    return [found[index] for index in range(size)]


def _student(degrees: int, coverage: float) -> float:
    # At coverage 0 both quantiles are 0, and their ratio is that of the densities: 1 in the limit.
    return float(stdtrit(degrees, (1 + max(coverage, 1e-9)) / 2))
