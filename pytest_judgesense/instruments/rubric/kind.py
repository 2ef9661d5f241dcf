"""What the instrument provides through the hooks, and its part of the report.

Words of the profile: a judge is at the ceiling if more than half of its grades are the highest,
unseparating if it separates fewer than half of the pairs of systems, halo-prone with a halo above
0.2, length-led with a length dependence above 0.3.
"""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.rubric.measures import MEASURES, SUITE, here
from pytest_judgesense.profile import Word, any_above, some
from pytest_judgesense.registry import SuiteKind
from pytest_judgesense.sections import Report, ReportSection

KINDS: Final = (
    SuiteKind(
        SUITE,
        here("stimuli", "RUBRIC"),
        MEASURES,
        call_score=here("grades", "share_right"),
        skills=(here("simulated", "grade_output"),),
    ),
)
REPORT: Final = Report(
    sections=(
        ReportSection(
            "grades",
            here("tables", "grades"),
            here("tables", "grade_lines"),
            kinds=(SUITE,),
            covers=("criterion",),
            title="Grades by criterion",
        ),
        ReportSection(
            "criterion_pairs",
            here("tables", "pairs"),
            here("tables", "pair_lines"),
            kinds=(SUITE,),
            covers=("criterion_pair",),
            with_tables=True,
            title="Correlations of the criteria",
        ),
        ReportSection(
            "systems",
            here("tables", "systems"),
            here("tables", "system_lines"),
            kinds=(SUITE,),
            title="Mean scores of the systems",
        ),
    ),
    words=(
        Word("at the ceiling", any_above("ceiling_share", 0.5)),
        Word("unseparating", some("separability", lambda share: share < 0.5)),
        Word("halo-prone", any_above("halo", 0.2)),
        Word("length-led", any_above("length_dependence", 0.3)),
    ),
)
