"""Differences of two measurements: bounds, swaps, jackknife, MOVER and Holm."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from pytest_judgesense.stats.clustered import clustered_mean
from pytest_judgesense.stats.comparison import (
    Adjusted,
    ClusteredShare,
    folded_difference,
    holm,
    jackknife_difference,
    paired_difference,
    unpaired_difference,
)


def test_the_bounds_are_those_of_the_differences_as_shares() -> None:
    values = np.array([1, 0, -1, -1, 0, 0, -1, 0])
    found, share = paired_difference(values, range(8)), clustered_mean(values, range(8), (-1, 1))
    assert found is not None
    assert share is not None
    assert (found.better, found.worse, found.value) == (1, 3, -2 / 8)
    assert found.ends(0.95) == pytest.approx((share.lower, share.upper), abs=1e-6)
    assert found.lower(0.05) == pytest.approx(share.lower_bound, abs=1e-6)


@pytest.mark.parametrize(("items", "calls", "bound"), [(20, 1, 0.139), (20, 5, 0.108)])
def test_nothing_that_changed_is_no_proof_of_equality(items: int, calls: int, bound: float) -> None:
    # One call: 1 - .05^(1/20) of the items may have been lost unseen. Several: Beta(20 a, .55).
    found = paired_difference(np.zeros(items * calls), np.repeat(np.arange(items), calls))
    assert found is not None
    assert (-found.lower(0.05), found.upper(0.05)) == pytest.approx((bound, bound), abs=5e-4)
    assert min(found.p_worse, found.p_better) >= 0.5


def test_items_lost_as_a_whole_are_not_called_unchanged() -> None:
    # Each of 20 items of 5 calls is lost with probability .05 or .1, that is the margin. By Tango's
    # bound of clusters, or where nothing had changed, 37 of 100 of them passed at .05.
    rng = np.random.default_rng(20)
    for margin in (0.05, 0.1):
        lost = rng.random((400, 20)) < margin
        passed = [
            of.lower(0.05) > -margin
            for row in lost
            if (of := paired_difference(np.repeat(-1.0 * row, 5), np.repeat(np.arange(20), 5)))
        ]
        assert len(passed) == 400
        assert np.mean(passed) <= 0.05


def test_clusters_that_clear_a_margin_are_counted_by_the_bound() -> None:
    # 1 - .05^(1/K) < .1 from 29 on; so many more clusters without a change are enough.
    found = paired_difference(np.zeros(12), range(12))
    assert found is not None
    assert found.clusters_to_clear(-0.1, 0.05) == 29
    assert found.clusters_to_clear(0, 0.05) is None


def test_units_that_repeat_one_another_count_as_one() -> None:
    alone = [-1, -1, -1, 0, 0, 0, 0, 0, 0, 1]
    once = paired_difference(alone, range(10))
    fivefold = paired_difference(np.repeat(alone, 5), np.repeat(range(10), 5))
    assert once is not None
    assert fivefold is not None
    assert fivefold.value == once.value
    for (low, high), (low_of_once, high_of_once) in [(fivefold.ends(0.95), once.ends(0.95))]:
        assert (low, high) == pytest.approx((low_of_once, high_of_once), abs=0.05)
    # Treated as 50 independent units it would be a loss of p = 0.02; of four coins three or four
    # fall for the worse in 5 of 16.
    assert binom.cdf(5, 20, 0.5) < 0.05
    assert fivefold.p_worse == 5 / 16


def test_clusters_are_the_units_and_not_their_names() -> None:
    values = [-1, 0, 0, -1, 1, 0]
    first = paired_difference(values, ["a", "a", "b", "b", "c", "c"])
    renamed = paired_difference(values, [9, 9, 4, 4, 7, 7])
    assert first is not None
    assert renamed is not None
    assert first.ends(0.9) == renamed.ends(0.9)


def test_one_cluster_says_nothing() -> None:
    assert paired_difference([0, -1, 1], ["a", "a", "a"]) is None


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9))
def test_the_probability_of_swaps_is_that_of_all_sign_patterns(totals: list[int]) -> None:
    # Each cluster: three units, of which |total| changed, all in one direction.
    values = [math.copysign(1, t) if k < abs(t) else 0 for t in totals for k in range(3)]
    clusters = [c for c in range(len(totals)) for _ in range(3)]
    found = paired_difference([*values, 0], [*clusters, "one more"])
    assert found is not None
    sums = [
        sum(s * t for s, t in zip(signs, totals, strict=True))
        for signs in itertools.product((-1, 1), repeat=len(totals))
    ]
    assert found.p_worse == pytest.approx(np.mean([s <= sum(totals) for s in sums]))
    assert found.p_better == pytest.approx(np.mean([s >= sum(totals) for s in sums]))


@pytest.mark.parametrize("changed", range(1, 11))
def test_a_judge_compared_with_itself_is_worse_in_5_percent_of_swaps_at_most(changed: int) -> None:
    # Given which clusters differ, all patterns of signs are equally likely for one judge asked
    # twice. All of them, of 40 clusters of five with `changed` that differ by one unit each:
    called = []
    for signs in itertools.product((-1, 1), repeat=changed):
        values = np.zeros((40, 5))
        values[:changed, 0] = signs
        found = paired_difference(values.ravel(), np.repeat(np.arange(40), 5))
        assert found is not None
        called.append(found.p_worse <= 0.05)
    assert sum(called) / 2**changed <= 0.05
    # It is no gate that never fires: five of five for the worse have the probability 1/32.
    assert any(called) == (changed >= 5)


def alone(better: int, worse: int) -> float:
    found = paired_difference([1] * better + [-1] * worse + [0, 0], range(better + worse + 2))
    assert found is not None
    return found.p_worse


@given(st.integers(0, 40), st.integers(0, 40))
def test_one_call_an_item_has_the_greater_of_mid_p_and_the_score(better: int, worse: int) -> None:
    # Fagerland, Lydersen and Laake (2013), equation 3: the sign test with half of what was seen.
    both = better + worse
    middle = binom.cdf(better, both, 0.5) - binom.pmf(better, both, 0.5) / 2
    score = norm.cdf((better - worse) / math.sqrt(both)) if both else 0.5
    assert alone(better, worse) == pytest.approx(max(middle, score))


def test_one_call_an_item_keeps_its_level_where_chance_flips() -> None:
    # Of K items, each flipped by a coin at most, m differ with the binomial probability; given m,
    # so many for the worse are rejected. At m = 12 alone it would be 0.073.
    rejects = [
        sum(binom.pmf(w, m, 0.5) for w in range(m + 1) if alone(m - w, w) <= 0.05)
        for m in range(41)
    ]
    assert rejects[12] == pytest.approx(299 / 2**12)
    for flips, clusters in itertools.product((0.1, 0.3, 0.5), range(2, 41)):
        differ = binom.pmf(range(clusters + 1), clusters, flips)
        assert differ @ rejects[: clusters + 1] <= 0.0503


def test_mid_p_finds_what_the_exact_sign_test_does_not() -> None:
    # 9 of 12 for the worse: exact 299/4096 = 0.073, mid-P 0.046, score z = 6/sqrt(12): 0.042.
    assert binom.cdf(3, 12, 0.5) == pytest.approx(0.073, abs=1e-3)
    assert alone(3, 9) == pytest.approx((1 + 12 + 66 + 220 / 2) / 2**12)


def test_the_score_alone_would_call_three_chance_flips_a_regression() -> None:
    found = paired_difference([-1, -1, -1, *[0] * 37], range(40))
    assert found is not None
    # z = -3 / sqrt(3) = -1.73, beyond -1.645, but three coins fall alike once in eight: half of it.
    assert found.p_worse == 1 / 16


def test_the_p_value_of_many_flips_is_the_larger_of_two() -> None:
    found = paired_difference([-1] * 12 + [1] * 2 + [0] * 36, range(50))
    assert found is not None
    # z = (2 - 12) / sqrt(14) = -2.673, normal p 0.00376; mid-P is less: (1 + 14 + 91/2) / 2^14.
    assert found.p_worse == pytest.approx(0.00376, abs=1e-5)
    # Error of the mean -.2: squares add up to 14 - 50 * .04 = 12, over 49 * 50; z(.95) + z(.8) are
    # 2.4865: 50 * .0048980 / .04 * 6.18264 + 1.6449^2 / 2 = 39.2, and never fewer than there were.
    assert found.error**2 == pytest.approx(12 / 49 / 50)
    assert found.clusters_to_reject(0.05) == 51
    few = paired_difference([-1] * 3 + [0] * 17, range(20))
    assert few is not None
    # Squares 3 - 20 * .0225 = 2.55, over 19 * 20: 20 * .0067105 / .0225 * 6.18264 + 1.353 = 38.2.
    assert few.clusters_to_reject(0.05) == 39


@given(st.lists(st.integers(-2, 2), min_size=2, max_size=12), st.booleans())
def test_what_is_worse_one_way_is_better_the_other(totals: list[int], single: bool) -> None:
    values = [np.sign(t) for t in totals] if single else np.repeat(np.array(totals) / 2, 2)
    clusters = range(len(totals)) if single else np.repeat(range(len(totals)), 2)
    found, mirror = (paired_difference(sign * np.array(values), clusters) for sign in (1, -1))
    assert found is not None
    assert mirror is not None
    assert (found.p_worse, found.p_better) == pytest.approx((mirror.p_better, mirror.p_worse))


def test_many_clusters_take_the_normal_limit_of_the_swaps() -> None:
    found = paired_difference([-1] * 300 + [1] * 240, range(540))
    assert found is not None
    # Exact: P(at most 240 of 540 coins) = 0.0056; the limit is near it.
    assert found.p_worse == pytest.approx(0.0056, abs=0.001)


def test_the_jackknife_of_a_mean_that_lost_nothing_is_student() -> None:
    values = np.array([0.3, 0.1, 0.2, 0.4])
    left_out = [(values.sum() - v) / 3 for v in values]
    found = jackknife_difference(float(values.mean()), left_out, [True] * 4)
    assert found is not None
    # Standard error s / sqrt(4) of the four; t(3, 0.975) = 3.18245.
    reach = 3.182446 * values.std(ddof=1) / 2
    assert found.ends(0.95)[0] == pytest.approx(0.25 - reach, abs=1e-6)


def test_pseudo_values_are_shares_of_the_most_that_a_cluster_may_move() -> None:
    # Nothing moved on 59 clusters that may move it by 2: each holds half of what it may, and the
    # bound of that share is half the least that all of them show, 0.05^(1/59) = 0.9505.
    still = jackknife_difference(0.0, [0.0] * 59, [False] * 59, reach=2.0)
    assert still is not None
    assert still.lower(0.05) == pytest.approx(2 * (0.05 ** (1 / 59) - 1), abs=1e-6)
    assert still.lower(0.05) > -0.1
    fewer = jackknife_difference(0.0, [0.0] * 58, [False] * 58, reach=2.0)
    assert fewer is not None
    assert fewer.lower(0.05) < -0.1


def test_the_bound_of_pseudo_values_of_a_mean_is_that_of_the_paired_difference() -> None:
    # Of 30 units, one a cluster, 4 lost and 1 gained: a unit may move the mean by 1.
    values = np.array([-1.0] * 4 + [1.0] + [0.0] * 25)
    left_out = [(values.sum() - value) / 29 for value in values]
    found = jackknife_difference(float(values.mean()), left_out, values != 0, reach=1.0)
    paired = paired_difference(values, range(30))
    assert found is not None
    assert paired is not None
    assert found.ends(0.9) == pytest.approx(paired.ends(0.9), abs=1e-3)


def halves(*slots: tuple[int, int]) -> ClusteredShare:
    """The share of the first slot: of each pair how many of its two calls name it, and how many
    pairs are so."""
    counts = np.array([count for count, pairs in slots for _ in range(pairs)], dtype=np.float64)
    return ClusteredShare(counts, np.full(counts.size, 2.0))


def test_a_share_that_moves_away_from_one_half_is_worse_on_either_side() -> None:
    fair = halves((1, 40))
    for leaning in (halves((2, 20), (1, 20)), halves((0, 20), (1, 20))):
        found = folded_difference(fair, leaning)
        assert found is not None
        # 20 of 40 pairs moved by half a call: 0.25; 2^-20 by swaps, on both sides.
        assert found.value == pytest.approx(-0.25)
        assert found.p_worse == pytest.approx(2 * 2**-20)
        assert found.p_better == 1
        assert found.upper(0.05) < 0


def test_a_share_that_changes_its_side_is_no_gain_and_no_loss() -> None:
    found = folded_difference(halves((2, 8), (1, 32)), halves((0, 8), (1, 32)))
    assert found is not None
    # 0.1 above one half before, 0.1 below now: all 8 pairs moved by a whole pair, the size did not.
    assert found.value == pytest.approx(0)
    assert min(found.p_worse, found.p_better) > 0.05
    assert found.lower(0.05) < 0 < found.upper(0.05)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=3, max_size=30),
)
def test_the_names_of_the_slots_do_not_matter(slots: list[tuple[int, int]]) -> None:
    old, new = (
        ClusteredShare(np.array(side, dtype=float), np.full(len(side), 2.0))
        for side in zip(*slots, strict=True)
    )
    found, mirrored = folded_difference(old, new), folded_difference(old.mirrored, new.mirrored)
    assert found is not None
    assert mirrored is not None
    assert found.value == pytest.approx(mirrored.value, abs=1e-9)
    assert found.ends(0.9) == pytest.approx(mirrored.ends(0.9), abs=1e-5)
    assert (found.p_worse, found.p_better) == pytest.approx((mirrored.p_worse, mirrored.p_better))


# Of the calls so many take the first slot whatever stands there; nine of ten others are right.
@pytest.mark.parametrize(("taken", "wanted"), [(0.0, 0.9), (0.2, 0.8)])
def test_an_unchanged_bias_is_unchanged_on_60_pairs_and_hardly_ever_better(
    taken: float, wanted: float
) -> None:
    rng, runs = np.random.default_rng(5), 200
    first, second = (taken + (1 - taken) * right for right in (0.9, 0.1))
    unchanged = better = worse = 0
    for _ in range(runs):
        sides = (rng.binomial(3, first, 60) + rng.binomial(3, second, 60) for _ in "ab")
        old, new = (ClusteredShare(side.astype(float), np.full(60, 6.0)) for side in sides)
        found = folded_difference(old, new)
        assert found is not None
        better, worse = better + (found.p_better <= 0.05), worse + (found.p_worse <= 0.05)
        unchanged += found.lower(0.05) > -0.1
    most = 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
    assert max(better, worse) <= most * runs
    assert unchanged >= wanted * runs


@given(
    st.lists(st.integers(-3, 3), min_size=3, max_size=40),
    st.integers(1, 5),
)
def test_the_bounds_that_are_shown_hold_0_exactly_where_no_test_rejects(
    totals: list[int], tests: int
) -> None:
    values = [np.sign(total) if place < abs(total) else 0 for total in totals for place in range(3)]
    found = paired_difference(values, np.repeat(np.arange(len(totals)), 3))
    assert found is not None
    # As Holm's first step has it in a family of so many.
    worse, better = (
        Adjusted(min(1.0, tests * p), 0.05 / tests) for p in (found.p_worse, found.p_better)
    )
    low, high = found.decided(worse, better)
    assert low <= found.value <= high
    assert (high < 0) == (worse.p <= 0.05)
    assert (low > 0) == (better.p <= 0.05)


def test_the_jackknife_needs_a_spread_a_value_and_two_clusters() -> None:
    assert jackknife_difference(0.1, [0.1, 0.1, 0.1], [True] * 3) is None
    assert jackknife_difference(0.1, [0.1, math.nan, 0.2], [True] * 3) is None
    assert jackknife_difference(0.1, [0.1], [True]) is None


def test_a_jackknife_of_few_changed_clusters_is_held_back_by_chance() -> None:
    found = jackknife_difference(-0.2, [-0.2, -0.21, -0.19, -0.2], [True] * 3 + [False])
    assert found is not None
    # All three that changed made it worse; to turn the fourth round changes nothing. Two-sided.
    assert found.p_worse == 2 / 8


def test_the_jackknife_of_a_mean_has_twice_the_p_value_of_the_mean() -> None:
    # Of a mean over clusters of one size the pseudo-values are the means of the clusters.
    values = np.random.default_rng(3).integers(-1, 2, (12, 4))
    values[4] = 0
    means = values.mean(axis=1)
    left_out = [(means.sum() - one) / 11 for one in means]
    found = jackknife_difference(float(means.mean()), left_out, means != 0)
    paired = paired_difference(values.ravel(), np.repeat(np.arange(12), 4))
    assert found is not None
    assert paired is not None
    doubled = min(1, 2 * paired.p_worse), min(1, 2 * paired.p_better)
    assert (found.p_worse, found.p_better) == pytest.approx(doubled)


def test_mover_with_wilson_intervals_is_newcombes() -> None:
    new, old = (56, 70), (48, 80)
    ends = [proportion_confint(*counts, method="wilson") for counts in (old, new)]
    found = unpaired_difference((48 / 80, ends[0]), (56 / 70, ends[1]), clusters=70)
    assert found is not None
    expected = confint_proportions_2indep(*new, *old, method="newcomb", compare="diff")
    assert found.ends(0.95) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("old", "new"), [(0.6, 0.5), (0.5, 0.6)])
def test_the_p_value_of_mover_is_where_its_end_reaches_0(old: float, new: float) -> None:
    sides = [(value, (value - 0.1, value + 0.05)) for value in (old, new)]
    found = unpaired_difference(sides[0], sides[1], clusters=20)
    assert found is not None
    end = found.upper(found.p_worse) if new < old else found.lower(found.p_better)
    assert end == pytest.approx(0, abs=1e-9)
    assert found.p_worse + found.p_better == pytest.approx(1)


def test_mover_of_intervals_without_width_knows_nothing() -> None:
    assert unpaired_difference((0.5, (0.5, 0.5)), (0.4, (0.4, 0.4)), clusters=20) is None


def test_mover_needs_two_clusters() -> None:
    assert unpaired_difference((0.5, (0.4, 0.6)), (0.5, (0.4, 0.6)), clusters=1) is None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_that_of_statsmodels_and_its_levels_say_the_same(p_values: list[float]) -> None:
    rejected, adjusted, *_ = multipletests(p_values, alpha=0.05, method="holm")
    found = holm(p_values)
    assert [one.p for one in found] == pytest.approx(list(adjusted))
    for p, one, says in zip(p_values, found, rejected, strict=True):
        assert (one.p <= 0.05) == says
        # The bound at this level lies beyond 0 exactly if the raw p-value is at most the level.
        assert (p <= one.alpha) == says


def test_what_does_not_fit_together_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"within \[-1\.0, 1\.0\], found values from -1\.5"):
        paired_difference([0, -1.5, 1], "abc")


# --- real units ---


def test_real_units_have_the_swaps_of_their_totals() -> None:
    found = paired_difference([0.1, 0.2, -0.05, 0.15], ["a", "b", "c", "d"])
    assert found is not None
    assert (found.value, found.n, found.better, found.worse) == (pytest.approx(0.1), 4, 3, 1)
    # Of 16 patterns of signs two have a sum of .4 or more (all up, or .05 alone down).
    assert found.p_better == pytest.approx(2 / 16)
    assert found.p_worse == pytest.approx(15 / 16)


def test_real_units_of_one_cluster_are_swapped_together() -> None:
    apart = paired_difference([0.1, 0.1, 0.12, 0.1], ["a", "b", "c", "d"])
    together = paired_difference([0.1, 0.1, 0.12, 0.1], ["a", "a", "b", "b"])
    assert apart is not None
    assert together is not None
    # All 4 up, and both clusters up.
    assert (apart.p_better, together.p_better) == (pytest.approx(1 / 16), pytest.approx(1 / 4))


def test_over_several_cases_the_farthest_bounds_and_largest_p_values_count() -> None:
    gain = paired_difference([0.2] * 20 + [0.0] * 20, range(40))
    loss = paired_difference([-0.1] * 10 + [0.0] * 30, range(40))
    assert gain is not None
    assert loss is not None
    both = gain.over([loss])
    assert both.value == gain.value
    assert both.ends(0.9) == (loss.ends(0.9)[0], gain.ends(0.9)[1])
    # Neither a loss nor a gain is shown where another case shows the opposite.
    assert (both.p_worse, both.p_better) == (gain.p_worse, loss.p_better)
    assert min(both.p_worse, both.p_better) > 0.5
    assert gain.over([]).ends(0.9) == gain.ends(0.9)
