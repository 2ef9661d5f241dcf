"""``judgesense debates``: debates between two models."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path

from pytest_judgesense.instruments.debate.generation import STYLES, generate_debates, read_topics
from pytest_judgesense.judges.spec import JudgeSpec


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the only action."""
    verbs = parser.add_subparsers(required=True, metavar="ACTION")
    generate = verbs.add_parser("generate", help="debate every topic twice, sides exchanged")
    generate.add_argument(
        "--debater",
        action="append",
        required=True,
        metavar="NAME",
        help="a declared judge or provider:model; given twice, the first begins as PRO",
    )
    generate.add_argument(
        "--topics", type=Path, metavar="FILE", help="a topic a line (default: the built-in 25)"
    )
    generate.add_argument(
        "--style",
        default="analytical",
        choices=list(STYLES),
    )
    generate.add_argument("--temperature", type=float, default=0.1)
    generate.add_argument("--judge-concurrency", type=int, default=8, metavar="N")
    generate.add_argument("--judge-cassettes", type=Path, default=Path("cassettes"), metavar="DIR")
    generate.add_argument("-o", "--output", required=True, type=Path, metavar="FILE")


def debates_written(
    options: argparse.Namespace, judges: Callable[[list[str]], list[JudgeSpec]]
) -> Iterable[str]:
    """Have two models debate every topic, sides exchanged; what there is to tell."""
    return generate_debates(
        judges(options.debater),
        read_topics(options.topics),
        options.output,
        options.judge_cassettes,
        style=options.style,
        temperature=options.temperature,
        concurrency=options.judge_concurrency,
    )
