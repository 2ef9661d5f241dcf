"""Grades by criterion, and systems side by side, in tables and words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pytest_judgesense.datasheets.sections import Estimates, TableRows
from pytest_judgesense.estimate import find_estimate, number_text
from pytest_judgesense.instruments.rubric.grades import parts, scores
from pytest_judgesense.instruments.rubric.halo import criterion_pairs
from pytest_judgesense.instruments.rubric.separability import system_pairs
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.suites.suite import Suite

_SHOWN_PAIRS = 10
_SHOWN = ("ceiling_share", "levels_used", "jss", "kappa_quadratic", "human_kappa", "human_bias")


def grades(cell: Cell, estimates: Estimates, _suite: Suite | None) -> TableRows | None:
    """A row for each criterion: how often each grade was given, and its measures."""
    rows: list[dict[str, Any]] = []
    for name, part in parts(cell).items():
        codes, words = part.coded("verdict")
        missing, *per_grade = np.bincount(codes + 1, minlength=len(words) + 1).tolist()
        counts = dict.fromkeys(part.design.labels, 0) | dict(zip(words, per_grade, strict=True))
        of = {
            measure: estimate and estimate.value
            for measure in _SHOWN
            for estimate in (find_estimate(estimates, measure, {"criterion": name}),)
        }
        rows.append({"criterion": name, "grades": counts, "missing": missing, **of})
    return rows


def grade_lines(rows: TableRows) -> Iterator[str]:
    """A line a criterion: its grades from the lowest to the highest, and its stability."""
    for row in rows:
        counts = ", ".join(f"{label}: {count}" for label, count in row["grades"].items())
        missing = f"; missing {row['missing']}" if row["missing"] else ""
        jss = "" if row["jss"] is None else f"; jss {number_text(row['jss'])}"
        yield f"grades of {row['criterion']}: {counts}{missing}{jss}"


def pairs(cell: Cell, _estimates: Estimates, _suite: Suite | None) -> TableRows | None:
    """A row for each two criteria: how far their grades correlate, those most beyond it first."""
    rows: list[dict[str, Any]] = []
    for pair in criterion_pairs(cell):
        ends = pair.excess.clustered
        rows.append(
            {
                "first": pair.first,
                "second": pair.second,
                "judge": pair.judge,
                "expected": pair.people,
                "excess": pair.excess.value,
                "lower": ends.lower if ends else None,
                "upper": ends.upper if ends else None,
            }
        )
    return rows or None


def pair_lines(rows: TableRows) -> Iterator[str]:
    """A line for each two criteria; of many the first."""
    for row in rows[:_SHOWN_PAIRS]:
        ends = ""
        if row["lower"] is not None:
            ends = f" [{number_text(row['lower'])}, {number_text(row['upper'])}]"
        yield (
            f"halo of {row['first']} and {row['second']}: {number_text(row['excess'])}{ends}, "
            f"grades correlate {number_text(row['judge'])}, expected {number_text(row['expected'])}"
        )
    if len(rows) > _SHOWN_PAIRS:
        yield f"{len(rows) - _SHOWN_PAIRS} more pairs of criteria are in the JSON of the datasheet"


def systems(cell: Cell, _estimates: Estimates, _suite: Suite | None) -> TableRows | None:
    """A row for each system with its mean overall score, the best first, and for each pair."""
    table = scores(cell)
    there = ~np.isnan(table.overall)
    codes = sorted({*table.systems[table.systems >= 0].tolist()})
    if len(codes) < 2:
        return None
    rows: list[dict[str, Any]] = []
    for code in codes:
        name, of_system = table.system_names[code], (table.systems == code) & there
        mean = float(table.overall[of_system].mean()) if of_system.any() else None
        rows.append({"system": name, "score": mean, "replies": int(of_system.sum())})
    rows.sort(key=lambda row: (row["score"] is None, -(row["score"] or 0.0)))
    return [*rows, *(pair._asdict() for pair in system_pairs(cell))]


def system_lines(rows: TableRows) -> Iterator[str]:
    """The systems by mean score, and the pairs without a significant difference."""
    ranked = [
        f"{row['system']} {'N/A' if row['score'] is None else number_text(row['score'])}"
        for row in rows
        if "system" in row
    ]
    yield f"systems by overall score (0 to 1): {', '.join(ranked)}"
    alike = [
        f"{row['first']} and {row['second']} (difference {number_text(row['difference'])}, "
        f"p {number_text(row['p'])})"
        for row in rows
        if "first" in row and not row["apart"]
    ]
    if alike:
        yield f"no clear difference between: {'; '.join(alike)}"
