"""The dark current as a probability::

    soft_dark_current = mean over calls of 1 - p(tie) - p(abstain)

with p the probabilities of a call where there is nothing to judge (`measures.soft`): the share of
preferences at temperature 1, without a draw.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.vacuum.estimators import parts_of
from pytest_judgesense.instruments.vacuum.measures import SOFT_DARK_CURRENT
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.soft import any_probabilities, has_probabilities, soft_rate
from pytest_judgesense.trial import ABSTAIN, TIE, Judgment


def estimates(cell: Cell) -> list[Estimate]:
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
