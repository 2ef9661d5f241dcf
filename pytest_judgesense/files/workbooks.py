"""The tables of XLSX workbooks and of Parquet files, by the extras ``excel`` and ``parquet``.

Their libraries are imported where such a file is read. What they hold is measured by what they
state, and piece by piece: a small file can promise more than any memory holds.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, time
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple
from zipfile import BadZipFile

from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.files.limits import beyond, limits
from pytest_judgesense.files.rows import refuse_names

# Of whole numbers that a double holds, each has another one beside it.
_MOST_EXACT: Final = 2**53
# Rows that Parquet gives at once, before their bytes are counted.
_AT_ONCE: Final = 256


class Sheet(NamedTuple):
    """A table with names of columns.

    Attributes:
        name: of the sheet; empty of Parquet.
        names: of the columns.
        rows: with their numbers: those of a spreadsheet, or from 1.
        notes: what a reader has to know of it, in sentences.
    """

    name: str
    names: tuple[str, ...]
    rows: list[tuple[int, dict[str, Any]]]
    notes: tuple[str, ...] = ()


def _refuse_without(module: str, what: str, extra: str) -> None:
    if find_spec(module) is None:
        raise UsageError(
            f"{what}, and {module} is not installed, which reads it",
            expected=f"the extra {extra}, or the table as CSV",
            remedy=f"pip install 'pytest-judgesense[{extra}]'",
        )


# --- XLSX -----------------------------------------------------------------------------------------


def sheets_of_workbook(data: bytes, path: Path, only: str = "") -> list[Sheet]:
    """The sheets of an XLSX workbook that have rows; of one name, if it is given.

    The first row that is not empty names the columns. Formulas have the values that were saved.

    Raises:
        LogError: it cannot be read, a sheet has two columns of one name or too many cells.
        UsageError: openpyxl is not installed.
    """
    _refuse_without("openpyxl", f"{path} is an XLSX workbook", "excel")
    from openpyxl import load_workbook

    faults = (OSError, ValueError, KeyError, TypeError, AttributeError, SyntaxError, BadZipFile)
    with LogError.instead_of(faults, f"{path} cannot be read", expected="an XLSX workbook"):
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        names = [sheet.title for sheet in book.worksheets]
        chosen = [only] if only in names else names
        sheets = [_sheet(book[name], f"{path}, sheet {name}") for name in chosen]
        book.close()
    return [sheet for sheet in sheets if sheet.names]


def _sheet(sheet: Any, where: str) -> Sheet:
    # What it states of its size may be anything.
    sheet.reset_dimensions()
    names: tuple[str, ...] = ()
    rows: list[tuple[int, dict[str, Any]]] = []
    left = limits().cells
    for number, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
        row = _without_empty_end([_plain(cell) for cell in cells])
        if not row:
            continue
        if not names:
            names = tuple(str(cell).strip() for cell in row)
            refuse_names(names, f"{where}, row {number}")
            continue
        if len(row) > len(names):
            raise LogError(
                f"{where}, row {number} has more cells than the header",
                found=f"{len(row)} cells",
                expected=f"at most {len(names)}",
                remedy="name every column in the first row",
            )
        left -= len(names)
        if left < 0:
            raise beyond(LogError, f"{where}, row {number}: too many cells", "cells", "more")
        row += [None] * (len(names) - len(row))
        rows.append((number, dict(zip(names, row, strict=True))))
    return _without_rounded(Sheet(sheet.title, names, rows), where)


def _without_rounded(sheet: Sheet, where: str) -> Sheet:
    """A sheet without columns of whole numbers that no number of a workbook can be: rounded ids.

    The numbers of workbooks are those of IEEE 754 with 53 bits. What writes them has rounded
    already, also where all digits stand in the sheet: openpyxl writes 9007199254740992 for one more
    than that. Which id it was is lost, so nothing may be read by it.
    """
    rounded: dict[str, str] = {}
    for number, row in sheet.rows:
        for name, cell in row.items():
            if name not in rounded and _is_rounded(cell):
                rounded[name] = (
                    f"{where}, row {number}: column {name} is left out, for it holds {cell:.0f}, a "
                    "number with more digits than a workbook keeps, rounded when it was written; "
                    "write such ids as texts, or the table as CSV, from where it was made"
                )
    if not rounded:
        return sheet
    names = tuple(name for name in sheet.names if name not in rounded)
    rows = [
        (number, {name: cell for name, cell in row.items() if name not in rounded})
        for number, row in sheet.rows
    ]
    return Sheet(sheet.name, names, rows, tuple(rounded.values()))


def _is_rounded(cell: Any) -> bool:
    return isinstance(cell, int | float) and abs(cell) > _MOST_EXACT and cell == cell // 1


def _without_empty_end(cells: list[Any]) -> list[Any]:
    while cells and (cells[-1] is None or cells[-1] == ""):
        cells.pop()
    return cells


# --- Parquet --------------------------------------------------------------------------------------


def sheet_of_parquet(data: bytes, path: Path) -> Sheet:
    """The table of a Parquet file.

    Raises:
        LogError: it cannot be read, has two columns of one name, or holds too much.
        UsageError: pyarrow is not installed.
    """
    _refuse_without("pyarrow", f"{path} is a Parquet file", "parquet")
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    faults = (OSError, ValueError, pa.ArrowException)
    with LogError.instead_of(faults, f"{path} cannot be read", expected="a Parquet file"):
        file = ParquetFile(io.BytesIO(data))
        names = tuple(file.schema_arrow.names)
        refuse_names(names, str(path))
        cells = file.metadata.num_rows * max(1, len(names))
        if cells > limits().cells:
            raise beyond(LogError, f"{path} has too many cells", "cells", str(cells))
        rows = [*enumerate(_rows_of_batches(file, path), start=1)]
    return Sheet("", names, rows)


def _rows_of_batches(file: Any, path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file, as long as it has no more bytes than may be, each text counted anew."""
    size = 0
    for batch in file.iter_batches(batch_size=_AT_ONCE):
        size += sum(map(_size, batch.columns))
        if size > limits().file_bytes:
            raise beyond(LogError, f"{path} holds too much", "file_bytes", "more, unpacked")
        for row in batch.to_pylist():
            yield {name: _plain(value) for name, value in row.items()}


def _size(column: Any) -> int:
    """The bytes of a column; of a text that stands once, and is named by many rows, in each."""
    column = column.dictionary_decode() if hasattr(column, "dictionary_decode") else column
    return int(column.nbytes)


def _plain(value: Any) -> Any:
    """A value as JSON may hold it: times in ISO 8601, other values that it has none of as texts."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Iterable):
        return [_plain(inner) for inner in value]
    return str(value)
