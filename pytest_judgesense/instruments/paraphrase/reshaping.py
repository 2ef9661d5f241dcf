"""Rows of a foreign table, made of those of its file before they are read as judgments.

A cell may hold a list of verdicts, or a list of such lists: each member becomes a row, with its
places in columns of their own. What people said may stand in another file: its columns are joined.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.files.foreign_results import Row, field_of, read_rows
from pytest_judgesense.trial import as_whole


def unlisted(rows: Sequence[Row], places: Mapping[str, str]) -> list[Row]:
    """Rows of which each holds one member of the list in a column.

    Args:
        rows: those of the file.
        places: by the column of a list, what the columns are called that hold the place of a
            member, from 1; with commas between them for lists in lists, the outer list first.

    Raises:
        UsageError: a column for places is there already, has no name or that of another.
        LogError: a cell holds no list.
    """
    reshaped = list(rows)
    for column, text in places.items():
        names = text.split(",")
        if len({*names}) < len(names) or not all(names):
            raise UsageError(
                f"--lists {column}={text}: the columns of places are not told apart",
                expected="another name for each depth of lists in lists",
            )
        for row in reshaped:
            if name := next((name for name in names if name in row.value), None):
                raise UsageError(
                    f"--lists {column}={text}: there is a column {name!r} already",
                    expected="a new name for the place of a member in its list",
                )
        reshaped = [member for row in reshaped for member in _members(row, column, names)]
    return reshaped


def _members(row: Row, column: str, names: Sequence[str]) -> Iterator[Row]:
    """A row for each member of the list in ``column``, or of the lists in it."""
    if not names:
        yield row
        return
    members = field_of(row.value, column)
    if not isinstance(members, list):
        raise row.wrong(column, f"a list: --lists {column}=... makes rows of its members")
    for number, member in enumerate(members, start=1):
        value = {**row.value, column: member, names[0]: number}
        yield from _members(Row(f"{row.where}, {names[0]} {number}", value), column, names[1:])


def joined(rows: Sequence[Row], path: Path, column: str) -> tuple[list[Row], tuple[str, ...]]:
    """Rows with the columns of another file, and notices.

    Args:
        rows: those of the table.
        path: the other file.
        column: the column of both that tells which rows belong together.

    Raises:
        LogError: the other file has no row for one of ``rows``, or two.
    """
    by_key: dict[str, Row] = {}
    for row in read_rows(path):
        key = _key(row, column)
        if key in by_key:
            raise LogError(
                f"{row.where} repeats a row of --join",
                found=f"{column} {key[:80]}, which {by_key[key].where} holds",
                expected="every row once",
                remedy="leave one of them out",
            )
        by_key[key] = row
    wide = []
    for row in rows:
        key = _key(row, column)
        if key not in by_key:
            raise LogError(
                f"{path} has no row for {row.where}",
                found=f"no {column} {key[:80]}",
                expected=f"a row for each {column}",
                remedy="name the column that both files have: --join FILE=COLUMN",
            )
        wide.append(Row(row.where, {**by_key[key].value, **row.value}))
    own = dict.fromkeys(name for row in rows for name in row.value if name != column)
    both = [name for name in own if any(name in row.value for row in by_key.values())]
    notice = f"{path} has columns that are read from the table instead: {', '.join(both)}"
    return wide, (notice,) if both else ()


def _key(row: Row, column: str) -> str:
    """What tells a row, as a text; numbers and texts of them are the same."""
    value: Any = field_of(row.value, column)
    if value is None or value is ... or isinstance(value, list | dict) or not str(value).strip():
        raise row.wrong(column, "what tells the row, in both files: a text or a number")
    return as_whole(str(value).strip())
