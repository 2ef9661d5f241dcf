"""What a file of rows is taken for before it is read: settings with their reasons, and questions.

A shape of files that people have, and whatever is told by the columns alone, propose the settings
of `ImportOptions` that a user would otherwise write. What a user says goes before all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from pytest_judgesense.files.rows import Row
from pytest_judgesense.files.tables import RowTable

SettingValue: TypeAlias = str | int | float | tuple[str, ...]


class Setting(NamedTuple):
    """A setting of a field of `ImportOptions`.

    Attributes:
        field: ``map``, ``value``, ``names``, ``lists``, ``grades``, ``judge`` and so on.
        value: what the field holds, or one of what it holds: of ``map`` ``("verdict", "winner")``.
    """

    field: str
    value: SettingValue


class ShownSetting(NamedTuple):
    """A setting that a file itself shows.

    Attributes:
        setting: as an option would give it.
        why: what shows it, in a phrase: ``two values, 0 and 1``.
    """

    setting: Setting
    why: str


class PossibleReading(NamedTuple):
    """One of the readings between which only the owner of a file can decide.

    Attributes:
        settings: those that choose it.
        meaning: what the example row says when it is read so, in a sentence.
    """

    settings: tuple[Setting, ...]
    meaning: str


class OpenQuestion(NamedTuple):
    """What nothing in a file tells.

    Attributes:
        asks: the question, in a sentence.
        example: a row on which its readings differ.
        readings: the two of them.
    """

    asks: str
    example: Row
    readings: tuple[PossibleReading, PossibleReading]

    def is_answered_by(self, settings: Iterable[Setting]) -> bool:
        """Whether somebody said all that one of the readings is about, in these words or others."""
        stated = {_about(setting) for setting in settings}
        return any({*map(_about, reading.settings)} <= stated for reading in self.readings)


def _about(setting: Setting) -> tuple[str, SettingValue]:
    """What a setting is about: of ``map`` the field, of ``value`` the word, whatever is said."""
    value = setting.value
    return setting.field, value[0] if isinstance(value, tuple) and value else ""


class Proposal(NamedTuple):
    """How a file would be read.

    Attributes:
        taken: the settings that it shows.
        questions: what is not known.
        notes: what a reader has to know besides, a sentence each.
        no_judge: why there is nothing of a judge in it, in a phrase (``its labels are people's``);
            empty where a judge speaks.
    """

    taken: tuple[ShownSetting, ...] = ()
    questions: tuple[OpenQuestion, ...] = ()
    notes: tuple[str, ...] = ()
    no_judge: str = ""


def _as_they_are(table: RowTable) -> RowTable:
    return table


def _any_table(_: RowTable) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class FileShape:
    """A form of files that a tool or a benchmark writes, known by few of its columns.

    Attributes:
        name: as ``--format`` takes it.
        title: what writes such files, and of what.
        sources: where the layout is stated: repository, commit and path, or an address.
        columns: those that tell it from others; ``a.b`` is field b of the objects in column a. Some
            row has each of them: older versions lack fields, and records may differ in kind.
        proposes: how the rows are read that ``rows`` gives.
        rows: the rows that are judged, where not all of them are, or where they are nested in a way
            that no option undoes.
        also: what else is true of such tables, where columns of these names are anybody's.
    """

    name: str
    title: str
    sources: tuple[str, ...]
    columns: tuple[str, ...]
    proposes: Callable[[RowTable], Proposal]
    rows: Callable[[RowTable], RowTable] = _as_they_are
    also: Callable[[RowTable], bool] = _any_table

    def matches(self, table: RowTable) -> bool:
        """Whether a table, as it was read, is of this shape."""
        return all(map(table.has, self.columns)) and self.also(table)
