"""What the instrument provides through the hooks.

Its words of the profile, with DC the dark current, RFP, SCS and PFP the raw, stable and positional
false preference: a judge with RFP >= 0.1 is presentation-conflicted if PFP > RFP / 2 and DC >= 0.2,
else mixed if SCS and PFP are both at least RFP / 4, else positional if PFP > RFP / 2. A dark
current is faint from 0.05 on and strong from 0.2 on, where none of these words stands.
"""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.vacuum.measures import DARK_CURRENT, MEASURES
from pytest_judgesense.measures.measure import later
from pytest_judgesense.profile import Estimates, Word, one_of, some, values
from pytest_judgesense.registry import SuiteKind
from pytest_judgesense.sections import Report, ReportSection
from pytest_judgesense.trial import ABSTAIN, TIE, Judgment

_FALSE_PREFERENCE: Final = (
    "raw_false_preference",
    "stable_cross_sensitivity",
    "positional_false_preference",
)


def _prefers(judgment: Judgment) -> float:
    return float(judgment.verdict is not None and judgment.chosen not in (TIE, ABSTAIN))


def _position(estimates: Estimates) -> str | None:
    """The word for the composition of the false preference, if there is enough of it."""
    found = [values(estimates, name) for name in _FALSE_PREFERENCE]
    if not all(found) or found[0][0] < 0.1:
        return None
    raw, stable, positional = (of[0] for of in found)
    mostly_positional = positional > raw / 2
    if mostly_positional and _strong_dark(estimates):
        return "presentation-conflicted"
    if min(stable, positional) >= raw / 4:
        return "mixed stable-positional"
    return "positional" if mostly_positional else None


_strong_dark: Final = some("dark_current", lambda dark: dark >= 0.2)
_faint_dark: Final = some("dark_current", lambda dark: 0.05 < dark < 0.2)

KINDS: Final = (
    SuiteKind(
        "vacuum",
        later("pytest_judgesense.instruments.vacuum.stimuli", "VACUUM"),
        MEASURES,
        call_measure=DARK_CURRENT.name,
        call_score=_prefers,
    ),
)
_FIGURES: Final = later("pytest_judgesense.instruments.ladder.figures", "vacuum_figures")
REPORT: Final = Report(
    sections=(ReportSection("metrology", figures=_FIGURES),),
    words=(
        *one_of(_position, "presentation-conflicted", "mixed stable-positional", "positional"),
        Word("vacuum-clean", some("dark_current", lambda dark: dark <= 0.05)),
        Word("faint dark current", lambda e: _faint_dark(e) and not _position(e)),
        Word("strong dark current", lambda e: _strong_dark(e) and not _position(e)),
    ),
)
