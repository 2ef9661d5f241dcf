"""The code that a function's recorded returns came from, and whether it is that of today.

What a function without requests returned is replayed without running it. So its recorded lines hold
the digests of its code by file: of the modules of the project that it is made of, and of what it
has opened below the project (see `code_files`, `opened_files`). Where one of them is another now,
or a module has come in between, or a file that it looked for in vain, the recording is of other
code.

Files that git ignores are left out: another machine need not have them.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from types import MethodType
from typing import Any, Final

from pytest_judgesense.cassettes.cassette import Cassette
from pytest_judgesense.cassettes.exchange import CALL, NO_RESPONSE, OUT_OF_TIME, RAISED, Exchange
from pytest_judgesense.cassettes.matching import RecordedTrials
from pytest_judgesense.errors import StaleRecording
from pytest_judgesense.files.opening import project_file
from pytest_judgesense.judges.code_files import (
    ABSENT,
    Module,
    digest_of_file,
    is_of_project,
    module_at,
    module_named,
    modules_imported,
)
from pytest_judgesense.judges.opened_files import OPENED
from pytest_judgesense.judges.spec import JudgeSpec, table_of
from pytest_judgesense.revisions.repository import NoRevision, Repository

_MOST_NAMED: Final = 5
# What stands for the code of a line that does not hold it.
UNKNOWN: Final = "it was recorded without its code"


class JudgeCode:
    """The code of a judge that is a function, in the files of its project.

    Nothing is imported for it; what was opened is known where it was watched.
    """

    def __init__(self, spec: JudgeSpec) -> None:
        self._spec = spec
        self._key = spec.name, spec.model
        self._ignored: dict[Path, bool] = {}
        self._state: tuple[int, str] = (-1, "")

    def state(self) -> str:
        """The digests by file, as the lines of a recording hold them: JSON with sorted keys."""
        count = OPENED.count
        if count != self._state[0]:
            modules = modules_imported(self._first, self._project, self._every_root)
            opened = OPENED.of(self._key, modules)
            of_project = (path for path in opened if is_of_project(path, self._project))
            files = self._unignored([*modules, *of_project])
            self._state = count, json.dumps(self._digests(files), sort_keys=True)
        return self._state[1]

    def changed(self, recorded: Mapping[str, str]) -> tuple[str, ...]:
        """The files that are not as they were ``recorded``, by their paths in the project."""
        changed = [
            name
            for name, digest in recorded.items()
            if digest_of_file(self._project / name) != digest
        ]
        added = [path for path in self._modules if self._name(path) not in recorded]
        return (*changed, *map(self._name, self._unignored(added)))

    def changed_since(self, exchanges: Iterable[Exchange]) -> tuple[str, ...]:
        """The files that are not as they were when ``exchanges`` were recorded."""
        files: dict[str, None] = {}
        for exchange in exchanges:
            recorded = exchange.code
            changed = [UNKNOWN] if recorded is None else self._changed_since(recorded)
            files |= dict.fromkeys(changed)
        return tuple(files)

    @cached_property
    def _known_changes(self) -> dict[tuple[tuple[str, str], ...], tuple[str, ...]]:
        return {}

    def _changed_since(self, recorded: Mapping[str, str]) -> tuple[str, ...]:
        """As `changed`; looked for once, for many lines are of one state of the code."""
        key = tuple(recorded.items())
        if key not in self._known_changes:
            self._known_changes[key] = self.changed(recorded)
        return self._known_changes[key]

    @cached_property
    def _project(self) -> Path:
        """The folder of the nearest ``pyproject.toml``, else of the judge's file."""
        start = self._spec.folder
        if start is None:
            start = next((module.path.parent for module in self._first_of_object), Path())
        project = project_file(start.resolve())
        return project.parent if project else start.resolve()

    @cached_property
    def _roots(self) -> tuple[Path, ...]:
        """Where modules of the project begin, on every machine and from every folder."""
        return self._project, self._project / "src"

    @property
    def _every_root(self) -> tuple[Path, ...]:
        """The same, and the folders of the project that are on Python's path here."""
        on_path = (Path(entry or os.curdir).resolve() for entry in sys.path)
        within = (path for path in on_path if path.is_relative_to(self._project))
        return tuple(dict.fromkeys((*self._roots, *within)))

    @cached_property
    def _first(self) -> tuple[Module, ...]:
        """The modules of the judge's own code."""
        if self._spec.function is not None:
            return self._first_of_object
        if self._spec.installed:
            return ()  # the copy in the environment is no code of the project
        name = self._spec.model.partition(":")[0]
        module = module_named(name, self._every_root)
        if module is None and (file := getattr(sys.modules.get(name), "__file__", None)):
            module = module_at(Path(file).resolve())
        return () if module is None else (module,)

    @cached_property
    def _first_of_object(self) -> tuple[Module, ...]:
        files = [*_files_of(self._spec.function)]
        if self._spec.source is not None:
            files.append(self._spec.source)
        return tuple(module_at(path) for path in dict.fromkeys(files) if path.is_file())

    @cached_property
    def _modules(self) -> Collection[Path]:
        return modules_imported(self._first, self._project, self._roots)

    def _digests(self, files: Iterable[Path]) -> dict[str, str]:
        return {self._name(path): digest_of_file(path) for path in files}

    def _name(self, path: Path) -> str:
        return path.relative_to(self._project).as_posix()

    def _unignored(self, paths: Sequence[Path]) -> list[Path]:
        """The paths without those that git ignores, each asked about once."""
        unknown = [path for path in paths if path not in self._ignored]
        if unknown:
            ignored = _ignored_by_git(self._project, unknown)
            self._ignored |= {path: path in ignored for path in unknown}
        return [path for path in dict.fromkeys(paths) if not self._ignored[path]]


class RecordedCode:
    """The code of a judge beside that of its recorded returns.

    A judge with ``code = "any"`` is taken as it was recorded.
    """

    def __init__(self, spec: JudgeSpec) -> None:
        self._spec = spec
        self._code = JudgeCode(spec)
        self.state = self._code.state

    def changes(self, cassette: Cassette, trial: str) -> tuple[str, ...]:
        """The files that are not as they were when what a replay takes of a trial was recorded."""
        return self._code.changed_since(not_run_again(cassette.recordings, trial))

    def is_changed(self, cassette: Cassette, trial: str) -> bool:
        """Whether a recording asks a trial anew, for its return is of other code."""
        return self._spec.code != "any" and bool(self.changes(cassette, trial))

    def refuse_changed(self, cassette: Cassette, trial: str) -> None:
        """Raise `StaleRecording` if a replay would take what other code returned."""
        if self.is_changed(cassette, trial):
            files = self.changes(cassette, trial)
            raise code_changed(self._spec, files, [trial], 1, cassette.how_to_record)


def not_run_again(recordings: RecordedTrials, trial: str) -> list[Exchange]:
    """What a replay takes of a trial as it is recorded, without running the function.

    So it takes what a function without requests returned or raised, and what had no time to return.
    """
    calls = [exchange for exchange, _ in recordings.of(trial)]
    plain = [exchange for exchange in calls if exchange.request.method == CALL]
    returned = recordings.returned(trial)
    if returned is None or returned.response.status != NO_RESPONSE:
        return plain
    in_time = returned.response.headers.get(RAISED) != OUT_OF_TIME
    return plain if in_time and len(plain) < len(calls) else [*plain, returned]


def code_change(trials: Sequence[tuple[Sequence[Exchange], Sequence[Exchange]]]) -> str:
    """What differs in the code that returns came from, in one clause; empty if nothing is known to.

    ``trials``: the recorded exchanges of each then and now.
    """
    files: dict[str, None] = {}
    changed = 0
    for then, now in trials:
        before, after = _code_of(then), _code_of(now)
        if before is None or after is None:
            continue  # a cause is named where both sides know it
        names = before.keys() | after.keys()
        other = [
            name for name in sorted(names) if before.get(name, ABSENT) != after.get(name, ABSENT)
        ]
        files |= dict.fromkeys(other)
        changed += bool(other)
    where = "" if changed == len(trials) else f", in {changed} of {len(trials)} trials"
    return f"the code changed ({files_named(files)}{where})" if changed else ""


def code_since(judge: JudgeSpec, trials: Iterable[Sequence[Exchange]]) -> str:
    """What of the code is not as it was when these trials were recorded, in one clause."""
    coded = (each for exchanges in trials for each in exchanges if each.code is not None)
    files = JudgeCode(judge).changed_since(coded)
    return f"the code changed ({files_named(files)})" if files else ""


def is_code_of(judge: JudgeSpec, trials: Iterable[Sequence[Exchange]]) -> bool:
    """Whether all recorded returns of these trials are known to come from the code of today."""
    states = [_code_of(exchanges) for exchanges in trials]
    if None in states:
        return False
    today = JudgeCode(judge)
    distinct = {json.dumps(state, sort_keys=True): state for state in states if state is not None}
    return not any(today.changed(state) for state in distinct.values())


def of_other_code(judge: JudgeSpec, trials: Iterable[Sequence[Exchange]]) -> int:
    """How many of these trials made no request and are not known to be of the code of today."""
    today = JudgeCode(judge)
    returned = ([each for each in of if each.request.method == CALL] for of in trials)
    return sum(bool(today.changed_since(exchanges)) for exchanges in returned)


def _code_of(exchanges: Iterable[Exchange]) -> Mapping[str, str] | None:
    """The digests by file that the returns of a trial hold; ``None`` if they hold none."""
    states = [exchange.code for exchange in exchanges]
    known = [state for state in states if state is not None]
    return {name: digest for state in known for name, digest in state.items()} if known else None


def files_named(files: Collection[str]) -> str:
    """Files in a sentence: the first few, and how many more."""
    shown = ", ".join([*files][:_MOST_NAMED])
    more = len(files) - _MOST_NAMED
    return shown if more <= 0 else f"{shown} and {more} more"


def code_changed(
    judge: JudgeSpec, files: Collection[str], trials: Collection[str], of: int, how_to_record: str
) -> StaleRecording:
    """The error of ``trials`` that were recorded with other code, the first of them first."""
    return StaleRecording(
        f"the code of judge {judge.name!r} changed since {len(trials)} of {of} trials were "
        f"recorded, the first is {next(iter(trials))}",
        found=f"{files_named(files)}: a replay does not run what makes no request",
        expected="the code that gave the recorded returns",
        remedy=f'{how_to_record}; where the change cannot matter, code = "any" in '
        f"{table_of(judge.name)}",
    )


def _files_of(function: Any) -> Iterator[Path]:
    """The files of a callable, of what it wraps or applies in part, and of an object's class."""
    while isinstance(function, partial):
        function = function.func
    if isinstance(function, MethodType):
        yield from _file_of_class(type(function.__self__))
        function = function.__func__
    while function is not None:
        code = getattr(function, "__code__", None)
        if code is None:
            yield from _file_of_class(type(function))
        else:
            yield Path(code.co_filename).resolve()
        function = getattr(function, "__wrapped__", None)


def _file_of_class(kind: type) -> Iterator[Path]:
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if file is not None:
        yield Path(file).resolve()


def _ignored_by_git(folder: Path, paths: Sequence[Path]) -> frozenset[Path]:
    """Those of the paths that git ignores; none where there is no git, or no repository."""
    names = "\0".join(map(str, paths)).encode(errors="surrogateescape")
    with suppress(NoRevision):
        answer = Repository.around(folder).ask("check-ignore", "-z", "--stdin", given=names)
        return frozenset(Path(os.fsdecode(name)) for name in answer.stdout.split(b"\0") if name)
    return frozenset()
