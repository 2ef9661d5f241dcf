"""Figures of a sweep over the temperature, drawn from its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, Final, NamedTuple

from pytest_judgesense.datasheets import figures as fig
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.sections import TableRow, TableRows, tables_named
from pytest_judgesense.errors import printable
from pytest_judgesense.instruments.temperature.effects import PAPER
from pytest_judgesense.text.shown_change import ShownChange, farthest
from pytest_judgesense.trial import grouped

_MOST_EFFECTS: Final = 24
# More lines cannot be told apart, and their legend is taller than the figure.
MOST_LINES: Final = 12
_OUTCOMES: Final = ("agreement", "consistency", "error_rate")
# The columns that distinguish rows of `temperature_table`, besides the temperature.
_CELL: Final = ("judge_type", "prompt_style", "model", "gold", "dataset")
NO_TEMPERATURES: Final = 'It needs a suite of several temperatures (kind = "temperature").'
_NO_EFFECTS: Final = (
    "It needs a suite of several temperatures, and: pip install 'pytest-judgesense[causal]'."
)


def _words(*parts: object) -> str:
    return ", ".join(printable(str(part)) for part in parts if part not in (None, "", "all"))


def plain(name: str) -> str:
    """A name as words."""
    return name.replace("_", " ")


def _number(row: TableRow, column: str) -> float | None:
    return None if row.get(column) is None else float(row[column])


def _tables(sheet: Datasheet, name: str) -> Iterator[tuple[str, str, TableRows]]:
    """The tables of a name with their judges, as figures call these."""
    for judge, suite, rows in tables_named(sheet, name):
        yield fig.called(sheet, judge, suite), suite, rows


def _rows_of(sheet: Datasheet, name: str) -> Iterator[tuple[str, str, TableRow]]:
    return ((judge, suite, row) for judge, suite, rows in _tables(sheet, name) for row in rows)


class _Point(NamedTuple):
    """What a line has at a temperature, by outcome; ``row`` is that of the table."""

    line: str
    temperature: float
    means: Mapping[str, float | None]
    row: tuple[Any, ...]


class _Points(NamedTuple):
    """The points of all lines, from many lines to few."""

    by_source: list[_Point]
    by_prompt: list[_Point]
    by_judge: list[_Point]

    @classmethod
    def of(cls, sheet: Datasheet) -> _Points:
        """Those of the means in a datasheet; a log may not say judge types and prompts."""
        points = cls([], [], [])
        cells = list(_rows_of(sheet, "temperature_table"))
        several = len({suite for _, suite, _ in cells}) > 1
        for judge, suite, row in cells:
            # A margin over temperatures is left out.
            if not isinstance(row.get("temperature"), int | float):
                continue
            kinds, sources = ([row.get(key) for key in keys] for keys in (_CELL[:2], _CELL[2:]))
            temperature = float(row["temperature"])
            means = {name: _number(row, f"{name}_mean") for name in _OUTCOMES}
            numbers = judge, suite, *kinds, *sources, temperature, *means.values(), row.get("n")
            line = _words(judge, suite if several else "", *kinds, *sources) or suite
            point = _Point(line, temperature, means, numbers)
            is_of_all = {*sources} == {None}
            if {None, "all"}.isdisjoint(kinds):
                points.by_source.append(point)
                points.by_prompt.extend([point] * is_of_all)
            elif {*kinds} <= {None, "all"}:
                points.by_judge.extend([point] * is_of_all)
        return points

    def drawn(self) -> tuple[str, list[_Point]]:
        """What a line is, and the points of the most lines that a figure has room for."""
        lines = {
            "a judge type, a prompt and a source of questions of a judge": self.by_source,
            "a judge type and a prompt of a judge": self.by_prompt,
            "a judge, over all judge types and prompts": self.by_judge,
        }
        fitting = ((line, of) for line, of in lines.items() if 0 < _lines_in(of) <= MOST_LINES)
        fewest = next(of for of in (self.by_judge, self.by_prompt, self.by_source) if of)
        return next(fitting, ("a judge", fewest))


def table(sheet: Datasheet) -> Iterator[fig.Found]:
    """Agreement, consistency and errors by temperature."""
    head = fig.Head("temperature", "7a", "Agreement, consistency and errors by temperature")
    points = _Points.of(sheet)
    if not any(points):
        yield fig.Absent(head, NO_TEMPERATURES)
        return
    line, drawn = points.drawn()
    yield fig.Figure(
        head,
        _of_the_ends(sheet),
        "Agreement with the gold label, consistency of replicates, and replies without a usable "
        f"verdict, by the temperature that was asked for. A line is {line}; the table has all.",
        tuple(_panels(drawn)),
        ("judge", "suite", *_CELL, "temperature", *_OUTCOMES, "n"),
        tuple(point.row for point in points.by_source or points.by_judge),
    )


def _lines_in(points: Iterable[_Point]) -> int:
    return len({point.line for point in points})


def _panels(points: Sequence[_Point]) -> Iterator[fig.Panel]:
    """A panel an outcome that a point has."""
    for name in _OUTCOMES:
        curves: dict[str, dict[float, float]] = {point.line: {} for point in points}
        for point in points:
            if (mean := point.means[name]) is not None:
                curves[point.line][point.temperature] = mean
        if any(curves.values()):
            yield curves_panel(curves, f"{plain(name)} (share)")


def curves_panel(curves: Mapping[str, Mapping[float, float]], label: str) -> fig.Panel:
    """A panel with a line for each name, through a share at each temperature.

    The legend has at most `MOST_LINES` entries: of more lines the last ones are grey, under one.
    """
    names = [*curves]
    named = names if len(names) <= MOST_LINES else names[: MOST_LINES - 1]
    others = names[len(named) :]

    def draw(axes: Any) -> None:
        fig.shares(axes, "y")
        for number, name in enumerate(names):
            xs = sorted(curves[name])
            ys = [curves[name][x] for x in xs]
            if name in others:
                fig.faint_curve(axes, xs, ys, f"{len(others)} others")
            elif xs:
                fig.curve(axes, number, xs, ys, name)
        fig.labels(axes, "temperature", label)

    return fig.Panel(draw)


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


def correlation_panels(
    axis: Sequence[str], maps: Mapping[str, Mapping[tuple[int, int], tuple[float, str]]]
) -> tuple[fig.Panel, ...]:
    """A map of correlations a title: of both axes the names are the same."""

    def draw(axes: Any, title: str) -> None:
        fig.heat(axes, axis, axis, maps[title])
        fig.labels(axes, "", "", title)

    height = fig.height_of_rows(len(axis), names=axis)
    return tuple(fig.Panel(partial(draw, title=title), height) for title in maps)


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
        yield fig.Absent(head, NO_TEMPERATURES)
        return
    finding = "No correlation could be measured"
    if strengths:
        _, x, y, r = max(strengths, key=lambda strength: strength[:3])
        finding = f"The largest r measured is that of {x} and {y}: {ShownChange(r, None).numbers()}"
    yield fig.Figure(
        head,
        plain(finding),
        "Pearson's r, from -1 to 1: over the means of cells, or over single rows.",
        correlation_panels([plain(name) for name in names], maps),
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
                title = _words(judge, plain(outcome))
                panels.append(_effects_panel(some, title, f"change of {plain(outcome)}"))
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
        plain(finding),
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
        _words(plain(row["group"]), row.get("level"), f"{row.get('low')} to {row.get('high')}")
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
        swarms_panel(of, _words(judge, plain(outcome)))
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
        plain(finding),
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


def swarms_panel(rows: TableRows, title: str) -> fig.Panel:
    """A panel with a cloud of points for each feature, from rows of SHAP values."""
    names = [plain(name) for name in dict.fromkeys(row["feature"] for row in rows)]
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
