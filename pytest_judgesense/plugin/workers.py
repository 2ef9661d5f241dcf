"""What the workers of xdist and their controller tell each other, by files in the session's folder.

How far they are: a worker has no screen. The controller looks when a report of a test arrives; so
a line is written by the thread that writes all else, and nothing is torn.

What is to be known before the first test, once all is collected: every worker finds the same.

That the session was interrupted (the first Ctrl-C or SIGTERM): calls in flight are paid for. The
process that makes them starts no more, waits for those in flight (each is bounded by its
``timeout_s``), and then ends as pytest does; a second interrupt ends it at once. The controller,
which alone receives SIGTERM, tells the workers, and waits while one of them is calling. A worker
whose controller was killed stops in the same way. That a process lives is told by a lock that it
holds: the system releases it at its end, whatever becomes of its number or of its parent's.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_judgesense.files.output import replace_text
from pytest_judgesense.text.display import write_line

if TYPE_CHECKING:
    from filelock import BaseFileLock

_PROGRESS: Final = "progress-{}.json"
_ASKING: Final = "asking-{}.lock"
_CONTROLLER: Final = "controller.lock"
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
            with suppress(OSError):  # Windows removes no file that the controller is reading
                self._file.unlink()


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


def hold_session(folder: Path) -> Callable[[], None]:
    """Hold what tells the workers that their controller lives; call the result to release it."""
    lock = _lock_at(folder / _CONTROLLER)
    lock.acquire()
    return lock.release


class AskingNote:
    """A worker's note that it is making calls; without a shared ``folder`` it does nothing."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._lock = folder and _lock_at(folder / _ASKING.format(os.getpid()))
        self._stopped = False

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Say so for the time of this block; raises as `look`."""
        if self._lock is None:
            yield
            return
        with self._lock:
            self.look()
            yield

    def look(self) -> None:
        """Raise ``KeyboardInterrupt`` if the controller was interrupted or killed, until `stop`."""
        if self._folder is None or self._stopped:
            return
        if (self._folder / _INTERRUPTED).exists():
            raise KeyboardInterrupt("the session was interrupted")
        if not _is_held(self._folder / _CONTROLLER):  # nobody would report what is paid from here
            raise KeyboardInterrupt("the controller of the session has ended")

    def stop(self) -> None:
        """Note the first interrupt; that of a terminal comes here and from the controller."""
        self._stopped = True


def interrupt_workers(folder: Path) -> None:
    """Tell the workers of a session to stop, and wait until none of them is making calls."""
    (folder / _INTERRUPTED).touch()
    until = time.monotonic() + LONGEST_WAIT_S
    while any(map(_is_held, folder.glob(_ASKING.format("*")))) and time.monotonic() < until:
        time.sleep(_LOOK_UP_S)


def _lock_at(path: Path) -> BaseFileLock:
    from filelock import FileLock  # no replay needs it

    return FileLock(path, thread_local=False)


def _is_held(path: Path) -> bool:
    """Whether a process that lives holds the lock at ``path``."""
    from filelock import Timeout

    if not path.exists():  # nor is its folder made anew
        return False
    lock = _lock_at(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    lock.release()
    return False
