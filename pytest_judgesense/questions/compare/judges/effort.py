"""What the effort of judges buys: agreement and stability beside reasoning tokens and price.

Pure. Effort is what a judge is asked to think, the key ``reasoning`` of its table. Tokens and price
are those of its recording; of a jury those of all its members.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from pytest_judgesense.datasheets.datasheet import Calls, JudgeSheet
from pytest_judgesense.datasheets.published_design import Table, Value
from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.judges.spec import FREE, JudgeSpec
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.measures.shared import AGREEMENT, REPEAT_FLIP_RATE

# USD are told of so many trials.
_TRIALS_PRICED: Final = 1000


class JudgeEffort(NamedTuple):
    """A judge, what it was asked to think, and what came of it.

    Attributes:
        name: as the comparison calls it.
        effort: in a word or a number of tokens; ``None`` where nothing is asked, or nobody knows.
        estimates: of its verdicts.
        trials: how many it was asked.
        calls: their tokens and their price.
    """

    name: str
    effort: str | None
    estimates: Sequence[Estimate]
    trials: int
    calls: Calls


def effort_of(judge: JudgeSpec) -> str | None:
    """What a judge is asked to think; of a jury what each of its members is, where any is."""
    if judge.members:
        efforts = [effort_of(member) for member in judge.members]
        return ", ".join(effort or "none" for effort in efforts) if any(efforts) else None
    if isinstance(judge.reasoning, int):
        return f"{judge.reasoning:,} tokens"
    return judge.reasoning


def calls_of(judge: JudgeSpec, sheets: Sequence[JudgeSheet]) -> Calls:
    """The calls that a judge takes, with their price; of a jury those of its members.

    ``None`` is the price where one of them is not known.
    """
    by_slug = {sheet.judge: sheet.calls for sheet in sheets}
    counted = [by_slug[asked.slug] for asked in judge.asked_judges]
    prices = [
        0.0 if calls.cost_usd is None and asked.provider in FREE else calls.cost_usd
        for asked, calls in zip(judge.asked_judges, counted, strict=True)
    ]
    stated = [price for price in prices if price is not None]
    cost = sum(stated) if len(stated) == len(prices) else None
    return replace(sum(counted, Calls()), cost_usd=cost)


def effort_table(
    judges: Sequence[JudgeEffort], suite: str, measures: Sequence[Measure]
) -> Table | None:
    """A line for each judge, in their order; ``None`` where no effort and no reasoning is known.

    Args:
        judges: that are compared.
        suite: that they were asked.
        measures: that are taken on it.
    """
    if not any(judge.effort or judge.calls.reasoning_tokens for judge in judges):
        return None
    shown = [AGREEMENT.name, *_stability(judges, measures)]
    rows = [_row(judge, shown) for judge in judges]
    columns = tuple(name for name in rows[0] if any(row[name] is not None for row in rows))
    return Table(
        "effort",
        f"of all that each was asked of {suite}; tokens a trial, USD a {_TRIALS_PRICED:,} trials",
        columns,
        tuple(tuple(row[name] for name in columns) for row in rows),
    )


def _stability(judges: Sequence[JudgeEffort], measures: Sequence[Measure]) -> list[str]:
    """The first measure of stability that a judge has: of wordings, else of repeats."""
    names = [measure.name for measure in measures if measure.stability]
    names += [measure.name for measure in measures if measure.name == REPEAT_FLIP_RATE.name]
    has_value = (
        name
        for name in names
        for judge in judges
        if (estimate := find_estimate(judge.estimates, name)) and estimate.value is not None
    )
    return [name for name in [next(has_value, None)] if name is not None]


def _row(judge: JudgeEffort, measures: Sequence[str]) -> dict[str, Value]:
    """A judge by column, unrounded."""
    row: dict[str, Value] = {"judge": judge.name, "effort": judge.effort}
    for name in measures:
        estimate = find_estimate(judge.estimates, name)
        interval = estimate.clustered if estimate else None
        row[name] = estimate.value if estimate else None
        row[f"{name} 95%"] = (interval.lower, interval.upper) if interval else None
    calls, trials = judge.calls, judge.trials
    row["reasoning tokens"] = _a_trial(calls.reasoning_tokens, trials)
    row["reply tokens"] = _a_trial(calls.completion_tokens, trials)
    row["USD"] = None
    if calls.cost_usd is not None and trials:
        row["USD"] = calls.cost_usd * _TRIALS_PRICED / trials
    return row


def _a_trial(tokens: int | None, trials: int) -> float | None:
    return tokens / trials if tokens is not None and trials else None
