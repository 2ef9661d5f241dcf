"""Percentile bootstrap of a mean over units, as published for JSS.

Of B resamples of the mean, the interval runs from the quantile of order ``(1 - LEVEL) / 2`` to
that of order ``(1 + LEVEL) / 2`` (linear between order statistics). Every draw comes from
``numpy.random.default_rng(seed)``.

Values that are all 0 or 1 need no indices: the sum of n draws with replacement from k ones among
n is binomial(n, k / n), so the B sums are drawn directly. Other values are drawn by index, in
blocks of bounded memory; the size of a block does not change the draws.

Edges: resamples of a constant are all alike, and an interval without width would claim certainty.
A constant within [0, 1] has the Wilson interval in its place, named ``wilson``. For a constant
outside [0, 1] there is no such interval: it is returned alone under the name ``constant``. No
units at all are an error.

References:
    B. Efron, R. J. Tibshirani (1993), An Introduction to the Bootstrap, ch. 13 (percentile).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from pytest_judgesense.estimate import Interval
from pytest_judgesense.stats.inputs import LEVEL, finite_vector
from pytest_judgesense.stats.proportions import wilson

_BLOCK: Final = 1 << 20  # indices held at a time: 8 MiB


def percentile_bootstrap(values: ArrayLike, seed: int, resamples: int = 1000) -> Interval:
    """Percentile bootstrap interval of the mean of ``values``, units drawn independently.

    Args:
        values: finite reals, at least one; agreements (0 and 1) take a short way.
        seed: seed of the draws.
        resamples: number of resamples.

    Returns:
        The interval, ``percentile-bootstrap``; for a constant ``wilson`` (see the module).

    Raises:
        ValueError: there are no values or no resamples, or a value is not finite.
    """
    vector = finite_vector(values)
    if vector.size < 1:
        raise ValueError("a bootstrap needs at least one value, found none")
    if resamples < 1:
        raise ValueError(f"a bootstrap needs at least one resample, found {resamples!r}")
    if np.ptp(vector) == 0:
        if not 0 <= vector[0] <= 1:
            return Interval("constant", float(vector[0]), float(vector[0]), LEVEL)
        return wilson(float(vector[0]) * vector.size, vector.size)
    rng = np.random.default_rng(seed)
    if np.isin(vector, (0.0, 1.0)).all():
        means = rng.binomial(vector.size, vector.mean(), size=resamples) / vector.size
    else:
        rows = max(1, _BLOCK // vector.size)
        sizes = [min(rows, resamples - start) for start in range(0, resamples, rows)]
        drawn = (rng.integers(0, vector.size, size=(size, vector.size)) for size in sizes)
        means = np.concatenate([vector[places].sum(axis=1) / vector.size for places in drawn])
    lower, upper = np.quantile(means, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return Interval("percentile-bootstrap", float(lower), float(upper), LEVEL)
