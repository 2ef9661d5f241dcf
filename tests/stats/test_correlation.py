"""Correlations, and the jackknife over clusters of a statistic that is no mean."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import t as student

from pytest_judgesense.stats.clustered import clustered_positive_statistic, clustered_statistic
from pytest_judgesense.stats.correlation import (
    dense_ranks,
    mean_ranks,
    partial_spearman,
    pearson,
    spearman,
)


def test_equal_values_share_their_mean_rank() -> None:
    assert mean_ranks([3, 1, 3, 2]).tolist() == [3.5, 1, 3.5, 2]


def test_whole_numbers_have_the_ranks_of_numbers_however_far_apart() -> None:
    """Negative ones, and some of which a table up to the largest would not fit into memory."""
    for values in ([-3, 5, -3, 0], [10**15, 0, 7, 10**15]):
        whole = np.array(values, dtype=np.intp)
        assert mean_ranks(whole).tolist() == mean_ranks(whole.astype(np.float64)).tolist()


def test_rank_correlation_of_five() -> None:
    # Without ties 1 - 6 sum d^2 / (n (n^2 - 1)): differences 0 1 -1 1 -1, 1 - 24 / 120.
    assert spearman([1, 2, 3, 4, 5], [1, 3, 2, 5, 4]) == pytest.approx(0.8)
    assert math.isnan(pearson([1, 1, 1], [1, 2, 3]))


def test_what_is_held_fixed_takes_its_part_away() -> None:
    x, y, z = [1, 2, 3, 4], [2, 1, 4, 3], [1, 3, 2, 4]
    # rho_xy 0.6, rho_xz 0.8, rho_yz 0: 0.6 / sqrt(0.36 * 1) = 1.
    assert partial_spearman(x, y, z) == pytest.approx(1.0)
    assert partial_spearman(x, y, [1, 1, 1, 1]) == pytest.approx(0.6)
    assert partial_spearman(x, y, x) == 0


def test_the_jackknife_of_a_mean_is_students_interval() -> None:
    values = np.array([1.0, 2.0, 4.0, 5.0])
    # In the middle of a wide range Fisher's z is the value itself.
    wide = (-1e4, 1e4)
    found = clustered_statistic(lambda kept: float(kept.mean()), [values], list("abcd"), wide)
    assert found is not None
    # s / sqrt(n) = sqrt(10 / 3) / 2 = 0.912871, t(3, 0.975) = 3.182446: 3 -/+ 2.90516.
    assert (found.lower, found.upper) == (
        pytest.approx(0.09484, abs=1e-5),
        pytest.approx(5.90516, abs=1e-5),
    )
    few = clustered_statistic(lambda kept: float(kept.mean()), [values[:2]], list("ab"), wide)
    assert few is None


def test_a_statistic_that_no_cluster_changes_has_an_interval_from_ten_clusters_on() -> None:
    alike = clustered_statistic(lambda _: 0.5, [np.zeros(10)], range(10), (0, 1))
    assert alike is not None
    assert (alike.method, alike.lower, alike.upper) == ("constant", 0.5, 0.5)
    # As few as nine in one order show nothing of others.
    assert clustered_statistic(lambda _: 0.5, [np.zeros(9)], range(9), (0, 1)) is None


def test_many_clusters_are_left_out_in_groups_with_the_same_spread() -> None:
    """The width of a mean of n values is 2 t s / sqrt(n), whichever groups are left out.

    Of 200 groups the spread has a standard error of 1 / sqrt(2 * 199) = 5% of itself: 4 of them.
    """
    values = np.random.default_rng(0).normal(size=3000)
    asked: list[int] = []

    def mean(column: NDArray[np.float64], counts: NDArray[np.intp] | None = None) -> float:
        asked.append(column.size if counts is None else int(counts.sum()))
        return float(np.average(column, weights=counts))

    found = clustered_statistic(mean, [values], range(3000), (-1e4, 1e4))
    assert found is not None
    assert (len(asked), set(asked[1:])) == (201, {2985})  # 15 of 3,000 at a time
    exact = 2 * student.ppf(0.975, 199) * values.std(ddof=1) / math.sqrt(3000)
    assert found.upper - found.lower == pytest.approx(exact, rel=0.2)
    again = clustered_statistic(mean, [values], range(3000), (-1e4, 1e4))
    assert again is not None
    assert (again.lower, again.upper) == (found.lower, found.upper)
    asked.clear()
    index = clustered_positive_statistic(mean, [values + 9], range(3000))
    assert index is not None
    assert (len(asked), index.clusters) == (201, 3000)
    assert index.upper - index.lower == pytest.approx(exact, rel=0.2)


def test_a_pair_that_occurs_three_times_is_three_pairs() -> None:
    x, y, z = np.array([1, 2, 2, 5]), np.array([3, 1, 2, 2]), np.array([1, 1, 2, 3])
    counts = np.array([3, 0, 1, 2])
    often = [np.repeat(one, counts).tolist() for one in (x, y, z)]
    assert mean_ranks(x.tolist(), counts)[[0, 2, 3]].tolist() == [2, 4, 5.5]  # 1-3, 4, 5-6
    assert pearson(x, y, counts) == pytest.approx(pearson(often[0], often[1]))
    columns = [dense_ranks(one) for one in (x, y, z)]
    assert spearman(*columns[:2], counts) == pytest.approx(spearman(often[0], often[1]))
    expected = partial_spearman(often[0], often[1], often[2])
    assert partial_spearman(*columns, counts) == pytest.approx(expected)


def test_the_jackknife_by_hand() -> None:
    # First times last of 1, 2, 4: all give 4; without a cluster 8, 4, 2. t(2, .975) = 4.302653.
    values = [np.array([1.0, 2.0, 4.0])]

    def ends_of(left: NDArray[np.float64]) -> float:
        return float(left[0] * left[-1])

    clipped = clustered_statistic(ends_of, values, "abc", (0, 9))
    assert clipped is not None
    # In z, atanh(2 x / 9 - 1) of 8, 4, 2: 1.03972, -0.11157, -0.62638; about their mean the squares
    # add up to 1.45547, se^2 = 2/3 of it: -0.11157 -/+ 4.23832 is 0.00150 and 8.99766.
    assert clipped.method == "jackknife-z"
    assert (clipped.lower, clipped.upper) == pytest.approx((0.0015, 8.99766), abs=1e-4)
    # t(2, .95) = 2.919986: -0.11157 -/+ 2.87633.
    assert (clipped.lower_bound, clipped.upper_bound) == pytest.approx((0.0228, 8.96443), abs=1e-4)
