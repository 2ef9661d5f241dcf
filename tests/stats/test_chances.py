"""Chances of not passing, against exact probabilities and the interval that the checks use."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom, binom, norm, t

from pytest_judgesense.stats import chances
from pytest_judgesense.stats.chances import ClusterCounts, ShareBar
from pytest_judgesense.stats.clustered import clustered_proportion

FLOOR = ShareBar(0.9)
SIZES = [5] * 40


def interval_of(totals: list[int], size: int):  # type: ignore[no-untyped-def]
    values = [float(unit < total) for total in totals for unit in range(size)]
    found = clustered_proportion(values, [c for c in range(len(totals)) for _ in range(size)])
    assert found is not None
    return found


def recording(totals: list[int], size: int) -> ClusterCounts:
    return ClusterCounts(
        np.array(totals, dtype=float), np.full(len(totals), float(size)), np.ones((1, len(totals)))
    )


def test_totals_are_beta_binomial() -> None:
    # scipy's, with alpha + beta = (1 - rho) / rho = 3; and binomial where units are independent.
    assert chances.beta_binomial(0.8, 0.25, 6) == pytest.approx(
        betabinom.pmf(range(7), 6, 0.8 * 3, 0.2 * 3)
    )
    assert chances.beta_binomial(0.8, 0.0, 6) == pytest.approx(
        binom.pmf(range(7), 6, 0.8), abs=1e-5
    )
    # Wholly alike: all or none. A truth of 1 knows no exception.
    assert chances.beta_binomial(0.8, 1.0, 3) == pytest.approx([0.2, 0, 0, 0.8], abs=1e-6)
    assert chances.beta_binomial(1.0, 0.3, 3).tolist() == [0, 0, 0, 1]


def test_independent_units_of_a_known_share_miss_as_the_binomial_says() -> None:
    # 40 clusters of one unit, truth 0.9, floor 0.85: fewer than 34 of 40. 4,000 draws.
    exact = float(binom.cdf(33, 40, 0.9))
    found = chances.chance_at(ShareBar(0.85), 0.9, 0.3, [1] * 40, draws=4000)
    assert found == pytest.approx(exact, abs=5 * math.sqrt(exact * (1 - exact) / 4000))


def test_clusters_of_several_sizes_miss_as_their_sum_does() -> None:
    # Totals of 2 and of 5 units, both of mean 0.8 and rho 0.25; fewer than 5 of 7, by convolution.
    both = np.convolve(chances.beta_binomial(0.8, 0.25, 2), chances.beta_binomial(0.8, 0.25, 5))
    exact = float(both[:5].sum())
    found = chances.chance_at(ShareBar(5 / 7), 0.8, 0.25, [5, 2], draws=4000)
    assert found == pytest.approx(exact, abs=5 * math.sqrt(exact * (1 - exact) / 4000))


@pytest.mark.parametrize("totals", [[5] * 30 + [0] * 10, [5] * 37 + [1, 3, 4], [5] * 40])
def test_the_confident_bound_is_that_of_the_checks(totals: list[int]) -> None:
    """The bar at the bound itself passes, and just beyond it does not."""
    bound = interval_of(totals, 5).lower_bound
    for bar, passes in ((bound - 1e-5, True), (bound + 1e-5, False)):
        assert chances.missed(ShareBar(bar, confident=True), recording(totals, 5))[0] == (
            not passes
        )


@pytest.mark.parametrize("totals", [[5, 5, 5, 4, 3, 0, 2] * 6, [3, 0, 1, 1] * 10])
def test_a_folded_gate_is_the_greater_distance_of_the_bounds_from_one_half(
    totals: list[int],
) -> None:
    found = interval_of(totals, 5)
    farthest = max(abs(found.lower_bound - 0.5), abs(found.upper_bound - 0.5))
    for bar, passes in ((farthest + 1e-5, True), (farthest - 1e-5, False)):
        gate = ShareBar(bar, confident=True, folded=True)
        assert chances.missed(gate, recording(totals, 5))[0] == (not passes)
    away = abs(sum(totals) / (5 * len(totals)) - 0.5)
    assert not chances.missed(ShareBar(away, folded=True), recording(totals, 5))[0]
    assert chances.missed(ShareBar(away - 0.01, folded=True), recording(totals, 5))[0]


@pytest.mark.parametrize("level", [0.95, 0.995])
@pytest.mark.parametrize("totals", [[5] * 30 + [0] * 10, [5, 5, 5, 4, 3, 0, 2] * 6])
def test_a_refuting_gate_stops_what_the_upper_bound_of_the_checks_refutes(
    totals: list[int], level: float
) -> None:
    """A bar just above the bound is refuted, one just below it is only missed."""
    found = interval_of(totals, 5)
    assert found.at is not None
    bound = found.at(level)[1]
    assert sum(totals) / (5 * len(totals)) < bound
    for bar, stopped in ((bound + 1e-5, True), (bound - 1e-5, False)):
        gate = ShareBar(bar, refuting=True, level=level)
        assert chances.missed(gate, recording(totals, 5))[0] == stopped


def test_of_recordings_that_all_clear_the_bar_none_is_refuted() -> None:
    assert not chances.missed(ShareBar(0.9, refuting=True), recording([5] * 40, 5)).any()


@pytest.mark.parametrize("turned", [False, True])
def test_a_folded_gate_is_refuted_by_the_nearer_of_the_bounds(turned: bool) -> None:
    totals = [5, 5, 5, 4, 5, 3, 5] * 6
    found = interval_of(totals, 5)
    assert found.at is not None
    nearest = found.at(0.99)[0] - 0.5
    read = recording([5 - t for t in totals] if turned else totals, 5)
    for bar, stopped in ((nearest - 1e-5, True), (nearest + 1e-5, False)):
        gate = ShareBar(bar, refuting=True, folded=True, level=0.99)
        assert chances.missed(gate, read)[0] == stopped


def test_missing_replies_beyond_5_percent_count_at_their_worst() -> None:
    # 10% missing, all read right: at the worst 0.9 of all. A floor of 0.9 holds, 0.91 does not.
    right = recording([5] * 40, 5)
    assert not chances.missed(ShareBar(0.9, missing=0.1), right)[0]
    assert chances.missed(ShareBar(0.91, missing=0.1), right)[0]
    assert not chances.missed(ShareBar(0.91, missing=0.05), right)[0]


def test_the_correlation_is_read_off_the_design_effect() -> None:
    # Kish: D = 1 + (sum m^2 / n - 1) rho; sizes 2 and 4: 20 / 6 - 1 = 7 / 3.
    assert chances.correlation(1 + 0.3 * 7 / 3, [2, 4]) == pytest.approx(0.3)
    assert chances.correlation(5.0, [5, 5]) == 1.0
    assert chances.correlation(0.7, [5, 5]) == 0.0
    assert chances.correlation(1.0, [1, 1]) == 0.0


def test_a_recording_states_how_often_it_misses_with_a_twentieth_of_it_redrawn() -> None:
    # 36 of 40 single units, floor 0.9. Of the 36 hits a part leaves, of the 4 misses a part, each
    # with the chance 1/20; as many come, each a hit with the chance 0.9. Fewer than 36 hits, by
    # summing over all that may leave and come.
    exact = 0.0
    for gone_hits, gone_misses in np.ndindex(37, 5):
        chance = binom.pmf(gone_hits, 36, 0.05) * binom.pmf(gone_misses, 4, 0.05)
        gone = gone_hits + gone_misses
        exact += chance * binom.cdf(gone_hits - 1, gone, 0.9)
    found = chances.chance_on_new_items(FLOOR, [1] * 36 + [0] * 4, [1] * 40, 0.0, (0.78, 0.96))
    assert found.value == pytest.approx(exact, abs=5 * math.sqrt(exact * (1 - exact) / 1000))
    # The ends: judges of 0.78 and 0.96, of whose 40 units fewer than 36 are right.
    for end, share in ((found.upper, 0.78), (found.lower, 0.96)):
        exact = float(binom.cdf(35, 40, share))
        assert end == pytest.approx(exact, abs=5 * math.sqrt(exact * (1 - exact) / 1000))


@pytest.mark.parametrize("share", [0.86, 0.9, 0.94])
def test_the_mean_statement_is_the_chance(share: float) -> None:
    # 40 single units, floor 0.9: each number of hits once, weighted by its probability, so that the
    # mean is exact but for 1,000 draws a statement. `benchmarks/power.py` has clusters and bounds.
    weights = binom.pmf(range(41), 40, share)
    stated = [
        chances.chance_on_new_items(
            FLOOR, [1] * hits + [0] * (40 - hits), [1] * 40, 0.0, (0.5, 1.0), seed=hits
        ).value
        for hits in range(41)
    ]
    assert float(weights @ stated) == pytest.approx(float(binom.cdf(35, 40, share)), abs=0.03)


def test_no_error_seen_is_not_none_to_come() -> None:
    # All right: the statement itself is 0, and its interval reaches to the judge at its lower end.
    low = interval_of([5] * 40, 5).lower
    found = chances.chance_on_new_items(ShareBar(0.97), [5] * 40, SIZES, 1.0, (low, 1.0))
    # Clusters that fall as a whole: more than one of 40 does.
    exact = float(binom.cdf(38, 40, low))
    assert (found.value, found.lower) == (0.0, 0.0)
    assert found.upper == pytest.approx(exact, abs=5 * math.sqrt(exact * (1 - exact) / 1000))


def test_asked_again_moves_by_what_the_replicates_differ() -> None:
    # 20 clusters of one unit, two replicates that differ in four, two each way: share
    # (2 * 14 + 4) / 40 = 0.8. Each differing cluster has a sum of squares of 0.5, so
    # V = 2 * 4 * 0.5 / 40^2 = 0.0025; stated with sqrt(2 V / 20); 4 degrees of freedom at the ends.
    # Below a floor of 0.8 in whole units of 1/40: less than 0.7875.
    totals = [[1, 1]] * 14 + [[0, 0]] * 2 + [[1, 0], [0, 1]] * 2
    found = chances.chance_asked_again(ShareBar(0.8), totals, [[1, 1]] * 20, (0.6, 0.9))
    error = math.sqrt(0.0025)
    assert found.value == pytest.approx(norm.cdf(-0.0125 / (error / math.sqrt(10))), abs=2e-3)
    reach = float(t.ppf(0.975, 4)) * error
    assert found.lower == pytest.approx(norm.cdf((-0.0125 - reach) / error), abs=2e-2)
    assert found.upper == pytest.approx(norm.cdf((-0.0125 + reach) / error), abs=2e-2)


def test_under_confident_the_bounds_move_with_the_share() -> None:
    # As above; a lower bound of 0.7 moves to below a floor of 0.7 when the share moves at all down.
    totals = [[1, 1]] * 14 + [[0, 0]] * 2 + [[1, 0], [0, 1]] * 2
    found = chances.chance_asked_again(
        ShareBar(0.7, confident=True), totals, [[1, 1]] * 20, (0.7, 0.9)
    )
    plain = chances.chance_asked_again(ShareBar(0.8), totals, [[1, 1]] * 20, (0.7, 0.9))
    assert found == plain


def test_replicates_that_all_agree_may_still_differ_next_time() -> None:
    # Ten clusters, two replicates alike, 9 of 10: at the bar. One of 20 cells that moves breaks
    # it, with the chance u of each that ten comparisons leave open: (1 - u)^10 = 0.025.
    totals = [[1, 1]] * 9 + [[0, 0]]
    found = chances.chance_asked_again(FLOOR, totals, [[1, 1]] * 10, (0.7, 1.0))
    assert (found.value, found.lower) == (0.0, 0.0)
    assert found.upper == pytest.approx(1 - 0.025**2)
    # One below: at the most two cells move to where it passes.
    below = chances.chance_asked_again(ShareBar(0.95), totals, [[1, 1]] * 10, (0.7, 1.0))
    assert (below.value, below.upper) == (1.0, 1.0)
    assert below.lower == pytest.approx(0.025**2)


def test_items_that_differ_do_not_count_when_they_are_asked_again() -> None:
    # Half of the clusters always 1, half always 0: new items scatter, the same items do not.
    totals = [1] * 20 + [0] * 20
    found = interval_of(totals, 1)
    ends, bounds = (found.lower, found.upper), (found.lower_bound, found.upper_bound)
    ten = [[s] * 10 for s in totals], [[1] * 10] * 40
    again = chances.chance_asked_again(ShareBar(0.45), *ten, bounds)
    anew = chances.chance_on_new_items(ShareBar(0.45), totals, [1] * 40, 0.0, ends)
    assert again.value <= anew.value
    # 360 comparisons without a difference leave 0.0102 of 400 cells open: 4, and 21 are needed.
    assert again.upper < 1e-6 < 0.5 < anew.upper


def test_one_replicate_says_nothing_of_asking_again() -> None:
    with pytest.raises(ValueError, match="2 or more"):
        chances.chance_asked_again(FLOOR, [[1], [0]], [[1], [1]], (0.0, 1.0))


def test_a_loss_on_whole_clusters_is_the_number_of_clusters_that_fail() -> None:
    # A perfect judge on 40 clusters of 5 at the floor 0.9 fails where 5 or more fail whole:
    # binomial, 40 of 0.16: 1 - P(4 or fewer).
    rate = float(binom.sf(4, 40, 0.16))
    assert chances.chance_after_whole(FLOOR, 1.0, 0.16, 0.3, [5] * 40) == pytest.approx(
        rate, abs=0.05
    )
    # A scattered loss of as much varies less, and so do the two drops that are found in 80%.
    assert chances.chance_at(FLOOR, 0.84, 0.0, [5] * 40) > rate
    whole = chances.smallest_drop(FLOOR, 1.0, 0.3, [5] * 40, whole=True)
    assert whole is not None
    assert float(binom.sf(4, 40, whole)) == pytest.approx(0.8, abs=0.05)
    # Folded: clusters fall to the side to which the judge leans.
    folded = ShareBar(0.1, folded=True)
    assert chances.chance_after_whole(folded, 0.5, 0.3, 0.0, [5] * 40) > 0.9
    assert chances.chance_after_whole(ShareBar(0.0), 0.5, 0.5, 0.1, SIZES) == 0.0


def test_the_smallest_drop_is_stopped_in_80_percent() -> None:
    # 100 independent units, floor 0.9 (at least 90): P(X <= 89 | n = 100, p) = 0.8 at p = 0.8658
    # (binom.cdf(89, 100, 0.8658) = 0.8000). From 0.95: a drop of 0.0842.
    assert float(binom.cdf(89, 100, 0.8658)) == pytest.approx(0.8, abs=0.002)
    found = chances.smallest_drop(FLOOR, 0.95, 0.0, [1] * 100)
    # 1,000 draws: 0.013 in power, over a slope of 8.7 a unit of share.
    assert found == pytest.approx(0.0842, abs=0.006)


def test_a_judge_below_the_bar_needs_no_drop() -> None:
    assert chances.smallest_drop(FLOOR, 0.5, 0.1, SIZES) == 0.0


def test_a_bar_that_nothing_breaks_stops_no_drop() -> None:
    assert chances.smallest_drop(ShareBar(0.0), 0.5, 0.1, SIZES) is None


def test_a_number_that_is_no_share_has_a_normal_chance_and_students_interval() -> None:
    # Estimate 0.8, lower bound 0.7 over 21 clusters: se = 0.1 / t(20, 0.95); bar 0.75.
    error = 0.1 / float(t.ppf(0.95, 20))
    reach = float(t.ppf(0.975, 20)) * error
    found = chances.chance_of_estimate(ShareBar(0.75), 0.8, 0.7, 0.9, 21)
    assert found.value == pytest.approx(norm.cdf(-0.05 / (error / math.sqrt(10))), abs=2e-3)
    assert found.lower == pytest.approx(norm.cdf((-0.05 - reach) / error), abs=2e-3)
    assert found.upper == pytest.approx(norm.cdf((-0.05 + reach) / error), abs=2e-3)
    # Confident: the bound itself must clear, and lies 0.05 above a bar of 0.65.
    assert chances.chance_of_estimate(ShareBar(0.65, confident=True), 0.8, 0.7, 0.9, 21) == found


@given(st.lists(st.integers(0, 4), min_size=2, max_size=12), st.floats(0, 1), st.booleans())
def test_chances_are_chances_and_a_stricter_bar_is_missed_more(
    totals: list[int], bar: float, confident: bool
) -> None:
    sizes = [4] * len(totals)
    rows = [
        chances.chance_on_new_items(ShareBar(value, confident), totals, sizes, 0.2, (0.3, 0.8))
        for value in (bar / 2, bar)
    ]
    for name in ("value", "lower", "upper"):
        assert 0 <= getattr(rows[0], name) <= getattr(rows[1], name) <= 1
    assert rows[0].lower <= rows[0].value <= rows[0].upper


def test_totals_beyond_their_size_are_refused() -> None:
    with pytest.raises(ValueError, match="each total"):
        chances.chance_on_new_items(FLOOR, [3], [2], 0.1, (0.1, 0.9))


@pytest.mark.parametrize("confident", [False, True])
def test_the_order_of_the_clusters_does_not_matter(confident: bool) -> None:
    totals, sizes = np.array([1, 2, 3, 0, 4, 2]), np.array([4, 4, 3, 2, 5, 2])
    order = [3, 0, 5, 1, 4, 2]
    plain, moved = (
        chances.chance_on_new_items(ShareBar(0.6, confident), t, m, 0.2, (0.3, 0.8))
        for t, m in ((totals, sizes), (totals[order], sizes[order]))
    )
    assert plain == moved
