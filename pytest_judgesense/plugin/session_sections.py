"""What a session prints below its tests, section by section."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pytest_judgesense.datasheets.datasheet import Calls
from pytest_judgesense.errors import printable
from pytest_judgesense.measures.bar import NO_DRIFT, NO_REGRESSION
from pytest_judgesense.plugin.receiver import Receiver
from pytest_judgesense.plugin.screen import EVERYTHING, columns_of, datasheet_lines, tells_luck
from pytest_judgesense.plugin.session import Session
from pytest_judgesense.text.layout import indented, within

if TYPE_CHECKING:
    from pytest_judgesense.report.view import View


def _name_of(check: str) -> str:
    """The name in the id of a check, as in ``no_regression[jss]``."""
    return check.partition("[")[0]


class SessionSections:
    """The sections of a session, made when they are printed."""

    def __init__(self, session: Session, receiver: Receiver, view: View | None) -> None:
        self._session, self._settings = session, session.settings
        self._receiver, self._view = receiver, view

    def shown(self) -> dict[str, list[str]]:
        """Titles and lines; a section that fails costs its own lines."""
        config, outputs = self._session.config, self._session.outputs
        sections = {
            "judge ranking": self._ranking_lines(),
            "judge datasheet": self._datasheet_lines(),
            "judge known failures": self._proposal_lines(),
            "judge verification": self._verification_lines(),
            "judge shard": self._shard_lines(),
            "judge recording interrupted": self._resume_lines(),
        }
        if config.getoption("no_summary"):  # problems with files are reported in any case
            sections = {"judge datasheet": iter(())}
        with within(columns_of(config)):
            shown = {title: outputs.shown(title, lines) for title, lines in sections.items()}
            notes = (
                *outputs.written,
                *(f"ERROR: {problem}" for problem in outputs.problems),
                *self._lines_on_baseline(),
                *self._lines_on_secrets(),
            )
            calls = (*self._lines_on_questions(), *self._lines_on_unmeasured())
            beside = (*calls, *self._lines_on_luck(), *notes)
            shown["judge datasheet"] += map(printable, beside)
        return shown

    def _ranking_lines(self) -> Iterator[str]:
        """Of the whole datasheet, a separate section; a summary holds the ranks in short."""
        if (view := self._view) is not None and self._session.verbosity >= EVERYTHING:
            from pytest_judgesense.report.terminal import ranking_lines

            yield from ranking_lines(view)

    def _datasheet_lines(self) -> Iterator[str]:
        missed = self._session.failures.not_measured
        view = self._view
        if view is not None and self._session.config.getoption("runxfail", default=False):
            from pytest_judgesense.report.view import accepting_nothing

            view = accepting_nothing(view)  # as its tests do
        if view is not None or missed:
            yield from datasheet_lines(view, missed, self._session.verbosity)

    def _proposal_lines(self) -> Iterator[str]:
        """How what fails could be declared known, where it was just recorded."""
        if self._receiver.proposals:
            from pytest_judgesense.plugin.known_failures import proposal_lines

            registry = self._session.plugins.registry
            day = self._session.shared.day
            yield from proposal_lines(self._receiver.proposals, day, registry)

    def _lines_on_questions(self) -> Iterator[str]:
        """The calls of tests that ask their judge directly, beside those of the suites."""
        counts = self._receiver.questions
        if self._receiver.parts and (counts["made"] or counts["replayed"]):
            words = [f"{counts['made']:,} made", f"{counts['replayed']:,} replayed"]
            words += [f"{counts['failed']:,} failed"] * bool(counts["failed"])
            yield f"calls by judge.ask, beside those of the suites: {', '.join(words)}"

    def _lines_on_unmeasured(self) -> Iterator[str]:
        """The calls of trials that no datasheet counts, for their suites ended in errors."""
        counted = {
            (part.sheet.judge, trial) for part in self._receiver.parts for trial in part.asked
        }
        left = self._receiver.unmeasured.keys() - counted
        if left:
            calls = Calls().asking([self._receiver.unmeasured[key] for key in left])
            yield f"calls for what was not measured: {', '.join(calls.sent_words)}"

    def _lines_on_luck(self) -> list[str]:
        """The chance of a failure by luck, of the checks that every process has evaluated."""
        draws = {
            (*part.key, check): bits
            for part in self._receiver.parts
            for check, bits in part.luck.items()
        }
        if not draws or not tells_luck(self._session.config):
            return []
        from pytest_judgesense.checks.luck import luck_line

        line = luck_line(draws)
        return list(indented(line, width=0)) if line else []

    def _verification_lines(self) -> Iterator[str]:
        verified = self._receiver.verified
        if not verified:
            return
        from pytest_judgesense.checks.verifying import verification_lines

        for key in sorted(verified):
            yield from verification_lines(verified[key])

    def _shard_lines(self) -> Iterator[str]:
        settings = self._settings
        if self._receiver.shard and settings.shard is not None:
            for lines in sorted(self._receiver.shard):
                yield from lines.split("\n")
            folder = settings.save_live or settings.cassettes
            yield f"recorded in {folder}: a part, no check was decided. When all shards are there:"
            folders = "OTHER-FOLDERS " * (settings.shard[1] > 1)
            yield f"  judgesense recordings join {shlex.quote(str(folder))} {folders}-o cassettes"

    def _lines_on_baseline(self) -> Iterator[str]:
        """What a baseline of the command line says where no check fails for it.

        Why nothing is compared with it, or what is better and no worse, and what changed: without a
        line it would look as if it had been compared, or had not.
        """
        baseline = self._session.config.option.judgesense_baseline
        if baseline is None or not self._receiver.parts:
            return
        from pytest_judgesense.report.since_baseline import since_baseline

        judges = self._view.judges if self._view else ()
        sheets = [part for judge in judges for part in judge.sheet.parts]
        left_out = (left for sheet in sheets for left in sheet.not_compared)
        reasons = dict.fromkeys(
            left.reason for left in left_out if _name_of(left.check) != NO_DRIFT.name
        )
        for reason in reasons:
            yield from indented(f"--judge-baseline {baseline}: not compared: {reason}", width=0)
        evaluated = {line.check for sheet in sheets for line in sheet.checks}
        evaluated |= self._session.failures.names
        lines = (line for sheet in sheets for line in sheet.checks)
        tells = any(line.known and (line.known.since or line.known.breach) for line in lines)
        if not (reasons or tells) and NO_REGRESSION.name not in map(_name_of, evaluated):
            yield f"--judge-baseline {baseline}: no check was compared with it (no_regression is)"
        # "No worse" of half of the items is not what it seems: it never stands without the counts.
        counts = self._session.verbosity < 0 or self._session.config.getoption("no_summary")
        for sheet in sheets:
            for text in since_baseline(sheet, counts=counts):
                yield from indented(text, width=0)

    def _lines_on_secrets(self) -> Iterator[str]:
        removed, skipped = self._receiver.removed, self._receiver.skipped
        if removed:
            yield f"secrets removed from what was recorded: {', '.join(sorted(removed))}"
        if skipped:
            named = ", ".join(f"{name} ({reason})" for name, reason in sorted(skipped.items()))
            yield f"not removed, for such short or plain values are ordinary words too: {named}"

    def _resume_lines(self) -> Iterator[str]:
        session = self._session
        if self._settings.mode != "record" or not self._receiver.was_interrupted:
            return
        if session.measures:
            yield from session.run.measurements.interrupted
        yield f"every answer that arrived is kept in {self._settings.cassettes}"
        yield f"resume: {shlex.join(['pytest', *session.config.invocation_params.args])}"
        yield "(asks only what is missing)"
