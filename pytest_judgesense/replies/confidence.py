"""How sure a reply says that it is of its verdict: JSON objects with ``confidence``. Pure.

A JSON object may state, beside its verdict, either of these, or both::

    {"verdict": "A", "confidence": 0.8}
    {"verdict": "A", "probabilities": {"A": 0.8, "B": 0.2}}

``confidence`` is the probability, from 0 to 1, that the verdict is right: a number, a text of one,
or a per cent with its sign. ``probabilities`` are those of the verdicts by name; a verdict that is
not named has 0, and they add up to 1 within what rounding leaves. Of a space of two verdicts a
confidence is the probability of the one, and the rest that of the other. Words (``"high"``) state
no number, so they are passed over.

A reply may hold several objects: claims, a draft, the verdict. Those count that state the verdict
of the reply or, where it stands in prose, those that state none; a number in any other is about
something else. Of those that count the last one that states any does.

A number out of range, a name of no verdict and a wrong sum are faults: the verdict stands, and no
number is made of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from pytest_judgesense.replies import parse_reply
from pytest_judgesense.replies.formal import json_objects, verdict_of_value
from pytest_judgesense.replies.spellings import labels_of
from pytest_judgesense.replies.text import without_thinking
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import Verdict

CONFIDENCE: Final = "confidence"
PROBABILITIES: Final = "probabilities"
# A key of a judgment's detail: what a reply states as its confidence, and is none.
UNUSABLE: Final = "unusable_confidence"
_MENTIONED: Final = re.compile(rf"{CONFIDENCE}|{PROBABILITIES}", re.IGNORECASE)
# Three thirds of two decimals add up to 0.99.
_ROUNDED: Final = 0.015
_NUMBER: Final = re.compile(r"([+-]?(?:\d{1,9}(?:[.,]\d{0,18})?|[.,]\d{1,18}))\s*(%?)")
_GREATEST: Final = 10**9
_TRUTH: Final[Mapping[str, bool]] = {"true": True, "false": False}


class StatedConfidence(NamedTuple):
    """How sure a reply says that it is.

    Attributes:
        confidence: the probability that its verdict is right, from 0 to 1; ``None`` where only the
            probabilities are stated.
        probabilities: of all verdicts of the space, which add up to 1; ``None`` where they neither
            are stated nor follow.
    """

    confidence: float | None
    probabilities: Mapping[str, float] | None

    def in_verdict(self, verdict: str) -> float | None:
        """The confidence in the verdict of the reply."""
        if self.confidence is not None or self.probabilities is None:
            return self.confidence
        return self.probabilities.get(verdict)


class ConfidenceFault(NamedTuple):
    """What a reply states as its confidence, and is none."""

    found: str
    expected: str


def stated_confidence(
    text: str, space: DecisionSpace, verdict: str
) -> StatedConfidence | ConfidenceFault | None:
    """The confidence that a reply states.

    Args:
        text: of the reply.
        space: the permitted answers; no range of scores.
        verdict: that of the reply.

    Returns:
        The confidence, or what is wrong with it; ``None`` where the reply states none.
    """
    if not _MENTIONED.search(text):
        return None
    answer, _ = without_thinking(text)
    stated = None
    for value in _about_the_verdict(answer, space, verdict):
        keys = {str(key).casefold(): inner for key, inner in value.items()}
        confidence, chances = number_stated(keys.get(CONFIDENCE)), keys.get(PROBABILITIES)
        if confidence is not None or isinstance(chances, Mapping):
            stated = confidence, chances if isinstance(chances, Mapping) else None
    return None if stated is None else _checked(*stated, space, verdict)


def _about_the_verdict(
    answer: str, space: DecisionSpace, verdict: str
) -> list[Mapping[str, object]]:
    """The objects whose confidence is one in the verdict; a broken one has no keys."""
    by_verdict: dict[str | None, list[Mapping[str, object]]] = {}
    for start, end, value in json_objects(answer):
        outcome = parse_reply(answer[start:end], space)
        of_object = outcome.value if isinstance(outcome, Verdict) else None
        by_verdict.setdefault(of_object, []).append(value or {})
    return by_verdict.get(verdict) or by_verdict.get(None, [])


def number_stated(value: object) -> float | None:
    """The number that a value is or writes out, ``80%`` as 0.8; ``None`` for anything else."""
    if isinstance(value, str):
        written = _NUMBER.fullmatch(value.strip())
        if written is None:
            return None
        return float(written[1].replace(",", ".")) / (100 if written[2] else 1)
    if isinstance(value, float):
        return value
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return float(max(-_GREATEST, min(value, _GREATEST)))  # no float holds each whole number


def _checked(
    confidence: float | None, chances: Mapping[str, Any] | None, space: DecisionSpace, verdict: str
) -> StatedConfidence | ConfidenceFault:
    """The confidence within its range, with the probabilities that are stated or follow."""
    if confidence is not None and not 0 <= confidence <= 1:
        return ConfidenceFault(f"{CONFIDENCE} = {confidence:g}", "a number from 0 to 1")
    if chances is not None:
        probabilities = _probabilities(chances, space)
        if isinstance(probabilities, ConfidenceFault):
            return probabilities
        return StatedConfidence(confidence, probabilities)
    others = [other for other in space.verdicts if other != verdict]
    if confidence is None or len(others) != 1 or len(space.verdicts) != 2:
        return StatedConfidence(confidence, None)
    of_both = {verdict: confidence, others[0]: 1 - confidence}
    return StatedConfidence(confidence, {name: of_both[name] for name in space.verdicts})


def _probabilities(
    chances: Mapping[str, Any], space: DecisionSpace
) -> dict[str, float] | ConfidenceFault:
    """The probabilities by verdict, which add up to 1."""
    of_verdicts = dict.fromkeys(space.verdicts, 0.0)
    named = set()
    for name, value in chances.items():
        verdict, chance = _verdict_called(str(name), space), number_stated(value)
        if verdict is None or verdict in named:
            twice = " twice" if verdict in named else ""
            return ConfidenceFault(
                f"{PROBABILITIES} of {name!r}{twice}",
                f"one of each of {', '.join(space.verdicts)}, and of nothing else",
            )
        if chance is None or not 0 <= chance <= 1 + _ROUNDED:
            return ConfidenceFault(
                f"{PROBABILITIES} with {name!r}: {value!r}"[:120], "numbers from 0 to 1"
            )
        named.add(verdict)
        of_verdicts[verdict] = chance
    total = sum(of_verdicts.values())
    if not abs(total - 1) <= _ROUNDED:
        return ConfidenceFault(
            f"{PROBABILITIES} that add up to {total:.6g}", "numbers from 0 to 1 that add up to 1"
        )
    return {verdict: chance / total for verdict, chance in of_verdicts.items()}


def _verdict_called(name: str, space: DecisionSpace) -> str | None:
    """The verdict of the space that is called so; ``None`` for no verdict, and for several."""
    labels = labels_of(space)
    outcome = verdict_of_value(_TRUTH.get(name.casefold(), name), labels, labels.read)
    if not isinstance(outcome, Verdict) or outcome.value not in space.verdicts:
        return None
    return outcome.value
