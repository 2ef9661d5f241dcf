"""The columns of estimates: one table, which every rendering of a datasheet goes over.

A column that is added to `COLUMNS` stands on the terminal, in Markdown, on the page, in LaTeX and
in a notebook, and its values in CSV and in data frames. What stands around the numbers (the suite,
the measure and its condition, checks, notes) is for each rendering to set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.text import numbers
from pytest_judgesense.text.layout import WIDTH, TextColumn

# Unrounded; `None` is what is missing.
_Values: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class EstimateColumn:
    """A column of the table of estimates.

    Attributes:
        head: what it is called where it is shown.
        layout: how it is aligned, how wide it is on a terminal, and the width below which a
            terminal drops it; ``None`` if only rows of values have it, as CSV does.
        text: from an estimate to what its cell shows; empty for nothing.
        names: its columns in rows of values.
        values: from an estimate to their values.
        is_main: whether it is the number itself, which a page sets off and rows begin with.
    """

    head: str
    layout: TextColumn | None = None
    text: Callable[[Estimate], str] = lambda _: ""
    names: tuple[str, ...] = ()
    values: Callable[[Estimate], _Values] = lambda _: ()
    is_main: bool = False


def _counts(estimate: Estimate) -> _Values:
    return estimate.count, estimate.n, estimate.unit


def _clustered(estimate: Estimate) -> _Values:
    if (ends := estimate.clustered) is None:
        return (None,) * 4
    return ends.lower, ends.upper, ends.method, ends.clusters


def _new_wordings(estimate: Estimate) -> _Values:
    if (ends := estimate.new_wordings) is None:
        return (None,) * 3
    return ends.lower, ends.upper, ends.wordings


def _of_paper(estimate: Estimate) -> _Values:
    if (ends := estimate.interval) is None:
        return (None,) * 3
    return ends.lower, ends.upper, ends.method


def _notes(estimate: Estimate) -> _Values:
    missing = estimate.missing
    return (
        *(missing.unparsed, missing.failed, missing.lower_bound, missing.upper_bound),
        *("; ".join(estimate.flags), estimate.unavailable),
    )


COUNTS: Final = EstimateColumn(
    "count/n",
    TextColumn(9, is_right=True),
    numbers.counts,
    ("count", "n", "unit"),
    _counts,
)
VALUE: Final = EstimateColumn(
    "value",
    TextColumn(8, is_right=True),
    numbers.value,
    ("value",),
    lambda estimate: (estimate.value,),
    is_main=True,
)
# The interval that gates: it comes before that of the paper, and no terminal drops it.
CLUSTERED: Final = EstimateColumn(
    "95% clustered",
    TextColumn(15, gap=2),
    lambda estimate: numbers.interval(estimate.clustered, estimate.flags),
    ("lower", "upper", "method", "clusters"),
    _clustered,
)
OF_PAPER: Final = EstimateColumn(
    "95% as in the paper",
    TextColumn(19, gap=1, narrowest=WIDTH),
    numbers.interval_of_paper,
    ("paper_lower", "paper_upper", "paper_method"),
    _of_paper,
)
COLUMNS: tuple[EstimateColumn, ...] = (
    COUNTS,
    VALUE,
    CLUSTERED,
    EstimateColumn(
        "new wordings",
        names=("new_wordings_lower", "new_wordings_upper", "wordings"),
        values=_new_wordings,
    ),
    OF_PAPER,
    EstimateColumn(
        "notes",
        names=("unparsed", "failed", "worst_low", "worst_high", "flags", "unavailable"),
        values=_notes,
    ),
)


def shown_columns() -> tuple[EstimateColumn, ...]:
    """Those that renderings show, in order."""
    return tuple(column for column in COLUMNS if column.layout is not None)


def shown_heads() -> tuple[str, ...]:
    """What they are called."""
    return tuple(column.head for column in shown_columns())


def shown_texts(estimate: Estimate) -> tuple[str, ...]:
    """What they show of an estimate."""
    return tuple(column.text(estimate) for column in shown_columns())


def terminal_heads() -> list[tuple[TextColumn, str]]:
    """The heads as cells of a line of a terminal."""
    return [(column.layout, column.head) for column in COLUMNS if column.layout]


def terminal_cells(estimate: Estimate) -> list[tuple[TextColumn, str]]:
    """The cells of an estimate in a line of a terminal."""
    return [(column.layout, column.text(estimate)) for column in COLUMNS if column.layout]


def row_columns() -> list[EstimateColumn]:
    """Those that rows of values have, the number itself first."""
    return sorted(
        (column for column in COLUMNS if column.names), key=lambda column: not column.is_main
    )
