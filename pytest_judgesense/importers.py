"""Reading foreign results: rows, fields and errors that all importers share.

Every error names file, line, field and the expected value. Unused fields are ignored, with one
notice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

from pytest_judgesense.errors import LogError
from pytest_judgesense.files import read_text
from pytest_judgesense.limits import json_value
from pytest_judgesense.rows import csv_rows
from pytest_judgesense.trial import MOST, Design, Judgment, as_whole, is_number

NO_VERDICT: Final = "no verdict recorded"


@dataclass(frozen=True, slots=True)
class Imported:
    """The judgments of a foreign file, each with the design of its suite.

    Attributes:
        notices: ignored fields and assumptions, one sentence each.
        totals: totals that the file states.
    """

    judgments: tuple[tuple[Judgment, Design], ...]
    notices: tuple[str, ...] = ()
    totals: tuple[Total, ...] = ()


@dataclass(frozen=True, slots=True)
class Total:
    """A total stated by a foreign file, and the same total computed from the grades read."""

    name: str
    stated: float
    found: float

    @property
    def agrees(self) -> bool:
        """Whether the two are equal to nine digits."""
        return abs(self.stated - self.found) <= 1e-9 * max(1.0, abs(self.stated))

    def __str__(self) -> str:
        if self.agrees:
            return f"{self.name}: {self.stated:.10g}, as the file says"
        return f"{self.name}: {self.found:.10g}, but the file says {self.stated:.10g}"


@runtime_checkable
class ImportedSuite(Protocol):
    """A suite that an importer has read."""

    @property
    def notices(self) -> tuple[str, ...]:
        """Ignored fields and assumptions, one sentence each."""

    def files(self, target: Path) -> dict[Path, str]:
        """The files of the suite ``target``, with their texts."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a foreign file: its fields and its place."""

    where: str
    value: Mapping[str, Any]

    def wrong(self, name: str, expected: str) -> LogError:
        """The error for a missing or malformed field ``name``; ``a.b`` is field b of a."""
        found: Any = self.value
        for part in name.split("."):
            known = isinstance(found, Mapping) and part in found
            found = found[part] if known else ...
        missing = found is ...
        names = ", ".join(map(str, self.value))
        return LogError(
            f"{self.where}: field {name!r} is {'missing' if missing else 'malformed'}",
            found=names[:200] if missing else json.dumps(found, default=str)[:80],
            expected=expected,
            remedy="fix the file, or leave the line out",
        )

    def text(self, name: str, expected: str = "a text that is not empty") -> str:
        """A field with a non-empty text."""
        found = self.value.get(name)
        if not isinstance(found, str) or not found.strip():
            raise self.wrong(name, expected)
        return found

    def number(self, name: str, least: int = 1) -> int:
        """A field with a whole number from ``least`` to `MOST`, or such a number as text."""
        found = self.value.get(name)
        if isinstance(found, str | float) and is_number(text := as_whole(str(found).strip())):
            found = int(text)
        if isinstance(found, bool) or not isinstance(found, int) or not least <= found <= MOST:
            raise self.wrong(name, f"a whole number from {least} to {MOST}")
        return found


def malformed(where: str, found: Any, expected: str) -> LogError:
    """The error for a value in a JSON file that does not have the ``expected`` form."""
    return LogError(
        f"{where} is malformed",
        found=json.dumps(found, default=str)[:80],
        expected=expected,
        remedy="fix the file, or leave it out",
    )


def read_json(file: Path, kind: type | tuple[type, ...], expected: str) -> Any:
    """The single value of a JSON file, of the given type; ``expected`` describes it."""
    value = _parsed(f"{file} cannot be read", _text(file), "JSON in UTF-8")
    if not isinstance(value, kind):
        raise malformed(str(file), value, expected)
    return value


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of a file: CSV (``.csv``, ``.tsv``), a JSON list (``.json``), else JSON Lines.

    Raises:
        LogError: the file or a row cannot be read; it names file and line.
    """
    placed: dict[str, Any] = {}
    if path.suffix in (".csv", ".tsv"):
        for number, row in csv_rows(path, _text(path), LogError):
            placed[f"{path}:{number}"] = {name: cell or None for name, cell in row.items()}
    elif path.suffix == ".json":
        values = read_json(path, list, "a JSON list of objects")
        placed = {f"{path}, record {i}": value for i, value in enumerate(values, start=1)}
    else:
        # Not splitlines(): a reply may hold a Unicode line separator inside a JSON string.
        for number, line in enumerate(_text(path).split("\n"), start=1):
            if line.strip():
                where = f"{path}:{number}"
                placed[where] = _parsed(f"{where} is not JSON", line, "one JSON object a line")
    for where, value in placed.items():
        if not isinstance(value, dict):
            raise LogError(f"{where} is not an object", found=str(value)[:80], expected="an object")
        yield Row(where, value)


def _text(path: Path) -> str:
    faults = (OSError, UnicodeDecodeError)
    with LogError.instead_of(faults, f"{path} cannot be read", expected="a file in UTF-8"):
        return read_text(path, "utf-8-sig")


def _parsed(wrong: str, text: str, expected: str) -> Any:
    with LogError.instead_of(ValueError, wrong, expected=expected):
        return json_value(text)


def left_out(rows: Iterable[Row], known: Collection[str]) -> tuple[str, ...]:
    """One notice about unused fields of ``rows``; none if there are none."""
    names = dict.fromkeys(name for row in rows for name in row.value if name not in known)
    said = ", ".join(str(name) or "one without a name" for name in names)
    return (f"fields kept out: {said}",) if names else ()


def json_or_none(text: Any) -> Any:
    """The JSON value of ``text``; ``None`` if it is not text or not JSON."""
    try:
        return json_value(text) if isinstance(text, str) else None
    except ValueError:
        return None


def messages_of(value: Any) -> list[dict[str, str]] | None:
    """Chat messages as role and text; ``None`` for anything else, or if they hold more than text.

    A content may be a text or a list of parts; reasoning parts are left out.
    """
    messages = []
    for one in value if isinstance(value, list) else ():
        content = one.get("content") if isinstance(one, dict) else None
        if isinstance(content, list):
            parts = [part for part in content if not _is_reasoning(part)]
            texts = [part.get("text") for part in parts if isinstance(part, dict)]
            whole = len(texts) == len(parts) and all(isinstance(text, str) for text in texts)
            content = "".join(map(str, texts)) if whole else None
        if not isinstance(content, str):
            return None
        messages.append({"role": str(one.get("role", "user")), "content": content})
    return messages or None


def _is_reasoning(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "reasoning"


def slug(name: str) -> str:
    """``name`` as a valid suite name: letters, digits, ``.``, ``_`` and ``-``, at most 80."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:80] or "imported"


def once(
    known: dict[tuple[str, str], str],
    key: tuple[str, str],
    row: Row,
    remedy: str = "number repetitions in a field of their own, or leave the line out",
) -> None:
    """Add the judge and trial ``key`` of ``row`` to ``known``; it must not be there yet."""
    if key in known:
        raise LogError(
            f"{row.where} repeats a trial",
            found=f"{key[1]} of judge {key[0]}, which {known[key]} holds",
            expected="every trial once",
            remedy=remedy,
        )
    known[key] = row.where
