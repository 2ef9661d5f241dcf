"""Which columns hold texts, and numbers of a call."""

from __future__ import annotations

import pytest

from tests.questions.import_.tables import FOUR, maps_of, options_of, shown_of

SAID = ("yes", "no", "no", "yes")
ANSWERS = tuple(f"I think that it is {number}." for number in FOUR)
QUESTIONS = tuple(f"What is {number}, please?" for number in FOUR)


def test_texts_are_fields_by_their_names() -> None:
    rows = {"id": FOUR, "Question": QUESTIONS, "model answer": ANSWERS, "verdict": SAID}
    maps = maps_of(shown_of(rows))
    assert maps["field.question"] == "Question"
    assert maps["field.model_answer"] == "model answer"


def test_short_answers_are_texts_if_they_are_called_so() -> None:
    cities = ("Rome", "Oslo", "Bern", "Kyiv")
    maps = maps_of(shown_of({"id": FOUR, "answer": cities, "city": cities, "verdict": SAID}))
    assert maps["field.answer"] == "answer"
    assert "city" not in maps.values()


def test_what_the_judge_wrote_is_its_reply() -> None:
    rows = {"id": FOUR, "response": ANSWERS, "explanation": QUESTIONS, "verdict": SAID}
    maps = maps_of(shown_of(rows))
    assert (maps["reply"], maps["field.response"]) == ("explanation", "response")


def test_a_prompt_is_what_holds_the_other_texts_or_messages() -> None:
    prompts = tuple(f"Judge this.\n\n{answer}" for answer in ANSWERS)
    rows = {"id": FOUR, "answer": ANSWERS, "prompt": prompts, "verdict": SAID}
    assert maps_of(shown_of(rows))["prompt"] == "prompt"
    # It is the question of what was judged.
    assert maps_of(shown_of(rows | {"prompt": QUESTIONS}))["field.prompt"] == "prompt"
    messages = tuple([{"role": "user", "content": prompt}] for prompt in prompts)
    assert maps_of(shown_of(rows | {"prompt": messages}))["prompt"] == "prompt"


def test_tokens_and_seconds_are_read_and_milliseconds_are_not() -> None:
    usage = ({"prompt_tokens": 3, "completion_tokens": 4},) * 4
    rows = {"id": FOUR, "verdict": SAID, "usage": usage, "latency_ms": (20, 30, 40, 50)}
    maps = maps_of(shown_of(rows))
    assert maps["prompt_tokens"] == "usage.prompt_tokens"
    assert maps["completion_tokens"] == "usage.completion_tokens"
    assert "latency_s" not in maps
    assert maps_of(shown_of(rows | {"latency": (0.1, 0.2, 0.3, 0.5)}))["latency_s"] == "latency"


def test_probabilities_that_are_called_so_are_how_sure_the_judge_is() -> None:
    rows = {"id": FOUR, "verdict": SAID}
    sure = (0.9, 0.5, 0.75, 1)
    for name in ("confidence", "judge_confidence", "certainty"):
        assert maps_of(shown_of({**rows, name: sure}))["confidence"] == name
    # On another scale, in words, or of people, they are not.
    assert "confidence" not in maps_of(shown_of({**rows, "confidence": (90, 50, 75, 100)}))
    words = ("high", "low", "high", "low")
    assert "confidence" not in maps_of(shown_of({**rows, "confidence": words}))
    assert "confidence" not in maps_of(shown_of({**rows, "human_confidence": sure}))


def test_errors_of_some_rows_are_failures() -> None:
    rows = {"id": FOUR, "verdict": ("yes", "", "no", "yes"), "error": ("", "timeout", "", "")}
    assert maps_of(shown_of(rows))["failed"] == "error"


def test_two_texts_in_places_are_those_that_verdicts_a_and_b_name() -> None:
    rows = {"id": FOUR, "answer_1": ANSWERS, "answer_2": ANSWERS, "verdict": ("A", "B", "A", "A")}
    maps = maps_of(shown_of(rows))
    assert (maps["field.a"], maps["field.b"]) == ("answer_1", "answer_2")
    # In both orders, words that the texts are called by tell what these are.
    orders = {"id": ("1", "1", "2", "2"), "order": ("ab", "ba", "ab", "ba")}
    named = {**orders, "left_text": ANSWERS, "right_text": ANSWERS, "winner": ("left", "right") * 2}
    assert maps_of(shown_of(named))["field.left_text"] == "left_text"


@pytest.mark.parametrize("written", ["response", "answer", "output", "completion"])
def test_two_texts_with_letters_are_those_that_verdicts_a_and_b_name(written: str) -> None:
    texts = {f"{written}_a": ANSWERS, f"{written}_b": ANSWERS}
    rows = {"id": ("1", "1", "2", "2"), "order": ("ab", "ba") * 2, **texts}
    rows |= {"winner": ("A", "B", "A", "A"), "source_a": QUESTIONS, "source_b": QUESTIONS}
    maps = maps_of(shown_of(rows))
    # What each candidate was made of is no answer.
    assert (maps["field.a"], maps["field.b"]) == (f"{written}_a", f"{written}_b")
    assert maps["field.source_a"] == "source_a"


def test_texts_beside_the_names_of_who_wrote_them_are_of_slots() -> None:
    nested = [{"a": {"model": a}, "b": {"model": b}} for a, b in ("xy", "yx", "xy", "yx")]
    for part, (text, other) in zip(nested, zip(ANSWERS, QUESTIONS, strict=True), strict=True):
        part["a"]["response"], part["b"]["response"] = text, other
    rows = {"id": FOUR, "winner": ("x", "x", "y", "tie")}
    rows |= {side: [part[side] for part in nested] for side in "ab"}
    proposal = shown_of(rows)
    maps = maps_of(proposal)
    assert (maps["first"], maps["second"]) == ("a.model", "b.model")
    assert (maps["field.a"], maps["field.b"]) == ("a.response", "b.response")
    assert options_of(proposal, "names") == [("verdict", "slot"), ("a", "slot")]
