"""JSS by judge and task: as intervals, and as a map."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from pytest_judgesense.datasheets import figures as fig
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.sections import tables_named
from pytest_judgesense.text.shown_change import ShownChange, farthest


def _tasks(sheet: Datasheet) -> list[str]:
    """The suites with a JSS, those with most ordinal labels first, as leaderboards have them."""
    suites = {e.suite for j in sheet.judges for e in j.estimates if e.measure == "jss"}
    tables = tables_named(sheet, "standing")
    scale = {suite: rows[0].get("labels", 0) for _, suite, rows in tables}
    return sorted(suites, key=lambda suite: (-scale.get(suite, 0), suite))


def wording_figures(sheet: Datasheet) -> Iterator[fig.Found]:
    """The figures of stability under rewording."""
    head = fig.Head("wording", "6", "JSS by judge and task")
    suites = _tasks(sheet)
    # A judge may be degenerate on some tasks alone: there its marks are.
    names = [
        fig.name_of(judge, *suites)
        if all(fig.is_degenerate(judge, suite) for suite in suites)
        else fig.name_of(judge)
        for judge in sheet.judges
    ]
    estimates = {
        (who, where): estimate
        for who, judge in enumerate(sheet.judges)
        for where, suite in enumerate(suites)
        if (estimate := fig.find(judge, suite, "jss")) is not None
    }
    if not estimates:
        yield fig.Absent(head, "It needs a suite of several wordings: --judge-suite coherence.")
        return

    flat = {
        (who, where)
        for who, where in estimates
        if fig.is_degenerate(sheet.judges[who], suites[where])
    }

    def draw_intervals(axes: Any) -> None:
        axes.grid(visible=True, axis="x")
        axes.set_axisbelow(True)
        step = 0.7 / len(names)
        for (who, where), e in estimates.items():
            y = where + step * (who - (len(names) - 1) / 2)
            hollow: dict[str, Any] = {"fillstyle": "none"} if (who, where) in flat else {}
            ends = fig.ends_of(e.clustered)
            fig.point(axes, who, e.value, y, across=ends, name=names[who], **hollow)
            if hollow:
                fig.beside(axes, who, e.value, y, "degenerate")
        fig.ticks(axes, "y", suites)
        fig.labels(axes, "JSS (share of template pairs)", "", "by task")

    def draw_map(axes: Any) -> None:
        texts = {
            (where, who): (0.0, "degenerate") if place in flat else (e.value, fig.shown(e.value))
            for place, e in estimates.items()
            for who, where in [place]
        }
        fig.heat(axes, suites, names, texts)
        fig.labels(axes, "task", "judge", "judge by task")

    each = max(0.42, 0.17 * len({who for who, _ in estimates}))
    yield fig.Figure(
        head,
        _finding(estimates, flat, names, suites),
        "JSS: the share of pairs of wordings under which the verdict is the same. Bars are 95% "
        "clustered intervals, their units are items. A hollow mark is of a judge that gives one "
        "answer to everything (degenerate), which is no stability.",
        (
            fig.Panel(draw_intervals, fig.height_of_rows(len(suites), each)),
            fig.Panel(draw_map, fig.height_of_rows(len(names), names=suites)),
        ),
        ("judge", "task", *fig.named("JSS"), "flags"),
        tuple(
            (names[who], suites[where], *fig.cells(e), "; ".join(e.flags))
            for (who, where), e in estimates.items()
        ),
    )
    yield from _polarity_figure(sheet)


def _polarity_figure(sheet: Datasheet) -> Iterator[fig.Found]:
    """JSS as the labels stand against that with inverted ones remapped, where there are any."""
    rows: list[tuple[fig.Value, ...]] = []
    marks: list[tuple[str, Any, Any]] = []
    for judge in sheet.judges:
        for part in judge.parts:
            raw = fig.find(judge, part.suite, "jss", polarity="raw")
            corrected = fig.find(judge, part.suite, "jss", polarity="remapped")
            if raw is not None and corrected is not None:
                marks.append((f"{fig.name_of(judge, part.suite)}, {part.suite}", raw, corrected))
                name = fig.name_of(judge, part.suite)
                rows.append((name, part.suite, *fig.cells(raw), *fig.cells(corrected)))
    if not marks:
        return

    def draw(axes: Any) -> None:
        axes.grid(visible=True, axis="x")
        axes.set_axisbelow(True)
        for line, (_, raw, corrected) in enumerate(marks):
            axes.plot([raw.value, corrected.value], [line, line], color=fig.INK, linewidth=0.8)
            fig.point(axes, 1, raw.value, line, name="raw" if not line else "", fillstyle="none")
            fig.point(axes, 0, corrected.value, line, name="corrected" if not line else "")
        fig.ticks(axes, "y", [name for name, _, _ in marks])
        axes.set_xlim(-0.03, 1.03)
        fig.labels(axes, "JSS (share of template pairs)", "", "by judge and suite")

    gain, most = farthest([(ShownChange.between(raw, fixed), name) for name, raw, fixed in marks])
    yield fig.Figure(
        fig.Head("polarity", "6b", "JSS raw against corrected"),
        gain.sentence(
            above=f"Corrected for inverted labels, the JSS of {most} is higher",
            below=f"Corrected for inverted labels, the JSS of {most} is lower",
            neither=f"Correcting inverted labels does not visibly change the JSS of {most}",
        ),
        "Hollow: JSS with the labels as they stand. Filled: with the labels of inverted wordings "
        "remapped to what they mean.",
        (fig.Panel(draw, fig.height_of_rows(len(marks))),),
        ("judge", "suite", *fig.named("raw"), *fig.named("corrected")),
        tuple(rows),
    )


def _finding(
    estimates: Mapping[tuple[int, int], Any],
    flat: AbstractSet[tuple[int, int]],
    names: Sequence[str],
    suites: Sequence[str],
) -> str:
    """The lowest JSS of judges that give several answers, and those that are degenerate."""

    def on(place: tuple[int, int]) -> str:
        return f"{names[place[0]].removesuffix(f' {fig.MARK}')} on {suites[place[1]]}"

    varied = {place: estimate for place, estimate in estimates.items() if place not in flat}
    degenerate = f"one answer to everything: {', '.join(map(on, sorted(flat)))}" if flat else ""
    if not varied:
        return degenerate[:1].upper() + degenerate[1:]
    place, least = min(varied.items(), key=lambda placed: (placed[1].value, placed[0]))
    finding = "No verdict changed under another wording of the prompt"
    if least.value < 1:
        finding = f"The lowest JSS is that of {on(place)}: {ShownChange.of(least).numbers()}"
    return "; ".join(filter(None, [finding, degenerate]))
