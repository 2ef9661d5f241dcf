"""From the judgments of a cell to all of its estimates: which families a kind of suite has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pytest_judgesense.errors import ExtensionError, JudgesenseError, UsageError
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.debate.estimators import debate_estimates
from pytest_judgesense.instruments.debate.ranking import prompt_estimates
from pytest_judgesense.instruments.ladder.estimators import (
    criterion_estimates,
    ladder_estimates,
    vacuum_estimates,
)
from pytest_judgesense.instruments.paraphrase.estimators import wording_estimates
from pytest_judgesense.instruments.temperature.estimators import temperature_estimates
from pytest_judgesense.measures.catalogue import MeasureInfo
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.order import order_estimates
from pytest_judgesense.measures.rates import reply_estimates
from pytest_judgesense.trial import Condition

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
    """Every estimate of the cell: those of its kind, of the order, of the replies, of plugins.

    Raises:
        UsageError: nobody here knows such a kind of suite.
        ExtensionError: a plugin's measure could not be taken; it names the plugin.
    """
    seen_as = cell
    if cell.design.kind in _WHOLE:
        return (*_KINDS[cell.design.kind](cell), *_of_plugins(cell))
    if cell.design.kind in _KINDS:
        estimates = list(_KINDS[cell.design.kind](cell))
    else:
        estimates = []
        for family in _families(cell):
            # A family reads the kind: it measures what it would measure in a suite of its own.
            seen_as = replace(cell, design=replace(cell.design, kind=family))
            estimates += _KINDS[family](seen_as)
    if cell.design.pairwise:
        estimates += order_estimates(cell)
    return (*estimates, *reply_estimates(seen_as), *_of_plugins(cell))


def _of_plugins(cell: Cell) -> Iterator[Estimate]:
    for info in cell.catalogue.added:
        if not info.kinds or cell.design.kind in info.kinds:
            yield from _added(cell, info)


def _families(cell: Cell) -> tuple[str, ...]:
    kind, known = cell.design.kind, cell.catalogue.kinds
    if kind not in known:
        raise UsageError(
            f"suite {cell.suite} is of a kind that is not known",
            found=f"kind = {kind!r}",
            expected="one of: " + ", ".join((*_KINDS, *known)),
            remedy="load the plugin that adds it: judgesense -p MODULE, or pytest -p MODULE",
        )
    # Paraphrase last: its agreement and its repeats are those of the replies.
    return tuple(sorted(known[kind], key=lambda family: family == "paraphrase"))


def _added(cell: Cell, info: MeasureInfo) -> Iterator[Estimate]:
    """What a plugin's measure gives, if it is what it has to be."""
    assert info.estimate is not None
    named = f"measure {info.name!r} of plugin {info.source}"
    try:
        found: list[object] = list(info.estimate(cell))
    except JudgesenseError:
        raise
    except Exception as error:
        raise ExtensionError(
            f"{named} could not be taken of judge {cell.judge} on suite {cell.suite}",
            found=f"{type(error).__name__}: {error}",
            expected="estimates; `unavailable` where there is nothing to measure",
            remedy="mend the plugin",
        ) from error
    seen: list[Condition] = []
    for estimate in found:
        if isinstance(estimate, Estimate) and estimate.measure == info.name:
            condition = dict(estimate.condition)
            if estimate.suite == cell.suite and condition not in seen:
                seen.append(condition)
                yield replace(estimate, unit=info.unit)
                continue
        raise ExtensionError(
            f"{named} gave something else than its estimates on suite {cell.suite}",
            found=repr(estimate)[:200],
            expected=f"estimates of {info.name} on the suite of the cell, each condition once",
            remedy="mend the plugin",
        )


def find_estimate(
    estimates: tuple[Estimate, ...], measure: str, condition: dict[str, object] | None = None
) -> Estimate | None:
    """The estimate of ``measure`` under exactly ``condition``; the pooled one by default."""
    wanted = condition or {}
    for estimate in estimates:
        if estimate.measure == measure and dict(estimate.condition) == wanted:
            return estimate
    return None
