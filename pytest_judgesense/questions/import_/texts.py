"""Which columns hold what was judged and what was written, and numbers of the call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pytest_judgesense.files.messages import (
    CONVERSATION,
    holds_tools,
    is_chat,
    messages_of_chat,
)
from pytest_judgesense.questions.import_ import role_words as words_of
from pytest_judgesense.questions.import_.column_facts import ColumnFacts, number_in
from pytest_judgesense.questions.import_.finder import (
    Finder,
    is_of_people,
    says_answers,
    words_in,
)

# A field of a judgment: the probability that its verdict is right.
CONFIDENCE: Final = "confidence"
_FIELD: Final = re.compile(r"[a-z][a-z0-9_]*")
_OTHER: Final = re.compile(r"[^a-z0-9]+")
_CALLS: Final = ("metadata", "timestamp", "date", "time", "url", "path", "version", "created")
_NAMES: Final = words_of.IDS | {"type", "category", "name", "model", "language"}
_SHORTEST_PART: Final = 4


def find_texts(finder: Finder) -> None:
    """Take numbers of calls, failures, the prompt, the reply, and the texts that were judged."""
    for facts in [*finder.free.values()]:
        if facts.kind == "numbers":
            _take_number(finder, facts)
    _find_failures(finder)
    _find_conversations(finder)
    if "prompt" not in finder.fields:
        _find_prompt(finder)
    if "reply" not in finder.fields:
        _find_reply(finder)
    for facts in [*finder.free.values()]:
        name = _field_name(facts.name)
        if _is_text(facts) and name and f"field.{name}" not in finder.fields:
            finder.take(f"field.{name}", facts.name, "a text")


def _take_number(finder: Finder, facts: ColumnFacts) -> None:
    """Take tokens, seconds, or how sure the judge is."""
    words = {*facts.words}
    if number_in(facts.numbers[0]) < 0:
        return
    if "tokens" in words and facts.are_whole_numbers:
        fields = (name for name, own in words_of.TOKENS.items() if words & own)
        name = next(fields, "")
        if name and name not in finder.fields:
            finder.take(name, facts.name, "tokens")
        return
    if words & words_of.SURE:
        _take_confidence(finder, facts)
        return
    are_seconds = words & words_of.SECONDS and not words & words_of.OTHER_UNITS
    if are_seconds and "latency_s" not in finder.fields:
        finder.take("latency_s", facts.name, "seconds")


def _take_confidence(finder: Finder, facts: ColumnFacts) -> None:
    """Take how sure the judge is: numbers from 0 to 1 that are no person's, beside verdicts."""
    is_free = CONFIDENCE not in finder.fields and not finder.is_graded
    if is_free and number_in(facts.numbers[-1]) <= 1 and not is_of_people(facts):
        finder.take(CONFIDENCE, facts.name, "numbers from 0 to 1")


def _find_failures(finder: Finder) -> None:
    """Take the column that says of some rows why there is no reply."""
    for facts in finder.named(words_of.FAILED):
        states_why = facts.kind in ("texts", "names", "words") and not says_answers(facts)
        is_last = facts.words[-1] in words_of.FAILED
        if is_last and states_why and facts.missing and "failed" not in finder.fields:
            finder.take("failed", facts.name, f"in {len(facts.stated)} rows")


def _find_conversations(finder: Finder) -> None:
    """Take lists of messages in which tools were called, or that are called a conversation."""
    for facts in [*finder.free.values()]:
        cells = [cell for cell in facts.cells if cell is not None]
        if facts.kind != "lists" or not all(map(is_chat, cells)):
            continue
        is_of_messages = "messages" in facts.own_words
        name = CONVERSATION if is_of_messages else _field_name(facts.name)
        is_called_so = bool(words_in(facts, words_of.JUDGED_TEXTS)) and not is_of_messages
        are_of_agents = is_called_so and not words_in(facts, words_of.PROMPTS)
        are_of_agents = are_of_agents or any(holds_tools(messages_of_chat(cell)) for cell in cells)
        if are_of_agents and name and f"field.{name}" not in finder.fields:
            finder.take(f"field.{name}", facts.name, "a conversation")


def _find_prompt(finder: Finder) -> None:
    """Take what the judge was asked: messages, or a text that holds those that were judged."""
    for facts in finder.named(words_of.PROMPTS):
        by_judge = facts.kind == "texts" and words_in(facts, words_of.JUDGE)
        if _are_messages(facts) or by_judge or _holds_texts(finder, facts):
            finder.take("prompt", facts.name, "what the judge was asked")
            return


def _are_messages(facts: ColumnFacts) -> bool:
    lists = [cell for cell in facts.cells if cell is not None]
    return facts.kind == "lists" and all(
        isinstance(cell, list) and cell and all(map(_is_message, cell)) for cell in lists
    )


def _is_message(part: object) -> bool:
    return isinstance(part, Mapping) and "content" in part


def _holds_texts(finder: Finder, prompt: ColumnFacts) -> bool:
    """Whether another text of its row stands in a column, in most rows."""
    if prompt.kind != "texts":
        return False
    for facts in finder.free.values():
        if facts is not prompt and facts.kind in ("texts", "names"):
            both = [(a, b) for a, b in zip(facts.texts, prompt.texts, strict=True) if a and b]
            inside = sum(len(part) >= _SHORTEST_PART and part in whole for part, whole in both)
            if both and 2 * inside > len(both):
                return True
    return False


def _find_reply(finder: Finder) -> None:
    """Take what the judge wrote."""
    for facts in finder.named(words_of.REPLIES | words_of.WRITTEN):
        by_judge = words_in(facts, words_of.JUDGE | words_of.REPLIES) or "reply" in facts.words
        if facts.kind == "texts" and by_judge and not is_of_people(facts):
            finder.take("reply", facts.name, "what the judge wrote")
            return


def _is_text(facts: ColumnFacts) -> bool:
    """Whether a column holds texts that were judged."""
    if words_in(facts, _CALLS) or facts.kind not in ("texts", "names", "words"):
        return False
    is_called_so = words_in(facts, words_of.JUDGED_TEXTS) and not words_in(facts, _NAMES)
    return facts.kind == "texts" or (bool(is_called_so) and len(facts.different) > 1)


def _field_name(column: str) -> str:
    name = _OTHER.sub("_", column.lower()).strip("_")
    return name if _FIELD.fullmatch(name) else ""
