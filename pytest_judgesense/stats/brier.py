r"""The Brier score of stated confidences, and what it is made of: Murphy's decomposition.

With c_i the confidence that call i is right, o_i 1 where it is and 0 where not, N calls in bins of
n_k, c_k and o_k the means of a bin, and o that of all::

    score       = mean (c_i - o_i)^2
    reliability = sum n_k (c_k - o_k)^2 / N      how far confidences are from what came true
    resolution  = sum n_k (o_k - o)^2 / N        how far right and wrong calls are told apart
    uncertainty = o (1 - o)                      that of the calls, whatever is said of them

If all confidences of a bin are equal, ``score = reliability - resolution + uncertainty``. Else
``within`` is what is missing: the variance of the confidences within bins less twice their
covariance with what came true there (Stephenson et al. 2008).

**Bins.** Up to `MOST_BINS` different confidences are a bin each: who writes a number writes few. Of
more, bins hold about equally many calls, equal confidences together.

Resolution is at most the uncertainty, and so at most 1/4. It is too high on few calls, by about the
number of bins less one over N times the uncertainty: `resolution_interval` takes that off.

References:
    G. W. Brier (1950), Monthly Weather Review 78, 1-3.
    A. H. Murphy (1973), Journal of Applied Meteorology 12, 595-600.
    D. B. Stephenson, C. A. S. Coelho, I. T. Jolliffe (2008), Weather and Forecasting 23, 752-757.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.stats.clustered import clustered_statistic
from pytest_judgesense.stats.inputs import Clusters, Codes, Floats, check_within, finite_vector

MOST_BINS: Final = 10
_MOST_RESOLUTION: Final = 0.25


class BrierParts(NamedTuple):
    """The Brier score and its parts; see the module."""

    score: float
    reliability: float
    resolution: float
    uncertainty: float
    within: float


def confidence_bins(confidences: ArrayLike) -> Codes:
    """The bin of each confidence, from 0 for the lowest; shape (calls,).

    Raises:
        ValueError: a confidence is outside [0, 1].
    """
    numbers = finite_vector(confidences)
    check_within(numbers, 0.0, 1.0)
    different, codes = np.unique(numbers, return_inverse=True)
    if different.size > MOST_BINS:
        levels = np.arange(1, MOST_BINS) / MOST_BINS
        # Each is the greatest confidence of its bin.
        ends = np.unique(np.quantile(numbers, levels, method="inverted_cdf"))
        _, codes = np.unique(np.searchsorted(ends, numbers, side="left"), return_inverse=True)
    return np.asarray(codes, dtype=np.intp)


def brier_parts(confidences: ArrayLike, right: ArrayLike) -> BrierParts:
    """The Brier score of calls, with Murphy's decomposition by `confidence_bins`.

    Args:
        confidences: within [0, 1], shape (calls,).
        right: 1 for a call that is right, 0 for one that is not; shape (calls,).

    Raises:
        ValueError: there is no call, lengths differ, or a number is outside [0, 1].
    """
    stated, came_true = finite_vector(confidences), finite_vector(right)
    check_within(came_true, 0.0, 1.0)
    if not stated.size or stated.size != came_true.size:
        raise ValueError(f"{stated.size} confidences of {came_true.size} calls; one of each")
    bins = confidence_bins(stated)
    sizes = np.bincount(bins)
    means, shares = (np.bincount(bins, weights=of) / sizes for of in (stated, came_true))
    share = float(came_true.mean())
    score = float(np.mean((stated - came_true) ** 2))
    reliability = float(sizes @ (means - shares) ** 2) / stated.size
    parts = reliability, resolution(bins, came_true), share * (1 - share)
    return BrierParts(score, *parts, score - (parts[0] - parts[1] + parts[2]))


def resolution(
    bins: NDArray[Any], right: NDArray[Any], counts: NDArray[Any] | None = None
) -> float:
    """Murphy's resolution; with ``counts`` each call is there so often, maybe never."""
    times: Floats = np.ones(bins.size) if counts is None else np.asarray(counts, dtype=np.float64)
    sizes = np.bincount(bins, weights=times)
    came_true = np.bincount(bins, weights=times * right)
    total = float(sizes.sum())
    if not total:
        return float("nan")
    there = sizes > 0
    share = float(came_true.sum()) / total
    apart = came_true[there] / sizes[there] - share
    return float(sizes[there] @ apart**2) / total


def resolution_interval(bins: Codes, right: Floats, clusters: Clusters) -> Clustered | None:
    """The interval of the resolution over clusters, with the bins as they are.

    A jackknife, moved by its estimate of the bias; see `stats.clustered.clustered_statistic`.
    """
    within = (0.0, _MOST_RESOLUTION)
    return clustered_statistic(resolution, [bins, right], clusters, within, biased=True)
