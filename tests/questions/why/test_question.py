"""Why a verdict flipped, asked from Python: what the command says, and its errors."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pytest_judgesense import why
from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import MissingRecording, UsageError

SUITE = """schema = "judgesense/suite/1"
name = "texts"
kind = "paraphrase"
[space]
labels = ["YES", "NO"]
[stimuli]
file = "texts.csv"
[[templates]]
id = "t1"
text = "Read it with care. Is this a sound summary? YES or NO. {{text}}"
[[templates]]
id = "t2"
text = "Read it with care. Is this a consistent summary? YES or NO. {{text}}"
"""
MODULE = """
def judge(messages):
    return "NO" if "consistent" in messages[-1]["content"] else "YES"
"""
TABLE = '[tool.judgesense.judges.mine]\nprovider = "callable"\nmodel = "askedwhy:judge"\n'
TRIAL = "texts/ice/t1/ab/r1"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "askedwhy", raising=False)  # that of the test before
    (tmp_path / "askedwhy.py").write_text(MODULE)
    (tmp_path / "pyproject.toml").write_text(TABLE)
    (tmp_path / "suites" / "texts").mkdir(parents=True)
    (tmp_path / "suites" / "texts" / "texts.suite.toml").write_text(SUITE)
    (tmp_path / "suites" / "texts" / "texts.csv").write_text("id,text\nice,Ice floats.\n")
    assert main(["record", "texts", "--judge-name", "mine"]) == 0
    return tmp_path


def test_it_has_the_numbers_of_the_command(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = why(TRIAL, mode="record")
    assert answer.cause.outcome == "named"
    capsys.readouterr()
    assert main(["why", TRIAL, "-o", "why.json"]) == 0
    assert capsys.readouterr().out == f"{answer}\ncause written: why.json\n"
    assert json.loads((folder / "why.json").read_text()) == answer.to_dict()
    assert why(TRIAL).to_dict() == answer.to_dict()
    assert "[consistent]" in answer._repr_html_()
    assert not answer.worse


def test_a_file_that_is_no_json_is_refused_and_the_others_are_written(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["why", TRIAL, "--judge-mode", "record", "-o", "why.txt", "-o", "why.json"]
    assert main(words) == 2
    assert "why.txt cannot be written: the suffix '.txt'" in capsys.readouterr().err
    assert not (folder / "why.txt").exists()
    assert (folder / "why.json").exists()


def test_errors_are_those_of_the_command(folder: Path) -> None:
    with pytest.raises(MissingRecording, match=f"judgesense why {TRIAL} --judge-mode record"):
        why(TRIAL)
    with pytest.raises(UsageError, match="texts is no trial"):
        why("texts")
    with pytest.raises(UsageError, match="mode 'live' is unknown"):
        why(TRIAL, mode="live")
    with pytest.raises(UsageError, match="--by letters is unknown"):
        why(TRIAL, by="letters")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="--judge-max-calls 3 is too small"):
        why(TRIAL, max_calls=3, mode="record")
