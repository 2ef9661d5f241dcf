"""What the report shows of a judge that was shown nothing."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.vacuum.profile import WORDS
from pytest_judgesense.measures.measure import later
from pytest_judgesense.sections import Report, ReportSection

_FIGURES: Final = "pytest_judgesense.instruments.vacuum.figures"

REPORT: Final = Report(
    sections=(ReportSection("metrology", figures=later(_FIGURES, "vacuum_figures")),), words=WORDS
)
