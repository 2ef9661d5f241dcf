"""The judge of FastChat's files: a list of a model and the name of its prompt.

The model is the judge, and the prompt is the wording: MT-bench has one for each of its two turns,
and others where a reference answer is shown.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any, Final

from pytest_judgesense.files.proposals import ShownSetting
from pytest_judgesense.files.rows import Row
from pytest_judgesense.files.shapes.repeated import with_rows
from pytest_judgesense.files.shapes.settings import column
from pytest_judgesense.files.tables import RowTable

FASTCHAT: Final = "lm-sys/FastChat@0e6d3e4beaab66f4d3f93db72541a4abab8af28d"
"""The version of FastChat whose code states the layouts."""
_JUDGE: Final = "judge"
# A longer cell is no list of two names, as a table of pandas writes it in CSV.
_LONGEST: Final = 500


def judge_columns(table: RowTable) -> tuple[ShownSetting, ...]:
    """The columns of the judge and of its prompt; one name, if that is all there is."""
    if table.has(f"{_JUDGE}.0"):
        return (
            column("judge", f"{_JUDGE}.0", "judge is a list: the model"),
            column("template", f"{_JUDGE}.1", "judge is a list: the name of its prompt"),
        )
    if table.has(_JUDGE):
        return (column("judge", _JUDGE, "who judged"),)
    return ()


def with_judge_as_list(table: RowTable) -> RowTable:
    """A table with the judge as a list, where a cell of CSV holds how Python writes it."""
    if not any(map(_as_list, table)):
        return table
    return with_rows(
        table,
        [replace(row, value={**row.value, _JUDGE: _as_list(row) or _cell(row)}) for row in table],
    )


def _cell(row: Row) -> Any:
    return row.value.get(_JUDGE)


def _as_list(row: Row) -> list[str] | None:
    """The two names in a cell that holds how Python writes a list or a pair of them."""
    cell = _cell(row)
    if not isinstance(cell, str) or len(cell) > _LONGEST:
        return None
    try:
        names = ast.literal_eval(cell.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    is_pair = isinstance(names, list | tuple) and len(names) == len(("model", "prompt"))
    return [*names] if is_pair and all(isinstance(name, str) for name in names) else None
