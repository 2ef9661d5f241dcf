"""What the instrument gives to the list of all: what it measures on its suites, and its report."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.probe import estimators, finders, tables
from pytest_judgesense.instruments.probe.figures import probe_figures
from pytest_judgesense.instruments.probe.measures import (
    NAMES_EFFECT,
    PROBE_CONTROL,
    PROBE_EFFECT,
    PROBE_SHARE,
)
from pytest_judgesense.instruments.probe.simulated import judge_edited
from pytest_judgesense.instruments.probe.stimuli import PROBE
from pytest_judgesense.instruments.probe.words import WORDS
from pytest_judgesense.measures.every_suite import REPLIES
from pytest_judgesense.measures.measure import taken_by
from pytest_judgesense.registry import Instrument
from pytest_judgesense.sections import Report, ReportSection

INSTRUMENTS: Final = (
    Instrument(
        PROBE,
        measures=(
            PROBE_EFFECT.taken_by(estimators.probe_effects, finders.moved_by_edits),
            NAMES_EFFECT.taken_by(estimators.names_effects, finders.moved_by_names),
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
    words=WORDS,
)
