r"""Has a mean moved, and whose? Bets on changes within bounds, looked at after every one of them.

**One mean.** The changes c_1, c_2, ... lie within [-1, 1]. Under "nothing moved" each has a mean of
0, whatever the earlier ones were. Who stakes a share k of what there is on a loss has, after n of
them, ``prod over i <= n of (1 - k c_i)`` times the stake, 0 < k < 1: a martingale that is never
below 0. Nobody knows how much is lost, so the stake is spread over four boldnesses k; half of it is
on a loss, and half, likewise, on a gain (-c)::

    L_n = 1/2 mean over k of prod (1 - k c_i),   G_n = 1/2 mean over k of prod (1 + k c_i)

L + G begins at 1 and is such a wealth as `stats.wealth` describes: it ever reaches 40 with a chance
of at most 1/40, whenever and however often one looks. A loss is called where L alone reaches 40, a
gain where G does, and stays called.

The boldnesses are fixed beforehand, so no change that is for the better ever raises L, and the
wealth in the end does not depend on the order. Bets that follow what was seen (the `wealth` of
`stats.sequential`) find a loss a little sooner, and have neither.

**Judge or system.** Anchors are outputs that never change; each gives a change a = now - then.
Fresh outputs differ between two sessions; one of now and one of then give f = now - then. If the
judge alone moved, it moved both by the same D on average, whatever D is, and ::

    (1 - k f) (1 + k a)   has the mean   (1 - k D) (1 + k D) <= 1

so its products are a wealth that is no richer than a martingale: it bets on what the product lost
beyond the judge. Two processes, on a and on f beyond a, at 40 each: that any of the four bets is
ever called without a cause has a chance of at most 1/20.

Where one of the two series is longer than the other, so many of it go in together: a step of p
fresh changes and q anchors, m the lesser of the two, multiplies by ``prod (1 - k m f / p) prod (1 +
k m a / q)``, whose mean is at most exp(-k m D) exp(k m D) = 1.

**Intervals** hold at every look too: of all m that bets against a mean of m (c - m in place of c,
f - m in place of f, k over 1 + |m| in place of k) have not called. 0 lies in the interval exactly
if nothing is called.

References:
    I. Waudby-Smith, A. Ramdas (2024), Journal of the Royal Statistical Society B 86, 1-27 (betting
    on bounded means and its intervals, section 4; mixtures of bets).
    J. Ville (1939), Etude critique de la notion de collectif, ch. 5 (the inequality).
    arXiv:2606.15474 (anchors that the judge is asked again, and a process on them beside that on
    the product; here bets beyond the anchors take the place of its guard window).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_judgesense.stats.inputs import Floats, check_within
from pytest_judgesense.stats.wealth import (
    WealthAlarm,
    first_step,
    log_growth,
    log_wealth,
    mixed,
)

# From a mean m to the wealth of betting that the mean is less, after each step.
_Against: TypeAlias = Callable[[float], Floats]

BOLDNESS: Final = (0.1, 0.25, 0.5, 0.9)
# Changes to bet on: with half the stake, a loss of half is called after 18 of them.
FEWEST: Final = 18
_MOST_LOG: Final = 500.0  # of a wealth, so that none overflows
_ROUNDING: Final = 1e-12
_ALARM: Final = WealthAlarm(1 / 40, _ROUNDING)  # of each process
ALARM: Final = _ALARM.wealth
_HALVINGS: Final = 12  # of the place of an end


def wealth(changes: ArrayLike, stake: float = 1.0, mean: float = 0.0) -> Floats:
    """Wealth of betting on a loss, after each change; that on a gain is the one of ``-changes``.

    Args:
        changes: above 0 if for the better, within [-1, 1], shape (..., n).
        stake: what there is for the loss and the gain together; half of it is staked here.
        mean: what the changes are bet to have less than.

    Returns:
        Shape (..., n), at least 0.

    Raises:
        ValueError: a change lies outside [-1, 1].
    """
    c = _checked(changes)
    bets = np.asarray(BOLDNESS) / (1 + abs(mean))
    return _of_half_the_stake([log_wealth(-k, c - mean) for k in bets], stake)


def wealth_beyond(
    fresh: ArrayLike, anchors: ArrayLike, stake: float = 1.0, mean: float = 0.0
) -> Floats:
    """Wealth of betting that fresh outputs lost more than anchors, after each step.

    That on a gain is the one of ``-fresh, -anchors``.

    Args:
        fresh: changes of fresh outputs, within [-1, 1], shape (..., n).
        anchors: changes of anchors, within [-1, 1], shape (..., k).
        stake: as in `wealth`.
        mean: what the former are bet to have less than, beyond the latter.

    Returns:
        Shape (..., the lesser of n and k).
    """
    f, a = _checked(fresh), _checked(anchors)
    steps = min(f.shape[-1], a.shape[-1])
    starts, sizes = zip(*(_parts(series.shape[-1], steps) for series in (f, a)), strict=True)
    together = np.minimum(*sizes) / (1 + abs(mean))

    def log(k: float) -> Floats:
        bets, bets_of_anchors = (np.repeat(k * together / size, size) for size in sizes)
        lost = np.add.reduceat(log_growth(-bets, f - mean), starts[0], axis=-1)
        of_judge = np.add.reduceat(log_growth(bets_of_anchors, a), starts[1], axis=-1)
        return np.asarray(np.cumsum(lost + of_judge, axis=-1))

    return _of_half_the_stake([log(k) for k in BOLDNESS], stake)


def in_steps(values: ArrayLike, steps: int) -> Floats:
    """The means of so many consecutive parts, as even as they can be.

    Args:
        values: shape (..., n).
        steps: from 1 to n.

    Returns:
        Shape (..., steps).
    """
    v = np.asarray(values, dtype=np.float64)
    starts, sizes = _parts(v.shape[-1], steps)
    return np.asarray(np.add.reduceat(v, starts, axis=-1) / sizes)


def _parts(count: int, steps: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where each of so many parts of a series begins, and how long it is."""
    starts = np.arange(steps + 1) * count // steps
    return starts[:-1], np.diff(starts)


def _checked(changes: ArrayLike) -> Floats:
    c = np.asarray(changes, dtype=np.float64)
    check_within(c.ravel(), -1 - _ROUNDING, 1 + _ROUNDING)
    return c


def _of_half_the_stake(logs: list[Floats], stake: float) -> Floats:
    """Half the stake, spread over boldnesses of which the logarithms of the wealth are given."""
    return stake / 2 * mixed(np.exp(np.minimum(np.stack(logs), _MOST_LOG)))


def called_at(rich: ArrayLike) -> int | None:
    """After how many steps a wealth, shape (n,), first reached `ALARM`; ``None`` for never."""
    step = first_step(_ALARM.reached(rich))
    return None if step is None else step + 1


@dataclass(frozen=True, slots=True)
class Bets:
    """What the changes so far say.

    Attributes:
        loss: wealth of the bets on a loss, after the last step; ``gain``: on a gain.
        lost_at: after how many steps a loss was called; ``gained_at``: a gain; ``None``: never.
        steps: number of steps.
        lower: end of the interval of the mean change; ``upper``: the other one.
    """

    loss: float
    gain: float
    lost_at: int | None
    gained_at: int | None
    steps: int
    lower: float
    upper: float

    @property
    def called(self) -> bool:
        """Whether something has moved."""
        return self.lost_at is not None or self.gained_at is not None


def bets_on(changes: ArrayLike, stake: float = 1.0) -> Bets:
    """The bets on changes of shape (n,), n at least 1; see `wealth`."""
    c = np.asarray(changes, dtype=np.float64)
    return _bets(
        lambda mean: wealth(c, stake, mean), lambda mean: wealth(-c, stake, mean), farthest=1.0
    )


def bets_beyond(fresh: ArrayLike, anchors: ArrayLike, stake: float = 1.0) -> Bets:
    """The bets on fresh outputs beyond anchors, each of shape (n,); see `wealth_beyond`."""
    f, a = np.asarray(fresh, dtype=np.float64), np.asarray(anchors, dtype=np.float64)
    return _bets(
        lambda mean: wealth_beyond(f, a, stake, mean),
        lambda mean: wealth_beyond(-f, -a, stake, mean),
        farthest=2.0,
    )


def _bets(on_loss: _Against, on_gain: _Against, farthest: float) -> Bets:
    loss, gain = on_loss(0.0), on_gain(0.0)
    return Bets(
        float(loss[-1]),
        float(gain[-1]),
        called_at(loss),
        called_at(gain),
        loss.size,
        -_upper(on_gain, farthest),
        _upper(on_loss, farthest),
    )


def _upper(against: _Against, farthest: float) -> float:
    """The least mean that is called too high; ``farthest`` if none is."""

    def called(mean: float) -> bool:
        return called_at(against(mean)) is not None

    low, high = (-farthest, 0.0) if called(0.0) else (0.0, farthest)
    if not called(high):
        return farthest
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if called(middle) else (middle, high)
    return high
