"""What each probe does, in a table, in words, and as a forest of effects with their controls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from pytest_judgesense.datasheets import figures as fig
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.sections import Estimates, TableRow, TableRows, tables_named
from pytest_judgesense.estimate import compact
from pytest_judgesense.instruments.probe.readings import ALPHA, ProbeResult, readings
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.shown_change import ShownChange, ends_text, farthest

PROBES: Final = "probes"
_HEADS: Final = ("probe", "effect", "95% clustered", "placebo", "edited", "control", "p (Holm)")
_NO_STATEMENT: Final = "no statement"
_WIDTHS: Final = (10, 6, 15, 7, 6, 7, 8)


def probes(cell: Cell, _estimates: Estimates, _suite: Suite | None) -> TableRows | None:
    """A row for each probe, and for each naming of the slots."""
    return [_row(reading) for reading in readings(cell)] or None


def _row(reading: ProbeResult) -> dict[str, Any]:
    effect = reading.arms.effect
    control = reading.control.effect if reading.control is not None else None
    row: dict[str, Any] = {
        "probe": reading.name,
        "items": reading.arms.items,
        "left_out": reading.lines - len(reading.arms.calls),
        "control_effect": control and control.difference.value,
        "control_p": control and control.p,
        "control": _control_share(reading),
    }
    if effect is None:
        return {**row, "effect": None, "verdict": "not measured: fewer than two clusters"}
    lower, upper = reading.ends or (None, None)
    most = effect.difference.upper(ALPHA)
    least = effect.difference.lower(ALPHA)
    return {
        **row,
        "effect": effect.difference.value,
        "lower": lower,
        "upper": upper,
        "placebo": effect.reference,
        "edited": effect.edited,
        "p": effect.p,
        "p_holm": reading.p,
        "found": reading.is_found,
        "verdict": _verdict(reading, most=max(most, -least) if reading.naming else most),
    }


def _control_share(reading: ProbeResult) -> float | None:
    """The edited side's share under the control; the mean grade of a single output."""
    control = reading.control
    if control is None or control.effect is None:
        return None
    effect = control.effect
    first = next(iter(control.calls.values()))[0]
    taken_back = first.after.trial.condition.get("version") == "control"
    return effect.edited if taken_back else effect.reference


def _verdict(reading: ProbeResult, most: float) -> str:
    """What follows, in words; ``most``: the effect that is not excluded."""
    if reading.is_found:
        return "moves this judge"
    if reading.control_moves is False:
        return _NO_STATEMENT
    possible = f"{max(0.0, most):.0%}"
    return f"none seen, {'any' if possible == '100%' else possible} possible"


def probe_lines(rows: TableRows) -> Iterator[str]:
    """The table, with what follows of each probe."""
    yield _line(_HEADS, "verdict")
    for row in rows:
        if row["effect"] is None:
            yield f"{row['probe']:<{_WIDTHS[0]}}  {row['verdict']}"
            continue
        ends = ends_text((row["lower"], row["upper"]), compact)
        control = "" if row["control"] is None else compact(row["control"])
        shares = (compact(row[name]) for name in ("placebo", "edited"))
        p = "< .001" if row["p_holm"] < 0.0005 else compact(row["p_holm"])
        cells = (row["probe"], compact(row["effect"]), ends, *shares, control, p)
        yield _line(cells, row["verdict"])
    if still := [row["probe"] for row in rows if row["verdict"] == _NO_STATEMENT]:
        yield (
            "no statement, as not even their controls are seen to move this judge, which may need "
            f"more items: {', '.join(still)}"
        )
    if left := [row for row in rows if row["left_out"]]:
        counted = ", ".join(f"{row['probe']} {row['left_out']}" for row in left)
        yield f"items that an edit leaves as they are, and that take no part: {counted}"


def _line(cells: tuple[str, ...], last: str) -> str:
    aligned = (
        cell.ljust(width) if place == 0 else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(cells, _WIDTHS, strict=True))
    )
    return f"{'  '.join(aligned)}  {last}"


def probes_brief(rows: TableRows) -> str:
    """The probes that move the judge; empty for none."""
    moving = found_rows(rows)
    return f"moved by {', '.join(row['probe'] for row in moving)}" if moving else ""


def found_rows(rows: TableRows) -> list[TableRow]:
    """The probes that move the judge, the strongest first."""
    moving = [row for row in rows if row.get("found")]
    return sorted(moving, key=lambda row: -abs(row["effect"]))


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
