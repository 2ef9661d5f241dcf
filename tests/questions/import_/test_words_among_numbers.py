"""Numbers of a judge or of people among which a few words, or errors of calls, say nothing."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_judgesense.questions.import_.column_facts import ColumnFacts
from pytest_judgesense.questions.import_.role_words import states_nothing
from tests.questions.import_.tables import asked, maps_of, options_of, shown_of, values_of

GRADES = ("4", "1", "3", "5", "2", "3", "4", "1", "5", "2", "3", "4")
OTHERS = ("3", "1", "4", "5", "2", "2", "4", "2", "5", "1", "3", "5")
ITEMS = tuple(f"i{n}" for n in range(len(GRADES)))
TEXTS = tuple(f"An answer that is number {n}." for n in range(len(GRADES)))


def among(words: Sequence[str], numbers: Sequence[str] = GRADES) -> tuple[str, ...]:
    """The numbers with words in place of the first of them."""
    return (*words, *numbers[len(words) :])


@pytest.mark.parametrize("word", ["N/A", "error", "unclear", "Error: timeout"])
@pytest.mark.parametrize("person", ["human", "person", "label", "human_score"])
def test_grades_of_people_are_labels_beside_a_judge_that_failed_once(
    word: str, person: str
) -> None:
    columns = {"item": ITEMS, "answer": TEXTS, "verdict": among([word]), person: OTHERS}
    proposal = shown_of(columns)
    assert proposal.no_judge == ""
    assert maps_of(proposal).get("label", "label") == person
    assert values_of(proposal) == {word: ""}


BITS = tuple("0110" * 3)


@pytest.mark.parametrize(
    ("said", "human"),
    [
        (GRADES, OTHERS),
        (BITS, BITS[1:] + BITS[:1]),
        (among(["N/A"], BITS), BITS),
        (("Pass", "Fail") * 6, BITS),
    ],
)
def test_numbers_of_a_column_human_are_no_names_of_people(
    said: Sequence[str], human: Sequence[str]
) -> None:
    proposal = shown_of({"item": ITEMS, "answer": TEXTS, "verdict": said, "human": human})
    assert maps_of(proposal)["label"] == "human"


def test_words_of_verdicts_are_no_names_of_people() -> None:
    words = ("relevant", "partly", "off topic") * 4
    columns = {"item": ITEMS, "answer": TEXTS, "verdict": words, "annotator": words[1:] + words[:1]}
    assert maps_of(shown_of(columns))["label"] == "annotator"


def test_numbers_of_raters_are_their_names() -> None:
    columns = {"item": tuple("aaabbbcccddd"), "rater": tuple("123" * 4), "rating": GRADES}
    assert shown_of(columns).no_judge == "each row is what one person said, rating by rater"


def test_a_word_among_the_labels_is_none() -> None:
    columns = {"item": ITEMS, "answer": TEXTS, "verdict": GRADES, "human": among(["N/A"], OTHERS)}
    proposal = shown_of(columns)
    assert (maps_of(proposal)["label"], values_of(proposal)) == ("human", {"N/A": ""})
    assert "1 of 12 rows say N/A in column human, which says nothing" in proposal.notes


def test_of_labels_that_are_words_it_is_none_where_no_verdict_is_so() -> None:
    said, labels = ("good", "bad", "ok") * 4, ("N/A", "good", "bad") * 4
    columns = {"item": ITEMS, "answer": TEXTS, "verdict": said, "human": labels}
    assert values_of(shown_of(columns)) == {"N/A": ""}
    # A class that the user names is one, and nothing else is told of it.
    named = shown_of(columns, value=(("N/A", "ok"),))
    assert (values_of(named), named.notes) == ({}, ())


def test_correctness_is_a_criterion_beside_others_on_its_scale() -> None:
    columns = {"item": ITEMS, "answer": TEXTS, "correctness": GRADES, "clarity": OTHERS}
    assert {*options_of(shown_of(columns), "grades")} == {
        ("clarity", "clarity"),
        ("correctness", "correctness"),
    }
    # 0 and 1 are no grades of 1 to 5.
    grades = options_of(shown_of({**columns, "correctness": BITS}), "grades")
    assert grades == [("clarity", "clarity")]


def test_every_criterion_has_its_own_people_though_one_has_words() -> None:
    columns = {
        "item": ITEMS,
        "answer": TEXTS,
        "clarity": among(["N/A"]),
        "tone": GRADES,
        "human_clarity": OTHERS,
        "human_tone": among(["?"], OTHERS),
    }
    proposal = shown_of(columns)
    assert options_of(proposal, "grades") == [("clarity", "clarity"), ("tone", "tone")]
    assert options_of(proposal, "people") == [("clarity", "human_clarity"), ("tone", "human_tone")]
    assert values_of(proposal) == {"N/A": "", "?": ""}


def test_people_of_another_criterion_are_not_those_of_the_only_one() -> None:
    columns = {"item": ITEMS, "answer": TEXTS, "tone": GRADES, "human_clarity": OTHERS}
    assert options_of(shown_of(columns), "people") == []


def test_a_column_judge_of_numbers_and_errors_is_what_it_said() -> None:
    # A quarter of the calls failed.
    said = among(["Error: timeout", "Error: timeout", "RateLimitError: 429"])
    proposal = shown_of({"item": ITEMS, "answer": TEXTS, "judge": said, "human": OTHERS})
    assert maps_of(proposal)["verdict"] == "judge"
    assert values_of(proposal) == {"Error: timeout": "", "RateLimitError: 429": ""}


def test_an_error_of_a_call_is_no_candidate() -> None:
    error = "RateLimitError: 429"
    texts = {"item": ITEMS, "response_a": TEXTS, "response_b": TEXTS[::-1]}
    pairs = shown_of({**texts, "winner": (error, *("A", "B") * 5, "A"), "human": ("A", "B") * 6})
    assert maps_of(pairs)["field.a"] == "response_a"
    assert values_of(pairs) == {"A": "A", "B": "B", error: ""}


@pytest.mark.parametrize("word", ["RateLimitError: 429", "N/A"])
@pytest.mark.parametrize("labels", [BITS, among(["N/A"], BITS)])
def test_0_and_1_are_asked_beside_words_and_one_that_states_nothing(
    word: str, labels: Sequence[str]
) -> None:
    said = (*("yes", "no") * 5, "yes", word)
    proposal = shown_of({"item": ITEMS, "answer": TEXTS, "verdict": said, "label": labels})
    assert asked(proposal) == ["what does label 1, 0 say of yes, no?"]


@pytest.mark.parametrize(
    ("word", "nothing"),
    [
        *((word, True) for word in ("N/A", "Error", "error 500", "Timeout", "openai.APIError: x")),
        *((word, False) for word in ("error in the facts", "no", "timeouts", "terror", "tie")),
    ],
)
def test_errors_of_calls_state_nothing_and_classes_of_errors_do(word: str, nothing: bool) -> None:
    assert states_nothing(word) is nothing


def test_what_a_column_holds_names_the_words() -> None:
    facts = ColumnFacts("verdict", among(["N/A"]))
    assert (facts.holds, facts.says) == ("1 to 5, N/A", "grades 1 to 5")
    # Two levels may be labels, beside which a word is one as well.
    assert not ColumnFacts("verdict", among(["N/A"], BITS)).are_numbers
