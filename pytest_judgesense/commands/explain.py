"""``judgesense explain NAME``: its words on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from pytest_judgesense.commands.options import place_of
from pytest_judgesense.questions.explain.question import ALL_PAGES, ExplainQuestion


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the name."""
    help_text = (
        "a measure (jss) or a check (jss_floor), as reports and node ids name it, or a page "
    )
    help_text += f"({', '.join(ALL_PAGES)}); all measures are listed without one"
    parser.add_argument("name", metavar="NAME", nargs="?", help=help_text)


def run(options: argparse.Namespace) -> Iterator[str]:
    """Explain a measure, or what a check holds against its bar; without a name list them."""
    return ExplainQuestion(options.name, place_of(options)).answer().lines()
