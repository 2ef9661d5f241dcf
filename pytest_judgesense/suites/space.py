"""The decision space of a suite: the permitted answers and their names."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final

from pytest_judgesense.trial import (
    ABSTAIN,
    TIE,
    Criterion,
    JudgmentOutcome,
    ScoreRange,
    Trial,
    Verdict,
    content_of_slot,
    grouped,
    is_number,
    score_of_text,
)

_MOST_GRADES: Final = 101


@dataclass(frozen=True, slots=True)
class DecisionSpace:
    """The permitted answers of a judge.

    Attributes:
        labels: the answers, in order (``("YES", "NO")``, ``("1", ..., "5")``, ``("A", "B")``).
        ordinal: whether the order of the labels means more and less.
        pairwise: whether a label names one of two slots (then ``labels`` is ``("A", "B")``).
        tie: whether the prompt permits a tie; ``abstain``: an abstention.
        names: how a prompt calls a label, where it does not use the label itself, several names
            allowed: ``{"A": ("Output (a)",), "B": ("Output (b)",), "tie": ("C", "equal")}``.
        cut: ordinal spaces: the lowest label of the upper half where the labels are cut into two;
            ``None`` for the first one above the middle.
        criteria: by which one reply grades, where it gives several grades; ``labels`` are then the
            scale of those without one.
        pass_mark: the share of the way up the scale from which an overall score passes.
        score: the range of the answers where these are numbers: any between the ends, which are
            then the ``labels``; ``None`` for labels.
    """

    labels: tuple[str, ...]
    ordinal: bool = False
    pairwise: bool = False
    tie: bool = False
    abstain: bool = False
    names: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    cut: str | None = None
    criteria: tuple[Criterion, ...] = ()
    pass_mark: float | None = None
    score: ScoreRange | None = None

    @property
    def verdicts(self) -> tuple[str, ...]:
        """All values that a verdict may have: the labels, then ``tie``, then ``abstain``."""
        return self.labels + (TIE,) * self.tie + (ABSTAIN,) * self.abstain

    def permits(self, label: str) -> bool:
        """Whether a label may be the right answer: one of the labels, or a number of the range."""
        if self.score is None:
            return label in self.labels
        return self.score.holds(score_of_text(label))

    def chosen(self, trial: Trial, outcome: JudgmentOutcome) -> str | None:
        """The content that a verdict selects, or its label under a template of this polarity.

        ``None`` where the verdict itself says it, and where there is none.
        """
        if not isinstance(outcome, Verdict):
            return None
        if self.pairwise:
            return content_of_slot(outcome.value, trial.order)
        labels = self.labels
        if trial.condition.get("polarity") == "inverted" and outcome.value in labels:
            return labels[len(labels) - 1 - labels.index(outcome.value)]
        return None

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of a reply that states a verdict, or a prompt's name of it, and no more.

        Strict, as structured output demands: ``{"verdict": "A"}``; a score is a number.
        """
        if self.score is not None:
            low, high = self.score
            return object_schema(verdict={"type": "number", "minimum": low, "maximum": high})
        called = (name for value in self.verdicts for name in self.names.get(value, ()))
        verdict = {"type": "string", "enum": [*dict.fromkeys((*self.verdicts, *called))]}
        return object_schema(verdict=verdict)

    @property
    def described(self) -> str:
        """The verdicts with the names of them in a sentence, for the repair of a reply."""
        if self.score is not None:
            return f"The verdict is a number from {' to '.join(self.score.ends)}."
        called = [
            " or ".join([value, *(name for name in self.names.get(value, ()) if name != value)])
            for value in self.verdicts
        ]
        return f"The verdict is one of: {'; '.join(called)}."

    @property
    def example(self) -> str:
        """A reply that states a verdict, with a placeholder, for the same use."""
        return '{"verdict": "..."} with it.'


def space_of_labels(labels: Sequence[str], values: Mapping[str, str]) -> DecisionSpace | None:
    """The space of replies that may state these answers; ``None`` without any.

    Args:
        labels: the answers, with ``tie`` and ``abstain`` where they are permitted. ``A`` and ``B``
            are slots, numbers a scale.
        values: from what a reply may say for an answer to the answer.
    """
    answers = tuple(label for label in labels if label not in (TIE, ABSTAIN))
    if not answers:
        return None
    words = grouped(values.items(), itemgetter(1))
    return DecisionSpace(
        answers,
        ordinal=all(map(is_number, answers)),
        pairwise=answers == ("A", "B"),
        tie=TIE in labels,
        abstain=ABSTAIN in labels,
        names={
            label: tuple(word for word, _ in words[label]) for label in labels if label in words
        },
    )


@lru_cache(maxsize=4096)
def grades_in(verdict: str) -> Mapping[str, Any]:
    """The grades of a verdict; none where it is not of this form, as logs of others may be."""
    try:
        value = json.loads(verdict)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def verdict_of_grades(grades: Mapping[str, str | None]) -> str:
    """The verdict that holds a grade for each criterion, ``null`` where there is none."""
    return json.dumps(grades, separators=(",", ":"), ensure_ascii=False)


def object_schema(**properties: Any) -> dict[str, Any]:
    """The JSON schema of an object with these properties, each required, and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def number_of(text: str) -> float | None:
    """The number that a cell of a table states, also with a decimal comma; ``None`` for none."""
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return None
    return number if math.isfinite(number) and abs(number) < 1e9 else None


def whole_scale(grades: Collection[str]) -> tuple[str, ...] | None:
    """The whole numbers from the least to the greatest of ``grades``.

    ``None`` if one of them is no number, or they make no scale of 2 to 101 grades.
    """
    numbers = [number for number in map(number_of, grades) if number is not None]
    low, high = (math.floor(min(numbers)), math.ceil(max(numbers))) if numbers else (0, 0)
    if len(numbers) < len(grades) or not 0 < high - low < _MOST_GRADES:
        return None
    return tuple(str(grade) for grade in range(low, high + 1))


def position(grade: object, labels: Sequence[str]) -> float:
    """The place of a grade on a scale, from 0; NaN for none of it.

    A number between two grades lies between their places: people may give halves.
    """
    text = str(grade)
    if text in labels:
        return float(labels.index(text))
    try:
        number = float(text)
    except ValueError:
        return math.nan
    places = {float(label): place for place, label in enumerate(labels) if is_number(label)}
    below = max((step for step in places if step <= number), default=None)
    above = min((step for step in places if step >= number), default=None)
    if below is None or above is None:
        return math.nan
    way = (number - below) / (above - below) if above > below else 0.0
    return places[below] + way * (places[above] - places[below])
