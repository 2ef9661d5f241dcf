"""Plain numbers of others: whether they are grades or scores, and the judgments of such suites.

A file says of a number neither what it means nor how far the scale goes. Three to twelve whole
numbers in a row are grades, more of them or decimals a score (`suites.answer_kinds`); the range of
a score is the shortest usual one that holds all its numbers and labels, which a notice says, unless
somebody states it. Error and bias in units of the score, and its order, do not depend on it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from pytest_judgesense.registry import Registry
from pytest_judgesense.suites.answer_kinds import inferred_answers
from pytest_judgesense.suites.space import number_of
from pytest_judgesense.trial import (
    ABSTAIN,
    LABEL,
    TIE,
    Design,
    Judgment,
    ScoreRange,
    Verdict,
    score_text,
)

_FEWEST: Final = 2  # labels that are no scale
_USUAL: Final = (
    ScoreRange(0, 1),
    ScoreRange(-1, 1),
    ScoreRange(1, 5),
    ScoreRange(0, 5),
    ScoreRange(1, 7),
    ScoreRange(1, 10),
    ScoreRange(0, 10),
    ScoreRange(0, 100),
)


def score_range(numbers: Iterable[float]) -> ScoreRange:
    """The shortest usual range that holds ``numbers``, of which there are two or more; else theirs.

    Theirs is from the whole number below the least to the one above the greatest.
    """
    listed = [*numbers]
    usual = (common for common in _USUAL if all(map(common.holds, listed)))
    own = ScoreRange(float(math.floor(min(listed))), float(math.ceil(max(listed))))
    return next(usual, own)


def of_numbers(
    judgments: Sequence[Judgment],
    design: Design,
    registry: Registry,
    ends: ScoreRange | None = None,
) -> tuple[list[Judgment], Design] | None:
    """The judgments of a suite whose verdicts are grades or scores, and its design.

    Args:
        judgments: of one suite, by any judges.
        design: as they were read: labels of a plain suite.
        registry: what gives the kinds of suites.
        ends: of the scale, where they are stated; they are possible answers, given or not.

    Returns:
        ``None`` where they are labels, and where no instrument is there for what they are.
    """
    if design.pairwise or design.criteria or design.kind != registry.default.name:
        return None
    words = {word for judgment in judgments for word in _words(judgment)} - {TIE, ABSTAIN}
    answers = inferred_answers({*words, *(ends.ends if ends else ())})
    if answers.are_scores and registry.scoring is not None:
        return _as_scores(judgments, design, registry.scoring.name, ends)
    is_scale = design.ordinal and len(design.labels) > _FEWEST and words <= {*design.labels}
    is_scale = is_scale and ends is None
    if (answers.are_grades or is_scale) and registry.grading is not None:
        labels = design.labels if is_scale else answers.labels
        return [*judgments], replace(
            design, kind=registry.grading.name, labels=labels, ordinal=True
        )
    return None


def _words(judgment: Judgment) -> Iterable[str]:
    people = judgment.trial.people.get(LABEL, {}).values()
    return filter(None, (judgment.verdict, judgment.trial.label, *people))


def _as_scores(
    judgments: Sequence[Judgment], design: Design, kind: str, ends: ScoreRange | None
) -> tuple[list[Judgment], Design] | None:
    scored = [_scored(judgment) for judgment in judgments]
    texts = [text for j in scored for text in (j.verdict, j.trial.label) if text is not None]
    numbers = [number for number in map(number_of, texts) if number is not None]
    if len(numbers) < len(texts) or (ends is None and len({*numbers}) < 2):
        return None
    ends = ends or score_range(numbers)
    return scored, replace(design, kind=kind, labels=ends.ends, ordinal=False, score=ends)


def _scored(judgment: Judgment) -> Judgment:
    """``judgment`` with its numbers as verdicts are written; the label is the mean of people."""
    trial, outcome = judgment.trial, judgment.outcome
    people = [number_of(label) for label in trial.people.get(LABEL, {}).values()]
    numbers_of_people = [number for number in people if number is not None]
    label = trial.label
    if numbers_of_people:
        label = score_text(math.fsum(numbers_of_people) / len(numbers_of_people))
    elif label is not None:
        label = _as_written(label)
    if isinstance(outcome, Verdict):
        outcome = Verdict(_as_written(outcome.value))
    return replace(judgment, trial=replace(trial, label=label, people={}), outcome=outcome)


def _as_written(text: str) -> str:
    number = number_of(text)
    return text if number is None else score_text(number)
