"""The code of recorded returns beside that of today."""

from __future__ import annotations

import json
from functools import partial, wraps
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense import Judge
from pytest_judgesense.cassettes.exchange import (
    CALL,
    CODE,
    NO_RESPONSE,
    OUT_OF_TIME,
    RAISED,
    RETURN,
    Exchange,
    RecordedRequest,
    RecordedResponse,
)
from pytest_judgesense.cassettes.matching import RecordedTrials
from pytest_judgesense.cassettes.storage import read_lines, rewrite
from pytest_judgesense.judges.code_digest import UNKNOWN, JudgeCode, code_change, not_run_again
from pytest_judgesense.judges.code_files import ABSENT
from pytest_judgesense.judges.judge_table import judge_from_table
from tests.repository import git, repository

TRIAL = "s/i/t/ab/r1"


def exchange(
    method: str, code: dict[str, str] | None = None, status: int = 200, call: int = 1, **more: str
) -> Exchange:
    headers = more | ({} if code is None else {CODE: json.dumps(code)})
    return Exchange(
        TRIAL,
        0 if method == RETURN else call,
        RecordedRequest(method, "python:jm:judge", ""),
        RecordedResponse(status, headers, "A"),
        "2026-01-31T12:00:00Z",
    )


def code_of(folder: Path, model: str = "jm:judge") -> JudgeCode:
    """Made anew, as by another process."""
    table = {"provider": "callable", "model": model}
    return JudgeCode(judge_from_table("mine", table, folder))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "jm.py").write_text("import rules\ndef judge(text):\n    return rules.A\n")
    (tmp_path / "rules.py").write_text("A = 1\n")
    return tmp_path


def test_the_state_names_the_files_of_the_code(folder: Path) -> None:
    assert json.loads(code_of(folder).state()).keys() == {"jm.py", "rules.py"}
    # In `src` as well, and nothing of what is no file of the project.
    (folder / "src" / "app").mkdir(parents=True)
    (folder / "src" / "app" / "judges.py").write_text("import json\n")
    assert [*json.loads(code_of(folder, "app.judges:x").state())] == ["src/app/judges.py"]
    assert code_of(folder, "numpy:add").state() == "{}"


def test_what_changed_since_is_named(folder: Path) -> None:
    recorded = exchange(CALL, json.loads(code_of(folder).state()))
    assert code_of(folder).changed_since([recorded]) == ()
    (folder / "rules.py").write_text("A = 1  # a comment\n")
    assert code_of(folder).changed_since([recorded]) == ()
    (folder / "rules.py").write_text("A = 12\n")
    assert code_of(folder).changed_since([recorded]) == ("rules.py",)
    (folder / "rules.py").unlink()
    assert code_of(folder).changed_since([recorded]) == ("rules.py",)
    # A package that comes before the module of its name is another module.
    (folder / "rules").mkdir()
    (folder / "rules" / "__init__.py").write_text("A = 1\n")
    assert code_of(folder).changed_since([recorded]) == ("rules.py", "rules/__init__.py")
    assert code_of(folder).changed_since([exchange(CALL)]) == (UNKNOWN,)


def test_a_file_that_was_not_there_is_another_once_it_is(folder: Path) -> None:
    recorded = exchange(CALL, json.loads(code_of(folder).state()) | {"own/rules.txt": ABSENT})
    assert code_of(folder).changed_since([recorded]) == ()
    (folder / "own").mkdir()
    assert code_of(folder).changed_since([recorded]) == ()
    (folder / "own" / "rules.txt").write_text("")
    assert code_of(folder).changed_since([recorded]) == ("own/rules.txt",)


def test_what_git_ignores_need_not_be_there(folder: Path) -> None:
    """A file that a build writes: CI has another, or none."""
    repository(folder)
    (folder / ".gitignore").write_text("_version.py\n")
    (folder / "rules.py").write_text("from _version import A\n")
    (folder / "_version.py").write_text("A = 1\n")
    git(folder, "add", ".gitignore")
    state = json.loads(code_of(folder).state())
    assert state.keys() == {"jm.py", "rules.py"}
    assert code_of(folder).changed(state) == ()


def decorated(function: Any) -> Any:
    @wraps(function)
    def inner(*given: Any) -> Any:
        return function(*given)

    return inner


class Asker:
    def __call__(self, text: str) -> str:
        return text

    def ask(self, text: str) -> str:
        return text


@pytest.mark.parametrize(
    "function",
    [
        lambda text: text,
        partial(lambda style, text: text, "short"),
        decorated(lambda text: text),
        Asker(),
        Asker().ask,
    ],
    ids=["lambda", "partial", "decorated", "object", "method"],
)
def test_an_object_is_of_the_file_that_made_it(function: Any) -> None:
    assert "tests/judges/test_code_digest.py" in json.loads(
        JudgeCode(Judge("x", function).spec).state()
    )


def test_what_a_replay_takes_without_running_the_function(tmp_path: Path) -> None:
    def taken(*exchanges: Exchange) -> list[Exchange]:
        rewrite(tmp_path / "x.jsonl", exchanges)
        return not_run_again(RecordedTrials(read_lines(tmp_path / "x.jsonl")), TRIAL)

    called, returned = exchange(CALL, {}), exchange(RETURN, {})
    raised = exchange(RETURN, {}, NO_RESPONSE)
    late = exchange(RETURN, {}, NO_RESPONSE, **{RAISED: OUT_OF_TIME})
    posted = exchange("POST")
    assert taken(called) == [called]
    assert taken(posted, returned) == []  # it runs, on its recorded answers
    assert taken(posted, raised) == []
    assert taken(raised) == [raised]
    assert taken(posted, late) == [late]
    cached = exchange(CALL, {}, call=2)
    assert taken(posted, cached, returned) == [cached]


def test_many_lines_of_one_code_hold_it_once(tmp_path: Path) -> None:
    code = {f"app/module_{n}.py": "0123456789abcdef" for n in range(9)}
    path = tmp_path / "x.jsonl"
    rewrite(path, [exchange(CALL, code, call=n) for n in range(1, 21)])
    assert path.read_text().count("module_0.py") == 1
    assert [line.exchange.code for line in read_lines(path)] == [code] * 20


def test_a_comparison_names_the_files_that_changed_and_nothing_unknown() -> None:
    then, now = exchange(RETURN, {"a.py": "1", "b.py": "1"}), exchange(RETURN, {"a.py": "2"})
    assert code_change([([then], [now])]) == "the code changed (a.py, b.py)"
    assert code_change([([then], [now]), ([then], [then])]) == (
        "the code changed (a.py, b.py, in 1 of 2 trials)"
    )
    assert code_change([([then], [then])]) == ""
    assert code_change([([then], [exchange(RETURN)])]) == ""
    # One recording need not say that a file is not there, and the other may.
    looked = exchange(RETURN, {"a.py": "2", "c.txt": ABSENT})
    assert code_change([([now], [looked])]) == ""
