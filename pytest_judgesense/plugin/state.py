"""The state of a session: its settings, the suites asked for, and the parts that arrived.

There is one `State` a process. Under xdist the workers measure and attach parts to their test
reports; the controller receives them, merges, writes and prints. Without xdist one process does
both, in the same way. Light on purpose: `Run`, which measures, is made at its first use.
"""

from __future__ import annotations

import json
import shlex
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property, partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_judgesense import __version__
from pytest_judgesense.display import write_line
from pytest_judgesense.errors import (
    ExtensionError,
    JudgesenseError,
    UsageError,
    harmless,
    printable,
)
from pytest_judgesense.judges.termination import take_sigterm
from pytest_judgesense.layout import indented, within
from pytest_judgesense.output import Outputs
from pytest_judgesense.plugin.activation import PLUGINS, STATE
from pytest_judgesense.plugin.ci import Failures
from pytest_judgesense.plugin.messages import usage_error
from pytest_judgesense.plugin.screen import (
    EVERYTHING,
    columns_of,
    datasheet_lines,
    tables_shown,
    tells_luck,
)
from pytest_judgesense.plugin.settings import Shared, settings_of
from pytest_judgesense.plugin.suite_names import take_builtin_arguments
from pytest_judgesense.plugin.timeouts import limit_of_session, limits_of_markers
from pytest_judgesense.plugin.workers import (
    follow_workers,
    interrupt_workers,
    leave_line,
    line_left,
)

if TYPE_CHECKING:
    from pytest_judgesense.cassettes.credentials import Credentials
    from pytest_judgesense.estimate import Estimate
    from pytest_judgesense.plugin.hookspecs import Plugins
    from pytest_judgesense.plugin.recordings import Recordings
    from pytest_judgesense.plugin.run import Run
    from pytest_judgesense.report.evidence import Evidence
    from pytest_judgesense.report.view import View


class State:
    """The state of one process of a session."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.settings = settings_of(config)
        try:
            self.builtin = take_builtin_arguments(config, self.settings.suites)
        except JudgesenseError as error:
            raise usage_error(error) from error
        self.problems: list[Exception | str] = []
        self.seen_suites: set[str] = set()
        self.failures = Failures()
        self.plugins: Plugins = config.stash[PLUGINS]
        self.is_worker = hasattr(config, "workerinput")
        self._received: list[dict[str, Any]] = []
        self._verified: dict[tuple[str, str], dict[str, Any]] = {}
        self._of_shard: dict[str, None] = {}
        self._questions: Counter[str] = Counter()
        self._verbosity = config.get_verbosity()
        self._outputs = Outputs(verbose=self._verbosity > 0)
        self._session: pytest.Session | None = None
        self._was_interrupted = self._has_reports = False
        self._removed: set[str] = set()
        # Names and values that requests of workers have shown, and the files of all workers.
        self._shown: list[tuple[str, str]] = []
        self._recorded: set[Path] = set()
        self._skipped: dict[str, str] = {}
        self._before: str | None = None
        self._made_folders: list[str] = []
        self._give_back_sigterm = take_sigterm() if self.settings.asks else lambda: None
        now, limit = datetime.now(UTC), self.settings.deadline
        until = None if limit is None else now.timestamp() + limit
        self._shared = Shared(now.isoformat(timespec="seconds"), deadline=until)
        if self.is_worker:
            self._shared = Shared(**config.workerinput["judgesense"])  # type: ignore[attr-defined]
            return
        config.pluginmanager.register(self, "judgesense-receiver")
        if self.settings.mode == "live" or self.settings.verify is not None:
            self._shared = self._shared._replace(live_folder=self._made_folder("live"))

    def _made_folder(self, kind: str) -> str:
        self._made_folders.append(tempfile.mkdtemp(prefix=f"judgesense-{kind}-"))
        return self._made_folders[-1]

    @cached_property
    def run(self) -> Run:
        """The measuring part of this process; heavy packages are imported here."""
        from pytest_judgesense.plugin.run import Run

        return Run(self.config, self.settings, self._shared, self.plugins.registry)

    def problem_of_workers(self) -> UsageError | None:
        """Why judges cannot be measured by the workers of this session; ``None`` if they can."""
        if self._shared.each:
            return UsageError(
                "judges cannot be measured under --dist each",
                found="every test in every worker: each trial would be asked by all of them",
                expected="each test in one worker",
                remedy="leave --dist each out; -n N takes load, loadscope, loadfile, "
                "loadgroup or worksteal",
            )
        folder = self._shared.session_folder
        if folder is not None and not Path(folder).is_dir():
            return UsageError(
                "judges cannot be asked by workers on several machines",
                found=f"no folder {folder} here, which the workers of a session share",
                expected="workers on the machine on which pytest was started",
                remedy="start a session on each machine, with a part of the tests each, and "
                "join their recordings and datasheets by `judgesense merge`",
            )
        return None

    def report_problems(self, items: list[pytest.Item]) -> None:
        if self.problems and self.is_worker:
            # xdist takes an error of a worker for a crash: the controller raises it instead.
            items.clear()
            output = self.config.workeroutput  # type: ignore[attr-defined]
            output["judgesense"] = [*map(str, self.problems)]
        else:
            _refuse(self.problems)

    @property
    def measures(self) -> bool:
        """Whether this process has anything to do with judges yet."""
        return "run" in self.__dict__

    def attach(self, report: pytest.TestReport) -> None:
        """Put the measurements of this xdist worker since the last report on ``report``."""
        if self.is_worker and self.measures and any((sent := self.run.take_pending()).values()):
            from pytest_judgesense.report.codec import part_to_plain

            # A string, because workers can only send plain values.
            text = json.dumps(sent, default=part_to_plain)
            report.judgesense = text  # type: ignore[attr-defined]

    # The hooks of the process that receives reports; registered, because a report has no config.

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self) -> None:
        """Tell of a limit of pytest-timeout on every test of a session that calls judges."""
        if self.settings.asks:
            self._write_line(limit_of_session(self.config))

    def tell_limits_of_markers(self, items: list[pytest.Item]) -> None:
        """Tell of those on tests that call judges; a worker leaves it to its controller."""
        if not self.settings.asks:
            return
        line = limits_of_markers(self.config, items)
        if not self.is_worker:
            self._write_line(line)
        elif line and self._shared.session_folder:
            leave_line(Path(self._shared.session_folder), line)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self) -> None:
        """Write, once, what the workers have to tell before a test is run."""
        if self._shared.session_folder and not self._before:
            self._before = line_left(Path(self._shared.session_folder))
            self._write_line(self._before)

    def _write_line(self, line: str | None) -> None:
        reporter: Any = self.config.pluginmanager.get_plugin("terminalreporter")
        if line and reporter:
            reporter.ensure_newline()
            write_line(reporter, line)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note that the session was interrupted, and let calls under way come to their end."""
        if isinstance(excinfo.value, pytest.Session.Interrupted) and not self._has_reports:
            return  # by an error of the collection, before anybody was asked
        self._was_interrupted = True
        with suppress(KeyboardInterrupt):  # the second one: the session ends now
            if self.measures:
                self.run.loop.drain()
            elif self._shared.session_folder and self.settings.asks:
                interrupt_workers(Path(self._shared.session_folder))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        if not session.config.option.collectonly:
            self.tell_limits_of_markers(session.items)
        if self.settings.asks and self._shared.session_folder:
            follow_workers(self.config, Path(self._shared.session_folder))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Send a worker the shared state of the session: live recordings, calls, limits."""
        if self.settings.mode != "replay" and self._shared.session_folder is None:
            self._shared = self._shared._replace(session_folder=self._made_folder("session"))
        each = getattr(self.config.option, "dist", None) == "each"
        node.workerinput["judgesense"] = self._shared._replace(
            each=each, columns=columns_of(self.config)
        )._asdict()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over a worker's results; end the session with the problems that it found."""
        output = getattr(node, "workeroutput", {})
        self._shown += map(tuple, output.get("judgesense-shown", ()))
        _refuse(output.get("judgesense", ()))

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._has_reports = True
        if text := getattr(report, "judgesense", None):
            self._receive(text)
        self.failures.receive(report)

    def _receive(self, text: str, estimates: Iterable[tuple[Estimate, ...]] = ()) -> None:
        """Take what a process has measured; the ``estimates`` of this one were not written."""
        sent = json.loads(text)
        for part, measured in zip(sent["parts"], estimates, strict=False):
            part["sheet"]["estimates"] = measured
        self._received += sent["parts"]
        for found in sent["verified"]:
            self._verified[found["judge"], found["suite"]] = found
        self._of_shard |= dict.fromkeys(sent.get("shard", ()))
        self._questions.update(sent.get("questions", {}))
        self._removed.update(sent.get("removed", ()))
        self._skipped |= sent.get("skipped", {})
        self._recorded.update(map(Path, sent.get("recorded", ())))
        if notes := sent["notes"]:  # by a worker, which has no screen
            from pytest_judgesense.plugin.progress import write_lines

            write_lines(self.config.pluginmanager.get_plugin("terminalreporter"), notes)

    @cached_property
    def datasheet(self) -> View | None:
        """The datasheet of all parts received; ``None`` if there are none."""
        if not self._received:
            return None
        from pytest_judgesense.report.assembly import counted_once, sheet_of
        from pytest_judgesense.report.codec import part_from_plain
        from pytest_judgesense.report.view import view_of

        registry = self.plugins.registry
        faults: list[ExtensionError] = []
        counted = counted_once([(part["sheet"], part["asked"]) for part in self._received])
        sheet = sheet_of(
            map(part_from_plain, counted),
            seed=self.settings.seed,
            mode=self.settings.mode,
            secondary=bool(self.settings.datasheets),
            registry=registry.shown(tables_shown(self.config, self.settings)),
            faults=faults,
        )
        for error in faults:
            self._outputs.failed("the datasheet lacks a part", error)
        return view_of(sheet, registry)

    def write(self, session: pytest.Session) -> None:
        if self.measures:
            if self.is_worker:
                # By the pipe between the two, and by no report: other plugins write those down.
                output = self.config.workeroutput  # type: ignore[attr-defined]
                shown = self.run.credentials.shown.items()
                output["judgesense-shown"] = [(name, value) for value, name in shown]
            self._remove_from(self.run.recordings, self.run.credentials)
        if self.is_worker:
            return
        if self._shown:
            self._remove_shown_by_workers()
        if self.measures:
            # One process has one part a suite to take, with all its checks.
            sent = self.run.take_pending()
            estimates = [part["sheet"].pop("estimates") for part in sent["parts"]]
            self._receive(json.dumps(sent), estimates)
        self._session = session
        self._save_live()
        try:
            view = self.datasheet
        except Exception as error:  # noqa: BLE001 - the terminal still says what was tested
            self._outputs.failed("the datasheet cannot be made", error)
            view = self.datasheet = None
        what = "the job summary cannot be written"
        try:
            self.failures.summarise(view)
        except OSError as error:  # of the machine that runs the job, no failure of the session
            self._outputs.written.append(f"{what}: {error}")
        except Exception as error:  # noqa: BLE001 - the files are written all the same
            self._outputs.failed(what, error)
        if view is not None:
            self._write_datasheets(view)
        elif self.failures.not_measured and not self._received:
            # One of another day may be there, and is not to be taken for that of this session.
            said = "datasheet not written, for nothing was measured"
            self._outputs.written += [f"{said}: {path}" for path in self.settings.datasheets]
        baseline = self.settings.save_baseline if self._received else None
        if baseline and _ended_early(session):
            # What the old one has of suites that were not reached is not given up.
            self._outputs.written.append(
                f"baseline not written, for the session ended early: {baseline}"
            )
        elif baseline:
            from pytest_judgesense.baseline import baseline_text
            from pytest_judgesense.report.assembly import versions

            text = partial(baseline_text, self._received, self.settings.seed, versions())
            self._outputs.write("baseline", baseline, text)
            if self.settings.mode != "replay":
                self._outputs.written.append(
                    "one baseline session does not show how sessions differ: save several"
                )
        self._set_exit_status()
        whole = self._verbosity >= EVERYTHING or self.config.getoption("tbstyle") == "long"
        if not whole:
            from pytest_judgesense.report.summary import MOST_SPELT_OUT

            self.failures.shorten(MOST_SPELT_OUT)

    def _remove_from(self, files: Recordings, known: Credentials) -> None:
        try:
            files.remove_shown(known)
        except JudgesenseError as error:
            self._outputs.failed("a credential may be in a recording", error)
            if self.is_worker:  # whose outputs are not shown
                raise

    def _remove_shown_by_workers(self) -> None:
        """Remove credentials that one worker found from what others recorded and sent before."""
        from pytest_judgesense.cassettes.credentials import Credentials
        from pytest_judgesense.cassettes.redaction import without_secrets
        from pytest_judgesense.plugin.recordings import Recordings, recorder_of

        known = Credentials()
        known.learn(self._shown)
        files = Recordings(self.settings, self._shared, recorder_of(self.config), self._recorded)
        self._remove_from(files, known)
        self._received = without_secrets(self._received, known.values)
        self._removed |= known.removed

    @property
    def _parts(self) -> list[tuple[tuple[str, str], dict[str, Any]]]:
        """The last part of each judge and suite, with their names."""
        named = {(part["sheet"]["judge"], part["sheet"]["suite"]): part for part in self._received}
        return sorted(named.items(), key=itemgetter(0))

    def _write_datasheets(self, view: View) -> None:
        from pytest_judgesense.report.assembly import datasheet_text

        logs = [part["log"] or () for _, part in self._parts]

        def text(suffix: str) -> str:
            evidence = self._page_evidence() if suffix == ".html" else None
            return datasheet_text(suffix, view, logs, self.failures.not_measured, evidence)

        for path in self.settings.datasheets:
            self._outputs.write("datasheet", path, partial(text, path.suffix))

    def _page_evidence(self) -> Evidence:
        """What a page shows beside the datasheet: judgments, prompts, and the baseline's."""
        from pytest_judgesense.baseline import read_measured
        from pytest_judgesense.measures.cell import Cell
        from pytest_judgesense.report.evidence import Evidence
        from pytest_judgesense.report.log import judgment_of_object

        cells, prompts = [], {}
        registry, seed, baseline = self.plugins.registry, self.settings.seed, self.settings.baseline
        for (_, suite), part in self._parts:
            lines = [json.loads(line) for line in part["log"]]
            read = [judgment_of_object(line, "a judgment", registry) for line in lines]
            design = read[0][1]
            assert design is not None, "the log of a session names its designs"
            judgments = tuple(judgment for judgment, _ in read)
            cells.append(Cell(judgments[0].judge, suite, design, judgments, seed))
            texts, numbers = part["prompts"]["texts"], part["prompts"]["of"]
            prompts[judgments[0].judge, suite] = {
                judgment.trial.id: texts[number]
                for judgment, number in zip(judgments, numbers, strict=True)
            }
        there = baseline is not None and baseline.is_file()
        measured = read_measured(baseline, seed, registry) if baseline and there else []
        before = {(m.judge, m.suite): m.side for m in measured}
        return Evidence(tuple(cells), prompts, before)

    def _save_live(self) -> None:
        """Let what a live session has asked replace what was recorded before."""
        if self.settings.mode != "live" or self.settings.save_live is None:
            return
        from pytest_judgesense.plugin.live_saving import saving_of
        from pytest_judgesense.plugin.recordings import recorder_of

        saving = saving_of(self.settings, self._shared)
        assert saving is not None, "a live session that saves has one"
        for told in saving.finish(recorder_of(self.config)):
            if isinstance(told, str):
                self._outputs.written.append(told)
            else:
                self._outputs.failed(*told)

    def _set_exit_status(self) -> None:
        """A failed output fails the session, as far as no test has done so."""
        if self._outputs.errors and self._session is not None and not self._session.exitstatus:
            codes = pytest.ExitCode
            broken = self._outputs.is_broken
            self._session.exitstatus = codes.INTERNAL_ERROR if broken else codes.USAGE_ERROR

    def sections(self) -> Iterator[tuple[str, list[str]]]:
        """Titles and lines that the terminal shows below the tests, without empty ones."""
        sections = {
            "judge ranking": self._ranking_lines(),
            "judge datasheet": self._sheet_lines(),
            "judge verification": self._verification_lines(),
            "judge shard": self._shard_lines(),
            "judge recording interrupted": self._resume_lines(),
        }
        if self.config.getoption("no_summary"):  # problems with files are reported in any case
            sections = {"judge datasheet": iter(())}
        with within(columns_of(self.config)):
            shown = {title: self._outputs.shown(title, lines) for title, lines in sections.items()}
            notes = (
                *self._outputs.written,
                *(f"ERROR: {problem}" for problem in self._outputs.problems),
                *self._lines_on_baseline(),
                *self._lines_on_secrets(),
            )
            beside = (*self._lines_on_questions(), *self._lines_on_luck(), *notes)
            shown["judge datasheet"] += map(printable, beside)
        self._set_exit_status()
        yield from ((title, lines) for title, lines in shown.items() if lines)

    def _ranking_lines(self) -> Iterator[str]:
        """Of the whole datasheet, a separate section; a summary holds the ranks in short."""
        if (view := self.datasheet) is not None and self._verbosity >= EVERYTHING:
            from pytest_judgesense.report.terminal import ranking_lines

            yield from ranking_lines(view)

    def _sheet_lines(self) -> Iterator[str]:
        missed = self.failures.not_measured
        if (view := self.datasheet) is not None or missed:
            yield from datasheet_lines(view, missed, self._verbosity)

    def _lines_on_questions(self) -> Iterator[str]:
        """The calls of tests that ask their judge directly, beside those of the suites."""
        asked = self._questions
        if self._received and (asked["made"] or asked["replayed"]):
            words = [f"{asked['made']:,} made", f"{asked['replayed']:,} replayed"]
            words += [f"{asked['failed']:,} failed"] * bool(asked["failed"])
            yield f"calls by judge.ask, beside those of the suites: {', '.join(words)}"

    def _lines_on_luck(self) -> list[str]:
        """The chance of a failure by luck, of the checks that every process has evaluated."""
        results = {
            (part["sheet"]["judge"], part["sheet"]["suite"], check): bits
            for part in self._received
            for check, bits in part["luck"].items()
        }
        if not results or not tells_luck(self.config):
            return []
        from pytest_judgesense.checks.luck import luck_line

        return list(indented(luck_line(results), width=0))

    def _verification_lines(self) -> Iterator[str]:
        if not self._verified:
            return
        from pytest_judgesense.checks.verifying import verification_from_plain, verification_lines

        for key in sorted(self._verified):
            yield from verification_lines(verification_from_plain(self._verified[key]))

    def _shard_lines(self) -> Iterator[str]:
        if self._of_shard and self.settings.shard is not None:
            yield from sorted(self._of_shard)
            folder = self.settings.save_live or self.settings.cassettes
            yield f"recorded in {folder}: a part, no check was decided. When all shards are there:"
            others = "OTHER-FOLDERS " * (self.settings.shard[1] > 1)
            yield f"  judgesense merge {shlex.quote(str(folder))} {others}-o cassettes"

    def _lines_on_baseline(self) -> Iterator[str]:
        """Say that a baseline of the command line gated nothing: it looks as if it had."""
        if self.config.option.judgesense_baseline is None or not self._received:
            return
        evaluated = {check["check"] for _, part in self._parts for check in part["sheet"]["checks"]}
        evaluated |= self.failures.names
        kinds = (self.plugins.registry.checks.get(name.partition("[")[0]) for name in evaluated)
        if not any(kind and kind.regression for kind in kinds):
            baseline = self.config.option.judgesense_baseline
            yield f"--judge-baseline {baseline}: no check was compared with it (no_regression is)"

    def _lines_on_secrets(self) -> Iterator[str]:
        if self._removed:
            yield f"secrets removed from what was recorded: {', '.join(sorted(self._removed))}"
        if self._skipped:
            named = ", ".join(f"{name} ({why})" for name, why in sorted(self._skipped.items()))
            yield f"not removed, for such short or plain values are ordinary words too: {named}"

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
            self.run.loop.close(int(self._session.exitstatus) if self._session else 1)
        # pytest searches all that is left for garbage, twice.
        for measured in ("run", "datasheet"):
            vars(self).pop(measured, None)
        self._received = []
        for folder in self._made_folders:
            shutil.rmtree(folder, ignore_errors=True)


def state_of(config: pytest.Config) -> State:
    """The state of the session, made at its first use; `pytest.UsageError` for a wrong option."""
    if STATE not in config.stash:
        config.stash[STATE] = State(config)
    state: State = config.stash[STATE]
    return state


def _refuse(problems: Iterable[Exception | str]) -> None:
    """End the session with ``problems``, each once, if there are any."""
    if texts := dict.fromkeys(map(str, problems)):
        raise usage_error("\n".join(texts))


def _ended_early(session: pytest.Session) -> bool:
    """Whether some tests that were collected did not run."""
    interrupted = session.exitstatus == pytest.ExitCode.INTERRUPTED
    return bool(interrupted or session.shouldfail or session.shouldstop)
