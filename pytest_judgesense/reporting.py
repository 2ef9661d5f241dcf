"""From judgment logs to a datasheet, with no judge and no suite file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pytest_judgesense.datasheet.assembly import sheet_of
from pytest_judgesense.datasheet.log import log_lines, read_log
from pytest_judgesense.datasheet.sheet import Calls, Datasheet, SuiteSheet
from pytest_judgesense.errors import LogError
from pytest_judgesense.judgment import TIE, Design, Failed, Judgment
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.estimating import estimate_all

__all__ = ["cells_of_logs", "datasheet_of_cells", "log_of_cells"]


def cells_of_logs(paths: Iterable[Path], seed: int = 0) -> list[Cell]:
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
        Cell(*key, _design(designs[key], list(found.values())), tuple(found.values()), seed)
        for key, found in judgments.items()
    ]


def _design(design: Design | None, judgments: Sequence[Judgment]) -> Design:
    """The design of a log that names none: read off the judgments, all template pairs compared."""
    if design is not None:
        return design
    pairwise = any(j.chosen is not None and "polarity" not in j.trial.condition for j in judgments)
    verdicts = {judgment.verdict for judgment in judgments} - {None}
    labels = ("A", "B") if pairwise else tuple(sorted(str(verdict) for verdict in verdicts))
    numbers = bool(labels) and all(label.lstrip("-").isdigit() for label in labels)
    return Design(
        kind="paraphrase",
        labels=tuple(label for label in labels if label != TIE),
        ordinal=numbers,
        pairwise=pairwise,
        pairs="all",
    )


def datasheet_of_cells(cells: Sequence[Cell], seed: int = 0) -> Datasheet:
    """The datasheet of cells that come from logs."""
    return sheet_of([_part(cell) for cell in cells], seed=seed, mode="report")


def _part(cell: Cell) -> SuiteSheet:
    prompt = [j.usage.prompt_tokens for j in cell.judgments if j.usage.prompt_tokens is not None]
    completion = [
        j.usage.completion_tokens for j in cell.judgments if j.usage.completion_tokens is not None
    ]
    return SuiteSheet(
        judge=cell.judge,
        suite=cell.suite,
        identity={"name": cell.judge, "provider": "log", "model": cell.judge},
        prompts={},
        suite_digest=None,
        served=(),
        recorded=None,
        estimates=estimate_all(cell),
        calls=Calls(
            replayed=len(cell.judgments),
            failed=sum(isinstance(j.outcome, Failed) for j in cell.judgments),
            prompt_tokens=sum(prompt) if prompt else None,
            completion_tokens=sum(completion) if completion else None,
        ),
    )


def log_of_cells(cells: Iterable[Cell]) -> Iterator[str]:
    """The judgment log of the cells, lines without line ends."""
    for cell in cells:
        yield from log_lines(cell.judgments, cell.design)
