"""Which kind of answers a column holds is decided by its words, whoever asks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.files.synonyms import no_and_yes
from pytest_judgesense.suites.answer_kinds import (
    MOST_GRADES,
    answers_of,
    as_steps,
    inferred_answers,
)

WHOLE = st.integers(-(10**6), 10**6)


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        (["0", "1", "1", "0"], ("0", "1")),
        (["1.0", "0.0", "1"], ("0", "1")),  # a table of numbers with empty cells
        (["-1", "1"], ("-1", "1")),
        (["4", "5", "5"], ("4", "5")),
        (["0.5", "1"], ("0.5", "1")),
        (["yes", "no"], ("no", "yes")),
        (["Yes", "NO", "yes ", "no"], ("NO", "Yes")),
        (["TRUE", "false", "True"], ("TRUE", "false")),
        (["pass", "fail"], ("fail", "pass")),
        (["good", "bad"], ("bad", "good")),
        (["oui", "non"], ("non", "oui")),
        (["да", "нет"], ("да", "нет")),
        (["はい", "いいえ"], ("いいえ", "はい")),
        (["spam", "ham"], ("ham", "spam")),
        (["pro", "con", "neutral"], ("con", "neutral", "pro")),
        (["1", "2", "n/a"], ("1", "2", "n/a")),
        (["001", "002", "003"], ("001", "002", "003")),  # names, and no numbers
        (["7"], ("7",)),
        (["", " "], ()),
        ([], ()),
    ],
)
def test_two_words_and_words_that_are_no_numbers_are_labels(
    words: list[str], labels: tuple[str, ...]
) -> None:
    assert inferred_answers(words) == ("labels", labels)


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        (["1", "2", "3"], ("1", "2", "3")),
        (["5", "1", "2", "2"], ("1", "2", "3", "4", "5")),  # nobody has given 3 and 4
        (["1.0", "3", "4.0"], ("1", "2", "3", "4")),
        (["-1", "0", "1"], ("-1", "0", "1")),
        (["1", "12", "5"], tuple(map(str, range(1, 13)))),
    ],
)
def test_whole_numbers_of_three_to_twelve_levels_are_grades(
    words: list[str], labels: tuple[str, ...]
) -> None:
    assert inferred_answers(words) == ("grades", labels)


@pytest.mark.parametrize(
    "words",
    [
        ["1", "13", "5"],  # thirteen levels
        ["85", "75", "60", "90"],
        ["0", "50", "100"],
        [".5", "0.7", "1"],
        ["0,5", "1,5", "2"],
        ["1e-3", "2", "3"],
        ["-0.25", "0.5", "0"],
        ["4", "4.5", "5"],
        ["0", "1", str(10**17)],
    ],
)
def test_more_levels_and_decimals_are_a_score(words: list[str]) -> None:
    assert inferred_answers(words) == ("score", ())


@given(st.lists(st.text(min_size=1).map(str.strip).filter(bool), min_size=1, max_size=2))
def test_two_words_are_never_a_scale(words: list[str]) -> None:
    assert inferred_answers(words * 3).kind == "labels"


@given(WHOLE, st.integers(2, 40), st.data())
def test_the_levels_decide_and_not_which_of_them_occur(
    least: int, span: int, data: st.DataObject
) -> None:
    inside = data.draw(st.lists(st.integers(least, least + span), min_size=1))
    # The two ends alone are two values, which are labels.
    words = [str(n) for n in (least, least + span, least + 1, *inside)]
    inferred = inferred_answers(words)
    if span < MOST_GRADES:
        every = tuple(str(n) for n in range(least, least + span + 1))
        assert inferred == ("grades", every)
    else:
        assert inferred == ("score", ())


@given(st.lists(st.one_of(WHOLE.map(str), st.text(max_size=4)), max_size=20))
def test_neither_order_nor_repeats_nor_blanks_decide_the_kind(words: list[str]) -> None:
    kind = inferred_answers(words).kind
    assert inferred_answers(words[::-1]).kind == kind
    assert inferred_answers([*words, *words]).kind == kind
    assert inferred_answers(f" {word} " for word in words).kind == kind


@given(st.lists(WHOLE.map(str), min_size=3, max_size=8, unique=True))
def test_stated_numbers_are_all_grades_that_there_are(words: list[str]) -> None:
    ordered = tuple(sorted(words, key=int))
    assert inferred_answers(words, are_all=True) == ("grades", ordered)


def test_grades_that_are_asked_for_are_filled_and_a_score_has_no_labels() -> None:
    assert answers_of(["2", "5"], "grades") == ("2", "3", "4", "5")
    assert answers_of(["0", "1000000000"], "grades") == ("0", "1000000000")
    assert answers_of(["10", "9"], "labels") == ("9", "10")
    assert answers_of(["1", "2.5"], "score") == ()


def test_a_score_as_steps_is_a_scale_of_up_to_a_hundred_and_one() -> None:
    assert as_steps(["0", "100", "7"]) == ("grades", tuple(map(str, range(101))))
    assert as_steps(["0", "101", "7"]).kind == "labels"
    assert as_steps(["0.5", "1"]) == ("labels", ("0.5", "1"))


@pytest.mark.parametrize(
    ("labels", "of_yes"),
    [
        (["NO", "YES"], ("true", "1", "pass")),
        (["0", "1"], ("yes", "true", "pass")),
        (["True", "False"], ("yes", "1", "pass")),
        (["fail", "pass"], ("yes", "true", "1")),
        (["bad", "good"], ("yes", "true", "1", "pass")),
        (["Nein", "Ja"], ("yes", "true", "1", "pass")),
    ],
)
def test_labels_that_say_yes_have_the_other_words_for_it(
    labels: list[str], of_yes: tuple[str, ...]
) -> None:
    names = no_and_yes(labels)
    yes = next(label for label in labels if label.casefold() in "yes 1 true pass good ja".split())
    assert names[yes] == of_yes
    assert not {*names[labels[0]]} & {*names[labels[1]]}


@pytest.mark.parametrize(
    "labels", [["ham", "spam"], ["A", "B"], ["2", "4"], ["yes"], ["a", "b", "c"]]
)
def test_other_labels_have_no_such_names(labels: list[str]) -> None:
    assert no_and_yes(labels) == {}
