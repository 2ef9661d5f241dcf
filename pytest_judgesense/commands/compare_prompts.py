"""``judgesense compare SUITE --prompts P1 P2...``: variants of a judge's prompt."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_judgesense.commands.live_calls import terms_of
from pytest_judgesense.commands.options import (
    BAR_FAILED,
    only_suite,
    place_of,
    show,
    tell_of_outputs,
)
from pytest_judgesense.files.output import Outputs

if TYPE_CHECKING:
    from pytest_judgesense.questions.compare.prompts.question import ComparePromptsAnswer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the prompts."""
    group = parser.add_argument_group("of prompts, on a suite: SUITE --prompts P1 P2")
    text = "two or more prompt files, with {{placeholders}} as in a suite's template; each is "
    text += "compared with the first"
    group.add_argument("--prompts", nargs="+", type=Path, metavar="FILE", help=text)


def is_meant(options: argparse.Namespace) -> bool:
    """Whether prompts are to be compared."""
    return options.prompts is not None


def run(options: argparse.Namespace) -> int:
    """Print plan and price, ask, and print and write the comparison; 1 if a prompt is worse."""
    from pytest_judgesense.questions.compare.prompts.question import ComparePromptsQuestion

    question = ComparePromptsQuestion(
        suite=only_suite(options, "prompts", "judgesense compare SUITE --prompts P1 P2 ..."),
        prompts=tuple(options.prompts),
        judge=options.judge_name,
        terms=terms_of(options),
        place=place_of(options),
    )
    show(question.plan(runs_code=not options.plan).lines())
    if options.plan:
        return 0
    answer = question.answer()
    return _written(answer, options) or (BAR_FAILED if answer.worse else 0)


def _written(answer: ComparePromptsAnswer, options: argparse.Namespace) -> int:
    """Print the answer and write its files; the exit code."""
    outputs = Outputs(verbose=options.verbose)
    show(["", *answer.sentence_lines()])
    show(outputs.shown("table of the prompts", answer.table_lines()))
    if options.verbose:
        show(["", *outputs.shown("judge datasheet", answer.datasheet_lines())])
    for path in options.outputs:
        for file, text in answer.files(path):
            outputs.write("prompts", file, text)
    return tell_of_outputs(outputs)
