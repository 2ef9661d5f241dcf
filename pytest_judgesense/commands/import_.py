"""``judgesense import``: results and benchmark files of others as a judgment log or a suite."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from typing import Final

from pytest_judgesense.commands.lint import lint_report
from pytest_judgesense.commands.options import (
    FILE,
    FLAG,
    MANY,
    OUTPUT,
    assignment,
    number,
    registry_of,
)
from pytest_judgesense.errors import ExtensionError, LogError, UsageError, unknown_name
from pytest_judgesense.grouping import grouped
from pytest_judgesense.importers import Imported, ImportedSuite
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.output import write_text
from pytest_judgesense.report.log import log_line

_MOST_STEPS: Final = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    said = ", ".join(BUILT_IN.importers) + "; or a form that a plugin reads"
    parser.add_argument("kind", metavar="KIND", help=said)
    parser.add_argument("path", type=Path, metavar="PATH", help="file or folder of the results")
    parser.add_argument("-o", "--output", required=True, help=OUTPUT, **FILE)
    column = {**MANY, "type": assignment, "metavar": "FIELD=COLUMN"}
    meant = {**MANY, "type": _translation, "metavar": "SAID=MEANT"}
    again, tools = "may be repeated", "inspect, promptfoo, deepeval"
    name, column_of = {"metavar": "NAME"}, {"metavar": "COLUMN"}
    steps = {"type": number("number of steps", int, _MOST_STEPS), "metavar": "N"}
    least = {"type": number("threshold", float), "metavar": "T"}
    for option, said, form in (
        ("--reparse", "parse recorded completions again; ignore recorded verdicts", FLAG),
        ("--pairs", "judgesense: the pair file of a decision log, for its clusters", FILE),
        ("--map", f"table, {tools}: the column that holds a field of a judgment; {again}", column),
        (
            "--value",
            f"table, {tools}: what a verdict or label is called here, or nothing; {again}",
            meant,
        ),
        ("--judge", f"table, {tools}: the judge of all rows", name),
        ("--suite", f"games, table, {tools}: the suite of all rows", name),
        ("--cluster", f"{tools}: the column of the cluster (default: the test)", column_of),
        ("--order", f"{tools}: the column of the order of two candidates, ab or ba", column_of),
        ("--label", f"{tools}: the column of the grade that a person gave", column_of),
        (
            "--scorer",
            f"{tools}: only this scorer, metric or type of assertion; {again}",
            MANY | name,
        ),
        ("--scale", f"{tools}: read scores as steps, 0 to N, of a scale from 0 to 1", steps),
        ("--threshold", f"{tools}: read scores as pass, from T on, and fail", least),
    ):
        parser.add_argument(option, help=said, **form)


def _translation(text: str) -> tuple[str, str]:
    """``SAID=MEANT``, or ``SAID=`` for what states nothing."""
    said, equals, meant = text.partition("=")
    return (said, meant) if said and equals and not meant else assignment(text)


def run(options: argparse.Namespace) -> Iterator[str]:
    """Turn foreign files into a judgment log or a suite."""
    importers = registry_of(options).importers
    if options.kind not in importers:
        raise unknown_name("form of foreign files", options.kind, importers)
    if not options.path.exists():
        raise UsageError(
            f"there is nothing to import at {options.path}",
            found="no such file or folder",
            expected=f"what `judgesense import {options.kind}` reads",
        )
    for name, given in grouped(options.map, itemgetter(0)).items():
        if len(given) > 1:  # the last one would hide the others
            raise UsageError(
                f"--map names several columns for the {name}",
                found=", ".join(column for _, column in given),
                expected="one column for each field",
                remedy="import once for each column, named by --judge, and join the logs by "
                "judgesense merge",
            )
    importer = importers[options.kind]
    with ExtensionError.blaming(
        importer.source,
        f"importer {importer.name!r} of plugin {importer.source} failed",
        "an Imported or a suite, or a LogError that says what is wrong with the file",
    ):
        read = importer.read(options)
        if not isinstance(read, Imported | ImportedSuite):
            raise TypeError(f"{read!r:.80} in place of what was read")
    yield from (f"notice: {notice}" for notice in read.notices)
    if not isinstance(read, Imported):
        files = read.files(options.output)
        for path, text in files.items():
            write_text(path, text)
            yield f"written: {path}"
        yield from lint_report([path for path in files if path.name.endswith(".suite.toml")])[0]
        return
    if not read.judgments:
        raise LogError(
            f"{options.path} holds no judgment", found="no record", expected="at least one"
        )
    write_text(options.output, "".join(f"{log_line(*one)}\n" for one in read.judgments))
    judgments = [judgment for judgment, _ in read.judgments]
    judges = sorted({judgment.judge for judgment in judgments})
    suites = sorted({judgment.trial.suite for judgment in judgments})
    unparsed = sum(judgment.verdict is None for judgment in judgments)
    count = f"{len(judgments)} judgment{'s' * (len(judgments) != 1)}"
    said = f"{count} of {', '.join(judges)} on {', '.join(suites)}"
    yield f"{said}; {unparsed} state no verdict"
    yield from map(str, read.totals)
    yield f"written: {options.output}"
