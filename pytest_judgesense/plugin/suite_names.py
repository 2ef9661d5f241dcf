"""Suites by name: built-in ones on the command line, and the parts of node ids.

A built-in suite on the command line is ``judgesense/NAME.suite.toml``, wherever the package is
installed. It is not a file of the user, so it is taken out of pytest's arguments before they are
resolved, and its items are added to the session afterwards, with ids that can be passed back.

Light on purpose.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from pytest_judgesense.errors import UsageError, listed, unknown_name

PREFIX: Final = "judgesense/"
SUFFIX: Final = ".suite.toml"


class BuiltinArgument(NamedTuple):
    """A requested built-in suite: its file, and the rest of its node id, if any."""

    nodeid: str
    path: Path
    names: tuple[str, ...] = ()


def split_name(name: str) -> tuple[str, str | None]:
    """Suite and preset of ``NAME`` or ``NAME@PRESET``."""
    base, _, preset = name.partition("@")
    return base, preset or None


def is_selected(base: str, names: Collection[str]) -> bool:
    """Whether a suite is among those of ``--judge-suite``, which without any selects all."""
    return not names or base in {split_name(name)[0] for name in names}


def preset_of(names: Sequence[str]) -> str | None:
    """The preset that the rest of a node id ends with: ``jss_floor[0.9@published]``."""
    _, separator, preset = (names[-1] if names else "").removesuffix("]").rpartition("@")
    return preset if separator else None


def names_asked_of(config: pytest.Config, file: Path) -> list[tuple[str, ...]]:
    """Of each argument that names a file the rest of its node id."""
    split = [argument.split("::") for argument in config.args]
    folder = config.invocation_params.dir
    return [tuple(names) for path, *names in split if (folder / path).resolve() == file.resolve()]


def nodeid_of(item: pytest.Item) -> str:
    """The id of an item as it can be pasted back.

    Under ``--dist loadgroup`` xdist appends the group: ``test_a.py::test_a@group``.
    """
    path, separator, _ = item.nodeid.rpartition(f"::{item.name}@")
    return f"{path}::{item.name}" if separator else item.nodeid


def command_of(item: pytest.Item) -> str:
    """The command that runs an item alone, as a shell takes it where the session was started."""
    nodeid, folder = nodeid_of(item), item.config.invocation_params.dir
    path, *names = nodeid.split("::")
    file = item.config.rootpath / path
    # The ids of built-in suites are no paths, and are the same in every folder.
    if file.exists():
        with suppress(ValueError):  # another drive
            nodeid = "::".join([Path(os.path.relpath(file, folder)).as_posix(), *names])
    return shlex.join(["pytest", nodeid])


def _builtin(name: str) -> BuiltinArgument:
    """The built-in suite of a name, ignoring presets; `UsageError` if there is none."""
    from pytest_judgesense.suites.builtin import builtin_suites

    builtin, (base, _) = builtin_suites(), split_name(name)
    if base not in builtin:
        or_path = f"or give the path of your own: pytest PATH --judge-suite {base}"
        raise unknown_name("built-in suite", base, builtin, other=or_path)
    return BuiltinArgument(f"{PREFIX}{base}{SUFFIX}", builtin[base])


def take_builtin_arguments(config: pytest.Config, suites: tuple[str, ...]) -> list[BuiltinArgument]:
    """Take the built-in suites out of ``config.args`` and return them.

    Without any path on the command line, ``suites`` (of ``--judge-suite``) name built-in ones.
    """
    builtin, rest = [], []
    for argument in config.args:
        path, *names = argument.split("::")
        ours = path.startswith(PREFIX) and path.endswith(SUFFIX)
        if ours and not (config.invocation_params.dir / path).exists():
            argument_of = _builtin(path.removeprefix(PREFIX).removesuffix(SUFFIX))
            builtin.append(argument_of._replace(names=tuple(names)))
        else:
            rest.append(argument)
    if suites and config.args_source is not pytest.Config.ArgsSource.ARGS:
        builtin, rest = list(dict.fromkeys(map(_builtin, suites))), []
    if builtin:
        config.args[:] = rest
    return builtin


class SuiteNotFound(UsageError):
    """A test names a suite that is nowhere, or at several places: that test fails, and no other."""


class SuitesOfRun:
    """The suite files that a run collects, whether it has come to them or not, and those nearby.

    They are found by their names, and left out as pytest leaves out what it does not collect.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._below: dict[Path, tuple[Path, ...]] = {}

    def folders(self, near: Path) -> list[Path]:
        """The folders that are searched, with all below them, for a test in the folder ``near``."""
        invocation = self._config.invocation_params.dir
        paths = (invocation / argument.partition("::")[0] for argument in self._config.args)
        return list(dict.fromkeys([near, *paths]))

    def names(self, near: Path) -> set[str]:
        """The names of all suites there."""
        return {path.name.removesuffix(SUFFIX) for path in self._files(near)}

    def nearest(self, name: str, near: Path) -> Path | None:
        """The file of a suite: of several the one that has most folders in common with the test.

        Raises:
            SuiteNotFound: two of them are as near.
        """
        named = {path.resolve() for path in self._files(near) if path.name == f"{name}{SUFFIX}"}
        shared = {path: _shared_folders(path, near.resolve()) for path in named}
        most = max(shared.values(), default=0)
        nearest = sorted(path for path in named if shared[path] == most)
        if len(nearest) > 1:
            raise SuiteNotFound(
                f"there are {len(nearest)} suites named {name!r}",
                found=listed(map(str, nearest)),
                expected="one, or one that is nearer to the test than the others",
                remedy="give its path, from the folder of the test or of the project",
            )
        return next(iter(nearest), None)

    def _files(self, near: Path) -> Iterator[Path]:
        for folder in self.folders(near):
            if folder not in self._below:
                self._below[folder] = tuple(self._walk(folder))
            yield from self._below[folder]

    def _walk(self, path: Path) -> Iterator[Path]:
        if path.is_file():
            yield from [path] if path.name.endswith(SUFFIX) else []
        for place, folders, files in os.walk(path):
            folder = Path(place)
            folders[:] = sorted(name for name in folders if not self._is_ignored(folder / name))
            names = (name for name in files if name.endswith(SUFFIX))
            yield from (folder / name for name in names if not self._is_ignored(folder / name))

    def _is_ignored(self, path: Path) -> bool:
        hook = self._config.hook
        return bool(hook.pytest_ignore_collect(collection_path=path, config=self._config))


def _shared_folders(path: Path, near: Path) -> int:
    return len(Path(os.path.commonpath([path, near])).parts)
