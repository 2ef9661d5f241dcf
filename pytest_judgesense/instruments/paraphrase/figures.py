"""JSS by judge and task: as intervals, and as a map."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_judgesense import figures as fig
from pytest_judgesense.datasheet import Datasheet
from pytest_judgesense.sections import tables_named


def _tasks(sheet: Datasheet) -> list[str]:
    """The suites with a JSS, those with most ordinal labels first, as leaderboards have them."""
    known = {e.suite for j in sheet.judges for e in j.estimates if e.measure == "jss"}
    tables = tables_named(sheet, "standing")
    scale = {suite: rows[0].get("labels", 0) for _, suite, rows in tables}
    return sorted(known, key=lambda suite: (-scale.get(suite, 0), suite))


def wording_figures(sheet: Datasheet) -> Iterator[fig.Found]:
    """The figure of stability under rewording."""
    head = fig.Head("wording", "6", "JSS by judge and task")
    suites = _tasks(sheet)
    names = [fig.name_of(judge) for judge in sheet.judges]
    known = {
        (who, where): estimate
        for who, judge in enumerate(sheet.judges)
        for where, suite in enumerate(suites)
        if (estimate := fig.find(judge, suite, "jss")) is not None
    }
    if not known:
        yield fig.Absent(head, "It needs a suite of several wordings: --judge-suite coherence.")
        return

    def draw_intervals(axes: Any) -> None:
        axes.grid(visible=True, axis="x")
        axes.set_axisbelow(True)
        step = 0.7 / len(names)
        for (who, where), e in known.items():
            y = where + step * (who - (len(names) - 1) / 2)
            fig.point(axes, who, e.value, y, across=fig.ends_of(e.clustered), name=names[who])
        fig.ticks(axes, "y", suites)
        fig.labels(axes, "JSS (share of template pairs)", "", "by task")

    def draw_map(axes: Any) -> None:
        texts = {(where, who): (e.value, fig.shown(e.value)) for (who, where), e in known.items()}
        fig.heat(axes, suites, names, texts)
        fig.labels(axes, "task", "judge", "judge by task")

    (who, where), least = min(known.items(), key=lambda one: (one[1].value, one[0]))
    each = max(0.42, 0.17 * len({who for who, _ in known}))
    yield fig.Figure(
        head,
        f"The least stable under rewording is {names[who]} on {suites[where]}: "
        f"{fig.percent(least.value)} of verdicts stay"
        if least.value < 1
        else "No verdict changes under another wording of the prompt",
        "JSS: the share of pairs of wordings under which the verdict is the same. Bars are 95% "
        "clustered intervals, their units are items.",
        (
            fig.Panel(draw_intervals, fig.height_of_rows(len(suites), each)),
            fig.Panel(draw_map, fig.height_of_rows(len(names), names=suites)),
        ),
        ("judge", "task", *fig.named("JSS"), "flags"),
        tuple(
            (names[who], suites[where], *fig.cells(e), "; ".join(e.flags))
            for (who, where), e in known.items()
        ),
    )
