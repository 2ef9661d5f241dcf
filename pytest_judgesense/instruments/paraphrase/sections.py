"""What the report shows of stability under rewording."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.paraphrase.profile import WORDS
from pytest_judgesense.measures.measure import later
from pytest_judgesense.sections import Comparison, Report, ReportSection

_ROOM: Final = "pytest_judgesense.instruments.paraphrase"
_TABLES: Final = f"{_ROOM}.tables"

REPORT: Final = Report(
    sections=(
        ReportSection(
            "tier",
            later(_TABLES, "tier"),
            later(_TABLES, "tier_lines"),
            figures=later(f"{_ROOM}.figures", "wording_figures"),
        ),
        ReportSection(
            "templates",
            later(_TABLES, "templates"),
            later(_TABLES, "template_lines"),
            covers=("template_pair",),
            beside=later(_TABLES, "by_pair"),
        ),
        ReportSection("flips_by_wording", kinds=("paraphrase",), flips=later(_TABLES, "flips")),
        ReportSection(
            "equivalence", later(_TABLES, "equivalence"), later(_TABLES, "equivalence_lines")
        ),
    ),
    comparisons=(
        Comparison(
            "leaderboard",
            later(_TABLES, "leaderboard"),
            later(_TABLES, "board"),
            later(_TABLES, "board_lines"),
        ),
    ),
    words=WORDS,
    doubts=(later(f"{_ROOM}.estimators", "wording_notices"),),
)
