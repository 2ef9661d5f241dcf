"""Opening files that users and repositories name: regular ones, so that nobody waits.

A named pipe or a device under the name of a suite, a log or a cassette would be waited for without
end, or never end itself.
"""

from __future__ import annotations

import os
import stat
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO, Final, Literal

_KINDS: Final = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


class NotARegularFile(OSError):
    """What stands at a path is no file that can be read to its end; says what it is."""


def open_bytes(path: Path, mode: Literal["rb", "ab"] = "rb") -> BinaryIO:
    """``path``, opened for reading, or for adding to its end.

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
    """Open without waiting for the other end of a pipe; of a file it means nothing."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o666)


def open_text(path: Path, encoding: str = "utf-8", newline: str | None = None) -> TextIOWrapper:
    """``path``, opened for reading as text; raises as `open_bytes`."""
    return TextIOWrapper(open_bytes(path), encoding, newline=newline)


def read_bytes(path: Path) -> bytes:
    """The content of ``path``; raises as `open_bytes`."""
    with open_bytes(path) as file:
        return file.read()


def read_text(path: Path, encoding: str = "utf-8") -> str:
    """The content of ``path`` as text, every line end a line feed; raises as `open_bytes`."""
    with open_text(path, encoding) as file:
        return file.read()
