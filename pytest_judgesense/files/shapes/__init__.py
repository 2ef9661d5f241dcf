"""Shapes of files that people have, a module each: which columns tell one, and how it is read."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.files.proposals import FileShape
from pytest_judgesense.files.shapes.alpaca_eval import ALPACA_EVAL
from pytest_judgesense.files.shapes.arena_hard import ARENA_HARD
from pytest_judgesense.files.shapes.chatbot_arena import CHATBOT_ARENA
from pytest_judgesense.files.shapes.healthbench import HEALTHBENCH
from pytest_judgesense.files.shapes.healthbench_meta import HEALTHBENCH_META
from pytest_judgesense.files.shapes.mt_bench_pair import MT_BENCH_PAIR
from pytest_judgesense.files.shapes.mt_bench_single import MT_BENCH_SINGLE
from pytest_judgesense.files.shapes.openai_batch import OPENAI_BATCH
from pytest_judgesense.files.shapes.openai_evals import OPENAI_EVALS

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
)
"""All of them; which one a table has is told by its columns."""
