"""``judgesense compare SUITE --calls``: criteria of a rubric in one call, and each in its own."""

from __future__ import annotations

import argparse

from pytest_judgesense.commands.compare_files import refuse_other_forms, shown_and_written
from pytest_judgesense.commands.live_calls import terms_of
from pytest_judgesense.commands.options import FLAG, only_suite, place_of, show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option that asks for it."""
    group = parser.add_argument_group("of calls, on a suite of a rubric: SUITE --calls")
    text = "ask for all criteria in one call and for each in a call of its own: halo, grades at "
    text += "the ceiling, agreement with people, and what either costs"
    group.add_argument("--calls", help=text, **FLAG)


def is_meant(options: argparse.Namespace) -> bool:
    """Whether the manners of asking are to be compared."""
    return bool(options.calls)


def run(options: argparse.Namespace) -> int:
    """Print plan and price, ask, and print and write what changes; 1 if something is worse."""
    from pytest_judgesense.questions.compare.joint_or_each import CompareCallsQuestion

    refuse_other_forms(options)
    question = CompareCallsQuestion(
        suite=only_suite(options, "calls", "judgesense compare SUITE --calls"),
        judge=options.judge_name,
        terms=terms_of(options),
        place=place_of(options),
    )
    if options.plan or question.terms.asks:
        show(question.plan().lines())
    if options.plan:
        return 0
    return shown_and_written(question.answer(), options)
