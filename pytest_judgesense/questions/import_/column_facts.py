"""What the columns of a table hold, whatever they are called: kinds of cells, and how they repeat.

The fields of objects in a column are columns of their own, ``a.b``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

from pytest_judgesense.files.rows import field_of, name_words
from pytest_judgesense.files.tables import RowTable
from pytest_judgesense.questions.import_.role_words import states_nothing
from pytest_judgesense.suites.answer_kinds import (
    FEWEST_LEVELS,
    InferredAnswers,
    different_words,
    inferred_answers,
    is_whole,
    odd_among_numbers,
)
from pytest_judgesense.suites.parts_of_whole import wholes_of, without_whole
from pytest_judgesense.trial import as_whole

ColumnKind: TypeAlias = Literal[
    "nothing", "lists", "objects", "texts", "true or false", "numbers", "words", "names"
]

# Answers are short, and few; more different ones are names of something.
_LONGEST_ANSWER: Final = 40
_MOST_ANSWERS: Final = 16
# A text has more words in the mean, or one of them is long.
_WORDS_OF_TEXT: Final = 4
_LONGEST_NAME: Final = 80
# Objects with more fields, or deeper ones, are no columns.
_MOST_FIELDS: Final = 40
_DEEPEST: Final = 4
_EXAMPLES: Final = 3
_MOST_SAID: Final = 4
# Fields that are called so are what the object is called.
_GENERIC: Final = frozenset("value label text name result answer choice".split())


@dataclass(frozen=True)
class ColumnFacts:
    """What a column holds.

    Attributes:
        name: as ``--map`` takes it.
        cells: of every row; ``None`` where it has none, or an empty one.
    """

    name: str
    cells: tuple[Any, ...]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of its name."""
        return tuple(name_words(self.name))

    @cached_property
    def own_words(self) -> tuple[str, ...]:
        """The words of the last field of ``a.b``; of a field ``value`` or ``label`` those of a."""
        *above, last = self.name.split(".")
        words = name_words(last)
        if above and {*words} <= _GENERIC:
            words += name_words(above[-1])
        return tuple(words)

    @cached_property
    def written(self) -> tuple[str | None, ...]:
        """Its cells as words of a file; ``None`` where nothing stands."""
        return tuple(map(_as_text, self.cells))

    @cached_property
    def wholes(self) -> tuple[int, ...]:
        """The ends of the scales that its words state: 5 of ``4/5``, 100 of ``36%``."""
        return wholes_of([word for word in self.written if word is not None])

    @cached_property
    def texts(self) -> tuple[str | None, ...]:
        """The same; ``4/5`` is 4 in a column of numbers of one whole."""
        if len(self.wholes) != 1:
            return self.written
        return tuple(None if word is None else without_whole(word) for word in self.written)

    @cached_property
    def stated(self) -> tuple[str, ...]:
        """The cells that are not empty, as words."""
        return tuple(text for text in self.texts if text is not None)

    @cached_property
    def different(self) -> tuple[str, ...]:
        """The words that differ in more than case and zeros, as the first is written."""
        return tuple(different_words(self.stated))

    @property
    def missing(self) -> int:
        """How many rows say nothing."""
        return len(self.cells) - len(self.stated)

    @property
    def is_unique(self) -> bool:
        """Whether each row has a cell, and no two the same."""
        return len(set(self.stated)) == len(self.cells)

    @cached_property
    def kind(self) -> ColumnKind:
        """What its cells are."""
        present = [cell for cell in self.cells if cell is not None]
        if not self.stated:
            return "nothing"
        types = {*map(type, present)}
        if list in types:
            return "lists"
        if dict in types:
            return "objects"
        if {text.casefold() for text in self.stated} <= {"true", "false"}:
            return "true or false"
        if all(map(_is_number, self.stated)):
            return "numbers"
        lengths = [len(text) for text in self.stated]
        words = sum(len(text.split(maxsplit=_LONGEST_ANSWER)) for text in self.stated)
        varies = 2 * len(self.different) > len(self.stated)
        fewest = _WORDS_OF_TEXT - (_WORDS_OF_TEXT / 3 if varies else 0)
        is_text = words >= fewest * len(self.stated) or max(lengths) > _LONGEST_NAME
        if is_text or any("\n" in text for text in self.stated):
            return "texts"
        few = len(self.different) <= _MOST_ANSWERS or bool(self.words_among_numbers)
        return "words" if few and max(lengths) <= _LONGEST_ANSWER else "names"

    @cached_property
    def are_numbers(self) -> bool:
        """Whether it holds numbers, beside words that say nothing perhaps: ``N/A`` among grades."""
        return self.kind == "numbers" or bool(self.words_among_numbers)

    @cached_property
    def words_among_numbers(self) -> tuple[str, ...]:
        """The words that say nothing beside numbers of three levels or more; else none."""
        if len(self.numbers) < FEWEST_LEVELS:
            return ()
        odd = {*odd_among_numbers(self.stated)}
        words = tuple(word for word in self.different if not _is_number(word))
        return words if all(word in odd or states_nothing(word) for word in words) else ()

    @property
    def may_answer(self) -> bool:
        """Whether its cells may be verdicts or labels: few short words, or numbers."""
        return self.kind in ("true or false", "numbers", "words")

    @cached_property
    def answers(self) -> InferredAnswers:
        """The kind of answers that its words are, less those that say nothing among numbers."""
        return inferred_answers(
            word for word in self.stated if word not in self.words_among_numbers
        )

    @property
    def numbers(self) -> list[str]:
        """Its different numbers, from the lowest."""
        return sorted(filter(_is_number, self.different), key=number_in)

    @property
    def are_whole_numbers(self) -> bool:
        """Whether it holds whole numbers alone."""
        return self.kind == "numbers" and is_whole(self.different)

    @property
    def examples(self) -> tuple[str, ...]:
        """The first different cells."""
        return tuple(dict.fromkeys(filter(None, self.written)))[:_EXAMPLES]

    @property
    def says(self) -> str:
        """What it says as a column of answers, in a few words."""
        count = len(self.different)
        if self.answers.are_grades or self.answers.are_scores:
            numbers = self.numbers
            return f"{self.answers.kind} {numbers[0]} to {numbers[-1]}"
        some = ", ".join(self.different[:_MOST_SAID])
        more = ", ..." if count > _MOST_SAID else ""
        return f"{count} value{'s' * (count != 1)}: {some}{more}"

    @property
    def holds(self) -> str:
        """What it holds, in a few words."""
        count = len(self.different)
        if self.kind in ("nothing", "lists", "objects", "true or false"):
            return self.kind
        if self.are_numbers:
            numbers = self.numbers
            ends = " and ".join(numbers) if count <= 2 else f"{numbers[0]} to {numbers[-1]}"
            return ", ".join((ends, *self.words_among_numbers[:_MOST_SAID]))
        if self.kind == "texts":
            return "text"
        if self.kind == "names" and self.is_unique:
            return "all different"
        return f"{count} {self.kind if count > 1 else self.kind.removesuffix('s')}"


def columns_of(table: RowTable) -> dict[str, ColumnFacts]:
    """The columns of a table, and those of the fields of objects in them, by name.

    One without a name, such as the index that pandas writes, cannot be mapped, and is none.
    """
    columns: dict[str, ColumnFacts] = {}
    for name in filter(None, table.columns):
        values = [row.value.get(name) for row in table]
        for leaf in _leaves(name, values):
            if leaf != name:
                values = [field_of(row.value, leaf) for row in table]
            cells = tuple(None if _is_empty(value) else value for value in values)
            columns[leaf] = ColumnFacts(leaf, cells)
    return columns


def _leaves(name: str, values: Sequence[Any], depth: int = 0) -> Iterator[str]:
    """The names of a column's fields that are no objects; the column itself if it holds none."""
    objects = [value for value in values if isinstance(value, dict)]
    if not objects or depth >= _DEEPEST:
        yield name
        return
    stated = sum(not _is_empty(value) for value in values)
    fields = dict.fromkeys(str(field) for value in objects for field in value)
    if len(objects) < stated or len(fields) > _MOST_FIELDS:
        yield name
        return
    for field in fields:
        inner = [value.get(field) for value in objects]
        yield from _leaves(f"{name}.{field}", inner, depth + 1)


def _is_empty(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST_NAME and value.strip().casefold() in ("", "nan")
    return value is None or value is ... or (isinstance(value, float) and math.isnan(value))


def _as_text(cell: Any) -> str | None:
    if cell is None:
        return None
    if isinstance(cell, bool):
        return str(cell).lower()
    text = str(cell).strip()
    return as_whole(text) if isinstance(cell, float) else text


def number_in(text: str) -> float:
    """The number that a text is, with a decimal comma perhaps; nan for any other text."""
    try:
        return float(text.replace(",", ".") if text.count(",") == 1 else text)
    except ValueError:
        return math.nan


def _is_number(text: str) -> bool:
    return math.isfinite(number_in(text))
