"""``judgesense recordings``: recordings searched for secrets, joined, and made by batch files."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from pytest_judgesense.commands.options import (
    BAR_FAILED,
    BROKEN_FILE,
    FILE,
    OUTPUT,
    add_cassettes,
    add_judge,
    add_suite,
    complain,
    place_of,
    show,
)
from pytest_judgesense.files.output import write_text
from pytest_judgesense.questions.recordings.batch import BatchExportQuestion, BatchImportQuestion
from pytest_judgesense.questions.recordings.joining import JoinQuestion
from pytest_judgesense.questions.recordings.secrets import SecretsQuestion


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    check = actions.add_parser("check", help="search recordings for secrets (exit code 1: found)")
    paths = "cassette (.jsonl), recording of vcrpy (.yaml, .yml, .json), or folder"
    check.add_argument("paths", nargs="+", type=Path, metavar="PATH", help=paths)
    check.set_defaults(run=run_check)
    text = "join cassettes, logs or datasheets of CI shards"
    join = actions.add_parser("join", help=text)
    join.add_argument("sources", nargs="+", type=Path, metavar="PATH", help="files, or folders")
    join.add_argument(
        "-o", "--output", required=True, type=Path, metavar="PATH", help="what to write"
    )
    join.set_defaults(run=run_join)
    text = "make calls with an OpenAI batch file (or vllm run-batch)"
    _add_batch(actions.add_parser("batch", help=text))


def _add_batch(parser: argparse.ArgumentParser) -> None:
    """Add both steps."""
    steps = parser.add_subparsers(required=True, metavar="STEP")
    export = steps.add_parser("export", help="write the requests of the trials not yet recorded")
    results = steps.add_parser("import", help="record the results: output and error files")
    for step in (export, results):
        add_suite(step)
        add_judge(step)
        add_cassettes(step)
    export.add_argument("-o", "--output", required=True, help=OUTPUT, **FILE)
    export.set_defaults(run=run_export)
    results.add_argument("results", nargs="+", help="files of answers", **FILE)
    results.set_defaults(run=run_import)


def run_check(options: argparse.Namespace) -> int:
    """Search recordings for secrets."""
    answer = SecretsQuestion(tuple(options.paths)).answer()
    show(answer.lines())
    for error in answer.broken:
        complain(error)
    if answer.broken:
        return BROKEN_FILE
    return BAR_FAILED if answer.worse else 0


def run_join(options: argparse.Namespace) -> Iterable[str]:
    """Join the files, or folders of them."""
    return JoinQuestion(tuple(options.sources), options.output, place_of(options)).answer().lines()


def run_export(options: argparse.Namespace) -> Iterable[str]:
    """Write the requests of all trials that are not recorded as the input file of a batch."""
    answer = BatchExportQuestion(
        options.judge_suite, options.output, options.judge_name, place_of(options)
    ).answer()
    if answer.missing:
        write_text(answer.output, answer.text)
    return answer.lines()


def run_import(options: argparse.Namespace) -> Iterable[str]:
    """Record the results of a batch."""
    question = BatchImportQuestion(
        options.judge_suite, tuple(options.results), options.judge_name, place_of(options)
    )
    return question.answer().lines()
