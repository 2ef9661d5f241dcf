"""Measures over time: the order of datasheets, their lines and their tables."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.earlier.baseline import SavedSuite, baseline_text, stimuli_digest
from pytest_judgesense.estimate import number_text
from pytest_judgesense.report import page
from pytest_judgesense.report.assembly import datasheet_text, sheet_of
from pytest_judgesense.report.datasheet_file import datasheet_from, datasheet_json
from pytest_judgesense.report.history import DatedDatasheet, in_order, lines_of
from pytest_judgesense.report.view import view_of

from .pages import Page
from .replaying import checked, replayed


def sheet(profile: str, day: str | None) -> Datasheet:
    """The vacuum suite of a profile, as a file tells it that was recorded on a day."""
    moment = f"{day}T08:00:00Z"
    part = replace(checked(replayed(profile, "vacuum")), recorded=day and (moment, moment))
    return datasheet_from(json.loads(datasheet_json(sheet_of([part], seed=0, mode="replay"))))


def history(*days: str | None) -> list[DatedDatasheet]:
    profiles = ("clean", "mixed", "noisy")
    return [
        DatedDatasheet(f"{name}.json", sheet(name, day))
        for name, day in zip(profiles, days, strict=True)
    ]


def test_a_datasheet_that_is_read_is_written_as_it_was() -> None:
    part = checked(replayed("noisy", "vacuum"))
    text = datasheet_json(sheet_of([part], seed=0, mode="replay"))
    assert datasheet_json(datasheet_from(json.loads(text))) == text


def test_datasheets_stand_by_the_time_of_their_recordings_or_as_given() -> None:
    known, dated = in_order(history("2026-03-01", "2026-01-01", "2026-02-01"))
    assert [one.name for one in known] == ["mixed.json", "noisy.json", "clean.json"]
    assert dated
    known, dated = in_order(history("2026-03-01", None, "2026-02-01"))
    assert [one.name for one in known] == ["clean.json", "mixed.json", "noisy.json"]
    assert not dated


def test_a_line_has_the_numbers_of_each_datasheet_whatever_the_single_judge_is_called() -> None:
    known, _ = in_order(history("2026-01-01", "2026-02-01", "2026-03-01"))
    (line,) = [one for one in lines_of(known) if one.measure == "dark_current"]
    values = [
        next(e for e in one.sheet.judges[0].estimates if e.measure == "dark_current").value
        for one in known
    ]
    assert [row[3] for row in line.rows] == [number_text(v) for v in values if v is not None]
    assert [row[0] for row in line.rows] == ["2026-01-01", "2026-02-01", "2026-03-01"]
    assert [row[2] for row in line.rows] == ["clean", "mixed", "noisy"]
    # The bar of the suite, and what came of it: vacuum.suite.toml.
    assert [row[6] for row in line.rows] == [
        f"at most 0.07, limit 0.1, {outcome}" for outcome in ("pass", "fail", "fail")
    ]
    assert line.gated
    assert line.svg.count("<circle") == 3
    assert line.svg.count('class="bar"') == 3
    assert line.svg.count("<polygon") == 1


def test_the_page_has_each_line_and_the_table_of_the_same_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page, "draw", lambda figure: "")
    known, _ = in_order(history("2026-01-01", "2026-02-01", "2026-03-01"))
    text = datasheet_text(".html", view_of(known[-1].sheet), history=known)
    tables = Page(text).tables
    for line in lines_of(known):
        assert line.svg in text
        caption = f"{line.name} of noisy on vacuum over time"
        assert [tuple(row) for row in tables[caption][1:]] == list(line.rows)
    assert "3 measurements, 2026-01-01 to 2026-03-01" in text


def test_a_hostile_day_and_name_stay_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "draw", lambda figure: "")
    bad = "<script>alert(1)</script>"
    known, dated = in_order([DatedDatasheet(bad, sheet(name, bad)) for name in ("clean", "noisy")])
    assert not dated
    text = datasheet_text(".html", view_of(known[-1].sheet), history=known)
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_baselines_are_points_of_the_lines_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A baseline holds judgments: its numbers are measured again, and equal its datasheet's."""
    monkeypatch.setattr(page, "draw", lambda figure: "")
    files, expected = [], set()
    for name, day in (("clean", "2026-02-01"), ("noisy", "2026-01-01")):
        moment = f"{day}T08:00:00Z"
        measured = replace(replayed(name, "vacuum"), recorded=(moment, moment))
        files.append(tmp_path / f"{name}.json")
        part = SavedSuite(measured.sheet, stimuli_digest(measured.suite), measured.cell)
        files[-1].write_text(baseline_text([part], 0, {}), encoding="utf-8")
        (one,) = [e for e in measured.estimates if (e.measure, e.condition) == ("dark_current", {})]
        assert one.value is not None
        expected.add((day, number_text(one.value)))
    out = tmp_path / "x.html"
    assert main(["report", *map(str, files), "-o", str(out)]) == 0
    assert "by date of recording: noisy.json, clean.json" in capsys.readouterr().out
    (table,) = [
        rows
        for caption, rows in Page(out.read_text(encoding="utf-8")).tables.items()
        if caption.startswith("dark_current of ") and caption.endswith("over time")
    ]
    assert {(row[0], row[3]) for row in table[1:]} == expected
    # Without a page: what a log would show, and the checks of datasheets behind it.
    sheet = tmp_path / "sheet.json"
    sheet.write_text(
        datasheet_json(history("2026-03-01", "2026-01-01", "2026-02-01")[0].sheet), encoding="utf-8"
    )
    assert main(["report", str(files[0]), str(sheet)]) == 0
    said = capsys.readouterr().out
    assert "judge clean " in said
    assert "  dark_current " in said
    assert said.rstrip().splitlines()[-1].endswith(("pass", "passes", "fail", "fails", "no checks"))


def test_the_command_writes_a_page_of_datasheets_and_no_mixture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "draw", lambda figure: "")
    files = []
    for one in history("2026-03-01", "2026-01-01", "2026-02-01"):
        files.append(tmp_path / one.name)
        files[-1].write_text(datasheet_json(one.sheet), encoding="utf-8")
    out = tmp_path / "x.html"
    assert main(["report", *map(str, files), "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert "by date of recording: mixed.json, noisy.json, clean.json" in said
    assert 'id="history"' in out.read_text(encoding="utf-8")
    log = tmp_path / "log.jsonl"
    log.write_text("", encoding="utf-8")
    assert main(["report", str(files[0]), str(log), "-o", str(out)]) == 2
    assert "not reported on together" in capsys.readouterr().err
