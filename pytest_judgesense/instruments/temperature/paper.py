"""The temperature study (arXiv 2603.28304) as one design: six temperatures, ten runs, six prompts.

A unit is a question under a judge type, a prompt, a temperature and a model, its outcome the mean
over the ten runs. AGR is over parsed replies, as the printed tables have it, and ERR counts every
reply that is not exactly the JSON that the prompt prescribes; the rates over all replies and of
replies without a verdict stand beside them. Effects are cross-fitted AIPW, fitted anew in each
subgroup, with the interval ``1.96 s / sqrt N`` of the paper and one clustered by question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, Final

import numpy as np

from pytest_judgesense.datasheets import figures as fig
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.published_design import Arm, Paper, Table, Value
from pytest_judgesense.datasheets.sections import TableRow, TableRows, tables_named
from pytest_judgesense.instruments.temperature.effects import ALL, paper_effects
from pytest_judgesense.instruments.temperature.effects import PAPER as METHOD
from pytest_judgesense.instruments.temperature.models import material_of, pooled
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.trial import grouped

_ITEMS, _TEMPERATURES, _RUNS = 88, 6, 10
_TRIALS: Final = _ITEMS * _TEMPERATURES * _RUNS
_SUITE: Final = "temperature@paper"
_TYPES: Final = ("single", "pairwise", "reference")
_STYLES: Final = ("direct", "reasoned")
# The outcomes as the paper calls them.
_AGR, _CON, _ERR = "agreement_parsed", "consistency", "format_error_rate"
_OUTCOMES: Final = {_AGR: "AGR", _CON: "CON", _ERR: "ERR"}
_BESIDE: Final = {"agreement": "AGR all", "error_rate": "unparsed"}


def _mean(row: TableRow, outcome: str) -> tuple[Value, Value]:
    return row.get(f"{outcome}_mean"), row.get(f"{outcome}_sd")


def _place(row: TableRow) -> tuple[int, int, float]:
    """The place of a row in the order of the paper: judge type, prompt, temperature."""

    def place(names: Sequence[str], name: str) -> int:
        return names.index(name) if name in names else len(names)

    kind, style = str(row["judge_type"]), str(row["prompt_style"])
    return place(_TYPES, kind), place(_STYLES, style), float(row["temperature"])


def _cells_of(rows: TableRows) -> list[TableRow]:
    """The rows of single temperatures, judge types and prompts, in the order of the paper."""
    numbered = [
        row
        for row in rows
        if ALL not in (row["judge_type"], row["prompt_style"], row["temperature"])
        and {"gold", "model", "dataset"}.isdisjoint(row)
    ]
    return sorted(numbered, key=_place)


def tables(sheet: Datasheet, cells: Sequence[Cell]) -> Iterator[Table]:
    """Outcomes by prompt and temperature, Table 2, effects of each judge, lengths and ties."""
    yield _by_prompt(sheet)
    yield _by_judge_type(cells, sheet.seed)
    yield _by_judge(sheet)
    yield _replies(sheet)


def _by_prompt(sheet: Datasheet) -> Table:
    rows: list[tuple[Value, ...]] = []
    for judge, _, of in tables_named(sheet, "temperature_table"):
        for row in _cells_of(of):
            means = [part for outcome in _OUTCOMES for part in _mean(row, outcome)]
            beside = [_mean(row, outcome)[0] for outcome in _BESIDE]
            of_prompt = row["judge_type"], row["prompt_style"], f"{row['temperature']:g}"
            rows.append((judge, *of_prompt, *means, *beside, row["n"]))
    heads = [head for name in _OUTCOMES.values() for head in (name, "sd")]
    return Table(
        "outcomes",
        "Agreement with the label among parsed replies (AGR), consistency of replicates (CON) and "
        "replies that are not in the prescribed form (ERR), by judge type, prompt and temperature: "
        "means with their standard deviations, of AGR and ERR over the runs, of CON over the "
        "questions. Beside them AGR over all replies, and replies without a verdict (unparsed).",
        ("judge", "judge type", "prompt", "T", *heads, *_BESIDE.values(), "n"),
        tuple(rows),
        keys=4,
    )


def _by_judge_type(cells: Sequence[Cell], seed: int) -> Table:
    """Table 2: effects within each judge type, over all models, overall and by subgroup."""
    materials = {cell.judge: of for cell in cells if (of := material_of(cell)) is not None}
    effects = _effects_by_type(materials, seed)
    scope = ", by judge type and subgroup, models pooled"
    return _table_of_effects("table-2", scope, "judge type", effects)


def _effects_by_type(
    materials: Mapping[str, Mapping[str, Any]], seed: int
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    if not materials:
        return
    pool = pooled(materials, seed)
    types = [*pool.several("judge_type")]
    if not types:
        yield ALL, list(paper_effects(pool, keys=("prompt_style", "model")))
    for _, kind, within in sorted(types, key=lambda typed: _TYPES.index(str(typed[1]))):
        yield str(kind), list(paper_effects(pool, within, ("prompt_style", "model")))


def _effect(row: TableRow) -> tuple[Value, ...]:
    """Value, the interval of the paper, the clustered one, and the units of an effect."""

    def ends(lower: str, upper: str) -> Value:
        low, high = row.get(lower), row.get(upper)
        return None if low is None or high is None else (float(low), float(high))

    clustered = ends("clustered_lower", "clustered_upper")
    return row.get("value"), ends("lower", "upper"), clustered, row["n"]


def _by_judge(sheet: Datasheet) -> Table:
    effects = (
        (judge, [row for row in rows if row["method"] == METHOD and row["outcome"] in _OUTCOMES])
        for judge, _, rows in tables_named(sheet, "temperature_effects")
    )
    return _table_of_effects(
        "effects", " for each judge, over all and by subgroup", "judge", effects
    )


def _table_of_effects(
    name: str, scope: str, head: str, effects: Iterable[tuple[str, Sequence[TableRow]]]
) -> Table:
    """A row of each effect and its outcome, and the reasons of those that cannot be had.

    Args:
        name: of the table.
        scope: of which effects, in the caption.
        head: of the first column.
        effects: the rows of each value of that column.
    """
    rows: list[tuple[Value, ...]] = []
    notes: dict[str, None] = {}
    for first, of_first in effects:
        for row in of_first:
            if row["outcome"] in _OUTCOMES:
                group = "all" if row["level"] == ALL else f"{row['group']}: {row['level']}"
                rows.append((first, group, _OUTCOMES[row["outcome"]], *_effect(row)))
            if "unavailable" in row:
                notes[f"N/A: {row['unavailable']}"] = None
    return Table(
        name,
        f"Average treatment effect (ATE) of a temperature of 1.5 or more{scope}: cross-fitted "
        "AIPW, fitted anew in each subgroup, with the interval 1.96 s / sqrt(N) of the paper and "
        "that clustered by question.",
        (head, "subgroup", "outcome", "ATE", "95% interval", "95% clustered", "N"),
        tuple(rows),
        tuple(notes),
        keys=3,
    )


def _replies(sheet: Datasheet) -> Table:
    rows: list[tuple[Value, ...]] = []
    for judge, _, of in tables_named(sheet, "temperature_replies"):
        for row in of:
            if row["temperature"] == ALL or ALL in (row["judge_type"], row["prompt_style"]):
                continue
            of_prompt = row["judge_type"], row["prompt_style"], f"{row['temperature']:g}"
            lengths = row["reason_words_mean"], row["completion_tokens_mean"]
            rows.append((judge, *of_prompt, *lengths, row["tie_rate"], row["n"]))
    return Table(
        "replies",
        "Length of the reasons in words, length of the replies in tokens, and the share of "
        "verdicts that are ties, by judge type, prompt and temperature.",
        ("judge", "judge type", "prompt", "T", "words", "tokens", "ties", "n"),
        tuple(rows),
        keys=4,
    )


def figures(sheet: Datasheet, _: Sequence[Cell]) -> Iterator[fig.Found]:
    """Figure 3: the outcomes over the temperature, each a mean over the models."""
    head = fig.Head("pooled-temperature", "P", "Outcomes by temperature, models pooled")
    by_series: dict[tuple[str, str, float], list[TableRow]] = {}
    judges = set()
    for judge, _suite, of in tables_named(sheet, "temperature_table"):
        judges.add(judge)
        for row in _cells_of(of):
            where = str(row["judge_type"]), str(row["prompt_style"]), float(row["temperature"])
            by_series.setdefault(where, []).append(row)
    if not by_series:
        yield fig.Absent(head, "It needs a suite of several temperatures.")
        return
    pooled_rows: list[tuple[Any, ...]] = []
    for where, of in by_series.items():
        means = []
        for outcome in _OUTCOMES:
            measured_means = [m for row in of if (m := row.get(f"{outcome}_mean")) is not None]
            means.append(float(np.mean(measured_means)) if measured_means else None)
        pooled_rows.append((*where, *means))
    curves = grouped(pooled_rows, itemgetter(0, 1))

    def draw(axes: Any, place: int, name: str) -> None:
        fig.shares(axes, "y")
        for number, ((kind, style), of) in enumerate(curves.items()):
            points = [(row[2], row[place]) for row in of if row[place] is not None]
            if points:
                xs, ys = zip(*sorted(points), strict=True)
                fig.curve(axes, number, list(xs), list(ys), f"{kind}, {style}")
        fig.labels(axes, "temperature", name)

    models = f"{len(judges)} model{'s' * (len(judges) != 1)}"
    yield fig.Figure(
        head,
        f"Agreement, consistency and errors of form over the temperature, mean of {models}",
        "Each line is a judge type and prompt. Agreement is that of parsed replies; errors are "
        "replies that are not exactly in the prescribed form.",
        tuple(
            fig.Panel(partial(draw, place=place, name=name))
            for place, name in enumerate(_OUTCOMES.values(), start=3)
        ),
        ("judge type", "prompt", "temperature", *_OUTCOMES.values()),
        tuple(pooled_rows),
    )


PAPER: Final = Paper(
    "temperature",
    "The Necessity of Setting Temperature in LLM-as-a-Judge",
    "L. Li, L. Sleem, Y. Xu, Y. Song, A. Jia, J. Francois, R. State: The Necessity of Setting "
    "Temperature in LLM-as-a-Judge. arXiv:2603.28304",
    tuple(
        Arm(f"{kind}, {style}", _SUITE, _TRIALS, _TRIALS * (1 + (kind == "single")))
        for kind in _TYPES
        for style in _STYLES
    ),
    tables,
    figures,
)
