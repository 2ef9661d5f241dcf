"""What the report shows of graded differences."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.ladder.profile import WORDS
from pytest_judgesense.measures.measure import later
from pytest_judgesense.sections import Report, ReportSection

_FIGURES: Final = "pytest_judgesense.instruments.ladder.figures"

REPORT: Final = Report(
    sections=(ReportSection("ladder", figures=later(_FIGURES, "ladder_figures")),),
    words=WORDS,
    identities=(later("pytest_judgesense.instruments.ladder.estimators", "verify_identity"),),
)
