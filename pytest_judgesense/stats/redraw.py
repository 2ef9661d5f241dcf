"""Whole clusters resampled: what a statistic of their sums would be on other items.

K of K clusters are drawn with replacement. A draw is the number of times that each cluster is in
it, so sums over draws are matrix products, and a statistic of sums is computed for all draws at
once. So is whether the lower bound of a share (`stats.dirichlet`) reaches a bar; equal draws are
computed once.

References:
    A. C. Davison, D. V. Hinkley (1997), Bootstrap Methods and their Application, 3.8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.stats.dirichlet import chances_above
from pytest_judgesense.stats.inputs import Floats

Flags: TypeAlias = NDArray[np.bool_]
_BLOCK: Final = 1 << 20  # clusters drawn at a time: 8 MiB


def drawn_counts(clusters: int, draws: int, seed: Sequence[int]) -> NDArray[np.int64]:
    """How often each cluster is in each draw, shape (draws, clusters)."""
    rng = np.random.default_rng(seed)
    counts = np.empty((draws, clusters), dtype=np.int64)
    rows = max(1, _BLOCK // clusters)
    for start in range(0, draws, rows):
        part = counts[start : start + rows]
        # Each row has codes of its own. That is ten times as fast as multinomial draws.
        drawn = rng.integers(clusters, size=part.shape)
        drawn += clusters * np.arange(len(part))[:, np.newaxis]
        part[:] = np.bincount(drawn.ravel(), minlength=part.size).reshape(part.shape)
    return counts


def drawn_values(
    value: Callable[..., Any], sums: Sequence[Floats], counts: NDArray[np.int64]
) -> Floats:
    """A statistic of sums for every draw; NaN if nothing that it needs was drawn."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(value(*(counts @ column for column in sums)), dtype=np.float64)


def drawn_reaching(
    counts: NDArray[np.int64],
    sums: Floats,
    sizes: Floats,
    level: float,
    each: float | None = None,
) -> Callable[[float], Flags]:
    """From a share to whether the lower bound of each draw at ``level`` reaches it."""
    kinds, kind = np.unique(np.stack([sums, sizes]), axis=1, return_inverse=True)
    of_kind = counts @ np.eye(kinds.shape[1], dtype=np.int64)[kind.ravel()]
    unlike, place = np.unique(of_kind, axis=0, return_inverse=True)

    def reaches(share: float) -> Flags:
        if not 0 < share < 1:
            return np.full(len(counts), share <= 0)
        chances = chances_above(share, kinds[0], kinds[1], unlike, level, each)
        return np.asarray((chances >= level)[place.ravel()])

    return reaches


def bits(flags: Sequence[Flags]) -> str:
    """Where any of the flags is set, as hexadecimal digits, one bit a draw."""
    return np.packbits(np.any(flags, axis=0)).tobytes().hex()
