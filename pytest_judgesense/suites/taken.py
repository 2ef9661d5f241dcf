"""Which fields of its items a suite shows: an item is known by these, and by its contents.

They are those that a template names, and those that a function may take: by the parameters that it
has in its file, or by the ``arguments`` of its judge's table. A column that is taken by nobody
changes no item. Nothing is run: a signature is read as syntax. Of a function that is declared in
Python alone nothing is known.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.files import project_file, read_text
from pytest_judgesense.limits import toml_value
from pytest_judgesense.suites.builtin import is_built_in
from pytest_judgesense.suites.prompt_template import placeholders
from pytest_judgesense.suites.schema import SuiteForm

_FUNCTION: Final = "callable"


def fields_taken(form: SuiteForm, path: Path) -> frozenset[str]:
    """The names of the fields that are shown of an item of the suite file at ``path``.

    Those of all its templates, whichever a preset chooses, so that an item has one id.
    """
    shown = [placeholders(template.text) for template in form.templates]
    shown += [placeholders(template.system) for template in form.templates if template.system]
    of_functions = () if is_built_in(path) else _fields_of_functions(project_file(path))
    return frozenset().union(*shown, of_functions)


def _fields_of_functions(project: Path | None) -> Iterator[str]:
    """What the functions take that a project declares as judges."""
    if project is None:
        return
    with suppress(OSError, ValueError):  # an error wherever judges are declared
        for judge in _tables(toml_value(read_text(project)), "tool", "judgesense", "judges"):
            if judge.get("provider") == _FUNCTION:
                arguments = judge.get("arguments")
                yield from arguments.values() if isinstance(arguments, dict) else ()
                yield from _parameters(project.parent, str(judge.get("model")))


def _tables(table: Any, *names: str) -> list[Mapping[str, Any]]:
    """The tables in the table at a place of another; none where there is no such place."""
    for name in names:
        table = table.get(name) if isinstance(table, dict) else None
    tables = table.values() if isinstance(table, dict) else ()
    return [inner for inner in tables if isinstance(inner, dict)]


def files_of_module(folder: Path, module: str) -> list[Path]:
    """The files that a project in ``folder`` may have for a module, whether there are any."""
    parts = module.split(".")
    places = [root.joinpath(*parts) for root in (folder, folder / "src")]
    return [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")]


def _parameters(folder: Path, target: str) -> Iterator[str]:
    """Names of the parameters of ``module:function``, if a file of the project defines it."""
    module, _, name = target.partition(":")
    file = next((file for file in files_of_module(folder, module) if file.is_file()), None)
    if file is None or not name:
        return
    with suppress(OSError, ValueError, SyntaxError, RecursionError):
        body: list[ast.stmt] = ast.parse(read_text(file)).body
        *owners, function = name.split(".")
        for owner in owners:
            classes = (node for node in body if isinstance(node, ast.ClassDef))
            body = next((node.body for node in classes if node.name == owner), [])
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == function:
                taken = node.args
                parameters = (*taken.posonlyargs, *taken.args, *taken.kwonlyargs)
                yield from (parameter.arg for parameter in parameters)
