"""A judgment log as Parquet: a file, or a folder of files, with a column for each field of a line.

Nested fields (``condition``, ``usage``, ``design``, ...) are structs, maps, or JSON as text. Rows
are read a batch at a time, so that a log may be larger than memory. The only door to pyarrow.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.limits import json_value

SUFFIX: Final = ".parquet"
_ROWS: Final = 8192


def rows_of(path: Path, nested: frozenset[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows, each with its place; ``nested``: fields that are objects.

    A missing value is not a field of the row.

    Raises:
        UsageError: pyarrow is not installed.
        LogError: the file, or a file of the folder, cannot be read.
    """
    files = sorted(path.rglob(f"*{SUFFIX}")) if path.is_dir() else [path]
    if not files:
        raise LogError(
            f"{path} holds no judgment log",
            found="a folder",
            expected=f"a file of JSON Lines, or a folder with files *{SUFFIX}",
            remedy="name the log itself",
        )
    with UsageError.instead_of(
        ImportError,
        f"{path} is Parquet, and pyarrow is not installed",
        remedy="pip install 'pytest-judgesense[parquet]', or write the log as JSON Lines",
    ):
        from pyarrow import ArrowException
        from pyarrow import parquet as reader
    for file in files:
        number = 0
        with (
            LogError.instead_of(
                (OSError, ArrowException),
                f"the judgment log {file} cannot be read",
                expected="Parquet, with the fields of a judgment as columns",
            ),
            reader.ParquetFile(file) as opened,
        ):
            for batch in opened.iter_batches(_ROWS):
                for row in batch.to_pylist():
                    number += 1
                    where = f"{file}, row {number}"
                    yield where, _stated(row, nested, where)


def _stated(row: dict[str, Any], nested: frozenset[str], where: str) -> dict[str, Any]:
    found = {name: value for name, value in row.items() if value is not None}
    for name in nested & found.keys():
        value = found[name]
        if isinstance(value, str):
            try:
                value = json_value(value)
            except ValueError as error:
                raise LogError(
                    f"{where}: field {name!r} is wrong",
                    found=f"{value[:80]!r}: {error}",
                    expected="an object: a struct, a map, or JSON as text",
                ) from error
        elif isinstance(value, list):  # a map
            value = dict(value)
        if isinstance(value, dict):
            # A struct has every key that any row has.
            value = {key: one for key, one in value.items() if one is not None}
        found[name] = value
    return found
