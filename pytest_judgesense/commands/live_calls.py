"""What commands share that ask judges about whole suites: limits, progress, and the files."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pytest_judgesense.api import MeasuredDatasheet, Watch, measure_all
from pytest_judgesense.commands.options import (
    FLAG,
    MANY,
    add_cassettes,
    number,
    registry_of,
    seed,
    told_each_minute,
)
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import CONCURRENCY, Deadline, SessionBudget
from pytest_judgesense.layout import pace
from pytest_judgesense.published_design import Printed
from pytest_judgesense.report.assembly import FORMS, datasheet_text
from pytest_judgesense.report.csv_tables import table_text
from pytest_judgesense.report.log import log_lines
from pytest_judgesense.report.packing import PageEvidence
from pytest_judgesense.report.view import View
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Judgment, Trial


def add_measuring(parser: argparse.ArgumentParser) -> None:
    """Add the files, the recordings, the limits and the seed of a command that measures."""
    text = f"write the tables and the datasheet: {FORMS}; may be repeated"
    parser.add_argument("--judge-datasheet", type=Path, metavar="PATH", help=text, **MANY)
    add_cassettes(parser)
    add_limits(parser)
    text = "seed of every random draw"
    parser.add_argument("--judge-seed", type=seed, default=0, help=text)
    text = "show the datasheet below the tables, and where a file that cannot be made fails"
    parser.add_argument("-v", "--verbose", help=text, **FLAG)


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Add what limits the calls."""
    kinds: dict[str, Any] = {
        "--judge-concurrency": (int, "maximum number of concurrent calls"),
        "--judge-max-calls": (int, "maximum number of calls, including retries"),
        "--judge-max-cost": (float, "maximum cost in USD, by the prices of the judges"),
        "--judge-max-unparsed": (int, "stop if the first N replies to a suite lack a verdict"),
    }
    defaults = {"--judge-concurrency": CONCURRENCY, "--judge-max-unparsed": 20}
    for name, (kind, text) in kinds.items():
        reader = number(name.removeprefix("--judge-"), kind)
        parser.add_argument(name, type=reader, default=defaults.get(name), help=text)


def limits_of(options: argparse.Namespace) -> SessionBudget:
    """The limits of a command on its calls and their cost, for all that it measures."""
    if "limits" not in options:
        most = options.judge_max_calls, options.judge_max_cost
        options.limits = SessionBudget(*most, deadline=Deadline())
    limits: SessionBudget = options.limits
    return limits


def measure_by(
    options: argparse.Namespace,
    judges: Sequence[JudgeSpec],
    suites: Sequence[Suite],
    how_to_record: str,
    **changes: Any,
) -> MeasuredDatasheet:
    """Measure as the options of a command say; ``changes`` are arguments of `api.measure_all`."""
    asked_for: dict[str, Any] = {
        "mode": options.judge_mode,
        "seed": options.judge_seed,
        "concurrency": max(1, options.judge_concurrency),
        "limits": limits_of(options),
        "max_unparsed": options.judge_max_unparsed,
        "watch": watch,
        "registry": registry_of(options),
    }
    folder = options.judge_cassettes
    return measure_all(judges, suites, folder, how_to_record=how_to_record, **asked_for | changes)


def watch(judge: JudgeSpec, suite: Suite) -> Watch:
    """Say every minute how far it is."""

    def watch(trials: Sequence[Trial]) -> Callable[[Judgment], None]:
        tell, count = told_each_minute(), 0

        def judged(_: Judgment) -> None:
            nonlocal count
            count += 1
            tell(
                lambda seconds: (
                    f"judge {judge.name} on {suite.name}: {count:,} of "
                    f"{len(trials):,} trials, {pace(count, seconds)}"
                )
            )

        return judged

    return watch


def files_of(
    path: Path, result: Printed, view: View, sheet: MeasuredDatasheet
) -> Iterator[tuple[Path, Callable[[], str]]]:
    """The files of an output: of several tables as CSV the first has its name."""
    if path.suffix == ".csv" and result.tables:
        for place, table in enumerate(result.tables):
            name = path if not place else path.with_name(f"{path.stem}-{table.name}.csv")
            yield name, partial(table_text, table)
        return

    def text() -> str:
        logs = [list(log_lines(cell.judgments, cell.design)) for cell in sheet.cells]
        return datasheet_text(path.suffix, view, logs, evidence=PageEvidence(sheet.cells))

    yield path, text
