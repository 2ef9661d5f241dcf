"""Words of the profile on stability under rewording.

Stable is a judge with every JSS at least 0.9 and every kappa at least 0.8, moderately stable with
every JSS at least 0.8; degenerate suites are left out of both, and have a word of their own.
"""

from __future__ import annotations

from typing import Final

from pytest_judgesense.profile import Estimates, Word, pooled, values


def _degenerate(estimates: Estimates) -> bool:
    return any("degenerate" in one.flags for one in pooled(estimates, "jss"))


def _jss(estimates: Estimates) -> list[float]:
    """Every JSS of a judge that did not say the same to everything."""
    return [e.value or 0.0 for e in pooled(estimates, "jss") if "degenerate" not in e.flags]


def _stable(estimates: Estimates) -> bool:
    jss = _jss(estimates)
    return bool(jss) and min(jss) >= 0.9 and all(k >= 0.8 for k in values(estimates, "kappa"))


def _moderate(estimates: Estimates) -> bool:
    jss = _jss(estimates)
    return bool(jss) and min(jss) >= 0.8 and not _stable(estimates)


WORDS: Final = (
    Word("degenerate", _degenerate, each=True, first=True),
    Word("stable", _stable),
    Word("moderately stable", _moderate),
    Word("wording-sensitive", lambda e: any(jss < 0.8 for jss in _jss(e))),
)
