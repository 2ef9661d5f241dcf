r"""Intervals of one proportion of independent units.

Wilson (score), with z the normal quantile of order ``(1 + LEVEL) / 2`` and p = k / n::

    centre = (p + z^2 / 2n) / (1 + z^2 / n)
    half   = z / (1 + z^2 / n) * sqrt(p (1 - p) / n + z^2 / 4n^2)

Clopper-Pearson (exact), with ``a = 1 - LEVEL`` and B(q; s, t) the beta quantile of order q::

    lower = B(a/2; k, n - k + 1)          upper = B(1 - a/2; k + 1, n - k)

Edges: at k = 0 the lower end is exactly 0, at k = n the upper end is exactly 1, in both. Nothing
is said of no units: n = 0 is an error. Counts need not be whole: Wilson takes halves (a raw false
preference of one order out of two), Clopper-Pearson takes the real counts of an effective n.

References:
    E. B. Wilson (1927), JASA 22, 209-212.
    C. J. Clopper, E. S. Pearson (1934), Biometrika 26, 404-413.
"""

from __future__ import annotations

import math
from typing import Final

from scipy.special import betaincinv, ndtri

from pytest_judgesense.estimate import Interval
from pytest_judgesense.stats.inputs import LEVEL

_TAIL: Final = (1 - LEVEL) / 2  # beyond either end


def wilson(count: float, n: int) -> Interval:
    """Wilson score interval of ``count`` out of ``n``.

    Args:
        count: units that count; may end in one half.
        n: units, at least 1.

    Raises:
        ValueError: ``count`` is not within 0 and ``n``, or ``n`` is 0.
    """
    _check_count(count, n)
    z = float(ndtri((1 + LEVEL) / 2))
    share = count / n
    shrink = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / shrink
    half = z / shrink * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    lower = 0.0 if count == 0 else max(0.0, centre - half)
    upper = 1.0 if count == n else min(1.0, centre + half)
    return Interval("wilson", lower, upper, LEVEL)


def clopper_pearson(count: float, n: float) -> Interval:
    """Clopper-Pearson interval of ``count`` out of ``n``, both of which may be fractional.

    Args:
        count: units that count.
        n: units, above 0.

    Raises:
        ValueError: ``count`` is not within 0 and ``n``, or ``n`` is 0.
    """
    _check_count(count, n)
    lower = 0.0 if count == 0 else float(betaincinv(count, n - count + 1, _TAIL))
    upper = 1.0 if count == n else float(betaincinv(count + 1, n - count, 1 - _TAIL))
    return Interval("clopper-pearson", lower, upper, LEVEL)


def _check_count(count: float, n: float) -> None:
    if not (n > 0 and math.isfinite(n)):
        raise ValueError(f"a proportion needs at least one unit, found n = {n!r}")
    if not 0 <= count <= n:
        raise ValueError(f"the count of a proportion lies within 0 and n = {n!r}, found {count!r}")
