r"""The wealth of a bettor against a hypothesis, and when it calls the hypothesis wrong.

Somebody begins with a wealth of 1 and multiplies it, step by step, by factors that have a mean of
at most 1 while the hypothesis holds, whatever came before. The wealth then is a supermartingale
that is never below 0, and ever reaches 1 / level with a chance of at most the level (Ville),
whenever and however often one looks. Nobody knows which factors grow fastest if the hypothesis is
wrong, so the stake is spread over several series of them, fixed beforehand::

    W_t = kept + sum over series j of w_j prod over s <= t of e_j,s,   kept + sum of w_j <= 1

Three processes of this package are such a wealth; each states its factors and its shares:

============ ============================ ======================== ========================
process      bets that                    factor of a step         spread over
============ ============================ ======================== ========================
`betting`    a mean moved from 0          ``1 - k c``              boldnesses k
`drift`      p-values are small since j   ``k p^(k - 1)``          boldnesses k, beginnings j
`sequential` all clusters clear a bar     ``1 + l_t (x_t - mu_t)`` nothing: l_t follows x
============ ============================ ======================== ========================

`betting` and `sequential` stake on outcomes within bounds, and grow by logarithms
(`log_growth`); a p-value has no mean to stake on, and those who begin later join those who began
before, so `drift` multiplies by its own factors, as the products of all beginnings are added up.
How boldnesses are mixed (`mixed`) and what is called (`WealthAlarm`) is the same.

References:
    I. Waudby-Smith, A. Ramdas (2024), Journal of the Royal Statistical Society B 86, 1-27 (bets on
    bounded means, section 4; without replacement, section 5; mixtures of bets).
    J. Ville (1939), Etude critique de la notion de collectif, ch. 5 (the inequality).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_judgesense.stats.inputs import Floats

# A step takes at most this share of the wealth, so that no outcome ruins a bettor.
MOST_LOST: Final = 0.95


@dataclass(frozen=True, slots=True)
class WealthAlarm:
    """The wealth at which a hypothesis is called wrong, whenever it is reached.

    Attributes:
        level: greatest chance of ever reaching it while the hypothesis holds, above 0 and below 1.
        rounding: share of it that may be missing, where sums of few numbers reach it exactly.
    """

    level: float
    rounding: float = 0.0

    @property
    def wealth(self) -> float:
        """The wealth itself: 1 over the level."""
        return 1 / self.level

    def reached(self, wealth: ArrayLike) -> NDArray[np.bool_]:
        """Whether a wealth, of any shape, is enough."""
        return np.asarray(np.asarray(wealth) >= self.wealth * (1 - self.rounding))

    def reached_by_log(self, log_wealth: ArrayLike) -> NDArray[np.bool_]:
        """Whether a wealth of which the logarithm is given, of any shape, is enough."""
        return np.asarray(np.asarray(log_wealth) >= -math.log(self.level) - self.rounding)


def log_growth(bets: ArrayLike, outcomes: ArrayLike) -> Floats:
    """Logarithm of what each step multiplies by: ``1 + bet * outcome``, at least 1 - `MOST_LOST`.

    Args:
        bets: shares of the wealth that are staked on an outcome above 0; below 0 on one below.
            Fixed before the outcome is seen.
        outcomes: with a mean of at most 0 in the direction of the bet while the hypothesis holds.

    Returns:
        Of the shape to which both broadcast; sums over steps are the logarithm of the wealth.
    """
    return np.asarray(np.log1p(np.maximum(np.multiply(bets, outcomes), -MOST_LOST)))


def log_wealth(bets: ArrayLike, outcomes: ArrayLike) -> Floats:
    """Logarithm of the wealth after each step, the last axis; see `log_growth`."""
    return np.asarray(np.cumsum(log_growth(bets, outcomes), axis=-1))


def mixed(wealths: Floats, axis: int = 0) -> Floats:
    """The wealth of a stake of 1 that is spread evenly over bettors.

    Args:
        wealths: of each bettor with a stake of 1.
        axis: that of the bettors.

    Returns:
        The shape without that axis.
    """
    return np.asarray(wealths.mean(axis=axis))


def first_step(reached: NDArray[np.bool_]) -> int | None:
    """The position, from 0, of the first step of shape (n,) that calls; ``None`` for none."""
    steps = np.flatnonzero(reached)
    return int(steps[0]) if steps.size else None
