"""Scores beside labels, in units of the score: one row, and the sentence of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from pytest_judgesense.datasheets.sections import Estimates, TableRow, TableRows
from pytest_judgesense.estimate import Estimate, compact, find_estimate
from pytest_judgesense.instruments.score import measures as of
from pytest_judgesense.instruments.score.estimators import columns_of, range_of
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import score_text

BESIDE: Final = "scores_beside_labels"


def beside(cell: Cell, estimates: Estimates, _suite: Suite | None) -> TableRows | None:
    """A row of the replies on items with a label; without labels of all; ``None`` for no score."""
    columns, score_range = columns_of(cell), range_of(cell.design)
    labelled = ~np.isnan(columns.errors)
    counted = labelled if labelled.any() else ~np.isnan(columns.scores)
    if not counted.any():
        return None

    def in_units(shares: np.ndarray) -> float:
        return score_range.low + score_range.width * float(shares[counted].mean())

    row = {
        "range": " to ".join(score_range.ends),
        "n": int(counted.sum()),
        "score": in_units(columns.scores),
        "label": in_units(columns.labels) if labelled.any() else None,
    }
    return [{**row, **_against_labels(cell, estimates)}]


def _against_labels(cell: Cell, estimates: Estimates) -> TableRow:
    """Bias and error in units of the score, and what has no unit; ``None`` for what is not known"""
    width, mark = range_of(cell.design).width, cell.design.pass_mark

    def value(measure: str) -> float | None:
        estimate = find_estimate(estimates, measure)
        return estimate.value if estimate else None

    bias, error = value(of.SCORE_BIAS.name), value(of.SCORE_ERROR.name)
    lower, upper = _ends(find_estimate(estimates, of.SCORE_BIAS.name))
    return {
        "bias": None if bias is None else bias * width,
        "lower": None if lower is None else lower * width,
        "upper": None if upper is None else upper * width,
        "error": None if error is None else error * width,
        "correlation": value(of.SCORE_CORRELATION.name),
        "mark": None if mark is None else range_of(cell.design).low + mark * width,
        "at_mark": value(of.MARK_AGREEMENT.name),
    }


def _ends(estimate: Estimate | None) -> tuple[float | None, float | None]:
    interval = estimate.clustered if estimate else None
    return (interval.lower, interval.upper) if interval else (None, None)


def beside_lines(rows: TableRows) -> Iterator[str]:
    """Means, bias, error and rank correlation in a sentence."""
    for row in rows:
        line = f"scores ({row['range']}): mean {compact(row['score'])} of {row['n']}"
        if row["bias"] is None:
            yield f"{line}, without labels"
            continue
        line += f", labels {compact(row['label'])}: bias {signed(row['bias'])}"
        if row["lower"] is not None:
            line += f" [{signed(row['lower'])}, {signed(row['upper'])}]"
        line += f", mean absolute error {compact(row['error'])}"
        if row["correlation"] is not None:
            line += f", rank correlation {compact(row['correlation'])}"
        if row["at_mark"] is not None:
            line += f"; {row['at_mark']:.0%} on the label's side of {score_text(row['mark'])}"
        yield line


def signed(distance: float) -> str:
    """A distance with its sign."""
    return f"+{compact(distance)}" if distance > 0 else compact(distance)
