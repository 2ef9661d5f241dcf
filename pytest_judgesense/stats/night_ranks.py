"""Do the last few sessions, as a block, rank below all before them? One bad session cannot.

A bet on Student's p (`stats.drift`) holds its level where sessions are normal. Where a session is
bad now and then (an outage, one prompt that fails whole), a single one may multiply the wealth by
thousands. So an alarm has to be confirmed by what no single session can give: the last k sessions
against all before them, by ranks::

    U = number of pairs (earlier, late) with the earlier share below the late one
    p(t) = least over k of P(U <= observed), k = 2, 3, 4, 5, 6, 8, 10, 14, 20

each exact (Mann-Whitney), ties drawn, with at least five sessions before the block. Under "nothing
changed" sessions may come in any order with the same chance, whatever their distribution, so the
distribution of the least p(t) of a hundred sessions is that of random orders: it lies at or below
`CONFIRMED` in 4.7% of them (`benchmarks/drift.py` draws them anew).

References:
    H. B. Mann, D. R. Whitney (1947), Annals of Mathematical Statistics 18, 50-60.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

BLOCKS: Final = (2, 3, 4, 5, 6, 8, 10, 14, 20)  # late sessions that are taken together
EARLIER: Final = 5  # sessions before a block, at least
# Reached within a hundred sessions by 4.7% of 60,000 random orders.
CONFIRMED: Final = 2e-4


def block_p(shares: ArrayLike, first: int = 0, seed: int = 0) -> NDArray[np.float64]:
    """The least p-value of the blocks that end with each session; see the module.

    Args:
        shares: share of each session, more is better, shape (..., T).
        first: the session from which on p-values are wanted; those before get 1.
        seed: of the draws that order equal shares; a session's draw does not depend on later ones.

    Returns:
        Shape (..., T), 1 where no block ends.
    """
    ranks = drawn_ranks(shares, seed)
    least = np.ones(ranks.shape)
    for t in range(max(first, EARLIER + min(BLOCKS) - 1), ranks.shape[-1]):
        for block in BLOCKS:
            if t + 1 - block >= EARLIER:
                least[..., t] = np.minimum(least[..., t], _p_of(ranks[..., : t + 1], block))
    return least


def deciding_block(shares: ArrayLike, last: int, seed: int = 0) -> int:
    """How many sessions up to ``last`` are the block with the least p-value.

    Args:
        shares: share of each session, shape (T,).
        last: position of the session with which the block ends, at least 6.
        seed: of the draws that order equal shares.
    """
    ranks = drawn_ranks(shares, seed)[: last + 1]
    blocks = [block for block in BLOCKS if last + 1 - block >= EARLIER]
    return min(blocks, key=lambda block: _p_of(ranks, block))


def _p_of(ranks: NDArray[np.int64], block: int) -> NDArray[np.float64]:
    """Mann-Whitney's p-value of the last ``block`` sessions against all before."""
    # Half of scipy, which a replay does without.
    from scipy.stats import mannwhitneyu

    late, before = ranks[..., -block:], ranks[..., :-block]
    test = mannwhitneyu(late, before, alternative="less", axis=-1, method="exact")
    return np.asarray(test.pvalue)


def drawn_ranks(shares: ArrayLike, seed: int) -> NDArray[np.int64]:
    """The place of each session among all by its share, equal ones in a drawn order."""
    values = np.asarray(shares, dtype=np.float64)
    # A row of draws a session: those of the first ones stay when others follow.
    drawn = np.random.default_rng(seed).random((values.shape[-1], *values.shape[:-1]))
    order = np.lexsort((np.moveaxis(drawn, 0, -1), values), axis=-1)
    return np.asarray(np.argsort(order, axis=-1))
