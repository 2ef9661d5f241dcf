"""Rows of a table, made of those of its files before they are read as judgments or grades.

A cell may hold a list, or an object, or lists of lists: each member becomes a row, with its places
in columns of their own. Columns that are called alike, a run each, become rows in the same way.
What else is known of the rows, such as what people said, may stand in other files, which are joined
in their order; there a row may be what one person said of one item.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, islice, product, zip_longest
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from pytest_judgesense.errors import LogError, UsageError, listed, unknown_name
from pytest_judgesense.files.limits import json_value
from pytest_judgesense.files.rows import Row, field_of, name_words, without_fields
from pytest_judgesense.files.tables import CSV, RowTable, own_name, read_rows
from pytest_judgesense.trial import as_whole, grouped

# What one person said of one item: the columns of such a file, and the column that it becomes.
PERSON: Final = "person"
_SAID: Final = "label"
_CRITERION: Final = "criterion"
PEOPLE: Final = "people."
_PLACE: Final = re.compile(r"\{([^{}]*)\}")
# Behind the name of a place, which parts of names it stands for: {judge:gpt-4|claude-3}.
_STATED: Final = ":"
_OR: Final = "|"
# The keys of objects in objects; a dot in the name of a place parts none.
_KEYS: Final = re.compile(r"(?:\{[^{}]*\}|[^.])+")
_DECIMAL: Final = re.compile(r"[+-]?\d+(?:,\d+)?")
_THOUSANDS: Final = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_TOGETHER: Final = "+"
# Between the columns that tell rows together, and what they are called that do so alone.
_AND: Final = ","
_IDS: Final = frozenset("id ids uid uuid key index idx".split())
_MOST_KEYS: Final = 3
_LONGEST_SHOWN: Final = 80
_Key: TypeAlias = tuple[str, ...]


def reshaped(
    table: RowTable,
    lists: Iterable[tuple[str, str]] = (),
    joins: Iterable[tuple[Path, str]] = (),
) -> RowTable:
    """A table with a row for each member of lists, and with the columns of other files.

    Args:
        table: as it was read; decimal commas become points.
        lists: columns that hold lists, with the names for places (`unlisted`); or patterns of the
            names of columns, such as ``run_{replicate}`` or ``{judge:gpt-4|claude-3}`` (`long`),
            with what the column of their values is called, or nothing.
        joins: files with more columns of the rows, and the column of both (`joined`), in order.

    Raises:
        UsageError: a column is not there, or is there already.
        LogError: a cell holds no list, or a joined file has no row for any of the table, or two
            for one.
    """
    table = with_decimal_points(table)
    stated = [*lists]
    patterns = [(column, name) for column, name in stated if _PLACE.search(column)]
    table = long(table, patterns) if patterns else table
    table = unlisted(table, dict(pair for pair in stated if pair not in patterns))
    for path, column in joins:
        table = joined(table, path, column)
    return table


def _with_rows(table: RowTable, rows: Sequence[Row], *notes: str) -> RowTable:
    columns = dict.fromkeys(chain.from_iterable(row.value for row in rows))
    return replace(
        table, rows=tuple(rows), columns=tuple(columns), notes=(*table.notes, *filter(None, notes))
    )


# --- decimal commas -------------------------------------------------------------------------------


def with_decimal_points(table: RowTable) -> RowTable:
    """A delimited table whose columns of numbers have points where they had decimal commas.

    ``1,234`` may be a number of thousands: where all commas of a column are followed by three
    digits they stay, unless cells are separated by ``;``, as those with decimal commas are.
    """
    if table.form != CSV:
        return table
    columns = [column for column in table.columns if _has_decimal_commas(table, column)]
    if not columns:
        return table
    rows = [
        replace(
            row,
            value={
                **row.value,
                **{
                    column: cell.replace(",", ".")
                    for column in columns
                    if isinstance(cell := row.value.get(column), str)
                },
            },
        )
        for row in table
    ]
    return _with_rows(table, rows, f"decimal commas are read as points: columns {listed(columns)}")


def _has_decimal_commas(table: RowTable, column: str) -> bool:
    is_decimal = False
    for row in table:
        cell = row.value.get(column)
        text = cell.strip() if isinstance(cell, str) else ""
        if text and not _DECIMAL.fullmatch(text):
            return False
        is_decimal = is_decimal or (
            "," in text and (table.separator == ";" or not _THOUSANDS.fullmatch(text))
        )
    return is_decimal


# --- lists in cells -------------------------------------------------------------------------------


def unlisted(table: RowTable, places: Mapping[str, str]) -> RowTable:
    """A table of which each row holds one member of the list in a column.

    Args:
        table: the rows.
        places: by the column of a list, what the columns are called that hold the place of a
            member; with commas between them for lists in lists, the outer list first. Places are
            numbers from 1, and the keys of an object. Columns with ``+`` between them hold lists of
            one length, which are taken together.

    Raises:
        UsageError: a column for places is there already, has no name or that of another.
        LogError: a cell holds no list.
    """
    for column, text in places.items():
        names = text.split(",")
        if len({*names}) < len(names) or not all(names):
            raise UsageError(
                f"--lists {column}={text}: the columns of places are not told apart",
                expected="another name for each depth of lists in lists",
            )
        if name := next((name for name in names if name in table.columns), None):
            raise UsageError(
                f"--lists {column}={text}: there is a column {name!r} already",
                expected="a new name for the place of a member in its list",
            )
        columns = [column] if table.has(column) else column.split(_TOGETHER)
        members = [[*_members(row, columns, names)] for row in table]
        empty = sum(not of_row for of_row in members)
        note = f"{empty} rows have an empty list in {column}, and are left out" * bool(empty)
        table = _with_rows(table, [*chain.from_iterable(members)], note)
    return table


def _members(row: Row, columns: Sequence[str], names: Sequence[str]) -> Iterator[Row]:
    """A row for each member of the lists in ``columns``, or of the lists in them."""
    if not names:
        yield row
        return
    lists = [_placed(row, column) for column in columns]
    if uneven := [
        c for c, members in zip(columns, lists, strict=True) if [*members] != [*lists[0]]
    ]:
        raise row.wrong(uneven[0], f"a list as long as that in {columns[0]}")
    for place in lists[0]:
        cells = {column: members[place] for column, members in zip(columns, lists, strict=True)}
        member = Row(
            f"{row.where}, {names[0]} {place}", {**row.value, **cells, names[0]: place}, row.number
        )
        yield from _members(member, columns, names[1:])


def _placed(row: Row, column: str) -> dict[int | str, Any]:
    """The members of a list by their numbers from 1, those of an object by their keys."""
    members = field_of(row.value, column)
    if isinstance(members, str) and members[:1] in ("[", "{"):
        try:
            members = json_value(members)
        except ValueError:
            members = None
    if isinstance(members, dict):
        return {**members}
    if not isinstance(members, list):
        raise row.wrong(column, f"a list: --lists {column}=... makes rows of its members")
    return {**dict(enumerate(members, start=1))}


# --- columns that are called alike ----------------------------------------------------------------


class _Pattern(NamedTuple):
    """Columns that are called alike: the names of their places, and what their values are called.

    ``text`` is as it was given, ``cells`` the places of each column of a table.
    """

    text: str
    names: tuple[str, ...]
    values: str
    cells: Mapping[str, tuple[str, ...]]


def long(table: RowTable, patterns: Iterable[tuple[str, str]]) -> RowTable:
    """A table with a row for each of several columns that are called alike.

    ``run_{replicate}`` makes of the columns ``run_1`` and ``run_2`` two rows, with the replicate
    and a column ``run``; ``{judge:gpt-4|claude-3}`` names the columns themselves. Patterns with the
    same places make the same rows: ``verdict_{replicate}`` and ``reply_{replicate}``.
    ``scores.{suite}`` names the fields of the objects in a column.

    Raises:
        UsageError: no column is called so, or the places have no names or those of columns.
    """
    read = [_pattern(table, text, name) for text, name in patterns]
    for together in grouped(read, lambda pattern: pattern.names).values():
        gone = {column for pattern in together for column in pattern.cells}
        by_row = [[*_of_wide(wide, together, gone)] for wide in table]
        empty = sum(not rows for rows in by_row)
        note = f"{empty} rows have no column called {together[0].text}, and are left out"
        table = _with_rows(table, [*chain.from_iterable(by_row)], note * bool(empty))
    return table


def _pattern(table: RowTable, text: str, name: str) -> _Pattern:
    places = _PLACE.findall(text)
    names = tuple(place.partition(_STATED)[0] for place in places)
    values = name or _PLACE.sub("", text).strip("_-. ") or "value"
    if not all(names) or len({*names, values}) <= len(names):
        raise UsageError(
            f"--lists {text}: the columns of places are not told apart",
            expected="a name in each pair of braces, such as run_{replicate}, and another one for "
            "the values: --lists run_{replicate}=verdict",
        )
    cells: dict[str, tuple[str, ...]] = {}
    # As many numbers as may be: of run_1 and run_1_reply one is a run.
    for kinds in product(*map(_expressions, places)):
        form = _form(text, kinds)
        matching = {column: form.fullmatch(column) for column in table.columns}
        cells = {column: match.groups() for column, match in matching.items() if match}
        cells = cells or _nested_cells(table, text, kinds)
        if cells:
            break
    if not cells:
        nearest = unknown_name("column", text, table.columns)
        raise UsageError(
            f"--lists {text}: no column is called so",
            expected=nearest.expected,
            remedy=nearest.remedy,
        )
    for number, place in enumerate(places):
        stated = place.partition(_STATED)[2].split(_OR) if _STATED in place else ()
        if absent := [part for part in stated if part not in {of[number] for of in cells.values()}]:
            raise UsageError(
                f"--lists {text}: no column is called after {listed(absent)}",
                found=listed(cells),
                expected=f"a column for each of {listed(stated)}",
            )
    if in_use := [place for place in (*names, values) if place in {*table.columns} - {*cells}]:
        raise UsageError(
            f"--lists {text}: there is a column {in_use[0]!r} already",
            expected="new names for the places, and for the values: --lists PATTERN=NAME",
        )
    return _Pattern(text, names, values, cells)


def _expressions(place: str) -> tuple[str, ...]:
    """What may stand at a place: one of the names that it states, or a number, or anything."""
    _, is_stated, stated = place.partition(_STATED)
    if not is_stated:
        return r"(\d+)", r"(.+?)"
    return (f"({'|'.join(map(re.escape, stated.split(_OR)))})",)


def _form(text: str, kinds: Sequence[str]) -> re.Pattern[str]:
    """A pattern of names, of which each place is an expression of ``kinds``."""
    parts = [re.escape(part) for part in _PLACE.split(text)[::2]]
    return re.compile("".join(chain(*zip_longest(parts, kinds, fillvalue=""))))


def _nested_cells(table: RowTable, text: str, kinds: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The places of the fields of objects that a pattern such as ``scores.{suite}`` names."""
    parts = _KEYS.findall(text)
    if len(parts) < 2:
        return {}
    left = iter(kinds)
    forms = [_form(part, [*islice(left, len(_PLACE.findall(part)))]) for part in parts]
    cells: dict[str, tuple[str, ...]] = {}
    for row in table:
        for keys, places in _keys_below(row.value, forms):
            cells.setdefault(".".join(keys), places)
    return cells


def _keys_below(
    value: Any, forms: Sequence[re.Pattern[str]]
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The keys to each value that lies as deep as there are forms, and the places in them."""
    if not forms:
        yield (), ()
        return
    for key, inner in _object_of(value).items():
        if match := forms[0].fullmatch(key):
            for keys, places in _keys_below(inner, forms[1:]):
                yield (key, *keys), (*match.groups(), *places)


def _object_of(value: Any) -> Mapping[str, Any]:
    """An object, or what a JSON text says of one; empty for anything else."""
    if isinstance(value, str) and value[:1] == "{":
        try:
            value = json_value(value)
        except ValueError:
            return {}
    return value if isinstance(value, Mapping) else {}


def _of_wide(row: Row, patterns: Sequence[_Pattern], gone: set[str]) -> Iterator[Row]:
    """The rows of a row, in the order of its columns; none where its objects have no such field."""
    rest = {
        column: cell
        for column, cell in without_fields(row.value, gone).items()
        if cell != {} or row.value[column] == {}
    }
    cells: dict[tuple[str, ...], dict[str, Any]] = {}
    for pattern in patterns:
        for column, places in pattern.cells.items():
            if (cell := field_of(row.value, column)) is not ...:
                cells.setdefault(places, {})[pattern.values] = cell
    names = patterns[0].names
    nothing = dict.fromkeys(pattern.values for pattern in patterns)
    for places, values in cells.items():
        shown = ", ".join(f"{name} {place}" for name, place in zip(names, places, strict=True))
        placed = dict(zip(names, places, strict=True))
        yield Row(f"{row.where}, {shown}", {**rest, **placed, **nothing, **values}, row.number)


# --- other files ----------------------------------------------------------------------------------


def joined(table: RowTable, path: Path, column: str) -> RowTable:
    """A table with the columns of another file.

    A column that the table has too is called by the file: ``people.score`` of ``people.csv``. A row
    for which the file has none has none of its columns.

    Args:
        table: the rows.
        path: the other file, a row for each value of ``column``; or what one person said a row, in
            the columns ``person`` and ``label``, which become a column ``people.NAME`` each.
        column: the column of both that tells which rows belong together, or several with commas
            between them.

    Raises:
        LogError: the other file has no row for any of the table, or two for one.
    """
    other = with_decimal_points(read_rows(path))
    notes = [*other.notes]
    keys = [column] if table.has(column) else column.split(_AND)
    are_of_persons = {PERSON, _SAID} <= {*other.columns}
    by_key = _by_person(other, keys) if are_of_persons else _by_key(other, keys, table)
    there = dict.fromkeys(chain.from_iterable(by_key.values()))
    more_columns = [name for name in there if name not in keys]
    named = {name: f"{own_name(path)}.{name}" for name in more_columns if name in table.columns}
    own_keys = [_key(row, keys) for row in table]
    if missing := [place for place, key in enumerate(own_keys) if key not in by_key]:
        notes.append(_without_row(table, path, column, [own_keys[place] for place in missing]))
    rows = []
    for row, key in zip(table, own_keys, strict=True):
        cells = by_key.get(key) or dict.fromkeys(more_columns)
        more = {named.get(name, name): cell for name, cell in cells.items() if name not in keys}
        rows.append(replace(row, value={**row.value, **more}))
    if named:
        called = ", ".join(f"{name} is {other_name}" for name, other_name in named.items())
        notes.append(f"{path} has columns that the table has too: {called}")
    if of_people := [
        name for name in there if name.startswith(PEOPLE) and name not in other.columns
    ]:
        notes.append(f"{path} holds what a person said a row: it is in columns {listed(of_people)}")
    return _with_rows(table, rows, *notes)


def telling_columns(table: RowTable, shared: Sequence[str]) -> tuple[str, ...]:
    """The fewest of some columns that tell all rows of a table, three at most; empty without such.

    Those that are called as ids are tried first.
    """
    called = sorted(shared, key=lambda name: not {*name_words(name)} & _IDS)
    for count in range(1, _MOST_KEYS + 1):
        for some in combinations(called, count):
            cells = {tuple(str(field_of(row.value, name)) for name in some) for row in table}
            if len(cells) == len(table):
                return some
    return ()


def _without_row(table: RowTable, path: Path, column: str, missing: Sequence[_Key]) -> str:
    """The sentence on rows for which another file has none; an error if it has none for any."""
    if len(missing) < len(table):
        count = f"{len(missing)} of {len(table)} rows"
        return f"{path} has no row for {count}, such as {column} {_shown(missing[0])}"
    raise LogError(
        f"{path} has no row for any of the table, such as {table.rows[0].where}",
        found=f"no {column} {_shown(missing[0])}",
        expected=f"rows with the same {column}",
        remedy="name the column that both files have: --join FILE=COLUMN, or FILE=COLUMN,COLUMN",
    )


def _by_key(
    table: RowTable, columns: Sequence[str], to_join: RowTable
) -> dict[_Key, Mapping[str, Any]]:
    """The rows of a file by what tells them."""
    by_key: dict[_Key, Row] = {}
    for row in table:
        key = _key(row, columns)
        if key in by_key:
            both = telling_columns(table, [name for name in table.columns if to_join.has(name)])
            naming = f"name what tells its rows: --join FILE={_AND.join(both)}; or " * bool(both)
            raise LogError(
                f"{row.where} repeats a row of --join",
                found=f"{_AND.join(columns)} {_shown(key)}, which {by_key[key].where} holds",
                expected="every row once",
                remedy=f"{naming}leave one of them out; or, if each is what another person said, "
                f"call its columns {PERSON} and {_SAID}",
            )
        by_key[key] = row
    return {key: row.value for key, row in by_key.items()}


def _by_person(table: RowTable, columns: Sequence[str]) -> dict[_Key, Mapping[str, Any]]:
    """What people said, a column each, by what tells the items."""
    labels_by_key: dict[_Key, dict[str, Any]] = {}
    places: dict[tuple[_Key, str], str] = {}
    for row in table:
        key, (person,) = _key(row, columns), _key(row, [PERSON])
        criterion = str(row.value.get(_CRITERION) or "")
        name = PEOPLE + ".".join(filter(None, (criterion, person)))
        label = field_of(row.value, _SAID)
        if labels_by_key.setdefault(key, {}).setdefault(name, label) != label:
            raise LogError(
                f"{row.where} contradicts what the same person said",
                found=f"{person} on {_AND.join(columns)} {_shown(key)}: {label!r}, and in "
                f"{places[key, name]} {labels_by_key[key][name]!r}",
                expected="one label of each person and item",
                remedy="leave one of them out",
            )
        places.setdefault((key, name), row.where)
    every = dict.fromkeys(chain.from_iterable(labels_by_key.values()))
    return {key: {**dict.fromkeys(every), **labels} for key, labels in labels_by_key.items()}


def _key(row: Row, columns: Sequence[str]) -> _Key:
    """What tells a row, as texts; numbers and texts of them are the same."""
    return tuple(_text_of_key(row, column) for column in columns)


def _text_of_key(row: Row, column: str) -> str:
    value: Any = field_of(row.value, column)
    if value is None or value is ... or isinstance(value, list | dict) or not str(value).strip():
        raise row.wrong(column, "what tells the row, in both files: a text or a number")
    return as_whole(str(value).strip())


def _shown(key: _Key) -> str:
    return ", ".join(text[:_LONGEST_SHOWN] for text in key)
