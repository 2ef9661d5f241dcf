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

References:
    A. Wald, J. Wolfowitz (1943), Annals of Mathematical Statistics 14, 378-388 (serial correlation
    by random orders).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pytest_judgesense.stats.arrays import Floats

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
