"""``judgesense correct``: from a judge's verdicts to the rates that people would give."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_judgesense.commands.options import (
    BAR_FAILED,
    FILE,
    MANY,
    add_cassettes,
    add_row_options,
    number,
    place_of,
    row_options_of,
    seed,
    show,
)
from pytest_judgesense.files.output import write_text
from pytest_judgesense.questions.correct.calibrated_judge import PARTS
from pytest_judgesense.questions.correct.question import CorrectQuestion


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verdicts, and what corrects them."""
    help_text = "a suite file, or a folder of them, whose recording is read; or a judgment log "
    help_text += "(.jsonl), as judgesense import writes it"
    parser.add_argument("verdicts", metavar="VERDICTS", help=help_text)
    help_text = "the datasheet (.json) of the judge on items with labels of people"
    parser.add_argument("--calibration", metavar="SHEET", type=Path, help=help_text)
    help_text = "the suite that calibrated it, where the datasheet has several"
    parser.add_argument("--calibration-suite", metavar="NAME", help=help_text)
    help_text = "labels of people for some of these verdicts: a table with columns item, label"
    parser.add_argument("--labels", help=help_text, **FILE)
    help_text = "how these were drawn, where the file does not say it"
    parser.add_argument("--drawn", choices=["random", "stratified"], help=help_text)
    help_text = f"state that these are as calibrated, where it is not recorded: {','.join(PARTS)}"
    parser.add_argument("--same", type=_parts, default=(), metavar="PARTS", help=help_text)
    help_text = "refuse a calibration that was recorded longer ago"
    days = number("number of days", float)
    parser.add_argument("--judge-max-age", type=days, metavar="DAYS", help=help_text)
    parser.add_argument("--judge-name", metavar="NAME", help="only this judge; repeatable", **MANY)
    parser.add_argument("--judge-seed", type=seed, default=0, help="seed of every random draw")
    add_cassettes(parser)
    parser.add_argument("-o", "--output", help="write the rates as JSON", **FILE)
    add_row_options(parser, "labels (fields: item, label, person, drawn, order, people.NAME)")


def _parts(text: str) -> tuple[str, ...]:
    parts = tuple(part.strip() for part in text.split(","))
    if wrong := [part for part in parts if part not in PARTS]:
        raise argparse.ArgumentTypeError(f"{wrong[0]!r} is none of {', '.join(PARTS)}")
    return parts


def run(options: argparse.Namespace) -> int:
    """Print the corrected rates; 1 if something is refused or extrapolated."""
    answer = CorrectQuestion(
        verdicts=options.verdicts,
        calibration=options.calibration,
        calibration_suite=options.calibration_suite,
        labels=options.labels,
        drawn=options.drawn,
        same=options.same,
        max_age=options.judge_max_age,
        judges=tuple(options.judge_name),
        seed=options.judge_seed,
        place=place_of(options),
        row_options=row_options_of(options),
    ).answer()
    show(answer.lines())
    if options.output is not None:
        write_text(options.output, answer.json_text())
        show([f"written: {options.output}"])
    return BAR_FAILED if answer.worse else 0
