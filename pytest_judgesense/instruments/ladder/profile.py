"""Words of the profile on graded differences: sensitive from 75% at distance 1 on."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.profile import Estimates, Word, some, values

_SHARES: Final = (
    "raw_false_preference",
    "stable_cross_sensitivity",
    "positional_false_preference",
)

WORDS: Final = (
    Word("sensitive", some("target_sensitivity", lambda rate: rate >= 0.75, distance=1)),
    Word("insensitive", some("target_sensitivity", lambda rate: rate < 0.75, distance=1)),
)


def shares_of_false_preference(estimates: Estimates) -> tuple[float, float, float] | None:
    """Raw, stable and positional false preference, where the first is large enough to describe."""
    found = [values(estimates, name) for name in _SHARES]
    if not all(found) or found[0][0] < 0.1:
        return None
    return found[0][0], found[1][0], found[2][0]
