"""Which judgments count alike: what is measured is compared, and not the text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_judgesense.judges.remembered import measured_alike
from pytest_judgesense.trial import Failed, Judgment, Trial, Unparsed, Verdict

TRIAL = Trial("s/i/t/ab/r1", "s", "i", "i", "t", "ab", 1)
JUDGED = Judgment(
    TRIAL,
    "mine",
    Verdict("A"),
    reply="A, I think",
    detail={"grades": {"tone": 4}, "short_reason": "better", "repair": {"calls": 1}},
    probabilities={"A": 0.7, "B": 0.3},
)


@pytest.mark.parametrize(
    "change",
    [
        {"reply": "A"},
        {"latency_s": 2.0},
        {"detail": {"grades": {"tone": 4.0}, "short_reason": "longer"}},
        {"probabilities": {"A": 0.7 + 5e-10, "B": 0.3 - 5e-10}},
    ],
)
def test_words_and_rounding_are_not_measured(change: dict[str, Any]) -> None:
    assert measured_alike(JUDGED, replace(JUDGED, **change))


@pytest.mark.parametrize(
    "change",
    [
        {"outcome": Verdict("B")},
        {"outcome": Unparsed("no verdict")},
        {"outcome": Failed("ValueError")},
        {"detail": {"grades": {"tone": 5}}},
        {"detail": None},
        {"probabilities": {"A": 0.7 + 1e-8, "B": 0.3 - 1e-8}},
        {"probabilities": None},
    ],
)
def test_verdicts_grades_and_probabilities_are(change: dict[str, Any]) -> None:
    assert not measured_alike(JUDGED, replace(JUDGED, **change))


def test_a_refusal_is_another_outcome_than_a_reply_without_a_verdict() -> None:
    def unparsed(reason: str) -> Judgment:
        return replace(JUDGED, outcome=Unparsed(reason))

    assert not measured_alike(unparsed("refusal"), unparsed("no verdict"))
    assert measured_alike(unparsed("no verdict"), unparsed("several verdicts"))
