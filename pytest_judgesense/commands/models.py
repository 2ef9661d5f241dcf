"""``judgesense models``: the language models that can be run on this machine."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from pytest_judgesense.errors import unknown_name
from pytest_judgesense.judges.local.getting import get
from pytest_judgesense.judges.local.models import MODELS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    verbs = parser.add_subparsers(required=True, metavar="VERB", dest="verb")
    getting = verbs.add_parser("get", help="bring a model to this machine")
    getting.add_argument("model", metavar="NAME", help="a model of `judgesense models list`")
    verbs.add_parser("list", help="the models that are known by name, and where they are")


def run(options: argparse.Namespace) -> Iterator[str]:
    """List the models, or get one."""
    if options.verb == "get":
        if options.model not in MODELS:
            raise unknown_name("model", options.model, MODELS)
        yield from get(MODELS[options.model])
        return
    for model in MODELS.values():
        there = "here" if model.path.is_file() else "not here"
        size = f"{model.bytes / 1e6:.0f} MB"
        yield f"{model.name}  {model.title}, {model.quantisation}, {size}, {model.licence}"
        yield f"  {there}: {model.path}"
        yield f"  SHA-256 {model.sha256}, {model.made}"
