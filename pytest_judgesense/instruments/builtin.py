"""The list of what the project itself gives through the hooks: one line an instrument."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.debate import kind as debate
from pytest_judgesense.instruments.ladder import kind as ladder
from pytest_judgesense.instruments.paraphrase import kind as paraphrase
from pytest_judgesense.instruments.temperature import kind as temperature
from pytest_judgesense.instruments.vacuum import kind as vacuum
from pytest_judgesense.profile import Word, any_above
from pytest_judgesense.registry import registry_of
from pytest_judgesense.sections import Report

INSTRUMENTS: Final = (
    paraphrase,
    vacuum,
    ladder,
    debate,
    temperature,
)
REPORTS: Final = (
    vacuum.REPORT,
    ladder.REPORT,
    paraphrase.REPORT,
    temperature.REPORT,
    debate.REPORT,
    # What every kind of suite has.
    Report(
        words=(
            Word("one-sided", any_above("side_bias", 0.1)),
            Word("unreliable in form", any_above("unparsed_rate", 0.02)),
        )
    ),
)
BUILT_IN: Final = registry_of(
    (kind for room in INSTRUMENTS for kind in room.KINDS), reports=REPORTS
)
