"""What the instrument gives through the hooks."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.paraphrase.measures import MEASURES
from pytest_judgesense.measures.measure import later
from pytest_judgesense.registry import SuiteKind

KINDS: Final = (
    SuiteKind(
        "paraphrase",
        later("pytest_judgesense.instruments.paraphrase.stimuli", "PARAPHRASE"),
        MEASURES,
    ),
)
