"""HealthBench: answers to medical conversations, graded by items of rubrics.

simple-evals keeps the grades below ``metadata.example_level_metadata`` of its file of all results:
of each answer a list of the items of its rubric, each met or not. Programs that were made after it
keep such lists elsewhere in a row, or an item a row. Of an item with negative points, what it
describes is undesirable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from pytest_judgesense.files.messages import last_content, text_or_chat
from pytest_judgesense.files.proposals import FileShape, Proposal, Setting, ShownSetting
from pytest_judgesense.files.rows import Row, field_of
from pytest_judgesense.files.shapes.item_names import name_by_texts
from pytest_judgesense.files.shapes.repeated import numbered, with_rows
from pytest_judgesense.files.shapes.settings import column, columns, of_all, words_of
from pytest_judgesense.files.tables import RowTable

SIMPLE_EVALS: Final = "openai/simple-evals@ee3b0318d8d1d9d72755a4120879be65f7c07e9e"
"""The version of simple-evals whose code states the layouts."""
_MET: Final = "criteria_met"
_CRITERION: Final = "criterion"
_PLACE: Final = "rubric_item"
# What tells an answer, the surest first; and what an answer is called that has none of them.
_IDS: Final = ("completion_id", "prompt_id", "id")
_ANSWER: Final = "graded_answer"
# What the messages become.
_CONVERSATION: Final = "conversation"
_TEXT: Final = "answer_text"
# What is about the answer, and not about its grades: the prompt is no judge's.
_OF_THE_ANSWER: Final = ("prompt", "completion", "usage", "score")
_LOOKED_AT: Final = 20
_NOTES: Final = (
    "the file does not say which model graded: --judge names it",
    "of criteria with negative points it is bad to be met",
)


def _proposal(table: RowTable) -> Proposal:
    path = _rubric(table)
    inner = f"{path}." if path else ""
    listed = ShownSetting(Setting("lists", (path, _PLACE)), "a grade for each item of the rubric")
    more = {"reply": "explanation", "field.criterion": _CRITERION}
    of_item = {field: name for field, name in more.items() if _has(table, path, name)}
    return Proposal(
        (
            of_all("suite", "healthbench", "grades of HealthBench"),
            *([listed] if path else []),
            column("item", f"{_ANSWER},{_PLACE if path else _CRITERION}", "an answer and an item"),
            *columns(table, {"cluster": "prompt_id"}, "the answers to one conversation"),
            *([] if table.has("prompt_id") else [column("cluster", _ANSWER, "an answer")]),
            column("verdict", f"{inner}{_MET}", "whether the item is met"),
            *(column(field, f"{inner}{name}", "of the item") for field, name in of_item.items()),
            *columns(table, {"field.task": _CONVERSATION, "field.output": _TEXT}, "what was read"),
        ),
        notes=_NOTES,
    )


def _rubric(table: RowTable) -> str:
    """The column of the lists of graded items; empty where there is none, or a row is an item."""
    if table.has(_MET):
        return ""
    paths = (path for row in table.rows[:_LOOKED_AT] for path in _lists_of_items(row.value))
    return next(paths, "")


def _lists_of_items(value: Any, before: str = "", depth: int = 2) -> Iterator[str]:
    """The columns of a row, and of objects in it, that hold lists of graded items."""
    for name, cell in value.items():
        if isinstance(cell, list) and cell and isinstance(cell[0], dict) and _MET in cell[0]:
            yield f"{before}{name}"
        elif isinstance(cell, dict) and depth:
            yield from _lists_of_items(cell, f"{before}{name}.", depth - 1)


def _has(table: RowTable, path: str, name: str) -> bool:
    return table.has(f"{path}.0.{name}" if path else name)


def _rows(table: RowTable) -> RowTable:
    """The rows with grades, each with a name of its answer, and with its messages as texts."""
    path = _rubric(table)
    several = len(words_of(table, ["completion_id"])) > len(words_of(table, ["prompt_id"]))
    ids = _IDS if several or not table.has("prompt_id") else ("prompt_id",)
    graded = [row for row in table if not path or isinstance(field_of(row.value, path), list)]
    rows = [_with_texts(row, ids) for row in graded]
    is_item = () if path else (_CRITERION,)
    return numbered(with_rows(table, rows), (_ANSWER, *is_item))


def _with_texts(row: Row, ids: tuple[str, ...]) -> Row:
    texts = {
        _CONVERSATION: text_or_chat(row.value.get("prompt")),
        _TEXT: last_content(row.value.get("completion")),
    }
    read = {name: text for name, text in texts.items() if text is not None}
    rest = {name: cell for name, cell in row.value.items() if name not in _OF_THE_ANSWER}
    names = (str(cell) for name in ids if (cell := row.value.get(name)) not in (None, ""))
    answer = next(names, "") or name_by_texts(*(row.value.get(name) for name in _OF_THE_ANSWER))
    return replace(row, value={**rest, **read, _ANSWER: answer})


def _has_grades(table: RowTable) -> bool:
    """Whether items of rubrics are graded: in lists, or one a row, with no label of people."""
    if table.has(_MET):
        return table.has(_CRITERION)
    return bool(_rubric(table))


HEALTHBENCH: Final = FileShape(
    "healthbench",
    "grades of HealthBench (simple-evals, *_allresults.json)",
    (f"{SIMPLE_EVALS}:healthbench_eval.py (HealthBenchEval.grade_sample, __call__)",),
    (),
    _proposal,
    _rows,
    _has_grades,
)
