r"""Has a mean moved? Bets on changes that lie within bounds, looked at after every one of them.

The changes c_1, c_2, ... lie within [-b, b]. Under "nothing moved" each has a mean of 0, whatever
the earlier ones were. Who stakes a share k / b of what there is on a loss has, after n of them, ::

    prod over i <= n of (1 - k c_i / b),   0 < k < 1

times the stake: a martingale that is never below 0. Nobody knows how much is lost, so the stake is
spread over five boldnesses k; half of it is on a loss, and half, likewise, on a gain (-c)::

    L_n = 1/2 mean over k of prod (1 - k c_i / b),   G_n = 1/2 mean over k of prod (1 + k c_i / b)

L + G begins at 1, and ever reaches 40 with a chance of at most 1/40 (Ville), whenever and however
often one looks. A loss is called where L alone reaches 40, a gain where G does.

The boldnesses are fixed beforehand, so no change that is for the better ever raises L, and the
wealth in the end does not depend on the order. Bets that follow what was seen (the `wealth` of
`stats.sequential`) find a loss a little sooner, and have neither.

**Judge or system.** Anchors are outputs that never change; each gives its change a = now - then,
within [-1, 1]. Fresh outputs differ between two sessions; one of now and one of then give f = now -
then. If the judge alone moved, it moved both by the same on average, so ::

    z = f - a,   within [-2, 2]

has a mean of 0, whatever the judge did: bets on z find what the product did. Two processes, at 40
each: that any of the four bets is ever called without a cause has a chance of at most 1/20.

Where one of the three is shorter than the others, the others go in with the means of so many in
succession (`in_steps`), so that nothing is left out: means of such parts have the same means.

References:
    I. Waudby-Smith, A. Ramdas (2024), Journal of the Royal Statistical Society B 86, 1-27 (betting
    on bounded means, section 4; mixtures of bets).
    J. Ville (1939), Etude critique de la notion de collectif, ch. 5 (the inequality).
    arXiv:2606.15474 (anchors that the judge is asked again, a process on them beside that on the
    product; here differences to the anchors take the place of its guard window).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_judgesense.stats.inputs import check_within

ALARM: Final = 40.0  # of a wealth: 1 over the level of a process
BOLDNESS: Final = (0.05, 0.1, 0.2, 0.4, 0.8)
# Changes to bet on: with half the stake, that on a loss calls it after 20 in each of which half of
# b is lost.
FEWEST: Final = 20
_MOST_LOG: Final = 500.0  # of a wealth, so that none overflows
_ROUNDING: Final = 1e-12

_Floats = NDArray[np.float64]


def wealth(changes: ArrayLike, most: float = 1.0, stake: float = 1.0) -> _Floats:
    """Wealth of betting on a loss, after each change; that on a gain is the one of ``-changes``.

    Args:
        changes: above 0 if for the better, within [-most, most], shape (..., n).
        most: the largest change that there can be.
        stake: what there is for the loss and the gain together; half of it is staked here.

    Returns:
        Shape (..., n), at least 0.

    Raises:
        ValueError: a change lies outside [-most, most].
    """
    c = np.asarray(changes, dtype=np.float64)
    check_within(c.ravel(), -most - _ROUNDING, most + _ROUNDING)
    logs = [np.cumsum(np.log1p(-k / most * c), axis=-1) for k in BOLDNESS]
    together = np.logaddexp.reduce(np.stack(logs), axis=0) - math.log(len(BOLDNESS))
    return np.asarray(stake / 2 * np.exp(np.minimum(together, _MOST_LOG)))


def called_at(rich: ArrayLike) -> int | None:
    """After how many changes a wealth, shape (n,), first reached `ALARM`; ``None`` for never."""
    reached = np.flatnonzero(np.asarray(rich) >= ALARM * (1 - _ROUNDING))
    return int(reached[0]) + 1 if reached.size else None


def in_steps(values: ArrayLike, steps: int) -> _Floats:
    """The means of so many consecutive parts, as even as they can be.

    Args:
        values: shape (..., n).
        steps: from 1 to n.

    Returns:
        Shape (..., steps).
    """
    v = np.asarray(values, dtype=np.float64)
    starts = np.arange(steps + 1) * v.shape[-1] // steps
    return np.asarray(np.add.reduceat(v, starts[:-1], axis=-1) / np.diff(starts))


def beyond_anchors(then: ArrayLike, now: ArrayLike, anchors: ArrayLike) -> _Floats:
    """What fresh outputs changed by beyond what the anchors did: z, within [-2, 2].

    Args:
        then: scores of fresh outputs of the reference, within [0, 1], shape (..., n).
        now: those of now, shape (..., m).
        anchors: changes of the anchors, within [-1, 1], shape (..., k).

    Returns:
        Shape (..., the least of n, m and k).
    """
    parts = [np.asarray(values, dtype=np.float64) for values in (then, now, anchors)]
    steps = min(values.shape[-1] for values in parts)
    before, after, moved = (in_steps(values, steps) for values in parts)
    return np.asarray(after - before - moved)


@dataclass(frozen=True, slots=True)
class Bets:
    """What the changes so far say.

    Attributes:
        loss: wealth of the bets on a loss, after the last change; ``gain``: on a gain.
        lost_at: after how many changes a loss was called; ``gained_at``: a gain; ``None``: never.
            What was called stays called, whatever comes later.
        steps: number of changes.
    """

    loss: float
    gain: float
    lost_at: int | None
    gained_at: int | None
    steps: int

    @property
    def called(self) -> bool:
        """Whether something has moved."""
        return self.lost_at is not None or self.gained_at is not None


def bets_on(changes: ArrayLike, most: float = 1.0, stake: float = 1.0) -> Bets:
    """The bets on changes of shape (n,), n at least 1; see `wealth`."""
    c = np.asarray(changes, dtype=np.float64)
    loss, gain = wealth(c, most, stake), wealth(-c, most, stake)
    return Bets(float(loss[-1]), float(gain[-1]), called_at(loss), called_at(gain), c.size)
