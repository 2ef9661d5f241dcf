"""A datasheet as plain rows, one for each estimate, for tables. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pytest_judgesense.datasheet import Datasheet

# The columns of every row, in this order.
COLUMNS: Final = (
    "judge",
    "suite",
    "measure",
    "condition",
    "value",
    "count",
    "n",
    "unit",
    "lower",
    "upper",
    "method",
    "clusters",
    "paper_lower",
    "paper_upper",
    "paper_method",
    "unparsed",
    "failed",
    "worst_low",
    "worst_high",
    "flags",
    "unavailable",
    "checks",
)


def estimate_rows(sheet: Datasheet) -> Iterator[dict[str, Any]]:
    """Every estimate of every judge, unrounded; ``None`` for missing values.

    ``lower`` and ``upper`` are the ends of the clustered interval, the one that gates, those with
    ``paper_`` of that of the source paper. ``checks`` names those that gate the estimate, with
    their outcomes.
    """
    for judge in sheet.judges:
        for part in judge.parts:
            for one in part.estimates:
                clustered, paper, missing = one.clustered, one.interval, one.missing
                gates = [
                    f"{line.check}: {line.outcome}"
                    for line in part.checks
                    if line.measure == one.measure and dict(line.condition) == dict(one.condition)
                ]
                values = (
                    judge.name,
                    one.suite,
                    one.measure,
                    "; ".join(f"{key}={value}" for key, value in one.condition.items()),
                    one.value,
                    one.count,
                    one.n,
                    one.unit,
                    clustered and clustered.lower,
                    clustered and clustered.upper,
                    clustered and clustered.method,
                    clustered and clustered.clusters,
                    paper and paper.lower,
                    paper and paper.upper,
                    paper and paper.method,
                    missing.unparsed,
                    missing.failed,
                    missing.lower_bound,
                    missing.upper_bound,
                    "; ".join(one.flags),
                    one.unavailable,
                    "; ".join(gates),
                )
                yield dict(zip(COLUMNS, values, strict=True))
