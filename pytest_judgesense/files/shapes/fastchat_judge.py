"""The judge of FastChat's files: a list of a model and the name of its prompt.

The model is the judge, and the prompt is the wording: MT-bench has one for each of its two turns,
and others where a reference answer is shown.
"""

from __future__ import annotations

import re
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
# How a table of pandas writes such a list, or a pair, in a cell of CSV.
_WRITTEN: Final = re.compile(r"""[(\[]\s*(['"])(.+?)\1\s*,\s*(['"])(.+?)\3\s*[)\]]""")


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
    cell = _cell(row)
    written = _WRITTEN.fullmatch(cell.strip()) if isinstance(cell, str) else None
    return [written[2], written[4]] if written else None
