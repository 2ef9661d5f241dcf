"""The measures of a judge on pairs without a difference, and the words of the profile.

A dark current is faint from 0.05 on and strong from 0.2 on.
"""

from __future__ import annotations

from typing import Final

from pytest_judgesense.datasheets.profile import Word, some
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


WORDS: Final = (
    Word("vacuum-clean", some(DARK_CURRENT.name, lambda dark: dark <= 0.05)),
    Word("faint dark current", some(DARK_CURRENT.name, lambda dark: 0.05 < dark < 0.2)),
    Word("strong dark current", some(DARK_CURRENT.name, lambda dark: dark >= 0.2)),
)
