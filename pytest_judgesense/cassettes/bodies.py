"""From what clients hand over to what a cassette holds: bodies as bytes, encodings undone.

A request body arrives as bytes, text, a file, an iterable of pieces, or as the fields of a form.
A response body may be compressed (``Content-Encoding``, several in the order of their application);
gzip, deflate, br and zstd are undone, the last two where a library for them is installed. A body
that is not in the encoding its header names has been decoded by its client already. One whose
encoding nobody here can undo is kept as it came, with the header, so that nothing is lost.

A long part that bodies share (a transcript, a rubric) is kept once, in a file beside the cassette,
``<cassette>.parts``, and stands in the line as ``{"part": digest}``. A text is cut where strings of
its JSON begin and end, and at the blank lines in them; put together again, it is what it was.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import urlencode

from pytest_judgesense.errors import BrokenCassette, JudgeError

__all__ = [
    "Parts",
    "Piece",
    "cut",
    "decoded",
    "joined",
    "part_digest",
    "part_line",
    "parts_path",
    "pieces_of",
    "read_parts",
    "readable_request",
    "rewritten",
    "sent_bytes",
    "with_references",
]

# Texts by their digests.
Parts: TypeAlias = Mapping[str, str]

# A shorter part costs as much as the reference to it.
_SHORTEST_PART: Final = 80
_CUTS: Final = re.compile(r"""(?<=\\n\\n)|(?<=":")|(?<=": ")|(?<!\\)(?="[,}\]])""")
_CONTROLS: Final = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def parts_path(cassette: Path) -> Path:
    """The file that holds the long parts of a cassette."""
    return cassette.with_name(f"{cassette.name}.parts")


def part_digest(text: str) -> str:
    """What a part is called: the beginning of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def part_line(digest: str, text: str) -> str:
    """The line of a part, without a line break."""
    line = json.dumps({"part": digest, "text": text}, ensure_ascii=False)
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", line)


def cut(body: str) -> Iterator[str]:
    """The parts of a body that are long enough to be kept apart, in order."""
    if len(body) >= _SHORTEST_PART:
        yield from (text for text in _CUTS.split(body) if len(text) >= _SHORTEST_PART)


def with_references(body: str, keep_apart: Callable[[str], str | None]) -> str | list[Any]:
    """A body as a line holds it: a text or, where parts are kept apart, a list.

    Args:
        body: the text.
        keep_apart: from a long part to its digest, or ``None`` if it stays in the line.
    """
    pieces: list[Any] = []
    for text in _CUTS.split(body):
        digest = keep_apart(text) if len(text) >= _SHORTEST_PART else None
        if digest is not None:
            pieces.append({"part": digest})
        elif pieces and isinstance(pieces[-1], str):
            pieces[-1] += text
        else:
            pieces.append(text)
    return body if len(pieces) < 2 and isinstance(pieces[0], str) else pieces


def joined(pieces: Iterable[Any], parts: Parts) -> str:
    """The body that `with_references` was given; ``KeyError`` for a part that is not there."""
    return "".join(one if isinstance(one, str) else parts[one["part"]] for one in pieces)


def read_parts(path: Path) -> dict[str, str]:
    """The parts of a file; none if there is no such file.

    Raises:
        BrokenCassette: a line is no part, or not the text that its digest names.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise _broken_part(path, 1, str(error)) from error
    parts: dict[str, str] = {}
    for number, line in enumerate(filter(None, lines), start=1):
        try:
            value = json.loads(line)
            digest, text = value["part"], value["text"]
            right = part_digest(text) == digest
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise _broken_part(path, number, str(error)) from error
        if not right:
            raise _broken_part(path, number, f"a text that is not the one of {digest}")
        parts[digest] = text
    return parts


def _broken_part(path: Path, number: int, found: str) -> BrokenCassette:
    return BrokenCassette(
        f"{path}:{number}: the line cannot be read",
        found=found,
        expected="a part of recorded bodies: its digest and its text",
        remedy="restore the file from version control, or delete it with its cassette and record "
        "both anew with --judge-mode record",
    )


_MODULES: Final = {
    "br": ("brotli", "brotlicffi"),
    "zstd": ("compression.zstd", "zstandard"),
}


def sent_bytes(body: Any) -> bytes:
    """The bytes that a client sends for ``body``. Files and iterators are read to their end.

    Raises:
        JudgeError: a body of that type cannot be recorded.
    """
    if body is None:
        return b""
    if isinstance(body, bytes | bytearray | memoryview):
        return bytes(body)
    if isinstance(body, str):
        return body.encode("utf-8")
    if hasattr(body, "read"):
        return sent_bytes(body.read())
    if isinstance(body, Mapping):
        return urlencode(body, doseq=True).encode()
    if isinstance(body, Iterable):
        parts = list(body)
        if all(isinstance(part, tuple) for part in parts):
            return urlencode(parts, doseq=True).encode()
        if all(isinstance(part, str | bytes) for part in parts):
            return b"".join(sent_bytes(part) for part in parts)
    raise JudgeError(
        "a request body cannot be recorded",
        found=type(body).__name__,
        expected="bytes, text, a file, pieces of these, or the fields of a form",
        remedy="send the request as JSON or text",
    )


def readable_request(data: bytes, headers: Iterable[tuple[str, str]]) -> bytes:
    """The body of a request, its content encoding undone where that is possible.

    A compressed body could not be searched for secrets, and differs from run to run.
    """
    encodings = ",".join(value for name, value in headers if name.lower() == "content-encoding")
    content = decoded(data, encodings)
    return data if content is None else content


def decoded(data: bytes, encodings: str) -> bytes | None:
    """``data`` with its content encoding undone; ``None`` where that is not possible here.

    Args:
        data: the body as it came over the wire.
        encodings: value of the ``Content-Encoding`` header; empty for none.
    """
    for name in reversed([part.strip().lower() for part in encodings.split(",")]):
        if name in ("", "identity"):
            continue
        decode = _decoder(name)
        if decode is None:
            return None
        try:
            data = decode(data)
        except Exception:  # noqa: BLE001 - br and zstd have errors of their own
            return data
    return data


def _decoder(name: str) -> Callable[[bytes], bytes] | None:
    if name in ("gzip", "x-gzip"):
        return gzip.decompress
    if name == "deflate":
        return _inflate
    for module in _MODULES.get(name, ()):
        try:
            library = import_module(module)
        except ImportError:
            continue
        if module == "zstandard":
            return lambda data: bytes(library.ZstdDecompressor().decompressobj().decompress(data))
        decompress: Callable[[bytes], bytes] = library.decompress
        return decompress
    return None


def _inflate(data: bytes) -> bytes:
    try:
        return zlib.decompress(data)
    except zlib.error:
        # Some servers send "deflate" without the zlib wrapper that the standard asks for.
        return zlib.decompress(data, -zlib.MAX_WBITS)


# --- the strings of a JSON body or of a stream ---------------------------------------------------


@dataclass(slots=True)
class Piece:
    """A string of a JSON document, or a line of plain text in a stream, with its place.

    Attributes:
        path: fields and positions that lead to it, the numbering of a stream's choices included.
        fields: the fields alone.
        start, end: where it stands in the whole text, quotes included.
    """

    path: tuple[Any, ...]
    fields: tuple[Any, ...]
    start: int
    end: int
    text: str
    plain: bool = False

    def written(self) -> str:
        return self.text if self.plain else json.dumps(self.text, ensure_ascii=False)


_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_STREAM_LINE: Final = re.compile(r"^(?:data:[ ]?)?(.+?)\r?$", re.MULTILINE)


def pieces_of(text: str) -> list[Piece]:
    """The strings of a JSON text, or of all events of a stream (SSE, JSON Lines); else none."""
    head = text.lstrip()[:1]
    if head in ("{", "["):
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            pass
        else:
            return list(_strings(text, 0))
    if not (head == "{" or re.search(r"^data:", text, re.MULTILINE)):
        return []
    pieces: list[Piece] = []
    for line in _STREAM_LINE.finditer(text):
        payload, start = line[1], line.start(1)
        try:
            json.loads(payload)
        except (ValueError, RecursionError):
            if line[0].startswith("data:"):
                pieces.append(Piece((), (), start, line.end(1), payload, plain=True))
        else:
            pieces += _strings(payload, start)
    return pieces


@dataclass(slots=True)
class _Level:
    """An object or a list that is being read; ``number`` is what an ``index`` field says."""

    is_object: bool
    key: str = ""
    place: int = 0
    number: str = ""
    wants_value: bool = False


def _strings(document: str, offset: int) -> Iterator[Piece]:
    """The strings of a valid JSON ``document`` that are no field names, in order."""
    levels: list[_Level] = []
    found: list[tuple[list[tuple[_Level, Any]], int, int, str]] = []
    for token in _TOKEN.finditer(document):
        sign, top = token[0], levels[-1] if levels else None
        if sign in ("{", "["):
            levels.append(_Level(sign == "{"))
        elif sign in ("}", "]"):
            levels.pop()
        elif sign == ":" and top:
            top.wants_value = True
        elif sign == "," and top:
            top.wants_value = False
            top.place += 1
        elif sign[0] == '"' and top and top.is_object and not top.wants_value:
            top.key = json.loads(sign)
        elif sign[0] == '"':
            trail = [(level, level.key if level.is_object else level.place) for level in levels]
            found.append((trail, token.start(), token.end(), json.loads(sign)))
        elif top and top.is_object and (top.key == "index" or top.key.endswith("_index")):
            top.number += f"{top.key}{sign}"
    for trail, start, end, text in found:
        path = tuple((level.number, step) for level, step in trail)
        fields = tuple(step for level, step in trail if level.is_object)
        yield Piece(path, fields, offset + start, offset + end, text)


def rewritten(text: str, pieces: Iterable[Piece]) -> str:
    """``text`` with these pieces as they are now; all else as it was, byte for byte."""
    for piece in sorted(pieces, key=lambda one: one.start, reverse=True):
        text = f"{text[: piece.start]}{piece.written()}{text[piece.end :]}"
    return text
