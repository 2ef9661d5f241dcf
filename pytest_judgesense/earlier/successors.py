"""Which judge and which suite of a revision those of today are, and which have no successor.

A recording is found by its judge and its suite, not by the folder that it stands in. A judge or a
suite that has no recording at the revision is the one whose name it states by ``was``; one judge
there and one here are compared whatever they are called. What was recorded there and is declared no
more, without a successor and without being called retired, would be a way around the comparison: it
fails until its owner says what became of it. A jury has no recording: its table is what was there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.judges.local import JUDGES
from pytest_judgesense.judges.resolving import declared_judges, declared_juries, retired_names
from pytest_judgesense.judges.simulated.named_observers import PROFILES
from pytest_judgesense.judges.spec import JudgeSpec, slug_of
from pytest_judgesense.registry import Registry
from pytest_judgesense.revisions.repository import NoRevision
from pytest_judgesense.revisions.revision import Revision
from pytest_judgesense.suites.below import head_of, suite_files_below
from pytest_judgesense.suites.builtin import SUITE_SUFFIX, builtin_suites
from pytest_judgesense.suites.suite import Suite

_RECORDING: Final = ".jsonl"
PROJECT_FILE: Final = "pyproject.toml"


@dataclass(frozen=True)
class Declared:
    """What a project declares today, whatever a session selects of it.

    Attributes:
        judges: slugs of its judges, of those that a session has, and of the members of juries.
        suites: the file of each of its suites, by name.
        taken: the names of judges and suites that others take the place of, by ``was``.
        retired: the names that it says are there no more.
    """

    judges: frozenset[str]
    suites: Mapping[str, Path]
    taken: frozenset[str]
    retired: frozenset[str]

    @classmethod
    def below(cls, root: Path, judges: Iterable[JudgeSpec], registry: Registry) -> Declared:
        """What is declared in and below a folder; ``judges``: those of a session.

        Raises:
            UsageError: a table of judges is wrong.
        """
        every = {judge.slug: judge for judge in judges}
        heads = {path: head_of(path) for path in suite_files_below(root)}
        for folder in {root, *(path.parent for path in heads)}:
            tables = declared_judges(folder, registry.providers)
            every |= {judge.slug: judge for judge in tables.values()}
        members = {
            slug_of(name)
            for judge in every.values()
            if judge.jury is not None
            for name in judge.jury.members
        }
        was = {head.get("was", "") for head in heads.values()}
        was |= {judge.was for judge in every.values()}
        return cls(
            frozenset({*every, *members}),
            {head["name"]: path.resolve() for path, head in heads.items() if "name" in head},
            frozenset(was - {""}),
            frozenset(retired_names(root)),
        )


@dataclass(frozen=True)
class RecordedThen:
    """What is recorded at a revision, and which juries were declared there.

    Attributes:
        root: the folder of the project; what lies elsewhere belongs to others of the repository,
            or to the project before it was moved.
        suites: by name, the files of suites.
        recordings: by judge and name of the recording, its files.
        juries: the names of those that tables of the project declared.
    """

    root: Path
    suites: Mapping[str, Sequence[Path]]
    recordings: Mapping[tuple[str, str], Sequence[Path]]
    juries: Collection[str] = ()

    @classmethod
    def read(cls, revision: Revision, root: Path, folder: Path) -> RecordedThen:
        """Look through the revision; files of suites and of judges are written below ``folder``.

        Raises:
            UsageError: a ``pyproject.toml`` of then cannot be read.
        """
        suites: dict[str, list[Path]] = defaultdict(list)
        items: set[Path] = set()
        for path in revision.files:
            if path.name.endswith(SUITE_SUFFIX):
                with suppress(NoRevision):  # a link, which is no suite of its own
                    revision.write([path], folder)
                    head = head_of(revision.place_in(folder, path))
                    suites[head.get("name", "")].append(path)
                    items.add((path.parent / head.get("file", "")).resolve())
        # Items are no recordings; those that no suite names any more stand beside one.
        beside_suites = {path.parent for paths in suites.values() for path in paths}
        recordings: dict[tuple[str, str], list[Path]] = defaultdict(list)
        for path in revision.files:
            is_of_suite = path.stem in suites or path.stem in builtin_suites()
            is_of_items = path in items or path.parent in beside_suites
            if path.suffix == _RECORDING and is_of_suite and not is_of_items:
                recordings[path.parent.name, path.stem].append(path)
        juries = _juries_of(root.resolve(), suites.values(), revision, folder)
        return cls(root.resolve(), dict(suites), dict(recordings), juries)

    @cached_property
    def of_project(self) -> list[tuple[str, str]]:
        """Judges and names of the recordings below the folder of the project."""
        return [
            key
            for key, files in self.recordings.items()
            if any(file.is_relative_to(self.root) for file in files)
        ]

    def place_of(self, suite: Suite) -> Path | None:
        """Where a suite of today stood: at its place, else where its name was, or its ``was``."""
        path = suite.path.resolve()
        at_place = [name for name, files in self.suites.items() if path in files]
        if suite.base in at_place:
            return path
        named = self._file_of(suite.base) or self._file_of(suite.was)
        return named or (path if at_place else None)

    def _file_of(self, name: str) -> Path | None:
        """The file of a suite: that of the project, else the only one."""
        files = self.suites.get(name, ())
        below = [file for file in files if file.is_relative_to(self.root)]
        return next(iter(below or (files if len(files) == 1 else ())), None)

    def judges_of(self, recordings: Collection[str]) -> list[str]:
        """Slugs of the judges of which any of the ``recordings`` is there."""
        return sorted({judge for judge, name in self.recordings if name in recordings})

    def file_of(self, judge: str, recording: str, usual: Path) -> Path | None:
        """The file of a recording: in the ``usual`` folder, else wherever it stands.

        Raises:
            UsageError: it stands in several folders, and in none that is usual.
        """
        files = self.recordings.get((judge, recording), ())
        at_usual = usual.resolve() / judge / f"{recording}{_RECORDING}"
        if at_usual in files or len(files) < 2:
            return at_usual if at_usual in files else next(iter(files), None)
        raise UsageError(
            f"judge {judge} on suite {recording} was recorded in several folders",
            found=listed(map(str, files)),
            expected=f"one recording, or one in {usual}",
            remedy="say which folder is meant: --judge-cassettes DIR",
        )


@dataclass(frozen=True)
class Successors:
    """What of a revision goes on as what of today.

    Attributes:
        then: what is recorded there.
        today: what is declared today.
        name: of the revision.
    """

    then: RecordedThen
    today: Declared
    name: str

    def judge(self, judge: JudgeSpec, recordings: Collection[str]) -> str:
        """The slug by which a judge is recorded there on a suite; empty for a new judge.

        ``recordings``: the names of those of the suite.
        """
        there = self.then.judges_of(recordings)
        for slug in (judge.slug, slug_of(judge.was) if judge.was else ""):
            if slug in there:
                return slug
        return there[0] if self._is_alone(there) else ""

    def _is_alone(self, there: Sequence[str]) -> bool:
        """Whether one judge there and one here are the same: a model is exchanged so."""
        return len(there) == len(self.today.judges) == 1

    def retired(self, before: Collection[str]) -> tuple[str, ...]:
        """What was recorded there and is called retired today, and was not ``before``."""
        recorded = {name for key in self.then.of_project for name in key}
        recorded |= {*map(slug_of, self.then.juries)}
        called = sorted(self.today.retired - {*before})
        return tuple(name for name in called if {name, slug_of(name)} & recorded)

    def refuse_lost(self) -> None:
        """Raise `UsageError` if something was there that nothing of today goes on with."""
        lost = [f"judge {name}" for name in self._lost_judges]
        lost += [f"jury {name}" for name in self._lost_juries]
        lost += [f"suite {name}" for name in self._lost_suites]
        if not lost:
            return
        name = lost[0].partition(" ")[2]
        raise UsageError(
            f"what was there at {self.name} is declared no more: {listed(lost)}",
            found="nothing of that name, and nothing that says that it takes its place",
            expected="what became of it: nothing would be compared with it",
            remedy=f'was = "{name}" in the table of the judge, or at the head of the suite file, '
            f'that takes its place; or retired = ["{name}"] in [tool.judgesense]',
        )

    @cached_property
    def _lost_judges(self) -> list[str]:
        # Those that come along need no declaration.
        gone = {judge for judge, _ in self.then.of_project} - self._ended
        gone -= {*PROFILES, *JUDGES}
        return sorted(
            judge
            for judge in gone
            if any(
                not self._is_alone(self.then.judges_of([suite]))
                for of, suite in self.then.of_project
                if of == judge
            )
        )

    @cached_property
    def _lost_juries(self) -> list[str]:
        return sorted(name for name in self.then.juries if slug_of(name) not in self._ended)

    @cached_property
    def _ended(self) -> frozenset[str]:
        """Slugs of the judges of which is known what became: they are there, replaced, retired."""
        named = map(slug_of, (*self.today.taken, *self.today.retired))
        return self.today.judges.union(named)

    @cached_property
    def _lost_suites(self) -> list[str]:
        ended = {*self.today.suites, *self.today.taken, *self.today.retired, *builtin_suites()}
        # One that only changed its name is at its place.
        files = {*self.today.suites.values()}
        recorded = {suite for _, suite in self.then.of_project} - ended
        return sorted(name for name in recorded if files.isdisjoint(self.then.suites[name]))


def table_at(revision: Revision, start: Path) -> Path | None:
    """The ``pyproject.toml`` that was the nearest in a folder of the working tree or above it."""
    places = (folder / PROJECT_FILE for folder in (start, *start.parents))
    return next((path for path in places if revision.contains(path) and revision.holds(path)), None)


def _juries_of(
    root: Path, suites: Iterable[Sequence[Path]], revision: Revision, folder: Path
) -> frozenset[str]:
    """The juries that tables declared for a project in ``root`` and for its ``suites``."""
    if not any(path.is_relative_to(root) for path in revision.files):
        return frozenset()  # a table above it was that of others
    folders = {path.parent for files in suites for path in files if path.is_relative_to(root)}
    names = set[str]()
    for table in {table_at(revision, start) for start in {root, *folders}}:
        if table is None:
            continue
        revision.write([table], folder)
        names |= {*declared_juries(revision.place_in(folder, table).parent)}
    return frozenset(names)
