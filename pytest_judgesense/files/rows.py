"""Tables in users' files: the rows of a CSV file with line numbers, the values of a JSON list."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.errors import JudgesenseError, listed
from pytest_judgesense.files.limits import json_value

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


def csv_rows(
    path: Path, text: str, error: type[JudgesenseError]
) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a CSV file as dictionaries; also ``.tsv``, and cells separated by ``;`` or tabs.

    Rows of empty cells, columns at the end that are empty and have no name, and spaces around the
    names of columns are left out: spreadsheets write them, and a first line ``sep=;``.

    Raises:
        JudgesenseError: of the type ``error``: a row does not match the header, or the file is not
            CSV; it names file and line.
    """
    csv.field_size_limit(sys.maxsize)  # texts are long
    lines = io.StringIO(text, newline="")
    before, begins = 0, 1
    if stated := _SEPARATOR.match(text):
        separator, before = stated[1], 1
        lines.readline()
    else:
        header = text.partition("\n")[0]
        first = "\t" if path.name.removesuffix(".gz").endswith(".tsv") else ","
        # Spreadsheets with a decimal comma write ";".
        separator = next(
            (character for character in (first, ";", "\t") if character in header), first
        )
    reader = csv.reader(lines, delimiter=separator, strict=True)
    try:
        names = [name.strip() for name in _without_empty_end(next(reader, []), 0)]
        if len(set(names)) < len(names):
            raise error(
                f"{path}:{before + 1} names a column twice",
                found=listed(names),
                expected="every column once",
                remedy="rename one of the two",
            )
        begins = before + reader.line_num + 1
        for row in reader:
            cells = _without_empty_end(row, len(names))
            is_empty = not any(cell.strip() for cell in cells)
            if not is_empty and len(cells) != len(names):
                raise error(
                    f"{path}:{begins} has another number of cells than the header",
                    found=f"{len(cells)} cells",
                    expected=f"{len(names)} cells",
                    remedy="quote cells that hold the separator",
                )
            if not is_empty:
                yield begins, dict(zip(names, cells, strict=True))
            begins = before + reader.line_num + 1
    except csv.Error as wrong:
        raise error(
            f"{path}:{before + reader.line_num} is not CSV",
            found=str(wrong),
            expected="quoted cells that are closed",
            remedy=f"close the quote in the row of line {begins}, or delete it if it is cut off",
        ) from wrong


def _without_empty_end(cells: list[str], least: int) -> list[str]:
    """``cells`` without the empty ones at the end, but ``least`` of them."""
    end = len(cells)
    while end > least and not cells[end - 1].strip():
        end -= 1
    return cells[:end]


def json_rows(path: Path, text: str, error: type[JudgesenseError]) -> Iterator[tuple[int, Any]]:
    """The values of a JSON list with their numbers, because a list may be on one line.

    Raises:
        JudgesenseError: of the type ``error``: it is not a JSON list.
    """
    with error.instead_of(ValueError, f"{path} is not JSON", expected="a list of objects"):
        values = json_value(text)
    if not isinstance(values, list):
        raise error(
            f"{path} holds no items", found=f"a {type(values).__name__}", expected="a JSON list"
        )
    yield from enumerate(values, start=1)
