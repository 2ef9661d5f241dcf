"""What the package gives by its own name, and what was measured read from files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pytest_judgesense
from pytest_judgesense import Judge, datasheet_of, measure
from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.text.layout import WIDTH
from tests.plugin.project import even, parity_suite


def _judge(messages: list[dict[str, str]]) -> str:
    return even(messages[-1]["content"])


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the judgment log and the datasheet of a judge on 18 trials."""
    monkeypatch.chdir(tmp_path)
    sheet = measure(Judge("mine", _judge), parity_suite(tmp_path), mode="record")
    for name in ("log.jsonl", "sheet.json"):
        sheet.write(tmp_path / name)
    return tmp_path


def test_what_is_public_is_listed() -> None:
    assert dir(pytest_judgesense) == sorted(dir(pytest_judgesense))
    assert {"Judge", "measure", "compare_judges"} <= {*dir(pytest_judgesense)}
    for name in dir(pytest_judgesense):
        assert getattr(pytest_judgesense, name) is not None


def test_a_log_is_read_with_its_judgments(measured: Path) -> None:
    sheet = datasheet_of("log.jsonl")
    (cell,) = sheet.cells
    assert len(cell.judgments) == 18
    jss = next(one for one in sheet.estimates if one.measure == "jss" and not one.condition)
    assert (jss.count, jss.n) == (18, 18)
    assert "<table>" in sheet._repr_html_()
    sheet.write(measured / "again.jsonl")
    assert len((measured / "again.jsonl").read_text().splitlines()) == 18


def test_two_logs_are_read_together(measured: Path) -> None:
    lines = [json.loads(line) for line in Path("log.jsonl").read_text().splitlines()]
    other = "".join(json.dumps({**line, "judge": "other"}) + "\n" for line in lines)
    Path("other.jsonl").write_text(other)
    assert [one.name for one in datasheet_of("log.jsonl", "other.jsonl").judges] == [
        "mine",
        "other",
    ]


def test_a_datasheet_is_read_with_its_checks_and_without_judgments(measured: Path) -> None:
    sheet = datasheet_of(measured / "sheet.json")
    assert [(line.check, line.outcome) for line in sheet.checks] == [("jss_floor[0.8]", "pass")]
    assert "jss_floor[0.8]" in sheet._repr_html_() or "jss" in sheet._repr_html_()
    with pytest.raises(UsageError, match="holds no judgments"):
        sheet.write(measured / "again.jsonl")
    assert not (measured / "again.jsonl").exists()


def test_the_numbers_are_those_of_the_command(measured: Path) -> None:
    sheet = datasheet_of("log.jsonl", seed=2, secondary=True)
    assert main(["report", "log.jsonl", "--judge-seed", "2", "-o", "command.json"]) == 0
    written = json.loads(Path("command.json").read_text())
    assert json.loads(json.dumps(sheet.to_dict())) == written
    values = [one["value"] for judge in written["judges"] for one in judge["measures"]]
    assert [one.value for one in sheet.estimates] == values


def test_its_lines_are_those_of_the_command(
    measured: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))  # as without a terminal
    lines = list(datasheet_of("log.jsonl").lines())
    assert main(["report", "log.jsonl"]) == 0
    assert capsys.readouterr().out.splitlines() == lines


@pytest.mark.long
@pytest.mark.parametrize("names", [("log.jsonl", "sheet.json"), ("sheet.json", "log.jsonl")])
def test_other_files_are_a_usage_error(measured: Path, names: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="no datasheet that can be read"):
        datasheet_of(*names)


def test_files_without_a_judgment_are_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    for names in ((), (tmp_path / "empty.jsonl",)):
        with pytest.raises(UsageError, match="nothing to report on"):
            datasheet_of(*names)


def test_a_file_that_is_not_there_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="gone"):
        datasheet_of(tmp_path / "gone.jsonl")
    with pytest.raises((LogError, UsageError), match="gone"):
        datasheet_of(tmp_path / "gone.json")
