"""The measure of how differently groups of items fare, and what is said of a group."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.estimate import Estimate, compact
from pytest_judgesense.measures.definition import Brief, Evidence, Measure

# The keys of a condition: the measure in which groups differ, and the field that makes them.
GAP_OF: Final = "gap_of"
FIELD: Final = "group_field"
# How a flag begins that names a group: of the largest gap, and of one that is treated otherwise.
WIDEST: Final = "widest: "
OTHERWISE: Final = "treated otherwise: "


def _gap_sentence(estimate: Estimate) -> str:
    """The largest gap, and whether it is more than chance over all groups, measures and fields."""
    (widest,) = (flag for flag in estimate.flags if flag.startswith(WIDEST))
    widest = widest.removeprefix(WIDEST)
    named = [flag.removeprefix(OTHERWISE) for flag in estimate.flags if flag.startswith(OTHERWISE)]
    assert estimate.value is not None, "an estimate without a value has another sentence"
    words = "is treated otherwise" if widest in named else "may be so by chance"
    others = "; ".join(group for group in named if group != widest)
    return (
        f"a group is {compact(estimate.value)} away from the rest, and {words} ({widest})"
        f"{'; treated otherwise: ' * bool(others)}{others}"
    )


GROUP_GAP: Final = Measure(
    "group_gap",
    "lower",
    "group",
    "the largest gap between a group of items and the rest of them, in any gated share",
    gate="ceiling",
    evidence=Evidence("judgments that count against the judge in the group", whole=True),
    stability=True,
    phrased=_gap_sentence,
    brief=Brief("group gap"),
    needs='groups of items: groups = ["..."] under [stimuli]',
)
