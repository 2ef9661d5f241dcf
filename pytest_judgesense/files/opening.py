"""Opening files named by users and repositories; only regular files are opened.

A named pipe or a device in place of a suite, a log or a cassette could block forever or never end.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
from io import FileIO, TextIOWrapper
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from pytest_judgesense.files.limits import VARIABLE, limits

_KINDS: Final = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


class NotARegularFile(OSError):
    """The path is not a regular file; says what it is."""


class TooLarge(OSError):
    """A file is larger than the limit for files that are read whole; says how to raise it."""


_PROJECT: Final = "pyproject.toml"


def project_file(start: Path) -> Path | None:
    """The nearest ``pyproject.toml`` in the folder of ``start`` or above it."""
    folder = start if start.is_dir() else start.parent
    return next(
        (p for place in (folder, *folder.parents) if (p := place / _PROJECT).is_file()), None
    )


def open_bytes(path: Path) -> BinaryIO:
    """``path``, opened for reading.

    Raises:
        OSError: it cannot be opened, or it is a pipe, a device or a socket.
    """
    file = open(path, "rb", opener=_at_once)  # noqa: SIM115 - whoever asked closes it
    _refuse_other_kinds(path, file)
    return file


def open_to_append(path: Path) -> FileIO:
    """``path``, opened for appending, unbuffered: what was not written is not tried again later.

    Raises:
        OSError: it cannot be opened or made, or it is a pipe, a device or a socket.
    """
    file = FileIO(path, "ab", opener=_at_once)
    _refuse_other_kinds(path, file)
    return file


def _refuse_other_kinds(path: Path, file: BinaryIO | FileIO) -> None:
    """Close what is no regular file, and say what it is."""
    kind = _KINDS.get(stat.S_IFMT(os.fstat(file.fileno()).st_mode))
    if kind is not None:
        file.close()
        raise NotARegularFile(f"{path} is {kind}, and a file is expected")


def _at_once(path: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe; no effect on a regular file."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o666)


def open_text(path: Path, encoding: str = "utf-8", newline: str | None = None) -> TextIOWrapper:
    """``path``, opened for reading as text; raises as `open_bytes`."""
    return TextIOWrapper(open_bytes(path), encoding, newline=newline)


def read_bytes(path: Path) -> bytes:
    """The content of ``path``; raises as `open_bytes`, and `TooLarge`."""
    with open_bytes(path) as file:
        size, most = os.fstat(file.fileno()).st_size, limits().file_bytes
        if size > most:
            raise TooLarge(
                f"{path} has {size} bytes, and at most file_bytes = {most} are read; "
                f"{VARIABLE}=file_bytes={size} in the environment permits it"
            )
        return file.read()


def read_text(path: Path, encoding: str = "utf-8") -> str:
    """The content of ``path`` as text, with line feeds as line ends; raises as `read_bytes`."""
    return text_of(read_bytes(path), encoding)


def text_of(data: bytes, encoding: str = "utf-8") -> str:
    """The bytes of a file as text, with line feeds as line ends."""
    return _with_line_feeds(data.decode(encoding))


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


# --- files that grow line by line ---------------------------------------------------------------

_ESCAPED: Final = re.compile(rb"\\.", re.DOTALL)
_STRING: Final = re.compile(rb'"[^"]*"')


class UnfinishedLine(NamedTuple):
    """The last line of a file that grows, where its writing was interrupted.

    Attributes:
        number: the line, from 1.
        start: how many bytes stand before it.
        size: how many bytes of it are there.
    """

    number: int
    start: int
    size: int

    @classmethod
    def at(cls, data: bytes, number: int) -> UnfinishedLine:
        """The rest of the file ``data`` from a line on."""
        # Of bytes, lines end as in `text_of`: in a line feed, a carriage return, or both.
        start = sum(map(len, data.splitlines(keepends=True)[: number - 1]))
        return cls(number, start, len(data) - start)

    def notice(self, path: Path) -> str:
        """What happened to the file, in a clause."""
        return (
            f"{path}:{self.number}: the last line was cut off in mid-write ({self.size} bytes), "
            "and is not counted"
        )


def text_so_far(data: bytes) -> str:
    """`text_of` a file that grows; a last character that was cut off is U+FFFD."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    text = decoder.decode(data)
    half, _ = decoder.getstate()
    return _with_line_feeds(text + "\ufffd" * bool(half))


def is_unfinished_object(rest: bytes) -> bool:
    """Whether a last line, without its end, is the beginning of an object that was not closed.

    A machine that lost its power may have left zeros where data was to come.
    """
    text = rest.rstrip(b"\0")
    # Without escaped quotes every quote begins or ends a string, and none is read twice.
    outside = _STRING.sub(b"", _ESCAPED.sub(b"", text))
    return not text or (
        text.startswith(b"{") and (b'"' in outside or outside.count(b"{") > outside.count(b"}"))
    )
