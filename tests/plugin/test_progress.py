"""How a long measurement tells how far it is."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import Throttle
from pytest_judgesense.plugin import progress, workers

from .project import Project


@pytest.fixture
def slow(project: Project) -> Project:
    # 18 trials, two at once, 0.2 s each: the first alone, then 17 in 9 rounds: 2 s.
    project.server.delay_s = 0.2
    project.declare("prices = { prompt = 1000, completion = 10000 }")
    return project


ARGUMENTS = ("parity.suite.toml", "--judge-mode", "record", "--judge-concurrency", "2")


def measuring(total: int, *, priced: bool = False, **counts: Any) -> progress.Measuring:
    """A measurement before which the session had spent 0.5 USD and made 2 retries."""
    throttle = Throttle(JudgeSpec("j", "openai", "m"), 1)
    return progress.Measuring("judge j on s", total, priced, 0.5, 2, throttle, **counts)


def test_the_line_says_done_of_total_rate_remaining_time_cost_and_errors() -> None:
    # 500 of 2,000 in 100 s: 5 a second; the other 1,500 take 300 s.
    line = measuring(2000, priced=True, done=500, failed=3).line(100.0, usd=2.0, retries=14)
    assert line == (
        "judge j on s: 500 of 2,000, 5.0/s, 5 min 0 s left, 3 failed, 12 retried, 1.5000 USD"
    )


def test_the_line_names_the_checks_that_are_decided_and_counts_replies_without_a_verdict() -> None:
    decided = (["jss_floor[0.9]", "kappa_floor[0.5]"], 3)
    line = measuring(20, done=5, unread=2, decided=decided).line(10.0, usd=0.5, retries=2)
    # 5 in 10 s: 0.5 a second; the other 15 take 30 s.
    assert line == (
        "judge j on s: 5 of 20, 2.0 s a call, 30 s left, 0 failed, 2 without a verdict, 0 retried, "
        "2 of 3 checks decided: jss_floor[0.9], kappa_floor[0.5]"
    )


def test_before_the_first_answer_nobody_knows_how_long_it_takes() -> None:
    line = measuring(20).line(5.0, usd=0.5, retries=2)
    assert line == "judge j on s: 0 of 20, no reply yet, 0 failed, 0 retried"


def test_the_line_counts_what_cannot_be_read_and_says_one_at_a_time() -> None:
    under = measuring(200, done=50, unread=7)
    under.throttle.serial = True
    assert under.line(10.0, usd=0.5, retries=2).endswith(
        "0 failed, 7 without a verdict, 0 retried, one at a time (a sync function; "
        "concurrency = N asks N at once)"
    )


def test_where_lines_stay_there_is_one_in_each_interval(
    slow: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "A_LINE_S", 0.5)
    result = slow.run(*ARGUMENTS)
    lines = [line for line in result.outlines if line.startswith("judge mine on parity: ")]
    # Two seconds: none in the first, then one each half second; a slow machine writes more.
    assert 1 <= len(lines) <= result.duration / 0.5
    assert " of 18, " in lines[0]
    assert ", 0 failed, 0 retried, " in lines[0]
    assert lines[0].endswith(" USD")


@pytest.fixture
def brief(slow: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Half a second long; its first line may be written at once."""
    slow.server.delay_s = 0.05
    monkeypatch.setattr(progress, "_FIRST_S", 0.0)
    return slow


def test_a_minute_is_the_interval(brief: Project) -> None:
    assert workers.A_LINE_S == 60.0
    assert "judge mine on parity: " not in brief.run(*ARGUMENTS).stdout.str()


def test_a_log_that_is_to_be_quiet_has_no_progress(
    brief: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "A_LINE_S", 0.0)
    live = ("parity.suite.toml", "--judge-mode", "live", "--judge-concurrency", "2")
    assert "judge mine on parity: " in brief.run(*live).stdout.str()
    assert "judge mine on parity: " not in brief.run(*live, "-q").stdout.str()


def on_a_terminal(project: Project, *arguments: str, columns: int = 80) -> str:
    """What a session writes to a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    read: list[bytes] = []

    def reading() -> None:
        try:
            while chunk := os.read(ours, 4096):
                read.append(chunk)
        except OSError:
            pass  # the other end is closed: all is read

    command = [sys.executable, "-m", "pytest", "-p", "no:asyncio", *ARGUMENTS, *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    reader = threading.Thread(target=reading)
    reader.start()
    done = subprocess.run(
        command,
        cwd=project.path,
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        timeout=60,
        check=False,
    )
    os.close(theirs)
    reader.join()
    os.close(ours)
    text = b"".join(read).decode()
    assert done.returncode == 0, text
    return text


@pytest.mark.long
@pytest.mark.parametrize("arguments", [(), ("-q",)], ids=["as it is", "quiet"])
def test_on_a_terminal_one_line_is_written_over(slow: Project, arguments: tuple[str, ...]) -> None:
    text = on_a_terminal(slow, *arguments, columns=60)
    assert text.count("\rjudge mine on parity: ") >= 2
    # Each goes over the one before; none but the first begins a line.
    assert text.count("\njudge mine on parity: ") == 0
    # What went on in a second row could not be written over: 62 characters in full.
    written = re.findall("\rjudge mine on parity: [^\r\n]*", text)
    assert all(len(line[1:].rstrip()) < 60 for line in written)
    assert written[0].rstrip().endswith("...")


@pytest.mark.long
def test_the_workers_progress_stays_on_a_terminal_in_a_line_of_its_own(slow: Project) -> None:
    slow.server.delay_s = 0.4  # 10 rounds
    # It is written when the report of a test arrives.
    (slow.path / "test_others.py").write_text(
        "import time\n\nimport pytest\n\n\n"
        "@pytest.mark.parametrize('number', range(8))\n"
        "def test_it(number):\n    time.sleep(0.6)\n"
    )
    text = on_a_terminal(slow, "test_others.py", "-n", "2", columns=120)
    lines = [line for line in text.splitlines() if "judge mine on parity: " in line]
    # One: the next would come in a minute. Whole: from its beginning to the cost at its end.
    (line,) = lines
    assert re.fullmatch(
        r"judge mine on parity: \d+ of 18, [\d.]+(?:/s| s a call), \d+ s left, 0 failed, "
        r"0 retried, [\d.]+ USD",
        line.lstrip("."),
    )


def test_what_workers_leave_is_shown_at_once_on_a_terminal_and_once_a_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []

    class Screen:
        isatty = True

        def write_line(self, line: str) -> None:
            lines.append(line)

        def ensure_newline(self) -> None: ...

        def flush(self) -> None: ...

    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    terminal, log = workers.Following(tmp_path, Screen()), Screen()
    log.isatty = False
    in_a_log = workers.Following(tmp_path, log)
    trace = workers.Trace(tmp_path)
    for number, moment in enumerate((1000.0, 1059.0, 1061.0)):
        now = moment
        trace.leave("judge j on s", f"line {number}\x1b[2J")
        terminal.look()
    assert lines == ["line 0\\x1b[2J", "line 2\\x1b[2J"]
    lines.clear()
    for moment in (2000.0, 2059.0, 2061.0):
        now = moment
        in_a_log.look()
    assert lines == ["line 2\\x1b[2J"]
    trace.remove()
    now = 9000.0
    terminal.look()
    assert len(lines) == 1
