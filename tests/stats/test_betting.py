"""Bets on changes: worked numbers, the mean of the wealth over all that may come, monotony."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.stats.betting import (
    ALARM,
    BOLDNESS,
    FEWEST,
    bets_beyond,
    bets_on,
    called_at,
    in_steps,
    wealth,
    wealth_beyond,
)

thirds = st.integers(-3, 3).map(lambda number: number / 3)
series = st.lists(thirds, min_size=1, max_size=12)


def test_wealth_by_hand() -> None:
    """Half the stake over k = .1, .25, .5, .9: a lost unit multiplies by 1 + k, half a gain by
    1 - k / 2.

    First (1.1 + 1.25 + 1.5 + 1.9) / 8, then (1.1 * .95 + 1.25 * .875 + 1.5 * .75 + 1.9 * .55) / 8.
    """
    assert BOLDNESS == (0.1, 0.25, 0.5, 0.9)
    assert wealth([-1, 0.5]) == pytest.approx([5.75 / 8, 4.30875 / 8])
    assert wealth([-1, 0.5], stake=0.5) == pytest.approx([5.75 / 16, 4.30875 / 16])
    # Against a mean of 1 the bets are halved: 1 - k / 2 (c - 1), of -1 that is 1 + k again.
    assert wealth([-1], mean=1.0) == pytest.approx([5.75 / 8])


def test_wealth_beyond_anchors_by_hand() -> None:
    """Two fresh changes beside one anchor are one step: (1 + k / 2) (1 - 0) (1 + k).

    Of an anchor that gained as much as the output lost both count; of one that lost as much,
    (1 + k) (1 - k) = 1 - k^2.
    """
    k = np.array(BOLDNESS)
    assert wealth_beyond([-1, 0], [1]) == pytest.approx([((1 + k / 2) * (1 + k)).mean() / 2])
    assert wealth_beyond([-1], [-1]) == pytest.approx([(1 - k**2).mean() / 2])
    # Three anchors beside two outputs: parts of one and of two, k of the first, k / 2 of each next.
    second = (1 + k) * (1 - k / 2) * (1 + k / 2)
    first = (1 - k) * (1 + k)
    found = wealth_beyond([1, -1], [1, -1, 1])
    assert found == pytest.approx([first.mean() / 2, (first * second).mean() / 2])


def test_means_of_consecutive_parts() -> None:
    assert in_steps([0, 1, 2, 3, 4, 5, 6], 3) == pytest.approx([0.5, 2.5, 5])
    assert in_steps([1, 2, 3], 3) == pytest.approx([1, 2, 3])


@pytest.mark.parametrize("loss", [(-1, 1 / 3), (-1 / 4, 1 / 2), (-1 / 2, 1 / 2)])
def test_without_a_move_the_wealth_keeps_its_mean(loss: tuple[float, float]) -> None:
    """Over all of 2^6 series of two values whose mean is 0: a martingale that begins at a half."""
    low, high = loss
    chance = high / (high - low)  # of the low one
    every = np.array(list(product(loss, repeat=6)))
    weights = np.where(every == low, chance, 1 - chance).prod(axis=1)
    for sign in (1, -1):
        assert weights @ wealth(sign * every) == pytest.approx(np.full(6, 0.5))


@pytest.mark.parametrize(("fresh", "anchors"), [(3, 3), (5, 2), (2, 5)])
@pytest.mark.parametrize("both", [-0.6, 0.0, 0.4])
def test_whatever_the_judge_did_to_both_nobody_gains_by_betting_on_the_rest(
    fresh: int, anchors: int, both: float
) -> None:
    """Fresh changes are -1 or 1, those of anchors `both` less or more a third; one mean, `both`."""
    outputs = np.array(list(product((-1.0, 1.0), repeat=fresh)))
    frozen = np.array(list(product((both - 1 / 3, both + 1 / 3), repeat=anchors)))
    up = (1 + both) / 2
    weights = np.where(outputs > 0, up, 1 - up).prod(axis=1)
    pairs = list(product(range(len(outputs)), range(len(frozen))))
    which, beside = np.array(pairs).T
    chances = weights[which] / len(frozen)
    for sign in (1, -1):
        means = chances @ wealth_beyond(sign * outputs[which], sign * frozen[beside])
        assert (means <= 0.5 + 1e-12).all()
        if both == 0:
            assert means == pytest.approx(np.full(len(means), 0.5))


def test_streams_without_a_move_are_called_in_at_most_a_fortieth() -> None:
    rng = np.random.default_rng(1)
    changes = rng.integers(-3, 4, (2000, 150)) / 3
    for rich in (wealth(changes), wealth_beyond(changes[:, :90], changes[:, 90:])):
        ever = (rich >= ALARM).any(axis=1).mean()
        assert 0 < ever <= 1 / ALARM


def test_a_loss_of_half_is_called_after_the_fewest_that_are_asked_for() -> None:
    """Half a stake of a half: 1/4 of the mean of (1 + k / 2)^n, at 17 below 40, at 18 above."""
    k = np.array(BOLDNESS)
    before, after = (((1 + k / 2) ** n).mean() / 4 for n in (FEWEST - 1, FEWEST))
    assert before < ALARM <= after
    assert called_at(wealth(np.full(30, -0.5), stake=0.5)) == FEWEST
    assert called_at(wealth(np.full(FEWEST - 1, -0.5), stake=0.5)) is None


@given(series, st.randoms())
def test_the_order_does_not_matter_in_the_end(changes: list[float], random: object) -> None:
    shuffled = [*changes]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert wealth(shuffled)[-1] == pytest.approx(wealth(changes)[-1])


@given(series, st.data())
def test_a_better_unit_never_raises_the_wealth_of_a_loss(
    changes: list[float], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(changes) - 1))
    better = [*changes]
    better[place] = data.draw(thirds.filter(lambda change: change >= changes[place]))
    assert (wealth(better) <= wealth(changes) + 1e-12).all()
    anchors = data.draw(series)
    assert (wealth_beyond(better, anchors) <= wealth_beyond(changes, anchors) + 1e-12).all()
    # What the judge gave the anchors, the outputs should have got too.
    assert (wealth_beyond(anchors, better) >= wealth_beyond(anchors, changes) - 1e-12).all()


@given(st.lists(thirds, min_size=1, max_size=60), st.lists(thirds, min_size=1, max_size=60))
def test_the_interval_holds_0_exactly_if_nothing_is_called(
    fresh: list[float], anchors: list[float]
) -> None:
    for bets in (bets_on(fresh), bets_beyond(fresh, anchors)):
        assert bets.called == (not bets.lower < 0 < bets.upper)
        assert bets.lower < bets.upper
        assert (bets.lost_at is not None) == (bets.upper <= 0)
        assert (bets.gained_at is not None) == (bets.lower >= 0)


def test_an_interval_ends_where_bets_begin_to_be_called() -> None:
    changes = np.resize([-1.0, 0.0, 0.0, 1.0, -1.0], 200)  # a mean of -.2
    bets = bets_on(changes)
    assert bets.lower < -0.2 < bets.upper < 0
    assert called_at(wealth(changes, mean=bets.upper)) is not None
    assert called_at(wealth(changes, mean=bets.upper - 0.001)) is None
    assert called_at(wealth(-changes, mean=-bets.lower)) is not None
    # Beyond anchors that fell as much there is nothing.
    assert bets_beyond(changes, np.full(200, -0.2)).called is False
    assert bets_beyond(changes, np.full(200, 0.2)).lost_at is not None
    # Of ten that are all alike nothing lies far enough off to be called, up to the end of all.
    assert (bets_on(np.zeros(3)).lower, bets_on(np.zeros(3)).upper) == (-1.0, 1.0)


def test_what_was_called_stays_called() -> None:
    changes = np.concatenate([np.full(20, -1.0), np.full(200, 0.5)])
    bets = bets_on(changes)
    assert bets.lost_at == called_at(wealth(np.full(20, -1.0)))
    assert bets.loss < ALARM


def test_changes_beyond_1_are_refused() -> None:
    with pytest.raises(ValueError, match="within"):
        wealth([-1.5])
    with pytest.raises(ValueError, match="within"):
        wealth_beyond([0.5], [2.0])
