"""A gated measure by the groups of a field: estimates, and which group is told from the rest.

Compared are measures whose pooled value is the mean of units: their shares. Of one measure and its
complement one is compared, of a measure that is the worst over labels none, for another label may
be the worst in another group, and none where all units of all groups are alike. What is not
compared has its value in each group all the same. All comparisons of a suite, over measures and
fields, are one family: the level is divided among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from pytest_judgesense.estimate import Estimate, Observations, find_estimate
from pytest_judgesense.instruments.groups.measures import GROUP_GAP
from pytest_judgesense.measures.cell import Cell, once_a_cell
from pytest_judgesense.measures.cell_estimates import estimates_where
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.stats.group_gaps import FEWEST_CLUSTERS, GroupGap, GroupUnits, group_gaps
from pytest_judgesense.trial import grouped

# The groups of a field of which there are estimates: those with the most clusters.
MOST_GROUPS: Final = 30


class ItemGroup(NamedTuple):
    """The items of one group.

    Attributes:
        cell: their judgments.
        items: how many there are.
        clusters: how many they are in.
    """

    name: str
    cell: Cell
    items: int
    clusters: int


class FieldGroups(NamedTuple):
    """The groups that a field makes.

    Attributes:
        groups: in the order of their first items; at most `MOST_GROUPS`.
        further: names of the groups beyond them.
        without: items that belong to no group.
    """

    field: str
    groups: tuple[ItemGroup, ...]
    further: tuple[str, ...]
    without: int


@dataclass(frozen=True, slots=True)
class GroupComparison:
    """A measure by the groups of a field.

    Attributes:
        by_group: the pooled estimate of each group that has one with a value.
        gaps: those of the compared groups, the named ones first; empty where nothing is compared.
        why_not: why nothing is compared; empty where something is.
    """

    measure: Measure
    field: str
    by_group: Mapping[str, Estimate]
    gaps: tuple[GroupGap, ...] = ()
    why_not: str = ""

    @property
    def named(self) -> tuple[GroupGap, ...]:
        """Those that are treated otherwise, in the order of their naming."""
        return tuple(gap for gap in self.gaps if gap.named)


@once_a_cell
def fields_of(cell: Cell) -> tuple[FieldGroups, ...]:
    """The fields that make groups, in the order of the items' own."""
    names = dict.fromkeys(field for judgment in cell.judgments for field in judgment.trial.groups)
    return tuple(_field_groups(cell, field) for field in names)


def _field_groups(cell: Cell, field: str) -> FieldGroups:
    by_group = grouped(cell.judgments, lambda judgment: judgment.trial.groups.get(field, ""))
    outside = {judgment.trial.item for judgment in by_group.pop("", [])}
    groups = [
        ItemGroup(
            name,
            cell.of(judgments),
            len({judgment.trial.item for judgment in judgments}),
            len({judgment.trial.cluster for judgment in judgments}),
        )
        for name, judgments in by_group.items()
    ]
    largest = sorted(groups, key=lambda group: -group.clusters)[:MOST_GROUPS]
    shown = tuple(group for group in groups if group in largest)
    further = tuple(group.name for group in groups if group not in largest)
    return FieldGroups(field, shown, further, len(outside))


@once_a_cell
def comparisons(cell: Cell) -> tuple[GroupComparison, ...]:
    """Every gated measure with a value, by the groups of each field."""
    measured = [
        (measure, groups, by_group)
        for groups in fields_of(cell)
        for measure, by_group in _by_measure(cell, groups)
    ]
    compared = {measure.name for measure, _, _ in measured}
    whys = [_why_not(measure, by_group, compared) for measure, _, by_group in measured]
    tests = whys.count("")
    return tuple(
        GroupComparison(measure, groups.field, by_group, why_not=why)
        if why
        else GroupComparison(
            measure,
            groups.field,
            by_group,
            tuple(group_gaps(_units(by_group), higher=measure.floor, tests=tests)),
        )
        for (measure, groups, by_group), why in zip(measured, whys, strict=True)
    )


def is_gated(measure: Measure) -> bool:
    """Whether it has a gate, and is not the gap between groups itself."""
    return measure.gate is not None and measure.name != GROUP_GAP.name


def _by_measure(
    cell: Cell, groups: FieldGroups
) -> Iterator[tuple[Measure, Mapping[str, Estimate]]]:
    """Each gated measure with its pooled estimates by group, where a group has a value."""
    estimates = {group.name: estimates_where(group.cell, is_gated) for group in groups.groups}
    for measure in filter(is_gated, cell.measures):
        by_group = {
            name: estimate
            for name, of_group in estimates.items()
            if (estimate := find_estimate(of_group, measure.name)) is not None
            and estimate.value is not None
        }
        if by_group:
            yield measure, by_group


def _why_not(measure: Measure, by_group: Mapping[str, Estimate], measured: set[str]) -> str:
    """Why groups are not compared by a measure; empty where they are."""
    units = [estimate.observations for estimate in by_group.values()]
    if measure.complement in measured:
        return f"one less {measure.complement}"
    if measure.worst_over:
        return f"of each group the worst {measure.worst_over}"
    if any(of_group is None for of_group in units):
        return "no mean of units"
    if len(_units(by_group)) < 2:
        return f"fewer than two groups with {FEWEST_CLUSTERS} clusters or more"
    if len({float(number) for of_group in units if of_group for number in _ends(of_group)}) == 1:
        return "all alike"
    return ""


def _ends(units: Observations) -> Sequence[float]:
    """The least and the greatest number of some units."""
    return units.numbers.min(), units.numbers.max()


def _units(by_group: Mapping[str, Estimate]) -> dict[str, GroupUnits]:
    """The units of the groups that are large enough to be compared."""
    of_groups = {
        name: _units_of(estimate.observations, estimate)
        for name, estimate in by_group.items()
        if estimate.observations is not None
    }
    return {
        name: units
        for name, units in of_groups.items()
        if len(set(units.clusters)) >= FEWEST_CLUSTERS
    }


def _units_of(observations: Observations, estimate: Estimate) -> GroupUnits:
    values = np.asarray(observations.numbers, dtype=np.float64)
    ends = estimate.clustered
    unlike = values.size
    if ends is not None and ends.each is not None:
        unlike = round(ends.each * ends.clusters)
    weights = observations.weights
    return GroupUnits(
        values,
        observations.clusters,
        unlike,
        None if weights is None else np.asarray(weights, dtype=np.float64),
    )
