"""Grades of people: stated ones, those of several people, halves and means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from pytest_judgesense.instruments.rubric.grades import human, parts, scores, share_right
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.trial import LABEL, Criterion, Design, Judgment, People
from tests.measures.building import estimate

from .graded import FIVE, TWO, cell_of, reply

# The mean of accuracy is 2.75, of tone 4.
PEOPLE = {"accuracy": {"anna": "2", "ben": "3.5"}, "tone": {"anna": "4"}}


def graded(item: str, grades: Sequence[int], people: People) -> Judgment:
    judgment = reply(item, grades)
    return replace(judgment, trial=replace(judgment.trial, people=people))


def graded_by_people() -> Cell:
    return cell_of([graded("a", (4, 4), PEOPLE), graded("b", (3, 3), {"tone": {"ben": "3"}})])


def test_the_human_grade_is_the_stated_one_else_the_mean_of_people() -> None:
    # (2 + 3.5) / 2 = 2.75, 1.75 of 4 steps up; tone 3 of 4.
    assert human(TWO, {}, PEOPLE) == {"accuracy": 1.75 / 4, "tone": 0.75}
    assert human(TWO, {"human.accuracy": "5"}, PEOPLE) == {"accuracy": 1.0, "tone": 0.75}
    assert human(TWO, {"human.tone": "4.5"}, {}) == {"tone": 3.5 / 4}
    # One overall score has the labels of a verdict.
    assert human(Design("rubric", FIVE), {}, {LABEL: {"anna": "5", "ben": "4"}}) == {
        "overall": 3.5 / 4
    }


def test_words_have_a_mean_by_their_places() -> None:
    words = replace(TWO, criteria=(Criterion("tone", ("rude", "plain", "kind")),))
    assert human(words, {}, {"tone": {"anna": "rude", "ben": "kind"}}) == {"tone": 0.5}
    assert human(words, {}, {"tone": {"anna": "unsure"}}) == {}


def test_distances_are_from_the_mean_and_agreement_is_with_the_nearest_grade() -> None:
    of = graded_by_people()
    # Accuracy: 4 against 2.75. Tone: 4 against 4, and 3 against 3.
    assert estimate(of, "human_bias", criterion="accuracy").value == pytest.approx(1.25)
    assert estimate(of, "human_error", criterion="tone").value == 0
    # Labels: accuracy 3, tone 4 and 3; b's accuracy has none.
    assert parts(of)["accuracy"].coded("label")[1] == ["3"]
    agreement = estimate(of, "agreement")
    assert (agreement.count, agreement.n) == (2, 3)
    # Overall 4 against (2.75 + 4) / 2 = 3.375; b has no overall grade of people.
    assert estimate(of, "human_bias").value == pytest.approx(4 - 3.375)
    assert np.isnan(scores(of).human_overall).tolist() == [False, True]


def test_a_call_is_right_by_the_nearest_grade() -> None:
    # 2.75 is nearest to 3, which the judge does not give; tone is 4.
    assert share_right(graded("a", (4, 4), PEOPLE)) == 0.5
    assert share_right(graded("a", (3, 4), PEOPLE)) == 1.0
    assert share_right(graded("a", (3, 4), {})) is None
