"""Probes as a forest: the effect of each with its interval, and its control."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from pytest_judgesense.datasheets import figures as fig
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.sections import TableRows, tables_named
from pytest_judgesense.instruments.probe.tables import PROBES
from pytest_judgesense.text.shown_change import ShownChange, farthest

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

    names = [name for name, _ in marks]
    rows = [row for _, row in marks]
    height = fig.height_of_rows(len(marks), 0.42)
    yield fig.Figure(
        fig.Head("probes", "11", "What moves a judge"),
        _finding(sheet),
        "Filled: how much oftener the verdict is the edited side than under a placebo of the same "
        "length and place, with its 95% interval over clusters. Hollow below it: the same of the "
        "control, which says something and should move every judge. Of names of slots it is the "
        "first slot's share. The lower panel has the shares behind these differences.",
        (
            fig.Panel(partial(_draw_effects, names, rows), height),
            fig.Panel(partial(_draw_shares, names, rows), height),
        ),
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


def _draw_effects(names: Sequence[str], rows: TableRows, axes: Any) -> None:
    """Effects with their intervals, and below each that of its control."""
    _with_names(axes, names)
    fig.dotted(axes, x=0.0)
    for line, row in enumerate(rows):
        first, ends = not line, (row["lower"], row["upper"])
        fig.point(axes, 0, row["effect"], line, across=ends, name="effect" * first)
        if (control := row["control_effect"]) is not None:
            place = line + _APART
            fig.point(axes, 6, control, place, name="control" * first, fillstyle="none")
    axes.set_xlim(-1.03, 1.03)
    fig.labels(axes, "share of verdicts moved to the edited side", "", "effects")


def _draw_shares(names: Sequence[str], rows: TableRows, axes: Any) -> None:
    """The shares behind the effects: under the placebo, the edit and the control."""
    _with_names(axes, names)
    for line, row in enumerate(rows):
        axes.plot([row["placebo"], row["edited"]], [line, line], color=fig.INK, linewidth=0.5)
        for number, name in ((0, "placebo"), (1, "edited"), (6, "control")):
            if (share := row[name]) is not None:
                hollow: dict[str, Any] = {} if name == "edited" else {"fillstyle": "none"}
                fig.point(axes, number, share, line, name=name * (not line), **hollow)
    axes.set_xlim(-0.03, 1.03)
    fig.labels(axes, "the edited side's share of verdicts", "", "the shares behind them")


def _with_names(axes: Any, names: Sequence[str]) -> None:
    axes.grid(visible=True, axis="x")
    axes.set_axisbelow(True)
    fig.ticks(axes, "y", names)


def _finding(sheet: Datasheet) -> str:
    """The probe that moves a judge most, or that none is seen to move one."""
    marks = [
        (
            ShownChange(row["effect"], (row["lower"], row["upper"])),
            (fig.called(sheet, judge, suite), row),
        )
        for judge, suite, rows in tables_named(sheet, PROBES)
        for row in rows
        if row["effect"] is not None
    ]
    effect, (judge, row) = farthest([mark for mark in marks if mark[1][1]["found"]] or marks)
    return effect.sentence(
        above=f"{row['probe']} moves the verdicts of {judge}",
        below=f"{row['probe']} moves the verdicts of {judge} the other way",
        neither="No probe is seen to move a judge more than its placebo does; farthest is "
        f"{row['probe']} of {judge}",
    )
