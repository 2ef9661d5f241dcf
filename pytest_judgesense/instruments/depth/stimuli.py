"""Suites of long records: the same passage at the start, the middle and the end, and nowhere.

A line has a ``passage`` that decides, and what is asked of its record: of the ``genre`` of padding
that it names, if any, the record of each length is made. The first label of the space is right
where the passage stands, the second one where it does not. A line becomes, at each length, these
items, all of one cluster:

=================  ===========================================
``ID.start-2000``   the passage, then padding
``ID.middle-2000``  padding, the passage, padding
``ID.end-2000``     padding, then the passage
``ID.absent-2000``  the same padding, and one more text of it
=================  ===========================================
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import Field, field_validator

from pytest_judgesense.errors import SuiteError, listed
from pytest_judgesense.instruments.depth.measures import KIND
from pytest_judgesense.instruments.depth.padding import (
    Padding,
    own_padding,
    placed,
    read_padding,
)
from pytest_judgesense.instruments.depth.record_places import ABSENT, LENGTH, PLACE, PLACES
from pytest_judgesense.suites.from_lines import content_item, content_of_row
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.prompt_template import placeholders
from pytest_judgesense.suites.rules import DUPLICATES, LABEL_BALANCE, SHORTCUT
from pytest_judgesense.suites.schema import ContentItem, SuiteForm
from pytest_judgesense.suites.stimuli import Misfit, Stimuli
from pytest_judgesense.suites.suite import Kind, Material

# The field that holds a record.
RECORD: Final = "record"
_PASSAGE: Final = "passage"
_LENGTHS: Final = (2_000, 16_000)


class DepthLine(ContentItem):
    """A line of long records: a passage, what is asked of the record, and the genre of padding.

    Every other field is a text that the templates may show. A line has no label: the place of the
    passage says which is right.
    """

    passage: str = Field(min_length=1)
    genre: str = ""

    @field_validator("label")
    @classmethod
    def _no_label(cls, label: str | None) -> str | None:
        if label is not None:
            raise ValueError("no label: the place of the passage says which is right")
        return label


class _Making(NamedTuple):
    """What records are made with: the padding, and the lengths to which it goes, in tokens."""

    padding: Padding
    lengths: tuple[int, ...]


def _material(form: SuiteForm, folder: Path) -> Material:
    stated = form.stimuli.padding
    padding = own_padding() if stated is None else read_padding(folder / stated)
    lengths = tuple(sorted({*(form.stimuli.lengths or _LENGTHS)}))
    files = () if stated is None else (padding.path,)
    return Material(_Making(padding, lengths), padding.text, files)


def _verify(form: SuiteForm) -> None:
    space = form.space
    if space.pairwise or space.criteria or len(space.labels) != 2 or space.ordinal:
        raise ValueError(
            f"a {form.kind} suite asks whether a passage is there: [space] has two labels, the "
            "first for a record that holds it, and no more"
        )
    for template in form.templates:
        if RECORD not in placeholders(template.text):
            raise ValueError(f"template {template.id} does not show the record: {{{{{RECORD}}}}}")
        if template.polarity == "inverted":
            raise ValueError(f"a {form.kind} suite asks in one way: no template is inverted")


def _line_of_row(stimuli: Stimuli, row: dict[str, Any]) -> dict[str, Any] | Misfit:
    """The line of a row with a user's columns; an empty cell is no genre."""
    line = content_of_row(stimuli, row)
    if isinstance(line, Misfit):
        return line
    return line | {"genre": line.get("genre") or ""}


def _items(stimuli: Stimuli) -> Iterator[Item]:
    making: _Making = stimuli.material
    lines = stimuli.parse(DepthLine, _line_of_row)
    for item, line in zip(_named(stimuli, lines), lines, strict=True):
        yield from _of_line(stimuli, item, line, making)


def _named(stimuli: Stimuli, lines: Sequence[DepthLine]) -> Iterator[Item]:
    """An item of each line; one without an id is called by what is shown of it and its passage."""
    shown = None if stimuli.taken is None else stimuli.taken | {_PASSAGE}
    items = (
        replace(item, fields={**item.fields, _PASSAGE: line.passage})
        for item, line in zip(map(content_item, lines), lines, strict=True)
    )
    return replace(stimuli, taken=shown).named(items)


def _of_line(stimuli: Stimuli, base: Item, line: DepthLine, making: _Making) -> Iterator[Item]:
    """The items of a line, those of each length together."""
    fields = {name: text for name, text in base.fields.items() if name != _PASSAGE}
    if RECORD in fields:
        raise SuiteError(
            f"item {base.id} of suite {stimuli.form.name} has a record of its own",
            found=f"the field {RECORD}, which is made of the passage and padding",
            expected=f"other fields: {listed(name for name in fields if name != RECORD) or 'none'}",
            remedy=f"rename it in {stimuli.file}",
        )
    present, absent = stimuli.form.space.labels
    for length in making.lengths:
        texts = making.padding.of_item(base.id, line.genre, length, line.passage)
        for place in PLACES:
            yield replace(
                base,
                id=f"{base.id}.{place}-{length}",
                cluster=base.cluster or base.id,
                fields={**fields, RECORD: placed(line.passage, texts, place)},
                label=absent if place == ABSENT else present,
                condition={PLACE: place, LENGTH: length},
                people={},
                taken=stimuli.taken,
            )


DEPTH: Final = Kind(
    KIND,
    _items,
    line_forms=(DepthLine,),
    verify=_verify,
    # Items differ in where a passage stands, and three in four hold it.
    waived=(DUPLICATES, LABEL_BALANCE, SHORTCUT),
    keys=("lengths", "padding"),
    material=_material,
)
