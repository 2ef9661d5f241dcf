"""Cassette files: UTF-8, LF, one exchange a line.

While recording a file only grows: each exchange is written in one piece and handed to the operating
system at once, so that a killed recording keeps everything but, at worst, half of its last line.
The disk is made to keep it when a second has passed since it last was, and at the end: a machine
that stops loses at most what came within one second.
Such a torn line (no line break at its end, and an object that is not closed) is an error to a
reader and is cut off by whoever records on; a last line that is closed and yet no exchange was
edited by hand, and stays. When a recording is finished, the file is rewritten in its final order,
with the texts that exchanges share in separate lines, and replaced in one step. Whatever
fails, what was there stays byte for byte.
"""

from __future__ import annotations

import glob
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from io import FileIO
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

from pytest_judgesense.cassettes.exchange import (
    NO_TEXTS,
    Exchange,
    ExchangeHead,
    Texts,
    broken,
    checked_head,
    exchange_of,
    lines_of,
    text_id,
    text_of_line,
)
from pytest_judgesense.cassettes.locking import FOLDER_OPTION
from pytest_judgesense.errors import BodyTooLarge, BrokenCassette, CassetteError
from pytest_judgesense.files import output
from pytest_judgesense.files.limits import beyond, limits, numbered_lines
from pytest_judgesense.files.opening import is_unfinished_object, open_bytes

_END: Final = b"\n"
# Data later than this after the last sync are synced at once, with everything before them.
_SYNC_S: Final = 1.0
_MISSING: Final = (FileNotFoundError, NotADirectoryError)


class CassetteLine(NamedTuple):
    """A line of a cassette that holds an exchange; it has a number if it was read from the file."""

    data: bytes
    head: ExchangeHead
    path: Path
    number: int | None = None
    # The texts that its bodies may refer to.
    texts: Texts = NO_TEXTS

    @property
    def exchange(self) -> Exchange:
        """The exchange, made of the line each time: bytes take less memory."""
        try:
            return exchange_of(self.data, self.texts)
        # Somebody edited how a body refers to texts.
        except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise broken(self.path, self.number or 0, self.data, error) from error


def read_exchanges(path: Path) -> list[Exchange]:
    """The exchanges of a cassette in the order of its lines; none if there is no such file.

    Raises:
        BrokenCassette: a line cannot be read, or a call of a trial appears twice, or there is more
            than may be read; names file and line.
        CassetteError: the file cannot be opened.
    """
    return [exchange for _, exchange in numbered_exchanges(path)]


def numbered_exchanges(path: Path) -> Iterator[tuple[int | None, Exchange]]:
    """The exchanges of a cassette with the numbers of their lines; raises as `read_exchanges`."""
    room = limits().file_bytes
    for line in read_lines(path):
        exchange = line.exchange
        room -= exchange.size
        if room < 0:
            where = f"{path}:{line.number}: the bodies up to here are too large together"
            raise beyond(BrokenCassette, where, "file_bytes", "more")
        yield line.number, exchange


def read_lines(
    path: Path, torn: Callable[[Path, int, bytes], None] | None = None
) -> Iterator[CassetteLine]:
    """The exchanges of a cassette line by line, as `read_exchanges`; raises the same.

    ``torn`` gets the text after the last line break, if incomplete; without it that is an error.
    """
    line_of_call: dict[tuple[str, int], int] = {}
    texts: Texts = {}
    with _readable(path), open_bytes(path) as file:
        for number, line in numbered_lines(file, path, BrokenCassette):
            if not line.endswith(_END) and is_unfinished_object(line):
                (torn or _refuse_torn)(path, number, line)
                return
            data = line.removesuffix(_END)
            if data.startswith(b'{"id"'):
                key, text = text_of_line(data, path, number)
                texts[key] = text
                continue
            head = checked_head(data, path, number, texts)
            # What a function returned is written again where its trial is asked again.
            first = line_of_call.setdefault((head.trial, head.call), number)
            if first != number and not head.returns:
                raise BrokenCassette(
                    f"{path}:{number}: call {head.call} of trial {head.trial} appears twice",
                    found=f"the same call in line {first}",
                    expected="one line for each call of a trial",
                    remedy="restore the file from version control, or delete one of the two lines",
                )
            yield CassetteLine(data, head, path, number, texts)


def rewrite(path: Path, exchanges: Iterable[Exchange]) -> list[CassetteLine]:
    """Make ``exchanges`` the content of ``path``, at once or not at all; returns their lines.

    A file that has this content already is not touched.

    Raises:
        CassetteError: it cannot be written; the file is as it was.
    """
    written: list[bytes] = []
    lines: list[CassetteLine] = []
    texts: Texts = {}
    for text, content in lines_of(exchanges):
        written.append(text.encode())
        if isinstance(content, str):
            texts[text_id(content)] = content
        else:
            lines.append(CassetteLine(written[-1], content.head, path, len(written), texts))
    with _readable(path):
        if _has_lines(path, written):
            output.sync(path)
            return lines
    replace_content(path, _END.join((*written, b"")))
    return lines


def has_content(path: Path, exchanges: Iterable[Exchange]) -> bool:
    """Whether ``exchanges`` are the content of ``path``, as `rewrite` would write them.

    Raises:
        CassetteError: the file cannot be read.
    """
    return _has_lines(path, (text.encode() for text, _ in lines_of(exchanges)))


def _has_lines(path: Path, lines: Iterable[bytes]) -> bool:
    with _readable(path), open_bytes(path) as file:  # line by line: a recording has megabytes
        is_same = all(file.readline(len(line) + 2) == line + _END for line in lines)
        return is_same and not file.read(1)
    return False


def replace_content(path: Path, data: bytes) -> None:
    """Make ``data`` the content of ``path``, at once or not at all; raises as `rewrite`."""
    with CassetteError.instead_of(
        OSError,
        f"{path} could not be put into its final form",
        expected="a folder in which a file can be written and replaced",
        remedy="nothing is lost, the file is unchanged: free some space or fix the permissions, "
        "and resume with --judge-mode record, which asks only what is missing",
    ):
        # Left by a process that was killed here. Nobody else uses the file: see `locking`.
        for left in path.resolve().parent.glob(f".{glob.escape(path.resolve().name)}.*.tmp"):
            left.unlink(missing_ok=True)
        output.replace_content(path, data)


class Journal:
    """Appends exchanges to a cassette, from any thread. The file appears with the first one.

    Its ``notice`` says in one sentence what had to be repaired when opening the file, if anything.
    """

    def __init__(self, path: Path) -> None:
        """Read the file; cut off a torn last line.

        Raises:
            BrokenCassette: a line was edited or damaged; nothing is changed then.
            CassetteError: the file cannot be opened or repaired.
        """
        self.path = path
        self.notice: str | None = None
        self._lock = Lock()
        self._is_ready = False
        self._synced = -math.inf
        self._lines = list(read_lines(path, self._cut_off))
        if self.notice is None:
            _complete_end(path)

    def _cut_off(self, path: Path, number: int, torn: bytes) -> None:
        with _repairable(path):
            os.truncate(path, path.stat().st_size - len(torn))
        self.notice = (
            f"{path}:{number}: the last line was cut off in mid-write ({len(torn)} bytes); "
            "removed it, its call is made again"
        )

    def take_lines(self) -> list[CassetteLine]:
        """The content of the file when it was opened, in the order of its lines; once."""
        lines, self._lines = self._lines, []
        return lines

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
        is_no_folder = place != self.path and not place.is_dir()
        self._is_ready = not is_no_folder and os.access(place, os.W_OK)
        if not self._is_ready:
            raise CassetteError(
                f"{self.path} cannot be recorded: nothing was asked",
                found=f"{place} is {'no folder' if is_no_folder else 'read-only'}",
                expected="a file and a folder that can be written",
                remedy=f"fix the permissions, or name another folder with {FOLDER_OPTION}",
            )

    def append(self, exchange: Exchange) -> CassetteLine:
        """Write ``exchange`` as the last line, whole or not at all.

        Raises:
            BodyTooLarge: the line is longer than one that is read.
            CassetteError: the file cannot be written; its content is kept.
        """
        line = exchange.to_line().encode()
        if len(line) > limits().line_bytes:
            fault = f"{self.path}: an exchange of trial {exchange.trial} is too long for a line"
            raise beyond(BodyTooLarge, fault, "line_bytes", f"{len(line)} bytes")
        with (
            CassetteError.instead_of(
                OSError,
                f"{self.path}: an exchange of trial {exchange.trial} could not be recorded",
                expected="a file that can be written",
                remedy="earlier answers are kept: free some space or fix the permissions and "
                "resume with --judge-mode record, or name another folder with "
                "--judge-cassettes",
            ),
            self._lock,
            self._opened() as file,
        ):
            with output.whole_or_not(file):
                output.write_all(file, line + _END)
            if time.monotonic() - self._synced >= _SYNC_S:
                self._sync(file)
        return CassetteLine(line, exchange.head, self.path)

    def _opened(self) -> FileIO:
        try:
            return self.path.open("ab", buffering=0)
        except FileNotFoundError:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return self.path.open("ab", buffering=0)

    def _sync(self, file: FileIO) -> None:
        """Have the disk keep all that was appended; of a new file, its name as well."""
        os.fsync(file.fileno())
        if self._synced < 0:
            output.sync(self.path.parent)
        self._synced = time.monotonic()


def _refuse_torn(path: Path, number: int, rest: bytes) -> None:
    raise BrokenCassette(
        f"{path}:{number}: the last line is cut off; its recording was interrupted",
        found=f"{len(rest)} bytes of an exchange",
        expected="a whole exchange and a line break",
        remedy="resume with --judge-mode record: it removes the torn line and makes its call again",
    )


def _complete_end(path: Path) -> None:
    """Give the last line its line break."""
    with _repairable(path), suppress(*_MISSING), open_bytes(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        if file.read() not in (_END, b""):
            with path.open("ab") as end:
                end.write(_END)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Nothing is read of a file that is missing; that another cannot be read is an error."""
    unreadable = CassetteError.instead_of(
        OSError,
        f"{path} cannot be read",
        expected="a cassette: a file of lines",
        remedy="fix the permissions, or name another folder with --judge-cassettes",
    )
    with unreadable, suppress(*_MISSING):
        yield


def _repairable(path: Path) -> AbstractContextManager[None]:
    return CassetteError.instead_of(
        OSError,
        f"{path}: the last line was cut off in mid-write, and cannot be repaired",
        expected="a file that can be written",
        remedy="fix the permissions, and resume with --judge-mode record",
    )
