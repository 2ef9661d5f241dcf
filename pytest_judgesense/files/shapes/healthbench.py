"""HealthBench: a model's answers to medical conversations, graded by items of rubrics.

simple-evals keeps the grades below ``metadata.example_level_metadata`` of its file of all results.
An item of a rubric is met or not; of one with negative points, what it describes is undesirable.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pytest_judgesense.files.proposals import FileShape, Proposal, Setting, ShownSetting
from pytest_judgesense.files.rows import Row
from pytest_judgesense.files.shapes.conversations import conversation_text, last_content
from pytest_judgesense.files.shapes.repeated import numbered, with_rows
from pytest_judgesense.files.shapes.settings import column, columns, of_all, words_of
from pytest_judgesense.files.tables import RowTable

SIMPLE_EVALS: Final = "openai/simple-evals@ee3b0318d8d1d9d72755a4120879be65f7c07e9e"
"""The version of simple-evals whose code states the layouts."""
_ITEMS: Final = "rubric_items"
_PLACE: Final = "rubric"
# What the messages become.
_CONVERSATION: Final = "conversation"
_ANSWER: Final = "answer_text"
# What is about the answer, and not about its grades: the prompt is no judge's.
_OF_THE_ANSWER: Final = ("prompt", "completion", "usage", "score")
_NOTES: Final = (
    "the file does not say which model graded: --judge names it",
    "of criteria with negative points it is bad to be met",
)


def _proposal(table: RowTable) -> Proposal:
    answers = len(words_of(table, ["completion_id"]))
    is_single = answers <= len(words_of(table, ["prompt_id"]))
    answer = "prompt_id" if is_single else "completion_id"
    return Proposal(
        (
            of_all("suite", "healthbench", "grades of HealthBench"),
            ShownSetting(Setting("lists", (_ITEMS, _PLACE)), "a grade for each item of the rubric"),
            column("item", f"{answer},{_PLACE}", "an answer, and an item of its rubric"),
            column("cluster", "prompt_id", "the items of a rubric share an answer"),
            column("verdict", f"{_ITEMS}.criteria_met", "whether it is met"),
            *_explanation(table),
            column("field.criterion", f"{_ITEMS}.criterion", "what the judge was asked"),
            *columns(
                table,
                {"field.task": _CONVERSATION, "field.output": _ANSWER},
                "the conversation, and the answer",
            ),
        ),
        notes=_NOTES,
    )


def _explanation(table: RowTable) -> tuple[ShownSetting, ...]:
    has = table.has(f"{_ITEMS}.0.explanation")
    return (column("reply", f"{_ITEMS}.explanation", "why"),) if has else ()


def _rows(table: RowTable) -> RowTable:
    """The rows, with the conversation and the answer as texts."""
    rows = [_with_texts(row) for row in table]
    return numbered(with_rows(table, rows), ("prompt_id", "completion_id"))


def _with_texts(row: Row) -> Row:
    texts = {
        _CONVERSATION: conversation_text(row.value.get("prompt")),
        _ANSWER: last_content(row.value.get("completion")),
    }
    read = {name: text for name, text in texts.items() if text is not None}
    rest = {name: cell for name, cell in row.value.items() if name not in _OF_THE_ANSWER}
    return replace(row, value={**rest, **read})


HEALTHBENCH: Final = FileShape(
    "healthbench",
    "grades of HealthBench (simple-evals, *_allresults.json)",
    (f"{SIMPLE_EVALS}:healthbench_eval.py (HealthBenchEval.grade_sample, __call__)",),
    ("prompt_id", f"{_ITEMS}.0.criteria_met"),
    _proposal,
    _rows,
)
