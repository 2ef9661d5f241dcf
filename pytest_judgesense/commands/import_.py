"""``judgesense import``: results and benchmark files of others as a judgment log or a suite."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.commands.options import (
    FILE,
    FLAG,
    MANY,
    OUTPUT,
    WRONG_COMMAND,
    add_row_options,
    by_criterion,
    number,
    place_of,
    show,
)
from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.opening import read_bytes
from pytest_judgesense.files.output import write_text
from pytest_judgesense.files.row_options import ROW_OPTION_WORDS
from pytest_judgesense.files.shapes import SHAPES
from pytest_judgesense.files.written_before import note_written, was_written_from
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.questions.import_.option_words import NUMBERS, OPTION_WORDS, option_name
from pytest_judgesense.questions.import_.question import ImportAnswer, ImportQuestion
from pytest_judgesense.questions.lint_report import lint_report
from pytest_judgesense.suites.space import number_of
from pytest_judgesense.trial import ABSTAIN, MOST, TIE, ScoreRange

_MOST_STEPS: Final = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    text = "file or folder of the results; of tables several, whose names are in a column file; "
    text += "FILE#PART for a key in JSON, a sheet or a file of an archive"
    parser.add_argument("path", type=Path, nargs="+", metavar="PATH", help=text)
    parser.add_argument("-o", "--output", help=f"{OUTPUT}; without it only looks", **FILE)
    parser.add_argument("--yes", help="write it as the preview proposes", **FLAG)
    text = "read the files as these, where several forms fit, or none: "
    text += f"{', '.join(BUILT_IN.importers)}, {', '.join(shape.name for shape in SHAPES)}"
    parser.add_argument("--format", metavar="NAME", help=text.rstrip(", "))
    either = parser.add_mutually_exclusive_group()
    forms = _forms_of_arguments()
    for field, words in OPTION_WORDS.items():
        if field in ROW_OPTION_WORDS:
            continue
        group = either if words.needs == NUMBERS else parser
        group.add_argument(option_name(field), help=str(words), **forms[field])
    files = f"foreign files ({OPTION_WORDS['map'].needs}; --lists, --join: table)"
    add_row_options(parser, files, may_be_nowhere=True)


def _forms_of_arguments() -> Mapping[str, Mapping[str, Any]]:
    """What `argparse` is told of each option, by its field."""
    column, name = {"metavar": "COLUMN"}, {"metavar": "NAME"}
    graded = {"action": "extend", "default": [], "type": by_criterion}
    return {
        "reparse": FLAG,
        "variant": MANY | name,
        "pairs": FILE,
        "leave_out": {**MANY, "metavar": "ID"},
        "validation": MANY | FILE,
        "labels": {"type": _labels, "metavar": "A,B,..."},
        "range": {"type": _range, "metavar": "LOW,HIGH"},
        "grades": graded | {"metavar": "CRITERION=COLUMN,..."},
        "people": graded | {"metavar": "CRITERION=COLUMN+...,..."},
        "pass_mark": {"metavar": "GRADE"},
        "replicate": {"type": number("replicate", int, MOST, least=1), "metavar": "N"},
        "judge": name,
        "suite": name,
        "cluster": column,
        "order": column,
        "label": column,
        "scorer": MANY | name,
        "scale": {"type": number("number of steps", int, _MOST_STEPS), "metavar": "N"},
        "threshold": {"type": number("threshold", float), "metavar": "T"},
    }


def _labels(text: str) -> tuple[str, ...]:
    """Two verdicts or more, separated by commas."""
    labels = tuple(label.strip() for label in text.split(","))
    if len({*labels}) < len(labels) or not all(labels) or len({*labels} - {TIE, ABSTAIN}) < 2:
        raise argparse.ArgumentTypeError(f"{text!r} names no two verdicts, such as YES,NO")
    return labels


def _range(text: str) -> tuple[str, str]:
    """Two numbers, the lower one first, separated by a comma."""
    numbers = [number_of(part) for part in text.split(",")]
    if len(numbers) != 2 or numbers[0] is None or numbers[1] is None or numbers[0] >= numbers[1]:
        raise argparse.ArgumentTypeError(f"{text!r} is no range, such as 1,5: the lower end first")
    return ScoreRange(numbers[0], numbers[1]).ends


def run(options: argparse.Namespace) -> Iterable[str] | int:
    """Turn foreign files into a judgment log or a suite, or show what they would become."""
    path, *more = options.path
    given = {
        field.name: _frozen(getattr(options, field.name, ())) for field in fields(ImportOptions)
    }
    how = ImportOptions(**given | {"path": path, "more": tuple(more)})
    question = ImportQuestion(how, options.output, options.format, place_of(options))
    if options.output is not None or options.yes:
        return _written(question.answer(), options.path, is_proposed=options.output is None)
    preview = question.preview()
    if preview.look.problem is not None:
        show(preview.lines())
        raise preview.look.problem
    if sys.stdout is None or sys.stdout.isatty() or not preview.is_known:
        show(preview.lines())
        return 0 if sys.stdout is not None and sys.stdout.isatty() else WRONG_COMMAND
    return _written(question.answer_to(preview.look), options.path, is_proposed=True)


def _written(answer: ImportAnswer, sources: Sequence[Path], *, is_proposed: bool) -> Iterator[str]:
    """Write the files; a file that nobody named takes the place of no other.

    What an import of the same sources wrote may be written again, with other options.
    """
    again = set()
    for path, text in answer.files.items():
        if not (is_proposed and path.exists()) or read_bytes(path) == text.encode("utf-8"):
            continue
        if not was_written_from(path, sources):
            raise UsageError(
                f"{path} is there, with other content",
                expected="a file that is not there, or that an import of the same files wrote",
                remedy="name the output: -o FILE",
            )
        again.add(path)
    for path, text in answer.files.items():
        write_text(path, text)
        if is_proposed:
            with suppress(OSError):  # without the note the file is only not replaced
                note_written(path, text.encode("utf-8"), sources)
    yield from answer.lines(again)
    if answer.suites:
        yield from lint_report(answer.suites).lines()


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
