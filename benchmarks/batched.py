"""Bounds of kappa and d' for many data sets at once, for `coverage.py`: the same numbers, sooner.

The draws of `stats.dirichlet` are the same for all data sets of so many clusters, so that one
product of matrices weighs all of them. The first few of every batch are computed by the product's
own functions too, and a difference ends the benchmark.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.stats import agreement
from pytest_judgesense.stats.agreement import clustered_kappa
from pytest_judgesense.stats.detection import ceiling, clustered_d_prime, d_prime
from pytest_judgesense.stats.dirichlet import PSEUDO_WEIGHT, drawn_weights

CHECKED = 3  # data sets of a batch that the product's function computes as well
LEVEL = 0.95
TAILS = ((1 + LEVEL) / 2, LEVEL)
BLOCK = 200  # data sets that are weighed at once

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Batch:
    """Values, ends of the two-sided interval and one-sided bounds, each of shape (runs,)."""

    value: Reals
    lower: Reals
    upper: Reals
    lower_bound: Reals
    upper_bound: Reals


def kappas(tables: NDArray[np.int64]) -> Batch:
    """Kappa of data sets of shape (runs, clusters, 2, 2), the tables of clusters; NaN where
    it is undefined.
    """
    weights = np.array([[0, 1], [1, 0]])
    with np.errstate(invalid="ignore"):
        value = agreement._kappas(np.moveaxis(tables.sum(axis=1), 0, -1), weights)

    def ends(block: NDArray[np.int64], tail: float) -> tuple[Reals, Reals]:
        clusters = block.shape[1]
        weights = agreement._AGREEMENT, agreement._DISAGREEMENT
        drawn, pseudo = drawn_weights(clusters, tail, weights)
        unseen = pseudo[:, None, :] * (block.sum(axis=(1, 2, 3)) / clusters)[:, None]
        high = _weighted(drawn, block.reshape(*block.shape[:2], 4)).reshape(len(drawn), -1, 2, 2)
        high[..., 0, 0] += unseen[..., 0] / 2
        high[..., 1, 1] += unseen[..., 0] / 2
        low = high.copy()
        low[..., 0, 1] += unseen[..., 1] / 2
        low[..., 1, 0] += unseen[..., 1] / 2
        return (
            np.quantile(_kappas(low), 1 - tail, axis=0),
            np.quantile(_kappas(high), tail, axis=0),
        )

    batch = _batch(value, tables, ends)

    def own(run: int) -> Clustered | None:
        units = np.repeat(np.indices(tables.shape[1:]).reshape(3, -1), tables[run].ravel(), axis=1)
        clusters, first, second = units
        # Numbers, which have their order in the product too.
        return clustered_kappa(first.tolist(), second.tolist(), clusters)

    _check(batch, own, [run for run in range(len(tables)) if tables[run].sum(axis=(1, 2)).all()])
    return batch


def d_primes(hits: NDArray[np.int64], alarms: NDArray[np.int64], trials: int) -> Batch:
    """d' of data sets of shape (runs, clusters), each cluster of so many trials of either kind."""
    clusters = hits.shape[1]
    n = clusters * trials
    most = ceiling(n, n)
    value = np.array([d_prime(h, n, f, n) for h, f in zip(hits.sum(1), alarms.sum(1), strict=True)])

    def ends(block: NDArray[np.int64], tail: float) -> tuple[Reals, Reals]:
        drawn, pseudo = drawn_weights(clusters, tail, (PSEUDO_WEIGHT,))
        seen = _weighted(drawn, block)
        hit, alarm = seen[..., 0], seen[..., 1]
        miss = false = pseudo * trials
        asked = drawn.sum(axis=1, keepdims=True) * trials
        hit = np.minimum(hit, asked)  # but for rounding it is
        low = ndtri(hit / (asked + miss)) - ndtri((alarm + false) / (asked + false))
        high = ndtri((hit + miss) / (asked + miss)) - ndtri(alarm / (asked + false))
        found = (
            np.quantile(low, 1 - tail, axis=0, method="lower"),
            np.quantile(high, tail, axis=0, method="higher"),
        )
        lower, upper = (np.where(abs(end) >= most, np.copysign(np.inf, end), end) for end in found)
        return lower, upper

    both = np.stack([hits, alarms], axis=-1)
    batch = _batch(value, both, ends)
    batch = replace(
        batch, lower=np.maximum(batch.lower, -most), upper=np.minimum(batch.upper, most)
    )
    signal = np.tile(np.arange(2 * trials) < trials, clusters)
    at = np.arange(trials)

    def own(run: int) -> Clustered | None:
        answers = (at < both[run][:, :, None]).reshape(-1)
        return clustered_d_prime(answers, signal, np.repeat(np.arange(clusters), 2 * trials))

    _check(batch, own, list(range(len(hits))))
    return batch


def _weighted(drawn: Reals, block: NDArray[np.int64]) -> Reals:
    """Of data sets of shape (runs, clusters, kinds) the weighted totals: (draws, runs, kinds)."""
    runs, clusters, kinds = block.shape
    flat = block.astype(np.float64).transpose(1, 0, 2).reshape(clusters, -1)
    return (drawn @ flat).reshape(len(drawn), runs, kinds)


def _kappas(tables: Reals) -> Reals:
    (a, b), (c, d) = np.moveaxis(tables, (-2, -1), (0, 1))
    return 2 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d))


def _batch(
    value: Reals, data: NDArray[np.int64], ends: Callable[..., tuple[Reals, Reals]]
) -> Batch:
    parts = [data[at : at + BLOCK] for at in range(0, len(data), BLOCK)]
    two, one = (
        [np.concatenate(side) for side in zip(*(ends(part, tail) for part in parts), strict=True)]
        for tail in TAILS
    )
    lower_bound, upper_bound = np.fmin(one[0], value), np.fmax(one[1], value)
    lower, upper = np.minimum(two[0], lower_bound), np.maximum(two[1], upper_bound)
    return Batch(value, lower, upper, lower_bound, upper_bound)


def _check(batch: Batch, own: Callable[[int], Clustered | None], runs: list[int]) -> None:
    for run in [run for run in runs if np.isfinite(batch.value[run])][:CHECKED]:
        found = own(run)
        assert found is not None
        for name in ("lower", "upper", "lower_bound", "upper_bound"):
            here, there = getattr(batch, name)[run], getattr(found, name)
            assert np.isclose(here, there, rtol=0, atol=1e-9), (
                f"run {run}, {name}: {here} here, {there} there"
            )
