"""Probes as a forest: the effect of each with its interval, and its control."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pytest_judgesense import figures as fig
from pytest_judgesense.datasheet import Datasheet
from pytest_judgesense.instruments.probe.tables import PROBES, found_rows
from pytest_judgesense.sections import Row, tables_named

_APART: Final = 0.24


def probe_figures(sheet: Datasheet) -> Iterator[fig.Found]:
    """A figure of each judge on each suite of probes; nothing without such a suite."""
    tables = tables_named(sheet, PROBES)
    marks = [
        (
            f"{row['probe']}, {fig.called(sheet, judge, suite)}"
            if len(tables) > 1
            else row["probe"],
            row,
        )
        for judge, suite, rows in tables
        for row in rows
        if row["effect"] is not None
    ]
    if not marks:
        return

    def draw(axes: Any) -> None:
        axes.grid(visible=True, axis="x")
        axes.set_axisbelow(True)
        fig.dotted(axes, x=0.0)
        for line, (_, row) in enumerate(marks):
            _draw_row(axes, line, row)
        fig.ticks(axes, "y", [name for name, _ in marks])
        axes.set_xlim(-1.03, 1.03)
        fig.labels(axes, "share of verdicts moved to the edited side", "", "probes")

    def draw_shares(axes: Any) -> None:
        axes.grid(visible=True, axis="x")
        axes.set_axisbelow(True)
        for line, (_, row) in enumerate(marks):
            shown = {"placebo": row["placebo"], "edited": row["edited"], "control": row["control"]}
            axes.plot([row["placebo"], row["edited"]], [line, line], color=fig.INK, linewidth=0.5)
            for number, (name, share) in enumerate(shown.items()):
                if share is not None:
                    hollow: dict[str, Any] = {"fillstyle": "none"} if name == "placebo" else {}
                    fig.point(axes, number, share, line, name=name * (not line), **hollow)
        fig.ticks(axes, "y", [name for name, _ in marks])
        axes.set_xlim(-0.03, 1.03)
        fig.labels(axes, "the edited side's share of verdicts", "", "the shares behind it")

    height = fig.height_of_rows(len(marks), 0.42)
    yield fig.Figure(
        fig.Head("probes", "10", "What moves a judge"),
        _finding(sheet),
        "Filled: how much oftener the verdict is the edited side than under a placebo of the same "
        "length and place, with its 95% interval over clusters. Hollow below it: the same of the "
        "control, which says something and should move every judge. Of names of slots it is the "
        "first slot's share. The lower panel has the shares behind these differences.",
        (fig.Panel(draw, height), fig.Panel(draw_shares, height)),
        (
            "probe",
            "effect",
            "lower",
            "upper",
            "placebo",
            "edited",
            "control",
            "p (Holm)",
            "verdict",
        ),
        tuple(
            (
                name,
                *(
                    row[key]
                    for key in (
                        "effect",
                        "lower",
                        "upper",
                        "placebo",
                        "edited",
                        "control",
                        "p_holm",
                    )
                ),
                row["verdict"],
            )
            for name, row in marks
        ),
    )


def _draw_row(axes: Any, line: int, row: Row) -> None:
    ends = row["lower"], row["upper"]
    first = not line
    fig.point(axes, 0, row["effect"], line, across=ends, name="effect" * first)
    if row["control_effect"] is not None:
        place = line + _APART
        fig.point(axes, 6, row["control_effect"], place, name="control" * first, fillstyle="none")


def _finding(sheet: Datasheet) -> str:
    worst = [
        (abs(row["effect"]), judge, suite, row)
        for judge, suite, rows in tables_named(sheet, PROBES)
        for row in found_rows(rows)
    ]
    if not worst:
        return "No probe moves a judge more than its placebo does"
    _, judge, suite, row = max(worst, key=lambda mark: mark[0])
    name = fig.called(sheet, judge, suite)
    return f"{row['probe']} moves {fig.percent(abs(row['effect']))} of the verdicts of {name}"
