"""The page of promises: each row names what shows it, and that is there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from tests.docs.blocks import DOCS, ROOT

PAGE = (DOCS / "security.md").read_text(encoding="utf-8")
ONE_NAME = re.compile(r"`(?:tests/[\w/]+\.py::\w+|benchmarks/\w+\.py|scripts/\w+\.py)`")
_HOLDS_BARS = re.compile(r'\bconclude\(|"ok": ')


def _rows(text: str) -> Iterator[list[str]]:
    """The cells of every row below the head of a table."""
    is_head = True
    for line in text.splitlines():
        if line.startswith("|") and not is_head and not line.startswith("|--"):
            yield [cell.strip() for cell in line.strip().strip("|").split("|")]
        is_head = not line.startswith("|")


@cache
def _tests_of(path: str) -> frozenset[str]:
    """The names of the tests of a file, read and not run; none where there is no such file."""
    if not (ROOT / path).is_file() or not path.rpartition("/")[2].startswith("test_"):
        return frozenset()
    return frozenset(
        node.name
        for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    )


def _exists(name: str) -> bool:
    path, _, test = name.partition("::")
    if test:
        return test in _tests_of(path)
    text = (ROOT / path).read_text(encoding="utf-8") if (ROOT / path).is_file() else ""
    # A benchmark that holds no bar shows nothing.
    return bool(_HOLDS_BARS.search(text)) if path.startswith("benchmarks/") else bool(text)


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("tests/docs/test_security.py::test_every_test_that_is_named_exists", True),
        ("tests/docs/test_security.py::test_that_nobody_has_written", False),
        ("tests/docs/test_security.py::ONE_NAME", False),
        ("tests/docs/blocks.py::missing_lines", False),  # no file of tests
        ("tests/docs/test_none.py::test_every_test_that_is_named_exists", False),
        ("benchmarks/kill.py", True),
        ("benchmarks/observing.py", False),  # measures, and holds no bar
        ("benchmarks/none.py", False),
        ("scripts/fuzz.py", True),
    ],
)
def test_a_name_that_leads_nowhere_is_found(name: str, there: bool) -> None:
    assert _exists(name) is there


def test_every_test_that_is_named_exists() -> None:
    named = {name.strip("`") for name in ONE_NAME.findall(PAGE)}
    gone = sorted(name for name in named if not _exists(name))
    assert not gone, "\n".join(gone)


def test_every_row_names_what_shows_it_and_nothing_else() -> None:
    rows = list(_rows(PAGE))
    lines, heads = re.findall(r"^\| ", PAGE, re.MULTILINE), re.findall(r"^\|--", PAGE, re.MULTILINE)
    assert len(rows) == len(lines) - len(heads) > 0
    for row in rows:
        assert all(ONE_NAME.fullmatch(name) for name in row[-1].split(", ")), row


def test_every_subject_has_a_row() -> None:
    subjects = dict(re.findall(r"^### ([A-J])\. .+\n\n((?:\|.*\n)+)", PAGE, re.MULTILINE))
    assert [*subjects] == [*"ABCDEFGHIJ"]
    assert all([*_rows(table)] for table in subjects.values())


def test_the_policy_is_one_step_away() -> None:
    """From the pages that people open first, and back to the promises."""
    link = "](SECURITY.md)"
    assert link in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "](../SECURITY.md)" in PAGE
    assert "](docs/security.md)" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_the_long_gate_fuzzes_for_ten_minutes() -> None:
    commands = (ROOT / ".ci" / "full").read_text(encoding="utf-8")
    assert re.search(r"scripts/fuzz\.py --seconds 600$", commands, re.MULTILINE)
    for name in ("hostile", "kill", "endurance"):
        assert re.search(rf"benchmarks/{name}\.py$", commands, re.MULTILINE), name
