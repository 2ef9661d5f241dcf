"""What arrives in the process that writes and prints: of xdist workers, or of this one.

Its hooks are registered apart, because a report has no config.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_judgesense.errors import JudgesenseError
from pytest_judgesense.plugin.messages import usage_error
from pytest_judgesense.plugin.screen import columns_of
from pytest_judgesense.plugin.timeouts import limit_of_session
from pytest_judgesense.plugin.workers import Following, hold_session, interrupt_workers, line_left

if TYPE_CHECKING:
    from pytest_judgesense.cassettes.credentials import Credentials
    from pytest_judgesense.checks.verifying import Verification
    from pytest_judgesense.plugin.cassette_files import Recordings
    from pytest_judgesense.plugin.results import KnownProposal, MeasuredPart, Results
    from pytest_judgesense.plugin.session import Session
    from pytest_judgesense.trial import RequestCount


class Receiver:
    """The results of all processes, in the order in which they come.

    Attributes:
        parts: one judge on one suite each, those of a later report after those before it.
        verified: by judge and suite, what asking again has shown.
        shard: lines about a recorded shard, each once.
        questions: how often tests asked their judge directly.
        unmeasured: the requests of what ended in an error, by judge and trial.
        removed: names of the credentials that were removed from what was recorded.
        skipped: names of those that were not, each with the reason.
        proposals: how what fails could be declared known.
        was_interrupted: whether Ctrl-C or a signal ended the session.
        release_session: releases what tells workers that this process lives; once they ended.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.parts: list[MeasuredPart] = []
        self.verified: dict[tuple[str, str], Verification] = {}
        self.shard: dict[str, None] = {}
        self.questions: Counter[str] = Counter()
        self.unmeasured: dict[tuple[str, str], RequestCount] = {}
        self.removed: set[str] = set()
        self.skipped: dict[str, str] = {}
        self.proposals: list[KnownProposal] = []
        self.was_interrupted = False
        self.release_session: Callable[[], None] = lambda: None
        self._has_reports = False
        self._following: Following | None = None
        self._before: str | None = None
        # Names and values that requests of workers have shown, and the files of all workers.
        self._shown: list[tuple[str, str]] = []
        self._recorded: set[Path] = set()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self) -> None:
        """Tell of a limit of pytest-timeout on every test of a session that calls judges."""
        if self._session.settings.asks:
            self._session.write_line(limit_of_session(self._session.config))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self) -> None:
        """Write, once, what the workers have to tell before a test is run."""
        if (folder := self._session.shared.session_folder) and not self._before:
            self._before = line_left(Path(folder))
            self._session.write_line(self._before)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note that the session was interrupted, and let calls under way come to their end."""
        if isinstance(excinfo.value, pytest.Session.Interrupted) and not self._has_reports:
            return  # by an error of the collection, before anybody was asked
        self.was_interrupted = True
        folder = self._session.shared.session_folder
        with suppress(KeyboardInterrupt):  # the second one: the session ends now
            if self._session.measures:
                self._session.run.measurements.loop.drain()
            elif folder and self._session.settings.asks:
                interrupt_workers(Path(folder))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Tell what is to be told before a test is run."""
        if not session.config.option.collectonly:
            self._session.tell_limits_of_markers(session.items)
        folder = self._session.shared.session_folder
        if self._session.settings.asks and folder:
            reporter = session.config.pluginmanager.get_plugin("terminalreporter")
            self._following = Following(Path(folder), reporter, quiet=self._session.verbosity < 0)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Send a worker the shared state of the session: live recordings, calls, limits."""
        own = self._session
        if own.settings.mode != "replay" and own.shared.session_folder is None:
            folder = own.made_folder("session")
            own.shared = own.shared._replace(session_folder=folder)
            self.release_session = hold_session(Path(folder))
        each = getattr(own.config.option, "dist", None) == "each"
        node.workerinput["judgesense"] = own.shared._replace(
            each=each, columns=columns_of(own.config)
        )._asdict()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over a worker's results; end the session with the problems that it found."""
        output = getattr(node, "workeroutput", {})
        self._shown += map(tuple, output.get("judgesense-shown", ()))
        if problems := dict.fromkeys(output.get("judgesense", ())):
            raise usage_error("\n".join(problems))

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Take what a report brings, and show how far workers are."""
        self._has_reports = True
        if self._following is not None:
            self._following.look()
        if text := getattr(report, "judgesense", None):
            from pytest_judgesense.plugin.results import results_of

            self.take(results_of(text))
        self._session.failures.receive(report)

    def take(self, results: Results) -> None:
        """Take what a process has measured."""
        self.parts += results.parts
        self.verified |= {(fresh.judge, fresh.suite): fresh for fresh in results.verified}
        self.shard |= dict.fromkeys(results.shard)
        self.questions.update(results.questions)
        for judge, requests in results.unmeasured.items():
            self.unmeasured |= {(judge, trial): count for trial, count in requests.items()}
        self.removed.update(results.removed)
        self.skipped |= results.skipped
        self._recorded.update(map(Path, results.recorded))
        self.proposals += results.proposals
        if results.notes:  # by a worker, which has no screen
            from pytest_judgesense.plugin.progress import write_lines

            reporter = self._session.config.pluginmanager.get_plugin("terminalreporter")
            write_lines(reporter, results.notes)

    @property
    def last_parts(self) -> list[MeasuredPart]:
        """The last part of each judge and suite, in the order of their names."""
        by_name = {part.key: part for part in self.parts}
        return [by_name[key] for key in sorted(by_name)]

    def remove_from(self, recordings: Recordings, credentials: Credentials) -> None:
        """Remove credentials that requests have shown later from what was recorded."""
        try:
            recordings.remove_shown(credentials)
        except JudgesenseError as error:
            self._session.outputs.failed("a credential may be in a recording", error)
            if self._session.is_worker:  # whose outputs are not shown
                raise

    def remove_shown_by_workers(self) -> None:
        """Remove credentials that one worker found from what others recorded and sent before."""
        if not self._shown:
            return
        from pytest_judgesense.cassettes.credentials import Credentials
        from pytest_judgesense.plugin.cassette_files import Recordings, recorder_of
        from pytest_judgesense.plugin.results import without_credentials

        own, credentials = self._session, Credentials()
        credentials.learn(self._shown)
        recorder = recorder_of(own.config)
        recordings = Recordings(own.settings, own.shared, recorder, self._recorded)
        self.remove_from(recordings, credentials)
        self.parts = without_credentials(self.parts, credentials.values)
        self.removed |= credentials.removed
