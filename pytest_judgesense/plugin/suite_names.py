"""Suites by name: built-in ones on the command line, and those that markers name.

A built-in suite on the command line is ``judgesense/NAME.suite.toml``, wherever it is installed: it
names no file of the user, so it is taken out of pytest's arguments before they are resolved, and
its items are added to the session afterwards, under ids that can be pasted back.

Light on purpose.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from pytest_judgesense.errors import unknown_name

if TYPE_CHECKING:
    from pytest_judgesense.suites.kind import Kind
    from pytest_judgesense.suites.suite import Suite

PREFIX: Final = "judgesense/"
SUFFIX: Final = ".suite.toml"


class BuiltinArgument(NamedTuple):
    """A built-in suite that was asked for: its file, and the rest of the node id, if any."""

    name: str
    path: Path
    names: tuple[str, ...] = ()

    @property
    def nodeid(self) -> str:
        """Node id of the suite file."""
        return f"{PREFIX}{self.name}{SUFFIX}"


def split_name(name: str) -> tuple[str, str | None]:
    """Suite and preset of ``NAME`` or ``NAME@PRESET``."""
    base, _, preset = name.partition("@")
    return base, preset or None


def is_selected(base: str, names: Collection[str]) -> bool:
    """Whether a suite is among those of ``--judge-suite``, which without any selects all."""
    return not names or base in {split_name(name)[0] for name in names}


def preset_of(names: Sequence[str]) -> str | None:
    """The preset that the rest of a node id ends with: ``jss_floor[0.9@published]``."""
    _, at, preset = (names[-1] if names else "").removesuffix("]").rpartition("@")
    return preset if at else None


def names_asked_of(config: pytest.Config, file: Path) -> list[tuple[str, ...]]:
    """Of each argument that names a file the rest of its node id."""
    split = [argument.split("::") for argument in config.args]
    folder = config.invocation_params.dir
    return [tuple(names) for path, *names in split if (folder / path).resolve() == file.resolve()]


def nodeid_of(item: pytest.Item) -> str:
    """The id of an item as it can be pasted back.

    Under ``--dist loadgroup`` xdist appends the group: ``test_a.py::test_a@group``.
    """
    path, found, _ = item.nodeid.rpartition(f"::{item.name}@")
    return f"{path}::{item.name}" if found else item.nodeid


def all_or_named(names: tuple[str, ...]) -> list[BuiltinArgument]:
    """The built-in suites of these names (presets apart), each once; raises for unknown ones."""
    from pytest_judgesense.suites.builtin import builtin_suites

    known = builtin_suites()
    found: dict[str, BuiltinArgument] = {}
    for name in names:
        base, _ = split_name(name)
        if base not in known:
            raise unknown_name("built-in suite", base, known)
        found[base] = BuiltinArgument(base, known[base])
    return list(found.values())


def take_builtin_arguments(config: pytest.Config, suites: tuple[str, ...]) -> list[BuiltinArgument]:
    """Take the built-in suites out of ``config.args`` and return them.

    Without any path on the command line, ``suites`` (of ``--judge-suite``) name built-in ones.

    Raises:
        pytest.UsageError: there is no built-in suite of that name.
    """
    taken, rest = [], []
    for argument in config.args:
        path, *names = argument.split("::")
        if _is_builtin(config, path):
            found = all_or_named((path.removeprefix(PREFIX).removesuffix(SUFFIX),))
            taken.append(BuiltinArgument(found[0].name, found[0].path, tuple(names)))
        else:
            rest.append(argument)
    if suites and config.args_source is not pytest.Config.ArgsSource.ARGS:
        taken, rest = all_or_named(suites), []
    if taken:
        config.args[:] = rest
    return taken


def _is_builtin(config: pytest.Config, path: str) -> bool:
    return (
        path.startswith(PREFIX)
        and path.endswith(SUFFIX)
        and not (config.invocation_params.dir / path).exists()
    )


def suite_named(name: str, near: Path, root: Path, kinds: Mapping[str, Kind]) -> Suite:
    """The suite of a marker's ``suite=``: a path, a suite of the project, or a built-in one.

    Args:
        name: with a preset or without.
        near: the folder of the test.
        root: the project's root folder.
        kinds: kinds of suites by name.

    Raises:
        UsageError: there is none; it lists the known names.
        SuiteError: its file is wrong.
    """
    from pytest_judgesense.suites.builtin import builtin_suites
    from pytest_judgesense.suites.loading import load_suite

    base, preset = split_name(name)
    if base.endswith(".suite.toml"):
        for folder in (near, root):
            if (folder / base).is_file():
                return load_suite(folder / base, preset, kinds)
    known = builtin_suites()
    path = root / "suites" / base / f"{base}.suite.toml"
    if not path.is_file():
        if base not in known:
            raise unknown_name("suite", base, known)
        path = known[base]
    return load_suite(path, preset, kinds)
