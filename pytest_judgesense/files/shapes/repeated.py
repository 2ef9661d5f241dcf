"""Rows of a judge that were written again: each is another replicate of the same question.

Tools append to their files, so that a run that was repeated, or begun again, stands there twice.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from pytest_judgesense.files.rows import Row, field_of
from pytest_judgesense.files.tables import RowTable

_REPLICATE = "replicate"


def numbered(table: RowTable, columns: Sequence[str]) -> RowTable:
    """A table with a column ``replicate``, where rows have the same values in these columns.

    A table that has such a column stays as it is, and so does one without repeated rows.
    """
    if table.has(_REPLICATE):
        return table
    times: Counter[str] = Counter()
    numbers = []
    for row in table:
        cells = [field_of(row.value, column) for column in columns]
        key = json.dumps([None if cell is ... else cell for cell in cells], default=str)
        times[key] += 1
        numbers.append(times[key])
    if max(numbers, default=1) == 1:
        return table
    repeated = sum(number > 1 for number in numbers)
    rows = [
        replace(row, value={**row.value, _REPLICATE: number})
        for row, number in zip(table, numbers, strict=True)
    ]
    note = f"{repeated} rows ask again what a row before them asked: they are numbered replicates"
    return with_rows(table, rows, note)


def with_rows(table: RowTable, rows: Iterable[Row], *notes: str) -> RowTable:
    """A table with other rows, the columns that these have, and more notes."""
    listed = tuple(rows)
    names = dict.fromkeys(chain.from_iterable(row.value for row in listed))
    return replace(table, rows=listed, columns=tuple(names), notes=(*table.notes, *notes))
