from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.stats.clustered import (
    clustered_excess,
    clustered_mean,
    clustered_positive_mean,
    clustered_positive_statistic,
    clustered_proportion,
)
from pytest_judgesense.stats.dirichlet import (
    PROPORTION_METHOD,
    PSEUDO_WEIGHT,
    shape_of_cluster,
    share_bounds,
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


def test_the_effective_n_by_hand() -> None:
    # Four clusters of two, p = 5/8; deviations of cluster sums from 2p = 5/4: 3/4, -1/4, -5/4, 3/4,
    # squares 44/16. v = 4/3 * 2.75 / 64 = 11/192; n_eff = (15/64) / (11/192) = 45/11, D = 88/45.
    result = some(clustered_proportion([1, 1, 1, 0, 0, 0, 1, 1], list("aabbccdd")))
    assert (result.method, result.level, result.clusters) == (PROPORTION_METHOD, 0.95, 4)
    assert result.effective_n == pytest.approx(45 / 11)
    assert result.design_effect == pytest.approx(88 / 45)


def test_the_ends_are_those_of_the_clusters_sums() -> None:
    result = some(clustered_proportion([1, 1, 1, 0, 0, 0, 1, 1], list("aabbccdd")))
    (low, high), (low_bound, high_bound) = share_bounds(
        np.array([2.0, 1.0, 0.0, 2.0]), np.full(4, 2.0), (0.975, 0.95)
    )
    assert (result.lower, result.upper) == (low, high)
    assert (result.lower_bound, result.upper_bound) == (low_bound, high_bound)


@pytest.mark.parametrize("value", [0, 1])
def test_at_an_extreme_the_pseudo_cluster_says_what_was_not_seen(value: int) -> None:
    # 25 clusters of 5, all alike: the part of the weight that the pseudo-cluster has is
    # Beta(w, 25 a), a = (z / t(24))^2; z, t = 1.959964, 2.063899 and 1.644854, 1.710882.
    result = some(clustered_proportion([value] * 125, np.repeat(np.arange(25), 5)))
    assert (result.effective_n, result.design_effect) == (25, 5)
    two = stats.beta(PSEUDO_WEIGHT, 25 * (1.959964 / 2.063899) ** 2).ppf(0.975)
    one = stats.beta(PSEUDO_WEIGHT, 25 * (1.644854 / 1.710882) ** 2).ppf(0.95)
    if value == 0:
        assert (result.lower, result.lower_bound) == (0, 0)
        assert (result.upper, result.upper_bound) == pytest.approx((two, one), rel=1e-5)
    else:
        assert (result.upper, result.upper_bound) == (1, 1)
        assert (1 - result.lower, 1 - result.lower_bound) == pytest.approx((two, one), rel=1e-5)


def test_a_perfect_judge_is_never_behind_one_with_an_error() -> None:
    # The review's case: 20 clusters of 10, a floor of 0.9. With Korn-Graubard 200 of 200 had the
    # bound 0.861 and 199 of 200 that of 0.943.
    values, clusters = np.ones(200), np.repeat(np.arange(20), 10)
    bounds = []
    for errors in range(11):
        values[:errors] = 0
        bounds.append(some(clustered_proportion(values, clusters)).lower_bound)
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] > 0.85


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


@given(UNITS)
def test_a_clustered_proportion_is_ordered_bounded_and_mirrors_its_complement(units: Units) -> None:
    values, clusters = split(units)
    result = clustered_proportion(values, clusters)
    if len(set(clusters.tolist())) < 2:
        assert result is None
        return
    result = some(result)
    share = float(values.mean())
    assert 0 <= result.lower <= result.lower_bound <= share + 1e-9
    assert share - 1e-9 <= result.upper_bound <= result.upper <= 1
    assert result.effective_n is not None
    assert 0 < result.effective_n <= len(units)
    mirrored = some(clustered_proportion(1 - values, clusters))
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
    for method in (clustered_proportion, clustered_mean):
        found, other = method(values, clusters), method(values, named)
        assert (found is None) == (other is None)
        if found is not None and other is not None:
            # Sums in another order, but for rounding.
            for end in ("lower", "upper", "lower_bound", "upper_bound"):
                assert getattr(found, end) == pytest.approx(getattr(other, end), abs=1e-6)
            assert found.effective_n == pytest.approx(other.effective_n)


# Means


def test_clustered_mean_of_independent_units_is_students() -> None:
    # 1, 2, 3, 4: se = sqrt((5/3) / 4) = 0.645497; t(3, .975) = 3.182446, t(3, .95) = 2.353363.
    result = some(clustered_mean([1.0, 2.0, 3.0, 4.0], range(4)))
    assert result.method == "clustered-t"
    assert result.upper - 2.5 == pytest.approx(3.182446 * 0.645497, abs=1e-5)
    assert 2.5 - result.lower_bound == pytest.approx(2.353363 * 0.645497, abs=1e-5)
    assert (result.design_effect, result.effective_n) == pytest.approx((1, 4))


def test_an_excess_has_students_end_below_and_that_of_the_bootstrap_above() -> None:
    # Nine right calls at .9, one wrong: mean 0, se = 1/sqrt(10) * sqrt(.9) / 3 = .1; t(9) as in
    # tables: .975: 2.262157, .95: 1.833113.
    values = [-0.1] * 9 + [0.9]
    result = some(clustered_excess(values, range(10), (-1.0, 1.0)))
    assert result.method == f"clustered-t, {PROPORTION_METHOD}"
    assert (result.lower, result.lower_bound) == pytest.approx((-0.2262157, -0.1833113), abs=1e-7)
    bounded = some(clustered_mean(values, range(10), (-1.0, 1.0)))
    assert (result.upper, result.upper_bound) == (bounded.upper, bounded.upper_bound)
    assert result.upper > 0.2262157
    assert result.at is not None
    assert bounded.at is not None
    assert result.at(0.95) == (result.lower_bound, bounded.at(0.95)[1])
    assert clustered_excess([0.1], [0], (-1.0, 1.0)) is None


def test_no_wrong_call_of_few_is_no_proof_that_a_judge_is_less_sure_than_right() -> None:
    # Thirty right calls at .95: one in five honest judges has them, .95^30 = .21.
    result = some(clustered_excess([-0.05] * 30, range(30), (-1.0, 1.0)))
    assert result.upper > 0


def test_clustered_mean_by_hand() -> None:
    # Sums of deviations -2 and 2: v = 2/1 * 8/16 = 1; t(1, .975) = 12.706205. Independent units
    # have variance (5/3) / 4 = 5/12: design effect 12/5, effective n 4 / 2.4.
    result = some(clustered_mean([1.0, 2.0, 3.0, 4.0], list("aabb")))
    assert (result.lower, result.upper) == pytest.approx((2.5 - 12.706205, 2.5 + 12.706205))
    assert (result.design_effect, result.effective_n) == pytest.approx((2.4, 5 / 3))


def test_between_bounds_the_mean_is_a_stretched_proportion() -> None:
    # Of [-1, 1], 0.25 is 0.625 of the way: the proportion's ends, stretched by 2 and moved by -1.
    values = [0.25] * 10 + [-0.5, 1.0] * 5
    result = some(clustered_mean(values, [*range(10)] * 2, (-1, 1)))
    stretched = (np.array(values) + 1) / 2
    share = some(clustered_proportion(stretched, [*range(10)] * 2))
    for end in ("lower", "upper", "lower_bound", "upper_bound"):
        assert getattr(result, end) == pytest.approx(2 * getattr(share, end) - 1)
    assert result.method == PROPORTION_METHOD


def test_a_constant_between_bounds_is_its_share_of_a_beta_variable() -> None:
    # 10 clusters of 2, all 0.25 within [-1, 1], that is 0.625 of the way. What was seen has the
    # part B of the weight, Beta(10 a, w): the share is 0.625 B at least, 1 - 0.375 B at most.
    result = some(clustered_mean([0.25] * 20, [*range(10)] * 2, (-1, 1)))
    two, one = (
        stats.beta(10 * shape_of_cluster(10, level), PSEUDO_WEIGHT).ppf(1 - level)
        for level in (0.975, 0.95)
    )
    assert (result.lower, result.upper) == pytest.approx((-1 + 1.25 * two, 1 - 0.75 * two))
    assert (result.lower_bound, result.upper_bound) == pytest.approx(
        (-1 + 1.25 * one, 1 - 0.75 * one)
    )
    assert (result.method, result.effective_n, result.design_effect) == (PROPORTION_METHOD, 10, 2)


def test_a_constant_without_bounds_says_that_it_has_no_width() -> None:
    result = some(clustered_mean([2.0] * 20, [*range(10)] * 2))
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


# Positive means


def skewed(rng: np.random.Generator, clusters: int, heterogeneity: float) -> NDArray[np.float64]:
    """Variances of three runs of four scores in two debates, of scales that differ by topic."""
    scale = np.exp(rng.normal(0, heterogeneity, (clusters, 1)))
    return np.asarray((scale * rng.chisquare(2, (clusters, 8)) / 2).ravel())


@pytest.mark.parametrize("heterogeneity", [0.3, 0.8])
def test_the_gamma_pivot_covers_skewed_means_on_either_side(heterogeneity: float) -> None:
    # 300 runs of 25 topics. The mean is that of a lognormal scale, exp(h^2 / 2). What covers .93
    # covers at least .93 - 3 sqrt(.93 * .07 / 300) = .886 of 300 runs. Student's upper bound
    # covers .87 at .8 (.85 to .90 in 3,000 runs), which the last line tells apart.
    rng = np.random.default_rng(25)
    clusters = np.repeat(np.arange(25), 8)
    truth = math.exp(heterogeneity**2 / 2)
    covered = np.zeros(3)
    student = 0
    for _ in range(300):
        values = skewed(rng, 25, heterogeneity)
        found = some(clustered_positive_mean(values, clusters))
        covered += [
            found.lower <= truth <= found.upper,
            found.lower_bound <= truth,
            truth <= found.upper_bound,
        ]
        student += truth <= some(clustered_mean(values, clusters)).upper_bound
    assert (covered >= 300 * 0.886).all()
    assert student < covered[2]


def test_the_gamma_pivot_by_hand() -> None:
    # Ten clusters of one: 1 to 10. m = 5.5, v = 82.5 / 90 = 0.916667; z(.975) / t(9, .975) =
    # 1.959964 / 2.262157: k = 5.5^2 / 0.916667 * 0.750674 = 24.77224. Above: one more of
    # (1 + 5/10) * 10 = 15: m' = 70 / 11, v' = (385 + 225 - 4900 / 11) / 110 = 1.495868,
    # z / t(10, .975) = 1.959964 / 2.228139: k' = 40.49587 / 1.495868 * 0.773778 = 20.94754.
    found = some(clustered_positive_mean(np.arange(1.0, 11.0), range(10)))
    below = stats.gamma(24.77224).ppf(0.025) * 5.5 / 24.77224
    above = 70 / 11 * 20.94754 / stats.gamma(20.94754).ppf(0.025)
    assert (found.lower, found.upper) == pytest.approx((below, above), rel=1e-5)
    assert (found.method, found.effective_n) == ("clustered-gamma", pytest.approx(10))


def test_the_gamma_pivot_is_the_same_to_the_last_digit_whatever_clusters_are_called() -> None:
    # Their names decide the order of the sums, which are rounded once.
    rng = np.random.default_rng(3)
    for _ in range(50):
        values, renamed = skewed(rng, 25, 0.8), rng.permutation(25)
        found, other = (
            some(clustered_positive_mean(values, np.repeat(names, 8)))
            for names in (np.arange(25), renamed)
        )
        assert (found.lower, found.upper) == (other.lower, other.upper)


def test_values_that_are_all_one_have_the_bound_of_what_was_not_seen() -> None:
    # 12 topics without any variance where 4 is the greatest: a share of Beta(w, 12 a) may have it.
    found = some(clustered_positive_mean([0.0] * 24, [*range(12)] * 2, upper=4.0))
    (_, share), (_, bound) = share_bounds(np.zeros(12), np.ones(12), (0.975, 0.95))
    assert (found.method, found.lower) == ("exact-constant", 0)
    assert (found.upper, found.upper_bound) == pytest.approx((4 * share, 4 * bound))
    open_ended = some(clustered_positive_mean([2.0] * 24, [*range(12)] * 2))
    assert (open_ended.method, open_ended.lower, open_ended.upper) == ("constant", 2, 2)


def test_of_a_mean_the_pseudo_values_are_its_values() -> None:
    # K m - (K - 1) m_(c) = x_c where every cluster is one value.
    values = np.random.default_rng(8).gamma(1.0, size=15)
    jackknife = some(
        clustered_positive_statistic(lambda kept: float(kept.mean()), [values], range(15))
    )
    mean = some(clustered_positive_mean(values, range(15)))
    assert (jackknife.method, mean.method) == ("jackknife-gamma", "clustered-gamma")
    for end in ("lower", "upper", "lower_bound", "upper_bound"):
        assert getattr(jackknife, end) == pytest.approx(getattr(mean, end))


def test_a_statistic_that_no_cluster_changes_is_marked_as_constant() -> None:
    found = some(clustered_positive_statistic(lambda _: 1 + 1e-15, [np.ones(12)], range(12)))
    assert (found.method, found.effective_n) == ("constant", 12)
    assert found.lower == found.upper == pytest.approx(1)


def test_an_undefined_statistic_has_no_interval() -> None:
    undefined = clustered_positive_statistic(
        lambda kept: math.nan if kept.size < 12 else 1.0, [np.ones(12)], range(12)
    )
    assert undefined is None


@pytest.mark.parametrize("clusters", [1, 2, 9])
def test_too_few_clusters_say_nothing_of_a_skewed_mean(clusters: int) -> None:
    assert clustered_positive_mean(np.arange(1.0, clusters + 1), range(clusters)) is None
    columns = [np.ones(clusters)]
    sized = clustered_positive_statistic(lambda kept: float(kept.size), columns, range(clusters))
    assert sized is None


# All of them


def test_fewer_than_two_clusters_say_nothing() -> None:
    assert clustered_proportion([0, 1], ["a", "a"]) is None
    assert clustered_proportion([], []) is None
    assert clustered_mean([0.0, 3.0], ["a", "a"]) is None


def test_the_one_sided_bounds_are_the_ends_at_the_two_sided_level() -> None:
    values, clusters = [1, 1, 0, 1, 0, 0, 1, 1, 1], list("aabbccddd")
    for method in (clustered_proportion, clustered_mean):
        found = some(method(values, clusters))
        assert found.at is not None
        assert found.at(0.95) == pytest.approx((found.lower_bound, found.upper_bound))
        assert found.at(0.975) == pytest.approx((found.lower, found.upper))


def test_malformed_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match=r"within \[0\.0, 1\.0\], found values from 0\.0 to 2\.0"):
        clustered_proportion([0, 2], "ab")
    with pytest.raises(ValueError, match="found values from -2"):
        clustered_mean([-2.0, 0.0], "ab", (-1, 1))
    with pytest.raises(ValueError, match="found 2 values, 3 clusters"):
        clustered_proportion([0, 1], "abc")


def test_a_statistic_near_its_least_value_has_students_upper_end() -> None:
    # The distance of a share from one half: 13 of 25 single units, 0.02. Without a one it is 0,
    # without a zero 13/24 - 1/2 = 1/24: the pseudo-values 25 * 0.02 - 24 * (0 or 1/24) are 1/2 and
    # -1/2, and their mean is 0.02.
    ones = np.array([1.0] * 13 + [0.0] * 12)
    found = clustered_positive_statistic(lambda kept: abs(kept.mean() - 0.5), [ones], range(25))
    assert found is not None
    # One more of (1 + 5/25) 1/2 = 0.6: 13 * 0.5 - 12 * 0.5 + 0.6 = 1.1 over 26 is the mean.
    values = np.array([0.5] * 13 + [-0.5] * 12 + [0.6])
    error = values.std(ddof=1) / math.sqrt(26)
    assert found.upper_bound == pytest.approx(1.1 / 26 + error * stats.t.ppf(0.95, 25), rel=1e-9)
    assert found.lower_bound == pytest.approx(0.0, abs=1e-9)
