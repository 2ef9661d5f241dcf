"""``judgesense import``: results and benchmark files of others as a judgment log or a suite."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.commands.options import (
    FILE,
    FLAG,
    MANY,
    OUTPUT,
    add_row_options,
    by_criterion,
    number,
    place_of,
)
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.output import write_text
from pytest_judgesense.files.row_options import ROW_OPTION_WORDS
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.questions.import_.question import (
    NUMBERS,
    OPTION_WORDS,
    ImportQuestion,
    option_name,
)
from pytest_judgesense.questions.lint_report import lint_report
from pytest_judgesense.trial import ABSTAIN, MOST, TIE

_MOST_STEPS: Final = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("kind", metavar="KIND", help=", ".join(BUILT_IN.importers))
    text = "file or folder of the results; of tables several, whose names are in a column file; "
    text += "FILE#PART for a key in JSON, a sheet or a file of an archive"
    parser.add_argument("path", type=Path, nargs="+", metavar="PATH", help=text)
    parser.add_argument("-o", "--output", required=True, help=OUTPUT, **FILE)
    either = parser.add_mutually_exclusive_group()
    forms = _forms_of_arguments()
    for field, words in OPTION_WORDS.items():
        if field in ROW_OPTION_WORDS:
            continue
        group = either if words.needs == NUMBERS else parser
        group.add_argument(option_name(field), help=str(words), **forms[field])
    add_row_options(parser, f"foreign files ({OPTION_WORDS['map'].needs}; --lists, --join: table)")


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


def run(options: argparse.Namespace) -> Iterator[str]:
    """Turn foreign files into a judgment log or a suite."""
    path, *more = options.path
    given = {
        field.name: _frozen(getattr(options, field.name, ())) for field in fields(ImportOptions)
    }
    how = ImportOptions(**given | {"path": path, "more": tuple(more)})
    answer = ImportQuestion(options.kind, how, options.output, place_of(options)).answer()
    for path, text in answer.files.items():
        write_text(path, text)
    yield from answer.lines()
    if answer.suites:
        yield from lint_report(answer.suites).lines()


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
