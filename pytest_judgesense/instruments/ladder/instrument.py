"""What the instrument gives to the list of all: what it measures on its suites, and its report."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.datasheets.sections import Report, ReportSection
from pytest_judgesense.instruments.ladder.checks import CRITERION_TRADEOFF
from pytest_judgesense.instruments.ladder.estimators import (
    criterion_estimates,
    ladder_estimates,
    verify_identity,
)
from pytest_judgesense.instruments.ladder.figures import ladder_figures
from pytest_judgesense.instruments.ladder.measures import (
    CRITERION_SHIFT,
    FILLER_PREFERENCE,
    OF_BOTH,
    PLAIN_PREFERENCE,
    TARGET_SENSITIVITY,
    WORDS,
)
from pytest_judgesense.instruments.ladder.paper import PAPER
from pytest_judgesense.instruments.ladder.stimuli import CRITERION, LADDER
from pytest_judgesense.instruments.vacuum.measures import DARK_CURRENT
from pytest_judgesense.measures.definition import taken_by
from pytest_judgesense.measures.every_suite import ORDER, REPLIES, SOFT
from pytest_judgesense.registry import Instrument

INSTRUMENTS: Final = (
    Instrument(
        LADDER,
        measures=(
            *taken_by(ladder_estimates, *OF_BOTH, FILLER_PREFERENCE, PLAIN_PREFERENCE),
            *ORDER,
            *REPLIES,
            *SOFT,
        ),
        call_measure=TARGET_SENSITIVITY.name,
        papers=(PAPER,),
    ),
    Instrument(
        CRITERION,
        measures=(
            *taken_by(criterion_estimates, *OF_BOTH, DARK_CURRENT, CRITERION_SHIFT),
            *ORDER,
            *REPLIES,
            *SOFT,
        ),
        checks=(CRITERION_TRADEOFF,),
        call_measure=TARGET_SENSITIVITY.name,
    ),
)
REPORT: Final = Report(
    sections=(ReportSection("ladder", figures=ladder_figures),),
    words=WORDS,
    identities=(verify_identity,),
)
