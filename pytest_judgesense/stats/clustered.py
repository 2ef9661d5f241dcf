r"""Intervals whose independent units are clusters: the ones that gate.

Notation: n units in K clusters, x_i the values, m their mean, level L, t(d, q) Student's quantile.
All but the jackknife build on the linearised variance of a mean with clusters drawn with
replacement::

    v = K / (K - 1) * sum over clusters c of (sum over i in c of (x_i - m))^2 / n^2

**Proportion** (Korn and Graubard, made cautious): the exact interval of an effective sample::

    n_eff = min(n, m (1 - m) / v)
    n_adj = min(n_eff * (t(n - 1, q) / t(K - 1, q))^2, cautious n)
    Clopper-Pearson of m n_adj out of n_adj

The cautious n (see `correlation`) stands for what few departing clusters cannot tell about v;
without it the interval of an extreme rate covers too little. At m = 0 and m = 1 v is 0 and says
nothing: there n_eff = n_adj = K. That is exact: whatever the dependence within clusters, a rate p
shows K clusters without a departure from 1 with a chance of at most ``p^K``. At m strictly between
with v = 0 (all clusters have one mean) n_eff = n. The cap keeps luck in few clusters from making an
interval narrower than that of independent units.

**Mean**: ``m -/+ t(K - 1, q) sqrt(v)``, clipped. Without an observed spread between clusters a
Student interval would have no width, and conventions take its place:

* all values are c and both bounds are known: if a cluster departs from c with probability w, then
  0 departures in K clusters bound w by the Clopper-Pearson upper end ``1 - ((1 - L) / 2)^(1/K)``
  (the rule of three, made exact), and the mean lies between ``c - w (c - lower)`` and
  ``c + w (upper - c)`` (for clusters of equal size). Method ``exact-constant``;
* all values are c and a bound is unknown: nothing limits the values that were not seen. The
  interval is c alone, and says so by its method ``constant`` and an effective n of K;
* values differ, but all clusters have one mean: the variance of independent units takes the place
  of v (design effect 1), as the cap does for proportions.

**Jackknife**: one cluster is left out at a time, ``theta -/+ t(K - 1, q) se`` with
``se^2 = (K - 1) / K * sum over c of (theta_(c) - mean of all theta_(c))^2``, clipped. It has no
design effect. If no cluster changes the statistic, its width is 0 and its effective n is K (else
``None``), which is the mark to look for.

In a two-sided interval ``q = (1 + L) / 2``. One-sided bounds at L are computed alike with q = L.
Fewer than two clusters say nothing of the spread between clusters: the result is ``None``.

References:
    E. L. Korn, B. I. Graubard (1998), Survey Methodology 24, 193-201.
    J. A. Hanley, A. Lippman-Hand (1983), JAMA 249, 1743-1745 (rule of three).
    K. Rust, J. N. K. Rao (1996), Statistical Methods in Medical Research 5, 283-310 (jackknife).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.stats.correlation import cautious_n
from pytest_judgesense.stats.inputs import (
    Clusters,
    cluster_codes,
    clustered_vector,
    two_sided_level,
)
from pytest_judgesense.stats.proportions import clopper_pearson

_Ends: TypeAlias = tuple[float, float]

_ROUNDING: Final = 1e-12  # differences below this share of the values are rounding, not spread


def clustered_proportion(
    values: ArrayLike, clusters: Clusters, level: float = 0.95
) -> Clustered | None:
    """Korn-Graubard interval of the mean of ``values``.

    Args:
        values: units within [0, 1]: 0 and 1, or halves.
        clusters: cluster of each unit.
        level: nominal coverage of the interval, and of each one-sided bound; above 0.5.

    Returns:
        The interval, ``effective_n`` being the estimate n_eff, before it is adjusted, and
        ``design_effect`` n / n_eff; ``None`` with fewer than two clusters.

    Raises:
        ValueError: a value is outside [0, 1], lengths differ, or the level is none.
    """
    two_sided_level(level)
    vector, codes, count = clustered_vector(values, clusters)
    _check_within(vector, 0.0, 1.0)
    if count < 2:
        return None
    share = float(vector.mean())
    n_eff = _effective_n(share, _mean_variance(vector - share, codes, count), vector.size, count)
    constant = share in (0.0, 1.0)
    sums = np.bincount(codes, weights=vector, minlength=count).astype(np.float64)
    sizes = np.bincount(codes, minlength=count).astype(np.float64)
    most = n_eff if constant else cautious_n(sums, sizes)

    def ends(coverage: float) -> _Ends:
        ratio = _student(vector.size - 1, coverage) / _student(count - 1, coverage)
        n_adj = min(n_eff if constant else n_eff * ratio**2, most)
        exact = clopper_pearson(share * n_adj, n_adj, coverage)
        return exact.lower, exact.upper

    return _clustered(
        "korn-graubard",
        ends,
        level,
        clusters=count,
        design_effect=vector.size / n_eff,
        effective_n=n_eff,
    )


def clustered_mean(
    values: ArrayLike,
    clusters: Clusters,
    level: float = 0.95,
    lower: float | None = None,
    upper: float | None = None,
) -> Clustered | None:
    """Linearised Student interval of the mean of ``values``, for differences and other reals.

    Args:
        values: finite reals.
        clusters: cluster of each unit.
        level: nominal coverage of the interval, and of each one-sided bound; above 0.5.
        lower: least value there can be, where there is one; ends are clipped to it.
        upper: greatest value there can be, likewise.

    Returns:
        The interval, its method ``clustered-t``, ``exact-constant`` or ``constant`` (see the
        module); ``None`` with fewer than two clusters. ``design_effect`` is v over the variance
        of the mean of independent units and may be below 1; ``effective_n`` is n over it.

    Raises:
        ValueError: a value is outside the bounds, lengths differ, or the level is none.
    """
    two_sided_level(level)
    vector, codes, count = clustered_vector(values, clusters)
    least, most = _bounds(lower, upper)
    _check_within(vector, least, most)
    if count < 2:
        return None
    if np.ptp(vector) <= _ROUNDING * float(np.abs(vector).max()):
        return _constant_mean(float(vector[0]), count, vector.size, level, (least, most))
    n = vector.size
    mean = float(vector.mean())
    residuals = vector - mean
    iid_variance = float(residuals @ residuals) / (n * (n - 1))
    totals = np.bincount(codes, weights=residuals, minlength=count)
    if np.abs(totals).max() <= _ROUNDING * float(np.abs(residuals).sum()):
        variance = iid_variance
    else:
        variance = _mean_variance(residuals, codes, count)
    return _clustered(
        "clustered-t",
        _student_ends(mean, math.sqrt(variance), count - 1, (least, most)),
        level,
        clusters=count,
        design_effect=variance / iid_variance,
        effective_n=n * iid_variance / variance,
    )


def clustered_jackknife(
    statistic: Callable[[NDArray[np.intp]], float],
    clusters: Clusters,
    level: float = 0.95,
    lower: float | None = None,
    upper: float | None = None,
) -> Clustered | None:
    """Delete-one-cluster jackknife interval of any smooth statistic, such as kappa.

    Args:
        statistic: takes the positions of the units that are kept, in ascending order, and returns
            the statistic of them; NaN where it is undefined.
        clusters: cluster of each unit.
        level: nominal coverage of the interval, and of each one-sided bound; above 0.5.
        lower: least value the statistic can have, where there is one; ends are clipped to it.
        upper: greatest value the statistic can have, likewise.

    Returns:
        The interval about the statistic of all units; ``None`` with fewer than two clusters, or
        when the statistic of all units, or of all but one cluster, is not finite.

    Raises:
        ValueError: the bounds are the wrong way round, or the level is none.
    """
    codes, count = cluster_codes(clusters)
    if count < 2:
        return None
    whole = float(statistic(np.arange(codes.size)))
    left_out = np.array([float(statistic(np.flatnonzero(codes != c))) for c in range(count)])
    return jackknife_interval(whole, left_out, level, lower, upper)


def jackknife_interval(
    whole: float,
    left_out: NDArray[np.float64],
    level: float = 0.95,
    lower: float | None = None,
    upper: float | None = None,
) -> Clustered | None:
    """Jackknife interval of a statistic whose leave-one-out values are known already.

    Args:
        whole: the statistic of all units.
        left_out: the statistic without each cluster in turn, shape (clusters,).
        level: nominal coverage of the interval, and of each one-sided bound; above 0.5.
        lower: least value the statistic can have, where there is one; ends are clipped to it.
        upper: greatest value the statistic can have, likewise.

    Returns:
        The interval; ``None`` with fewer than two clusters, or when a value is not finite.

    Raises:
        ValueError: the bounds are the wrong way round, or the level is none.
    """
    two_sided_level(level)
    bounds = _bounds(lower, upper)
    count = left_out.size
    if count < 2:
        return None
    if not (math.isfinite(whole) and np.isfinite(left_out).all()):
        return None
    constant = bool(np.ptp(left_out) <= _ROUNDING * float(np.abs(left_out).max()))
    deviations = left_out - left_out.mean()
    squares = 0.0 if constant else float(deviations @ deviations)
    error = math.sqrt((count - 1) / count * squares)
    return _clustered(
        "cluster-jackknife",
        _student_ends(whole, error, count - 1, bounds),
        level,
        clusters=count,
        design_effect=None,
        effective_n=float(count) if constant else None,
    )


def _effective_n(share: float, variance: float, n: int, clusters: int) -> float:
    if share in (0.0, 1.0):
        return float(clusters)
    return min(float(n), share * (1 - share) / variance) if variance > 0 else float(n)


def _mean_variance(residuals: NDArray[np.float64], codes: NDArray[np.intp], count: int) -> float:
    """The linearised variance v of the module's docstring, from ``x_i - m``."""
    totals = np.bincount(codes, weights=residuals, minlength=count)
    return count / (count - 1) * float(totals @ totals) / residuals.size**2


def _constant_mean(value: float, count: int, n: int, level: float, bounds: _Ends) -> Clustered:
    least, most = bounds
    exact = math.isfinite(least) and math.isfinite(most)

    def ends(coverage: float) -> _Ends:
        departing = clopper_pearson(0, count, coverage).upper if exact else 0.0
        down, up = (value - least, most - value) if exact else (0.0, 0.0)
        return value - departing * down, value + departing * up

    return _clustered(
        "exact-constant" if exact else "constant",
        ends,
        level,
        clusters=count,
        design_effect=n / count,
        effective_n=float(count),
    )


def _student(degrees: int, coverage: float) -> float:
    return float(stdtrit(degrees, (1 + coverage) / 2))


def _student_ends(
    centre: float, error: float, degrees: int, bounds: _Ends
) -> Callable[[float], _Ends]:
    least, most = bounds

    def ends(coverage: float) -> _Ends:
        reach = _student(degrees, coverage) * error
        return max(least, min(most, centre - reach)), max(least, min(most, centre + reach))

    return ends


def _clustered(
    method: str,
    ends: Callable[[float], _Ends],
    level: float,
    *,
    clusters: int,
    design_effect: float | None,
    effective_n: float | None,
) -> Clustered:
    """The interval at ``level`` with its one-sided bounds, from the ends at any coverage."""
    lower, upper = ends(level)
    lower_bound, upper_bound = ends(two_sided_level(level))
    return Clustered(
        method=method,
        lower=lower,
        upper=upper,
        level=level,
        clusters=clusters,
        design_effect=design_effect,
        effective_n=effective_n,
        lower_bound=lower_bound,
        upper_bound=upper_bound,
    )


def _bounds(lower: float | None, upper: float | None) -> _Ends:
    least = -math.inf if lower is None else lower
    most = math.inf if upper is None else upper
    if not least < most:
        msg = f"the lower bound lies below the upper one, found {lower!r} and {upper!r}"
        raise ValueError(msg)
    return least, most


def _check_within(vector: NDArray[np.float64], least: float, most: float) -> None:
    if vector.size and not (least <= vector.min() and vector.max() <= most):
        found = f"from {vector.min()} to {vector.max()}"
        msg = f"values lie within [{least}, {most}], found values {found}"
        raise ValueError(msg)
