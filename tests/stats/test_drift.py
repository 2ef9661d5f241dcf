"""The p-values of live sessions, and the wealth of betting on a loss."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pytest_judgesense.stats.drift import (
    BETS,
    WAIT,
    Drift,
    PlannedSessions,
    change_point,
    drift_of,
    overdispersion_p,
    stratified_p,
    student_p,
    wealth,
)

KAPPAS = (0.15, 0.35, 0.6)


def student_cdf_4(t: float) -> float:
    """Student's distribution function with 4 degrees of freedom, in closed form."""
    root = t / math.sqrt(4 + t * t)
    return 0.5 + 0.75 * root - 0.25 * root**3


def test_the_closed_form_has_the_tabled_quantile() -> None:
    # The 95% quantile of 4 degrees of freedom is 2.132 in every table.
    assert student_cdf_4(2.131847) == pytest.approx(0.95, abs=1e-6)


def test_students_p_is_that_of_the_sixth_session_against_the_five_before() -> None:
    # Arcsines .70, .80, .70, .80, .75: mean .75, sum of squares 4 * .05^2, s = .05 of 4 degrees.
    before = [0.70, 0.80, 0.70, 0.80, 0.75]
    now = 0.75 - 2.131847 * 0.05 * math.sqrt(1 + 1 / 5)
    p = student_p(np.sin([*before, now]) ** 2, 1000)
    assert np.isnan(p[:WAIT]).all()
    assert p[WAIT] == pytest.approx(0.05, abs=1e-6)


def test_sessions_without_a_difference_differ_by_seven_tenths_of_a_lost_cluster() -> None:
    # Five perfect sessions of ten clusters, then one without one of them: the difference is one
    # lost cluster, s is sqrt(1/2) of it, so t = -1 / (sqrt(1/2) sqrt(6/5)) = -1.291.
    p = student_p([1.0] * 5 + [0.9], 10)
    assert p[5] == pytest.approx(student_cdf_4(-1 / math.sqrt(0.5 * 1.2)), abs=1e-9)


def test_a_judge_that_is_always_wrong_cannot_become_worse() -> None:
    assert student_p([0.0] * 6, 10)[5] == pytest.approx(0.5)


def test_students_p_is_uniform_where_sessions_are_normal() -> None:
    rng = np.random.default_rng(4)
    p = student_p(np.sin(rng.normal(0.8, 0.05, (4000, 9))) ** 2, 1000)[:, WAIT:]
    for level in (0.05, 0.5, 0.9):
        # Standard error of a share of 4000: at most .008.
        assert (p <= level).mean(axis=0) == pytest.approx([level] * 4, abs=0.03)
    assert abs(np.corrcoef(p[:, 0], p[:, 1])[0, 1]) < 0.06


@pytest.mark.parametrize(("shares", "clusters"), [([0.5, 1.2], 5), ([0.5, -0.1], 5), ([0.5], 1)])
def test_what_is_no_share_of_several_clusters_is_refused(
    shares: list[float], clusters: int
) -> None:
    with pytest.raises(ValueError, match="found"):
        student_p(shares, clusters)


def test_the_stratified_p_draws_each_cluster_from_its_own_totals() -> None:
    # Cluster 1 has 3 and 1, cluster 2 has 2 and 1. Of the four sums 5, 4, 3, 2 the present session
    # has the least: p = u / 4. With a better cluster 2, sum 3, one of four is below: (1 + u) / 4.
    u = np.random.default_rng(0).random(2)[1]
    worse, better = stratified_p([[3, 2], [1, 1]]), stratified_p([[3, 1], [1, 2]])
    assert worse is not None
    assert better is not None
    assert worse[1] == pytest.approx(u / 4)
    assert better[1] == pytest.approx((1 + u) / 4)


def by_enumeration(totals: NDArray[np.float64], seed: int) -> list[float]:
    """The same p-values by all choices of a session for each cluster."""
    u = np.random.default_rng(seed).random(len(totals))
    p = [math.nan]
    for t in range(1, len(totals)):
        pools = [column[: t + 1] for column in totals.T]
        sums = np.array([sum(choice) for choice in product(*pools)])
        now = totals[t].sum()
        below, equal = (sums < now - 1e-9).mean(), (abs(sums - now) < 1e-9).mean()
        p.append(below + u[t] * equal)
    return p


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_the_stratified_p_is_that_of_all_choices(data: st.DataObject) -> None:
    shape = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 3)))
    parts, cell = data.draw(st.sampled_from([1, 2, 3])), st.integers(0, 4)
    totals = np.array([[data.draw(cell) for _ in range(shape[1])] for _ in range(shape[0])]) / parts
    assert stratified_p(totals, 3) == pytest.approx(by_enumeration(totals, 3), nan_ok=True)


def test_a_cluster_with_missing_replies_is_left_out_of_its_session_alone() -> None:
    u = np.random.default_rng(0).random(3)
    p = stratified_p([[3, 2], [math.nan, 1], [1, 2]])
    assert p is not None
    # Session 1: cluster 2 alone, 1 of 2 and 1. Session 2: cluster 1 of {3, 1}, cluster 2 of
    # {2, 1, 2}: sums 5, 4, 5, 3, 2, 3, so 1/6 is below 3 and 2/6 are 3.
    assert p[1:] == pytest.approx([u[1] / 2, (1 + 2 * u[2]) / 6])
    nothing = stratified_p([[3.0], [math.nan]])
    assert nothing is not None
    assert np.isnan(nothing[1])


def test_totals_that_are_no_counts_have_no_stratified_p() -> None:
    assert stratified_p([[0.123], [0.2]]) is None


def by_the_formula(p: list[float]) -> list[float]:
    """The wealth by its sum over all beginnings."""
    wealths = []
    for t in range(len(p)):
        total = 0.0
        for j in range(1, t + 1):
            products = [math.prod(k * q ** (k - 1) for q in p[j : t + 1]) for k in KAPPAS]
            total += sum(products) / 3
        wealths.append(1 - t / 100 + total / 100)
    return wealths


def test_the_wealth_is_the_sum_over_all_beginnings() -> None:
    p = [math.nan, 0.3, 0.02, 0.7, 0.01, 0.004]
    assert wealth(p) == pytest.approx(by_the_formula(p))
    # One bet, at p = .01: .15 * .01^-.85 = 7.518, .35 * .01^-.65 = 6.983, .6 * .01^-.4 = 3.786.
    one = 0.99 + (7.5178 + 6.9834 + 3.7857) / 300
    assert wealth([math.nan, 0.01])[1] == pytest.approx(one, abs=1e-5)


def test_nobody_wins_or_loses_without_a_bet_and_bets_begin_anew_after_a_hundred() -> None:
    assert wealth([math.nan] * 130) == pytest.approx(1.0)
    p = np.full(BETS + 2, 0.5)
    p[0] = math.nan
    p[-1] = 0.01
    assert wealth(p)[-1] == pytest.approx(wealth([math.nan, 0.01])[-1])


def test_an_alarm_stands_and_says_since_when() -> None:
    p = [math.nan, 0.5, 0.6, 0.4, 1e-4, 1e-4, 0.9, 0.9, 0.9]
    shares = [0.9, 0.8, 0.9, 0.9, 0.5, 0.6, 0.9, 0.9, 0.9]
    drift = drift_of(p, shares, confirm=False)
    assert drift.alarm == 5
    assert drift.since == 4
    assert drift.most == pytest.approx(wealth(p)[5])
    assert drift.most >= 20 > drift.wealth
    rich = pytest.approx(wealth([math.nan, 0.5])[1])
    assert drift_of([math.nan, 0.5], [0.9, 0.9], confirm=False) == Drift(rich, rich)
    assert drift_of([], [], confirm=True) == Drift(1.0, 1.0)


def test_an_alarm_that_is_to_be_confirmed_waits_for_ranks() -> None:
    p = np.full(40, 0.5)
    p[0] = math.nan
    p[20] = 1e-9
    rising = np.linspace(0.8, 0.9, 40)
    once = np.where(np.arange(40) == 20, 0.1, rising)
    alone = drift_of(p, once, confirm=True)
    assert alone.unconfirmed
    assert alone.alarm is None
    assert drift_of(p, once, confirm=False).alarm == 20
    # 1 / comb(20 + n, n) is first below .0002 at n = 4: with the sessions 20 to 23.
    usual = np.random.default_rng(3).permuted(rising)
    lost = np.where(np.arange(40) >= 20, 0.1, 1.0) * usual
    drift = drift_of(p, lost, confirm=True)
    assert (drift.alarm, drift.since) == (23, 20)
    assert not drift.unconfirmed


def test_the_block_that_made_an_alarm_is_named() -> None:
    p = np.full(24, 0.5)
    p[0] = math.nan
    p[20:] = 1e-4
    shares = np.r_[np.linspace(0.90, 0.95, 20), 0.8, 0.79, 0.78, 0.77]
    assert drift_of(p, shares, confirm=True).block == 4
    assert drift_of(p, shares, confirm=False).block is None


def test_a_wealth_of_the_first_hundred_is_none_of_the_second() -> None:
    p = np.full(150, 0.5)
    p[0] = math.nan
    p[50] = 1e-9
    # The wealth was enough in the first hundred, and ranks would confirm in the second alone.
    shares = np.where(np.arange(150) >= 120, 0.5, np.linspace(0.8, 0.9, 150))
    assert drift_of(p, shares, confirm=True).alarm is None


def test_a_loss_began_where_one_shift_explains_most() -> None:
    # sin^2 of 1.2, 1.0, 1.2, 0.6, 0.8. By j: 4/5 (.3)^2 = .072 and 6/5 (1.1 - .8667)^2 = .0653
    # before, 6/5 (1.1333 - .7)^2 = .225 at 3, 4/5 (1 - .8)^2 = .032 after it.
    shares = np.sin([1.2, 1.0, 1.2, 0.6, 0.8]) ** 2
    assert change_point(shares, 4) == 3
    # Up to the second session alone, the loss is there; a gain is no beginning of a loss.
    assert change_point(shares, 1) == 1
    assert change_point([0.2, 0.5, 0.9], 2) == 2


def test_an_alarm_of_the_second_hundred_is_dated_there() -> None:
    p = np.full(130, 0.5)
    p[0] = math.nan
    p[120:] = 1e-4
    shares = np.where(p < 0.5, 0.5, 0.9)
    drift = drift_of(p, shares, confirm=False)
    assert (drift.alarm, drift.since) == (121, 120)


def test_endless_losses_are_a_number() -> None:
    rich = wealth([math.nan] + [0.0] * 90)
    assert np.isfinite(rich).all()
    drift = drift_of([math.nan] + [0.0] * 90, [0.9] + [0.1] * 90, confirm=False)
    assert drift.since == 1


shares = st.lists(st.floats(0, 1), min_size=7, max_size=12)


@settings(max_examples=60, deadline=None)
@given(shares, st.floats(0, 1), st.integers(2, 50))
def test_a_better_session_never_raises_the_wealth(
    history: list[float], better: float, clusters: int
) -> None:
    low, high = sorted((history[-1], better))
    rich = [wealth(student_p([*history[:-1], now], clusters))[-1] for now in (low, high)]
    assert rich[1] <= rich[0] * (1 + 1e-9)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_better_cluster_never_raises_the_stratified_wealth(data: st.DataObject) -> None:
    sessions, clusters = data.draw(st.tuples(st.integers(2, 8), st.integers(1, 5)))
    cell = st.integers(0, 5)
    totals = np.array([[data.draw(cell) for _ in range(clusters)] for _ in range(sessions)])
    better = totals.copy()
    better[-1, data.draw(st.integers(0, clusters - 1))] += data.draw(st.integers(1, 3))
    rich = []
    for of in (totals, better):
        p = stratified_p(of)
        assert p is not None
        rich.append(wealth(p)[-1])
    assert rich[1] <= rich[0] * (1 + 1e-9)


def test_overdispersion_is_cochrans_q() -> None:
    # Four clusters in three sessions; column totals 4, 2, 1, row totals 2, 1, 3, 1. Cochran:
    # Q = 2 (3 * 21 - 7^2) / (3 * 7 - 15) = 28 / 6; of 2 degrees of freedom p = exp(-Q / 2).
    answers = [[1, 1, 0], [1, 0, 0], [1, 1, 1], [1, 0, 0]]
    assert overdispersion_p(np.transpose(answers)) == pytest.approx(math.exp(-14 / 6))


def test_a_loss_is_no_difference_between_days() -> None:
    before, since = np.transpose([[1, 1, 0], [1, 0, 0], [1, 1, 1], [1, 0, 0]]), [[0, 0, 0, 0]] * 9
    alike = overdispersion_p(np.vstack([before, since]), 3)
    assert alike == pytest.approx(math.exp(-14 / 6))
    assert overdispersion_p(np.vstack([before, since])) < alike / 5


def test_overdispersion_says_nothing_of_two_sessions_or_of_what_does_not_vary() -> None:
    assert overdispersion_p([[1, 2], [3, 4]]) == 1.0
    assert overdispersion_p([[1, 2]] * 5) == 1.0
    assert overdispersion_p([[1, math.nan], [1, 2], [2, 2]]) == 1.0


def test_days_that_differ_are_seen_and_alike_ones_are_not() -> None:
    few = {spread: PlannedSessions(0.9, 0.3, (5,) * 40, spread) for spread in (0.0, 0.3)}
    seen = {
        spread: np.mean([overdispersion_p(h) <= 0.01 for h in judge.totals(0, 80, 0, 60, 1)])
        for spread, judge in few.items()
    }
    assert seen[0.0] <= 0.1
    assert seen[0.3] >= 0.9


def test_a_planned_share_has_its_mean_its_loss_and_its_correlation() -> None:
    judge = PlannedSessions(0.8, 0.25, (4,) * 50)
    totals = judge.totals(0.2, 3, 3, 400, 2)
    assert totals.shape == (400, 6, 50)
    # Standard error of a mean over 400 x 3 x 50 clusters of four: below .003.
    assert totals[:, :3].mean() / 4 == pytest.approx(0.8, abs=0.01)
    assert totals[:, 3:].mean() / 4 == pytest.approx(0.6, abs=0.01)
    # Two sessions of a cluster share its rate: covariance of totals 16 * .25 * .8 * .2 = .64.
    both = np.cov(totals[:, 0].ravel(), totals[:, 1].ravel())[0, 1]
    assert both == pytest.approx(0.64, abs=0.04)


def test_a_loss_is_found_the_sooner_the_greater_it_is() -> None:
    judge = PlannedSessions(0.9, 0.3, (5,) * 40)
    five, ten = (judge.found_after(loss, 31, 20, 100) for loss in (0.05, 0.1))
    assert ten[50] <= five[50]
    assert ten[95] <= 5
    assert (judge.found_after(0.0, 31, 20, 100) == np.inf).mean() >= 0.95
