"""Figures of judges as instruments: on nothing, graded differences, equal pairs, the criterion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Final

from pytest_judgesense.datasheet import Datasheet, JudgeSheet
from pytest_judgesense.estimate import Estimate, number_text
from pytest_judgesense.figures import (
    Absent,
    Figure,
    Found,
    Head,
    Panel,
    Value,
    bars,
    beside,
    cells,
    curve,
    dotted,
    ends_of,
    find,
    height_of_rows,
    labels,
    name_of,
    named,
    percent,
    point,
    shares,
    suite_of,
)

_THRESHOLD: Final = 0.75
_CENSORED: Final = {"left-censored": "<", "right-censored": ">"}
# Same-quality pairs by their explanation, in the order of stacking.
_TERMS: Final = {
    "stable_cross_sensitivity": "stable: the same content",
    "positional_false_preference": "positional: the same slot",
    "one_sided_commit": "one-sided: in one order only",
    "other_conflict": "other conflict",
    "no_preference": "none: a tie in both orders",
}
_NO_PAIRS: Final = "It needs same-quality pairs in both orders: --judge-suite ladder."


def vacuum_figures(sheet: Datasheet) -> Iterator[Found]:
    """The metrology map: dark current beside the false preferences between equal texts."""
    head = Head("metrology", "1", "Metrology map")
    dark_suite = suite_of(sheet, "dark_current")
    ladder = suite_of(sheet, "stable_cross_sensitivity")
    near_suite = suite_of(sheet, "target_sensitivity", distance=1)
    marks = [
        (
            number,
            name_of(judge),
            dark,
            stable,
            find(judge, near_suite, "target_sensitivity", distance=1),
        )
        for number, judge in enumerate(sheet.judges)
        if (dark := find(judge, dark_suite, "dark_current")) is not None
        and (stable := find(judge, ladder, "stable_cross_sensitivity")) is not None
    ]
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
            _mark(axes, number, dark, stable, who, size=None if near is None else near.value)
        labels(
            axes,
            "dark current (share of calls on nothing)",
            "stable cross-sensitivity (share of pairs)",
        )

    _, worst, most, equals, _ = max(marks, key=lambda one: one[2].value)
    _, best, least, *_ = min(marks, key=lambda one: one[2].value)
    finding = f"{worst} names a winner in {percent(most.value)} of calls with nothing to judge"
    if len(marks) > 1:
        finding += f", {best} in {percent(least.value)}"
    else:
        finding += f" and prefers one content in {percent(equals.value)} of equal pairs"
    yield Figure(
        head,
        finding,
        "A judge that reports nothing where there is nothing is at the lower left. The larger the "
        "mark, the more often the better candidate is chosen at distance 1. Bars are 95% clustered "
        "intervals.",
        (Panel(draw),),
        ("judge", *named("dark current"), *named("stable"), *named("sensitivity at 1")),
        tuple(
            (who, *cells(dark), *cells(stable), *cells(near))
            for _, who, dark, stable, near in marks
        ),
    )


def _mark(
    axes: Any, number: int, x: Any, y: Any, words: str, *, below: bool = False, **style: Any
) -> None:
    """A mark at two estimates, with the clustered intervals of both, and text beside it."""
    across, along = ends_of(x.clustered), ends_of(y.clustered)
    point(axes, number, x.value, y.value, across=across, along=along, **style)
    beside(axes, number, x.value, y.value, words, below=below)


def ladder_figures(sheet: Datasheet) -> Iterator[Found]:
    """The figures of graded differences, and of pairs without a difference."""
    yield _psychometric(sheet)
    yield _decomposition(sheet)
    yield _criterion(sheet)
    yield _position(sheet)


def _psychometric(sheet: Datasheet) -> Found:
    head = Head("psychometric", "2", "Psychometric curves")
    rows: list[tuple[Value, ...]] = []
    panels, thresholds = [], []
    suites = {estimate.suite for estimate in _by_distance(sheet.judges)}
    reach = {suite: max(map(_distance, _by_distance(sheet.judges, suite))) for suite in suites}
    for suite in sorted(suites, key=lambda suite: (-reach[suite], suite)):
        curves = []
        for number, judge in enumerate(sheet.judges):
            measured = (e for e in _by_distance([judge], suite) if e.value is not None)
            if not (points := sorted(measured, key=_distance)):
                continue
            threshold = find(judge, suite, "detection_threshold")
            who = name_of(judge)
            curves.append((number, who, points, threshold))
            rows += [
                (who, suite, _distance(e), e.value, *(ends_of(e.interval) or (None, None)), e.n)
                for e in points
            ]
            if threshold is not None:
                text = number_text(threshold.value, threshold.flags)
                thresholds.append((suite, who, text))
                rows.append((who, suite, "75% threshold", text, None, None, threshold.n))
        if curves:
            panels.append(Panel(partial(_draw_curves, curves=curves, suite=suite)))
    if not panels:
        return Absent(head, "It needs a ladder: --judge-suite ladder.")
    finding = "No judge's detection threshold could be estimated"
    if thresholds:
        first = thresholds[0][0]
        found = [f"{who} {text}" for suite, who, text in thresholds if suite == first]
        finding = f"Distance detected three times out of four on {first}: {', '.join(found)}"
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


def _draw_curves(
    axes: Any, curves: Iterable[tuple[int, str, list[Estimate], Any]], suite: str
) -> None:
    shares(axes, "y")
    dotted(axes, y=_THRESHOLD)
    for number, who, points, threshold in curves:
        curve(axes, number, [_distance(e) for e in points], [e.value or 0.0 for e in points], who)
        for e in points:
            point(axes, number, _distance(e), e.value or 0.0, along=ends_of(e.interval))
        if threshold is not None:
            shape = next((_CENSORED[flag] for flag in threshold.flags if flag in _CENSORED), "d")
            x, y = threshold.value, _THRESHOLD
            point(axes, number, x, y, marker=shape, markersize=11, markerfacecolor="none", zorder=4)
    labels(
        axes, "distance (elements of quality)", "better candidate chosen (share of calls)", suite
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
    found = {
        name_of(judge): terms
        for judge in sheet.judges
        if all(terms := [find(judge, suite, term) for term in _TERMS])
    }
    if not found:
        return Absent(head, _NO_PAIRS)
    pieces = [
        (label, [max(terms[place].value, 0.0) for terms in found.values()])
        for place, label in enumerate(_TERMS.values())
    ]

    def draw(axes: Any) -> None:
        bars(axes, list(found), pieces)
        labels(axes, "share of canonical pairs", "")

    rates = {who: terms[1].value for who, terms in found.items()}
    most = max(rates, key=lambda who: rates[who])
    return Figure(
        head,
        f"{most} prefers the same slot in both orders in {percent(rates[most])} of equal pairs"
        if rates[most] > 0
        else "No judge prefers the same slot in both orders of equal pairs",
        f"Canonical pairs of the same quality on {suite}, by what was chosen in both orders. Only "
        "a tie in both orders is right.",
        (Panel(draw, height_of_rows(len(found))),),
        ("judge", *(label.partition(":")[0] for label in _TERMS.values()), "n"),
        tuple((who, *(term.value for term in terms), terms[-1].n) for who, terms in found.items()),
    )


def _criterion(sheet: Datasheet) -> Found:
    head = Head("criterion", "4", "Criterion tradeoff")
    suite = suite_of(sheet, "raw_false_preference", arm="strict")
    rows, moves = [], []
    for number, judge in enumerate(sheet.judges):
        arms = {
            arm: (
                find(judge, suite, "raw_false_preference", arm=arm),
                find(judge, suite, "target_sensitivity", arm=arm, distance=1),
            )
            for arm in ("baseline", "strict")
        }
        who = name_of(judge)
        for arm, (false, near) in arms.items():
            if false is None or near is None:
                break
            rows.append((who, arm, *cells(false), *cells(near)))
        else:
            moves.append((number, who, arms))
    if not moves:
        reason = "It needs a suite with a baseline and a strict prompt: --judge-suite criterion."
        return Absent(head, reason)

    def draw(axes: Any) -> None:
        shares(axes)
        for number, who, arms in moves:
            xs, ys = ([e.value for e in along] for along in zip(*arms.values(), strict=True))
            curve(axes, number, xs, ys, who)
            _mark(axes, number, *arms["baseline"], "baseline", fillstyle="none")
            _mark(axes, number, *arms["strict"], "strict", fillstyle="full", below=True)
        x, y = "raw false preference", "sensitivity at distance 1"
        labels(axes, f"{x} (share of calls)", f"{y} (share of calls)")

    def moved(arms: dict[str, tuple[Any, Any]]) -> float:
        pairs = zip(arms["baseline"], arms["strict"], strict=True)
        return float(sum(abs(now.value - then.value) for then, now in pairs))

    _, who, arms = max(moves, key=lambda one: moved(one[2]))
    (false, near), (less, then) = arms["baseline"], arms["strict"]
    return Figure(
        head,
        f"The strict prompt takes {who} from {percent(false.value)} to {percent(less.value)} false "
        f"preference, and from {percent(near.value)} to {percent(then.value)} sensitivity"
        if moved(arms)
        else "The strict prompt changes no judge",
        f"From the baseline to the strict prompt on {suite}. A move to the left is free only "
        "if it is not also a move down. Bars are 95% clustered intervals.",
        (Panel(draw),),
        ("judge", "prompt", *named("false preference"), *named("sensitivity")),
        tuple(rows),
    )


def _position(sheet: Datasheet) -> Found:
    head = Head("position", "5", "Positional against stable")
    suite = suite_of(sheet, "positional_false_preference")
    known = [
        (number, name_of(judge), stable, place)
        for number, judge in enumerate(sheet.judges)
        if (stable := find(judge, suite, "stable_cross_sensitivity")) is not None
        and (place := find(judge, suite, "positional_false_preference")) is not None
    ]
    if not known:
        return Absent(head, _NO_PAIRS)

    def draw(axes: Any) -> None:
        shares(axes)
        dotted(axes)
        for number, who, stable, place in known:
            _mark(axes, number, stable, place, who)
        x, y = "stable: the same content", "positional: the same slot"
        labels(axes, f"{x} (share of pairs)", f"{y} (share of pairs)")

    gaps = [(place.value - stable.value, who, stable, place) for _, who, stable, place in known]
    above = [who for gap, who, *_ in gaps if gap > 0]
    _, who, stable, place = max(gaps, key=lambda one: one[:2])
    finding = "Position outweighs content for no judge"
    if above:
        finding = f"Position outweighs content for {' and '.join(above)}: {who} "
        finding += f"{percent(place.value)} against {percent(stable.value)}"
    return Figure(
        head,
        finding,
        f"Same-quality pairs on {suite}: the share that position decides against the share that "
        "content decides. Above the line, position decides more.",
        (Panel(draw),),
        ("judge", *named("stable"), *named("positional")),
        tuple((who, *cells(stable), *cells(place)) for _, who, stable, place in known),
    )
