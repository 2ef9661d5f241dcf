"""What every part of a process of a session knows: settings, plugins, and what is shared.

Light on purpose: `Run`, which measures, is made at its first use.
"""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_judgesense.files.output import Outputs
from pytest_judgesense.plugin.activation import PLUGINS
from pytest_judgesense.plugin.ci import Failures
from pytest_judgesense.plugin.settings import SharedState, settings_of
from pytest_judgesense.plugin.timeouts import limits_of_markers
from pytest_judgesense.plugin.workers import leave_line
from pytest_judgesense.text.display import write_line

if TYPE_CHECKING:
    from pytest_judgesense.plugin.hookspecs import Plugins
    from pytest_judgesense.plugin.run import Run


class Session:
    """One process of a session.

    Attributes:
        is_worker: whether it is a worker of xdist.
        failures: the checks that did not pass, as their reports arrive.
        outputs: the files that were written, and what was wrong with them.
        shared: what the processes of the session share.
        folders: those of this session, which are removed at its end.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.settings = settings_of(config)
        self.plugins: Plugins = config.stash[PLUGINS]
        self.is_worker = hasattr(config, "workerinput")
        self.verbosity = config.get_verbosity()
        self.failures = Failures()
        self.outputs = Outputs(verbose=self.verbosity > 0)
        self.folders: list[str] = []
        now, limit = datetime.now(UTC), self.settings.deadline
        until = None if limit is None else now.timestamp() + limit
        self.shared = SharedState(now.isoformat(timespec="seconds"), deadline=until)
        if self.is_worker:
            self.shared = SharedState(**config.workerinput["judgesense"])  # type: ignore[attr-defined]
        elif self.settings.mode == "live" or self.settings.verify is not None:
            self.shared = self.shared._replace(live_folder=self.made_folder("live"))

    def made_folder(self, kind: str) -> str:
        """A new folder, which is removed at the end."""
        self.folders.append(tempfile.mkdtemp(prefix=f"judgesense-{kind}-"))
        return self.folders[-1]

    @cached_property
    def run(self) -> Run:
        """The measuring part of this process; heavy packages are imported here."""
        from pytest_judgesense.plugin.run import Run

        return Run(self.config, self.settings, self.shared, self.plugins.registry)

    @property
    def measures(self) -> bool:
        """Whether this process has anything to do with judges yet."""
        return "run" in self.__dict__

    def write_line(self, line: str | None) -> None:
        """Write a line to the terminal, if there is one."""
        reporter: Any = self.config.pluginmanager.get_plugin("terminalreporter")
        if line and reporter:
            reporter.ensure_newline()
            write_line(reporter, line)

    def tell_limits_of_markers(self, items: list[pytest.Item]) -> None:
        """Tell of limits of pytest-timeout on tests that call judges.

        A worker leaves it to its controller.
        """
        if not self.settings.asks:
            return
        line = limits_of_markers(self.config, items)
        if not self.is_worker:
            self.write_line(line)
        elif line and self.shared.session_folder:
            leave_line(Path(self.shared.session_folder), line)
