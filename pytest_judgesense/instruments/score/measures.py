"""The measures of a score. None of them asks whether two scores are equal."""

from __future__ import annotations

from functools import partial
from typing import Final

from pytest_judgesense.estimate import Estimate, compact
from pytest_judgesense.measures.definition import WORDINGS, Brief, Evidence, Measure, alone

_FAR: Final = Evidence("replies farthest from the label")
# What 40 items exclude if nothing changed: a narrower margin would leave an equal judge undecided.
_lower: Final = partial(Measure, direction="lower", gate="bound", margin=0.075, best="units")


def _of_error(estimate: Estimate) -> str:
    """The error as a share of the range and, where they differ, in units of the score."""
    share = f"scores lie {compact(estimate.value or 0.0)} of their range from the label on average"
    return share + _in_units(estimate)


def _in_units(estimate: Estimate) -> str:
    return f" ({estimate.flags[0]})" if estimate.flags else ""


SCORE_ERROR: Final = _lower(
    "score_error",
    unit="call",
    meaning="distance of the score from the label, as a share of the range (mean absolute error)",
    evidence=_FAR,
    phrased=_of_error,
    ranked=alone,
    brief=Brief("error"),
)
SCORE_BIAS: Final = Measure(
    "score_bias",
    "construct",
    unit="call",
    meaning="how far the score lies above the label, as a share of the range",
    brief=Brief("bias"),
)
SCORE_CORRELATION: Final = Measure(
    "score_correlation",
    "higher",
    unit="item",
    meaning="rank correlation of score and label (Spearman), over items",
    gate="floor",
    bounds=(-1.0, 1.0),
    evidence=_FAR,
    sentence="scores and labels order the items with a correlation of {value}: 0 is no relation, "
    "1 the same order",
    brief=Brief("rho"),
)
MARK_AGREEMENT: Final = Measure(
    "mark_agreement",
    "higher",
    unit="call",
    meaning="score and label are on one side of the pass mark",
    gate="floor",
    evidence=Evidence("replies on the other side of the pass mark"),
    best="units",
    sentence="{rest} of {n} replies are not on the label's side of the pass mark{silent}",
    brief=Brief("at the mark"),
)
WORDING_DISTANCE: Final = _lower(
    "wording_distance",
    unit=WORDINGS,
    meaning="distance of the scores under two wordings, as a share of the range",
    evidence=Evidence("scores farthest apart under two wordings"),
    stability=True,
    gains_with=SCORE_CORRELATION.name,
    sentence="the wording moves scores by {value} of their range on average",
    brief=Brief("wording"),
)
REPEAT_DISTANCE: Final = _lower(
    "repeat_distance",
    unit="item",
    meaning="distance of the scores of replicates, as a share of the range",
    evidence=Evidence("replicates farthest apart"),
    stability=True,
    gains_with=SCORE_CORRELATION.name,
    sentence="asking again moves scores by {value} of their range on average",
    brief=Brief("repeats"),
)
