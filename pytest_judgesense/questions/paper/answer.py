"""What a paper prints, of judges that were asked or of judgments that exist: tables and files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.datasheets.published_design import Paper, Printed, Table
from pytest_judgesense.errors import unknown_name
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.question import QuestionAnswer, dataframe_of, files_of
from pytest_judgesense.report.datasheet_file import datasheet_json
from pytest_judgesense.report.notebook import table_html
from pytest_judgesense.report.terminal import datasheet_lines, printed_lines
from pytest_judgesense.report.view import View, view_of
from pytest_judgesense.text.layout import indented

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class PaperAnswer(QuestionAnswer):
    """What a paper prints for the judges that were asked.

    Attributes:
        sheet: the datasheet of the judges on the suites of the paper.
        result: the paper, with its tables and figures.
    """

    sheet: MeasuredDatasheet
    result: Printed

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables of the paper, their numbers unrounded."""
        return self.result.tables

    @cached_property
    def view(self) -> View:
        """The datasheet as renderers show it, the paper in front."""
        return view_of(self.sheet, self.sheet.registry, self.result)

    def lines(self) -> Iterator[str]:
        """The tables, and how to cite the paper."""
        yield from self.table_lines()
        yield from self.closing_lines()

    def table_lines(self) -> Iterator[str]:
        """The tables."""
        return printed_lines(self.result)

    def datasheet_lines(self) -> Iterator[str]:
        """The datasheet behind them."""
        yield ""
        yield from datasheet_lines(self.view)

    def closing_lines(self) -> Iterator[str]:
        """How to cite the paper."""
        yield ""
        yield from indented(f"cite: {self.result.paper.cite}", width=0)

    def to_dict(self) -> dict[str, Any]:
        """The tables by name, each with its rows, and the datasheet as its JSON file has it."""
        paper = self.result.paper
        return {
            "paper": paper.name,
            "title": paper.title,
            "cite": paper.cite,
            "tables": {
                table.name: {
                    "caption": table.caption,
                    "rows": table.records(),
                    "notes": list(table.notes),
                }
                for table in self.tables
            },
            "datasheet": json.loads(datasheet_json(self.sheet)),
        }

    def to_dataframe(self, table: str | None = None) -> pd.DataFrame:
        """The table of a name, or the first one; an interval is a pair of numbers.

        Raises:
            UsageError: there is no such table, or pandas is not installed.
        """
        by_name = {printed.name: printed for printed in self.tables}
        name = next(iter(by_name), "") if table is None else table
        if name not in by_name:
            raise unknown_name("table", name, by_name)
        wanted = by_name[name]
        return dataframe_of(wanted.records())

    def files(self, path: Path) -> Iterator[tuple[Path, Callable[[], str]]]:
        """The files of an output, each with what makes its text; their form is its suffix."""
        return files_of(path, self.result, self.view, self.sheet)

    def _repr_html_(self) -> str:
        """The tables, as a notebook shows them."""
        return "".join(map(table_html, self.tables))


def notices_of(paper: Paper) -> Iterator[str]:
    """What of a paper cannot be had on this machine, in lines."""
    for lacking in paper.lacking():
        yield from indented(f"notice: {lacking}", width=0)


def paper_named(name: str, place: Place) -> Paper:
    """The paper of this name; a `UsageError` if there is none."""
    papers = place.registry.papers
    if name not in papers:
        raise unknown_name("paper", name, papers)
    return papers[name]
