"""Replies of debate judges: each is a judgment, or unparsed with its reason."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.instruments.debate.replies import CATEGORIES, REPLY_SCHEMA, parse_debate
from pytest_judgesense.trial import Unparsed, Verdict

WHOLE: dict[str, Any] = {
    "scores": {name: {"PRO": 7, "CON": 5.5} for name in CATEGORIES},
    "winner": "PRO",
    "confidence": 0.75,
    "short_reason": "CON drops two points.",
}


def changed(**other: Any) -> dict[str, Any]:
    return {**WHOLE, **other}


def scored(category: str, **sides: Any) -> dict[str, Any]:
    return changed(scores={**WHOLE["scores"], category: sides})


def test_a_whole_reply_is_read_whole() -> None:
    outcome, detail = parse_debate(json.dumps(WHOLE))
    assert outcome == Verdict("PRO")
    assert detail == {
        "scores": {name: {"PRO": 7.0, "CON": 5.5} for name in CATEGORIES},
        "confidence": 0.75,
        "short_reason": "CON drops two points.",
        "flags": [],
    }


@pytest.mark.parametrize(
    "text",
    [
        "```json\n{}\n```",
        "```\n{}```",
        "  {}\n",
        '<think>CON? {{"winner": "CON"}}</think>\n{}',
    ],
)
def test_fences_blanks_and_thinking_are_no_text_around_it(text: str) -> None:
    reply = text.replace("{{", "{").replace("}}", "}").replace("{}", json.dumps(WHOLE))
    outcome, detail = parse_debate(reply)
    assert outcome == Verdict("PRO")
    assert detail is not None
    assert detail["flags"] == []


def test_prose_around_the_object_is_flagged() -> None:
    outcome, detail = parse_debate(f"My verdict {{so far}}: {json.dumps(WHOLE)} That is all.")
    assert outcome == Verdict("PRO")
    assert detail is not None
    assert detail["flags"] == ["text around the JSON"]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (scored("clash", PRO=7), "missing: scores.clash.CON"),
        (changed(scores={"clash": WHOLE["scores"]["clash"]}), "missing: scores.argument_quality"),
        ({k: v for k, v in WHOLE.items() if k != "confidence"}, "missing: confidence"),
        ({k: v for k, v in WHOLE.items() if k != "winner"}, "missing: winner"),
        (scored("evidence", PRO=11, CON=5), "out of range: scores.evidence.PRO = 11"),
        (scored("evidence", PRO=-0.5, CON=5), "out of range: scores.evidence.PRO = -0.5"),
        (changed(confidence=85), "out of range: confidence = 85"),
        (changed(confidence=float("nan")), "out of range: confidence = nan"),
        (scored("weighing", PRO="high", CON=5), "not a number: scores.weighing.PRO"),
        (scored("weighing", PRO=True, CON=5), "not a number: scores.weighing.PRO"),
        (changed(confidence=None), "not a number: confidence"),
        (changed(winner="TIE"), "no winner: 'TIE'"),
        (changed(winner=None), "no winner: 'None'"),
        (changed(short_reason=7), "not a text: short_reason"),
    ],
)
def test_a_violation_is_never_mended(value: dict[str, Any], reason: str) -> None:
    assert parse_debate(json.dumps(value)) == (Unparsed(reason), None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty reply"),
        (" \n", "empty reply"),
        ("PRO has won.", "no JSON object"),
        ('{"note": "PRO has won"}', "no JSON object"),
        ("I'm sorry, but I cannot judge this debate.", "refusal"),
        (json.dumps(WHOLE)[:-40], "truncated JSON"),
        ("<think>PRO answers", "truncated JSON"),
        (json.dumps(WHOLE).replace('"winner":', '"winner"'), "malformed JSON"),
        (json.dumps(WHOLE) + json.dumps(changed(winner="CON")), "several judgments"),
    ],
)
def test_a_reply_without_a_judgment_says_why(text: str, reason: str) -> None:
    assert parse_debate(text) == (Unparsed(reason), None)


def test_a_reply_that_the_endpoint_cut_counts_if_its_object_is_whole() -> None:
    assert parse_debate(json.dumps(WHOLE) + " And fur", truncated=True)[0] == Verdict("PRO")
    assert parse_debate("Stage one: the first", truncated=True)[0] == Unparsed("truncated JSON")


def test_a_winner_that_contradicts_its_scores_counts_and_is_flagged() -> None:
    outcome, detail = parse_debate(json.dumps(changed(winner=" con ")))
    assert outcome == Verdict("CON")
    assert detail is not None
    assert detail["flags"] == ["winner contradicts the scores"]
    # Equal totals contradict nobody.
    level = {name: {"PRO": 5, "CON": 5} for name in CATEGORIES}
    for winner in ("PRO", "CON"):
        _, detail = parse_debate(json.dumps(changed(scores=level, winner=winner)))
        assert detail is not None
        assert detail["flags"] == []


def test_a_judgment_without_a_reason_counts_and_is_flagged() -> None:
    value = {key: given for key, given in WHOLE.items() if key != "short_reason"}
    outcome, detail = parse_debate(json.dumps(value))
    assert outcome == Verdict("PRO")
    assert detail is not None
    assert detail["flags"] == ["no short_reason"]


def test_the_schema_that_providers_are_sent_asks_for_what_is_read() -> None:
    assert set(REPLY_SCHEMA["required"]) == set(WHOLE)
    assert set(REPLY_SCHEMA["properties"]["scores"]["required"]) == set(CATEGORIES)
    assert REPLY_SCHEMA["properties"]["winner"]["enum"] == ["PRO", "CON"]


@given(st.text(max_size=200))
def test_no_text_is_an_error(text: str) -> None:
    outcome, detail = parse_debate(text)
    assert isinstance(outcome, Unparsed) == (detail is None)


@given(st.integers(0, 400))
def test_a_reply_cut_anywhere_is_unparsed(length: int) -> None:
    text = json.dumps(WHOLE)
    outcome, _ = parse_debate(text[: min(length, len(text) - 1)])
    assert isinstance(outcome, Unparsed)
