"""From judgment logs to a datasheet, and from the files of several machines to one.

Text in lines, for a command line that prints it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.cassettes.exchange import Exchange
from pytest_judgesense.cassettes.journal import read_exchanges, rewrite
from pytest_judgesense.cassettes.recordings import join
from pytest_judgesense.datasheet import Calls, Datasheet, SuiteSheet
from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.paraphrase.estimators import wording_notices
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.estimation import estimate_all
from pytest_judgesense.output import write_text
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.assembly import sheet_of
from pytest_judgesense.report.codec import SCHEMA
from pytest_judgesense.report.joining import joined_datasheets
from pytest_judgesense.report.log import log_line, log_lines, read_log
from pytest_judgesense.suites.planning import trial_order
from pytest_judgesense.trial import TIE, Design, Judgment

__all__ = [
    "cells_of_logs",
    "datasheet_of_cells",
    "entries_of_datasheets",
    "joined_logs",
    "log_of_cells",
    "merge",
]

# Numbers further apart are measurements rather than the grades of a scale.
_LONGEST_SCALE: Final = 100


def cells_of_logs(
    paths: Iterable[Path], seed: int = 0, registry: Registry = BUILT_IN
) -> list[Cell]:
    """The cells of all judges and suites in the logs, in the order in which they begin.

    A judgment that stands twice counts once.

    Raises:
        LogError: a log cannot be read, two lines contradict one another, or the lines of one suite
            were made by different designs.
    """
    judgments: dict[tuple[str, str], dict[str, Judgment]] = {}
    designs: dict[tuple[str, str], Design | None] = {}
    for path in paths:
        for judgment, design in read_log(path):
            key = (judgment.judge, judgment.trial.suite)
            known = judgments.setdefault(key, {}).setdefault(judgment.trial.id, judgment)
            if known.outcome != judgment.outcome:
                raise LogError(
                    f"{path}: trial {judgment.trial.id} of judge {judgment.judge} stands twice",
                    found=f"{judgment.outcome} and {known.outcome}",
                    expected="one outcome for one trial",
                    remedy="number replicates, or give the logs different suite names",
                )
            if designs.setdefault(key, design) != design:
                raise LogError(
                    f"{path}: suite {key[1]} of judge {key[0]} has lines of different designs",
                    found=f"{design} and {designs[key]}",
                    expected="one design for a suite",
                    remedy="give the logs different suite names",
                )
    return [
        Cell(
            *key,
            design,
            tuple(found.values()),
            seed,
            registry.measures_on(design.kind, key[1]),
        )
        for key, found in judgments.items()
        for design in (_design(designs[key], list(found.values())),)
    ]


def joined_logs(paths: Iterable[Path]) -> list[str]:
    """The lines of one log of several, without line ends; judges and suites in alphabetical order.

    What stands in two logs must agree in everything but the time that the reply took: a replay
    does not measure it.

    Raises:
        LogError: a log cannot be read, or a judgment stands twice and differs; names both places.
    """
    known: dict[tuple[str, str], dict[str, tuple[Path, Judgment, Design | None]]] = {}
    for path in paths:
        for judgment, design in read_log(path):
            of_suite = known.setdefault((judgment.judge, judgment.trial.suite), {})
            first = of_suite.setdefault(judgment.trial.id, (path, judgment, design))
            if (replace(first[1], latency_s=None), first[2]) != (
                replace(judgment, latency_s=None),
                design,
            ):
                raise LogError(
                    f"trial {judgment.trial.id} of judge {judgment.judge} stands twice",
                    found=f"{first[1].outcome} in {first[0]}, {judgment.outcome} in {path}; "
                    "or their replies, labels or designs differ",
                    expected="the same judgment in both, or in one of them alone",
                    remedy="delete it from one of the two",
                )
            if first[1].latency_s is None and judgment.latency_s is not None:
                of_suite[judgment.trial.id] = (path, judgment, design)
    return [
        log_line(judgment, design or _no_design(path, judgment))
        for key in sorted(known)
        for path, judgment, design in known[key].values()
    ]


def _no_design(path: Path, judgment: Judgment) -> Design:
    raise LogError(
        f"{path}: trial {judgment.trial.id} cannot be joined",
        found="a line without a design",
        expected="a log that pytest-judgesense has written",
        remedy="give all logs to judgesense report, which joins them as they are",
    )


def _design(design: Design | None, judgments: Sequence[Judgment]) -> Design:
    """The design of a log that names none: read off the judgments, all template pairs compared."""
    if design is not None:
        return design
    pairwise = any(j.chosen is not None and "polarity" not in j.trial.condition for j in judgments)
    verdicts = {judgment.verdict for judgment in judgments} - {None}
    labels = ("A", "B") if pairwise else tuple(sorted(str(verdict) for verdict in verdicts))
    numbers = bool(labels) and all(re.fullmatch(r"0|-?[1-9][0-9]*", label) for label in labels)
    if numbers:
        # A grade that nobody gave keeps its place between the others.
        least, most = min(map(int, labels)), max(map(int, labels))
        numbers = most - least <= _LONGEST_SCALE
        labels = tuple(str(n) for n in range(least, most + 1)) if numbers else labels
    return Design(
        kind="paraphrase",
        labels=tuple(label for label in labels if label != TIE),
        ordinal=numbers,
        pairwise=pairwise,
        pairs="all",
        others=True,
    )


def datasheet_of_cells(
    cells: Sequence[Cell],
    seed: int = 0,
    *,
    secondary: bool = False,
    registry: Registry = BUILT_IN,
) -> Datasheet:
    """The datasheet of cells that come from logs; ``secondary``: see `sheet_of`."""
    parts = [_part(cell, registry) for cell in cells]
    return sheet_of(parts, seed=seed, mode="report", secondary=secondary, registry=registry)


def _part(cell: Cell, registry: Registry) -> SuiteSheet:
    estimates = estimate_all(cell)
    return SuiteSheet(
        judge=cell.judge,
        suite=cell.suite,
        identity={"name": cell.judge, "provider": "log", "model": cell.judge},
        prompts={},
        suite_digest=None,
        served=(),
        recorded=None,
        estimates=estimates,
        calls=Calls.of(cell.judgments),
        notices=wording_notices(cell),
        analyses=registry.analyses(cell, estimates),
        material=registry.material(cell),
    )


def log_of_cells(cells: Iterable[Cell]) -> Iterator[str]:
    """The judgment log of the cells, lines without line ends."""
    for cell in cells:
        yield from log_lines(cell.judgments, cell.design)


def merge(sources: Sequence[Path], target: Path) -> list[str]:
    """Join the cassettes, judgment logs and datasheets of several machines.

    Folders are joined file by file, those of the same relative path with one another.

    Args:
        sources: files of one kind, or folders.
        target: the file or folder to write; nothing is overwritten but a source.

    Returns:
        What was written, in lines.

    Raises:
        UsageError: the sources are not of one kind, or the target exists or cannot be written.
        CassetteError: a cassette cannot be read, or two contradict one another.
        LogError: so with logs and datasheets.
    """
    groups: dict[Path, list[Path]] = {}
    if not any(path.is_dir() for path in sources):
        groups[target] = list(sources)
    for folder in sources if not groups else ():
        if not folder.is_dir():
            raise UsageError("a file and a folder cannot be joined", found=str(folder))
        for path in sorted((*folder.rglob("*.json"), *folder.rglob("*.jsonl"))):
            groups.setdefault(target / path.relative_to(folder), []).append(path)
    known = {path.resolve() for paths in groups.values() for path in paths}
    for goal in groups:
        if goal.exists() and goal.resolve() not in known:
            raise UsageError(
                f"{goal} exists",
                expected="a new file",
                remedy="name another, or name it among the files to be joined as well",
            )
    # All are joined before the first is written: a contradiction leaves everything as it was.
    joined = {goal: _joined(paths) for goal, paths in sorted(groups.items())}
    for goal, content in joined.items():
        if isinstance(content, str):
            write_text(goal, content)
        else:
            rewrite(goal, content)
    return [f"{len(groups[goal])} files joined: {goal}" for goal in joined]


def _joined(paths: Sequence[Path]) -> str | list[Exchange]:
    """The text of the joined file, or the exchanges of the joined cassette."""
    kinds = {path: _kind(path) for path in paths}
    if len(set(kinds.values())) > 1:
        raise UsageError(
            "files of different kinds cannot be joined",
            found=", ".join(f"{path}: a {kind}" for path, kind in kinds.items()),
            expected="cassettes, judgment logs or datasheets",
        )
    match kinds[paths[0]]:
        case "datasheet":
            return joined_datasheets([(str(path), _object(path)) for path in paths])
        case "log":
            return "".join(f"{line}\n" for line in joined_logs(paths))
        case _:
            parts = [(str(path), read_exchanges(path)) for path in paths]
            return join(parts, trial_order)


def _kind(path: Path) -> str:
    """What a file holds, by its suffix and the keys of its first line."""
    if path.suffix == ".json":
        return "datasheet"
    try:
        with path.open(encoding="utf-8") as file:
            first = json.loads(next((line for line in file if line.strip()), "{}"))
    except (OSError, ValueError) as error:
        raise LogError(
            f"{path} cannot be joined",
            found=str(error),
            expected="a cassette or a judgment log (.jsonl), or a datasheet (.json)",
        ) from error
    return "log" if isinstance(first, dict) and "judge" in first else "cassette"


def _object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LogError(f"the datasheet {path} cannot be read", found=str(error)) from error
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        raise LogError(f"{path} is no datasheet", expected=f"a JSON object with schema {SCHEMA}")
    return value


def entries_of_datasheets(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """The judges' entries of datasheets (``.json``), in their order.

    Raises:
        LogError: one cannot be read.
    """
    found = []
    for path in paths:
        entries = _object(path).get("judges")
        if not isinstance(entries, list) or not all(
            isinstance(one, dict) and {"judge", "checks"} <= one.keys() for one in entries
        ):
            raise LogError(f"{path} is no datasheet", expected="judges with their checks")
        found += entries
    return found
