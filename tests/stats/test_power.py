"""Chances of not passing, against exact probabilities and the interval that the checks use."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom, binom, t

from pytest_judgesense.stats import power
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.correlation import cautious_n, cautious_numbers

FLOOR = power.Bar(0.9, floor=True)
CEILING = power.Bar(0.1, floor=False)
SIZES = [5] * 40


def units(totals: list[int], sizes: list[int]) -> tuple[list[float], list[int]]:
    values = [
        value
        for total, size in zip(totals, sizes, strict=True)
        for value in [1.0] * total + [0.0] * (size - total)
    ]
    return values, [cluster for cluster, size in enumerate(sizes) for _ in range(size)]


def test_independent_units_of_a_known_share_miss_as_the_binomial_says() -> None:
    # 40 clusters of one unit, truth 0.9, floor 0.85: fewer than 34 of 40. 4,000 draws.
    exact = float(binom.cdf(33, 40, 0.9))
    bar = power.Bar(0.85, floor=True)
    found = power.chance_on_new_items(power.known(0.9, 0.3), [1] * 40, bar)
    assert found == pytest.approx(exact, abs=5 * math.sqrt(exact * (1 - exact) / 4000))


def test_correlated_units_miss_as_the_beta_binomial_says() -> None:
    # One cluster of 20, mean 0.8, rho 0.25: alpha + beta = (1 - rho) / rho = 3; below 14 of 20.
    exact = float(betabinom.cdf(13, 20, 0.8 * 3, 0.2 * 3))
    bar = power.Bar(0.7, floor=True)
    found = power.chance_on_new_items(power.known(0.8, 0.25), [20], bar)
    assert found == pytest.approx(exact, abs=5 * math.sqrt(exact * (1 - exact) / 4000))


def test_a_ceiling_is_a_floor_seen_from_the_other_side() -> None:
    for bar, mirrored in (
        (FLOOR, CEILING),
        (power.Bar(0.9, True, True), power.Bar(0.1, False, True)),
    ):
        high = power.chance_on_new_items(power.posterior([5] * 38 + [3, 4], SIZES), SIZES, bar)
        low = power.chance_on_new_items(power.posterior([0] * 38 + [2, 1], SIZES), SIZES, mirrored)
        # The same up to the draws: two of 4,000.
        assert high == pytest.approx(low, abs=0.04)


def test_no_flip_seen_is_not_none_to_come() -> None:
    perfect = power.posterior([1] * 10, [1] * 10)
    # Jeffreys' posterior beta(10.5, 0.5): mean 10.5 / 11.
    assert perfect.mean == pytest.approx(10.5 / 11, abs=0.002)
    # All of ten new ones: 1 - P(0 flips of 10 | beta-binomial(10, 0.5, 10.5)).
    exact = 1 - float(betabinom.pmf(0, 10, 0.5, 10.5))
    bar = power.Bar(1.0, floor=True)
    found = power.chance_on_new_items(perfect, [1] * 10, bar)
    assert found == pytest.approx(exact, abs=5 * math.sqrt(exact * (1 - exact) / 4000) + 0.002)


def test_the_posterior_finds_share_and_correlation_of_many_clusters() -> None:
    # 2,000 clusters of 5 at mean 0.8, rho 0.2: a sharp posterior. rho lies on a grid whose step
    # at 0.2 is about 2 sqrt(0.2) / 24 = 0.04.
    draw = np.random.default_rng(0)
    totals = draw.binomial(5, draw.beta(0.8 * 4, 0.2 * 4, 2000))
    found = power.posterior(totals, [5] * 2000)
    assert found.mean == pytest.approx(0.8, abs=0.02)
    assert float(found.weights @ found.rho) == pytest.approx(0.2, abs=0.04)


@pytest.mark.parametrize("hits", [150, 186, 199, 200])
def test_the_confident_bound_is_that_of_the_checks(hits: int) -> None:
    """The bar at the bound itself passes, and just beyond it does not."""
    totals = [5] * (hits // 5) + ([hits % 5] if hits % 5 else [])
    totals += [0] * (40 - len(totals))
    interval = clustered_proportion(*units(totals, SIZES))
    assert interval is not None
    for bar, passes in ((interval.lower_bound - 1e-6, True), (interval.lower_bound + 1e-6, False)):
        row = np.array([totals], dtype=float)
        missed = power._missed(row, SIZES, power.Bar(bar, floor=True, confident=True))
        assert missed[0] == (not passes)


def test_missing_replies_beyond_5_percent_count_at_their_worst() -> None:
    row = np.array([[5.0] * 40])
    # 10% missing, all read right: at the worst 0.9 of all. A floor of 0.9 holds, 0.91 does not.
    assert not power._missed(row, SIZES, power.Bar(0.9, floor=True, missing=0.1))[0]
    assert power._missed(row, SIZES, power.Bar(0.91, floor=True, missing=0.1))[0]
    assert not power._missed(row, SIZES, power.Bar(0.91, floor=True, missing=0.05))[0]


def test_asked_again_moves_by_what_the_replicates_differ() -> None:
    # 20 clusters of one unit, two replicates that differ in four, two each way: share
    # (2 * 14 + 4) / 40 = 0.8. Each differing cluster has a sum of squares of 0.5, so
    # V = 2 * 4 * 0.5 / 40^2 = 0.0025, s = sqrt(2 V) = sqrt(0.005); 4 degrees of freedom.
    # Below a floor of 0.75 in whole units of 1/40: less than 0.7375.
    totals = [[1, 1]] * 14 + [[0, 0]] * 2 + [[1, 0], [0, 1]] * 2
    sizes = [[1, 1]] * 20
    found = power.chance_asked_again(totals, sizes, power.Bar(0.75, floor=True))
    assert found == pytest.approx(float(t.cdf((0.7375 - 0.8) / math.sqrt(0.005), 4)), abs=1e-3)


def test_replicates_that_all_agree_may_still_differ_next_time() -> None:
    # Ten clusters, two replicates alike, 9 of 10: at the bar. One of 20 cells that moves breaks
    # it: 1 - P(0 of 20 | beta-binomial(20, 1/2, 10 + 1/2)).
    totals = [[1, 1]] * 9 + [[0, 0]]
    found = power.chance_asked_again(totals, [[1, 1]] * 10, FLOOR)
    assert found == pytest.approx(1 - float(betabinom.pmf(0, 20, 0.5, 10.5)), abs=1e-9)


def test_items_that_differ_do_not_count_when_they_are_asked_again() -> None:
    # Half of the clusters always 1, half always 0: new items scatter, the same items do not.
    totals = [1] * 20 + [0] * 20
    bar = power.Bar(0.45, floor=True)
    again = power.chance_asked_again([[s, s] for s in totals], [[1, 1]] * 40, bar)
    anew = power.chance_on_new_items(power.posterior(totals, [1] * 40), [1] * 40, bar)
    assert again < 0.05 < 0.2 < anew


def test_one_replicate_says_nothing_of_asking_again() -> None:
    with pytest.raises(ValueError, match="2 or more"):
        power.chance_asked_again([[1], [0]], [[1], [1]], FLOOR)


def test_the_smallest_drop_is_stopped_in_80_percent() -> None:
    # 100 independent units, floor 0.9 (at least 90): P(X <= 89 | n = 100, p) = 0.8 at p = 0.8658
    # (binom.cdf(89, 100, 0.8658) = 0.8000). From 0.95: a drop of 0.0842.
    assert float(binom.cdf(89, 100, 0.8658)) == pytest.approx(0.8, abs=0.002)
    found = power.smallest_drop(power.known(0.95, 0.1), 0.95, [1] * 100, FLOOR)
    # 2,000 draws: 0.009 in power, over a slope of 8.7 a unit of share.
    assert found == pytest.approx(0.0842, abs=0.006)


def test_a_judge_below_the_bar_needs_no_drop() -> None:
    assert power.smallest_drop(power.known(0.5, 0.1), 0.5, SIZES, FLOOR) == 0.0


def test_a_bar_that_nothing_breaks_stops_no_drop() -> None:
    assert (
        power.smallest_drop(power.known(0.5, 0.1), 0.5, SIZES, power.Bar(0.0, floor=True)) is None
    )


def test_the_clusters_that_a_drop_needs_hold_both_rates() -> None:
    # Independent units, 0.95 today, 0.85 after the drop, floor 0.9: the first n from which both
    # P(X < 0.9 n | 0.95) <= 0.05 and P(X < 0.9 n | 0.85) >= 0.8 hold, by the binomial. Found from
    # 400 draws, whose error of 0.01 in the first is worth a quarter of n.
    def holds(n: int) -> bool:
        below = math.ceil(0.9 * n - 1e-9) - 1
        return bool(binom.cdf(below, n, 0.95) <= 0.05 and binom.cdf(below, n, 0.85) >= 0.8)

    exact = max(n for n in range(2, 400) if not holds(n)) + 1
    found = power.clusters_for_drop(power.known(0.95, 0.1), 0.95, 1, FLOOR, 0.1)
    assert found is not None
    assert abs(found - exact) <= 0.25 * exact


def test_a_drop_that_stays_within_the_bar_is_never_stopped() -> None:
    assert power.clusters_for_drop(power.known(0.99, 0.1), 0.99, 1, FLOOR, 0.02) is None
    assert power.allowed(0.97, FLOOR)
    assert not power.allowed(0.89, FLOOR)
    side = power.Bar(0.1, floor=False, folded=True)
    assert power.allowed(0.1, side)
    assert not power.allowed(0.11, side)


def test_a_number_that_is_no_share_has_students_chance() -> None:
    # Estimate 0.8, lower bound 0.7 over 21 clusters: se = 0.1 / t(20, 0.95); bar 0.65.
    error = 0.1 / float(t.ppf(0.95, 20))
    expected = float(t.cdf(-0.15 / (math.sqrt(2) * error), 20))
    bar = power.Bar(0.65, floor=True)
    assert power.chance_of_number(0.8, 0.7, 21, bar) == pytest.approx(expected)
    # Confident: the bound itself must clear, and lies 0.05 above the bar.
    confident = power.Bar(0.65, floor=True, confident=True)
    expected = float(t.cdf(-0.05 / (math.sqrt(2) * error), 20))
    assert power.chance_of_number(0.8, 0.7, 21, confident) == pytest.approx(expected)


@given(st.lists(st.integers(0, 4), min_size=2, max_size=12), st.floats(0, 1), st.booleans())
def test_chances_are_chances_and_a_stricter_bar_is_missed_more(
    totals: list[int], bar: float, confident: bool
) -> None:
    sizes = [4] * len(totals)
    found = power.posterior(totals, sizes)
    assert found.weights.sum() == pytest.approx(1)
    rows = [
        power.chance_on_new_items(found, sizes, power.Bar(value, True, confident), draws=200)
        for value in (bar / 2, bar)
    ]
    assert 0 <= rows[0] <= rows[1] <= 1


@given(st.permutations(range(6)))
def test_the_order_of_the_clusters_does_not_matter(order: list[int]) -> None:
    totals, sizes = np.array([1, 2, 3, 0, 4, 2]), np.array([4, 4, 3, 2, 5, 2])
    plain, moved = power.posterior(totals, sizes), power.posterior(totals[order], sizes[order])
    assert moved.weights == pytest.approx(plain.weights, rel=1e-9)


def test_totals_beyond_their_size_are_refused() -> None:
    with pytest.raises(ValueError, match="each total"):
        power.posterior([3], [2])


def test_the_cautious_numbers_of_many_recordings_are_those_of_each() -> None:
    draw = np.random.default_rng(3)
    sizes = np.array([2.0] * 6 + [5.0] * 9)
    totals = draw.binomial(sizes.astype(int), 0.8, size=(20, 15)).astype(float)
    found = cautious_numbers(totals, sizes)
    assert found == pytest.approx([cautious_n(row, sizes) for row in totals])
