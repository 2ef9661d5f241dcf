"""What another wording of the prompt changes."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.measures.measure import Evidence, Measure, later
from pytest_judgesense.measures.shared import (
    AGREEMENT,
    FAILED_RATE,
    ORDER,
    REPEAT_FLIP_RATE,
    UNPARSED_RATE,
)

_ROOM: Final = "pytest_judgesense.instruments.paraphrase"
_ESTIMATES: Final = later(f"{_ROOM}.estimators", "estimates")
_FLIPS: Final = Evidence("flips", later(f"{_ROOM}.estimators", "flips"))

JSS: Final = Measure(
    "jss",
    "higher",
    "template pair",
    "same verdict under two wordings of the prompt",
    _ESTIMATES,
    "floor",
    evidence=_FLIPS,
    stability=True,
    best="units",
)
FLIP_RATE: Final = Measure(
    "flip_rate",
    "lower",
    "template pair",
    "another verdict under another wording of the prompt",
    _ESTIMATES,
    "bound",
    evidence=_FLIPS,
    stability=True,
    best="units",
)
KAPPA: Final = Measure(
    "kappa",
    "higher",
    "template pair",
    "agreement of two wordings beyond chance (Cohen)",
    _ESTIMATES,
    "floor",
    bounds=(-1.0, 1.0),
    margin=0.1,
    evidence=_FLIPS,
    stability=True,
    best="kappa",
)
JSS_BINARY: Final = Measure(
    "jss_binary",
    "higher",
    "template pair",
    "ordinal labels: same side of the cut under two wordings",
    _ESTIMATES,
    "floor",
    evidence=Evidence("flips over the cut", later(f"{_ROOM}.estimators", "flips_over_the_cut")),
    stability=True,
    best="units",
)
WITHIN_ONE_AGREEMENT: Final = Measure(
    "within_one_agreement",
    "higher",
    "template pair",
    "ordinal labels: at most one step apart under two wordings",
    _ESTIMATES,
    "floor",
    evidence=Evidence(
        "flips of two steps and more", later(f"{_ROOM}.estimators", "flips_of_two_steps")
    ),
    stability=True,
    best="units",
)
KAPPA_QUADRATIC: Final = Measure(
    "kappa_quadratic",
    "higher",
    "template pair",
    "ordinal labels: agreement beyond chance, weighted by squared distance (Cohen)",
    _ESTIMATES,
    "floor",
    bounds=(-1.0, 1.0),
    margin=0.1,
    evidence=_FLIPS,
    stability=True,
)
MEASURES: Final = (
    JSS,
    FLIP_RATE,
    KAPPA,
    JSS_BINARY,
    WITHIN_ONE_AGREEMENT,
    KAPPA_QUADRATIC,
    *ORDER,
    AGREEMENT,
    # Where wordings vary, repeats are always reported: what one wording alone would flip.
    REPEAT_FLIP_RATE.taken_by(later("pytest_judgesense.measures.rates", "repeat_flips")),
    UNPARSED_RATE,
    FAILED_RATE,
)
