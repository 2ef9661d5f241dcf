"""Which items and trials of a suite are those of an earlier version of it. Pure.

Items are known by their texts: by the digest of their contents and of the fields that the earlier
version showed, whatever they are called now. An item with other texts under a stated id is that
item, *edited*; without a stated id it is another one. Wordings are known by their ids, and where
an id is gone by their texts. A trial is asked again where its item and its wording are, in the same
order, at the same temperature, with the same number of its replicate, and its labels mean the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite, Template
from pytest_judgesense.trial import Trial


@dataclass(frozen=True)
class MatchedItems:
    """The items of two versions of a suite.

    Attributes:
        same: by the id of then, the id of now of each item with equal texts.
        edited: the same of items with equal stated ids and other texts.
        gone: ids of then of the items that are not there any more.
        new: ids of now of the items that were not there.
    """

    same: Mapping[str, str]
    edited: Mapping[str, str]
    gone: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def now(self) -> dict[str, str]:
        """By the id of then, the id of now of each item that is still there."""
        return {**self.same, **self.edited}


def match_items(then: Sequence[Item], now: Sequence[Item]) -> MatchedItems:
    """Which of the items of ``now`` are those of ``then``.

    Of several with equal texts those with equal ids belong together, and the others in their order.
    """
    fields = _taken(then)
    digests = {item.id: item.digest_by(fields) for item in then}
    left: dict[str, dict[str, Item]] = defaultdict(dict)
    for item in now:
        left[item.digest_by(fields)][item.id] = item
    same = {
        name: name for name, digest in digests.items() if left[digest].pop(name, None) is not None
    }
    unpaired = {digest: iter([*items]) for digest, items in left.items()}
    for name, digest in digests.items():
        if name not in same and (partner := next(unpaired[digest], None)) is not None:
            same[name] = partner
            del left[digest][partner]
    unmatched = {name: item for items in left.values() for name, item in items.items()}
    edited = {
        item.id: item.id
        for item in then
        if item.id not in same and _is_stated(item) and _is_stated(unmatched.get(item.id))
    }
    return MatchedItems(
        same,
        edited,
        tuple(item.id for item in then if item.id not in same and item.id not in edited),
        tuple(item.id for item in now if item.id in unmatched and item.id not in edited),
    )


def _taken(items: Sequence[Item]) -> frozenset[str] | None:
    """The fields by which all of the items are known."""
    fields = frozenset[str]()
    for item in items:
        if item.taken is None:
            return None
        fields |= item.taken
    return fields


def _is_stated(item: Item | None) -> bool:
    """Whether an item is there and has an id that its line states."""
    return item is not None and not item.place


def match_trials(then: Suite, now: Suite, items: MatchedItems) -> dict[str, Trial]:
    """By the id of a trial of ``then``, the trial of ``now`` that asks it again."""
    templates = match_templates(then.templates, now.templates)
    trials_now = {_key(trial, trial.item, trial.template): trial for trial in plan_trials(now)}
    item_now = items.now
    again: dict[str, Trial] = {}
    for trial in plan_trials(then):
        if trial.item in item_now and trial.template in templates:
            key = _key(trial, item_now[trial.item], templates[trial.template])
            if key in trials_now:
                again[trial.id] = trials_now[key]
    return again


def match_templates(then: Sequence[Template], now: Sequence[Template]) -> dict[str, str]:
    """By the id of then, the id of now of each wording that is still there."""
    ids_now = {template.id for template in now}
    same = {template.id: template.id for template in then if template.id in ids_now}
    new_templates = {(t.text, t.polarity, t.system): t.id for t in now if t.id not in same}
    for template in then:
        key = template.text, template.polarity, template.system
        if template.id not in same and key in new_templates:
            same[template.id] = new_templates.pop(key)
    return same


def _key(trial: Trial, item: str, template: str) -> tuple[object, ...]:
    condition = [trial.condition.get(name) for name in ("temperature", "polarity")]
    return item, template, trial.order, trial.replicate, *condition
