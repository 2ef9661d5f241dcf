"""A judge on a page where no check gates it: what stands out, and the figure of its suites. Pure.

What stands out is told in plain sentences. A judge that gives one answer to everything comes first.
After it come the numbers that lie farthest from the best one, by the end of the clustered interval
that is nearer to the best: what may be chance does not stand out. Of each suite only the farthest
is told, so that one fault is not told under several names.

The figure has every judge with its intervals. It is for datasheets without checks: elsewhere each
number stands against its bar in a small figure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from pytest_judgesense.datasheets import figures as fig
from pytest_judgesense.datasheets.figures import Figure, Head, IntervalEnds, Panel, is_degenerate
from pytest_judgesense.estimate import Estimate, compact, find_estimate
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.report.view import JudgeView, PartView, View

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
        low, high = part.registry.named(name).bounds
        brief = part.brief_of(name)
        if brief is None or low < -1 or high > 1:
            continue
        estimate = find_estimate(part.part.estimates, name, brief.condition)
        if estimate is not None and estimate.value is not None:
            yield brief.name, estimate


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


_MOST: Final = 4
# Of the whole way from the best number to the worst.
_NEGLIGIBLE: Final = 0.05


class Remark(NamedTuple):
    """A number that stands out.

    Attributes:
        sentence: what the judge does.
        measured: the number with its interval; empty for a degenerate judge.
        explain: the name that ``judgesense explain`` explains; empty for a plugin's measure.
        check: the check that would gate it.
    """

    suite: str
    sentence: str
    measured: str
    explain: str
    check: str


def remarks(judge: JudgeView) -> list[Remark]:
    """What stands out, the worst first; empty for a judge with checks, whose bars tell it."""
    if judge.sheet.checks:
        return []
    suites = {part.part.suite for part in judge.parts}
    flat = {suite for suite in suites if is_degenerate(judge.sheet, suite)}
    worst = filter(None, (_farthest(part) for part in judge.parts if part.part.suite not in flat))
    ranked = sorted(worst, key=lambda pair: -pair[0])
    remarks_on_judge = [_degenerate(part) for part in judge.parts if part.part.suite in flat]
    return [*remarks_on_judge, *(remark for _, remark in ranked)][:_MOST]


def _degenerate(part: PartView) -> Remark:
    return Remark(
        part.part.suite,
        "the judge gives one answer to everything (degenerate): its verdicts say nothing",
        "",
        "",
        "",
    )


def _farthest(part: PartView) -> tuple[float, Remark] | None:
    """The number of a suite that is farthest from the best one, with its distance."""
    farthest = max(_distances(part), key=lambda pair: pair[0], default=None)
    if farthest is None or farthest[0] <= _NEGLIGIBLE:
        return None
    distance, measure, estimate = farthest
    ends, flags = estimate.clustered, estimate.flags
    assert estimate.value is not None, "an estimate without a value has no distance"
    measured = f"{measure.name} {compact(estimate.value, flags)}"
    if ends is not None:
        low, high = (
            compact(ends.lower, flags, "lower end "),
            compact(ends.upper, flags, "upper end "),
        )
        measured += f" [{low}, {high}]"
    explain = "" if measure.source else measure.name
    sentence = measure.said_of(estimate)
    return distance, Remark(part.part.suite, sentence, measured, explain, measure.check or "")


def _distances(part: PartView) -> Iterator[tuple[float, Measure, Estimate]]:
    """Distance of each number in the line of a suite from its best: 0 is the best, 1 the worst."""
    for name in dict.fromkeys(estimate.measure for estimate in part.part.estimates):
        measure = part.registry.named(name)
        low, high = measure.bounds
        brief = part.brief_of(name)
        if not measure.gate or brief is None or not math.isfinite(low + high):
            continue
        estimate = find_estimate(part.part.estimates, name, brief.condition)
        if estimate is None or estimate.value is None or estimate.clustered is None:
            continue
        # A correlation of nothing is 0, whatever the smallest possible one.
        low = max(low, 0.0)
        best, nearest = (
            (high, estimate.clustered.upper) if measure.floor else (low, estimate.clustered.lower)
        )
        yield abs(best - nearest) / (high - low), measure, estimate
