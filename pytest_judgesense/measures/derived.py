"""Cells that are made of another: columns that measures count by, and judgments made when read.

Of half a million replies with several grades each, a judgment for every grade would take gigabytes,
and measures count columns. So a derived cell has its columns from the beginning, and makes a
judgment when somebody looks at it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import overload

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.measures.cell import Cell, Column, column_key
from pytest_judgesense.trial import Design, Judgment


class _Judgments(Sequence[Judgment]):
    """Judgments that are made, by their positions, when they are looked at."""

    def __init__(self, length: int, make: Callable[[int], Judgment]) -> None:
        self._positions, self._make = range(length), make

    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, position: int) -> Judgment: ...
    @overload
    def __getitem__(self, position: slice) -> list[Judgment]: ...
    def __getitem__(self, position: int | slice) -> Judgment | list[Judgment]:
        if isinstance(position, slice):
            return list(map(self._make, self._positions[position]))
        return self._make(self._positions[position])


def derived_cell(
    cell: Cell,
    design: Design,
    make: Callable[[int], Judgment],
    *,
    items: NDArray[np.int32],
    outcomes: NDArray[np.int8],
    columns: Mapping[str, Column],
) -> Cell:
    """A cell of the judge and the suite of ``cell`` with other judgments.

    Args:
        cell: what it is made of.
        design: that of its judgments.
        make: from the position of a judgment to the judgment; it agrees with the columns.
        items: see `Cell.items`; one for each judgment.
        outcomes: see `Cell.outcomes`.
        columns: what `Cell.coded` gives, by name; others are read off the judgments.
    """
    derived = replace(cell, design=design, judgments=_Judgments(outcomes.size, make))
    derived.once("items", lambda: items)
    derived.once("outcomes", lambda: outcomes)
    for name, column in columns.items():
        derived.once(column_key(name), lambda column=column: column)  # type: ignore[misc]
    return derived


def in_order_of_appearance(codes: NDArray[np.int32], values: Sequence[str]) -> Column:
    """A column of codes that count what occurs from its first place on, as `Cell.coded` does."""
    used, first = np.unique(codes, return_index=True)
    used = used[np.argsort(first)]
    used = used[used >= 0]
    place = np.full(len(values) + 1, -1, dtype=np.int32)
    place[used] = np.arange(used.size)
    return place[codes], [values[code] for code in used.tolist()]
