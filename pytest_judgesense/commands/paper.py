"""``judgesense paper NAME``: the design of a published paper on any judges, with its tables."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from pytest_judgesense.commands.live_calls import add_outputs, add_terms, files_of, terms_of
from pytest_judgesense.commands.options import (
    FLAG,
    add_judge,
    place_of,
    registry_of,
    show,
    tell_of_outputs,
)
from pytest_judgesense.datasheets.published_design import Paper, printed
from pytest_judgesense.errors import unknown_name
from pytest_judgesense.files.output import Outputs
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.questions.place import find_code_of_project
from pytest_judgesense.questions.pricing import CallPlan, call_plan, how_to_record
from pytest_judgesense.questions.terms import measured
from pytest_judgesense.report.terminal import datasheet_lines, printed_lines
from pytest_judgesense.report.view import view_of
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.layout import indented


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the paper, the judges, the limits, and the files."""
    text = f"the paper: {', '.join(BUILT_IN.papers)}"
    parser.add_argument("paper", metavar="NAME", help=text)
    add_judge(parser, several=True)
    parser.add_argument("--quick", help="about a fifth of the design", **FLAG)
    add_terms(parser)
    add_outputs(parser)


def run(options: argparse.Namespace) -> int:
    """Print plan and price, measure, and print and write what the paper prints."""
    registry = registry_of(options)
    if options.paper not in registry.papers:
        raise unknown_name("paper", options.paper, registry.papers)
    paper: Paper = registry.papers[options.paper]
    # Whether the suites ask about items without a label is said by their measures.
    suites = [
        suite
        for name in paper.suites(quick=options.quick)
        for suite in place_of(options).suites(name, labelled=False)
    ]
    specs = place_of(options).judges(options.judge_name)
    find_code_of_project()
    show(indented(f"{paper.name}: {paper.title}", width=0))
    plan = _plan(specs, suites, options.judge_cassettes)
    show(plan.lines())
    if options.plan:
        return 0
    how = _how_to_record(options, plan)
    sheet = measured(place_of(options), terms_of(options), specs, suites, how)
    outputs = Outputs(verbose=options.verbose)
    result = printed(paper, sheet, sheet.cells)
    view = view_of(sheet, registry, result)
    show(outputs.shown("tables of the paper", printed_lines(result)))
    if options.verbose:
        show(["", *outputs.shown("judge datasheet", datasheet_lines(view))])
    show(["", *indented(f"cite: {paper.cite}", width=0)])
    for path in options.outputs:
        for file, text in files_of(path, result, view, sheet):
            outputs.write(paper.name, file, text)
    return tell_of_outputs(outputs)


def _plan(specs: Sequence[JudgeSpec], suites: Sequence[Suite], cassettes: Path) -> CallPlan:
    """What the design asks of each judge, what of it is recorded, and what the rest would cost."""
    asked = ((f"{judge.name} on {suite.name}", judge, suite) for judge in specs for suite in suites)
    return call_plan("", asked, cassettes)


def _how_to_record(options: argparse.Namespace, plan: CallPlan) -> str:
    words = ["judgesense", "paper", options.paper]
    for name in options.judge_name:
        words += ["--judge-name", name]
    return how_to_record([*words, *["--quick"] * options.quick], options.judge_cassettes, plan)
