"""Judge Datasheet (arXiv 2606.15610): preferences of a judge where there is nothing to judge.

With W the content that an answer points at::

    dark current    mean 1[W is a content]    calls on true vacuum
    tie rate        mean 1[W = tie]           the same calls
    abstain rate    mean 1[W = abstain]       the same calls

As a probability the dark current is::

    soft_dark_current = mean over calls of 1 - p(tie) - p(abstain)

with p the probabilities of a call where there is nothing to judge (`measures.soft`): the share of
preferences at temperature 1, without a draw.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.vacuum.measures import DARK_CURRENT, SOFT_DARK_CURRENT
from pytest_judgesense.measures.cell import Cell, Units, rate
from pytest_judgesense.measures.order import no_preference
from pytest_judgesense.measures.rates import tie_rates
from pytest_judgesense.measures.soft import any_probabilities, has_probabilities, soft_rate
from pytest_judgesense.trial import ABSTAIN, TIE, Condition, Judgment


def estimates(cell: Cell) -> list[Estimate]:
    """Dark current, pooled and by category, and the tie rate; under each prompt that was run.

    That of the baseline prompt is *the* dark current, and names no arm.
    """
    parts = parts_of(cell)
    whole = [(part, condition) for part, condition in parts if "category" not in condition]
    return [
        *(
            rate(DARK_CURRENT, part, Units.of_calls(part, ~no_preference(part)), condition)
            for part, condition in parts
        ),
        *(estimate for part, condition in whole for estimate in tie_rates(part, condition)),
    ]


def parts_of(cell: Cell) -> list[tuple[Cell, Condition]]:
    """The judgments under each prompt, whole and by category, with their conditions."""
    arms: list[Condition] = [{"arm": arm} for arm in cell.values_of("arm")] or [{}]
    categories: list[Condition] = [
        {"category": category} for category in cell.values_of("category")
    ]
    conditions = [{**arm, **more} for arm in arms for more in ({}, *categories)]
    return [
        (
            cell.where(**condition),
            {k: v for k, v in condition.items() if (k, v) != ("arm", "baseline")},
        )
        for condition in conditions
    ]


def soft_estimates(cell: Cell) -> list[Estimate]:
    """Soft dark current, pooled and by category, under each prompt; the baseline's has no arm."""
    parts = parts_of(cell) if any_probabilities(cell) else []
    return [
        soft_rate(
            SOFT_DARK_CURRENT,
            part,
            ((judgment,) for judgment in part.judgments),
            preference,
            condition,
        )
        for part, condition in parts
    ]


def preference(judgment: Judgment) -> float:
    """The probability that a winner is named."""
    stated = judgment.probabilities or {}
    return 1 - stated.get(TIE, 0.0) - stated.get(ABSTAIN, 0.0)


def preferring(cell: Cell, _: Mapping[str, Any]) -> list[tuple[Judgment, ...]]:
    """Calls that name a winner with more than an even chance, the surest first."""
    calls = sorted(filter(has_probabilities, cell.judgments), key=preference, reverse=True)
    return [(call,) for call in calls if preference(call) > 0.5]
