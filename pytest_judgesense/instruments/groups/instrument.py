"""What the room gives to the list of all: a measure for suites of every kind, and its report.

A word of the profile says that a group of items is treated otherwise, with the level divided among
all groups, measures and fields of a suite.
"""

from __future__ import annotations

from typing import Final

from pytest_judgesense.datasheets.profile import Estimates, Word
from pytest_judgesense.datasheets.sections import Report, ReportSection
from pytest_judgesense.instruments.groups import estimators, tables
from pytest_judgesense.instruments.groups.measures import FIELD, GAP_OF, GROUP_GAP, OTHERWISE
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.registry import Instrument

# It has no suites of its own.
INSTRUMENTS: Final[tuple[Instrument, ...]] = ()
JOINED: Final[tuple[Measure, ...]] = (
    GROUP_GAP.taken_by(estimators.gap_estimates, estimators.against_the_judge),
)


def _names_a_group(estimates: Estimates) -> bool:
    return any(
        flag.startswith(OTHERWISE)
        for estimate in estimates
        if estimate.measure == GROUP_GAP.name
        for flag in estimate.flags
    )


REPORT: Final = Report(
    sections=(
        ReportSection(
            tables.BY_GROUP,
            tables.by_group,
            tables.group_lines,
            covers=(GAP_OF, FIELD),
            brief=tables.groups_brief,
            with_tables=True,
            title="Gated measures by group",
        ),
    ),
    notices=(tables.group_notices,),
    words=(Word("treats groups otherwise", _names_a_group),),
)
