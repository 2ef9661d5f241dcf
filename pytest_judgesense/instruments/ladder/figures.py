"""Figures of judges as instruments: on nothing, graded differences, equal pairs, the criterion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Final

from pytest_judgesense.datasheets import figures as fig
from pytest_judgesense.datasheets.datasheet import Datasheet, JudgeSheet
from pytest_judgesense.estimate import Estimate, number_text
from pytest_judgesense.instruments.vacuum.measures import DARK_CURRENT
from pytest_judgesense.text.shown_change import ShownChange, farthest

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
_STRICT: Final = ", strict"
_NO_PAIRS: Final = "It needs same-quality pairs in both orders: --judge-suite ladder."


def _metrology(sheet: Datasheet) -> fig.Found:
    """Dark current beside the false preferences between equal texts."""
    head = fig.Head("metrology", "1", "Metrology map")
    dark_suite = fig.suite_of(sheet, DARK_CURRENT.name)
    ladder = fig.suite_of(sheet, "stable_cross_sensitivity")
    near_suite = fig.suite_of(sheet, "target_sensitivity", distance=1)
    near = [fig.find(judge, near_suite, "target_sensitivity", distance=1) for judge in sheet.judges]
    measures = (dark_suite, DARK_CURRENT.name), (ladder, "stable_cross_sensitivity")
    marks = [(*mark, near[mark[0]]) for mark in _marks(sheet, *measures)]
    if not marks:
        return fig.Absent(
            head,
            "It needs a judge that was measured on a vacuum suite and on a ladder: "
            "--judge-suite vacuum --judge-suite ladder.",
        )

    def draw(axes: Any) -> None:
        fig.shares(axes)
        for number, who, dark, stable, near in marks:
            size = None if near is None else near.value
            _mark(axes, number, dark, stable, who, size=size, **_looks(who))
        fig.labels(
            axes,
            "dark current (share of calls on nothing)",
            "stable cross-sensitivity (share of pairs)",
        )

    _, worst, most, equals, _ = max(marks, key=lambda mark: mark[2].value)
    _, best, least, *_ = min(marks, key=lambda mark: (mark[1].endswith(fig.MARK), mark[2].value))
    finding = f"{worst} names a winner in {fig.percent(most.value)} of calls with nothing to judge"
    if len(marks) > 1:
        finding += f", {best} in {fig.percent(least.value)}"
    else:
        finding += f" and prefers one content in {fig.percent(equals.value)} of equal pairs"
    return fig.Figure(
        head,
        finding,
        "A judge that reports nothing where there is nothing is at the lower left. The larger the "
        "mark, the more often the better candidate is chosen at distance 1. Bars are 95% clustered "
        "intervals.",
        (fig.Panel(draw),),
        ("judge", *fig.named("dark current"), *fig.named("stable"), *fig.named("sensitivity at 1")),
        tuple(
            (who, *fig.cells(dark), *fig.cells(stable), *fig.cells(near))
            for _, who, dark, stable, near in marks
        ),
    )


def _marks(
    sheet: Datasheet, x: tuple[str | None, str], y: tuple[str | None, str]
) -> list[tuple[int, str, Any, Any]]:
    """Number and name of each judge with estimates of ``x`` and ``y``, by suite and measure."""
    return [
        (number, fig.name_of(judge, x[0], y[0]), *estimates)
        for number, judge in enumerate(sheet.judges)
        if None not in (estimates := (fig.find(judge, *x), fig.find(judge, *y)))
    ]


def _looks(who: str) -> dict[str, Any]:
    """A judge that gives one answer to everything is drawn hollow."""
    return {"fillstyle": "none"} if who.endswith(fig.MARK) else {}


def _mark(
    axes: Any, number: int, x: Any, y: Any, words: str, *, below: bool = False, **style: Any
) -> None:
    """A mark at two estimates, with the clustered intervals of both, and text beside it."""
    across, along = fig.ends_of(x.clustered), fig.ends_of(y.clustered)
    fig.point(axes, number, x.value, y.value, across=across, along=along, **style)
    fig.beside(axes, number, x.value, y.value, words, below=below)


def ladder_figures(sheet: Datasheet) -> Iterator[fig.Found]:
    """The figures of graded differences, and of pairs without a difference."""
    yield _metrology(sheet)
    yield _psychometric(sheet)
    yield _decomposition(sheet)
    yield _criterion(sheet)
    yield _position(sheet)


def _psychometric(sheet: Datasheet) -> fig.Found:
    head = fig.Head("psychometric", "2", "Psychometric curves")
    rows: list[tuple[fig.Value, ...]] = []
    panels, thresholds = [], []
    suites = {estimate.suite for estimate in _by_distance(sheet.judges)}
    reach = {suite: max(map(_distance, _by_distance(sheet.judges, suite))) for suite in suites}
    for suite in sorted(suites, key=lambda suite: (-reach[suite], suite)):
        curves = []
        for number, judge in enumerate(sheet.judges):
            measured = (e for e in _by_distance([judge], suite) if e.value is not None)
            if not (points := sorted(measured, key=_distance)):
                continue
            threshold = fig.find(judge, suite, "detection_threshold")
            who = fig.name_of(judge, suite)
            curves.append((number, who, points, threshold))
            rows += [
                (who, suite, _distance(e), e.value, *(fig.ends_of(e.interval) or (None, None)), e.n)
                for e in points
            ]
            if threshold is not None:
                text = number_text(threshold.value, threshold.flags)
                thresholds.append((suite, who, text))
                rows.append((who, suite, "75% threshold", text, None, None, threshold.n))
        if curves:
            panels.append(fig.Panel(partial(_draw_curves, curves=curves, suite=suite)))
    if not panels:
        return fig.Absent(head, "It needs a ladder: --judge-suite ladder.")
    finding = "No judge's detection threshold could be estimated"
    if thresholds:
        first = thresholds[0][0]
        texts = [f"{who} {text}" for suite, who, text in thresholds if suite == first]
        finding = f"Distance detected three times out of four on {first}: {', '.join(texts)}"
    return fig.Figure(
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
    fig.shares(axes, "y")
    fig.dotted(axes, y=_THRESHOLD)
    open_mark: dict[str, Any] = {"markersize": 11, "markerfacecolor": "none", "zorder": 4}
    for number, who, points, threshold in curves:
        xs, ys = [_distance(e) for e in points], [e.value or 0.0 for e in points]
        fig.curve(axes, number, xs, ys, who)
        for x, y, e in zip(xs, ys, points, strict=True):
            fig.point(axes, number, x, y, along=fig.ends_of(e.interval))
        if threshold is not None:
            shape = next((_CENSORED[flag] for flag in threshold.flags if flag in _CENSORED), "d")
            fig.point(axes, number, threshold.value, _THRESHOLD, marker=shape, **open_mark)
    y_label = "better candidate chosen (share of calls)"
    fig.labels(axes, "distance (elements of quality)", y_label, suite)


def _by_distance(judges: Iterable[JudgeSheet], suite: str | None = None) -> Iterator[Estimate]:
    for estimate in (estimate for judge in judges for estimate in judge.estimates):
        at_one = estimate.measure == "target_sensitivity" and {*estimate.condition} == {"distance"}
        if at_one and suite in (None, estimate.suite):
            yield estimate


def _distance(estimate: Estimate) -> float:
    return float(estimate.condition["distance"])


def _decomposition(sheet: Datasheet) -> fig.Found:
    head = fig.Head("decomposition", "3", "Same-quality decomposition")
    suite = fig.suite_of(sheet, "positional_false_preference")
    terms_of: dict[str, list[Any]] = {}
    # The paper's Figure 3 has a bar for the strict criterion below that of the baseline prompt.
    strict = fig.suite_of(sheet, "positional_false_preference", arm="strict")
    bars: list[tuple[str, str | None, dict[str, str]]] = [
        ("", suite, {}) if suite else ("", strict, {"arm": "baseline"}),
        (_STRICT, strict, {"arm": "strict"}),
    ]
    for judge in sheet.judges:
        for name, condition, of_arm in bars:
            terms = [fig.find(judge, condition, term, **of_arm) for term in _TERMS]
            if all(terms):
                terms_of[fig.name_of(judge, condition) + name] = terms
    if not terms_of:
        return fig.Absent(head, _NO_PAIRS)
    pieces = [
        (label, [max(terms[place].value, 0.0) for terms in terms_of.values()])
        for place, label in enumerate(_TERMS.values())
    ]

    def draw(axes: Any) -> None:
        fig.bars(axes, list(terms_of), pieces)
        fig.labels(axes, "share of canonical pairs", "")

    shown = {who: terms for who, terms in terms_of.items() if not who.endswith(_STRICT)} or terms_of
    rates = {who: terms[1].value for who, terms in shown.items()}
    most = max(rates, key=rates.__getitem__)
    return fig.Figure(
        head,
        f"{most} prefers the same slot in both orders in {fig.percent(rates[most])} of equal pairs"
        if rates[most] > 0
        else "No judge preferred the same slot in both orders of any equal pair",
        f"Canonical pairs of the same quality on {suite or strict}, by what was chosen in both "
        "orders. Only a tie in both orders is right."
        + f" Bars called strict show the strict prompt on {strict}."
        * bool(strict),
        (fig.Panel(draw, fig.height_of_rows(len(terms_of))),),
        ("judge", *(label.partition(":")[0] for label in _TERMS.values()), "n"),
        tuple(
            (who, *(term.value for term in terms), terms[-1].n) for who, terms in terms_of.items()
        ),
    )


def _criterion(sheet: Datasheet) -> fig.Found:
    head = fig.Head("criterion", "4", "Criterion tradeoff")
    suite = fig.suite_of(sheet, "raw_false_preference", arm="strict")
    rows, moves = [], []
    for number, judge in enumerate(sheet.judges):
        arms = {
            arm: (
                fig.find(judge, suite, "raw_false_preference", arm=arm),
                fig.find(judge, suite, "target_sensitivity", arm=arm, distance=1),
            )
            for arm in ("baseline", "strict")
        }
        who = fig.name_of(judge, suite)
        for arm, (false, near) in arms.items():
            if false is None or near is None:
                break
            rows.append((who, arm, *fig.cells(false), *fig.cells(near)))
        else:
            moves.append((number, who, arms))
    if not moves:
        reason = "It needs a suite with a baseline and a strict prompt: --judge-suite criterion."
        return fig.Absent(head, reason)

    def draw(axes: Any) -> None:
        fig.shares(axes)
        for number, who, arms in moves:
            xs, ys = ([e.value for e in along] for along in zip(*arms.values(), strict=True))
            fig.curve(axes, number, xs, ys, who)
            _mark(axes, number, *arms["baseline"], "baseline", fillstyle="none")
            _mark(axes, number, *arms["strict"], "strict", fillstyle="full", below=True)
        x, y = "raw false preference", "sensitivity at distance 1"
        fig.labels(axes, f"{x} (share of calls)", f"{y} (share of calls)")

    changes = [
        (ShownChange.between(before, now), (who, what))
        for _, who, arms in moves
        for what, before, now in zip(
            ("false preference", "sensitivity"), arms["baseline"], arms["strict"], strict=True
        )
    ]
    return fig.Figure(
        head,
        _of_criterion(*farthest(changes)),
        f"From the baseline to the strict prompt on {suite}. A move to the left is free only "
        "if it is not also a move down. Bars are 95% clustered intervals.",
        (fig.Panel(draw),),
        ("judge", "prompt", *fig.named("false preference"), *fig.named("sensitivity")),
        tuple(rows),
    )


def _of_criterion(change: ShownChange, place: tuple[str, str]) -> str:
    """What the strict prompt does to one of the two rates of a judge."""
    who, rate = place
    return change.sentence(
        above=f"The strict prompt raises the {rate} of {who}",
        below=f"The strict prompt lowers the {rate} of {who}",
        neither="The strict prompt does not visibly change a judge; farthest apart is the "
        f"{rate} of {who}",
    )


def _position(sheet: Datasheet) -> fig.Found:
    head = fig.Head("position", "5", "Positional against stable")
    suite = fig.suite_of(sheet, "positional_false_preference")
    measures = (suite, "stable_cross_sensitivity"), (suite, "positional_false_preference")
    marks = _marks(sheet, *measures)
    if not marks:
        return fig.Absent(head, _NO_PAIRS)

    def draw(axes: Any) -> None:
        fig.shares(axes)
        fig.dotted(axes)
        for number, who, stable, place in marks:
            _mark(axes, number, stable, place, who, **_looks(who))
        x, y = "stable: the same content", "positional: the same slot"
        fig.labels(axes, f"{x} (share of pairs)", f"{y} (share of pairs)")

    gaps = [(ShownChange.between(stable, place), who) for _, who, stable, place in marks]
    gap, who = max(gaps, key=lambda of_judge: (of_judge[0].direction, of_judge[0].value))
    return fig.Figure(
        head,
        gap.sentence(
            above=f"Position outweighs content for {who}",
            below="Content outweighs position for every judge, least for " + who,
            neither=f"Position does not visibly outweigh content for any judge; nearest is {who}",
        ),
        f"Same-quality pairs on {suite}: the share that position decides against the share that "
        "content decides. Above the line, position decides more.",
        (fig.Panel(draw),),
        ("judge", *fig.named("stable"), *fig.named("positional")),
        tuple((who, *fig.cells(stable), *fig.cells(place)) for _, who, stable, place in marks),
    )
