"""What comes true of each confidence: a table for each judge and suite, and the figure of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from pytest_judgesense.datasheets import figures as fig
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.sections import Estimates, TableRow, TableRows, tables_named
from pytest_judgesense.estimate import compact, number_text
from pytest_judgesense.instruments.confidence.estimators import claims
from pytest_judgesense.instruments.confidence.measures import OVERCONFIDENCE, overconfidence_words
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.stats.brier import brier_parts, confidence_bins
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.shown_change import ShownChange, ends_text, farthest

RELIABILITY: Final = "confidence_reliability"
# The row of all calls has the parts of the Brier score as well, and how many others state nothing.
_ALL: Final = "all"
_HEADS: Final = ("confidence", "calls", "mean", "right", "95% clustered")
_WIDTHS: Final = (12, 6, 5, 5, 15)


def by_confidence(cell: Cell, _estimates: Estimates, _suite: Suite | None) -> TableRows | None:
    """A row for each bin of confidences, and one of all; ``None`` where none is stated."""
    made = claims(cell)
    if made is None or not made.stated.any():
        return None
    confidences, right = made.confidences[made.stated], made.right[made.stated]
    clusters = cell.cluster_codes[0][made.stated]
    bins = confidence_bins(confidences)
    rows = []
    for number in range(int(bins.max()) + 1):
        inside = bins == number
        rows.append(_row(str(number + 1), confidences[inside], right[inside], clusters[inside]))
    parts = brier_parts(confidences, right)
    left_out = {"unstated": int(made.unstated.sum()), "unusable": next(iter(made.unusable), "")}
    return [*rows, _row(_ALL, confidences, right, clusters) | parts._asdict() | left_out]


def _row(name: str, confidences: Any, right: Any, clusters: Any) -> dict[str, Any]:
    interval = clustered_proportion(right, clusters)
    return {
        "bin": name,
        "lowest": float(confidences.min()),
        "highest": float(confidences.max()),
        "calls": int(right.size),
        "clusters": int(np.unique(clusters).size),
        "confidence": float(confidences.mean()),
        "right": float(right.mean()),
        "lower": interval and interval.lower,
        "upper": interval and interval.upper,
    }


def confidence_lines(rows: TableRows) -> Iterator[str]:
    """The table, and the parts of the Brier score below it."""
    yield _line(_HEADS)
    for row in rows:
        low, high = compact(row["lowest"]), compact(row["highest"])
        inside = low if low == high else f"{low} to {high}"
        name = _ALL if row["bin"] == _ALL else inside
        numbers = str(row["calls"]), compact(row["confidence"]), compact(row["right"])
        yield _line((name, *numbers, _ends(row)))
    whole = rows[-1]
    yield (
        f"Brier score {number_text(whole['score'])}: reliability "
        f"{number_text(whole['reliability'])}, resolution {number_text(whole['resolution'])}, "
        f"uncertainty {number_text(whole['uncertainty'])}"
    )


def unstated_lines(rows: TableRows) -> Iterator[str]:
    """How many calls state no confidence, and the first that is none; nothing where all do."""
    whole = rows[-1]
    if unstated := whole.get("unstated"):  # older files do not count them
        of = whole["calls"] + unstated
        why = f": {whole['unusable']}" * bool(whole["unusable"])
        yield f"{unstated} of {of} calls with a label state no confidence{why}"


def _ends(row: TableRow) -> str:
    return "" if row["lower"] is None else ends_text((row["lower"], row["upper"]), compact)


def _line(cells: Sequence[str]) -> str:
    first, *rest = (
        (cell.ljust if head == _HEADS[0] else cell.rjust)(width)
        for head, cell, width in zip(_HEADS, cells, _WIDTHS, strict=True)
    )
    return "  ".join((first, *rest)).rstrip()


# --- the figure -----------------------------------------------------------------------------------


class _Curve(NamedTuple):
    """The bins of one judge on one suite."""

    number: int
    judge: str
    suite: str
    bins: tuple[TableRow, ...]


def reliability_figures(sheet: Datasheet) -> Iterator[fig.Found]:
    """The reliability diagram, a panel for each suite; nothing where no judge states anything."""
    numbers = {judge.name: number for number, judge in enumerate(sheet.judges)}
    curves = [
        _Curve(numbers[judge], fig.called(sheet, judge, suite), suite, tuple(rows[:-1]))
        for judge, suite, rows in tables_named(sheet, RELIABILITY)
        if judge in numbers
    ]
    if not curves:
        return
    panels = []
    for suite in dict.fromkeys(curve.suite for curve in curves):
        of_suite = [curve for curve in curves if curve.suite == suite]
        panels.append(fig.Panel(partial(_draw, curves=of_suite, suite=suite)))
    yield fig.Figure(
        fig.Head("reliability", "12", "Reliability diagram"),
        _finding(sheet),
        "The share of right verdicts at each stated confidence; the larger the mark, the more of "
        "the calls it stands for. On the dotted line confidence is what comes true; below it the "
        "judge is too sure. Bars are 95% clustered intervals.",
        tuple(panels),
        ("judge", "suite", "confidence", "right", "right, lower", "right, upper", "calls"),
        tuple(
            (
                curve.judge,
                curve.suite,
                *(row[key] for key in ("confidence", "right", "lower", "upper", "calls")),
            )
            for curve in curves
            for row in curve.bins
        ),
    )


def _draw(axes: Any, curves: Iterable[_Curve], suite: str) -> None:
    fig.shares(axes)
    fig.dotted(axes)
    for number, judge, _, bins in curves:
        calls = sum(row["calls"] for row in bins)
        points = [(row["confidence"], row["right"]) for row in bins]
        xs, ys = zip(*points, strict=True)
        fig.curve(axes, number, xs, ys, judge)
        for (x, y), row in zip(points, bins, strict=True):
            along = None if row["lower"] is None else (row["lower"], row["upper"])
            fig.point(axes, number, x, y, along=along, size=row["calls"] / calls)
    fig.labels(axes, "stated confidence", "right verdicts (share of calls)", suite)


def _finding(sheet: Datasheet) -> str:
    """Whether a judge is too sure, where it is so most."""
    changes = [
        (ShownChange.of(estimate), f"{fig.name_of(judge, estimate.suite)} on {estimate.suite}")
        for judge in sheet.judges
        for estimate in judge.estimates
        if estimate.measure == OVERCONFIDENCE.name and estimate.value is not None
    ]
    if not changes:
        return "Whether a judge is too sure is not known"
    change, where = farthest(changes)
    return f"{where}: {overconfidence_words(change)} {_numbers(change)}"


def _numbers(change: ShownChange) -> str:
    return f"({change.numbers(compact)})"
