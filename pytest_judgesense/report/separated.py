"""A datasheet as comma-separated values: one row an estimate, for spreadsheets. Pure."""

from __future__ import annotations

import csv
import io
from typing import Any, Final

from pytest_judgesense.report.rows import COLUMNS, estimate_rows
from pytest_judgesense.report.view import View

# Characters at which a spreadsheet begins a formula.
_FORMULA: Final = frozenset("=+-@\t\r")


def separated_text(view: View) -> str:
    """The estimates of all judges: a head, and a row each, unrounded."""
    written = io.StringIO()
    lines = csv.DictWriter(written, COLUMNS, lineterminator="\n")
    lines.writeheader()
    for row in estimate_rows(view.sheet):
        lines.writerow({name: cell(value) for name, value in row.items()})
    return written.getvalue()


def cell(value: Any) -> Any:
    """Names are people's: before one that would be a formula stands a ``'``."""
    starts = isinstance(value, str) and (value[:1] or " ") + value.lstrip()[:1]
    return f"'{value}" if starts and not _FORMULA.isdisjoint(starts) else value
