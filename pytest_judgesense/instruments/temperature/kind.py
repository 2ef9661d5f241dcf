"""What the instrument gives through the hooks."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.temperature.measures import (
    MEASURES,
    RECOMMENDED_TEMPERATURE,
    TEMPERATURE_EFFECT_BOUND,
)
from pytest_judgesense.measures.measure import later
from pytest_judgesense.registry import SuiteKind

KINDS: Final = (
    SuiteKind(
        "temperature",
        later("pytest_judgesense.instruments.temperature.stimuli", "TEMPERATURE"),
        MEASURES,
        (RECOMMENDED_TEMPERATURE, TEMPERATURE_EFFECT_BOUND),
    ),
)
