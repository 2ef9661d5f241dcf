"""MT-bench, two answers compared: ``gpt-4_pair.jsonl``, both orders in one row.

The winners are mapped back to the models before they are written, so that they name contents.
"""

from __future__ import annotations

from typing import Final

from pytest_judgesense.files.proposals import FileShape, Proposal
from pytest_judgesense.files.shapes.fastchat_judge import (
    FASTCHAT,
    judge_columns,
    with_judge_as_list,
)
from pytest_judgesense.files.shapes.repeated import numbered
from pytest_judgesense.files.shapes.settings import (
    column,
    columns,
    joined,
    naming,
    no_verdicts,
    of_all,
    words,
)
from pytest_judgesense.files.shapes.shown_texts import text_columns, with_shown_texts
from pytest_judgesense.files.tables import RowTable

_WINNERS: Final = {"verdict.ab": "g1_winner", "verdict.ba": "g2_winner"}
_REPLIES: Final = {"reply.ab": "g1_judgment", "reply.ba": "g2_judgment"}
_PROMPTS: Final = {"prompt.ab": "g1_user_prompt", "prompt.ba": "g2_user_prompt"}
_MEANINGS: Final = {"model_1": "A", "model_2": "B"}
_VERDICTS: Final = (*_MEANINGS, "tie")
_ITEM: Final = ("question_id", "turn", "model_1", "model_2")


def _proposal(table: RowTable) -> Proposal:
    return Proposal(
        (
            of_all("suite", "mt-bench", "the questions of MT-bench"),
            *judge_columns(table),
            column("item", joined(table, _ITEM), "two models on one turn of a question"),
            column("cluster", "question_id", "the answers to one question are not independent"),
            *columns(table, _WINNERS, "game 1 shows model_1 first, game 2 model_2"),
            naming("verdict", "content", "winners are models, whatever the order"),
            *words(table, _WINNERS.values(), _MEANINGS, "a model"),
            *no_verdicts(table, _WINNERS.values(), _VERDICTS, "a game without a verdict"),
            *columns(table, _REPLIES, "what the judge said"),
            *columns(table, _PROMPTS, "what the judge was shown"),
            *text_columns(table),
        )
    )


def _rows(table: RowTable) -> RowTable:
    table = numbered(with_judge_as_list(table), (*_ITEM, "judge"))
    return with_shown_texts(
        table, [[row.value.get(name) for name in _PROMPTS.values()] for row in table]
    )


MT_BENCH_PAIR: Final = FileShape(
    "mt-bench-pair",
    "pairwise judgments of MT-bench (FastChat, gpt-4_pair.jsonl)",
    (
        f"{FASTCHAT}:fastchat/llm_judge/common.py (play_a_match_pair)",
        f"{FASTCHAT}:fastchat/llm_judge/show_result.py (display_result_pairwise)",
    ),
    ("g1_winner", "g2_winner", "question_id"),
    _proposal,
    _rows,
)
