"""The largest gap between groups as estimates, with their evidence; see `compared_groups`.

``group_gap`` without a condition is the largest over all measures and all fields; ``gap_of`` names
a measure, ``group_field`` a field. The interval is that of the size of the largest gap
(`stats.group_gaps`). Where nothing is compared, for all units are alike, the largest gap is 0: that
of the measure by which it is known best, for a judge with one wrong reply more would be compared by
one measure alone as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from pytest_judgesense.estimate import Clustered, Estimate, Missing, compact
from pytest_judgesense.instruments.groups.compared_groups import (
    GroupComparison,
    comparisons,
    fields_of,
)
from pytest_judgesense.instruments.groups.measures import (
    FIELD,
    GAP_OF,
    GROUP_GAP,
    OTHERWISE,
    WIDEST,
)
from pytest_judgesense.measures.cell import Cell, estimated, missing_of, unavailable
from pytest_judgesense.measures.every_suite import Group
from pytest_judgesense.stats.group_gaps import (
    FEWEST_CLUSTERS,
    GroupGap,
    largest_gap,
    largest_size_bounds,
    largest_size_range,
)
from pytest_judgesense.stats.inputs import LEVEL
from pytest_judgesense.trial import Condition, grouped


def gap_estimates(cell: Cell) -> Iterator[Estimate]:
    """The largest gap of all, by measure, by field, and by both; none where there are no groups."""
    if not fields_of(cell):
        return
    with_gaps = [each for each in comparisons(cell) if each.gaps or each.alike]
    if not with_gaps:
        yield unavailable(GROUP_GAP, cell, _nothing_compared(cell))
        return
    measures = (None, *dict.fromkeys(comparison.measure.name for comparison in with_gaps))
    fields = (None, *dict.fromkeys(comparison.field for comparison in with_gaps))
    for measure, field in product(measures, fields):
        condition: Condition = {
            **({} if measure is None else {GAP_OF: measure}),
            **({} if field is None else {FIELD: field}),
        }
        if compared := _compared(cell, condition):
            yield _largest(cell, compared, condition)


def _nothing_compared(cell: Cell) -> str:
    sizes = (
        f"{groups.field} = {group.name}: {group.clusters}"
        for groups in fields_of(cell)
        for group in groups.groups
    )
    missing = missing_of(cell.outcomes)
    count = missing.unparsed + missing.failed
    silent = f"; {count} replies without a verdict" if count else ""
    return (
        "no measure is a share of units in two or more groups that have "
        f"{FEWEST_CLUSTERS} clusters each ({', '.join(sizes)}){silent}"
    )


def _compared(cell: Cell, condition: Mapping[str, Any]) -> list[GroupComparison]:
    """What is compared under a condition; where that is nothing, a measure that is all alike."""
    of_condition = [
        comparison
        for comparison in comparisons(cell)
        if condition.get(GAP_OF, comparison.measure.name) == comparison.measure.name
        and condition.get(FIELD, comparison.field) == comparison.field
    ]
    compared = [comparison for comparison in of_condition if comparison.gaps]
    alike = [replace(each, gaps=each.alike) for each in of_condition if each.alike]
    if compared or not alike:
        return compared
    return min(grouped(alike, lambda each: each.measure.name).values(), key=_greatest)


def _greatest(compared: Sequence[GroupComparison]) -> float:
    """The upper bound of the largest gap of several comparisons."""
    return _interval([gap for each in compared for gap in each.gaps]).upper_bound


def _widest(compared: Sequence[GroupComparison]) -> tuple[GroupComparison, GroupGap]:
    """The largest gap of several comparisons, with its comparison."""
    largest = [(comparison, largest_gap(comparison.gaps)) for comparison in compared]
    return max(largest, key=lambda pair: abs(pair[1].value))


def _largest(cell: Cell, compared: Sequence[GroupComparison], condition: Condition) -> Estimate:
    comparison, gap = _widest(compared)
    gaps = [gap for each in compared for gap in each.gaps]
    flags = [f"{WIDEST}{_words(comparison, gap)}"]
    flags += [f"{OTHERWISE}{_words(each, named)}" for each in compared for named in each.named]
    return estimated(
        GROUP_GAP,
        cell,
        condition,
        value=abs(gap.value),
        n=len(gaps),
        clustered=_interval(gaps),
        missing=_missing(cell, compared),
        flags=(*(["degenerate"] if cell.degenerate else []), *flags),
    )


def _missing(cell: Cell, compared: Sequence[GroupComparison]) -> Missing:
    """The missing replies of all groups, and the largest gap in the best case and in the worst."""
    lows, highs = zip(
        *(largest_size_range(each.gaps, each.ranges) for each in compared), strict=True
    )
    return replace(missing_of(cell.outcomes), lower_bound=max(lows), upper_bound=max(highs))


def _words(comparison: GroupComparison, gap: GroupGap) -> str:
    """A gap in words: the group, and its share beside that of the rest."""
    share, rest = compact(gap.in_group.mean), compact(gap.rest.mean)
    return f"{comparison.field} = {gap.group}, {comparison.measure.name} {share}, the rest {rest}"


def _interval(gaps: Sequence[GroupGap]) -> Clustered:
    """Of the size of the largest gap."""

    def at(level: float) -> tuple[float, float]:
        return largest_size_bounds(gaps, level)

    return Clustered(
        "mover-of-largest",
        *at((1 + LEVEL) / 2),
        LEVEL,
        min(min(gap.in_group.interval.clusters, gap.rest.interval.clusters) for gap in gaps),
        None,
        None,
        *at(LEVEL),
        at,
    )


def against_the_judge(cell: Cell, condition: Mapping[str, Any]) -> list[Group]:
    """Units that count against the judge in the group whose gap is the largest."""
    compared = _compared(cell, condition)
    if not compared:
        return []
    comparison, gap = _widest(compared)
    units = comparison.by_group[gap.group].observations
    assert units is not None, "compared groups have units"
    by_id = {judgment.trial.id: judgment for judgment in cell.judgments}
    best = 1.0 if comparison.measure.floor else 0.0
    return [
        tuple(by_id[trial] for trial in key.split("\n"))
        for key, number in zip(units.keys, units.values, strict=True)
        if number != best
    ]
