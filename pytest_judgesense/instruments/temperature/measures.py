"""What the decoding temperature does to a judge."""

from __future__ import annotations

import math
from typing import Final

from pytest_judgesense.measures.check import CheckKind
from pytest_judgesense.measures.measure import Evidence, Measure, later
from pytest_judgesense.measures.shared import AGREEMENT, FAILED_RATE, UNPARSED_RATE

_ROOM: Final = "pytest_judgesense.instruments.temperature"
_ESTIMATES: Final = later(f"{_ROOM}.estimators", "estimates")
_EVIDENCE: Final = "pytest_judgesense.measures.evidence"
_SUITE: Final = "temperature"
_WRONG: Final = Evidence("wrong verdicts", later(_EVIDENCE, "missed"))
_APART: Final = Evidence("questions whose replicates disagree", later(_EVIDENCE, "repeats"))
_NOT_RIGHT: Final = Evidence("replies that are not right", later(_EVIDENCE, "not_right"))
_UNREADABLE: Final = Evidence("replies without a verdict", later(_EVIDENCE, "unparsed"))

AGREEMENT_PARSED: Final = Measure(
    "agreement_parsed",
    "higher",
    "call",
    "verdict equals the label, of the replies that state one",
    _ESTIMATES,
    "floor",
    _SUITE,
    evidence=_WRONG,
    best="units",
)
CONSISTENCY: Final = Measure(
    "consistency",
    "higher",
    "question",
    "one replicate and the next give the same verdict",
    _ESTIMATES,
    "floor",
    _SUITE,
    evidence=_APART,
    stability=True,
    best="units",
)
PAIRWISE_CONSISTENCY: Final = Measure(
    "pairwise_consistency",
    "higher",
    "question",
    "any two replicates give the same verdict (Fleiss's P)",
    _ESTIMATES,
    "floor",
    _SUITE,
    evidence=_APART,
    stability=True,
    best="units",
)
ERROR_RATE: Final = Measure(
    "error_rate",
    "lower",
    "call",
    "replies without a usable verdict",
    _ESTIMATES,
    "ceiling",
    _SUITE,
    evidence=_UNREADABLE,
    best="units",
)
ERROR_RATE_BEFORE_REPAIR: Final = Measure(
    "error_rate_before_repair",
    "lower",
    "call",
    "replies without a usable verdict before malformed ones were repaired",
    _ESTIMATES,
    "ceiling",
    _SUITE,
    evidence=_UNREADABLE,
    best="units",
)
MAJORITY_AGREEMENT: Final = Measure(
    "majority_agreement",
    "higher",
    "question",
    "the verdict of most of k replicates equals the label",
    _ESTIMATES,
    "floor",
    _SUITE,
    evidence=_WRONG,
    best="units",
)
# What the effect of a temperature is measured on, and a temperature is recommended by.
OUTCOMES: Final = (AGREEMENT, CONSISTENCY, ERROR_RATE)
EFFECTS: Final = {
    outcome.name: Measure(
        f"{outcome.name}_effect",
        "construct",
        "question",
        f"{outcome.name.replace('_', ' ')} at a high temperature less that at a low one, "
        "question by question",
        _ESTIMATES,
    )
    for outcome in OUTCOMES
}
# Judged by one check: the size of an effect, which has a sign among the estimates.
EFFECT_SIZE: Final = Measure(
    "temperature_effect",
    "lower",
    "question",
    "what a high temperature changes in an outcome, in size",
    _ESTIMATES,
    evidence=_NOT_RIGHT,
)
RECOMMENDED: Final = Measure(
    "recommended_temperature",
    "higher",
    "temperature",
    "the highest temperature up to which all bars hold",
    _ESTIMATES,
    bounds=(0.0, math.inf),
    evidence=_NOT_RIGHT,
)
MEASURES: Final = (
    AGREEMENT.taken_by(_ESTIMATES),
    AGREEMENT_PARSED,
    CONSISTENCY,
    PAIRWISE_CONSISTENCY,
    ERROR_RATE,
    ERROR_RATE_BEFORE_REPAIR,
    MAJORITY_AGREEMENT,
    *EFFECTS.values(),
    UNPARSED_RATE.taken_by(_ESTIMATES),
    FAILED_RATE.taken_by(_ESTIMATES),
)
RECOMMENDED_TEMPERATURE: Final = CheckKind(
    "recommended_temperature",
    "agreement=, consistency=, error_rate=, at_least=, suite=",
    "up to some temperature of the grid all bars hold",
    later(f"{_ROOM}.checks", "declare_recommendation"),
    later(f"{_ROOM}.checks", "judge_recommendation"),
    named_bars=True,
)
TEMPERATURE_EFFECT_BOUND: Final = CheckKind(
    "temperature_effect_bound",
    "outcome, bar, suite=",
    "what a high temperature changes in an outcome is at most the bar",
    later(f"{_ROOM}.checks", "declare_effect_bound"),
    later(f"{_ROOM}.checks", "judge_effect"),
)
