"""`clustered_proportion` for many data sets at once, for `coverage.py`: the same numbers, sooner.

A data set is the sums of K clusters of one size. The first few of every batch are computed by the
product's function too, and a difference ends the benchmark.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, betaln, stdtrit

from pytest_judgesense.stats import correlation
from pytest_judgesense.stats.clustered import clustered_proportion

CHECKED = 5  # data sets of a batch that the product's function computes as well
LEVEL = 0.95

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Batch:
    """Ends of the two-sided interval and one-sided bounds, each of shape (runs,)."""

    lower: Reals
    upper: Reals
    lower_bound: Reals
    upper_bound: Reals


def clustered_proportions(sums: NDArray[np.int64], size: int) -> Batch:
    """Intervals of data sets of shape (runs, clusters), clusters being of ``size`` units.

    Raises:
        AssertionError: one of those checked is not the product's.
    """
    clusters = sums.shape[1]
    n = clusters * size
    share = sums.sum(axis=1) / n
    constant = (share == 0) | (share == 1)
    variance = clusters / (clusters - 1) * ((sums - size * share[:, None]) ** 2).sum(axis=1) / n**2
    with np.errstate(divide="ignore", invalid="ignore"):
        n_eff = np.where(variance > 0, np.minimum(n, share * (1 - share) / variance), n)
    cautious = _cautious(sums, size)

    def ends(coverage: float) -> tuple[Reals, Reals]:
        tail = (1 - coverage) / 2
        ratio = stdtrit(n - 1, 1 - tail) / stdtrit(clusters - 1, 1 - tail)
        n_adj = np.where(constant, clusters, np.minimum(n_eff * ratio**2, cautious))
        ones, zeros = share * n_adj, (1 - share) * n_adj
        lower = np.where(share == 0, 0, betaincinv(np.where(ones > 0, ones, 1), zeros + 1, tail))
        upper = np.where(
            share == 1, 1, betaincinv(ones + 1, np.where(zeros > 0, zeros, 1), 1 - tail)
        )
        return lower, upper

    batch = Batch(*ends(LEVEL), *ends(2 * LEVEL - 1))
    _check(sums, size, batch)
    return batch


def _cautious(sums: NDArray[np.int64], size: int) -> Reals:
    clusters = sums.shape[1]
    n = clusters * size
    totals = np.clip(sums.sum(axis=1), 1, n - 1)  # the ends have a rule of their own
    counts = np.stack([(sums == kind).sum(axis=1) for kind in range(size + 1)], axis=1)
    kernel = _kernel(clusters, size)
    grid, prior = correlation._GRID, correlation._PRIOR
    found = np.empty(len(sums))
    for run, (total, row) in enumerate(zip(totals, counts, strict=True)):
        posterior = kernel[total - 1] @ row + prior
        cumulated = np.exp(posterior - posterior.max()).cumsum()
        bound = np.interp(correlation._QUANTILE * cumulated[-1], cumulated, grid)
        found[run] = n / (1 + (size - 1) * bound)
    return found


@lru_cache(maxsize=1)
def _kernel(clusters: int, size: int) -> Reals:
    """Beta-binomial log-likelihoods, shape (totals from 1 to n - 1, grid, sums from 0 to size)."""
    share = (np.arange(1, clusters * size) / (clusters * size))[:, None, None]
    prior_units = ((1 - correlation._GRID) / correlation._GRID)[None, :, None]
    ones, zeros = share * prior_units, (1 - share) * prior_units
    kinds = np.arange(size + 1)
    return betaln(ones + kinds, zeros + size - kinds) - betaln(ones, zeros)


def _check(sums: NDArray[np.int64], size: int, batch: Batch) -> None:
    clusters = np.repeat(np.arange(sums.shape[1]), size)
    for run in range(min(CHECKED, len(sums))):
        values = (np.arange(size) < sums[run][:, None]).ravel()
        own = clustered_proportion(values, clusters, LEVEL)
        assert own is not None
        here = batch.lower[run], batch.upper[run], batch.lower_bound[run], batch.upper_bound[run]
        theirs = own.lower, own.upper, own.lower_bound, own.upper_bound
        assert np.allclose(here, theirs, rtol=0, atol=1e-9), f"{sums[run]}: {here}, {theirs}"
