"""A gated measure by the groups of a field: estimates, and which group is told from the rest.

Compared are measures whose pooled value is the mean of units: their shares. Of one measure and its
complement one is compared, and of a measure that is the worst over labels none, for another label
may be the worst in another group. What is not compared has its value in each group all the same.
All comparisons of a suite, over measures and fields, are one family: the level is divided among
them. A measure of which all units of all groups are alike takes no part in it, and has gaps of 0:
they say how large a gap may be where nothing else is compared.

A group that has too few clusters because replies are missing is not compared either, and yet it is
known within what range its mean lies: else a judge that fails would fare better than one that errs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from pytest_judgesense.estimate import Estimate, Observations, find_estimate
from pytest_judgesense.instruments.groups.measures import GROUP_GAP
from pytest_judgesense.measures.cell import Cell, once_a_cell
from pytest_judgesense.measures.cell_estimates import estimates_where
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.stats.group_gaps import (
    FEWEST_CLUSTERS,
    GroupGap,
    GroupUnits,
    MeanRange,
    group_gaps,
)
from pytest_judgesense.trial import grouped

# The groups of a field of which there are estimates: those with the most clusters.
MOST_GROUPS: Final = 30
_ALIKE: Final = "all alike"


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
        alike: gaps of 0, where nothing is compared because all units of all groups are alike.
        ranges: of the groups of either gaps, and of those that only missing replies keep from being
            compared: where their mean lies, whatever these are.
    """

    measure: Measure
    field: str
    by_group: Mapping[str, Estimate]
    gaps: tuple[GroupGap, ...]
    why_not: str
    alike: tuple[GroupGap, ...]
    ranges: Mapping[str, MeanRange]

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


class _Measured(NamedTuple):
    """A measure by the groups of a field.

    Attributes:
        by_group: the pooled estimate of each group that has one with a value.
        units: of the groups that are large enough.
        short: the estimates of those that only missing replies keep from being so.
    """

    measure: Measure
    field: str
    by_group: Mapping[str, Estimate]
    units: Mapping[str, GroupUnits]
    short: Mapping[str, Estimate]

    def why_not(self, measured: Collection[str]) -> str:
        """Why groups are not compared by it; empty where they are."""
        if self.measure.complement in measured:
            return f"one less {self.measure.complement}"
        if self.measure.worst_over:
            return f"of each group the worst {self.measure.worst_over}"
        if any(estimate.observations is None for estimate in self.by_group.values()):
            return "no mean of units"
        if len(self.units) < 2:
            return f"fewer than two groups with {FEWEST_CLUSTERS} clusters or more"
        ends = {float(end) for units in self.units.values() for end in _ends(units)}
        return _ALIKE if len(ends) == 1 else ""

    @property
    def ranges(self) -> dict[str, MeanRange]:
        """Where the means of the groups lie that are large enough, or may be."""
        of_groups = {name: self.by_group[name] for name in self.units} | {**self.short}
        return {name: _range_of(estimate) for name, estimate in of_groups.items()}


@once_a_cell
def comparisons(cell: Cell) -> tuple[GroupComparison, ...]:
    """Every gated measure with a value, by the groups of each field."""
    measured = [each for groups in fields_of(cell) for each in _by_measure(cell, groups)]
    names = {each.measure.name for each in measured}
    whys = [each.why_not(names) for each in measured]
    return tuple(
        _compared(each, why, whys.count("")) for each, why in zip(measured, whys, strict=True)
    )


def _compared(measured: _Measured, why_not: str, tests: int) -> GroupComparison:
    gaps: list[GroupGap] = []
    if why_not in ("", _ALIKE):
        higher = measured.measure.floor
        gaps = group_gaps(measured.units, higher=higher, tests=max(1, tests))
    return GroupComparison(
        measured.measure,
        measured.field,
        measured.by_group,
        gaps=() if why_not else tuple(gaps),
        why_not=why_not,
        alike=tuple(gaps) if why_not else (),
        ranges=measured.ranges if gaps else {},
    )


def is_gated(measure: Measure) -> bool:
    """Whether it has a gate, and is not the gap between groups itself."""
    return measure.gate is not None and measure.name != GROUP_GAP.name


def _by_measure(cell: Cell, groups: FieldGroups) -> Iterator[_Measured]:
    """Each gated measure with its pooled estimates by group, where a group has a value."""
    estimates = {group.name: estimates_where(group.cell, is_gated) for group in groups.groups}
    for measure in filter(is_gated, cell.measures):
        of_groups = {
            name: estimate
            for name, of_group in estimates.items()
            if (estimate := find_estimate(of_group, measure.name)) is not None
        }
        by_group = {
            name: estimate for name, estimate in of_groups.items() if estimate.value is not None
        }
        if by_group:
            units = _units(by_group)
            short = {
                group.name: of_groups[group.name]
                for group in groups.groups
                if group.name in of_groups.keys() - units.keys()
                and _may_be_large_enough(group, of_groups[group.name])
            }
            yield _Measured(measure, groups.field, by_group, units, short)


def _may_be_large_enough(group: ItemGroup, estimate: Estimate) -> bool:
    """Whether a group has enough clusters if each missing reply is of another one."""
    missing = estimate.missing.unparsed + estimate.missing.failed
    units = estimate.observations
    clusters = 0 if units is None else np.unique(units.codes).size
    return missing > 0 and min(group.clusters, clusters + missing) >= FEWEST_CLUSTERS


def _range_of(estimate: Estimate) -> MeanRange:
    """Where the mean of a group lies, whatever its missing units are."""
    value, missing = estimate.value, estimate.missing
    if missing.lower_bound is not None and missing.upper_bound is not None:
        return MeanRange(missing.lower_bound, missing.upper_bound, estimate.n)
    if value is None or missing.share:
        return MeanRange(0.0, 1.0, estimate.n)  # no worst case of the missing replies is known
    return MeanRange(value, value, estimate.n)


def _ends(units: GroupUnits) -> tuple[float, float]:
    """The least and the greatest value of some units."""
    return units.values.min(), units.values.max()


def _units(by_group: Mapping[str, Estimate]) -> dict[str, GroupUnits]:
    """The units of the groups that are large enough to be compared."""
    code_of: dict[str, int] = {}
    of_groups = {
        name: _units_of(estimate.observations, estimate, code_of)
        for name, estimate in by_group.items()
        if estimate.observations is not None
    }
    return {
        name: units
        for name, units in of_groups.items()
        if np.unique(units.clusters).size >= FEWEST_CLUSTERS
    }


def _units_of(
    observations: Observations, estimate: Estimate, code_of: dict[str, int]
) -> GroupUnits:
    """The units of a group; ``code_of`` gets the codes of clusters that it does not have."""
    codes = [code_of.setdefault(str(name), len(code_of)) for name in observations.names]
    values = np.asarray(observations.numbers, dtype=np.float64)
    ends = estimate.clustered
    unlike = values.size
    if ends is not None and ends.each is not None:
        unlike = round(ends.each * ends.clusters)
    weights = observations.weights
    return GroupUnits(
        values,
        np.array(codes, dtype=np.intp)[np.asarray(observations.codes)],
        unlike,
        None if weights is None else np.asarray(weights, dtype=np.float64),
    )
