"""What the instrument gives through the hooks, and what the report shows of rubric judges.

Its words of the profile: at the ceiling is a judge of which the highest grade is more than half of
the grades, unseparating one that tells fewer than half of the pairs of systems apart, halo-prone
one with a halo of more than 0.2, length-led one with a length dependence of more than 0.3.
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
        ),
        ReportSection(
            "systems", here("tables", "systems"), here("tables", "system_lines"), kinds=(SUITE,)
        ),
    ),
    words=(
        Word("at the ceiling", any_above("ceiling_share", 0.5)),
        Word("unseparating", some("separability", lambda share: share < 0.5)),
        Word("halo-prone", any_above("halo", 0.2)),
        Word("length-led", any_above("length_dependence", 0.3)),
    ),
)
