"""Numbers of a table are grades: parts of one whole, or between the ends that the user states."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.trial import ScoreRange
from tests.questions.import_.tables import design_of, judge_and_person

FIFTHS = (("4/5", "5/5"), ("2/5", "3/5"), ("3/5", "2/5"))
WHOLE = (("4", "5"), ("5", "5"), ("4", "4"))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("pairs", [FIFTHS, FIFTHS[::-1]])
def test_parts_of_one_whole_are_grades_up_to_it(pairs: tuple[tuple[str, str], ...]) -> None:
    read = judge_and_person(pairs).answer()
    design = read.judgments[0][1]
    assert (design.labels, design.ordinal) == (("1", "2", "3", "4", "5"), True)
    said = {(judgment.verdict, judgment.trial.label) for judgment, _ in read.judgments}
    assert said == {("4", "5"), ("2", "3"), ("3", "2")}
    assert {judgment.trial.item for judgment, _ in read.judgments} == {"0/9", "1/9", "2/9"}
    assert any("--range 1,5" in line for line in read.taken)


def test_plain_numbers_of_people_are_on_the_scale_of_the_judge() -> None:
    design = design_of((("4/5", "4"), ("2/5", "0"), ("3/5", "2")))
    assert design.labels == ("0", "1", "2", "3", "4", "5")  # a 0 is given


def test_grades_that_nobody_gave_are_levels_between_stated_ends() -> None:
    assert design_of(WHOLE).labels == ("4", "5")  # two values are labels
    design = design_of(WHOLE, range=("1", "5"))
    assert (design.labels, design.ordinal) == (("1", "2", "3", "4", "5"), True)
    assert design_of(WHOLE, range=("0", "100")).score == ScoreRange(0, 100)  # 101 levels


def test_a_word_among_numbers_is_no_grade_of_a_judge_or_of_people() -> None:
    said = [(str(n % 5 + 1), str((n + 1) % 5 + 1)) for n in range(12)]
    said[2:4] = [("N/A", "3"), ("4", "N/A")]
    assert "--value N/A=" in str(judge_and_person(said).preview())
    read = judge_and_person(said, value=(("N/A", ""),)).answer()
    assert read.judgments[0][1].ordinal
    third, fourth = (judgment for judgment, _ in read.judgments[2:4])
    assert (third.verdict, third.trial.label) == (None, "3")
    assert (fourth.verdict, fourth.trial.label) == ("4", None)
