"""What the instrument gives to the list of all: what it measures on its suites, and its report.

Each word of the profile names a probe that moves the judge, with Holm over all probes.
"""

from __future__ import annotations

from typing import Final

from pytest_judgesense.datasheets.profile import Estimates, Word, pooled
from pytest_judgesense.datasheets.sections import Report, ReportSection
from pytest_judgesense.instruments.probe import estimators, tables
from pytest_judgesense.instruments.probe.measures import (
    BY_NAMES,
    FOUND,
    NAMES_EFFECT,
    PROBE_CONTROL,
    PROBE_EFFECT,
    PROBE_SHARE,
    PROFILED,
)
from pytest_judgesense.instruments.probe.simulated import judge_edited
from pytest_judgesense.instruments.probe.stimuli import PROBE
from pytest_judgesense.instruments.probe.tables import probe_figures
from pytest_judgesense.measures.definition import taken_by
from pytest_judgesense.measures.every_suite import REPLIES
from pytest_judgesense.registry import Instrument


def _moved_by(probe: str) -> Word:
    def holds(estimates: Estimates) -> bool:
        of_probe = pooled(estimates, PROBE_EFFECT.name, probe=probe)
        return any(FOUND in estimate.flags for estimate in of_probe)

    return Word(PROFILED[probe], holds)


def _by_names(estimates: Estimates) -> bool:
    return any(FOUND in e.flags for e in estimates if e.measure == NAMES_EFFECT.name)


INSTRUMENTS: Final = (
    Instrument(
        PROBE,
        measures=(
            PROBE_EFFECT.taken_by(estimators.probe_effects, estimators.moved_by_edits),
            NAMES_EFFECT.taken_by(estimators.names_effects, estimators.moved_by_names),
            *taken_by(estimators.companions, PROBE_CONTROL, PROBE_SHARE),
            *REPLIES,
        ),
        call_measure=PROBE_EFFECT.name,
        # An effect is one of two calls.
        call_score=lambda _: None,
        skills=(judge_edited,),
    ),
)
REPORT: Final = Report(
    sections=(
        ReportSection(
            tables.PROBES,
            tables.probes,
            tables.probe_lines,
            covers=("probe", "naming", "version"),
            brief=tables.probes_brief,
            with_tables=True,
            figures=probe_figures,
            title="What moves the judge: edits beside placebos and controls",
        ),
    ),
    words=(*map(_moved_by, PROFILED), Word(BY_NAMES, _by_names)),
)
