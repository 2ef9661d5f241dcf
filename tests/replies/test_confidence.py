"""How sure a reply says that it is: what is a confidence, what is none, what is wrong with it."""

from __future__ import annotations

import pytest

from pytest_judgesense.replies.confidence import (
    ConfidenceFault,
    StatedConfidence,
    stated_confidence,
)
from pytest_judgesense.suites.space import DecisionSpace

YES_NO = DecisionSpace(("YES", "NO"))
PAIRS = DecisionSpace(("A", "B"), pairwise=True, tie=True)
GRADES = DecisionSpace(("1", "2", "3"), ordinal=True)
NAMED = DecisionSpace(("A", "B"), pairwise=True, names={"A": ("Output (a)",)})


@pytest.mark.parametrize(
    ("text", "space", "verdict", "confidence"),
    [
        ('{"verdict": "A", "confidence": 0.8}', PAIRS, "A", 0.8),
        ('{"verdict": "A", "confidence": 1}', PAIRS, "A", 1.0),
        ('{"verdict": "A", "confidence": "0.80"}', PAIRS, "A", 0.8),
        ('{"verdict": "A", "confidence": "0,8"}', PAIRS, "A", 0.8),
        ('{"verdict": "A", "Confidence": "80 %"}', PAIRS, "A", 0.8),
        ('Sure.\n```json\n{"confidence": 0.5, "winner": "B"}\n```', PAIRS, "B", 0.5),
        # Thinking is no reply, and of two objects the last one concludes.
        ('<think>{"confidence": 0.1}</think>{"verdict": "A", "confidence": 0.7}', PAIRS, "A", 0.7),
        (
            '{"verdict": "B", "confidence": 0.2} {"verdict": "A", "confidence": 0.7}',
            PAIRS,
            "A",
            0.7,
        ),
        # An object of another verdict has no say, whichever comes last.
        (
            '{"verdict": "A", "confidence": 0.7} {"verdict": "B", "confidence": 0.2}',
            PAIRS,
            "A",
            0.7,
        ),
        # The verdict stands in prose: an object without any says how sure it is.
        ('Verdict: A\n{"confidence": 0.7}', PAIRS, "A", 0.7),
    ],
)
def test_a_number_beside_the_verdict_is_its_confidence(
    text: str, space: DecisionSpace, verdict: str, confidence: float
) -> None:
    stated = stated_confidence(text, space, verdict)
    # A tie is permitted, so the rest is of two verdicts: their shares of it are not known.
    assert stated == StatedConfidence(confidence, None)


@pytest.mark.parametrize(
    ("text", "space", "verdict", "probabilities"),
    [
        # Of two verdicts the rest is that of the other.
        ('{"verdict": "NO", "confidence": 0.75}', YES_NO, "NO", {"YES": 0.25, "NO": 0.75}),
        ('{"verdict": 2, "probabilities": {"1": 0.25, "2": 0.5, "3": 0.25}}', GRADES, "2",
         {"1": 0.25, "2": 0.5, "3": 0.25}),
        # Names as the prompt has them, any case, the truth of a statement; none named has 0.
        ('{"verdict": "A", "probabilities": {"output (a)": 0.5, "b": 0.5}}', NAMED, "A",
         {"A": 0.5, "B": 0.5}),
        ('{"verdict": true, "probabilities": {"True": 0.75, "False": 0.25}}', YES_NO, "YES",
         {"YES": 0.75, "NO": 0.25}),
        ('{"verdict": "A", "probabilities": {"A": 1.0}}', PAIRS, "A",
         {"A": 1.0, "B": 0.0, "tie": 0.0}),
        # Rounded to two decimals, thirds add up to 0.99.
        ('{"verdict": "A", "probabilities": {"A": 0.33, "B": 0.33, "tie": 0.33}}', PAIRS, "A",
         {"A": 1 / 3, "B": 1 / 3, "tie": 1 / 3}),
    ],
)  # fmt: skip
def test_probabilities_are_those_of_the_verdicts(
    text: str, space: DecisionSpace, verdict: str, probabilities: dict[str, float]
) -> None:
    stated = stated_confidence(text, space, verdict)
    assert isinstance(stated, StatedConfidence)
    assert stated.probabilities == pytest.approx(probabilities)
    assert stated.in_verdict(verdict) == pytest.approx(probabilities[verdict])


@pytest.mark.parametrize(
    ("beside", "found"),
    [
        ('"confidence": 85', "confidence = 85"),
        ('"confidence": -0.1', "confidence = -0.1"),
        ('"confidence": "85"', "confidence = 85"),
        ('"confidence": NaN', "confidence = nan"),
        (f'"confidence": 1{"0" * 400}', "confidence = 1e+09"),
        ('"probabilities": {"A": 0.7, "C": 0.3}', "probabilities of 'C'"),
        ('"probabilities": {"A": 0.7, "a": 0.3}', "probabilities of 'a' twice"),
        ('"probabilities": {"A": 70, "B": 30}', "probabilities with 'A': 70"),
        ('"probabilities": {"A": 0.7, "B": null}', "probabilities with 'B': None"),
        ('"probabilities": {"A": 0.7, "B": 0.1}', "probabilities that add up to 0.8"),
        ('"probabilities": {}', "probabilities that add up to 0"),
        ('"probabilities": {"A": 1.0}, "confidence": 3', "confidence = 3"),
    ],
)
def test_what_is_out_of_range_or_of_no_verdict_or_adds_up_to_more_is_a_fault(
    beside: str, found: str
) -> None:
    fault = stated_confidence(f'{{"verdict": "A", {beside}}}', PAIRS, "A")
    assert isinstance(fault, ConfidenceFault)
    assert fault.found == found
    assert fault.expected


@pytest.mark.parametrize(
    "text",
    [
        "A",
        "A, with a confidence of 0.8",
        '{"verdict": "A"}',
        '{"verdict": "A", "confidence": "high"}',
        '{"verdict": "A", "confidence": null}',
        '{"verdict": "A", "confidence": true}',
        '{"verdict": "A", "probabilities": [0.7, 0.3]}',
        '{"verdict": "A", "style": {"confidence": 0.8}}',
        '{"verdict": "A", "confidence": 0.',
        # In a claim, in a draft, in what the prose does not follow: none in this verdict.
        '{"claim": "The sky is green.", "confidence": 0.1}\n{"verdict": "A"}',
        '{"verdict": "B", "confidence": 0.2}\n{"verdict": "A"}',
        '{"verdict": "B", "confidence": 0.2}\nFinal verdict: A',
        # An object that is broken states the verdict all the same.
        '{"claim": "The sky is green.", "confidence": 0.1}\n{"verdict": "A", "why": "it"s"}',
    ],
)
def test_words_and_what_stands_elsewhere_state_no_confidence(text: str) -> None:
    assert stated_confidence(text, PAIRS, "A") is None
