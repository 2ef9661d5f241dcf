"""A datasheet as plain rows, one for each estimate, and as comma-separated values. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any, Final

from pytest_judgesense.datasheet import Datasheet
from pytest_judgesense.estimate import Estimate

# The columns of every row besides judge and checks, in this order, and where an estimate has each.
_PATHS: Final = {
    "suite": "suite",
    "measure": "measure",
    "condition": "",
    "value": "value",
    "count": "count",
    "n": "n",
    "unit": "unit",
    "lower": "clustered.lower",
    "upper": "clustered.upper",
    "method": "clustered.method",
    "clusters": "clustered.clusters",
    "paper_lower": "interval.lower",
    "paper_upper": "interval.upper",
    "paper_method": "interval.method",
    "unparsed": "missing.unparsed",
    "failed": "missing.failed",
    "worst_low": "missing.lower_bound",
    "worst_high": "missing.upper_bound",
    "flags": "",
    "unavailable": "unavailable",
}
COLUMNS: Final = ("judge", *_PATHS, "checks")
# Characters at which a spreadsheet begins a formula.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def estimate_rows(sheet: Datasheet) -> Iterator[dict[str, Any]]:
    """Every estimate of every judge, unrounded; ``None`` for missing values.

    ``lower`` and ``upper`` are the ends of the clustered interval, the one that gates, those with
    ``paper_`` of that of the source paper. ``checks`` names those that gate the estimate, with
    their outcomes.
    """
    for judge in sheet.judges:
        for part in judge.parts:
            for one in part.estimates:
                gates = [
                    f"{line.check}: {line.outcome}"
                    for line in part.checks
                    if line.measure == one.measure and dict(line.condition) == dict(one.condition)
                ]
                yield {
                    "judge": judge.name,
                    **{column: _found(one, path) for column, path in _PATHS.items()},
                    "condition": "; ".join(
                        f"{key}={value}" for key, value in one.condition.items()
                    ),
                    "flags": "; ".join(one.flags),
                    "checks": "; ".join(gates),
                }


def _found(estimate: Estimate, path: str) -> Any:
    name, _, field = path.partition(".")
    found = getattr(estimate, name) if name else None
    return getattr(found, field) if field and found is not None else found


def separated_text(sheet: Datasheet) -> str:
    """The estimates of all judges, for spreadsheets: a head, and a row each, unrounded."""
    written = io.StringIO()
    lines = csv.DictWriter(written, COLUMNS, lineterminator="\n")
    lines.writeheader()
    for row in estimate_rows(sheet):
        lines.writerow({name: cell(value) for name, value in row.items()})
    return written.getvalue()


def cell(value: Any) -> Any:
    """Names are people's: before one that would be a formula stands a ``'``."""
    if isinstance(value, str) and any(one.startswith(_FORMULA) for one in (value, value.lstrip())):
        return f"'{value}"
    return value
