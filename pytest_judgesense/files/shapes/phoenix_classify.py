"""Phoenix: what ``llm_classify`` of its evals until version 0 gives, a label a row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from pytest_judgesense.files.proposals import FileShape, Proposal
from pytest_judgesense.files.rows import Row
from pytest_judgesense.files.shapes.repeated import with_rows
from pytest_judgesense.files.shapes.settings import column, columns, words
from pytest_judgesense.files.tables import RowTable

_LABEL: Final = "label"
_STATUS: Final = "execution_status"
_FAILED: Final = "FAILED"
# The index of the table, as CSV and JSON keep it; without a name, in its first column.
_IDS: Final = ("context.span_id", "span_id", "id", "index", "Unnamed: 0", "")
_ITEM: Final = "classified"
_ERROR: Final = "error"


def _proposal(table: RowTable) -> Proposal:
    reply = "response" if table.has("response") else "explanation"
    return Proposal(
        (
            column("item", _ITEM, "the index of the row"),
            column("verdict", _LABEL, "the label"),
            *words(table, (_LABEL,), {"NOT_PARSABLE": ""}, "the reply was none of the labels"),
            *columns(
                table,
                {"reply": reply, "prompt": "prompt", "failed": _ERROR},
                "what the judge said, and was shown",
            ),
        )
    )


def _rows(table: RowTable) -> RowTable:
    names = (name for name in _IDS if len({_cell(row, name) for row in table} - {""}) == len(table))
    name = next(names, None)
    return with_rows(
        table,
        [
            replace(row, value={**row.value, _ITEM: _named(row, name), _ERROR: _failure(row)})
            for row in table
        ],
    )


def _cell(row: Row, name: str) -> str:
    cell = row.value.get(name)
    return "" if cell is None else str(cell)


def _named(row: Row, name: str | None) -> str:
    """What the index calls a row, or its number."""
    return f"row-{row.number}" if name is None else _cell(row, name)


def _failure(row: Row) -> str | None:
    """Why a row has no label, where its calls failed."""
    if row.value.get(_STATUS) != _FAILED:
        return None
    reasons: Any = row.value.get("exceptions")
    return str(reasons[-1] if isinstance(reasons, list) and reasons else reasons or "failed")


PHOENIX_CLASSIFY: Final = FileShape(
    "phoenix-classify",
    "labels of Phoenix's llm_classify",
    ("arize-phoenix-evals 0.29.0: phoenix/evals/classify.py (llm_classify)",),
    (_LABEL, _STATUS, "execution_seconds"),
    _proposal,
    _rows,
)
