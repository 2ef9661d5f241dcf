"""Verdicts and labels such as 4/5 and 36% are measured as the numbers that they are.

That they are grades is tested with the room of grades.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.trial import ScoreRange
from tests.questions.import_.tables import judge_and_person

FIFTHS = (("4/5", "5/5"), ("2/5", "3/5"), ("3/5", "2/5"))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_per_cents_are_a_score_from_0_to_100() -> None:
    judged = judge_and_person((("36%", "40%"), ("90%", "85.5%"), ("7%", "0%"))).answer().judgments
    assert judged[0][1].score == ScoreRange(0, 100)
    assert [(j.verdict, j.trial.label) for j, _ in judged] == [
        ("36", "40"),
        ("90", "85.5"),
        ("7", "0"),
    ]


def test_a_renamed_word_is_what_the_user_says() -> None:
    judged = judge_and_person((*FIFTHS, ("8/10", "4/5")), value=(("8/10", "4"),)).answer().judgments
    assert [judgment.verdict for judgment, _ in judged] == ["4", "2", "3", "4"]


@pytest.mark.parametrize(
    ("pair", "what"),
    [
        (("8/10", "4/5"), r"several scales[\s\S]*8/10 in column verdict[\s\S]*--value 8/10=NUMBER"),
        (("4/5", "80%"), r"several scales[\s\S]*80% in column label"),
    ],
)
def test_several_wholes_are_an_error_that_says_what_to_do(pair: tuple[str, str], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        judge_and_person((*FIFTHS, pair)).answer()


def test_shares_beside_per_cents_are_an_error() -> None:
    with pytest.raises(UsageError, match="label shares from 0 to 1"):
        judge_and_person((("36%", ".4"), ("90%", ".9"), ("7%", "0"))).answer()


def test_dates_stay_words() -> None:
    design = judge_and_person((*FIFTHS, ("13/5", "4/5"))).answer().judgments[0][1]
    assert "13/5" in design.labels
    assert not design.ordinal
