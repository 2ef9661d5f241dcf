"""Figures of judges as instruments, and of their stability under rewording. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from pytest_judgesense.datasheet import numbers
from pytest_judgesense.datasheet.page_figures import (
    SHARE,
    Absent,
    Axis,
    Figure,
    Found,
    Head,
    Mark,
    Panel,
    Series,
    Value,
    cells,
    ends_of,
    find,
    name_of,
    named,
    percent,
    shown,
    suite_of,
)
from pytest_judgesense.datasheet.sheet import Datasheet, JudgeSheet
from pytest_judgesense.estimate import Estimate

__all__ = ["instrument_figures"]

_THRESHOLD: Final = 0.75
# Same-quality pairs by what explains them, as they are stacked.
_TERMS: Final = {
    "stable_cross_sensitivity": "stable: the same content",
    "positional_false_preference": "positional: the same slot",
    "one_sided_commit": "one-sided: in one order only",
    "other_conflict": "other conflict",
    "no_preference": "none: a tie in both orders",
}


def instrument_figures(sheet: Datasheet) -> Iterator[Found]:
    """Figures 1 to 6."""
    yield _metrology(sheet)
    yield _psychometric(sheet)
    yield _decomposition(sheet)
    yield _criterion(sheet)
    yield _position(sheet)
    yield _wording(sheet)


def _metrology(sheet: Datasheet) -> Found:
    head = Head("metrology", "1", "Metrology map")
    dark_suite = suite_of(sheet, "dark_current")
    ladder = suite_of(sheet, "stable_cross_sensitivity")
    near_suite = suite_of(sheet, "target_sensitivity", distance=1)
    series, rows, known = [], [], []
    for style, judge in enumerate(sheet.judges):
        dark = find(judge, dark_suite, "dark_current")
        stable = find(judge, ladder, "stable_cross_sensitivity")
        near = find(judge, near_suite, "target_sensitivity", distance=1)
        if dark is None or stable is None:
            continue
        who = name_of(judge)
        known.append((who, dark.value, stable.value))
        size = None if near is None else near.value
        mark = Mark(
            dark.value, stable.value, ends_of(dark.clustered), ends_of(stable.clustered), size, who
        )
        series.append(Series("", (mark,), style))
        rows.append((who, *cells(dark), *cells(stable), *cells(near)))
    if not series:
        return Absent(
            head,
            "It needs a judge that was measured on a vacuum suite and on a ladder: "
            "--judge-suite vacuum --judge-suite ladder.",
        )
    worst = max(known, key=lambda one: one[1])
    best = min(known, key=lambda one: one[1])
    finding = f"{worst[0]} names a winner in {percent(worst[1])} of comparisons of nothing"
    if len(known) > 1:
        finding += f", {best[0]} in {percent(best[1])}"
    else:
        finding += f" and prefers one content in {percent(worst[2])} of equal pairs"
    return Figure(
        head,
        finding,
        "A judge that reports nothing where nothing is stands at the lower left. The larger the "
        "mark, the more often the better candidate is chosen at distance 1. Bars are 95% clustered "
        "intervals.",
        (
            Panel(
                "points",
                Axis("dark current (share of calls on nothing)", SHARE),
                Axis("stable cross-sensitivity (share of pairs)", SHARE),
                tuple(series),
            ),
        ),
        ("judge", *named("dark current"), *named("stable"), *named("sensitivity at 1")),
        tuple(rows),
    )


def _psychometric(sheet: Datasheet) -> Found:
    head = Head("psychometric", "2", "Psychometric curves")
    rows: list[tuple[Value, ...]] = []
    panels, said = [], []
    suites = sorted({estimate.suite for estimate in _by_distance(sheet.judges)})
    reach = {suite: max(map(_distance, _by_distance(sheet.judges, suite))) for suite in suites}
    for suite in sorted(suites, key=lambda suite: -reach[suite]):
        series: list[Series] = []
        for style, judge in enumerate(sheet.judges):
            points = [e for e in _by_distance([judge], suite) if e.value is not None]
            if not points:
                continue
            who = name_of(judge)
            marks = [
                Mark(_distance(e), e.value or 0.0, along=ends_of(e.interval))
                for e in sorted(points, key=_distance)
            ]
            series.append(Series(who, tuple(marks), style, joined=True))
            rows += [
                (who, suite, _distance(e), e.value, *(ends_of(e.interval) or (None, None)), e.n)
                for e in sorted(points, key=_distance)
            ]
            threshold = find(judge, suite, "detection_threshold")
            if threshold is not None:
                side = {"left-censored": "left", "right-censored": "right"}
                shape = next((side[flag] for flag in threshold.flags if flag in side), "at")
                mark = Mark(threshold.value, _THRESHOLD, shape=shape)
                series.append(Series("", (mark,), style))
                text = numbers.value(threshold)
                said.append((suite, who, text))
                rows.append((who, suite, "75% threshold", text, None, None, threshold.n))
        if series:
            panels.append(
                Panel(
                    "points",
                    Axis("distance (elements of quality)"),
                    Axis("better candidate chosen (share of calls)", SHARE),
                    tuple(series),
                    suite,
                    (("y", _THRESHOLD),),
                )
            )
    if not panels:
        return Absent(head, "It needs a ladder: --judge-suite ladder.")
    finding = "No judge's detection threshold could be estimated"
    if said:
        first = [f"{who} {text}" for suite, who, text in said if suite == said[0][0]]
        finding = f"Distance found three times of four on {said[0][0]}: {', '.join(first)}"
    return Figure(
        head,
        finding,
        "How often the better candidate is chosen, by how much better it is. Bars are 95% Wilson "
        "intervals. Large open marks on the line are thresholds; one that points left or right is "
        "censored: the truth lies at or below, or above, what was run.",
        tuple(panels),
        ("judge", "suite", "distance", "sensitivity", "lower", "upper", "n"),
        tuple(rows),
    )


def _by_distance(judges: Iterable[JudgeSheet], suite: str | None = None) -> Iterator[Estimate]:
    for estimate in (estimate for judge in judges for estimate in judge.estimates):
        at_one = estimate.measure == "target_sensitivity" and {*estimate.condition} == {"distance"}
        if at_one and suite in (None, estimate.suite):
            yield estimate


def _distance(estimate: Estimate) -> float:
    return float(estimate.condition["distance"])


def _decomposition(sheet: Datasheet) -> Found:
    head = Head("decomposition", "3", "Same-quality decomposition")
    suite = suite_of(sheet, "positional_false_preference")
    judges = [
        judge
        for judge in sheet.judges
        if all(find(judge, suite, term) is not None for term in _TERMS)
    ]
    if not judges:
        reason = "It needs same-quality pairs in both orders: --judge-suite ladder."
        return Absent(head, reason)
    rows = tuple(
        (
            name_of(judge),
            *(find(judge, suite, term).value for term in _TERMS),
            find(judge, suite, "no_preference").n,
        )
        for judge in judges
    )
    series = tuple(
        Series(
            label,
            tuple(Mark(max(find(j, suite, term).value, 0.0), i) for i, j in enumerate(judges)),
            style,
        )
        for style, (term, label) in enumerate(_TERMS.items())
    )
    most = max(judges, key=lambda j: find(j, suite, "positional_false_preference").value)
    rate = find(most, suite, "positional_false_preference").value
    finding = (
        f"{name_of(most)} prefers the same slot in both orders in {percent(rate)} of equal pairs"
        if rate > 0
        else "No judge prefers the same slot in both orders of equal pairs"
    )
    return Figure(
        head,
        finding,
        f"Canonical pairs of the same quality on {suite}, by what was chosen in both orders. Only "
        "a tie in both orders is right.",
        (
            Panel(
                "bars",
                Axis("share of canonical pairs", (0.0, 1.0)),
                Axis("", ticks=tuple(name_of(judge) for judge in judges)),
                series,
            ),
        ),
        ("judge", *(label.partition(":")[0] for label in _TERMS.values()), "n"),
        rows,
    )


def _criterion(sheet: Datasheet) -> Found:
    head = Head("criterion", "4", "Criterion tradeoff")
    suite = suite_of(sheet, "raw_false_preference", arm="strict")
    series, rows, said = [], [], []
    for style, judge in enumerate(sheet.judges):
        marks = []
        for arm in ("baseline", "strict"):
            false = find(judge, suite, "raw_false_preference", arm=arm)
            near = find(judge, suite, "target_sensitivity", arm=arm, distance=1)
            if false is None or near is None:
                break
            ends = ends_of(false.clustered), ends_of(near.clustered)
            marks.append(Mark(false.value, near.value, *ends, label=arm))
            rows.append((name_of(judge), arm, *cells(false), *cells(near)))
        if len(marks) == 2:
            series.append(Series(name_of(judge), tuple(marks), style, joined=True))
            said.append((marks[1].x - marks[0].x, marks[1].y - marks[0].y, name_of(judge), marks))
    if not series:
        reason = "It needs a suite with a baseline and a strict prompt: --judge-suite criterion."
        return Absent(head, reason)
    moved = max(said, key=lambda one: abs(one[0]) + abs(one[1]))
    before, after = moved[3]
    finding = (
        f"The strict prompt takes {moved[2]} from {percent(before.x)} to {percent(after.x)} false "
        f"preference, and from {percent(before.y)} to {percent(after.y)} sensitivity"
        if moved[0] or moved[1]
        else "The strict prompt changes no judge"
    )
    return Figure(
        head,
        finding,
        f"From the baseline to the strict prompt on {suite}. A move to the left costs nothing only "
        "if it is not a move down. Bars are 95% clustered intervals.",
        (
            Panel(
                "points",
                Axis("raw false preference (share of calls)", SHARE),
                Axis("sensitivity at distance 1 (share of calls)", SHARE),
                tuple(series),
            ),
        ),
        ("judge", "prompt", *named("false preference"), *named("sensitivity")),
        tuple(rows),
    )


def _position(sheet: Datasheet) -> Found:
    head = Head("position", "5", "Positional against stable")
    suite = suite_of(sheet, "positional_false_preference")
    series, rows, said = [], [], []
    for style, judge in enumerate(sheet.judges):
        stable = find(judge, suite, "stable_cross_sensitivity")
        place = find(judge, suite, "positional_false_preference")
        if stable is None or place is None:
            continue
        ends = ends_of(stable.clustered), ends_of(place.clustered)
        mark = Mark(stable.value, place.value, *ends, label=name_of(judge))
        series.append(Series("", (mark,), style))
        rows.append((name_of(judge), *cells(stable), *cells(place)))
        said.append((place.value - stable.value, name_of(judge), place.value, stable.value))
    if not series:
        reason = "It needs same-quality pairs in both orders: --judge-suite ladder."
        return Absent(head, reason)
    above = [who for gap, who, *_ in said if gap > 0]
    gap, who, place, stable = max(said)
    finding = (
        f"Position outweighs content for {' and '.join(above)}: {who} {percent(place)} against "
        f"{percent(stable)}"
        if gap > 0
        else "Position outweighs content for no judge"
    )
    return Figure(
        head,
        finding,
        f"Of the same-quality pairs on {suite}: what the place in the prompt decides, against what "
        "the content decides. Above the line, place decides more.",
        (
            Panel(
                "points",
                Axis("stable: the same content (share of pairs)", SHARE),
                Axis("positional: the same slot (share of pairs)", SHARE),
                tuple(series),
                lines=(("diagonal", 1.0),),
            ),
        ),
        ("judge", *named("stable"), *named("positional")),
        tuple(rows),
    )


def _wording(sheet: Datasheet) -> Found:
    head = Head("wording", "6", "JSS by judge and task")
    suites = sorted({e.suite for j in sheet.judges for e in j.estimates if e.measure == "jss"})
    known = {
        (who, where): estimate
        for who, judge in enumerate(sheet.judges)
        for where, suite in enumerate(suites)
        if (estimate := find(judge, suite, "jss")) is not None
    }
    if not known:
        reason = "It needs a suite of several wordings: --judge-suite coherence."
        return Absent(head, reason)
    names = [name_of(judge) for judge in sheet.judges]
    rows = tuple(
        (names[who], suites[where], *cells(e), "; ".join(e.flags))
        for (who, where), e in known.items()
    )
    step = 0.7 / len(names)
    series = tuple(
        Series(
            names[who],
            tuple(
                Mark(
                    e.value,
                    where + step * (who - (len(names) - 1) / 2),
                    across=ends_of(e.clustered),
                )
                for (one, where), e in known.items()
                if one == who
            ),
            who,
        )
        for who in range(len(names))
        if any(one == who for one, _ in known)
    )
    heat = Series(
        "",
        tuple(
            Mark(where, who, size=e.value, label=shown(e.value))
            for (who, where), e in known.items()
        ),
    )
    (who, where), least = min(known.items(), key=lambda one: (one[1].value, one[0]))
    finding = f"The least stable under rewording is {names[who]} on {suites[where]}: "
    finding += f"{percent(least.value)} of verdicts stay"
    if least.value == 1:
        finding = "No verdict changes under another wording of the prompt"
    return Figure(
        head,
        finding,
        "JSS: the share of pairs of wordings under which the verdict is the same. Bars are 95% "
        "clustered intervals, their units are items.",
        (
            Panel(
                "points",
                Axis("JSS (share of template pairs)", SHARE),
                Axis("", ticks=tuple(suites)),
                series,
                "by task",
            ),
            Panel(
                "heat",
                Axis("task", ticks=tuple(suites)),
                Axis("judge", ticks=tuple(names)),
                (heat,),
                "judge by task",
            ),
        ),
        ("judge", "task", *named("JSS"), "flags"),
        rows,
    )
