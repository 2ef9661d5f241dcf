"""The tables of debates from judgments that exist: logs, and folders of JudgeBench's results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_judgesense import paper
from pytest_judgesense.commands.main import main
from pytest_judgesense.datasheets.published_design import cell_text
from tests.questions.paper.printed_papers import (
    Recorded,
    assert_same_tables,
    assert_spoken_of,
    recorded_designs,
    table,
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return recorded_designs(tmp_path_factory)


def test_the_log_of_a_design_gives_the_same_tables_byte_for_byte(recorded: Recorded) -> None:
    assert_same_tables(*recorded("debates"))


def test_results_of_judgebench_give_the_tables_of_the_run(recorded: Recorded) -> None:
    of_run, log = recorded("debates")
    assert main(["report", str(log), "--export", "judgebench=exported"]) == 0
    again = paper("debates", log=Path("exported"))
    assert [one.name for one in again.tables] == [one.name for one in of_run.tables]
    for name in ("configurations", "prompts", "pairs"):
        # The files are read in their own order: sums differ in the last digit.
        for row, first in zip(table(again, name), table(of_run, name), strict=True):
            assert {head: cell_text(cell, 9) for head, cell in row.items()} == {
                head: cell_text(cell, 9) for head, cell in first.items()
            }


def test_one_run_of_debates_has_no_flips_and_says_so(recorded: Recorded) -> None:
    _, log = recorded("debates")
    lines = log.read_text(encoding="utf-8").splitlines()
    once = [line for line in lines if json.loads(line)["replicate"] == 1]
    Path("once.jsonl").write_text("\n".join(once), encoding="utf-8")
    answer = paper("debates", log="once.jsonl")
    assert_spoken_of(answer)


def test_models_that_write_debates_judge_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", "debates", "--generate", "--log", "x.jsonl", "-o", "y.jsonl"]) == 2
    assert "judge nothing" in capsys.readouterr().err
