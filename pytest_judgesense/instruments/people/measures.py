"""The measures of a judge against labels of people, and of rates that the judge is used for."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.measures.definition import Brief, Evidence, Measure, said_as
from pytest_judgesense.trial import LABEL

_floor: Final = partial(Measure, direction="higher", gate="floor")
_beside: Final = partial(Evidence, whole=True)
_OTHER: Final = _beside("replies that are not the label they are held against")
# The flag of a number that is held against the items' own label, and not against people.
AGAINST_LABEL: Final = "against the label"
_brief: Final = partial(Brief, aside=AGAINST_LABEL)
_NEEDS: Final = 'labels: columns = { label = "..." } or people = ["..."] under [stimuli]'
_NEEDS_PEOPLE: Final = 'labels of people: columns = { people = ["..."] } under [stimuli]'


def _against(of_people: str, of_label: str) -> Callable[[Estimate], str]:
    """From an estimate to the sentence that says whom the judge is held against.

    Both are formats of what sentences of measures say, and of the ``label`` that is spoken of.
    """

    def phrased(estimate: Estimate) -> str:
        form = of_label if AGAINST_LABEL in estimate.flags else of_people
        told = [flag for flag in estimate.flags if flag != AGAINST_LABEL]
        worst = next((flag for flag in told if flag.startswith(f"{LABEL} ")), "")
        label = estimate.condition.get(LABEL) or worst.removeprefix(f"{LABEL} ") or "so"
        return said_as(form, replace(estimate, flags=tuple(told)), label=str(label))

    return phrased


_kappa_words: Final = _against(
    "judge and people agree with kappa {value}: 0 is chance, 1 is full agreement",
    "judge and label agree with kappa {value}: 0 is chance, 1 is full agreement",
)

RECALL: Final = _floor(
    "recall",
    unit="call",
    meaning="the judge finds what people call so; of all labels the least",
    evidence=_OTHER,
    best="units",
    worst_over=LABEL,
    phrased=_against(
        "of what people call {label}, the judge misses {rest} of {n}{silent}",
        "of what is labelled {label}, the judge misses {rest} of {n}{silent}",
    ),
    brief=_brief("recall"),
    needs=_NEEDS,
)
PEOPLE_KAPPA: Final = _floor(
    "people_kappa",
    unit="call",
    meaning="agreement with the label of people beyond chance (Cohen)",
    bounds=(-1.0, 1.0),
    evidence=_OTHER,
    best="kappa",
    phrased=_kappa_words,
    brief=_brief("people kappa"),
    needs=_NEEDS,
)
PEOPLE_KAPPA_QUADRATIC: Final = _floor(
    "people_kappa_quadratic",
    unit="call",
    meaning="the same on a scale, weighted by squared distance (Cohen)",
    bounds=(-1.0, 1.0),
    evidence=_OTHER,
    phrased=_kappa_words,
    needs=f"{_NEEDS}, on a scale: ordinal = true under [space]",
)
INFORMEDNESS: Final = _floor(
    "informedness",
    unit="call",
    meaning="how far the verdict depends on the label of people (Youden's J)",
    bounds=(-1.0, 1.0),
    evidence=_OTHER,
    phrased=_against(
        "Youden's J against people is {value}: 0 is a coin, 1 is always right",
        "Youden's J against the label is {value}: 0 is a coin, 1 is always right",
    ),
    brief=_brief("J"),
    needs=_NEEDS,
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
    needs=_NEEDS_PEOPLE,
)
RELATIVE_AGREEMENT: Final = _floor(
    "relative_agreement",
    unit="item",
    meaning="agreement of the judge with a person, as a share of that between two people",
    bounds=(0.0, math.inf),
    evidence=_OTHER,
    sentence="judge and person agree {value} times as often as two people do ({notes})",
    brief=Brief("of ceiling"),
    needs=_NEEDS_PEOPLE,
)
ANNOTATOR_WIN_RATE: Final = _floor(
    "annotator_win_rate",
    unit="person",
    meaning="the judge agrees with the other people as well as the person whom it replaces",
    evidence=_OTHER,
    sentence="the judge may replace {count} of {n} people ({notes})",
    decides=True,
    brief=Brief("alt-test"),
    needs=_NEEDS_PEOPLE,
)
CORRECTED_RATE: Final = _floor(
    "corrected_rate",
    unit="item",
    meaning="the rate that people would give to all items, from the judge and few labels",
    evidence=_OTHER,
    sentence="the rate that people would give is {value} ({notes})",
    needs=_NEEDS_PEOPLE,
)
CORRECTED_DIFFERENCE: Final = _floor(
    "corrected_difference",
    unit="item",
    meaning="the corrected rate of one system less that of another",
    bounds=(-1.0, 1.0),
    evidence=_OTHER,
    sentence="of the rates that people would give one less the other is {value} ({notes})",
    needs=f"{_NEEDS_PEOPLE}, on outputs of two systems: a column system",
)
