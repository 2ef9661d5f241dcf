"""The Brier score and its decomposition, against numbers worked by hand and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from pytest_judgesense.stats.brier import (
    MOST_BINS,
    brier_parts,
    confidence_bins,
    resolution,
    resolution_interval,
)


def test_the_decomposition_by_hand() -> None:
    # Bin .6: 2 calls, both right; bin .8: 2 calls, one right; of all three in four.
    # score (.04 + .64 + .16 + .16) / 4; reliability (2 (.4)^2 + 2 (.3)^2) / 4;
    # resolution (2 (1/4)^2 + 2 (1/4)^2) / 4; uncertainty 3/4 * 1/4.
    parts = brier_parts([0.8, 0.8, 0.6, 0.6], [1, 0, 1, 1])
    assert parts == pytest.approx((0.25, 0.125, 0.0625, 0.1875, 0.0))


def test_confidences_that_are_a_bin_each_resolve_everything() -> None:
    # The example of scikit-learn's documentation of brier_score_loss, 0.0375: each bin has one
    # call, so resolution is the uncertainty, 1/4, and reliability the score.
    parts = brier_parts([0.1, 0.9, 0.8, 0.3], [0, 1, 1, 0])
    assert parts == pytest.approx((0.0375, 0.0375, 0.25, 0.25, 0.0))


@pytest.mark.parametrize("decimals", [1, 6])
def test_the_score_is_that_of_scikit_learn_and_the_sum_of_its_parts(decimals: int) -> None:
    rng = np.random.default_rng(4)
    confidences = np.round(rng.random(300), decimals)
    right = (rng.random(300) < confidences).astype(float)
    parts = brier_parts(confidences, right)
    assert parts.score == pytest.approx(brier_score_loss(right, confidences))
    whole = parts.reliability - parts.resolution + parts.uncertainty + parts.within
    assert whole == pytest.approx(parts.score)
    bins = confidence_bins(confidences)
    # Stephenson et al. 2008: variance within bins, less twice the covariance there.
    apart = [confidences - _means(confidences, bins), right - _means(right, bins)]
    within = np.mean(apart[0] ** 2) - 2 * np.mean(apart[0] * apart[1])
    assert parts.within == pytest.approx(within, abs=1e-12)


def _means(values: np.ndarray, bins: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    """The mean of the bin of each call."""
    return (np.bincount(bins, weights=values) / np.bincount(bins))[bins]


def test_few_confidences_are_a_bin_each_and_of_many_equal_ones_stay_together() -> None:
    assert confidence_bins([0.9, 0.5, 0.9, 0.7]).tolist() == [2, 0, 2, 1]
    many = np.linspace(0, 1, 100)
    assert np.bincount(confidence_bins(many)).tolist() == [10] * MOST_BINS
    # Half of the calls state .95: they are one bin, with the rest above and below.
    tied = np.concatenate([np.full(100, 0.95), many])
    bins = confidence_bins(tied)
    assert len({*bins[:100].tolist()}) == 1
    assert bins.max() < MOST_BINS
    assert (np.diff(bins[100:]) >= 0).all()


def test_a_call_that_is_counted_twice_stands_there_twice() -> None:
    bins, right = np.array([0, 0, 1, 1]), np.array([1.0, 0.0, 1.0, 1.0])
    counts = np.array([2, 1, 0, 1])
    twice = resolution(bins, right, counts)
    assert twice == pytest.approx(resolution(np.array([0, 0, 0, 1]), np.array([1.0, 1, 0, 1])))
    assert np.isnan(resolution(bins, right, np.zeros(4)))


def test_one_confidence_resolves_nothing_and_has_an_interval_of_a_constant() -> None:
    right = np.array([1.0, 0.0] * 10)
    interval = resolution_interval(confidence_bins([0.8] * 20), right, range(20))
    assert interval is not None
    assert (interval.method, interval.lower, interval.upper) == ("constant", 0.0, 0.0)


@pytest.mark.parametrize(
    ("confidences", "right"), [([], []), ([0.5], [1, 0]), ([1.2], [1]), ([0.5], [2])]
)
def test_what_is_no_confidence_of_a_call_is_refused(
    confidences: list[float], right: list[float]
) -> None:
    with pytest.raises(ValueError, match=r"confidences of|within \[0.0, 1.0\]"):
        brier_parts(confidences, right)
