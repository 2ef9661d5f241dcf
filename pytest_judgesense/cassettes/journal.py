"""Cassette files: UTF-8, LF, one exchange a line.

While recording a file only grows: each exchange is written in one piece and handed to the operating
system at once, so that a killed recording keeps everything but, at worst, half of its last line.
Such a torn line (no line break at its end, and an object that is not closed) is an error to a
reader and is cut off by whoever records on; a last line that is closed and yet no exchange was
edited by hand, and stays. When a recording is finished, the file is rewritten in its final order,
and replaced in one step. Whatever fails, what was there stays byte for byte.

In the final form the long parts that bodies share stand in a file of their own (see `bodies`). A
part is always there before a line refers to it, and goes after the last that did.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from io import FileIO
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeAlias

from pytest_judgesense.cassettes.bodies import (
    Parts,
    cut,
    part_digest,
    part_line,
    parts_path,
    read_parts,
)
from pytest_judgesense.cassettes.exchange import Exchange, verified_entry
from pytest_judgesense.errors import BrokenCassette, CassetteError

__all__ = ["Journal", "Line", "read_exchanges", "read_lines", "replace_content", "rewrite"]

# A line of a cassette, and its object (see `Exchange.from_entry`).
Line: TypeAlias = tuple[bytes, dict[str, Any]]

_END: Final = b"\n"
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


def read_exchanges(path: Path) -> list[Exchange]:
    """The exchanges of a cassette in the order of its lines; none if there is no such file.

    Raises:
        BrokenCassette: a line cannot be read, or a call of a trial stands twice; names file and
            line.
        CassetteError: the file cannot be opened.
    """
    parts = read_parts(parts_path(path))
    return [Exchange.from_entry(entry, parts) for _, entry in read_lines(path, parts)]


def read_lines(path: Path, parts: Parts) -> Iterator[Line]:
    """The lines of a cassette one by one, verified; none if there is no such file.

    Args:
        path: the cassette.
        parts: what bodies may refer to.

    Raises:
        BrokenCassette, CassetteError: see `read_exchanges`.
    """
    return _read_tolerantly(path, _refuse_torn, parts)


def rewrite(path: Path, exchanges: Iterable[Exchange]) -> None:
    """Make ``exchanges`` the content of ``path``, at once or not at all.

    A file that has this content already is not touched.

    Raises:
        CassetteError: it cannot be written; the file is as it was.
    """
    given = list(exchanges)
    shared = _shared_parts(given)
    digests = {text: digest for digest, text in shared.items()}
    data = "".join(f"{exchange.to_line(digests.get)}\n" for exchange in given).encode("utf-8")
    beside, before = parts_path(path), read_parts(parts_path(path))
    # Until the lines are replaced, what the old ones refer to has to stay.
    if shared.keys() - before.keys():
        replace_content(beside, _part_lines({**before, **shared}))
    if _read(path) != data or not path.exists():
        replace_content(path, data)
    if not shared and before:
        beside.unlink()
    elif shared and _read(beside) != _part_lines(shared):
        replace_content(beside, _part_lines(shared))


def _shared_parts(exchanges: Iterable[Exchange]) -> dict[str, str]:
    """The long parts that stand in bodies more than once, in the order of their first place."""
    times = Counter(
        text
        for exchange in exchanges
        for body in (exchange.request.body, exchange.response.body)
        if isinstance(body, str)
        for text in cut(body)
    )
    shared: dict[str, str] = {}
    for text in (text for text, count in times.items() if count > 1):
        shared.setdefault(part_digest(text), text)
    return shared


def _part_lines(parts: Parts) -> bytes:
    return "".join(f"{part_line(*part)}\n" for part in parts.items()).encode("utf-8")


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
        parts: the long parts that stood beside it when it was opened.
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
        torn: list[bytes] = []
        self.parts = read_parts(parts_path(path))
        self._lines = list(
            _read_tolerantly(path, lambda _path, _number, rest: torn.append(rest), self.parts)
        )
        self.notice = _mend_end(path, b"".join(torn), len(self._lines))

    def take_lines(self) -> list[Line]:
        """What the file held when it was opened, in the order of its lines; once."""
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
                try:
                    file = self.path.open("ab", buffering=0)
                except FileNotFoundError:  # its folder
                    self.path.parent.mkdir(parents=True, exist_ok=True)
                    file = self.path.open("ab", buffering=0)
                with file:
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


def _read_tolerantly(
    path: Path, torn: Callable[[Path, int, bytes], None], parts: Parts
) -> Iterator[Line]:
    """All whole lines; ``torn`` is told of what stands behind the last line break, if not whole."""
    known: dict[tuple[str, int], int] = {}
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(_END) and _is_torn(line):
                    torn(path, number, line)
                    return
                text = line.removesuffix(_END)
                entry = _entry(text, path, number, parts)
                _refuse_duplicate(path, number, entry, known)
                yield text, entry
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise _unreadable(path, error) from error


def _refuse_torn(path: Path, number: int, rest: bytes) -> None:
    raise BrokenCassette(
        f"{path}:{number}: the last line is cut off; its recording was interrupted",
        found=f"{len(rest)} bytes of an exchange",
        expected="a whole exchange and a line break",
        remedy="record on with --judge-mode record: it removes the torn line and makes its "
        "call again",
    )


def _is_torn(rest: bytes) -> bool:
    """Whether ``rest`` is the beginning of an object that was not closed.

    A machine that lost its power may have left zeros where data was to come.
    """
    text = rest.rstrip(b"\0")
    outside = _STRING.sub(b"", text)
    return not text or (
        text.startswith(b"{") and (b'"' in outside or outside.count(b"{") > outside.count(b"}"))
    )


def _refuse_duplicate(
    path: Path, number: int, entry: dict[str, Any], known: dict[tuple[str, int], int]
) -> None:
    first = known.setdefault((entry["trial"], entry["call"]), number)
    if first != number:
        raise BrokenCassette(
            f"{path}:{number}: call {entry['call']} of trial {entry['trial']} stands twice",
            found=f"the same call in line {first}",
            expected="one line for each call of a trial",
            remedy="restore the file from version control, or delete one of the two lines",
        )


def _mend_end(path: Path, torn: bytes, whole: int) -> str | None:
    """Cut off what is torn, behind so many whole lines; give the last whole one its line break."""
    try:
        if torn:
            with path.open("r+b") as file:
                file.truncate(path.stat().st_size - len(torn))
        elif whole and not _ends_whole(path):
            with path.open("ab") as file:
                file.write(_END)
    except OSError as error:
        raise CassetteError(
            f"{path}: the last line was cut off in mid-write, and cannot be mended",
            found=str(error),
            expected="a file that can be written",
            remedy="mend the permissions, and record on with --judge-mode record",
        ) from error
    if not torn:
        return None
    return (
        f"{path}:{whole + 1}: the last line was cut off in mid-write ({len(torn)} bytes); "
        "removed it, its call is made again"
    )


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() == _END


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> CassetteError:
    return CassetteError(
        f"{path} cannot be read",
        found=str(error),
        expected="a cassette: a file of lines",
        remedy="mend the permissions, or name another folder with --judge-cassettes",
    )


def _entry(line: bytes, path: Path, number: int, parts: Parts) -> dict[str, Any]:
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
    return verified_entry(text, path, number, parts)
