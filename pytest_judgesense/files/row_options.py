"""How rows of foreign files are read, whatever they become: one vocabulary, and one reader.

The same five options say it wherever such files are read; their texts are those of
`files.assignments`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import Final, TypeAlias

from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.files.assignments import option_words
from pytest_judgesense.files.reshaping import reshaped
from pytest_judgesense.files.tables import RowTable, read_rows
from pytest_judgesense.trial import grouped

Assignments: TypeAlias = tuple[tuple[str, str], ...]

ROW_OPTION_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "map": "the column that holds a field, or what a function takes as a parameter; a.b for "
        "field b of objects in column a; in import FIELD= says that no column holds it; may be "
        "repeated",
        "value": "what a verdict or label is called here, or nothing; may be repeated",
        "names": "whether a verdict, a label or a text (a of field.a) of two candidates that "
        "changed places names the slot as the judge saw it, or the content; may be repeated",
        "lists": "a column that holds a list: each member is a row, with its place, from 1, in "
        "columns of these names, one for each depth of lists in lists; or columns that are called "
        "alike, run_{replicate}, each a row; may be repeated",
        "join": "a file with more columns of the rows, such as people's labels, and the column of "
        "both that tells them, or several, COLUMN,COLUMN; may be repeated",
    }
)
"""What each of `RowOptions` does, by its field."""


@dataclass(frozen=True, kw_only=True)
class RowOptions:
    """What a user says of the rows of a foreign file.

    Attributes:
        map: by a field, or by a parameter of a function, the column that holds it; an empty text
            says that none does.
        value: by a word of the file what it means here; an empty text: nothing.
        names: by a field whether it names a ``slot`` or a ``content``.
        lists: by a column that holds lists the names of their places; or by a pattern of columns
            what their values are called.
        join: files with more columns, in order, and the column of both that tells them.
    """

    map: Assignments = ()
    value: Assignments = ()
    names: Assignments = ()
    lists: Assignments = ()
    join: tuple[tuple[Path, str], ...] = ()

    @property
    def is_given(self) -> bool:
        """Whether anything is said."""
        return bool(self.as_words)

    @property
    def as_words(self) -> str:
        """The options as a shell takes them."""
        pairs = {"--map": self.map, "--value": self.value, "--names": self.names}
        words = [option_words(option, *pair) for option, of in pairs.items() for pair in of]
        words += [
            option_words("--lists", column, names) if names else f"--lists {quote(column)}"
            for column, names in self.lists
        ]
        words += [option_words("--join", str(file), column) for file, column in self.join]
        return " ".join(words)

    @property
    def makes_rows(self) -> bool:
        """Whether the rows are not those of the file alone."""
        return bool(self.lists or self.join)


class RenamedWords:
    """Words of a file, in any case, by what they are called here; it notes which of them occur."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = {word.casefold(): meaning for word, meaning in values.items()}
        self._occurred: set[str] = set()

    def __call__(self, *words: str) -> str:
        """What the first of ``words`` that is renamed is called; else the last as it is."""
        renamed = next((word.casefold() for word in words if word.casefold() in self._values), None)
        if renamed is None:
            return words[-1]
        self._occurred.add(renamed)
        return self._values[renamed]

    def unused(self, labels: Iterable[str]) -> Iterator[str]:
        """A notice of words that do not occur; those that mean one of ``labels`` name labels."""
        label_set = {*labels}
        for word, meaning in self._values.items():
            if word not in self._occurred and meaning not in label_set:
                option = option_words("--value", word, meaning)
                yield f"{option} is not used: nothing is called {word}"


def refuse_repeats(row_options: RowOptions) -> None:
    """Raise a `UsageError` for a field, a word or a column of which two things are said."""
    said = {"--map": row_options.map, "--value": row_options.value, "--names": row_options.names}
    for option, pairs in (said | {"--lists": row_options.lists}).items():
        for name, of_name in grouped(pairs, itemgetter(0)).items():
            if len(of_name) > 1:  # the last one would hide the others
                raise UsageError(
                    f"{option} says two things of {name}",
                    found=" ".join(option_words(option, *pair) for pair in of_name),
                    expected="one of them",
                )


def read_as_told(row_options: RowOptions, *places: Path) -> RowTable:
    """The rows of foreign files, reshaped and joined; see `files.tables` and `files.reshaping`.

    Raises:
        LogError: a file or a row cannot be read, a cell holds no list, a joined file has not one
            row for each, or there are no rows.
        UsageError: a file or a column is not there.
    """
    table = reshaped(read_rows(*places), row_options.lists, row_options.join)
    if not table:
        raise LogError(f"{places[0]} holds no rows", expected="at least one")
    return table
