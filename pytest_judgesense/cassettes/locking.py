"""One recorder at a time: two sessions never write one cassette, workers of one take turns.

The lock and its holder's note are beside the cassette, as ``.NAME.lock`` and ``.NAME.holder``, so
that everyone who uses the cassette finds them without a shared folder. They are removed with the
holder. The lock itself is the operating system's and ends with its process in any case; the note of
a killed holder is recognised by its process id, and replaced by the next one.
"""

from __future__ import annotations

import errno
import json
import os
import shlex
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_judgesense.errors import CassetteError
from pytest_judgesense.files.limits import json_value
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.files.output import stays_within

if TYPE_CHECKING:
    from filelock import FileLock

# A holder writes its note right after the lock; until then an older note may be there.
_GRACE_S: Final = 0.5
# How long to wait for a holder that does not say who it is.
_PATIENCE_S: Final = 10.0
_LONGEST_COMMAND: Final = 200
# The lock of a folder in which processes take turns.
_TURN: Final = ".turn.lock"
# What names the folder of a cassette, for messages.
FOLDER_OPTION: Final = "--judge-cassettes, or in live mode with --judge-save-live"
_READ_ONLY: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


@dataclass(frozen=True, slots=True)
class Recorder:
    """A process that records; ``session`` is the same for all workers of a session alone."""

    session: str
    pid: int
    command: str

    @classmethod
    def here(cls) -> Recorder:
        """This process, as a separate session."""
        return cls(uuid.uuid4().hex, os.getpid(), shlex.join(sys.argv))

    def describe(self) -> str:
        """The process in one clause."""
        shown, half = self.command, _LONGEST_COMMAND // 2
        if len(shown) > _LONGEST_COMMAND:  # the end of the file says what is recorded
            shown = f"{shown[:half]} ... {shown[-half:]}"
        return f"process {self.pid} ({shown})"


@contextmanager
def recording_alone(path: Path, recorder: Recorder) -> Iterator[None]:
    """Hold the cassette ``path`` for ``recorder`` while the block runs.

    Waits for other workers of the same session. In a read-only folder nothing is locked, because
    nothing can be recorded there.

    Raises:
        CassetteError: another session records it; names its process. Or it is a link that leads out
            of its folder.
    """
    target = path.resolve()
    if not stays_within(path):
        raise CassetteError(
            f"{path} is a link that leads out of its folder, and is not written through",
            found=f"a link to {target}",
            expected="a file, or a link within the folder",
            remedy=f"remove the link, or record where it leads: --judge-cassettes {target.parent}",
        )
    from filelock import FileLock  # no replay needs it

    # Neither follows a link that a repository has under these names.
    lock = FileLock(target.with_name(f".{target.name}.lock"), thread_local=False)
    holder = target.with_name(f".{target.name}.holder")
    new_folders = [folder for folder in target.parents if not folder.exists()]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _acquire(lock, holder, path, recorder)
    except OSError as error:
        if error.errno not in _READ_ONLY:
            raise CassetteError(
                f"{path} cannot be locked against other processes",
                found=str(error),
                expected="a folder in which files can be made and locked",
                remedy=f"name another folder with {FOLDER_OPTION}",
            ) from error
    if not lock.is_locked:
        yield
        return
    try:
        with suppress(OSError):
            holder.unlink(missing_ok=True)
            with holder.open("x", encoding="utf-8") as file:
                file.write(json.dumps(asdict(recorder)))
        yield
    finally:
        # Only while the lock is held: a process that waits for a removed lock would create a new
        # one.
        for left in (holder, Path(lock.lock_file)):
            with suppress(OSError):
                left.unlink()
        lock.release()
        with suppress(OSError):  # a folder in which nothing was recorded is not left either
            for folder in new_folders:
                folder.rmdir()


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Run the block while no other process is in one for this folder: a short one, and it waits.

    In a folder that is not there, or read-only, nothing is locked.
    """
    from filelock import FileLock

    lock = FileLock(folder / _TURN, thread_local=False)
    with suppress(OSError):
        if folder.is_dir():
            lock.acquire()
    try:
        yield
    finally:
        if lock.is_locked:
            with suppress(OSError):  # only while it is held, as above
                Path(lock.lock_file).unlink()
            lock.release()


def _acquire(lock: FileLock, holder: Path, path: Path, recorder: Recorder) -> None:
    from filelock import Timeout

    nameless_until = time.monotonic() + _PATIENCE_S
    while True:
        before = _read(holder)
        with suppress(Timeout):
            lock.acquire(timeout=_GRACE_S, poll_interval=0.05)
            return
        other = _read(holder)
        is_known = other == before and _is_alive(other.pid)
        if is_known and other.session == recorder.session:
            nameless_until = time.monotonic() + _PATIENCE_S
        elif is_known or time.monotonic() > nameless_until:
            unknown = "another process, which does not say who it is"
            raise CassetteError(
                f"{path} is being recorded by another session",
                found=other.describe() if is_known else unknown,
                expected="one session that records a cassette",
                remedy="wait until it has ended, or end it, and start again; or name another "
                f"folder with {FOLDER_OPTION}",
            )


def _read(holder: Path) -> Recorder:
    """The holder of the lock by its note; no process if there is none."""
    try:
        state = json_value(read_text(holder))
        return Recorder(str(state["session"]), int(state["pid"]), str(state["command"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Recorder("", 0, "")


def _is_alive(pid: int) -> bool:
    if pid > 0 and os.name != "nt":  # signal 0 would not ask there, but interrupt
        try:
            os.kill(pid, 0)
        except OSError as error:
            return isinstance(error, PermissionError)
    return pid > 0
