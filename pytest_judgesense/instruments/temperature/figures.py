"""Figures of a sweep over the temperature, drawn from its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from pytest_judgesense.datasheet import Datasheet
from pytest_judgesense.errors import printable
from pytest_judgesense.figures import (
    Absent,
    Ends,
    Figure,
    Found,
    Head,
    Panel,
    curve,
    dotted,
    heat,
    height_of_rows,
    labels,
    percent,
    point,
    shares,
    shown,
    swarm,
    ticks,
)
from pytest_judgesense.sections import Row, Rows, tables_named

_MOST_EFFECTS: Final = 24
_OUTCOMES: Final = ("agreement", "consistency", "error_rate")
# What the rows of `temperature_table` are distinguished by, beside the temperature.
_CELL: Final = ("judge_type", "prompt_style", "model", "gold")
_NO_TEMPERATURES: Final = 'It needs a suite of several temperatures (kind = "temperature").'
_NO_EFFECTS: Final = (
    "It needs a suite of several temperatures, and: pip install 'pytest-judgesense[causal]'."
)


def _words(*parts: object) -> str:
    return ", ".join(printable(str(part)) for part in parts if part not in (None, "", "all"))


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def by_temperature(sheet: Datasheet) -> Iterator[Found]:
    """Agreement, consistency and errors by temperature."""
    head = Head("temperature", "7a", "Agreement, consistency and errors by temperature")
    found: dict[str, dict[float, Row]] = {}
    rows: list[tuple[Any, ...]] = []
    tables = tables_named(sheet, "temperature_table")
    several = len({suite for _, suite, _ in tables}) > 1
    for judge, suite, row in _rows_of(tables):
        known = [row.get(key) for key in _CELL]
        # A margin over temperatures, over prompts or over types is left out.
        if not isinstance(row.get("temperature"), int | float) or {None, "all"} & {*known[:2]}:
            continue
        at = float(row["temperature"])
        who = _words(judge, suite if several else "", *known) or suite
        found.setdefault(who, {})[at] = row
        means = [_mean(row, name) for name in _OUTCOMES]
        rows.append((judge, suite, *known, at, *means, row.get("n")))
    if not found:
        yield Absent(head, _NO_TEMPERATURES)
        return
    curves = {
        name: {
            who: points
            for who, by in found.items()
            if (points := [(at, m) for at in sorted(by) if (m := _mean(by[at], name)) is not None])
        }
        for name in _OUTCOMES
    }
    finding = "Agreement could not be measured at both ends of the temperatures"
    falls = [
        (after - before, who, low, before, high, after)
        for who, by in found.items()
        for low, high in [(min(by), max(by))]
        if (before := _mean(by[low], "agreement")) is not None
        and (after := _mean(by[high], "agreement")) is not None
    ]
    if falls:
        _, who, low, before, high, after = min(falls, key=lambda one: one[:2])
        finding = (
            f"Agreement of {who} goes from {percent(before)} at {low:g} to {percent(after)} at "
            f"{high:g}"
        )
    numbers = {who: number for number, who in enumerate(found)}
    yield Figure(
        head,
        finding,
        "Agreement with the gold label, consistency of replicates, and replies without a usable "
        "verdict, by the temperature that was asked for.",
        tuple(
            Panel(partial(_draw_curves, name=name, of=of, numbers=numbers))
            for name, of in curves.items()
            if of
        ),
        ("judge", "suite", *_CELL, "temperature", *_OUTCOMES, "n"),
        tuple(rows),
    )


def _mean(row: Row, outcome: str) -> float | None:
    return _number(row.get(f"{outcome}_mean"))


def _rows_of(tables: Sequence[tuple[str, str, Rows]]) -> Iterator[tuple[str, str, Row]]:
    return ((judge, suite, row) for judge, suite, rows in tables for row in rows)


def _draw_curves(
    axes: Any,
    name: str,
    of: Mapping[str, Sequence[tuple[float, float]]],
    numbers: Mapping[str, int],
) -> None:
    shares(axes, "y")
    for who, points in of.items():
        curve(axes, numbers[who], [x for x, _ in points], [y for _, y in points], who)
    labels(axes, "temperature", f"{_plain(name)} (share)")


def correlations(sheet: Datasheet) -> Iterator[Found]:
    """Correlations of temperature and outcomes, a map a judge and level."""
    head = Head("correlations", "7b", "Correlations")
    names = ("temperature", *_OUTCOMES)
    maps: dict[str, dict[tuple[int, int], tuple[float, str]]] = {}
    rows, strengths = [], []
    for judge, suite, row in _rows_of(tables_named(sheet, "temperature_correlations")):
        x, y, r = row["x"], row["y"], _number(row.get("r"))
        ends = _words(judge), suite, row.get("level"), row.get("model"), x, y
        rows.append((*ends, r, row.get("n")))
        if r is None or not {x, y} <= {*names}:
            continue
        of = maps.setdefault(_words(judge, row.get("model"), row.get("level")), {})
        column, line = names.index(x), names.index(y)
        of[column, line] = of[line, column] = r, shown(r)
        if x != y:
            strengths.append((abs(r), x, y, r))
    if not maps:
        yield Absent(head, _NO_TEMPERATURES)
        return
    finding = "Nothing is correlated with the temperature"
    if strengths:
        _, x, y, r = max(strengths, key=lambda one: one[:3])
        finding = f"The strongest correlation is that of {x} and {y}: r {shown(r)}"
    axis = [_plain(name) for name in names]

    def draw(axes: Any, title: str) -> None:
        heat(axes, axis, axis, maps[title])
        labels(axes, "", "", title)

    height = height_of_rows(len(axis), names=axis)
    yield Figure(
        head,
        _plain(finding),
        "Pearson's r, from -1 to 1: over the means of cells, or over single rows.",
        tuple(Panel(partial(draw, title=title), height) for title in maps),
        ("judge", "suite", "level", "model", "x", "y", "r", "n"),
        tuple(rows),
    )


def effects(sheet: Datasheet) -> Iterator[Found]:
    """Effects of a high temperature, with their intervals."""
    head = Head("effects", "7c", "Effects of the temperature")
    columns = ("method", "outcome", "group", "level", "low", "high", "value", "lower", "upper", "n")
    rows, panels, overall = [], [], []
    for judge, suite, table in tables_named(sheet, "temperature_effects"):
        rows += [
            (judge, suite, *(row.get(key) for key in columns), row.get("unavailable"))
            for row in table
        ]
        for outcome in dict.fromkeys(row["outcome"] for row in table):
            some = [r for r in table if r["outcome"] == outcome and r.get("value") is not None]
            if len(some) > _MOST_EFFECTS:  # single pairs of temperatures are in the table
                some = [row for row in some if row["method"] != "pair"]
            if some:
                title = _words(judge, _plain(outcome))
                panels.append(_effects_panel(some, title, f"change of {_plain(outcome)}"))
            overall += [row for row in some if row["group"] == "overall"]
    if not panels:
        yield Absent(head, _NO_EFFECTS)
        return
    finding = "No effect over all could be estimated"
    if overall:
        row = min(overall, key=lambda row: (row["outcome"] != "agreement", row["method"] != "aipw"))
        ends = _ends(row)
        finding = f"A high temperature changes {row['outcome']} by {shown(float(row['value']))}"
        finding += f" [{shown(ends[0])}, {shown(ends[1])}]" if ends else ""
    yield Figure(
        head,
        _plain(finding),
        "Effects overall and by judge type, prompt and model, with 95% intervals clustered by "
        "question. An interval that holds 0 shows no effect.",
        tuple(panels),
        ("judge", "suite", *columns, "unavailable"),
        tuple(rows),
    )


def _effects_panel(rows: Rows, title: str, label: str) -> Panel:
    methods = list(dict.fromkeys(row["method"] for row in rows))
    names = [
        _words(_plain(row["group"]), row.get("level"), f"{row.get('low')} to {row.get('high')}")
        for row in rows
    ]

    def draw(axes: Any) -> None:
        axes.grid(visible=True, axis="x")
        axes.set_axisbelow(True)
        dotted(axes, x=0.0)
        for place, row in enumerate(rows):
            method, value = row["method"], float(row["value"])
            point(axes, methods.index(method), value, place, across=_ends(row), name=method)
        ticks(axes, "y", names)
        labels(axes, label, "", title)

    return Panel(draw, height_of_rows(len(names), max(0.42, 0.17 * len(methods))))


def _ends(row: Row) -> Ends:
    lower, upper = _number(row.get("lower")), _number(row.get("upper"))
    return None if lower is None or upper is None else (lower, upper)


def attributions(sheet: Datasheet) -> Iterator[Found]:
    """SHAP values of the features, a cloud each."""
    head = Head("attributions", "7d", "What predicts the outcome (SHAP)")
    rows = [
        (
            judge,
            suite,
            row["outcome"],
            row.get("feature"),  # an outcome that cannot be attributed has none
            *(_number(row.get(key)) for key in ("value", "se")),
            row.get("unavailable"),
        )
        for judge, suite, row in _rows_of(tables_named(sheet, "temperature_attributions"))
    ]
    panels = [
        _swarms_panel(
            [row for row in table if row["outcome"] == outcome], _words(judge, _plain(outcome))
        )
        for judge, _, table in tables_named(sheet, "temperature_attribution_points")
        for outcome in dict.fromkeys(row["outcome"] for row in table)
    ]
    if not panels:
        yield Absent(head, _NO_EFFECTS)
        return
    finding = "No feature moves the prediction"
    if known := [row for row in rows if row[4] is not None]:
        _, _, outcome, feature, value, *_ = max(known, key=lambda row: row[4] or 0.0)
        finding = f"{feature} moves the prediction of {outcome} most: {shown(value)} on average"
    yield Figure(
        head,
        _plain(finding),
        "Each point is a row of the data; the darker, the higher the value of the feature. The "
        "table holds mean absolute SHAP values.",
        tuple(panels),
        ("judge", "suite", "outcome", "feature", "mean |SHAP|", "se", "unavailable"),
        tuple(rows),
    )


def _swarms_panel(rows: Rows, title: str) -> Panel:
    features = list(dict.fromkeys(row["feature"] for row in rows))

    def draw(axes: Any) -> None:
        axes.grid(visible=True, axis="x")
        axes.set_axisbelow(True)
        dotted(axes, x=0.0)
        swarm(axes, swarm_of(rows))
        ticks(axes, "y", [_plain(name) for name in features])
        labels(axes, "SHAP value (change of the prediction)", "", title)

    return Panel(draw, height_of_rows(len(features), 0.42))


def swarm_of(rows: Rows) -> Iterator[tuple[float, float, float]]:
    """Place and depth of each point, beside one another where they would hide one another.

    The places are always the same ones.
    """
    for place, feature in enumerate(dict.fromkeys(row["feature"] for row in rows)):
        points = sorted((r for r in rows if r["feature"] == feature), key=lambda row: row["shap"])
        levels = sorted({row["feature_value"] for row in points}, key=_rank)
        first = points[0]["shap"]
        span = (points[-1]["shap"] - first) / 40
        filled: dict[int, int] = {}
        for row in points:
            column = round((row["shap"] - first) / span) if span else 0
            filled[column] = nth = filled.get(column, 0) + 1
            off = nth // 2 * (1 if nth % 2 else -1)
            depth = levels.index(row["feature_value"]) / max(1, len(levels) - 1)
            yield float(row["shap"]), place + max(-0.4, min(0.4, off * 0.06)), depth


def _rank(value: Any) -> tuple[bool, Any]:
    return isinstance(value, str), value
