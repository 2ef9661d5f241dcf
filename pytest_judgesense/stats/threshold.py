r"""Detection threshold of a judge: the smallest difference that it sees three times out of four.

::

    D75 = inf { d : P(d) >= 0.75 }

with P the isotonic (non-decreasing) least-squares fit of the rates of correct answers at the steps
d_1 < ... < d_m that were run, weighted by calls, linear between the steps (arXiv 2606.15610). With
M(i, k) the rate over the steps i to k, the fit at step j is ``max over i <= j of min over k >= j of
M(i, k)``: it grows with every right answer, and the threshold falls.

Edges: where P(d_1) reaches the target the threshold lies somewhere at or below d_1 and the value
is d_1, *left-censored*; where P(d_m) does not reach it the value is d_m, *right-censored*: the
threshold lies above. What was not run is not extrapolated.

**Interval**: a Bayesian bootstrap over clusters (tasks, `stats.dirichlet`): answers and calls of a
cluster share a drawn weight that no answer changes, a weak pseudo-cluster that was asked as much as
the mean cluster is wrong throughout in the upper end and right throughout in the lower, the curve
is fitted anew, and the ends are order statistics of the thresholds, taken outwards. Being monotone
in every draw, they are: a right answer in the place of a wrong one never raises an end. Ends are
censored like the value.

An interval without width would claim certainty; it occurs at the ends of the range, where all draws
are censored alike. What is left then is an open range: from 0 to d_1 on the left, for a difference
is never below 0, and on the right from the last step but one, widened as it has no natural end.

The **interval of the paper** stands beside it: percentiles of the thresholds of K of K tasks drawn
with replacement.

One-sided bounds at the level are computed alike; the upper one is infinite where it is
right-censored, so that it clears no bar. Fewer than two clusters have no interval.

References:
    T. Robertson, F. T. Wright, R. L. Dykstra (1988), Order Restricted Statistical Inference, 1.4
    (the max-min formula).
    D. B. Rubin (1981), The Annals of Statistics 9, 130-134 (Bayesian bootstrap).
    A. C. Davison, D. V. Hinkley (1997), Bootstrap Methods and their Application, 3.8 (percentiles).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pytest_judgesense.estimate import Clustered, Interval, censored_end, censored_value
from pytest_judgesense.stats import dirichlet
from pytest_judgesense.stats.inputs import LEVEL, Clusters, Floats, clustered_vector

_TARGET: Final = 0.75  # rate of right answers that is to be reached
_RESAMPLES: Final = 1000
_ROUNDING: Final = 1e-12  # a fit that misses the target by less than this reaches it


class Threshold(NamedTuple):
    """A threshold with its interval.

    Attributes:
        value: the threshold; the end of the range where it is censored.
        interval: that of the paper, a percentile bootstrap over tasks; ``None`` with fewer than two
            clusters, or where all resamples are censored alike.
        clustered: its interval over clusters; ``None`` with fewer than two.
        flags: which of value and ends, of either interval, are censored, and how (see `estimate`).
    """

    value: float
    interval: Interval | None
    clustered: Clustered | None
    flags: tuple[str, ...]


def detection_threshold(
    correct: ArrayLike,
    steps: ArrayLike,
    clusters: Clusters,
    seed: int = 0,
) -> Threshold:
    """The detection threshold of calls, with its interval over clusters.

    Args:
        correct: 1 for a right answer, 0 for any other, one number a call; at least one.
        steps: the difference that each call showed, above 0.
        clusters: cluster of each call. Draws go to clusters in the order of their names.
        seed: of the paper's resamples.

    Raises:
        ValueError: there are no calls, lengths differ, or a step is not above 0.
    """
    values, codes, count = clustered_vector(correct, clusters)
    shown = np.asarray(steps, dtype=np.float64)
    if not values.size or shown.shape != values.shape or not (shown > 0).all():
        msg = f"each of one or more calls has a step above 0, found {values.size} and {shown.size}"
        raise ValueError(msg)
    range_of, places = np.unique(shown, return_inverse=True)
    right = np.zeros((count, range_of.size))
    calls = np.zeros_like(right)
    np.add.at(right, (codes, places), values)
    np.add.at(calls, (codes, places), 1.0)
    fit = isotonic_fit(right.sum(axis=0), calls.sum(axis=0))
    whole = float(threshold_of_curve(range_of, fit))
    value, flag = censored_value(whole, float(range_of[0]), float(range_of[-1]))
    if count < 2:
        return Threshold(value, None, None, flag)

    further = dirichlet.unseen_parts(calls)
    units, groups = dirichlet.drawn_units(count), dirichlet.grouped(np.arange(count), count)
    right_of, calls_of = np.zeros((units, range_of.size)), np.zeros((units, range_of.size))
    np.add.at(right_of, groups, right)
    np.add.at(calls_of, groups, calls)

    def ends(tail: float) -> tuple[float, float]:
        weights, pseudo = dirichlet.drawn_weights(units, tail, (dirichlet.PSEUDO_WEIGHT,))
        unseen = pseudo * further
        weighted, of = weights @ right_of, weights @ calls_of + unseen
        early, late = (
            threshold_of_curve(range_of, isotonic_fit(each, of))
            for each in (weighted + unseen, weighted)
        )
        low = np.quantile(early, 1 - tail, method="lower")
        return float(low), float(np.quantile(late, tail, method="higher"))

    drawn = dirichlet.drawn_interval(whole, ends, count)
    lower, upper, end_flags = _shown(drawn.lower, drawn.upper, range_of)
    far, first = drawn.at, float(range_of[0])
    assert far is not None, "drawn weights give bounds at any level"

    def within(low: float, high: float) -> tuple[float, float]:
        return max(0.0, low), max(first, high)

    lower_bound, upper_bound = within(drawn.lower_bound, drawn.upper_bound)
    interval = replace(
        drawn,
        lower=lower,
        upper=upper,
        lower_bound=lower_bound,
        upper_bound=upper_bound,
        at=lambda other: within(*far(other)),
    )
    paper, paper_flags = _task_bootstrap(range_of, right, calls, seed)
    return Threshold(value, paper, interval, (*flag, *end_flags, *paper_flags))


def _task_bootstrap(
    steps: Floats, right: Floats, calls: Floats, seed: int
) -> tuple[Interval | None, tuple[str, ...]]:
    """Order statistics, taken outwards, of the thresholds of resampled tasks, with their flags."""
    count = len(right)
    rng = np.random.default_rng(seed)
    answers, calls_drawn = np.empty((2, _RESAMPLES, steps.size))
    for resample in range(_RESAMPLES):  # all at once would be as large as resamples by tasks
        times = np.bincount(rng.integers(0, count, size=count), minlength=count)
        answers[resample], calls_drawn[resample] = times @ right, times @ calls
    whole = (calls_drawn > 0).all(axis=1)
    thresholds = np.empty(_RESAMPLES)
    thresholds[whole] = threshold_of_curve(steps, isotonic_fit(answers[whole], calls_drawn[whole]))
    for row in np.flatnonzero(~whole):
        # A step of which no call was drawn is left out of that curve.
        there = calls_drawn[row] > 0
        fit = isotonic_fit(answers[row, there], calls_drawn[row, there])
        thresholds[row] = threshold_of_curve(steps[there], fit)
    thresholds.sort()
    tail = (1 - LEVEL) / 2
    low = float(thresholds[math.floor((_RESAMPLES - 1) * tail)])
    high = float(thresholds[math.ceil((_RESAMPLES - 1) * (1 - tail))])
    if not low < high:
        return None, ()
    lower, upper, flags = _shown(low, high, steps)
    in_paper = tuple(flag.replace(" end ", " end in the paper ", 1) for flag in flags)
    return Interval("task-bootstrap", lower, upper), in_paper


def isotonic_fit(right: Floats, calls: Floats) -> Floats:
    """The non-decreasing fit of the rates at steps, by the max-min formula (see the module).

    Args:
        right: right answers at each step, shape (..., steps).
        calls: calls at each step, above 0, of the same shape.
    """
    right, calls = (np.insert(each.cumsum(axis=-1), 0, 0, axis=-1) for each in (right, calls))
    fit = np.full_like(right[..., 1:], -np.inf)
    for i in range(right.shape[-1] - 1):
        means = (right[..., i + 1 :] - right[..., [i]]) / (calls[..., i + 1 :] - calls[..., [i]])
        least = np.minimum.accumulate(means[..., ::-1], axis=-1)[..., ::-1]
        fit[..., i:] = np.maximum(fit[..., i:], least)
    return fit


def threshold_of_curve(steps: Floats, curve: Floats) -> Floats:
    """Where non-decreasing curves, linear between ``steps``, first reach the target.

    Args:
        steps: in ascending order, shape (steps,).
        curve: one or more curves, shape (..., steps).

    Returns:
        The places, shape (...): minus infinity if the first step reaches it, infinity if none does.
    """
    reached = curve >= _TARGET - _ROUNDING
    first = reached.argmax(axis=-1)
    before = np.maximum(first - 1, 0)
    low, high = (
        np.take_along_axis(curve, places[..., None], -1)[..., 0] for places in (before, first)
    )
    share = np.clip((_TARGET - low) / np.where(high > low, high - low, 1), 0, 1)
    place = steps[before] + share * (steps[first] - steps[before])
    place = np.where(reached[..., 0], -np.inf, place)
    return np.where(reached.any(axis=-1), place, np.inf)


def _shown(low: float, high: float, steps: Floats) -> tuple[float, float, tuple[str, ...]]:
    """The ends as numbers, with the flags of those that are censored."""
    first, last = float(steps[0]), float(steps[-1])
    lower, lower_flag = censored_end("lower", low, first, last)
    upper, upper_flag = censored_end("upper", high, first, last)
    if lower < upper:
        return lower, upper, (*lower_flag, *upper_flag)
    # Both ends at one end of the range: an open range is what is left.
    opened = 0.0 if upper == first else float(steps[-2])
    return opened, upper, upper_flag
