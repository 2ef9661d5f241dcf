"""How many clusters are needed: to clear a bar at all, to settle it, to detect a drop.

**To clear.** Before anything is measured, the best case tells what a bar needs at least: clusters
that all hold the values of a judge without error. Bounds are monotone (`stats.dirichlet`), so no
other judge clears a bar that this one does not.

**To settle.** A share p that lies close to its bar b is settled on its side once the bound that
gates lies beyond b. A judge whose true share is p, and whose correlation is the one that the design
effect D implies, is simulated (`stats.chances`), and the gate's bound is asked how often it
clears b: the number is the fewest clusters with which it does in 80%. D is estimated from K
clusters, and too low a D costs more than too high a one gives: it is taken (K - 1) / (K - 3) times,
the mean of an inverse chi-square. `benchmarks/power.py` shows how often so many settle it.

**To detect a drop.** The smallest number with which the check passes today in 95% and detects the
drop in 80%.

Chances grow with the clusters up to steps of whole units, so the fewest is found by doubling and
bisection.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from pytest_judgesense.stats.chances import CAUGHT, ShareBar, chance_at, correlation
from pytest_judgesense.stats.dirichlet import share_bounds
from pytest_judgesense.stats.inputs import LEVEL

MOST_CLUSTERS: Final = 100_000
PASSES_TODAY: Final = 0.95
_DRAWS: Final = 300


def best_case(
    sizes: ArrayLike, share: float, lost: int = 0, lost_share: float = 0.0
) -> tuple[float, float]:
    """Both one-sided 95% bounds of the share of a judge whose clusters all hold one share.

    Args:
        sizes: units of each cluster, above 0, shape (clusters,), at least 2.
        share: of each cluster.
        lost: so many of the largest clusters hold another share.
        lost_share: that one.
    """
    m = np.sort(np.asarray(sizes, dtype=np.float64))[::-1]
    shares = np.where(np.arange(m.size) < lost, lost_share, share)
    ((low, high),) = share_bounds(shares * m, m, (LEVEL,))
    return low, high


def fewest_clusters(enough: Callable[[int], bool], least: int = 2, within: float = 0) -> int | None:
    """The smallest number of clusters that is enough.

    Args:
        enough: whether a number is enough; once true, true for larger numbers.
        least: smallest number tried.
        within: relative error allowed.

    Returns:
        At least ``least``; ``None`` when not even `MOST_CLUSTERS` are enough.
    """
    short, number = least - 1, least
    while not enough(number):
        if number >= MOST_CLUSTERS:
            return None
        short, number = number, min(2 * number, MOST_CLUSTERS)
    while number - short > max(1, within * number):
        middle = (short + number) // 2
        short, number = (short, middle) if enough(middle) else (middle, number)
    return number


# Complements, and the reports of one outcome, need the same number.
@lru_cache(maxsize=1024)
def clusters_to_settle(
    gate: ShareBar, share: float, design_effect: float, size: int, clusters: int
) -> int | None:
    """Clusters with which a judge of this share passes in 80%.

    Args:
        gate: with ``confident``; its level is that of the bound that settles.
        share: the judge's, on the good side of the bar.
        design_effect: of the share, as estimated.
        size: units of a cluster.
        clusters: that it was estimated from, at least 2, and that have not settled it.

    Returns:
        At least ``clusters``; ``None`` when not even `MOST_CLUSTERS` are enough: it is too close
        to the bar.
    """
    effect = design_effect * (clusters - 1) / max(1, clusters - 3)
    rho = correlation(effect, [size])

    def enough(number: int) -> bool:
        missed = chance_at(gate, share, rho, np.full(number, size), draws=_DRAWS)
        return missed <= 1 - CAUGHT

    if share >= 1:
        return fewest_clusters(enough, clusters)
    room = min(share, 1 - share) - 0.5 + gate.bar if gate.folded else share - gate.bar
    if room <= 0:
        return None
    # Half of what a normal mean would need is never enough; the draws tell no 4% apart.
    edge = min(share * (1 - share), gate.bar * (1 - gate.bar)) * (1 + (size - 1) * rho) / size
    normal = edge * ((ndtri(gate.level) + ndtri(CAUGHT)) / room) ** 2
    if normal > MOST_CLUSTERS:
        return None
    return fewest_clusters(enough, max(clusters, round(normal / 2)), within=0.04)


def clusters_for_drop(
    gate: ShareBar, share: float, dropped: float, rho: float, size: int, seed: int = 0
) -> int | None:
    """Smallest number of clusters with which the check passes today (95%) and detects a drop (80%).

    Args:
        gate: what the share is held against.
        share: as it is today.
        dropped: as it is after the drop.
        rho: intraclass correlation; it stays.
        size: units of a cluster.
        seed: of the draws.

    Returns:
        ``None`` when not even `MOST_CLUSTERS` are enough.
    """

    def enough(clusters: int) -> bool:
        passes, stops = (
            chance_at(gate, truth, rho, np.full(clusters, size), seed) for truth in (share, dropped)
        )
        return passes <= 1 - PASSES_TODAY and stops >= CAUGHT

    return fewest_clusters(enough)
