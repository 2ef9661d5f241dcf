"""The question and the two answers, out of the prompts by which FastChat and Arena-Hard ask.

Their files hold the prompts alone; both mark where the answers of the assistants A and B begin and
end. Of a conversation of two turns the answer is the whole of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from pytest_judgesense.files.messages import last_content
from pytest_judgesense.files.proposals import ShownSetting
from pytest_judgesense.files.rows import Row
from pytest_judgesense.files.shapes.repeated import with_rows
from pytest_judgesense.files.shapes.settings import columns, joined
from pytest_judgesense.files.tables import RowTable

_OPEN: Final = r"(?:\[|<\|)"
_CLOSE: Final = r"(?:\]|\|>)"
_PART: Final = r"(?:Answer|Conversation with User)"
# What stands before and behind an answer, by its letter, and before and behind the question.
_ANSWERS: Final = {
    letter: (
        re.compile(rf"{_OPEN}The Start of Assistant {letter}'s {_PART}{_CLOSE}\n"),
        re.compile(rf"\n{_OPEN}The End of Assistant {letter}'s {_PART}{_CLOSE}"),
    )
    for letter in "AB"
}
_QUESTION: Final = (
    re.compile(rf"{_OPEN}User (?:Question|Prompt){_CLOSE}\n"),
    re.compile(rf"\n\n{_OPEN}The Start of "),
)
_COLUMNS: Final = ("question", "answer_1", "answer_2")
_FIELDS: Final = dict(zip(("field.task", "field.a", "field.b"), _COLUMNS, strict=True))


def with_shown_texts(table: RowTable, prompts: Sequence[Sequence[Any]]) -> RowTable:
    """A table with the question and the answers that its prompts show, in the item's own order.

    Args:
        table: the rows.
        prompts: of each row the prompts of the first order and of the second: texts, messages, or
            ``None``.
    """
    rows = [_with_texts(row, *of_row) for row, of_row in zip(table, prompts, strict=True)]
    return with_rows(table, rows)


def text_columns(table: RowTable) -> tuple[ShownSetting, ...]:
    """The columns of `with_shown_texts` that all rows fill."""
    filled = set(joined(table, _COLUMNS).split(","))
    named = {field: name for field, name in _FIELDS.items() if name in filled}
    if not {*_COLUMNS[1:]} <= filled:
        return ()
    return columns(table, named, "what the prompt shows")


def _with_texts(row: Row, first: Any, second: Any) -> Row:
    prompt = last_content(first) or ""
    question, answers = _between(*_QUESTION, prompt), _answers(prompt)
    if not answers:
        prompt = last_content(second) or ""
        question, answers = _between(*_QUESTION, prompt), _answers(prompt)[::-1]
    texts = dict(zip(_COLUMNS[1:], answers, strict=False))
    if question is not None:
        texts[_COLUMNS[0]] = question
    return replace(row, value={**texts, **row.value})


def _answers(prompt: str) -> list[str]:
    """The answers of A and B in a prompt; none, if it does not show both.

    Where conversations call the assistant by its letter they no longer do: an answer is the same
    wherever it stands.
    """
    shown = {letter: _between(*marks, prompt) for letter, marks in _ANSWERS.items()}
    return [
        text.replace(f"### Assistant {letter}:", "### Assistant:").strip("\n")
        for letter, text in shown.items()
        if text is not None and None not in shown.values()
    ]


def _between(begins: re.Pattern[str], ends: re.Pattern[str], prompt: str) -> str | None:
    """What stands behind the first text that begins it, up to the first that ends it."""
    start = begins.search(prompt)
    end = start and ends.search(prompt, start.end() - len("\n"))
    return prompt[start.end() : max(start.end(), end.start())] if start and end else None
