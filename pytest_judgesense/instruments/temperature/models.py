"""The judges of a run on one sweep, pooled: the model as a factor (arXiv 2603.28304).

A unit is a question under a judge type, a prompt style, a temperature and a *model*: a judge, or,
where its log holds several models, each of these. Units of all judges are pooled; those of one
question are one cluster, whichever model was asked. The model is one more covariate of ``aipw``,
one more factor whose levels may differ in their effects, and one more of the outcome model behind
SHAP values; ``paired`` differences stay within a model. See `effects` and `causal`.

``temperature_models``: for each model, at each temperature and over all of them, the mean over its
units of agreement, consistency and error rate, with intervals clustered by question.
``model_effects``, ``model_moderation``, ``model_attributions`` and ``model_importances`` have the
form of the tables of one judge. The attributions are made for files alone.

The data of a judge are its series in integers, one a line: codes of question, stratum and
condition, replies received, those equal to the label (-1 without one), those without a verdict,
changes between adjacent parsed replicates; and where templates prescribe a form the replies that do
not keep it, and those of which it can be told.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import numpy as np

from pytest_judgesense.datasheets.sections import Board, ComparedJudge, Digits, TableRow, TableRows
from pytest_judgesense.errors import printable
from pytest_judgesense.estimate import number_text
from pytest_judgesense.instruments.temperature.analytic import share_row
from pytest_judgesense.instruments.temperature.effects import (
    ALL,
    attribution_tables,
    effect_tables,
    outcomes_in,
)
from pytest_judgesense.instruments.temperature.measures import EFFECTS, RESTATED
from pytest_judgesense.instruments.temperature.sweep import (
    COVARIATES,
    Codes,
    Flags,
    PooledSeries,
    Value,
    coded_levels,
    outcomes_of,
    series_of,
    sweep_of,
)
from pytest_judgesense.instruments.temperature.tables import effects_lines, moderation_lines
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.text.layout import indented

_TEMPERATURE: Final = "temperature"
_COLUMNS: Final = 9  # of a series; the last two only where a form is prescribed


def material_of(cell: Cell) -> dict[str, Any] | None:
    """The data of a judge for pooling, as plain values; ``None`` if no temperature is known."""
    sweep = sweep_of(cell)
    if _TEMPERATURE not in sweep.levels:
        return None
    series = series_of(cell)
    codes, conditions = sweep.codes([k for k in (_TEMPERATURE, *COVARIATES) if k in sweep.levels])
    replies, lost = series.votes.sum(axis=1), series.votes[:, -1]
    # Of n parsed replicates 1 - changes / (n - 1) are unchanged.
    changes = np.nan_to_num((1 - series.values["consistency"]) * (replies - lost - 1))
    of_form = [series.broken, series.formed] if series.formed.any() else []
    table = np.column_stack(
        [
            series.question,
            series.stratum,
            codes[series.first],
            replies,
            np.where(series.labelled, series.votes[:, 0], -1),
            lost,
            np.rint(changes).astype(np.intp),
            *of_form,
        ]
    )
    return {
        "threshold": series.threshold,
        "questions": list(sweep.questions),
        "conditions": conditions,
        "series": [" ".join(map(str, row)) for row in table[series.alive].tolist()],
    }


def pooled(materials: Mapping[str, Mapping[str, Any]], seed: int) -> PooledSeries:
    """The series of several judges by name, from the results of `material_of`; none was refused.

    The threshold is that of the first judge by name.
    """
    numbers: dict[str, int] = {}
    tables: list[Codes] = []
    conditions: list[dict[str, Value]] = []
    strata = 0
    for name, of in sorted(materials.items()):
        read = [line.split() for line in of["series"]]
        table = np.zeros((len(read), _COLUMNS), dtype=np.intp)
        if read:
            table[:, : len(read[0])] = np.array(read, dtype=np.intp)
        codes = np.array(
            [numbers.setdefault(q, len(numbers)) for q in of["questions"]], dtype=np.intp
        )
        table[:, 0] = codes[table[:, 0]]
        table[:, 1] += strata
        strata = 1 + int(table[:, 1].max(initial=strata - 1))
        table[:, 2] += len(conditions)
        tables.append(table)
        models = {condition_of.get("model", "") for condition_of in of["conditions"]}
        conditions += [
            {
                **condition_of,
                "model": f"{name}: {condition_of.get('model', '')}" if len(models) > 1 else name,
            }
            for condition_of in of["conditions"]
        ]
    question, stratum, condition, *counts = np.concatenate(tables).T
    replies, right, lost, changes, broken, formed = (count.astype(np.float64) for count in counts)
    of_form = (broken, formed) if formed.any() else ()
    levels = {
        key: coded_levels(conditions, key, condition)
        for key in dict.fromkeys(key for condition_of in conditions for key in condition_of)
    }
    values, codes = levels[_TEMPERATURE]
    return PooledSeries(
        levels=levels,
        question=question,
        stratum=stratum,
        alive=np.ones(question.size, dtype=bool),
        temperature=np.array([float(value) for value in values])[codes],
        values=outcomes_of(replies, np.where(right < 0, np.nan, right), lost, changes, *of_form),
        threshold=float(materials[min(materials)]["threshold"]),
        seed=seed,
    )


def tables(
    _suite: str, compared_judges: Sequence[ComparedJudge], seed: int, secondary: bool
) -> Mapping[str, TableRows]:
    """The tables of the judges of a suite, by name; none of one model alone."""
    materials = {
        judge.name: judge.material for judge in compared_judges if judge.material is not None
    }
    if not materials:
        return {}
    pool = pooled(materials, seed)
    models = list(pool.several("model"))
    if not models:
        return {}
    effects, moderation = effect_tables(pool)
    by_name: dict[str, TableRows] = {
        "temperature_models": [
            row for _, model, within in models for row in _means(pool, str(model), within)
        ],
        "model_effects": effects,
        "model_moderation": moderation,
    }
    if secondary:
        attributions, importances, _ = attribution_tables(pool)
        by_name |= {"model_attributions": attributions, "model_importances": importances}
    return by_name


def _means(pool: PooledSeries, model: str, within: Flags) -> Iterator[dict[str, Any]]:
    levels, codes = pool.levels[_TEMPERATURE]
    for level, of in [(ALL, within), *((v, within & (codes == i)) for i, v in enumerate(levels))]:
        row: dict[str, Any] = {"model": model, _TEMPERATURE: level, "n": int(of.sum())}
        for outcome in outcomes_in(pool):
            values = pool.values[outcome][of]
            defined = np.isfinite(values)
            row |= share_row(outcome, values[defined], pool.question[of][defined])
        if of.any():
            yield row


def _outcomes(rows: TableRows) -> list[str]:
    """The outcomes of the rows, without those that only restate another."""
    outcomes = [outcome for outcome in EFFECTS if all(outcome in row for row in rows)]
    return [
        outcome
        for outcome in outcomes
        if not (other := RESTATED.get(outcome)) or any(row[outcome] != row[other] for row in rows)
    ]


def _texts(row: TableRow, outcomes: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The mean of each outcome, and its interval."""
    for outcome in outcomes:
        ends = [row[f"{outcome}_{end}"] for end in ("lower", "upper")]
        interval = "" if None in ends else f"[{', '.join(map(number_text, ends))}]"
        yield "N/A" if row[outcome] is None else number_text(row[outcome]), interval


def _notes(tables: Mapping[str, TableRows]) -> Iterator[str]:
    yield from effects_lines(tables["model_effects"])
    of_models: dict[str, list[str]] = defaultdict(list)
    for row in tables["model_effects"]:
        if row["outcome"] in RESTATED:
            continue
        if row["method"] == "paired" and row["group"] == "model" and row["value"] is not None:
            named = of_models[f"effect of {row['high']} on {row['outcome']} by model, paired"]
            named.append(f"{printable(row['level'])} {row['value']:+.3f}")
    yield from (f"{effect}: {', '.join(effects)}" for effect, effects in of_models.items())
    yield from moderation_lines(tables["model_moderation"])


def board(_suite: str, tables: Mapping[str, TableRows]) -> Board:
    """The models for Markdown."""
    rows = tables["temperature_models"]
    outcomes = _outcomes(rows)
    heads = [head for outcome in outcomes for head in (outcome.replace("_", " "), "95% clustered")]
    return Board(
        "Models at each temperature on",
        ("model", "temperature", "n", *heads),
        tuple(
            (
                row["model"],
                *map(Digits, (row[_TEMPERATURE], row["n"], *chain(*_texts(row, outcomes)))),
            )
            for row in rows
        ),
        tuple(_notes(tables)),
    )


def board_lines(suite: str, tables: Mapping[str, TableRows]) -> Iterator[str]:
    """The models on a terminal, over all temperatures."""
    whole = [row for row in tables["temperature_models"] if row[_TEMPERATURE] == ALL]
    yield from indented(f"{suite}, {len(whole)} models pooled", width=2)
    outcomes = _outcomes(tables["temperature_models"])
    for row in whole:
        of = zip(outcomes, _texts(row, outcomes), strict=True)
        texts_of = ", ".join(" ".join((outcome, *texts)).rstrip() for outcome, texts in of)
        yield from indented(f"{printable(row['model'])}: {texts_of}, n {row['n']}", width=4)
    for note in _notes(tables):
        yield from indented(note, width=4)
