"""What the instrument gives through the hooks."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.ladder.measures import (
    CRITERION_MEASURES,
    CRITERION_TRADEOFF,
    LADDER_MEASURES,
)
from pytest_judgesense.registry import SuiteKind

KINDS: Final = (
    SuiteKind("ladder", measures=LADDER_MEASURES),
    SuiteKind("criterion", measures=CRITERION_MEASURES, checks=(CRITERION_TRADEOFF,)),
)
