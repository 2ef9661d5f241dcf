"""``judgesense compare``: what changed, in whichever way it is asked."""

from __future__ import annotations

import argparse
from typing import Final, Protocol

from pytest_judgesense.commands import (
    compare_calls,
    compare_files,
    compare_judges,
    compare_prompts,
    compare_sessions,
)
from pytest_judgesense.commands.live_calls import add_outputs, add_terms
from pytest_judgesense.commands.options import add_judge
from pytest_judgesense.errors import UsageError, listed


class _Comparison(Protocol):
    """A module that compares in one way, by options of its own."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the options that belong to this way alone."""

    def run(self, options: argparse.Namespace) -> int:
        """Compare; the exit code."""


class _Way(_Comparison, Protocol):
    """One that an option asks for."""

    def is_meant(self, options: argparse.Namespace) -> bool:
        """Whether the options ask for it."""


# What is compared where no option asks for another way: files.
WAYS: Final[tuple[_Way, ...]] = (
    compare_sessions,
    compare_prompts,
    compare_judges,
    compare_calls,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is compared, and the options of all ways."""
    text = "the old and the new measurement: judgment logs (.jsonl), baselines or datasheets "
    text += "(.json); or git:REF, the recordings as they stood at a revision of the repository, "
    text += "with a suite file or a folder of them, or without; one file: its judges by rank. "
    text += "Other options ask for sessions, or for a suite"
    parser.add_argument("names", nargs="*", metavar="FILE|SUITE|SESSION", help=text)
    for comparison in (compare_files, *WAYS):
        comparison.add_arguments(parser)
    add_judge(parser)
    add_terms(parser, live=True)
    add_outputs(parser)


def run(options: argparse.Namespace) -> int:
    """Compare in the way that the options ask for."""
    comparison = _meant(options)
    for other in (compare_files, *WAYS):
        if other is not comparison and (unused := _given(other, options)):
            raise UsageError(
                "an option belongs to another comparison",
                found=listed(unused),
                expected="options of one comparison",
                remedy="judgesense compare --help has them in groups",
            )
    return comparison.run(options)


def _meant(options: argparse.Namespace) -> _Comparison:
    """The way that the options ask for; files if they ask for none."""
    meant = [way for way in WAYS if way.is_meant(options)]
    if len(meant) > 1:
        raise UsageError(
            "two comparisons are asked for at once",
            found=" and ".join(listed(_given(way, options)) for way in meant),
            expected="one of them",
            remedy="compare in one way, and then in the other",
        )
    return meant[0] if meant else compare_files


def _given(comparison: _Comparison, options: argparse.Namespace) -> list[str]:
    """The options of a way that are not left as they are."""
    parser = argparse.ArgumentParser(add_help=False)
    comparison.add_arguments(parser)
    left = vars(parser.parse_args([]))
    return [
        f"--{name.replace('_', '-')}"
        for name, value in left.items()
        if getattr(options, name) != value
    ]
