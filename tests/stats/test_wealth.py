"""The wealth that three processes share: worked numbers, and how often it calls what is so."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pytest_judgesense.stats.wealth import (
    MOST_LOST,
    WealthAlarm,
    first_step,
    log_growth,
    log_wealth,
    mixed,
)


def test_a_step_multiplies_by_one_and_the_bet_on_its_outcome() -> None:
    # 1 + .5 * 1 = 1.5; 1 - .5 * 1 = .5; a bet against an outcome of -1: 1 + .25 = 1.25.
    factors = np.exp(log_growth([0.5, 0.5, -0.25], [1.0, -1.0, -1.0]))
    assert factors == pytest.approx([1.5, 0.5, 1.25])


def test_no_step_takes_more_than_95_of_100() -> None:
    assert MOST_LOST == 0.95
    assert np.exp(log_growth(2.0, -1.0)) == pytest.approx(0.05)


def test_the_wealth_is_the_product_of_all_steps() -> None:
    # 1.5, then 1.5 * .5 = .75, then .75 * 1.5 = 1.125, for each run of a table.
    wealth = np.exp(log_wealth(0.5, [[1.0, -1.0, 1.0], [-1.0, 1.0, 1.0]]))
    assert wealth == pytest.approx(np.array([[1.5, 0.75, 1.125], [0.5, 0.75, 1.125]]))


def test_a_stake_is_spread_evenly_over_bettors() -> None:
    # Of two bettors with 1 and 3, and 2 and 6: the means.
    assert mixed(np.array([[1.0, 2.0], [3.0, 6.0]])) == pytest.approx([2.0, 4.0])


def test_an_alarm_is_a_wealth_of_one_over_the_level() -> None:
    alarm = WealthAlarm(1 / 20)
    assert alarm.wealth == 20
    assert alarm.reached([19.999, 20.0]).tolist() == [False, True]
    assert alarm.reached_by_log(np.log([19.999, 20.001])).tolist() == [False, True]


def test_rounding_may_be_missing() -> None:
    almost = 20 * (1 - 1e-13)
    assert not WealthAlarm(1 / 20).reached(almost)
    assert WealthAlarm(1 / 20, rounding=1e-12).reached(almost)
    assert WealthAlarm(1 / 20, rounding=1e-12).reached_by_log(np.log(almost))


def test_the_first_step_that_calls() -> None:
    assert first_step(np.array([False, True, False, True])) == 1
    assert first_step(np.array([False, False])) is None
    assert first_step(np.array([], dtype=np.bool_)) is None


@pytest.mark.parametrize("level", [0.5, 0.25, 0.1])
def test_a_fair_coin_is_called_unfair_no_more_often_than_the_level(level: float) -> None:
    """Ville's inequality, over all 4,096 series of twelve fair tosses, looked at after each."""
    tosses = np.array(list(product([-1.0, 1.0], repeat=12)))
    wealth = mixed(np.exp(np.stack([log_wealth(bet, tosses) for bet in (0.3, 0.6, 0.9)])))
    assert wealth.mean(axis=0) == pytest.approx(np.ones(12))
    called = WealthAlarm(level).reached(wealth).any(axis=-1).mean()
    # That it is called at all shows that the bound is put to the test: all heads give
    # (1.3^12 + 1.6^12 + 1.9^12) / 3 = 838.
    assert 0 < called <= level
