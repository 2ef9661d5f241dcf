"""From the judgments of a cell to all of its estimates: which families a kind of suite has."""

from __future__ import annotations

from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.debate import debate_estimates
from pytest_judgesense.measures.instrument import (
    criterion_estimates,
    ladder_estimates,
    vacuum_estimates,
)
from pytest_judgesense.measures.order import order_estimates
from pytest_judgesense.measures.ranking import prompt_estimates
from pytest_judgesense.measures.replies import reply_estimates
from pytest_judgesense.measures.temperature import temperature_estimates
from pytest_judgesense.measures.wording import wording_estimates
from pytest_judgesense.stats.estimate import Estimate

__all__ = ["estimate_all", "find_estimate"]


def _of_debates(cell: Cell) -> list[Estimate]:
    return [*debate_estimates(cell), *prompt_estimates(cell)]


_KINDS = {
    "paraphrase": wording_estimates,
    "vacuum": vacuum_estimates,
    "ladder": ladder_estimates,
    "criterion": criterion_estimates,
    "debate": _of_debates,
    "temperature": temperature_estimates,
}
# These count calls and orders themselves: half a million judgments take one pass.
_WHOLE = ("temperature",)


def estimate_all(cell: Cell) -> tuple[Estimate, ...]:
    """Every estimate of the cell: those of its kind, of the order, and of the replies."""
    estimates = list(_KINDS[cell.design.kind](cell))
    if cell.design.kind in _WHOLE:
        return tuple(estimates)
    if cell.design.pairwise:
        estimates += order_estimates(cell)
    return (*estimates, *reply_estimates(cell))


def find_estimate(
    estimates: tuple[Estimate, ...], measure: str, condition: dict[str, object] | None = None
) -> Estimate | None:
    """The estimate of ``measure`` under exactly ``condition``; the pooled one by default."""
    wanted = condition or {}
    for estimate in estimates:
        if estimate.measure == measure and dict(estimate.condition) == wanted:
            return estimate
    return None
