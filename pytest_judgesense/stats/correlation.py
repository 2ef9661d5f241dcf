r"""How strongly the units of a cluster could agree: a cautious design effect for proportions.

The linearised variance of a proportion is itself estimated from K clusters, and badly so when few
of them depart from the rest: three single failures in 50 clusters look independent even where a
failure usually takes the whole cluster with it. An interval that trusts it misses too often (down
to 87 of 100 at a rate of 0.98, `benchmarks/coverage.py`). Hence an upper credible bound for the
intra-cluster correlation r, from the beta-binomial likelihood at the observed proportion p::

    log L(r) = sum over clusters c of log B(a + s_c, b + m_c - s_c) - log B(a, b),
               a = p (1 - r) / r,   b = (1 - p) (1 - r) / r
    prior(r) proportional to (1 - r)^2 on (0, 1): Beta(1, 3)
    P(r <= r_up) = 0.8

    cautious n = n / (1 + (sum m_c^2 / n - 1) r_up)              (Kish's design effect)

with s_c the sum and m_c the number of units of cluster c, and B the beta function. The quantile
0.8 and the prior are a choice, made by simulation: the least cautious pair tried whose intervals
covered in every cell of that study. The likelihood decides only how wide the interval is, never
where it lies.

Edges: p = 0 and p = 1 say nothing of r; the caller has a rule of its own for them. Where every
cluster is one unit, the cautious n is n.

References:
    J. G. Skellam (1948), Journal of the Royal Statistical Society B 10, 257-261 (beta-binomial).
    L. Kish (1965), Survey Sampling, 8.2 (design effect of unequal clusters).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

__all__ = ["cautious_n"]

_QUANTILE: Final = 0.8
_POINTS: Final = 64  # of the grid for r, dense near 0, where large clusters need it
_ROOTS: Final = (np.arange(_POINTS) + 0.5) / _POINTS
_GRID: Final = _ROOTS**2
_PRIOR: Final = np.log(_ROOTS) + 2 * np.log1p(-_GRID)  # Beta(1, 3) times dr / droot


def cautious_n(sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> float:
    """Effective number of units at the upper credible bound of the intra-cluster correlation.

    Args:
        sums: sum of the values of each cluster, shape (clusters,); values lie within [0, 1], and
            are neither all 0 nor all 1.
        sizes: units of each cluster, shape (clusters,), each at least 1.

    Returns:
        Between (about) the number of clusters and that of units.
    """
    n = float(sizes.sum())
    spread = float(sizes @ sizes) / n - 1
    if spread <= 0:
        return n
    share = float(sums.sum()) / n
    kinds, counts = np.unique(sums + 1j * sizes, return_counts=True)
    prior_units = (1 - _GRID) / _GRID
    ones, zeros = (share * prior_units)[:, None], ((1 - share) * prior_units)[:, None]
    kernel = betaln(ones + kinds.real, zeros + kinds.imag - kinds.real) - betaln(ones, zeros)
    posterior = kernel @ counts + _PRIOR
    cumulated = np.exp(posterior - posterior.max()).cumsum()
    bound = float(np.interp(_QUANTILE * cumulated[-1], cumulated, _GRID))
    return n / (1 + spread * bound)
