"""What the report shows of a judge that was shown nothing."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.vacuum.figures import vacuum_figures
from pytest_judgesense.instruments.vacuum.profile import RULES
from pytest_judgesense.sections import Report, ReportSection

SECTIONS = (ReportSection("metrology", lambda *_: None, figures=vacuum_figures),)
REPORT: Final = Report(SECTIONS, (), RULES)
