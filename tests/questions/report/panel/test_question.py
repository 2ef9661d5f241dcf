"""A panel asked from Python: the same numbers as the command writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_judgesense import measure
from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import UsageError
from pytest_judgesense.questions.report.panel.question import PanelQuestion

JUDGES = ("embedded:clean", "embedded:noisy", "embedded:positional")


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    measure(JUDGES, "factuality").write("log.jsonl")
    return "log.jsonl"


def test_the_numbers_are_those_of_the_command(log: str) -> None:
    answer = PanelQuestion((log,), alpha=0.2, seed=3).answer()
    command = ["report", log, "--panel", "--alpha", "0.2", "--judge-seed", "3", "-o", "x.json"]
    assert main(command) == 0
    assert json.loads(json.dumps(answer.to_dict())) == json.loads(Path("x.json").read_text())
    assert answer.to_dataframe()["judge"].tolist() == ["clean", "noisy", "positional"]
    rows = answer.to_dict()["tables"]["disagreements"]
    assert answer.to_dataframe("disagreements")["item"].tolist() == [row["item"] for row in rows]
    with pytest.raises(UsageError, match="table of a panel"):
        answer.to_dataframe("none")
    assert not answer.worse


@pytest.mark.parametrize("alpha", [0, 1, -0.5])
def test_an_alpha_is_between_nothing_and_all(alpha: float, log: str) -> None:
    with pytest.raises(UsageError, match="no error that can be allowed"):
        PanelQuestion((log,), alpha=alpha).answer()
