"""Which files the code of judges opens: seen by an audit hook of Python, while judges are recorded.

A prompt in a file is as much of a judge as its code. What a module opens while it is imported is
noted under its name, whoever imports it, and what a function opens while it is asked under the
judge. A module that is run then, and that no import statement names, counts as opened. A file that
was also written is a note or a cache, and none of its code.

A hook cannot be taken away, and costs each opening of a file some microseconds: it is set where a
recording begins, and in no other process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

from pytest_judgesense.cassettes import scope
from pytest_judgesense.cassettes.scope import held
from pytest_judgesense.judges import loop

_COMPILED: Final = ".pyc"
_MODULE: Final = ".py"
_OF_A_MODULE: Final = "<module>"
_WRITING: Final = frozenset("wax+")
_WRITING_FLAGS: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

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
        """What was opened by a judge while it was asked, and by ``modules`` at their import."""
        opened = set(self._by_judge.get(judge, ()))
        pending = [*map(str, modules), *opened]
        while pending:  # a module that was run is looked at as well
            new = self._by_module.get(pending.pop(), set()) - opened
            opened |= new
            pending += new
        return {Path(name) for name in opened - self._written}

    @property
    def count(self) -> int:
        """How much was noted: where it is the same, nothing was added."""
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

    def _opened(self, name: str, mode: str | None, flags: int | None) -> None:
        if name.endswith(_COMPILED):
            return
        if _is_writing(mode, flags):
            if _ASKED.get() is not None:
                self._written.add(_plain(os.path.abspath(name)))  # noqa: PTH100
        else:
            self._note(name)

    def _note(self, name: str) -> None:
        """Note a file under the judge that is asked, and the modules that are being imported."""
        readers = _readers()
        if readers is None:
            return
        asked = _ASKED.get()
        holders = [self._by_module.setdefault(module, set()) for module in readers]
        holders += [] if asked is None else [asked]
        if holders:
            path = _plain(os.path.abspath(name))  # noqa: PTH100 - of each opening
            for holder in holders:
                holder.add(path)


OPENED: Final = OpenedFiles()


def _is_writing(mode: str | None, flags: int | None) -> bool:
    if mode is not None:
        return not _WRITING.isdisjoint(mode)
    return bool((flags or 0) & _WRITING_FLAGS)


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
