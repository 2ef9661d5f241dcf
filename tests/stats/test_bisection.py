"""The search for the change that turns a verdict: its test of the ends, its steps, its errors."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from pytest_judgesense.stats.bisection import (
    FEWEST,
    LEVEL_OF_TWO,
    MOST,
    CauseSearch,
    Hybrid,
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
        # least log2(80 x .95) = 6.2 bits of at most one each.
        assert (7 if changes < 80 else 14) < result.calls <= 30


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
    assert all(41 in answer.hybrid for answer in search.answers[turn:])
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
    assert search.cause.change == 1
    other = begin_between(at_a, at_b, 2, 9).learn(at_b[0])
    assert other.cause.change == 0


def test_one_item_at_once_is_a_search_by_labels() -> None:
    # The same posterior as a search that has compared its ends itself: 4 answers of
    # each, for Fisher's p is 1/35 <= .04.
    single = begin(8, 20)
    for place in range(8):
        single = single.learn("AB"[place % 2])
    by_item = begin_between([("A",)] * 4, [("B",)] * 4, 8, 20)
    while single.question is not None:
        assert single.question == by_item.question
        verdict = "B" if 5 in single.question else "A"
        single, by_item = single.learn(verdict), by_item.learn((verdict,))
    assert single.cause.probability == pytest.approx(by_item.cause.probability)
    assert by_item.cause.needed == (5,)


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
