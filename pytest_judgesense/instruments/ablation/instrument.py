"""What the instrument gives to the list of all: what it measures on its suites, and its report."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from typing import Final

from pytest_judgesense.datasheets.sections import Report, ReportSection
from pytest_judgesense.instruments.ablation import tables
from pytest_judgesense.instruments.ablation.estimators import estimates, of_whole
from pytest_judgesense.instruments.ablation.measures import (
    MUTATION_SCORE,
    OWN_NOISE,
    SENTENCE_EFFECT,
)
from pytest_judgesense.instruments.ablation.stimuli import ABLATION, SENTENCE, TOGETHER
from pytest_judgesense.instruments.ablation.words import WORDS
from pytest_judgesense.measures.definition import taken_by
from pytest_judgesense.measures.every_suite import WITHOUT_VERDICT
from pytest_judgesense.registry import Command, Instrument, Services


# It asks judges: few sessions do.
def _add_arguments(parser: ArgumentParser) -> None:
    from pytest_judgesense.instruments.ablation.command import add_arguments

    add_arguments(parser)


def _ablated(options: Namespace, services: Services) -> Iterable[str] | int:
    from pytest_judgesense.instruments.ablation.command import run

    return run(options, services)


INSTRUMENTS: Final = (
    Instrument(
        ABLATION,
        measures=(
            *taken_by(estimates, MUTATION_SCORE, SENTENCE_EFFECT, OWN_NOISE),
            # Without a sentence on the form of a reply, replies have none for a reason.
            *map(of_whole, WITHOUT_VERDICT),
        ),
        commands=(
            Command(
                "ablate",
                "what each sentence of a judge's prompt does: one at a time is left out",
                _add_arguments,
                _ablated,
                asks=True,
            ),
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
