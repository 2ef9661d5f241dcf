"""Where a question is asked: the judges, suites and recordings of a working folder's project."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_judgesense.errors import UsageError, listed, unknown_name
from pytest_judgesense.files.pytest_ini import pytest_options, usual_recordings

if TYPE_CHECKING:
    from pytest_judgesense.judges.spec import JudgeSpec
    from pytest_judgesense.judges.trust import Trust
    from pytest_judgesense.registry import Registry
    from pytest_judgesense.suites.planning import Plans
    from pytest_judgesense.suites.suite import Suite

JUDGE: Final = "a judge that pyproject.toml declares, or provider:model"


def _built_in() -> Registry:
    from pytest_judgesense.instruments.builtin import BUILT_IN
    from pytest_judgesense.registry import loaded

    return loaded(BUILT_IN, [])


@dataclass(frozen=True)
class Place:
    """The project of the working folder.

    Attributes:
        cassettes: the folder of its recordings.
        registry: the built-in values and those of plugins.
    """

    cassettes: Path = field(default_factory=usual_recordings)
    registry: Registry = field(default_factory=_built_in, repr=False)

    @classmethod
    def with_recordings(cls, folder: str | Path | None) -> Place:
        """That of the working folder, its recordings in ``folder`` if one is given."""
        return cls() if folder is None else cls(Path(folder))

    @cached_property
    def declared(self) -> dict[str, JudgeSpec]:
        """The judges that the project declares, by name."""
        from pytest_judgesense.judges.resolving import declared_judges

        return dict(declared_judges(Path.cwd(), self.registry.providers))

    @property
    def only_judge(self) -> str:
        """The name of the one judge that the project declares.

        Raises:
            UsageError: it declares none, or several.
        """
        if len(self.declared) != 1:
            raise UsageError(
                "no judge is named",
                found=f"declared here: {listed(self.declared) or 'none'}",
                expected=f"--judge-name NAME: {JUDGE}",
            )
        return next(iter(self.declared))

    def judges(self, names: Sequence[str]) -> list[JudgeSpec]:
        """The judges of these names; without names the declared ones."""
        from pytest_judgesense.judges.resolving import resolve_judges

        return resolve_judges(names, self.declared, {}, (), self.registry.providers)

    def judge(self, name: str | None = None) -> JudgeSpec:
        """The judge of this name; without a name the one that the project declares."""
        (judge,) = self.judges([self.only_judge if name is None else name])
        return judge

    def judges_to_ask(self, names: Sequence[str]) -> list[JudgeSpec]:
        """The same, for a question that asks them: their code is found."""
        judges = self.judges(names)
        find_code_of_project()
        return judges

    def judge_to_ask(self, name: str | None = None) -> JudgeSpec:
        """`judge`, for a question that asks it."""
        (judge,) = self.judges_to_ask([self.only_judge if name is None else name])
        return judge

    def suites(self, name: str, *, labelled: bool = True) -> Iterator[Suite]:
        """The suites that ``NAME`` or ``NAME@PRESET`` means, of a folder each.

        With ``labelled`` every item must have a label.
        """
        from pytest_judgesense.suites.loading import load_suite

        base, _, preset = name.partition("@")
        for file in suite_files(base):
            yield load_suite(file, preset or None, self.registry.forms, labelled=labelled)

    def suite(self, name: str, *, labelled: bool = True) -> Suite:
        """The suite that ``NAME``, ``NAME@PRESET`` or a file means."""
        return next(self.suites(name, labelled=labelled))

    def recorded(self, name: str | None = None) -> Iterator[tuple[JudgeSpec, Suite]]:
        """The suites here, or those of a name, each with its judges that are recorded."""
        from pytest_judgesense.judges.resolving import declared_judges, resolve_judges
        from pytest_judgesense.suites.loading import load_suite

        registry = self.registry
        for path in suite_files(name) if name else suites_here():
            suite = load_suite(path, None, registry.forms)
            declared = declared_judges(path.parent, registry.providers)
            for judge in resolve_judges((), declared, {}, suite.judges, registry.providers):
                if self.is_recorded(judge, suite):
                    yield judge, suite

    def is_recorded(self, judge: JudgeSpec, suite: Suite) -> bool:
        """Whether a suite has all its recordings of a judge; of a jury those of all its members."""
        from pytest_judgesense.suites.builtin import cassettes_in

        return all(
            path.is_file()
            for asked in judge.asked_judges
            for path in cassettes_in(self.cassettes, asked.slug, suite.recordings).values()
        )

    @property
    def plans(self) -> Plans:
        """Where the recordings are, and the suites of the project."""
        from pytest_judgesense.judges.resolving import project_folder
        from pytest_judgesense.suites.planning import Plans

        return Plans(project_folder(), self.cassettes, self.registry.forms)


def trust_of(suite: str) -> Trust:
    """What may be sent from this folder, given the path of a suite that the user has named."""
    from pytest_judgesense.judges.trust import Trust

    return Trust.here(Path(suite.partition("@")[0]))


def suite_files(name: str) -> list[Path]:
    """The suite files that a path or a name means: those of a folder, this project's, built-in."""
    from pytest_judgesense.suites.builtin import (
        SUITE_FOLDERS,
        builtin_suites,
        is_unpacked,
        suite_file,
    )

    if (file := suite_file(name)) is not None:
        return [file]
    files = sorted(Path(name).rglob("*.suite.toml"))
    if packed := [file for file in files if not is_unpacked(file)]:
        return packed
    of_project = (
        path.parent for folder in SUITE_FOLDERS for path in Path(folder).glob("*/*.suite.toml")
    )
    raise unknown_name("suite", name, {*builtin_suites(), *(folder.name for folder in of_project)})


def suites_here() -> list[Path]:
    """The suite files of this folder, and of the folders in it that are for suites."""
    from pytest_judgesense.suites.builtin import SUITE_FOLDERS

    form = "*.suite.toml"
    below = (sorted(Path(folder).rglob(form)) for folder in SUITE_FOLDERS)
    return [*sorted(Path.cwd().glob(form)), *chain.from_iterable(below)]


# --- code of the project --------------------------------------------------------------------------


def find_code_of_project() -> None:
    """Let code of the project be imported where pytest's ``pythonpath`` says.

    Only for questions that run it: a module there may be called like one of any library, which is
    imported in its place from now on.
    """
    sys.path[:0] = [folder for folder in pythonpath(Path.cwd()) if folder not in sys.path]


def pythonpath(start: Path) -> list[str]:
    """The folders that pytest's ``pythonpath`` names in the nearest of its ini files upward."""
    path, settings = pytest_options(start)
    return [str((path.parent / part).resolve()) for part in _parts(settings.get("pythonpath", ()))]


def testpaths(start: Path) -> tuple[Path, list[str]]:
    """The nearest of pytest's ini files upward, and what it has for ``testpaths``."""
    path, settings = pytest_options(start)
    return path, _parts(settings.get("testpaths", ()))


def _parts(value: Any) -> list[str]:
    return value.split() if isinstance(value, str) else list(map(str, value))
