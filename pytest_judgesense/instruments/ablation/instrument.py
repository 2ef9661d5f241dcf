"""What the instrument gives to the list of all: what it measures on its suites, and its report."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.datasheets.sections import Report, ReportSection
from pytest_judgesense.instruments.ablation import tables
from pytest_judgesense.instruments.ablation.estimators import estimates, of_whole
from pytest_judgesense.instruments.ablation.leaving_out import begin, further_calls
from pytest_judgesense.instruments.ablation.measures import (
    MUTATION_SCORE,
    OWN_NOISE,
    SENTENCE_EFFECT,
    WORDS,
)
from pytest_judgesense.instruments.ablation.stimuli import (
    ABLATION,
    ITEMS,
    SENTENCE,
    TIMES,
    TOGETHER,
)
from pytest_judgesense.measures.definition import taken_by
from pytest_judgesense.measures.every_suite import WITHOUT_VERDICT
from pytest_judgesense.registry import Instrument, LeaveOut, LeaveOutSizes

INSTRUMENTS: Final = (
    Instrument(
        ABLATION,
        measures=(
            *taken_by(estimates, MUTATION_SCORE, SENTENCE_EFFECT, OWN_NOISE),
            # Without a sentence on the form of a reply, replies have none for a reason.
            *map(of_whole, WITHOUT_VERDICT),
        ),
        leave_out=LeaveOut(
            LeaveOutSizes(items=ITEMS, times=TIMES, seed=0),
            begin,
            further_calls,
            tables.TABLE,
            tables.prompt_lines,
        ),
    ),
)
REPORT: Final = Report(
    sections=(
        ReportSection(
            tables.TABLE,
            tables.rows,
            tables.sentence_lines,
            kinds=(ABLATION.name,),
            covers=(SENTENCE, TOGETHER),
            brief=tables.brief,
            below=tables.below,
            with_tables=True,
            passages=tables.passages,
            title="What each sentence of the prompt does",
        ),
    ),
    words=WORDS,
)
