"""Measures of several suite kinds: of the presentation order, and of single replies.

How they are estimated where a kind has nothing of its own stands in `every_suite`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import Final

from pytest_judgesense.estimate import Estimate, compact
from pytest_judgesense.measures.definition import Brief, Evidence, Measure
from pytest_judgesense.text.shown_change import ShownChange
from pytest_judgesense.trial import Design, Judgment, Trial

_POSITIONAL: Final = Evidence("pairs won by a slot")
_NEEDS_PAIRS: Final = 'pairs: pairwise = true under [space], orders = "both" under [design]'
_of_pairs: Final = partial(Measure, unit="canonical pair", needs=_NEEDS_PAIRS)
_bound: Final = partial(_of_pairs, direction="lower", gate="bound", best="units")
_ceiling: Final = partial(Measure, direction="lower", unit="call", gate="ceiling", best="units")


def _of_side(estimate: Estimate) -> str:
    """The sentence about a side bias: without a count it is a mean of both orders."""
    if estimate.count is None:
        return (
            f"the first slot's share lies {compact(estimate.value or 0.0)} from one half, the mean "
            f"of both orders ({estimate.n} decisive answers)"
        )
    return f"the first slot gets {estimate.count:g} of {estimate.n} decisive answers"


SIDE_BIAS: Final = Measure(
    name="side_bias",
    direction="lower",
    unit="call",
    meaning="distance of the first slot's share of decisive answers from one half",
    gate="limit",
    bounds=(0.0, 0.5),
    evidence=_POSITIONAL,
    best="half",
    phrased=_of_side,
    brief=Brief("side bias"),
    needs=_NEEDS_PAIRS,
)
FIRST_SLOT_RATE: Final = Measure(
    name="first_slot_rate",
    direction="construct",
    unit="call",
    meaning="the first slot's share of decisive answers",
    conditional=True,
)
ORDER_STABLE: Final = _of_pairs(
    name="order_stable", direction="construct", meaning="the same content wins in both orders"
)
ORDER_POSITIONAL: Final = _bound(
    name="order_positional",
    meaning="the same slot wins in both orders",
    evidence=_POSITIONAL,
    sentence="the position decides {count} of {n} comparisons",
    brief=Brief("position"),
    aspect="order",
)
ORDER_ONE_SIDED: Final = _bound(
    name="order_one_sided",
    meaning="a winner in just one of the orders",
    evidence=Evidence("pairs decided in one order only"),
    sentence="{count} of {n} comparisons have a winner in one order only",
)
ORDER_TIED: Final = _of_pairs(
    name="order_tied", direction="construct", meaning="a tie in both orders"
)
# What both orders of a pair may say together.
DECOMPOSED: Final = (ORDER_STABLE, ORDER_POSITIONAL, ORDER_ONE_SIDED, ORDER_TIED)

AGREEMENT: Final = Measure(
    "agreement",
    "higher",
    "call",
    "verdict equals the label",
    gate="floor",
    evidence=Evidence("replies that are not the label"),
    best="units",
    sentence="{rest} of {n} replies do not give the label{silent}",
    brief=Brief("agreement"),
    needs='labels: columns = { label = "..." } under [stimuli]',
)
REPEAT_FLIP_RATE: Final = Measure(
    "repeat_flip_rate",
    "lower",
    "item",
    "items whose replicates disagree",
    gate="bound",
    evidence=Evidence("items whose replicates disagree"),
    best="units",
    gains_with=AGREEMENT.name,
    sentence="{count} of {n} items get another verdict when asked again",
    brief=Brief("repeat flips"),
    needs="repeats: replicates = 2 or more under [design]",
)
UNPARSED_RATE: Final = _ceiling(
    name="unparsed_rate",
    meaning="replies that state no usable verdict",
    evidence=Evidence("replies without a verdict"),
    sentence="{count} of {n} replies state no usable verdict",
)
REFUSAL_RATE: Final = _ceiling(
    name="refusal_rate",
    meaning="replies that decline to judge",
    evidence=Evidence("replies that decline to judge"),
    sentence="{count} of {n} replies decline to judge",
    quiet=True,
)
FAILED_RATE: Final = _ceiling(
    name="failed_rate",
    meaning="calls without a reply",
    evidence=Evidence("calls without a reply"),
    sentence="{count} of {n} calls have no reply",
)

# Measures of the probabilities behind verdicts, if judgments have them.
EXPECTED_SHARE: Final = Measure(
    "expected_share",
    "construct",
    "call",
    "the probability of a verdict, mean over the calls",
    soft=True,
)
EXPECTED_AGREEMENT: Final = Measure(
    "expected_agreement",
    "higher",
    "call",
    "the probability of the label",
    gate="floor",
    evidence=Evidence("labels with less than an even chance"),
    best="units",
    sentence="the right label has a probability of {value}",
    soft=True,
)
MARGIN_TO_FLIP: Final = EXPECTED_SHARE._replace(
    name="margin_to_flip",
    meaning="how far the likeliest verdict stands above the second, in log-odds",
)


def _position_sentence(estimate: Estimate) -> str:
    moves = "the position moves the preference, in log-odds"
    neither = "the position does not visibly move the preference, in log-odds"
    return ShownChange.of(estimate).sentence(
        above=moves, below=moves, neither=neither, text_of=compact
    )


SOFT_POSITION_EFFECT: Final = Measure(
    "soft_position_effect",
    "lower",
    "canonical pair",
    "the slot's share of the preference, in log-odds",
    gate="limit",
    bounds=(0.0, 14.0),
    margin=0.2,
    evidence=Evidence("pairs that lean most to a slot"),
    phrased=_position_sentence,
    soft=True,
)

# For kinds that permit a tie, each over its own calls.
TIE_RATE: Final = Measure("tie_rate", "construct", "call", "a tie is chosen")
ABSTAIN_RATE: Final = TIE_RATE._replace(
    name="abstain_rate", meaning="the judge abstains, where that is a verdict", quiet=True
)


# Flags of a share of a slot, or a side, that may be one of a content.
ONE_ORDER: Final = "one presentation order only"
UNBALANCED: Final = "contents are not balanced over the slots"
NOT_EXCHANGED: Final = "not every topic was debated with exchanged sides"


def confounded(flags: Iterable[str]) -> bool:
    """Whether one of the flags says that slot and content, or side and debater, are confounded."""
    return not {ONE_ORDER, UNBALANCED, NOT_EXCHANGED}.isdisjoint(flags)


def right(judgment: Judgment) -> float | None:
    """1 for a verdict that equals the label, else 0; ``None`` without a label."""
    return None if judgment.correct is None else float(judgment.correct)


def place_of_label(design: Design, trial: Trial) -> float:
    """The place of the label among labels in order, from 0 to 1; NaN without one."""
    return math.nan if trial.label is None else place_on_scale(design, trial.label)


def place_on_scale(design: Design, verdict: str) -> float:
    """The place of a verdict among labels in order, from 0 to 1; NaN for another verdict."""
    labels = design.labels
    if not design.ordinal or len(labels) < 2 or verdict not in labels:
        return math.nan
    return labels.index(verdict) / (len(labels) - 1)
