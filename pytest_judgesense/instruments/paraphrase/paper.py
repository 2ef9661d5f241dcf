"""JudgeSense (arXiv 2604.23478) as one design: four tasks, 125 pairs of wordings each, three runs.

Its Table 1 has a row for each judge and task: the Judge Sensitivity Score with the percentile
bootstrap of the pair agreements, Cohen's kappa, and the flips. Section 4.3 sets the score as the
labels stand (raw) against that with the labels of inverted wordings remapped (corrected).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pytest_judgesense.datasheet import Datasheet
from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.papers import Arm, Paper, Table, Value
from pytest_judgesense.sections import tables_named

_TASKS: Final = ("factuality", "coherence", "relevance", "preference")
_ITEMS, _WORDINGS, _RUNS = 25, 5, 3
_CALLS: Final = _ITEMS * _WORDINGS * _RUNS


def _task(suite: str) -> str:
    """The task that a suite asks about, without its preset."""
    return suite.partition("@")[0].removeprefix("judgesense-")


def tables(sheet: Datasheet, _cells: Sequence[Cell]) -> Iterator[Table]:
    """Table 1: judges by name, tasks in the order of the paper."""
    tiers = {(judge, suite): rows[0] for judge, suite, rows in tables_named(sheet, "tier")}
    rows: list[tuple[Value, ...]] = []
    for judge in sheet.judges:
        for part in sorted(judge.parts, key=lambda part: _place(part.suite)):
            jss = find_estimate(part.estimates, "jss")
            if jss is None:
                continue
            ends = jss.interval
            tier = tiers.get((judge.name, part.suite), {})
            rows.append(
                (
                    judge.name,
                    _task(part.suite),
                    jss.value,
                    None if ends is None else (ends.lower, ends.upper),
                    _value(part.estimates, "kappa"),
                    None if jss.count is None else round(jss.n - jss.count),
                    jss.n,
                    _value(part.estimates, "unparsed_rate"),
                    "degenerate" if tier.get("degenerate") else tier.get("paper_tier"),
                )
            )
    yield Table(
        "table-1",
        "Judge Sensitivity Score (JSS) of each judge and task: the share of pairs of wordings "
        "under which the decision is the same, with the 95% interval of the paper, Cohen's kappa, "
        "flips of n pairs, the rate of replies without a decision, and the tier. Inverted wordings "
        "are corrected for their polarity.",
        ("judge", "task", "JSS", "95% interval", "kappa", "flips", "n", "unparsed", "tier"),
        tuple(rows),
        keys=2,
    )


def _place(suite: str) -> int:
    """The place of a task in the paper; others behind."""
    task = _task(suite)
    return _TASKS.index(task) if task in _TASKS else len(_TASKS)


def _value(estimates: Iterable[Estimate], measure: str) -> float | None:
    found = find_estimate(estimates, measure)
    return None if found is None else found.value


PAPER: Final = Paper(
    "jss",
    "JudgeSense: A Benchmark for Prompt Sensitivity in LLM-as-a-Judge Systems",
    "JudgeSense: A Benchmark for Prompt Sensitivity in LLM-as-a-Judge Systems. arXiv:2604.23478",
    tuple(Arm(task, f"{task}@paper", _CALLS, _CALLS) for task in _TASKS),
    tables,
)
