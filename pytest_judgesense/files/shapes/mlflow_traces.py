"""MLflow: traces with assessments, which judges, people and code gave.

``mlflow.search_traces()`` gives a row a trace with a list of assessments; a trace that was written
as JSON keeps them below ``info``. Feedback of a judge is a verdict, that of people and what they
expect is a label of the same name, and what code computed is left out, as is what was overridden.

The table of an evaluation has a column ``NAME/value`` for each, which is read where a cell of CSV
cannot hold the list. It does not say who scored: what has reasons beside it, in ``NAME/rationale``,
is taken for a judge's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pytest_judgesense.files.foreign_results import json_or_none
from pytest_judgesense.files.proposals import FileShape, Proposal
from pytest_judgesense.files.rows import Row, field_of
from pytest_judgesense.files.shapes.raters import Statement, with_people
from pytest_judgesense.files.shapes.settings import column, columns
from pytest_judgesense.files.tables import RowTable

_ASSESSMENTS: Final = ("assessments", "info.assessments")
_NAMES: Final = ("assessment_name", "name")
_HUMAN: Final = "HUMAN"
_CODE: Final = "CODE"
_REQUESTS: Final = ("request", "request_preview", "info.request_preview")
_RESPONSES: Final = ("response", "response_preview", "info.response_preview")
_IDS: Final = ("trace_id", "info.trace_id", "request_id")
# Of the columns of an evaluation's table: a score, by its name.
_VALUE: Final = "/value"
_REASON: Final = "/rationale"
_ERROR: Final = "/error_message"
_NO_JUDGE: Final = "the table of an evaluation does not say who scored: --judge names it"


def _proposal(table: RowTable) -> Proposal:
    shown = (
        column("suite", "assessment", "each assessment is measured for itself"),
        column("item", "assessed", "a trace, or a span of it"),
        column("cluster", "trace", "a trace"),
        *columns(table, {"field.task": "request", "field.output": "response"}, "what was judged"),
    )
    if not table.has("verdict"):
        label = column("label", "label_of_person", "what a person said")
        return Proposal((*shown, label), no_judge="no assessment is of an LLM judge")
    return Proposal(
        (
            *shown,
            *columns(table, {"judge": "judge"}, "the source of an assessment by an LLM judge"),
            column("verdict", "verdict", "the value of the feedback"),
            *columns(table, {"reply": "rationale", "failed": "failed"}, "of the assessment"),
        ),
        notes=() if table.has("judge") else (_NO_JUDGE,),
    )


def _rows(table: RowTable) -> RowTable:
    return with_people(table, _statements)


def _statements(table: RowTable) -> Iterator[Statement]:
    names = _scores_of(table)
    for row in table:
        shared = {
            "trace": _first(row, _IDS),
            "request": _text(_first(row, _REQUESTS)),
            "response": _text(_first(row, _RESPONSES)),
        }
        assessments = _assessments(row)
        if assessments is None:
            yield from _of_columns(row, shared, names)
        for place, assessment in enumerate(assessments or (), start=1):
            if (statement := _statement(row, place, shared, assessment)) is not None:
                yield statement


def _assessments(row: Row) -> list[Mapping[str, Any]] | None:
    """The assessments of a trace; ``None`` where they are no list, as in a cell of CSV."""
    value = _first(row, _ASSESSMENTS)
    listed = json_or_none(value) if isinstance(value, str) else value
    if not isinstance(listed, list):
        return None
    return [assessment for assessment in listed if isinstance(assessment, Mapping)]


def _scores_of(table: RowTable) -> list[str]:
    """The names of the scores that have columns: those with reasons beside them, if any have."""
    names = [name.removesuffix(_VALUE) for name in table.columns if name.endswith(_VALUE)]
    return [name for name in names if f"{name}{_REASON}" in table.columns] or names


def _of_columns(row: Row, shared: Mapping[str, Any], names: Sequence[str]) -> Iterator[Statement]:
    """What the table of an evaluation says of a trace; who judged is not there."""
    for name in names:
        answer, failure = (row.value.get(f"{name}{part}") for part in (_VALUE, _ERROR))
        if answer in (None, "") and failure in (None, ""):
            continue
        cells = {
            **shared,
            "assessment": name,
            "assessed": str(shared["trace"]),
            "rationale": row.value.get(f"{name}{_REASON}"),
            "failed": failure,
            "verdict": _plain(answer),
        }
        whole = replace(row, where=f"{row.where}, {name}", value=cells)
        yield Statement(whole, (name, str(shared["trace"])), "", answer, is_person=False)


def _statement(
    row: Row, place: int, shared: Mapping[str, Any], assessment: Mapping[str, Any]
) -> Statement | None:
    """What an assessment says; ``None`` if code gave it, it was overridden, or it has no value."""
    source = assessment.get("source")
    source = source if isinstance(source, Mapping) else {}
    kind, feedback = str(source.get("source_type", "")).upper(), assessment.get("feedback")
    expected = field_of(assessment, "expectation.value")
    is_person = kind == _HUMAN or expected is not ...
    if assessment.get("valid") is False or (kind == _CODE and not is_person):
        return None
    if not isinstance(feedback, Mapping) and expected is ...:
        return None
    answer = _plain(field_of(feedback, "value") if isinstance(feedback, Mapping) else expected)
    name = str(next((assessment[key] for key in _NAMES if assessment.get(key)), "assessment"))
    rater = str(source.get("source_id") or kind.lower() or "judge")
    about = [str(cell) for cell in (shared["trace"], assessment.get("span_id")) if cell]
    cells = {
        **shared,
        "assessment": name,
        "assessed": "-".join(about),
        "rationale": assessment.get("rationale"),
        "failed": _failure(feedback),
        **({"label_of_person": answer} if is_person else {"verdict": answer, "judge": rater}),
    }
    whole = replace(row, where=f"{row.where}, assessment {place}", value=cells)
    return Statement(whole, (name, *about), rater, answer, is_person)


def _first(row: Row, names: tuple[str, ...]) -> Any:
    cells = (field_of(row.value, name) for name in names)
    return next((cell for cell in cells if cell not in (None, "", ...)), None)


def _text(value: Any) -> str | None:
    """A request or a response as a text."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """A value that a verdict can be: lists and objects as texts; ``None`` for none."""
    if value is ...:
        return None
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def _failure(feedback: Any) -> str | None:
    """Why the judge gave no value, if it says so."""
    for name in ("error.error_message", "error.error_code"):
        reason = field_of(feedback, name)
        if isinstance(reason, str) and reason.strip():
            return reason
    return None


def _has_assessments(table: RowTable) -> bool:
    """Whether traces have assessments in lists, or in the columns of an evaluation's table."""
    is_listed = any(
        isinstance(field_of(row.value, f"{name}.0.source"), Mapping)
        for row in table
        for name in _ASSESSMENTS
    )
    is_table = any(name.endswith(_VALUE) for name in table.columns)
    return is_listed or (is_table and any(map(table.has, _IDS)))


MLFLOW_TRACES: Final = FileShape(
    "mlflow-traces",
    "traces of MLflow with assessments (search_traces, or traces as JSON)",
    (
        "mlflow 3.18.0: mlflow/entities/assessment.py, mlflow/entities/assessment_source.py",
        "mlflow 3.18.0: mlflow/entities/trace.py (to_pandas_dataframe_row, to_dict)",
        "mlflow 3.18.0: mlflow/genai/utils/trace_utils.py (construct_eval_result_df)",
    ),
    (),
    _proposal,
    _rows,
    _has_assessments,
)
