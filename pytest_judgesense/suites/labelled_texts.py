"""Which items the labels of people belong to: those that show the texts that were labelled. Pure.

A label follows its text. Where several items show it, the id says which of them is meant; labels
with ids that are none of theirs, for the items have got others since, go to those that no label
names first. A label of a text that no item shows does not count: rows may come, go and move, and no
label says anything of a text that its person has not seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from pytest_judgesense.files.opening import UnfinishedLine
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.people import PersonLabel, in_force, labelled_text

# The ids of the items that show a text, in their order.
IdsByText: TypeAlias = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Uncounted:
    """Labels that do not count, because no item shows their texts.

    Attributes:
        of_other_texts: of items that show another text by now, which the person has not answered.
        of_no_item: of items that are not there any more.
        unfinished: the last line of their file, if the writing of that was interrupted.
    """

    of_other_texts: tuple[PersonLabel, ...] = ()
    of_no_item: tuple[PersonLabel, ...] = ()
    unfinished: UnfinishedLine | None = None


@dataclass(frozen=True, slots=True)
class MatchedLabels:
    """The lines of a file of people's labels, beside the items of a suite.

    Attributes:
        counted: the answers in force about the texts that items show, by item, person and
            criterion, the latest at the end; each names its item as it is called now.
    """

    counted: Mapping[tuple[str, str, str], PersonLabel]
    uncounted: Uncounted


def ids_by_text(items: Iterable[Item]) -> IdsByText:
    """The ids of items by what these show."""
    ids: dict[str, list[str]] = {}
    for item in items:
        ids.setdefault(labelled_text(item), []).append(item.id)
    return ids


def matched(lines: Iterable[PersonLabel], shown: IdsByText) -> MatchedLabels:
    """The lines by the items that show the texts that were labelled; ``shown``: of all items."""
    lines = tuple(lines)
    present = _present_ids(lines, shown)
    counted = in_force(
        replace(line, item=present[line.item, line.text])
        for line in lines
        if (line.item, line.text) in present
    )
    of_lost_texts = in_force(line for line in lines if (line.item, line.text) not in present)
    left = [label for key, label in of_lost_texts.items() if label.counts and key not in counted]
    ids = {id_ for ids_of_text in shown.values() for id_ in ids_of_text}
    uncounted = Uncounted(
        of_other_texts=tuple(label for label in left if label.item in ids),
        of_no_item=tuple(label for label in left if label.item not in ids),
    )
    return MatchedLabels(counted, uncounted)


def _present_ids(lines: Iterable[PersonLabel], shown: IdsByText) -> dict[tuple[str, str], str]:
    """By id and text of a label the item that shows this text; labels of lost texts have none."""
    named: dict[str, dict[str, None]] = {}
    for line in lines:
        named.setdefault(line.text, {})[line.item] = None
    present: dict[tuple[str, str], str] = {}
    for text, names in named.items():
        ids = shown.get(text, ())
        present |= {(id_, text): id_ for id_ in ids}
        takers = sorted(ids, key=lambda id_: id_ in names)
        for place, name in enumerate(name for name in names if takers and name not in ids):
            present[name, text] = takers[min(place, len(takers) - 1)]
    return present
