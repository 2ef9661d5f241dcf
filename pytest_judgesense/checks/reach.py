"""What a judge without error reaches on the clusters of a suite, before anything is asked.

Bounds are monotone (`stats.dirichlet`), so no judge clears a bar or a limit that this one does not.
A limit that it clears only without a single error fails judges by chance. The default limit is
therefore what it still clears after it has lost one cluster whole, the largest one, rounded away
from the bar to a multiple of 0.05: of 20, 30, 40 and 60 clusters of one unit 0.75, 0.85, 0.85 and
0.90. Where that is not short of the bar itself, the default lies a tenth short of it: a limit at
the bar would leave no room for a judge that is exactly as good as is wanted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.stats.settle import best_case

_STEP: Final = 0.05  # of default limits
_ROOM: Final = 0.1  # between a bar and its default limit, where the clusters would allow more
_TINY: Final = 1e-9  # of rounding: 0.85 is 17 steps


def error_free_bound(measure: Measure, sizes: Sequence[float], lost: int = 0) -> float | None:
    """The one-sided 95% bound of a judge without error: the lower one of a floor, else the upper.

    Args:
        measure: its ``best`` says what such a judge gives.
        sizes: units of each cluster, above 0; their mean matters from 1 to 1.5 only.
        lost: so many of the largest clusters count against the judge with all of their units.

    Returns:
        ``None`` with fewer than two clusters (a single one bounds nothing), and for a measure whose
        bound does not follow from the sizes, such as kappa.
    """
    if measure.best not in ("units", "half") or len(sizes) < 2:
        return None
    if measure.best == "half":
        # Without bias every cluster names both slots equally often, a lost one a single slot.
        scale = max(1.0, 2 * len(sizes) / sum(sizes))
        low, high = best_case([size * scale for size in sizes], 0.5, lost, 1.0)
        return max(0.5 - low, high - 0.5)
    low, _ = best_case(sizes, 1.0, lost)
    return low if measure.floor else 1 - low


def can_clear(measure: Measure, bar: float, sizes: Sequence[float]) -> bool:
    """Whether a judge without error clears ``bar`` with confidence; see `error_free_bound`."""
    bound = error_free_bound(measure, sizes)
    return bound is not None and (bound >= bar if measure.floor else bound <= bar)


def default_limit(measure: Measure, bar: float, sizes: Sequence[float]) -> float | None:
    """The limit that a new suite declares beside ``bar``; see the module.

    Args:
        measure: what is gated.
        bar: what is wanted of it.
        sizes: units of each cluster of the suite.

    Returns:
        ``None`` where so few clusters exclude nothing, and where `error_free_bound` knows none.
    """
    bound = error_free_bound(measure, sizes, lost=1)
    if bound is None:
        return None
    if measure.floor:
        limit = math.floor(bound / _STEP + _TINY) * _STEP
        limit = bar - _ROOM if limit > bar - _TINY else limit
    else:
        limit = math.ceil(bound / _STEP - _TINY) * _STEP
        limit = bar + _ROOM if limit < bar + _TINY else limit
    low, high = measure.bounds
    limit = round(limit, 4)
    return limit if low < limit < high else None
