"""Whether the order of sessions matters, and whether the last of them rank below all before."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu

from pytest_judgesense.stats.night_order import (
    BLOCKS,
    CONFIRMED,
    EARLIER,
    LEVEL,
    LOOKS,
    OrderFound,
    _p_of,
    block_p,
    deciding_block,
    drawn_ranks,
    order_of,
)


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


def test_a_block_below_all_before_has_the_chance_of_one_choice() -> None:
    # The last two of ten below the eight before: one of comb(10, 2) = 45 choices; a block of
    # three or more holds better sessions. The first block ends with the seventh session.
    shares = [0.90, 0.91, 0.92, 0.93, 0.94, 0.95, 0.96, 0.97, 0.5, 0.4]
    p = block_p(shares)
    assert p[9] == pytest.approx(1 / comb(10, 2))
    assert (p[: EARLIER + 1] == 1).all()
    assert deciding_block(shares, 9) == 2


def test_one_session_however_bad_confirms_nothing() -> None:
    rng = np.random.default_rng(3)
    shares = np.sort(rng.random(40))[::1] * 0.01 + 0.9
    shares[20] = 0.0
    # Better ones before and after it: no block of rising sessions is below those before.
    assert (block_p(shares) > CONFIRMED).all()


def test_a_lasting_loss_is_confirmed_after_enough_sessions() -> None:
    # Of 20 and 3 sessions the three last: 1 / comb(23, 3) = 1/1771; four: 1 / 10626 < .0002.
    shares = np.r_[np.linspace(0.90, 0.95, 20), 0.8, 0.79, 0.78, 0.77]
    p = block_p(shares)
    assert p[22] == pytest.approx(1 / comb(23, 3))
    assert p[23] == pytest.approx(1 / comb(24, 4))
    assert p[22] > CONFIRMED > p[23]
    assert deciding_block(shares, 23) == 4


def test_random_orders_are_confirmed_in_a_twentieth_of_hundreds() -> None:
    p = block_p(np.random.default_rng(9).random((600, 100)))
    # .047 was found in 60,000; three standard errors of 600 are .026.
    assert (p <= CONFIRMED).any(axis=-1).mean() == pytest.approx(0.047, abs=0.026)


def test_later_sessions_change_no_p_value_and_equal_ones_are_drawn() -> None:
    shares = np.round(np.random.default_rng(1).random(30), 1)
    assert block_p(shares)[:20] == pytest.approx(block_p(shares[:20]))
    assert block_p(shares, first=12)[12:] == pytest.approx(block_p(shares)[12:])
    seeds = {tuple(drawn_ranks([0.5] * 4, seed)) for seed in range(40)}
    assert len(seeds) > 10
    assert all(sorted(ranks) == [0, 1, 2, 3] for ranks in seeds)


@given(st.lists(st.floats(0, 1), min_size=8, max_size=15), st.floats(0, 1))
def test_a_better_last_session_never_lowers_its_p_value(history: list[float], other: float) -> None:
    low, high = sorted((history[-1], other))
    worse, better = (block_p([*history[:-1], last])[-1] for last in (low, high))
    assert worse <= better + 1e-12


@pytest.mark.parametrize("block", BLOCKS)
def test_blocks_have_the_p_values_of_scipy(block: int) -> None:
    rng = np.random.default_rng(block)
    for earlier in (5, 6, 13, 40):
        late_and_before = np.argsort(rng.random((20, earlier + block)), axis=-1)
        late_and_before[0] = np.arange(earlier + block)[::-1]  # the block below all
        late_and_before[1] = np.arange(earlier + block)  # above all
        late, before = late_and_before[:, -block:], late_and_before[:, :-block]
        of_scipy = mannwhitneyu(late, before, alternative="less", axis=-1, method="exact").pvalue
        assert _p_of(late_and_before, block) == pytest.approx(of_scipy, rel=1e-12)
        assert _p_of(late_and_before, block)[1] == 1
