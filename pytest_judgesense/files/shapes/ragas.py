"""Ragas: a table of what was evaluated, and a column for each metric.

``evaluate(...).to_pandas()`` gives the samples and then the scores. Until 0.1 samples were called
by the columns of question answering, which are anybody's: a metric of Ragas tells its tables.
"""

from __future__ import annotations

from typing import Final

from pytest_judgesense.files.proposals import FileShape, Proposal
from pytest_judgesense.files.shapes.metric_columns import (
    ITEM,
    METRIC,
    SCORE,
    long_metrics,
    metric_columns,
)
from pytest_judgesense.files.shapes.repeated import with_rows
from pytest_judgesense.files.shapes.settings import column, columns
from pytest_judgesense.files.tables import RowTable

_SOURCES: Final = (
    "ragas 0.4.3: ragas/dataset_schema.py (SingleTurnSample, EvaluationResult.to_pandas)",
    "ragas 0.4.3: ragas/metrics (names of metrics)",
    "ragas 0.1.22: ragas/validation.py, ragas/evaluation.py (Result.to_pandas)",
)
_SAMPLE: Final = ("user_input", "response", "retrieved_contexts", "reference")
_OLD_SAMPLE: Final = ("question", "answer", "contexts", "ground_truth")
_NEW_FIELDS: Final = {
    "field.task": "user_input",
    "field.output": "response",
    "field.reference": "reference",
}
_OLD_FIELDS: Final = {
    "field.task": "question",
    "field.output": "answer",
    "field.reference": "ground_truth",
}
# All columns of samples, in any version.
_COLUMNS: Final = frozenset(
    (
        *(*_SAMPLE, *_OLD_SAMPLE, "ground_truths", "reference_contexts", "retrieved_context_ids"),
        *("reference_context_ids", "multi_responses", "rubrics", "persona_name", "query_style"),
        *("query_length", "reference_tool_calls", "reference_topics", "synthesizer_name"),
    )
)
# Metrics that a model judges, by which tables of the old columns are known.
_JUDGED: Final = frozenset(
    """
    faithfulness answer_relevancy context_precision context_recall context_relevancy
    context_utilization answer_correctness context_entity_recall answer_similarity
    semantic_similarity noise_sensitivity factual_correctness llm_context_precision_with_reference
    llm_context_precision_without_reference harmfulness maliciousness coherence correctness
    conciseness
    """.split()
)
# Metrics that code or a model of embeddings computes.
_COMPUTED: Final = frozenset(
    """
    answer_similarity semantic_similarity bleu_score chrf_score rouge_score exact_match
    string_present non_llm_string_similarity non_llm_context_recall
    non_llm_context_precision_with_reference id_based_context_recall id_based_context_precision
    tool_call_accuracy tool_call_f1 data_compare_score faithfulness_with_hhem
    """.split()
)
_NO_JUDGE: Final = "a table of Ragas does not say which model judged: --judge names it"


def _proposal(table: RowTable) -> Proposal:
    if not table.has(METRIC):
        return Proposal(no_judge="code computed its metrics")
    return Proposal(
        (
            column("suite", METRIC, "each metric is measured for itself"),
            column("item", ITEM, "a sample"),
            column("verdict", SCORE, "the score"),
            *columns(
                table,
                {**(_NEW_FIELDS if table.has("user_input") else _OLD_FIELDS)},
                "what was judged, or beside it",
            ),
        ),
        notes=(_NO_JUDGE,),
    )


def _rows(table: RowTable) -> RowTable:
    metrics = metric_columns(table, _COLUMNS, _is_own)
    judged = [name for name in metrics if _base(name) not in _COMPUTED]
    computed = [name for name in metrics if name not in judged]
    if computed:
        note = f"code or embeddings computed {', '.join(computed)}: no judge, and left out"
        table = with_rows(table, table.rows, note)
    if empty := [name for name in table.columns if _base(name) in _JUDGED and name not in metrics]:
        table = with_rows(table, table.rows, f"no row has a score of {', '.join(empty)}")
    texts = _SAMPLE if table.has(_SAMPLE[0]) else _OLD_SAMPLE
    return long_metrics(table, judged, texts) if judged else table


def _is_own(metric: str) -> bool:
    return _base(metric) in _JUDGED | _COMPUTED


def _base(metric: str) -> str:
    """The name of a metric without its mode, as in ``factual_correctness(mode=f1)``."""
    return metric.partition("(")[0].strip()


def _has_metrics(table: RowTable) -> bool:
    """Whether a table of samples has metrics of Ragas; or any, beside passages that were found."""
    names = {_base(name) for name in table.columns}
    if names.isdisjoint(("user_input", "question")):
        return False
    if not names.isdisjoint(_JUDGED | _COMPUTED):
        return True
    return "retrieved_contexts" in names and bool(metric_columns(table, _COLUMNS, _is_own))


RAGAS: Final = FileShape(
    "ragas",
    "a table of Ragas (evaluate(...).to_pandas())",
    _SOURCES,
    (),
    _proposal,
    _rows,
    _has_metrics,
)
