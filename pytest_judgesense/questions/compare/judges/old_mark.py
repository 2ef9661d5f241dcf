"""The pass mark of the judge that is replaced, as a user writes it."""

from __future__ import annotations

import math
from typing import Final

from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.suites.space import position
from pytest_judgesense.suites.suite import Suite

# How far from the old pass rate a rate is that keeps it.
WITHIN: Final = 0.02


def share_of_mark(text: str, suite: Suite) -> float:
    """A mark as a share of the suite's scale.

    As in a suite file: what is a grade is one, else a number up to 1 is a share of the scale.

    Raises:
        UsageError: the suite has no scale, or the mark does not lie above its lowest grade.
    """
    design = suite.design
    labels = design.scale
    is_ordered = design.ordinal or bool(design.criteria)
    share = position(text, labels) / (len(labels) - 1)
    if math.isnan(share):
        share = _number_up_to_one(text)
    if not is_ordered or not share > 0:
        raise UsageError(
            f"--mark {text} is no mark of {suite.name}",
            found=f"labels {listed(labels)}" + ("" if is_ordered else ", which have no order"),
            expected=f"a grade above the lowest: {listed(labels[1:])}; a number between two; or "
            "a share of the scale, above 0 and up to 1"
            if is_ordered
            else "a suite of grades, or of labels in order",
        )
    return share


def _number_up_to_one(text: str) -> float:
    """The number that a text is, from 0 to 1; NaN for another one or none."""
    try:
        number_stated = float(text)
    except ValueError:
        return math.nan
    return number_stated if 0 <= number_stated <= 1 else math.nan
