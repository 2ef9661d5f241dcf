"""From lines of one content, or of two candidates, to items. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from pytest_judgesense.errors import SuiteError
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.schema import ContentItem, PairItem
from pytest_judgesense.suites.stimuli import Stimuli

# What stands before a list of elements in a prompt.
ELEMENTS: Final = "Required elements:"


def plain_items(stimuli: Stimuli) -> Iterable[Item]:
    """An item of each line: of two candidates if the suite is pairwise, else of one content."""
    form = stimuli.form
    if form.space.pairwise:
        return map(pair_item, stimuli.parse(PairItem))
    lines = stimuli.parse(ContentItem)
    known = {template.id for template in form.templates}
    for line in lines:
        if unknown := sorted(set(line.inverted) - known):
            raise SuiteError(
                f"item {line.id} of suite {form.name} inverts a template that is not there",
                found=repr(unknown[0]),
                expected="of " + ", ".join(sorted(known)),
            )
    return map(content_item, lines)


def content_item(line: ContentItem) -> Item:
    """The item of a line with one content."""
    fields, inverted = dict(line.__pydantic_extra__), tuple(line.inverted)
    return Item(line.id, line.cluster or line.id, fields, (), line.label, inverted=inverted)


def pair_item(line: PairItem) -> Item:
    """The item of a line with two candidates."""
    fields = {**line.fields, "task": line.task}
    condition = {"category": line.category} if line.category else {}
    return Item(line.id, line.cluster or line.id, fields, line.texts, line.label, condition)


def with_elements(task: str, elements: Sequence[str]) -> str:
    """The task as the judge reads it: the request, then what a reply must contain."""
    if not elements:
        return task
    listed = "\n".join(f"{i}. {element}" for i, element in enumerate(elements, start=1))
    return f"{task}\n{ELEMENTS}\n{listed}"
