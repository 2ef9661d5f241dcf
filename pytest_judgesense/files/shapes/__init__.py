"""Shapes of files that people have, a module each: which columns tell one, and how it is read."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.files.proposals import FileShape
from pytest_judgesense.files.shapes.alpaca_eval import ALPACA_EVAL
from pytest_judgesense.files.shapes.arena_hard import ARENA_HARD
from pytest_judgesense.files.shapes.chatbot_arena import CHATBOT_ARENA
from pytest_judgesense.files.shapes.deepeval_results import DEEPEVAL_RESULTS
from pytest_judgesense.files.shapes.deepeval_table import DEEPEVAL_TABLE
from pytest_judgesense.files.shapes.healthbench import HEALTHBENCH
from pytest_judgesense.files.shapes.healthbench_meta import HEALTHBENCH_META
from pytest_judgesense.files.shapes.langfuse_scores import LANGFUSE_SCORES
from pytest_judgesense.files.shapes.mlflow_traces import MLFLOW_TRACES
from pytest_judgesense.files.shapes.mt_bench_pair import MT_BENCH_PAIR
from pytest_judgesense.files.shapes.mt_bench_single import MT_BENCH_SINGLE
from pytest_judgesense.files.shapes.openai_batch import OPENAI_BATCH
from pytest_judgesense.files.shapes.openai_evals import OPENAI_EVALS
from pytest_judgesense.files.shapes.phoenix_annotations import PHOENIX_ANNOTATIONS
from pytest_judgesense.files.shapes.phoenix_classify import PHOENIX_CLASSIFY
from pytest_judgesense.files.shapes.phoenix_evaluations import PHOENIX_EVALUATIONS
from pytest_judgesense.files.shapes.ragas import RAGAS

SHAPES: Final[tuple[FileShape, ...]] = (
    MT_BENCH_PAIR,
    MT_BENCH_SINGLE,
    ALPACA_EVAL,
    ARENA_HARD,
    CHATBOT_ARENA,
    OPENAI_EVALS,
    OPENAI_BATCH,
    HEALTHBENCH,
    HEALTHBENCH_META,
    RAGAS,
    DEEPEVAL_RESULTS,
    DEEPEVAL_TABLE,
    LANGFUSE_SCORES,
    MLFLOW_TRACES,
    PHOENIX_ANNOTATIONS,
    PHOENIX_CLASSIFY,
    PHOENIX_EVALUATIONS,
)
"""All of them; which one a table has is told by its columns."""
