"""Judgment logs whose replies are not held in memory: the same numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.report.log import log_line
from pytest_judgesense.report.logged_cells import cells_of_logs
from tests.report.replaying import replayed


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The ladder's log: conditions with and without a subset, chosen contents, a design."""
    monkeypatch.chdir(tmp_path)
    measured = replayed("mixed", "ladder@published")
    lines = [log_line(one, measured.suite.design) for one in measured.judgments]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_replies_are_held_only_where_they_are_shown(log: Path) -> None:
    (cell,) = cells_of_logs([log])
    (without,) = cells_of_logs([log], replies=False)
    assert all(one.reply for one in cell.judgments)
    assert not any(one.reply for one in without.judgments)
    assert main(["report", str(log), "-o", "a.json", "-o", "a.csv"]) == 0
    assert main(["report", str(log), "-o", "b.json", "-o", "b.jsonl"]) == 0
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()
    assert Path("b.jsonl").read_bytes() == log.read_bytes()


def test_a_sweep_keeps_its_replies_whose_words_are_counted(tmp_path: Path) -> None:
    measured = replayed("clean", "temperature")
    path = tmp_path / "sweep.jsonl"
    lines = [log_line(one, measured.suite.design) for one in measured.judgments[:20]]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (cell,) = cells_of_logs([path], replies=False)
    assert all(one.reply for one in cell.judgments)
