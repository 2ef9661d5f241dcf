"""Paired differences as intervals of estimates. Pure."""

from __future__ import annotations

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.stats.comparison import Difference
from pytest_judgesense.stats.inputs import LEVEL


def interval_of(difference: Difference) -> Clustered:
    """The interval of a paired difference as estimates have it."""

    def at(level: float) -> tuple[float, float]:
        return difference.ends(2 * level - 1)

    return Clustered(
        difference.method,
        *difference.ends(LEVEL),
        LEVEL,
        difference.clusters,
        None,
        None,
        *at(LEVEL),
        at,
    )
