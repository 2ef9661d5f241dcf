"""DeepEval: a table of test cases, with a column for each metric, as people make it of results.

The columns of a test case are DeepEval's names for them; what else holds numbers is a metric.
"""

from __future__ import annotations

from typing import Final

from pytest_judgesense.files.proposals import FileShape, Proposal
from pytest_judgesense.files.rows import name_words
from pytest_judgesense.files.shapes.metric_columns import (
    ITEM,
    METRIC,
    SCORE,
    long_metrics,
    metric_columns,
)
from pytest_judgesense.files.shapes.settings import column, columns
from pytest_judgesense.files.tables import RowTable

_TEXTS: Final = ("input", "actual_output", "expected_output", "context", "retrieval_context")
_FIELDS: Final = {
    "field.task": "input",
    "field.output": "actual_output",
    "field.reference": "expected_output",
}
_COLUMNS: Final = frozenset(
    (
        *(*_TEXTS, "tools_called", "expected_tools", "token_cost", "completion_time", "name"),
        *("comments", "metadata", "tags", "success", "conversational", "multimodal", "index"),
    )
)
# Words of the names of DeepEval's metrics.
_OWN: Final = frozenset(
    "faithfulness relevancy precision recall hallucination bias toxicity geval correctness "
    "correct summarization adherence completeness completion".split()
)
_NO_JUDGE: Final = "the table does not say which model judged: --judge names it"


def _proposal(table: RowTable) -> Proposal:
    return Proposal(
        (
            column("suite", METRIC, "each metric is measured for itself"),
            column("item", ITEM, "a test case"),
            column("verdict", SCORE, "the score"),
            *columns(table, _FIELDS, "what was judged, or beside it"),
        ),
        notes=(_NO_JUDGE,),
    )


def _rows(table: RowTable) -> RowTable:
    return long_metrics(table, metric_columns(table, _COLUMNS, _is_own), _TEXTS)


def _is_own(metric: str) -> bool:
    return not _OWN.isdisjoint(name_words(metric))


def _has_metrics(table: RowTable) -> bool:
    return not table.has("metrics_data") and bool(metric_columns(table, _COLUMNS, _is_own))


DEEPEVAL_TABLE: Final = FileShape(
    "deepeval-table",
    "a table of DeepEval's test cases with a column a metric",
    ("deepeval 4.3.1: deepeval/test_case/llm_test_case.py (LLMTestCase)",),
    ("input", "actual_output"),
    _proposal,
    _rows,
    _has_metrics,
)
