"""Reading foreign results: rows, fields and errors that all importers share.

Every error names file, line, field and the expected value. Unused fields are ignored, with one
notice.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

from pytest_judgesense.errors import JudgesenseError, LogError, listed, unknown_name, well_formed
from pytest_judgesense.files.limits import beyond, json_value, limits
from pytest_judgesense.files.opening import read_bytes, text_of
from pytest_judgesense.files.rows import csv_rows
from pytest_judgesense.trial import LONGEST_NAME, MOST, Design, Judgment, as_whole, is_number

NO_VERDICT: Final = "no verdict recorded"


@dataclass(frozen=True, slots=True)
class Imported:
    """The judgments of a foreign file, each with the design of its suite.

    Attributes:
        notices: ignored fields and assumptions, one sentence each.
        totals: totals that the file states.
        objections: why they are not taken as they are: the first is raised, unless the command is
            wrong in another way.
    """

    judgments: tuple[tuple[Judgment, Design], ...]
    notices: tuple[str, ...] = ()
    totals: tuple[Total, ...] = ()
    objections: tuple[JudgesenseError, ...] = ()


@dataclass(frozen=True, slots=True)
class Total:
    """A total stated by a foreign file, and the same total computed from the grades read."""

    name: str
    stated: float
    computed: float

    @property
    def agrees(self) -> bool:
        """Whether the two are equal to nine digits."""
        return abs(self.stated - self.computed) <= 1e-9 * max(1.0, abs(self.stated))

    def __str__(self) -> str:
        if self.agrees:
            return f"{self.name}: {self.stated:.10g}, as the file says"
        return f"{self.name}: {self.computed:.10g}, but the file says {self.stated:.10g}"


@runtime_checkable
class ImportedSuite(Protocol):
    """A suite that an importer has read."""

    @property
    def notices(self) -> tuple[str, ...]:
        """Ignored fields and assumptions, one sentence each."""

    def files(self, target: Path) -> dict[Path, str]:
        """The files of the suite ``target``, with their texts."""


class Exported(NamedTuple):
    """What is written of judgments in a foreign form: texts by path, and notices for the user."""

    files: Mapping[str, str]
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a foreign file: its fields and its place."""

    where: str
    value: Mapping[str, Any]

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

    def number(self, name: str, least: int = 1) -> int:
        """A field with a whole number from ``least`` to `MOST`, or such a number as text."""
        number = field_of(self.value, name)
        if isinstance(number, str | float) and is_number(text := as_whole(str(number).strip())):
            number = int(text)
        if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= MOST:
            raise self.wrong(name, f"a whole number from {least} to {MOST}")
        return number


def field_of(value: Any, name: str) -> Any:
    """The field ``name`` of an object: its own, or ``a.b``, field b of a; ``...`` if it has none.

    Of a list, fields are numbers from 0.
    """
    if isinstance(value, Mapping) and name in value:
        return value[name]
    for part in name.split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return ...
    return value


def malformed(where: str, value: Any, expected: str) -> LogError:
    """The error for a value in a JSON file that does not have the ``expected`` form."""
    return LogError(
        f"{where} is malformed",
        found=json.dumps(value, default=str)[:80],
        expected=expected,
        remedy="fix the file, or leave it out",
    )


def read_json(file: Path, kind: type | tuple[type, ...], expected: str) -> Any:
    """The single value of a JSON file, of the given type; ``expected`` describes it."""
    value = _parsed(f"{file} cannot be read", _text(file), "JSON in UTF-8, one value in the file")
    if not isinstance(value, kind):
        raise malformed(str(file), value, expected)
    return value


# How files begin that hold no text, and what they are.
_NO_TEXT: Final = {
    b"PK\x03\x04": "a ZIP archive, or a spreadsheet",
    b"BZh91AY&SY": "compressed by bzip2",
    b"\xfd7zXZ": "compressed by xz",
    b"\x28\xb5\x2f\xfd": "compressed by Zstandard",
}
_GZIP: Final = b"\x1f\x8b"
_GZIP_FORM: Final = zlib.MAX_WBITS | 16
# Bytes that are unpacked at once to measure a stream: at most a thousand times as many.
_PIECE: Final = 2**14
_MOST_SHOWN: Final = 12
_BEGINNING: Final = 60


def without_common_value(
    suite: str, verdicts: Collection[str], labels: Collection[str], remedy: str
) -> LogError:
    """The error for verdicts and labels of which none is the same word: no agreement can be."""

    def shown(words: Collection[str]) -> str:
        some = ", ".join(word[:40] for word in sorted(words)[:_MOST_SHOWN])
        return f"{some} and {len(words) - _MOST_SHOWN} more" if len(words) > _MOST_SHOWN else some

    return LogError(
        f"verdicts and labels of suite {suite} are not in the same words: they cannot agree",
        found=f"verdicts {shown(verdicts)}; labels {shown(labels)}",
        expected="the same words in both",
        remedy=remedy,
    )


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of a file: CSV (``.csv``, ``.tsv``), a JSON list, else JSON Lines; also gzipped.

    Raises:
        LogError: the file or a row cannot be read; it names file and line.
    """
    placed: dict[str, Any] = {}
    text = _text(path)
    name = path.name.removesuffix(".gz")
    if name.endswith((".csv", ".tsv")):
        for number, row in csv_rows(path, text, LogError):
            placed[f"{path}:{number}"] = {name: cell or None for name, cell in row.items()}
    elif name.endswith(".json") or text.lstrip()[:1] == "[":
        placed = {f"{path}, record {i}": v for i, v in enumerate(_listed(path, text), start=1)}
    else:
        # Not splitlines(): a reply may hold a Unicode line separator inside a JSON string.
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                where = f"{path}:{number}"
                remedy = "" if placed else "an object on several lines: write each on one line, or "
                remedy = remedy and f"{remedy}all in one list in a file {path.stem}.json"
                wrong = f"{where} is not JSON"
                placed[where] = _parsed(wrong, line, "one JSON object a line", remedy)
    for where, value in placed.items():
        if not isinstance(value, dict):
            raise LogError(f"{where} is not an object", found=str(value)[:80], expected="an object")
        yield Row(where, value)


def _listed(path: Path, text: str) -> list[Any]:
    """The JSON list that a file holds."""
    remedy = f"if there is an object on each line, call it {path.stem}.jsonl"
    value = _parsed(f"{path} cannot be read", text, "a JSON list of objects", remedy)
    if isinstance(value, list):
        return value
    lists = [repr(name) for name, of in value.items() if isinstance(of, list)] if value else []
    rows = "a list of objects that hold their id"
    if lists:
        rows = f"the list {' or '.join(lists[:_MOST_SHOWN])} of the file, that of the judgments,"
    raise LogError(
        f"{path} is no list of rows",
        found=json.dumps(value, default=str)[:80],
        expected="a JSON list of objects",
        remedy=f"write {rows} into a file of its own, and import that",
    )


def _text(path: Path) -> str:
    """The text of a file, also of a gzipped one."""
    problem, expected = f"{path} cannot be read", "a file in UTF-8"
    with LogError.instead_of(OSError, problem, expected=expected):
        data = read_bytes(path)
    if data.startswith(_GZIP):
        data = _gunzipped(path, data)
    if no_text := next((word for start, word in _NO_TEXT.items() if data.startswith(start)), None):
        raise LogError(
            problem,
            found=no_text,
            expected="CSV, JSON Lines or JSON, in UTF-8; it may be gzipped",
            remedy="unpack it, or save it as CSV (UTF-8), and import that",
        )
    encoding = "UTF-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "WINDOWS-1252"
    remedy = f"write it in UTF-8; if it is {encoding}: iconv -f {encoding} -t UTF-8 {path} > NEW"
    with LogError.instead_of(UnicodeDecodeError, problem, expected=expected, remedy=remedy):
        text = text_of(data, "utf-8-sig")
    if "\0" in text:
        raise LogError(
            f"{path}:{text.count(chr(10), 0, text.index(chr(0))) + 1} holds a NUL character",
            expected="text",
            remedy=f"if it has no place there: tr -d '\\000' < {path} > NEW",
        )
    return text


def _gunzipped(path: Path, data: bytes) -> bytes:
    """What one gzip stream holds: it is measured first, so that what is too large takes no memory.

    The limit is that of a plain file.
    """
    with LogError.instead_of(zlib.error, f"{path} cannot be read", expected="a whole gzip file"):
        if _holds_more(data, limits().file_bytes):
            raise beyond(LogError, f"{path} holds too much", "file_bytes", "more, unpacked")
        stream = zlib.decompressobj(_GZIP_FORM)
        content = stream.decompress(data)
    if not stream.eof or stream.unused_data:
        raise LogError(
            f"{path} cannot be read",
            found="more than one gzip stream" if stream.eof else "a gzip stream that is cut off",
            expected="one whole gzip stream",
            remedy=f"gunzip {path}, and import what that writes",
        )
    return content


def _holds_more(data: bytes, most: int) -> bool:
    """Whether the gzip stream ``data`` has more than ``most`` bytes, of which none is kept."""
    stream, size = zlib.decompressobj(_GZIP_FORM), 0
    for begins in range(0, len(data), _PIECE):
        size += len(stream.decompress(data[begins : begins + _PIECE]))
        if size > most:
            return True
    return False


def _parsed(wrong: str, text: str, expected: str, remedy: str = "") -> Any:
    with LogError.instead_of(ValueError, wrong, expected=expected, remedy=remedy):
        return json_value(text)


def left_out(rows: Iterable[Row], used: Collection[str]) -> tuple[str, ...]:
    """One notice about unused fields of ``rows``; none if there are none."""
    names = dict.fromkeys(name for row in rows for name in row.value if name not in used)
    shown = listed(str(name) or "one without a name" for name in names)
    return (f"fields kept out: {shown}",) if names else ()


def columns_named(text: str, names: Collection[str]) -> list[str]:
    """The columns that a text names, several with ``+`` between them.

    Raises:
        UsageError: there is no such column.
    """
    columns = [text] if text in names else list(filter(None, text.split("+")))
    for column in columns:
        if column not in names:
            raise unknown_name("column", column, names)
    return columns


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
    for message in value if isinstance(value, list) else ():
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            parts = [part for part in content if not _is_reasoning(part)]
            texts = [part.get("text") for part in parts if isinstance(part, dict)]
            whole = len(texts) == len(parts) and all(isinstance(text, str) for text in texts)
            content = "".join(map(str, texts)) if whole else None
        if not isinstance(content, str):
            return None
        messages.append({"role": str(message.get("role", "user")), "content": content})
    return messages or None


def _is_reasoning(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "reasoning"


def short_named(judgment: Judgment) -> Judgment:
    """The judgment with names that a log may hold: longer ones by beginning and digest."""
    trial = judgment.trial
    names = (trial.suite, trial.item, trial.template, trial.cluster, judgment.judge)
    if max(map(len, names)) <= LONGEST_NAME:
        return judgment
    suite, item, template, cluster, judge = map(_short, names)
    trial = replace(
        trial,
        id=f"{suite}/{item}/{template}/{trial.order}/r{trial.replicate}",
        suite=suite,
        item=item,
        template=template,
        cluster=cluster,
    )
    return replace(judgment, trial=trial, judge=judge)


def _short(name: str) -> str:
    if len(name) <= LONGEST_NAME:
        return name
    digest = hashlib.sha256(well_formed(name).encode()).hexdigest()
    return f"{' '.join(name[:_BEGINNING].split())}-{digest[:16]}"


def slug(name: str) -> str:
    """``name`` as a valid suite name: letters, digits, ``.``, ``_`` and ``-``, at most 80."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:80] or "imported"


def once(
    places: dict[tuple[str, str], str],
    key: tuple[str, str],
    row: Row,
    remedy: str = "number repetitions in a field of their own, or leave the line out",
) -> None:
    """Add the judge and trial ``key`` of ``row`` to ``known``; it must not be there yet."""
    if key in places:
        raise LogError(
            f"{row.where} repeats a trial",
            found=f"{key[1]} of judge {key[0]}, which {places[key]} holds",
            expected="every trial once",
            remedy=remedy,
        )
    places[key] = row.where
