"""Rows of calls that failed and were made again: what was said in the end counts.

A row without an answer is superseded by one with an answer that is the same judgment otherwise,
before it or after it; of several without any, the last one counts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.judgment_fields import ROW_NUMBER, of_one_order
from pytest_judgesense.files.tables import RowTable
from pytest_judgesense.questions.import_ import role_words as words_of
from pytest_judgesense.questions.import_.chosen_options import with_settings
from pytest_judgesense.questions.import_.column_facts import ColumnFacts
from pytest_judgesense.questions.import_.finder import Finder, columns_in, words_in
from pytest_judgesense.questions.import_.item_columns import REPEAT_NUMBER, TRIAL_FIELDS

# What differs between the calls for one judgment.
_OF_CALL: Final = (
    words_of.COUNTS
    | words_of.FAILED
    | words_of.SECONDS
    | words_of.REPLIES
    | words_of.WRITTEN
    | {"attempt", "retry", "try"}
)
_COMPARED: Final = ("words", "names", "numbers", "texts", "true or false")
# A column of so few words may say that calls failed.
_MOST_STATES: Final = 2
# Words in a column of verdicts that say that there is none.
_NO_VERDICT: Final = words_of.NO_ANSWER - {"unknown", "invalid", "unparsed", "unparsable"}


class _Calls(NamedTuple):
    """The rows of a table as calls.

    Attributes:
        answers: the columns in which a judge answers.
        answered: of each row, whether it holds an answer.
        are_marked: whether another column says of the rows without an answer that they failed.
    """

    answers: frozenset[str]
    answered: Sequence[bool]
    are_marked: bool


def set_failures_aside(finder: Finder) -> None:
    """Look no more at rows of failed calls that were made again, where columns are told apart."""
    chosen = with_settings(finder.given, (shown.setting for shown in finder.taken))
    calls = _calls(chosen, finder.columns)
    if all(calls.answered) or not calls.are_marked:
        return
    compared = [facts for facts in finder.columns.values() if _is_compared(facts, calls)]
    if all(facts.kind == "true or false" for facts in compared):
        return
    stays = _staying(calls, lambda place: tuple(facts.texts[place] for facts in compared))
    places = [place for place, is_kept in enumerate(stays) if is_kept]
    if len(places) == len(stays):
        return
    finder.table = replace(finder.table, rows=tuple(finder.table.rows[place] for place in places))
    finder.columns = {
        name: ColumnFacts(name, tuple(facts.cells[place] for place in places))
        for name, facts in finder.columns.items()
    }
    finder.free = {name: finder.columns[name] for name in finder.free}


def without_retried(
    table: RowTable, chosen: ImportOptions, columns: Mapping[str, ColumnFacts]
) -> RowTable:
    """A table without the rows of failed calls that were made again, with a note of how many.

    Args:
        table: the rows, reshaped.
        chosen: all that is known of them.
        columns: of the table.
    """
    mapped = dict(chosen.map)
    calls = _calls(chosen, columns)
    is_numbered = mapped.get("replicate") == REPEAT_NUMBER
    has_item = mapped.get("item") not in (None, "", ROW_NUMBER)  # what has a number is no other
    if all(calls.answered) or not has_item or (is_numbered and not calls.are_marked):
        return table
    keys = [
        columns[part].texts
        for name, column in mapped.items()
        if name in TRIAL_FIELDS
        for part in columns_in(column)
        if part in columns
    ]
    if not keys:
        return table
    stays = _staying(calls, lambda place: tuple(texts[place] for texts in keys))
    rows = tuple(row for row, is_kept in zip(table, stays, strict=True) if is_kept)
    if not (count := len(table) - len(rows)):
        return table
    which = f"{count} row{'s' * (count != 1)} without a verdict"
    is_or_are = "are" if count != 1 else "is"
    note = f"{which} {is_or_are} left out: another row of the same judgment was kept"
    return replace(table, rows=rows, notes=(*table.notes, note))


def _calls(chosen: ImportOptions, columns: Mapping[str, ColumnFacts]) -> _Calls:
    """The rows as calls; all are answered where it is not known which columns say it."""
    names = _answer_columns(chosen)
    answers = [facts for name, facts in columns.items() if name in names]
    if not answers:
        return _Calls(names, (), are_marked=False)
    renamed = {word.casefold() for word, meaning in chosen.value if not meaning}
    nothing = _NO_VERDICT | renamed
    cells = zip(*(facts.texts for facts in answers), strict=True)
    answered = [any(t is not None and t.casefold() not in nothing for t in row) for row in cells]
    others = (facts for name, facts in columns.items() if name not in names)
    return _Calls(names, answered, any(_marks(facts, answered) for facts in others))


def _answer_columns(chosen: ImportOptions) -> frozenset[str]:
    field = "reply" if chosen.labels else "verdict"
    names = [
        column
        for name, column in chosen.map
        if name == field or (of_one_order(name) and name.startswith(f"{field}."))
    ]
    names += [column for _, column in chosen.grades]
    return frozenset(part for name in names for part in columns_in(name) if part)


def _marks(facts: ColumnFacts, answered: Sequence[bool]) -> bool:
    """Whether a column tells the rows without an answer from all others.

    It says something in those rows alone, such as an error, or something else than in the others.
    """
    if facts.kind not in _COMPARED:
        return False
    said: tuple[set[str], set[str]] = (set(), set())
    for text, is_answered in zip(facts.texts, answered, strict=True):
        if text is not None:
            said[is_answered].add(text.casefold())
    of_failed, of_answered = said
    if not of_answered:
        return bool(of_failed)
    are_states = len(of_failed | of_answered) <= 2 * _MOST_STATES and facts.kind != "texts"
    return bool(of_failed) and are_states and not of_failed & of_answered


def _is_compared(facts: ColumnFacts, calls: _Calls) -> bool:
    """Whether a column tells which judgment a row is."""
    if facts.name in calls.answers or facts.kind not in _COMPARED or facts.missing:
        return False
    return not (facts.is_unique or words_in(facts, _OF_CALL) or _marks(facts, calls.answered))


def _staying(calls: _Calls, key_of: Callable[[int], Hashable]) -> list[bool]:
    """Of each row, whether it counts: it has an answer, or is the last for its judgment."""
    keys = [*map(key_of, range(len(calls.answered)))]
    answered = {key for key, is_answered in zip(keys, calls.answered, strict=True) if is_answered}
    last = {key: place for place, key in enumerate(keys)}
    return [
        is_answered or (key not in answered and last[key] == place)
        for place, (key, is_answered) in enumerate(zip(keys, calls.answered, strict=True))
    ]
