"""Bodies as clients deliver them, converted for a cassette: bytes without content encoding.

A response body may be compressed (``Content-Encoding``, several in the order of their application);
gzip, deflate, br and zstd are decoded, the last two if a library for them is installed. A body that
is not in the encoding named by its header was already decoded by its client. A body with an unknown
encoding is kept as it is, with the header, so that nothing is lost.

A body has at most `MOST_BYTES`, or the limit set for a judge, before and during each step of its
decoding: 200 kB of gzip can be 200 MB of text, which is decoded only up to the limit.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from gzip import GzipFile
from importlib import import_module
from io import BytesIO
from typing import Any, Final, TypeAlias
from urllib.parse import urlencode

from pytest_judgesense.errors import BodyTooLarge, JudgeError

# Of a body, on the wire and decoded: a reply of a judge has a few thousand.
MOST_BYTES: Final = 16 * 2**20
# From encoded bytes to at most this many decoded ones.
_Decoder: TypeAlias = Callable[[bytes, int], bytes]


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


def too_large(most: int, where: str) -> BodyTooLarge:
    """The error of a body with more than ``most`` bytes, ``where``: on the wire, or decoded."""
    return BodyTooLarge(
        f"a body is larger than max_body_bytes = {most}, {where}",
        expected=f"at most {most} bytes",
        remedy="if it is meant to be so large, raise max_body_bytes in the judge's table",
    )


def readable(data: bytes, headers: Iterable[tuple[str, str]]) -> bytes:
    """A body with its content encoding undone, where it can be, to be searched for secrets.

    Raises:
        BodyTooLarge: it is; see `decoded`.
    """
    content = decoded(data, content_encoding(headers))
    return data if content is None else content


def decoded(data: bytes, encodings: str, most: int = MOST_BYTES) -> bytes | None:
    """``data`` with its content ``encodings`` undone; ``None`` where that is not possible.

    Raises:
        BodyTooLarge: it has more than ``most`` bytes, as it came or decoded.
    """
    if len(data) > most:
        raise too_large(most, "on the wire")
    for name in reversed([part.strip().lower() for part in encodings.split(",")]):
        if name in ("", "identity"):
            continue
        decode = _DECODERS[name]() if name in _DECODERS else None
        if decode is None:
            return None
        try:
            # One byte above the limit shows that there are more.
            data = decode(data, most + 1)
        except Exception:  # noqa: BLE001 - br and zstd raise other errors
            return data
        if len(data) > most:
            raise too_large(most, f"decoded from {name}")
    return data


def _gunzipped(data: bytes, most: int) -> bytes:
    return GzipFile(fileobj=BytesIO(data)).read(most)


def _inflated(data: bytes, most: int) -> bytes:
    # Some servers send "deflate" without the zlib wrapper that the standard asks for.
    for bits in (zlib.MAX_WBITS, -zlib.MAX_WBITS):
        stream = zlib.decompressobj(bits)
        with suppress(zlib.error):
            content = stream.decompress(data, most)
            if stream.eof or len(content) == most:
                return content
    raise zlib.error("the stream is cut off, or none")


def _zstd() -> _Decoder | None:
    with suppress(ImportError):
        library = import_module("compression.zstd")
        return lambda data, most: bytes(library.ZstdFile(BytesIO(data)).read(most))
    with suppress(ImportError):
        decompressor = import_module("zstandard").ZstdDecompressor()
        opened = partial(decompressor.stream_reader, read_across_frames=True)
        return lambda data, most: bytes(opened(data).read(most))
    return None


def _brotli() -> _Decoder | None:
    for module in ("brotli", "brotlicffi"):
        try:
            library = import_module(module)
        except ImportError:
            continue

        def decode(data: bytes, most: int, library: Any = library) -> bytes:
            stream, content = library.Decompressor(), b""
            # It decodes up to a limit; the next call continues with the remaining input.
            while len(content) < most and not stream.is_finished():
                piece = stream.process(data, output_buffer_limit=most - len(content))
                if not piece and not data:
                    raise ValueError("the stream is cut off")
                content, data = content + piece, b""
            return content

        # Before 1.2 it knows no limit: such a body is kept as it came.
        if hasattr(library.Decompressor, "can_accept_more_data"):
            return decode
    return None


# By encoding, what gives its decoder; ``None`` without a library for it.
_DECODERS: Final[Mapping[str, Callable[[], _Decoder | None]]] = {
    "gzip": lambda: _gunzipped,
    "x-gzip": lambda: _gunzipped,
    "deflate": lambda: _inflated,
    "br": _brotli,
    "zstd": _zstd,
}
