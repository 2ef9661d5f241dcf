"""Phoenix: a table that its evals filled, with columns for each score.

``evaluate_dataframe`` adds a column ``NAME_score`` for each score, an object with its label, its
number, its explanation and its kind, and one with the details of the execution for each evaluator.
Spans with evaluations have ``eval.NAME.label``, ``eval.NAME.score`` and ``eval.NAME.explanation``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from pytest_judgesense.files.foreign_results import json_or_none
from pytest_judgesense.files.proposals import FileShape, Proposal
from pytest_judgesense.files.rows import Row
from pytest_judgesense.files.shapes.item_names import name_by_texts
from pytest_judgesense.files.shapes.raters import Statement, with_people
from pytest_judgesense.files.shapes.settings import column, columns
from pytest_judgesense.files.tables import RowTable

_SCORE: Final = "_score"
_DETAILS: Final = "_execution_details"
_OF_SPANS: Final = re.compile(r"eval\.(?P<name>.+)\.(?P<part>label|score|explanation)")
_IDS: Final = ("context.span_id", "span_id", "id")
_PEOPLE: Final = "human"
_BY_CODE: Final = ("code", "heuristic")
_PARTS: Final = frozenset(("score", "label", "explanation", "name"))


def _proposal(table: RowTable) -> Proposal:
    shown = (
        column("suite", "evaluation", "each score is measured for itself"),
        column("item", "evaluated", "a row"),
    )
    if not table.has("verdict"):
        return Proposal(shown, no_judge="code computed its scores, or people gave them")
    return Proposal(
        (
            *shown,
            column("verdict", "verdict", "the label, or the score where there is none"),
            *columns(
                table,
                {"reply": "explanation", **_texts(table)},
                "of the row",
            ),
        )
    )


def _texts(table: RowTable) -> dict[str, str]:
    """The columns of what was evaluated, by what a judge is shown."""
    texts = {
        "field.task": ("attributes.input.value", "input"),
        "field.output": ("attributes.output.value", "output"),
    }
    return {
        field: name
        for field, names in texts.items()
        for name in names
        if all(isinstance(row.value.get(name), str) for row in table)
    }


def _rows(table: RowTable) -> RowTable:
    return with_people(table, _statements)


def _statements(table: RowTable) -> Iterator[Statement]:
    parts = _columns_of_scores(table)
    scores = [{name: _score(row, of) for name, of in parts.items()} for row in table]
    labelled = {name for of_row in scores for name, score in of_row.items() if score.get("label")}
    apart = {column for of in parts.values() for column in of.values()}
    for row, of_row in zip(table, scores, strict=True):
        rest = {
            name: cell
            for name, cell in row.value.items()
            if name not in apart and not name.endswith(_DETAILS)
        }
        ids = (str(cell) for name in _IDS if (cell := row.value.get(name)))
        item = next(ids, None) or name_by_texts(*rest.values())
        for name, score in of_row.items():
            if score and (kind := _kind(score)) not in _BY_CODE:
                answer = score.get("label" if name in labelled else "score")
                cells = {**rest, "evaluation": name, "evaluated": item}
                if kind != _PEOPLE:
                    cells |= {"verdict": answer, "explanation": score.get("explanation")}
                whole = replace(row, where=f"{row.where}, {name}", value=cells)
                yield Statement(whole, (name, item), kind, answer, kind == _PEOPLE)


def _columns_of_scores(table: RowTable) -> dict[str, dict[str, str]]:
    """By the name of a score its columns: one for each part, or one, under ``""``, for all."""
    columns_of: dict[str, dict[str, str]] = {}
    for name in table.columns:
        if part := _OF_SPANS.fullmatch(name):
            columns_of.setdefault(part["name"], {})[part["part"]] = name
        elif name.endswith(_SCORE) and any(_object(row, name) for row in table):
            columns_of[name.removesuffix(_SCORE)] = {"": name}
    return columns_of


def _score(row: Row, columns_of: Mapping[str, str]) -> Mapping[str, Any]:
    """The parts of a score that a row has; empty if it has none."""
    if "" in columns_of:
        return _object(row, columns_of[""])
    parts = {part: row.value.get(name) for part, name in columns_of.items()}
    return {part: cell for part, cell in parts.items() if cell not in (None, "")}


def _object(row: Row, name: str) -> Mapping[str, Any]:
    """The object that a column holds, as JSON perhaps; an empty one for none."""
    cell = row.value.get(name)
    value = json_or_none(cell) if isinstance(cell, str) else cell
    return value if isinstance(value, dict) and not _PARTS.isdisjoint(value) else {}


def _kind(score: Mapping[str, Any]) -> str:
    """Who gave a score: ``llm``, ``human`` or ``code``; ``source`` in older versions."""
    return str(score.get("kind") or score.get("source") or "llm")


def _is_evaluated(table: RowTable) -> bool:
    is_filled = any(name.endswith(_DETAILS) for name in table.columns)
    is_of_spans = any(_OF_SPANS.fullmatch(name) for name in table.columns)
    return (is_filled or is_of_spans) and bool(_columns_of_scores(table))


PHOENIX_EVALUATIONS: Final = FileShape(
    "phoenix-evaluations",
    "a table that Phoenix's evals filled (evaluate_dataframe), or spans with evaluations",
    (
        "arize-phoenix-evals 3.9.4: phoenix/evals/evaluators.py (Score, evaluate_dataframe)",
        "arize-phoenix 20.26.1: phoenix/trace/span_evaluations.py (Evaluations.get_dataframe)",
    ),
    (),
    _proposal,
    _rows,
    _is_evaluated,
)
