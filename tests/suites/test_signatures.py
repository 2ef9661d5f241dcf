"""What a suite shows of an item: what templates name, and what functions of the project take."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.signatures import files_of_function, files_of_module

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
) -> frozenset[str] | None:
    """What is taken of the items, with a judge of that target whose code stands in a file."""
    (project / "pyproject.toml").write_text(JUDGE.format(target, more) if target else "")
    if code:
        write(project, {file: code})
    return load_suite(project / "own.suite.toml", None, BUILT_IN.forms).items[0].taken


def write(project: Path, files: Mapping[str, str]) -> None:
    for file, code in files.items():
        (project / file).parent.mkdir(parents=True, exist_ok=True)
        (project / file).write_text(code)


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


TAKES_NOTE = "def judge(text, note): ...\n"


@pytest.mark.parametrize(
    ("target", "files"),
    [
        ("jm:judge", {"jm.py": "from impl import judge", "impl.py": TAKES_NOTE}),
        ("jm:judge", {"jm.py": "from impl import judge", "src/impl.py": TAKES_NOTE}),
        ("jm:own", {"jm.py": "from impl import judge as own", "impl.py": TAKES_NOTE}),
        ("jm:judge", {"jm.py": "from impl import *", "impl.py": TAKES_NOTE}),
        ("jm:judge", {"jm.py": "import impl; judge = impl.judge", "impl.py": TAKES_NOTE}),
        ("jm:judge", {"jm.py": "import a.b as c; judge = c.judge", "a/b.py": TAKES_NOTE}),
        ("jm:judge", {"jm.py": "import a.b; judge = a.b.judge", "a/b.py": TAKES_NOTE}),
        ("jm:impl.judge", {"jm.py": "import impl", "impl.py": TAKES_NOTE}),
        ("jm:judge", {"jm.py": "def f(note): ...\njudge: object = f"}),
        (
            "shop:judge",
            {"shop/__init__.py": "from .impl import judge as judge", "shop/impl.py": TAKES_NOTE},
        ),
        (
            "shop.a.b:judge",
            {"shop/a/b.py": "from ..c import judge", "shop/c/__init__.py": TAKES_NOTE},
        ),
        (
            "shop:judge",
            {"shop/__init__.py": "from . import c\njudge = c.judge", "shop/c.py": TAKES_NOTE},
        ),
        (
            "jm:Judge.judge",
            {"jm.py": "from impl import Judge", "impl.py": f"class Judge:\n  {TAKES_NOTE}"},
        ),
        (
            "jm:judge",
            {"jm.py": "from a import judge", "a.py": "from b import judge", "b.py": TAKES_NOTE},
        ),
    ],
)
def test_a_function_is_followed_to_its_definition(
    project: Path, target: str, files: Mapping[str, str]
) -> None:
    write(project, files)
    # The template shows the text; the definition takes the note as well, and nobody the tone.
    assert taken(project, target) == {"text", "note"}


@pytest.mark.parametrize(
    ("code", "fields"),
    [
        # Python keeps the last meaning of a name.
        ("def judge(tone): ...\ndef judge(note): ...", {"text", "note"}),
        ("from impl import judge\ndef judge(tone): ...", {"text", "tone"}),
        ("def judge(tone): ...\nfrom impl import judge", {"text", "note"}),
        # What was called so before: the judge is the first function, not the second.
        ("def f(note): ...\njudge = f\ndef f(tone): ...", {"text", "note"}),
        # A variable of another function is not the judge.
        ("from impl import judge\ndef f():\n  judge = 1", {"text", "note"}),
        # Decorators keep what they decorate, as `functools.wraps` does.
        ("@functools.lru_cache(maxsize=8)\ndef judge(note): ...", {"text", "note"}),
        ("@retry\n@observe(name='judge')\ndef judge(note): ...", {"text", "note"}),
        # No field is given to what has no name.
        ("def judge(note, *more, **others): ...", {"text", "note"}),
    ],
)
def test_what_a_name_means_in_the_end_is_taken(project: Path, code: str, fields: set[str]) -> None:
    write(project, {"impl.py": TAKES_NOTE})
    assert taken(project, "app:judge", code) == fields


@pytest.mark.parametrize(
    "code",
    [
        "",  # no such file
        "def other(note): ...",
        "def judge(",
        "judge = print",  # of Python
        "from elsewhere import judge",  # of no file of the project
        "from ...above import judge",
        "from app import judge",  # in a circle
        "judge = functools.partial(print, note='x')",
        "def judge(note): ...\njudge = wrapped(judge)",
        "class Judge:\n  def __call__(self, note): ...\njudge = Judge()",
        "class judge:\n  def __init__(self, note): ...",
        "if 1:\n  def judge(note): ...",
        "try:\n  from impl import judge\nexcept ImportError:\n  judge = None",
        "def judge(note): ...\nfor judge in (1, 2): ...",
    ],
)
def test_all_fields_count_where_a_signature_cannot_be_read(project: Path, code: str) -> None:
    # Else an edit of a field that the function takes would not be told as one.
    write(project, {"impl.py": TAKES_NOTE})
    assert taken(project, "app:judge", code) is None


def test_one_function_that_is_unknown_is_enough(project: Path) -> None:
    write(project, {"app.py": TAKES_NOTE})
    second = JUDGE.format("elsewhere:judge", "").replace("mine", "second")
    assert taken(project, "app:judge", more=second) is None


def test_rows_that_differ_in_what_a_followed_function_takes_have_ids_of_their_own(
    project: Path,
) -> None:
    rows = ROWS.replace("Ice sinks.", "Ice floats.")  # two rows that differ in the note and beyond
    (project / "own.csv").write_text(rows, encoding="utf-8")
    write(project, {"jm.py": "from impl import judge", "impl.py": TAKES_NOTE})
    (project / "pyproject.toml").write_text(JUDGE.format("jm:judge", ""))
    first, second = load_suite(project / "own.suite.toml", None, BUILT_IN.forms).items
    # By the text alone the second would be the first's ".2", and lose its label with the first.
    assert "." not in second.id
    assert first.digest != second.digest


def test_the_files_of_a_function_are_all_that_it_is_followed_through(tmp_path: Path) -> None:
    write(tmp_path, {"jm.py": "from impl import judge"})
    files = [
        file.relative_to(tmp_path).as_posix() for file in files_of_function(tmp_path, "jm:judge")
    ]
    # Whether they are there: of impl no file is, and what it would lead to is not known yet.
    assert files[:4] == ["jm.py", "jm/__init__.py", "src/jm.py", "src/jm/__init__.py"]
    assert files[4:8] == ["impl.py", "impl/__init__.py", "src/impl.py", "src/impl/__init__.py"]
    write(tmp_path, {"impl.py": "from inner import judge"})
    assert tmp_path / "inner.py" in files_of_function(tmp_path, "jm:judge")


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
