"""Percentile bootstrap of a mean: over units (as published for JSS), or over clusters.

Of B resamples of the mean, the interval runs from the quantile of order ``(1 - level) / 2`` to
that of order ``(1 + level) / 2`` (linear between order statistics). Every draw comes from
``numpy.random.default_rng(seed)``.

Values that are all 0 or 1 need no indices: the sum of n draws with replacement from k ones among
n is binomial(n, k / n), so the B sums are drawn directly. Clusters with the same sum and size are
alike in the same way: K draws among them are multinomial over the kinds of clusters, so rates of
60,000 clusters of eight units need some tens of numbers a resample. Where kinds are many, and for
other values, draws are by index. Both go in blocks of bounded memory; the size of a block does not
change the draws.

Edges: resamples of a constant are all alike, and an interval without width would claim certainty.
A constant within [0, 1] has the Wilson interval in its place, named ``wilson`` over units, and
``wilson-clusters`` over clusters (each worth one unit). For a constant outside [0, 1] there is no
such interval: it is returned alone under the name ``constant``. No units at all are an error.

References:
    B. Efron, R. J. Tibshirani (1993), An Introduction to the Bootstrap, ch. 13 (percentile).
    A. C. Davison, D. V. Hinkley (1997), Bootstrap Methods and their Application, 3.8 (clusters).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_judgesense.estimate import Interval
from pytest_judgesense.stats.inputs import (
    Clusters,
    checked_level,
    cluster_totals,
    clustered_vector,
    finite_vector,
)
from pytest_judgesense.stats.proportions import wilson

_BLOCK: Final = 1 << 20  # indices held at a time: 8 MiB
_CLUSTERS_A_KIND: Final = 4  # a binomial draw costs about as much as four draws of an index
_ROUNDING: Final = 1e-12  # means that differ by less than this share are equal


def percentile_bootstrap(
    values: ArrayLike, seed: int, resamples: int = 1000, level: float = 0.95
) -> Interval:
    """Percentile bootstrap interval of the mean of ``values``, units drawn independently.

    Args:
        values: finite reals, at least one; agreements (0 and 1) take a short way.
        seed: seed of the draws.
        resamples: number of resamples.
        level: nominal coverage.

    Returns:
        The interval, ``percentile-bootstrap``; for a constant ``wilson`` (see the module).

    Raises:
        ValueError: there are no values or no resamples, a value is not finite, or the level is
            none.
    """
    vector = finite_vector(values)
    _check_draws(vector.size, resamples)
    if np.ptp(vector) == 0:
        return _without_spread(float(vector[0]), vector.size, "wilson", level)
    rng = np.random.default_rng(seed)
    if np.isin(vector, (0.0, 1.0)).all():
        means = rng.binomial(vector.size, vector.mean(), size=resamples) / vector.size
    else:
        counts = np.ones_like(vector)
        means = _resampled_ratios(vector, counts, rng, resamples, _BLOCK)
    return _percentiles("percentile-bootstrap", means, level)


def cluster_bootstrap(
    values: ArrayLike, clusters: Clusters, seed: int, resamples: int = 1000, level: float = 0.95
) -> Interval | None:
    """Percentile bootstrap interval of the mean of ``values``, whole clusters drawn.

    A resample is K clusters drawn with replacement; its mean is the sum of their values over the
    number of their units. It depends on the partition into clusters, not on their names.

    Args:
        values: finite reals, at least one.
        clusters: cluster of each unit.
        seed: seed of the draws.
        resamples: number of resamples.
        level: nominal coverage.

    Returns:
        The interval, ``cluster-bootstrap``; when all clusters have one mean, ``wilson-clusters``
        (see the module); ``None`` with fewer than two clusters.

    Raises:
        ValueError: there are no values or no resamples, lengths differ, a value is not finite, or
            the level is none.
    """
    vector, codes, count = clustered_vector(values, clusters)
    _check_draws(vector.size, resamples)
    checked_level(level)
    if count < 2:
        return None
    sums, sizes = cluster_totals(vector, codes, count)
    means = sums / sizes
    if np.ptp(means) <= _ROUNDING * float(np.abs(vector).max()):
        return _without_spread(float(vector.mean()), count, "wilson-clusters", level)
    rng = np.random.default_rng(seed)
    kinds, counts = np.unique(sums + 1j * sizes, return_counts=True)
    if kinds.size * _CLUSTERS_A_KIND <= count:
        resampled = _resampled_kinds(kinds, counts, rng, resamples, _BLOCK)
    else:
        resampled = _resampled_ratios(sums, sizes, rng, resamples, _BLOCK)
    return _percentiles("cluster-bootstrap", resampled, level)


def _resampled_kinds(
    kinds: NDArray[np.complex128],
    counts: NDArray[np.intp],
    rng: np.random.Generator,
    resamples: int,
    block: int,
) -> NDArray[np.float64]:
    """Ratios of resampled sums to sizes; a kind is ``sum + 1j * size`` of ``counts`` clusters."""
    rows = max(1, block // kinds.size)
    clusters = int(counts.sum())
    ratios = np.empty(resamples)
    for start in range(0, resamples, rows):
        stop = min(start + rows, resamples)
        drawn = rng.multinomial(clusters, counts / clusters, size=stop - start)
        ratios[start:stop] = (drawn @ kinds.real) / (drawn @ kinds.imag)
    return ratios


def _resampled_ratios(
    sums: NDArray[np.float64],
    sizes: NDArray[np.float64],
    rng: np.random.Generator,
    resamples: int,
    block: int,
) -> NDArray[np.float64]:
    """Ratios of resampled sums to resampled sizes, ``block`` indices (or one row) at a time."""
    rows = max(1, block // sums.size)
    ratios = np.empty(resamples)
    for start in range(0, resamples, rows):
        stop = min(start + rows, resamples)
        drawn = rng.integers(0, sums.size, size=(stop - start, sums.size))
        ratios[start:stop] = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    return ratios


def _percentiles(method: str, means: NDArray[np.float64], level: float) -> Interval:
    tail = (1 - checked_level(level)) / 2
    lower, upper = np.quantile(means, (tail, 1 - tail))
    return Interval(method=method, lower=float(lower), upper=float(upper), level=level)


def _without_spread(value: float, n: int, method: str, level: float) -> Interval:
    if not 0 <= value <= 1:
        return Interval("constant", value, value, checked_level(level))
    return replace(wilson(value * n, n, level), method=method)


def _check_draws(n: int, resamples: int) -> None:
    if n < 1:
        raise ValueError("a bootstrap needs at least one value, found none")
    if resamples < 1:
        raise ValueError(f"a bootstrap needs at least one resample, found {resamples!r}")
