"""What the instrument gives to the list of all: what it measures on its suites, and its report."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.datasheets.sections import Report
from pytest_judgesense.instruments.vacuum import estimators
from pytest_judgesense.instruments.vacuum.measures import DARK_CURRENT, SOFT_DARK_CURRENT, WORDS
from pytest_judgesense.instruments.vacuum.stimuli import VACUUM
from pytest_judgesense.measures.definition import taken_by
from pytest_judgesense.measures.every_suite import ORDER, REPLIES, SOFT, prefers
from pytest_judgesense.measures.shared import ABSTAIN_RATE, TIE_RATE
from pytest_judgesense.registry import Instrument

INSTRUMENTS: Final = (
    Instrument(
        VACUUM,
        measures=(
            *taken_by(estimators.estimates, DARK_CURRENT, TIE_RATE, ABSTAIN_RATE),
            *ORDER,
            *REPLIES,
            SOFT_DARK_CURRENT.taken_by(estimators.soft_estimates, estimators.preferring),
            *SOFT,
        ),
        call_measure=DARK_CURRENT.name,
        call_score=prefers,
    ),
)
REPORT: Final = Report(words=WORDS)
