"""``judgesense cassettes``: recordings searched for secrets."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from pytest_judgesense.cassettes.old_secrets import check_cassettes
from pytest_judgesense.commands.options import BAR_FAILED, BROKEN_FILE, complain, show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the action."""
    verbs = parser.add_subparsers(required=True, metavar="ACTION")
    check = verbs.add_parser("check", help="search recordings for secrets (exit code 1: found)")
    paths = "cassette (.jsonl), recording of vcrpy (.yaml, .yml, .json), or folder"
    check.add_argument("paths", nargs="+", type=Path, metavar="PATH", help=paths)
    check.set_defaults(run=run_check)


def run_check(options: argparse.Namespace) -> int:
    """Search recordings for secrets."""
    checked = check_cassettes(options.paths, os.environ)
    show(f"{fault.place}: {fault.kind}" for fault in checked.faults)
    for error in checked.broken:
        complain(error)
    if named := ", ".join(f"{name} ({why})" for name, why in checked.skipped.items()):
        show([f"not removed, for such short or plain values are ordinary words too: {named}"])
    counts = f"{checked.files} files, {checked.exchanges} exchanges"
    show([f"{len(checked.faults)} secrets in {counts}"])
    if checked.broken:
        return BROKEN_FILE
    return BAR_FAILED if checked.faults else 0
