r"""How many right labels would a judge contradict with every reading? Told by its other items.

An item is read k times (wordings, orders, repeats), and w of its readings are its most frequent
other verdict. Its label is *contradicted* where w = k. If labels are right, w is beta-binomial: an
item misleads a reading with a chance that varies over items, of mean m and correlation r::

    w | q ~ Binomial(k, q),   q ~ Beta(m (1 - r) / r, (1 - m) (1 - r) / r)

Items with w < k say what m and r are. They alone are used, each by its chance given w < k, so that
a label that is wrong moves nothing. m is uniform below 1/2 (of a label that a judge gets wrong more
often than not nothing follows), and r has the density 2 (1 - r). The number of contradicted labels
among N right ones is then binomial, mixed over m and r by what the items say of them; told are its
median and the 2.5% and 97.5% points. Where k varies, the chance is the mean over items, which makes
the mixture no narrower.

Of 300 judges each, whose items mislead by such a chance (N 40 and 100, k 5, m .05 to .2, r .1 to
.8), the number lay above the upper end in at most .03. That is a promise for items of one kind: of
a judge that wavers a little everywhere, and is always misled by a few items, more are contradicted.
Where a judge errs alike in all readings of an item and wavers nowhere, its other items cannot tell:
the upper end is then far away.

Edges: no item with w < k says nothing, `None`. Items read once say nothing of r: leave them out.

References:
    J. G. Skellam (1948), J. R. Stat. Soc. B 10, 257-261 (the beta-binomial).
    W. Hoeffding (1956), Ann. Math. Stat. 27, 713-721 (sums of unlike chances are narrower).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, betaln, gammaln

_STEPS: Final = 50
_TAIL: Final = 0.025
_MOST_WRONG: Final = 0.5
# The midpoints of equal steps of a square root: rates of errors are small.
_ROOTS: Final = (np.arange(_STEPS) + 0.5) / _STEPS
_MEANS, _CORRELATIONS = np.meshgrid(_MOST_WRONG * _ROOTS**2, _ROOTS**2, indexing="ij")
_PRIOR: Final = np.outer(_ROOTS, _ROOTS * (1 - _ROOTS**2))
_SIZE: Final = (1 - _CORRELATIONS) / _CORRELATIONS
_WRONG, _RIGHT = _MEANS * _SIZE, (1 - _MEANS) * _SIZE


class ExpectedContradictions(NamedTuple):
    """How many of so many right labels would be contradicted by all readings.

    Attributes:
        median: half of such judges contradict at most so many.
        lower: the 2.5% point.
        upper: the 97.5% point.
    """

    median: int
    lower: int
    upper: int


def expected_contradictions(
    wrong: ArrayLike, readings: ArrayLike, all_readings: ArrayLike
) -> ExpectedContradictions | None:
    """The number of right labels that would be contradicted, by the items that are not.

    Args:
        wrong: of each item that is not contradicted, the readings that are its most frequent other
            verdict, shape (items,).
        readings: of each of these its readings, more than ``wrong``, at least 2.
        all_readings: of each item, contradicted or not, its readings, at least 2.

    Returns:
        ``None`` where every item is contradicted.

    Raises:
        ValueError: an item is read less than twice, or as often wrong as read.
    """
    misses, times = np.asarray(wrong, dtype=np.int64), np.asarray(readings, dtype=np.int64)
    every = np.asarray(all_readings, dtype=np.int64)
    if misses.shape != times.shape or (misses >= times).any() or (misses < 0).any():
        raise ValueError("an item that is not contradicted has fewer wrong readings than readings")
    if not misses.size:
        return None
    if min(times.min(), every.min()) < 2:
        raise ValueError("an item is read at least twice")
    weights = _weights(misses, times)
    counts, numbers = np.unique(every, return_counts=True)
    chances = [np.exp(_log_chance(int(k), int(k))) for k in counts]
    mean = np.average(chances, axis=0, weights=numbers)
    ends = (_quantile(share, weights, mean, every.size) for share in (0.5, _TAIL, 1 - _TAIL))
    return ExpectedContradictions(*ends)


def _log_chance(wrong: int, readings: int) -> NDArray[np.float64]:
    """The log of the chance of so many wrong readings, by mean and correlation."""
    ways = gammaln(readings + 1) - gammaln(wrong + 1) - gammaln(readings - wrong + 1)
    beta = betaln(_WRONG + wrong, _RIGHT + readings - wrong) - betaln(_WRONG, _RIGHT)
    return np.asarray(ways + beta)


def _weights(wrong: NDArray[np.int64], readings: NDArray[np.int64]) -> NDArray[np.float64]:
    """What the items say of each mean and correlation; the weights add up to 1."""
    logs = np.log(_PRIOR)
    kinds, numbers = np.unique(np.stack([wrong, readings]), axis=1, return_counts=True)
    for (misses, times), number in zip(kinds.T.tolist(), numbers.tolist(), strict=True):
        fewer_than_all = np.log1p(-np.exp(_log_chance(times, times)))
        logs = logs + number * (_log_chance(misses, times) - fewer_than_all)
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def _quantile(
    share: float, weights: NDArray[np.float64], chances: NDArray[np.float64], labels: int
) -> int:
    """The least number that at most so many labels are contradicted with this probability."""
    low, high = 0, labels
    while low < high:
        middle = (low + high) // 2
        if float((weights * bdtr(middle, labels, chances)).sum()) >= share:
            high = middle
        else:
            low = middle + 1
    return low
