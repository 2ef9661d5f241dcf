"""Does the order of sessions matter? Bets on a loss take it that it does not.

Where days depend on those before (an endpoint busy for a week), follow a season, or come to differ
more than they did, an unchanged judge alarms more often than promised. Two statistics of the
arcsines x of the shares of n sessions show it, each against `ORDERS` random orders of them::

    r = sum over t of (x_t - mean)(x_t+1 - mean) / sum of (x_t - mean)^2
    q = | log(d_1 / d_2) |,   d_h the mean distance of half h of the sessions from its median

It is looked at after 30, 50 and 100 sessions, and again in each later hundred; a look tells at a
p-value of .05/6, so that the six of a hundred sessions together tell falsely in at most 5% of
histories whose sessions may come in any order. A loss that was found is no such order: sessions
before it and since are shifted to the same mean, and reordered apart.

Do the last few sessions, as a block, rank below all before them? One bad session cannot.

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
    A. Wald, J. Wolfowitz (1943), Annals of Mathematical Statistics 14, 378-388 (serial correlation
    by random orders).
    H. B. Mann, D. R. Whitney (1947), Annals of Mathematical Statistics 18, 50-60.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_judgesense.stats.inputs import Floats

LOOKS: Final = (30, 50, 100)  # sessions of a hundred after which their order is looked at
LEVEL: Final = 0.05 / (2 * len(LOOKS))  # of one statistic at one look
ORDERS: Final = 999
_HUNDRED: Final = 100
_LEAST: Final = 1e-4  # of a spread, in arcsines: halves without any are alike


class OrderFound(NamedTuple):
    """What the order of sessions shows.

    Attributes:
        neighbours: p-value of the serial correlation where it tells; ``None`` where it does not.
        spread: that of a change of the spread.
    """

    neighbours: float | None = None
    spread: float | None = None


def order_of(shares: ArrayLike, since: int | None = None, seed: int = 0) -> OrderFound:
    """Whether the order of sessions matters, by the first look that tells; see the module.

    Args:
        shares: share of each session, within 0 to 1, shape (T,).
        since: position of the session with which a loss began; ``None`` without one.
        seed: of the random orders.
    """
    x = np.arcsin(np.sqrt(np.asarray(shares, dtype=np.float64)))
    telling: list[float | None] = [None, None]
    for last in _looks(x.size):
        first = (last - 1) // _HUNDRED * _HUNDRED
        loss = None if since is None or not first < since < last else since - first
        p_values = _p_values(x[first:last], loss, seed)
        for which, p in enumerate(p_values):
            if telling[which] is None and p <= LEVEL:
                telling[which] = p
    return OrderFound(*telling)


def _looks(sessions: int) -> list[int]:
    """After how many sessions there was a look."""
    hundreds = range(0, sessions, _HUNDRED)
    return [first + look for first in hundreds for look in LOOKS if first + look <= sessions]


def _p_values(x: Floats, since: int | None, seed: int) -> tuple[float, float]:
    """Shares of the orders, the one that was seen among them, with as great a statistic."""
    parts = [x] if since is None else [x[:since], x[since:]]
    residuals = [part - part.mean() for part in parts]
    rng = np.random.default_rng(seed)
    orders = np.concatenate(
        [rng.permuted(np.tile(part, (ORDERS, 1)), axis=1) for part in residuals], axis=1
    )
    observed, drawn = _statistics(np.concatenate(residuals)), _statistics(orders)
    # Sums of the same numbers in another order differ in their last digits.
    p = [
        (1 + int((among >= of_seen - 1e-12).sum())) / (ORDERS + 1)
        for of_seen, among in zip(observed, drawn, strict=True)
    ]
    return p[0], p[1]


def _statistics(x: Floats) -> tuple[Floats, Floats]:
    """Serial correlation r and change of the spread q, of the last axis."""
    centred = x - x.mean(axis=-1, keepdims=True)
    squares = np.maximum((centred**2).sum(axis=-1), _LEAST**2)
    serial = (centred[..., 1:] * centred[..., :-1]).sum(axis=-1) / squares
    half = x.shape[-1] // 2
    first, second = _distance(x[..., :half]), _distance(x[..., half:])
    return serial, np.abs(np.log((first + _LEAST) / (second + _LEAST)))


def _distance(x: Floats) -> Floats:
    """Mean distance from the median, of the last axis."""
    return np.asarray(np.abs(x - np.median(x, axis=-1, keepdims=True)).mean(axis=-1))


BLOCKS: Final = (2, 3, 4, 5, 6, 8, 10, 14, 20)  # late sessions that are taken together
EARLIER: Final = 5  # sessions before a block, at least
# Reached within a hundred sessions by 4.7% of 60,000 random orders.
CONFIRMED: Final = 2e-4


def block_p(shares: ArrayLike, first: int = 0, seed: int = 0) -> Floats:
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


def _p_of(ranks: NDArray[np.int64], block: int) -> Floats:
    """Mann-Whitney's p-value of the last ``block`` sessions against all before."""
    late, before = ranks[..., -block:], ranks[..., :-block]
    pairs = (before[..., np.newaxis, :] < late[..., np.newaxis]).sum(axis=(-2, -1))
    return np.asarray(_at_most(block, before.shape[-1])[pairs])


@lru_cache(maxsize=512)  # a plan takes 270 of them, each for every loss that it simulates
def _at_most(late: int, earlier: int) -> Floats:
    """P(U <= u) of sessions in any order, for u from 0 to the number of pairs.

    Of all orders those with U = u are counted by the coefficient of q^u in Gauss's polynomial, the
    product of (1 - q^(earlier + i)) / (1 - q^i) over i from 1 to ``late``. It is symmetric, and its
    lower half has digits of its own: none of a larger count comes into a smaller one.
    """
    most = late * earlier
    orders = np.zeros(most // 2 + 1)
    orders[0] = 1
    for i in range(1, late + 1):
        orders[earlier + i :] -= orders[: -(earlier + i)].copy()
        for remainder in range(i):
            orders[remainder::i] = orders[remainder::i].cumsum()
    lower = orders.cumsum() / comb(late + earlier, late)
    upper = 1 - lower[most - lower.size - 1 :: -1]
    return np.concatenate([lower, upper, [1.0]])


def drawn_ranks(shares: ArrayLike, seed: int) -> NDArray[np.int64]:
    """The place of each session among all by its share, equal ones in a drawn order."""
    values = np.asarray(shares, dtype=np.float64)
    # A row of draws a session: those of the first ones stay when others follow.
    drawn = np.random.default_rng(seed).random((values.shape[-1], *values.shape[:-1]))
    order = np.lexsort((np.moveaxis(drawn, 0, -1), values), axis=-1)
    return np.asarray(np.argsort(order, axis=-1))
