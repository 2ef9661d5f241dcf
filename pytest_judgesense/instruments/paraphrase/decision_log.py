"""Judgments as a decision log of JudgeSense: a row for each pair of wordings, item and run.

The pairs are those that the suite compares. A reply under a wording that is in several pairs stands
in a row of each. What the form has no place for, such as the wording, the cluster and the tokens,
stands beside it (`files.own_fields`); read back it is the same log.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from pytest_judgesense.errors import LogError, listed
from pytest_judgesense.files.foreign_results import Exported
from pytest_judgesense.files.own_fields import DESIGN, KEY, LINE, own_fields, plain_design
from pytest_judgesense.files.rows import Row
from pytest_judgesense.instruments.paraphrase.judgesense import (
    SPACES,
    SWAPPED,
    StatedPair,
    decision_of,
)
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.suite import Suite, template_pairs
from pytest_judgesense.trial import Failed, Judgment, Unparsed

_FILE: Final = "decisions.jsonl"
_UNCLEAR: Final = "UNCLEAR"


class _TwoReplies(NamedTuple):
    """The judgments of a row, with their places in the log."""

    first: Judgment
    second: Judgment
    lines: tuple[int, int]


def exported_decisions(cells: Sequence[Cell], _: Sequence[Suite] = ()) -> Exported:
    """The decision log of all cells whose answers are those of a task of the benchmark.

    Raises:
        LogError: there is none.
    """
    spaces = {id(cell): space for cell in cells if (space := _space_of(cell)) is not None}
    written = [cell for cell in cells if id(cell) in spaces]
    if not written:
        raise LogError(
            "there are no judgments to write as decisions of JudgeSense",
            found=listed(dict.fromkeys(cell.suite for cell in cells)) or "no judgments",
            expected="suites of wordings whose answers are YES and NO, 1 to 5, or A and B",
        )
    tasks = _tasks(written)
    rows: list[dict[str, Any]] = []
    line, alone = 0, 0
    for cell in written:
        of_cell = [*_rows(cell, tasks[cell.suite], spaces[id(cell)], line)]
        shown = {number for _, numbers in of_cell for number in numbers}
        alone += len(cell.judgments) - len(shown)
        rows += [row for row, _ in of_cell]
        line += len(cell.judgments)
    stated: set[str] = set()
    designs = {tasks[cell.suite]: plain_design(cell.design) for cell in written}
    for row in rows:
        if row["task_type"] not in stated:
            stated.add(row["task_type"])
            row[KEY][DESIGN] = designs[row["task_type"]]
    notices = [f"{alone} judgments are left out: they stand in no pair"] * bool(alone)
    if left := [cell.suite for cell in cells if id(cell) not in spaces]:
        notices.append(f"suites with other answers are left out: {listed(dict.fromkeys(left))}")
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    return Exported({_FILE: text}, tuple(notices))


def _space_of(cell: Cell) -> DecisionSpace | None:
    """The answers of a task of the benchmark, if the judge of a cell gave those."""
    design = cell.design
    spaces = (
        space
        for space in SPACES
        if (space.labels, space.pairwise) == (design.labels, design.pairwise)
    )
    return next(spaces, None) if _compared(cell) else None


def _compared(cell: Cell) -> list[tuple[str, str]]:
    """The pairs of wordings that a suite compares."""
    return [*template_pairs(cell.templates, cell.design.pairs)]


def _tasks(cells: Sequence[Cell]) -> dict[str, str]:
    """The task of each suite: its name without its preset, where that tells them apart."""
    suites = [*dict.fromkeys(cell.suite for cell in cells)]
    tasks = {suite: suite.partition("@")[0].removeprefix("judgesense-") for suite in suites}
    named = Counter(tasks.values())
    return {suite: task if named[task] == 1 else suite for suite, task in tasks.items()}


def _rows(
    cell: Cell, task: str, space: DecisionSpace, first_line: int
) -> Iterator[tuple[dict[str, Any], tuple[int, int]]]:
    """The rows of a cell, each with the lines of the log that it holds."""
    pairs = _compared(cell)
    by_place: dict[tuple[Any, ...], int] = {}
    for number, judgment in enumerate(cell.judgments):
        trial = judgment.trial
        by_place[trial.item, trial.order, trial.replicate, trial.template] = number
    asked = dict.fromkeys(place[:3] for place in by_place)
    of_item = Counter(
        (item, order, run)
        for item, order, run in asked
        for two in pairs
        if all((item, order, run, name) in by_place for name in two)
    )
    for item, order, run in asked:
        for two in pairs:
            numbers = tuple(by_place.get((item, order, run, name), -1) for name in two)
            if -1 in numbers:
                continue
            first, second = (cell.judgments[number] for number in numbers)
            lines = first_line + numbers[0], first_line + numbers[1]
            several = of_item[item, order, run] > 1
            name = "~".join((item, *two)) if several else item
            yield _row(_TwoReplies(first, second, lines), task, space, name), lines


def _row(two: _TwoReplies, task: str, space: DecisionSpace, pair_id: str) -> dict[str, Any]:
    first, second, lines = two
    judgments = {"a": first, "b": second}
    words = {side: _word(judgment, space) for side, judgment in judgments.items()}
    failed = [side for side, judgment in judgments.items() if isinstance(judgment.outcome, Failed)]
    moments = [judgment.recorded_at for judgment in judgments.values() if judgment.recorded_at]
    is_decided = _UNCLEAR not in words.values() and not failed
    row: dict[str, Any] = {
        "pair_id": pair_id,
        "task_type": task,
        "model": first.judge,
        "run": first.trial.replicate,
        **{f"prompt_{side}_decision": word for side, word in words.items()},
        **{f"normalized_{side}": word for side, word in words.items()},
        "flipped": words["a"] != words["b"] if is_decided else None,
        **{f"prompt_{side}_raw": _raw(judgment) for side, judgment in judgments.items()},
        "timestamp": max(moments, default=None),
        "error": "; ".join(_reason(judgments[side]) for side in failed) if failed else None,
        SWAPPED: first.trial.order == "ba",
    }
    own: dict[str, Any] = {}
    for (side, judgment), line in zip(judgments.items(), lines, strict=True):
        read = decision_of(Row("", row), side, space, StatedPair(pair_id))
        own[side] = {**own_fields(judgment, read), LINE: line}
    return {**row, KEY: own}


def _word(judgment: Judgment, space: DecisionSpace) -> str:
    """The decision in the words of the form; a tie and an abstention are none of it."""
    return judgment.verdict if judgment.verdict in space.labels else _UNCLEAR


def _raw(judgment: Judgment) -> str | None:
    if isinstance(judgment.outcome, Failed):
        return f"ERROR: {judgment.outcome.reason}"
    return judgment.reply


def _reason(judgment: Judgment) -> str:
    outcome = judgment.outcome
    return outcome.reason if isinstance(outcome, Failed | Unparsed) else ""
