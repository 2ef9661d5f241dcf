r"""Intervals with clusters as independent units: the ones that gate.

Notation: n units in K clusters, x_i the values, m their mean, level L, t(d, q) Student's quantile.
All but the jackknife build on the linearised variance of a mean with clusters drawn with
replacement::

    v = K / (K - 1) * sum over clusters c of (sum over i in c of (x_i - m))^2 / n^2

**Proportion**: a Bayesian bootstrap over clusters with weights that no answer changes, and a weak
pseudo-cluster for what has not been seen (`stats.dirichlet`). Its bounds are monotone: a unit that
counts instead of one that does not never lowers one. Replicates of one wording in one order are one
unlike unit: they add no weight to a cluster. Beside it stand, for the reader and for no
gate, the effective number of units ``n_eff = min(n, m (1 - m) / v)`` and the design effect
``n / n_eff``. At m = 0 and m = 1 v says nothing: there ``n_eff = K`` by convention, for a rate p
shows K clusters without a departure from 1 with a chance of at most ``p^K``. At m strictly between
with v = 0 (all clusters have one mean) ``n_eff = n``.

**Mean between known bounds** (differences, effects): the same bootstrap, of the values rescaled to
[0, 1]; its pseudo-cluster lies at the bound.

**Excess within known bounds**, of few large values and many small ones, as a stated confidence less
what came true is: the lower end is Student's, below, which such skewness moves away from the mean;
the upper end is that of the bootstrap, for Student's lies too low there (see docs/intervals.md).

**Mean without bounds**: ``m -/+ t(K - 1, q) sqrt(v)``. If all clusters have one mean, the variance
of independent units takes the place of v; if all values are one, nothing limits those that were
not seen: the interval is that value alone, and says so by its method ``constant``.

**Positive mean** (variances, absolute differences), skewed and of scales that differ between
clusters, where Student's interval covers as little as 78 of 100: a gamma pivot. A gamma variable of
mean m and of the shape ``k = (m / sqrt(v))^2 (z(q) / t(K - 1, q))^2`` has the quantile
``m G(k, p) / k``, so m is bounded by::

    lower = m G(k, 1 - q) / k            upper = m' k' / G(k', 1 - q)

with G the quantile function of the gamma distribution of shape k and scale 1. What makes an upper
bound too low is the cluster that was not drawn: m' and k' hold one more of ``1 + 5 / K`` times the
greatest. Fewer than `FEWEST_FOR_SKEW` clusters say too little: ``None``. If all values are one, a
departure to the greatest value there can be has at most the share that `stats.dirichlet` bounds.

**Positive statistic** that is no mean (an index of several): the same for its jackknife
pseudo-values ``K theta - (K - 1) theta_(c)``. Those may lie on both sides of 0, as near the least
value of an index that holds a distance; k' is then small as it never is for positive values, the
gamma quantile vanishes, and Student's end ``m' + t(K - 1, q) sqrt(v')`` takes its place below 1/2.

**Statistic** within a range that is no mean (a correlation): the delete-one-cluster jackknife on
Fisher's z, the inverse hyperbolic tangent of the place within the range, turned back. With
theta_(c) the z of the statistic without cluster c, and their mean theta_(.)::

    theta -/+ t(K - 1, q) sqrt((K - 1) / K * sum (theta_(c) - theta_(.))^2)

Near an end of the range a statistic is skewed, and bounds on its own scale cover .90 to .93 (on z
.945 to .97, see docs/intervals.md). A statistic that is too low on few clusters, as the entropy of
grades is, has z moved by the jackknife's estimate of its bias, ``(K - 1) (theta_(.) - theta)``, and
the ends reach at least as far as those moved likewise on its own scale: on z alone the end of the
range would never be reached. If no cluster changes it, the value alone, by the method ``constant``,
or ``None`` with fewer than `FEWEST_FOR_SKEW` clusters: three outputs in one order with people show
nothing of others.

In a two-sided interval ``q = (1 + L) / 2``. One-sided bounds at L are computed alike with q = L.
Fewer than two clusters say nothing of the spread between clusters: the result is ``None``.

Every function takes a finite number for each unit, or columns of them, and the cluster of each. L
is `LEVEL`; the result's ``at`` gives the bounds at any other level.

References:
    D. B. Rubin (1981), The Annals of Statistics 9, 130-134 (Bayesian bootstrap).
    R. G. Miller (1974), Biometrika 61, 1-15 (the jackknife, and its pseudo-values).
    G. S. Easton, E. Ronchetti (1986), JASA 81, 420-430 (shapes matched to few moments).
    K. M. Wolter (2007), Introduction to Variance Estimation, ch. 4 (groups that are left out).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaincinv, ndtri, stdtrit

from pytest_judgesense.estimate import Clustered, Ends
from pytest_judgesense.stats.dirichlet import PROPORTION_METHOD, random_groups, share_bounds
from pytest_judgesense.stats.inputs import (
    LEVEL,
    Clusters,
    Floats,
    check_within,
    cluster_codes,
    cluster_sums,
    clustered_vector,
    finite_vector,
    first_positions,
    joint_codes,
)

_Ends: TypeAlias = tuple[float, float]


# From columns of units to a number, NaN where it is undefined; with ``counts`` the units are
# unlike, and so often is each of them there: it may be never.
Statistic: TypeAlias = Callable[..., float]

# Clusters below which a skewed mean has no interval, and a statistic that no cluster changes.
FEWEST_FOR_SKEW: Final = 10

# Of an excess: the lower end by the first, the upper end by the second.
EXCESS_METHOD: Final = f"clustered-t, {PROPORTION_METHOD}"
_ROUNDING: Final = 1e-12  # differences below this share of the values are rounding, not spread
_MOST_LEFT_OUT: Final = 1000  # clusters that a jackknife leaves out one at a time
_GROUPS: Final = 200  # in which it leaves out more
_LEAST_PLACE: Final = 1e-6  # of a statistic within its range, before Fisher's z
_LEAST_SHAPE: Final = 0.5  # of a gamma variable whose far quantile bounds a mean from above


def clustered_proportion(
    values: ArrayLike,
    clusters: Clusters,
    unlike: int | None = None,
    weights: ArrayLike | None = None,
) -> Clustered | None:
    """Interval of the mean of ``values`` by a Bayesian bootstrap over clusters.

    Args:
        values: units within [0, 1]: 0 and 1, or halves.
        clusters: cluster of each unit.
        unlike: how many units there are if replicates are counted once; default: all of them.
        weights: what each unit weighs in the mean, 1 on average, whatever was answered; default: 1.

    Returns:
        The interval, its method `PROPORTION_METHOD`; ``effective_n`` is n_eff and ``design_effect``
        n / n_eff. ``None`` with fewer than two clusters.

    Raises:
        ValueError: a value is outside [0, 1], or lengths differ.
    """
    vector, codes, count = clustered_vector(values, clusters)
    check_within(vector, 0.0, 1.0)
    if count < 2:
        return None
    weighing = np.ones(vector.size) if weights is None else finite_vector(weights)
    share = float((weighing * vector).mean())
    variance = _mean_variance(weighing * (vector - share), codes, count)
    n_eff = float(vector.size)
    if share in (0.0, 1.0):
        n_eff = float(count)
    elif variance > 0:
        n_eff = min(n_eff, share * (1 - share) / variance)
    sums, sizes, _ = cluster_sums([weighing * vector, weighing], codes, count)
    each = (vector.size if unlike is None else unlike) / count
    return clustered_by(
        PROPORTION_METHOD,
        lambda *levels: share_bounds(sums, sizes, levels, each),
        clusters=count,
        design_effect=vector.size / n_eff,
        effective_n=n_eff,
        each=each,
    )


def clustered_mean(
    values: ArrayLike, clusters: Clusters, within: _Ends | None = None, unlike: int | None = None
) -> Clustered | None:
    """Interval of the mean of ``values``, for differences and other reals.

    Args:
        values: finite reals.
        clusters: cluster of each unit.
        within: smallest and largest possible value, if both are known.
        unlike: as in `clustered_proportion`, for values within bounds.

    Returns:
        The interval, its method `PROPORTION_METHOD` where both bounds are known, else
        ``clustered-t`` or ``constant`` (see the module); ``None`` with fewer than two clusters.
        ``design_effect`` is v over the variance of the mean of independent units and may be below
        1; ``effective_n`` is n over it.

    Raises:
        ValueError: a value is outside the bounds, or lengths differ.
    """
    vector, codes, count = clustered_vector(values, clusters)
    least, most = within or (-math.inf, math.inf)
    check_within(vector, least, most)
    if count < 2:
        return None
    mean, variance, effect = _linearised(vector, codes, count)
    each = None if unlike is None else unlike / count
    if within:
        sums, sizes = cluster_sums([(vector - least) / (most - least)], codes, count)

    def ends(*levels: float) -> list[_Ends]:
        if within:
            return [
                (least + (most - least) * low, least + (most - least) * high)
                for low, high in share_bounds(sums, sizes, levels, each)
            ]
        reaches = [math.sqrt(variance) * float(stdtrit(count - 1, level)) for level in levels]
        return [(mean - reach, mean + reach) for reach in reaches]

    return clustered_by(
        PROPORTION_METHOD if within else "clustered-t" if variance else "constant",
        ends,
        clusters=count,
        design_effect=effect,
        effective_n=vector.size / effect,
    )


def clustered_excess(
    values: ArrayLike, clusters: Clusters, within: _Ends, unlike: int | None = None
) -> Clustered | None:
    """Interval of the mean of bounded differences of which few are large.

    Args:
        values: finite reals.
        clusters: cluster of each unit.
        within: smallest and largest possible value.
        unlike: as in `clustered_proportion`, for the upper end.

    Returns:
        The interval, its method `EXCESS_METHOD`; the rest as in `clustered_mean` without bounds.

    Raises:
        ValueError: a value is outside the bounds, or lengths differ.
    """
    student, bootstrap = (clustered_mean(values, clusters, *of) for of in ((), (within, unlike)))
    if student is None or bootstrap is None or student.at is None or bootstrap.at is None:
        return None
    below, above = student.at, bootstrap.at
    return clustered_by(
        EXCESS_METHOD,
        lambda *levels: [(below(level)[0], above(level)[1]) for level in levels],
        clusters=student.clusters,
        design_effect=student.design_effect,
        effective_n=student.effective_n,
        each=bootstrap.each,
    )


def clustered_positive_mean(
    values: ArrayLike, clusters: Clusters, upper: float = math.inf
) -> Clustered | None:
    """Interval of the mean of non-negative, skewed values, such as variances.

    Args:
        values: finite, at least 0.
        clusters: cluster of each unit.
        upper: largest possible value, infinite if none is known.

    Returns:
        The interval, its method ``clustered-gamma``, or ``exact-constant`` or ``constant`` where
        all values are one (see the module); ``None`` with fewer than `FEWEST_FOR_SKEW` clusters.

    Raises:
        ValueError: a value is below 0 or above ``upper``, or lengths differ.
    """
    vector, codes, count = clustered_vector(values, clusters)
    check_within(vector, 0.0, upper)
    if count < FEWEST_FOR_SKEW:
        return None
    _, variance, effect = _linearised(vector, codes, count)
    sums, sizes = cluster_sums([vector], codes, count)
    value, bounded = float(vector[0]), math.isfinite(upper)

    def ends(*levels: float) -> list[_Ends]:
        if variance:
            return [_gamma_ends(sums, sizes, upper, level) for level in levels]
        if not bounded:
            return [(value, value)] * len(levels)
        unseen = share_bounds(np.zeros(count), np.ones(count), levels)
        return [(value * (1 - high), value + (upper - value) * high) for _, high in unseen]

    return clustered_by(
        "clustered-gamma" if variance else "exact-constant" if bounded else "constant",
        ends,
        clusters=count,
        design_effect=effect,
        effective_n=vector.size / effect,
    )


def clustered_positive_statistic(
    statistic: Statistic,
    columns: Sequence[NDArray[Any]],
    clusters: Clusters,
    upper: float = math.inf,
) -> Clustered | None:
    """Interval of a smooth non-negative statistic that is not a mean, such as an index.

    Args:
        statistic: see `Statistic`; NaN where it is undefined.
        columns: numbers of each unit, each of shape (units,).
        clusters: cluster of each unit.
        upper: the greatest value that there can be.

    Returns:
        The interval about the statistic of all units, its method ``jackknife-gamma``, or
        ``constant`` where no cluster changes it; ``None`` with fewer than `FEWEST_FOR_SKEW`
        clusters, or when the statistic of all units, or of all but one cluster, is not finite.
        More than 1,000 clusters are left out in 200 random groups (Wolter 2007, ch. 4), one after
        the other; the pseudo-values, and Student's quantile, are those of the groups.
    """
    codes, count = cluster_codes(clusters)
    jackknife = _left_out(statistic, columns, codes, count) if count >= FEWEST_FOR_SKEW else None
    if jackknife is None:
        return None
    whole, left_out = jackknife
    parts = left_out.size
    pseudo = parts * whole - (parts - 1) * left_out
    # About the statistic itself, not about the mean of the pseudo-values.
    pseudo += whole - pseudo.mean()
    constant = bool(np.ptp(pseudo) <= _ROUNDING * parts * max(1.0, abs(whole)))
    return clustered_by(
        "constant" if constant else "jackknife-gamma",
        lambda *levels: [
            (whole, whole) if constant else _gamma_ends(pseudo, np.ones(parts), upper, level)
            for level in levels
        ],
        clusters=count,
        effective_n=float(count) if constant else None,
    )


def clustered_statistic(
    statistic: Statistic,
    columns: Sequence[NDArray[Any]],
    clusters: Clusters,
    within: _Ends,
    *,
    biased: bool = False,
) -> Clustered | None:
    """Interval of a smooth statistic that is not a mean, of any sign, such as a correlation.

    Args:
        statistic: as in `clustered_positive_statistic`.
        columns: as in `clustered_positive_statistic`.
        clusters: cluster of each unit.
        within: smallest and largest possible value, both finite.
        biased: whether it is too low, or too high, on few clusters.

    Returns:
        The interval, its method ``jackknife-z``, or ``constant`` where no cluster changes the
        statistic; ``None`` with fewer than three clusters, with fewer than `FEWEST_FOR_SKEW` of
        which none changes it, or where the statistic of all units, or of all but one cluster, is
        not finite. More than 1,000 clusters are left out in 200 random groups (Wolter 2007, ch. 4),
        one after the other: Student's quantile is that of the groups.
    """
    least, most = within
    codes, count = cluster_codes(clusters)
    jackknife = _left_out(statistic, columns, codes, count) if count >= 3 else None
    if jackknife is None:
        return None
    whole, left_out = jackknife
    parts = left_out.size
    constant = _jackknifed(whole, left_out)[1] <= _ROUNDING * max(1.0, abs(whole))
    if constant and count < FEWEST_FOR_SKEW:
        return None

    def in_z(values: Floats) -> Floats:
        place = 2 * (values - least) / (most - least) - 1
        return np.asarray(np.arctanh(np.clip(place, _LEAST_PLACE - 1, 1 - _LEAST_PLACE)))

    def ends(*levels: float) -> list[_Ends]:
        plain, plain_error = _jackknifed(whole, left_out, biased=biased)
        center, error = _jackknifed(float(in_z(np.array(whole))), in_z(left_out), biased=biased)
        bounds = []
        for level in levels:
            reach = float(stdtrit(parts - 1, level))
            low, high = (
                least + (most - least) * (1 + math.tanh(center + sign * reach * error)) / 2
                for sign in (-1, 1)
            )
            if biased:
                low = min(low, plain - reach * plain_error)
                high = max(high, plain + reach * plain_error)
            bounds.append((max(least, min(low, whole)), min(most, max(high, whole))))
        return bounds

    if constant:
        return clustered_by(
            "constant", lambda *levels: [(whole, whole)] * len(levels), clusters=count
        )
    return clustered_by("jackknife-z", ends, clusters=count)


def _jackknifed(whole: float, left_out: Floats, *, biased: bool = False) -> tuple[float, float]:
    """Center and standard error of the delete-one jackknife; if ``biased``, without its bias."""
    parts = left_out.size
    away = left_out - left_out.mean()
    center = whole - (parts - 1) * float(left_out.mean() - whole) if biased else whole
    return center, math.sqrt((parts - 1) / parts * float(away @ away))


def _left_out(
    statistic: Statistic, columns: Sequence[NDArray[Any]], codes: NDArray[np.intp], count: int
) -> tuple[float, Floats] | None:
    """The statistic of all units, and of those without each cluster, or each group of many.

    ``None`` where one of them is not finite.
    """
    whole = float(statistic(*columns))
    if count <= _MOST_LEFT_OUT:
        without = (np.flatnonzero(codes != cluster) for cluster in range(count))
        without_each = [float(statistic(*(column[rows] for column in columns))) for rows in without]
    else:
        # One at a time the work would grow with the square of their number. Of units that are
        # alike one stands for all, as often as they are kept.
        alike = joint_codes(*(np.unique(column, return_inverse=True)[1] for column in columns))
        first, often = first_positions(alike), np.bincount(alike)
        unlike = [column[first] for column in columns]
        groups = random_groups(codes, count, _GROUPS)
        in_order = alike[np.argsort(groups, kind="stable")]
        sizes = np.bincount(groups, minlength=_GROUPS)
        without_each = [
            float(statistic(*unlike, counts=often - np.bincount(part, minlength=often.size)))
            for part in np.split(in_order, np.cumsum(sizes)[:-1])
        ]
    return (whole, np.array(without_each)) if np.isfinite([whole, *without_each]).all() else None


def _gamma_ends(sums: Floats, sizes: Floats, most: float, coverage: float) -> _Ends:
    """The one-sided bounds of the gamma pivot (see the module)."""
    count = sums.size
    unseen = min(most, (1 + 5 / count) * float((sums / sizes).max()))
    mean_size = sizes.mean()
    mean, shape = _gamma_shape(sums, sizes, coverage)
    # Of a shape near 0 the gamma quantile vanishes, and with it the division.
    lower = mean / shape * float(gammaincinv(shape, 1 - coverage)) if shape > _ROUNDING else 0.0
    mean, shape = _gamma_shape(
        np.append(sums, unseen * mean_size), np.append(sizes, mean_size), coverage
    )
    if shape < _LEAST_SHAPE:
        return lower, min(most, mean + mean / math.sqrt(shape) * float(ndtri(coverage)))
    quantile = float(gammaincinv(shape, 1 - coverage))
    return lower, min(most, mean * shape / quantile)


def _gamma_shape(sums: Floats, sizes: Floats, coverage: float) -> tuple[float, float]:
    # Rounded once, as in `_mean_variance`.
    count, units = sums.size, math.fsum(sizes)
    mean = math.fsum(sums) / units
    totals = sums - mean * sizes
    variance = count / (count - 1) * math.fsum(totals * totals) / units**2
    shrink = float(ndtri(coverage)) / float(stdtrit(count - 1, coverage))
    return mean, mean**2 / max(variance, 1e-300) * shrink**2


def _mean_variance(residuals: NDArray[np.float64], codes: NDArray[np.intp], count: int) -> float:
    """The linearised variance v of the module's docstring, from ``x_i - m``."""
    totals = np.bincount(codes, weights=residuals, minlength=count)
    # Rounded once: the order of the clusters, which is that of their names, changes no digit.
    return count / (count - 1) * math.fsum(totals * totals) / residuals.size**2


def _linearised(vector: Floats, codes: NDArray[np.intp], count: int) -> tuple[float, float, float]:
    """Mean, variance of it, and design effect; a variance of 0 where all values are one."""
    n = vector.size
    mean = float(vector.mean())
    if np.ptp(vector) <= _ROUNDING * float(np.abs(vector).max()):
        return mean, 0.0, n / count
    residuals = vector - mean
    independent = float(residuals @ residuals) / (n * (n - 1))
    totals = np.bincount(codes, weights=residuals, minlength=count)
    if np.abs(totals).max() <= _ROUNDING * float(np.abs(residuals).sum()):
        return mean, independent, 1.0
    variance = _mean_variance(residuals, codes, count)
    return mean, variance, variance / independent


def clustered_by(
    method: str,
    ends: Callable[..., list[_Ends]],
    *,
    clusters: int,
    design_effect: float | None = None,
    effective_n: float | None = None,
    each: float | None = None,
) -> Clustered:
    """The interval, from a function that returns the one-sided bounds at several levels."""

    def both() -> Ends:
        two_sided, one_sided = ends((1 + LEVEL) / 2, LEVEL)
        return Ends(*two_sided, *one_sided)

    return Clustered.later(
        both,
        method=method,
        level=LEVEL,
        clusters=clusters,
        design_effect=design_effect,
        effective_n=effective_n,
        at=lambda other: ends(other)[0],
        each=each,
    )


def at_level(method: str, ends: Callable[[float], _Ends], clusters: int, level: float) -> Clustered:
    """The interval of a nominal coverage, from a function that returns both bounds at a level."""
    lower, upper = ends((1 + level) / 2)
    lower_bound, upper_bound = ends(level)
    return Clustered(
        method=method,
        lower=lower,
        upper=upper,
        level=level,
        clusters=clusters,
        design_effect=None,
        effective_n=None,
        lower_bound=lower_bound,
        upper_bound=upper_bound,
        at=ends,
    )
