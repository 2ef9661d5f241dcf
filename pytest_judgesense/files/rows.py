"""Rows of texts: those of CSV, of JSON Lines, and those below any key of a JSON document.

`tables` reads files by them. How a text stands in a cell of a spreadsheet is told here as well.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic_core import from_json

from pytest_judgesense.errors import JudgesenseError, LogError, listed
from pytest_judgesense.files.limits import DEEPEST, beyond, json_value, limits, well_formed_value
from pytest_judgesense.trial import MOST, as_whole, is_number

# The line by which spreadsheets are told what separates the cells.
_SEPARATOR: Final = re.compile(r"sep=([,;\t|])\n")
# At which a spreadsheet begins a formula, behind white space or a quote of ours; signed numbers are
# none.
_FORMULA: Final = re.compile(r"'*\s*[=+\-@]")
# What a cell holds as a JSON text behind a ``'``: control characters, and a formula behind a
# character at which some spreadsheets begin another cell.
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_INNER_FORMULA: Final = re.compile(r';(?=[ "\\]*[=+@-])')
_ESCAPED: Final = re.compile(r"'+\"")
_NUMBER: Final = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")


def harmless_cell(text: str) -> str:
    """A text as a cell that begins no formula in a spreadsheet and holds no control character.

    `text_of_cell` reads it back.
    """
    if _CONTROL.search(text) or _INNER_FORMULA.search(text):
        return "'" + _escaped(text)
    begins_formula = _FORMULA.match(text) and not _NUMBER.fullmatch(text)
    return f"'{text}" if begins_formula or _ESCAPED.match(text) else text


def _escaped(text: str) -> str:
    """``text`` as a JSON text, the characters escaped that a cell may not hold."""
    written = _INNER_FORMULA.sub(r"\\u003b", json.dumps(text, ensure_ascii=False))
    return _CONTROL.sub(lambda control: f"\\u{ord(control[0]):04x}", written)


def text_of_cell(cell: str) -> str:
    """The text that `harmless_cell` was given."""
    if cell.startswith("'\""):
        try:
            return str(json.loads(cell[1:]))
        except ValueError:
            return cell  # somebody wrote it by hand
    is_marked = cell.startswith("'") and (_FORMULA.match(cell) or _ESCAPED.match(cell))
    return cell[1:] if is_marked else cell


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a file: its fields, its place, and its number among the lines or records."""

    where: str
    value: Mapping[str, Any]
    number: int = 0

    def wrong(self, name: str, expected: str) -> LogError:
        """The error for a missing or malformed field ``name``; ``a.b`` is field b of a."""
        value = field_of(self.value, name)
        missing = value is ...
        names = listed(self.value)
        return LogError(
            f"{self.where}: field {name!r} is {'missing' if missing else 'malformed'}",
            found=names[:200] if missing else json.dumps(value, default=str)[:80],
            expected=expected,
            remedy="fix the file, or leave the line out",
        )

    def text(self, name: str, expected: str = "a text that is not empty") -> str:
        """A field with a non-empty text."""
        text = self.value.get(name)
        if not isinstance(text, str) or not text.strip():
            raise self.wrong(name, expected)
        return text

    def number_in(self, name: str, least: int = 1) -> int:
        """A field with a whole number from ``least`` to `MOST`, or such a number as text."""
        number = field_of(self.value, name)
        if isinstance(number, str | float) and is_number(text := as_whole(str(number).strip())):
            number = int(text)
        if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= MOST:
            raise self.wrong(name, f"a whole number from {least} to {MOST}")
        return number


def field_of(value: Any, name: str) -> Any:
    """The field ``name`` of an object: its own, or ``a.b``, field b of a; ``...`` if it has none.

    Of a list, fields are numbers from 0. A text that is JSON of an object or a list is taken for
    what it says, where a field of it is asked for.
    """
    if isinstance(value, Mapping) and name in value:
        return value[name]
    if "." not in name:
        return _part_of(value, name)
    first, _, rest = name.partition(".")
    while rest:
        part = _part_of(value, first)
        if part is not ... and (inner := field_of(part, rest)) is not ...:
            return inner
        # The name of a column may have dots as well.
        more, _, rest = rest.partition(".")
        first = f"{first}.{more}"
    return ...


def without_fields(row: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """A row without the fields of these ``names``; of ``a.b`` the object a stays without b.

    What is no object, such as a list of which a member is named, is left out whole.
    """
    rest = {name: value for name, value in row.items() if name not in names}
    for name in names:
        first, dot, inner = name.partition(".")
        if name in row or not dot or first not in rest:
            continue
        value = rest.pop(first)
        if isinstance(value, Mapping):
            rest[first] = without_fields(value, [inner])
    return rest


def _part_of(value: Any, name: str) -> Any:
    """The value of an object under a key, or of a list at a place; ``...`` if there is none."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            value = json_value(value)
        except ValueError:
            return ...
    if isinstance(value, Mapping):
        return value.get(name, ...)
    if isinstance(value, list) and name.isdecimal() and int(name) < len(value):
        return value[int(name)]
    return ...


# --- delimited texts ------------------------------------------------------------------------------

_SEPARATORS: Final = (",", ";", "\t", "|")
SEPARATOR_WORDS: Final[Mapping[str, str]] = {"\t": "tabs", "|": "'|'", ";": "';'", ",": "','"}
# By which a separator is told from others in the header: so many rows, in so many characters.
_SAMPLED_ROWS: Final = 20
_SAMPLED_TEXT: Final = 2**16


def separator_of(text: str, *, prefers_tabs: bool = False) -> str:
    """The separator of a delimited text: the first that its header and its first rows share.

    A first line ``sep=;`` states it.
    """
    if stated := _SEPARATOR.match(text):
        return stated[1]
    header = text.partition("\n")[0]
    order = ("\t", *_SEPARATORS) if prefers_tabs else _SEPARATORS
    present = [separator for separator in order if separator in header]
    whole = len(text) <= _SAMPLED_TEXT
    sample = text if whole else text[: text.rfind("\n", 0, _SAMPLED_TEXT) + 1]
    even = (separator for separator in present if _is_even(sample, separator))
    return next(even, present[0] if present else order[0])


def _is_even(sample: str, separator: str) -> bool:
    """Whether the header has several cells, and the first rows as many as it."""
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=separator, strict=True)
    width = 0
    try:
        for row in islice(reader, _SAMPLED_ROWS):
            cells = _without_empty_end(row, width)
            width = width or len(cells)
            if any(map(str.strip, row)) and len(cells) != width:
                return False
    except csv.Error as error:
        # The sample may end within a quoted cell.
        return width > 1 and "end of data" in str(error)
    return width > 1


def csv_rows(
    path: Path, text: str, error: type[JudgesenseError], separator: str = ""
) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a delimited text as dictionaries, with the lines at which they begin.

    Rows of empty cells, columns at the end that are empty and have no name, and spaces around the
    names of columns are left out: spreadsheets write them, and a first line ``sep=;``.

    Args:
        path: the file, for messages.
        text: its text, with line feeds as line ends.
        error: the type of errors.
        separator: between two cells; `separator_of` by default.

    Raises:
        JudgesenseError: of the type ``error``: a row does not match the header, there are too many
            columns or cells, or the text is not CSV; it names file and line.
    """
    csv.field_size_limit(sys.maxsize)  # texts are long
    separator = separator or separator_of(text, prefers_tabs=path.name.endswith(".tsv"))
    lines = io.StringIO(text, newline="")
    before, begins = 0, 1
    if _SEPARATOR.match(text):
        before = 1
        lines.readline()
    reader = csv.reader(lines, delimiter=separator, strict=True)
    try:
        names = [name.strip() for name in _without_empty_end(next(reader, []), 0)]
        refuse_names(names, f"{path}:{before + 1}", error)
        width = len(names)
        begins = before + reader.line_num + 1
        left = limits().cells
        for row in reader:
            # Blanks alone are no row; the first cell that is not blank ends the search.
            if any(map(str.strip, row)):
                if len(row) != width and len(row := _without_empty_end(row, width)) != width:
                    raise error(
                        f"{path}:{begins} has another number of cells than the header",
                        found=f"{len(row)} cells",
                        expected=f"{width} cells",
                        remedy="quote cells that hold the separator",
                    )
                left -= width
                if left < 0:
                    raise beyond(error, f"{path}:{begins}: too many cells", "cells", "more")
                yield begins, dict(zip(names, row, strict=True))
            begins = before + reader.line_num + 1
    except csv.Error as wrong:
        raise error(
            f"{path}:{before + reader.line_num} is not CSV",
            found=str(wrong),
            expected="quoted cells that are closed",
            remedy=f"close the quote in the row of line {begins}, or delete it if it is cut off",
        ) from wrong


def refuse_names(names: Sequence[str], where: str, error: type[JudgesenseError] = LogError) -> None:
    """Raise an ``error`` for too many columns, or for two of one name."""
    if len(names) > limits().columns:
        raise beyond(error, f"{where} names too many columns", "columns", str(len(names)))
    if len(set(names)) < len(names):
        repeated = [name for name, times in Counter(names).items() if times > 1]
        raise error(
            f"{where} names a column twice",
            found=listed(repr(name) for name in repeated),
            expected="every column once",
            remedy="rename one of the two",
        )


def _without_empty_end(cells: list[str], least: int) -> list[str]:
    """``cells`` without the empty ones at the end, but ``least`` of them."""
    end = len(cells)
    while end > least and not cells[end - 1].strip():
        end -= 1
    return cells[:end]


# --- JSON Lines -----------------------------------------------------------------------------------


class RepeatedKey(ValueError):
    """An object of JSON has a key twice: which of its two values counts is not known."""


def lines_of(text: str) -> Iterator[str]:
    """The same as `str.split` at line feeds, one at a time: a list of all is as large as the text.

    Not `str.splitlines`: a text may hold a Unicode line separator inside a JSON string.
    """
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def line_value(line: str) -> Any:
    """The JSON value of a line.

    Raises:
        ValueError: it is not JSON, is nested too deeply, or has a key twice.
    """
    try:
        # It gives the same as `json`, in half the time, or an error.
        value = from_json(line)
    except ValueError:
        return document_of(line)
    # As many keys as there may be at most: then none stands there twice.
    is_plain = line.count("[") + line.count("{") <= DEEPEST and line.count('":') == _keys(value)
    return value if is_plain else document_of(line)


def _keys(value: Any) -> int:
    """How many keys the objects of a value have, which is nested no deeper than it may be."""
    if isinstance(value, dict):
        inner: Iterable[Any] = value.values()
        count = len(value)
    else:
        inner, count = value if isinstance(value, list) else (), 0
    return count + sum(_keys(part) for part in inner if isinstance(part, dict | list))


def document_of(text: str) -> Any:
    """The JSON value of a text; half a character, which only an escape can be, is U+FFFD.

    Raises:
        ValueError: it is not JSON, is nested too deeply, or has a key twice.
    """
    value = json_value(text, object_pairs_hook=_of_different_keys)
    return well_formed_value(value) if "\\u" in text else value


def _of_different_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        repeated = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise RepeatedKey(f"the key {repeated[:80]!r} stands twice in one object")
    return table


# --- rows below any key of a JSON document --------------------------------------------------------

# Words of keys below which no rows are looked for: what is no judgment.
_ASIDE: Final = frozenset(
    """
    skip skipped error errors fail failed failure failures warn warning warnings exclude excluded
    exclusions drop dropped invalid ignored omitted missing unparsed unparseable exceptions retries
    discarded removed leftover leftovers log logs
    """.split()
)
# Words of keys of what is about the whole file: some tools keep there what was judged, and nothing
# elsewhere.
_ABOUT_THE_FILE: Final = frozenset("usage config configuration settings meta metadata".split())
# Words of columns that hold what a judge or a person said.
_SAID: Final = frozenset(
    """
    verdict verdicts judgment judgement judgments winner win label gold score scores rating ratings
    grade grades decision preference preferred choice chosen pick picked vote passed pass
    """.split()
)
_WORD: Final = re.compile(r"[a-z]+|[0-9]+")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# A text of a prompt or a reply has as many words, at least; rows are known by the first of them.
_FEWEST_WORDS: Final = 3
_LOOKED_AT: Final = 20
_FEWEST_ALIKE: Final = 3
LIST_COLUMN: Final = "list"
"""What the column is called that tells rows of several lists apart."""

_KEY: Final = "id"
_OTHER_KEY: Final = "key"
# What a list is called that stands below a key that tells its row.
_VALUES: Final = "values"
_MOST_COLUMNS: Final = 100
# How pandas writes a table by its parts.
_SPLIT: Final = ("columns", "data")


class RowList(NamedTuple):
    """Rows that stand somewhere in a JSON document.

    Attributes:
        key: where, as ``a.b``; empty for the whole document.
        rows: the rows; a value that is no object stands as it is.
        shape: what they were, in words.
        keys: of the lists that were put together; empty of a single one.
    """

    key: str
    rows: Sequence[Any]
    shape: str = "a list of objects"
    keys: tuple[str, ...] = ()

    @property
    def is_aside(self) -> bool:
        """Whether a key says that these are not what was judged."""
        return any(word in _ASIDE for word in name_words(self.key))

    @property
    def is_about_the_file(self) -> bool:
        """Whether a key says that these are about the whole file."""
        return any(word in _ABOUT_THE_FILE for word in name_words(self.key))

    @property
    def holds(self) -> int:
        """How much of what is judged the first rows hold: verdicts, and texts, which are less."""
        objects = [row for row in self.rows[:_LOOKED_AT] if isinstance(row, dict)]
        names = {word for row in objects for name in _names(row) for word in name_words(name)}
        texts = (text for row in objects for text in _texts(row))
        has_texts = any(len(text.split(maxsplit=_FEWEST_WORDS)) >= _FEWEST_WORDS for text in texts)
        return 2 * (not names.isdisjoint(_SAID)) + int(has_texts)


def name_words(name: str) -> list[str]:
    """The words of the name of a column: ``humanScore`` and ``human_score`` are two."""
    return _WORD.findall(_CAMEL.sub(" ", name).lower())


def _names(row: Mapping[str, Any]) -> Iterator[str]:
    """The names of columns, and of the fields of objects in them."""
    for name, value in row.items():
        yield name
        if isinstance(value, dict):
            yield from value


def _texts(row: Mapping[str, Any]) -> Iterator[str]:
    for value in row.values():
        inner = value.values() if isinstance(value, dict) else [value]
        yield from (text for text in inner if isinstance(text, str))


def rows_below(value: Any, key: str = "") -> list[RowList]:
    """All rows of a document: below the keys of its objects, however deep, not in other rows."""
    if isinstance(value, list):
        return [RowList(key, value)] if any(isinstance(row, dict) for row in value) else []
    if not isinstance(value, dict) or not value:
        return []
    if (rows := _lists_by_text(value)) is not None:
        return [RowList(key, rows, "lists by their keys")]
    if (rows := _split(value) or _by_columns(value)) is not None:
        return [RowList(key, rows, "an object of lists, a column each")]
    if (rows := _by_id(value)) is not None:
        keyed = RowList(key, rows, "objects by their ids")
        if keyed.holds:
            return [keyed]
    return [
        below
        for name, inner in value.items()
        for below in rows_below(inner, f"{key}.{name}" if key else name)
    ]


def _lists_by_text(value: Mapping[str, Any]) -> list[Any] | None:
    """Rows of lists by what they are about, such as questions with replies; ``None`` for others.

    The names of columns are short and few: keys of three words or more, or of which there are more
    than a hundred, tell rows. The key becomes a column, the list another.
    """
    texts = sum(len(name.split(maxsplit=_FEWEST_WORDS)) >= _FEWEST_WORDS for name in value)
    if 2 * texts <= len(value) <= _MOST_COLUMNS:
        return None
    lists = [*value.values()]
    if not all(isinstance(cells, list) and cells for cells in lists):
        return None
    if any(isinstance(cell, dict | list) for cells in lists for cell in cells[:_LOOKED_AT]):
        return None
    return [{_KEY: name, _VALUES: cells} for name, cells in value.items()]


def _has_lists_by_text(value: Mapping[str, Any]) -> bool:
    """Whether objects alone lead to lists that are rows by their keys."""
    inner = [*value.values()]
    return not any(isinstance(part, list) for part in inner) and any(
        _lists_by_text(part) is not None or _has_lists_by_text(part)
        for part in inner
        if isinstance(part, dict)
    )


def _by_columns(value: Mapping[str, Any]) -> list[Any] | None:
    """Rows of columns that are lists of one length, in objects perhaps; ``None`` if it is none."""
    if (by_index := _by_index(value)) is not None:
        return by_index
    if _are_alike(value) or _has_lists_by_text(value):
        return None
    lists = [*_lists_in(value)]
    lengths = {len(column) for column in lists}
    if len(lists) < 2 or len(lengths) != 1 or not (length := lengths.pop()):
        return None
    if any(isinstance(cell, dict) for column in lists for cell in column[:_LOOKED_AT]):
        return None
    return [_at(value, place) for place in range(length)]


def _lists_in(value: Mapping[str, Any]) -> Iterator[list[Any]]:
    for inner in value.values():
        if isinstance(inner, list):
            yield inner
        elif isinstance(inner, dict):
            yield from _lists_in(inner)


def _at(value: Any, place: int) -> Any:
    """The row at a place of columns; what is no list is that of all rows."""
    if isinstance(value, dict):
        return {name: _at(inner, place) for name, inner in value.items()}
    return value[place] if isinstance(value, list) else value


def _by_index(value: Mapping[str, Any]) -> list[Any] | None:
    """Rows of columns that are objects by the number of the row, as pandas writes them."""
    columns = [*value.values()]
    if not all(isinstance(column, dict) and column for column in columns):
        return None
    places = [str(place) for place in range(len(columns[0]))]
    if any([*column] != places for column in columns):
        return None
    return [{name: column[place] for name, column in value.items()} for place in places]


def _split(value: Mapping[str, Any]) -> list[Any] | None:
    """Rows of a table by its parts, the names of its columns and a list a row."""
    names, rows = (value.get(part) for part in _SPLIT)
    if not isinstance(names, list) or not isinstance(rows, list) or not rows:
        return None
    if any(not isinstance(row, list) or len(row) != len(names) for row in rows):
        return None
    return [dict(zip(map(str, names), row, strict=True)) for row in rows]


def _are_alike(value: Mapping[str, Any]) -> bool:
    """Whether the values are three objects or more with the same keys, some of them no columns.

    Such an object holds a row each, also where a list stands in every one of them.
    """
    objects = [*value.values()]
    if len(objects) < _FEWEST_ALIKE or not all(isinstance(row, dict) for row in objects):
        return False
    keys = {*objects[0]}
    cells = [objects[0][name] for name in keys]
    return all(keys == row.keys() for row in objects) and any(
        isinstance(cell, str) for cell in cells
    )


def _by_id(value: Mapping[str, Any]) -> list[Any] | None:
    """Rows of objects by their ids, which become a column; ``None`` if they share no column."""
    by_id = {name: row for name, row in value.items() if not _is_beside(name)}
    by_id = by_id if len(by_id) >= _FEWEST_ALIKE else {**value}
    objects = [*by_id.values()]
    if not all(isinstance(row, dict) for row in objects):
        return None
    times = Counter(name for row in objects for name in row)
    if not times or 2 * times.most_common(1)[0][1] <= len(objects):
        return None
    key = _OTHER_KEY if _KEY in times else _KEY
    return [{key: name, **row} for name, row in by_id.items()]


def _is_beside(key: str) -> bool:
    """Whether a key among ids is none: ``_meta``, ``config``."""
    return key.startswith("_") or RowList(key, ()).is_about_the_file


def chosen_rows(
    lists: Sequence[RowList], path: Path, named: Iterable[str] = ()
) -> tuple[RowList, list[RowList]]:
    """The rows that hold most of what is judged, and those that were passed over.

    Lists with the same columns, below keys that differ in one place, are read together: the key
    becomes a column.

    Raises:
        LogError: there are none, or two hold as much; it names both, and how one is chosen.
    """
    asides = [rows for rows in lists if rows.is_aside or rows.is_about_the_file]
    candidates = [rows for rows in lists if not rows.is_aside and not rows.is_about_the_file]
    # Where nothing else is there, those about the file that hold anything of what is judged.
    candidates = candidates or [rows for rows in asides if not rows.is_aside and rows.holds]
    best = max((rows.holds for rows in candidates), default=0)
    chosen = [rows for rows in candidates if rows.holds == best]
    if len(chosen) > 1 and (whole := _together(chosen)) is not None:
        return whole, [rows for rows in lists if rows not in chosen]
    if len(chosen) == 1:
        return chosen[0], [rows for rows in lists if rows is not chosen[0]]
    if chosen:
        raise LogError(
            f"{path} has several lists of rows, and which of them is meant is not known",
            found=listed(f"{rows.key} ({len(rows.rows)} rows)" for rows in chosen),
            expected="one of them",
            remedy=f"name it: {path}#{chosen[0].key} or {path}#{chosen[1].key}",
        )
    raise LogError(
        f"{path} holds no rows",
        found=f"an object with {listed(named) or 'no keys'}"
        + (f"; rows below {listed(rows.key for rows in asides)} alone" if asides else ""),
        expected="a list of objects below any key, objects by their ids, or an object of lists",
        remedy=f"if those are meant, name them: {path}#{asides[0].key}" if asides else "",
    )


def _together(lists: Sequence[RowList]) -> RowList | None:
    """The rows of lists that differ in one of their keys alone; ``None`` of other lists."""
    keys = [rows.key.split(".") for rows in lists]
    if len({len(parts) for parts in keys}) > 1:
        return None
    places = [place for place, parts in enumerate(zip(*keys, strict=True)) if len({*parts}) > 1]
    names = [_columns_in(rows.rows) for rows in lists]
    if len(places) != 1 or not names[0] or any(columns != names[0] for columns in names):
        return None
    column = LIST_COLUMN if LIST_COLUMN not in names[0] else _OTHER_KEY
    if column in names[0]:
        return None
    whole = [
        {column: parts[places[0]], **row}
        for parts, rows in zip(keys, lists, strict=True)
        for row in rows.rows
    ]
    names_of_lists = tuple(rows.key for rows in lists)
    shape = f"column {column} tells them apart"
    return RowList(listed(names_of_lists), whole, shape, names_of_lists)


def _columns_in(rows: Sequence[Any]) -> set[str]:
    """The columns that the first rows have; none if one of them is no object."""
    first = rows[:_LOOKED_AT]
    if not all(isinstance(row, dict) for row in rows):
        return set()
    return {str(name) for row in first for name in row}
