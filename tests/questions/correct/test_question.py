"""The question asked from Python: the numbers of the command, and its errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense import correct
from pytest_judgesense.errors import UsageError
from pytest_judgesense.questions.correct.question import CorrectQuestion
from tests.commands.recordings import told
from tests.questions.correct.recorded_answers import LABELLED, answers, record

STATED = ("model", "prompt", "settings", "form")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("correct")
    record(folder, "release", answers(160, 40), labels=LABELLED)
    record(folder, "production", answers(240, 160))
    return folder


@pytest.fixture(autouse=True)
def _in_the_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)


def test_python_gives_what_the_command_prints_and_writes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("production.suite.toml", "--calibration", "release.json", "-o", "rates.json")
    code, out, err = told(capsys, "correct", *words)
    assert code == 0, err
    answer = correct("production.suite.toml", calibration="release.json")
    assert not answer.worse
    assert f"{answer}\nwritten: rates.json\n" == out
    assert answer.to_dict()["corrections"] == json.loads(Path("rates.json").read_text())
    assert "calibrated on release" in answer._repr_html_()


def test_the_rates_are_a_table() -> None:
    answer = correct("production.jsonl", calibration=Path("release.json"), same=STATED)
    table = answer.to_dataframe()
    assert len(table) == 1
    row = table.iloc[0]
    assert (row["judge"], row["suite"], row["label"]) == ("prod", "production", "PASS")
    assert (row["raw"], row["value"]) == pytest.approx((0.62, 0.6))
    assert row["lower"] < 0.6 < row["upper"]
    assert row["carries_over"] == "cannot be tested"


def test_a_refusal_is_worse_and_has_no_row(project: Path) -> None:
    record(project, "warm", answers(15, 15), settings="temperature = 1.0\n")
    answer = correct("warm.suite.toml", calibration="release.json")
    assert answer.worse
    (correction,) = answer.corrections
    assert correction.rows == ()
    assert correction.refusals == ("settings: temperature 0.0 -> 1.0",)
    assert answer.to_dataframe().empty


def test_a_question_is_a_value() -> None:
    question = CorrectQuestion("production.jsonl", labels=Path("people.csv"))
    assert question == CorrectQuestion("production.jsonl", labels=Path("people.csv"))
    assert (question.judges, question.seed) == ((), 0)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "nothing to correct by"),
        ({"labels": "people.csv", "same": ["weights"]}, "nothing of this name is compared"),
        ({"labels": "people.csv", "drawn": "by hand"}, "not how chance draws items"),
        ({"labels": "people.csv", "judges": ["other"]}, "no such verdicts"),
    ],
)
def test_wrong_arguments_are_the_errors_of_the_command(
    arguments: dict[str, Any], problem: str
) -> None:
    with pytest.raises(UsageError, match=problem):
        correct("production.jsonl", **arguments)
