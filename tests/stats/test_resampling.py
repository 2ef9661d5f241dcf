from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom

from pytest_judgesense.stats import resampling
from pytest_judgesense.stats.proportions import wilson
from pytest_judgesense.stats.resampling import percentile_bootstrap

HALVES = np.repeat([0.0, 0.5, 1.0], [6, 10, 14])


def test_zeros_and_ones_follow_the_binomial() -> None:
    # The resampled sum of 30 ones among 40 is binomial(40, 3/4). With 20,000 resamples the
    # standard error of a tail probability of 0.025 is 0.0011, less than the probability of any
    # value near it, so an end is at most one unit (1/40) from the exact quantile.
    interval = percentile_bootstrap(np.repeat([1, 0], [30, 10]), seed=5, resamples=20_000)
    exact = binom.ppf([0.025, 0.975], 40, 0.75) / 40
    assert [interval.lower, interval.upper] == pytest.approx(exact, abs=1 / 40 + 1e-9)


def test_other_values_follow_the_exact_distribution_of_their_sum() -> None:
    # In halves a draw adds 0, 1 or 2 with probabilities 6/30, 10/30, 14/30; the sum of 30 draws
    # is their 30-fold convolution. One step of the mean is 1/60.
    distribution = np.ones(1)
    for _ in range(30):
        distribution = np.convolve(distribution, np.array([6, 10, 14]) / 30)
    exact = np.searchsorted(distribution.cumsum(), [0.025, 0.975]) / 60
    interval = percentile_bootstrap(HALVES, seed=5, resamples=20_000)
    assert [interval.lower, interval.upper] == pytest.approx(exact, abs=1 / 60 + 1e-9)


@pytest.mark.parametrize("values", [HALVES, HALVES >= 0.5], ids=["halves", "0 and 1"])
def test_the_seed_decides_the_draws(values: NDArray[np.float64]) -> None:
    assert percentile_bootstrap(values, seed=1) == percentile_bootstrap(values, seed=1)
    several = {percentile_bootstrap(values, seed=seed, resamples=200).lower for seed in range(20)}
    assert len(several) > 1


@pytest.mark.parametrize("block", [1, 31, 7 * 30, 1 << 20])
def test_the_size_of_a_block_does_not_change_the_draws(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resampling, "_BLOCK", block)
    interval = percentile_bootstrap(HALVES, seed=3, resamples=50)
    drawn = np.random.default_rng(3).integers(0, 30, size=(50, 30))
    ends = np.quantile(HALVES[drawn].mean(axis=1), (0.025, 0.975))
    assert [interval.lower, interval.upper] == pytest.approx(ends)


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_a_constant_has_the_wilson_interval_in_its_place(value: float) -> None:
    assert percentile_bootstrap(np.full(20, value), seed=0) == wilson(20 * value, 20)


def test_a_constant_that_is_no_proportion_says_so() -> None:
    interval = percentile_bootstrap([3.0, 3.0], seed=0)
    assert (interval.method, interval.lower, interval.upper) == ("constant", 3, 3)


@given(st.lists(st.floats(-9, 9), min_size=2, max_size=30))
def test_ends_stay_within_the_values(values: list[float]) -> None:
    interval = percentile_bootstrap(values, seed=2, resamples=50)
    if interval.method == "percentile-bootstrap":
        slack = 1e-9
        assert min(values) - slack <= interval.lower <= interval.upper <= max(values) + slack


def test_malformed_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one value"):
        percentile_bootstrap([], seed=0)
    with pytest.raises(ValueError, match="at least one resample"):
        percentile_bootstrap([0, 1], seed=0, resamples=0)
