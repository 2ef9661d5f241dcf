"""Phoenix: annotations of spans, which models, people and code gave.

A row is an annotation: ``get_span_annotations_dataframe``, the responses of its interface, or
``to_annotation_dataframe`` of evaluations. A label says it, or a score where there is none. What
code computed is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from pytest_judgesense.files.proposals import FileShape, Proposal
from pytest_judgesense.files.rows import Row, field_of
from pytest_judgesense.files.shapes.raters import Statement, with_people
from pytest_judgesense.files.shapes.settings import column, columns
from pytest_judgesense.files.tables import RowTable

PHOENIX: Final = "arize-phoenix-client 3.5.0"
_SPANS: Final = ("span_id", "context.span_id")
_NAMES: Final = ("annotation_name", "name")
_KIND: Final = "annotator_kind"
_HUMAN: Final = "HUMAN"
_CODE: Final = "CODE"
_RATERS: Final = ("identifier", "user_id")


def _proposal(table: RowTable) -> Proposal:
    shown = (
        column("suite", "annotation", "each annotation is measured for itself"),
        column("item", "span", "a span"),
    )
    if not table.has("verdict"):
        label = column("label", "label_of_person", "what a person said")
        return Proposal((*shown, label), no_judge="its annotations are people's, or code's")
    return Proposal(
        (
            *shown,
            *columns(table, {"judge": "judge"}, "the identifier of the annotation"),
            column("verdict", "verdict", "the label, or the score where there is none"),
            *columns(table, {"score": "score", "reply": "explanation"}, "of the annotation"),
        )
    )


def _rows(table: RowTable) -> RowTable:
    return with_people(table, _statements)


def _statements(table: RowTable) -> Iterator[Statement]:
    labelled = {str(_first(row, _NAMES)) for row in table if _of_result(row, "label") is not None}
    has_identifiers = any(_first(row, _RATERS[:1]) for row in table if not _is_person(row))
    for row in table:
        if str(row.value.get(_KIND)).upper() == _CODE:
            continue
        name, is_person = str(_first(row, _NAMES)), _is_person(row)
        answer = _of_result(row, "label" if name in labelled else "score")
        place = row.value.get("document_position")
        span = [str(cell) for cell in (_first(row, _SPANS), place) if cell is not None]
        rater = str(_first(row, _RATERS) or ("person" if is_person else "llm"))
        cells = {"annotation": name, "span": "-".join(span)}
        if is_person:
            cells["label_of_person"] = answer
        else:
            cells |= {part: _of_result(row, part) for part in ("score", "explanation")}
            cells |= {"verdict": answer, **({"judge": rater} if has_identifiers else {})}
        whole = replace(row, value=cells)
        yield Statement(whole, (name, *span), rater, answer, is_person)


def _is_person(row: Row) -> bool:
    return str(row.value.get(_KIND)).upper() == _HUMAN


def _first(row: Row, names: tuple[str, ...]) -> Any:
    return next((cell for name in names if (cell := row.value.get(name))), None)


def _of_result(row: Row, name: str) -> Any:
    """A part of the result, which may stand below a key, in a column of that name, or alone."""
    cells = (field_of(row.value, column) for column in (f"result.{name}", name))
    return next((cell for cell in cells if cell not in (None, "", ...)), None)


def _has_spans(table: RowTable) -> bool:
    return any(map(table.has, _SPANS)) and any(map(table.has, _NAMES))


PHOENIX_ANNOTATIONS: Final = FileShape(
    "phoenix-annotations",
    "annotations of spans in Phoenix",
    (
        f"{PHOENIX}: phoenix/client/__generated__/v1/__init__.py (SpanAnnotation)",
        f"{PHOENIX}: phoenix/client/resources/spans (get_span_annotations_dataframe)",
        "arize-phoenix-evals 3.9.4: phoenix/evals/utils.py (to_annotation_dataframe)",
    ),
    (_KIND,),
    _proposal,
    _rows,
    _has_spans,
)
