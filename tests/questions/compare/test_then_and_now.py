"""Two measurements compared from Python: the same numbers as the command's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_judgesense import compare, measure
from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import UsageError
from pytest_judgesense.text.layout import WIDTH
from tests.repository import commit, repository


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a log of each of two judges, and the datasheet of one."""
    monkeypatch.chdir(repository(tmp_path))
    monkeypatch.setenv("COLUMNS", str(WIDTH))  # a terminal as wide as what Python shows
    for name in ("clean", "noisy"):
        measure(f"embedded:{name}", "vacuum").write(f"{name}.jsonl")
    measure("embedded:noisy", "vacuum").write("noisy.json")
    return tmp_path


@pytest.mark.parametrize(
    "names", [("clean.jsonl", "noisy.jsonl"), ("noisy.jsonl", "noisy.json"), ("noisy.jsonl",) * 2]
)
def test_python_and_the_command_have_the_same_numbers(
    capsys: pytest.CaptureFixture[str], names: tuple[str, str]
) -> None:
    answer = compare(*map(Path, names), seed=3)
    code = main(["compare", *names, "--judge-seed", "3", "-o", "x.json"])
    assert code == int(answer.worse)
    shown = capsys.readouterr().out
    assert shown == f"{answer}\ncomparison written: x.json\n"
    assert json.loads(Path("x.json").read_text(encoding="utf-8")) == json.loads(
        json.dumps(answer.to_dict())
    )
    frame = answer.to_dataframe()
    assert len(frame) == sum(len(suite.measures) for suite in answer.suites)
    assert {*frame["suite"]} == {"vacuum"}


def test_one_file_has_ranks_or_none(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="there are no judges to rank"):
        compare("clean.jsonl")
    sheets = ["embedded:clean", "embedded:mixed"]
    measure(sheets, "coherence").write("both.jsonl")
    answer = compare("both.jsonl")
    assert answer.suites == ()
    assert answer.ranks.tables
    assert main(["compare", "both.jsonl"]) == 0
    assert capsys.readouterr().out == f"{answer}\n"


def test_a_revision_without_a_parent_is_an_answer_and_not_worse() -> None:
    commit(Path.cwd())
    answer = compare("git:HEAD^")
    assert list(answer.lines()) == ["HEAD^ is not there: HEAD has no parent: not compared"]
    assert not answer.worse
    assert list(compare("git:HEAD").lines()) == ["nothing is compared"]
