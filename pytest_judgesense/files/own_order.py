"""Rows of two candidates in the item's own order, where they hold them as a judge was shown them.

Slots of a row in order ``ba`` are the other candidates: its two texts change places, and a label
that names a slot names the other one. Whether columns hold slots or contents is stated, or there is
nothing to state; it is never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.files.candidate_texts import CONTENT, SLOT
from pytest_judgesense.files.rows import Row, field_of
from pytest_judgesense.files.tables import RowTable

_SWAPPED: Final = "ba"
ORDERS: Final = ("ab", _SWAPPED)
_OTHER: Final = {"a": "b", "b": "a", "1": "2", "2": "1"}


@dataclass(frozen=True, slots=True)
class CandidateColumns:
    """The columns of rows about two candidates.

    Attributes:
        order: that of the order in which a row shows them, ``ab`` or ``ba``.
        texts: by the name that ``--names`` takes, the columns of both texts; empty without any.
        label: those of labels, by the same sort of name; empty without one.
        words: what words in it mean: ``1`` or ``A`` for one candidate, ``2`` or ``B`` for another.
    """

    order: str
    texts: Mapping[str, tuple[str, str]]
    label: Mapping[str, Sequence[str]]
    words: Mapping[str, str]

    @property
    def fields(self) -> list[str]:
        """What ``--names`` may be about."""
        return [*self.texts, *self.label]


def in_own_order(
    table: RowTable, columns: CandidateColumns, names: Mapping[str, str]
) -> tuple[RowTable, bool]:
    """The rows in the items' own order, and whether any of them has changed.

    Args:
        table: the rows.
        columns: those of two candidates.
        names: by a field of ``columns`` whether it names a ``slot`` or a ``content``.

    Raises:
        UsageError: a name is about nothing, or rows in order ``ba`` do not say what they hold.
    """
    _refuse_names(columns, names)
    orders = {_order(row, columns.order) for row in table}
    if _SWAPPED not in orders:
        return table, False
    if open_fields := [field for field in columns.fields if field not in names]:
        options = " ".join(f"--names {field}={SLOT}" for field in open_fields)
        raise UsageError(
            f"candidates changed places in rows of {columns.order} {_SWAPPED!r}, and it is open "
            f"what {listed(open_fields)} names there",
            found=f"orders {listed(sorted(orders))}",
            expected=f"{SLOT}, as the judge saw it, or {CONTENT}, the same one in both orders",
            remedy=f"say which: {options}; or {CONTENT}",
        )
    if SLOT not in names.values():
        return table, False
    rows = [
        _turned(row, columns, names) if _order(row, columns.order) == _SWAPPED else row
        for row in table
    ]
    return replace(table, rows=tuple(rows)), True


def _order(row: Row, column: str) -> str:
    order = field_of(row.value, column)
    if order not in ORDERS:
        raise row.wrong(column, f"{ORDERS[0]} or {ORDERS[1]}")
    return str(order)


def _refuse_names(columns: CandidateColumns, names: Mapping[str, str]) -> None:
    for field, naming in names.items():
        if field not in columns.fields:
            raise UsageError(
                f"--names {field}={naming} is not used: no candidate has {field!r}",
                found=listed(columns.fields) or "no columns of two candidates",
                expected="a text of two candidates, or their label",
            )


def _turned(row: Row, columns: CandidateColumns, names: Mapping[str, str]) -> Row:
    """A row in order ``ba`` with its slots as those of order ``ab``."""
    cells: dict[str, Any] = {}
    for field, (first, second) in columns.texts.items():
        if names[field] == SLOT:
            cells |= {first: field_of(row.value, second), second: field_of(row.value, first)}
    for field, labels in columns.label.items():
        for column in labels if names[field] == SLOT else ():
            cells[column] = other_candidate(field_of(row.value, column), columns.words)
    return replace(row, value={**row.value, **cells})


def other_candidate(word: Any, words: Mapping[str, str]) -> Any:
    """The word for the other one of two candidates; ties and all other words stay as they are.

    ``words`` say what they mean; ``A``, ``B``, ``1`` and ``2`` mean themselves.
    """
    text = str(word).strip()
    meanings = {said.casefold(): meant.casefold() for said, meant in words.items()}
    meant = meanings.get(text.casefold(), text.casefold())
    if meant not in _OTHER:
        return word
    other = _OTHER[meant]
    said = next((said for said, meaning in words.items() if meaning.casefold() == other), other)
    return said.upper() if text.isupper() and said == other else said
