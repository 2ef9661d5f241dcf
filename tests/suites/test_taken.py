"""What a suite shows of an item: what templates name, and what functions of the project take."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.taken import files_of_module

from .files import CONTENT

JUDGE = '[tool.judgesense.judges.mine]\nprovider = "callable"\nmodel = "{}"\n{}'
ROWS = "text,note,tone,label\nIce floats.,n1,kind,YES\nIce sinks.,n2,rude,NO\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "own.csv").write_text(ROWS, encoding="utf-8")
    toml = CONTENT.replace("items.jsonl", "own.csv")
    (tmp_path / "own.suite.toml").write_text(toml, encoding="utf-8")
    return tmp_path


def taken(
    project: Path, target: str = "", code: str = "", file: str = "app.py", more: str = ""
) -> frozenset[str]:
    """What is taken of the items, with a judge of that target whose code stands in a file."""
    (project / "pyproject.toml").write_text(JUDGE.format(target, more) if target else "")
    if code:
        (project / file).parent.mkdir(parents=True, exist_ok=True)
        (project / file).write_text(code)
    shown = load_suite(project / "own.suite.toml", None, BUILT_IN.forms).items[0].taken
    assert shown is not None
    return shown


def test_the_fields_of_templates_are_taken(project: Path) -> None:
    assert taken(project) == {"text"}


@pytest.mark.parametrize(
    ("target", "code", "file"),
    [
        ("app:judge", "def judge(text, note): ...", "app.py"),
        ("app:judge", "async def judge(note, /, *, text='x'): ...", "app.py"),
        ("shop.app:judge", "def judge(text, note): ...", "shop/app.py"),
        ("shop:judge", "def judge(text, note): ...", "src/shop/__init__.py"),
        ("app:Judge.judge", "class Judge:\n    def judge(note): ...", "app.py"),
    ],
)
def test_the_parameters_of_a_function_are_taken(
    project: Path, target: str, code: str, file: str
) -> None:
    assert taken(project, target, code, file) == {"text", "note"}


def test_arguments_say_what_a_parameter_takes(project: Path) -> None:
    code, more = "def judge(remark, text): ...", 'arguments = { remark = "note" }\n'
    assert taken(project, "app:judge", code, more=more) == {"text", "note", "remark"}


@pytest.mark.parametrize("code", ["def other(note): ...", "def judge(", "judge = print"])
def test_of_a_function_that_cannot_be_read_nothing_is_known(project: Path, code: str) -> None:
    assert taken(project, "app:judge", code) == {"text"}


def test_nothing_is_run_to_know_it(project: Path) -> None:
    code = "import pathlib\npathlib.Path('ran').touch()\ndef judge(note): ...\n"
    assert taken(project, "app:judge", code) == {"text", "note"}
    assert not (project / "ran").exists()


def test_a_column_that_nobody_takes_changes_no_item(project: Path) -> None:
    path = project / "own.suite.toml"
    before = load_suite(path, None, BUILT_IN.forms).items
    rows = [line.split(",", 2)[::2] for line in ROWS.splitlines()]
    (project / "own.csv").write_text("".join(f"{text},more,{rest}\n" for text, rest in rows))
    copy = project / "copy.suite.toml"
    copy.write_text(path.read_text())
    after = load_suite(copy, None, BUILT_IN.forms).items
    assert [item.id for item in after] == [item.id for item in before]
    assert all(item.id.startswith("x-") for item in after)


def test_a_module_may_stand_in_the_folder_or_in_its_src(tmp_path: Path) -> None:
    assert [file.relative_to(tmp_path).as_posix() for file in files_of_module(tmp_path, "a.b")] == [
        "a/b.py",
        "a/b/__init__.py",
        "src/a/b.py",
        "src/a/b/__init__.py",
    ]
