"""``judgesense import``: results and benchmark files of others as a judgment log or a suite."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_judgesense.commands.lint import lint_report
from pytest_judgesense.commands.options import registry_of, show
from pytest_judgesense.errors import printable
from pytest_judgesense.importers import Imported
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.output import write_text
from pytest_judgesense.report.log import log_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is read, and how."""
    kinds = list(BUILT_IN.importers)
    parser.add_argument("kind", choices=kinds, metavar="KIND", help=", ".join(kinds))
    parser.add_argument("path", type=Path, metavar="PATH", help="file or folder of the results")
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="FILE")
    parser.add_argument(
        "--reparse",
        action="store_true",
        help="read recorded completions anew, recorded verdicts aside",
    )
    parser.add_argument(
        "--pairs",
        type=Path,
        metavar="FILE",
        help="judgesense: the pair file of a decision log, for its clusters",
    )
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        type=_assignment,
        metavar="FIELD=COLUMN",
        help="table: the column that holds a field of a judgment; may be repeated",
    )
    parser.add_argument(
        "--value",
        action="append",
        default=[],
        type=_assignment,
        metavar="SAID=MEANT",
        help="table: what a verdict or label is called here (model_a=A); may be repeated",
    )
    parser.add_argument("--judge", metavar="NAME", help="table: the judge of all rows")
    parser.add_argument("--suite", metavar="NAME", help="games, table: the suite of all rows")
    parser.set_defaults(run=run)


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return name, value


def run(options: argparse.Namespace) -> int:
    """Turn foreign files into a judgment log or a suite."""
    read = registry_of(options).importers[options.kind].read(options)
    for notice in read.notices:
        print(printable(f"notice: {notice}"))
    if not isinstance(read, Imported):
        files = read.files(options.output)
        for path, text in files.items():
            write_text(path, text)
            print(printable(f"written: {path}"))
        written = [path for path in files if path.name.endswith(".suite.toml")]
        return show(lint_report(written)[0])
    write_text(options.output, "".join(f"{log_line(*one)}\n" for one in read.judgments))
    judgments = [judgment for judgment, _ in read.judgments]
    judges = sorted({judgment.judge for judgment in judgments})
    suites = sorted({judgment.trial.suite for judgment in judgments})
    unparsed = sum(judgment.verdict is None for judgment in judgments)
    said = f"{len(judgments)} judgments of {', '.join(judges)} on {', '.join(suites)}"
    print(printable(f"{said}; {unparsed} state no verdict"))
    print(printable(f"written: {options.output}"))
    return 0
