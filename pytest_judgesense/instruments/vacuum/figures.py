"""The metrology map: what a judge reports where there is nothing, beside how it takes equals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_judgesense.datasheet import Datasheet
from pytest_judgesense.figures import (
    Absent,
    Figure,
    Found,
    Head,
    Panel,
    beside,
    cells,
    ends_of,
    find,
    labels,
    name_of,
    named,
    percent,
    point,
    shares,
    suite_of,
)


def vacuum_figures(sheet: Datasheet) -> Iterator[Found]:
    """The metrology map."""
    head = Head("metrology", "1", "Metrology map")
    dark_suite = suite_of(sheet, "dark_current")
    ladder = suite_of(sheet, "stable_cross_sensitivity")
    near_suite = suite_of(sheet, "target_sensitivity", distance=1)
    marks, rows = [], []
    for number, judge in enumerate(sheet.judges):
        dark = find(judge, dark_suite, "dark_current")
        stable = find(judge, ladder, "stable_cross_sensitivity")
        near = find(judge, near_suite, "target_sensitivity", distance=1)
        if dark is not None and stable is not None:
            marks.append((number, name_of(judge), dark, stable, near))
            rows.append((name_of(judge), *cells(dark), *cells(stable), *cells(near)))
    if not marks:
        yield Absent(
            head,
            "It needs a judge that was measured on a vacuum suite and on a ladder: "
            "--judge-suite vacuum --judge-suite ladder.",
        )
        return

    def draw(axes: Any) -> None:
        shares(axes)
        for number, who, dark, stable, near in marks:
            across, along = ends_of(dark.clustered), ends_of(stable.clustered)
            size = None if near is None else near.value
            x, y = dark.value, stable.value
            point(axes, number, x, y, across=across, along=along, size=size)
            beside(axes, number, x, y, who)
        labels(
            axes,
            "dark current (share of calls on nothing)",
            "stable cross-sensitivity (share of pairs)",
        )

    _, worst, most, equals, _ = max(marks, key=lambda one: one[2].value)
    _, best, least, *_ = min(marks, key=lambda one: one[2].value)
    finding = f"{worst} names a winner in {percent(most.value)} of comparisons of nothing"
    if len(marks) > 1:
        finding += f", {best} in {percent(least.value)}"
    else:
        finding += f" and prefers one content in {percent(equals.value)} of equal pairs"
    yield Figure(
        head,
        finding,
        "A judge that reports nothing where nothing is stands at the lower left. The larger the "
        "mark, the more often the better candidate is chosen at distance 1. Bars are 95% clustered "
        "intervals.",
        (Panel(draw),),
        ("judge", *named("dark current"), *named("stable"), *named("sensitivity at 1")),
        tuple(rows),
    )
