"""Bodies as clients deliver them, converted for a cassette: bytes without content encoding.

And what stands at a path within what they hold.

A response body may be compressed (``Content-Encoding``, several in the order of their application):
gzip, deflate, br and zstd, the last two if a library for them is installed. What is decoded is what
common clients read: a stream that is cut off up to its end, all members of gzip, no bytes behind
them. Text under such a header was decoded before, or never encoded.

A body has at most `MOST_BYTES`, or the limit set for a judge, before and during each step of its
decoding: 200 kB of gzip can be 200 MB of text, which is decoded only up to the limit.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any, Final, TypeAlias
from urllib.parse import urlencode

from pytest_judgesense.errors import BodyTooLarge, JudgeError

# Of a body, on the wire and decoded: a reply of a judge has a few thousand.
MOST_BYTES: Final = 16 * 2**20
# From encoded bytes to at most this many decoded ones, and whether the stream ends with them.
_Decoder: TypeAlias = Callable[[bytes, int], tuple[bytes, bool]]


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


def too_many_parts(reason: str) -> BodyTooLarge:
    """The error of a body with more parts than can be searched for secrets in time."""
    return BodyTooLarge(
        f"a body has too many parts to be searched for secrets: {reason}",
        found=reason,
        expected="the reply of a model: some thousands",
        remedy="ask for less at once: a shorter reply, or fewer alternatives of its tokens",
    )


class NotDecodable(ValueError):
    """Bytes are not in the content encoding that their header names."""


def is_text(data: bytes) -> bool:
    """Whether ``data`` is UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def encodings_in(names: str) -> list[str]:
    """The encodings of a ``Content-Encoding`` header, in lower case and as they were applied."""
    parts = (part.strip().lower() for part in names.split(","))
    return [part for part in parts if part not in ("", "identity")]


def readable(data: bytes, headers: Iterable[tuple[str, str]]) -> bytes:
    """A body with its content encoding undone, where it can be, to be searched for secrets.

    Raises:
        BodyTooLarge: it is; see `decoded`.
    """
    try:
        content = decoded(data, content_encoding(headers))
    except NotDecodable:
        return data
    return data if content is None else content


def decoded(
    data: bytes, encodings: str, most: int = MOST_BYTES, *, whole: bool = False
) -> bytes | None:
    """``data`` with its content ``encodings`` undone; ``None`` where nothing here decodes one.

    Raises:
        BodyTooLarge: it has more than ``most`` bytes, as it came or decoded.
        NotDecodable: it is neither encoded so nor text; or, if it has to be ``whole``, it is cut
            off or more follows.
    """
    if len(data) > most:
        raise too_large(most, "on the wire")
    for name in reversed(encodings_in(encodings)):
        decode = _DECODERS[name]() if name in _DECODERS else None
        if decode is None:
            return None
        try:
            # One byte above the limit shows that there are more.
            content, complete = decode(data, most + 1)
        except Exception as error:  # br and zstd raise other errors
            if is_text(data) and not whole:
                return data
            raise NotDecodable(f"it is not {name}, or damaged: {error}") from error
        if len(content) > most:
            raise too_large(most, f"decoded from {name}")
        if not complete and whole:
            raise NotDecodable(f"as {name} it is cut off, or more follows")
        if not complete and data and is_text(data):
            return data  # a few letters may be the beginning of a stream by chance
        data = content
    return data


def opened(data: bytes) -> tuple[str, bytes] | None:
    """The encoding that bytes show by how they begin, and what is in them; ``None`` without one.

    Of a stream that is cut off that is what there is of it.

    Raises:
        BodyTooLarge: it is more than `MOST_BYTES`.
    """
    for name, beginning in _BEGINNINGS.items():
        if data.startswith(beginning):
            with suppress(NotDecodable):
                content = decoded(data, name)
                if content is not None and content != data:
                    return name, content
    return None


def missing_decoder(encodings: str) -> str:
    """Why nothing here decodes one of ``encodings``: what to install, if that is it."""
    for name in encodings_in(encodings):
        if name in _INSTALLED_AS and _DECODERS[name]() is None:
            return f"{name} needs the package {_INSTALLED_AS[name]}"
        if name not in _DECODERS:
            return f"nothing here decodes {name}"
    return ""


def encoded(data: bytes, encodings: str) -> bytes | None:
    """``data`` in content ``encodings``: the reverse of `decoded`.

    ``None`` where nothing here writes one.
    """
    for name in encodings_in(encodings):
        encode = _ENCODERS.get(name)
        content = encode(data) if encode else None
        if content is None:
            return None
        data = content
    return data


def _gunzipped(data: bytes, most: int) -> tuple[bytes, bool]:
    content, position, size, members = bytearray(), 0, _FIRST_PIECE, 1
    stream = zlib.decompressobj(zlib.MAX_WBITS | 16)
    while position < len(data) and len(content) < most:
        piece = data[position : position + size]
        try:
            content += stream.decompress(piece, most - len(content))
        except zlib.error:
            if members == 1:
                raise
            return bytes(content), False  # no member any more
        position += len(piece) - len(stream.unused_data)
        # What is behind a member is handed back each time: of many small ones in small pieces.
        size = min(2 * size, 2**16)
        if stream.eof and position < len(data):
            members += 1
            if members > _MOST_MEMBERS:
                raise zlib.error(f"more than {_MOST_MEMBERS} members")
            stream, size = zlib.decompressobj(zlib.MAX_WBITS | 16), _FIRST_PIECE
    return bytes(content), stream.eof


def _inflated(data: bytes, most: int) -> tuple[bytes, bool]:
    # Some servers send "deflate" without the zlib wrapper that the standard asks for.
    for bits in (zlib.MAX_WBITS, -zlib.MAX_WBITS):
        stream = zlib.decompressobj(bits)
        with suppress(zlib.error):
            content = stream.decompress(data, most)
            return content, stream.eof and not stream.unused_data
    raise zlib.error("neither with the wrapper of zlib nor without")


def _zstd() -> _Decoder | None:
    library = _zstd_library()
    if library is None:
        return None
    if hasattr(library, "ZstdDecompressionReader"):
        return partial(_unpacked_by_zstandard, library)
    return partial(_unpacked, library.ZstdDecompressor)


def _zstd_library() -> Any:
    for module in ("compression.zstd", "backports.zstd", "zstandard"):
        with suppress(ImportError):
            return import_module(module)
    return None


def _unpacked_by_zstandard(library: Any, data: bytes, most: int) -> tuple[bytes, bool]:
    reader = library.ZstdDecompressor().stream_reader(data, read_across_frames=True)
    content = bytes(reader.read(most))
    # It reads what is there, and does not say whether that is all; frames know their ends.
    for _ in range(_MOST_MEMBERS if len(content) < most else 0):
        stream = library.ZstdDecompressor().decompressobj()
        stream.decompress(data)
        data = stream.unused_data
        if not (stream.eof and data):
            return content, bool(stream.eof)
    return content, False


def _unpacked(decompressor: Any, data: bytes, most: int) -> tuple[bytes, bool]:
    content = bytearray()
    for _ in range(_MOST_MEMBERS):
        stream = decompressor()
        content += stream.decompress(data, most - len(content))
        data = stream.unused_data
        if not data or len(content) >= most:
            return bytes(content), stream.eof
    raise ValueError(f"more than {_MOST_MEMBERS} frames")


def _brotli() -> _Decoder | None:
    library = _brotli_library()
    # Before 1.2 it knows no limit.
    if library is None or not hasattr(library.Decompressor, "can_accept_more_data"):
        return None

    def decode(data: bytes, most: int) -> tuple[bytes, bool]:
        stream, content = library.Decompressor(), bytearray()
        # It decodes up to a limit; the next call continues with the remaining input.
        while len(content) < most and not stream.is_finished():
            piece = stream.process(data, output_buffer_limit=most - len(content))
            if not piece and not data:
                break
            content, data = content + piece, b""
        return bytes(content), bool(stream.is_finished())

    return decode


def _brotli_library() -> Any:
    for module in ("brotli", "brotlicffi"):
        with suppress(ImportError):
            return import_module(module)
    return None


# Of a stream with members, decoded first: most have one.
_FIRST_PIECE: Final = 2**10
# Real streams have few.
_MOST_MEMBERS: Final = 1000
# The second byte of zlib says how hard it was compressed.
_BEGINNINGS: Final[Mapping[str, tuple[bytes, ...]]] = {
    "gzip": (b"\x1f\x8b",),
    "zstd": (b"\x28\xb5\x2f\xfd",),
    "deflate": (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda"),
}
_INSTALLED_AS: Final = {"br": "brotli, 1.2 or later", "zstd": "zstandard"}
# By encoding, what gives its decoder; ``None`` without a library for it.
_DECODERS: Final[Mapping[str, Callable[[], _Decoder | None]]] = {
    "gzip": lambda: _gunzipped,
    "x-gzip": lambda: _gunzipped,
    "deflate": lambda: _inflated,
    "br": _brotli,
    "zstd": _zstd,
}
_ENCODERS: Final[Mapping[str, Callable[[bytes], bytes | None]]] = {
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "x-gzip": lambda data: gzip.compress(data, mtime=0),
    "deflate": zlib.compress,
    "br": lambda data: _encoded_by(_brotli_library(), data),
    "zstd": lambda data: _encoded_by(_zstd_library(), data),
}


def _encoded_by(library: Any, data: bytes) -> bytes | None:
    return None if library is None else bytes(library.compress(data))


def at_path(value: Any, path: Sequence[str]) -> list[Any]:
    """What stands at a path of keys and places; none of the thoughts that an API sends along."""
    if not path:
        return [value]
    key, *rest = path
    if key == "*":
        parts = value if isinstance(value, list) else []
        shown = (part for part in parts if isinstance(part, dict) and not part.get("thought"))
        return [text for part in shown for text in at_path(part, rest)]
    if key.isdigit():
        return at_path(value[int(key)], rest) if isinstance(value, list) and value else []
    return at_path(value[key], rest) if isinstance(value, dict) and key in value else []
