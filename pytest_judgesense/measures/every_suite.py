"""Measures that suites of every kind may have, with their estimators and evidence.

An instrument lists those that its trials allow, beside its own.
"""

from __future__ import annotations

from typing import Final

from pytest_judgesense.measures import evidence, order, rates, shared, soft
from pytest_judgesense.measures.definition import taken_by

# Of pairs in both presentation orders.
ORDER: Final = (
    shared.SIDE_BIAS.taken_by(order.order_estimates, evidence.positional),
    *taken_by(order.order_estimates, shared.FIRST_SLOT_RATE, *shared.DECOMPOSED),
)
# Of calls that state no verdict.
WITHOUT_VERDICT: Final = (
    shared.UNPARSED_RATE.taken_by(rates.unparsed, evidence.unparsed),
    shared.REFUSAL_RATE.taken_by(rates.refusals, evidence.refusals),
    shared.FAILED_RATE.taken_by(rates.failed, evidence.failed),
)
# Of trials that are single calls.
REPLIES: Final = (
    shared.REPEAT_FLIP_RATE.taken_by(rates.repeat_flips_of_replicates),
    *WITHOUT_VERDICT,
)
# Of the probabilities behind the verdicts of such trials.
SOFT: Final = (
    shared.SOFT_POSITION_EFFECT.taken_by(soft.position_effect, soft.leaning_pairs),
    shared.MARGIN_TO_FLIP.taken_by(soft.margins),
    shared.EXPECTED_SHARE.taken_by(soft.expected_shares),
)
