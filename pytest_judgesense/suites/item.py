"""The stimulus as a value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pytest_judgesense.errors import told_apart
from pytest_judgesense.trial import LABEL, Condition, Order, People, majority

ITEM_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_LONGEST: Final = 60


def item_id(name: str) -> str:
    """``name`` as ids of items are, with a digest where characters were lost."""
    if ITEM_ID.fullmatch(name):
        return name
    clean = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:_LONGEST] or "item"
    return told_apart(clean, name)


@dataclass(frozen=True, slots=True)
class Item:
    """One stimulus.

    Attributes:
        id: short name, part of every trial id; it never reaches a judge.
        cluster: the independent unit that it belongs to.
        fields: the texts for the template's placeholders.
        contents: the two candidates of a pairwise item in the item's own order, otherwise empty.
        label: the correct label, or the better content ``1``, ``2``; ``None`` if there is none.
        condition: ``distance``, ``subset`` and other factors that the design varies over items.
        shared_with: name of a suite that asks the same item the same prompt, as with templates.
        inverted: templates whose labels mean the opposite only on this item, if items have their
            own prompts.
        asked_in: the only templates that ask about this item; empty for all.
        times: how often it is asked for each replicate of the design.
        people: what people said of it, the ``stratum`` that it was drawn from, and whether it was
            ``picked`` to be labelled, or ``skipped``; see `Trial`.
    """

    id: str
    cluster: str
    fields: Mapping[str, str]
    contents: tuple[str, ...] = ()
    label: str | None = None
    condition: Condition = field(default_factory=dict)
    shared_with: str | None = None
    inverted: tuple[str, ...] = ()
    asked_in: tuple[str, ...] = ()
    times: int = 1
    people: People = field(default_factory=dict)
    stratum: str = ""
    picked: bool = False
    skipped: bool = False

    @property
    def right(self) -> str | None:
        """The label, or that of most people where none is stated."""
        if self.label is not None or LABEL not in self.people:
            return self.label
        return majority(self.people[LABEL].values())

    def is_asked_in(self, template: str) -> bool:
        """Whether the template of this id asks about it."""
        return not self.asked_in or template in self.asked_in

    def texts(self, order: Order, content: str | None = None) -> dict[str, str]:
        """The values of the placeholders; ``order`` ``ab`` shows content 1 in slot A.

        ``content`` is shown alone, ``1`` or ``2``, as ``answer``.
        """
        if not self.contents:
            return dict(self.fields)
        if content is not None:
            return {**self.fields, "answer": self.contents[content == "2"]}
        first, second = self.contents if order == "ab" else self.contents[::-1]
        return {**self.fields, "a": first, "b": second}
