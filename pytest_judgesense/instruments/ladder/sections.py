"""What the report shows of graded differences."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.ladder.figures import ladder_figures
from pytest_judgesense.instruments.ladder.profile import RULES
from pytest_judgesense.sections import Report, ReportSection

SECTIONS = (ReportSection("ladder", lambda *_: None, figures=ladder_figures),)
REPORT: Final = Report(SECTIONS, (), RULES)
