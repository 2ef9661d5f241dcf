"""What the report shows of graded differences."""

from __future__ import annotations

from pytest_judgesense.instruments.ladder.figures import ladder_figures
from pytest_judgesense.registry_sections import ReportSection

SECTIONS = (ReportSection("ladder", lambda *_: None, figures=ladder_figures),)
