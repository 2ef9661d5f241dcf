"""Datasheets and baselines asked from Python: their checks, and their measures over time."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense import measure
from pytest_judgesense.errors import UsageError
from pytest_judgesense.questions.report.datasheet import SavedChecksQuestion
from pytest_judgesense.questions.report.history import OverTimeQuestion


@pytest.fixture
def sheets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, ...]:
    """The datasheets of two judges, of whom one fails the suite's check."""
    monkeypatch.chdir(tmp_path)
    files = Path("clean.json"), Path("noisy.json")
    for file in files:
        measure(f"embedded:{file.stem}", "vacuum").write(file)
    return files


def test_checks_are_told_with_their_outcomes(sheets: tuple[Path, ...]) -> None:
    answer = SavedChecksQuestion(sheets).answer()
    assert answer.outcomes == ["pass", "fail"]
    assert [*answer.lines()][-1] == "1 of 2 checks fails"
    assert [judge["judge"]["name"] for judge in answer.to_dict()["judges"]] == ["clean", "noisy"]
    assert "1 of 2 checks fails" in answer.badge()
    with pytest.raises(UsageError, match="not reported on together"):
        SavedChecksQuestion((*sheets, Path("log.jsonl"))).answer()


def test_the_last_of_several_is_written_and_a_page_of_all(sheets: tuple[Path, ...]) -> None:
    answer = OverTimeQuestion(sheets).answer()
    names = [sheet.name for sheet in answer.sheets]
    assert {*names} == {"clean.json", "noisy.json"}
    assert next(answer.lines()).startswith("2 measurements, ")
    assert [*answer.to_dict()["datasheets"]] == names
    answer.refuse_other_forms([Path("x.html")])
    with pytest.raises(UsageError, match="cannot be written in this form"):
        answer.refuse_other_forms([Path("x.md")])
    OverTimeQuestion(sheets[:1]).answer().refuse_other_forms([Path("x.md")])
