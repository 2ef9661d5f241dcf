"""Langfuse: scores, one a row or in lists of traces, whoever gave them.

A score is known by its name and by what it is about: a trace, one observation of it, a session or
a run. ``source`` tells what people annotated from what evaluators and callers of the API gave.
Exports of its pages write ``traceId``, those to a bucket ``trace_id``, the newest interface
``subject``. Traces and observations hold their scores in lists, beside input and output.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from pytest_judgesense.files.foreign_results import json_or_none
from pytest_judgesense.files.proposals import FileShape, Proposal
from pytest_judgesense.files.rows import Row, field_of
from pytest_judgesense.files.shapes.raters import Statement, with_people
from pytest_judgesense.files.shapes.settings import column, columns, words_of
from pytest_judgesense.files.tables import RowTable

_LANGFUSE: Final = "langfuse/langfuse@62751446149b702b419a9292ddfc2280cdf74b8c"
_SCORES: Final = "scores"
_TRACE: Final = ("traceId", "trace_id", "subject.traceId")
_ABOUT: Final = (
    *_TRACE, "observationId", "observation_id", "sessionId", "session_id", "datasetRunId",
    "dataset_run_id", "subject.id",
)  # fmt: skip
_TYPE: Final = ("dataType", "data_type")
_TEXT: Final = ("stringValue", "string_value")
_AUTHORS: Final = ("authorUserName", "author_user_id", "authorUserId")
_OF_PEOPLE: Final = "ANNOTATION"
_NUMERIC: Final = "NUMERIC"
# Types of scores that are texts, and no verdict.
_TEXTS: Final = ("TEXT", "CORRECTION")
# What a row becomes, besides the names of what it is about.
_SCORE: Final = "score_value"
_ITEM: Final = "scored"
_CLUSTER: Final = "trace_of_score"
_GIVEN_BY: Final = "EVAL is an evaluator of Langfuse, API a caller"
_NO_TEXTS: Final = "an export of scores holds no texts: --join FILE=COLUMN adds those of its traces"


def _proposal(table: RowTable) -> Proposal:
    sources = words_of(table, ["source"])
    texts = columns(table, {"field.task": "input", "field.output": "output"}, "what was scored")
    shown = (
        column("suite", "name", "each score is measured for itself"),
        column("item", _ITEM, "what the score is about"),
        column("cluster", _CLUSTER, "a trace"),
        *texts,
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
        notes=() if texts else (_NO_TEXTS,),
    )


def _rows(table: RowTable) -> RowTable:
    return with_people(table, _statements)


def _statements(table: RowTable) -> Iterator[Statement]:
    for row in table:
        texts = {name: text for name in ("input", "output") if (text := _text(row.value.get(name)))}
        for score in _scores(row):
            if str(_cell(score, _TYPE)) not in _TEXTS:
                yield _statement(row, score, texts)


def _statement(row: Row, score: Mapping[str, Any], texts: Mapping[str, str]) -> Statement:
    ids = {name: str(cell) for name in _ABOUT if (cell := _cell(score, (name,))) is not None}
    about = [*dict.fromkeys(ids.values())]
    name, source, value = str(score.get("name")), str(score.get("source")), _value(score)
    is_person = source == _OF_PEOPLE
    rater = str(_cell(score, _AUTHORS) or "annotator") if is_person else source
    cells = {
        **texts,
        **ids,
        "name": name,
        "source": source,
        "comment": score.get("comment"),
        _SCORE: value,
        _ITEM: "-".join(about),
        _CLUSTER: next(iter(about), ""),
    }
    return Statement(replace(row, value=cells), (name, *about), rater, value, is_person)


def _scores(row: Row) -> list[Mapping[str, Any]]:
    """The scores of a row: it is one, or it is a trace or an observation with a list of them."""
    scores = row.value.get(_SCORES)
    listed = json_or_none(scores) if isinstance(scores, str) else scores
    if not isinstance(listed, list):
        return [row.value]
    trace = {"traceId": row.value.get("id")}
    return [{**trace, **score} for score in listed if isinstance(score, Mapping)]


def _cell(score: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    cells = (field_of(score, name) for name in names)
    return next((cell for cell in cells if cell not in (None, "", ...)), None)


def _value(score: Mapping[str, Any]) -> Any:
    """The value of a score: its text, where it is a category or a truth."""
    text = _cell(score, _TEXT)
    is_number = _cell(score, _TYPE) == _NUMERIC or text is None
    return score.get("value") if is_number else text


def _text(value: Any) -> str | None:
    """An input or an output as a text."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _has_scores(table: RowTable) -> bool:
    """Whether rows are scores of Langfuse, or hold lists of them."""
    own = ("name", "value", "source")
    is_about = any(map(table.has, (*_ABOUT,))) and any(map(table.has, (*_TYPE, *_TEXT)))
    if all(map(table.has, own)) and is_about:
        return True
    listed = (f"{_SCORES}.0.{name}" for name in own)
    return table.has(_SCORES) and all(map(table.has, listed))


LANGFUSE_SCORES: Final = FileShape(
    "langfuse-scores",
    "scores of Langfuse (exports in CSV and JSON, a bucket's files, traces with scores)",
    (
        f"{_LANGFUSE}:worker/src/features/database-read-stream/getDatabaseReadStream.ts (scores)",
        f"{_LANGFUSE}:packages/shared/src/server/repositories/scores.ts (blob storage export)",
        f"{_LANGFUSE}:packages/shared/src/domain/scores.ts (sources and data types)",
        "langfuse 5.0.4: langfuse/api/scores/types/base_score_v3.py",
    ),
    (),
    _proposal,
    _rows,
    _has_scores,
)
