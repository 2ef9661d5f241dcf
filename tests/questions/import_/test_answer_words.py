"""What words of verdicts and labels mean."""

from __future__ import annotations

import pytest

from tests.questions.import_.tables import FOUR, asked, maps_of, shown_of, values_of

TEXTS = tuple(f"This is the text of {number}." for number in FOUR)


def test_steps_of_a_pair_and_ties_are_renamed() -> None:
    proposal = shown_of({"id": FOUR, "winner": ("A>B", "A=B", "B>>A", "A>>B")})
    assert values_of(proposal) == {"A>B": "A", "A=B": "tie", "B>>A": "B", "A>>B": "A"}


def test_words_for_two_candidates_are_those_where_they_kept_their_places() -> None:
    rows = {"id": FOUR, "winner": ("model_a", "tie", "model_b", "model_a")}
    assert values_of(shown_of(rows)) == {"model_a": "A", "model_b": "B"}
    ordered = shown_of(rows | {"id": ("1", "1", "2", "2"), "order": ("ab", "ba") * 2})
    assert (maps_of(ordered)["order"], values_of(ordered)) == ("order", {})


def test_1_and_2_are_candidates_with_their_texts_or_ties_and_else_asked() -> None:
    rows = {"id": FOUR, "winner": (1, 2, 2, 1)}
    assert asked(shown_of(rows)) == ["do 1 and 2 name two candidates?"]
    meant = {"1": "A", "2": "B"}
    assert values_of(shown_of(rows | {"answer_1": TEXTS, "answer_2": TEXTS[::-1]})) == meant
    assert values_of(shown_of(rows | {"winner": ("1", "2", "tie", "1")})) == meant
    # A score of 1 and 2 is no candidate.
    assert asked(shown_of({"id": FOUR, "score": (1, 2, 2, 1)})) == []


def test_words_without_a_verdict_are_taken_out() -> None:
    proposal = shown_of({"id": FOUR, "verdict": ("yes", "no", "error", "yes")})
    assert values_of(proposal) == {"error": ""}


def test_a_number_below_all_grades_is_asked() -> None:
    (question,) = shown_of({"id": (*FOUR, "5"), "score": (1, 2, -1, 4, 5)}).questions
    assert question.asks == "what does -1 in column score say?"
    assert question.example.value["score"] == -1
    assert asked(shown_of({"id": FOUR, "score": (-2, -1, 1, 2)})) == []


@pytest.mark.parametrize(
    ("verdicts", "labels", "values"),
    [
        (("pass", "fail"), ("true", "false"), {"true": "pass", "false": "fail"}),
        (("yes", "no"), ("correct", "incorrect"), {"correct": "yes", "incorrect": "no"}),
        (("yes", "no"), ("no", "yes"), {}),
        (("poor", "fine"), ("good", "bad"), {}),
    ],
)
def test_words_for_yes_and_no_are_the_same(
    verdicts: tuple[str, str], labels: tuple[str, str], values: dict[str, str]
) -> None:
    proposal = shown_of({"id": FOUR, "verdict": verdicts * 2, "label": labels * 2})
    assert (values_of(proposal), asked(proposal)) == (values, [])


def test_0_and_1_are_asked_where_no_word_says_which_is_good() -> None:
    rows = {"id": FOUR, "verdict": ("pass", "fail") * 2, "gold": (1, 0, 0, 1)}
    (question,) = shown_of(rows).questions
    assert question.asks == "what does gold 1, 0 say of pass, fail?"
    assert question.readings[0].settings == (("value", ("1", "pass")), ("value", ("0", "fail")))
    named = shown_of({"id": FOUR, "verdict": ("pass", "fail") * 2, "human_correct": (1, 0, 0, 1)})
    assert values_of(named) == {"1": "pass", "0": "fail"}


def test_0_and_1_of_both_say_the_same() -> None:
    rows = {"id": FOUR, "said": (1, 0, 0, 1), "gold": (1, 0, 1, 1)}
    assert (values_of(shown_of(rows)), asked(shown_of(rows))) == ({}, [])


def test_few_words_among_grades_and_words_without_a_reason_are_unread() -> None:
    rows = {"id": tuple(range(20)), "score": (*range(1, 11), *range(1, 10), "oops")}
    proposal = shown_of(rows)
    assert values_of(proposal) == {"oops": ""}  # one cell of twenty is no number
    assert proposal.notes == ("1 of 20 rows say oops, which is no verdict: they are unread",)
    # A tie beside numbers is none of them.
    tie = shown_of(rows | {"score": (*range(1, 11), *range(1, 10), "tie")})
    assert values_of(tie) == {}
    judged = {"winner": ("A", "B", "tie", "oops"), "reason": (*TEXTS[:3], None)}
    assert values_of(shown_of({"id": FOUR, **judged})) == {"oops": ""}
    # With a reason it is a word like others.
    assert values_of(shown_of({"id": FOUR, **judged, "reason": TEXTS})) == {}


def test_a_class_none_of_most_rows_is_a_verdict() -> None:
    rows = {"id": (*FOUR, "5"), "verdict": ("none", "none", "none", "label", "logic")}
    assert values_of(shown_of(rows)) == {}
