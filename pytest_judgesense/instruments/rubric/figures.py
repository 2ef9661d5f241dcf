"""A judge's grades against people's, by criterion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pytest_judgesense.datasheets import figures as fig
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.sections import TableRow, tables_named
from pytest_judgesense.estimate import compact
from pytest_judgesense.instruments.rubric.generosity import BESIDE, LEVELS
from pytest_judgesense.instruments.rubric.grades import OVERALL
from pytest_judgesense.text.shown_change import ShownChange, farthest

# Criteria whose curves can be told from one another.
_MOST_CURVES: Final = 6


def grade_figures(sheet: Datasheet) -> Iterator[fig.Found]:
    """The judge's mean grade at each grade of people; nothing without grades of people."""
    tables = [table for table in tables_named(sheet, LEVELS) if table[2]]
    if not tables:
        return
    panels = tuple(_panel(sheet, judge, suite, rows) for judge, suite, rows in tables)
    yield fig.Figure(
        fig.Head("grades", "10", "Grades by criterion against people's"),
        _finding(sheet),
        "At each grade of people, the mean of the judge's, with its 95% interval over clusters. On "
        "the dotted line the two are alike; above it the judge is generous, below it severe.",
        panels,
        ("judge", "suite", "criterion", "people's grade", *fig.named("judge's mean share")),
        tuple(
            (
                fig.called(sheet, judge, suite),
                suite,
                *(row[key] for key in ("criterion", "grade", "judge", "lower", "upper", "n")),
            )
            for judge, suite, rows in tables
            for row in rows
        ),
    )


def _panel(sheet: Datasheet, judge: str, suite: str, rows: Any) -> fig.Panel:
    names = list(dict.fromkeys(row["criterion"] for row in rows))
    names = [name for name in names if name != OVERALL or len(names) == 1][:_MOST_CURVES]
    shown = [row for row in rows if row["criterion"] in names]
    scales = {tuple(row["labels"]) for row in shown}

    def draw(axes: Any) -> None:
        fig.shares(axes)
        fig.dotted(axes)
        for number, name in enumerate(names):
            marks = [row for row in shown if row["criterion"] == name]
            people, of_judge = ([row[of] for row in marks] for of in ("people", "judge"))
            fig.curve(axes, number, people, of_judge, name)
            for row in marks:
                fig.point(axes, number, row["people"], row["judge"], along=_ends(row))
        if len(scales) == 1:
            (labels,) = scales
            places = [place / (len(labels) - 1) for place in range(len(labels))]
            axes.set_xticks(places, labels)
            axes.set_yticks(places, labels)
        unit = "grade" if len(scales) == 1 else "share of the way up the scale"
        title = f"{fig.called(sheet, judge, suite)} on {suite}"
        fig.labels(axes, f"people's {unit}", f"judge's mean {unit}", title)

    return fig.Panel(draw)


def _ends(row: TableRow) -> fig.IntervalEnds:
    return None if row["lower"] is None else (row["lower"], row["upper"])


def _finding(sheet: Datasheet) -> str:
    """The criterion on which a judge is farthest from people."""
    distances = [
        (
            ShownChange(row["generosity"], _ends(row)),
            (fig.called(sheet, judge, suite), row["criterion"]),
        )
        for judge, suite, rows in tables_named(sheet, BESIDE)
        for row in rows
        if row["generosity"] is not None
    ]
    steps, (judge, criterion) = farthest(distances)
    return steps.sentence(
        above=f"{judge} grades {criterion} above people, in steps",
        below=f"{judge} grades {criterion} below people, in steps",
        neither=f"{judge} is not visibly above or below people, farthest in {criterion}, in steps",
        text_of=compact,
    )
