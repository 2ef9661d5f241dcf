"""What each sentence of a prompt does: the answer, on a screen, as a table and in files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, dropwhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.datasheets.sections import TableRows, tables_named
from pytest_judgesense.questions.question import QuestionAnswer, dataframe_of
from pytest_judgesense.registry import LeaveOut
from pytest_judgesense.report.assembly import datasheet_text
from pytest_judgesense.report.log import log_lines
from pytest_judgesense.report.packing import PageEvidence
from pytest_judgesense.report.terminal import datasheet_lines
from pytest_judgesense.report.view import view_of
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
