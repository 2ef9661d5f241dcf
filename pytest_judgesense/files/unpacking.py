"""What a file holds once it is unpacked: gzip, bzip2, xz, Zstandard, or a ZIP archive of one file.

A file is known by how it begins, not by its name. What is packed is measured before it is kept: a
file of a few kilobytes can promise more than any memory holds, and the limit is that of a plain
file.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple
from zipfile import BadZipFile, ZipFile

from pytest_judgesense.errors import LogError, UsageError, listed, unknown_name
from pytest_judgesense.files.limits import beyond, limits

_ZIP: Final = b"PK\x03\x04"
# The part by which a ZIP archive is a workbook.
_WORKBOOK: Final = "xl/workbook.xml"
# What systems add to archives beside the files that were packed.
_BESIDE: Final = ("__MACOSX/", ".")
# Bytes that are unpacked at once.
_PIECE: Final = 2**20
# For the dictionary of xz, which its header states: four times as much as `xz -9` takes.
_MOST_MEMORY: Final = 2**28
# A packed file in an archive, and one more around it.
_MOST_LAYERS: Final = 3
_FAULTS: Final = (
    OSError,
    zlib.error,
    lzma.LZMAError,
    BadZipFile,
    NotImplementedError,
    RuntimeError,
    ValueError,
)

Pieces = Callable[[bytes], Iterator[bytes]]


class Content(NamedTuple):
    """The bytes of a file, unpacked.

    Attributes:
        data: the bytes.
        name: what they are called, without the ending of what packed them.
        packed: how they were packed, from outside in.
        is_workbook: whether they are an archive that is a workbook of a spreadsheet.
    """

    data: bytes
    name: str
    packed: tuple[str, ...] = ()
    is_workbook: bool = False


class _Packing(NamedTuple):
    """A way to pack one file.

    Attributes:
        name: what it is called.
        endings: those of the names of such files.
        pieces: the content, in pieces of at most `_PIECE` bytes.
    """

    name: str
    endings: tuple[str, ...]
    pieces: Pieces


def unpacked(data: bytes, path: Path, part: str = "") -> tuple[Content, str]:
    """What the file at ``path`` holds, and what is left of ``part``.

    Args:
        data: the bytes of the file.
        path: its place, for messages.
        part: what is wanted of it; first of all the file of an archive that holds several.

    Raises:
        LogError: it is damaged, holds more than ``file_bytes``, or is an archive of several files
            of which ``part`` names none.
        UsageError: nothing here reads how it is packed.
    """
    content = Content(data, path.name)
    for _ in range(_MOST_LAYERS):
        packing = next((way for begins, way in _PACKINGS.items() if data.startswith(begins)), None)
        if packing is not None:
            data = _whole(packing, data, path)
            ending = next(filter(content.name.endswith, packing.endings), "")
            name = content.name.removesuffix(ending)
            content = Content(data, name, (*content.packed, packing.name))
        elif data.startswith(_ZIP):
            with LogError.instead_of(_FAULTS, f"{path} cannot be read", expected="a ZIP archive"):
                content, part = _of_archive(content, path, part)
            if content.is_workbook:
                return content, part
            data = content.data
        else:
            return content, part
    raise LogError(
        f"{path} cannot be read",
        found=f"archives in archives: {listed(content.packed)}",
        expected=f"at most {_MOST_LAYERS - 1}",
    )


def _whole(packing: _Packing, data: bytes, path: Path) -> bytes:
    """The content of packed ``data``, which is measured first."""
    expected = f"a whole {packing.name} file"
    cut_off = LogError(
        f"{path} cannot be read",
        found=f"{packing.name} data that is cut off",
        expected=expected,
        remedy="copy the file again",
    )
    with LogError.instead_of(_FAULTS, f"{path} cannot be read", expected=expected):
        try:
            size = 0
            for piece in packing.pieces(data):
                size += len(piece)
                if size > limits().file_bytes:
                    raise beyond(LogError, f"{path} holds too much", "file_bytes", "more, unpacked")
            return b"".join(packing.pieces(data))
        except EOFError as error:
            raise cut_off from error


def _of_archive(content: Content, path: Path, part: str) -> tuple[Content, str]:
    """The one file of an archive, or the one that ``part`` begins with; and the rest of ``part``.

    An archive that is a workbook is given as it is, if all that it holds may be unpacked.
    """
    with ZipFile(io.BytesIO(content.data)) as archive:
        names = {
            info.filename: info
            for info in archive.infolist()
            if not info.is_dir() and not info.filename.startswith(_BESIDE)
        }
        if (stated := sum(info.file_size for info in names.values())) > limits().file_bytes:
            raise beyond(
                LogError, f"{path} holds too much", "file_bytes", f"{stated} bytes, unpacked"
            )
        if _WORKBOOK in names:
            return content._replace(is_workbook=True), part
        named = max((name for name in names if _begins(part, name)), key=len, default="")
        if not named and len(names) != 1:
            if part:
                raise unknown_name(f"file in {path}", part, names)
            raise LogError(
                f"{path} is a ZIP archive of {len(names)} files",
                found=listed(names) or "none",
                expected="one file, or the name of one of them",
                remedy=f"name it: {path}#{next(iter(names), 'NAME')}",
            )
        name = named or next(iter(names))
        # It gives at most the bytes that were stated above, whatever was packed.
        data = archive.read(name)
    rest = part.removeprefix(named).removeprefix("#") if named else part
    return Content(data, Path(name).name, (*content.packed, "ZIP")), rest


def _begins(part: str, name: str) -> bool:
    return part == name or part.startswith(f"{name}#")


# --- ways to pack ---------------------------------------------------------------------------------


def _read(stream: Any) -> Iterator[bytes]:
    """The content of a stream; its end before that of the data is an `EOFError`."""
    with stream:
        while piece := stream.read(_PIECE):
            yield piece


def _of_gzip(data: bytes) -> Iterator[bytes]:
    return _read(gzip.GzipFile(fileobj=io.BytesIO(data)))


def _of_bzip2(data: bytes) -> Iterator[bytes]:
    return _read(bz2.BZ2File(io.BytesIO(data)))


def _of_xz(data: bytes) -> Iterator[bytes]:
    """The content of the streams of xz, which may have zeros behind them."""
    while data:
        stream = lzma.LZMADecompressor(memlimit=_MOST_MEMORY)
        yield stream.decompress(data, _PIECE)
        while not stream.eof:
            if stream.needs_input:
                raise EOFError
            yield stream.decompress(b"", _PIECE)
        data = stream.unused_data.lstrip(b"\0")


def _of_zstandard(data: bytes) -> Iterator[bytes]:
    library = _zstandard_library()
    if library is None:
        raise UsageError(
            "a file is compressed by Zstandard, and nothing here reads that",
            expected="Python 3.14 or later, or the package zstandard",
            remedy="pip install 'pytest-judgesense[inspect]', or unpack it: zstd -d FILE",
        )
    try:
        if hasattr(library, "ZstdFile"):
            yield from _read(library.ZstdFile(io.BytesIO(data)))
        else:
            reader = library.ZstdDecompressor().stream_reader(data, read_across_frames=True)
            yield from chain(_read(reader), _end_of_frames(library, data))
    except library.ZstdError as error:
        raise ValueError(str(error)) from error


def _end_of_frames(library: Any, data: bytes) -> Iterator[bytes]:
    """Nothing, or an `EOFError` if a frame is cut off: the reader does not tell.

    It comes behind the pieces, when their number is known to be within bounds.
    """
    while data:
        frame = library.ZstdDecompressor().decompressobj()
        frame.decompress(data)
        if not frame.eof:
            raise EOFError
        data = frame.unused_data
    yield from ()


def _zstandard_library() -> Any:
    for module in ("compression.zstd", "backports.zstd", "zstandard"):
        with suppress(ImportError):
            return import_module(module)
    return None


_PACKINGS: Final[Mapping[bytes, _Packing]] = {
    b"\x1f\x8b": _Packing("gzip", (".gz", ".gzip"), _of_gzip),
    b"BZh": _Packing("bzip2", (".bz2",), _of_bzip2),
    b"\xfd7zXZ\x00": _Packing("xz", (".xz",), _of_xz),
    b"\x28\xb5\x2f\xfd": _Packing("Zstandard", (".zst", ".zstd"), _of_zstandard),
}
