r"""Correlation: Pearson's, Spearman's, and Spearman's partial correlation.

::

    r(x, y)     = sum (x - mx)(y - my) / sqrt(sum (x - mx)^2 sum (y - my)^2)
    rho(x, y)   = r of the ranks, equal values sharing their mean rank
    rho(x, y | z) = (rho_xy - rho_xz rho_yz) / sqrt((1 - rho_xz^2)(1 - rho_yz^2))

Edges: NaN if x or y is constant; a constant z has no effect. If z determines the ranks of x or of y
    completely, nothing is left to correlate: 0.
decides the ranks of x or of y wholly, nothing is left of them that could go with the other: 0.

References:
    C. Spearman (1904), American Journal of Psychology 15, 72-101.
    M. G. Kendall (1942), Biometrika 32, 277-283 (partial rank correlation).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

_ROUNDING: Final = 1e-12


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Pearson's correlation of two vectors of one length; NaN where it is undefined."""
    a, b = (np.asarray(one, dtype=np.float64) for one in (x, y))
    if a.size < 2:
        return math.nan
    a, b = a - a.mean(), b - b.mean()
    spread = math.sqrt(float(a @ a) * float(b @ b))
    if spread <= _ROUNDING * a.size:
        return math.nan
    return min(1.0, max(-1.0, float(a @ b) / spread))


def mean_ranks(x: ArrayLike) -> NDArray[np.float64]:
    """Ranks from 1 in ascending order; equal values share their mean rank."""
    # The same grades in another order give exactly the same sum.
    _, at, counts = np.unique(
        np.round(np.asarray(x, dtype=np.float64), 9), return_inverse=True, return_counts=True
    )
    last = counts.cumsum()
    return np.asarray((last - (counts - 1) / 2)[at], dtype=np.float64)


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman's rank correlation; NaN where it is undefined."""
    return pearson(mean_ranks(x), mean_ranks(y))


def partial_spearman(x: ArrayLike, y: ArrayLike, z: ArrayLike) -> float:
    """Spearman's partial correlation of x and y given z; NaN if undefined."""
    xy, xz, yz = spearman(x, y), spearman(x, z), spearman(y, z)
    if math.isnan(xy) or math.isnan(xz) or math.isnan(yz):
        return xy
    rest = (1 - xz**2) * (1 - yz**2)
    if rest <= _ROUNDING:
        return 0.0
    return min(1.0, max(-1.0, (xy - xz * yz) / math.sqrt(rest)))
