"""The measures of a judge on pairs without a difference."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.measures.definition import Brief, Evidence, Measure, alone

DARK_CURRENT: Final = Measure(
    "dark_current",
    "lower",
    "call",
    "a winner is named where there is nothing to judge",
    gate="ceiling",
    suite="vacuum",
    evidence=Evidence("preferences where there is nothing to judge"),
    best="units",
    ranked=alone,
    sentence="the judge names a winner in {count} of {n} calls with nothing to judge",
    brief=Brief("dark current"),
)
SOFT_DARK_CURRENT: Final = DARK_CURRENT._replace(
    name="soft_dark_current",
    meaning="the probability of a winner where there is nothing to judge",
    evidence=Evidence("likely preferences where there is nothing to judge"),
    ranked=None,
    sentence="a winner has a probability of {value} where there is nothing to judge",
    brief=None,
    soft=True,
)
