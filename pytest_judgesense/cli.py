"""``judgesense``: suites linted, judgment logs, recordings, and the embedded judge over HTTP.

Exit codes: 0 fine, 1 a bar failed, 2 the command was wrong, 3 a file or an endpoint was broken.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from pytest_judgesense import __version__, actions
from pytest_judgesense.errors import JudgesenseError, UsageError, printable_lines

__all__ = ["main"]

_LARGEST_PORT: Final = 65535

_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code."""
    options = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = options.run
    try:
        return run(options)
    except JudgesenseError as error:
        sys.stderr.write(printable_lines(f"judgesense: {error}") + "\n")
        return actions.WRONG_COMMAND if isinstance(error, UsageError) else actions.BROKEN_FILE
    except BrokenPipeError:
        # The reader of a pipe has seen enough. Python must not complain when it flushes at exit.
        sys.stdout = None
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="judgesense", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--version", action="version", version=f"judgesense {__version__}")
    parser.add_argument(
        "-p",
        "--plugin",
        action="append",
        default=[],
        metavar="MODULE",
        help="load a plugin that adds measures, providers, kinds or sections; may be repeated",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    init = commands.add_parser("init", help="write a first judge, a first suite and a CI workflow")
    init.add_argument(
        "folder",
        nargs="?",
        default=Path(),
        type=Path,
        metavar="DIR",
        help="folder of the project (default: this one); nothing in it is overwritten",
    )
    init.set_defaults(run=actions.init)

    report = commands.add_parser("report", help="print the datasheet of judgment logs")
    report.add_argument(
        "logs",
        nargs="+",
        type=Path,
        metavar="LOG",
        help="judgment logs (.jsonl); or datasheets (.json), whose checks are told",
    )
    report.add_argument(
        "--datasheet",
        action="append",
        default=[],
        type=Path,
        metavar="PATH",
        help="write the datasheet: .json, .html (a page), .md, or .jsonl for the joined log; may "
        "be repeated",
    )
    report.add_argument(
        "--ranking",
        action="store_true",
        help="print the ranking of judge configurations (debates) before the datasheet",
    )
    report.add_argument(
        "--badge", type=Path, metavar="FILE", help="write what came of the checks as an SVG badge"
    )
    report.add_argument("--seed", type=_seed, default=0, help="seed of every random draw")
    report.add_argument(
        "-v", "--verbose", action="store_true", help="show where a file that cannot be made fails"
    )
    report.set_defaults(run=actions.report)

    compared = commands.add_parser("compare", help="compare two baselines, logs or datasheets")
    for name, what in (("old", "before"), ("new", "now")):
        compared.add_argument(
            name, type=Path, metavar=name.upper(), help=f"measured {what}: .json or .jsonl"
        )
    compared.add_argument("--margin", type=_margin, help="loss that is no matter, of any measure")
    compared.add_argument("--seed", type=_seed, default=0, help="seed of every random draw")
    compared.set_defaults(run=actions.compare)

    lint = commands.add_parser("lint", help="say what would make a suite's numbers worthless")
    lint.add_argument(
        "suites",
        nargs="*",
        metavar="SUITE",
        help="suite file, folder, or name (default: the suites here, else the built-in ones)",
    )
    lint.set_defaults(run=actions.lint)

    screen = commands.add_parser("equivalence", help="ask a judge whether templates ask the same")
    screen.add_argument("judge_suite", metavar="SUITE", help="whose template pairs")
    screen.add_argument("--judge-name", required=True, metavar="NAME")
    screen.add_argument("--judge-mode", choices=["replay", "record"], default="replay")
    _add_cassettes(screen)
    screen.set_defaults(run=actions.equivalence)

    label = commands.add_parser("label", help="have a judge label the items that have no label")
    label.add_argument("judge_suite", metavar="SUITE", help="a temperature suite")
    label.add_argument("--judge-name", required=True, metavar="NAME")
    label.add_argument("--judge-mode", choices=["replay", "record"], default="replay")
    _add_cassettes(label)
    label.add_argument("-o", "--output", required=True, type=Path, metavar="FILE")
    label.set_defaults(run=actions.label)

    _add_import(commands)
    serve = commands.add_parser("serve", help="serve the embedded judge on 127.0.0.1")
    serve.add_argument("--port", type=_port, default=8471, help="port (default: 8471; 0: any)")
    serve.set_defaults(run=actions.serve)
    _add_interchange(commands)
    _add_planning(commands)
    _add_debates(commands)
    return parser


def _add_import(commands: _Commands) -> None:
    """Results and benchmark files of others."""
    imports = commands.add_parser("import", help="turn foreign files into a judgment log or suite")
    kinds = ["llmbar", "judgesense", "games", "table", "judgebench"]
    imports.add_argument("kind", choices=kinds, metavar="KIND", help=", ".join(kinds))
    imports.add_argument("path", type=Path, metavar="PATH", help="file or folder of the results")
    imports.add_argument("-o", "--output", required=True, type=Path, metavar="FILE")
    imports.add_argument(
        "--reparse",
        action="store_true",
        help="llmbar, judgebench: read the completions anew, recorded verdicts aside",
    )
    imports.add_argument(
        "--pairs",
        type=Path,
        metavar="FILE",
        help="judgesense: the pair file of a decision log, for its clusters",
    )
    imports.add_argument(
        "--map",
        action="append",
        default=[],
        type=_assignment,
        metavar="FIELD=COLUMN",
        help="table: the column that holds a field of a judgment; may be repeated",
    )
    imports.add_argument(
        "--value",
        action="append",
        default=[],
        type=_assignment,
        metavar="SAID=MEANT",
        help="table: what a verdict or label is called here (model_a=A); may be repeated",
    )
    imports.add_argument("--judge", metavar="NAME", help="table: the judge of all rows")
    imports.add_argument("--suite", metavar="NAME", help="games, table: the suite of all rows")
    imports.set_defaults(run=actions.import_)


def _add_interchange(commands: _Commands) -> None:
    """Recordings to and from other programs and machines."""
    cassettes = commands.add_parser("cassettes", help="work with recordings")
    verbs = cassettes.add_subparsers(required=True, metavar="ACTION")
    convert = verbs.add_parser("convert", help="convert a cassette to or from stock vcrpy")
    convert.add_argument(
        "source", type=Path, metavar="FILE", help="cassette (.jsonl), or vcrpy's .yaml or .json"
    )
    convert.add_argument("-o", "--output", type=Path, metavar="FILE", help="the other of the two")
    _add_judge_and_suite(convert, required=False)
    convert.set_defaults(run=actions.convert)
    check = verbs.add_parser("check", help="search recordings for secrets (exit code 1: found)")
    check.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="cassette of this project (.jsonl) or of vcrpy (.yaml, .yml, .json), or a folder",
    )
    check.set_defaults(run=actions.check_cassettes)

    batch = commands.add_parser("batch", help="ask by an OpenAI-batch file (or vllm run-batch)")
    steps = batch.add_subparsers(required=True, metavar="STEP")
    export = steps.add_parser("export", help="write the requests of the trials not yet recorded")
    export.add_argument("-o", "--output", required=True, type=Path, metavar="FILE")
    _add_judge_and_suite(export, required=True)
    export.set_defaults(run=actions.batch_export)
    results = steps.add_parser("import", help="record the results: output and error files")
    results.add_argument("results", nargs="+", type=Path, metavar="FILE")
    _add_judge_and_suite(results, required=True)
    results.set_defaults(run=actions.batch_import)

    merge = commands.add_parser("merge", help="join cassettes, logs or datasheets of CI shards")
    merge.add_argument("sources", nargs="+", type=Path, metavar="PATH", help="files, or folders")
    merge.add_argument("-o", "--output", required=True, type=Path, metavar="PATH")
    merge.set_defaults(run=actions.merge)


def _add_planning(commands: _Commands) -> None:
    """What a suite costs, and what its checks can tell."""
    for name, said, run in (
        ("plan", "calls, tokens, cost and power, before any call", actions.plan),
        ("power", "chances that checks do not pass, and what they stop", actions.power),
    ):
        command = commands.add_parser(name, help=said)
        option = command.add_argument
        option("judge_suite", metavar="SUITE", help="a suite by name, NAME@PRESET, or its file")
        option("--judge-name", required=name == "plan", metavar="NAME")
        _add_cassettes(command)
        option("--judge-policy", choices=["estimate", "confident"], default="estimate")
        option("--judge-seed", type=_seed, default=0, metavar="N")
        option("--assume", action="append", default=[], type=_assumption, metavar="MEASURE=SHARE")
        option("--correlation", type=_share, default=0.3, metavar="RHO")
        option("--drop", type=_share, metavar="D", help="a change for the worse to be stopped")
        option("--precision", type=_share, default=0.05, metavar="H", help="half-width wanted")
        command.set_defaults(run=run)


def _add_debates(commands: _Commands) -> None:
    """Debates between two models."""
    debates = commands.add_parser("debates", help="have two models debate")
    verbs = debates.add_subparsers(required=True, metavar="ACTION")
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
        choices=["analytical", "creative", "persuasive", "technical"],
    )
    generate.add_argument("--temperature", type=float, default=0.1)
    generate.add_argument("--judge-concurrency", type=int, default=8, metavar="N")
    generate.add_argument("--judge-cassettes", type=Path, default=Path("cassettes"), metavar="DIR")
    generate.add_argument("-o", "--output", required=True, type=Path, metavar="FILE")
    generate.set_defaults(run=actions.generate_debates)


def _add_judge_and_suite(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """The options of the same names that pytest takes."""
    parser.add_argument("--judge-name", required=required, metavar="NAME")
    parser.add_argument("--judge-suite", required=required, metavar="NAME")
    _add_cassettes(parser)


def _add_cassettes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--judge-cassettes",
        type=Path,
        default=Path("cassettes"),
        metavar="DIR",
        help="folder of the recordings (default: cassettes)",
    )


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return name, value


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError("a share is a number from 0 to 1")
    return value


def _assumption(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    return name, _share(number)


def _seed(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError("a seed is a whole number, at least 0")
    return value


def _margin(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError("a margin is a number, at least 0")
    return value


def _port(text: str) -> int:
    value = int(text)
    if not 0 <= value <= _LARGEST_PORT:
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to {_LARGEST_PORT}")
    return value


if __name__ == "__main__":
    sys.exit(main())
