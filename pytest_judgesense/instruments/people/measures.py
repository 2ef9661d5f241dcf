"""The measures of a judge against labels of people, and of rates that the judge is used for."""

from __future__ import annotations

import math
from functools import partial
from typing import Final

from pytest_judgesense.measures.definition import Brief, Evidence, Measure

_floor: Final = partial(Measure, direction="higher", gate="floor")
_beside: Final = partial(Evidence, whole=True)
_OTHER: Final = _beside("replies that are not the label of people")

RECALL: Final = _floor(
    "recall",
    unit="call",
    meaning="the judge finds what people call so; of all labels the least",
    evidence=_OTHER,
    best="units",
    worst_over="label",
    sentence="of what people call so, the judge misses {rest} of {n}{silent} ({notes})",
    brief=Brief("recall"),
)
PEOPLE_KAPPA: Final = _floor(
    "people_kappa",
    unit="call",
    meaning="agreement with the label of people beyond chance (Cohen)",
    bounds=(-1.0, 1.0),
    evidence=_OTHER,
    best="kappa",
    sentence="judge and people agree with kappa {value}: 0 is chance, 1 is full agreement",
    brief=Brief("people kappa"),
)
PEOPLE_KAPPA_QUADRATIC: Final = _floor(
    "people_kappa_quadratic",
    unit="call",
    meaning="the same on a scale, weighted by squared distance (Cohen)",
    bounds=(-1.0, 1.0),
    evidence=_OTHER,
    sentence="judge and people agree with kappa {value}: 0 is chance, 1 is full agreement",
)
INFORMEDNESS: Final = _floor(
    "informedness",
    unit="call",
    meaning="how far the verdict depends on the label of people (Youden's J)",
    bounds=(-1.0, 1.0),
    evidence=_OTHER,
    sentence="Youden's J against people is {value}: 0 is a coin, 1 is always right",
    brief=Brief("J"),
)
CLASS_BIAS: Final = Measure(
    "class_bias",
    direction="lower",
    unit="call",
    meaning="a label is given more often, or more seldom, than by people; the worst label",
    gate="limit",
    evidence=_OTHER,
    worst_over="label",
    sentence="the judge's share of a label is {value} away from that of people ({notes})",
    brief=Brief("class bias"),
)
RELATIVE_AGREEMENT: Final = _floor(
    "relative_agreement",
    unit="item",
    meaning="agreement of the judge with a person, as a share of that between two people",
    bounds=(0.0, math.inf),
    evidence=_OTHER,
    sentence="judge and person agree {value} times as often as two people do ({notes})",
    brief=Brief("of ceiling"),
)
ANNOTATOR_WIN_RATE: Final = _floor(
    "annotator_win_rate",
    unit="person",
    meaning="the judge agrees with the other people as well as the person whom it replaces",
    evidence=_OTHER,
    sentence="the judge may replace {count} of {n} people ({notes})",
    decides=True,
    brief=Brief("alt-test"),
)
CORRECTED_RATE: Final = _floor(
    "corrected_rate",
    unit="item",
    meaning="the rate that people would give to all items, from the judge and few labels",
    evidence=_OTHER,
    sentence="the rate that people would give is {value} ({notes})",
)
CORRECTED_DIFFERENCE: Final = _floor(
    "corrected_difference",
    unit="item",
    meaning="the corrected rate of one system less that of another",
    bounds=(-1.0, 1.0),
    evidence=_OTHER,
    sentence="of the rates that people would give one less the other is {value} ({notes})",
)
