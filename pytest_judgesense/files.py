"""Opening files named by users and repositories; only regular files are opened.

A named pipe or a device in place of a suite, a log or a cassette could block forever or never end.
"""

from __future__ import annotations

import os
import stat
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO, Final, Literal

from pytest_judgesense.limits import VARIABLE, limits

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


def open_bytes(path: Path, mode: Literal["rb", "ab"] = "rb") -> BinaryIO:
    """``path``, opened for reading or appending.

    Raises:
        OSError: it cannot be opened, or it is a pipe, a device or a socket.
    """
    file = open(path, mode, opener=_at_once)  # noqa: SIM115 - whoever asked closes it
    kind = _KINDS.get(stat.S_IFMT(os.fstat(file.fileno()).st_mode))
    if kind is None:
        return file
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
    return data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
