"""What the workers of xdist and their controller tell each other, by files in the session's folder.

How far they are: a worker has no screen. The controller looks when a report of a test arrives; so
a line is written by the thread that writes all else, and nothing is torn.

What is to be known before the first test, once all is collected: every worker finds the same.

That the session was interrupted (the first Ctrl-C or SIGTERM): calls in flight are paid for. The
process that makes them starts no more, waits for those in flight (each is bounded by its
``timeout_s``), and then ends as pytest does; a second interrupt ends it at once. The controller,
which alone receives SIGTERM, tells the workers, and waits while one of them is calling. A worker
whose controller was killed stops in the same way.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.display import write_line
from pytest_judgesense.output import replace_text

_PROGRESS: Final = "progress-{}.json"
_ASKING: Final = "asking-{}"
_INTERRUPTED: Final = "interrupted"
_BEFORE: Final = "before"
# Between the lines of a measurement; on a terminal the first one comes at once.
A_LINE_S: Final = 60.0
_LOOK_UP_S: Final = 0.1
# Longer than a judge's call may take, unless its `timeout_s` was raised.
LONGEST_WAIT_S: Final = 600.0


class Trace:
    """How far a worker is, in the ``folder`` of its session; nothing without a folder."""

    def __init__(self, folder: Path | None) -> None:
        self._file = folder and folder / _PROGRESS.format(os.getpid())

    def leave(self, title: str, line: str) -> None:
        """Say how far the measurement of this ``title`` is."""
        if self._file is not None:
            with suppress(OSError):  # a full disk is reported by the outputs that matter
                replace_text(self._file, json.dumps([title, line]))

    def remove(self) -> None:
        if self._file is not None:
            self._file.unlink(missing_ok=True)


class Following:
    """The lines of the workers in ``folder``, shown by the controller's ``reporter``."""

    def __init__(self, folder: Path, reporter: Any, *, quiet: bool = False) -> None:
        self._folder, self._reporter = folder, reporter
        # With `-q` a log has no progress.
        self._is_silent = reporter is None or (quiet and not reporter.isatty)
        self._shown: dict[str, float] = {}

    def look(self) -> None:
        """Write the lines that are due."""
        if self._is_silent:
            return
        now = time.monotonic()
        for file in sorted(self._folder.glob(_PROGRESS.format("*"))):
            try:
                title, line = json.loads(file.read_bytes())
            except FileNotFoundError:  # it has ended between the two
                continue
            if title not in self._shown and not self._reporter.isatty:
                self._shown[title] = now
            if now - self._shown.get(title, -A_LINE_S) >= A_LINE_S:
                self._shown[title] = now
                self._reporter.ensure_newline()
                write_line(self._reporter, line)
                self._reporter.flush()


def leave_line(folder: Path, line: str) -> None:
    """Leave a line for `line_left`; every worker of a session leaves the same one."""
    replace_text(folder / _BEFORE, line)


def line_left(folder: Path) -> str | None:
    """What a worker has left to be written before the first test; ``None`` if none has."""
    with suppress(FileNotFoundError):
        return (folder / _BEFORE).read_text(encoding="utf-8")
    return None


class AskingNote:
    """A worker's note that it is making calls; without a shared ``folder`` it does nothing."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._controller = os.getppid()
        self._stopped = False

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Say so for the time of this block; raises as `look`."""
        if self._folder is None:
            yield
            return
        file = self._folder / _ASKING.format(os.getpid())
        file.touch()
        try:
            self.look()
            yield
        finally:
            file.unlink(missing_ok=True)

    def look(self) -> None:
        """Raise ``KeyboardInterrupt`` if the controller was interrupted or killed, until `stop`."""
        if self._folder is None or self._stopped:
            return
        if (self._folder / _INTERRUPTED).exists():
            raise KeyboardInterrupt("the session was interrupted")
        if os.getppid() != self._controller:  # nobody would report what is paid from here on
            raise KeyboardInterrupt("the controller of the session has ended")

    def stop(self) -> None:
        """Note the first interrupt; that of a terminal comes here and from the controller."""
        self._stopped = True


def interrupt_workers(folder: Path) -> None:
    """Tell the workers of a session to stop, and wait until none of them is making calls."""

    def lives(file: Path) -> bool:
        with suppress(OSError):
            os.kill(int(file.name.rpartition("-")[2]), 0)
            return True
        return False

    (folder / _INTERRUPTED).touch()
    until = time.monotonic() + LONGEST_WAIT_S
    while any(map(lives, folder.glob(_ASKING.format("*")))) and time.monotonic() < until:
        time.sleep(_LOOK_UP_S)
