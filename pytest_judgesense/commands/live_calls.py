"""The options of every command that asks a model, and the files of those that measure."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pytest_judgesense.commands.options import FLAG, MANY, add_cassettes, number, seed
from pytest_judgesense.questions.terms import AskingTerms
from pytest_judgesense.report.assembly import FORMS


def add_terms(parser: argparse.ArgumentParser, *, live: bool = False) -> None:
    """Add what every command has that asks a model: mode, limits, plan, recordings, and seed.

    With ``live`` all may be asked afresh, too.
    """
    group = parser.add_argument_group("asking")
    text = "replay: recorded answers (the default); record: ask what is not recorded yet"
    modes = ["replay", "record"]
    if live:
        text += "; live: ask all afresh, and keep no recording"
        modes.append("live")
    group.add_argument("--judge-mode", choices=modes, default="replay", help=text)
    group.add_argument("--plan", help="print calls and price, and ask nothing", **FLAG)
    add_limits(
        group,
        {
            "--judge-concurrency": "maximum number of concurrent calls",
            "--judge-max-calls": "maximum number of calls, including retries",
            "--judge-max-cost": "maximum cost in USD, by the prices of the judges",
            "--judge-max-unparsed": "stop if the first N replies to a suite lack a verdict",
        },
    )
    group.add_argument("--judge-seed", type=seed, default=0, help="seed of every random draw")
    add_cassettes(group)


# What a limit counts, and what it is where none is set.
_LIMITS: Final[Mapping[str, tuple[type[int | float], int | float | None]]] = {
    "--judge-concurrency": (int, AskingTerms.concurrency),
    "--judge-max-calls": (int, AskingTerms.max_calls),
    "--judge-max-cost": (float, AskingTerms.max_cost),
    "--judge-deadline": (float, None),
    "--judge-max-unparsed": (int, AskingTerms.max_unparsed),
}


def add_limits(parser: argparse._ActionsContainer, meanings: Mapping[str, str]) -> None:
    """Add limits of what is asked, each with what it means for the command."""
    for name, meaning in meanings.items():
        kind, default = _LIMITS[name]
        reader = number(name.removeprefix("--judge-"), kind)
        parser.add_argument(name, type=reader, default=default, help=meaning)


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add the files and the datasheet of a command that measures."""
    text = f"write the tables and the datasheet: {FORMS}; may be repeated"
    names = ("-o", "--output", "--judge-datasheet")
    parser.add_argument(*names, dest="outputs", type=Path, metavar="PATH", help=text, **MANY)
    text = "show the datasheet below the tables, and where a file that cannot be made fails"
    parser.add_argument("-v", "--verbose", help=text, **FLAG)


def terms_of(options: argparse.Namespace) -> AskingTerms:
    """On which terms judges are asked, see `add_terms`: one value, with one budget."""
    if "terms" not in options:
        options.terms = AskingTerms(
            mode=options.judge_mode,
            concurrency=options.judge_concurrency,
            max_calls=options.judge_max_calls,
            max_cost=options.judge_max_cost,
            max_unparsed=options.judge_max_unparsed,
            seed=options.judge_seed,
        )
    terms: AskingTerms = options.terms
    return terms
