"""The members of an ``.eval`` file: a ZIP of JSON, deflated or under Zstandard.

`zipfile` of Python before 3.14 knows no Zstandard, so the members are read here, each with a bound:
a file of a few kilobytes can promise more than any memory holds.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final
from zipfile import BadZipFile, ZipFile, ZipInfo

from pytest_judgesense.cassettes.bodies import decoded
from pytest_judgesense.errors import BodyTooLarge, JudgesenseError, LogError, UsageError
from pytest_judgesense.files.limits import beyond, json_value, limits
from pytest_judgesense.files.opening import open_bytes

_BROKEN: Final = (OSError, BadZipFile, ValueError, NotImplementedError)
_STORED: Final = 0
_ENCODINGS: Final = {8: "deflate", 93: "zstd"}
# The local header: its signature, and the positions of the lengths of name and extra field.
_LOCAL: Final = b"PK\x03\x04"
_LOCAL_BYTES: Final = 30
# How many times its size an archive may hold, if that is more than the least: what is packed more
# tightly repeats itself, and its values take many times the memory of their text.
_MOST_TIMES: Final = 200
_LEAST_BYTES: Final = 4 * 2**20


def members(path: Path) -> Iterator[tuple[str, Any]]:
    """The members of the archive at ``path`` that are JSON, by name, in their order.

    Raises:
        LogError: it is not an archive, or a member of it cannot be read; the error names both.
        UsageError: nothing here reads its encoding.
    """
    left = limits().file_bytes
    expected = "a log of Inspect: a .eval archive, or its .json"
    with (
        LogError.instead_of(_BROKEN, f"{path} cannot be read", expected=expected),
        open_bytes(path) as file,
        ZipFile(file) as archive,
    ):
        _refuse_bomb(path, archive)
        for info in archive.infolist():
            if info.filename.endswith(".json"):
                data = _content(file, info, path, left)
                left -= len(data)
                no_json = f"{path}, {info.filename} is not JSON"
                with LogError.instead_of(ValueError, no_json, expected="an object"):
                    value = json_value(data)
                yield info.filename, value


def _refuse_bomb(path: Path, archive: ZipFile) -> None:
    # As the archive states it; a member that holds more than it states is damaged.
    unpacked, size = sum(info.file_size for info in archive.infolist()), path.stat().st_size
    if unpacked > max(_LEAST_BYTES, _MOST_TIMES * size):
        raise LogError(
            f"{path} holds too much for its size",
            found=f"{unpacked} bytes in {size}",
            expected=f"at most {_MOST_TIMES} times its size",
            remedy="if it is a log of yours: inspect log convert --to json, and import that",
        )


def _content(file: BinaryIO, info: ZipInfo, path: Path, left: int) -> bytes:
    where = f"{path}, {info.filename[:200]}"
    most = min(limits().line_bytes, left)
    if max(info.compress_size, info.file_size) > most:
        raise _too_large(where, left)
    file.seek(info.header_offset)
    header = file.read(_LOCAL_BYTES)
    if len(header) < _LOCAL_BYTES or not header.startswith(_LOCAL) or info.flag_bits & 1:
        raise BadZipFile(f"{info.filename} is damaged or encrypted")
    file.seek(sum(int.from_bytes(header[offset : offset + 2], "little") for offset in (26, 28)), 1)
    data = file.read(info.compress_size)
    if info.compress_type != _STORED:
        data = _decoded(data, info, where, most, left)
    if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
        raise BadZipFile(f"{info.filename} is damaged")
    return data


def _decoded(data: bytes, info: ZipInfo, where: str, most: int, left: int) -> bytes:
    encoding = _ENCODINGS.get(info.compress_type)
    if encoding is None:
        raise BadZipFile(f"{info.filename} is compressed by method {info.compress_type}")
    try:
        content = decoded(data, encoding, most)
    except BodyTooLarge as error:
        raise _too_large(where, left) from error
    if content is None:
        raise UsageError(
            f"{where} is compressed by Zstandard, and nothing here reads that",
            expected="Python 3.14 or later, or the package zstandard",
            remedy="pip install 'pytest-judgesense[inspect]'; or inspect log convert --to json",
        )
    return content


def _too_large(where: str, left: int) -> JudgesenseError:
    if left < limits().line_bytes:
        allowed = f"{limits().file_bytes - left} bytes before it"
        return beyond(LogError, f"{where}: the archive holds too much", "file_bytes", allowed)
    return beyond(LogError, f"{where} is too long", "line_bytes", "more, decoded")
