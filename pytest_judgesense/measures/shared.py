"""Measures that several kinds of suites have: of the presentation order, and of single replies."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.measures.measure import Evidence, Measure, later
from pytest_judgesense.trial import Judgment

_ORDER: Final = later("pytest_judgesense.measures.order", "order_estimates")
_RATES: Final = "pytest_judgesense.measures.rates"
_EVIDENCE: Final = "pytest_judgesense.measures.evidence"
_POSITIONAL: Final = Evidence("pairs won by a slot", later(_EVIDENCE, "positional"))
_UNREADABLE: Final = Evidence("replies without a verdict", later(_EVIDENCE, "unparsed"))

SIDE_BIAS: Final = Measure(
    "side_bias",
    "lower",
    "call",
    "distance of the first slot's share of decisive answers from one half",
    _ORDER,
    "limit",
    bounds=(0.0, 0.5),
    evidence=_POSITIONAL,
    best="half",
)
FIRST_SLOT_RATE: Final = Measure(
    "first_slot_rate",
    "construct",
    "call",
    "the first slot's share of decisive answers",
    _ORDER,
    conditional=True,
)
ORDER_STABLE: Final = Measure(
    "order_stable",
    "construct",
    "canonical pair",
    "the same content wins in both orders",
    _ORDER,
)
ORDER_POSITIONAL: Final = Measure(
    "order_positional",
    "lower",
    "canonical pair",
    "the same slot wins in both orders",
    _ORDER,
    "bound",
    evidence=_POSITIONAL,
    best="units",
)
ORDER_ONE_SIDED: Final = Measure(
    "order_one_sided",
    "lower",
    "canonical pair",
    "a winner in just one of the orders",
    _ORDER,
    "bound",
    evidence=Evidence("pairs decided in one order only", later(_EVIDENCE, "one_sided")),
    best="units",
)
ORDER_TIED: Final = Measure(
    "order_tied", "construct", "canonical pair", "a tie in both orders", _ORDER
)
# What every suite of pairs has that is asked in both presentation orders.
ORDER: Final = (
    SIDE_BIAS,
    FIRST_SLOT_RATE,
    ORDER_STABLE,
    ORDER_POSITIONAL,
    ORDER_ONE_SIDED,
    ORDER_TIED,
)

AGREEMENT: Final = Measure(
    "agreement",
    "higher",
    "call",
    "verdict equals the label",
    later(_RATES, "agreement"),
    "floor",
    evidence=Evidence("wrong verdicts", later(_EVIDENCE, "missed")),
    best="units",
)
REPEAT_FLIP_RATE: Final = Measure(
    "repeat_flip_rate",
    "lower",
    "item",
    "items whose replicates disagree",
    later(_RATES, "repeat_flips_of_replicates"),
    "bound",
    evidence=Evidence("items whose replicates disagree", later(_EVIDENCE, "repeats")),
    best="units",
)
UNPARSED_RATE: Final = Measure(
    "unparsed_rate",
    "lower",
    "call",
    "replies that state no usable verdict",
    later(_RATES, "unparsed"),
    "ceiling",
    evidence=_UNREADABLE,
    best="units",
)
FAILED_RATE: Final = Measure(
    "failed_rate",
    "lower",
    "call",
    "calls without a reply",
    later(_RATES, "failed"),
    "ceiling",
    evidence=Evidence("calls without a reply", later(_EVIDENCE, "failed")),
    best="units",
)
# What every suite has whose trials are single calls.
REPLIES: Final = (REPEAT_FLIP_RATE, UNPARSED_RATE, FAILED_RATE)

# Taken by the kinds that permit a tie, each over calls of its own.
TIE_RATE: Final = Measure(
    "tie_rate", "construct", "call", "a tie is chosen", later(_RATES, "tie_rates")
)


def right(judgment: Judgment) -> float | None:
    """1 for a verdict that equals the label, else 0; ``None`` without a label."""
    return None if judgment.correct is None else float(judgment.correct)
