"""How far the workers of xdist are: each leaves a line in their folder, the controller shows it.

A worker has no screen, and the controller has no idle moment of its own: it waits for events of
the workers in rounds of two seconds. In each of them it looks; so a line is written between two
events, by the thread that writes all else, and nothing is torn.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.errors import harmless
from pytest_judgesense.output import replace_text

_FILES: Final = "progress-*.json"
# Between the lines of a measurement; on a terminal the first one comes at once.
A_LINE_S: Final = 60.0


class Trace:
    """The files of a worker in the ``folder`` of its session; nothing without a folder."""

    def __init__(self, folder: Path | None) -> None:
        self._file = folder and folder / _FILES.replace("*", str(os.getpid()))

    def leave(self, title: str, line: str) -> None:
        """Say how far the measurement of this ``title`` is."""
        if self._file is not None:
            with suppress(OSError):  # a full disk is reported by the outputs that matter
                replace_text(self._file, json.dumps([title, line]))

    def remove(self) -> None:
        """Say that it has ended."""
        if self._file is not None:
            self._file.unlink(missing_ok=True)


class Following:
    """The lines of the workers in ``folder``, shown by the controller's ``reporter``."""

    def __init__(self, folder: Path, reporter: Any) -> None:
        self._folder, self._reporter = folder, reporter
        self._shown: dict[str, float] = {}

    def look(self) -> None:
        """Write the lines that are due."""
        now = time.monotonic()
        for file in sorted(self._folder.glob(_FILES)):
            try:
                title, line = json.loads(file.read_bytes())
            except FileNotFoundError:  # it has ended between the two
                continue
            if title not in self._shown and not self._reporter.isatty:
                self._shown[title] = now
            if now - self._shown.get(title, -A_LINE_S) >= A_LINE_S:
                self._shown[title] = now
                self._reporter.ensure_newline()
                self._reporter.write_line(harmless(line))
                self._reporter.flush()


def follow_workers(config: Any, folder: Path) -> None:
    """Show how far workers are, where there is a screen for it: not with ``-q`` in a log."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    session = config.pluginmanager.get_plugin("dsession")
    is_quiet = config.get_verbosity() < 0 and not getattr(reporter, "isatty", False)
    if reporter is None or is_quiet or not hasattr(session, "queue"):
        return
    following, get = Following(folder, reporter), session.queue.get

    def look_and_wait(*args: Any, **kwargs: Any) -> Any:
        following.look()
        return get(*args, **kwargs)

    session.queue.get = look_and_wait
