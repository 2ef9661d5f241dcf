"""Judge Datasheet (arXiv 2606.15610): preferences of a judge where there is nothing to judge.

With W the content that an answer points at::

    dark current    mean 1[W is a content]    calls on true vacuum
    tie rate        mean 1[W = tie]           the same calls
    abstain rate    mean 1[W = abstain]       the same calls
"""

from __future__ import annotations

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.vacuum.measures import DARK_CURRENT
from pytest_judgesense.measures.cell import Cell, Units, rate
from pytest_judgesense.measures.order import no_preference
from pytest_judgesense.measures.rates import tie_rates
from pytest_judgesense.trial import Condition


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
