"""What a session writes once all results are there: datasheets, a baseline, live recordings."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

import pytest

from pytest_judgesense.errors import JudgesenseError
from pytest_judgesense.plugin.cassette_files import recorder_of
from pytest_judgesense.plugin.live_saving import saving_of
from pytest_judgesense.plugin.receiver import Receiver
from pytest_judgesense.plugin.screen import tables_shown
from pytest_judgesense.plugin.session import Session
from pytest_judgesense.report.assembly import counted_once, datasheet_text, sheet_of, versions
from pytest_judgesense.report.view import View, view_of

if TYPE_CHECKING:
    from pytest_judgesense.report.packing import PageEvidence


class SessionFiles:
    """The datasheet of all results that were received, and the files made of them."""

    def __init__(self, session: Session, receiver: Receiver) -> None:
        self._session, self._settings = session, session.settings
        self._receiver, self._outputs = receiver, session.outputs

    @cached_property
    def view(self) -> View | None:
        """The datasheet of all parts; ``None`` if there are none, or it could not be made."""
        if not self._receiver.parts:
            return None
        try:
            return self._made_view()
        except Exception as error:  # noqa: BLE001 - the terminal still says what was tested
            self._outputs.failed("the datasheet cannot be made", error)
            return None

    def _made_view(self) -> View:
        # Of a session over some suites, what is not measured there is not imported.
        rooms = {room for part in self._receiver.parts for room in part.rooms}
        registry = self._session.plugins.registry.of_rooms(rooms)
        sheet = sheet_of(
            counted_once([(part.sheet, part.asked) for part in self._receiver.parts]),
            seed=self._settings.seed,
            mode=self._settings.mode,
            secondary=bool(self._settings.datasheets),
            registry=registry,
            shown=tables_shown(self._session.config, self._settings),
        )
        return view_of(sheet, registry)

    def write(self, session: pytest.Session) -> None:
        """Write everything that was asked for."""
        self._save_live()
        view = self.view
        self._write_job_summary(view)
        if view is not None:
            self._write_datasheets(view)
        if self._receiver.parts:
            self._write_baseline(session)
        self._append_to_history()

    def _write_job_summary(self, view: View | None) -> None:
        problem = "the job summary cannot be written"
        try:
            self._session.failures.summarise(view)
        except OSError as error:  # of the machine that runs the job, no failure of the session
            self._outputs.written.append(f"{problem}: {error}")
        except Exception as error:  # noqa: BLE001 - the files are written all the same
            self._outputs.failed(problem, error)

    def _write_datasheets(self, view: View) -> None:
        logs = [part.log for part in self._receiver.last_parts]

        def text(suffix: str) -> str:
            evidence = self._page_evidence() if suffix == ".html" else None
            missed = self._session.failures.not_measured
            return datasheet_text(suffix, view, logs, missed, evidence)

        for path in self._settings.datasheets:
            self._outputs.write("datasheet", path, partial(text, path.suffix))

    def _page_evidence(self) -> PageEvidence:
        """What a page shows beside the datasheet: judgments, prompts, and the baseline's."""
        from pytest_judgesense.checks.regression import Side
        from pytest_judgesense.earlier.baseline import read_measured
        from pytest_judgesense.report.packing import PageEvidence

        registry, seed = self._session.plugins.registry, self._settings.seed
        baseline = self._settings.baseline
        measured = []
        if baseline is not None and baseline.is_file():
            measured = read_measured(baseline, seed, registry)
        before = {(saved.judge, saved.suite): saved.side for saved in measured}
        cells, prompts = [], {}
        for part in self._receiver.last_parts:
            cell = part.judgments(seed, registry)
            cells.append(cell)
            prompts[cell.judge, cell.suite] = part.prompts_by_trial(cell)
            if at_revision := part.judgments_before(seed, registry):
                before[cell.judge, cell.suite] = Side.of(at_revision)
        return PageEvidence(tuple(cells), prompts, before)

    def _write_baseline(self, session: pytest.Session) -> None:
        path = self._settings.save_baseline
        if path is None:
            return
        if _ended_early(session):
            # What the old one has of suites that were not reached is not given up.
            self._outputs.written.append(
                f"baseline not written, for the session ended early: {path}"
            )
            return
        self._outputs.write("baseline", path, self._baseline_text)
        if self._settings.mode != "replay":
            self._outputs.written.append(
                "one baseline session does not show how sessions differ: save several"
            )

    def _baseline_text(self) -> str:
        from pytest_judgesense.earlier.baseline import SavedSuite, baseline_text

        registry, seed = self._session.plugins.registry, self._settings.seed
        parts = (
            SavedSuite(part.sheet, part.stimuli, part.judgments(seed, registry))
            for part in self._receiver.last_parts
        )
        return baseline_text(parts, seed, versions())

    def _append_to_history(self) -> None:
        """Append what was asked afresh to the history; a line says what was not."""
        settings, outputs = self._settings, self._outputs
        path, parts = settings.history, self._receiver.last_parts
        if path is None:
            return
        if not settings.tells_history:
            how = f"--judge-mode {settings.mode}"
            if settings.verify is not None:
                how = "--judge-verify, which replays"
            outputs.written.append(
                f"nothing appended to the history {path}: it is of --judge-mode live, this is {how}"
            )
            return
        from pytest_judgesense.datasheets.live_sessions import (
            SCHEMA,
            JudgeTotals,
            LiveSession,
            append_session,
        )

        measured = [JudgeTotals.model_validate(part.totals) for part in parts if part.totals]
        if left := ["{} on {}".format(*part.key) for part in parts if not part.totals]:
            why = "it was stopped, or is not sound"
            outputs.written.append(f"not in the history, for {why}: {', '.join(left)}")
        elif not measured:
            outputs.written.append(f"nothing appended to the history {path}: no suite was measured")
        live = LiveSession(
            schema=SCHEMA,
            session=recorder_of(self._session.config).session,
            began_at=self._session.shared.started,
            measured=measured,
        )
        try:
            if measured:
                outputs.written += append_session(path, live)
        except JudgesenseError as error:
            outputs.failed(f"the session is not in the history {path}", error)

    def _save_live(self) -> None:
        """Let what a live session has asked replace what was recorded before."""
        if self._settings.mode != "live" or self._settings.save_live is None:
            return
        saving = saving_of(self._settings, self._session.shared)
        assert saving is not None, "a live session that saves has one"
        for outcome in saving.finish(recorder_of(self._session.config)):
            if isinstance(outcome, str):
                self._outputs.written.append(outcome)
            else:
                self._outputs.failed(*outcome)


def _ended_early(session: pytest.Session) -> bool:
    """Whether some tests that were collected did not run."""
    interrupted = session.exitstatus == pytest.ExitCode.INTERRUPTED
    return bool(interrupted or session.shouldfail or session.shouldstop)
