"""What a reply says of a score: numbers of the range, and nothing that would be a guess."""

from __future__ import annotations

import pytest

from pytest_judgesense.judges.functions import said_by
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import ScoreRange, Unparsed, Verdict, score_text


def space_of(low: float, high: float) -> DecisionSpace:
    score_range = ScoreRange(low, high)
    return DecisionSpace(score_range.ends, score=score_range)


UNIT, TEN, HUNDRED = space_of(0, 1), space_of(0, 10), space_of(0, 100)


@pytest.mark.parametrize(
    ("space", "reply", "verdict"),
    [
        (UNIT, "0.73", "0.73"),
        (UNIT, "Score: 0.730", "0.73"),
        # As Python and JSON print them: 12 decimals are kept.
        (UNIT, "0.3333333333333333", "0.333333333333"),
        (UNIT, '{"score": 0.06666666666666667}', "0.066666666667"),
        (UNIT, "Score: 0.06666666666666667", "0.066666666667"),
        (UNIT, '{"score": 0.73, "confidence": 0.9}', "0.73"),
        (UNIT, '{"score": 1e-05}', "0.00001"),
        (UNIT, "**Score:** .9", "0.9"),
        (UNIT, "[[0.8]]", "0.8"),
        (UNIT, "Score: 0,73", "0.73"),
        (UNIT, "0,1", "0.1"),
        (UNIT, "73/100", "0.73"),
        (UNIT, "Score: 0.85/1.0", "0.85"),
        (UNIT, "73%", "0.73"),
        (UNIT, "I would give it 0.7.", "0.7"),
        (UNIT, "1", "1"),
        (TEN, "7,25", "7.25"),
        (TEN, "0,5", "0.5"),
        (TEN, "Rating: 7.5/10", "7.5"),
        (HUNDRED, "85/100", "85"),
        (HUNDRED, "I rate this 85 out of 100.", "85"),
        (HUNDRED, "73%", "73"),
        (HUNDRED, "73,05", "73.05"),
        (HUNDRED, "0.73", "0.73"),
    ],
)
def test_a_number_of_the_range_is_a_verdict(space: DecisionSpace, reply: str, verdict: str) -> None:
    assert parse_reply(reply, space) == Verdict(verdict)


@pytest.mark.parametrize(
    ("space", "reply", "reason"),
    [
        (UNIT, "1.2", "out of range: 1.2"),
        (UNIT, "-0.1", "out of range: -0.1"),
        (UNIT, '{"score": 7}', "out of range: 7"),
        (HUNDRED, "7/10", "out of range: 7/10"),
        (HUNDRED, "Score: 101", "out of range: 101"),
        # Another scale, two numbers, a decimal comma or a pair, a thousand or a pair.
        (HUNDRED, "On a scale of 1 to 10: 7", "no verdict"),
        (UNIT, "0.7 or 0.8", "several verdicts: 0.7, 0.8"),
        (UNIT, "0.7-0.8", "several verdicts: 0.7, 0.8"),
        (HUNDRED, "73,5", "several verdicts: 5, 73"),
        (HUNDRED, "1,000", "several verdicts: 0, 1"),
        # Words, and what is true.
        (UNIT, "good", "no verdict"),
        (UNIT, "true", "no verdict"),
        (UNIT, '{"score": true}', "no verdict"),
        (UNIT, "", "empty reply"),
    ],
)
def test_nothing_is_guessed(space: DecisionSpace, reply: str, reason: str) -> None:
    assert parse_reply(reply, space) == Unparsed(reason)


def test_a_number_that_may_go_on_is_cut_off() -> None:
    # "0.7" may be the beginning of 0.73.
    outcome = parse_reply("Score: 0.7", UNIT, truncated=True)
    assert outcome == Unparsed("cut off before the verdict")


@pytest.mark.parametrize(
    ("returned", "outcome"),
    [
        (0.73, Verdict("0.73")),
        (0.1 + 0.2, Verdict("0.3")),
        (1e-05, Verdict("0.00001")),
        (2 / 30, Verdict("0.066666666667")),
        (1e-08 / 3, Verdict("0.000000003333")),
        (1e-20, Verdict("0")),
        (1, Verdict("1")),
        (float("nan"), Unparsed("no verdict")),
        (True, Unparsed("no verdict")),
        ({"score": 0.5}, Verdict("0.5")),
    ],
)
def test_what_a_function_returns_is_a_score(returned: object, outcome: Verdict | Unparsed) -> None:
    judge = JudgeSpec("own", "callable", "app:judge")
    assert parse_reply(said_by(returned, judge, UNIT), UNIT) == outcome


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.73, "0.73"), (4.0, "4"), (-0.0, "0"), (1e-05, "0.00001"), (123456789.5, "123456789.5")],
)
def test_a_score_has_one_spelling(number: float, text: str) -> None:
    assert score_text(number) == text


def test_the_schema_of_a_score_is_a_number_of_the_range() -> None:
    assert HUNDRED.schema["properties"]["verdict"] == {
        "type": "number",
        "minimum": 0,
        "maximum": 100,
    }
    assert HUNDRED.described == "The verdict is a number from 0 to 100."
