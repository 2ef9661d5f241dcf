"""Figure 3 of the temperature study, its three rows a figure each, models pooled.

Row 1 has the outcomes over the temperature, a line a model; row 2 how temperature and outcomes are
correlated; row 3 the SHAP values of models of each outcome that know the temperature, the judge
type, the prompt and the model. A further figure has the curves of single judge types and prompts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

import numpy as np

from pytest_judgesense.datasheets import figures as fig
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.sections import TableRow, tables_named
from pytest_judgesense.errors import printable
from pytest_judgesense.instruments.temperature.effects import ALL, factor_points
from pytest_judgesense.instruments.temperature.figures import (
    NO_TEMPERATURES,
    correlation_panels,
    curves_panel,
    plain,
    swarms_panel,
)
from pytest_judgesense.instruments.temperature.models import material_of, pooled
from pytest_judgesense.instruments.temperature.sweep import PooledSeries
from pytest_judgesense.instruments.temperature.tables import correlation_rows
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.trial import grouped

# The outcomes of the tables as the paper calls them; ERR in its two readings.
OUTCOMES: Final[Mapping[str, str]] = {
    "agreement_parsed": "AGR",
    "consistency": "CON",
    "format_error_rate": "ERR form",
    "error_rate": "ERR verdict",
}
_TEMPERATURE: Final = "temperature"
_CURVES: Final = fig.Head("figure-3-curves", "P1", "Figure 3 of the paper, row 1")
_CORRELATIONS: Final = fig.Head("figure-3-correlations", "P2", "Figure 3 of the paper, row 2")
_SHAP: Final = fig.Head("figure-3-shap", "P3", "Figure 3 of the paper, row 3")
_PROMPTS: Final = fig.Head("pooled-temperature", "P4", "Outcomes by prompt, models pooled")


def figures(sheet: Datasheet, cells: Sequence[Cell]) -> Iterator[fig.Found]:
    """The rows of Figure 3, and the curves of single prompts."""
    materials = {cell.judge: of for cell in cells if (of := material_of(cell)) is not None}
    if not materials:
        for head in (_CURVES, _CORRELATIONS, _SHAP, _PROMPTS):
            yield fig.Absent(head, NO_TEMPERATURES)
        return
    pool = pooled(materials, sheet.seed)
    yield _curves_by_model(sheet)
    yield _correlations(pool)
    yield _attributions(pool)
    yield _curves_by_prompt(sheet)


def _means_of(row: TableRow) -> list[float | None]:
    """The mean of each outcome in a row of ``temperature_table``."""
    means = (row.get(f"{outcome}_mean") for outcome in OUTCOMES)
    return [None if mean is None else float(mean) for mean in means]


def _curves_by_model(sheet: Datasheet) -> fig.Figure:
    """A line a model, over all its judge types and prompts."""
    rows: list[tuple[Any, ...]] = []
    for judge, _, of in tables_named(sheet, "temperature_table"):
        over_all = [row for row in of if {row["judge_type"], row["prompt_style"]} == {ALL}]
        by_model = [row for row in over_all if "model" in row] or [
            row for row in over_all if {"gold", "dataset"}.isdisjoint(row)
        ]
        for row in by_model:
            if row[_TEMPERATURE] != ALL:
                model = f"{judge}: {row['model']}" if "model" in row else judge
                rows.append((printable(model), float(row[_TEMPERATURE]), *_means_of(row)))
    models = len({row[0] for row in rows})
    return _curves(
        _CURVES,
        rows,
        ("model",),
        f"{models} model{'s' * (models != 1)}",
        "A line is a model, over all judge types and prompts.",
    )


def _curves_by_prompt(sheet: Datasheet) -> fig.Figure:
    """A line a judge type and prompt, each a mean over the models."""
    of_prompts: dict[tuple[str, str, float], list[list[float | None]]] = {}
    for _, _, of in tables_named(sheet, "temperature_table"):
        for row in of:
            kinds = str(row["judge_type"]), str(row["prompt_style"])
            is_margin = ALL in (*kinds, row[_TEMPERATURE])
            if not is_margin and {"gold", "model", "dataset"}.isdisjoint(row):
                where = (*kinds, float(row[_TEMPERATURE]))
                of_prompts.setdefault(where, []).append(_means_of(row))
    rows = []
    for where, means in of_prompts.items():
        pooled_means = []
        for of_outcome in zip(*means, strict=True):
            stated = [mean for mean in of_outcome if mean is not None]
            pooled_means.append(float(np.mean(stated)) if stated else None)
        rows.append((*where, *pooled_means))
    models = len({judge for judge, _, _ in tables_named(sheet, "temperature_table")})
    return _curves(
        _PROMPTS,
        rows,
        ("judge type", "prompt"),
        f"mean of {models} model{'s' * (models != 1)}",
        "A line is a judge type and prompt, its points means over the models.",
    )


def _curves(
    head: fig.Head, rows: Sequence[tuple[Any, ...]], keys: tuple[str, ...], whose: str, lines: str
) -> fig.Figure:
    """A panel an outcome, with a line for each value of the keys.

    Args:
        head: of the figure.
        rows: the keys, the temperature, and the mean of each outcome.
        keys: their headings.
        whose: of which models, in a phrase.
        lines: what a line is, in a sentence.
    """
    first = len(keys)
    by_line = grouped(rows, lambda row: ", ".join(map(str, row[:first])))
    panels = []
    for place, name in enumerate(OUTCOMES.values(), start=first + 1):
        points = {
            line: {row[first]: row[place] for row in of if row[place] is not None}
            for line, of in by_line.items()
        }
        if any(points.values()):
            panels.append(curves_panel(points, name))
    return fig.Figure(
        head,
        f"Agreement, consistency and errors over the temperature, {whose}",
        f"{lines} Agreement (AGR) is that of parsed replies; ERR form counts replies that are not "
        "exactly in the prescribed form, ERR verdict those whose winner cannot be read.",
        tuple(panels),
        (*keys, _TEMPERATURE, *OUTCOMES.values()),
        tuple(rows),
    )


def _correlations(pool: PooledSeries) -> fig.Figure:
    names = {_TEMPERATURE: _TEMPERATURE, **OUTCOMES}
    computed = [row for row in correlation_rows(pool) if {row["x"], row["y"]} <= names.keys()]
    varying = {row[end] for row in computed if row["r"] is not None for end in "xy"}
    axis = [head for name, head in names.items() if name in varying]
    constant = [head for name, head in names.items() if name in pool.values and head not in axis]
    absent = f" {', '.join(constant)}: there is no r of what does not vary." if constant else ""
    rows: list[tuple[Any, ...]] = []
    maps: dict[str, dict[tuple[int, int], tuple[float, str]]] = {}
    for row in computed:
        x, y, r = names[row["x"]], names[row["y"]], row["r"]
        rows.append((row["level"], row.get("model"), x, y, r, row["n"]))
        if r is not None and "model" not in row:
            level = "means of the temperatures" if row["level"] == "means" else "single questions"
            column, line = axis.index(x), axis.index(y)
            of_map = maps.setdefault(f"all models, {level}", {})
            of_map[column, line] = of_map[line, column] = r, fig.shown(r)

    return fig.Figure(
        _CORRELATIONS,
        "Correlations of the temperature and the outcomes, models pooled",
        "Pearson's r, from -1 to 1, over the means of the temperatures and over single questions."
        f"{absent}",
        correlation_panels(axis, maps),
        ("level", "model", "x", "y", "r", "n"),
        tuple(rows),
    )


def _attributions(pool: PooledSeries) -> fig.Found:
    points, reasons = factor_points(pool)
    points = [point for point in points if point["outcome"] in OUTCOMES]
    if not points:
        return fig.Absent(_SHAP, "; ".join(dict.fromkeys(reasons.values())))
    by_outcome = grouped(points, itemgetter("outcome"))
    some = [by_outcome[outcome] for outcome in OUTCOMES if outcome in by_outcome]
    heads = [head for outcome, head in OUTCOMES.items() if outcome in by_outcome]
    levels = (
        f"{plain(factor)}: {', '.join(map(str, values))}"
        for factor, (values, _) in pool.levels.items()
        if factor != _TEMPERATURE and any(point["feature"] == factor for point in points)
    )
    absent = "".join(
        f" {OUTCOMES[outcome]} is not there: {reason}."
        for outcome, reason in reasons.items()
        if outcome in OUTCOMES
    )
    return fig.Figure(
        _SHAP,
        "What predicts the outcomes, models pooled (SHAP)",
        "Each point is a question under one prompt, temperature and model; its place is what a "
        "factor adds to the prediction. The higher the temperature, or the later a level stands, "
        f"the darker ({'; '.join(levels) or 'there is one level each'}).{absent}",
        tuple(swarms_panel(of, head) for of, head in zip(some, heads, strict=True)),
        ("outcome", "factor", "level", "SHAP"),
        tuple(
            (OUTCOMES[point["outcome"]], point["feature"], point["feature_value"], point["shap"])
            for point in points
        ),
    )
