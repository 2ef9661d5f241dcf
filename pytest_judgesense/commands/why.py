"""``judgesense why TRIAL``, or ``SUITE --leave-out``: its words on the command line."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_judgesense.commands.live_calls import add_terms, terms_of
from pytest_judgesense.commands.options import (
    FLAG,
    MANY,
    add_judge,
    place_of,
    show,
    tell_of_outputs,
)
from pytest_judgesense.files.output import Outputs
from pytest_judgesense.questions.why.leave_out_question import LeaveOutAnswer
from pytest_judgesense.questions.why.question import UNITS, WhyQuestion, question_of
from pytest_judgesense.report.assembly import FORMS

if TYPE_CHECKING:
    from pytest_judgesense.registry import LeaveOutSizes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is asked about, the judge, the limits, and the files."""
    from pytest_judgesense.instruments.builtin import BUILT_IN

    text = "a trial, as datasheets and logs name it: SUITE/ITEM/TEMPLATE/ORDER/rN; with "
    text += "--leave-out a suite: its name, NAME@PRESET, or its file"
    parser.add_argument("named", metavar="TRIAL", help=text)
    text = "the trial that says otherwise (default: the one in the other order, else the first "
    text += "under another wording)"
    parser.add_argument("other", metavar="OTHER", nargs="?", help=text)
    text = "compare with the same trial in another recording: a folder, or git:REF"
    parser.add_argument("--against", metavar="PLACE", help=text)
    add_judge(parser)
    text = "the suite of the trial, or its file (default: the one that the trial begins with)"
    parser.add_argument("--judge-suite", metavar="SUITE", help=text)
    parser.add_argument("--by", choices=UNITS, help=f"what a change is (default: {UNITS[0]})")
    if BUILT_IN.leave_out is None:
        parser.set_defaults(leave_out=False, items=None, times=None)
    else:
        _add_leave_out(parser, BUILT_IN.leave_out.usual)
    _add_outputs(parser)
    add_terms(parser)


def _add_leave_out(parser: argparse.ArgumentParser, usual: LeaveOutSizes) -> None:
    group = parser.add_argument_group("leaving sentences out")
    text = "what each sentence of the prompt does to the verdicts on a suite: one at a time is "
    text += "left out"
    group.add_argument("--leave-out", help=text, **FLAG)
    form: dict[str, Any] = {"type": int, "metavar": "N"}
    group.add_argument("--items", help=f"items that are drawn (default: {usual.items})", **form)
    text = f"how often each is asked with the whole prompt (default: {usual.times})"
    group.add_argument("--times", help=text, **form)


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    text = f"write the answer: .json, with --leave-out the datasheet: {FORMS}; may be repeated"
    names = ("-o", "--output", "--judge-datasheet")
    parser.add_argument(*names, dest="outputs", type=Path, metavar="PATH", help=text, **MANY)
    text = "with --leave-out show the datasheet, too; show where a file that cannot be made fails"
    parser.add_argument("-v", "--verbose", help=text, **FLAG)


def run(options: argparse.Namespace) -> int:
    """Print calls and price where calls may be made, and the answer."""
    question = _question(options)
    if options.plan:
        return show(question.plan().lines())
    if question.terms.asks:
        show([*question.plan().lines(), ""])
    answer = question.answer()
    show(answer.lines())
    outputs = Outputs(verbose=options.verbose)
    if options.verbose and isinstance(answer, LeaveOutAnswer):
        show(["", *outputs.shown("judge datasheet", answer.datasheet_lines())])
    for path in options.outputs:
        outputs.write(answer.called, path, partial(answer.text, path))
    return tell_of_outputs(outputs)


def _question(options: argparse.Namespace) -> WhyQuestion:
    return question_of(
        options.named,
        options.other,
        leave_out=options.leave_out,
        against=options.against,
        suite=options.judge_suite,
        by=options.by,
        items=options.items,
        times=options.times,
        judge=options.judge_name,
        place=place_of(options),
        terms=terms_of(options),
    )
