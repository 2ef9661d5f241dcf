"""Which files the code of judges opens: seen by an audit hook of Python, while judges are recorded.

A prompt in a file is as much of a judge as its code. What a module opens while it is imported is
noted under its name, whoever imports it, and what a function opens while it is asked under the
judge. A module that is run then, and that no import statement names, counts as opened, as do a
database of SQLite and the files that the command of another process names. A file that was looked
for in vain is noted too: a judge with it is another. A file that was also written is a note or a
cache, and none of its code.

A hook cannot be taken away, and costs each opening of a file some microseconds: it is set where a
recording begins, and in no other process.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from pytest_judgesense.cassettes import scope
from pytest_judgesense.cassettes.scope import held
from pytest_judgesense.judges import loop

_COMPILED: Final = ".pyc"
_MODULE: Final = ".py"
_OF_A_MODULE: Final = "<module>"
_WRITING: Final = frozenset("wax+")
_WRITING_FLAGS: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_METADATA: Final = (".dist-info", ".egg-info")
_CONNECTED: Final = "sqlite3.connect"
# How a database without a file is called.
_IN_MEMORY: Final = (":memory:", "mode=memory")
# What SQLite has written and not yet put into the database stands beside it.
_LOG_OF_DATABASE: Final = "-wal"

# Where the program, its arguments and its folder stand in an event. `os.exec` leaves no process in
# which what it notes would be known.
_STARTED: Final = {
    "subprocess.Popen": (0, 1, 2),
    "os.posix_spawn": (0, 1, None),
    "os.spawn": (1, 2, None),
    "os.system": (None, 0, None),
}
_SHELLS: Final = frozenset(("sh", "bash", "dash", "zsh", "ksh"))
_WITH_COMMAND: Final = re.compile("-[a-z]*c")

# Frames of this package: those that run the code of a judge, and those of the hook, open nothing.
_OURS: Final = str(Path(__file__).parents[1]) + os.sep
_CARRIERS: Final = frozenset(filter(None, (__file__, loop.__file__, scope.__file__)))

_ASKED: Final[ContextVar[set[str] | None]] = ContextVar("judgesense_opened", default=None)


class OpenedFiles:
    """What was opened in this process since it was watched. There is one: `OPENED`."""

    def __init__(self) -> None:
        self._is_watching = False
        self._by_module: dict[str, set[str]] = {}
        self._by_judge: dict[tuple[str, str], set[str]] = {}
        self._written: set[str] = set()
        # How files were found whose opening does not say whether they are written.
        self._found: dict[str, object] = {}

    def watch(self) -> None:
        """Note from now on what is opened; once in a process."""
        if not self._is_watching:
            self._is_watching = True
            sys.addaudithook(self._audit)

    def by(self, judge: tuple[str, str]) -> held[set[str] | None]:
        """Let what the code of a block opens, and all that it starts, be of a judge.

        ``judge``: its name and what it is; the same function may be two judges.
        """
        return held(_ASKED, self._by_judge.setdefault(judge, set()))

    def of(self, judge: tuple[str, str], modules: Iterable[Path]) -> set[Path]:
        """What was opened by a judge while it was asked, and by ``modules`` at their import.

        Among it what was looked for in vain, and is still not there.
        """
        self._look_for_written()
        opened = set(self._by_judge.get(judge, ()))
        pending = [*map(str, modules), *opened]
        while pending:  # a module that was run is looked at as well
            new = self._by_module.get(pending.pop(), set()) - opened
            opened |= new
            pending += new
        unwritten = opened - self._written
        return {Path(name) for name in unwritten if name in self._found or os.path.isfile(name)}  # noqa: PTH113

    def read_by(self, judge: tuple[str, str]) -> frozenset[str]:
        """All that was opened for reading by a judge while it was asked, also what it wrote."""
        return frozenset(self._by_judge.get(judge, ()))

    @property
    def count(self) -> int:
        """How much was noted: where it is the same, nothing was added."""
        self._look_for_written()
        sets = (*self._by_module.values(), *self._by_judge.values(), self._written)
        return sum(map(len, sets))

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            name, mode, flags = arguments
            if isinstance(name, str | bytes | os.PathLike):
                self._opened(os.fsdecode(name), mode, flags)
        elif event == "exec":
            code = arguments[0]
            if isinstance(code, CodeType) and code.co_filename.endswith(_MODULE):
                self._note(code.co_filename)
        elif event == _CONNECTED or event in _STARTED:
            # What names no file is no error of the judge.
            with suppress(OSError, TypeError, ValueError):
                self._handed_on(event, arguments)

    def _handed_on(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note what others than Python open: SQLite, or the process that is started."""
        if event == _CONNECTED:
            name = os.fsdecode(arguments[0])
            if name and not any(words in name for words in _IN_MEMORY):
                self._note(_file_of_database(name), as_found=True)
            return
        for name in _named_by_command(event, arguments):
            if os.path.isfile(name):  # noqa: PTH113
                self._note(name, as_found=True)

    def _opened(self, name: str, mode: str | None, flags: int | None) -> None:
        if name.endswith(_COMPILED):
            return
        if _is_writing(mode, flags):
            if _ASKED.get() is not None:
                self._written.add(_plain(os.path.abspath(name)))  # noqa: PTH100
        else:
            # `os.open` has no mode, and may mean the name in another folder.
            is_absent = mode is not None and not os.path.exists(name)  # noqa: PTH110
            self._note(name, as_found=is_absent and not _is_looked_for_by_python(name))

    def _note(self, name: str, *, as_found: bool = False) -> None:
        """Note a file under the judge that is asked, and the modules that are being imported.

        ``as_found``: it is one that was written if it does not stay as it is.
        """
        readers = _readers()
        if readers is None:
            return
        asked = _ASKED.get()
        holders = [self._by_module.setdefault(module, set()) for module in readers]
        holders += [] if asked is None else [asked]
        if holders:
            path = _plain(os.path.abspath(name))  # noqa: PTH100 - of each opening
            if as_found and path not in self._found:
                self._found[path] = _state(path)
            for holder in holders:
                holder.add(path)

    def _look_for_written(self) -> None:
        """Count as written what is not as it was found."""
        for path, state in [*self._found.items()]:
            if path not in self._written and _state(path) != state:
                self._written.add(path)


OPENED: Final = OpenedFiles()


def _is_writing(mode: str | None, flags: int | None) -> bool:
    if mode is not None:
        return not _WRITING.isdisjoint(mode)
    return bool((flags or 0) & _WRITING_FLAGS)


def _is_looked_for_by_python(name: str) -> bool:
    """Whether it is what Python reads of each package, or of its path, wherever there is some."""
    folder = os.path.dirname(name)  # noqa: PTH120
    return folder.endswith(_METADATA) or name in sys.path


def _state(path: str) -> object:
    """What tells a file, or a database with its log, from the same after it was written."""
    return _last_written(path), _last_written(path + _LOG_OF_DATABASE) or None


def _last_written(path: str) -> tuple[int, ...] | None:
    """When a file was written and how long it is; empty of one without content, else ``None``."""
    try:
        state = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return (state.st_mtime_ns, state.st_size) if state.st_size else ()


def _file_of_database(name: str) -> str:
    """The file that SQLite opens under a name, which may be a URI."""
    if not name.startswith("file:"):
        return name
    path = unquote(urlsplit(name).path)
    return path.lstrip("/") if os.name == "nt" and path[2:3] == ":" else path


def _named_by_command(event: str, arguments: tuple[Any, ...]) -> Iterator[str]:
    """What may be files among the words of a command, from the folder in which it is run."""
    program, words, cwd = (None if at is None else arguments[at] for at in _STARTED[event])
    folder = "" if cwd is None else os.fsdecode(cwd)
    for word in [*_texts([program]), *_words(words)]:
        yield os.path.join(folder, word)  # noqa: PTH118
        _, equals, value = word.partition("=")
        if equals:  # of an option
            yield os.path.join(folder, value)  # noqa: PTH118


def _words(command: Any) -> list[str]:
    """The words of a command, which may be a text; also of one that is run by a shell."""
    if isinstance(command, str | bytes):
        return _split(os.fsdecode(command))
    words = _texts(command)
    of_shell = len(words) > 2 and os.path.basename(words[0]) in _SHELLS  # noqa: PTH119
    is_text = of_shell and _WITH_COMMAND.fullmatch(words[1])
    return [*words, *_split(words[2])] if is_text else words


def _texts(arguments: Iterable[Any]) -> list[str]:
    return [os.fsdecode(each) for each in arguments if isinstance(each, str | bytes | os.PathLike)]


def _split(command: str) -> list[str]:
    """The words of a text as a shell, or Windows, takes them apart."""
    words = shlex.shlex(command, posix=os.name != "nt", punctuation_chars=True)
    words.whitespace_split = True
    words.commenters = ""
    try:
        return [word.strip('"') for word in words]
    except ValueError:  # a quotation that does not end
        return command.split()


def _readers() -> list[str] | None:
    """The files of the modules that are being imported, in this thread, by whom a file is opened.

    ``None`` where this package opens it: a recording, a suite, a lock.
    """
    frame: FrameType | None = sys._getframe(2)
    modules: list[str] = []
    while frame is not None:
        name = frame.f_code.co_filename
        if frame.f_code.co_name == _OF_A_MODULE:
            modules.append(_plain(name))
        elif name.startswith(_OURS) and name not in _CARRIERS:
            return modules or None
        frame = frame.f_back
    return modules


@lru_cache(maxsize=4096)
def _plain(name: str) -> str:
    """The whole path of a file, without links in its folders; it may be a link itself."""
    folder, base = os.path.split(name)
    return os.path.join(os.path.realpath(folder), base)  # noqa: PTH118 - of each opening
