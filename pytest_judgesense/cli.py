"""``judgesense``: datasheets from judgment logs, recordings, and the embedded judge over HTTP.

Exit codes: 0 fine, 1 a bar failed, 2 the command was wrong, 3 a file or an endpoint was broken.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from pytest_judgesense import __version__
from pytest_judgesense.errors import (
    JudgesenseError,
    UsageError,
    printable,
    printable_lines,
    unknown_name,
)

if TYPE_CHECKING:
    from pytest_judgesense.judges.spec import JudgeSpec
    from pytest_judgesense.suites.suite import Suite

__all__ = ["main"]

WRONG_COMMAND: Final = 2
BROKEN_FILE: Final = 3
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
        return WRONG_COMMAND if isinstance(error, UsageError) else BROKEN_FILE
    except BrokenPipeError:
        # The reader of a pipe has seen enough. Python must not complain when it flushes at exit.
        sys.stdout = None
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="judgesense", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--version", action="version", version=f"judgesense {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    report = commands.add_parser("report", help="print the datasheet of judgment logs")
    report.add_argument("logs", nargs="+", type=Path, metavar="LOG", help="judgment log (.jsonl)")
    report.add_argument(
        "--datasheet",
        action="append",
        default=[],
        type=Path,
        metavar="PATH",
        help="write the datasheet: .json, or .jsonl for the joined log; may be repeated",
    )
    report.add_argument(
        "--ranking",
        action="store_true",
        help="print the ranking of judge configurations (debates) before the datasheet",
    )
    report.add_argument("--seed", type=_seed, default=0, help="seed of every random draw")
    report.set_defaults(run=_report)

    imports = commands.add_parser("import", help="turn foreign results into a judgment log")
    imports.add_argument(
        "kind", choices=["judgebench", "llmbar"], metavar="KIND", help="judgebench, llmbar"
    )
    imports.add_argument("path", type=Path, metavar="PATH", help="file or folder of the results")
    imports.add_argument("-o", "--output", required=True, type=Path, metavar="FILE")
    imports.add_argument(
        "--reparse",
        action="store_true",
        help="read the completions anew instead of keeping the recorded verdicts",
    )
    imports.set_defaults(run=_import)

    screen = commands.add_parser("equivalence", help="ask a judge whether templates ask the same")
    screen.add_argument("judge_suite", metavar="SUITE", help="whose template pairs")
    screen.add_argument("--judge-name", required=True, metavar="NAME")
    screen.add_argument("--judge-mode", choices=["replay", "record"], default="replay")
    _add_cassettes(screen)
    screen.set_defaults(run=_equivalence)

    serve = commands.add_parser("serve", help="serve the embedded judge on 127.0.0.1")
    serve.add_argument("--port", type=_port, default=8471, help="port (default: 8471; 0: any)")
    serve.set_defaults(run=_serve)
    _add_interchange(commands)
    _add_debates(commands)
    return parser


def _add_interchange(commands: _Commands) -> None:
    """Recordings to and from other programs and machines."""
    cassettes = commands.add_parser("cassettes", help="work with recordings")
    actions = cassettes.add_subparsers(required=True, metavar="ACTION")
    convert = actions.add_parser("convert", help="convert a cassette to or from stock vcrpy")
    convert.add_argument(
        "source", type=Path, metavar="FILE", help="cassette (.jsonl), or vcrpy's .yaml or .json"
    )
    convert.add_argument("-o", "--output", type=Path, metavar="FILE", help="the other of the two")
    _add_judge_and_suite(convert, required=False)
    convert.set_defaults(run=_convert)
    check = actions.add_parser("check", help="search recordings for secrets (exit code 1: found)")
    check.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="cassette of this project (.jsonl) or of vcrpy (.yaml, .yml, .json), or a folder",
    )
    check.set_defaults(run=_check_cassettes)

    batch = commands.add_parser("batch", help="ask by an OpenAI-batch file (or vllm run-batch)")
    steps = batch.add_subparsers(required=True, metavar="STEP")
    export = steps.add_parser("export", help="write the requests of the trials not yet recorded")
    export.add_argument("-o", "--output", required=True, type=Path, metavar="FILE")
    _add_judge_and_suite(export, required=True)
    export.set_defaults(run=_batch_export)
    results = steps.add_parser("import", help="record the results: output and error files")
    results.add_argument("results", nargs="+", type=Path, metavar="FILE")
    _add_judge_and_suite(results, required=True)
    results.set_defaults(run=_batch_import)

    merge = commands.add_parser("merge", help="join cassettes, logs or datasheets of CI shards")
    merge.add_argument("sources", nargs="+", type=Path, metavar="PATH", help="files, or folders")
    merge.add_argument("-o", "--output", required=True, type=Path, metavar="PATH")
    merge.set_defaults(run=_merge)


def _add_debates(commands: _Commands) -> None:
    """Debates between two models."""
    debates = commands.add_parser("debates", help="have two models debate")
    actions = debates.add_subparsers(required=True, metavar="ACTION")
    generate = actions.add_parser("generate", help="debate every topic twice, sides exchanged")
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
    generate.set_defaults(run=_generate_debates)


def _generate_debates(options: argparse.Namespace) -> int:
    from pytest_judgesense.debating import generate_debates, read_topics
    from pytest_judgesense.judges.resolving import declared_judges, resolve_judges

    return _print(
        generate_debates(
            resolve_judges(options.debater, declared_judges(Path.cwd()), {}),
            read_topics(options.topics),
            options.output,
            options.judge_cassettes,
            style=options.style,
            temperature=options.temperature,
            concurrency=options.judge_concurrency,
        )
    )


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


def _seed(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError("a seed is a whole number, at least 0")
    return value


def _port(text: str) -> int:
    value = int(text)
    if not 0 <= value <= _LARGEST_PORT:
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to {_LARGEST_PORT}")
    return value


def _report(options: argparse.Namespace) -> int:
    from pytest_judgesense.datasheet.assembly import write_datasheet
    from pytest_judgesense.datasheet.terminal import datasheet_lines, ranking_lines
    from pytest_judgesense.reporting import cells_of_logs, datasheet_of_cells, log_of_cells

    cells = cells_of_logs(options.logs, options.seed)
    if not cells:
        raise UsageError(
            "there is nothing to report on",
            found="no judgment in " + ", ".join(str(path) for path in options.logs),
            expected="at least one line",
        )
    sheet = datasheet_of_cells(cells, options.seed, secondary=bool(options.datasheet))
    if options.ranking:
        ranked = list(ranking_lines(sheet))
        for line in [*ranked, ""] if ranked else ["there are no debates to rank judges by", ""]:
            print(printable(line))
    for line in datasheet_lines(sheet):
        print(printable(line))
    for path in options.datasheet:
        write_datasheet(path, sheet, [list(log_of_cells(cells))])
        print(printable(f"datasheet written: {path}"))
    return 0


def _import(options: argparse.Namespace) -> int:
    from pytest_judgesense.datasheet.log import log_line
    from pytest_judgesense.importers import judgebench, llmbar

    read, design = {
        "judgebench": (judgebench.read_judgebench, judgebench.DESIGN),
        "llmbar": (llmbar.read_llmbar, llmbar.DESIGN),
    }[options.kind]
    judgments = list(read(options.path, reparse=options.reparse))
    try:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        with options.output.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(log_line(judgment, design) + "\n" for judgment in judgments)
    except OSError as error:
        raise UsageError(f"{options.output} cannot be written", found=str(error)) from error
    judges = sorted({judgment.judge for judgment in judgments})
    suites = sorted({judgment.trial.suite for judgment in judgments})
    unparsed = sum(judgment.verdict is None for judgment in judgments)
    said = f"{len(judgments)} judgments of {', '.join(judges)} on {', '.join(suites)}"
    print(printable(f"{said}; {unparsed} state no verdict"))
    print(printable(f"written: {options.output}"))
    return 0


def _check_cassettes(options: argparse.Namespace) -> int:
    from pytest_judgesense.cassettes.checking import check_cassettes

    checked = check_cassettes(options.paths, os.environ)
    for finding in checked.findings:
        print(printable(f"{finding.place}: {finding.what}"))
    for error in checked.broken:
        sys.stderr.write(printable_lines(f"judgesense: {error}") + "\n")
    if checked.skipped:
        named = ", ".join(f"{name} ({why})" for name, why in checked.skipped.items())
        print(printable(f"not searched for, as words and not secrets: {named}"))
    print(
        f"{len(checked.findings)} secrets in {checked.files} files, {checked.exchanges} exchanges"
    )
    if checked.broken:
        return BROKEN_FILE
    return 1 if checked.findings else 0


def _serve(options: argparse.Namespace) -> int:
    from pytest_judgesense.judges.embedded.observer import PROFILES
    from pytest_judgesense.judges.embedded.server import EmbeddedServer

    try:
        server = EmbeddedServer(options.port)
    except OSError as error:
        raise UsageError(
            f"port {options.port} cannot be served",
            found=str(error),
            remedy="choose another port, or 0 for any",
        ) from error
    print(f"the embedded judge is served at {server.base_url}", flush=True)
    print(f"models: {', '.join(PROFILES)}. OpenAI: /chat/completions; Anthropic: /messages")
    print("Ctrl-C ends it.", flush=True)
    try:
        server.serve_forever(poll_interval=0.1)
    except KeyboardInterrupt:
        print()
    finally:
        server.server_close()
    return 0


def _judge_and_suite(options: argparse.Namespace) -> tuple[JudgeSpec, Suite]:
    """The judge that this folder's project declares, and the suite, as pytest would take them."""
    from pytest_judgesense.judges.resolving import declared_judges, resolve_judges
    from pytest_judgesense.suites.builtin import builtin_suites
    from pytest_judgesense.suites.loading import load_suite

    (judge,) = resolve_judges([options.judge_name], declared_judges(Path.cwd()), {})
    base, _, preset = options.judge_suite.partition("@")
    known = builtin_suites()
    own = Path("suites") / base / f"{base}.suite.toml"
    for path in (Path(base), own, known.get(base, own)):
        if path.name.endswith(".suite.toml") and path.is_file():
            return judge, load_suite(path, preset or None)
    raise unknown_name("suite", base, known)


def _convert(options: argparse.Namespace) -> int:
    from pytest_judgesense.interchange import from_foreign_vcr, from_vcr, to_vcr

    source, target = options.source, options.output
    if options.judge_name and options.judge_suite and target is None:
        judge, suite = _judge_and_suite(options)
        lines = from_foreign_vcr(source, judge, suite, options.judge_cassettes)
    elif target is None or options.judge_name or options.judge_suite:
        raise UsageError(
            "it is not said where to convert to",
            expected="-o FILE; or, for what vcrpy has recorded itself, --judge-name and "
            "--judge-suite together, which name the cassette",
        )
    elif source.suffix == ".jsonl":
        lines = to_vcr(source, target)
    else:
        lines = from_vcr(source, target)
    return _print(lines)


def _batch_export(options: argparse.Namespace) -> int:
    from pytest_judgesense.interchange import export_batch

    judge, suite = _judge_and_suite(options)
    return _print(export_batch(judge, suite, options.judge_cassettes, options.output))


def _batch_import(options: argparse.Namespace) -> int:
    from pytest_judgesense.interchange import import_batch

    judge, suite = _judge_and_suite(options)
    return _print(import_batch(judge, suite, options.judge_cassettes, options.results))


def _equivalence(options: argparse.Namespace) -> int:
    from pytest_judgesense.screening import screen_equivalence

    judge, suite = _judge_and_suite(options)
    return _print(screen_equivalence(judge, suite, options.judge_cassettes, options.judge_mode))


def _merge(options: argparse.Namespace) -> int:
    from pytest_judgesense.reporting import merge

    return _print(merge(options.sources, options.output))


def _print(lines: Iterable[str]) -> int:
    for line in lines:
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
