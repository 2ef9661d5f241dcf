"""What the instrument gives through the hooks."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.debate.measures import MEASURES, RANKED_FIRST
from pytest_judgesense.measures.measure import later
from pytest_judgesense.registry import SuiteKind

KINDS: Final = (
    SuiteKind(
        "debate",
        later("pytest_judgesense.instruments.debate.stimuli", "DEBATE"),
        MEASURES,
        (RANKED_FIRST,),
    ),
)
