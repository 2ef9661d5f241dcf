"""Whether the order of sessions matters."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_judgesense.stats.night_order import LEVEL, LOOKS, OrderFound, order_of


def season(nights: int) -> NDArray[np.float64]:
    noise = np.random.default_rng(2).normal(0, 0.005, nights)
    return np.asarray(0.85 + 0.05 * np.sin(np.arange(nights) / 5) + noise)


def test_a_season_is_told_at_the_first_look_and_not_before() -> None:
    assert order_of(season(LOOKS[0] - 1)) == OrderFound()
    found = order_of(season(LOOKS[0]))
    # The statistic that was seen is greater than in all 999 orders: 1/1000.
    assert found.neighbours == pytest.approx(0.001)
    assert found.neighbours <= LEVEL
    # What a look has told stands, whatever the next one sees.
    assert order_of(season(60)).neighbours == found.neighbours


def test_a_spread_that_grows_is_told() -> None:
    rng = np.random.default_rng(5)
    calm, wild = rng.normal(0.85, 0.004, 25), rng.normal(0.85, 0.05, 25)
    found = order_of(np.r_[calm, wild])
    assert found.spread == pytest.approx(0.001)


def test_a_loss_that_was_found_is_no_order() -> None:
    rng = np.random.default_rng(6)
    shares = rng.normal(0.9, 0.01, 50) - 0.1 * (np.arange(50) >= 25)
    assert order_of(shares).neighbours == pytest.approx(0.001)
    assert order_of(shares, since=25) == OrderFound()


def test_sessions_in_any_order_are_told_in_a_twentieth() -> None:
    rng = np.random.default_rng(7)
    told = [any(order_of(rng.beta(9, 1, 100), seed=run)) for run in range(200)]
    # .05 and three standard errors of 200, .046.
    assert np.mean(told) <= 0.05 + 0.046


def test_sessions_that_never_differ_have_no_order() -> None:
    assert order_of([1.0] * 100) == OrderFound()
