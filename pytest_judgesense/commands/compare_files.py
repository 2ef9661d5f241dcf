"""``judgesense compare FILE...``: two measurements side by side, or the judges of one."""

from __future__ import annotations

import argparse
import json
from functools import partial

from pytest_judgesense.commands.options import (
    BAR_FAILED,
    FLAG,
    number,
    place_of,
    show,
    tell_of_outputs,
)
from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.output import Outputs
from pytest_judgesense.questions.compare.then_and_now import CompareFilesQuestion
from pytest_judgesense.questions.question import QuestionAnswer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the margin, and what is not run."""
    group = parser.add_argument_group("of files, and of git:REF")
    help_text = "acceptable loss, for every measure (default: that of each measure)"
    group.add_argument("--margin", type=number("margin", float), help=help_text)
    text = "beside git:REF: run no code of judges, and read what their functions had returned"
    group.add_argument("--no-code", help=text, **FLAG)


def run(options: argparse.Namespace) -> int:
    """Print two measurements side by side, or the ranks of the judges of one; 1 if worse."""
    _refuse_asking(options)
    question = CompareFilesQuestion(
        names=tuple(options.names),
        margin=options.margin,
        runs_code=not options.no_code,
        seed=options.judge_seed,
        place=place_of(options),
    )
    if options.plan:
        return show(question.plan().lines())
    refuse_other_forms(options)
    return shown_and_written(question.answer(), options)


def _refuse_asking(options: argparse.Namespace) -> None:
    """Raise a `UsageError` where somebody is to be asked, or some judges only are meant."""
    asked = {
        f"--judge-mode {options.judge_mode}": options.judge_mode != "replay",
        "--judge-name": bool(options.judge_name),
    }
    for name, is_given in asked.items():
        if is_given:
            raise UsageError(
                "files are compared as they are, with all judges that they hold",
                found=name,
                expected="files (.jsonl, .json), or git:REF, without it",
                remedy="judges are asked by --anchors SUITE, --prompts FILE..., --judges NAME... "
                "or --calls",
            )


def refuse_other_forms(options: argparse.Namespace) -> None:
    """Raise a `UsageError` if a file is to be written that is not JSON."""
    for path in options.outputs:
        if path.suffix != ".json":
            raise UsageError(
                "this comparison cannot be written in this form",
                found=str(path),
                expected="a file that ends in .json",
            )


def shown_and_written(answer: QuestionAnswer, options: argparse.Namespace) -> int:
    """Print an answer, and write it as JSON where the options say; the exit code."""
    show(answer.lines())
    outputs = Outputs(verbose=options.verbose)
    for path in options.outputs:
        outputs.write("comparison", path, partial(_json, answer))
    return tell_of_outputs(outputs) or (BAR_FAILED if answer.worse else 0)


def _json(answer: QuestionAnswer) -> str:
    return json.dumps(answer.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
