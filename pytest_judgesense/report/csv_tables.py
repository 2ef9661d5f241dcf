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

COLUMNS: Final = tuple(
    "judge suite measure condition value count n unit lower upper method clusters "
    "new_wordings_lower new_wordings_upper wordings paper_lower paper_upper paper_method unparsed "
    "failed worst_low worst_high flags unavailable checks".split()
)


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
                values = (judge.name, *_cells(estimate), "; ".join(gates))
                yield dict(zip(COLUMNS, values, strict=True))


def _cells(estimate: Estimate) -> Iterator[Any]:
    """The values of the columns between judge and checks."""
    condition = "; ".join(f"{key}={value}" for key, value in estimate.condition.items())
    yield from (
        estimate.suite,
        estimate.measure,
        condition,
        estimate.value,
        estimate.count,
        estimate.n,
        estimate.unit,
    )
    ends, paper, missing, new = (
        estimate.clustered,
        estimate.interval,
        estimate.missing,
        estimate.new_wordings,
    )
    yield from (ends.lower, ends.upper, ends.method, ends.clusters) if ends else [None] * 4
    yield from (new.lower, new.upper, new.wordings) if new else [None] * 3
    yield from (paper.lower, paper.upper, paper.method) if paper else [None] * 3
    yield from (missing.unparsed, missing.failed, missing.lower_bound, missing.upper_bound)
    yield from ("; ".join(estimate.flags), estimate.unavailable)


def separated_text(sheet: Datasheet) -> str:
    """The estimates of all judges, for spreadsheets: a head, and a row each, unrounded."""
    return csv_text([COLUMNS, *(row.values() for row in estimate_rows(sheet))], "\n")


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
