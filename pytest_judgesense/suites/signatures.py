"""Which fields of its items a suite shows: an item is known by these, and by its contents.

They are those that a template names, and those that a function may take: by the parameters that it
has in the project's files, or by the ``arguments`` of its judge's table. A column that is taken by
nobody changes no item. Of a function that is declared in Python alone nothing is known.

What a function takes is read as syntax: nothing is imported and nothing is run. A name is followed
to its definition within the project's files: through ``from impl import judge``, ``import impl``,
``judge = impl.judge`` and ``judge = other``. Whatever cannot be followed so is unknown, which is
not the same as nothing: a call, an object, a definition below an ``if`` or a ``try``, a file
outside the project. Then all fields are taken. Decorators are taken to keep what they decorate, as
`functools.wraps` does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from pytest_judgesense.files.limits import toml_value
from pytest_judgesense.files.opening import project_file, read_text
from pytest_judgesense.suites.builtin import is_built_in
from pytest_judgesense.suites.prompt_template import placeholders
from pytest_judgesense.suites.schema import SuiteForm

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_Names: TypeAlias = tuple[str, ...]
_ALL: Final = "*"


def parameters_of(folder: Path, target: str) -> frozenset[str] | None:
    """Names of the parameters of ``module:function`` of the project in ``folder``.

    ``None`` if they are unknown. ``*args`` and ``**kwargs`` are given nothing.
    """
    search = _Search(folder)
    function = search.function(target)
    if function is None:
        return None
    taken = function.args
    parameters = (*taken.posonlyargs, *taken.args, *taken.kwonlyargs)
    return frozenset(parameter.arg for parameter in parameters)


def files_of_function(folder: Path, target: str) -> list[Path]:
    """The files that may say what ``module:function`` is, whether there are any.

    Those of its module; and where a file is there and leads to another module, those of that.
    """
    search = _Search(folder)
    search.function(target)
    return list(dict.fromkeys(search.files))


def files_of_module(folder: Path, module: str) -> list[Path]:
    """The files that a project in ``folder`` may have for a module, whether there are any."""
    parts = module.split(".")
    places = [root.joinpath(*parts) for root in (folder, folder / "src")]
    return [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")]


class _Module(NamedTuple):
    """A module by its name, and the package in which its relative imports begin."""

    name: _Names
    package: _Names


@dataclass
class _Search:
    """The search for one function.

    Attributes:
        folder: of the project.
        files: those that were looked for.
    """

    folder: Path
    files: list[Path] = field(default_factory=list)
    _seen: set[tuple[_Names, _Names]] = field(default_factory=set)

    def function(self, target: str) -> _Function | None:
        """The definition of ``module:function``; ``None`` if it is unknown."""
        module, _, name = target.partition(":")
        parts, names = (tuple(dotted.split(".")) for dotted in (module, name))
        if not all(part.isidentifier() for part in (*parts, *names)):
            return None
        # The files of others: whatever is wrong with one, it is an error where the judge is run.
        with suppress(OSError, ValueError, SyntaxError, RecursionError):
            return self._of_module(parts, names)
        return None

    def _of_module(self, module: _Names, names: _Names) -> _Function | None:
        """What the names mean, one within the other, in a module."""
        if not names:  # the module itself
            return None
        if (module, names) in self._seen:  # ``from . import impl`` leads here, and into the package
            return self._of_module((*module, names[0]), names[1:])
        self._seen.add((module, names))
        places = files_of_module(self.folder, ".".join(module)) if module else []
        self.files += places
        file = next((place for place in places if place.is_file()), None)
        body = [] if file is None else ast.parse(read_text(file)).body
        is_package = file is None or file.name == "__init__.py"
        return self._of_body(_Module(module, module if is_package else module[:-1]), body, names)

    def _of_body(
        self, module: _Module, body: Sequence[ast.stmt], names: _Names
    ) -> _Function | None:
        """What the names mean after these statements of a module: the last that binds one counts.

        A name that no statement binds may be that of a module in the package.
        """
        first, rest = names[0], names[1:]
        place = _last_binding(body, first)
        if place is None:
            return self._of_module((*module.name, first), rest)
        node = body[place]
        if isinstance(node, ast.Import):
            imported = _imported(node, first)
            return self._of_module(imported, rest)
        if isinstance(node, ast.ImportFrom):
            return self._imported_from(module, node, names)
        if isinstance(node, ast.Assign | ast.AnnAssign):
            other = _assigned(node, first)
            return self._of_body(module, body[:place], (*other, *rest)) if other else None
        return _defined(node, rest)

    def _imported_from(
        self, module: _Module, node: ast.ImportFrom, names: _Names
    ) -> _Function | None:
        """What the names mean after ``from ... import ...``, which binds the first of them."""
        above = node.level - 1
        if above > len(module.package):
            return None
        package = module.package[: len(module.package) - above] if node.level else ()
        within = tuple(node.module.split(".")) if node.module else ()
        alias = next(
            alias for alias in reversed(node.names) if _bound_by(alias) in (_ALL, names[0])
        )
        name = names[0] if alias.name == _ALL else alias.name
        return self._of_module((*package, *within), (name, *names[1:]))


def _last_binding(body: Sequence[ast.stmt], name: str) -> int | None:
    """Where the last of the statements stands that may give a name its meaning."""
    places = reversed(range(len(body)))
    return next((place for place in places if _binds(body[place], name)), None)


def _binds(statement: ast.stmt, name: str) -> bool:
    """Whether a statement, or one within it, may give a name its meaning in a module."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return statement.name == name  # what stands within has a scope of its own
    return any(_is_bound(node, name) for node in ast.walk(statement))


def _is_bound(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.alias):
        return _bound_by(node) in (_ALL, name)
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    return getattr(node, "name", None) == name  # a definition, or what follows an ``as``


def _bound_by(alias: ast.alias) -> str:
    """The name that an import gives: of ``import a.b`` that is ``a``."""
    return alias.asname or alias.name.partition(".")[0]


def _imported(node: ast.Import, name: str) -> _Names:
    """The module that ``name`` means after an import which binds it."""
    alias = next(alias for alias in reversed(node.names) if _bound_by(alias) == name)
    return tuple(alias.name.split(".")) if alias.asname else (name,)


def _assigned(node: ast.Assign | ast.AnnAssign, name: str) -> _Names:
    """The dotted name that is given to ``name``; empty where anything else is."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if not any(isinstance(target, ast.Name) and target.id == name for target in targets):
        return ()
    return _dotted(node.value)


def _dotted(value: ast.expr | None) -> _Names:
    """The parts of ``a.b.c``; empty for any other expression."""
    if isinstance(value, ast.Name):
        return (value.id,)
    if isinstance(value, ast.Attribute) and (owner := _dotted(value.value)):
        return (*owner, value.attr)
    return ()


def _defined(node: ast.stmt, names: _Names) -> _Function | None:
    """What a statement defines: itself, or what the names mean in the body of a class."""
    if isinstance(node, ast.ClassDef) and names:
        place = _last_binding(node.body, names[0])
        return None if place is None else _defined(node.body[place], names[1:])
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not names:
        return node
    return None


_FUNCTION: Final = "callable"


def fields_taken(form: SuiteForm, path: Path) -> frozenset[str] | None:
    """The names of the fields that are shown of an item of the suite file at ``path``.

    Those of all its templates, whichever a preset chooses, so that an item has one id. ``None`` for
    all: some function may take any. To miss one of its fields would be to miss an edit of it.
    """
    taken: frozenset[str] = frozenset()
    for template in form.templates:
        taken = taken.union(placeholders(template.text), placeholders(template.system or ""))
    of_functions = () if is_built_in(path) else _fields_of_functions(project_file(path))
    for fields in of_functions:
        if fields is None:
            return None
        taken |= fields
    return taken


def _fields_of_functions(project: Path | None) -> Iterator[frozenset[str] | None]:
    """What each function takes that a project declares as a judge; ``None`` for all fields."""
    if project is None:
        return
    with suppress(OSError, ValueError):  # an error wherever judges are declared
        for judge in _tables(toml_value(read_text(project)), "tool", "judgesense", "judges"):
            if judge.get("provider") == _FUNCTION:
                arguments = judge.get("arguments")
                yield frozenset(arguments.values() if isinstance(arguments, dict) else ())
                yield parameters_of(project.parent, str(judge.get("model")))


def _tables(table: Any, *names: str) -> list[Mapping[str, Any]]:
    """The tables in the table at a place of another; none where there is no such place."""
    for name in names:
        table = table.get(name) if isinstance(table, dict) else None
    tables = table.values() if isinstance(table, dict) else ()
    return [inner for inner in tables if isinstance(inner, dict)]
