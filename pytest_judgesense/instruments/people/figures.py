"""Rates as a judge gives them, and as people would, on one axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from pytest_judgesense.datasheets import figures as fig
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.sections import TableRow, tables_named
from pytest_judgesense.instruments.people.tables import bias_of, table_of_rates
from pytest_judgesense.text.shown_change import farthest

CORRECTED: Final = "corrected_rates"
_ALONE: Final = 0.22


def rate_figures(sheet: Datasheet) -> Iterator[fig.Found]:
    """The corrected rates with the raw ones beside them; nothing without labels of people."""
    marks = [
        (_name(sheet, judge, suite, row), row)
        for judge, suite, rows in tables_named(sheet, CORRECTED)
        for row in table_of_rates(rows)
    ]
    if not marks:
        return

    def draw(axes: Any) -> None:
        axes.grid(visible=True, axis="x")
        axes.set_axisbelow(True)
        for line, (_, row) in enumerate(marks):
            first = not line
            ends, alone = ((row[f"{of}lower"], row[f"{of}upper"]) for of in ("", "labels_alone_"))
            axes.plot([row["raw"], row["value"]], [line, line], color=fig.INK, linewidth=0.5)
            fig.point(axes, 0, row["value"], line, across=ends, name="corrected" * first)
            uncorrected = "judge, uncorrected" * first
            fig.point(axes, 1, row["raw"], line, name=uncorrected, fillstyle="none")
            below = line + _ALONE
            name = "labels alone" * first
            fig.point(axes, 6, row["labels_alone"], below, across=alone, name=name)
        fig.ticks(axes, "y", [name for name, _ in marks])
        axes.set_xlim(-0.03, 1.03)
        fig.labels(axes, "rate", "", "raw and corrected")

    yield fig.Figure(
        fig.Head("corrected", "9", "Rates, raw and corrected by labels of people"),
        _finding(marks),
        "Hollow: the rate that the judge gives. Filled: the rate that people would give, with its "
        "95% interval over clusters. Below it the same from the labels alone.",
        (fig.Panel(draw, fig.height_of_rows(len(marks), 0.5)),),
        ("rate", "raw", *fig.named("corrected"), "labels", "labels alone", "lower", "upper"),
        tuple(
            (
                name,
                *(row[key] for key in ("raw", "value", "lower", "upper", "items", "labels")),
                *(row[f"labels_alone{end}"] for end in ("", "_lower", "_upper")),
            )
            for name, row in marks
        ),
    )


def _finding(marks: Sequence[tuple[str, TableRow]]) -> str:
    """Whether verdicts lie to one side of the labels of people, where they do so most."""
    biases = [(bias, name) for name, row in marks if (bias := bias_of(row)) is not None]
    if not biases:
        return "Whether a judge's rate is that of people is not known"
    bias, name = farthest(biases)
    return bias.sentence(
        above=f"{name}: verdicts lie above the labels of people",
        below=f"{name}: verdicts lie below the labels of people",
        neither=f"No judge's rate is told from that of people; farthest is {name}",
    )


def _name(sheet: Datasheet, judge: str, suite: str, row: TableRow) -> str:
    condition = "".join(f", {value}" for value in row["condition"].values())
    return f"{fig.called(sheet, judge, suite)} on {suite}{condition}"
