"""``judgesense paper NAME``: the design of a published paper on any judges, with its tables."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_judgesense.commands.live_calls import add_measuring, files_of, measure_by
from pytest_judgesense.commands.options import (
    FLAG,
    JUDGE,
    MANY,
    find_code_of_project,
    judges,
    registry_of,
    show,
    suites_named,
    tell_of_outputs,
)
from pytest_judgesense.commands.plan import Quote, cost_words, quote
from pytest_judgesense.errors import unknown_name
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.layout import indented
from pytest_judgesense.output import Outputs
from pytest_judgesense.published_design import Paper, printed
from pytest_judgesense.report.terminal import datasheet_lines, printed_lines
from pytest_judgesense.report.view import view_of
from pytest_judgesense.suites.suite import Suite


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the paper, the judges, the limits, and the files."""
    text = f"the paper: {', '.join(BUILT_IN.papers)}"
    parser.add_argument("paper", metavar="NAME", help=text)
    text = f"{JUDGE}; may be repeated (default: the declared ones)"
    parser.add_argument("--judge-name", metavar="NAME", help=text, **MANY)
    text = "replay: recorded answers (the default); record: ask what is not recorded yet"
    parser.add_argument("--judge-mode", choices=["replay", "record"], default="replay", help=text)
    parser.add_argument("--quick", help="about a fifth of the design", **FLAG)
    add_measuring(parser)


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
        for suite in suites_named(name, options, labelled=False)
    ]
    specs = judges(options, options.judge_name)
    find_code_of_project()
    show(_plan_lines(paper, specs, suites, options.judge_cassettes))
    sheet = measure_by(options, specs, suites, _how_to_record(options))
    outputs = Outputs(verbose=options.verbose)
    result = printed(paper, sheet, sheet.cells)
    view = view_of(sheet, registry, result)
    show(outputs.shown("tables of the paper", printed_lines(result)))
    if options.verbose:
        show(["", *outputs.shown("judge datasheet", datasheet_lines(view))])
    show(["", *indented(f"cite: {paper.cite}", width=0)])
    for path in options.judge_datasheet:
        for file, text in files_of(path, result, view, sheet):
            outputs.write(paper.name, file, text)
    return tell_of_outputs(outputs)


def _plan_lines(
    paper: Paper, specs: Sequence[JudgeSpec], suites: Sequence[Suite], cassettes: Path
) -> Iterator[str]:
    """What the design asks of each judge, what of it is recorded, and what the rest would cost."""
    yield from indented(f"{paper.name}: {paper.title}", width=0)
    for judge in specs:
        yield from indented(f"judge {judge.name}", width=2)
        quotes: list[Quote] = []
        for suite in suites:
            own = suite_for_judge(suite, judge)
            now = quote(judge, own, cassettes)
            quotes.append(now)
            words = f"{suite.name}: {now.trials:,} trials, {now.calls:,} calls, "
            words += f"{now.to_make:,} to be made"
            yield from indented(words, width=4)
        total = Quote.summed(quotes)
        words = f"together: {total.trials:,} trials, {total.calls:,} calls, {total.to_make:,} to "
        yield from indented(f"{words}be made; cost: {cost_words(judge, total)}", width=4)


def _how_to_record(options: argparse.Namespace) -> str:
    command = ["judgesense", "paper", options.paper]
    for name in options.judge_name:
        command += ["--judge-name", name]
    if options.judge_cassettes != Path("cassettes"):
        command += ["--judge-cassettes", str(options.judge_cassettes)]
    command += ["--quick"] * options.quick
    return f"record it: {shlex.join(command)} --judge-mode record"
