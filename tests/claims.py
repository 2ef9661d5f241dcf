"""Intervals of a change, and what may be said beside each of them."""

from __future__ import annotations

import re

import pytest

from pytest_judgesense.estimate import Clustered, Estimate
from pytest_judgesense.measures.definition import Measure

Ends = tuple[float, float] | None

# A value with its interval, and the word that it allows.
INTERVALS: dict[str, tuple[float, Ends, str]] = {
    "holds 0": (-0.162, (-0.385, 0.135), "neither"),
    "below": (-0.162, (-0.385, -0.012), "below"),
    "above": (0.162, (0.012, 0.385), "above"),
    "ends at 0": (0.162, (0.0, 0.385), "neither"),
    "missing": (-0.162, None, "neither"),
}
PARAMETERS = pytest.mark.parametrize(
    ("value", "ends", "allowed"), INTERVALS.values(), ids=INTERVALS.keys()
)
# What claims a change, in a title or a sentence.
CLAIMS = re.compile(
    r"\b(raises?|lowers?|moves?|falls?|rises?|changes|outweighs?|costs?|gains?|loses?"
    r"|better|worse|more often|less often|higher|most stable|generous|severe"
    r"|(above|below) (the labels of )?people)\b"
)
# A number with its interval, at the end of a title.
PRINTED = re.compile(r"(-?[\d.]+) \[(-?[\d.]+), (-?[\d.]+)\]$")
NO_CLAIM = re.compile(r"\bnot (visibly|seen|told)\b|\bneither\b|No probe is seen")


def claims(text: str) -> bool:
    """Whether a sentence says that something has changed, or differs."""
    return bool(CLAIMS.search(text)) and not NO_CLAIM.search(text)


def refuse_unshown_claims(title: str) -> None:
    """Assert that a title which claims a change ends in an interval that shows it."""
    if not claims(title):
        return
    printed = PRINTED.search(title)
    assert printed is not None, title
    low, high = map(float, printed.groups()[1:])
    assert low > 0 or high < 0, title


def clustered(lower: float, upper: float) -> Clustered:
    return Clustered("m", lower, upper, 0.95, 10, None, None, lower, upper)


def said_by(measure: Measure, value: float, ends: Ends, found: str = "", **condition: str) -> str:
    """The sentence of a measure; ``found`` flags a value that its test has told from 0."""
    flags = (found,) if found and ends and (ends[0] > 0 or ends[1] < 0) else ()
    interval = None if ends is None else clustered(*ends)
    estimate = Estimate(
        measure.name, "s", condition, value=value, clustered=interval, flags=flags, n=9
    )
    return measure.said_of(estimate)
