"""What the commands of ``judgesense`` do: each takes its parsed arguments and returns an exit code.

What they need is imported when they run: ``judgesense --help`` loads none of it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_judgesense.errors import UsageError, printable, printable_lines, unknown_name

if TYPE_CHECKING:
    from pytest_judgesense.extensions import Extensions
    from pytest_judgesense.importers import Imported
    from pytest_judgesense.importers.judgesense import PairFile
    from pytest_judgesense.judges.spec import JudgeSpec
    from pytest_judgesense.suites.suite import Suite

__all__ = [
    "BROKEN_FILE",
    "WRONG_COMMAND",
    "batch_export",
    "batch_import",
    "check_cassettes",
    "compare",
    "convert",
    "equivalence",
    "generate_debates",
    "import_",
    "init",
    "label",
    "lint",
    "merge",
    "plan",
    "power",
    "report",
    "serve",
]

BAR_FAILED: Final = 1
WRONG_COMMAND: Final = 2
BROKEN_FILE: Final = 3


def init(options: argparse.Namespace) -> int:
    """Write a first judge, a first suite and a workflow."""
    from pytest_judgesense.starting import start

    # All of it is written before anything is told: a reader of a pipe may have enough of it.
    return _print(list(start(options.folder)))


def report(options: argparse.Namespace) -> int:
    """Print the datasheet of judgment logs, or the checks of datasheets."""
    from pytest_judgesense.datasheet.assembly import write_datasheet
    from pytest_judgesense.datasheet.handout import badge
    from pytest_judgesense.datasheet.terminal import datasheet_lines, ranking_lines
    from pytest_judgesense.reporting import cells_of_logs, datasheet_of_cells, log_of_cells

    if any(path.suffix == ".json" for path in options.logs):
        return _report_checks(options)
    pages = [path for path in options.datasheet if path.suffix == ".html"]
    if pages:
        from pytest_judgesense.datasheet.page import Evidence, require_packages

        require_packages()
    added = _extensions(options)
    cells = cells_of_logs(options.logs, options.seed, added.catalogue)
    if not cells:
        raise UsageError(
            "there is nothing to report on",
            found="no judgment in " + ", ".join(str(path) for path in options.logs),
            expected="at least one line",
        )
    secondary = bool(options.datasheet)
    sheet = datasheet_of_cells(cells, options.seed, secondary=secondary, extensions=added)
    if options.ranking:
        ranked = list(ranking_lines(sheet))
        for line in [*ranked, ""] if ranked else ["there are no debates to rank judges by", ""]:
            print(printable(line))
    for line in datasheet_lines(sheet):
        print(printable(line))
    for path in options.datasheet:
        if path in pages:
            write_datasheet(path, sheet, evidence=Evidence(tuple(cells)))
        else:
            logs = [list(log_of_cells(cells))] if path.suffix == ".jsonl" else []
            write_datasheet(path, sheet, logs)
        print(printable(f"datasheet written: {path}"))
    return _write_badge(options.badge, badge((), [judge.judge for judge in sheet.judges]))


def _report_checks(options: argparse.Namespace) -> int:
    """Print what came of the checks that datasheets hold."""
    from pytest_judgesense.datasheet.handout import badge, outcome_words
    from pytest_judgesense.reporting import entries_of_datasheets

    named = ", ".join(str(path) for path in options.logs)
    if options.datasheet or options.ranking or {p.suffix for p in options.logs} != {".json"}:
        raise UsageError(
            "a datasheet holds no judgments to make another of",
            found=named,
            expected="judgment logs (.jsonl) with --datasheet and --ranking; datasheets (.json) "
            "alone, with --badge or without",
        )
    entries = entries_of_datasheets(options.logs)
    checks = [(entry["judge"]["name"], check) for entry in entries for check in entry["checks"]]
    for name, check in checks:
        told = f"{check['outcome'].upper()}  judge {name}, {check['suite']}, {check['check']}"
        print(printable(f"{told}: {check['explanation']}"))
    outcomes = [check["outcome"] for _, check in checks]
    print(outcome_words(outcomes))
    judges = dict.fromkeys(entry["judge"]["name"] for entry in entries)
    return _write_badge(options.badge, badge(outcomes, list(judges)))


def _write_badge(path: Path | None, text: str) -> int:
    from pytest_judgesense.reporting import write_text

    if path is not None:
        write_text(path, text)
        print(printable(f"badge written: {path}"))
    return 0


def compare(options: argparse.Namespace) -> int:
    """Print two measurements side by side."""
    from pytest_judgesense.comparing import comparison_lines, measured_of_file

    known = _extensions(options).catalogue
    paths = (options.old, options.new)
    old, new = (measured_of_file(path, options.seed, known) for path in paths)
    lines, regressed = comparison_lines(old, new, options.margin)
    for line in lines:
        print(line)
    return BAR_FAILED if regressed else 0


def import_(options: argparse.Namespace) -> int:
    """Turn foreign files into a judgment log or a suite."""
    from pytest_judgesense.datasheet.log import log_line
    from pytest_judgesense.importers.judgesense import PairFile
    from pytest_judgesense.reporting import write_text
    from pytest_judgesense.screening import lint_report

    read = _read_foreign(options)
    for notice in read.notices:
        print(printable(f"notice: {notice}"))
    if isinstance(read, PairFile):
        files = read.files(options.output)
        for path, text in files.items():
            write_text(path, text)
            print(printable(f"written: {path}"))
        written = [path for path in files if path.name.endswith(".suite.toml")]
        return _print(lint_report(written)[0])
    write_text(options.output, "".join(f"{log_line(*one)}\n" for one in read.judgments))
    judgments = [judgment for judgment, _ in read.judgments]
    judges = sorted({judgment.judge for judgment in judgments})
    suites = sorted({judgment.trial.suite for judgment in judgments})
    unparsed = sum(judgment.verdict is None for judgment in judgments)
    said = f"{len(judgments)} judgments of {', '.join(judges)} on {', '.join(suites)}"
    print(printable(f"{said}; {unparsed} state no verdict"))
    print(printable(f"written: {options.output}"))
    return 0


def check_cassettes(options: argparse.Namespace) -> int:
    """Search recordings for secrets."""
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


def _read_foreign(options: argparse.Namespace) -> Imported | PairFile:
    from pytest_judgesense.importers import Imported, judgebench, llmbar, read_rows
    from pytest_judgesense.importers.judgesense import holds_decisions, read_pairs
    from pytest_judgesense.importers.results import read_decisions, read_games, read_table

    path: Path = options.path
    if options.kind == "llmbar":
        judgments = llmbar.read_llmbar(path, reparse=options.reparse)
        return Imported(tuple((judgment, llmbar.DESIGN) for judgment in judgments))
    if options.kind == "judgebench":
        judgments = judgebench.read_judgebench(path, reparse=options.reparse)
        return Imported(tuple((judgment, judgebench.DESIGN) for judgment in judgments))
    if options.kind == "table":
        mapping, values = dict(options.map), dict(options.value)
        return read_table(path, mapping, judge=options.judge, suite=options.suite, values=values)
    files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    rows = [row for file in files for row in read_rows(file)]
    if options.kind == "games":
        return read_games(rows, options.suite or path.stem)
    if holds_decisions(rows, path):
        return read_decisions(rows, options.pairs)
    return read_pairs(rows, path)


def lint(options: argparse.Namespace) -> int:
    """Say what would make a suite's numbers worthless."""
    from pytest_judgesense.screening import lint_report
    from pytest_judgesense.suites.builtin import builtin_suites

    if options.suites:
        paths = [path for name in options.suites for path in _suite_files(name)]
    else:
        paths = [*sorted(Path.cwd().glob("*.suite.toml")), *sorted(Path("suites").rglob("*.toml"))]
        paths = [path for path in paths if path.name.endswith(".suite.toml")]
    files = paths or list(builtin_suites().values())
    lines, errors, broken = lint_report(files, _extensions(options))
    _print(lines)
    return BROKEN_FILE if broken else BAR_FAILED if errors else 0


def serve(options: argparse.Namespace) -> int:
    """Serve the embedded judge."""
    from pytest_judgesense.judges.simulated.profiles import PROFILES
    from pytest_judgesense.judges.simulated.server import EmbeddedServer

    try:
        server = EmbeddedServer(options.port, totals=True)
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


def _extensions(options: argparse.Namespace) -> Extensions:
    """What installed plugins add, and those named by ``-p``; looked for once."""
    from pytest_judgesense.extensions import loaded

    if "extensions" not in options:
        if options.plugin:
            # As `python -m` does: a project's own plugin need not be installed.
            sys.path.append(str(Path.cwd()))
        options.extensions = loaded(options.plugin)
    found: Extensions = options.extensions
    return found


def _judge_and_suite(options: argparse.Namespace) -> tuple[JudgeSpec, Suite]:
    """The judge that this folder's project declares, and the suite, as pytest would take them."""
    (judge,) = _judges(options, [options.judge_name])
    return judge, _suite(options)


def _judges(options: argparse.Namespace, names: list[str]) -> list[JudgeSpec]:
    from pytest_judgesense.judges.resolving import declared_judges, resolve_judges

    providers = _extensions(options).providers
    return resolve_judges(names, declared_judges(Path.cwd(), providers), {}, (), providers)


def _suite(options: argparse.Namespace, *, labelled: bool = True) -> Suite:
    from pytest_judgesense.suites.loading import load_suite

    base, _, preset = options.judge_suite.partition("@")
    kinds = _extensions(options).kinds
    return load_suite(_suite_files(base)[0], preset or None, kinds, labelled=labelled)


def _suite_files(name: str) -> list[Path]:
    """The suite files that a path or a name means: those of a folder, this project's, built-in."""
    from pytest_judgesense.suites.builtin import builtin_suites

    known = builtin_suites()
    own = Path("suites") / name / f"{name}.suite.toml"
    for path in (Path(name), own, known.get(name, own)):
        if path.name.endswith(".suite.toml") and path.is_file():
            return [path]
    if found := sorted(Path(name).rglob("*.suite.toml")):
        return found
    raise unknown_name("suite", name, known)


def convert(options: argparse.Namespace) -> int:
    """Convert a cassette to or from stock vcrpy."""
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


def batch_export(options: argparse.Namespace) -> int:
    """Write the requests that are not recorded."""
    from pytest_judgesense.interchange import export_batch

    judge, suite = _judge_and_suite(options)
    return _print(export_batch(judge, suite, options.judge_cassettes, options.output))


def batch_import(options: argparse.Namespace) -> int:
    """Record the results of a batch."""
    from pytest_judgesense.interchange import import_batch

    judge, suite = _judge_and_suite(options)
    return _print(import_batch(judge, suite, options.judge_cassettes, options.results))


def equivalence(options: argparse.Namespace) -> int:
    """Ask a judge whether template pairs ask the same."""
    from pytest_judgesense.screening import screen_equivalence

    judge, suite = _judge_and_suite(options)
    return _print(screen_equivalence(judge, suite, options.judge_cassettes, options.judge_mode))


def label(options: argparse.Namespace) -> int:
    """Have a judge label the items that have no label."""
    from pytest_judgesense.screening import label_items
    from pytest_judgesense.suites.loading import stimuli_of

    (judge,) = _judges(options, [options.judge_name])
    suite = _suite(options, labelled=False)
    return _print(
        label_items(
            judge,
            suite,
            stimuli_of(suite.path),
            options.output,
            options.judge_cassettes,
            options.judge_mode,
        )
    )


def plan(options: argparse.Namespace) -> int:
    """Say what a suite costs, and what its checks can tell."""
    from pytest_judgesense.power import plan_lines

    _print(plan_lines(*_judge_and_suite(options), options.judge_cassettes))
    return power(options)


def power(options: argparse.Namespace) -> int:
    """Say how often checks stop a judge that is the same, and what they catch."""
    from pytest_judgesense.power import Asked, power_lines

    asked = Asked(
        options.judge_policy,
        options.judge_seed,
        options.drop,
        options.precision,
        dict(options.assume),
        options.correlation,
        _extensions(options),
    )
    if options.judge_name is None or options.assume:
        return _print(power_lines(_suite(options), asked))
    judge, suite = _judge_and_suite(options)
    return _print(power_lines(suite, asked, judge, options.judge_cassettes))


def generate_debates(options: argparse.Namespace) -> int:
    """Have two models debate every topic, sides exchanged."""
    from pytest_judgesense.debating import generate_debates, read_topics

    return _print(
        generate_debates(
            _judges(options, options.debater),
            read_topics(options.topics),
            options.output,
            options.judge_cassettes,
            style=options.style,
            temperature=options.temperature,
            concurrency=options.judge_concurrency,
        )
    )


def merge(options: argparse.Namespace) -> int:
    """Join the files of CI shards."""
    from pytest_judgesense.reporting import merge

    return _print(merge(options.sources, options.output))


def _print(lines: Iterable[str]) -> int:
    for line in lines:
        print(printable(line))
    return 0
