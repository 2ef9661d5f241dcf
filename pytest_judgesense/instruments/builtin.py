"""The list of what the project itself gives through the hooks: one line an instrument."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.debate.kind import KINDS as DEBATE
from pytest_judgesense.instruments.ladder.kind import KINDS as LADDER
from pytest_judgesense.instruments.paraphrase.kind import KINDS as PARAPHRASE
from pytest_judgesense.instruments.temperature.kind import KINDS as TEMPERATURE
from pytest_judgesense.instruments.vacuum.kind import KINDS as VACUUM
from pytest_judgesense.registry import registry_of

INSTRUMENTS: Final = (
    PARAPHRASE,
    VACUUM,
    LADDER,
    DEBATE,
    TEMPERATURE,
)
BUILT_IN: Final = registry_of(kind for kinds in INSTRUMENTS for kind in kinds)
