"""What setuptools takes for the packages of a project that names none.

Every folder at the top whose name may be that of a package, but for a list of usual ones, of which
`LEFT_OUT` is one; of several it refuses to build. The rule is that of
`setuptools.discovery.ConfigDiscovery`, which need not be installed where a project is.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.files.limits import toml_value
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.files.pytest_ini import ini_options

LEFT_OUT: Final = "tests"

# What says in setup.py or setup.cfg what the packages are; modules in another language say it only
# where no table of pyproject.toml describes the project.
_NAMING: Final = frozenset(("packages", "py_modules", "package_dir", "configuration", "pbr"))
_NAMING_ALONE: Final = _NAMING | {"ext_modules"}


def takes(project: Path, folder: str) -> bool:
    """Whether a build of the project takes a folder at its top, without Python, for a package."""
    tables = _tables(project)
    is_described = tables.keys() & {"project", "build-system"} or _is_older(project)
    if not is_described or not _is_of_setuptools(_table(tables, "build-system")):
        return False
    own = _table(tables, "tool", "setuptools")
    if "packages" in own:
        return _finds(own["packages"], folder) and not _finds(own["packages"], LEFT_OUT)
    names = _NAMING if "project" in tables else _NAMING_ALONE
    return not (
        own.keys() & {"py-modules", "package-dir"}
        or (project / "src").is_dir()
        or names & {*_names_of_setup(project / "setup.py"), *_names_of_cfg(project / "setup.cfg")}
    )


def _is_older(project: Path) -> bool:
    """Whether a project is described by ``setup.py`` or ``setup.cfg``."""
    return (project / "setup.py").is_file() or any(
        _options_of_cfg(project / "setup.cfg", section) for section in ("metadata", "options")
    )


def _tables(project: Path) -> dict[str, Any]:
    file = project / "pyproject.toml"
    try:
        return dict(toml_value(read_text(file))) if file.is_file() else {}
    except (OSError, ValueError):
        return {}  # what reads it next says what is wrong


def _table(table: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """The table of these names; empty where there is none, or something else."""
    for name in names:
        inner = table.get(name)
        table = inner if isinstance(inner, Mapping) else {}
    return table


def _is_of_setuptools(build: Mapping[str, Any]) -> bool:
    """Whether setuptools builds, by the table ``build-system``: also where a project's own does."""
    backend = str(build.get("build-backend", "setuptools"))
    if "backend-path" in build:
        return any(str(each).startswith("setuptools") for each in build.get("requires", ()))
    return backend.partition(".")[0] == "setuptools"


def _finds(packages: Any, folder: str) -> bool:
    """Whether ``packages`` of ``[tool.setuptools]`` takes a folder at the top without Python."""
    rule = packages.get("find", {}) if isinstance(packages, Mapping) else None
    if not isinstance(rule, Mapping) or not rule.get("namespaces", True):
        return False
    places, taken, left_out = (
        [*map(str, rule.get(name, usual))]
        for name, usual in (("where", ["."]), ("include", ["*"]), ("exclude", []))
    )
    is_there = any(Path(place) == Path() for place in places)
    return is_there and _matches(folder, taken) and not _matches(folder, left_out)


def _matches(folder: str, patterns: Collection[str]) -> bool:
    return any(fnmatchcase(folder, pattern) for pattern in patterns)


def _names_of_setup(file: Path) -> Iterator[str]:
    """The names that ``setup.py`` gives: its arguments, and texts that may be keys of them."""
    try:
        tree = ast.parse(read_text(file) if file.is_file() else "")
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg:
            yield node.arg
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _names_of_cfg(file: Path) -> Iterator[str]:
    """The options that ``setup.cfg`` has of setuptools, and of pbr, which has files of its own."""
    for section in ("options", "files"):
        yield from _options_of_cfg(file, section)


def _options_of_cfg(file: Path, section: str) -> Mapping[str, Any]:
    try:
        return (ini_options(file, read_text(file), section) if file.is_file() else None) or {}
    except (OSError, ValueError):
        return {}
