"""Replies of rubric judges: grades as one verdict, or unparsed with a reason."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.instruments.rubric.replies import grade_of, parse_grades, reply_form
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import Criterion, Unparsed, Verdict

FIVE = ("1", "2", "3", "4", "5")
CRITERIA = (Criterion("accuracy", FIVE), Criterion("tone", ("fail", "pass")))


@pytest.mark.parametrize(
    "text",
    [
        '{"accuracy": 4, "tone": "pass"}',
        'I see.\n```json\n{"tone": "PASS", "Accuracy": 4.0, "reason": "short"}\n```',
        '{"scores": {"accuracy": "4/5", "tone": " pass "}}',
        '{"accuracy": {"reason": "dates fit", "score": 4}, "tone": {"grade": "pass"}}',
        '<think>{"accuracy": 1, "tone": "fail"}</think>{"accuracy": 4, "tone": "pass"}',
        '{"accuracy": 4}\n{"tone": "pass"}',
        '{"accuracy": "4.0", "tone": "pass"}',
    ],
)
def test_grades_are_read_wherever_they_stand(text: str) -> None:
    found = parse_grades(CRITERIA, text)
    assert found == (Verdict('{"accuracy":"4","tone":"pass"}'), None)


@pytest.mark.parametrize(
    ("text", "grades"),
    [
        ('{"accuracy": 4}', {"accuracy": "4", "tone": None}),
        # Beyond its scale, between two grades, a truth value, of another scale.
        ('{"accuracy": 6, "tone": "pass"}', {"accuracy": None, "tone": "pass"}),
        ('{"accuracy": 3.5, "tone": "pass"}', {"accuracy": None, "tone": "pass"}),
        ('{"accuracy": 4, "tone": true}', {"accuracy": "4", "tone": None}),
        ('{"accuracy": "4/10", "tone": "pass"}', {"accuracy": None, "tone": "pass"}),
    ],
)
def test_what_is_no_grade_is_missing_and_not_filled_in(
    text: str, grades: dict[str, str | None]
) -> None:
    outcome, _ = parse_grades(CRITERIA, text)
    assert isinstance(outcome, Verdict)
    assert json.loads(outcome.value) == grades


@pytest.mark.parametrize(
    ("text", "truncated", "reason"),
    [
        ("  ", False, "empty reply"),
        ("A decent piece of work.", False, "no JSON object"),
        ("I cannot help with that.", False, "refusal"),
        ('{"accuracy": 4, "to', True, "truncated JSON"),
        ("<think>hm", False, "truncated JSON"),
        ('{"accuracy": 4,, "tone": "pass"}', False, "malformed JSON"),
        ('{"accuracy": 4} or {"accuracy": 2}', False, "several judgments"),
        ('thought\nIs it {"accuracy": 4} then?', False, "truncated JSON"),
        ('thought\nIt is a\n{"accuracy": 4}', True, "truncated JSON"),
        ('{"accuracy": "good"}', False, 'no grade: accuracy = "good"'),
        ('{"quality": 4}', False, "no JSON object"),
    ],
)
def test_a_reply_without_any_grade_is_unparsed(text: str, truncated: bool, reason: str) -> None:
    assert parse_grades(CRITERIA, text, truncated) == (Unparsed(reason), None)


def test_a_bare_thought_before_a_whole_object_is_no_truncation() -> None:
    text = 'thought\n{"accuracy": 4}? Rather\n```json\n{"accuracy": 2, "tone": "pass"}\n```'
    outcome, _ = parse_grades(CRITERIA, text)
    assert isinstance(outcome, Verdict)
    assert json.loads(outcome.value)["accuracy"] == "2"


@given(st.text() | st.recursive(st.none() | st.floats() | st.text(), st.lists).map(json.dumps))
def test_no_reply_breaks_the_reader(text: str) -> None:
    outcome, detail = parse_grades(CRITERIA, text)
    assert detail is None
    assert isinstance(outcome, Unparsed | Verdict)


@given(st.integers() | st.floats() | st.text() | st.booleans() | st.none())
def test_a_grade_is_a_label_of_its_scale_or_none(value: object) -> None:
    assert grade_of(value, FIVE) in {None, *FIVE}


def test_the_schema_holds_each_criterion_to_its_scale() -> None:
    form = reply_form(DecisionSpace(FIVE, criteria=CRITERIA))
    assert form is not None
    assert form.schema == {
        "type": "object",
        "properties": {
            "accuracy": {"type": "integer", "enum": [1, 2, 3, 4, 5]},
            "tone": {"type": "string", "enum": ["fail", "pass"]},
        },
        "required": ["accuracy", "tone"],
        "additionalProperties": False,
    }
    assert reply_form(DecisionSpace(FIVE)) is None
