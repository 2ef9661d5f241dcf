"""The files of what a question has measured: its tables, and the datasheet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.datasheets.published_design import Printed
from pytest_judgesense.report.assembly import datasheet_text
from pytest_judgesense.report.csv_tables import table_text
from pytest_judgesense.report.log import log_lines
from pytest_judgesense.report.packing import PageEvidence
from pytest_judgesense.report.view import View


def files_of(
    path: Path, result: Printed, view: View, sheet: MeasuredDatasheet
) -> Iterator[tuple[Path, Callable[[], str]]]:
    """The files of an output: of several tables as CSV the first has its name."""
    if path.suffix == ".csv" and result.tables:
        for place, table in enumerate(result.tables):
            name = path if not place else path.with_name(f"{path.stem}-{table.name}.csv")
            yield name, partial(table_text, table)
        return

    def text() -> str:
        logs = [list(log_lines(cell.judgments, cell.design)) for cell in sheet.cells]
        return datasheet_text(path.suffix, view, logs, evidence=PageEvidence(sheet.cells))

    yield path, text
