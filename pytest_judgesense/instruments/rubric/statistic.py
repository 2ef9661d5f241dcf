"""What the estimators of the room share: grades by criterion, and statistics with an interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import Estimate, Missing
from pytest_judgesense.instruments.rubric.grades import (
    by_criterion,
    parts,
    pooled,
)
from pytest_judgesense.measures.cell import (
    Cell,
    estimated,
    unavailable,
)
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.stats.clustered import (
    Statistic,
    clustered_statistic,
)
from pytest_judgesense.trial import Condition

NO_HUMAN: Final = "the items have no human grades"
NO_GRADES: Final = "no reply has a grade"


def of_parts(
    cell: Cell, estimate: Callable[[Cell, Condition], list[Estimate]], *, whole: bool = True
) -> list[Estimate]:
    """Estimates of all grades, of each criterion and, where it is ``whole``, of the overall grade.

    Trials hold several grades, so two measurements cannot be paired by grades.
    """
    estimates: list[Estimate] = []
    for name in (
        None,
        *(criterion for criterion in parts(cell) if whole or criterion in by_criterion(cell)),
    ):
        condition = {} if name is None else {"criterion": name}
        part = pooled(cell) if name is None else parts(cell)[name]
        # Without the units, which would be much to keep until the last part is done.
        estimates += [
            replace(estimate_of_part, observations=None)
            for estimate_of_part in estimate(part, condition)
        ]
    return estimates


def has_human(cell: Cell) -> bool:
    """Whether any item has a human grade."""
    return bool(pooled(cell).coded("label")[1])


def statistic_estimate(
    measure: Measure,
    cell: Cell,
    condition: Condition,
    statistic: Statistic,
    columns: Sequence[NDArray[Any]],
    clusters: NDArray[np.int32],
    bounds: tuple[float, float],
    *,
    missing: Missing,
    undefined: str,
    flags: tuple[str, ...] = (),
    biased: bool = False,
) -> Estimate:
    """The estimate of a statistic of columns, with its jackknife over clusters."""
    value = statistic(*columns) if clusters.size else math.nan
    if math.isnan(value):
        reason = undefined if clusters.size else NO_GRADES
        return unavailable(measure, cell, reason, condition, missing=missing)
    interval = None  # a scale of one grade leaves nothing to vary
    if bounds[0] < bounds[1]:
        interval = clustered_statistic(statistic, columns, clusters, bounds, biased=biased)
    return estimated(
        measure,
        cell,
        condition,
        value=value,
        n=clusters.size,
        clustered=interval,
        missing=missing,
        flags=(*flags, *(() if interval else ("no interval over clusters",))),
    )
