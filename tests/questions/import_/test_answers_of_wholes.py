"""Verdicts and labels such as 4/5 and 36% are measured as the numbers that they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.questions.import_.question import ImportAnswer, ImportQuestion
from pytest_judgesense.trial import ScoreRange

FIFTHS = (("4/5", "5/5"), ("2/5", "3/5"), ("3/5", "2/5"))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def answer(pairs: tuple[tuple[str, str], ...], **options: object) -> ImportAnswer:
    """What a table of the words of a judge and of a person becomes; items look like parts."""
    rows = (f"{place}/9,{verdict},{label}" for place, (verdict, label) in enumerate(pairs))
    Path("t.csv").write_text("\n".join(("item,verdict,label", *rows)), encoding="utf-8")
    given = ImportOptions(Path("t.csv"), **options)  # type: ignore[arg-type]
    return ImportQuestion(given, Path("log.jsonl")).answer()


@pytest.mark.parametrize("pairs", [FIFTHS, FIFTHS[::-1]])
def test_parts_of_one_whole_are_grades_up_to_it(pairs: tuple[tuple[str, str], ...]) -> None:
    read = answer(pairs)
    design = read.judgments[0][1]
    assert (design.labels, design.ordinal) == (("1", "2", "3", "4", "5"), True)
    said = {(judgment.verdict, judgment.trial.label) for judgment, _ in read.judgments}
    assert said == {("4", "5"), ("2", "3"), ("3", "2")}
    assert {judgment.trial.item for judgment, _ in read.judgments} == {"0/9", "1/9", "2/9"}
    assert any("--range 1,5" in line for line in read.taken)


def test_plain_numbers_of_people_are_on_the_scale_of_the_judge() -> None:
    design = answer((("4/5", "4"), ("2/5", "0"), ("3/5", "2")))
    assert design.judgments[0][1].labels == ("0", "1", "2", "3", "4", "5")  # a 0 is given


def test_per_cents_are_a_score_from_0_to_100() -> None:
    judged = answer((("36%", "40%"), ("90%", "85.5%"), ("7%", "0%"))).judgments
    assert judged[0][1].score == ScoreRange(0, 100)
    assert [(j.verdict, j.trial.label) for j, _ in judged] == [
        ("36", "40"),
        ("90", "85.5"),
        ("7", "0"),
    ]


def test_a_renamed_word_is_what_the_user_says() -> None:
    judged = answer((*FIFTHS, ("8/10", "4/5")), value=(("8/10", "4"),)).judgments
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
        answer((*FIFTHS, pair))


def test_shares_beside_per_cents_are_an_error() -> None:
    with pytest.raises(UsageError, match="label shares from 0 to 1"):
        answer((("36%", ".4"), ("90%", ".9"), ("7%", "0")))


def test_dates_stay_words() -> None:
    design = answer((*FIFTHS, ("13/5", "4/5"))).judgments[0][1]
    assert "13/5" in design.labels
    assert not design.ordinal
