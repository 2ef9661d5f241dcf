"""What a session knows: its settings, what was asked for, and the parts that arrived.

There is one `State` a process. Under xdist the workers measure and attach parts to their test
reports; the controller receives them, merges, writes and prints. Without xdist one process does
both, by the same way. Light on purpose: `Run`, which measures, is made at its first use.
"""

from __future__ import annotations

import json
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_judgesense import __version__
from pytest_judgesense.errors import JudgesenseError, printable
from pytest_judgesense.plugin.options import Settings
from pytest_judgesense.plugin.paths import BuiltinArgument, take_builtin_arguments

if TYPE_CHECKING:
    from pytest_judgesense.datasheet.sheet import Datasheet
    from pytest_judgesense.plugin.run import Run

__all__ = ["STATE", "State"]

# What a controller of xdist and its workers tell each other, by name.
_LIVE_FOLDER: Final = "judgesense_live_folder"
_SPENT_FOLDER: Final = "judgesense_spent_folder"
_PROBLEMS: Final = "judgesense_problems"


class State:
    """The state of one process of a session."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self.config = config
        self.settings = settings
        self.problems: list[str] = []
        self.seen_suites: set[str] = set()
        self.builtin: list[BuiltinArgument] = []
        self._received: list[dict[str, Any]] = []
        self._told: list[str] = []
        self._was_interrupted = False
        self._removed: set[str] = set()
        self._skipped: dict[str, str] = {}
        self._made_live_folder: Path | None = None
        self._made_spent_folder: Path | None = None

    @cached_property
    def run(self) -> Run:
        """What measures in this process; heavy packages are imported here."""
        from pytest_judgesense.plugin.run import Run

        return Run(self.config, self.settings, self._live_folder, self._spent_folder)

    @property
    def is_worker(self) -> bool:
        """Whether this process is a worker of xdist."""
        return hasattr(self.config, "workerinput")

    def prepare(self) -> None:
        """Take over built-in suites from the arguments, and receive reports."""
        try:
            self.builtin = take_builtin_arguments(self.config, self.settings.suites)
        except JudgesenseError as error:
            raise pytest.UsageError(str(error)) from error
        if not self.is_worker:
            self.config.pluginmanager.register(_Receiver(self), "judgesense-receiver")
            if self.settings.mode == "live":
                self._made_live_folder = Path(tempfile.mkdtemp(prefix="judgesense-live-"))

    @property
    def _live_folder(self) -> Path | None:
        if not self.is_worker:
            return self._made_live_folder
        folder = self.config.workerinput[_LIVE_FOLDER]  # type: ignore[attr-defined]
        return Path(folder) if folder else None

    @property
    def _spent_folder(self) -> Path | None:
        """Where workers count together what limits allow; alone, a process counts by itself."""
        folder = getattr(self.config, "workerinput", {}).get(_SPENT_FOLDER)
        return Path(folder) if folder else None

    def equip(self, workerinput: dict[str, Any]) -> None:
        """Tell a worker what all workers of the session share: live recordings and limits."""
        folder = self._made_live_folder
        workerinput[_LIVE_FOLDER] = str(folder) if folder else None
        if self.settings.max_calls is not None or self.settings.max_cost is not None:
            if self._made_spent_folder is None:
                self._made_spent_folder = Path(tempfile.mkdtemp(prefix="judgesense-spent-"))
            workerinput[_SPENT_FOLDER] = str(self._made_spent_folder)

    def report_problems(self, items: list[pytest.Item]) -> None:
        """End the session with the problems of its collection, if there are any.

        Raises:
            pytest.UsageError: there are; under xdist it is the controller that raises it.
        """
        if self.problems and self.is_worker:
            # xdist takes an error of a worker for a crash: the controller raises it instead.
            items.clear()
            self.config.workeroutput[_PROBLEMS] = self.problems  # type: ignore[attr-defined]
        else:
            self.refuse(self.problems)

    def refuse(self, problems: Sequence[str]) -> None:
        """End the session with ``problems``, if there are any.

        Raises:
            pytest.UsageError: there are; each is told once.
        """
        if problems:
            raise pytest.UsageError("\n".join(dict.fromkeys(problems)))

    @property
    def measures(self) -> bool:
        """Whether this process has anything to do with judges yet."""
        return "run" in self.__dict__

    def attach(self, report: pytest.TestReport) -> None:
        """Put what this process has measured since the last report on ``report``."""
        if "run" not in self.__dict__:
            return
        # Strings: what workers send is limited to plain values.
        if parts := self.run.take_pending():
            report.judgesense = json.dumps(parts)  # type: ignore[attr-defined]
        if secrets := self.run.take_secrets():
            report.judgesense_secrets = json.dumps(secrets)  # type: ignore[attr-defined]

    def receive(self, report: Any) -> None:
        """Keep the parts that a report brings."""
        if sent := getattr(report, "judgesense", None):
            self._received += json.loads(sent)
        if sent := getattr(report, "judgesense_secrets", None):
            secrets = json.loads(sent)
            self._removed.update(secrets["removed"])
            self._skipped |= secrets["skipped"]

    @cached_property
    def datasheet(self) -> Datasheet | None:
        """The datasheet of all parts received; ``None`` if there are none."""
        if not self._received:
            return None
        from pytest_judgesense.datasheet.assembly import assemble

        return assemble(
            [part["sheet"] for part in self._received],
            seed=self.settings.seed,
            mode=self.settings.mode,
            secondary=bool(self.settings.datasheets),
        )

    def ranking_lines(self) -> Iterator[str]:
        """The ranking of judge configurations, where debates were judged."""
        if not self.is_worker and self.datasheet is not None:
            from pytest_judgesense.datasheet.terminal import ranking_lines

            yield from ranking_lines(self.datasheet)

    def write(self, session: pytest.Session) -> None:
        """Write the datasheets that were asked for."""
        if self.is_worker or self.datasheet is None:
            return
        from pytest_judgesense.datasheet.assembly import write_datasheet

        logs = {
            (part["sheet"]["judge"], part["sheet"]["suite"]): part["log"]
            for part in self._received
            if part["log"] is not None
        }
        for path in self.settings.datasheets:
            try:
                write_datasheet(path, self.datasheet, [logs[key] for key in sorted(logs)])
            except JudgesenseError as error:
                # What was measured is still told: the error stands below it.
                self._told += f"ERROR: {error}".splitlines()
                session.exitstatus = session.exitstatus or pytest.ExitCode.USAGE_ERROR
            else:
                self._told.append(f"datasheet written: {path}")

    def summary_lines(self) -> Iterator[str]:
        """The terminal summary."""
        if self.is_worker:
            return
        if self.datasheet is not None:
            from pytest_judgesense.datasheet.terminal import datasheet_lines

            yield from datasheet_lines(self.datasheet)
        yield from map(printable, self._told)
        yield from map(printable, self._lines_on_secrets())

    def _lines_on_secrets(self) -> Iterator[str]:
        if self._removed:
            yield f"secrets removed from what was recorded: {', '.join(sorted(self._removed))}"
        if self._skipped:
            named = ", ".join(f"{name} ({why})" for name, why in sorted(self._skipped.items()))
            yield f"not searched for, as words and not secrets: {named}"

    def interrupt(self) -> None:
        """Note that the session was interrupted."""
        self._was_interrupted = True

    def resume_lines(self) -> Iterator[str]:
        """What an interrupted recording has kept, and how to go on; nothing otherwise."""
        if self.is_worker or self.settings.mode != "record" or not self._was_interrupted:
            return
        if "run" in self.__dict__:
            yield from self.run.interrupted
        yield f"every answer that arrived is kept in {self.settings.cassettes}"
        yield f"resume: {shlex.join(['pytest', *self.config.invocation_params.args])}"
        yield "(asks only what is missing)"

    def header(self) -> str | None:
        """One line for pytest's header, where judges are asked for by an option."""
        settings = self.settings
        if not (settings.judges or settings.suites or settings.mode != "replay"):
            return None
        judges = ", ".join(settings.judges) or "as declared"
        return f"judgesense {__version__}: {settings.mode}, judges: {judges}, seed {settings.seed}"

    def close(self) -> None:
        """End the loop of the calls, and remove what live mode kept for this session only."""
        if "run" in self.__dict__:
            self.run.close()
        for folder in (self._made_live_folder, self._made_spent_folder):
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)


class _Receiver:
    """Hands reports to the state; a hook of its own, since a report knows no config."""

    def __init__(self, state: State) -> None:
        self._state = state

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._state.receive(report)

    def pytest_keyboard_interrupt(self) -> None:
        self._state.interrupt()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        self._state.equip(node.workerinput)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._state.refuse(getattr(node, "workeroutput", {}).get(_PROBLEMS, ()))


STATE: Final = pytest.StashKey[State]()
