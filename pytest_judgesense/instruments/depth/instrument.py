"""What the instrument gives to the list of all: what it measures on its suites, and its report.

A word of the profile names a place of records at which the judge loses passages, with Holm over all
places and lengths; another says that it sees passages where there is none, in more than a tenth of
the records.
"""

from __future__ import annotations

from typing import Final

from pytest_judgesense.datasheets.profile import Estimates, Word, any_above
from pytest_judgesense.datasheets.sections import Report, ReportSection
from pytest_judgesense.instruments.depth import estimators, measures, tables
from pytest_judgesense.instruments.depth.record_places import LENGTH, PLACE, STANDING
from pytest_judgesense.instruments.depth.simulated import find_passage
from pytest_judgesense.instruments.depth.stimuli import DEPTH
from pytest_judgesense.measures.every_suite import REPLIES
from pytest_judgesense.registry import Instrument

FALSE_ALARM_WORD: Final = "sees what is not there"


def _loses(place: str) -> Word:
    def holds(estimates: Estimates) -> bool:
        return any(
            estimate.measure == measures.DEPTH_DROP.name
            and estimate.condition.get(PLACE) == place
            and measures.FOUND in estimate.flags
            for estimate in estimates
        )

    return Word(f"loses the {place} of long texts", holds)


INSTRUMENTS: Final = (
    Instrument(
        DEPTH,
        measures=(
            measures.DEPTH_RECALL.taken_by(estimators.recalls, estimators.missed),
            measures.DEPTH_DROP.taken_by(estimators.drop_estimates, estimators.dropped),
            measures.DEPTH_FALSE_ALARM.taken_by(estimators.false_alarms),
            *REPLIES,
        ),
        call_measure=measures.DEPTH_FALSE_ALARM.name,
        call_score=estimators.alarm,
        skills=(find_passage,),
    ),
)
REPORT: Final = Report(
    sections=(
        ReportSection(
            tables.DEPTH,
            tables.by_place,
            tables.place_lines,
            covers=(PLACE, LENGTH),
            brief=tables.depth_brief,
            with_tables=True,
            title="Long records: what is found where",
        ),
    ),
    words=(
        *map(_loses, STANDING),
        Word(FALSE_ALARM_WORD, any_above(measures.DEPTH_FALSE_ALARM.name, 0.1)),
    ),
)
