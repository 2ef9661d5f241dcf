"""Words of the profile.

With DC the dark current, RFP, SCS and PFP the raw, stable and positional false preference: a judge
with RFP >= 0.1 is presentation-conflicted if PFP > RFP / 2 and DC >= 0.2, else mixed if SCS and PFP
are both at least RFP / 4, else positional if PFP > RFP / 2. Each of these says more than a faint or
strong dark current, and stands in its place. Sensitive is a judge from 75% at distance 1 on.
"""

from __future__ import annotations

from typing import Final

from pytest_judgesense.datasheets.profile import Estimates, Word, one_of, some, values
from pytest_judgesense.instruments.ladder.measures import (
    POSITIONAL_FALSE_PREFERENCE,
    RAW_FALSE_PREFERENCE,
    STABLE_CROSS_SENSITIVITY,
    TARGET_SENSITIVITY,
)
from pytest_judgesense.instruments.vacuum.measures import DARK_CURRENT

_PREFERENCES: Final = (RAW_FALSE_PREFERENCE, STABLE_CROSS_SENSITIVITY, POSITIONAL_FALSE_PREFERENCE)
_strong_dark: Final = some(DARK_CURRENT.name, lambda dark: dark >= 0.2)


def _position(estimates: Estimates) -> str | None:
    """The word for the composition of the false preference, if there is enough of it."""
    preferences = [values(estimates, measure.name) for measure in _PREFERENCES]
    if not all(preferences) or preferences[0][0] < 0.1:
        return None
    raw, stable, positional = (of_suites[0] for of_suites in preferences)
    mostly_positional = positional > raw / 2
    if mostly_positional and _strong_dark(estimates):
        return "presentation-conflicted"
    if min(stable, positional) >= raw / 4:
        return "mixed stable-positional"
    return "positional" if mostly_positional else None


WORDS: Final = (
    *one_of(
        _position,
        "presentation-conflicted",
        "mixed stable-positional",
        "positional",
        first=1,
        instead_of=("faint dark current", "strong dark current"),
    ),
    Word("sensitive", some(TARGET_SENSITIVITY.name, lambda rate: rate >= 0.75, distance=1)),
    Word("insensitive", some(TARGET_SENSITIVITY.name, lambda rate: rate < 0.75, distance=1)),
)
