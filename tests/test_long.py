"""Tests that take long are not lost: they are counted in the summary and run by .ci/full."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import processes

ROOT = Path(__file__).parents[1]
TESTS = """
import pytest

@pytest.mark.long
def test_long():
    pass

@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.long)])
def test_it(n):
    pass
"""
SAID = "*NOT RUN: 2 long tests*"


def session(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    plugins = ("xdist.plugin", "tests.long")
    done = processes.run("pytest", *arguments, cwd=pytester.path, plugins=plugins)
    return pytest.RunResult(
        done.returncode, done.stdout.splitlines(), done.stderr.splitlines(), duration=0.0
    )


@pytest.fixture(autouse=True)
def _tests(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeini("[pytest]\nmarkers = long: as in pyproject.toml\n")
    pytester.makepyfile(TESTS)


@pytest.mark.parametrize("workers", ["0", "2"])
def test_what_is_left_out_is_counted(pytester: pytest.Pytester, workers: str) -> None:
    done = session(pytester, "-n", workers)
    assert done.parseoutcomes()["passed"] == 1
    done.stdout.fnmatch_lines([SAID, "pytest -n auto -m long runs them*"])


@pytest.mark.parametrize(
    ("arguments", "passed"),
    [(("-m", "long"), 2), (("-m", "not long"), 1), (("{file}::test_long",), 1)],
    ids=["long", "others", "by id"],
)
def test_who_chooses_gets_what_was_chosen(
    pytester: pytest.Pytester, arguments: tuple[str, ...], passed: int
) -> None:
    (file,) = pytester.path.glob("test_*.py")
    done = session(pytester, *(part.replace("{file}", file.name) for part in arguments))
    assert done.parseoutcomes()["passed"] == passed
    done.stdout.no_fnmatch_line(SAID)


def test_the_long_gate_runs_them() -> None:
    lines = (ROOT / ".ci" / "full").read_text(encoding="utf-8").splitlines()
    assert any("pytest" in line and line.endswith("-m long") for line in lines)
