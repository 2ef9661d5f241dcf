"""``judgesense plan [SUITE...]``: its words on the command line."""

from __future__ import annotations

import argparse
from typing import Any, Final, get_args

from pytest_judgesense.checks.outcome import ALPHA, Policy
from pytest_judgesense.commands.options import (
    BAR_FAILED,
    BROKEN_FILE,
    FLAG,
    MANY,
    add_cassettes,
    add_judge,
    number,
    place_of,
    seed,
    show,
)
from pytest_judgesense.errors import UsageError
from pytest_judgesense.questions.plan.question import LintQuestion, PlanQuestion
from pytest_judgesense.stats.losses import ASSUMED_CORRELATION

# What is assumed for the chances, which --lint does not state: by option the field of the question.
_OF_CHANCES: Final = {
    "--judge-policy": "policy",
    "--judge-alpha": "alpha",
    "--judge-seed": "seed",
    "--assume": "shares",
    "--correlation": "correlation",
    "--drop": "drop",
    "--precision": "half_width",
    "--early-stop": "early_stop",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the suites, the judges and the assumptions."""
    suites_help = (
        "suite file, folder, name or NAME@PRESET (default: the suites here, else the built-in ones)"
    )
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=suites_help)
    add_judge(parser, several=True)
    add_cassettes(parser)
    text = "check the suites alone, with their presets: no calls, price or chances"
    parser.add_argument("--lint", help=text, **FLAG)
    text = "what scorers that count words get right"
    parser.add_argument("-v", "--verbose", help=text, **FLAG)
    _add_assumptions(parser.add_argument_group("chances"))


def _add_assumptions(group: argparse._ArgumentGroup) -> None:
    """Add what is assumed for the chances; what is not given has the question's default."""
    share, alpha = number("share", float, 1), number("alpha", float, 0.5)

    def assumption(text: str) -> tuple[str, float]:
        name, _, value = text.partition("=")
        return name, share(value)

    def option(name: str, text: str, **form: Any) -> None:
        group.add_argument(name, dest=_OF_CHANCES[name], help=text, **form)

    text = "what must clear a bar (default: the estimate)"
    option("--judge-policy", text, choices=get_args(Policy))
    text = f"under refuted: the maximum chance to fail by luck (default: {ALPHA:g})"
    option("--judge-alpha", text, type=alpha, metavar="A")
    option("--judge-seed", "seed of every random draw (default: 0)", type=seed, metavar="N")
    text = "assumed value of a measure, instead of a recording; may be repeated"
    option("--assume", text, type=assumption, metavar="MEASURE=SHARE", **MANY)
    default = f"(default: {ASSUMED_CORRELATION:g})"
    text = f"correlation of the units within a cluster, if nothing is recorded {default}"
    option("--correlation", text, type=share, metavar="RHO")
    option("--drop", "the drop to be detected", type=share, metavar="D")
    option("--precision", "half-width wanted (default: 0.05)", type=share, metavar="H")
    text = "how many calls to expect with --judge-early-stop, at several true values"
    option("--early-stop", text, **FLAG)


def run(options: argparse.Namespace) -> int:
    """Print calls, price and chances of suites; with ``--lint`` what is wrong with them."""
    named = tuple(options.suites), tuple(options.judge_name)
    given = {
        name: value
        for name, field in _OF_CHANCES.items()
        if (value := getattr(options, field)) is not None and value is not False and value != []
    }
    if options.lint:
        return _lint(LintQuestion(*named, options.verbose, place_of(options)), [*given])
    assumed = {_OF_CHANCES[name]: value for name, value in given.items()}
    if "shares" in assumed:
        assumed["shares"] = dict(assumed["shares"])
    question = PlanQuestion(*named, verbose=options.verbose, place=place_of(options), **assumed)
    answer = question.answer()
    show(answer.lines())
    return BAR_FAILED if answer.worse else 0


def _lint(question: LintQuestion, unused: list[str]) -> int:
    if unused:
        raise UsageError(
            "--lint states no chances",
            found=", ".join(unused),
            expected="suites, --judge-name, --judge-cassettes or -v beside --lint",
            remedy="leave --lint away, or these options",
        )
    answer = question.answer()
    show(answer.lines())
    return BROKEN_FILE if answer.broken else BAR_FAILED if answer.worse else 0
