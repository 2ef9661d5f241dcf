"""Judgment logs as Parquet, and logs whose replies are not held: the same numbers as JSON Lines."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.commands.report import cells_of_logs
from pytest_judgesense.report.log import log_line, read_log
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
    assert main(["report", str(log), "--datasheet", "a.json", "--datasheet", "a.csv"]) == 0
    assert main(["report", str(log), "--datasheet", "b.json", "--datasheet", "b.jsonl"]) == 0
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()
    assert Path("b.jsonl").read_bytes() == log.read_bytes()


def test_a_sweep_keeps_its_replies_whose_words_are_counted(tmp_path: Path) -> None:
    measured = replayed("clean", "temperature")
    path = tmp_path / "sweep.jsonl"
    lines = [log_line(one, measured.suite.design) for one in measured.judgments[:20]]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (cell,) = cells_of_logs([path], replies=False)
    assert all(one.reply for one in cell.judgments)


def test_without_pyarrow_it_is_said_what_to_install(
    log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert main(["report", "log.parquet"]) == 2
    assert "pip install 'pytest-judgesense[parquet]'" in capsys.readouterr().err
    # A folder without such a file does not need it.
    assert main(["report", "."]) == 3
    assert "name the log itself" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["structs", "texts"])
def test_a_folder_of_parquet_is_read_like_lines(log: Path, form: str) -> None:
    arrow = pytest.importorskip("pyarrow", reason="no pyarrow: pip install '.[parquet]'")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    if form == "texts":
        rows = [
            {name: json.dumps(v) if isinstance(v, dict) else v for name, v in row.items()}
            for row in rows
        ]
    folder = Path("log", "part=1")
    folder.mkdir(parents=True)
    half = len(rows) // 2
    parquet.write_table(arrow.Table.from_pylist(rows[:half]), folder / "a.parquet")
    parquet.write_table(arrow.Table.from_pylist(rows[half:]), folder / "b.parquet")
    assert list(read_log(Path("log"))) == list(read_log(log))
    assert main(["report", "log", "--datasheet", "a.json"]) == 0
    assert main(["report", str(log), "--datasheet", "b.json"]) == 0
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()


def test_a_wrong_file_or_row_is_named(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arrow = pytest.importorskip("pyarrow", reason="no pyarrow: pip install '.[parquet]'")
    parquet = pytest.importorskip("pyarrow.parquet")
    Path("bad.parquet").write_bytes(b"PAR1 and no more")
    assert main(["report", "bad.parquet"]) == 3
    assert "the judgment log bad.parquet cannot be read" in capsys.readouterr().err
    row = json.loads(log.read_text(encoding="utf-8").splitlines()[0])
    for change, said in (
        ({"condition": "{"}, "row 1: field 'condition' is wrong"),
        ({"item": 7}, "row 1: field 'item' is wrong"),
    ):
        changed = {**row, "condition": "{}", **change}
        parquet.write_table(arrow.Table.from_pylist([changed]), "row.parquet")
        assert main(["report", "row.parquet"]) == 3
        assert said in capsys.readouterr().err
    Path("empty").mkdir()
    assert main(["report", "empty"]) == 3
    assert "empty holds no judgment log" in capsys.readouterr().err
