"""From lines of one content, or of two candidates, to items. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final, get_args

from pytest_judgesense.errors import SuiteError, listed
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.prompt_template import placeholders
from pytest_judgesense.suites.schema import ContentItem, Difficulty, PairItem, SuiteForm
from pytest_judgesense.suites.stimuli import MISSING, Misfit, Stimuli, row_label, stated_id, text_of
from pytest_judgesense.trial import SYSTEM, TIE, Condition

# The text before a list of elements in a prompt.
ELEMENTS: Final = "Required elements:"


def plain_items(stimuli: Stimuli) -> Iterable[Item]:
    """An item of each line: of two candidates if the suite is pairwise, else of one content."""
    form = stimuli.form
    template_ids = {template.id for template in form.templates}
    if form.space.pairwise:
        pairs = stimuli.parse(PairItem, pair_of_row)
        for name, pair in zip(stimuli.names(pairs), pairs, strict=True):
            _refuse_unknown(form.name, name, "is asked in", pair.asked_in, template_ids)
        return stimuli.named(map(pair_item, pairs))
    lines = stimuli.parse(ContentItem, content_of_row)
    for name, line in zip(stimuli.names(lines), lines, strict=True):
        _refuse_unknown(form.name, name, "inverts", line.inverted, template_ids)
        _refuse_unknown(form.name, name, "is asked in", line.asked_in, template_ids)
    return stimuli.named(map(content_item, lines))


def _refuse_unknown(
    suite: str, item: str, does: str, named: Iterable[str], valid: Collection[str]
) -> None:
    """Raise a `SuiteError` if an item names a template that is not there."""
    if unknown := sorted(set(named) - set(valid)):
        raise SuiteError(
            f"item {item} of suite {suite} {does} a template that is not there",
            found=repr(unknown[0]),
            expected="of " + listed(sorted(valid)),
        )


def pair_of_row(stimuli: Stimuli, row: dict[str, Any]) -> dict[str, Any] | Misfit:
    """The line of a pair from a row with a user's fields: ``task``, ``a``, ``b`` and others.

    Labels are ``1``, ``2`` or ``tie``, or a candidate by its field or its column.
    """
    label = row_label(stimuli, row.get("label"), pair_meanings(stimuli))
    if isinstance(label, Misfit):
        return label
    line: dict[str, Any] = {"id": stated_id(row.get("id")), "label": label}
    shown = frozenset().union(*(placeholders(template.text) for template in stimuli.form.templates))
    if "task" not in row and "task" not in shown:
        line["task"] = ""  # nothing but the candidates is shown
    if "texts" not in row:
        if missing := [field for field in ("a", "b") if field not in row]:
            return Misfit(missing[0], MISSING, "a candidate of the pair")
        # A candidate may be empty.
        line["texts"] = [text_of(row[field]) or "" for field in ("a", "b")]
    pair_fields = {*PairItem.model_fields} - {"id", "label"}
    line |= {name: value for name, value in _texts(row).items() if name in pair_fields}
    if "fields" not in row:
        reserved = {*PairItem.model_fields, "a", "b"}
        line["fields"] = {
            n: v for n, v in _texts(row).items() if n not in reserved and isinstance(v, str)
        }
    return line


def pair_meanings(stimuli: Stimuli) -> dict[str, str]:
    """The label that each word for a candidate of a pair means."""
    meanings, columns = {"1": "1", "2": "2", TIE: TIE, "a": "1", "b": "2"}, stimuli.columns
    return meanings | {columns[field]: meanings[field] for field in ("a", "b") if field in columns}


def content_of_row(stimuli: Stimuli, row: dict[str, Any]) -> dict[str, Any] | Misfit:
    """The line of one content, from a row with a user's fields, which are all texts."""
    meanings = {label: label for label in stimuli.form.space.labels}
    label = row_label(stimuli, row.get("label"), meanings)
    if isinstance(label, Misfit):
        return label
    content_fields = ContentItem.model_fields
    texts = _texts(row)
    line = {
        n: v
        for n, v in texts.items()
        if isinstance(v, str) or (n in content_fields and v is not None)
    }
    return line | {"id": stated_id(row.get("id")), "label": label}


def _texts(row: dict[str, Any]) -> dict[str, Any]:
    """``row`` with every scalar as text; empty cells of optional fields become ``None``."""
    optional = ("cluster", "category", "difficulty")
    if row.get("difficulty") not in get_args(Difficulty):
        row = {name: value for name, value in row.items() if name != "difficulty"}
    return {
        name: value
        if isinstance(value, list | dict)
        else text_of(value)
        if name in optional or value is None
        else text_of(value) or ""
        for name, value in row.items()
    }


_NOTHING: Final[Condition] = {}


def content_item(line: ContentItem) -> Item:
    """The item of a line with one content."""
    # Of a hundred thousand items each value of its own counts.
    fields, cluster = line.__pydantic_extra__, line.cluster or line.id or ""
    about = (line.label, _NOTHING, None, line.inverted, line.asked_in)
    return Item(line.id or "", cluster, fields, (), *about)


def pair_item(line: PairItem) -> Item:
    """The item of a line with two candidates."""
    fields = {**line.fields, "task": line.task}
    condition = {"category": line.category} if line.category else {}
    name = line.id or ""
    item = Item(name, line.cluster or name, fields, line.texts, line.label, condition)
    return replace(item, asked_in=line.asked_in)


def with_systems(items: tuple[Item, ...], form: SuiteForm) -> tuple[Item, ...]:
    """The items with what produced them in their condition, if a field that is not shown says so.

    Rates are told by it. A template that shows ``{{system}}`` means something else by the word.
    """
    named = [item for item in items if _system(item)]
    if not named or any(SYSTEM in placeholders(template.text) for template in form.templates):
        return items
    return tuple(
        replace(item, condition={**item.condition, SYSTEM: system})
        if (system := _system(item))
        else item
        for item in items
    )


def _system(item: Item) -> str:
    return "" if SYSTEM in item.condition else item.fields.get(SYSTEM, "").strip()


def with_elements(task: str, elements: Sequence[str]) -> str:
    """The task as the judge reads it: the request, then the required elements."""
    if not elements:
        return task
    listed = "\n".join(f"{i}. {element}" for i, element in enumerate(elements, start=1))
    return f"{task}\n{ELEMENTS}\n{listed}"
