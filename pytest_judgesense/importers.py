"""Foreign results to judgments: what every importer needs, rows, fields and their errors.

Every error names file, line, field and what was expected. Fields that nothing reads are left out,
with one notice.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from pytest_judgesense.errors import LogError
from pytest_judgesense.trial import Design, Judgment

NO_VERDICT: Final = "no verdict recorded"


@dataclass(frozen=True, slots=True)
class Imported:
    """The judgments of a foreign file, each with the design of its suite.

    Attributes:
        notices: fields that were left out and assumptions that were made, a sentence each.
    """

    judgments: tuple[tuple[Judgment, Design], ...]
    notices: tuple[str, ...] = ()


class ImportedSuite(Protocol):
    """A suite that an importer has read."""

    @property
    def notices(self) -> tuple[str, ...]:
        """Fields that were left out and assumptions that were made, a sentence each."""

    def files(self, target: Path) -> dict[Path, str]:
        """The files of the suite ``target``, with their texts."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a foreign file: its fields, and where it stands."""

    where: str
    value: Mapping[str, Any]

    def wrong(self, name: str, expected: str) -> LogError:
        """The error that field ``name`` is missing or malformed; ``a.b`` names a field of a."""
        found: Any = self.value
        for part in name.split("."):
            known = isinstance(found, Mapping) and part in found
            found = found[part] if known else ...
        return LogError(
            f"{self.where}: field {name!r} is {'missing' if found is ... else 'malformed'}",
            found=", ".join(map(str, self.value))[:200]
            if found is ...
            else json.dumps(found, default=str)[:80],
            expected=expected,
            remedy="fix the file, or leave the line out",
        )

    def text(self, name: str, expected: str = "a text that is not empty") -> str:
        """A field that is a text and not empty."""
        found = self.value.get(name)
        if not isinstance(found, str) or not found.strip():
            raise self.wrong(name, expected)
        return found

    def number(self, name: str, expected: str = "a whole number, at least 1") -> int:
        """A field that is a whole number from 1, or the text of one."""
        found = self.value.get(name)
        if isinstance(found, str) and found.strip().isdecimal():
            found = int(found)
        if isinstance(found, bool) or not isinstance(found, int) or found < 1:
            raise self.wrong(name, expected)
        return found


def malformed(where: str, found: Any, expected: str) -> LogError:
    """The error of a value in a file of JSON that has another form than ``expected``."""
    return LogError(
        f"{where} is malformed",
        found=json.dumps(found, default=str)[:80],
        expected=expected,
        remedy="fix the file, or leave it out",
    )


def read_json(file: Path, kind: type | tuple[type, ...], expected: str) -> Any:
    """The one value of a file of JSON.

    Raises:
        LogError: it cannot be read, or is not of that kind, which ``expected`` puts into words.
    """
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LogError(
            f"{file} cannot be read", found=str(error), expected="JSON in UTF-8"
        ) from error
    if not isinstance(value, kind):
        raise malformed(str(file), value, expected)
    return value


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of a file: CSV (``.csv``, ``.tsv``), a JSON list (``.json``), else JSON Lines.

    Raises:
        LogError: the file or a row of it cannot be read; it names file and line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise LogError(
            f"{path} cannot be read", found=str(error), expected="a file in UTF-8"
        ) from error
    if path.suffix in (".csv", ".tsv"):
        yield from _csv_rows(path, text)
        return
    if path.suffix == ".json":
        values = _parsed(str(path), text, "a JSON list of objects")
        if not isinstance(values, list):
            raise LogError(f"{path} is no list", found=text[:80], expected="a JSON list of objects")
        placed = [(f"{path}, record {i}", value) for i, value in enumerate(values, start=1)]
    else:
        # Not splitlines(): a reply may hold a Unicode line separator inside a JSON string.
        placed = [
            (where, _parsed(where, line, "one JSON object a line"))
            for number, line in enumerate(text.split("\n"), start=1)
            if line.strip()
            for where in (f"{path}:{number}",)
        ]
    for where, value in placed:
        if not isinstance(value, dict):
            raise LogError(f"{where} is no object", found=str(value)[:80], expected="an object")
        yield Row(where, value)


def _parsed(where: str, text: str, expected: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise LogError(f"{where} is not JSON", found=str(error), expected=expected) from error


def _csv_rows(path: Path, text: str) -> Iterator[Row]:
    csv.field_size_limit(sys.maxsize)  # replies are long
    reader = csv.DictReader(
        io.StringIO(text, newline=""), delimiter="\t" if path.suffix == ".tsv" else ",", strict=True
    )
    try:
        if len(set(names := reader.fieldnames or ())) < len(names):
            raise LogError(
                f"{path}:1 names a column twice",
                found=", ".join(names),
                expected="every column once",
                remedy="rename one of the two",
            )
        for value in reader:
            where = f"{path}:{reader.line_num}"
            if None in value or None in value.values():
                raise LogError(
                    f"{where} has not as many cells as the header",
                    found=f"{sum(v is not None for k, v in value.items() if k)} cells"
                    + (" and more" if None in value else ""),
                    expected=f"{len(reader.fieldnames or ())} cells",
                    remedy="quote cells that hold the separator",
                )
            yield Row(where, {name: cell or None for name, cell in value.items()})
    except csv.Error as error:
        raise LogError(
            f"{path}:{reader.line_num} is not CSV", found=str(error), expected='cells, quoted by "'
        ) from error


def left_out(rows: Iterable[Row], known: Collection[str]) -> tuple[str, ...]:
    """One notice about the fields of ``rows`` that nothing reads; none if there are none."""
    names = dict.fromkeys(name for row in rows for name in row.value if name not in known)
    return (f"fields kept out: {', '.join(names)}",) if names else ()


def slug(name: str) -> str:
    """``name`` as suites are called: letters, digits, ``.``, ``_`` and ``-``, at most 80."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:80] or "imported"


def once(known: dict[tuple[str, str], str], key: tuple[str, str], row: Row) -> None:
    """Enter the judge and trial ``key`` of ``row`` among the ``known`` ones.

    Raises:
        LogError: another row holds it.
    """
    if key in known:
        raise LogError(
            f"{row.where} repeats a trial",
            found=f"{key[1]} of judge {key[0]}, which {known[key]} holds",
            expected="every trial once",
            remedy="number repetitions in a field of their own, or leave the line out",
        )
    known[key] = row.where
