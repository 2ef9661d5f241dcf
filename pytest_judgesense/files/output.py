"""The output files of a run: each is written whole or not at all, independently of the others."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Any

from pytest_judgesense.errors import (
    ExtensionError,
    JudgesenseError,
    UsageError,
    printable,
    well_formed,
)
from pytest_judgesense.files.opening import UnfinishedLine, open_to_append


def replace_content(path: Path, data: bytes) -> None:
    """Replace the content of ``path`` atomically.

    A link within the folder is followed; a link out of the folder is replaced.

    Raises:
        OSError: the file cannot be written; the old content is kept.
    """
    target = path.resolve() if stays_within(path) else path.parent.resolve() / path.name
    target.parent.mkdir(parents=True, exist_ok=True)
    # A random name, so that two concurrent runs never write into the same temporary file.
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
        sync(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


def stays_within(path: Path) -> bool:
    """Whether ``path`` is not a link out of its folder."""
    return path.resolve().is_relative_to(path.parent.resolve())


def sync(path: Path) -> None:
    """Sync a file or folder to the disk if the system supports it; errors are ignored."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def append_whole(path: Path, text: str) -> None:
    """Append ``text`` as UTF-8, whole or not at all, and sync it to the disk.

    Raises:
        OSError: the file cannot be written; it is as long as before.
    """
    is_new = not path.exists()
    with open_to_append(path) as file, whole_or_not(file):
        write_all(file, text.encode("utf-8"))
        os.fsync(file.fileno())
    if is_new:
        sync(path.parent)


@contextmanager
def whole_or_not(file: FileIO) -> Iterator[None]:
    """Cut a file back to its length if the block, which appends to it, fails.

    A part must not stay: the next line would be glued to it.
    """
    before = file.tell()
    try:
        yield
    except BaseException:
        with suppress(OSError):  # readers know an unfinished last line
            file.truncate(before)
        raise


def write_all(file: FileIO, data: bytes) -> None:
    """Write ``data`` to the end; raises an `OSError` where there is no room for it."""
    # A disk that fills up takes a part and says how much; the next write then fails.
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def cut_off(path: Path, unfinished: UnfinishedLine) -> None:
    """Take an unfinished last line out of a file that grows; hold it `alone` meanwhile.

    Raises:
        OSError: the file cannot be written.
    """
    os.truncate(path, unfinished.start)
    sync(path)


@contextmanager
def alone(
    path: Path, error: type[JudgesenseError], *, expected: str, remedy: str, patience_s: float
) -> Iterator[None]:
    """Hold a file that lines are appended to alone among processes, while a block runs.

    Args:
        path: the file; it may still be to be made.
        error: the type of errors.
        expected: what the path is to be, where it is a link out of its folder.
        remedy: what to do with such a link.
        patience_s: the seconds after which a lock of another process is an error.

    Raises:
        JudgesenseError: of the type ``error``; the file cannot be locked or written, or is a link
            out of its folder.
    """
    if not stays_within(path):
        raise error(
            f"{path} is a link that leads out of its folder, and is not written through",
            found=f"a link to {path.resolve()}",
            expected=expected,
            remedy=remedy,
        )
    from filelock import FileLock  # whoever only reads needs none

    with error.instead_of(
        OSError,
        f"{path} cannot be written",
        expected="a folder in which files can be made and locked",
        remedy="make room, or end the process that holds the lock beside it",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=patience_s)
        with lock:
            yield
            # Only while the lock is held: who waits for a removed lock makes a new one. Windows
            # removes no open file; there the next holder takes the one that is left.
            with suppress(OSError):
                Path(lock.lock_file).unlink()


def replace_text(path: Path, text: str) -> None:
    """`replace_content` with ``text`` as UTF-8; a lone surrogate becomes U+FFFD."""
    replace_content(path, well_formed(text).encode("utf-8"))


def write_text(path: Path, text: str) -> None:
    """Replace the content of ``path`` with ``text``; a `UsageError` if it cannot be written."""
    with UsageError.instead_of(OSError, f"{path} cannot be written"):
        replace_text(path, text)


class Outputs:
    """The outputs of a run. If one fails, its error is one line and the others are written.

    Args:
        verbose: whether an unexpected error is followed by its location.

    Attributes:
        written: a line for each file.
        problems: a line for each output that failed.
        errors: the exceptions behind them.
    """

    def __init__(self, *, verbose: bool) -> None:
        self._verbose = verbose
        self.written: list[str] = []
        self.problems: list[str] = []
        self.errors: list[Exception] = []

    def write(self, kind: str, path: Path, text: Callable[[], str]) -> None:
        """Write the text that ``text`` returns to ``path``; ``kind`` is its name in messages."""
        try:
            replace_text(path, text())
        except Exception as error:  # noqa: BLE001 - whatever it is, the other outputs are written
            self.failed(f"{path} cannot be written", error)
        else:
            self.written.append(f"{kind} written: {path}")

    def shown(self, name: str, lines: Iterable[str]) -> list[str]:
        """The lines of a part of the screen; none if they cannot be made."""
        try:
            return list(lines)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other outputs are written
            self.failed(f"{name} cannot be shown", error)
            return []

    def failed(self, output: str, error: Exception) -> None:
        """Note that an output failed; ``output`` says which, in a clause."""
        self.errors.append(error)
        if isinstance(error, JudgesenseError):
            # Of a plugin only the first words name it.
            named = error.what if isinstance(error, ExtensionError) or not error.found else ""
            reason = "; ".join(filter(None, (named, error.found, error.remedy)))
        elif isinstance(error, OSError):
            reason = str(error)
        else:
            where = "" if self._verbose else " (-v shows where)"
            reason = f"{type(error).__name__}: {error}{where}"
        self.problems.append(printable(f"{output}: {reason}"))
        if self._verbose and not _is_foreseen(error):
            self.problems += "".join(traceback.format_exception(error)).splitlines()

    @property
    def is_broken(self) -> bool:
        """Whether an output failed for a reason other than the user's request."""
        return not all(map(_is_foreseen, self.errors))


def _is_foreseen(error: Exception) -> bool:
    return isinstance(error, JudgesenseError | OSError)


def line_end_of(text: str) -> str:
    """The characters with which the lines of a text end."""
    return "\r\n" if "\r\n" in text else "\n"


def gap_after(text: str) -> str:
    """What parts a text from what is added to it: a blank line, in its own line ends."""
    end = line_end_of(text)
    if not text:
        return ""
    return end if text.endswith("\n") else 2 * end


def toml_text(value: Any) -> str:
    """A text, a number, a list or a table as TOML writes it in one line."""
    if isinstance(value, Mapping):
        return (
            "{ "
            + ", ".join(f"{toml_key(key)} = {toml_text(inner)}" for key, inner in value.items())
            + " }"
        )
    if isinstance(value, list):
        return f"[{', '.join(map(toml_text, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(name: str) -> str:
    """A key as TOML writes it."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_text(name)
