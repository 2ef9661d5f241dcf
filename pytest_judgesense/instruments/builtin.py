"""The list of what the project itself gives through the hooks: one line an instrument."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.debate.kind import KINDS as DEBATE
from pytest_judgesense.instruments.debate.kind import REPORT as DEBATE_REPORT
from pytest_judgesense.instruments.ladder.kind import KINDS as LADDER
from pytest_judgesense.instruments.ladder.sections import REPORT as LADDER_REPORT
from pytest_judgesense.instruments.paraphrase.kind import KINDS as PARAPHRASE
from pytest_judgesense.instruments.paraphrase.sections import REPORT as PARAPHRASE_REPORT
from pytest_judgesense.instruments.temperature.kind import KINDS as TEMPERATURE
from pytest_judgesense.instruments.temperature.kind import REPORT as TEMPERATURE_REPORT
from pytest_judgesense.instruments.vacuum.kind import KINDS as VACUUM
from pytest_judgesense.instruments.vacuum.sections import REPORT as VACUUM_REPORT
from pytest_judgesense.profile import Word, any_above
from pytest_judgesense.registry import registry_of
from pytest_judgesense.sections import Report

INSTRUMENTS: Final = (
    PARAPHRASE,
    VACUUM,
    LADDER,
    DEBATE,
    TEMPERATURE,
)
REPORTS: Final = (
    VACUUM_REPORT,
    LADDER_REPORT,
    PARAPHRASE_REPORT,
    TEMPERATURE_REPORT,
    DEBATE_REPORT,
    # What every kind of suite has.
    Report(
        words=(
            Word("one-sided", any_above("side_bias", 0.1)),
            Word("unreliable in form", any_above("unparsed_rate", 0.02)),
        )
    ),
)
BUILT_IN: Final = registry_of((kind for kinds in INSTRUMENTS for kind in kinds), reports=REPORTS)
