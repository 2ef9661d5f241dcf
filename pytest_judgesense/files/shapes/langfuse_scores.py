"""Langfuse: an export of scores, one a row, whoever gave them.

A score is known by its name and by what it is about: a trace, one observation of it, a session or
a run. ``source`` tells what people annotated from what evaluators and callers of the API gave.
Exports of its pages write ``traceId``, those to a bucket ``trace_id``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from pytest_judgesense.files.proposals import FileShape, Proposal
from pytest_judgesense.files.rows import Row
from pytest_judgesense.files.shapes.raters import Statement, with_people
from pytest_judgesense.files.shapes.settings import column, columns, words_of
from pytest_judgesense.files.tables import RowTable

_LANGFUSE: Final = "langfuse/langfuse@62751446149b702b419a9292ddfc2280cdf74b8c"
_TRACE: Final = ("traceId", "trace_id")
_TYPE: Final = ("dataType", "data_type")
_ABOUT: Final = (
    *_TRACE, "observationId", "observation_id", "sessionId", "session_id", "datasetRunId",
    "dataset_run_id",
)  # fmt: skip
_AUTHORS: Final = ("authorUserName", "author_user_id", "authorUserId")
_OF_PEOPLE: Final = "ANNOTATION"
_NUMERIC: Final = "NUMERIC"
# Types of scores that are texts, and no verdict.
_TEXTS: Final = ("TEXT", "CORRECTION")
# What a row becomes.
_SCORE: Final = "score_value"
_ITEM: Final = "scored"
_GIVEN_BY: Final = "EVAL is an evaluator of Langfuse, API a caller"
_NO_TEXTS: Final = (
    "an export of scores holds no texts: --join TRACES.csv=COLUMN adds those of traces"
)


def _proposal(table: RowTable) -> Proposal:
    sources = words_of(table, ["source"])
    shown = (
        column("suite", "name", "each score is measured for itself"),
        column("item", _ITEM, "what the score is about"),
        *columns(table, dict.fromkeys(("cluster",), _trace_column(table)), "a trace"),
    )
    if sources.keys() <= {_OF_PEOPLE}:
        label = column("label", _SCORE, "what a person annotated")
        return Proposal((*shown, label), no_judge="its scores are annotations of people")
    return Proposal(
        (
            *shown,
            column("judge", "source", _GIVEN_BY),
            column("verdict", _SCORE, "the value; of categories and truths its text"),
            *columns(table, {"reply": "comment"}, "why"),
        ),
        notes=(_NO_TEXTS,),
    )


def _trace_column(table: RowTable) -> str:
    """The column of the trace, where every score is about one."""
    names = (name for name in _TRACE if table.has(name))
    name = next(names, _TRACE[0])
    return name if all(row.value.get(name) for row in table) else ""


def _rows(table: RowTable) -> RowTable:
    return with_people(table, _statements)


def _statements(table: RowTable) -> Iterator[Statement]:
    for row in table:
        if str(_cell(row, _TYPE)) in _TEXTS:
            continue
        about = [str(cell) for name in _ABOUT if (cell := row.value.get(name))]
        source = str(row.value.get("source"))
        score = _score(row)
        whole = replace(row, value={**row.value, _SCORE: score, _ITEM: "-".join(about)})
        is_person = source == _OF_PEOPLE
        rater = str(_cell(row, _AUTHORS) or "annotator") if is_person else source
        yield Statement(whole, (str(row.value.get("name")), *about), rater, score, is_person)


def _cell(row: Row, names: tuple[str, ...]) -> Any:
    return next((cell for name in names if (cell := row.value.get(name))), None)


def _score(row: Row) -> Any:
    """The value of a score: its text, where it is a category or a truth."""
    text = _cell(row, ("stringValue", "string_value"))
    is_number = _cell(row, _TYPE) == _NUMERIC or text is None
    return row.value.get("value") if is_number else text


def _is_export(table: RowTable) -> bool:
    has_type = any(map(table.has, (*_TYPE, "stringValue", "string_value")))
    return any(map(table.has, _TRACE)) and has_type


LANGFUSE_SCORES: Final = FileShape(
    "langfuse-scores",
    "an export of Langfuse's scores (CSV, JSON, or a bucket's files)",
    (
        f"{_LANGFUSE}:worker/src/features/database-read-stream/getDatabaseReadStream.ts (scores)",
        f"{_LANGFUSE}:packages/shared/src/server/repositories/scores.ts (blob storage export)",
        f"{_LANGFUSE}:packages/shared/src/domain/scores.ts (sources and data types)",
    ),
    ("name", "value", "source"),
    _proposal,
    _rows,
    _is_export,
)
