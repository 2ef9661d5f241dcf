r"""Detection threshold of a judge: the smallest difference that it sees three times out of four.

::

    D75 = inf { d : P(d) >= 0.75 }

with P the isotonic (non-decreasing) least-squares fit of the rates of correct answers at the steps
d_1 < ... < d_m that were run, weighted by calls, linear between the steps (arXiv 2606.15610).

Edges: where P(d_1) reaches the target the threshold lies somewhere at or below d_1 and the value
is d_1, *left-censored*; where P(d_m) does not reach it the value is d_m, *right-censored*: the
threshold lies above. What was not run is not extrapolated.

**Interval**: percentile bootstrap over clusters (tasks): K of K clusters are drawn with
replacement, the curve is fitted anew, and the ends are order statistics of the thresholds, taken
outwards. A step of which no call was drawn is left out of that curve. Ends are censored like the
value.

An interval without width would claim certainty; it occurs at the ends of the range, where all
resamples are censored alike. In its place stand the thresholds of two limiting curves, method
``exact-curves``: at every step the Korn-Graubard limits of the rate (`stats.clustered`); the upper
end is the threshold of the lower limits' running maximum, the lower end that of the upper limits'
running minimum from the right (P does not decrease, so both are limits of P as well). If both ends
still lie at one end of the range, what is left is an open range: from 0 to d_1 on the left, for a
difference is never below 0, and on the right from the last step but one, widened as it has no
natural end.

One-sided bounds at the level are computed alike; the upper one is infinite where it is
right-censored, so that it clears no bar. Fewer than two clusters have no interval.

References:
    R. E. Barlow et al. (1972), Statistical Inference under Order Restrictions (isotonic fit).
    A. C. Davison, D. V. Hinkley (1997), Bootstrap Methods and their Application, 3.8 (clusters).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_judgesense.estimate import Clustered, censored_end, censored_value
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.inputs import Clusters, clustered_vector, two_sided_level

TARGET: Final = 0.75
_ROUNDING: Final = 1e-12  # a fit that misses the target by less than this reaches it
_BLOCK: Final = 1 << 20  # numbers held at a time: 8 MiB

_Vector: TypeAlias = NDArray[np.float64]
_Ends: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold with its interval.

    Attributes:
        value: the threshold; the end of the range where it is censored.
        clustered: its interval over clusters; ``None`` with fewer than two.
        flags: which of value and ends are censored, and how (see `stats.estimate`).
    """

    value: float
    clustered: Clustered | None
    flags: tuple[str, ...]


def detection_threshold(
    correct: ArrayLike,
    steps: ArrayLike,
    clusters: Clusters,
    seed: int,
    *,
    target: float = TARGET,
    resamples: int = 1000,
    level: float = 0.95,
) -> Threshold:
    """The detection threshold of calls, with its interval over clusters.

    Args:
        correct: 1 for a right answer, 0 for any other, one number a call; at least one.
        steps: the difference that each call showed, above 0.
        clusters: cluster of each call. Draws depend on the order in which clusters first appear.
        seed: seed of the draws.
        target: rate of right answers that is to be reached.
        resamples: number of resamples.
        level: nominal coverage of the interval, and of each one-sided bound; above 0.5.

    Raises:
        ValueError: there are no calls, lengths differ, or a number is out of its range.
    """
    values, codes, count = clustered_vector(correct, clusters)
    shown = np.asarray(steps, dtype=np.float64)
    if not values.size or shown.shape != values.shape or not (shown > 0).all():
        msg = f"each of one or more calls has a step above 0, found {values.size} and {shown.size}"
        raise ValueError(msg)
    range_of, at = np.unique(shown, return_inverse=True)
    right = np.zeros((count, range_of.size))
    calls = np.zeros_like(right)
    np.add.at(right, (codes, at), values)
    np.add.at(calls, (codes, at), 1.0)
    whole = _threshold(range_of, right.sum(axis=0), calls.sum(axis=0), target)
    value, flag = censored_value(whole, float(range_of[0]), float(range_of[-1]))
    if count < 2:
        return Threshold(value, None, flag)

    drawn = np.sort(
        [
            _threshold(range_of, *curve, target)
            for curve in _resampled(right, calls, seed, resamples)
        ]
    )

    def ends(coverage: float) -> tuple[str, float, float]:
        tail = (1 - coverage) / 2
        low = float(drawn[math.floor((resamples - 1) * tail)])
        high = float(drawn[math.ceil((resamples - 1) * (1 - tail))])
        if low < high:
            return "task-bootstrap", low, high
        exact = _exact_ends(values, at, codes, range_of, coverage, target)
        # The curves hold the value between them; the fit may pool steps that they take apart.
        return "exact-curves", min(low, exact[0]), max(high, exact[1])

    method, low, high = ends(level)
    lower, upper, end_flags = _shown(low, high, range_of)
    _, low_bound, high_bound = ends(two_sided_level(level))
    interval = Clustered(
        method=method,
        lower=lower,
        upper=upper,
        level=level,
        clusters=count,
        design_effect=None,
        effective_n=None,
        lower_bound=max(0.0, low_bound),
        upper_bound=max(float(range_of[0]), high_bound),
    )
    return Threshold(value, interval, (*flag, *end_flags))


def threshold_of_curve(steps: _Vector, curve: _Vector, target: float = TARGET) -> float:
    """Where a non-decreasing ``curve``, linear between ``steps``, first reaches ``target``.

    Returns:
        The place; minus infinity if the first step reaches it, infinity if none does.
    """
    reached = np.flatnonzero(curve >= target - _ROUNDING)
    if not reached.size:
        return math.inf
    first = int(reached[0])
    if first == 0:
        return -math.inf
    low, high = float(curve[first - 1]), float(curve[first])
    share = min(1.0, (target - low) / (high - low))
    return float(steps[first - 1] + share * (steps[first] - steps[first - 1]))


def _threshold(steps: _Vector, right: _Vector, calls: _Vector, target: float) -> float:
    # Not at the head: it takes as long as all else that this package imports, and only judges of
    # a ladder need it.
    from scipy.optimize import isotonic_regression

    there = calls > 0
    fit = isotonic_regression(right[there] / calls[there], weights=calls[there]).x
    return threshold_of_curve(steps[there], fit, target)


def _resampled(
    right: _Vector, calls: _Vector, seed: int, resamples: int
) -> Iterator[tuple[_Vector, _Vector]]:
    """Right answers and calls by step of each resample."""
    count = len(right)
    rng = np.random.default_rng(seed)
    rows = max(1, _BLOCK // right.size)
    for start in range(0, resamples, rows):
        drawn = rng.integers(0, count, size=(min(rows, resamples - start), count))
        yield from zip(right[drawn].sum(axis=1), calls[drawn].sum(axis=1), strict=True)


def _exact_ends(
    values: _Vector,
    at: NDArray[np.intp],
    codes: NDArray[np.intp],
    steps: _Vector,
    coverage: float,
    target: float,
) -> _Ends:
    limits = [
        clustered_proportion(values[at == step], codes[at == step], coverage)
        for step in range(steps.size)
    ]
    # One cluster at a step says nothing of the rate there.
    lows = np.array([0.0 if limit is None else limit.lower for limit in limits])
    highs = np.array([1.0 if limit is None else limit.upper for limit in limits])
    least = np.maximum.accumulate(lows)
    most = np.minimum.accumulate(highs[::-1])[::-1]
    return threshold_of_curve(steps, most, target), threshold_of_curve(steps, least, target)


def _shown(low: float, high: float, steps: _Vector) -> tuple[float, float, tuple[str, ...]]:
    """The ends as numbers, with the flags of those that are censored."""
    first, last = float(steps[0]), float(steps[-1])
    lower, lower_flag = censored_end("lower", low, first, last)
    upper, upper_flag = censored_end("upper", high, first, last)
    if lower < upper:
        return lower, upper, (*lower_flag, *upper_flag)
    # Both ends at one end of the range: an open range is what is left.
    opened = 0.0 if upper == first else float(steps[-2])
    return opened, upper, upper_flag
