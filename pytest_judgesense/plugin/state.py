"""The state of a session: its settings, the suites asked for, and what became of them.

There is one `State` a process. Under xdist the workers measure and attach results to their test
reports; the controller receives them (`receiver`), merges and writes (`session_files`) and prints
(`session_sections`). Without xdist one process does both, in the same way.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_judgesense import __version__
from pytest_judgesense.errors import JudgesenseError, UsageError, harmless
from pytest_judgesense.judges.termination import take_sigterm
from pytest_judgesense.plugin.activation import STATE
from pytest_judgesense.plugin.messages import usage_error
from pytest_judgesense.plugin.receiver import Receiver
from pytest_judgesense.plugin.session import Session
from pytest_judgesense.plugin.suite_names import take_builtin_arguments

if TYPE_CHECKING:
    from pytest_judgesense.plugin.session_files import SessionFiles
    from pytest_judgesense.report.view import View


class State(Session):
    """The state of one process of a session.

    Attributes:
        builtin: the built-in suites that the arguments of the command name.
        problems: what is wrong with the session, told once all is collected.
        seen_suites: names of the suites that were collected.
        receiver: what has arrived of all processes; of a worker nothing does.
    """

    def __init__(self, config: pytest.Config) -> None:
        super().__init__(config)
        try:
            self.builtin = take_builtin_arguments(config, self.settings.suites)
        except JudgesenseError as error:
            raise usage_error(error) from error
        self.problems: list[Exception | str] = []
        self.seen_suites: set[str] = set()
        self._session: pytest.Session | None = None
        self._give_back_sigterm = take_sigterm() if self.settings.asks else lambda: None
        self.receiver = Receiver(self)
        if not self.is_worker:
            config.pluginmanager.register(self.receiver, "judgesense-receiver")

    @cached_property
    def files(self) -> SessionFiles:
        """The datasheet of all processes, and the files that hold it."""
        from pytest_judgesense.plugin.session_files import SessionFiles

        return SessionFiles(self, self.receiver)

    @property
    def _view(self) -> View | None:
        # Nothing is imported for a session that has measured nothing.
        return self.files.view if self.receiver.parts else None

    def problem_of_processes(self, items: Iterable[pytest.Item]) -> UsageError | None:
        """Why judges cannot be measured by the processes of this session; ``None`` if they can.

        Args:
            items: the tests that ask judges.
        """
        if self.config.getoption("forked", default=False) or any(
            item.get_closest_marker("forked") for item in items
        ):
            return UsageError(
                "judges cannot be measured in a process of its own for each test",
                found="--forked, or a marker forked on a test that asks a judge",
                expected="one process, or workers: what a test measures is kept for the next one "
                "and for the datasheet, and ends with the process of the test",
                remedy="run the tests of judges without pytest-forked, or by workers: -n N",
            )
        if self.shared.each:
            return UsageError(
                "judges cannot be measured under --dist each",
                found="every test in every worker: each trial would be asked by all of them",
                expected="each test in one worker",
                remedy="leave --dist each out; -n N takes load, loadscope, loadfile, "
                "loadgroup or worksteal",
            )
        folder = self.shared.session_folder
        if folder is not None and not Path(folder).is_dir():
            return UsageError(
                "judges cannot be asked by workers on several machines",
                found=f"no folder {folder} here, which the workers of a session share",
                expected="workers on the machine on which pytest was started",
                remedy="start a session on each machine, with a part of the tests each, and "
                "join their recordings and datasheets by `judgesense recordings join`",
            )
        return None

    def report_problems(self, items: list[pytest.Item]) -> None:
        """End the session if there are problems."""
        if self.problems and self.is_worker:
            # xdist takes an error of a worker for a crash: the controller raises it instead.
            items.clear()
            output = self.config.workeroutput  # type: ignore[attr-defined]
            output["judgesense"] = [*map(str, self.problems)]
        else:
            refuse(self.problems)

    def attach(self, report: pytest.TestReport) -> None:
        """Put the measurements of this xdist worker since the last report on ``report``."""
        if self.is_worker and self.measures and (results := self.run.collected.take()):
            report.judgesense = results.text()  # type: ignore[attr-defined]

    def write(self, session: pytest.Session) -> None:
        """Write what the session has measured, where the reports arrive."""
        if self.measures:
            if self.is_worker:
                # By the pipe between the two, and by no report: other plugins write those down.
                output = self.config.workeroutput  # type: ignore[attr-defined]
                shown = self.run.collected.credentials.shown.items()
                output["judgesense-shown"] = [(name, value) for value, name in shown]
            collected = self.run.collected
            self.receiver.remove_from(self.run.measurements.recordings, collected.credentials)
        if self.is_worker:
            return
        self.receiver.remove_shown_by_workers()
        if self.measures:
            # One process has one part a suite to take, with all its checks.
            self.receiver.take(self.run.collected.take())
        self._session = session
        if self.receiver.parts or self.failures.names or self.settings.asks:
            self.files.write(session)
        self._miss_datasheets(session)
        self.set_exit_status()

    def _miss_datasheets(self, session: pytest.Session) -> None:
        """Fail the session where a datasheet is asked for and no judge was measured.

        Named by the ini file, it is for the sessions that measure, and missed by no other.
        """
        options = session.config.option
        is_asked_for = options.judgesense_datasheets or self.failures.not_measured
        if not is_asked_for or self.receiver.parts or options.collectonly:
            return
        # One of another day may be there, and is not to be taken for that of this session.
        for path in self.settings.datasheets:
            self.outputs.failed(
                "datasheet not written, for nothing was measured",
                UsageError(
                    "no judge was measured",
                    found=str(path),
                    expected="a suite, or a test that asks for a datasheet",
                    remedy="run what measures a judge, or leave --judge-datasheet out",
                ),
            )

    def set_exit_status(self) -> None:
        """A failed output fails the session, as far as no test has done so."""
        if self.outputs.errors and self._session is not None and not self._session.exitstatus:
            codes = pytest.ExitCode
            broken = self.outputs.is_broken
            self._session.exitstatus = codes.INTERNAL_ERROR if broken else codes.USAGE_ERROR

    def sections(self) -> Iterator[tuple[str, list[str]]]:
        """Titles and lines that the terminal shows below the tests, without empty ones."""
        from pytest_judgesense.plugin.session_sections import SessionSections

        shown = SessionSections(self, self.receiver, self._view).shown()
        self.set_exit_status()
        yield from ((title, lines) for title, lines in shown.items() if lines)

    def header(self) -> str | None:
        """One line for pytest's header, where judges are asked for by an option."""
        settings = self.settings
        if not (settings.judges or settings.suites or settings.asks):
            return None
        judges = ", ".join(settings.judges) or "as declared"
        mode: str = settings.mode
        if settings.shard is not None:
            mode += " shard {} of {}".format(*settings.shard)
        if settings.verify is not None:
            mode += f", {settings.verify} trials of each judge and suite asked again live"
        return harmless(f"judgesense {__version__}: {mode}, judges: {judges}, seed {settings.seed}")

    def close(self) -> None:
        """End the loop of the calls, and remove the folders of this session."""
        self._give_back_sigterm()
        if self.measures:
            status = int(self._session.exitstatus) if self._session else 1
            self.run.measurements.loop.close(status)
        # pytest searches all that is left for garbage, twice.
        for name in ("run", "files"):
            vars(self).pop(name, None)
        self.receiver.parts = []
        self.receiver.release_session()
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)


def state_of(config: pytest.Config) -> State:
    """The state of the session, made at its first use; `pytest.UsageError` for a wrong option."""
    if STATE not in config.stash:
        config.stash[STATE] = State(config)
    state: State = config.stash[STATE]
    return state


def refuse(problems: Iterable[Exception | str]) -> None:
    """End the session with ``problems``, each once, if there are any."""
    if texts := dict.fromkeys(map(str, problems)):
        raise usage_error("\n".join(texts))
