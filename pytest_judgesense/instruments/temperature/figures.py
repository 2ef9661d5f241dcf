"""Figures of a sweep over the temperature, drawn from its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, Final

from pytest_judgesense.datasheets import figures as fig
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.sections import TableRow, TableRows, tables_named
from pytest_judgesense.errors import printable
from pytest_judgesense.instruments.temperature.effects import PAPER
from pytest_judgesense.text.shown_change import ShownChange, farthest
from pytest_judgesense.trial import grouped

_MOST_EFFECTS: Final = 24
_OUTCOMES: Final = ("agreement", "consistency", "error_rate")
# The columns that distinguish rows of `temperature_table`, besides the temperature.
_CELL: Final = ("judge_type", "prompt_style", "model", "gold", "dataset")
_NO_TEMPERATURES: Final = 'It needs a suite of several temperatures (kind = "temperature").'
_NO_EFFECTS: Final = (
    "It needs a suite of several temperatures, and: pip install 'pytest-judgesense[causal]'."
)


def _words(*parts: object) -> str:
    return ", ".join(printable(str(part)) for part in parts if part not in (None, "", "all"))


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _number(row: TableRow, column: str) -> float | None:
    return None if row.get(column) is None else float(row[column])


def _tables(sheet: Datasheet, name: str) -> Iterator[tuple[str, str, TableRows]]:
    """The tables of a name with their judges, as figures call these."""
    for judge, suite, rows in tables_named(sheet, name):
        yield fig.called(sheet, judge, suite), suite, rows


def _rows_of(sheet: Datasheet, name: str) -> Iterator[tuple[str, str, TableRow]]:
    return ((judge, suite, row) for judge, suite, rows in _tables(sheet, name) for row in rows)


def table(sheet: Datasheet) -> Iterator[fig.Found]:
    """Agreement, consistency and errors by temperature."""
    head = fig.Head("temperature", "7a", "Agreement, consistency and errors by temperature")
    numbers: dict[str, int] = {}
    curves: dict[str, dict[str, dict[float, float]]] = {name: {} for name in _OUTCOMES}
    rows: list[tuple[Any, ...]] = []
    cells = list(_rows_of(sheet, "temperature_table"))
    several = len({suite for _, suite, _ in cells}) > 1
    for judge, suite, row in cells:
        prompt = [row.get(key) for key in _CELL]
        # A margin over temperatures, over prompts or over types is left out.
        if not isinstance(row.get("temperature"), int | float) or {None, "all"} & {*prompt[:2]}:
            continue
        temperature = float(row["temperature"])
        who = _words(judge, suite if several else "", *prompt) or suite
        numbers.setdefault(who, len(numbers))
        means = {name: _number(row, f"{name}_mean") for name in _OUTCOMES}
        for name, mean in means.items():
            if mean is not None:
                curves[name].setdefault(who, {})[temperature] = mean
        rows.append((judge, suite, *prompt, temperature, *means.values(), row.get("n")))
    if not rows:
        yield fig.Absent(head, _NO_TEMPERATURES)
        return

    def draw(axes: Any, name: str) -> None:
        fig.shares(axes, "y")
        for who, by in curves[name].items():
            xs = sorted(by)
            fig.curve(axes, numbers[who], xs, [by[x] for x in xs], who)
        fig.labels(axes, "temperature", f"{_plain(name)} (share)")

    yield fig.Figure(
        head,
        _of_the_ends(sheet),
        "Agreement with the gold label, consistency of replicates, and replies without a usable "
        "verdict, by the temperature that was asked for.",
        tuple(fig.Panel(partial(draw, name=name)) for name in _OUTCOMES if curves[name]),
        ("judge", "suite", *_CELL, "temperature", *_OUTCOMES, "n"),
        tuple(rows),
    )


def _of_the_ends(sheet: Datasheet) -> str:
    """What agreement does from the lowest temperature to the highest, of the judge it does most."""
    pairs: dict[tuple[str, str], list[TableRow]] = {}
    for judge, suite, row in _rows_of(sheet, "temperature_effects"):
        kind = row["method"], row["outcome"], row["group"]
        if kind == ("pair", "agreement", "overall") and row["value"] is not None:
            pairs.setdefault((judge, suite), []).append(row)
    changes = [
        (ShownChange(float(row["value"]), _ends(row)), (judge, row))
        for (judge, _), of_judge in pairs.items()
        for row in [max(of_judge, key=lambda row: float(row["high"]) - float(row["low"]))]
    ]
    if not changes:
        return "Whether agreement depends on the temperature is not known"
    change, (judge, row) = farthest(changes)
    reach = f"from temperature {row['low']:g} to {row['high']:g}"
    return change.sentence(
        above=f"Agreement of {judge} rises {reach}",
        below=f"Agreement of {judge} falls {reach}",
        neither=f"Agreement of {judge} does not visibly change {reach}",
    )


def correlations(sheet: Datasheet) -> Iterator[fig.Found]:
    """Correlations of temperature and outcomes, a map a judge and level."""
    head = fig.Head("correlations", "7b", "Correlations")
    names = ("temperature", *_OUTCOMES)
    maps: dict[str, dict[tuple[int, int], tuple[float, str]]] = {}
    rows, strengths = [], []
    for judge, suite, row in _rows_of(sheet, "temperature_correlations"):
        x, y, r = row["x"], row["y"], _number(row, "r")
        ends = _words(judge), suite, row.get("level"), row.get("model"), x, y
        rows.append((*ends, r, row.get("n")))
        if r is None or not {x, y} <= {*names}:
            continue
        of = maps.setdefault(_words(judge, row.get("model"), row.get("level")), {})
        column, line = names.index(x), names.index(y)
        of[column, line] = of[line, column] = r, fig.shown(r)
        if x != y:
            strengths.append((abs(r), x, y, r))
    if not maps:
        yield fig.Absent(head, _NO_TEMPERATURES)
        return
    finding = "No correlation could be measured"
    if strengths:
        _, x, y, r = max(strengths, key=lambda strength: strength[:3])
        finding = f"The largest r measured is that of {x} and {y}: {ShownChange(r, None).numbers()}"
    axis = [_plain(name) for name in names]

    def draw(axes: Any, title: str) -> None:
        fig.heat(axes, axis, axis, maps[title])
        fig.labels(axes, "", "", title)

    height = fig.height_of_rows(len(axis), names=axis)
    yield fig.Figure(
        head,
        _plain(finding),
        "Pearson's r, from -1 to 1: over the means of cells, or over single rows.",
        tuple(fig.Panel(partial(draw, title=title), height) for title in maps),
        ("judge", "suite", "level", "model", "x", "y", "r", "n"),
        tuple(rows),
    )


def effects(sheet: Datasheet) -> Iterator[fig.Found]:
    """Effects of a high temperature, with their intervals."""
    head = fig.Head("effects", "7c", "Effects of the temperature")
    columns = ("method", "outcome", "group", "level", "low", "high", "value", "lower", "upper", "n")
    panels, overall = [], []
    for judge, _, effects_of in _tables(sheet, "temperature_effects"):
        for outcome, of in grouped(effects_of, itemgetter("outcome")).items():
            # The paper's method is in the table: its intervals are not clustered.
            some = [r for r in of if r.get("value") is not None and r["method"] != PAPER]
            if len(some) > _MOST_EFFECTS:  # single pairs of temperatures are in the table
                some = [row for row in some if row["method"] != "pair"]
            if some:
                title = _words(judge, _plain(outcome))
                panels.append(_effects_panel(some, title, f"change of {_plain(outcome)}"))
            overall += [row for row in some if row["group"] == "overall"]
    if not panels:
        yield fig.Absent(head, _NO_EFFECTS)
        return
    finding = "No effect over all could be estimated"
    if overall:
        row = min(overall, key=lambda row: (row["outcome"] != "agreement", row["method"] != "aipw"))
        finding = ShownChange(float(row["value"]), _ends(row)).sentence(
            above=f"A high temperature raises {row['outcome']}",
            below=f"A high temperature lowers {row['outcome']}",
            neither=f"A high temperature does not visibly change {row['outcome']}",
        )
    yield fig.Figure(
        head,
        _plain(finding),
        "Effects overall and by judge type, prompt and model, with 95% intervals clustered by "
        "question. An interval that holds 0 shows no effect.",
        tuple(panels),
        ("judge", "suite", *columns, "unavailable"),
        tuple(
            (judge, suite, *(row.get(key) for key in (*columns, "unavailable")))
            for judge, suite, row in _rows_of(sheet, "temperature_effects")
        ),
    )


def _around_zero(
    names: Sequence[str], label: str, title: str, each: float, marks: Callable[[Any], None]
) -> fig.Panel:
    """A panel with ``marks`` on both sides of 0, a line a name."""

    def draw(axes: Any) -> None:
        axes.grid(visible=True, axis="x")
        axes.set_axisbelow(True)
        fig.dotted(axes, x=0.0)
        marks(axes)
        fig.ticks(axes, "y", names)
        fig.labels(axes, label, "", title)

    return fig.Panel(draw, fig.height_of_rows(len(names), each))


def _effects_panel(rows: TableRows, title: str, label: str) -> fig.Panel:
    methods = list(dict.fromkeys(row["method"] for row in rows))
    names = [
        _words(_plain(row["group"]), row.get("level"), f"{row.get('low')} to {row.get('high')}")
        for row in rows
    ]

    def marks(axes: Any) -> None:
        for place, row in enumerate(rows):
            method, value = row["method"], float(row["value"])
            fig.point(axes, methods.index(method), value, place, across=_ends(row), name=method)

    return _around_zero(names, label, title, max(0.42, 0.17 * len(methods)), marks)


def _ends(row: TableRow) -> fig.IntervalEnds:
    lower, upper = _number(row, "lower"), _number(row, "upper")
    return None if lower is None or upper is None else (lower, upper)


def attributions(sheet: Datasheet) -> Iterator[fig.Found]:
    """SHAP values of the features, a cloud each."""
    head = fig.Head("attributions", "7d", "What predicts the outcome (SHAP)")
    attributed = list(_rows_of(sheet, "temperature_attributions"))
    panels = [
        _swarms_panel(of, _words(judge, _plain(outcome)))
        for judge, _, points in _tables(sheet, "temperature_attribution_points")
        for outcome, of in grouped(points, itemgetter("outcome")).items()
    ]
    if not panels:
        yield fig.Absent(head, _NO_EFFECTS)
        return
    finding = "No prediction could be attributed"
    if sized := [row for _, _, row in attributed if row.get("value") is not None]:
        most = max(sized, key=lambda row: float(row["value"]))
        finding = f"The fitted model of {most['outcome']} uses {most['feature']} most: mean |SHAP| "
        finding += fig.shown(float(most["value"]))
    yield fig.Figure(
        head,
        _plain(finding),
        "Each point is a row of the data; the darker, the higher the value of the feature. The "
        "table holds mean absolute SHAP values.",
        tuple(panels),
        ("judge", "suite", "outcome", "feature", "mean |SHAP|", "se", "unavailable"),
        tuple(
            # An outcome that cannot be attributed has no feature.
            (judge, suite, row["outcome"], row.get("feature"), *numbers, row.get("unavailable"))
            for judge, suite, row in attributed
            for numbers in [(_number(row, "value"), _number(row, "se"))]
        ),
    )


def _swarms_panel(rows: TableRows, title: str) -> fig.Panel:
    names = [_plain(name) for name in dict.fromkeys(row["feature"] for row in rows)]
    label = "SHAP value (change of the prediction)"
    return _around_zero(names, label, title, 0.42, lambda axes: fig.swarm(axes, swarm_of(rows)))


def swarm_of(rows: TableRows) -> Iterator[tuple[float, float, float]]:
    """Position and depth of each point; points that would overlap are put beside each other.

    The places are always the same ones.
    """
    for place, of_feature in enumerate(grouped(rows, itemgetter("feature")).values()):
        points = sorted(of_feature, key=itemgetter("shap"))
        values = {row["feature_value"] for row in points}
        levels = sorted(values, key=lambda value: (isinstance(value, str), value))
        first = points[0]["shap"]
        span = (points[-1]["shap"] - first) / 40
        filled: Counter[int] = Counter()
        for row in points:
            column = round((row["shap"] - first) / span) if span else 0
            filled[column] += 1
            off = filled[column] // 2 * (1 if filled[column] % 2 else -1)
            depth = levels.index(row["feature_value"]) / max(1, len(levels) - 1)
            yield float(row["shap"]), place + max(-0.4, min(0.4, off * 0.06)), depth
