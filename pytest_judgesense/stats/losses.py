"""How often a comparison of a judge with itself finds a loss, before it is made.

Two measurements of the same items differ by chance in what is asked again alone. A share s with the
intraclass correlation r is that of clusters whose own shares p have the mean s and the variance
``r s (1 - s)``. A loss d is scattered, ``p (1 - d / s)``, or falls on whole clusters: on the part
d / s of them. With n units in K clusters, and p' after the loss, the difference D is taken as
normal, with mean -d and the variance ::

    e^2 = mean of [p (1 - p) + p' (1 - p')] / n + variance of (p - p') / K

With m the margin and a the level of the test after Holm, the loss is called regressed
(`checks.regression`) where both hold::

    D <= -z(1 - a) sqrt(e^2 + d^2 / K)      the swaps count the loss of each cluster as spread
    D <= -m + z(0.95) e + u                 else it is "unchanged", by the one-sided 95% bound

u is what the bound of a share adds for one more cluster in which all is lost,
``(1 - d) / (K + 1)``; a jackknife's adds nothing. `benchmarks/regression.py` holds these chances
against simulated comparisons.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from pytest_judgesense.stats.chances import CAUGHT

# Of a judge of which nothing is known: the share of its answers that are right, and how alike those
# to one item are.
ASSUMED_RATE: Final = 0.8
ASSUMED_CORRELATION: Final = 0.3
_LEVEL: Final = 0.05
_STEPS: Final = 20  # of bisection


@dataclass(frozen=True, slots=True)
class PlannedComparison:
    """A share that is to be compared with itself, measured again on the same items.

    Attributes:
        share: what may be lost, above 0 and at most 1.
        correlation: of the units of a cluster, from 0 to 1.
        units: number of units.
        clusters: number of clusters.
        margin: the loss that does not matter.
        tests: comparisons of the family, for Holm.
        unseen: whether the bound counts one more cluster in which all is lost.
        confident: whether whatever is not "unchanged" fails, and not only what is regressed.
    """

    share: float
    correlation: float
    units: int
    clusters: int
    margin: float
    tests: int = 1
    unseen: bool = True
    confident: bool = False

    def chance(self, loss: float, *, whole: bool = False) -> float:
        """Probability that the check fails after a loss; of no loss, for an unchanged judge.

        Args:
            loss: from 0 to the share.
            whole: whether it falls on whole clusters, instead of units of all of them.
        """
        error = self._error(loss, whole=whole)
        if error == 0:
            return float(loss > 0)
        swapped = math.sqrt(error**2 + loss**2 / self.clusters)
        tested = -float(ndtri(1 - _LEVEL / self.tests)) * swapped
        bound = float(ndtri(1 - _LEVEL)) * error + self.unseen * (1 - loss) / (self.clusters + 1)
        most = bound - self.margin if self.confident else min(tested, bound - self.margin)
        return float(ndtr((most + loss) / error))

    def _error(self, loss: float, *, whole: bool) -> float:
        """The standard error e of the difference."""
        square = self.share**2 + self.correlation * self.share * (1 - self.share)  # mean of p^2
        within, left = self.share - square, 1 - loss / self.share
        if whole:
            now, apart = left * within, (1 - left) * square - loss**2
        else:
            now = left * self.share - left**2 * square
            apart = (1 - left) ** 2 * (square - self.share**2)
        return math.sqrt(max(0.0, (within + now) / self.units + apart / self.clusters))

    def smallest_loss(self, *, whole: bool = False) -> float | None:
        """The smallest loss that is found in 80% of comparisons; ``None`` if none is."""
        if self.chance(self.share, whole=whole) < CAUGHT:
            return None
        missed, caught = 0.0, self.share
        for _ in range(_STEPS):
            middle = (missed + caught) / 2
            if self.chance(middle, whole=whole) >= CAUGHT:
                caught = middle
            else:
                missed = middle
        return caught


def correlation_kept(totals: ArrayLike, sizes: ArrayLike) -> float:
    """The part of the variance of a unit that stays when the same items are asked again.

    Args:
        totals: sums of the units by cluster and replicate, shape (K, R), R at least 2.
        sizes: numbers of the units by cluster and replicate, shape (K, R); each cluster has some.

    Returns:
        From 0 to 1; 1 where no replicate differs.
    """
    t, m = np.asarray(totals, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    replicates, n, share = t.shape[1], m.sum(), t.sum() / m.sum()
    away = t - m * (t.sum(axis=1) / m.sum(axis=1))[:, None]
    again = (away * away).sum() * replicates / (replicates - 1) / n
    return float(1 - min(1.0, again / (share * (1 - share)))) if again else 1.0
