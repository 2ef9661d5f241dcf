"""Votes for one of two models: those of people in Chatbot Arena, and the judgments of MT-bench.

``judge`` is who voted. In Chatbot Arena that is a user; the dataset of MT-bench's judgments has
experts, authors and, in the same columns, a judge that was asked in both orders. Where a judge
voted, what people said of the same two answers stands beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from pytest_judgesense.files.proposals import FileShape, Proposal, ShownSetting
from pytest_judgesense.files.rows import Row, field_of
from pytest_judgesense.files.shapes.fastchat_judge import (
    FASTCHAT,
    judge_columns,
    with_judge_as_list,
)
from pytest_judgesense.files.shapes.raters import Statement, with_people
from pytest_judgesense.files.shapes.settings import column, columns, joined, words, words_of
from pytest_judgesense.files.tables import RowTable

_WINNER: Final = "winner"
_MODELS: Final = ("model_a", "model_b")
_TIES: Final = (
    "tie (bothbad)", "tie (both bad)", "both_bad", "tie (inconsistent)",
)  # fmt: skip
_WORDS: Final = {"model_a": "A", "model_b": "B", **dict.fromkeys(_TIES, "tie")}
_LABELS: Final = {"model_a": "1", "model_b": "2", **dict.fromkeys(_TIES, "tie")}
# Who votes, by the prefixes that FastChat gives to names.
_PERSON: Final = re.compile(r"(arena_user|expert|author)_.*")
_ITEM: Final = ("question_id", "id", "turn", *_MODELS)
_TEXTS: Final = {
    "field.task": "conversation_a.0.content",
    "field.a": "conversation_a.1.content",
    "field.b": "conversation_b.1.content",
}
_FIRST_TURN: Final = "of longer conversations the texts are those of the first turn"


def _proposal(table: RowTable) -> Proposal:
    people_alone = all(_is_person(row) for row in table)
    notes = (_FIRST_TURN,) if any(map(_is_long, table)) else ()
    if people_alone:
        return Proposal(
            (
                *_item_of_people(table),
                column("label", _WINNER, "what the user preferred"),
                *words(table, (_WINNER,), _LABELS, "a model, or neither"),
                *columns(table, _TEXTS, "what the user compared"),
            ),
            notes=notes,
            no_judge="its votes are people's",
        )
    people = [name for name in table.columns if name.startswith("people.")]
    return Proposal(
        (
            *judge_columns(table),
            column("item", joined(table, _ITEM), "two models on one turn of a question"),
            *columns(table, {"cluster": "question_id"}, "all answers to one question"),
            column("verdict", _WINNER, "what the judge preferred"),
            *words(table, (_WINNER, *people), _WORDS, "a model, or neither"),
            *columns(table, _TEXTS, "what was compared"),
        ),
        notes=notes,
    )


def _item_of_people(table: RowTable) -> tuple[ShownSetting, ...]:
    """The column that tells the votes, if one does: several people may vote on one pair."""
    for name in ("question_id", "id"):
        if len(words_of(table, [name])) == len(table):
            return (column("item", name, "a conversation with two models"),)
    return ()


def _rows(table: RowTable) -> RowTable:
    return with_people(with_judge_as_list(table), _statements)


def _statements(table: RowTable) -> Iterator[Statement]:
    """The votes; those of people as they would be if the models stood in the judge's order."""
    for row in table:
        models = [str(row.value.get(name)) for name in _MODELS]
        question = [str(field_of(row.value, name)) for name in ("question_id", "id", "turn")]
        yield Statement(
            row,
            (*question, *sorted(models)),
            str(row.value.get("judge") or ""),
            row.value.get(_WINNER),
            is_person=_is_person(row),
            order=tuple(models),
        )


def _is_person(row: Row) -> bool:
    judge = row.value.get("judge")
    return judge is None or (isinstance(judge, str) and bool(_PERSON.fullmatch(judge)))


def _is_long(row: Row) -> bool:
    conversation: Any = row.value.get("conversation_a")
    return isinstance(conversation, list) and len(conversation) > 2


def _is_vote(table: RowTable) -> bool:
    """Whether a side won, and rows say who voted, or on what: battles of others have neither."""
    is_told = any(map(table.has, ("judge", "conversation_a", "anony")))
    return is_told and not words_of(table, [_WINNER]).keys().isdisjoint(_MODELS)


CHATBOT_ARENA: Final = FileShape(
    "chatbot-arena",
    "votes of Chatbot Arena, and MT-bench's judgments by people",
    (
        f"{FASTCHAT}:fastchat/serve/monitor/clean_battle_data.py (process_data)",
        f"{FASTCHAT}:fastchat/llm_judge/compute_agreement.py",
        "huggingface.co/datasets/lmsys/mt_bench_human_judgments (features)",
        "huggingface.co/datasets/lmarena-ai/arena-human-preference-100k (features)",
    ),
    (*_MODELS, _WINNER),
    _proposal,
    _rows,
    _is_vote,
)
