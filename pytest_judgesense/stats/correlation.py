r"""Correlation: Pearson's, Spearman's, and Spearman's partial correlation.

::

    r(x, y)     = sum (x - mx)(y - my) / sqrt(sum (x - mx)^2 sum (y - my)^2)
    rho(x, y)   = r of the ranks, equal values sharing their mean rank
    rho(x, y | z) = (rho_xy - rho_xz rho_yz) / sqrt((1 - rho_xz^2)(1 - rho_yz^2))

Edges: NaN if x or y is constant; a constant z has no effect. If z determines the ranks of x or of y
completely, nothing is left to correlate: 0.

References:
    C. Spearman (1904), American Journal of Psychology 15, 72-101.
    M. G. Kendall (1942), Biometrika 32, 277-283 (partial rank correlation).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_judgesense.stats.inputs import compact_codes

_ROUNDING: Final = 1e-12


def pearson(x: ArrayLike, y: ArrayLike, counts: ArrayLike | None = None) -> float:
    """Pearson's correlation of two vectors of one length; NaN where it is undefined.

    ``counts``: how often each pair of values occurs; once by default.
    """
    a, b = (np.asarray(vector, dtype=np.float64) for vector in (x, y))
    times = None if counts is None else np.asarray(counts, dtype=np.float64)
    n = a.size if times is None else times.sum()
    if n < 2:
        return math.nan
    a, b = (vector - np.average(vector, weights=times) for vector in (a, b))
    often, often_b = (a, b) if times is None else (a * times, b * times)
    spread = math.sqrt(float(often @ a) * float(often_b @ b))
    if spread <= _ROUNDING * n:
        return math.nan
    return min(1.0, max(-1.0, float(often @ b) / spread))


def dense_ranks(x: ArrayLike) -> NDArray[np.intp]:
    """The dense rank of each value, from 0: what is ranked like the values, and faster."""
    # Sums of the same grades in another order are the same number.
    rounded = np.round(np.asarray(x, dtype=np.float64), 9)
    return np.unique(rounded, return_inverse=True)[1]


def mean_ranks(x: ArrayLike, counts: ArrayLike | None = None) -> NDArray[np.float64]:
    """Ranks from 1 in ascending order; equal values share their mean rank.

    Args:
        x: values, or their `dense_ranks`.
        counts: how often each value occurs; once by default.
    """
    # Whole numbers from 0 on are ranked as they are; they may be dense ranks.
    dense = isinstance(x, np.ndarray) and x.dtype == np.intp and x.min(initial=0) >= 0
    places = compact_codes(np.asarray(x))[1] if dense else dense_ranks(x)
    often = np.bincount(places, counts)
    return np.asarray((often.cumsum() - (often - 1) / 2)[places], dtype=np.float64)


def spearman(x: ArrayLike, y: ArrayLike, counts: ArrayLike | None = None) -> float:
    """Spearman's rank correlation; NaN where it is undefined. For ``counts`` see `pearson`."""
    return pearson(mean_ranks(x, counts), mean_ranks(y, counts), counts)


def partial_spearman(
    x: ArrayLike, y: ArrayLike, z: ArrayLike, counts: ArrayLike | None = None
) -> float:
    """Spearman's correlation of x and y with z held fixed; NaN where it is undefined.

    For ``counts`` see `pearson`.
    """
    a, b, c = (mean_ranks(vector, counts) for vector in (x, y, z))
    xy, xz, yz = pearson(a, b, counts), pearson(a, c, counts), pearson(b, c, counts)
    if math.isnan(xy) or math.isnan(xz) or math.isnan(yz):
        return xy
    rest = (1 - xz**2) * (1 - yz**2)
    if rest <= _ROUNDING:
        return 0.0
    return min(1.0, max(-1.0, (xy - xz * yz) / math.sqrt(rest)))
