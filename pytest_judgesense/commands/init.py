"""``judgesense init``: a first judge, a first suite and a workflow, written into a repository."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pytest_judgesense.commands.options import (
    FILE,
    FLAG,
    add_row_options,
    by_criterion,
    given_row_options,
    number,
    row_options_of,
    seed,
)
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.questions.init.by_criteria import kinds_that_begin
from pytest_judgesense.questions.init.from_function import ANSWER_KINDS
from pytest_judgesense.questions.init.question import InitQuestion
from pytest_judgesense.questions.init.suite_file import FunctionOptions, LogOptions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the folder."""
    text = "folder of the project (default: this one); nothing in it is overwritten"
    parser.add_argument("folder", nargs="?", default=Path(), type=Path, metavar="DIR", help=text)
    text = "also a workflow that asks every night, and follows the judges (judgesense report "
    text += "--history); where suites holds some already, that workflow alone"
    parser.add_argument("--nightly", help=text, **FLAG)
    text = "what the workflows install, in the words of pip (default: what the project's "
    text += "requirements, lock or pyproject.toml say, if they name pytest-judgesense)"
    parser.add_argument("--install", help=text, metavar="SPEC")
    function = parser.add_argument_group("your own function and items")
    text = "the function that judges, such as myapp.judges:judge"
    function.add_argument("--callable", dest="function", metavar="MODULE:FUNCTION", help=text)
    function.add_argument(
        "--items", help="its items: CSV, JSON, JSON Lines, XLSX or Parquet", **FILE
    )
    text = "what it returns: the better of two, a label, a grade (a whole number of up to twelve), "
    text += (
        "a score, or grades by criterion (default: inferred from its parameters, the labels and "
    )
    text += "--grades)"
    kinds = (*ANSWER_KINDS, *kinds_that_begin())
    function.add_argument("--kind", choices=kinds, help=text)
    text = "the criteria by which it grades, each with the columns of people's grades, if any"
    listed: dict[str, Any] = {"action": "extend", "default": [], "type": by_criterion}
    listed["metavar"] = "CRITERION=COLUMN+...,..."
    function.add_argument("--grades", help=text, **listed)
    text = "the possible answers, if no column or log holds them, such as YES,NO; of a score both "
    text += "ends"
    function.add_argument("--labels", metavar="A,B,...", help=text)
    text = "the score from which a text passes"
    function.add_argument("--pass-mark", metavar="SCORE", help=text)
    frozen = parser.add_argument_group("outputs of a log that were judged before")
    text = "a judgment log, as judgesense import writes it: each of its suites becomes one here; "
    text += "or a foreign file of judgments, read by the same options as there"
    frozen.add_argument("--from-log", help=text, dest="log", metavar="LOG", type=Path)
    text = "number of outputs of each suite, drawn in proportion to the verdicts (default: all)"
    whole = number("number of outputs", int, least=1)
    frozen.add_argument("--sample", type=whole, metavar="N", help=text)
    frozen.add_argument("--seed", type=seed, default=0, help="seed of that draw (default: 0)")
    text = "the first wording, instead of the judge's own, with {{NAME}} for each text"
    frozen.add_argument("--template", help=text, **FILE)
    add_row_options(
        parser,
        "items, or of a foreign log (--map of items: parameters, and id, label, cluster, category, "
        "order; with --grades output and system)",
    )


def run(options: argparse.Namespace) -> Iterable[str]:
    """Write a first judge, a first suite and a workflow."""
    if (options.function is None) != (options.items is None):
        raise UsageError(
            "--callable and --items belong together",
            found="one of the two",
            expected="the function that judges, and the file of its items",
            remedy="judgesense init --callable MODULE:FUNCTION --items FILE",
        )
    _refuse_stray(options)
    question = InitQuestion(
        options.folder,
        options.install,
        options.nightly,
        function=None if options.function is None else function_options(options),
        log=None if options.log is None else log_options(options),
    )
    return question.answer().lines()


def function_options(options: argparse.Namespace) -> FunctionOptions:
    """The function and its items, as the options name them."""
    return FunctionOptions(
        options.function,
        options.items,
        options.kind,
        grades=tuple(options.grades),
        labels=_labels(options.labels),
        pass_mark=options.pass_mark,
        folder=options.folder,
        **vars(row_options_of(options)),
    )


def log_options(options: argparse.Namespace) -> LogOptions:
    """The log, as the options name it."""
    return LogOptions(
        options.log,
        options.sample,
        options.seed,
        labels=_labels(options.labels),
        template=options.template,
        **vars(row_options_of(options)),
    )


def _labels(text: str | None) -> tuple[str, ...]:
    """The labels that an option names, separated by commas."""
    return tuple(label.strip() for label in (text or "").split(",") if label.strip())


def _refuse_stray(options: argparse.Namespace) -> None:
    """Refuse options of one way to begin that are given with another, where they say nothing."""
    of_function = {"--kind": options.kind, "--grades": options.grades}
    of_function |= {"--pass-mark": options.pass_mark}
    frozen = {"--sample": options.sample, "--template": options.template}
    of_rows = dict.fromkeys(given_row_options(options), True)
    ways = [
        ("--callable", options.function, of_function),
        ("--from-log", options.log, frozen),
        (
            "--callable or --from-log",
            options.function or options.log,
            {"--labels": options.labels, **of_rows},
        ),
    ]
    for way, chosen, belonging in ways:
        if chosen is None and (stray := [name for name, value in belonging.items() if value]):
            raise UsageError(
                f"{', '.join(stray)} without {way}",
                found="nothing that it could be about",
                expected=f"{listed(belonging)} together with {way}",
                remedy="judgesense init --help shows both ways",
            )
