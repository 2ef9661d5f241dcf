"""The measures of a judge on pairs without a difference."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.lazy import later
from pytest_judgesense.measures.measure import Brief, Evidence, Measure, alone
from pytest_judgesense.measures.shared import ABSTAIN_RATE, ORDER, REPLIES, SOFT, TIE_RATE

_ESTIMATES: Final = later("pytest_judgesense.instruments.vacuum.estimators", "estimates")

DARK_CURRENT: Final = Measure(
    "dark_current",
    "lower",
    "call",
    "a winner is named where there is nothing to judge",
    _ESTIMATES,
    "ceiling",
    "vacuum",
    evidence=Evidence("preferences where there is nothing to judge"),
    best="units",
    ranked=alone,
    sentence="the judge names a winner in {count} of {n} calls with nothing to judge",
    brief=Brief("dark current"),
)
_SOFT: Final = "pytest_judgesense.instruments.vacuum.soft"
SOFT_DARK_CURRENT: Final = DARK_CURRENT._replace(
    name="soft_dark_current",
    meaning="the probability of a winner where there is nothing to judge",
    estimator=later(_SOFT, "estimates"),
    evidence=Evidence(
        "likely preferences where there is nothing to judge", later(_SOFT, "preferring")
    ),
    ranked=None,
    sentence="a winner has a probability of {value} where there is nothing to judge",
    brief=None,
    soft=True,
)
MEASURES: Final = (
    DARK_CURRENT,
    *(measure.taken_by(_ESTIMATES) for measure in (TIE_RATE, ABSTAIN_RATE)),
    *ORDER,
    *REPLIES,
    SOFT_DARK_CURRENT,
    *SOFT,
)
