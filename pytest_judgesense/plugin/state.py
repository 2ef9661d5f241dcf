"""The state of a session: its settings, the suites asked for, and the parts that arrived.

There is one `State` a process. Under xdist the workers measure and attach parts to their test
reports; the controller receives them, merges, writes and prints. Without xdist one process does
both, in the same way. Light on purpose: `Run`, which measures, is made at its first use.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_judgesense import __version__
from pytest_judgesense.errors import JudgesenseError, UsageError, printable
from pytest_judgesense.output import Outputs
from pytest_judgesense.plugin.activation import PLUGINS, STATE
from pytest_judgesense.plugin.ci import Failures
from pytest_judgesense.plugin.settings import Settings, settings_of
from pytest_judgesense.plugin.suite_names import BuiltinArgument, take_builtin_arguments

if TYPE_CHECKING:
    from pytest_judgesense.plugin.hookspecs import Plugins
    from pytest_judgesense.plugin.run import Run
    from pytest_judgesense.report.evidence import Evidence
    from pytest_judgesense.report.view import View

# Keys of what a controller of xdist and its workers send each other.
_LIVE_FOLDER: Final = "judgesense_live_folder"
_SESSION_FOLDER: Final = "judgesense_session_folder"
_EACH: Final = "judgesense_each"
_PROBLEMS: Final = "judgesense_problems"
_STARTED: Final = "judgesense_started"


class State:
    """The state of one process of a session."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self.config = config
        self.settings = settings
        self.problems: list[str] = []
        self.seen_suites: set[str] = set()
        self.builtin: list[BuiltinArgument] = []
        self.failures = Failures()
        self.plugins: Plugins = config.stash[PLUGINS]
        self._received: list[dict[str, Any]] = []
        self._verified: dict[tuple[str, str], dict[str, Any]] = {}
        self._outputs = Outputs(verbose=config.get_verbosity() > 0)
        self._session: pytest.Session | None = None
        self._was_interrupted = False
        self._removed: set[str] = set()
        self._skipped: dict[str, str] = {}
        self._made_live_folder: Path | None = None
        self._made_session_folder: Path | None = None

    @cached_property
    def run(self) -> Run:
        """What measures in this process; heavy packages are imported here."""
        from pytest_judgesense.plugin.run import Run

        return Run(
            self.config,
            self.settings,
            self._live_folder,
            self._session_folder,
            self._started,
            self.plugins.registry,
        )

    @property
    def is_worker(self) -> bool:
        """Whether xdist has started this process."""
        return hasattr(self.config, "workerinput")

    def prepare(self) -> None:
        """Take over built-in suites from the arguments, and receive reports."""
        try:
            self.builtin = take_builtin_arguments(self.config, self.settings.suites)
        except JudgesenseError as error:
            raise pytest.UsageError(str(error)) from error
        if not self.is_worker:
            self.config.pluginmanager.register(self, "judgesense-receiver")
            if self.settings.mode == "live" or self.settings.verify is not None:
                self._made_live_folder = Path(tempfile.mkdtemp(prefix="judgesense-live-"))

    @property
    def _live_folder(self) -> Path | None:
        if not self.is_worker:
            return self._made_live_folder
        folder = self.config.workerinput[_LIVE_FOLDER]  # type: ignore[attr-defined]
        return Path(folder) if folder else None

    @cached_property
    def _started(self) -> str:
        """When the session began; workers have it from their controller."""
        from datetime import UTC, datetime

        now = datetime.now(UTC).isoformat(timespec="seconds")
        return str(getattr(self.config, "workerinput", {}).get(_STARTED, now))

    @property
    def _session_folder(self) -> Path | None:
        """Where workers share what was asked and spent; a process alone has it in memory."""
        folder = getattr(self.config, "workerinput", {}).get(_SESSION_FOLDER)
        return Path(folder) if folder else None

    def problem_of_workers(self) -> str | None:
        """Why judges cannot be measured by the workers of this session; ``None`` if they can."""
        if getattr(self.config, "workerinput", {}).get(_EACH):
            return str(
                UsageError(
                    "judges cannot be measured under --dist each",
                    found="every test in every worker: each trial would be asked by all of them",
                    expected="each test in one worker",
                    remedy="leave --dist each out; -n N takes load, loadscope, loadfile, "
                    "loadgroup or worksteal",
                )
            )
        if (folder := self._session_folder) is not None and not folder.is_dir():
            return str(
                UsageError(
                    "judges cannot be asked by workers on several machines",
                    found=f"no folder {folder} here, which the workers of a session share",
                    expected="workers on the machine on which pytest was started",
                    remedy="start a session on each machine, with a part of the tests each, and "
                    "join their recordings and datasheets by `judgesense merge`",
                )
            )
        return None

    def report_problems(self, items: list[pytest.Item]) -> None:
        """End the session with the problems of its collection, if there are any.

        Raises:
            pytest.UsageError: there are, and this is no worker of xdist.
        """
        if self.problems and self.is_worker:
            # xdist takes an error of a worker for a crash: the controller raises it instead.
            items.clear()
            self.config.workeroutput[_PROBLEMS] = self.problems  # type: ignore[attr-defined]
        else:
            _refuse(self.problems)

    @property
    def measures(self) -> bool:
        """Whether this process has anything to do with judges yet."""
        return "run" in self.__dict__

    def attach(self, report: pytest.TestReport) -> None:
        """Put what this process has measured since the last report on ``report``."""
        if self.measures and any((sent := self.run.take_pending()).values()):
            # A string: what workers send is limited to plain values.
            report.judgesense = json.dumps(sent)  # type: ignore[attr-defined]

    # The hooks of the process that receives reports. Registered, for a report knows no config.

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self) -> None:
        """Say what pytest-timeout would do to a session that asks judges."""
        if line := self._timeout_line():
            reporter: Any = self.config.pluginmanager.get_plugin("terminalreporter")
            reporter.write_line(line)

    def pytest_keyboard_interrupt(self) -> None:
        """Note that the session was interrupted."""
        self._was_interrupted = True

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Send a worker what all workers of the session share: live recordings, calls, limits."""
        folder = self._made_live_folder
        node.workerinput[_LIVE_FOLDER] = str(folder) if folder else None
        node.workerinput[_EACH] = getattr(self.config.option, "dist", None) == "each"
        node.workerinput[_STARTED] = self._started
        if self.settings.mode != "replay":
            if self._made_session_folder is None:
                self._made_session_folder = Path(tempfile.mkdtemp(prefix="judgesense-session-"))
            node.workerinput[_SESSION_FOLDER] = str(self._made_session_folder)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """End the session with the problems that a worker found."""
        _refuse(getattr(node, "workeroutput", {}).get(_PROBLEMS, ()))

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Take the parts that a report brings."""
        if text := getattr(report, "judgesense", None):
            sent = json.loads(text)
            self._received += sent["parts"]
            for found in sent["verified"]:
                self._verified[found["judge"], found["suite"]] = found
            self._removed.update(sent["removed"])
            self._skipped |= sent["skipped"]
        self.failures.receive(report)

    @cached_property
    def datasheet(self) -> View | None:
        """The datasheet of all parts received; ``None`` if there are none."""
        if not self._received:
            return None
        from pytest_judgesense.report.assembly import counted_once, sheet_of
        from pytest_judgesense.report.codec import part_from_plain
        from pytest_judgesense.report.view import view_of

        registry = self.plugins.registry
        counted = counted_once([(part["sheet"], part["asked"]) for part in self._received])
        sheet = sheet_of(
            map(part_from_plain, counted),
            seed=self.settings.seed,
            mode=self.settings.mode,
            secondary=bool(self.settings.datasheets),
            registry=registry,
        )
        return view_of(sheet, registry)

    def write(self, session: pytest.Session) -> None:
        """Write the files that were asked for, and what was recorded live."""
        if self.is_worker:
            return
        self._session = session
        self._save_live()
        try:
            view = self.datasheet
        except Exception as error:  # noqa: BLE001 - the terminal still says what was tested
            self._outputs.failed("the datasheet cannot be made", error)
            view = self.datasheet = None
        self._summarise(view)
        if view is not None:
            self._write_datasheets(view)
        if self._received and self.settings.save_baseline is not None:
            self._outputs.write("baseline", self.settings.save_baseline, self._baseline_text)
        self._set_exit_status()

    def _write_datasheets(self, view: View) -> None:
        from pytest_judgesense.report.assembly import datasheet_text

        logs = {
            (part["sheet"]["judge"], part["sheet"]["suite"]): part["log"]
            for part in self._received
            if part["log"] is not None
        }
        of_suites = [logs[key] for key in sorted(logs)]

        def text(suffix: str) -> str:
            evidence = self._evidence() if suffix == ".html" else None
            return datasheet_text(suffix, view, of_suites, self.failures.missed, evidence)

        for path in self.settings.datasheets:
            self._outputs.write("datasheet", path, partial(text, path.suffix))

    def _evidence(self) -> Evidence:
        """What a page shows beside the datasheet: judgments, prompts, and the baseline's."""
        from pytest_judgesense.plugin.evidence import evidence_of

        settings = self.settings
        return evidence_of(self._received, settings.baseline, settings.seed, self.plugins.registry)

    def _baseline_text(self) -> str:
        from pytest_judgesense.baseline import baseline_text
        from pytest_judgesense.report.assembly import versions

        return baseline_text(self._received, self.settings.seed, versions())

    def _summarise(self, view: View | None) -> None:
        """Append to the summary of the job; a file that cannot be written fails no session."""
        try:
            problem = self.failures.summarise(view)
        except Exception as error:  # noqa: BLE001 - the files are written all the same
            self._outputs.failed("the job summary cannot be written", error)
        else:
            self._outputs.written += [problem] if problem else []

    def _save_live(self) -> None:
        if self._made_live_folder is None or self.settings.save_live is None:
            return
        # What was asked to verify recordings is compared, and replaces nothing.
        if self.settings.verify is not None or not any(self._made_live_folder.iterdir()):
            return
        from pytest_judgesense.plugin.recordings import save_recordings

        try:
            save_recordings(self._made_live_folder, self.settings.save_live)
        except JudgesenseError as error:
            what = f"what was recorded live cannot be kept in {self.settings.save_live}"
            self._outputs.failed(what, error)

    def _set_exit_status(self) -> None:
        """A failed output fails the session, as far as no test has done so."""
        if self._outputs.errors and self._session is not None and not self._session.exitstatus:
            codes = pytest.ExitCode
            broken = self._outputs.is_broken
            self._session.exitstatus = codes.INTERNAL_ERROR if broken else codes.USAGE_ERROR

    def sections(self) -> Iterator[tuple[str, list[str]]]:
        """Title and lines of what the terminal shows below the tests; none that is empty."""
        if self.is_worker:
            return
        sections = {
            "judge ranking": self._ranking_lines(),
            "judge datasheet": self._datasheet_lines(),
            "judge verification": self._verification_lines(),
            "judge recording interrupted": self._resume_lines(),
        }
        shown = {title: self._outputs.shown(title, lines) for title, lines in sections.items()}
        notes = (
            *self._outputs.written,
            *(f"ERROR: {problem}" for problem in self._outputs.problems),
            *self._lines_on_secrets(),
        )
        shown["judge datasheet"] += map(printable, notes)
        self._set_exit_status()
        yield from ((title, lines) for title, lines in shown.items() if lines)

    def _ranking_lines(self) -> Iterator[str]:
        if self.datasheet is not None:
            from pytest_judgesense.report.terminal import ranking_lines

            yield from ranking_lines(self.datasheet)

    def _datasheet_lines(self) -> Iterator[str]:
        if self.datasheet is not None:
            from datetime import UTC, datetime

            from pytest_judgesense.report.terminal import datasheet_lines

            yield from datasheet_lines(self.datasheet, datetime.now(UTC).date())

    def _verification_lines(self) -> Iterator[str]:
        if not self._verified:
            return
        from pytest_judgesense.checks.verifying import verification_from_plain, verification_lines

        for key in sorted(self._verified):
            yield from verification_lines(verification_from_plain(self._verified[key]))

    def _lines_on_secrets(self) -> Iterator[str]:
        if self._removed:
            yield f"secrets removed from what was recorded: {', '.join(sorted(self._removed))}"
        if self._skipped:
            named = ", ".join(f"{name} ({why})" for name, why in sorted(self._skipped.items()))
            yield f"not searched for, as words and not secrets: {named}"

    def _resume_lines(self) -> Iterator[str]:
        if self.settings.mode != "record" or not self._was_interrupted:
            return
        if self.measures:
            yield from self.run.interrupted
        yield f"every answer that arrived is kept in {self.settings.cassettes}"
        yield f"resume: {shlex.join(['pytest', *self.config.invocation_params.args])}"
        yield "(asks only what is missing)"

    def header(self) -> str | None:
        """One line for pytest's header, where judges are asked for by an option."""
        settings = self.settings
        if not (settings.judges or settings.suites or settings.mode != "replay" or settings.verify):
            return None
        judges = ", ".join(settings.judges) or "as declared"
        mode = settings.mode
        if settings.verify is not None:
            mode += f", {settings.verify} trials of each judge and suite asked again live"
        return f"judgesense {__version__}: {mode}, judges: {judges}, seed {settings.seed}"

    def _timeout_line(self) -> str | None:
        config = self.config
        asks = self.settings.mode != "replay" or self.settings.verify is not None
        if not asks or not hasattr(config.hook, "pytest_timeout_set_timer"):
            return None
        given = (config.getoption("timeout"), os.environ.get("PYTEST_TIMEOUT"))
        limit = next((one for one in given if one is not None), config.getini("timeout"))
        if not float(limit or 0):
            return None
        return (
            f"judgesense: pytest-timeout ends a test after {float(limit):g} s, and asking a judge "
            "is part of its test: --timeout 0 sets no limit"
        )

    def close(self) -> None:
        """End the loop of the calls, and remove the folders of this session."""
        if self.measures:
            self.run.close()
        for folder in (self._made_live_folder, self._made_session_folder):
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)


def state_of(config: pytest.Config) -> State:
    """The state of the session, made at its first use.

    Raises:
        pytest.UsageError: an option or an ini value is wrong.
    """
    if STATE not in config.stash:
        config.stash[STATE] = State(config, settings_of(config))
        config.stash[STATE].prepare()
    state: State = config.stash[STATE]
    return state


def _refuse(problems: Sequence[str]) -> None:
    """End the session with ``problems``, each once, if there are any."""
    if problems:
        raise pytest.UsageError("\n".join(dict.fromkeys(problems)))
