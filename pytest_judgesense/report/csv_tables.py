"""A datasheet as plain rows, one for each estimate, and as comma-separated values. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any, Final

from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.published_design import Table
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.files.rows import harmless_cell
from pytest_judgesense.text.estimate_columns import row_columns

# What identifies an estimate, and who gates it: before its numbers, and behind them.
_IDENTITY: Final = ("judge", "suite", "measure", "condition")
_CHECKS: Final = "checks"


def column_names() -> tuple[str, ...]:
    """The columns of a row."""
    return (*_IDENTITY, *(name for column in row_columns() for name in column.names), _CHECKS)


def estimate_rows(sheet: Datasheet) -> Iterator[dict[str, Any]]:
    """Every estimate of every judge, unrounded; ``None`` for missing values.

    ``lower`` and ``upper`` are the ends of the clustered interval, the one that gates, those with
    ``new_wordings_`` of that for other wordings, known from ``wordings``, those with ``paper_`` of
    that of the source paper. ``checks`` names those that gate the estimate, with
    their outcomes.
    """
    for judge in sheet.judges:
        for part in judge.parts:
            for estimate in part.estimates:
                gates = [
                    f"{line.check}: {line.outcome}"
                    for line in part.checks
                    if line.measure == estimate.measure
                    and dict(line.condition) == dict(estimate.condition)
                ]
                yield {
                    **dict(zip(_IDENTITY, (judge.name, *_identity(estimate)), strict=True)),
                    **_numbers(estimate),
                    _CHECKS: "; ".join(gates),
                }


def _identity(estimate: Estimate) -> tuple[str, str, str]:
    condition = "; ".join(f"{key}={value}" for key, value in estimate.condition.items())
    return estimate.suite, estimate.measure, condition


def _numbers(estimate: Estimate) -> dict[str, Any]:
    return {
        name: value
        for column in row_columns()
        for name, value in zip(column.names, column.values(estimate), strict=True)
    }


def separated_text(sheet: Datasheet) -> str:
    """The estimates of all judges, for spreadsheets: a head, and a row each, unrounded."""
    return csv_text([column_names(), *(row.values() for row in estimate_rows(sheet))], "\n")


def table_text(table: Table) -> str:
    """A table of a paper, unrounded; an interval takes two columns, its ends."""
    columns = list(zip(*table.rows, strict=True)) or [() for _ in table.columns]
    are_intervals = [any(isinstance(cell, tuple) for cell in column) for column in columns]
    head: list[Any] = []
    for name, is_interval in zip(table.columns, are_intervals, strict=True):
        head += [f"{name}, lower", f"{name}, upper"] if is_interval else [name]

    def cells(line: Iterable[Any]) -> Iterator[Any]:
        for cell, is_interval in zip(line, are_intervals, strict=True):
            yield from cell if isinstance(cell, tuple) else (cell, *[None] * is_interval)

    return csv_text([head, *map(cells, table.rows)], "\n")


def csv_text(rows: Iterable[Iterable[Any]], end: str) -> str:
    """Rows as comma-separated values; texts as `harmless_cell` writes them, numbers as they are."""
    text = io.StringIO()
    csv.writer(text, lineterminator=end).writerows(
        [harmless_cell(value) if isinstance(value, str) else value for value in row] for row in rows
    )
    return text.getvalue()
