"""Cassette files: UTF-8, LF, one exchange a line.

While recording a file only grows: each exchange is written in one piece and handed to the operating
system at once, so that a killed recording keeps everything but, at worst, half of its last line.
Such a torn line (no line break at its end, and an object that is not closed) is an error to a
reader and is cut off by whoever records on; a last line that is closed and yet no exchange was
edited by hand, and stays. When a recording is finished, the file is rewritten in its final order,
and replaced in one step. Whatever fails, what was there stays byte for byte.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from io import FileIO
from pathlib import Path
from threading import Lock
from typing import Final

from pytest_judgesense.cassettes.exchange import Exchange
from pytest_judgesense.errors import BrokenCassette, CassetteError

__all__ = ["Journal", "read_exchanges", "replace_content", "rewrite"]

_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


def read_exchanges(path: Path) -> list[Exchange]:
    """The exchanges of a cassette in the order of its lines; none if there is no such file.

    Raises:
        BrokenCassette: a line cannot be read, or a call of a trial stands twice; names file and
            line.
        CassetteError: the file cannot be opened.
    """
    exchanges, _ = _read_tolerantly(path, torn_is_an_error=True)
    return exchanges


def rewrite(path: Path, exchanges: Iterable[Exchange]) -> None:
    """Make ``exchanges`` the content of ``path``, at once or not at all.

    A file that has this content already is not touched.

    Raises:
        CassetteError: it cannot be written; the file is as it was.
    """
    data = "".join(f"{exchange.to_line()}\n" for exchange in exchanges).encode("utf-8")
    if _read(path) != data or not path.exists():
        replace_content(path, data)


def replace_content(path: Path, data: bytes) -> None:
    """Make ``data`` the content of ``path``, at once or not at all.

    Raises:
        CassetteError: it cannot be written; the file is as it was.
    """
    target = path.resolve()
    # Always the same name: what a killed process left is overwritten by the next one.
    temporary = target.with_name(f".{target.name}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                shutil.copymode(target, temporary)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise CassetteError(
            f"{path} could not be put into its final form",
            found=str(error),
            expected="a folder in which a file can be written and replaced",
            remedy="nothing is lost, the file is as it was: free the disk or mend the permissions, "
            "and record on with --judge-mode record, which asks only what is missing",
        ) from error


class Journal:
    """Appends exchanges to a cassette, from any thread. The file appears with the first one.

    Attributes:
        path: the cassette.
        exchanges: what the file holds, in the order of its lines.
        notice: what opening it had to mend, in one sentence; ``None`` if it was whole.
    """

    def __init__(self, path: Path) -> None:
        """Read the file; where its last line is torn, cut it off.

        Raises:
            BrokenCassette: a line was edited or damaged; nothing is changed then.
            CassetteError: the file cannot be opened, or not be mended.
        """
        self.path = path
        self._lock = Lock()
        self._is_ready = False
        self.exchanges, rest = _read_tolerantly(path, torn_is_an_error=False)
        self.notice = _mend_end(path, rest, len(self.exchanges)) if rest else None

    def prepare(self) -> None:
        """Make sure that an exchange can be recorded, before one is paid for. Creates nothing.

        Raises:
            CassetteError: the file or its folder cannot be written.
        """
        if self._is_ready:
            return
        place = self.path
        while not os.path.lexists(place):
            place = place.parent
        if place != self.path and not place.is_dir():
            found = f"{place} is no folder"
        elif not os.access(place, os.W_OK):
            found = f"{place} is read-only"
        else:
            self._is_ready = True
            return
        raise CassetteError(
            f"{self.path} cannot be recorded: nothing was asked",
            found=found,
            expected="a file and a folder that can be written",
            remedy="mend the permissions, or name another folder with --judge-cassettes",
        )

    def append(self, exchange: Exchange) -> None:
        """Write ``exchange`` as the last line, whole or not at all.

        Raises:
            CassetteError: the file cannot be written; what it held stays.
        """
        line = f"{exchange.to_line()}\n".encode()
        try:
            with self._lock:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self.path.open("ab", buffering=0) as file:
                    _write_whole(file, line)
        except OSError as error:
            raise CassetteError(
                f"{self.path}: an exchange of trial {exchange.trial} could not be recorded",
                found=str(error),
                expected="a file that can be written",
                remedy="what was recorded before stands: free the disk or mend the permissions and "
                "record on with --judge-mode record, or name another folder with "
                "--judge-cassettes",
            ) from error


def _write_whole(file: FileIO, line: bytes) -> None:
    """Append ``line``. A part of it must not stay: the next line would be glued to it."""
    before = file.tell()
    try:
        # A disk that fills up takes a part and says how much; the next write then fails.
        left = memoryview(line)
        while left:
            left = left[file.write(left) :]
    except BaseException:
        file.truncate(before)
        raise


def _read_tolerantly(path: Path, *, torn_is_an_error: bool) -> tuple[list[Exchange], bytes]:
    """The exchanges of all whole lines, and what stands behind the last line break."""
    *lines, rest = _read(path).split(b"\n")
    exchanges = [_exchange(line, path, number) for number, line in enumerate(lines, start=1)]
    if rest and not _is_torn(rest):
        exchanges.append(_exchange(rest, path, len(lines) + 1))
    elif rest and torn_is_an_error:
        raise BrokenCassette(
            f"{path}:{len(lines) + 1}: the last line is cut off; its recording was interrupted",
            found=f"{len(rest)} bytes of an exchange",
            expected="a whole exchange and a line break",
            remedy="record on with --judge-mode record: it removes the torn line and makes its "
            "call again",
        )
    _refuse_duplicates(path, exchanges)
    return exchanges, rest


def _is_torn(rest: bytes) -> bool:
    """Whether ``rest`` is the beginning of an object that was not closed.

    A machine that lost its power may have left zeros where data was to come.
    """
    text = rest.rstrip(b"\0")
    outside = _STRING.sub(b"", text)
    return not text or (
        text.startswith(b"{") and (b'"' in outside or outside.count(b"{") > outside.count(b"}"))
    )


def _refuse_duplicates(path: Path, exchanges: Iterable[Exchange]) -> None:
    lines: dict[tuple[str, int], int] = {}
    for number, exchange in enumerate(exchanges, start=1):
        first = lines.setdefault((exchange.trial, exchange.call), number)
        if first != number:
            raise BrokenCassette(
                f"{path}:{number}: call {exchange.call} of trial {exchange.trial} stands twice",
                found=f"the same call in line {first}",
                expected="one line for each call of a trial",
                remedy="restore the file from version control, or delete one of the two lines",
            )


def _mend_end(path: Path, rest: bytes, exchanges: int) -> str | None:
    try:
        if not _is_torn(rest):
            with path.open("ab") as file:
                file.write(b"\n")
            return None
        with path.open("r+b") as file:
            file.truncate(path.stat().st_size - len(rest))
    except OSError as error:
        raise CassetteError(
            f"{path}: the last line was cut off in mid-write, and cannot be mended",
            found=str(error),
            expected="a file that can be written",
            remedy="mend the permissions, and record on with --judge-mode record",
        ) from error
    return (
        f"{path}:{exchanges + 1}: the last line was cut off in mid-write ({len(rest)} bytes); "
        "removed it, its call is made again"
    )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        raise CassetteError(
            f"{path} cannot be read",
            found=str(error),
            expected="a cassette: a file of lines",
            remedy="mend the permissions, or name another folder with --judge-cassettes",
        ) from error


def _exchange(line: bytes, path: Path, number: int) -> Exchange:
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
    return Exchange.from_line(text, path, number)
