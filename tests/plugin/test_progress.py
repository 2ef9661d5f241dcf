"""How a long measurement tells how far it is."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading

import pytest

from pytest_judgesense.judges.budget import progress_line
from pytest_judgesense.plugin import progress

from .project import Project


@pytest.fixture
def slow(project: Project) -> Project:
    # 18 trials, two at once, 0.2 s each: the first alone, then 17 in 9 rounds: 2 s.
    project.server.delay_s = 0.2
    project.declare("prices = { prompt = 1000, completion = 10000 }")
    return project


ARGUMENTS = ("parity.suite.toml", "--judge-mode", "record", "--judge-concurrency", "2")


def test_the_line_says_done_of_total_rate_remaining_time_cost_and_errors() -> None:
    # 500 of 2,000 in 100 s: 5 a second; the other 1,500 take 300 s.
    line = progress_line("judge j on s", 500, 2000, 100.0, usd=1.5, failed=3, retried=12)
    assert line == (
        "judge j on s: 500 of 2,000, 5.0/s, 5 min 0 s left, 1.5000 USD, 3 failed, 12 retried"
    )


def test_before_the_first_answer_nobody_knows_how_long_it_takes() -> None:
    line = progress_line("judge j on s", 0, 20, 5.0, usd=None, failed=0, retried=0)
    assert line == "judge j on s: 0 of 20, 0.0/s, 0 failed, 0 retried"


def test_where_lines_stay_there_is_one_in_each_interval(
    slow: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_A_LINE_S", 0.5)
    result = slow.run(*ARGUMENTS)
    lines = [line for line in result.outlines if line.startswith("judge mine on parity: ")]
    # Two seconds: none in the first, then one each half second; a slow machine writes more.
    assert 1 <= len(lines) <= result.duration / 0.5
    assert " of 18, " in lines[0]
    assert " USD, 0 failed, 0 retried" in lines[0]


def test_a_minute_is_the_interval(slow: Project) -> None:
    assert progress._A_LINE_S == 60.0
    assert "judge mine on parity: " not in slow.run(*ARGUMENTS).stdout.str()


@pytest.mark.parametrize("arguments", [("-q",), ("-n", "2")], ids=["quiet", "workers"])
def test_nothing_is_told_when_quiet_or_by_workers(
    slow: Project, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setattr(progress, "_A_LINE_S", 0.0)
    assert "judge mine on parity: " not in slow.run(*ARGUMENTS, *arguments).stdout.str()


def test_on_a_terminal_one_line_is_written_over(slow: Project) -> None:
    ours, theirs = pty.openpty()
    read: list[bytes] = []

    def reading() -> None:
        try:
            while chunk := os.read(ours, 4096):
                read.append(chunk)
        except OSError:
            pass  # the other end is closed: all is read

    command = [sys.executable, "-m", "pytest", "-p", "no:asyncio", *ARGUMENTS]
    reader = threading.Thread(target=reading)
    reader.start()
    done = subprocess.run(
        command, cwd=slow.path, stdout=theirs, stderr=theirs, timeout=60, check=False
    )
    os.close(theirs)
    reader.join()
    os.close(ours)
    text = b"".join(read).decode()
    assert done.returncode == 0, text
    written = text.count("\rjudge mine on parity: ")
    assert written >= 2
    # Each goes over the one before; none but the first begins a line.
    assert text.count("\njudge mine on parity: ") == 0
