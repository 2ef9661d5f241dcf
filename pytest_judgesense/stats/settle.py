"""How many clusters it takes: to clear a bar at all, to settle it, to stop a drop.

**To clear.** Before anything is measured, the best case tells what a bar needs at least: clusters
that all hold the values of a judge without error. Bounds are monotone (`stats.dirichlet`), so no
other judge clears a bar that this one does not.

**To settle.** A share p that lies close to its bar b is settled on its side once the bound that
gates lies beyond b. A judge whose true share is p, and whose correlation is the one that the design
effect implies, is simulated (`stats.power`), and the gate's own bound is asked. The number is the
fewest clusters with which it clears b in 80%; `benchmarks/power.py` shows how often it does.

**To stop a drop.** The fewest with which the check passes today in 95% and stops the drop in 80%.

Chances grow with the clusters up to steps of whole units, so the fewest is found by doubling and
bisection.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np

from pytest_judgesense.stats.power import CAUGHT, Gate, chance_at

MOST_CLUSTERS: Final = 100_000
PASSES_TODAY: Final = 0.95
_DRAWS: Final = 500


def fewest_clusters(enough: Callable[[int], bool], least: int = 2) -> int | None:
    """The fewest clusters that are enough.

    Args:
        enough: whether so many are; once true, true for more.
        least: fewer are not asked about.

    Returns:
        At least ``least``; ``None`` when not even `MOST_CLUSTERS` are enough.
    """
    number = least
    while not enough(number):
        if number >= MOST_CLUSTERS:
            return None
        number = min(2 * number, MOST_CLUSTERS)
    return bisect_left(range(number), True, lo=max(least, number // 2), key=enough)


# Complements ask for the same, and so do the reports of one outcome.
@lru_cache(maxsize=1024)
def clusters_to_settle(gate: Gate, share: float, rho: float, size: int, least: int) -> int | None:
    """Fewest clusters with which a judge of this share passes with 80%.

    Args:
        gate: with ``confident``; its level is that of the bound that settles.
        share: the judge's, on the good side of the bar.
        rho: intraclass correlation of the units of a cluster.
        size: units of a cluster.
        least: clusters that have not settled it.

    Returns:
        ``None`` when not even `MOST_CLUSTERS` are enough: it is too close to the bar.
    """

    def enough(clusters: int) -> bool:
        return chance_at(gate, share, rho, np.full(clusters, size), draws=_DRAWS) <= 1 - CAUGHT

    return fewest_clusters(enough, least)


def clusters_for_drop(
    gate: Gate, share: float, dropped: float, rho: float, size: int, seed: int = 0
) -> int | None:
    """Fewest clusters with which the check passes today (95%) and stops a drop (80%).

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
            chance_at(gate, at, rho, np.full(clusters, size), seed) for at in (share, dropped)
        )
        return passes <= 1 - PASSES_TODAY and stops >= CAUGHT

    return fewest_clusters(enough)
