"""``judgesense compare SUITE --judges A B...``: what moving a judge to another model changes.

The judges are measured on the same suite, from their recordings; ``--judge-mode record`` asks what
is missing, after its price. Of a judge that nobody can ask any more its judgment log does as well.
Of more than two judges every two are compared. The command exits with 1 if something of the first
judge is not kept: a measure is worse beyond chance, or no mark of another judge keeps its pass
rate, and that beyond chance.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from pytest_judgesense.commands.live_calls import terms_of
from pytest_judgesense.commands.options import (
    BAR_FAILED,
    number,
    only_suite,
    place_of,
    show,
    tell_of_outputs,
)
from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.output import Outputs
from pytest_judgesense.questions.compare.judges.question import WITHIN

if TYPE_CHECKING:
    from pytest_judgesense.questions.compare.judges.question import CompareJudgesQuestion


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the judges, the mark, and how far from the old rate a rate may be that keeps it."""
    group = parser.add_argument_group("of judges, on a suite: SUITE --judges A B...")
    text = "the judge that is replaced and one or more that may replace it, every two of which are "
    text += (
        "compared: names that pyproject.toml declares, provider:model, or judgment logs (.jsonl)"
    )
    group.add_argument("--judges", nargs="+", metavar="NAME", help=text)
    text = "the first judge's pass mark: a grade of the scale or between two, or a share of it up "
    text += "to 1 (default: the suite's)"
    group.add_argument("--mark", help=text)
    text = f"how far from the old pass rate a rate is that keeps it (default: {WITHIN})"
    share = number("share", float, 1)
    group.add_argument("--within", type=share, default=WITHIN, metavar="SHARE", help=text)


def is_meant(options: argparse.Namespace) -> bool:
    """Whether judges are to be compared."""
    return options.judges is not None


def run(options: argparse.Namespace) -> int:
    """Print what moves; 1 if something is not kept."""
    question = _question(options)
    for path in options.outputs:
        question.refuse_other_form(path)
    if options.plan or question.terms.asks:
        show(question.plan().lines())
    if options.plan:
        return 0
    answer = question.answer()
    show(answer.lines())
    outputs = Outputs(verbose=options.verbose)
    for path in options.outputs:
        outputs.write(answer.called, path, partial(answer.text, path))
    return tell_of_outputs(outputs) or (BAR_FAILED if answer.worse else 0)


def _question(options: argparse.Namespace) -> CompareJudgesQuestion:
    """The question that the options ask."""
    from pytest_judgesense.questions.compare.judges.question import CompareJudgesQuestion

    form = "judgesense compare SUITE --judges A B..."
    suite = only_suite(options, "judges", form)
    if options.judge_name is not None:
        raise UsageError(
            "--judge-name names no judge beside --judges",
            found=options.judge_name,
            expected=form,
            remedy="leave it out",
        )
    return CompareJudgesQuestion(
        suite=suite,
        judges=tuple(options.judges),
        mark=options.mark,
        within=options.within,
        terms=terms_of(options),
        place=place_of(options),
    )
