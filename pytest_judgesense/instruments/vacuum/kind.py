"""What the instrument gives through the hooks."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.vacuum.measures import DARK_CURRENT, MEASURES
from pytest_judgesense.measures.measure import later
from pytest_judgesense.registry import SuiteKind
from pytest_judgesense.trial import ABSTAIN, TIE, Judgment


def _prefers(judgment: Judgment) -> float:
    return float(judgment.verdict is not None and judgment.chosen not in (TIE, ABSTAIN))


KINDS: Final = (
    SuiteKind(
        "vacuum",
        later("pytest_judgesense.instruments.vacuum.stimuli", "VACUUM"),
        MEASURES,
        call_measure=DARK_CURRENT.name,
        call_score=_prefers,
    ),
)
