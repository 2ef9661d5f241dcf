"""The measures of a judge over decoding temperatures."""

from __future__ import annotations

import math
from typing import Final

from pytest_judgesense.estimate import Estimate, compact
from pytest_judgesense.measures.definition import Brief, Evidence, Measure, alone
from pytest_judgesense.measures.every_suite import missed, not_right, repeats, unparsed
from pytest_judgesense.measures.shared import AGREEMENT
from pytest_judgesense.text.shown_change import ShownChange

_NOT_RIGHT: Final = Evidence("replies that are not the label", not_right)

AGREEMENT_PARSED: Final = Measure(
    "agreement_parsed",
    "higher",
    "call",
    "verdict equals the label, of the replies that state one",
    gate="floor",
    suite="temperature",
    evidence=Evidence("wrong verdicts", missed),
    best="units",
    sentence="{rest} of {n} verdicts are not the label",
)
MAJORITY_AGREEMENT: Final = AGREEMENT_PARSED._replace(
    name="majority_agreement",
    unit="question",
    meaning="the verdict of most of k replicates equals the label",
    sentence="a majority vote misses the label of {rest} of {n} questions",
)
CONSISTENCY: Final = AGREEMENT_PARSED._replace(
    name="consistency",
    unit="question",
    meaning="one replicate and the next give the same verdict",
    ranked=alone,
    evidence=Evidence("questions whose replicates disagree", repeats),
    stability=True,
    sentence="{rest} of {n} questions get another verdict when asked again",
    gains_with=AGREEMENT.name,
    brief=Brief("consistency"),
)
PAIRWISE_CONSISTENCY: Final = CONSISTENCY._replace(
    name="pairwise_consistency",
    ranked=None,
    brief=None,
    meaning="any two replicates give the same verdict (Fleiss's P)",
)
ERROR_RATE: Final = AGREEMENT_PARSED._replace(
    name="error_rate",
    direction="lower",
    gate="ceiling",
    meaning="replies without a usable verdict",
    evidence=Evidence("replies without a verdict", unparsed),
    sentence="{count} of {n} replies have no usable verdict",
    brief=Brief("errors"),
)
FORMAT_ERROR_RATE: Final = ERROR_RATE._replace(
    name="format_error_rate",
    meaning="replies that are not exactly what the prompt prescribes, verdict or not",
    evidence=Evidence("replies that do not keep the form"),
    sentence="{count} of {n} replies do not keep the prescribed form",
    brief=None,
)
ERROR_RATE_BEFORE_REPAIR: Final = ERROR_RATE._replace(
    name="error_rate_before_repair",
    meaning="replies without a usable verdict before malformed ones were repaired",
    sentence="{count} of {n} replies have no usable verdict before repair",
    brief=None,
)
# The outcomes for effects of temperature and for recommended temperatures.
OUTCOMES: Final = {
    measure.name: measure
    for measure in (AGREEMENT, AGREEMENT_PARSED, CONSISTENCY, ERROR_RATE, FORMAT_ERROR_RATE)
}
# Outcomes that say much the same as another: they are no further hypothesis beside it.
RESTATED: Final = {AGREEMENT_PARSED.name: AGREEMENT.name, FORMAT_ERROR_RATE.name: ERROR_RATE.name}
EFFECTS: Final = {
    name: Measure(
        f"{name}_effect",
        "construct",
        "question",
        f"{name.replace('_', ' ')} at a high temperature less that at a low one, "
        "question by question",
    )
    for name in OUTCOMES
}


def _effect_sentence(estimate: Estimate) -> str:
    size, changes = ShownChange.of(estimate), "a high temperature changes an outcome"
    neither = "a high temperature does not visibly change an outcome"
    return size.sentence(above=changes, below=changes, neither=neither, text_of=compact)


# Judged by one check: the size of an effect, which has a sign among the estimates.
EFFECT_SIZE: Final = Measure(
    "temperature_effect",
    "lower",
    "question",
    "what a high temperature changes in an outcome, in size",
    evidence=_NOT_RIGHT,
    phrased=_effect_sentence,
)
RECOMMENDED: Final = Measure(
    "recommended_temperature",
    "higher",
    "temperature",
    "the highest temperature up to which all bars hold",
    bounds=(0.0, math.inf),
    evidence=_NOT_RIGHT,
    sentence="all bars hold only up to temperature {value}",
)
