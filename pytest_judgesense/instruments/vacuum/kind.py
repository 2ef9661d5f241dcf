"""What the instrument provides through the hooks.

Its words of the profile: a dark current is faint from 0.05 on and strong from 0.2 on.
"""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.vacuum.measures import DARK_CURRENT, MEASURES
from pytest_judgesense.lazy import later
from pytest_judgesense.profile import Word, some
from pytest_judgesense.registry import SuiteKind
from pytest_judgesense.sections import Report

KINDS: Final = (
    SuiteKind(
        "vacuum",
        later("pytest_judgesense.instruments.vacuum.stimuli", "VACUUM"),
        MEASURES,
        call_measure=DARK_CURRENT.name,
        call_score=later("pytest_judgesense.measures.evidence", "prefers"),
    ),
)
REPORT: Final = Report(
    words=(
        Word("vacuum-clean", some(DARK_CURRENT.name, lambda dark: dark <= 0.05)),
        Word("faint dark current", some(DARK_CURRENT.name, lambda dark: 0.05 < dark < 0.2)),
        Word("strong dark current", some(DARK_CURRENT.name, lambda dark: dark >= 0.2)),
    ),
)
