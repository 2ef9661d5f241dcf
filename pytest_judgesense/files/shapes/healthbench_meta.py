"""HealthBench's meta-evaluation: what physicians said of answers, by criteria.

``binary_labels`` has one label for each of ``anonymized_physician_ids``. A file of them holds no
judge; where a grader's ``criteria_met`` was added to each row, the physicians stand beside it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from pytest_judgesense.files.foreign_results import json_or_none
from pytest_judgesense.files.messages import text_or_chat
from pytest_judgesense.files.proposals import FileShape, Proposal
from pytest_judgesense.files.reshaping import PEOPLE
from pytest_judgesense.files.rows import Row
from pytest_judgesense.files.shapes.healthbench import SIMPLE_EVALS
from pytest_judgesense.files.shapes.item_names import name_by_texts
from pytest_judgesense.files.shapes.repeated import with_rows
from pytest_judgesense.files.shapes.settings import column, columns, of_all
from pytest_judgesense.files.tables import RowTable

_LABELS: Final = "binary_labels"
_PHYSICIANS: Final = "anonymized_physician_ids"
_GRADE: Final = "criteria_met"
_CONVERSATION: Final = "conversation"
# What an answer and a criterion are called by, where the file does not number them.
_ITEM: Final = "item"
_TEXTS: Final = tuple("prompt completion rubric".split())
_, _COMPLETION, _RUBRIC = _TEXTS


def _proposal(table: RowTable) -> Proposal:
    texts = {"field.criterion": _RUBRIC, "field.output": _COMPLETION}
    shown = (
        column("item", _ITEM, "an answer and a criterion"),
        *columns(table, {"cluster": "prompt_id"}, "the answers to one conversation"),
        *columns(table, texts, "what the physicians saw"),
        *columns(table, {"field.task": _CONVERSATION}, "what the physicians saw"),
    )
    if not table.has(_GRADE):
        return Proposal(shown, no_judge="its labels are physicians'")
    return Proposal(
        (
            of_all("suite", "healthbench-meta", "the meta-evaluation of HealthBench"),
            *shown,
            column("verdict", _GRADE, "the grader's answer"),
            *columns(table, {"reply": "explanation"}, "why"),
        )
    )


def _rows(table: RowTable) -> RowTable:
    """The rows, with a column a physician and the conversation as a text."""
    return with_rows(table, map(_with_people, table))


def _with_people(row: Row) -> Row:
    labels, names = (_list_of(row.value.get(name)) for name in (_LABELS, _PHYSICIANS))
    if not isinstance(labels, list):
        raise row.wrong(_LABELS, "a list of what physicians said: true or false")
    if not isinstance(names, list) or len(names) != len(labels):
        names = [f"physician {place}" for place in range(1, len(labels) + 1)]
    people = {f"{PEOPLE}{name}": label for name, label in zip(names, labels, strict=True)}
    task = text_or_chat(row.value.get("prompt"))
    # The prompt is no judge's; the labels stand in columns of their own.
    rest = {n: cell for n, cell in row.value.items() if n not in ("prompt", _LABELS, _PHYSICIANS)}
    return replace(
        row,
        value={
            **rest,
            _ITEM: row.value.get(_ITEM) or name_by_texts(*map(row.value.get, _TEXTS)),
            **people,
            **({} if task is None else {_CONVERSATION: task}),
        },
    )


def _list_of(value: Any) -> Any:
    return json_or_none(value) if isinstance(value, str) else value


HEALTHBENCH_META: Final = FileShape(
    "healthbench-meta",
    "labels of physicians for HealthBench's meta-evaluation (oss_meta_eval.jsonl)",
    (f"{SIMPLE_EVALS}:healthbench_meta_eval.py (HealthBenchMetaEval.__call__)",),
    (_LABELS, _RUBRIC, _COMPLETION),
    _proposal,
    _rows,
)
