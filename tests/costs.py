"""What the tests cost: the sessions of pytest that they start, and the files that take longest.

Every session appends a byte to a file which the outermost session names in the environment, so that
workers of pytest-xdist and the server of `tests.processes` count to the same total. A byte says how
the session was started. What is started by a process without this module is not seen, but for the
workers that a command line asks for.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

from tests.conftest import measures_a_judge

FILE: Final = "JUDGESENSE_TESTS_SESSIONS"
WITHIN: Final = b"w"
FORKED: Final = b"f"
STARTED: Final = b"s"
KINDS: Final = {
    WITHIN: "within the process of a test",
    FORKED: "forked",
    STARTED: "with an interpreter of their own",
}
SLOWEST: Final = 10
# What execnet has the worker of a session read first: `popen_bootstrapline`.
WORKER: Final = "exec(eval(sys.stdin.readline()))"
RUNS_PYTEST: Final = re.compile(r"(^|[\s/])(pytest|py\.test)(\s|$)|\bpytest\.main\b")
WORKERS: Final = re.compile(r"\s(?:-n\s?|--numprocesses[=\s])(\d+)\b")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Begin to count; this session itself is none that a test has started."""
    config = session.config
    if measures_a_judge(config):
        return
    if FILE not in os.environ:
        config.pluginmanager.register(Costs())
    # Who has workers runs no test, and starts them by itself.
    if not getattr(config.option, "numprocesses", None):
        count_sessions(WITHIN)


def count_sessions(kind: bytes) -> None:
    """Count, from now on, what this process and those that are forked of it begin and start.

    Args:
        kind: how a session that begins in one of them was started.
    """
    if FILE not in os.environ:
        return
    begin, start = pytest.Session.__init__, subprocess.Popen.__init__
    add = functools.partial(_add, os.environ[FILE])

    @functools.wraps(begin)
    def counted_session(self: pytest.Session, config: pytest.Config) -> None:
        add(kind)
        begin(self, config)

    @functools.wraps(start)
    def counted_process(self: Any, args: Any, *others: Any, **named: Any) -> None:
        add(STARTED * sessions_of([args] if isinstance(args, str | bytes | os.PathLike) else args))
        start(self, args, *others, **named)

    pytest.Session.__init__ = counted_session  # type: ignore[method-assign]
    subprocess.Popen.__init__ = counted_process  # type: ignore[method-assign]


def sessions_of(command: Iterable[str | bytes | os.PathLike[str]]) -> int:
    """How many sessions of pytest a command line starts: itself, and the workers it asks for."""
    line = " ".join(os.fsdecode(word) for word in command)
    if WORKER in line:
        return 1
    if not RUNS_PYTEST.search(line):
        return 0
    workers = WORKERS.search(line)
    return 1 + (int(workers[1]) if workers else 0)


def _add(path: str, marks: bytes) -> None:
    """Append them at once, whoever else appends; nothing where the outermost session has ended."""
    with suppress(FileNotFoundError):
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.write(descriptor, marks)
        os.close(descriptor)


class Costs:
    """The totals of the outermost session."""

    def __init__(self) -> None:
        descriptor, path = tempfile.mkstemp(prefix="judgesense-sessions-")
        os.close(descriptor)
        self._path = Path(path)
        self._seconds: dict[str, float] = defaultdict(float)
        os.environ[FILE] = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the seconds of a phase to those of its file; reports of workers come here too."""
        self._seconds[report.nodeid.partition("::")[0]] += report.duration

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for title, lines in (counted(self._path.read_bytes()), slowest(self._seconds)):
            terminalreporter.section(title)
            for line in lines:
                terminalreporter.write_line(line)

    def pytest_unconfigure(self) -> None:
        self._path.unlink(missing_ok=True)
        os.environ.pop(FILE, None)


def counted(marks: bytes) -> tuple[str, list[str]]:
    """The number of sessions, and that of each kind: a title and its lines."""
    numbers = Counter(marks)
    lines = [f"{numbers[mark[0]]:,} {words}" for mark, words in KINDS.items() if numbers[mark[0]]]
    return f"sessions of pytest started by the tests: {len(marks):,}", lines


def slowest(seconds: Mapping[str, float]) -> tuple[str, list[str]]:
    """The files that took longest, each the sum of its tests: a title and its lines."""
    longest = sorted(seconds.items(), key=lambda item: (-item[1], item[0]))[:SLOWEST]
    lines = [f"{taken:7.1f} s  {name}" for name, taken in longest]
    return f"slowest files, by the time of their tests: {len(lines)} of {len(seconds)}", lines
