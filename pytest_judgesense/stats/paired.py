r"""Student's t test of paired differences.

With differences d of n pairs, their mean m and their standard deviation s (divisor n - 1)::

    t = m / (s / sqrt(n)),   p = 2 P(T <= -|t|),   T Student's t with n - 1 degrees of freedom

`scipy.stats.ttest_rel` gives the same; importing `scipy.stats` takes longer than a whole replay.

Reference: Student (1908), The probable error of a mean, Biometrika 6(1), 1-25.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr


def paired_t(differences: NDArray[np.float64]) -> tuple[float, float]:
    """The statistic t and its two-sided p-value.

    Args:
        differences: one a pair, shape (n,); two or more, not all equal.

    Returns:
        t, without a unit, and p within [0, 1].
    """
    n = len(differences)
    t = float(differences.mean() / (differences.std(ddof=1) / math.sqrt(n)))
    return t, float(2 * stdtr(n - 1, -abs(t)))
