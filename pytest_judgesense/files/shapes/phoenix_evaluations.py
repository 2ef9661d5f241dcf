"""Phoenix: a table that its evals filled, a column a score; each holds an object.

``evaluate_dataframe`` adds a column ``NAME_score`` for each score, with its label, its number, its
explanation and its kind, and one with the details of the execution for each evaluator.
"""

from __future__ import annotations

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
                {"reply": "explanation", "field.task": "input", "field.output": "output"},
                "of the row",
            ),
        )
    )


def _rows(table: RowTable) -> RowTable:
    return with_people(table, _statements)


def _statements(table: RowTable) -> Iterator[Statement]:
    names = [name for name in table.columns if name.endswith(_SCORE)]
    labelled = {name for row in table for name in names if _part(row, name).get("label")}
    for row in table:
        rest = {
            name: cell
            for name, cell in row.value.items()
            if name not in names and not name.endswith(_DETAILS)
        }
        ids = (str(cell) for name in _IDS if (cell := row.value.get(name)))
        item = next(ids, None) or name_by_texts(*rest.values())
        for name in names:
            score = _part(row, name)
            if score and (kind := _kind(score)) not in _BY_CODE:
                said = score.get("label" if name in labelled else "score")
                evaluation = name.removesuffix(_SCORE)
                cells = {**rest, "evaluation": evaluation, "evaluated": item}
                if kind != _PEOPLE:
                    cells |= {"verdict": said, "explanation": score.get("explanation")}
                whole = replace(row, where=f"{row.where}, {evaluation}", value=cells)
                yield Statement(whole, (evaluation, item), kind, said, kind == _PEOPLE)


def _kind(score: Mapping[str, Any]) -> str:
    """Who gave a score: ``llm``, ``human`` or ``code``; ``source`` in older versions."""
    return str(score.get("kind") or score.get("source") or "llm")


def _part(row: Row, name: str) -> Mapping[str, Any]:
    """The object that a column holds, as JSON perhaps; an empty one for none."""
    cell = row.value.get(name)
    value = json_or_none(cell) if isinstance(cell, str) else cell
    return value if isinstance(value, dict) and not _PARTS.isdisjoint(value) else {}


def _is_evaluated(table: RowTable) -> bool:
    has_details = any(name.endswith(_DETAILS) for name in table.columns)
    names = [name for name in table.columns if name.endswith(_SCORE)]
    return has_details and any(_part(row, name) for row in table for name in names)


PHOENIX_EVALUATIONS: Final = FileShape(
    "phoenix-evaluations",
    "a table that Phoenix's evals filled (evaluate_dataframe)",
    (
        "arize-phoenix-evals 3.9.4: phoenix/evals/evaluators.py (Score, evaluate_dataframe)",
        "arize-phoenix-evals 3.9.4: phoenix/evals/utils.py (_format_score_data)",
    ),
    (),
    _proposal,
    _rows,
    _is_evaluated,
)
