"""The files of a project that hold the code of a judge, and what each of them says.

Read without importing anything: a replay needs neither the judge's packages nor its model. A module
counts as its syntax tree, so comments, blank lines and the layout of its code change nothing; texts
do, docstrings among them, for some clients send those. Any other file counts as its text.

The code of a judge is its own file and the modules of the project that it imports, wherever in
their code; what is installed in an environment, and this package, are not of the project.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from pytest_judgesense.files.opening import read_bytes

_MODULE: Final = ".py"
_PACKAGE: Final = "__init__.py"
# Names of folders, and the file that says that its folder is an environment.
_INSTALLED: Final = frozenset(("site-packages", "dist-packages", "node_modules", "__pycache__"))
_ENVIRONMENT: Final = "pyvenv.cfg"
# How files of secrets are called: not even their digest is kept.
_OF_SECRETS: Final = ".env"
_OURS: Final = Path(__file__).resolve().parents[1]
# What stands for the digest of a file that is not there.
ABSENT: Final = "absent"
# Hexadecimal digits of a digest.
_DIGITS: Final = 16
# A tree takes a hundred times the memory of its source.
_LONGEST_SOURCE: Final = 4 * 2**20
_WITH_DOCSTRING: Final = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# What a parser says of the place, the layout or the comments of a node, by its version.
_NO_CODE: Final = frozenset(("ctx", "kind", "type_comment", "type_ignores"))


class Module(NamedTuple):
    """A module of the project.

    Attributes:
        path: its file.
        root: the folder that its name begins in.
    """

    path: Path
    root: Path


class _Content(NamedTuple):
    """What a file holds: its digest and, of a module, the names that it imports."""

    digest: str
    imports: tuple[tuple[int, str], ...] = ()


def is_of_project(path: Path, project: Path) -> bool:
    """Whether a file lies below the folder of the project, in no environment, and may be read."""
    if not path.is_relative_to(project) or path.is_relative_to(_OURS):
        return False
    folders = path.relative_to(project).parts[:-1]
    if path.name.startswith(_OF_SECRETS) or not _INSTALLED.isdisjoint(folders):
        return False
    return not _in_environment(path.parent, project)


@lru_cache(maxsize=4096)  # many files stand in one folder
def _in_environment(folder: Path, project: Path) -> bool:
    if folder == project:
        return False
    return (folder / _ENVIRONMENT).exists() or _in_environment(folder.parent, project)


def digest_of_file(path: Path) -> str:
    """The digest of what a file says; `ABSENT` if it is not there, empty if it cannot be read."""
    return _content(path).digest


def module_named(name: str, roots: Iterable[Path]) -> Module | None:
    """The module ``name`` in the first of the folders that has it; ``None`` if none has."""
    for root in roots:
        if (path := _file_at(root.joinpath(*name.split(".")))) is not None:
            return Module(path, root)
    return None


def module_at(path: Path) -> Module:
    """The module of a file: its name begins above the last folder that is a package."""
    root = path.parent
    while (root / _PACKAGE).is_file() and root != root.parent:
        root = root.parent
    return Module(path, root)


def modules_imported(
    first: Iterable[Module], project: Path, roots: Sequence[Path]
) -> dict[Path, Module]:
    """The ``first`` modules, and those of the project that they import, by path.

    A name is looked for in the root of the module that imports it, then in ``roots``.
    """
    modules: dict[Path, Module] = {}
    pending = list(first)
    while pending:
        module = pending.pop()
        if module.path in modules or not is_of_project(module.path, project):
            continue
        modules[module.path] = module
        pending += _packages_of(module)
        for level, name in _content(module.path).imports:
            pending += _named_in(module, level, name, roots)
    return modules


def _packages_of(module: Module) -> Iterator[Module]:
    """The packages that are imported before a module of theirs is."""
    folder = module.path.parent
    while folder != module.root and folder.is_relative_to(module.root):
        if (package := folder / _PACKAGE).is_file():
            yield Module(package, module.root)
        folder = folder.parent


def _named_in(module: Module, level: int, name: str, roots: Sequence[Path]) -> Iterator[Module]:
    """The modules that a name means, of which each but the last is a package."""
    if level:
        folder = module.path.parent
        for _ in range(level - 1):
            folder = folder.parent
        path = _file_at(folder.joinpath(*filter(None, name.split("."))))
        if path is not None:
            yield Module(path, module.root)
        return
    found = module_named(name, (module.root, *roots))
    if found is not None:
        yield found


def _file_at(place: Path) -> Path | None:
    """The file of the package or the module at a path without suffix."""
    for path in (place / _PACKAGE, place.with_name(place.name + _MODULE)):
        if path.is_file():
            return path.resolve()
    return None


def _content(path: Path) -> _Content:
    try:
        state = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return _Content(ABSENT)
    except (OSError, ValueError):
        return _Content("")
    return _content_of(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4096)
def _content_of(path: Path, _moment: int, _size: int) -> _Content:
    """What a file holds, read once while it is as old and as long."""
    try:
        data = read_bytes(path)
    except OSError:
        return _Content("")
    if path.suffix == _MODULE and len(data) <= _LONGEST_SOURCE:
        try:
            tree = ast.parse(data)
            text = "".join(_written(tree)).encode("utf-8", "backslashreplace")
            return _Content(_digest(text), tuple(dict.fromkeys(_imports(tree))))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass  # no code of this Python: its text counts
    return _Content(_digest(data.replace(b"\r\n", b"\n")))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_DIGITS]


def _imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The names that a module imports, each with the number of dots before it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from ((0, name) for name in _with_packages(alias.name))
        elif isinstance(node, ast.ImportFrom):
            of = node.module or ""
            yield from ((node.level, name) for name in _with_packages(of))
            for alias in node.names:  # a module of a package, perhaps
                yield node.level, f"{of}.{alias.name}".lstrip(".")


def _with_packages(name: str) -> Iterator[str]:
    """A dotted name, and those of the packages around it."""
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        yield ".".join(parts[:length])


def _written(node: Any) -> Iterator[str]:
    """A syntax tree as text, the same in every version of Python that can parse it.

    `ast.dump` is not: it shows fields that are empty in one version and not in another.
    """
    if isinstance(node, ast.AST):
        yield f"({type(node).__name__}"
        for name, value in ast.iter_fields(node):
            if name not in _NO_CODE and value is not None and value != []:
                yield f" {name}="
                yield from _written(_without_layout(node, name, value))
        yield ")"
    elif isinstance(node, list):
        yield "["
        for part in node:
            yield from _written(part)
            yield ","
        yield "]"
    elif isinstance(node, int) and not isinstance(node, bool):
        yield hex(node)  # a long number has no decimal form
    else:
        yield repr(node)


def _without_layout(node: ast.AST, field: str, value: Any) -> Any:
    """The value of a field; of the text of a docstring without its indentation."""
    if field != "body" or not isinstance(value, list) or not isinstance(node, _WITH_DOCSTRING):
        return value
    first = value[0]
    if not (isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)):
        return value
    text = first.value.value
    if not isinstance(text, str):
        return value
    lines = (line.rstrip() for line in inspect.cleandoc(text).splitlines())
    return [ast.Expr(ast.Constant("\n".join(lines).strip())), *value[1:]]
