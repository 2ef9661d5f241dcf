"""Settings of a shape, each with what shows it, in few words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pytest_judgesense.files.proposals import Setting, ShownSetting
from pytest_judgesense.files.rows import field_of
from pytest_judgesense.files.tables import RowTable
from pytest_judgesense.trial import as_whole


def column(field: str, name: str, why: str) -> ShownSetting:
    """A field of a judgment is in the column ``name``."""
    return ShownSetting(Setting("map", (field, name)), why)


def columns(table: RowTable, names: Mapping[str, str], why: str) -> tuple[ShownSetting, ...]:
    """By fields of a judgment, the columns that hold them: those that the table has."""
    return tuple(column(field, name, why) for field, name in names.items() if table.has(name))


def words(
    table: RowTable, names: Iterable[str], meanings: Mapping[str, str], why: str
) -> tuple[ShownSetting, ...]:
    """What words of some columns mean here: those that occur; an empty text is nothing."""
    occurring = {word.casefold() for word in words_of(table, names)}
    return tuple(
        ShownSetting(Setting("value", (word, meaning)), why)
        for word, meaning in meanings.items()
        if word.casefold() in occurring
    )


def no_verdicts(
    table: RowTable, names: Iterable[str], verdicts: Iterable[str], why: str
) -> tuple[ShownSetting, ...]:
    """The words of columns that are none of the ``verdicts`` of a tool: they state nothing."""
    stated = {word.casefold() for word in verdicts}
    return tuple(
        ShownSetting(Setting("value", (word, "")), why)
        for word in words_of(table, names)
        if word.casefold() not in stated
    )


def words_of(table: RowTable, names: Iterable[str]) -> dict[str, None]:
    """The different words of columns, in their order, as the table's reader takes them.

    The empty cell of a table of numbers, nan, is none.
    """
    listed = [*names]
    cells = (field_of(row.value, name) for row in table for name in listed)
    texts = (
        str(cell).lower() if isinstance(cell, bool) else str(cell).strip()
        for cell in cells
        if cell is not None and cell is not ...
    )
    return dict.fromkeys(as_whole(text) for text in texts if text and text.casefold() != "nan")


def joined(table: RowTable, names: Iterable[str]) -> str:
    """Those columns that every row fills, with commas between them: what tells an item."""
    return ",".join(
        name
        for name in names
        if all(field_of(row.value, name) not in (None, "", ...) for row in table)
    )


def of_all(field: str, text: str, why: str) -> ShownSetting:
    """What is of all rows: the ``suite``, the ``judge``."""
    return ShownSetting(Setting(field, text), why)


def naming(field: str, names: str, why: str) -> ShownSetting:
    """Whether the words of a field name a ``slot`` or a ``content``."""
    return ShownSetting(Setting("names", (field, names)), why)
