"""The groups that items belong to, by fields of theirs such as language or author. Pure.

A group is what the field holds, without blanks around it. An item whose field is empty, or is not
there, belongs to no group of that field.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pytest_judgesense.errors import SuiteError, did_you_mean, listed
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.stimuli import Stimuli

# The field that makes groups where a suite names none and its items have it.
LANGUAGE: Final = "language"


def with_groups(items: tuple[Item, ...], stimuli: Stimuli) -> tuple[Item, ...]:
    """The items with their groups by the fields that ``[stimuli] groups`` names.

    Where it names none, not even an empty list, by their language if they have one.

    Raises:
        SuiteError: no item has a field that is named.
    """
    named = stimuli.form.stimuli.groups
    for field in named or ():
        if not any(_group(item, field) for item in items):
            raise _nowhere(field, items, stimuli)
    fields = (LANGUAGE,) if named is None else named
    return tuple(_with_groups(item, fields) for item in items)


def _with_groups(item: Item, fields: Sequence[str]) -> Item:
    groups = {field: group for field in fields if (group := _group(item, field))}
    return replace(item, groups=groups) if groups else item


def _group(item: Item, field: str) -> str:
    """What the field of an item holds: a text of its line, or a factor that the design varies."""
    stated = item.fields.get(field, item.condition.get(field, ""))
    return str(stated).strip()


def _nowhere(field: str, items: Sequence[Item], stimuli: Stimuli) -> SuiteError:
    names = sorted({name for item in items for name in (*item.fields, *item.condition)})
    meant = did_you_mean(field, names)
    return SuiteError(
        f"suite {stimuli.form.name} has no groups by {field}",
        found=f"groups = {stimuli.form.stimuli.groups}, and no item with a field {field}",
        expected=f"fields that items have: {listed(names)}" + (f"; {meant}" if meant else ""),
        remedy=f'fix groups in [stimuli], or name the column: columns = {{ {field} = "..." }}',
    )
