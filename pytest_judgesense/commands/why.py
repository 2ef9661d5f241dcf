"""``judgesense why TRIAL``: its words on the command line."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from pytest_judgesense.commands.live_calls import add_terms, terms_of
from pytest_judgesense.commands.options import (
    MANY,
    add_judge,
    place_of,
    show,
    tell_of_outputs,
)
from pytest_judgesense.files.output import Outputs
from pytest_judgesense.questions.why.flip_question import FlipQuestion


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the two ends, the judge, the limits, and the file."""
    text = "a trial, as datasheets and logs name it: SUITE/ITEM/TEMPLATE/ORDER/rN"
    parser.add_argument("trial", metavar="TRIAL", help=text)
    text = "the trial that says otherwise (default: the one in the other order, else the first "
    text += "under another wording)"
    parser.add_argument("other", metavar="OTHER", nargs="?", help=text)
    text = "compare with the same trial in another recording: a folder, or git:REF"
    parser.add_argument("--against", metavar="PLACE", help=text)
    add_judge(parser)
    text = "the suite, or its file (default: the one that the trial begins with)"
    parser.add_argument("--judge-suite", metavar="SUITE", help=text)
    text = "what a change is (default: words)"
    parser.add_argument("--by", choices=["words", "sentences"], default="words", help=text)
    text = "write the answer, as JSON; may be repeated"
    names = ("-o", "--output")
    parser.add_argument(*names, dest="outputs", type=Path, metavar="PATH", help=text, **MANY)
    add_terms(parser)


def run(options: argparse.Namespace) -> int:
    """Print the ends and the price where calls may be made, and the cause."""
    question = FlipQuestion(
        options.trial,
        options.other,
        options.against,
        options.judge_suite,
        options.judge_name,
        options.by,
        place_of(options),
        terms_of(options),
    )
    if options.plan:
        return show(question.plan().lines())
    if question.terms.asks:
        show([*question.plan().lines(), ""])
    answer = question.answer()
    show(answer.lines())
    outputs = Outputs(verbose=False)
    for path in options.outputs:
        outputs.write(answer.called, path, partial(answer.text, path))
    return tell_of_outputs(outputs)
