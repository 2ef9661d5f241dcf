"""The first Ctrl-C or SIGTERM of a session that makes calls: calls in flight are completed.

Calls in flight are paid for. The calling process starts no more calls, waits for those in flight
(each is bounded by its ``timeout_s``), and then ends as pytest does; a second interrupt ends it at
once. Under xdist the workers make the calls: the controller, which alone receives SIGTERM, tells
them by a file in the shared folder, and waits while one of them is calling.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_INTERRUPTED: Final = "interrupted"
_ASKING: Final = "asking-*"
_LOOK_UP_S: Final = 0.1
# Longer than a judge's call may take, unless its `timeout_s` was raised.
LONGEST_WAIT_S: Final = 600.0


class Asking:
    """A worker's note in the ``folder`` of its session that it is making calls.

    Made for one process; without a shared folder it does nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._stopped = False

    @contextmanager
    def said(self) -> Iterator[None]:
        """Say so for the time of this block; raises as `look`."""
        if self._folder is None:
            yield
            return
        file = self._folder / _ASKING.replace("*", str(os.getpid()))
        file.touch()
        try:
            self.look()
            yield
        finally:
            file.unlink(missing_ok=True)

    def look(self) -> None:
        """Raise ``KeyboardInterrupt`` if the controller has been interrupted, until `stop`."""
        if self._folder and not self._stopped and (self._folder / _INTERRUPTED).exists():
            raise KeyboardInterrupt("the session was interrupted")

    def stop(self) -> None:
        """Note the first interrupt; that of a terminal comes here and from the controller."""
        self._stopped = True


def interrupt_workers(folder: Path) -> None:
    """Tell the workers of a session to stop, and wait until none of them is making calls."""
    (folder / _INTERRUPTED).touch()
    until = time.monotonic() + LONGEST_WAIT_S
    while any(map(_lives, folder.glob(_ASKING))) and time.monotonic() < until:
        time.sleep(_LOOK_UP_S)


def _lives(file: Path) -> bool:
    """Whether the process that has said so is still there."""
    with suppress(OSError):
        os.kill(int(file.name.rpartition("-")[2]), 0)
        return True
    return False
