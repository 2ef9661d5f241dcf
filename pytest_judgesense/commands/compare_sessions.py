"""``judgesense compare SESSION... --anchors SUITE``: did the judge move, or the outputs?"""

from __future__ import annotations

import argparse

from pytest_judgesense.commands.compare_files import refuse_other_forms, shown_and_written
from pytest_judgesense.commands.live_calls import terms_of
from pytest_judgesense.commands.options import MANY, number, place_of, show
from pytest_judgesense.questions.compare.judge_or_outputs import (
    REPLICATES,
    CompareSessionsQuestion,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the anchors, and how outputs are compared."""
    group = parser.add_argument_group(
        "of sessions",
        "Judgment logs (.jsonl), or suites of outputs with their recordings; the reference first, "
        "the last one is now. One alone: record the anchors beside it, for later.",
    )
    text = "the suite of frozen outputs: its name, NAME@PRESET, or its file"
    group.add_argument("--anchors", metavar="SUITE", help=text)
    text = "a suite in the logs that holds fresh outputs (default: all but the anchors); repeatable"
    group.add_argument("--suite", metavar="NAME", help=text, **MANY)
    text = "the labels that pass, where answers are neither a scale nor a pair"
    group.add_argument("--passes", type=_labels, default=(), metavar="LABEL,...", help=text)
    text = "a column of the outputs (a text that is shown, or a condition): they are compared "
    text += "within its values, such as kinds of questions (default: questions that both share)"
    group.add_argument("--strata", metavar="COLUMN", help=text)
    text = f"how often each anchor is asked (default: {REPLICATES})"
    often = number("number of replicates", int, least=1)
    group.add_argument("--replicates", type=often, default=REPLICATES, metavar="N", help=text)


def _labels(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in text.split(","))))


def is_meant(options: argparse.Namespace) -> bool:
    """Whether sessions are compared: anchors are named."""
    return options.anchors is not None


def run(options: argparse.Namespace) -> int:
    """Print what moved; 1 if something got worse."""
    question = CompareSessionsQuestion(
        sessions=tuple(options.names),
        anchors=options.anchors,
        judge=options.judge_name,
        suites=tuple(options.suite),
        passes=options.passes,
        strata=options.strata,
        replicates=options.replicates,
        terms=terms_of(options),
        place=place_of(options),
    )
    if options.plan:
        return show(question.plan().lines())
    refuse_other_forms(options)
    return shown_and_written(question.answer(), options)
