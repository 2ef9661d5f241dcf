"""The measures of a rubric judge's grades."""

from __future__ import annotations

import math
from functools import partial
from typing import Final

from pytest_judgesense.instruments.paraphrase.measures import (
    JSS_BINARY,
    KAPPA_QUADRATIC,
    WITHIN_ONE_AGREEMENT,
)
from pytest_judgesense.measures.definition import Brief, Evidence, Measure

SUITE: Final = "rubric"

_floor: Final = partial(Measure, direction="higher", gate="floor", suite=SUITE)
_lower: Final = partial(Measure, direction="lower", suite=SUITE)
# Evidence is of whole replies, because a criterion is not a condition of a trial.
_NEEDS_HUMAN: Final = 'grades of people: columns = { "people.CRITERION" = ["..."] } under [stimuli]'
_FAR_FROM_HUMAN: Final = Evidence("replies farthest from the human grade", whole=True)

# Over the grades of one scale.
ORDINAL: Final = (JSS_BINARY, WITHIN_ONE_AGREEMENT, KAPPA_QUADRATIC)
PASS_MARK_FLIPS: Final = _lower(
    "pass_mark_flips",
    unit="item",
    meaning="the output passes under one wording and not under another",
    gate="bound",
    evidence=Evidence("outputs on both sides of the mark", whole=True),
    best="units",
    sentence="for {count} of {n} outputs the wording decides whether they pass",
    brief=Brief("pass flips"),
)
CEILING_SHARE: Final = _lower(
    "ceiling_share",
    unit="grade",
    meaning="the highest grade of the scale",
    gate="limit",
    evidence=Evidence("replies with the highest grade", whole=True),
    sentence="{count} of {n} grades are the highest of their scale",
    brief=Brief("at ceiling"),
)
LEVELS_USED: Final = _floor(
    "levels_used",
    unit="grade",
    meaning="effective number of grades in use",
    bounds=(1.0, math.inf),
    margin=0.3,
    evidence=Evidence("replies with the most frequent grade", whole=True),
    sentence="the judge uses {value} grades of its scale",
)
SEPARABILITY: Final = _floor(
    "separability",
    unit="system pair",
    meaning="two systems have overall scores that differ beyond chance",
    evidence=Evidence("replies on two systems without a clear difference", whole=True),
    sentence="for {rest} of {n} pairs of systems the scores show no clear difference",
    brief=Brief("apart"),
)
HALO: Final = _lower(
    "halo",
    unit="call",
    meaning="correlation of two criteria beyond that of the human grades, or of the median pair, "
    "in the worst pair",
    gate="bound",
    bounds=(-2.0, 2.0),
    evidence=Evidence("replies that grade the two criteria alike", whole=True),
    sentence="grades of two criteria correlate by {value} more than they should ({notes})",
    brief=Brief("halo"),
)
MEAN_HALO: Final = _lower(
    "mean_halo",
    needs=_NEEDS_HUMAN,
    unit="call",
    meaning="correlation of two criteria beyond that of the human grades, mean over the pairs",
    gate="bound",
    bounds=(-2.0, 2.0),
    evidence=Evidence("replies that grade the worst two criteria alike", whole=True),
    sentence="grades of two criteria correlate by {value} more than they should, on average over "
    "the pairs",
    brief=Brief("mean halo"),
)
LENGTH_DEPENDENCE: Final = _lower(
    "length_dependence",
    unit="item",
    meaning="rank correlation of overall score and length, in absolute value",
    gate="limit",
    evidence=Evidence("replies on the longest and the shortest outputs", whole=True),
    sentence="overall score and length of the output have a rank correlation of {value}",
    brief=Brief("length"),
)
HUMAN_KAPPA: Final = _floor(
    "human_kappa",
    needs=_NEEDS_HUMAN,
    unit="call",
    meaning="agreement with human grades beyond chance, weighted by squared distance (Cohen)",
    bounds=(-1.0, 1.0),
    evidence=_FAR_FROM_HUMAN,
    sentence="grades of judge and humans agree with kappa {value}: 0 is chance, 1 is full "
    "agreement",
    brief=Brief("human kappa"),
)
HUMAN_CORRELATION: Final = _floor(
    "human_correlation",
    needs=_NEEDS_HUMAN,
    unit="item",
    meaning="rank correlation with human grades (Spearman)",
    bounds=(-1.0, 1.0),
    evidence=_FAR_FROM_HUMAN,
    sentence="judge and humans order the outputs with a correlation of {value}: 0 is no relation, "
    "1 the same order",
)
HUMAN_ERROR: Final = _lower(
    "human_error",
    needs=_NEEDS_HUMAN,
    unit="call",
    meaning="distance from the human grade, in steps of the scale",
    gate="bound",
    bounds=(0.0, math.inf),
    margin=0.2,
    evidence=_FAR_FROM_HUMAN,
    sentence="judge and humans are {value} steps apart",
)
HUMAN_BIAS: Final = Measure(
    "human_bias",
    needs=_NEEDS_HUMAN,
    unit="call",
    direction="construct",
    meaning="how far the grade lies above the human one, in steps of the scale",
)
MISSING_GRADES: Final = _lower(
    "missing_grades",
    unit="grade",
    meaning="a criterion without a grade of its scale, in replies received",
    gate="ceiling",
    evidence=Evidence("replies that lack a grade", whole=True),
    best="units",
    sentence="{count} of {n} grades are missing from the replies",
)
