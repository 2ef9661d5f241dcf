"""Conclusions of reasoning that a reply's JSON object is held against; weighing is none."""

from __future__ import annotations

import json
import time

import pytest

from pytest_judgesense.replies import parse_reply
from pytest_judgesense.replies.reasoned import reasoned_verdict
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import Verdict

PAIR = DecisionSpace(("A", "B"), pairwise=True)
GRADES = DecisionSpace(("1", "2", "3", "4", "5"), ordinal=True)
PASS = DecisionSpace(("PASS", "FAIL"))


@pytest.mark.parametrize(
    "reply",
    [
        'Preset B is vastly superior in every respect.\n{"preference": "A"}',
        '{"reasoning": "B is vastly superior", "preference": "A"}',
        '{"preference": "A", "reasoning": "Both are short. B is better."}',
        '{"rationale": "Therefore, Response B is better. It cites its sources.", "winner": "A"}',
        '{"explanation": "A is better in style, but B is right.\\nVerdict: B", "winner": "A"}',
        '{"reason": "B is clearly better than A because it is right.", "winner": "A"}',
        '{"thought": "The winner is [[B]]", "winner": "A"}',
        '{"analysis": "Overall, I think that B is the better one.", "winner": "A"}',
        '<think>A is short. So B is better.</think>{"winner": "A"}',
        'B wins overall. Here is my verdict:\n```json\n{"winner": "A"}\n```',
    ],
)
def test_a_conclusion_that_the_object_contradicts_is_found(reply: str) -> None:
    assert parse_reply(reply, PAIR) == Verdict("A"), "the object is the verdict"
    assert reasoned_verdict(reply, PAIR) == "B"


@pytest.mark.parametrize(
    "reasoning",
    [
        "B is better in style.",
        "B is better at x, but A is right.",
        "B is better written.",
        "B is better. A is right, which weighs more.",
        "Overall, B is better, although A is right.",
        "Therefore B is better. However, it is cut off.",
        "Verdict: B. Wait, A cites its source.",
        "B is better than expected.",
        "B was better for beginners.",
        "If style counted, B is better.",
        "One could say that B is better.",
        "Is B better?",
        "B is not better.",
        "The answer is B, as response A says.",
        "Response A says: 'Therefore B is better.'",
        'The text ends with "Verdict: B".',
        "Vitamin B is better.",
        "[[A]] if A is better, [[B]] if B is better.",
        "Verdict: A or B",
        "The expected verdict is B.",
        "B is better. Therefore A is better.",
        "A is right.",
        "",
    ],
)
def test_what_is_weighed_is_no_conclusion(reasoning: str) -> None:
    reply = json.dumps({"reasoning": reasoning, "winner": "A"})
    assert reasoned_verdict(reply, PAIR) in (None, "A")
    assert reasoned_verdict(f'<think>{reasoning}</think>{{"winner": "A"}}', PAIR) in (None, "A")


@pytest.mark.parametrize(
    ("reply", "space", "verdict"),
    [
        ('{"reasoning": "Verdict: FAIL", "result": "PASS"}', PASS, "FAIL"),
        ('{"reasoning": "It does not fail.", "result": "PASS"}', PASS, None),
        ('{"reasoning": "The verdict is 4.", "score": 2}', GRADES, "4"),
        ('{"reasoning": "Style score: 4. Overall it is 2.", "score": 2}', GRADES, None),
        ('{"reasoning": "4 is better than 2.", "score": 2}', GRADES, None),
    ],
)
def test_labels_that_name_no_candidate_need_a_heading(
    reply: str, space: DecisionSpace, verdict: str | None
) -> None:
    assert reasoned_verdict(reply, space) == verdict


@pytest.mark.parametrize(
    "reply",
    [
        "B is better.",
        '{"reasoning": "B is better.", "winner": "A"} {"winner": "B"}',
        '{"reasoning": "B is better.", "winner": "A"',
        '{"b": {"reasoning": "B is better."}, "winner": "A"}',
        '<think>B is better. {"winner": "A"}',
    ],
)
def test_only_the_reasoning_of_one_whole_object_is_read(reply: str) -> None:
    assert reasoned_verdict(reply, PAIR) is None


@pytest.mark.parametrize("unit", ["B is better. ", "Verdict: B\n", "so ", "i think that ", "is a "])
def test_hostile_reasoning_costs_no_more_than_its_length(unit: str) -> None:
    reply = '{"reasoning": "' + (unit * 60_000).replace("\n", "\\n") + '", "winner": "A"}'
    before = time.thread_time()
    reasoned_verdict(reply, PAIR)
    # 60,000 units are read in some 0.1 s of the processor; what is quadratic takes minutes.
    assert time.thread_time() - before < 5
