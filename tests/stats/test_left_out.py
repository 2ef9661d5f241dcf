"""Parts of a prompt left out: worked numbers, enumeration, and planted parts."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from pytest_judgesense.stats.left_out import (
    NO_REPLY,
    NO_VERDICT,
    PartLeftOut,
    group_search,
    most_answers,
    parts_left_out,
    share_noticed,
    verdicts_by_item,
    worth_asking_again,
)


def part_of(
    whole: ArrayLike, without: ArrayLike, clusters: Sequence[Hashable] | None = None
) -> PartLeftOut:
    (part,) = parts_left_out(whole, [without], clusters or range(len(np.asarray(whole))))
    assert part is not None
    return part


def test_a_part_that_turns_three_items_outright() -> None:
    # Each of the three is the lone dissenter of seven: 1/7 to the third; 3 of 20 items turn.
    whole = np.ones((20, 6), dtype=int)
    without = np.where(np.arange(20) < 3, 2, 1)[:, None]
    part = part_of(whole, without)
    assert part.p == pytest.approx(7**-3)
    assert (part.items, part.differing, part.noise, part.effect) == (20, 3 / 20, 0, 3 / 20)
    # No reply is without a verdict, so nothing is said of the form.
    assert (part.p_form, part.no_verdict, part.no_verdict_whole) == (1.0, 0.0, 0.0)


def test_where_nothing_differs_something_may_still_do_so() -> None:
    # 1 - .05^(1/40) = .0722: the bound of 0 of 40.
    part = part_of(np.ones((40, 6), dtype=int), np.ones((40, 1), dtype=int))
    assert (part.p, part.effect) == (1.0, 0.0)
    assert part.upper == pytest.approx(1 - 0.05 ** (1 / 40), abs=1e-4)


def test_the_noise_of_the_judge_is_taken_off() -> None:
    # One item: of the whole's replies 1 1 2, two of three pairs differ; 2 differs from two of three
    # of them. So without the part it differs no more than from itself. In the other item nothing
    # does.
    part = part_of([[1, 1, 2], [1, 1, 1]], [[2], [1]])
    assert (part.differing, part.noise) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert part.effect == 0.0
    # Each of 1 1 2 2 may be the reply without it, and each differs from two.
    assert part.p == 1.0


def test_a_reply_without_a_verdict_is_a_category_and_holds_the_form() -> None:
    whole = np.ones((30, 6), dtype=int)
    without = np.where(np.arange(30) < 4, NO_VERDICT, 1)[:, None]
    part = part_of(whole, without)
    assert part.p == pytest.approx(7**-4)
    assert part.p_form == pytest.approx(7**-4)
    assert (part.no_verdict, part.no_verdict_whole) == (4 / 30, 0.0)
    # Other labels in their place turn verdicts, and hold no form.
    other = part_of(whole, np.where(without == NO_VERDICT, 2, without))
    assert (other.p, other.p_form) == (part.p, 1.0)


tables = st.integers(1, 3).flatmap(
    lambda items: st.tuples(
        st.lists(
            st.lists(st.integers(0, 1), min_size=3, max_size=3), min_size=items, max_size=items
        ),
        st.lists(
            st.lists(st.integers(0, 1), min_size=2, max_size=2), min_size=items, max_size=items
        ),
    )
)


@given(tables)
def test_the_form_is_tested_over_every_exchange(drawn: tuple[list[list[int]], ...]) -> None:
    whole, without = drawn
    number = sum(row.count(NO_VERDICT) for row in without)
    numbers = [
        [[*first, *second][i] == NO_VERDICT for i in range(5)]
        for first, second in zip(whole, without, strict=True)
    ]
    every = list(itertools.product(itertools.combinations(range(5), 2), repeat=len(whole)))
    as_many = sum(
        sum(row[i] for row, pair in zip(numbers, pairs, strict=True) for i in pair) >= number
        for pairs in every
    )
    assert len(every) == comb(5, 2) ** len(whole)
    assert part_of(whole, without).p_form == pytest.approx(as_many / len(every))


def test_replies_that_never_came_are_left_out() -> None:
    whole = [[1, 1, 1, NO_REPLY], [1, 2, NO_REPLY, NO_REPLY], [1, NO_REPLY, NO_REPLY, NO_REPLY]]
    part = part_of([*whole, [1, 1, 1, 1]], [[2], [2], [2], [NO_REPLY]])
    # The third item has no pair of the whole prompt, the fourth none without the part.
    assert part.items == 2
    # 2 differs from 3 of 3, and from 1 of 2.
    assert part.differing == pytest.approx((1 + 1 / 2) / 2)
    assert part.noise == pytest.approx((0 + 1) / 2)
    (gone,) = parts_left_out([[1, 1]], [[[NO_REPLY]]], ["a"])
    assert gone is None


def test_an_untested_part_stays_in_the_family() -> None:
    whole = np.ones((20, 6), dtype=int)
    turned = np.where(np.arange(20) < 3, 2, 1)[:, None]
    parts = parts_left_out(whole, [turned, np.full((20, 1), NO_REPLY)], range(20))
    assert parts[1] is None
    assert parts[0] is not None
    assert parts[0].p_adjusted == pytest.approx(2 * 7**-3)
    assert share_noticed(parts) == 1 / 2


def test_a_part_that_the_test_of_the_form_alone_finds_is_noticed() -> None:
    # Two replies of one label and two of another, of each of 8 items, and none without the part: of
    # 6 pairs of the whole 4 differ, and all with the one reply. T is 4 of at most 4, by a chance of
    # 1/5 an item; so is the form: one of five replies is none. A second part does nothing.
    whole = [[1, 1, 2, 2]] * 8
    noisy = [[NO_VERDICT]] * 2 + [[1]] * 6
    form, idle = parts_left_out(whole, [noisy, [[1]] * 8], range(8))
    assert form is not None
    assert form.p_form == pytest.approx(1 / 25)
    assert form.p_form_adjusted == pytest.approx(2 / 25)
    assert form.is_noticed(0.1)
    assert not form.is_noticed(0.05)
    assert form.p_adjusted > 0.1
    assert share_noticed([form, idle], 0.1) == 1 / 2


def test_both_bounds_of_an_effect_enclose_it_and_stay_at_zero_or_above() -> None:
    turned = part_of([[1] * 6] * 40, [[2]] * 20 + [[1]] * 20)
    assert turned.bounds is not None
    low, high = turned.bounds(0.95)
    assert 0 < low < turned.effect == 0.5 < high
    assert high == turned.upper
    idle = part_of([[1, 2] * 3] * 10, [[1]] * 10)
    assert idle.bounds is not None
    assert idle.bounds(0.95)[0] == 0.0


def test_clusters_are_the_units_of_the_bound() -> None:
    whole = np.ones((40, 6), dtype=int)
    same = np.ones((40, 1), dtype=int)
    alone, in_tens = part_of(whole, same), part_of(whole, same, [item // 10 for item in range(40)])
    assert alone.upper is not None
    assert in_tens.upper is not None
    assert in_tens.upper > 2 * alone.upper
    assert part_of(whole, same, ["a"] * 40).upper is None


@given(st.lists(st.sampled_from([1, 2]), min_size=12, max_size=12), st.integers(0, 11))
def test_the_bound_never_falls_where_another_item_turns(without: list[int], place: int) -> None:
    whole = np.ones((12, 6), dtype=int)
    turned = [*without[:place], 2, *without[place + 1 :]]
    before, after = (part_of(whole, np.array(codes)[:, None]) for codes in (without, turned))
    assert before.upper is not None
    assert after.upper is not None
    assert after.upper >= before.upper - 1e-6
    assert after.p <= before.p + 1e-12


def test_the_bound_holds_the_effect_of_whole_items() -> None:
    # 10% of the items turn outright in a judge that errs in one of 20: .1 x (1 - 2 x .095) = .081.
    rng = np.random.default_rng(9)
    below = 0
    for _ in range(200):
        errs, turned = rng.random((40, 7)) < 0.05, rng.random(40) < 0.1
        part = part_of(1 + errs[:, :6], 1 + (errs[:, 6] ^ turned)[:, None])
        assert part.upper is not None
        below += part.upper < 0.081
    assert below <= 0.05 * 200 + 3 * np.sqrt(200 * 0.05 * 0.95)


def test_planted_parts_are_noticed_and_others_are_not() -> None:
    # 3 of 10 parts turn 12 of 40 items; a reply in 20 is wrong. The benchmark plants fewer.
    rng = np.random.default_rng(10)
    whole_right, wrong = 0, 0
    for _ in range(20):
        turned = np.zeros((40, 10), dtype=bool)
        for part in range(3):
            turned[rng.permutation(40)[:12], part] = True
        whole = 1 + (rng.random((40, 6)) < 0.05)
        without = 1 + (turned ^ (rng.random((40, 10)) < 0.05))
        parts = parts_left_out(whole, list(without.T[:, :, None]), range(40))
        noticed = [part is not None and part.p_adjusted <= 0.05 for part in parts]
        whole_right += all(noticed[:3])
        wrong += any(noticed[3:])
    assert whole_right >= 17
    assert wrong <= 4


@pytest.mark.parametrize(
    ("whole", "without", "message"),
    [
        ([[1], [1]], [[1], [1]], "asked 2 times or more, found 1"),
        ([[1, 1]], [[1]], r"shape \(2, times asked\), found \(1, 2\)"),
        ([[1, 1], [1, 1]], [1, 1], r"shape \(2, times asked\), found \(2,\)"),
        ([[1, 1], [1, -2]], [[1], [1]], "-1 or above, found -2"),
    ],
)
def test_what_is_no_table_of_replies_is_an_error(
    whole: list[list[int]], without: list[list[int]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        parts_left_out(whole, [without], ["a", "b"])


def test_parts_that_may_do_something_are_asked_again() -> None:
    # 1/7 for a single item that turns, 1/49 for two, 1 for none.
    whole = np.ones((20, 6), dtype=int)
    turned = [np.where(np.arange(20) < number, 2, 1)[:, None] for number in (1, 2, 0)]
    never = np.full((20, 1), NO_REPLY)
    assert worth_asking_again(parts_left_out(whole, [*turned, never], range(20))) == [1]


def test_parts_asked_again_keep_the_level_of_the_family() -> None:
    # Ten parts that do nothing, a reply in five is wrong: any is noticed in at most 5%.
    rng = np.random.default_rng(12)
    noticed = 0
    for _ in range(60):
        whole, twice = 1 + (rng.random((40, 6)) < 0.2), 1 + (rng.random((10, 40, 2)) < 0.2)
        first = parts_left_out(whole, list(twice[:, :, :1]), range(40))
        for place in set(range(10)) - set(worth_asking_again(first)):
            twice[place, :, 1] = NO_REPLY
        noticed += share_noticed(parts_left_out(whole, list(twice), range(40))) > 0
    assert noticed <= 60 * 0.05 + 3 * np.sqrt(60 * 0.05 * 0.95)


def test_parts_are_dropped_where_enough_is_excluded() -> None:
    # Nothing differs: 1 - .05^(1/29) = .0981, and 1 - .05^(1/28) = .1015.
    same = [part_of([[1] * 6] * items, [[1] * 3] * items) for items in (28, 29)]
    assert [part.may_be_dropped() for part in same] == [False, True]
    # One cluster has no bound; what is noticed is kept, however little it moves.
    assert not part_of([[1] * 6] * 29, [[1] * 3] * 29, ["a"] * 29).may_be_dropped()
    few = part_of([[1] * 6] * 400, [[2] * 3] * 2 + [[1] * 3] * 398)
    assert few.upper is not None
    assert few.upper < 0.1
    assert not few.may_be_dropped()


def test_noise_that_would_hide_what_turns_drops_nothing() -> None:
    # Replies 1 1 1 2 2 2 differ in 9 of 15 pairs: no verdict that turns could be seen.
    part = part_of([[1, 1, 1, 2, 2, 2]] * 400, [[1, 2]] * 400)
    assert part.noise == pytest.approx(0.6)
    assert part.upper is not None
    assert part.upper < 0.1
    assert not part.may_be_dropped()


@given(st.lists(st.sampled_from([1, 2]), min_size=40, max_size=40), st.integers(0, 39))
def test_no_item_that_turns_gets_a_part_dropped(without: list[int], place: int) -> None:
    whole = np.ones((40, 6), dtype=int)
    turned = [*without[:place], 2, *without[place + 1 :]]
    before, after = (part_of(whole, np.array(codes)[:, None]) for codes in (without, turned))
    assert before.may_be_dropped() or not after.may_be_dropped()


def test_the_search_finds_the_parts_that_turn_items_together() -> None:
    # Without both of parts 1 and 4 of six, 8 of 40 items turn; a reply in 20 is wrong.
    rng = np.random.default_rng(13)

    def asked(times: int, *, turned: bool) -> np.ndarray:
        wrong = rng.random((40, times)) < 0.05
        return 1 + (wrong ^ (turned & (np.arange(40) < 8))[:, None])

    named = 0
    for _ in range(10):
        search = group_search(asked(6, turned=False), asked(3, turned=True), 6)
        while (left_out := search.question) is not None:
            (answer,) = verdicts_by_item(asked(1, turned={1, 4} <= {*left_out}))
            search = search.learn(answer)
        assert search.answers <= most_answers(6)
        named += search.is_complete and search.needed == (1, 4)
    assert named >= 9


def test_a_sole_part_is_its_own_smallest_group() -> None:
    search = group_search([[1] * 6] * 20, [[2] * 3] * 20, 1)
    assert search.question is None
    assert (search.needed, search.is_complete) == ((0,), True)
    # 4.5 x (log2(8) + 1) = 18.
    assert (most_answers(1), most_answers(8)) == (0, 18)


def test_a_reply_that_never_came_is_no_verdict_of_an_item() -> None:
    assert verdicts_by_item([[1, NO_REPLY], [NO_VERDICT, 2]]) == [(1, NO_VERDICT), (None, 2)]
