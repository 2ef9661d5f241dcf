"""What the tests cost is counted where it arises, and added up in the outermost session."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.costs import FILE, FORKED, STARTED, WITHIN, WORKER, counted, sessions_of, slowest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("command", "number"),
    [
        (["/env/bin/pytest", "suites"], 1),
        (["python", "-m", "pytest", "-q", "-n", "2"], 3),  # a controller and its two workers
        (["pytest", "-n3"], 4),
        (["pytest", "--numprocesses=2"], 3),
        (["bash", "-c", "cd there && pytest suites"], 1),
        ([b"pytest"], 1),
        (["python", "-u", "-c", f"import sys;{WORKER}"], 1),
        (["judgesense", "record", "suites", "-n", "2"], 0),
        (["pip", "install", "pytest-xdist"], 0),
    ],
)
def test_sessions_are_seen_in_a_command_line(command: list[str | bytes], number: int) -> None:
    assert sessions_of(command) == number


def test_a_process_counts_the_sessions_that_it_begins_and_those_that_it_starts(
    tmp_path: Path,
) -> None:
    marks = tmp_path / "marks"
    marks.touch()
    (tmp_path / "test_nothing.py").write_text("def test_nothing(): pass\n")
    code = """
import os, subprocess, sys, pytest
from tests.costs import FORKED, count_sessions
count_sessions(FORKED)
os.chdir(sys.argv[1])
assert pytest.main(["-q", "-p", "no:cacheprovider"]) == 0
subprocess.run([sys.executable, "-m", "pytest", "--version"], check=True)
"""
    subprocess.run(
        [sys.executable, "-c", code, tmp_path],
        cwd=ROOT,
        env=os.environ | {FILE: str(marks), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        check=True,
    )
    assert marks.read_bytes() == FORKED + STARTED


def test_totals_are_told_by_kind() -> None:
    assert counted(WITHIN * 1200 + FORKED * 30) == (
        "sessions of pytest started by the tests: 1,230",
        ["1,200 within the process of a test", "30 forked"],
    )


def test_the_slowest_ten_files_come_first() -> None:
    seconds = {f"tests/test_{number}.py": float(number) for number in range(12)}
    title, lines = slowest(seconds)
    assert title == "slowest files, by the time of their tests: 10 of 12"
    assert [line.split()[0] for line in lines] == [f"{number}.0" for number in range(11, 1, -1)]
