"""From what clients hand over to what a cassette holds: bodies as bytes, encodings undone.

A response body may be compressed (``Content-Encoding``, several in the order of their application);
gzip, deflate, br and zstd are undone, the last two where a library for them is installed. A body
that is not in the encoding its header names has been decoded by its client already. One whose
encoding nobody here can undo stays as it came, with the header, so that nothing is lost.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, Final
from urllib.parse import urlencode

from pytest_judgesense.errors import JudgeError

# By encoding, in the order of preference.
_MODULES: Final = {
    "gzip": ("gzip",),
    "x-gzip": ("gzip",),
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
        pieces = list(body)
        if all(isinstance(piece, tuple) for piece in pieces):
            return urlencode(pieces, doseq=True).encode()
        if all(isinstance(piece, str | bytes) for piece in pieces):
            return b"".join(sent_bytes(piece) for piece in pieces)
    raise JudgeError(
        "a request body cannot be recorded",
        found=type(body).__name__,
        expected="bytes, text, a file, pieces of these, or the fields of a form",
        remedy="send the request as JSON or text",
    )


def content_encoding(headers: Iterable[tuple[str, str]]) -> str:
    """The value of the ``Content-Encoding`` headers; empty for none."""
    return ",".join(value for name, value in headers if name.lower() == "content-encoding")


def readable(data: bytes, headers: Iterable[tuple[str, str]]) -> bytes:
    """A body with its content encoding undone, where it can be, to be searched for secrets."""
    content = decoded(data, content_encoding(headers))
    return data if content is None else content


def decoded(data: bytes, encodings: str) -> bytes | None:
    """``data`` with its content ``encodings`` undone; ``None`` where that is not possible."""
    for name in reversed([part.strip().lower() for part in encodings.split(",")]):
        decode = bytes if name in ("", "identity") else _decoder(name)
        if decode is None:
            return None
        try:
            data = decode(data)
        except Exception:  # noqa: BLE001 - br and zstd have errors of their own
            return data
    return data


def _decoder(name: str) -> Callable[[bytes], bytes] | None:
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
