"""Which columns hold what was judged and what was written, and numbers of the call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pytest_judgesense.files.candidate_texts import SLOT
from pytest_judgesense.files.judgment_fields import PLACES
from pytest_judgesense.files.messages import (
    CONVERSATION,
    holds_tools,
    is_chat,
    messages_of_chat,
)
from pytest_judgesense.files.synonyms import candidate_pairs, differing_words
from pytest_judgesense.questions.import_ import role_words as words_of
from pytest_judgesense.questions.import_.column_facts import ColumnFacts, number_in
from pytest_judgesense.questions.import_.finder import (
    Finder,
    is_of_people,
    says_answers,
    words_in,
)
from pytest_judgesense.questions.import_.row_identity import has_named_candidates, is_pairwise
from pytest_judgesense.replies.stated_answers import stated_answers

# A field of a judgment: the probability that its verdict is right.
CONFIDENCE: Final = "confidence"
_TEXT: Final = "field."
_FIELD: Final = re.compile(r"[a-z][a-z0-9_]*")
_OTHER: Final = re.compile(r"[^a-z0-9]+")
_CALLS: Final = ("metadata", "timestamp", "date", "time", "url", "path", "version", "created")
_NAMES: Final = words_of.IDS | {"type", "category", "name", "model", "language"}
_SHORTEST_PART: Final = 4
# By what names of two candidates' texts differ: as the fields are called, or by other words.
_LETTERS: Final = ("a", "b")
_PLACED: Final = (_LETTERS, ("1", "2"), ("first", "second"), ("left", "right"), ("x", "y"))
# Of several such pairs, those with one of these words in their names are what was judged.
_ANSWERS: Final = words_of.WRITTEN | {"answer"}


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
    if is_pairwise(finder):
        _take_candidates(finder)
    for facts in [*finder.free.values()]:
        name = _field_name(facts.name)
        if _is_text(facts) and name and f"field.{name}" not in finder.fields:
            finder.take(f"field.{name}", facts.name, "a text")
    if has_named_candidates(finder):
        _show_slots(finder)


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
            inside = sum(_is_part(part, whole) for part, whole in both)
            if both and 2 * inside > len(both):
                return True
    return False


def _is_part(part: str, whole: str) -> bool:
    """Whether a text stands in a longer one."""
    return _SHORTEST_PART <= len(part) < len(whole) and part in whole


def _find_reply(finder: Finder) -> None:
    """Take what the judge wrote."""
    named = finder.named(words_of.REPLIES | words_of.WRITTEN)
    for facts in named:
        if facts.kind == "texts" and _is_judges(facts) and not is_of_people(facts):
            finder.take("reply", facts.name, "what the judge wrote")
            return
    for facts in named:
        is_raw = _is_judges(facts) or "raw" in facts.words
        kinds = ("words", "names", "texts") if "raw" in facts.words else ("words", "names")
        if is_raw and facts.kind in kinds and not is_of_people(facts):
            shown = stated_answers(facts.texts)
            if 2 * shown.stating >= len(facts.stated):
                finder.take("reply", facts.name, f"states {shown.why}")
                return


def _is_judges(facts: ColumnFacts) -> bool:
    """Whether a column's name says that a judge wrote it.

    A ``model_output`` is what was judged: ``model`` names a judge beside no such word.
    """
    by_model = {*facts.words} & (words_of.JUDGE - words_of.JUDGED)
    return bool(by_model or words_in(facts, words_of.REPLIES) or "reply" in facts.words)


def _take_candidates(finder: Finder) -> None:
    """Take two texts of candidates, by letters, numbers or places, as those of verdicts A and B."""
    texts = [facts.name for facts in finder.free.values() if _is_text(facts)]
    pairs = [pair for pair in candidate_pairs(texts) if differing_words(*pair) in _PLACED]
    if len(pairs) > 1:
        pairs = [pair for pair in pairs if words_in(finder.columns[pair[0]], _ANSWERS)]
    fields = ("field.a", "field.b")
    if (
        len(pairs) == 1
        and not _are_named(finder, pairs[0])
        and not {*fields} & finder.fields.keys()
    ):
        for field, name in zip(fields, pairs[0], strict=True):
            finder.take(field, name, "a candidate's text")


def _are_named(finder: Finder, pair: tuple[str, str]) -> bool:
    """Whether verdicts are called as two texts are, in both orders.

    Such texts keep their names, which show what the verdicts name. ``a`` and ``b`` are kept anyway.
    """
    verdict, places = finder.column_of("verdict"), differing_words(*pair)
    if verdict is None or places is None or places == _LETTERS or "order" not in finder.fields:
        return False
    return not {*places}.isdisjoint(word.casefold() for word in verdict.different)


def _show_slots(finder: Finder) -> None:
    """Show that texts are slots where they are called as the names of who was shown first are.

    ``response_a`` is what ``model_a`` of its row wrote, whatever the item's own order is.
    """
    names = (finder.fields[PLACES[0]], finder.fields[PLACES[1]])
    fields = {column: name for name, column in finder.fields.items() if name.startswith(_TEXT)}
    if names not in candidate_pairs(names):
        return
    for pair in candidate_pairs(fields):
        if differing_words(*pair) == differing_words(*names):
            field = fields[pair[0]].removeprefix(_TEXT)
            finder.show("names", (field, SLOT), f"{pair[0]} is the text of {names[0]}")


def _is_text(facts: ColumnFacts) -> bool:
    """Whether a column holds texts that were judged."""
    if words_in(facts, _CALLS) or facts.kind not in ("texts", "names", "words"):
        return False
    is_called_so = words_in(facts, words_of.JUDGED_TEXTS) and not words_in(facts, _NAMES)
    return facts.kind == "texts" or (bool(is_called_so) and len(facts.different) > 1)


def _field_name(column: str) -> str:
    name = _OTHER.sub("_", column.lower()).strip("_")
    return name if _FIELD.fullmatch(name) else ""
