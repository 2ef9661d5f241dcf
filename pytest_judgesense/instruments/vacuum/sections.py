"""What the report shows of a judge that was shown nothing."""

from __future__ import annotations

from pytest_judgesense.instruments.vacuum.figures import vacuum_figures
from pytest_judgesense.registry_sections import ReportSection

SECTIONS = (ReportSection("metrology", lambda *_: None, figures=vacuum_figures),)
