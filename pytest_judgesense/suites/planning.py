"""From a suite to its trials: items x templates x orders x temperatures x replicates. Pure."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from pytest_judgesense.errors import SuiteError
from pytest_judgesense.files.limits import beyond, limits
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.suite import Kind, Suite, Template, derived
from pytest_judgesense.trial import (
    Condition,
    Design,
    Judgment,
    Order,
    Trial,
    Verdict,
    content_of_slot,
    grouped,
    woven,
)

# Python reads no number of more than 4,300.
_MOST_DIGITS: Final = 4_000
_NUMBERS: Final = re.compile(r"(\d+)")
_BOTH: Final[tuple[Order, ...]] = ("ab", "ba")
# The question about a suite whose answers become the labels of its items.
LABELS: Final = "labels"
# Key of the condition of a trial in which each criterion has a call of its own.
CALLS: Final = "calls"
# The end of a trial's id.
_SETTING: Final = re.compile(r"/((?:ab|ba)(?:/t[^/]+)?(?:/each)?/r[0-9]+)$")


@dataclass(frozen=True)
class Plans:
    """Where recordings are, and where it is said which of their trials are still planned.

    Attributes:
        root: folder of the project; what its suite files plan is not free.
        cassettes: folder of the recordings, each judge's in one of its own.
        kinds: those of suites that there are, by name.
    """

    root: Path
    cassettes: Path
    kinds: Mapping[str, Kind]


class Shard(NamedTuple):
    """The ``number``-th, from 1, of ``of`` parts of a suite: whole clusters, dealt out in turn.

    By position in the suite: the numbers of clusters differ by at most one, suites that begin with
    the same items (a preset with fewer, a suite that shares them) are divided in the same way, and
    items added at the end move no others.
    """

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def part(self, trials: Sequence[Trial]) -> tuple[Trial, ...]:
        """Those of all ``trials`` of a suite, in their order, that belong to it."""
        codes = {
            cluster: place for place, cluster in enumerate(dict.fromkeys(t.cluster for t in trials))
        }
        return tuple(trial for trial in trials if codes[trial.cluster] % self.of == self.number - 1)


def filled(design: Design, trials: Sequence[Trial]) -> tuple[Judgment, ...]:
    """One answer to all ``trials`` of a suite, to count the units of its design.

    Of several criteria one to each item, for what is measured of grades that are all alike is
    undefined.
    """
    label, pairwise, criteria = design.labels[0], design.pairwise, design.criteria
    if criteria:
        place = {
            item: position
            for position, item in enumerate(dict.fromkeys(trial.item for trial in trials))
        }

        def grades(item: str) -> str:
            return json.dumps({c.name: c.labels[place[item] % len(c.labels)] for c in criteria})

        return tuple(Judgment(t, "", Verdict(grades(t.item))) for t in trials)
    return tuple(
        Judgment(t, "", Verdict(label), content_of_slot(label, t.order) if pairwise else None)
        for t in trials
    )


@derived
def plan_trials(suite: Suite) -> tuple[Trial, ...]:
    """All trials of ``suite``: by item, template, presentation order, temperature, replicate.

    Raises:
        SuiteError: there are more than may be.
    """
    # Which orders a template is shown in depends on the item at most by its own balanced one.
    orders = {
        order: [(template, orders_of(suite, template, order)) for template in suite.templates]
        for order in _BOTH
    }
    most = max((item.times for item in suite.items), default=1)
    shown = sum(
        len(orders_of_template) * template.times * len(suite.items) * most
        for template, orders_of_template in orders["ab"]
    )
    planned = shown * max(1, len(suite.temperatures)) * suite.replicates
    if planned > limits().trials:
        problem = f"suite {suite.name} plans too many trials"
        raise beyond(SuiteError, problem, "trials", f"{planned} trials")
    return tuple(
        trial
        for item in suite.items
        for template, orders_of_template in orders[own_order(suite, item)]
        if item.is_asked_in(template.id)
        for order in orders_of_template
        for temperature in suite.temperatures or (None,)
        for trial in _replicates(suite, item, template, order, temperature)
    )


def own_order(suite: Suite, item: Item) -> Order:
    """The order in which an item is shown where the suite shows each in one."""
    return item.balanced_order if suite.orders == "balanced" else "ab"


def orders_of(suite: Suite, template: Template, own: Order) -> tuple[Order, ...]:
    """The presentation orders under ``template`` of the items whose `own_order` is ``own``."""
    # Candidates that are shown one by one have no order.
    if template.single or suite.orders == "ab":
        return ("ab",)
    return _BOTH if suite.orders == "both" else (own,)


def _replicates(
    suite: Suite, item: Item, template: Template, order: Order, temperature: float | None
) -> list[Trial]:
    # Shared by trials where it may be: most suites vary nothing else.
    condition: Condition = template.condition
    if item.condition:
        condition = {**item.condition, **condition}
    place = f"{suite.recorded_as(item, template)}/{item.id}/{template.id}/{order}"
    if temperature is not None:
        condition = {**condition, "temperature": temperature}
        place += f"/t{temperature:g}"
    if suite.apart is not None:
        condition = {**condition, CALLS: suite.calls}
        place += f"/{suite.calls}"
    if template.polarity == "inverted" or template.id in item.inverted:
        condition = {**condition, "polarity": "inverted"}
    return [
        Trial(
            f"{place}/r{replicate}",
            suite.name,
            item.id,
            item.cluster,
            template.id,
            order,
            replicate,
            condition,
            item.right,
            item.people,
            item.stratum,
            item.picked,
            item.skipped,
            item.groups,
        )
        for replicate in range(1, suite.replicates * item.times * template.times + 1)
    ]


def recording_of(trial_id: str) -> str:
    """Name of the recording that holds a trial: the suite that its id begins with."""
    return trial_id.partition("/")[0]


def recording_aside(question: str, suite: str) -> str:
    """Name of the recording of a ``question`` about a suite that is no measurement of it."""
    return f"{question}-{suite}"


def setting_of(trial_id: str) -> str:
    """The end of a trial's id, ``ab/t0.5/r2`` or ``ab/each/r1``; empty if it has no such end.

    Its parts are the order, the temperature, whether each criterion has a call, and the replicate.
    """
    match = _SETTING.search(trial_id)
    return match[1] if match else ""


def item_of(trial_id: str) -> str:
    """The beginning of a trial's id that names its recording and its item."""
    match = _SETTING.search(trial_id)
    return trial_id[: match.start()].rpartition("/")[0] if match else trial_id


def in_plan_order(recorded: Sequence[str], planned: Iterable[str]) -> list[str]:
    """Recorded trials as a finished recording holds them: item by item, as they are planned.

    What is planned no more, or in no preset, has its place all the same. An item stays behind the
    one that it stood behind, in the order of ``recorded``; of an item's trials the planned ones
    come first, then the others in reading order.
    """
    place = {trial: number for number, trial in enumerate(planned)}
    items = woven(map(item_of, place), map(item_of, recorded))
    by_item = grouped(trial_order(recorded), item_of)
    return [
        trial
        for item in items
        for trial in sorted(by_item.get(item, ()), key=lambda trial: place.get(trial, len(place)))
    ]


def trial_order(trial_ids: Iterable[str]) -> list[str]:
    """Trial ids in reading order: numbers inside them count as numbers, so r2 is before r10.

    The order is total (``i01`` is before ``i1``): it does not depend on how the ids arrive.
    """

    def key(trial_id: str) -> tuple[list[Any], str]:
        # Text and numbers take turns, so that numbers are compared with numbers alone.
        parts: list[Any] = _NUMBERS.split(trial_id)
        parts[1::2] = [int(p) if len(p) <= _MOST_DIGITS else math.inf for p in parts[1::2]]
        return parts, trial_id

    return sorted(trial_ids, key=key)
