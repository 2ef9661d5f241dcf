"""Which fields of its items a suite shows: an item is known by these, and by its contents.

They are those that a template names, and those that a function may take: by the parameters that it
has in the project's files, or by the ``arguments`` of its judge's table. A column that is taken by
nobody changes no item. Nothing is run: a signature is read as syntax, and where it cannot be read
so, all fields are taken. Of a function that is declared in Python alone nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.files.limits import toml_value
from pytest_judgesense.files.opening import project_file, read_text
from pytest_judgesense.suites.builtin import is_built_in
from pytest_judgesense.suites.prompt_template import placeholders
from pytest_judgesense.suites.schema import SuiteForm
from pytest_judgesense.suites.signatures import parameters_of

_FUNCTION: Final = "callable"


def fields_taken(form: SuiteForm, path: Path) -> frozenset[str] | None:
    """The names of the fields that are shown of an item of the suite file at ``path``.

    Those of all its templates, whichever a preset chooses, so that an item has one id. ``None`` for
    all: some function may take any. To miss one of its fields would be to miss an edit of it.
    """
    shown: frozenset[str] = frozenset()
    for template in form.templates:
        shown = shown.union(placeholders(template.text), placeholders(template.system or ""))
    of_functions = () if is_built_in(path) else _fields_of_functions(project_file(path))
    for fields in of_functions:
        if fields is None:
            return None
        shown |= fields
    return shown


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
