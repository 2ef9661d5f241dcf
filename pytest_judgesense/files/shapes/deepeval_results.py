"""DeepEval: the test results that ``evaluate`` returns, as JSON; each metric of each is a verdict.

The files that DeepEval writes by itself, ``test_run_*.json``, have an importer of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from pytest_judgesense.files.proposals import FileShape, Proposal, Setting, ShownSetting
from pytest_judgesense.files.rows import Row
from pytest_judgesense.files.shapes.item_names import name_by_texts
from pytest_judgesense.files.shapes.repeated import numbered, with_rows
from pytest_judgesense.files.shapes.settings import column, columns
from pytest_judgesense.files.tables import RowTable

_METRICS: Final = "metrics_data"
_PLACE: Final = "metric"
_MODEL: Final = "evaluation_model"
_BY_ALIAS: Final = "evaluationModel"
_ITEM: Final = "test_case"
_TEXTS: Final = ("input", "actual_output", "expected_output", "turns")
_FIELDS: Final = {
    "field.task": "input",
    "field.output": "actual_output",
    "field.reference": "expected_output",
}
_PASS: Final = {"true": "pass", "false": "fail"}


def _proposal(table: RowTable) -> Proposal:
    def of_metric(name: str) -> bool:
        return any(data.get(name) is not None for row in table for data in _metrics(row))

    more = {"judge": _MODEL, "score": "score", "reply": "reason", "failed": "error"}
    return Proposal(
        (
            ShownSetting(Setting("lists", (_METRICS, _PLACE)), "a verdict for each metric"),
            column("suite", f"{_METRICS}.name", "each metric is measured for itself"),
            column("item", _ITEM, "a test case"),
            column("verdict", f"{_METRICS}.success", "whether it passes the metric's threshold"),
            *_passes(table),
            *(
                column(field, f"{_METRICS}.{name}", "of the metric")
                for field, name in more.items()
                if of_metric(name)
            ),
            *columns(table, _FIELDS, "what was judged, or beside it"),
        )
    )


def _passes(table: RowTable) -> tuple[ShownSetting, ...]:
    """What true and false are called, where they occur: as in the files that DeepEval writes."""
    occurring = {str(data.get("success")).lower() for row in table for data in _metrics(row)}
    return tuple(
        ShownSetting(Setting("value", (truth, word)), "a metric passes or fails")
        for truth, word in _PASS.items()
        if truth in occurring
    )


def _rows(table: RowTable) -> RowTable:
    """The test cases that metrics were measured on; of the metrics those that a model judged."""
    metrics = [_metrics(row) for row in table]
    if any(data.get(_MODEL) for of_row in metrics for data in of_row):
        metrics = [[data for data in of_row if data.get(_MODEL)] for of_row in metrics]
    names = Counter(str(row.value.get("name")) for row in table)
    rows = [
        replace(row, value={**row.value, _METRICS: of_row, _ITEM: _named(row, names)})
        for row, of_row in zip(table, metrics, strict=True)
        if of_row
    ]
    return numbered(with_rows(table, rows), (_ITEM,))


def _metrics(row: Row) -> list[Mapping[str, Any]]:
    """The metrics of a test case, with the model under one name."""
    metrics = row.value.get(_METRICS)
    whole = metrics if isinstance(metrics, list) else []
    listed = [data for data in whole if isinstance(data, Mapping)]
    models = [data.get(_MODEL) or data.get(_BY_ALIAS) for data in listed]
    return [
        {**data, _MODEL: model} if model else {**data}
        for data, model in zip(listed, models, strict=True)
    ]


def _named(row: Row, names: Counter[str]) -> str:
    """The name of a test case; where others have it too, one by its texts."""
    name = row.value.get("name")
    if isinstance(name, str) and name and names[name] == 1:
        return name
    return name_by_texts(*(row.value.get(text) for text in _TEXTS))


DEEPEVAL_RESULTS: Final = FileShape(
    "deepeval-results",
    "test results of DeepEval (EvaluationResult as JSON)",
    (
        "deepeval 4.3.1: deepeval/evaluate/types.py (TestResult, EvaluationResult)",
        "deepeval 4.3.1: deepeval/test_run/api.py (MetricData)",
    ),
    (_METRICS, f"{_METRICS}.0.name", f"{_METRICS}.0.success"),
    _proposal,
    _rows,
)
