"""What the room gives to the list of all: measures of stated confidence, and their report.

Words of the profile: a judge is overconfident, or underconfident, where the interval of its
overconfidence lies above 0, or below.
"""

from __future__ import annotations

from typing import Final

from pytest_judgesense.datasheets.profile import Estimates, Word, pooled
from pytest_judgesense.datasheets.sections import Report, ReportSection
from pytest_judgesense.instruments.confidence import estimators, measures, tables
from pytest_judgesense.measures.definition import Measure, taken_by

JOINED: Final[tuple[Measure, ...]] = (
    measures.OVERCONFIDENCE.taken_by(estimators.confidence_estimates, estimators.surest_wrong),
    *taken_by(estimators.confidence_estimates, measures.BRIER_SCORE, measures.BRIER_RESOLUTION),
)


def _flagged(flag: str) -> Word:
    def holds(estimates: Estimates) -> bool:
        measured = pooled(estimates, measures.OVERCONFIDENCE.name)
        return any(flag in estimate.flags for estimate in measured)

    return Word(flag, holds, each=True)


REPORT: Final = Report(
    sections=(
        ReportSection(
            tables.RELIABILITY,
            tables.by_confidence,
            tables.confidence_lines,
            below=tables.unstated_lines,
            with_tables=True,
            figures=tables.reliability_figures,
            title="Stated confidence, and what came true",
        ),
    ),
    words=(_flagged(measures.OVERCONFIDENT), _flagged(measures.UNDERCONFIDENT)),
)
