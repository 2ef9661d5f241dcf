"""The search for the change that turns a verdict: its test of the ends, its steps, its errors."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, fisher_exact

from pytest_judgesense.stats.bisection import (
    CONTRAST_CALLS,
    FEWEST,
    LEVEL_OF_TWO,
    MOST,
    CauseSearch,
    Contrast,
    Hybrid,
    TurnedVerdict,
    begin,
    begin_between,
    p_of_rows,
)

Judge = Callable[[Hybrid], Hashable]


def searched(judge: Judge, changes: int, budget: int) -> CauseSearch:
    search = begin(changes, budget)
    while (hybrid := search.question) is not None:
        search = search.learn(judge(hybrid))
    return search


@given(st.integers(0, 6), st.integers(0, 6), st.integers(1, 6), st.integers(1, 6))
def test_of_two_labels_it_is_fishers_test(a: int, b: int, m: int, n: int) -> None:
    theirs = fisher_exact([[a, m], [b, n]]).pvalue
    assert p_of_rows(["x"] * a + ["y"] * m, ["x"] * b + ["y"] * n) == pytest.approx(theirs)


def test_a_worked_table_of_three_labels() -> None:
    # Of C(4, 2) = 6 ways to draw the first row: x x 1, y z 1, x y 2, x z 2. x x is as rare as y z.
    assert p_of_rows(["x", "x"], ["y", "z"]) == pytest.approx(2 / 6)
    assert p_of_rows(["x", "y"], ["x", "z"]) == 1.0
    assert p_of_rows([], ["x"]) == 1.0


@given(st.lists(st.sampled_from("xyz"), min_size=2, max_size=4), st.sampled_from([1, 2]))
def test_of_more_labels_it_counts_every_draw(pooled: list[str], size: int) -> None:
    def ways(row: tuple[str, ...]) -> int:
        return sum(Counter(other) == Counter(row) for other in draws)

    draws = list(itertools.combinations(pooled, size))
    first, second = pooled[:size], pooled[size:]
    rare = sum(ways(draw) <= ways(tuple(first)) for draw in draws)
    assert p_of_rows(first, second) == pytest.approx(rare / len(draws))


def test_two_ends_of_one_distribution_are_told_apart_in_3_percent_at_most() -> None:
    # Every path of 10 answers each, of two labels, by the counts that it leads through; no path is
    # given up, which could only lower the level.
    worst = 0.0
    for rate in np.linspace(0.02, 0.5, 25):
        chance, apart = {(0, 0): 1.0}, 0.0
        for size in range(1, MOST + 1):
            further: Counter[tuple[int, int]] = Counter()
            for ((a, b), so_far), x, y in itertools.product(chance.items(), (0, 1), (0, 1)):
                of_pair = (rate if x else 1 - rate) * (rate if y else 1 - rate)
                further[a + x, b + y] += so_far * of_pair
            chance = dict(further)
            for a, b in list(chance) if size >= FEWEST else ():
                rows = ([1] * a + [0] * (size - a), [1] * b + [0] * (size - b))
                if p_of_rows(*rows) <= LEVEL_OF_TWO:
                    apart += chance.pop((a, b))
        worst = max(worst, apart)
    assert 0.02 < worst <= 0.0287


@pytest.mark.parametrize(
    "shares", [[0.5, 0.5], [0.5, 0.45, 0.05], [0.49, 0.49, 0.02], [0.4, 0.3, 0.3], [0.25] * 4]
)
def test_noise_of_any_labels_is_called_noise(shares: list[float]) -> None:
    # At most .05 are told apart: of 300 up to 15 + 3 sqrt(300 x .05 x .95) = 26.
    rng = np.random.default_rng(6)
    outcomes = [
        searched(lambda _: int(rng.choice(len(shares), p=shares)), 80, 20).cause.outcome
        for _ in range(300)
    ]
    assert set(outcomes) <= {"noise", "undecided", "named"}
    assert outcomes.count("noise") >= 300 - 26


def test_a_steady_verdict_is_given_up_early() -> None:
    # After 5 equal answers each the best that can come is 10 against 5 of 10, p = .033; after 6
    # it is 10 against 6 of 10, p = .087.
    search = searched(lambda _: "A", 80, 60)
    assert (search.cause.outcome, search.cause.calls, search.p_ends) == ("noise", 12, 1.0)
    assert search.cause.change is None


@pytest.mark.parametrize("changes", [1, 2, 3, 80])
def test_without_noise_every_place_is_named(changes: int) -> None:
    for cause in range(changes):
        search = searched(lambda hybrid, cause=cause: "B" if cause in hybrid else "A", changes, 60)
        result = search.cause
        assert (result.outcome, result.change, result.span) == ("named", cause, (cause, cause))
        assert (result.alone, result.needed, result.complete) == (True, (cause,), True)
        # 4 each tell two steady ends apart: 2 / C(8, 4) = .029, and 3 each do not: .1. Then at
        # least log2(80 x .95) = 6.2 bits of at most one each; 16 before the change and with it,
        # and 16 with it alone where other changes stand before it.
        confirming = 16 if cause == 0 else 32
        assert (7 if changes < 80 else 14) + confirming < result.calls <= 30 + confirming


def test_changes_that_turn_it_together_are_all_named() -> None:
    search = searched(lambda hybrid: "B" if {3, 20, 41} <= {*hybrid} else "A", 50, 200)
    result = search.cause
    assert (result.outcome, result.change, result.alone) == ("named", 41, False)
    assert (result.needed, result.complete) == ((3, 20, 41), True)


def test_hybrids_are_prefixes_until_the_cause_is_named_and_then_hold_it() -> None:
    search = searched(lambda hybrid: "B" if {3, 41} <= {*hybrid} else "A", 50, 200)
    prefixes = [answer.hybrid == tuple(range(len(answer.hybrid))) for answer in search.answers]
    turn = prefixes.index(False)
    assert all(prefixes[:turn])
    # At the end the set is asked without each of its changes: 16 answers each.
    assert all(41 in answer.hybrid for answer in search.answers[turn:-32])
    # The first of these asks whether it is enough alone.
    assert search.answers[turn].hybrid == (41,)


@pytest.mark.parametrize("labels", [("A", "B"), ("1", "2", "3", "4", "5")])
def test_a_planted_cause_is_named_in_noise(labels: tuple[str, ...]) -> None:
    # 90% and more; of 100 at least 90 - 3 sqrt(100 x .9 x .1) = 81. The benchmark runs 1,000.
    rng = np.random.default_rng(7)

    def judge(hybrid: Hybrid) -> str:
        label = labels[-1] if cause in hybrid else labels[0]
        return str(rng.choice(labels)) if rng.random() < 0.1 else label

    right = 0
    for _ in range(100):
        cause = int(rng.integers(80))
        result = searched(judge, 80, 60).cause
        right += (result.outcome, result.change) == ("named", cause)
        assert result.calls <= 60
    assert right >= 81


def test_an_innocent_change_passes_a_contrast_in_at_most_one_and_a_half_percent() -> None:
    # Every pair of counts of 8 answers each of one chance; three tests of a search stay below .05.
    size = max(
        sum(
            chances[few] * chances[many]
            for few, many in itertools.product(range(9), range(9))
            if contrast(few, many).is_confirmed
        )
        for chances in (binom.pmf(range(9), 8, rate) for rate in np.linspace(0.01, 0.99, 197))
    )
    assert 0.0139 < size < 0.01401
    assert 3 * size < 0.05


def contrast(few: int, many: int, *, is_gained: bool = True) -> Contrast:
    """A contrast that has ended, with so many answers of the label without and with a change."""
    rows = ([True] * few + [False] * (8 - few), [True] * many + [False] * (8 - many))
    begun = Contrast(TurnedVerdict(True, is_gained), (), (0,))
    for verdict in itertools.chain(*zip(*rows, strict=True)):
        begun = begun.learn(verdict)
    return begun


def test_a_contrast_is_fishers_one_sided_test_in_the_direction_of_the_ends() -> None:
    # 0 and 4 of 8: C(8, 4) / C(16, 4) = 70 / 1820; 0 and 3 of 8: 56 / 560 = .1.
    assert contrast(0, 4).p == pytest.approx(70 / 1820)
    assert (contrast(0, 4).is_confirmed, contrast(0, 3).is_confirmed) == (True, False)
    assert contrast(4, 0).p == 1.0
    assert contrast(4, 0, is_gained=False).p == pytest.approx(70 / 1820)
    assert (contrast(4, 0).turned_with, contrast(4, 0, is_gained=False).turned_with) == (0, 8)


@given(st.integers(0, 8), st.integers(0, 8), st.booleans())
def test_another_turned_answer_never_undoes_a_confirmation(
    few: int, many: int, is_gained: bool
) -> None:
    fewer, more = max(0, few - 1), min(8, many + 1)
    if not is_gained:
        fewer, more = min(8, few + 1), max(0, many - 1)
    assert contrast(fewer, more, is_gained=is_gained).p <= (
        contrast(few, many, is_gained=is_gained).p + 1e-12
    )


def test_the_verdict_that_is_lost_counts_where_several_take_its_place() -> None:
    turned = TurnedVerdict.between(["A"] * 4, ["B", "C", "B", "C"])
    assert (turned.label, turned.is_gained) == ("A", False)
    turned = TurnedVerdict.between(["A"] * 4, ["B"] * 4)
    assert (turned.label, turned.is_gained) == ("B", True)
    search = searched(lambda hybrid: len(hybrid) % 2 + 1 if 5 in hybrid else 0, 12, 60)
    assert (search.cause.outcome, search.cause.change) == ("named", 5)


def test_two_that_add_are_not_called_one_and_no_other_is_named() -> None:
    # An innocent change is named in at most .05: of 120 up to 6 + 3 sqrt(120 x .05 x .95) = 13.
    # The benchmark runs 1,000.
    rng = np.random.default_rng(9)
    innocent = incomplete = 0
    for _ in range(120):
        causes = {*rng.choice(12, 2, replace=False).tolist()}
        result = searched(
            lambda hybrid, causes=causes: rng.random() < 0.1 + 0.4 * len(causes & {*hybrid}), 12, 80
        ).cause
        innocent += result.outcome == "named" and result.change not in causes
        incomplete += result.complete and {*result.needed} != causes
    assert innocent <= 13
    assert incomplete <= 13


def test_what_is_not_confirmed_shows_the_curve_and_no_change_as_needed() -> None:
    # Each of 12 changes adds as much: no place turns it.
    rng = np.random.default_rng(10)
    results = [searched(lambda hybrid: rng.random() < len(hybrid) / 12, 12, 60) for _ in range(20)]
    search = next(search for search in results if search.cause.outcome == "unconfirmed")
    result = search.cause
    assert (result.needed, result.complete, result.alone, result.members) == ((), False, None, ())
    assert result.turn is not None
    assert result.turn.p > 0.05
    assert (result.curve[0].made, result.curve[-1].made) == (0, 12)
    assert sum(point.asked for point in result.curve) == result.calls
    assert sum(point.count for point in result.curve) == sum(
        answer.verdict for answer in search.answers
    )


def test_a_contrast_is_not_begun_where_it_cannot_be_ended() -> None:
    # The ends take 8 and the place 8 or more: 16 for a change that is held are kept, or none asked.
    for budget in range(8, 60):
        search = searched(lambda hybrid: 30 in hybrid, 80, budget)
        assert all(turn.is_over for turn in (*search.turns, *search.members))
        assert len(search.answers) <= budget
        assert search.is_confirmed == (len(search.turns) == 1)
    assert len(search.answers) == search.cause.calls
    assert CONTRAST_CALLS == 16


def test_a_replay_goes_the_same_way() -> None:
    rng = np.random.default_rng(8)
    search = searched(lambda hybrid: bool((7 in hybrid) ^ (rng.random() < 0.1)), 40, 60)
    again = begin(40, 60)
    for answer in search.answers:
        assert again.question == answer.hybrid
        again = again.learn(answer.verdict)
    assert again == search


def test_a_budget_that_is_spent_leaves_the_places_in_question() -> None:
    search = searched(lambda hybrid: "B" if 30 in hybrid else "A", 80, 16)
    result = search.cause
    assert (result.outcome, result.calls, result.alone, result.needed) == (
        "undecided",
        16,
        None,
        (),
    )
    assert result.span is not None
    first, last = result.span
    # Seven halvings lead to one place of 80; an answer may be wrong, so its neighbours stay.
    assert 20 <= first < 30 < last <= 40
    assert 0 < result.probability < 0.95
    assert (result.turn, result.members) == (None, ())
    with pytest.raises(ValueError, match="over learns nothing, found 'B'"):
        search.learn("B")


def test_ends_that_are_not_compared_yet_are_no_noise() -> None:
    result = begin(80, 60).learn("A").cause
    assert (result.outcome, result.p_ends, result.calls) == ("undecided", 1.0, 1)


@pytest.mark.parametrize(
    ("changes", "budget", "message"),
    [(0, 60, "at least one change, found 0"), (80, 5, "6 verdicts or more, found a budget of 5")],
)
def test_a_search_of_nothing_is_an_error(changes: int, budget: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        begin(changes, budget)


def test_items_that_do_not_tell_the_ends_apart_sway_little() -> None:
    # One of 41 items turns, at the second of two changes. Six answers at A, three at B.
    at_a, at_b = [(1,) * 41] * 6, [(2, *(1,) * 40)] * 3
    search = begin_between(at_a, at_b, 2, 9)
    assert search.question == (0,)
    search = search.learn(at_a[0])
    assert search.stages[0].posterior().argmax() == 2
    other = begin_between(at_a, at_b, 2, 9).learn(at_b[0])
    assert other.stages[0].posterior().argmax() == 1


def test_one_item_at_once_is_searched_by_its_labels() -> None:
    search = begin_between([("A",)] * 4, [("B",)] * 4, 8, 20)
    while (question := search.question) is not None:
        search = search.learn(("B" if 5 in question else "A",))
    assert search.is_complete
    assert search.needed == (5,)
    assert search.answers <= 20
    with pytest.raises(ValueError, match="that is over"):
        search.learn(("A",))


@pytest.mark.parametrize(
    ("at_a", "at_b", "changes", "message"),
    [
        ([(1,)], [(2,)], 0, "at least one change, found 0"),
        ([], [(2,)], 1, "found 0 and 1 answers"),
        ([(1,)], [(2, 2)], 1, r"answers of \[1, 2\] items"),
        ([()], [()], 1, r"answers of \[0\] items"),
    ],
)
def test_ends_are_answers_about_the_same_items(
    at_a: list[tuple[int, ...]], at_b: list[tuple[int, ...]], changes: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        begin_between(at_a, at_b, changes, 9)


def test_an_answer_has_the_verdicts_of_all_items() -> None:
    search = begin_between([(1, 1)], [(2, 2)], 4, 9)
    for verdict in ((1,), 1):
        with pytest.raises(ValueError, match="verdicts of 2 items"):
            search.learn(verdict)
