"""Tables of tools that keep each metric in a column of its own: a row for each metric of each row.

Nothing but its place tells such a column from others: what is no column of the tool, and holds
numbers or true and false alone, is a metric.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Final

from pytest_judgesense.errors import listed
from pytest_judgesense.files.rows import Row, name_words
from pytest_judgesense.files.shapes.item_names import name_by_texts
from pytest_judgesense.files.shapes.repeated import numbered, with_rows
from pytest_judgesense.files.tables import RowTable

METRIC: Final = "metric"
SCORE: Final = "metric_score"
ITEM: Final = "sample"
"""The columns of the rows of `long_metrics`."""
# Words of columns that count or time, or hold what people said: no metrics.
_KEPT_ASIDE: Final = frozenset(
    "id ids idx index unnamed level count cost price tokens time timestamp latency seconds ms "
    "duration date version run seed human humans people person expert annotator gold "
    "temperature weight difficulty size length rank".split()
)
_IDS: Final = ("id", "sample_id", "question_id", "test_case_id")
# A question, and what was answered.
_FEWEST_TEXTS: Final = 2
# Fields of a judgment that are of a row, whatever the metric.
_SHARED: Final = ("judge", "cluster", "template", "replicate", "file")
_TRUTHS: Final = ("true", "false")


def metric_columns(
    table: RowTable, others: Collection[str], is_known: Callable[[str], bool]
) -> list[str]:
    """The columns of metrics: numbers, or true and false, in columns that are none of the tool's.

    Where some have names of the tool's metrics, further ones stand right beside these: tools write
    scores together, and what else a table holds may be a number too.

    Args:
        table: as it was read.
        others: columns of the tool that hold what was judged.
        is_known: whether a name is that of one of the tool's metrics.
    """
    graded = [
        name
        for name in table.columns
        if name not in others and _KEPT_ASIDE.isdisjoint(name_words(name)) and _are(table, name)
    ]
    if not any(map(is_known, graded)):
        return graded
    runs = groupby(table.columns, lambda name: name in graded)
    together = (list(names) for are_graded, names in runs if are_graded)
    return [name for names in together if any(map(is_known, names)) for name in names]


def _are(table: RowTable, name: str) -> bool:
    """Whether the cells of a column are numbers, or true and false, and some are there."""
    cells = [cell for row in table if not _is_empty(cell := row.value.get(name))]
    return bool(name and cells) and all(map(_is_grade, cells))


def _is_empty(cell: Any) -> bool:
    """Whether a cell states nothing: so does nan, where a judge failed."""
    return cell is None or str(cell).strip().casefold() in ("", "nan")


def _is_grade(cell: Any) -> bool:
    if isinstance(cell, str) and cell.strip().casefold() in _TRUTHS:
        return True
    try:
        return isinstance(cell, bool | int | float | str) and not math.isinf(float(cell))
    except (ValueError, OverflowError):
        return False


def long_metrics(table: RowTable, metrics: Sequence[str], texts: Sequence[str]) -> RowTable:
    """A row for each metric, in the columns `METRIC`, `SCORE` and `ITEM`.

    Beside them stand the texts, the ids and whatever is called as a field of a judgment that all
    metrics share: a column of labels, say, is not about each of them.

    Args:
        table: as it was read.
        metrics: the columns of metrics.
        texts: the columns that tell what was judged, where no id does, the surest first.
    """
    kept = [name for name in table.columns if name in {*texts, *_IDS, *_SHARED}]
    rows = [
        long_row
        for row, item in zip(table, _item_names(table, texts), strict=True)
        for long_row in _of_row(row, metrics, kept, item)
    ]
    left = [name for name in table.columns if name and name not in {*kept, *metrics}]
    notes = [f"columns that are about no single metric are left out: {listed(left)}"] * bool(left)
    return numbered(with_rows(table, rows, *notes), (ITEM, METRIC))


def _item_names(table: RowTable, texts: Sequence[str]) -> list[str]:
    """What tells the rows: an id, or as few of their texts as do; equal rows have one name."""
    for id_column in _IDS:
        ids = [str(row.value.get(id_column) or "") for row in table]
        if all(ids) and len({*ids}) == len(ids):
            return ids
    names: list[str] = []
    for end in range(min(_FEWEST_TEXTS, len(texts)), len(texts) + 1):
        names = [name_by_texts(*map(row.value.get, texts[:end])) for row in table]
        if len({*names}) == len(names):
            break
    return names


def _of_row(row: Row, metrics: Sequence[str], kept: Sequence[str], item: str) -> Iterator[Row]:
    rest = {name: row.value[name] for name in kept if name in row.value}
    for metric in metrics:
        cells = {ITEM: item, METRIC: metric, SCORE: row.value.get(metric)}
        yield replace(row, where=f"{row.where}, {metric}", value={**rest, **cells})
