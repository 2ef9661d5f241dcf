from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom

from pytest_judgesense.stats.proportions import wilson
from pytest_judgesense.stats.resampling import (
    _resampled_kinds,
    _resampled_ratios,
    cluster_bootstrap,
    percentile_bootstrap,
)

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
def test_the_size_of_a_block_does_not_change_the_draws(block: int) -> None:
    means = _resampled_ratios(HALVES, np.ones(30), np.random.default_rng(3), 50, block)
    drawn = np.random.default_rng(3).integers(0, 30, size=(50, 30))
    assert means == pytest.approx(HALVES[drawn].mean(axis=1))


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_a_constant_has_the_wilson_interval_in_its_place(value: float) -> None:
    assert percentile_bootstrap(np.full(20, value), seed=0, level=0.9) == wilson(
        20 * value, 20, 0.9
    )


def test_a_constant_that_is_no_proportion_says_so() -> None:
    interval = percentile_bootstrap([3.0, 3.0], seed=0)
    assert (interval.method, interval.lower, interval.upper) == ("constant", 3, 3)


def test_clusters_are_drawn_whole() -> None:
    # Clusters of unequal size: sums 3, 0, 1 and sizes 3, 1, 2. The slow way: draw clusters with
    # the same generator and pool their units.
    groups = [np.array([1.0, 1.0, 1.0]), np.array([0.0]), np.array([0.5, 0.5])]
    drawn = np.random.default_rng(11).integers(0, 3, size=(400, 3))
    means = [float(np.concatenate([groups[c] for c in row]).mean()) for row in drawn]
    interval = cluster_bootstrap(np.concatenate(groups), list("aaabcc"), seed=11, resamples=400)
    assert interval is not None
    assert interval.method == "cluster-bootstrap"
    assert [interval.lower, interval.upper] == pytest.approx(np.quantile(means, [0.025, 0.975]))


def test_clusters_of_one_unit_are_units() -> None:
    # 30 values that all differ: as many kinds as clusters, drawn by index like units.
    values = np.linspace(0, 1, 30) ** 2
    clustered = cluster_bootstrap(values, range(30), seed=4)
    units = percentile_bootstrap(values, seed=4)
    assert clustered is not None
    assert (clustered.lower, clustered.upper) == pytest.approx((units.lower, units.upper))


def test_clusters_drawn_by_kind_follow_the_exact_distribution() -> None:
    # 30 clusters of 0, 1 or 2 ones in two units, 6, 10 and 14 of them: the sum of 30 draws has the
    # 30-fold convolution of those shares; with 20,000 resamples an end is at most one step away.
    distribution = np.ones(1)
    for _ in range(30):
        distribution = np.convolve(distribution, np.array([6, 10, 14]) / 30)
    exact = np.searchsorted(distribution.cumsum(), [0.025, 0.975]) / 60
    values = np.array([[0, 0]] * 6 + [[0, 1]] * 10 + [[1, 1]] * 14).ravel()
    interval = cluster_bootstrap(values, np.repeat(np.arange(30), 2), seed=5, resamples=20_000)
    assert interval is not None
    assert [interval.lower, interval.upper] == pytest.approx(exact, abs=1 / 60 + 1e-9)


def test_kinds_keep_sums_and_sizes_of_a_cluster_together() -> None:
    # Two kinds, 12 clusters of 3 ones in 3 and 8 of 0 ones in 1. A resample with k of the first has
    # the ratio 3k / (3k + 20 - k), k being binomial(20, 0.6); nothing else can occur.
    ratios = _resampled_kinds(
        np.array([1j, 3 + 3j]), np.array([8, 12]), np.random.default_rng(1), 2000, 1 << 20
    )
    k = np.arange(21)
    possible = 3 * k / (3 * k + 20 - k)
    assert set(ratios.round(9)) <= set(possible.round(9))
    # Mean of 2,000 draws of k: standard error sqrt(20 * 0.24 / 2000) = 0.049; four of them.
    drawn = np.searchsorted(possible.round(9), ratios.round(9))
    assert drawn.mean() == pytest.approx(12, abs=0.2)


@pytest.mark.parametrize("block", [1, 5, 1 << 20])
def test_the_size_of_a_block_does_not_change_the_kinds_drawn(block: int) -> None:
    kinds, counts = np.array([1j, 1 + 2j, 3 + 3j]), np.array([5, 9, 6])
    ratios = _resampled_kinds(kinds, counts, np.random.default_rng(3), 40, block)
    whole = _resampled_kinds(kinds, counts, np.random.default_rng(3), 40, 120)
    assert ratios.tolist() == whole.tolist()


def test_copies_within_a_cluster_add_nothing() -> None:
    alone = cluster_bootstrap(HALVES, range(30), seed=4)
    copied = cluster_bootstrap(np.repeat(HALVES, 5), np.repeat(np.arange(30), 5), seed=4)
    assert alone is not None
    assert copied is not None
    assert (copied.lower, copied.upper) == pytest.approx((alone.lower, alone.upper))


def test_clusters_with_one_mean_have_the_wilson_interval_of_clusters() -> None:
    # 8 clusters of a 0 and a 1 each: worth 4 of 8.
    interval = cluster_bootstrap([0, 1] * 8, np.repeat(np.arange(8), 2), seed=0)
    assert interval is not None
    assert interval.method == "wilson-clusters"
    assert (interval.lower, interval.upper) == (wilson(4, 8).lower, wilson(4, 8).upper)


def test_one_cluster_says_nothing() -> None:
    assert cluster_bootstrap([0.0, 1.0], ["a", "a"], seed=0) is None


@given(
    st.lists(st.tuples(st.floats(-9, 9), st.integers(0, 4)), min_size=2, max_size=30),
)
def test_ends_stay_within_the_values_and_only_the_order_of_names_matters(
    units: list[tuple[float, int]],
) -> None:
    values = np.array([value for value, _ in units])
    clusters = np.array([cluster for _, cluster in units])
    interval = cluster_bootstrap(values, clusters, seed=2, resamples=50)
    assert interval == cluster_bootstrap(
        values, [f"c{cluster}" for cluster in clusters], seed=2, resamples=50
    )
    if interval is not None and interval.method == "cluster-bootstrap":
        slack = 1e-9
        assert values.min() - slack <= interval.lower <= interval.upper <= values.max() + slack


def test_malformed_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one value"):
        percentile_bootstrap([], seed=0)
    with pytest.raises(ValueError, match="at least one resample"):
        percentile_bootstrap([0, 1], seed=0, resamples=0)
    with pytest.raises(ValueError, match="found 2 values, 1 clusters"):
        cluster_bootstrap([0, 1], ["a"], seed=0)
    with pytest.raises(ValueError, match="level"):
        percentile_bootstrap([0, 1], seed=0, level=1.0)
