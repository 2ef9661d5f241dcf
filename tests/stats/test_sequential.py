"""Early stopping: worked numbers, and what holds for any clusters."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.sequential import (
    adjusted,
    any_look_tail,
    asked_by,
    asked_together,
    clears,
    drawn_order,
    look_tails,
    looks_of,
    misses,
    reaches,
    stops_on_bounds,
    stops_on_estimate,
    wealth,
)

QUARTERS = (0.25, 0.5, 0.75, 1.0)
NEVER = 1e-200  # no bet on so few clusters wins that much: what decides is curtailment


def test_wealth_by_hand() -> None:
    """Four clusters of one unit, bar 1/2, two right answers: two bets at their limit.

    First: mean 0, room 1/2, bet .95 / .5 = 1.9, wealth 1 + 1.9 * .5 = 1.95. Then the rest must
    sum to -1/2: mean -1/6, room 1/3, bet 2.85, factor 1 + 2.85 (1/2 + 1/6) = 2.9.
    """
    found = wealth([0.5, 0.5], [-0.5] * 4, [0.5] * 4, 0.01)
    assert np.exp(found) == pytest.approx([1.95, 1.95 * 2.9])


def test_a_bet_is_bounded_by_the_spread_of_the_scores() -> None:
    """The same with a bar of .01: the limit lies far off, and the spread decides.

    Variance .4 * .01 * .99, bet 1.6 sqrt(2 log 100 / 4) / sqrt(.00396).
    """
    bet = 1.6 * math.sqrt(2 * math.log(100) / 4) / math.sqrt(0.4 * 0.01 * 0.99)
    found = wealth([0.02], [-0.01] * 4, [0.99] * 4, 0.01)
    assert bet < 0.95 / 0.01
    assert np.exp(found) == pytest.approx([1 + bet * 0.02])


@pytest.mark.parametrize(
    ("right", "bar", "said"),
    [
        # 5 of 10 reach a half, whatever follows; 6 wrong ones of 10 miss it.
        (10, 0.5, (5, "clears")),
        (0, 0.5, (6, "misses")),
        # One wrong answer of 10 is a share of .9: it clears .9, and two miss it.
        (0, 0.9, (2, "misses")),
    ],
)
def test_curtailment_by_hand(right: int, bar: float, said: tuple[int, str]) -> None:
    values = np.array([1.0] * right + [0.0] * (10 - right))
    found = {f.__name__: f(values - bar, np.ones(10), bar, NEVER) for f in (clears, misses)}
    when, word = said
    assert int(found.pop(word).argmax()) + 1 == when
    assert not any(other.any() for other in found.values())


def test_a_share_that_is_the_bar_clears_it_and_does_not_miss_it() -> None:
    scores = np.array([1.0] * 9 + [0.0]) - 0.9
    assert clears(scores, np.ones(10), 0.9, NEVER)[-1]
    assert not misses(scores, np.ones(10), 0.9, NEVER)[-1]


@st.composite
def runs(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, float]:
    """What counts in clusters of unequal sizes, the sizes, and a bar."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=12))
    sums = [draw(st.integers(0, size)) for size in sizes]
    return np.array(sums), np.array(sizes), draw(st.sampled_from((0.1, 0.3, 0.5, 0.8, 0.9, 1.0)))


@given(runs())
def test_curtailment_never_disagrees_with_the_full_run(
    run: tuple[np.ndarray, np.ndarray, float],
) -> None:
    sums, sizes, bar = run
    full = sums.sum() >= bar * sizes.sum() - 1e-9
    scores = sums - bar * sizes
    passes, fails = clears(scores, sizes, bar, NEVER), misses(scores, sizes, bar, NEVER)
    assert not (fails if full else passes).any()
    # At its end every run is decided, and a decision is never taken back.
    assert passes[-1] == full
    assert fails[-1] != full
    assert (np.diff(passes.astype(int)) >= 0).all()
    assert (np.diff(fails.astype(int)) >= 0).all()


@given(runs(), st.integers(0, 11))
def test_a_unit_more_that_counts_never_turns_a_certain_pass(
    run: tuple[np.ndarray, np.ndarray, float], at: int
) -> None:
    sums, sizes, bar = run
    better = sums.copy()
    better[at % sums.size] = sizes[at % sums.size]
    was, now = (clears(s - bar * sizes, sizes, bar, NEVER) for s in (sums, better))
    assert (now >= was).all()


@pytest.mark.parametrize("bar", [0.4, 0.5, 0.75])
def test_over_all_orders_betting_errs_no_more_often_than_its_level(bar: float) -> None:
    """Every order of seven clusters, 5,040 of them: the share that errs is exact, not estimated."""
    orders = np.array(list(permutations(range(7))))
    for right in range(8):
        scores = (np.arange(7) < right) - bar
        say = misses if scores.sum() >= 0 else clears
        assert say(scores[orders], np.ones(7), bar, 0.2).any(axis=1).mean() <= 0.2


@pytest.mark.parametrize("bar", [0.4, 0.75])
def test_so_it_does_where_clusters_are_of_unequal_sizes(bar: float) -> None:
    sizes = np.array([1, 1, 2, 2, 4])
    orders = [list(order) for order in permutations(range(5))]
    for right in range(32):
        scores = sizes * (np.array([(right >> bit) & 1 for bit in range(5)]) - bar)
        say = misses if scores.sum() >= -1e-9 else clears
        wrong = [say(scores[order], sizes[order], bar, 0.2).any() for order in orders]
        assert np.mean(wrong) <= 0.2


def test_tails_are_those_of_lan_and_demets() -> None:
    """O'Brien-Fleming and Pocock spending of .025 at four even looks: the normal quantiles that
    gsDesign 3.6 (sfLDOF, sfLDPocock; k = 4, test.type = 1) prints, to the digits it prints.
    """

    def obrien_fleming(t: float, tail: float) -> float:
        return 2 * float(ndtr(ndtri(tail / 2) / math.sqrt(t)))

    def pocock(t: float, tail: float) -> float:
        return tail * math.log1p((math.e - 1) * t)

    for spending, quantiles in ((obrien_fleming, (4.33, 2.96, 2.36)), (pocock, (2.37, 2.37, 2.36))):
        tails = look_tails(QUARTERS, 0.025, 1.0, spending)
        assert [-float(ndtri(t)) for t in tails[:3]] == pytest.approx(quantiles, abs=0.005)


def test_the_first_look_spends_what_hwang_shih_and_decani_say() -> None:
    """Half of .05, times (e^.75 - 1) / (e^3 - 1) = 1.117000 / 19.085537: .0014632."""
    assert look_tails(QUARTERS, 0.05)[0] == pytest.approx(0.0014632, rel=1e-4)


def test_the_last_look_is_the_fixed_design() -> None:
    assert look_tails(QUARTERS, 0.05)[-1] == 0.05
    assert look_tails((1.0,), 0.05) == (0.05,)
    interval = clustered_proportion([1, 1, 0, 1, 1, 1], [1, 1, 2, 2, 3, 3])
    assert interval is not None
    assert adjusted(interval, (0.5, 1.0)) is interval
    assert adjusted(interval, (0.5, 1.0), every=True) is interval


def test_looks_leave_out_so_little_more_than_the_fixed_design() -> None:
    """What all four looks leave, by a million Brownian motions; standard errors .0002, .00016."""
    rng = np.random.default_rng(0)
    steps = rng.normal(size=(1_000_000, 4), scale=0.5)
    z = np.cumsum(steps, axis=1) / np.sqrt(QUARTERS)
    for tail, total, error in ((0.05, 0.0524, 0.0007), (0.025, 0.0264, 0.0005)):
        bounds = -ndtri(look_tails(QUARTERS, tail))
        assert (z > bounds).any(axis=1).mean() == pytest.approx(total, abs=error)


def test_looks_ascend() -> None:
    with pytest.raises(ValueError, match="ascending"):
        look_tails((0.5, 0.5), 0.05)
    with pytest.raises(ValueError, match="ascending"):
        look_tails((0.5, 1.5), 0.05)


def test_with_a_look_after_every_cluster_the_boundary_is_crossed_in_the_tail() -> None:
    """By reflection a Brownian motion passes z(1 - a/2) before 1 with probability a: at t the tail
    is that of z(1 - a/2) / sqrt(t); at 1/4 that is 2 * 1.95996."""
    assert any_look_tail(0.25, 0.05) == pytest.approx(4.43e-5, rel=0.01)
    assert any_look_tail(1.0, 0.05) == pytest.approx(0.025)


def test_an_adjusted_interval_is_read_off_further_out() -> None:
    values, clusters = [1, 1, 1, 0] * 10, [k for k in range(10) for _ in range(4)]
    interval = clustered_proportion(values, clusters)
    assert interval is not None
    assert interval.at is not None
    found = adjusted(interval, (0.25, 0.5))
    assert found is not None
    below, _ = interval.at(1 - look_tails((0.25, 0.5), 0.05)[-1])
    assert found.lower_bound == below
    assert found.lower < interval.lower < interval.upper < found.upper
    assert found.method == f"repeated-{interval.method}"


def test_strata_come_evenly_and_the_seed_decides() -> None:
    strata = [k % 4 == 0 for k in range(80)]  # 20 of one, 60 of the other
    order = drawn_order(strata, 7)
    assert sorted(order) == list(range(80))
    held = np.cumsum([strata[at] for at in order])
    assert (np.abs(held - np.arange(1, 81) / 4) <= 2).all()
    assert drawn_order(strata, 7) == order != drawn_order(strata, 8)


def test_looks_are_fixed_by_the_plan() -> None:
    assert looks_of(40, every=False) == (10, 20, 30, 40)
    assert looks_of(3, every=False) == (1, 2, 3)
    assert looks_of(5, every=True) == (1, 2, 3, 4, 5)


def test_what_is_asked_together_is_fixed_by_the_plan() -> None:
    # Eight calls in one cluster; one call each: a twentieth of 60 clusters, and eight of 400.
    assert asked_together(5, 40) == 1
    assert asked_together(60, 60) == 3
    assert asked_together(400, 400) == 8
    assert asked_by([1, 8, 9, 399], 8, 400).tolist() == [8, 8, 16, 400]
    assert asked_by([59, 60], 3, 60).tolist() == [60, 60]
    assert asked_by([61], 3, 61).tolist() == [61]


def test_a_run_without_a_decision_ends_with_the_verdict_of_the_full_run() -> None:
    sums = np.array([[1, 0] * 10, [0, 1] * 10])
    asked, passed = stops_on_estimate(sums, 1, 0.5, range(1, 21))
    assert (asked >= 19).all()
    assert passed.all()


def test_stops_on_bounds_says_what_the_interval_of_the_gate_says() -> None:
    rng = np.random.default_rng(3)
    sums = rng.binomial(4, rng.choice((0.1, 0.8, 0.99), size=(12, 1)), size=(12, 24))
    looks = looks_of(24, every=False)
    asked, passed = stops_on_bounds(sums, 4, 0.7, looks)
    assert len(set(asked.tolist())) > 1
    for row, at, said in zip(sums, asked, passed, strict=True):
        values = (np.arange(4) < row[:at, None]).astype(float).ravel()
        interval = clustered_proportion(values, np.repeat(np.arange(at), 4))
        assert interval is not None
        found = adjusted(interval, tuple(look / 24 for look in looks if look <= at))
        assert found is not None
        assert (found.lower_bound >= 0.7) == said
        assert said or found.upper_bound < 0.7 or at == 24


def test_no_bound_is_known_of_one_cluster() -> None:
    assert not reaches(np.array([[4]]), 4, 0.1, 0.05).any()
