"""JudgeSense (arXiv 2604.23478) as one design: four tasks, 125 pairs of wordings each, three runs.

Its Table 1 has a row for each judge and task: the Judge Sensitivity Score with the percentile
bootstrap of the pair agreements, Cohen's kappa, and the flips. Section 4.3 sets the score as the
labels stand (raw) against that with the labels of inverted wordings remapped (corrected).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pytest_judgesense.datasheets.datasheet import Datasheet, JudgeSheet, SuiteSheet, wall_clock_s
from pytest_judgesense.datasheets.figures import ends_of
from pytest_judgesense.datasheets.published_design import Arm, Paper, Table, Value
from pytest_judgesense.datasheets.sections import tables_named
from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.measures.cell import Cell

_TASKS: Final = ("factuality", "coherence", "relevance", "preference")
_ITEMS, _WORDINGS, _RUNS = 25, 5, 3
_CALLS: Final = _ITEMS * _WORDINGS * _RUNS


def _task(suite: str) -> str:
    """The task that a suite asks about, without its preset."""
    return suite.partition("@")[0].removeprefix("judgesense-")


def tables(sheet: Datasheet, cells: Sequence[Cell]) -> Iterator[Table]:
    """Table 1, its scores by task, and section 4.3: judges by name, tasks as the paper has them."""
    yield _table_1(sheet)
    yield _by_task(sheet)
    yield from _polarity(sheet, cells)


def _table_1(sheet: Datasheet) -> Table:
    tiers = {(judge, suite): rows[0] for judge, suite, rows in tables_named(sheet, "tier")}
    rows: list[tuple[Value, ...]] = []
    for judge in sheet.judges:
        for part in _in_order(judge):
            jss = find_estimate(part.estimates, "jss")
            if jss is None:
                continue
            tier = tiers.get((judge.name, part.suite), {})
            rows.append(
                (
                    judge.name,
                    _task(part.suite),
                    jss.value,
                    ends_of(jss.interval),
                    _value(part.estimates, "kappa"),
                    None if jss.count is None else round(jss.n - jss.count),
                    jss.n,
                    _value(part.estimates, "unparsed_rate"),
                    "degenerate" if tier.get("degenerate") else tier.get("paper_tier"),
                    wall_clock_s([part.recorded]),
                )
            )
    return Table(
        "table-1",
        "Judge Sensitivity Score (JSS) by judge and task: the share of pairs of wordings under "
        "which the decision is the same, with the 95% interval of the paper, Cohen's kappa, the "
        "flips of n pairs, the rate of replies without a decision, the tier, and the wall-clock "
        "time of the recording in seconds. Inverted wordings are corrected for their polarity.",
        (
            *("judge", "task", "JSS", "95% interval", "kappa", "flips", "n", "unparsed", "tier"),
            "seconds",
        ),
        tuple(rows),
        keys=2,
    )


def _by_task(sheet: Datasheet) -> Table:
    suites = {part.suite for judge in sheet.judges for part in judge.parts}
    columns = sorted({_task(suite) for suite in suites}, key=_place)
    rows = []
    for judge in sheet.judges:
        jss_by_task = {_task(p.suite): _value(p.estimates, "jss") for p in judge.parts}
        rows.append((judge.name, *(jss_by_task.get(task) for task in columns)))
    return Table(
        "jss-by-task",
        "Judge Sensitivity Score of each judge by task, as the heat map of the paper shows it.",
        ("judge", *columns),
        tuple(rows),
    )


def _polarity(sheet: Datasheet, cells: Sequence[Cell]) -> Iterator[Table]:
    inverted: dict[str, set[str]] = {}
    for cell in cells:
        turned = {
            judgment.trial.template
            for judgment in cell.judgments
            if "polarity" in judgment.trial.condition
        }
        inverted.setdefault(cell.suite, set()).update(turned)
    rows: list[tuple[Value, ...]] = []
    for judge in sheet.judges:
        for part in _in_order(judge):
            raw = find_estimate(part.estimates, "jss", {"polarity": "raw"})
            corrected = find_estimate(part.estimates, "jss", {"polarity": "remapped"})
            if raw is None or corrected is None:
                continue
            left = [
                estimate
                for estimate in part.estimates
                if estimate.measure == "jss"
                and inverted.get(part.suite, set()).isdisjoint(
                    str(estimate.condition.get("template_pair", "")).split("~")
                )
                and "template_pair" in estimate.condition
            ]
            n = sum(estimate.n for estimate in left)
            without = sum(estimate.count or 0 for estimate in left) / n if n else None
            rows.append(
                (
                    *(judge.name, _task(part.suite), raw.value, ends_of(raw.interval)),
                    *(corrected.value, ends_of(corrected.interval), corrected.n, without, n),
                )
            )
    if rows:
        names = ", ".join(sorted(name for of_suite in inverted.values() for name in of_suite))
        yield Table(
            "polarity",
            "Judge Sensitivity Score with the labels as they stand (raw), with those of inverted "
            f"wordings ({names}) remapped (corrected), and without those wordings.",
            (
                *("judge", "task", "raw", "raw, 95%", "corrected", "corrected, 95%", "n"),
                *("without inverted", "n without"),
            ),
            tuple(rows),
            keys=2,
        )


def _in_order(judge: JudgeSheet) -> list[SuiteSheet]:
    """The suites of a judge in the order of the paper."""
    return sorted(judge.parts, key=lambda part: _place(_task(part.suite)))


def _place(task: str) -> int:
    """The place of a task in the paper; others behind."""
    return _TASKS.index(task) if task in _TASKS else len(_TASKS)


def _value(estimates: Iterable[Estimate], measure: str) -> float | None:
    estimate = find_estimate(estimates, measure)
    return None if estimate is None else estimate.value


PAPER: Final = Paper(
    "jss",
    "JudgeSense: A Benchmark for Prompt Sensitivity in LLM-as-a-Judge Systems",
    "JudgeSense: A Benchmark for Prompt Sensitivity in LLM-as-a-Judge Systems. arXiv:2604.23478",
    tuple(Arm(task, f"{task}@paper", _CALLS, _CALLS) for task in _TASKS),
    tables,
)
