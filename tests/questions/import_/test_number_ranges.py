"""Between which ends the numbers of a table lie: as the user states them, or by its contents.

That whole numbers are grades is tested with the room of grades.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.trial import ScoreRange
from tests.questions.import_.tables import design_of, judge_and_person

HALVES = (("4.5", "4.0"), ("1.0", "2.0"), ("3.0", "5.0"))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("pairs", [HALVES, HALVES[::-1]])
def test_ends_by_the_contents_are_told_with_the_option_that_states_others(
    pairs: tuple[tuple[str, str], ...],
) -> None:
    assert design_of(pairs).score == ScoreRange(1, 5)
    told = [
        line for line in judge_and_person(pairs).preview().lines() if "scores of 1 to 5" in line
    ]
    assert "shortest usual range" in " ".join(told)
    assert "--range LOW,HIGH" in str(judge_and_person(pairs).preview())


def test_stated_ends_are_those_of_the_design_and_of_the_command() -> None:
    assert design_of(HALVES, range=("0", "10")).score == ScoreRange(0, 10)
    assert "--range 0,10" in str(judge_and_person(HALVES, range=("0", "10")).preview())


def test_a_number_beyond_the_ends_is_an_error_with_its_row() -> None:
    with pytest.raises(LogError) as refused:
        judge_and_person(HALVES, range=("1", "4")).answer()
    told = str(refused.value)  # the first row: its 4.5 is the first number above 4
    assert "t.csv:2" in told
    assert "4.5" in told
    assert "a number from 1 to 4" in told


def test_ends_of_words_are_refused() -> None:
    with pytest.raises(UsageError, match="--range is not used"):
        judge_and_person((("yes", "no"), ("no", "no")), range=("1", "5")).answer()
