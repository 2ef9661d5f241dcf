"""MT-bench, one answer graded from 1 to 10: ``gpt-4_single.jsonl``."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.files.proposals import FileShape, Proposal
from pytest_judgesense.files.shapes.fastchat_judge import (
    FASTCHAT,
    judge_columns,
    with_judge_as_list,
)
from pytest_judgesense.files.shapes.repeated import numbered
from pytest_judgesense.files.shapes.settings import column, columns, joined, of_all, words
from pytest_judgesense.files.tables import RowTable

_ITEM: Final = ("question_id", "turn", "model")
_NO_RATING: Final = {"-1": "", "$ERROR$": "", "error": ""}
_MORE: Final = {"reply": "judgment", "prompt": "user_prompt"}


def _proposal(table: RowTable) -> Proposal:
    return Proposal(
        (
            of_all("suite", "mt-bench", "the questions of MT-bench"),
            *judge_columns(table),
            column("item", joined(table, _ITEM), "an answer of a model to one turn of a question"),
            column("cluster", "question_id", "the answers to one question are not independent"),
            column("verdict", "score", "the rating"),
            *words(table, ("score",), _NO_RATING, "the reply had no rating"),
            *columns(table, _MORE, "what the judge said, and was shown"),
        )
    )


def _rows(table: RowTable) -> RowTable:
    return numbered(with_judge_as_list(table), (*_ITEM, "judge"))


MT_BENCH_SINGLE: Final = FileShape(
    "mt-bench-single",
    "ratings of single answers of MT-bench (FastChat, gpt-4_single.jsonl)",
    (
        f"{FASTCHAT}:fastchat/llm_judge/common.py (play_a_match_single)",
        f"{FASTCHAT}:fastchat/llm_judge/show_result.py (display_result_single)",
    ),
    ("question_id", "model", "judgment", "score"),
    _proposal,
    _rows,
)
