"""Dark current (Judge Datasheet, arXiv 2606.15610): what is reported where nothing is there.

With W the content that an answer points at::

    dark current DC          mean 1[W is a content]           calls on true vacuum
    tie rate                 mean 1[W = tie]                  the same calls
"""

from __future__ import annotations

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.vacuum.measures import DARK_CURRENT
from pytest_judgesense.measures.cell import Cell, Units, no_preference, rate
from pytest_judgesense.measures.rates import tie_rate
from pytest_judgesense.trial import Condition


def estimates(cell: Cell) -> list[Estimate]:
    """Dark current, pooled and by category, and the tie rate; under each prompt that was run."""
    arms: list[Condition] = [{"arm": arm} for arm in cell.values_of("arm")] or [{}]
    categories: list[Condition] = [{"category": one} for one in cell.values_of("category")]
    found = [_preference(cell, {**arm, **more}) for arm in arms for more in ({}, *categories)]
    return [*found, *(tie_rate(cell, cell.where(**arm), arm) for arm in arms)]


def _preference(cell: Cell, condition: Condition) -> Estimate:
    units = Units.of_calls(cell.where(**condition), lambda judgment: not no_preference(judgment))
    return rate(DARK_CURRENT, cell, units, condition)
