"""The effects of another wording of the prompt."""

from __future__ import annotations

import math
from functools import partial
from typing import Final

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.measures.definition import WORDINGS, Brief, Evidence, Measure
from pytest_judgesense.measures.shared import AGREEMENT
from pytest_judgesense.text.shown_change import ShownChange

_measure: Final = partial(
    Measure,
    unit=WORDINGS,
    evidence=Evidence("flips"),
    stability=True,
    needs="wordings: two [[templates]] or more",
)
_NEEDS_GRADES: Final = (
    "grades and wordings: ordinal = true under [space], two or more [[templates]]"
)
_floor: Final = partial(_measure, direction="higher", gate="floor")
_kappa: Final = partial(_floor, bounds=(-1.0, 1.0))

JSS: Final = _floor(
    name="jss",
    meaning="same verdict under two wordings of the prompt",
    best="units",
    sentence="{rest} of {n} verdicts change with the wording",
    brief=Brief("jss"),
    aspect="wording",
)
FLIP_RATE: Final = _measure(
    name="flip_rate",
    direction="lower",
    meaning="another verdict under another wording of the prompt",
    gate="bound",
    best="units",
    sentence="{count} of {n} verdicts change with the wording",
    complement=JSS.name,
)
KAPPA: Final = _kappa(
    name="kappa",
    meaning="agreement of two wordings beyond chance (Cohen)",
    best="kappa",
    sentence="two wordings agree with kappa {value}: 0 is chance, 1 is full agreement",
    brief=Brief("kappa"),
)
JSS_BINARY: Final = _floor(
    name="jss_binary",
    needs=_NEEDS_GRADES,
    meaning="ordinal labels: same side of the cut under two wordings",
    evidence=Evidence("flips over the cut"),
    best="units",
    sentence="{rest} of {n} verdicts cross the cut with the wording",
)
WITHIN_ONE_AGREEMENT: Final = _floor(
    name="within_one_agreement",
    needs=_NEEDS_GRADES,
    meaning="ordinal labels: at most one step apart under two wordings",
    evidence=Evidence("flips of two steps and more"),
    best="units",
    sentence="{rest} of {n} verdicts move by two steps or more with the wording",
)
KAPPA_QUADRATIC: Final = _kappa(
    name="kappa_quadratic",
    needs=_NEEDS_GRADES,
    meaning="ordinal labels: agreement beyond chance, weighted by squared distance (Cohen)",
    sentence="two wordings agree with kappa {value}: 0 is chance, 1 is full agreement",
)
AGREEMENT_WITHIN_ONE: Final = AGREEMENT._replace(
    name="agreement_within_one",
    meaning="ordinal labels: the verdict is at most one step from the label",
    evidence=Evidence("verdicts two steps and more from the label"),
    sentence="{rest} of {n} verdicts are two steps or more from the label",
    brief=None,
    needs=f"grades and {AGREEMENT.needs}; ordinal = true under [space]",
)
SOFT_JSS: Final = _floor(
    name="soft_jss",
    meaning="how alike the probabilities of the verdicts are under two wordings",
    evidence=Evidence("pairs whose probabilities differ most"),
    best="units",
    sentence="the probabilities under two wordings overlap by {value}, where 1 is entirely",
    soft=True,
)
# A flag of its estimate.
LENIENT: Final = "lenient (p <= .05)"


def _leniency_sentence(estimate: Estimate) -> str:
    change = ShownChange.of(estimate)
    points = math.floor(100 * abs(change.value) + 0.5)
    size = f"{points} points"
    return change.words(
        above=f"vague wrong answers pass {size} oftener than specific ones",
        below=f"vague wrong answers pass {size} more seldom than specific ones",
        neither="vague wrong answers do not visibly pass oftener than specific ones, by "
        f"{math.copysign(points, change.value):.0f} points",
    )


LENIENCY: Final = Measure(
    "leniency",
    direction="lower",
    unit="question",
    meaning="how much oftener a vague wrong answer passes than a specific one",
    gate="ceiling",
    bounds=(-1.0, 1.0),
    evidence=Evidence("vague wrong answers that pass where specific ones do not", whole=True),
    stability=True,
    phrased=_leniency_sentence,
    brief=Brief("leniency"),
    needs='controls: controls = "FILE" under [stimuli]',
)
# Those that compare two wordings.
OF_WORDINGS: Final = (
    JSS,
    FLIP_RATE,
    KAPPA,
    JSS_BINARY,
    WITHIN_ONE_AGREEMENT,
    KAPPA_QUADRATIC,
    SOFT_JSS,
)
