from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.stats.agreement import cohen_kappa
from pytest_judgesense.stats.clustered import (
    clustered_jackknife,
    clustered_mean,
    clustered_proportion,
)
from pytest_judgesense.stats.proportions import wilson

Units = list[tuple[float, int]]
UNITS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 5)), min_size=1, max_size=60
)


def split(units: Units) -> tuple[NDArray[np.float64], NDArray[np.int_]]:
    return np.array([v for v, _ in units]), np.array([c for _, c in units], dtype=np.int_)


def some(result: Clustered | None) -> Clustered:
    assert result is not None
    return result


# Proportions


def test_korn_graubard_by_hand() -> None:
    # Four clusters of two, p = 5/8; deviations of cluster sums from 2p = 5/4: 3/4, -1/4, -5/4, 3/4,
    # squares 44/16. v = 4/3 * 2.75 / 64 = 11/192; n_eff = (15/64) / (11/192) = 45/11, D = 88/45.
    # t(7, .975) = 2.364624 and t(3, .975) = 3.182446: n_adj = 45/11 * 0.552078 = 2.258502.
    result = some(clustered_proportion([1, 1, 1, 0, 0, 0, 1, 1], list("aabbccdd")))
    assert (result.method, result.level, result.clusters) == ("korn-graubard", 0.95, 4)
    assert result.effective_n == pytest.approx(45 / 11)
    assert result.design_effect == pytest.approx(88 / 45)
    n_adj = 45 / 11 * (2.364624 / 3.182446) ** 2
    exact = proportion_confint(5 / 8 * n_adj, n_adj, method="beta")
    assert (result.lower, result.upper) == pytest.approx(exact, abs=1e-6)
    # One-sided, the adjustment has its own quantiles: t(7, .95) = 1.894579, t(3, .95) = 2.353363.
    n_adj = 45 / 11 * (1.894579 / 2.353363) ** 2
    exact = proportion_confint(5 / 8 * n_adj, n_adj, alpha=0.1, method="beta")
    assert (result.lower_bound, result.upper_bound) == pytest.approx(exact, abs=1e-6)


def test_independent_units_lose_one_degree() -> None:
    # Every unit its own cluster: v = p (1 - p) / (n - 1), so n_eff = n - 1, and no t adjustment.
    result = some(clustered_proportion([1] * 15 + [0] * 5, range(20)))
    assert result.effective_n == pytest.approx(19)
    exact = proportion_confint(0.75 * 19, 19, method="beta")
    assert (result.lower, result.upper) == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("value", [0, 1])
def test_at_an_extreme_a_cluster_is_worth_one_unit(value: int) -> None:
    # 25 clusters of 5. Nothing was estimated, so nothing is adjusted: the end away from the extreme
    # is 1 - tail^(1/25) from it (P(0 of 25) = tail).
    result = some(clustered_proportion([value] * 125, np.repeat(np.arange(25), 5)))
    assert (result.effective_n, result.design_effect) == (25, 5)
    reach = {tail: 1 - tail ** (1 / 25) for tail in (0.025, 0.05)}
    if value == 0:
        assert (result.lower, result.lower_bound) == (0, 0)
        assert (result.upper, result.upper_bound) == pytest.approx((reach[0.025], reach[0.05]))
    else:
        assert (result.upper, result.upper_bound) == (1, 1)
        assert 1 - result.lower == pytest.approx(reach[0.025])
        assert 1 - result.lower_bound == pytest.approx(reach[0.05])


def test_a_perfect_judge_clears_a_floor_of_ninety_percent_with_thirty_clusters() -> None:
    # 0.05^(1/30) = 0.905: with one unit a cluster there is no adjustment.
    result = some(clustered_proportion([1] * 30, range(30)))
    assert result.lower_bound == pytest.approx(0.05 ** (1 / 30))
    assert result.lower_bound > 0.9


def test_clusters_of_one_mean_are_worth_no_more_than_their_units() -> None:
    # Every cluster holds a 0 and a 1: v = 0 at p = 1/2, n_eff is capped at n.
    result = some(clustered_proportion([0, 1] * 10, np.repeat(np.arange(10), 2)))
    assert (result.effective_n, result.design_effect) == (20, 1)
    assert result.lower < 0.5 < result.upper


def test_identical_units_within_clusters_are_worth_one_a_cluster() -> None:
    # rho = 1: v = p (1 - p) / (K - 1) whatever the size m of the clusters: n_eff = K - 1.
    values = np.repeat([1.0, 0.0], [18, 7])
    for size in (1, 4, 40):
        result = some(clustered_proportion(np.repeat(values, size), np.repeat(np.arange(25), size)))
        assert result.effective_n == pytest.approx(24)
        assert result.design_effect == pytest.approx(25 * size / 24)


def test_the_interval_covers_under_strong_clustering() -> None:
    # 400 runs of 25 clusters of 8. Success probabilities of clusters are Beta(0.8, 0.2): mean 0.8,
    # intra-cluster correlation 1 / (0.8 + 0.2 + 1) = 1/2. An interval that covers 0.93 of the time
    # covers at least 0.93 - 3 sqrt(0.93 * 0.07 / 400) = 0.8917 of 400 runs, but for one chance in
    # 700. Wilson takes the 200 units for independent; the true design effect is 1 + 7/2 = 4.5, so
    # it covers about P(|Z| < 1.96 / sqrt(4.5)) = 0.64: the simulation does tell them apart.
    rng = np.random.default_rng(20)
    clusters = np.repeat(np.arange(25), 8)
    least = 0.93 - 3 * math.sqrt(0.93 * 0.07 / 400)
    covered = {"two-sided": 0, "below": 0, "above": 0, "wilson": 0}
    for _ in range(400):
        values = rng.binomial(1, np.repeat(rng.beta(0.8, 0.2, size=25), 8))
        result = some(clustered_proportion(values, clusters))
        naive = wilson(int(values.sum()), 200)
        covered["two-sided"] += result.lower <= 0.8 <= result.upper
        covered["below"] += result.lower_bound <= 0.8
        covered["above"] += result.upper_bound >= 0.8
        covered["wilson"] += naive.lower <= 0.8 <= naive.upper
    assert covered["two-sided"] >= 400 * least
    assert covered["below"] >= 400 * least
    assert covered["above"] >= 400 * least
    assert covered["wilson"] < 400 * 0.75


def test_the_interval_covers_an_extreme_rate_under_clustering() -> None:
    # 500 runs of 50 clusters of 15 at 0.98, where answers of one cluster correlate by 1/2. An
    # interval that covers 0.93 of the time covers at least 0.93 - 3 sqrt(0.93 * 0.07 / 500), that
    # is 0.8958, of 500 runs. Korn-Graubard without the cautious n, computed beside it, covers less.
    rng = np.random.default_rng(8)
    clusters = np.repeat(np.arange(50), 15)
    covered = plain = 0
    for _ in range(500):
        rates = rng.beta(0.98, 0.02, size=50)  # correlation 1 / (1 + 1) = 1/2
        values = rng.binomial(1, np.repeat(rates, 15)).astype(float)
        result = some(clustered_proportion(values, clusters))
        covered += result.lower <= 0.98 <= result.upper
        share, n = float(values.mean()), float(result.effective_n or 0)
        ratio = (stats.t.ppf(0.975, 749) / stats.t.ppf(0.975, 49)) ** 2
        low, high = proportion_confint(share * n * ratio, n * ratio, method="beta")
        plain += low <= 0.98 <= high
    assert covered >= 500 * 0.8958
    assert plain < covered - 500 * 0.02


@given(UNITS, st.sampled_from([0.8, 0.95, 0.99]))
def test_a_clustered_proportion_is_ordered_bounded_and_mirrors_its_complement(
    units: Units, level: float
) -> None:
    values, clusters = split(units)
    result = clustered_proportion(values, clusters, level)
    if len(set(clusters.tolist())) < 2:
        assert result is None
        return
    result = some(result)
    share = float(values.mean())
    assert 0 <= result.lower <= result.lower_bound <= share + 1e-9
    assert share - 1e-9 <= result.upper_bound <= result.upper <= 1
    assert result.effective_n is not None
    assert 0 < result.effective_n <= len(units)
    mirrored = some(clustered_proportion(1 - values, clusters, level))
    assert mirrored.effective_n == pytest.approx(result.effective_n)
    assert (1 - mirrored.upper, 1 - mirrored.lower) == pytest.approx(
        (result.lower, result.upper), abs=1e-9
    )
    assert (1 - mirrored.upper_bound, 1 - mirrored.lower_bound) == pytest.approx(
        (result.lower_bound, result.upper_bound), abs=1e-9
    )


@given(UNITS, st.permutations(range(6)))
def test_names_of_clusters_do_not_matter(units: Units, renamed: list[int]) -> None:
    values, clusters = split(units)
    named = [("topic", renamed[cluster]) for cluster in clusters]
    assert clustered_proportion(values, clusters) == clustered_proportion(values, named)
    assert clustered_mean(values, clusters) == clustered_mean(values, named)


# Means


def test_clustered_mean_of_independent_units_is_students() -> None:
    # 1, 2, 3, 4: se = sqrt((5/3) / 4) = 0.645497; t(3, .975) = 3.182446, t(3, .95) = 2.353363.
    result = some(clustered_mean([1.0, 2.0, 3.0, 4.0], range(4)))
    assert result.method == "clustered-t"
    assert result.upper - 2.5 == pytest.approx(3.182446 * 0.645497, abs=1e-5)
    assert 2.5 - result.lower_bound == pytest.approx(2.353363 * 0.645497, abs=1e-5)
    assert (result.design_effect, result.effective_n) == pytest.approx((1, 4))


def test_clustered_mean_by_hand() -> None:
    # Sums of deviations -2 and 2: v = 2/1 * 8/16 = 1; t(1, .975) = 12.706205. Independent units
    # have variance (5/3) / 4 = 5/12: design effect 12/5, effective n 4 / 2.4.
    result = some(clustered_mean([1.0, 2.0, 3.0, 4.0], list("aabb")))
    assert (result.lower, result.upper) == pytest.approx((2.5 - 12.706205, 2.5 + 12.706205))
    assert (result.design_effect, result.effective_n) == pytest.approx((2.4, 5 / 3))
    clipped = some(clustered_mean([1.0, 2.0, 3.0, 4.0], list("aabb"), lower=0, upper=5))
    assert (clipped.lower, clipped.upper, clipped.upper_bound) == (0, 5, 5)


def test_a_constant_within_bounds_has_the_exact_bound_of_no_departure() -> None:
    # 10 clusters of 2, all 0.25 within [-1, 1]: w = 1 - 0.025^(1/10) = 0.308497 two-sided and
    # 1 - 0.05^(1/10) one-sided; the mean reaches 0.25 - 1.25 w and 0.25 + 0.75 w.
    result = some(clustered_mean([0.25] * 20, [*range(10)] * 2, lower=-1, upper=1))
    two, one = 1 - 0.025**0.1, 1 - 0.05**0.1
    assert (result.lower, result.upper) == pytest.approx((0.25 - 1.25 * two, 0.25 + 0.75 * two))
    assert (result.lower_bound, result.upper_bound) == pytest.approx(
        (0.25 - 1.25 * one, 0.25 + 0.75 * one)
    )
    assert (result.method, result.effective_n, result.design_effect) == ("exact-constant", 10, 2)


@pytest.mark.parametrize("lower", [None, 0.0])
def test_a_constant_without_both_bounds_says_that_it_has_no_width(lower: float | None) -> None:
    result = some(clustered_mean([2.0] * 20, [*range(10)] * 2, lower=lower))
    assert (result.lower, result.upper) == (2, 2)
    assert (result.method, result.effective_n) == ("constant", 10)


def test_clusters_of_one_mean_take_the_variance_of_independent_units() -> None:
    # -1 and 1 in each of 5 clusters: v would be 0. Independent units have 10 / (10 * 9) = 1/9, and
    # t(4, .975) = 2.776445.
    result = some(clustered_mean([-1.0, 1.0] * 5, np.repeat(np.arange(5), 2)))
    assert result.upper == pytest.approx(2.776445 / 3, abs=1e-6)
    assert (result.design_effect, result.effective_n) == pytest.approx((1, 10))
    # The same with values whose deviations do not cancel in floating point.
    rounded = some(clustered_mean([0.1, 0.3] * 5, np.repeat(np.arange(5), 2)))
    assert rounded.upper - 0.2 == pytest.approx(0.1 * 2.776445 / 3, abs=1e-6)


@given(
    st.lists(st.tuples(st.integers(-100, 100), st.integers(0, 5)), min_size=2, max_size=40),
    st.integers(-50, 50),
    st.integers(1, 9),
)
def test_clustered_mean_moves_and_stretches_with_the_values(
    units: list[tuple[int, int]], shift: int, scale: int
) -> None:
    values, clusters = split([(float(v), c) for v, c in units])
    result = clustered_mean(values, clusters)
    moved = clustered_mean(values * scale + shift, clusters)
    if result is None or moved is None:
        assert result is None
        assert moved is None
        assert len(set(clusters.tolist())) == 1
        return
    assert result.lower <= result.lower_bound <= values.mean() + 1e-9
    assert (moved.lower, moved.upper) == pytest.approx(
        (result.lower * scale + shift, result.upper * scale + shift), abs=1e-6
    )


# Jackknife


def test_the_jackknife_of_a_mean_of_equal_clusters_is_the_linearised_interval() -> None:
    # With m units in each of K clusters, leaving cluster c out moves the mean by
    # (mean_c - mean) / (K - 1), so se^2 = sum (mean_c - mean)^2 / (K (K - 1)) = v.
    values = np.random.default_rng(8).normal(size=60)
    clusters = np.repeat(np.arange(12), 5)
    jackknife = some(clustered_jackknife(lambda kept: float(values[kept].mean()), clusters))
    linear = some(clustered_mean(values, clusters))
    assert jackknife.method == "cluster-jackknife"
    assert (jackknife.design_effect, jackknife.effective_n) == (None, None)
    for end in ("lower", "upper", "lower_bound", "upper_bound"):
        assert getattr(jackknife, end) == pytest.approx(getattr(linear, end))


def test_the_jackknife_by_hand() -> None:
    # The product of the first and the last value kept of 1, 2, 4: all give 4; without a cluster
    # 8, 4, 2. Deviations from 14/3: 10/3, -2/3, -8/3, squares 168/9; se^2 = 2/3 * 168/9 = 112/9.
    # t(2, .975) = 4.302653. The interval is about 4, not about 14/3.
    values = np.array([1.0, 2.0, 4.0])
    result = some(clustered_jackknife(lambda kept: values[kept[0]] * values[kept[-1]], "abc"))
    reach = 4.302653 * math.sqrt(112 / 9)
    assert (result.lower, result.upper) == pytest.approx((4 - reach, 4 + reach), abs=1e-5)
    clipped = some(
        clustered_jackknife(lambda k: values[k[0]] * values[k[-1]], "abc", lower=0, upper=9)
    )
    assert (clipped.lower, clipped.upper, clipped.lower_bound) == (0, 9, 0)


def kappa_of(first: str, second: str) -> Callable[[NDArray[np.intp]], float]:
    def kappa(kept: NDArray[np.intp]) -> float:
        value = cohen_kappa([first[i] for i in kept], [second[i] for i in kept])
        return math.nan if value is None else value

    return kappa


def test_a_statistic_that_no_cluster_changes_is_marked_by_its_effective_n() -> None:
    result = some(clustered_jackknife(kappa_of("ABABAB", "ABABAB"), [0, 0, 1, 1, 2, 2]))
    assert (result.lower, result.upper, result.effective_n) == (1, 1, 3)


def test_a_statistic_beyond_its_bound_by_rounding_has_ends_within_it() -> None:
    result = some(clustered_jackknife(lambda _: 1 + 1e-15, "abc", lower=-1, upper=1))
    assert (result.lower, result.upper, result.lower_bound) == (1, 1, 1)


def test_an_undefined_statistic_has_no_interval() -> None:
    # Without the last cluster both streams hold A alone.
    assert clustered_jackknife(kappa_of("AAB", "AAB"), [0, 1, 2]) is None
    # Undefined as a whole, defined nowhere.
    assert clustered_jackknife(kappa_of("AAA", "AAA"), [0, 1, 2]) is None


# All of them


def test_fewer_than_two_clusters_say_nothing() -> None:
    assert clustered_proportion([0, 1], ["a", "a"]) is None
    assert clustered_proportion([], []) is None
    assert clustered_mean([0.0, 3.0], ["a", "a"]) is None
    assert clustered_jackknife(lambda kept: float(kept.size), ["a", "a"]) is None


def test_the_one_sided_bounds_are_the_ends_at_the_two_sided_level() -> None:
    values, clusters = [1, 1, 0, 1, 0, 0, 1, 1, 1], list("aabbccddd")
    for method in (clustered_proportion, clustered_mean):
        at_95 = some(method(values, clusters, 0.95))
        at_90 = some(method(values, clusters, 0.90))
        assert (at_95.lower_bound, at_95.upper_bound) == pytest.approx((at_90.lower, at_90.upper))
        assert replace(at_95, level=0) != replace(at_90, level=0)


def test_malformed_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match=r"within \[0\.0, 1\.0\], found values from 0\.0 to 2\.0"):
        clustered_proportion([0, 2], "ab")
    with pytest.raises(ValueError, match="found values from -2"):
        clustered_mean([-2.0, 0.0], "ab", lower=-1, upper=1)
    with pytest.raises(ValueError, match="lower bound lies below"):
        clustered_jackknife(lambda _: 0.0, "ab", lower=1, upper=-1)
    with pytest.raises(ValueError, match="one-sided level"):
        clustered_proportion([0, 1], "ab", level=0.5)
    with pytest.raises(ValueError, match="found 2 values, 3 clusters"):
        clustered_proportion([0, 1], "abc")
