"""The beginning of a project as a question: it writes what the command writes, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import UsageError
from pytest_judgesense.questions.init.question import InitQuestion
from pytest_judgesense.questions.init.suite_file import FunctionOptions, LogOptions


def files_of(folder: Path) -> dict[str, bytes]:
    """What stands in a folder, by path."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.parametrize("nightly", [False, True])
def test_it_writes_what_the_command_writes(
    nightly: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "shell").mkdir()
    (tmp_path / "python").mkdir()
    monkeypatch.chdir(tmp_path / "shell")
    assert main(["init", *(["--nightly"] if nightly else [])]) == 0
    printed = capsys.readouterr().out
    monkeypatch.chdir(tmp_path / "python")
    answer = InitQuestion(nightly=nightly).answer()
    assert f"{answer}\n" == printed
    assert answer.to_dict() == {"report": printed.splitlines()}
    assert files_of(tmp_path / "python") == files_of(tmp_path / "shell")


def test_two_ways_to_begin_are_one_too_many(tmp_path: Path) -> None:
    function = FunctionOptions("judges:judge", Path("items.csv"))
    question = InitQuestion(tmp_path, function=function, log=LogOptions(Path("log.jsonl")))
    with pytest.raises(UsageError, match="two ways to begin"):
        question.answer()
    assert not list(tmp_path.iterdir())


def test_an_unknown_kind_of_answers_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_grader.py").write_text("def judge(text):\n    return 'YES'\n")
    items = tmp_path / "items.csv"
    items.write_text("text,label\nx,YES\ny,NO\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    options = FunctionOptions("own_grader:judge", items, kind="label")
    with pytest.raises(UsageError, match="kind of answers") as refused:
        InitQuestion(tmp_path, function=options).answer()
    assert "labels" in str(refused.value)
