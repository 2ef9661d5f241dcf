"""Files that belong together but not below each other: what people said, or what was judged.

Rows of several files are read below each other where all hold what a judge said. A file without a
judge, whose rows some columns tell that the other file has too, is joined to it by these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from glob import has_magic
from typing import Final

from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.reshaping import telling_columns
from pytest_judgesense.files.rows import field_of
from pytest_judgesense.files.tables import RowTable, read_rows
from pytest_judgesense.questions.import_.column_facts import ColumnFacts, columns_of
from pytest_judgesense.questions.import_.criteria import criterion_of
from pytest_judgesense.questions.import_.finder import is_of_people, weight_of

# More files are a judge each, or runs.
_MOST_FILES: Final = 4
_SURE: Final = 2
_SHORT: Final = ("words", "names", "numbers")


def as_joined(given: ImportOptions) -> tuple[ImportOptions, tuple[str, ...]]:
    """The options with the files joined that hold nothing of a judge, and a sentence on each.

    Args:
        given: what the user says; its first file holds what a judge said, or another one does.
    """
    paths = (given.path, *given.more)
    are_files = all(path.is_file() and not has_magic(str(path)) for path in paths)
    if not 1 < len(paths) <= _MOST_FILES or given.join or not are_files:
        return given, ()
    tables = {path: read_rows(path) for path in paths}
    judged = [path for path, table in tables.items() if _has_judge(table)]
    others = [path for path in paths if path not in judged]
    if not judged or not others:
        return given, ()
    joins = []
    for path in others:
        keys = _keys(tables[judged[0]], tables[path])
        if not keys:
            return given, ()
        joins.append((path, ",".join(keys)))
    notes = [f"{path} holds nothing of a judge: it is joined by {column}" for path, column in joins]
    joined = replace(given, path=judged[0], more=tuple(judged[1:]), join=tuple(joins))
    return joined, tuple(notes)


def _has_judge(table: RowTable) -> bool:
    """Whether a column holds what a judge said, as its name says."""
    columns = columns_of(table).values()
    return any(map(_is_judges, columns))


def _is_judges(facts: ColumnFacts) -> bool:
    if is_of_people(facts):
        return False
    is_graded = bool(criterion_of(facts)) and facts.kind == "numbers"
    return weight_of(facts) >= _SURE or is_graded or _holds_games(facts)


def _holds_games(facts: ColumnFacts) -> bool:
    """Whether a column holds lists of objects, as of games: what a judge said may be in them."""
    return facts.kind == "lists" and any(
        isinstance(member, dict) for cell in facts.cells[:1] for member in cell or ()
    )


def _keys(table: RowTable, other: RowTable) -> Sequence[str]:
    """The columns of both that tell the rows of ``other``, if some rows are in both; else none."""
    columns = columns_of(other)
    shared = [
        name for name, facts in columns.items() if facts.kind in _SHORT and name in table.columns
    ]
    keys = telling_columns(other, shared)
    told = {tuple(str(field_of(row.value, name)) for name in keys) for row in other}
    is_met = any(tuple(str(field_of(row.value, name)) for name in keys) in told for row in table)
    return keys if is_met else ()
