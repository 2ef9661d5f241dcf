"""``judgesense panel LOG...``: several judges on the same trials, and what they are worth together.

No call is made: logs and recordings are read, as they are.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from pytest_judgesense.commands.options import (
    FILE,
    MANY,
    add_cassettes,
    number,
    place_of,
    registry_of,
    seed,
    show,
    tell_of_outputs,
)
from pytest_judgesense.datasheets.datasheet import Calls
from pytest_judgesense.datasheets.published_design import Table
from pytest_judgesense.earlier.baseline import read_measured
from pytest_judgesense.earlier.past import recorded_cell
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.files.output import Outputs
from pytest_judgesense.judges.resolving import declared_judges
from pytest_judgesense.judges.spec import FREE, JudgeSpec
from pytest_judgesense.measures.ballots import Ballots, ballots_of
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.panel import JudgePanel, VotePrice
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.csv_tables import table_text
from pytest_judgesense.report.logged_cells import cells_of_logs
from pytest_judgesense.report.panel import sentences, tables, to_plain
from pytest_judgesense.report.terminal import tables_lines
from pytest_judgesense.suites.builtin import cassettes_in
from pytest_judgesense.suites.labelled_texts import ids_by_text, matched
from pytest_judgesense.suites.people import PersonLabel, in_force, people_file, read_people
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.layout import excerpt, indented
from pytest_judgesense.trial import grouped

_LOG, _BASELINE = ".jsonl", ".json"
_MOST_LINES: Final = 10  # of a table on the screen
_LONGEST_CELL: Final = 40


class _Voter(NamedTuple):
    """A judge of the panel.

    Attributes:
        spec: if it is declared here.
        labels: of people on these items, where the suite's file is at hand.
    """

    cell: Cell
    spec: JudgeSpec | None
    labels: tuple[PersonLabel, ...] = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the logs, which judges of them, the error that is allowed, and the file."""
    text = "judgment logs (.jsonl), baselines (.json), or suites whose recordings are read: names, "
    text += "files or folders"
    parser.add_argument("logs", nargs="+", metavar="LOG", help=text)
    text = "a judge of the panel; repeatable (default: all that are there)"
    parser.add_argument("--judge-name", metavar="NAME", help=text, **MANY)
    text = "the suite, where the logs have several"
    parser.add_argument("--judge-suite", metavar="NAME", help=text)
    text = "the error that is allowed among what the panel decides (default: 0.1)"
    parser.add_argument("--alpha", type=_alpha, default=0.1, help=text)
    parser.add_argument("--seed", type=seed, default=0, help="seed of every random draw")
    add_cassettes(parser)
    text = "write all of it: .json, .md or .csv (a file a table)"
    parser.add_argument("-o", "--output", help=text, **FILE)


def _alpha(text: str) -> float:
    value: float = number("alpha", float, 1)(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError("an alpha is above 0 and below 1")
    return value


def run(options: argparse.Namespace) -> int:
    """Print what the panel is worth, what it decides and where it disagrees."""
    if options.output is not None and options.output.suffix not in _WRITERS:
        raise UsageError(
            "a panel cannot be written in this form",
            found=str(options.output),
            expected=f"a file that ends in {listed(_WRITERS)}",
        )
    registry = registry_of(options)
    voters = _panel_of(options, [*_voters(options, registry)])
    ballots = ballots_of([voter.cell for voter in voters])
    prices = tuple(_price(voter, ballots) for voter in voters)
    suite = voters[0].cell.suite
    later = later_labels(
        (label for voter in voters for label in voter.labels),
        (judgment.recorded_at for voter in voters for judgment in voter.cell.judgments),
    )
    panel = JudgePanel(suite, ballots, prices, options.alpha, options.seed, later)
    every = [*tables(panel)]
    show(line for sentence in sentences(panel) for line in indented(sentence, width=0))
    show(tables_lines(_on_screen(table) for table in every if table.rows))
    outputs = Outputs(verbose=False)
    if options.output is not None:
        for path, text in _WRITERS[options.output.suffix](options.output, panel, every):
            outputs.write("panel", path, text)
    return tell_of_outputs(outputs)


# --- who is on it ---------------------------------------------------------------------------------


def _voters(options: argparse.Namespace, registry: Registry) -> Iterator[_Voter]:
    """All judges of the logs and the recordings."""
    here = declared_judges(Path.cwd(), registry.providers)
    files = [Path(name) for name in options.logs if name.endswith((_LOG, _BASELINE))]
    logs = [path for path in files if path.suffix == _LOG]
    if logs:
        for cell in cells_of_logs(logs, options.seed, registry, replies=False):
            yield _Voter(cell, here.get(cell.judge))
    for path in files:
        if path in logs:
            continue
        for measured in read_measured(path, options.seed, registry):
            if measured.side.cell is None:
                raise UsageError(
                    f"{path} has no judgments",
                    found="a datasheet, which holds estimates",
                    expected="the judgments of the judges",
                    remedy="write their log: pytest --judge-datasheet judgments.jsonl",
                )
            yield _Voter(measured.side.cell, here.get(measured.judge))
    for name in options.logs:
        if not name.endswith((_LOG, _BASELINE)):
            yield from _recorded(options, name, registry)


def _recorded(options: argparse.Namespace, name: str, registry: Registry) -> Iterator[_Voter]:
    cassettes = Path.cwd() / options.judge_cassettes
    for judge, suite in _recordings(options, name, cassettes):
        paths = cassettes_in(cassettes, judge.slug, suite.recordings).values()
        cell, _ = recorded_cell(judge, suite, paths, options.seed, registry)
        if cell.judgments:
            labels = matched(read_people(people_file(suite.path)), ids_by_text(suite.items))
            yield _Voter(cell, judge, tuple(labels.counted.values()))


def later_labels(labels: Iterable[PersonLabel], votes: Iterable[str | None]) -> int:
    """How many labels in force people gave when the first vote of the panel was there.

    Args:
        labels: of a file of labels, in their order.
        votes: when each was recorded (UTC, ISO 8601); ``None`` where that is not known.
    """
    times = [time for time in votes if time is not None]
    if not times:
        return 0
    first = min(times)
    return sum(label.counts and label.labelled_at > first for label in in_force(labels).values())


def _recordings(
    options: argparse.Namespace, name: str, cassettes: Path
) -> Iterator[tuple[JudgeSpec, Suite]]:
    """The suites of a name with the judges that are named, else with those that are recorded."""
    if not options.judge_name:
        yield from place_of(options).recorded(name)
        return
    for suite in place_of(options).suites(name, labelled=False):
        for judge in place_of(options).judges(options.judge_name):
            recordings = cassettes_in(cassettes, judge.slug, suite.recordings)
            if all(path.is_file() for path in recordings.values()):
                yield judge, suite


def _panel_of(options: argparse.Namespace, voters: Sequence[_Voter]) -> list[_Voter]:
    """The judges that are wanted, on one suite, each once."""
    names = {*options.judge_name}
    by_suite = grouped(
        (
            voter
            for voter in voters
            if (not names or names & {voter.cell.judge, voter.spec and voter.spec.called})
            and options.judge_suite in (None, voter.cell.suite)
        ),
        lambda voter: voter.cell.suite,
    )
    panels = [of_suite for of_suite in by_suite.values() if len(of_suite) > 1]
    if not panels and voters:
        _refuse_missing(names, voters)
    if len(panels) != 1:
        there = listed(f"{voter.cell.judge} on {voter.cell.suite}" for voter in voters)
        raise UsageError(
            "there are panels on several suites" if panels else "there is no panel",
            found=there or "no judgments",
            expected="two judges or more on one suite",
            remedy="name the suite: --judge-suite NAME"
            if panels
            else "name more logs, or judges that are recorded: --judge-name NAME (repeatable)",
        )
    (panel,) = panels
    _refuse_missing(names, panel)
    voting = [voter.cell.judge for voter in panel]
    if len(voting) > len({*voting}):
        raise UsageError(
            "a judge is there twice",
            found=listed(voting),
            expected="every judge once: a log or a recording, not both",
        )
    return panel


def _refuse_missing(names: set[str], voters: Sequence[_Voter]) -> None:
    """Raise a `UsageError` for a judge that is named and is not among ``voters``."""
    voting = [voter.cell.judge for voter in voters]
    missing = names.difference(voting, (voter.spec.called for voter in voters if voter.spec))
    if missing:
        judge, suite = min(missing), voters[0].cell.suite
        raise UsageError(
            f"judge {judge} is not there",
            found=listed(voting),
            expected=f"its judgments on {suite}",
            remedy=f"record it: pytest --judge-suite {suite} --judge-name {judge} "
            "--judge-mode record",
        )


def _price(voter: _Voter, ballots: Ballots) -> VotePrice:
    """What a vote takes: by the prices of a judge that is declared here, and the tokens counted."""
    of_items = [j for j in voter.cell.judgments if j.trial.id in ballots.common]
    calls, spec, count = Calls.of(of_items), voter.spec, len(ballots.items)
    parts = calls.prompt_tokens, calls.completion_tokens
    tokens = None if parts == (None, None) else sum(part or 0 for part in parts) / count
    usd: float | None = None
    if spec is not None and spec.prices is not None and tokens is not None:
        prompt, completion = (part or 0 for part in parts)
        usd = (prompt * spec.prices.prompt + completion * spec.prices.completion) / 1e6 / count
    elif spec is not None and spec.provider in FREE:
        usd = 0.0
    return VotePrice(len(of_items) / count, tokens, usd)


# --- what is shown and written --------------------------------------------------------------------


def _on_screen(table: Table) -> Table:
    """The first lines of a table, its cells shortened, its columns without anything left out."""
    table = table.first(_MOST_LINES)
    rows = table.rows
    filled = [
        place
        for place in range(len(table.columns))
        if not rows or any(row[place] not in (None, "") for row in rows)
    ]
    cut = tuple(
        tuple(
            excerpt(cell, _LONGEST_CELL) if isinstance(cell := row[place], str) else cell
            for place in filled
        )
        for row in rows
    )
    return table._replace(columns=tuple(table.columns[place] for place in filled), rows=cut)


_Files = Iterator[tuple[Path, Callable[[], str]]]


def _json_files(path: Path, panel: JudgePanel, _: Sequence[Table]) -> _Files:
    def text() -> str:
        return json.dumps(to_plain(panel), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    yield path, text


def _markdown_files(path: Path, panel: JudgePanel, every: Sequence[Table]) -> _Files:
    def text() -> str:
        from pytest_judgesense.report.markdown import code, tables_markdown

        head = ["## Panel of judges", "", *(f"- {code(line)}" for line in sentences(panel)), ""]
        return "\n".join([*head, *tables_markdown(every)]) + "\n"

    yield path, text


def _csv_files(path: Path, _: JudgePanel, every: Sequence[Table]) -> _Files:
    """A file a table; the disagreements, which are longest, have the name."""
    for table in every:
        name = path.with_name(f"{path.stem}-{table.name}.csv")
        yield path if table is every[-1] else name, partial(table_text, table)


_WRITERS: Final[dict[str, Callable[[Path, JudgePanel, Sequence[Table]], Any]]] = {
    ".json": _json_files,
    ".md": _markdown_files,
    ".csv": _csv_files,
}
