"""Between which ends the numbers of a table lie: as the user states them, or by its contents."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.questions.import_.question import ImportQuestion
from pytest_judgesense.trial import Design, ScoreRange

LOG = Path("log.jsonl")
HALVES = (("4.5", "4.0"), ("1.0", "2.0"), ("3.0", "5.0"))
WHOLE = (("4", "5"), ("5", "5"), ("4", "4"))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def question(pairs: tuple[tuple[str, str], ...], **options: object) -> ImportQuestion:
    """A table of what the judge and a person said."""
    rows = (f"i{place},{verdict},{label}" for place, (verdict, label) in enumerate(pairs))
    Path("t.csv").write_text("\n".join(("item,verdict,label", *rows)), encoding="utf-8")
    return ImportQuestion(ImportOptions(Path("t.csv"), **options), LOG)  # type: ignore[arg-type]


def design_of(pairs: tuple[tuple[str, str], ...], **options: object) -> Design:
    return question(pairs, **options).answer().judgments[0][1]


@pytest.mark.parametrize("pairs", [HALVES, HALVES[::-1]])
def test_ends_by_the_contents_are_told_with_the_option_that_states_others(
    pairs: tuple[tuple[str, str], ...],
) -> None:
    assert design_of(pairs).score == ScoreRange(1, 5)
    told = [line for line in question(pairs).preview().lines() if "scores of 1 to 5" in line]
    assert "shortest usual range" in " ".join(told)
    assert "--range LOW,HIGH" in str(question(pairs).preview())


def test_stated_ends_are_those_of_the_design_and_of_the_command() -> None:
    assert design_of(HALVES, range=("0", "10")).score == ScoreRange(0, 10)
    assert "--range 0,10" in str(question(HALVES, range=("0", "10")).preview())


def test_grades_that_nobody_gave_are_levels_between_stated_ends() -> None:
    assert design_of(WHOLE).labels == ("4", "5")  # two values are labels
    design = design_of(WHOLE, range=("1", "5"))
    assert (design.labels, design.ordinal) == (("1", "2", "3", "4", "5"), True)
    assert design_of(WHOLE, range=("0", "100")).score == ScoreRange(0, 100)  # 101 levels


def test_a_number_beyond_the_ends_is_an_error_with_its_row() -> None:
    with pytest.raises(LogError) as refused:
        question(HALVES, range=("1", "4")).answer()
    told = str(refused.value)  # the first row: its 4.5 is the first number above 4
    assert "t.csv:2" in told
    assert "4.5" in told
    assert "a number from 1 to 4" in told


def test_ends_of_words_are_refused() -> None:
    with pytest.raises(UsageError, match="--range is not used"):
        question((("yes", "no"), ("no", "no")), range=("1", "5")).answer()
