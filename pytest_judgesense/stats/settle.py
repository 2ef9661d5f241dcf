"""How many units would settle a proportion that lies close to its bar.

The one-sided Wilson bound of p out of n clears the bar b exactly when the score test against b
rejects, so that, with z the normal quantile of order ``level``, the smallest n has a closed form::

    n >= D z^2 b (1 - b) / (p - b)^2

D is the design effect: n units in clusters are worth n / D independent ones. The bound that counts
is the one towards the bar: the lower one for p above b (a floor that would be seen to be cleared, a
ceiling seen to be broken), the upper one for p below b. The number is a plan, not a promise: it
supposes that further units repeat the proportion and the clustering seen so far, and the gate
itself uses the Korn-Graubard bound, which for few clusters is wider.

Edges: at p = b no number is enough: ``None``. At b = 0 and b = 1 any one unit clears.

Before anything is measured, the best case tells what a bar needs at least: K clusters that all hold
the values of a judge without error, and the Korn-Graubard bound that would gate them. It narrows as
K grows, so the fewest clusters are found by bisection.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from scipy.special import ndtri

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.inputs import two_sided_level

_MOST_CLUSTERS: Final = 100_000
_MOST_UNITS: Final = 2_000_000


def units_to_settle(
    estimate: float, bar: float, design_effect: float, level: float = 0.95
) -> int | None:
    """Smallest number of units at which the one-sided bound of ``estimate`` clears ``bar``.

    Args:
        estimate: the proportion observed, within [0, 1].
        bar: what it is compared with, within [0, 1].
        design_effect: variance over that of independent units, above 0; 1 for no clustering.
        level: one-sided level, above 0.5.

    Returns:
        Units in all (not in addition), at least 1; ``None`` when the estimate equals the bar, up
        to rounding.

    Raises:
        ValueError: a proportion, the design effect or the level is out of its range.
    """
    two_sided_level(level)
    if not (0 <= estimate <= 1 and 0 <= bar <= 1):
        msg = f"estimate and bar are proportions within 0 and 1, found {estimate!r} and {bar!r}"
        raise ValueError(msg)
    if not (design_effect > 0 and math.isfinite(design_effect)):
        msg = f"a design effect is a finite number above 0, found {design_effect!r}"
        raise ValueError(msg)
    if math.isclose(estimate, bar, rel_tol=1e-12, abs_tol=1e-12):
        return None
    z = float(ndtri(level))
    return max(1, math.ceil(design_effect * bar * (1 - bar) * (z / (estimate - bar)) ** 2))


def clusters_to_clear(
    cluster: Sequence[float], clears: Callable[[Clustered], bool], level: float = 0.95
) -> int | None:
    """Fewest clusters, all with these values, whose interval clears a bar.

    Args:
        cluster: the values of one cluster, within [0, 1].
        clears: whether an interval clears the bar; once true, true for more clusters.
        level: nominal coverage of each one-sided bound.

    Returns:
        At least 2; ``None`` when not even 100,000 clusters (or two million units) would do.

    Raises:
        ValueError: there are no values, or one is outside [0, 1].
    """
    values = np.asarray(cluster, dtype=np.float64)

    def clear(count: int) -> bool:
        interval = clustered_proportion(
            np.tile(values, count), np.repeat(np.arange(count), values.size), level
        )
        return interval is not None and clears(interval)

    enough = 2
    while not clear(enough):
        enough *= 2
        if enough > _MOST_CLUSTERS or enough * values.size > _MOST_UNITS:
            return None
    return bisect_left(range(enough + 1), True, lo=max(2, enough // 2), key=clear)
