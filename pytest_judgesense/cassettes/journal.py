"""Cassette files: UTF-8, LF, one exchange a line.

While recording a file only grows: each exchange is written in one piece and handed to the operating
system at once, so that a killed recording keeps everything but, at worst, half of its last line.
Such a torn line (no line break at its end, and no exchange) is an error to a reader and is cut off
by whoever records on. When a recording is finished, the file is rewritten in its final order, and
replaced in one step.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Lock
from typing import Any

from pytest_judgesense.cassettes.exchange import Exchange, verified_entry
from pytest_judgesense.errors import BrokenCassette, CassetteError

__all__ = ["Journal", "read_exchanges", "read_lines", "rewrite"]


def read_exchanges(path: Path) -> list[Exchange]:
    """The exchanges of a cassette in the order of its lines; none if there is no such file.

    Raises:
        BrokenCassette: a line cannot be read; names file and line.
    """
    return [Exchange.from_entry(entry) for _, entry in read_lines(path)]


def read_lines(path: Path) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """The lines of a cassette one by one, each with its object (see `Exchange.from_entry`).

    Raises:
        BrokenCassette: a line cannot be read; names file and line.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        for number, line in enumerate(file, start=1):
            whole = line.endswith(b"\n")
            text = line[:-1] if whole else line
            yield text, (_entry if whole else _last_entry)(text, path, number)


def rewrite(path: Path, exchanges: Iterable[Exchange]) -> None:
    """Make ``exchanges`` the content of ``path``, at once or not at all."""
    data = "".join(f"{exchange.to_line()}\n" for exchange in exchanges).encode("utf-8")
    if path.exists() and path.read_bytes() == data:
        return
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


class Journal:
    """Appends exchanges to a cassette, from any thread. The file appears with the first one.

    Attributes:
        path: the cassette.
        notice: what opening it had to mend, in one sentence; ``None`` if it was whole.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self.notice = _mend_end(path)

    def append(self, exchange: Exchange) -> None:
        """Write ``exchange`` as the last line.

        Raises:
            CassetteError: the file cannot be written.
        """
        line = f"{exchange.to_line()}\n".encode()
        try:
            with self._lock:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self.path.open("ab") as file:
                    file.write(line)
        except OSError as error:
            raise CassetteError(
                f"{self.path}: an exchange of trial {exchange.trial} could not be recorded",
                found=str(error),
                expected="a file that can be written",
                remedy="free the disk or mend the permissions, or name another folder with "
                "--judge-cassettes",
            ) from error


def _mend_end(path: Path) -> str | None:
    rest = _read(path).rpartition(b"\n")[2]
    if not rest:
        return None
    try:
        _last_entry(rest, path, 0)
    except BrokenCassette:
        with path.open("r+b") as file:
            file.truncate(path.stat().st_size - len(rest))
        return f"{path}: the last line was cut off in mid-write ({len(rest)} bytes); removed it"
    with path.open("ab") as file:
        file.write(b"\n")
    return None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _entry(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BrokenCassette(
            f"{path}:{number}: the line is not UTF-8",
            found=f"byte 0x{line[error.start]:02x} in column {error.start + 1}",
            expected="one exchange as UTF-8 text",
            remedy="restore the file from version control, or delete the line and record what is "
            "missing with --judge-mode record",
        ) from error
    return verified_entry(text, path, number)


def _last_entry(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        return _entry(line, path, number)
    except BrokenCassette as error:
        raise BrokenCassette(
            f"{path}:{number}: the last line is cut off; its recording was interrupted",
            found=error.found,
            expected="a whole exchange and a line break",
            remedy="record on with --judge-mode record: it removes the torn line and makes its "
            "call again",
        ) from error
