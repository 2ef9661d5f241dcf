"""The list of what the project itself gives through the hooks: one line an instrument."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.debate.kind import KINDS as DEBATE
from pytest_judgesense.instruments.debate.sections import REPORT as DEBATE_REPORT
from pytest_judgesense.instruments.ladder import kind as ladder
from pytest_judgesense.instruments.paraphrase import kind as paraphrase
from pytest_judgesense.instruments.temperature.kind import KINDS as TEMPERATURE
from pytest_judgesense.instruments.temperature.sections import REPORT as TEMPERATURE_REPORT
from pytest_judgesense.instruments.vacuum import kind as vacuum
from pytest_judgesense.profile import Word, any_above
from pytest_judgesense.registry import registry_of
from pytest_judgesense.sections import Report

INSTRUMENTS: Final = (
    paraphrase.KINDS,
    vacuum.KINDS,
    ladder.KINDS,
    DEBATE,
    TEMPERATURE,
)
REPORTS: Final = (
    vacuum.REPORT,
    ladder.REPORT,
    paraphrase.REPORT,
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
