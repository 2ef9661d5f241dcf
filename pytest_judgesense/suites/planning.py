"""From a suite to its trials: items x templates x orders x replicates. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_judgesense.judgment import Order, Trial
from pytest_judgesense.suites.suite import Item, Suite, Template, template_pairs

__all__ = ["plan_trials", "recording_of", "template_pairs", "trial_order"]


def plan_trials(suite: Suite) -> list[Trial]:
    """All trials of ``suite``, in the order item, template, presentation order, replicate."""
    return [
        _trial(suite, item, template, order, replicate)
        for index, item in enumerate(suite.items)
        for template in suite.templates
        for order in _orders(suite, index)
        for replicate in range(1, suite.replicates + 1)
    ]


def _orders(suite: Suite, index: int) -> tuple[Order, ...]:
    if suite.orders == "both":
        return ("ab", "ba")
    if suite.orders == "balanced":
        return ("ab",) if index % 2 == 0 else ("ba",)
    return ("ab",)


def _trial(suite: Suite, item: Item, template: Template, order: Order, replicate: int) -> Trial:
    condition = dict(item.condition)
    if template.arm is not None:
        condition["arm"] = template.arm
    if template.polarity == "inverted":
        condition["polarity"] = "inverted"
    return Trial(
        id=f"{suite.recorded_as(item, template)}/{item.id}/{template.id}/{order}/r{replicate}",
        suite=suite.name,
        item=item.id,
        cluster=item.cluster,
        template=template.id,
        order=order,
        replicate=replicate,
        condition=condition,
        label=item.label,
    )


def recording_of(trial_id: str) -> str:
    """Name of the recording that holds a trial: the suite that its id begins with."""
    return trial_id.partition("/")[0]


def trial_order(trial_ids: Iterable[str]) -> list[str]:
    """Trial ids in reading order: numbers inside them count as numbers, so r2 is before r10.

    The order is total (``i01`` is before ``i1``): it does not depend on how the ids arrive.
    """

    def key(trial_id: str) -> tuple[list[tuple[int, int | str]], str]:
        parts = re.split(r"(\d+)", trial_id)
        return [(0, int(p)) if p.isdecimal() else (1, p) for p in parts], trial_id

    return sorted(trial_ids, key=key)
