"""The one reader of rows: what anybody keeps in a file, as a table, and what was done to read it.

Files are known by what they hold, not by their names: CSV and its kin, JSON, JSON Lines, XLSX and
Parquet, packed or not. A place of a file may end in ``#PART``: the key of a list in a JSON document
(``results.json#data.rows``), a sheet of a workbook, a file of an archive. Nothing is chosen in
silence: a table says which list was taken and which were passed over.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from glob import has_magic
from hashlib import sha256
from itertools import chain
from operator import attrgetter
from os.path import commonpath
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from pytest_judgesense.errors import LogError, UsageError, listed, unknown_name
from pytest_judgesense.files.limits import beyond, limits
from pytest_judgesense.files.opening import read_bytes, text_of
from pytest_judgesense.files.rows import (
    SEPARATOR_WORDS,
    Row,
    RowList,
    chosen_rows,
    csv_rows,
    document_of,
    field_of,
    line_value,
    lines_of,
    rows_below,
    separator_of,
)
from pytest_judgesense.files.unpacking import Content, unpacked

if TYPE_CHECKING:
    from pytest_judgesense.files.workbooks import Sheet

CSV: Final = "CSV"
JSON: Final = "JSON"
JSON_LINES: Final = "JSON Lines"
XLSX: Final = "XLSX"
PARQUET: Final = "Parquet"
FILE_COLUMN: Final = "file"

_PART: Final = "#"
_OF_LINES: Final = (".jsonl", ".ndjson", ".jsonlines")
_OF_JSON: Final = (".json", *_OF_LINES)
_OF_CSV: Final = (".csv", ".tsv")
# Of the names of files, what does not name their rows.
_ENDINGS: Final = frozenset(
    (*_OF_JSON, *_OF_CSV, ".txt", ".xlsx", ".parquet", ".gz", ".bz2", ".xz", ".zst", ".zip")
)
_BEGINS_PARQUET: Final = b"PAR1"
# How files begin that hold no rows that are read here, and what they are.
_OTHERS: Final = {
    b"\xd0\xcf\x11\xe0": "a workbook of an old spreadsheet (.xls)",
    b"ARROW1": "an Arrow or Feather file",
    b"SQLite format 3": "a database of SQLite",
    b"\x89HDF": "an HDF5 file",
    b"%PDF": "a PDF",
    b"\x93NUMPY": "an array of NumPy",
}
# Control characters that no text has where each character begins with a byte of its own.
_BINARY: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_LOOKED_AT: Final = 4096
_SAVE_AS: Final = "save it as CSV (UTF-8), JSON Lines, XLSX or Parquet, and read that"
# Marks of encodings, the longer first.
_ENCODINGS: Final = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8-sig",
}
# What an object may say of all rows below one of its keys.
_SHARED: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "judge": (
            "judge", "judge_model", "judge_name", "judge_label", "judge_id", "evaluator",
            "evaluator_model", "evaluation_model", "eval_model", "grader", "grader_model",
        ),
        "suite": ("suite",),
    }
)  # fmt: skip
_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class RowTable:
    """The rows of a file, or of several, and how they were read.

    Attributes:
        rows: each with its place.
        columns: the names of all, in the order in which they occur.
        form: `CSV`, `JSON`, `JSON_LINES`, `XLSX` or `PARQUET`.
        text: what the rows were read of; of a workbook or of Parquet a digest of the file.
        is_plain_text: whether the file is a text in UTF-8, not packed.
        separator: between the cells of a line, in CSV and its kin.
        how: everything that was done to read it, in a phrase: encoding, packing, separator.
        notes: what a reader has to know, in sentences: which list of rows was taken, and which
            were passed over; a name that says something else than the file.
    """

    rows: tuple[Row, ...]
    columns: tuple[str, ...]
    form: str
    text: str = ""
    is_plain_text: bool = False
    separator: str = ""
    how: str = ""
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Row]:
        """The rows, in their order."""
        return iter(self.rows)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    @property
    def unit(self) -> str:
        """What the number of a row counts: the ``line``, ``record`` or ``row`` of its file."""
        return unit_of(self.form)

    def has(self, column: str) -> bool:
        """Whether a row has a column of that name; ``a.b`` is field b of the objects in a."""
        return column in self.columns or (
            "." in column and any(field_of(row.value, column) is not ... for row in self.rows)
        )


def unit_of(form: str) -> str:
    """What the number of a row counts in files of a form."""
    return {JSON: "record", XLSX: "row", PARQUET: "row"}.get(form, "line")


def read_rows(*places: Path, are_named: bool | None = None) -> RowTable:
    """The rows of a file, or of several files, which a column `FILE_COLUMN` then names.

    Args:
        places: files, with ``#PART`` at their ends perhaps; or patterns such as ``runs/*.csv``.
        are_named: whether that column is there; by default where there are several files.

    Raises:
        LogError: a file or a row cannot be read; it names file and line.
        UsageError: no file is there, a part is not, or a library for the file is not installed.
    """
    files = [file for place in places for file in files_at(place)]
    tables = [_read(path, part) for path, part in files]
    if len(tables) == 1 and not are_named:
        return tables[0]
    return _together(tables, [path for path, _ in files], are_named=are_named is not False)


def files_at(place: Path) -> list[tuple[Path, str]]:
    """The files of a place, each with the part of it that is wanted.

    A file is what its name says, whatever characters it holds; then parts and patterns are looked
    for.
    """
    path, part = file_at(place)
    pattern = str(path)
    if has_magic(pattern) and not exists(path):
        anchor = Path(path.anchor)
        matching = anchor.glob(str(path.relative_to(anchor)))
        if files := sorted(file for file in matching if file.is_file()):
            return [(file, part) for file in files]
        raise UsageError(
            f"no file matches {pattern}", expected="a pattern of files, such as runs/*.csv"
        )
    return [(path, part)]


def exists(path: Path) -> bool:
    """Whether there is anything at a path; at one that is too long for the system there is not."""
    try:
        return path.exists()
    except OSError:
        return False


def file_at(place: Path) -> tuple[Path, str]:
    """The file of a place, and the part of it that is wanted, if any."""
    whole = str(place)
    ends = [end for end, character in enumerate(whole) if character == _PART]
    if exists(place) or not ends:
        return place, ""
    files = (end for end in ends if exists(Path(whole[:end])) and Path(whole[:end]).is_file())
    end = next(files, ends[0])
    return Path(whole[:end]), whole[end + 1 :]


def is_there(place: Path) -> bool:
    """Whether there is anything at a place as `read_rows` takes it."""
    try:
        return all(exists(path) for path, _ in files_at(place))
    except UsageError:
        return False


def own_name(place: Path) -> str:
    """What the file at a place is called without the endings of its form and of its packing."""
    (path, _), *_ = files_at(place)
    name = path.name
    while (stem := Path(name).stem) != name and Path(name).suffix.lower() in _ENDINGS:
        name = stem
    return name


def _together(tables: Sequence[RowTable], paths: Sequence[Path], *, are_named: bool) -> RowTable:
    """The rows of several files as those of one table, each with the name of its file."""
    names = _told_apart(paths)
    is_there = any(FILE_COLUMN in table.columns for table in tables)
    rows = [
        row if is_there or not are_named else replace(row, value={**row.value, FILE_COLUMN: name})
        for name, table in zip(names, tables, strict=True)
        for row in table.rows
    ]
    columns = dict.fromkeys(chain.from_iterable(table.columns for table in tables))
    if are_named:
        columns[FILE_COLUMN] = None
    note = f"the rows of {len(paths)} files are read together: {listed(names)}"
    note += f"; their own column {FILE_COLUMN!r} stays" if is_there else ""
    stated = [note] if len(paths) > 1 else []
    notes = dict.fromkeys((*stated, *chain.from_iterable(table.notes for table in tables)))
    forms = dict.fromkeys(table.form for table in tables)
    _refuse_size(len(columns), len(rows) * len(columns), f"{paths[0]} and others")
    return RowTable(
        tuple(rows),
        tuple(columns),
        next(iter(forms), CSV),
        "\n".join(table.text for table in tables),
        how=", ".join(dict.fromkeys(map(attrgetter("how"), tables))),
        notes=tuple(notes),
    )


def _told_apart(paths: Sequence[Path]) -> list[str]:
    """The names of files; where two are alike, with the folders in which they differ."""
    names = [path.name for path in paths]
    if len(set(names)) == len(names):
        return names
    above = commonpath([path.resolve().parent for path in paths])
    return [path.resolve().relative_to(above).as_posix() for path in paths]


def _read(path: Path, part: str) -> RowTable:
    with LogError.instead_of(OSError, f"{path} cannot be read", expected="a file"):
        data = read_bytes(path)
    return table_of(data, path, part)


def table_of(data: bytes, path: Path, part: str = "") -> RowTable:
    """The rows of the bytes of a file.

    Args:
        data: the bytes.
        path: the place of the file, for messages and by its name.
        part: what is wanted of it, as behind ``#``.

    Raises:
        LogError, UsageError: as for `read_rows`.
    """
    content, part = unpacked(data, path, part)
    if content.is_workbook:
        return _of_workbook(content, path, part)
    if content.data.startswith(_BEGINS_PARQUET):
        _refuse_part(path, part, PARQUET)
        from pytest_judgesense.files.workbooks import sheet_of_parquet

        sheet = sheet_of_parquet(content.data, path)
        return _of_sheet(sheet, str(path), PARQUET, content)
    text, encoding = _decoded(content.data, path)
    return _of_text(text, encoding, path, content, part)


def _of_workbook(content: Content, path: Path, part: str) -> RowTable:
    from pytest_judgesense.files.workbooks import sheets_of_workbook

    sheets = sheets_of_workbook(content.data, path, part)
    named = [sheet for sheet in sheets if sheet.name == part]
    if part and not named:
        raise unknown_name(f"sheet in {path}", part, [sheet.name for sheet in sheets])
    lists = [RowList(sheet.name, [row for _, row in sheet.rows]) for sheet in named or sheets]
    if not lists:
        return RowTable((), (), XLSX, sha256(content.data).hexdigest(), how=_how(XLSX, content))
    chosen, passed_over = chosen_rows(lists, path) if len(lists) > 1 else (lists[0], [])
    taken = [sheet for sheet in sheets if sheet.name in (chosen.keys or (chosen.key,))]
    tables = [_of_sheet(sheet, f"{path}, sheet {sheet.name}", XLSX, content) for sheet in taken]
    notes = dict.fromkeys(chain.from_iterable(sheet.notes for sheet in taken))
    table = replace(tables[0], notes=(*_taken(path, chosen, passed_over, "sheet"), *notes))
    if not chosen.keys:
        return table
    places = [row for part in tables for row in part.rows]
    rows = [replace(row, value=cells) for row, cells in zip(places, chosen.rows, strict=True)]
    return replace(table, rows=tuple(rows), columns=tuple(rows[0].value))


def _of_sheet(sheet: Sheet, where: str, form: str, content: Content) -> RowTable:
    return RowTable(
        tuple(Row(f"{where}, row {number}", row, number) for number, row in sheet.rows),
        sheet.names,
        form,
        sha256(content.data).hexdigest(),
        how=_how(form, content),
    )


def _how(form: str, content: Content, *more: str) -> str:
    return ", ".join((form, *filter(None, more), *content.packed))


def _refuse_part(path: Path, part: str, form: str) -> None:
    if part:
        raise UsageError(
            f"{path}#{part} names a part, and the file has none",
            found=form,
            expected="a key of a JSON document, a sheet of a workbook, or a file of an archive",
            remedy=f"leave out #{part}",
        )


# --- texts ----------------------------------------------------------------------------------------


def _decoded(data: bytes, path: Path) -> tuple[str, str]:
    """The text of a file, with line feeds as line ends, and its encoding where it is not UTF-8."""
    problem = f"{path} cannot be read"
    if other := next((kind for begins, kind in _OTHERS.items() if data.startswith(begins)), None):
        raise LogError(problem, found=other, expected="rows of texts", remedy=_SAVE_AS)
    marks = (encoding for mark, encoding in _ENCODINGS.items() if data.startswith(mark))
    encoding = next(marks, "utf-8")
    with LogError.instead_of(
        UnicodeDecodeError,
        problem,
        expected="a text in UTF-8, or in UTF-16 with its mark",
        remedy=_into_text(data, path),
    ):
        text = text_of(data, encoding)
    if "\0" in text:
        raise LogError(
            f"{path}:{text.count(chr(10), 0, text.index(chr(0))) + 1} holds a NUL character",
            expected="text",
            remedy=f"if it has no place there: tr -d '\\000' < {path} > NEW",
        )
    return text, "" if encoding.startswith("utf-8") else encoding.upper()


def _into_text(data: bytes, path: Path) -> str:
    """What makes a text in UTF-8 of bytes that are none."""
    named = "UTF-16" if data[:4].count(0) == 2 else "WINDOWS-1252"
    if named != "UTF-16" and _BINARY.search(data[:_LOOKED_AT]):
        return f"it is no text; if it holds a table, {_SAVE_AS}"
    return f"write it in UTF-8; if it is {named}: iconv -f {named} -t UTF-8 {path} > NEW"


def _of_text(text: str, encoding: str, path: Path, content: Content, part: str) -> RowTable:
    """The rows of a text, by how it begins and by whether it is what that promises."""
    name = content.name.lower()
    begins = text.lstrip()[:1]
    if begins in ("{", "[") and not (name.endswith(_OF_CSV) and not _is_json(text)):
        table = _of_json(text, path, name, part)
    elif name.endswith(_OF_JSON) and text.strip() and not _is_delimited(text, path):
        table = _of_lines(text, path) if name.endswith(_OF_LINES) else _of_document(text, path)
    else:
        _refuse_part(path, part, CSV)
        table = _of_delimited(text, path, name)
    notes = table.notes
    by_name = dict.fromkeys(_OF_CSV, CSV) | dict.fromkeys(_OF_JSON, JSON)
    stated = next((form for ending, form in by_name.items() if name.endswith(ending)), None)
    if stated and text.strip() and not table.form.startswith(stated):
        notes = (f"{path} is read as {table.form}, which it is, whatever its name says", *notes)
    how = _how(table.form, content, table.how, encoding)
    is_plain = not encoding and not content.packed
    return replace(table, text=text, is_plain_text=is_plain, how=how, notes=notes)


def _is_json(text: str) -> bool:
    """Whether a text, or its first line, is JSON."""
    for candidate in (text.lstrip().partition("\n")[0], text):
        try:
            document_of(candidate)
        except ValueError:
            continue
        return True
    return False


def _is_delimited(text: str, path: Path) -> bool:
    """Whether a text that begins as no object and no list is a table with several columns."""
    if _is_json(text):
        return False
    try:
        first = next(csv_rows(path, text, LogError), None)
    except LogError:
        return False
    return first is not None and len(first[1]) > 1


def _of_delimited(text: str, path: Path, name: str) -> RowTable:
    separator = separator_of(text, prefers_tabs=name.endswith(".tsv"))
    place = f"{path}:"
    rows = tuple(
        Row(f"{place}{number}", row, number)
        for number, row in csv_rows(path, text, LogError, separator)
    )
    usual = separator in (",", "\t")
    how = "" if usual else f"separated by {SEPARATOR_WORDS[separator]}"
    columns = tuple(rows[0].value) if rows else ()
    return RowTable(rows, columns, CSV, separator=separator, how=how)


def _of_lines(text: str, path: Path) -> RowTable:
    """The rows of JSON Lines, an object a line."""
    rows: list[Row] = []
    place = f"{path}:"
    for number, line in enumerate(lines_of(text), start=1):
        if line and not line.isspace():
            try:
                value = line_value(line)
            except ValueError as error:
                raise _no_json_line(path, number, error, is_first=not rows) from error
            if not isinstance(value, dict):
                raise _no_object(f"{place}{number}", value)
            rows.append(Row(f"{place}{number}", value, number))
    return _with_columns(rows, JSON_LINES, str(path))


def _no_json_line(path: Path, number: int, error: ValueError, *, is_first: bool) -> LogError:
    remedy = "an object on several lines: write each on one line, or all in one list in a file "
    return LogError(
        f"{path}:{number} is not JSON",
        found=str(error),
        expected="one JSON object a line",
        remedy=f"{remedy}{path.stem}.json" if is_first else "",
    )


def _no_object(where: str, value: Any) -> LogError:
    shown = json.dumps(value, ensure_ascii=False, default=str)[:_SHOWN]
    return LogError(
        f"{where} is not an object",
        found=shown,
        expected='an object with a key for each column, such as {"question": "..."}',
        remedy="fix it, or leave it out",
    )


def _with_columns(rows: Sequence[Row], form: str, where: str) -> RowTable:
    columns = dict.fromkeys(chain.from_iterable(row.value for row in rows))
    _refuse_size(len(columns), sum(len(row.value) for row in rows), where)
    return RowTable(tuple(rows), tuple(columns), form)


def _refuse_size(columns: int, cells: int, where: str) -> None:
    if columns > limits().columns:
        raise beyond(LogError, f"{where} has too many columns", "columns", str(columns))
    if cells > limits().cells:
        raise beyond(LogError, f"{where} has too many cells", "cells", str(cells))


# --- JSON documents -------------------------------------------------------------------------------


def _of_json(text: str, path: Path, name: str, part: str) -> RowTable:
    """The rows of JSON, which may be an object a line, whatever the file is called."""
    first, _, rest = text.strip().partition("\n")
    is_object = _is_object(first)
    if is_object and not part and (rest.strip() or name.endswith(_OF_LINES)):
        return _of_lines(text, path)
    if not is_object and name.endswith(_OF_LINES) and first[:1] == "{" and not _is_whole(text):
        return _of_lines(text, path)
    return _of_document(text, path, part, may_be_row=not name.endswith(".json"))


def _is_object(line: str) -> bool:
    try:
        return isinstance(line_value(line), dict)
    except ValueError:
        return False


def _is_whole(text: str) -> bool:
    """Whether a text on several lines is one value with rows in it."""
    try:
        return bool(rows_below(document_of(text)))
    except ValueError:
        return False


def _of_document(text: str, path: Path, part: str = "", *, may_be_row: bool = False) -> RowTable:
    """The rows of one JSON value: a list, or what stands below a key of an object."""
    document = value = _document(text, path)
    notes: tuple[str, ...] = ()
    if part:
        value = field_of(value, part)
        if value is ...:
            raise _no_part(text, path, part)
    if isinstance(value, list):
        chosen = RowList(part, value)
    else:
        lists = rows_below(value, part)
        if not lists and may_be_row and isinstance(value, dict):
            chosen = RowList(part, [value])
        else:
            names = value if isinstance(value, dict) else ()
            chosen, passed_over = chosen_rows(lists, path, names)
            notes = _taken(path, chosen, passed_over, "list")
    shared = _of_all(document, chosen.key)
    if added := [name for name in shared if all(name not in row for row in chosen.rows)]:
        stated = ", ".join(f"{name} {shared[name]!r}" for name in added)
        notes = (*notes, f"{path} states beside its rows what is of all of them: {stated}")
    rows = []
    for number, row in enumerate(chosen.rows, start=1):
        if not isinstance(row, dict):
            raise _no_object(f"{path}, record {number}", row)
        whole = {**row, **{name: shared[name] for name in added}} if added else row
        rows.append(Row(f"{path}, record {number}", whole, number))
    return replace(_with_columns(rows, JSON, str(path)), notes=notes)


def _of_all(document: Any, key: str) -> dict[str, str]:
    """What an object says of all rows below one of its keys: who judged them, and of which suite.

    It says so itself, or in an object about the whole file, such as its settings. The object that
    is nearest to the rows decides.
    """
    shared: dict[str, str] = {}
    for name in key.split(".") if key else ():
        if not isinstance(document, dict):
            break
        about = (part for key, part in document.items() if RowList(key, ()).is_about_the_file)
        for stating in (*about, document):
            shared |= _stated_of_all(stating)
        document = document.get(name)
    return shared


def _stated_of_all(stating: Any) -> dict[str, str]:
    if not isinstance(stating, dict):
        return {}
    texts = {
        field: [text for name in names if isinstance(text := stating.get(name), str) and text]
        for field, names in _SHARED.items()
    }
    return {field: stated[0] for field, stated in texts.items() if stated}


def _document(text: str, path: Path) -> Any:
    with LogError.instead_of(
        ValueError,
        f"{path} is not JSON",
        expected="one JSON value, with the rows in a list; or an object a line",
    ):
        return document_of(text)


def _no_part(text: str, path: Path, part: str) -> UsageError:
    keys = [rows.key for rows in rows_below(document_of(text)) if rows.key]
    return unknown_name(f"key in {path}", part, keys)


def _taken(
    path: Path, chosen: RowList, passed_over: Iterable[RowList], unit: str
) -> tuple[str, ...]:
    """The sentence on the list that was taken, and on those that were not."""
    if not chosen.key and chosen.shape == RowList("", ()).shape:
        return ()
    counts = [f"{rows.key} ({_rows_words(rows.rows)})" for rows in passed_over]
    name = f"the {unit} {chosen.key!r}" if chosen.key else chosen.shape
    name = f"the {unit}s {chosen.key}, {chosen.shape}" if chosen.keys else name
    form = f", {chosen.shape}" if chosen.key and unit == "list" and "list" not in name else ""
    passed = f"; passed over: {listed(counts)}" if counts else ""
    return (f"of {path} {_rows_words(chosen.rows)} are read: {name}{form}{passed}",)


def _rows_words(rows: Sequence[Any]) -> str:
    return f"{len(rows)} row{'s' * (len(rows) != 1)}"


def read_document(path: Path, kind: type | tuple[type, ...], expected: str) -> Any:
    """The single value of a JSON file, packed or not, of the given type.

    Args:
        path: the file.
        kind: the type of the value, or several.
        expected: what it is, in words.

    Raises:
        LogError: it cannot be read, or is of another type.
    """
    with LogError.instead_of(OSError, f"{path} cannot be read", expected=expected):
        data = read_bytes(path)
    content, _ = unpacked(data, path)
    table = XLSX if content.is_workbook else PARQUET
    if content.is_workbook or content.data.startswith(_BEGINS_PARQUET):
        raise LogError(
            f"{path} cannot be read",
            found=f"{table}, a table",
            expected=f"JSON in UTF-8: {expected}",
            remedy="a table of judgments is read by: judgesense import --format table",
        )
    text, _ = _decoded(content.data, path)
    with LogError.instead_of(
        ValueError, f"{path} cannot be read", expected="JSON in UTF-8, one value in the file"
    ):
        value = document_of(text)
    if not isinstance(value, kind):
        raise malformed(str(path), value, expected)
    return value


def malformed(where: str, value: Any, expected: str) -> LogError:
    """The error for a value in a JSON file that does not have the ``expected`` form."""
    return LogError(
        f"{where} is malformed",
        found=json.dumps(value, default=str)[:_SHOWN],
        expected=expected,
        remedy="fix the file, or leave it out",
    )
