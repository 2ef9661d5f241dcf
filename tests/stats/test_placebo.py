"""Effects of edits and of names of slots, and the side that is edited."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy.stats import norm

from pytest_judgesense.stats.placebo import ProbeEffect, edit_effect, naming_effect, side_to_edit


def effect_of(edited: ArrayLike, placebo: ArrayLike) -> ProbeEffect:
    effect = edit_effect(edited, placebo, range(len(np.asarray(edited))))
    assert effect is not None
    return effect


def test_a_worked_effect() -> None:
    # 8 of 20 items move by 1. Swaps: all 8 fall to one side with 2^-8, half of it is 1/512; the
    # score is 8 / sqrt(8), of which the p-value is the greater, .0023.
    edited = [1.0] * 8 + [0.0] * 12
    effect = effect_of(edited, [0.0] * 20)
    assert (effect.edited, effect.reference, effect.difference.value) == (0.4, 0.0, 0.4)
    assert effect.p == pytest.approx(norm.sf(8 / np.sqrt(8)))
    assert effect.difference.lower(0.05) > 0


def test_an_edit_that_repels_is_no_effect_towards_it() -> None:
    effect = effect_of([0.0] * 20, [1.0] * 8 + [0.0] * 12)
    assert effect.difference.value == -0.4
    assert effect.p > 0.99


def test_names_of_slots_may_draw_to_either() -> None:
    named, usual = [0.75] * 12 + [0.5] * 8, [0.5] * 20
    first, second = naming_effect(named, usual, range(20)), naming_effect(usual, named, range(20))
    assert first is not None
    assert second is not None
    # 12 items to one side, and none to the other: twice 2^-12.
    assert first.p == pytest.approx(2 * 2**-12)
    assert second.p == first.p
    still = naming_effect(usual, usual, range(20))
    assert still is not None
    assert still.p == 1.0


def test_one_cluster_says_nothing() -> None:
    assert edit_effect([1.0, 0.5], [0.0, 0.0], ["a", "a"]) is None


halves = st.sampled_from([0.0, 0.5, 1.0])


@given(st.lists(st.tuples(halves, halves), min_size=8, max_size=8), st.integers(0, 7))
def test_a_call_that_moves_never_lowers_a_bound(
    means: list[tuple[float, float]], place: int
) -> None:
    edited, placebo = np.array(means).T
    moved = edited.copy()
    moved[place] = min(1.0, moved[place] + 0.5)
    before, after = effect_of(edited, placebo), effect_of(moved, placebo)
    assert after.difference.lower(0.05) >= before.difference.lower(0.05) - 1e-6
    assert after.difference.upper(0.05) >= before.difference.upper(0.05) - 1e-6


@pytest.mark.parametrize("items", [8, 60])
@pytest.mark.parametrize("rate", [0.05, 0.3, 0.9])
def test_a_judge_that_no_edit_moves_is_rarely_called_moved(items: int, rate: float) -> None:
    # Two calls an arm. At most .055, and at a ninth of .05 at most .007: 12,000 comparisons; here
    # 600 of them, and 3 standard errors.
    rng = np.random.default_rng([items, round(100 * rate)])
    arms = (rng.random((2, 600, items, 2)) < rate).mean(axis=3)
    p = np.array([effect_of(edited, placebo).p for edited, placebo in zip(*arms, strict=True)])
    for level, most in ((0.05, 0.055), (0.05 / 9, 0.007)):
        assert (p <= level).mean() <= most + 3 * np.sqrt(most / 600)


def test_the_asking_that_chose_the_side_is_no_placebo() -> None:
    # A judge that errs in one of five calls, and no edit moves. The side is the one that lost, so
    # the asking in which it lost has fewer verdicts for it than any other.
    rng = np.random.default_rng(11)
    reused, afresh = [], []
    for _ in range(200):
        # Whether the verdict is content 1, the better one: separate asking, edit and asked afresh.
        firsts = rng.random((3, 40, 2)) > 0.2
        sides = [
            side_to_edit((1 if a else 2, 1 if b else 2), f"item-{number}")
            for number, (a, b) in enumerate(firsts[0])
        ]
        on_side = np.where(np.array(sides) == 1, firsts.mean(axis=2), 1 - firsts.mean(axis=2))
        reused.append(effect_of(on_side[1], on_side[0]).p <= 0.05)
        afresh.append(effect_of(on_side[1], on_side[2]).p <= 0.05)
    assert np.mean(reused) > 0.5
    assert np.mean(afresh) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_the_rejected_side_is_edited() -> None:
    assert (side_to_edit((1, 1), "x"), side_to_edit((2, 2), "x")) == (2, 1)
    # A tie does not speak against what the other order says.
    assert (side_to_edit((1, None), "x"), side_to_edit((None, 2), "x")) == (2, 1)


def test_where_orders_do_not_tell_the_name_draws_the_side() -> None:
    # sha256("a") begins with ca, of "b" with 3e, of "c" with 2e, of "e" with 3f: only that is odd.
    sides = [side_to_edit((1, 2), name) for name in "abce"]
    assert sides == [2, 2, 2, 1]
    assert sides == [side_to_edit((2, 1), name) for name in "abce"]
    assert sides == [side_to_edit((None, None), name) for name in "abce"]
    drawn = [side_to_edit((1, 2), f"item-{number}") for number in range(1000)]
    assert abs(drawn.count(1) - 500) < 3 * np.sqrt(250)


def test_what_is_no_mean_of_calls_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"within \[0.0, 1.0\]"):
        edit_effect([1.5, 0.0], [0.0, 0.0], ["a", "b"])
    with pytest.raises(ValueError, match="both arms have every item, found 2 and 1 means"):
        edit_effect([1.0, 0.0], [0.0], ["a", "b"])
