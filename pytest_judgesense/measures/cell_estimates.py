"""From the judgments of a cell to all its estimates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from pytest_judgesense.errors import ExtensionError, listed
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.trial import grouped


def estimate_all(cell: Cell) -> tuple[Estimate, ...]:
    """All estimates of the measures of the cell, in their order.

    Measures that share an estimator are computed together, at the place of the first.

    Raises:
        ExtensionError: a plugin's measure failed; the error names the plugin.
    """
    return estimates_where(cell, lambda _: True)


def estimates_where(cell: Cell, wanted: Callable[[Measure], bool]) -> tuple[Estimate, ...]:
    """The same of the measures that are wanted, and of those that share an estimator with them.

    What a cell has been estimated by once is not estimated again.
    """
    sharing = grouped(cell.measures, lambda measure: measure.estimator)
    return tuple(
        estimate
        for measures in sharing.values()
        if any(map(wanted, measures))
        for estimate in _estimated_once(cell, measures)
    )


def _estimated_once(cell: Cell, measures: list[Measure]) -> tuple[Estimate, ...]:
    names = " ".join(measure.name for measure in measures)
    return cell.once(f"estimates of {names}", lambda: tuple(_taken(cell, measures)))


def _taken(cell: Cell, measures: list[Measure]) -> Iterator[Estimate]:
    """The result of one estimator, after its type is checked."""
    first = measures[0]
    if not first.source:
        yield from first.estimator(cell)
        return
    with ExtensionError.blaming(
        first.source,
        f"measure {first.name!r} of plugin {first.source} could not be taken of judge {cell.judge} "
        f"on suite {cell.suite}",
        "estimates; `unavailable` where there is nothing to measure",
    ):
        returned: list[object] = list(first.estimator(cell))
    units = {measure.name: measure.unit for measure in measures}

    def wrong(measure: Measure, instead: str) -> ExtensionError:
        return ExtensionError(
            f"measure {measure.name!r} of plugin {measure.source} gave something else than its "
            f"estimates on suite {cell.suite}",
            found=instead,
            expected=f"estimates of {listed(units)} on this suite, each condition once",
            remedy="fix the plugin",
        )

    places: list[tuple[str, dict[str, str | int | float]]] = []
    for estimate in returned:
        if not isinstance(estimate, Estimate) or estimate.suite != cell.suite:
            raise wrong(first, repr(estimate)[:200])
        place = (estimate.measure, dict(estimate.condition))
        plain = all(isinstance(value, str | int | float) for value in place[1].values())
        if estimate.measure not in units or place in places or not plain:
            raise wrong(first, repr(estimate)[:200])
        places.append(place)
        yield replace(estimate, unit=units[estimate.measure])
    estimated = {name for name, _ in places}
    for measure in measures:
        if measure.name not in estimated and not measure.soft:
            raise wrong(measure, f"none of it, but of: {listed(estimated) or 'nothing'}")
