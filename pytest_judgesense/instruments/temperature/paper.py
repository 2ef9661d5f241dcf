"""The temperature study (arXiv 2603.28304) as one design: six temperatures, ten runs, six prompts.

A unit is a question under a judge type, a prompt, a temperature and a model, its outcome the mean
over the ten runs. AGR is over parsed replies, as the printed tables have it; that over all replies
stands beside it. ERR has two readings. By section 3.5 it counts replies whose winner cannot be read
(``ERR verdict``): with the parsed ones they are all replies. By the prompts, which demand JSON
alone with exactly these keys, it counts every reply that is not in that form (``ERR form``), though
its winner may be read, and then counts in AGR. Both have a column, an effect and a curve.

Effects are cross-fitted AIPW, fitted anew in each subgroup, with the interval ``1.96 s / sqrt N``
of the paper and one clustered by question. Figure 3 stands in `paper_figures`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, Final

from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.published_design import (
    Arm,
    LogForm,
    Paper,
    Table,
    Value,
    not_available,
)
from pytest_judgesense.datasheets.sections import TableRow, TableRows, tables_named
from pytest_judgesense.instruments.temperature import causal
from pytest_judgesense.instruments.temperature.effects import ALL, paper_effects
from pytest_judgesense.instruments.temperature.effects import PAPER as METHOD
from pytest_judgesense.instruments.temperature.models import material_of, pooled
from pytest_judgesense.instruments.temperature.paper_figures import OUTCOMES, figures
from pytest_judgesense.instruments.temperature.reply_table import (
    is_table_of_replies,
    read_replies,
)
from pytest_judgesense.instruments.temperature.stimuli import TEMPERATURE
from pytest_judgesense.instruments.temperature.sweep import FACTORS, SOURCES, PooledSeries
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.trial import grouped

_ITEMS, _TEMPERATURES, _RUNS = 88, 6, 10
_TRIALS: Final = _ITEMS * _TEMPERATURES * _RUNS
_SUITE: Final = "temperature@paper"
_TYPES: Final = ("single", "pairwise", "reference")
_STYLES: Final = ("direct", "reasoned")
_AGREEMENT_OF_ALL: Final = "agreement"
_DATA_SET: Final = "dataset"
_FACTOR_HEADS: Final = {"judge_type": "judge type", "prompt_style": "prompt", "temperature": "T"}
# Why a number of a row cannot be had.
_NO_LABEL: Final = "there is no label, or no verdict to compare with it"
_REASONS: Final = {
    "agreement_parsed": _NO_LABEL,
    "consistency": "it takes two parsed replies to a question in the same conditions",
    "format_error_rate": "no form of the replies is prescribed, or the replies are not there",
    "error_rate": "no reply was received",
    _AGREEMENT_OF_ALL: _NO_LABEL,
}
_ONE_RUN: Final = "a standard deviation takes two runs, that of CON two questions"


def _place(names: Sequence[str], name: str) -> tuple[int, str]:
    """The place of a name in the order of the paper; others behind, by the alphabet."""
    return (names.index(name) if name in names else len(names)), name


def _place_of_row(row: TableRow) -> tuple[Any, ...]:
    """The place of a row in the order of the paper: judge type, prompt, temperature, data set."""
    kind, style = str(row["judge_type"]), str(row["prompt_style"])
    data_set = str(row.get(_DATA_SET, ""))
    return _place(_TYPES, kind), _place(_STYLES, style), float(row["temperature"]), data_set


def _cells_of(rows: TableRows, *sources: str) -> list[TableRow]:
    """The rows of single temperatures, judge types and prompts, in the order of the paper.

    A log may not say judge types or prompts: then no row has one. ``sources``: the rows by these,
    in place of those over all of them.
    """
    stated = [factor for factor in FACTORS if any(row[factor] != ALL for row in rows)]
    numbered = [
        row
        for row in rows
        if all(row[factor] != ALL for factor in stated) and {*SOURCES} & {*row} == {*sources}
    ]
    return sorted(numbered, key=_place_of_row)


def tables(sheet: Datasheet, cells: Sequence[Cell]) -> Iterator[Table]:
    """Tables 1 to 3, the effects of each judge, lengths and ties."""
    yield _table_1(sheet)
    yield from _table_1_by_data_set(sheet)
    materials = {cell.judge: of for cell in cells if (of := material_of(cell)) is not None}
    pool = pooled(materials, sheet.seed) if materials else None
    yield _table_2(pool)
    yield _table_3(pool)
    yield _by_judge(sheet)
    yield _replies(sheet)


# --- Table 1 --------------------------------------------------------------------------------------


def _table_1(sheet: Datasheet) -> Table:
    return Table(
        "table-1",
        "Agreement with the label among parsed replies (AGR), consistency of replicates (CON), "
        "replies that are not in the prescribed form (ERR form) and replies whose winner cannot be "
        "read (ERR verdict), by judge type, prompt and temperature: means with their standard "
        "deviations (sd), of AGR and ERR over the runs, of CON over the questions. A reply that "
        "is not in the form counts in AGR if its winner can be read. Beside them AGR over all "
        "replies.",
        *_outcomes(sheet),
    )


def _table_1_by_data_set(sheet: Datasheet) -> Iterator[Table]:
    """The same by data set, where items are of several."""
    columns, rows, notes, digits, keys = _outcomes(sheet, _DATA_SET)
    if rows:
        yield Table(
            "table-1-by-data-set",
            "The outcomes of Table 1 by data set.",
            *(columns, rows, notes, digits, keys),
        )


def _outcomes(
    sheet: Datasheet, *sources: str
) -> tuple[tuple[str, ...], tuple[tuple[Value, ...], ...], tuple[str, ...], int, int]:
    """Columns, rows, notes, digits and keys of a table of outcomes."""
    rows: list[tuple[Value, ...]] = []
    reasons: dict[str, str] = {}
    for judge, _, of in tables_named(sheet, "temperature_table"):
        for row in _cells_of(of, *sources):
            spreads: list[Value] = []
            for outcome, head in OUTCOMES.items():
                mean, deviation = (row.get(f"{outcome}_{part}") for part in ("mean", "sd"))
                spreads += mean, deviation
                reasons[head] = _REASONS[outcome]
                if deviation is None:
                    reasons[f"{head} sd"] = _REASONS[outcome] if mean is None else _ONE_RUN
            over_all = row.get(f"{_AGREEMENT_OF_ALL}_mean")
            of_source = (row[source] for source in sources)
            rows.append((judge, *of_source, *_prompt(row), *spreads, over_all, row["n"]))
    heads = [part for head in OUTCOMES.values() for part in (head, f"{head} sd")]
    of_sources = ("data set" for _ in sources)
    columns = ("judge", *of_sources, *_FACTOR_HEADS.values(), *heads, "AGR all", "n")
    reasons |= {"AGR all": _NO_LABEL} | dict.fromkeys(_FACTOR_HEADS.values(), _NOT_STATED)
    return columns, tuple(rows), not_available(columns, rows, reasons), 3, 4 + len(sources)


_NOT_STATED: Final = "the log does not say it"


def _prompt(row: TableRow) -> tuple[Value, Value, Value]:
    """Judge type, prompt and temperature of a row; ``None`` for what a log does not say."""
    kind, style = (None if row[key] == ALL else row[key] for key in ("judge_type", "prompt_style"))
    return kind, style, f"{row['temperature']:g}"


# --- effects --------------------------------------------------------------------------------------


def _table_2(pool: PooledSeries | None) -> Table:
    """Effects within each judge type, over all models, overall and by subgroup."""
    effects = [] if pool is None else [*_effects_by_type(pool)]
    scope = ", by judge type and subgroup, models pooled"
    return _table_of_effects("table-2", scope, ("judge type", "subgroup"), effects)


def _effects_by_type(pool: PooledSeries) -> Iterator[tuple[str, TableRows]]:
    types = [*pool.several("judge_type")]
    if not types:
        yield ALL, list(paper_effects(pool, keys=("prompt_style", "model")))
    for _, kind, within in sorted(types, key=lambda typed: _place(_TYPES, str(typed[1]))):
        yield str(kind), list(paper_effects(pool, within, ("prompt_style", "model")))


def _table_3(pool: PooledSeries | None) -> Table:
    """Effects by prompt, over all judge types and models."""
    rows = [] if pool is None else list(paper_effects(pool, keys=("prompt_style",)))
    names = ALL, *_STYLES
    prompts = sorted({str(row["level"]) for row in rows}, key=lambda name: _place(names, name))
    by_prompt = [(prompt, [row for row in rows if row["level"] == prompt]) for prompt in prompts]
    scope = " by prompt, judge types and models pooled"
    return _table_of_effects("table-3", scope, ("prompt",), by_prompt)


def _by_judge(sheet: Datasheet) -> Table:
    effects = (
        (judge, [row for row in rows if row["method"] == METHOD])
        for judge, _, rows in tables_named(sheet, "temperature_effects")
    )
    scope = " for each judge, over all and by subgroup"
    return _table_of_effects("effects", scope, ("judge", "subgroup"), effects)


def _table_of_effects(
    name: str, scope: str, heads: tuple[str, ...], effects: Iterable[tuple[str, TableRows]]
) -> Table:
    """A row of each effect and its outcome, and the reasons of those that cannot be had.

    Args:
        name: of the table.
        scope: of which effects, in the caption.
        heads: of the first column, and of that of subgroups if there is one.
        effects: the rows of each value of the first column.
    """
    rows: list[tuple[Value, ...]] = []
    notes: dict[str, None] = {}
    for first, of_first in effects:
        notes |= dict.fromkeys(
            f"N/A: {row['unavailable']}" for row in of_first if "unavailable" in row
        )
        by_group = grouped(of_first, itemgetter("group", "level"))
        for (factor, level), of_group in by_group.items():
            subgroup = "all" if level == ALL else f"{factor}: {level}"
            by_outcome = {row["outcome"]: row for row in of_group}
            rows += [
                (*(first, subgroup)[: len(heads)], head, *_effect(by_outcome[outcome]))
                for outcome, head in OUTCOMES.items()
                if outcome in by_outcome
            ]
    absent = [head for head in OUTCOMES.values() if all(head not in row for row in rows)]
    if rows and absent:
        notes[f"N/A: {', '.join(absent)}: {_REASONS['format_error_rate']}"] = None
    return Table(
        name,
        f"Average treatment effect (ATE) of a temperature of 1.5 or more{scope}: cross-fitted "
        "AIPW, fitted anew in each subgroup, with the interval 1.96 s / sqrt(N) of the paper and "
        "that clustered by question.",
        (*heads, "outcome", "ATE", "95% interval", "95% clustered", "N"),
        tuple(rows),
        tuple(notes),
        keys=len(heads) + 1,
    )


def _effect(row: TableRow) -> tuple[Value, ...]:
    """Value, the interval of the paper, the clustered one, and the units of an effect."""

    def ends(lower: str, upper: str) -> Value:
        low, high = row.get(lower), row.get(upper)
        return None if low is None or high is None else (float(low), float(high))

    clustered = ends("clustered_lower", "clustered_upper")
    return row.get("value"), ends("lower", "upper"), clustered, row["n"]


def lacking() -> Iterator[str]:
    """What of the tables and figures cannot be had on this machine, and why."""
    if reason := causal.unusable("lightgbm"):
        yield f"tables 2 and 3, the effects of each judge, and row 3 of Figure 3 are N/A: {reason}"
    elif reason := causal.unusable("shap"):
        yield f"row 3 of Figure 3 (SHAP) is N/A: {reason}"


# --- the case study -------------------------------------------------------------------------------


def _replies(sheet: Datasheet) -> Table:
    rows: list[tuple[Value, ...]] = []
    for judge, _, of in tables_named(sheet, "temperature_replies"):
        for row in _cells_of([row for row in of if row["temperature"] != ALL]):
            lengths = row["reason_words_mean"], row["completion_tokens_mean"]
            rows.append((judge, *_prompt(row), *lengths, row["tie_rate"], row["n"]))
    columns = ("judge", *_FACTOR_HEADS.values(), "words", "tokens", "ties", "n")
    reasons = {
        **dict.fromkeys(_FACTOR_HEADS.values(), _NOT_STATED),
        "words": "the replies are not there",
        "tokens": "nobody has counted them",
        "ties": "no reply has a verdict",
    }
    return Table(
        "replies",
        "Length of the reasons in words, length of the replies in tokens, and the share of "
        "verdicts that are ties, by judge type, prompt and temperature.",
        columns,
        tuple(rows),
        not_available(columns, rows, reasons),
        keys=4,
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
    kinds=(TEMPERATURE.name,),
    forms=(
        LogForm("tables of replies at several temperatures", is_table_of_replies, read_replies),
    ),
    lacking=lacking,
)
