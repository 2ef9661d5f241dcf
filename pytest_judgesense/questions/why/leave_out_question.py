"""Which sentences of a judge's prompt do anything: each is left out, on the items of a suite.

What is left out, and what the answers ask for, is the part of an instrument (`registry.LeaveOut`).
The answer is shown on a screen, as a table and in files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, dropwhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.checks.suite_faults import lint_notices
from pytest_judgesense.datasheets.sections import TableRows, tables_named
from pytest_judgesense.errors import MissingRecording, UsageError
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.spec import JudgeSpec, refuse_jury
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.pricing import CallPlan, RecordingCommand, call_plan
from pytest_judgesense.questions.question import QuestionAnswer, dataframe_of
from pytest_judgesense.questions.terms import AskingTerms, measured
from pytest_judgesense.registry import LeaveOut, LeaveOutSizes, LeaveOutStep
from pytest_judgesense.report.assembly import datasheet_text
from pytest_judgesense.report.log import log_lines
from pytest_judgesense.report.packing import PageEvidence
from pytest_judgesense.report.terminal import datasheet_lines
from pytest_judgesense.report.view import view_of
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.layout import indented

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class LeaveOutAnswer(QuestionAnswer):
    """What each sentence of a prompt does.

    Attributes:
        sheet: the datasheet of all that was asked.
        leave_out: the part of the instrument that left sentences out.
        notes: what was asked beside each sentence alone, and what is not recorded of it.
    """

    sheet: MeasuredDatasheet
    leave_out: LeaveOut
    notes: tuple[str, ...] = ()

    called: ClassVar[str] = "datasheet"  # in the line about its file

    @property
    def rows(self) -> TableRows:
        """What was found, a row for each part of the prompt; the last may be of several."""
        tables = tables_named(self.sheet, self.leave_out.table)
        return [row for _, _, rows in tables for row in rows]

    def lines(self) -> Iterator[str]:
        """The notes, and the prompt with what each sentence does."""
        notes = (line for note in self.notes for line in indented(note, width=2))
        lines = chain(notes, self.leave_out.lines(self.rows))
        yield from dropwhile(lambda line: not line, lines)

    def datasheet_lines(self) -> Iterator[str]:
        """The datasheet, as a terminal shows it."""
        yield from datasheet_lines(view_of(self.sheet, self.sheet.registry))

    def to_dict(self) -> Mapping[str, Any]:
        """The judge, the suite with all that was asked, the notes, and a row for each part."""
        (cell,) = self.sheet.cells
        return {
            "judge": cell.judge,
            "suite": cell.suite,
            "notes": list(self.notes),
            self.leave_out.table: [dict(row) for row in self.rows],
        }

    def to_dataframe(self) -> pd.DataFrame:
        """A row for each part of the prompt.

        Raises:
            UsageError: pandas is not installed.
        """
        return dataframe_of(self.rows)

    def text(self, path: Path) -> str:
        """What a file of this suffix holds of the datasheet.

        Raises:
            UsageError: datasheets have no such form.
        """
        cells = self.sheet.cells
        logs = [list(log_lines(cell.judgments, cell.design)) for cell in cells]
        view = view_of(self.sheet, self.sheet.registry)
        return datasheet_text(path.suffix, view, logs, evidence=PageEvidence(cells))


_LEAST: Final = {"--items": 2, "--times": 2, "--judge-seed": 0}


@dataclass(frozen=True)
class LeaveOutPlan(CallPlan):
    """What is asked at first, and what the answers may ask for.

    Attributes:
        further: the lines of the latter.
    """

    further: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """The calls to be made and their price, and how many more there may be."""
        yield from super().lines()
        yield from (f"  {line}" for line in self.further)


@dataclass(frozen=True)
class LeaveOutQuestion:
    """What each sentence of a judge's prompt does: one at a time is left out.

    Attributes:
        suite: the name or the file of the suite whose items are asked.
        judge: the name of the judge; ``None`` for the one that the project declares.
        items: how many items are drawn; ``None`` for the usual number.
        times: how often each is asked with the whole prompt; likewise.
        place: the project.
        terms: how the judge is asked, and the seed of the draw.
    """

    suite: str
    judge: str | None = None
    items: int | None = None
    times: int | None = None
    place: Place = field(default_factory=Place)
    terms: AskingTerms = field(default_factory=AskingTerms)

    def plan(self) -> LeaveOutPlan:
        """The calls of the first step and their price, and what its answers may ask for.

        Raises:
            UsageError: an argument is wrong, or the suite has no prompt that can be taken apart.
            SuiteError: nothing of the prompt can be left out.
        """
        suite = self._first.suite
        # An error of lint ends it: no price is asked for what cannot be measured.
        lint_notices(suite_for_judge(suite, self._asked_judge), self.place.registry)
        plan = self._plan_of(suite)
        return LeaveOutPlan(plan.heading, plan.parts, tuple(self._leave_out.further(suite)))

    def answer(self) -> LeaveOutAnswer:
        """Leave out each sentence, and then what the answers ask for.

        Raises:
            UsageError: an argument is wrong, or the suite has no prompt that can be taken apart.
            SuiteError: nothing of the prompt can be left out.
            MissingRecording: replaying, and what is needed is not recorded.
            LimitReached: a call would pass a limit; the answers so far are recorded.
        """
        step, notes = self._first, list[str]()
        sheet = self._measured(step.suite)
        while (following := step.following(sheet)) is not None:
            if following.note:
                notes.append(following.note)
            try:
                sheet = self._measured(following.suite)
            except MissingRecording:
                if not following.unrecorded:
                    raise
                how = self._how_to_record(following.suite)
                notes.append(f"{following.unrecorded}; {how.with_price}")
                break
            step = following
        return LeaveOutAnswer(sheet, self._leave_out, tuple(notes))

    @cached_property
    def _leave_out(self) -> LeaveOut:
        leave_out = self.place.registry.leave_out
        if leave_out is None:
            raise UsageError(
                "sentences cannot be left out here",
                found="no instrument that does it",
                expected="the package as it is installed",
            )
        return leave_out

    @cached_property
    def _sizes(self) -> LeaveOutSizes:
        usual = self._leave_out.usual
        sizes = LeaveOutSizes(
            usual.items if self.items is None else self.items,
            usual.times if self.times is None else self.times,
            self.terms.seed,
        )
        for (name, least), number in zip(_LEAST.items(), sizes, strict=True):
            if number < least:
                raise UsageError(
                    f"{name} {number} is too small", expected=f"a whole number, at least {least}"
                )
        return sizes

    @cached_property
    def _asked_judge(self) -> JudgeSpec:
        judge = self.place.judge_to_ask(self.judge)
        refuse_jury(judge, "sentences are left out of the prompt of one judge")
        return judge

    @cached_property
    def _first(self) -> LeaveOutStep:
        sizes = self._sizes
        judge, source = self._asked_judge, self.place.suite(self.suite, labelled=False)
        return self._leave_out.begin(judge, source, self.place.cassettes, sizes)

    def _measured(self, suite: Suite) -> MeasuredDatasheet:
        how = self._how_to_record(suite)
        return measured(self.place, self.terms, [self._asked_judge], [suite], how)

    def _plan_of(self, suite: Suite) -> CallPlan:
        judge = self._asked_judge
        label = f"{suite.name}, judge {judge.name}"
        return call_plan("", [(label, judge, suite)], self.place.cassettes, self.place.plans)

    def _how_to_record(self, suite: Suite) -> RecordingCommand:
        words = ["judgesense", "why", self.suite, "--leave-out"]
        named = {
            "--judge-name": self.judge,
            "--items": self.items,
            "--times": self.times,
            "--judge-seed": self.terms.seed or None,
        }
        for name, value in named.items():
            words += [] if value is None else [name, str(value)]
        return RecordingCommand(words, self.place.cassettes, lambda: self._plan_of(suite))
