"""The measures of a judge on long records, and what is said of a place."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.depth.record_places import LENGTH, PLACE
from pytest_judgesense.measures.definition import Brief, Evidence, Measure
from pytest_judgesense.text.shown_change import ShownChange

KIND: Final = "depth"
# A flag of an estimate, and how the one begins that names the place of a worst one.
FOUND: Final = "a drop (p < .05 over all places and lengths, Holm)"
_WORST: Final = "worst at "


def at_place(place: str, length: int | str) -> str:
    """A place of records of a length, in words."""
    at = {"start": "at the start", "middle": "in the middle", "end": "at the end"}.get(place, place)
    return f"{at} of {int(length):,} tokens"


def worst_flag(place: str, length: int) -> str:
    """The flag of an estimate that is the worst over all places and lengths."""
    return f"{_WORST}{place} {length}"


def place_of(estimate: Estimate) -> tuple[str, str] | None:
    """The place and the length that an estimate is of: its condition, or the worst one."""
    if PLACE in estimate.condition:
        return str(estimate.condition[PLACE]), str(estimate.condition[LENGTH])
    return _named(flag.removeprefix(_WORST) for flag in estimate.flags if flag.startswith(_WORST))


def _named(flags: Iterable[str]) -> tuple[str, str] | None:
    for flag in flags:
        place, _, length = flag.partition(" ")
        return place, length
    return None


def _drop_sentence(estimate: Estimate) -> str:
    place = place_of(estimate)
    assert place is not None, "an estimate of a drop names its place"
    change = ShownChange.of(estimate)
    if FOUND not in estimate.flags:
        change = ShownChange(change.value, None)  # the test decides, over all places
    size, at = f"{100 * abs(change.value):.0f} points", at_place(*place)
    return change.words(
        above=f"{at} the share of passages found is {size} lower than at the other places",
        below=f"{at} the share of passages found is {size} higher than at the other places",
        neither=f"{at} the share of passages found is not visibly lower than at the other places, "
        f"by {100 * change.value:.0f} points",
    )


_of_depth: Final = partial(Measure, suite=KIND)
DEPTH_RECALL: Final = _of_depth(
    "depth_recall",
    "higher",
    "passage",
    "the passage is found where it stands, less false alarms at that length",
    gate="floor",
    bounds=(-1.0, 1.0),
    evidence=Evidence("passages that are missed", whole=True),
    sentence="of {n} passages the judge finds a share of {value}, false alarms taken off",
    brief=Brief("recall"),
)
DEPTH_DROP: Final = _of_depth(
    "depth_drop",
    "lower",
    "item",
    "how much more seldom the passage is found at a place than at the others of that length; "
    "the worst place",
    gate="ceiling",
    bounds=(-1.0, 1.0),
    evidence=Evidence("passages that are missed at one place and found at another", whole=True),
    stability=True,
    phrased=_drop_sentence,
    brief=Brief("worst drop"),
)
DEPTH_FALSE_ALARM: Final = _of_depth(
    "depth_false_alarm",
    "lower",
    "call",
    "the passage is said to be there and is not",
    gate="ceiling",
    best="units",
    evidence=Evidence("passages that are seen where there is none"),
    sentence="the judge says so of {count} of {n} records that do not hold the passage",
    brief=Brief("false alarms"),
)
