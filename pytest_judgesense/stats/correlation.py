r"""How strongly the units of a cluster could agree: a cautious design effect for proportions.

The linearised variance of a proportion is itself estimated from K clusters, and badly so when few
of them depart from the rest: three single failures in 50 clusters look independent even where a
failure usually takes the whole cluster with it. An interval that trusts it misses too often (down
to 87 of 100 at a rate of 0.98, `benchmarks/coverage.py`). Hence an upper credible bound for the
intra-cluster correlation r, from the beta-binomial likelihood at the observed proportion p::

    log L(r) = sum over clusters c of log B(a + s_c, b + m_c - s_c) - log B(a, b),
               a = p (1 - r) / r,   b = (1 - p) (1 - r) / r
    prior(r) proportional to (1 - r)^2 on (0, 1): Beta(1, 3)
    P(r <= r_up) = 0.8

    cautious n = n / (1 + (sum m_c^2 / n - 1) r_up)              (Kish's design effect)

with s_c the sum and m_c the number of units of cluster c, and B the beta function. The quantile
0.8 and the prior are a choice, made by simulation: the least cautious pair tried whose intervals
covered in every cell of that study. The likelihood decides only how wide the interval is, never
where it lies.

Edges: p = 0 and p = 1 say nothing of r; the caller has a rule of its own for them. Where every
cluster is one unit, the cautious n is n.

References:
    J. G. Skellam (1948), Journal of the Royal Statistical Society B 10, 257-261 (beta-binomial).
    L. Kish (1965), Survey Sampling, 8.2 (design effect of unequal clusters).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, betaln, stdtrit

_LEAST: Final = 1e-9  # of hits and misses, where there are none
_QUANTILE: Final = 0.8
_POINTS: Final = 64  # of the grid for r, dense near 0, where large clusters need it
_ROOTS: Final = (np.arange(_POINTS) + 0.5) / _POINTS
_GRID: Final = _ROOTS**2
_PRIOR: Final = np.log(_ROOTS) + 2 * np.log1p(-_GRID)  # Beta(1, 3) times dr / droot


def cautious_n(sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> float:
    """Effective number of units at the upper credible bound of the intra-cluster correlation.

    Args:
        sums: sum of the values of each cluster, shape (clusters,); values lie within [0, 1], and
            are neither all 0 nor all 1.
        sizes: units of each cluster, shape (clusters,), each at least 1.

    Returns:
        Between (about) the number of clusters and that of units.
    """
    n = float(sizes.sum())
    spread = float(sizes @ sizes) / n - 1
    if spread <= 0:
        return n
    share = float(sums.sum()) / n
    kinds, counts = np.unique(sums + 1j * sizes, return_counts=True)
    prior_units = (1 - _GRID) / _GRID
    ones, zeros = (share * prior_units)[:, None], ((1 - share) * prior_units)[:, None]
    kernel = betaln(ones + kinds.real, zeros + kinds.imag - kinds.real) - betaln(ones, zeros)
    posterior = kernel @ counts + _PRIOR
    cumulated = np.exp(posterior - posterior.max()).cumsum()
    bound = float(np.interp(_QUANTILE * cumulated[-1], cumulated, _GRID))
    return n / (1 + spread * bound)


def cautious_numbers(
    totals: NDArray[np.float64], sizes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The same for many recordings of clusters of the same sizes, as simulations have them.

    Args:
        totals: whole sums, one recording a row, shape (recordings, clusters).
        sizes: units of each cluster, shape (clusters,), each at least 1.

    Returns:
        Shape (recordings,); the number of clusters for a recording of all 0 or all 1.
    """
    n = float(sizes.sum())
    spread = float(sizes @ sizes) / n - 1
    rows, clusters = totals.shape
    if spread <= 0:
        return np.full(rows, n)
    known, group = np.unique(sizes, return_inverse=True)
    # Every pair of a size and a sum that there can be has a place; a row counts its clusters in it.
    first = np.concatenate([[0], np.cumsum(known.astype(np.int64) + 1)])
    hits = np.concatenate([np.arange(size + 1) for size in known])
    of_size = np.repeat(known, known.astype(np.int64) + 1)
    places = first[group] + totals.astype(np.int64) + first[-1] * np.arange(rows)[:, None]
    counts = np.bincount(places.ravel(), minlength=rows * first[-1]).reshape(rows, -1)
    prior_units = (1 - _GRID) / _GRID
    numbers = np.full(rows, float(clusters))
    sums = totals.sum(axis=1)
    for total in np.unique(sums[(sums > 0) & (sums < n)]):
        alike = np.flatnonzero(sums == total)
        ones = (total / n * prior_units)[:, None]
        zeros = prior_units[:, None] - ones
        kernel = betaln(ones + hits, zeros + of_size - hits) - betaln(ones, zeros)
        posterior = counts[alike] @ kernel.T + _PRIOR
        cumulated = np.exp(posterior - posterior.max(axis=1, keepdims=True)).cumsum(axis=1)
        for row, sum_up in zip(alike, cumulated, strict=True):
            bound = np.interp(_QUANTILE * sum_up[-1], sum_up, _GRID)
            numbers[row] = n / (1 + spread * float(bound))
    return numbers


def korn_graubard_bounds(
    shares: NDArray[np.float64],
    n: ArrayLike,
    effective: NDArray[np.float64],
    clusters: ArrayLike,
    level: float,
    most: ArrayLike = math.inf,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """One-sided bounds of `clustered`, for many simulated recordings at once.

    Args:
        shares: the proportions.
        n: their numbers of units.
        effective: the effective ones, before the adjustment.
        clusters: their numbers of clusters.
        level: of each bound.
        most: their cautious numbers.
    """
    units, k = np.asarray(n, dtype=np.float64), np.asarray(clusters, dtype=np.float64)
    ratio = stdtrit(np.maximum(units - 1, 1), level) / stdtrit(np.maximum(k - 1, 1), level)
    inside = (shares > 0) & (shares < 1)
    adjusted = np.where(inside, np.minimum(effective * ratio**2, most), effective)
    hits, misses = shares * adjusted, (1 - shares) * adjusted
    low = betaincinv(np.maximum(hits, _LEAST), misses + 1, 1 - level)
    high = betaincinv(hits + 1, np.maximum(misses, _LEAST), level)
    return np.where(shares <= 0, 0.0, low), np.where(shares >= 1, 1.0, high)
