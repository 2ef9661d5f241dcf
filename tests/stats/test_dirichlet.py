from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pytest_judgesense.stats import dirichlet
from pytest_judgesense.stats.dirichlet import (
    PSEUDO_WEIGHT,
    chances_above,
    drawn_units,
    drawn_weights,
    grouped,
    shape_of_cluster,
    share_bounds,
    unseen_parts,
    unseen_size,
)

LEVELS = (0.975, 0.95)


def test_the_shape_stretches_to_students_quantile() -> None:
    # z(.975) = 1.959964, t(19, .975) = 2.093024: (1.959964 / 2.093024)^2 = 0.876895.
    assert shape_of_cluster(20, 0.975) == pytest.approx(0.876895, abs=1e-6)


@pytest.mark.parametrize("clusters", [2, 5, 25, 400])
def test_clusters_that_are_alike_give_a_beta_variable(clusters: int) -> None:
    # Gamma(K a) / (Gamma(K a) + Gamma(w)) is Beta(K a, w); scipy.stats inverts it another way.
    found = share_bounds(np.full(clusters, 6.0), np.full(clusters, 6.0), LEVELS)
    for (low, high), level in zip(found, LEVELS, strict=True):
        shape = clusters * shape_of_cluster(clusters, level)
        assert low == pytest.approx(stats.beta(shape, PSEUDO_WEIGHT).ppf(1 - level), rel=1e-9)
        assert high == 1


def test_clusters_of_nothing_and_all_are_a_beta_variable_too() -> None:
    # Of 20 equal clusters 17 hold only ones: the rest and the pseudo-cluster add up to one gamma.
    sums = np.repeat([6.0, 0.0], [17, 3])
    for (low, high), level in zip(
        share_bounds(sums, np.full(20, 6.0), LEVELS), LEVELS, strict=True
    ):
        shape = shape_of_cluster(20, level)
        ones, zeros = 17 * shape, 3 * shape
        assert low == pytest.approx(
            stats.beta(ones, zeros + PSEUDO_WEIGHT).ppf(1 - level), abs=1e-7
        )
        assert high == pytest.approx(stats.beta(ones + PSEUDO_WEIGHT, zeros).ppf(level), abs=1e-7)


@pytest.mark.parametrize("clusters", [2, 7, 40, 400])
def test_clusters_of_one_unit_have_clopper_and_pearsons_interval(clusters: int) -> None:
    # scipy inverts the binomial's tails; ours is the saddle point's integral, right to 1e-6.
    for ones in {0, 1, clusters // 2, clusters - 1, clusters}:
        sums = np.repeat([1.0, 0.0], [ones, clusters - ones])
        found = share_bounds(sums, np.ones(clusters), LEVELS)
        for bounds, level in zip(found, LEVELS, strict=True):
            exact = stats.binomtest(ones, clusters).proportion_ci(2 * level - 1, "exact")
            assert bounds == pytest.approx((exact.low, exact.high), abs=1e-6)


@pytest.mark.parametrize("bar", [0.5, 0.73, 0.9, 0.97])
def test_at_the_bar_a_judge_of_one_unit_a_cluster_clears_it_in_5_percent(bar: float) -> None:
    # Exact: the binomial chances of the numbers whose lower bound reaches the bar.
    for clusters in (20, 40, 59, 100, 400):
        ones = np.arange(clusters + 1)
        counts = np.stack([clusters - ones, ones], axis=1)
        clears = chances_above(bar, [0.0, 1.0], [1.0, 1.0], counts, 0.95) >= 0.95
        assert stats.binom(clusters, bar).pmf(ones)[clears].sum() <= 0.05


def test_between_one_and_more_units_a_cluster_nothing_jumps() -> None:
    # 40 clusters with an error in one; of the others 0 to 39 have a second unit, right as well. The
    # bound grows from Clopper and Pearson's 0.8868, and no unit more is worth a tenth of an error,
    # which is worth 0.9278 - 0.8868.
    bounds = []
    for more in range(40):
        sizes = np.repeat([2.0, 1.0], [more, 40 - more])
        sums = sizes.copy()
        sums[-1] = 0
        bounds.append(share_bounds(sums, sizes, (0.95,))[0][0])
    steps = np.diff(bounds)
    assert bounds[0] == pytest.approx(0.8868, abs=1e-4)
    assert (steps > 0).all()
    assert steps.max() < (0.9278 - 0.8868) / 10


@pytest.mark.parametrize(("clusters", "rate"), [(3, 0.5), (12, 0.9), (40, 0.97), (80, 0.6)])
def test_any_clusters_agree_with_drawn_weights(clusters: int, rate: float) -> None:
    # 200,000 draws of the definition. The chance that a draw of R lies above the bound is the
    # level but for sqrt(.05 * .95 / 200,000) = 0.0005; four of those are allowed.
    rng = np.random.default_rng(clusters)
    sizes = rng.integers(1, 16, clusters).astype(float)
    sums = rng.binomial(sizes.astype(int), rate).astype(float)
    for (low, high), level in zip(share_bounds(sums, sizes, LEVELS), LEVELS, strict=True):
        weights = rng.gamma(shape_of_cluster(clusters, level), size=(200_000, clusters))
        unseen = rng.gamma(PSEUDO_WEIGHT, size=200_000) * (sizes @ sizes / sizes.sum())
        whole = weights @ sizes + unseen
        assert np.mean(weights @ sums / whole > low) == pytest.approx(level, abs=0.002)
        assert np.mean((weights @ sums + unseen) / whole < high) == pytest.approx(level, abs=0.002)


@pytest.mark.parametrize("share", [0, 1])
def test_clusters_of_many_sizes_may_hold_nothing_but_one_answer(share: int) -> None:
    # R is 0, or one minus the share of the pseudo-cluster; 200,000 draws as above.
    sizes = np.array([1.0, 4, 4, 6, 9, 12])
    ((low, high),) = share_bounds(share * sizes, sizes, (0.95,))
    rng = np.random.default_rng(6)
    weights = rng.gamma(shape_of_cluster(6, 0.95), size=(200_000, 6)) @ sizes
    unseen = rng.gamma(PSEUDO_WEIGHT, size=200_000) * (sizes @ sizes / sizes.sum())
    outer, inner = (low, 1 - high) if share == 0 else (1 - high, low)
    assert outer == 0
    seen = weights / (weights + unseen)
    assert np.mean(seen > inner) == pytest.approx(0.95, abs=0.002)


@pytest.mark.parametrize("sums", [[1.0, 0], [2, 1], [2, 0], [1, 1], [5, 4]])
def test_two_clusters_have_bounds_too(sums: list[float]) -> None:
    # Their shape is (1.96 / 12.7)^2 / 2 = 0.012: the bounds are next to 0 and 1.
    for low, high in share_bounds(np.array(sums), np.array([5.0, 4.0]), LEVELS):
        assert 0 <= low <= sum(sums) / 9 <= high <= 1


def test_a_share_of_0_is_cleared_by_what_counts_at_all() -> None:
    chances = chances_above(0.0, [0.0, 2.0], [5.0, 5.0], [[10, 0], [9, 1], [0, 10]], 0.95)
    # 0 where nothing counts; Gamma(shape) of one cluster in ten is as good as never 0.
    assert chances == pytest.approx([0, 1, 1], abs=1e-6)


def test_the_chance_above_a_bound_is_its_level() -> None:
    sums, sizes = np.array([0.0, 7.0, 9.0, 10.0]), np.full(4, 10.0)
    counts = np.array([[1, 2, 3, 30], [0, 0, 6, 30], [2, 0, 0, 34]])
    for row in counts:
        ((low, _),) = share_bounds(np.repeat(sums, row), np.repeat(sizes, row), (0.95,))
        chances = chances_above(low, sums, sizes, counts, 0.95)
        at = counts.tolist().index(row.tolist())
        assert chances[at] == pytest.approx(0.95, abs=1e-6)


def test_what_is_not_seen_is_as_large_as_the_cluster_of_a_unit_drawn_by_chance() -> None:
    # Sizes 1, 1, 1, 5: (1 + 1 + 1 + 25) / 8 = 3.5, not 2; of two such recordings, by counts.
    assert unseen_size(np.array([1.0, 1, 1, 5])) == 3.5
    assert unseen_size(np.array([1.0, 5]), np.array([[3, 1], [0, 2]])).tolist() == [3.5, 5]
    # Of two kinds, the parts of the same cluster: sizes 1, 3, of which (1, 0) and (1, 2).
    assert unseen_parts(np.array([[1.0, 0], [1, 2]])).tolist() == [1.0, 1.5]
    # All of them right: R is W / (W + G(.55) 3.5), W = sum of g_c m_c. With the mean size the
    # bound would be higher.
    ((low, _),) = share_bounds(np.array([1.0, 1, 1, 5]), np.array([1.0, 1, 1, 5]), (0.95,))
    rng = np.random.default_rng(3)
    seen = rng.gamma(shape_of_cluster(4, 0.95), size=(400_000, 4)) @ [1, 1, 1, 5]
    unseen = rng.gamma(PSEUDO_WEIGHT, size=400_000)
    assert np.mean(seen / (seen + 3.5 * unseen) > low) == pytest.approx(0.95, abs=0.002)
    assert np.mean(seen / (seen + 2 * unseen) > low) > 0.96


def test_a_judge_at_its_bar_on_clusters_by_zipfs_law_clears_it_as_often_as_on_equal_ones() -> None:
    # 60 clusters of 1 to 30 units, most of one and two, each right or wrong as a whole. With a
    # pseudo-cluster of the mean size such a judge cleared its bar of 0.9 in 16%.
    rng, sizes = np.random.default_rng(60), np.arange(1, 31)
    drawn = rng.choice(sizes, (1000, 60), p=sizes**-1.8 / (sizes**-1.8).sum())
    right = drawn * (rng.random(drawn.shape) < 0.9)
    clears = chances_above(0.9, right, drawn, np.ones(drawn.shape), 0.95) >= 0.95
    assert clears.mean() <= 0.09


def test_replicates_add_no_weight() -> None:
    # 22 items that are right, asked twice in the same words: Clopper and Pearson's bound of 22 of
    # 22, .05^(1/22) = 0.8727, as asked once. Two wordings have Beta(22 a, .55): 0.9024.
    twice = np.full(22, 2.0)
    ((low, _),) = share_bounds(twice, twice, (0.95,), each=1.0)
    assert low == pytest.approx(0.05 ** (1 / 22), abs=1e-6)
    ((low, _),) = share_bounds(twice, twice, (0.95,))
    assert low == pytest.approx(0.9024, abs=1e-4)
    # One wrong reply of the 44 lowers the bound: the design decides what a replicate is.
    sums = twice.copy()
    sums[0] = 1
    assert share_bounds(sums, twice, (0.95,), each=1.0)[0][0] < 0.05 ** (1 / 22)


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_a_unit_that_comes_to_count_lowers_no_bound(data: st.DataObject) -> None:
    clusters = data.draw(st.integers(2, 30))
    sizes = np.array(data.draw(st.lists(st.integers(1, 12), min_size=clusters, max_size=clusters)))
    sums = np.array([data.draw(st.integers(0, size)) for size in sizes.tolist()])
    room = np.flatnonzero(sums < sizes)
    if not room.size:
        return
    better = sums.copy()
    better[data.draw(st.sampled_from(room.tolist()))] += 1
    before = share_bounds(sums.astype(float), sizes.astype(float), LEVELS)
    after = share_bounds(better.astype(float), sizes.astype(float), LEVELS)
    for (low, high), (low_after, high_after) in zip(before, after, strict=True):
        assert low_after >= low - 1e-7
        assert high_after >= high - 1e-7


@given(st.lists(st.integers(0, 8), min_size=2, max_size=20))
def test_the_complement_has_the_complements_bounds(sums: list[int]) -> None:
    ones, sizes = np.array(sums, dtype=float), np.full(len(sums), 8.0)
    for (low, high), (low_too, high_too) in zip(
        share_bounds(ones, sizes, LEVELS), share_bounds(sizes - ones, sizes, LEVELS), strict=True
    ):
        assert (1 - high_too, 1 - low_too) == pytest.approx((low, high), abs=1e-9)
        assert 0 <= low <= ones.sum() / sizes.sum() <= high <= 1


def test_drawn_weights_are_the_same_at_every_call() -> None:
    weights, pseudo = drawn_weights(7, 0.95, (0.5, 0.25))
    drawn_weights.cache_clear()
    again, pseudo_again = drawn_weights(7, 0.95, (0.5, 0.25))
    assert (weights == again).all()
    assert (pseudo == pseudo_again).all()
    # Means of 2,000 gamma draws: the shape, with a standard error of sqrt(shape / 2,000).
    shape = shape_of_cluster(7, 0.95)
    assert weights.mean() == pytest.approx(shape, abs=4 * (shape / 14_000) ** 0.5)
    assert pseudo.mean(axis=0) == pytest.approx([0.5, 0.25], abs=4 * (0.5 / 2000) ** 0.5)


def test_the_quadrature_has_converged() -> None:
    # A step of half the size and a range of twice the length change nothing that is printed.
    rng = np.random.default_rng(3)
    sizes = np.full(24, 12.0)
    sums = rng.binomial(12, 0.9, 24).astype(float)
    dirichlet._bounds.cache_clear()
    coarse = share_bounds(sums, sizes, LEVELS)
    dirichlet._bounds.cache_clear()
    step = dirichlet._STEP
    try:
        dirichlet._STEP = step / 2  # type: ignore[misc]
        fine = share_bounds(sums, sizes, LEVELS)
    finally:
        dirichlet._STEP = step  # type: ignore[misc]
        dirichlet._bounds.cache_clear()
    assert np.array(coarse) == pytest.approx(np.array(fine), abs=1e-6)


def test_so_few_clusters_are_weighted_one_by_one_and_more_in_groups_of_one_size() -> None:
    # 4,000,000 numbers are held at once, 500 draws at least: 8,000 clusters.
    codes = np.arange(8000)
    assert grouped(codes, 8000) is codes
    assert (drawn_units(8000), drawn_units(8001)) == (8000, 2000)
    groups = grouped(np.arange(20_000), 20_000)
    assert np.bincount(groups).tolist() == [10] * 2000
    # Neighbours by name may be alike: no group is a run of them.
    assert np.abs(np.diff(np.sort(groups.argsort(kind="stable").reshape(2000, 10)))).mean() > 1000


def test_groups_of_many_clusters_bound_a_share_as_the_clusters_do() -> None:
    # The bounds by `share_bounds` are exact. Groups estimate the standard deviation to
    # 1 / sqrt(2 * 2000) = 0.016 of it, times z(.95) = 1.645: 0.026; the quantile of 2,000 draws has
    # sqrt(.05 * .95 / 2000) / phi(1.645) = 0.0047: together 0.054 of it, of which four are allowed.
    # The names are in two runs of different rates, which groups of neighbours would not survive.
    rng = np.random.default_rng(5)
    clusters, level = 20_000, 0.95
    sizes = rng.integers(1, 6, clusters).astype(float)
    sums = rng.binomial(sizes.astype(int), np.repeat([0.95, 0.7], clusters // 2)).astype(float)
    ((low, high),) = share_bounds(sums, sizes, (level,))
    units, groups = drawn_units(clusters), grouped(np.arange(clusters), clusters)
    weights, pseudo = drawn_weights(units, level, (PSEUDO_WEIGHT,))
    right, of = (weights @ np.bincount(groups, weights=one) for one in (sums, sizes))
    whole = of + pseudo[:, 0] * sizes.mean()
    deviation = (high - low) / 2 / 1.645
    found = np.quantile(right / whole, 1 - level), 1 - np.quantile((of - right) / whole, 1 - level)
    assert found == pytest.approx((low, high), abs=4 * 0.054 * deviation)
