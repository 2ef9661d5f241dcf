"""What the instrument gives through the hooks."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.ladder.measures import (
    CRITERION_MEASURES,
    CRITERION_TRADEOFF,
    LADDER_MEASURES,
    TARGET_SENSITIVITY,
)
from pytest_judgesense.measures.measure import later
from pytest_judgesense.registry import SuiteKind

_STIMULI: Final = "pytest_judgesense.instruments.ladder.stimuli"
KINDS: Final = (
    SuiteKind(
        "ladder",
        later(_STIMULI, "LADDER"),
        LADDER_MEASURES,
        call_measure=TARGET_SENSITIVITY.name,
    ),
    SuiteKind(
        "criterion",
        later(_STIMULI, "CRITERION"),
        CRITERION_MEASURES,
        (CRITERION_TRADEOFF,),
        call_measure=TARGET_SENSITIVITY.name,
    ),
)
