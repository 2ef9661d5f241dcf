"""The figure of the numbers in the lines of suites: every judge, with its intervals. Pure.

It is for datasheets without checks: elsewhere each number stands against its bar in a small figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from pytest_judgesense.datasheets import figures as fig
from pytest_judgesense.datasheets.figures import Figure, Head, IntervalEnds, Panel
from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.report.view import PartView, View

_HEAD: Final = Head("measures", "9", "Measures")


def measures_figure(view: View) -> Iterator[Figure]:
    """One panel a suite, one line a measure; none if nothing that can be drawn was measured."""
    names = [fig.name_of(judge.sheet) for judge in view.judges]
    panels: list[Panel] = []
    rows: list[tuple[fig.Value, ...]] = []
    for suite in dict.fromkeys(part.part.suite for judge in view.judges for part in judge.parts):
        measures: dict[str, dict[int, Estimate]] = {}
        for number, judge in enumerate(view.judges):
            for part in judge.parts:
                if part.part.suite == suite:
                    for measure, estimate in _drawable(part):
                        measures.setdefault(measure, {})[number] = estimate
        if not measures:
            continue
        labels = [fig.name_of(judge.sheet, suite) for judge in view.judges]
        each = max(0.42, 0.17 * len(names))
        height = fig.height_of_rows(len(measures), each)
        panels.append(
            Panel(
                partial(_draw, measures=measures, names=names, labels=labels, suite=suite), height
            )
        )
        rows += [
            (labels[number], suite, measure, *fig.cells(estimate))
            for measure, of_judges in measures.items()
            for number, estimate in of_judges.items()
        ]
    if panels:
        yield Figure(
            _HEAD,
            "What was measured, judge by judge",
            "Each mark is a judge's value, the line its 95% clustered interval. A hollow mark is "
            "of a judge that gives one answer to everything (degenerate).",
            tuple(panels),
            ("judge", "suite", "measure", *fig.named("value")),
            tuple(rows),
        )


def _drawable(part: PartView) -> Iterator[tuple[str, Estimate]]:
    """The measures in the line of a suite that are shares or correlations."""
    for name in dict.fromkeys(estimate.measure for estimate in part.part.estimates):
        measure = part.registry.named(name)
        low, high = measure.bounds
        if measure.brief is None or low < -1 or high > 1:
            continue
        estimate = find_estimate(part.part.estimates, name, measure.brief.condition)
        if estimate is not None and estimate.value is not None:
            yield measure.brief.name, estimate


def _draw(
    axes: Any,
    measures: dict[str, dict[int, Estimate]],
    names: Sequence[str],
    labels: Sequence[str],
    suite: str,
) -> None:
    axes.grid(visible=True, axis="x")
    axes.set_axisbelow(True)
    step = 0.7 / len(names)
    for line, of_judges in enumerate(measures.values()):
        for number, estimate in of_judges.items():
            y = line + step * (number - (len(names) - 1) / 2)
            ends: IntervalEnds = fig.ends_of(estimate.clustered)
            hollow: dict[str, Any] = (
                {"fillstyle": "none"} if labels[number].endswith(fig.MARK) else {}
            )
            fig.point(
                axes, number, estimate.value or 0.0, y, across=ends, name=labels[number], **hollow
            )
    lowest = min(
        (ends[0] if (ends := fig.ends_of(estimate.clustered)) else estimate.value or 0.0)
        for of_judges in measures.values()
        for estimate in of_judges.values()
    )
    axes.set_xlim(-1.03 if lowest < 0 else -0.03, 1.03)
    fig.ticks(axes, "y", list(measures))
    fig.labels(axes, "value", "", suite)
