"""The stimulus as a value.

An item is known by its texts. A user's file may state an id; where it states none, the item is
called by the digest of what it shows, so that rows that are inserted, moved or deleted give no
other item another name.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from pytest_judgesense.errors import told_apart
from pytest_judgesense.trial import CONTROL, LABEL, Condition, Order, People, majority

ITEM_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_LONGEST: Final = 60
# Before the digits of the digest, in the id of an item that states none; and how many these are.
_BY_TEXTS: Final = "x-"
_DIGITS: Final = 10


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
        id: short name, part of every trial id; it never reaches a judge. Empty until `named`, of
            an item whose line states none.
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
        groups: by field of ``[stimuli] groups``, the group that it belongs to.
        taken: the fields that templates show or functions take; ``None`` for all.
        swapped: the contents as they read where content 2 is shown first, if a text says in which
            slot it stands; empty for ``contents``.
        place: where it stands in its file, such as ``line 17``, if its line states no id.
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
    groups: Mapping[str, str] = field(default_factory=dict)
    taken: frozenset[str] | None = field(default=None, repr=False)
    swapped: tuple[str, ...] = ()
    place: str = field(default="", repr=False, compare=False)

    @property
    def is_control(self) -> bool:
        """Whether it is asked beside the items of its suite, and no number of these counts it."""
        return CONTROL in self.condition

    @property
    def digest(self) -> str:
        """SHA-256 of its texts, whatever its id: 64 hexadecimal digits; see `digest_by`."""
        return self.digest_by(self.taken)

    def digest_by(self, taken: frozenset[str] | None) -> str:
        """The digest of its contents in their own order, and of those fields that are ``taken``.

        An item of which nothing is taken is known by all of its fields: so are items whose function
        is declared in Python alone.
        """
        fields = {
            name: text for name, text in self.fields.items() if taken is None or name in taken
        }
        if not fields and not self.contents:
            fields = dict(self.fields)
        swapped = {"swapped": self.swapped} if self.swapped else {}
        return _digest({"contents": self.contents, "fields": fields, **swapped})

    @property
    def balanced_order(self) -> Order:
        """The order of a pair that is shown in one alone: that of the digest of its contents.

        Every other item, and every other field, may come or go: the pair stays as it was shown.
        """
        return "ab" if int(_digest(self.contents), base=16) % 2 == 0 else "ba"

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
        contents = self.contents_in(order)
        if content is not None:
            return {**self.fields, "answer": contents[content == "2"]}
        first, second = contents if order == "ab" else contents[::-1]
        return {**self.fields, "a": first, "b": second}

    def contents_in(self, order: Order) -> tuple[str, ...]:
        """The contents in the item's own order, as they read in an order of presentation."""
        return self.swapped if self.swapped and order == "ba" else self.contents


def _digest(value: object) -> str:
    """SHA-256 of canonical JSON: keys in order, no blanks, ASCII alone."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def id_by_texts(fields: Mapping[str, str]) -> str:
    """The id of an item of one content that states none and of which these fields are shown."""
    return f"{_BY_TEXTS}{Item('', '', fields).digest[:_DIGITS]}"


def named(
    items: Iterable[Item], shown: frozenset[str] | None, others: Collection[str] = ()
) -> Iterator[Item]:
    """The items, which know what is ``shown`` of them, with ids for those whose lines state none.

    An id is `_BY_TEXTS` and the first digits of the digest; further items with equal texts get
    ``.2``, ``.3`` behind it, in their order. ``others``: ids of the suite that none of them gets.
    """
    alike: Counter[str] = Counter()
    for item in items:
        if item.id:
            yield replace(item, taken=shown)
            continue
        by_texts = f"{_BY_TEXTS}{item.digest_by(shown)[:_DIGITS]}"
        alike[by_texts] += 1
        while (name := _of_several(by_texts, alike[by_texts])) in others:
            alike[by_texts] += 1
        yield replace(item, id=name, cluster=item.cluster or name, taken=shown)


def _of_several(name: str, number: int) -> str:
    return name if number == 1 else f"{name}.{number}"
