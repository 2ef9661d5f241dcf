"""``judgesense paper NAME``: the design of a published paper, or more items for it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.commands.live_calls import add_outputs, add_terms, terms_of
from pytest_judgesense.commands.options import (
    FILE,
    FLAG,
    MANY,
    add_judge,
    place_of,
    show,
    tell_of_outputs,
)
from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.output import Outputs
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.questions.paper.answer import PaperAnswer
from pytest_judgesense.questions.paper.judgments_that_exist import (
    LoggedPaperQuestion,
    refuse_asking,
)
from pytest_judgesense.questions.paper.question import (
    TEMPERATURE,
    GenerationQuestion,
    PaperQuestion,
)
from pytest_judgesense.questions.terms import AskingTerms

# What `--generate` takes, and what each of them is where it is not given.
_OF_GENERATION: Final[dict[str, Any]] = {
    "debaters": [],
    "debater": [],
    "pair": [],
    "topics": None,
    "style": None,
    "temperature": None,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the paper, the judges, the limits, the files, and who writes items."""
    text = f"the paper: {', '.join(BUILT_IN.papers)}"
    parser.add_argument("paper", metavar="NAME", help=text)
    add_judge(parser, several=True)
    parser.add_argument("--quick", help="about a fifth of the design", **FLAG)
    text = "the tables of judgments that exist, and nothing is asked: judgment logs (.jsonl)"
    how: dict[str, Any] = {
        "nargs": "+",
        "action": "extend",
        "default": [],
        "type": Path,
        "metavar": "LOG",
    }
    parser.add_argument("--log", help=text + _forms(), **how)
    add_terms(parser)
    add_outputs(parser)
    _add_generation(parser)


def _forms() -> str:
    """What else `--log` reads, by paper."""
    named = (
        f"; for {name} also {' or '.join(form.name for form in paper.forms)}"
        for name, paper in BUILT_IN.papers.items()
        if paper.forms
    )
    return "".join(named)


def _add_generation(parser: argparse.ArgumentParser) -> None:
    """Add who writes items, where a paper has them written."""
    writings = {name: paper.writing for name, paper in BUILT_IN.papers.items() if paper.writing}
    parser.set_defaults(generate=False, **_OF_GENERATION)
    if not writings:
        return
    group = parser.add_argument_group(f"writing more items (of {', '.join(writings)})")
    text = "have models write items, and write their file, -o"
    group.add_argument("--generate", help=text, **FLAG)
    text = "declared judges or provider:model; each meets every other, and the pairs share the "
    text += "topics in their order: three models are three pairs"
    group.add_argument("--debaters", metavar="NAME,NAME,...", help=text, **MANY)
    text = "one of them; given twice or more, the first begins as PRO"
    group.add_argument("--debater", metavar="NAME", help=text, **MANY)
    text = "two debaters instead; may be repeated, the topics are then split in their order"
    group.add_argument("--pair", metavar="NAME,NAME", help=text, **MANY)
    group.add_argument("--topics", help="a topic a line (default: the built-in ones)", **FILE)
    styles = list(dict.fromkeys(style for of in writings.values() for style in of.styles))
    text = f"how debaters argue (default: {styles[0]})"
    group.add_argument("--style", choices=styles, help=text)
    text = f"of the debaters (default: {TEMPERATURE:g})"
    group.add_argument("--temperature", type=float, help=text)


def run(options: argparse.Namespace) -> int:
    """Print plan and price, measure, and print and write what the paper prints."""
    if options.generate:
        return _generate(options)
    _refuse_options_of_generation(options)
    if options.log:
        return _of_logs(options)
    question = PaperQuestion(
        options.paper,
        tuple(options.judge_name),
        options.quick,
        place_of(options),
        terms_of(options),
    )
    show(question.heading())
    show(question.plan().lines())
    show(question.notices())
    if options.plan:
        return 0
    return _answered(options, question.name, question.answer())


def _of_logs(options: argparse.Namespace) -> int:
    """Print and write what the paper prints of judgments that exist."""
    refuse_asking(_options_that_ask(options), "--log")
    question = LoggedPaperQuestion(
        options.paper, tuple(options.log), options.judge_seed, place_of(options)
    )
    show(question.heading())
    show(question.notices())
    return _answered(options, question.name, question.answer())


def _options_that_ask(options: argparse.Namespace) -> list[str]:
    """The options of asking judges that are given."""
    usual = AskingTerms()
    given = {
        "judge_name": bool(options.judge_name),
        "quick": options.quick,
        "plan": options.plan,
        "judge_mode": options.judge_mode != usual.mode,
        "judge_concurrency": options.judge_concurrency != usual.concurrency,
        "judge_max_calls": options.judge_max_calls is not None,
        "judge_max_cost": options.judge_max_cost is not None,
        "judge_max_unparsed": options.judge_max_unparsed != usual.max_unparsed,
    }
    return [_as_options([name]) for name, is_given in given.items() if is_given]


def _answered(options: argparse.Namespace, name: str, answer: PaperAnswer) -> int:
    """Print the tables, and write the files."""
    outputs = Outputs(verbose=options.verbose)
    show(outputs.shown("tables of the paper", answer.table_lines()))
    if options.verbose:
        show(outputs.shown("judge datasheet", answer.datasheet_lines()))
    show(answer.closing_lines())
    for path in options.outputs:
        for file, text in answer.files(path):
            outputs.write(name, file, text)
    return tell_of_outputs(outputs)


def _generate(options: argparse.Namespace) -> int:
    """Print plan and price, have models write, and write what they wrote."""
    if options.log:
        raise UsageError(
            "models that write items judge nothing", found="--log", expected="--generate without it"
        )
    target = _target(options)
    question = GenerationQuestion(
        options.paper,
        _debaters(options),
        tuple(options.pair),
        options.topics,
        options.style,
        TEMPERATURE if options.temperature is None else options.temperature,
        target,
        place_of(options),
        terms_of(options),
    )
    show(question.plan().lines())
    if options.plan or target is None:
        return 0
    answer, outputs = question.answer(), Outputs(verbose=options.verbose)
    show(answer.lines())
    outputs.write(answer.items, target, answer.text)
    return tell_of_outputs(outputs)


def _debaters(options: argparse.Namespace) -> tuple[str, ...]:
    """Those of either form of naming them."""
    listed = [name.strip() for names in options.debaters for name in names.split(",")]
    return tuple(filter(None, [*listed, *options.debater]))


def _target(options: argparse.Namespace) -> Path | None:
    """The one file that is written; a plan needs none."""
    of_judges = ["judge_name"] * bool(options.judge_name) + ["quick"] * options.quick
    if of_judges:
        raise UsageError(
            "models that write items judge nothing",
            found=_as_options(of_judges),
            expected="--generate without it",
        )
    if len(options.outputs) == 1 or (options.plan and not options.outputs):
        return next(iter(options.outputs), None)
    raise UsageError(
        "it is not said which file the items are written to",
        found=" ".join(map(str, options.outputs)) or "no file",
        expected="one file: -o FILE",
    )


def _refuse_options_of_generation(options: argparse.Namespace) -> None:
    """Raise a `UsageError` if something is said about items that are not to be written."""
    given = [name for name, unset in _OF_GENERATION.items() if getattr(options, name) != unset]
    if given:
        raise UsageError(
            "nothing is to be written by models",
            found=_as_options(given),
            expected=f"judgesense paper {options.paper} --generate {_as_options(given)} ...",
        )


def _as_options(names: list[str]) -> str:
    return " ".join(f"--{name.replace('_', '-')}" for name in names)
