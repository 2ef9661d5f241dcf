"""The code of a project: where it lies, what a module of it imports, and what is imported instead.

A judge that a table names by ``module:function`` is the one of the checkout. So the folder of the
project, and ``src`` in it, stand in front of Python's path while code of the judge is imported or
runs, and only then: other code of the process imports what it always did. A module that is imported
already stays what it is. Where that is another copy of a file that the project holds, such as one
that ``pip install .`` has made, the checkout cannot be judged in this process.
"""

from __future__ import annotations

import ast
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.machinery import PathFinder
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

from pytest_judgesense.files.opening import read_bytes

_SOURCES: Final = "src"


def code_folders(project: Path) -> tuple[str, ...]:
    """Where a project keeps its modules, as on Python's path: its folder and, if any, its ``src``.

    Empty where there is no such folder, as on another machine.
    """
    folder = project.resolve()
    return tuple(str(place) for place in (folder, folder / _SOURCES) if place.is_dir())


def file_in(folders: Iterable[str], module: str) -> Path | None:
    """The file that would be run if ``module`` were imported from ``folders``; nothing is imported.

    ``None`` if there is none, as of a package without ``__init__.py``.
    """
    path, file = list(folders), None
    for part in module.split("."):
        file, path = _found_in(path, part)
    return file


def files_in(folders: Sequence[str], module: str) -> dict[str, Path]:
    """The files of a module and of the packages around it, by name, each as `file_in` has it."""
    files = ((name, file_in(folders, name)) for name in _with_packages(module))
    return {name: file for name, file in files if file is not None}


def _found_in(path: Iterable[str], name: str) -> tuple[Path | None, list[str]]:
    """The file of a module or package in ``path``, and where modules within it are looked for."""
    portions = []
    for folder in path:
        # By its last name alone, for the packages around it need not be imported.
        spec = PathFinder.find_spec(name, [folder]) if name else None
        if spec is not None and spec.origin is not None:
            return Path(spec.origin), list(spec.submodule_search_locations or ())
        if spec is not None:
            portions.append(os.path.join(folder, name))  # noqa: PTH118 - an entry of a path
    return None, portions


def imported_file(module: str) -> Path | None:
    """The file that ``module`` was imported from; ``None`` if it was not, or has none."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return Path(file) if isinstance(file, str) else None


def modules_of_project(module: str, project: Path, file: Path | None = None) -> dict[str, Path]:
    """The modules of a project that ``module`` needs, by name, with the files that hold them.

    These are itself, what it imports anywhere in its code, what that imports, and so on; each with
    the packages around it. They are read and not imported.

    Args:
        module: its name.
        project: the folder of the project.
        file: that of the module, where the project's path does not lead to it, as to a
            ``conftest.py`` in a folder of tests. It is not among the modules then.
    """
    folders = code_folders(project)
    modules: dict[str, Path] = {}
    left = list(_imports_of(file, module) if file else _with_packages(module))
    looked_for: set[str] = set()
    while left:
        name = left.pop()
        if name in looked_for:
            continue
        looked_for.add(name)
        if (place := file_in(folders, name)) is not None:
            modules[name] = place
            left += _imports_of(place, name)
    return modules


def _with_packages(module: str) -> Iterator[str]:
    """The packages around a module, the outermost first, and the module."""
    return accumulate(module.split("."), "{}.{}".format)


def _imports_of(file: Path, module: str) -> tuple[str, ...]:
    """The names that a file imports, whatever is behind them: ``from a import b`` may mean ``a.b``.

    A file that is no source, or none that can be read, imports nothing: its own import says why.
    """
    if file.suffix != ".py":
        return ()
    package = module if file.stem == "__init__" else module.rpartition(".")[0]
    try:
        status = file.stat()
        return _parsed_imports(file, package, (status.st_mtime_ns, status.st_size))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ()


@lru_cache(maxsize=4096)
def _parsed_imports(file: Path, package: str, _stamp: tuple[int, int]) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for node in ast.walk(ast.parse(read_bytes(file))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names |= dict.fromkeys(_with_packages(alias.name))
        elif isinstance(node, ast.ImportFrom):
            origin = _origin_of(node, package)
            names |= dict.fromkeys(_with_packages(origin))
            names |= dict.fromkeys(f"{origin}.{alias.name}" for alias in node.names)
    return tuple(names)


def _origin_of(node: ast.ImportFrom, package: str) -> str:
    """The module that names are imported from, by its whole name."""
    if not node.level:
        return node.module or ""
    parents = package.split(".")
    above = parents[: len(parents) - node.level + 1]
    return ".".join([*above, node.module] if node.module else above)


class OtherCopy(NamedTuple):
    """A module that was imported from another file than the one that is meant."""

    module: str
    imported: Path
    meant: Path


def other_copy(modules: Mapping[str, Path]) -> OtherCopy | None:
    """The first of ``modules`` that is imported from another file than its own, if any.

    A package without ``__init__.py`` is hidden by one of its name that has it. The file that is
    meant is then that of the module which cannot be reached.
    """
    for name, meant in modules.items():
        for outer in _with_packages(name):
            imported = imported_file(outer)
            own = modules.get(outer, meant)
            if imported is not None and not _is_same(imported, own):
                return OtherCopy(outer, imported, own)
    return None


def is_of_project(file: Path, project: Path) -> bool:
    """Whether a file lies in a project, and not in an environment within it."""
    resolved = file.resolve()
    installed = {"site-packages", "dist-packages"} & {*resolved.parts}
    return resolved.is_relative_to(project.resolve()) and not installed


def outside_of(project: Path) -> list[str]:
    """Python's path without the folders of a project's modules."""
    folders = code_folders(project)
    return [entry for entry in sys.path if str(Path(entry).resolve()) not in folders]


def _is_same(file: Path, other: Path) -> bool:
    """Whether two paths lead to one file, by links too, as of an editable installation."""
    with suppress(OSError):
        return file.samefile(other)
    return file == other


_lock: Final = Lock()
_uses: Final = Counter[tuple[str, ...]]()


@contextmanager
def in_front(folders: Sequence[str]) -> Iterator[None]:
    """Let ``folders`` stand in front of Python's path for this block.

    Blocks may overlap, as the calls of a judge do: the folders leave with the last one. The list is
    exchanged and not changed, for another thread may be reading it.
    """
    key = tuple(folders)
    with _lock:
        _uses[key] += 1
        if _uses[key] == 1:
            sys.path = [*key, *sys.path]
    try:
        yield
    finally:
        with _lock:
            _uses[key] -= 1
            if not _uses[key]:
                del _uses[key]
                path = list(sys.path)
                for folder in key:
                    with suppress(ValueError):  # the judge may have set the path anew
                        path.remove(folder)
                sys.path = path
