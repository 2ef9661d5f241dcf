r"""Which group is treated otherwise: gaps between a group and the rest, one named at a time.

With m the mean of the units of a group and r that of the units of all other groups, each with the
interval ``(l, u)`` of a clustered share, the gap ``m - r`` has the ends of MOVER::

    lower = m - r - sqrt((m - l_m)^2 + (u_r - r)^2 - 2 c (m - l_m) (u_r - r))
    upper = m - r + sqrt((u_m - m)^2 + (r - l_r)^2 - 2 c (u_m - m) (r - l_r))

c is 0 where no cluster has units on both sides. Of clusters that have, such as translations of one
text, it is the correlation of both means: with a and b the sums of the deviations from m and from r
in each cluster, ``sum a b / sqrt(sum a^2 sum b^2)``, at most `MOST_CORRELATED`.

**One at a time.** A group that is treated otherwise is part of the rest of every other one. With
five groups and a gap of .3 in one of them, the others stand .075 above their rests: tests of all
groups with Holm's correction name innocent ones, the more surely the more items there are. Here, in
each step,

1. each of k groups is held against the rest of them, at the level alpha / k;
2. if ends exclude 0, the group whose gap is the largest multiple of the arm of its interval that
   points to 0 is named, and taken out; else nothing is named any more.

So where all groups are alike any is named with a chance of at most alpha; and where some are not,
an innocent one is named if it stands out among the innocent ones, with that chance, or if it stands
out more than those that are treated otherwise, which a large gap rules out. Two groups are one
comparison: the worse one is named. If the smaller part of the groups is alike, it is that part
which is named: that most groups are treated as they should be is taken for granted.

A group of fewer than `FEWEST_CLUSTERS` clusters is not compared, and is in no rest: units of it
say too little to be told from the others, and many such groups together are no group.

**The largest gap.** Of the sizes of all gaps the largest has the bounds::

    lower = max over groups of the lower bound of the size, each at the level 1 - (1 - L) / k
    upper = max over groups of the upper bound of the size, each at the level L

The lower one is simultaneous. The upper one need not be corrected: it is wrong only if the upper
bound of that group is wrong whose gap is the largest.

**Missing units.** Where a mean may be anything from ``low`` to ``high``, whatever the missing units
of its group are, the gap is largest with those of the group at one end and those of the rest at the
other, either way.

References:
    G. Y. Zou, A. Donner (2008), Statistics in Medicine 27, 1693-1702 (MOVER).
    B. Rosner (1983), Technometrics 25, 165-172 (outliers that are taken out one at a time).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.stats.clustered import clustered_proportion
from pytest_judgesense.stats.inputs import cluster_sums

FEWEST_CLUSTERS: Final = 10
# Of two means over the same clusters; more would say that a gap is known exactly.
MOST_CORRELATED: Final = 0.9
# Of the family of all comparisons.
ALPHA: Final = 0.05

_Ends: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class GroupUnits:
    """The units of a group.

    Attributes:
        values: of the units, within [0, 1]; shape (units,).
        clusters: of the units, by codes that all groups share; shape (units,).
        unlike: how many units there are if replicates are counted once.
        weights: what each unit weighs in the mean, 1 on average; ``None`` if all weigh the same.
    """

    values: NDArray[np.float64]
    clusters: NDArray[np.intp]
    unlike: int
    weights: NDArray[np.float64] | None = None

    @property
    def mean(self) -> float:
        """Of the values, as they weigh."""
        return float(np.average(self.values, weights=self.weights))

    @property
    def interval(self) -> Clustered | None:
        """Of the mean, over clusters."""
        return clustered_proportion(self.values, self.clusters, self.unlike, self.weights)


class ShareWithBounds(NamedTuple):
    """A mean with its interval."""

    mean: float
    interval: Clustered

    @classmethod
    def of(cls, groups: Sequence[GroupUnits]) -> ShareWithBounds:
        """Of all units of some groups, which have two clusters or more together."""
        weights = None
        if any(group.weights is not None for group in groups):
            weights = np.concatenate([_weights(group) for group in groups])
        units = GroupUnits(
            np.concatenate([group.values for group in groups]),
            np.concatenate([group.clusters for group in groups]),
            sum(group.unlike for group in groups),
            weights,
        )
        interval = units.interval
        assert interval is not None, "compared groups have several clusters"
        return cls(units.mean, interval)

    def at(self, level: float) -> _Ends:
        """Both one-sided bounds at a level."""
        assert self.interval.at is not None, "intervals that are computed have other levels"
        return self.interval.at(level)


@dataclass(frozen=True)
class GroupGap:
    """A group against the rest of the groups that were not named before it.

    Attributes:
        in_group: the share of the group.
        rest: that of the rest.
        correlation: of both, by clusters that have units on both sides.
        tests: the comparisons that the level is divided among: those of its step, times those of
            the family.
        others: the groups of the rest.
        named: whether it is treated otherwise.
    """

    group: str
    in_group: ShareWithBounds
    rest: ShareWithBounds
    correlation: float
    tests: int
    others: tuple[str, ...]
    named: bool = False

    @property
    def value(self) -> float:
        """The mean of the group less that of the rest."""
        return self.in_group.mean - self.rest.mean

    def bounds(self, level: float) -> _Ends:
        """Both one-sided bounds of the gap at a level, for this gap alone."""
        (low, high), (low_rest, high_rest) = self.in_group.at(level), self.rest.at(level)
        down = self._arm(self.in_group.mean - low, high_rest - self.rest.mean)
        up = self._arm(high - self.in_group.mean, self.rest.mean - low_rest)
        return self.value - down, self.value + up

    def _arm(self, of_group: float, of_rest: float) -> float:
        return math.sqrt(of_group**2 + of_rest**2 - 2 * self.correlation * of_group * of_rest)

    @cached_property
    def ends(self) -> _Ends:
        """The ends of the interval that decides: simultaneous over all comparisons."""
        return self.bounds(1 - ALPHA / 2 / self.tests)

    @property
    def arms(self) -> float:
        """How many times as large as the arm of that interval which points to 0 the gap is."""
        low, high = self.ends
        arm = self.value - low if self.value > 0 else high - self.value
        return abs(self.value) / arm if arm > 0 else 0.0

    @property
    def excludes_zero(self) -> bool:
        """Whether 0 is beyond the ends."""
        low, high = self.ends
        return low > 0 or high < 0

    def size_bounds(self, level: float) -> _Ends:
        """The simultaneous lower bound of the size of the gap, and its own upper bound."""
        low, high = self.bounds(1 - (1 - level) / self.tests)
        lowest, highest = self.bounds(level)
        return max(0.0, low, -high), max(highest, -lowest)


def group_gaps(groups: Mapping[str, GroupUnits], *, higher: bool, tests: int = 1) -> list[GroupGap]:
    """The gaps of all groups, those that are named first, in the order of their naming.

    Args:
        groups: two or more, each with `FEWEST_CLUSTERS` or more.
        higher: whether more is better: of two groups the worse one is named.
        tests: other comparisons of groups in the same family, this one included.
    """
    gaps: list[GroupGap] = []
    left = dict(groups)
    while len(left) > 1:
        step = _step(left, higher=higher, tests=tests)
        first = max(step, key=lambda gap: gap.arms)
        if not first.excludes_zero:
            return gaps + step
        gaps.append(replace(first, named=True))
        del left[first.group]
        if len(left) == 1:
            gaps += [gap for gap in step if gap.group in left]
    return gaps


def _step(left: Mapping[str, GroupUnits], *, higher: bool, tests: int) -> list[GroupGap]:
    """Each of the groups against the rest of them; of two the worse one first."""
    means = {group: units.mean for group, units in left.items()}
    worst_first = sorted(left, key=lambda group: means[group], reverse=not higher)
    compared = 1 if len(left) == 2 else len(left)
    return [_gap(group, left, tests * compared) for group in worst_first]


def _gap(group: str, left: Mapping[str, GroupUnits], tests: int) -> GroupGap:
    others = tuple(other for other in left if other != group)
    alone, rest = [left[group]], [left[other] for other in others]
    sides = ShareWithBounds.of(alone), ShareWithBounds.of(rest)
    return GroupGap(group, *sides, _correlation(alone, rest), tests, others)


def _correlation(first: Sequence[GroupUnits], second: Sequence[GroupUnits]) -> float:
    """That of the means of both, by the clusters that have units on both sides."""
    clusters = 1 + max(int(units.clusters.max()) for units in (*first, *second))
    a, b = _deviations(first, clusters), _deviations(second, clusters)
    spread = math.sqrt(float((a**2).sum() * (b**2).sum()))
    if not spread:
        return 0.0
    correlation = float((a * b).sum()) / spread
    return max(-MOST_CORRELATED, min(MOST_CORRELATED, correlation))


def _deviations(groups: Sequence[GroupUnits], clusters: int) -> NDArray[np.float64]:
    """The sums of the weighted deviations from the mean of all, by cluster."""
    values = np.concatenate([units.values for units in groups])
    codes = np.concatenate([units.clusters for units in groups])
    weights = np.concatenate([_weights(units) for units in groups])
    mean = np.average(values, weights=weights)
    return cluster_sums([weights * (values - mean)], codes, clusters)[0]


def _weights(units: GroupUnits) -> NDArray[np.float64]:
    return np.ones(units.values.size) if units.weights is None else units.weights


def largest_gap(gaps: Sequence[GroupGap]) -> GroupGap:
    """The gap of the largest size; of equal ones the first."""
    return max(gaps, key=lambda gap: abs(gap.value))


def largest_size_bounds(gaps: Sequence[GroupGap], level: float) -> _Ends:
    """Both one-sided bounds of the size of the largest gap at a level."""
    bounds = [gap.size_bounds(level) for gap in gaps]
    return max(low for low, _ in bounds), max(high for _, high in bounds)


class MeanRange(NamedTuple):
    """Where the mean of some groups lies, whatever their missing units are.

    Attributes:
        units: how many there are that are not missing.
    """

    low: float
    high: float
    units: int

    @classmethod
    def joined(cls, ranges: Sequence[MeanRange]) -> MeanRange:
        """Of several groups, of which one has units: their mean by these."""
        units = sum(of_group.units for of_group in ranges)
        low, high = (
            sum(end * of_group.units for end, of_group in zip(ends, ranges, strict=True)) / units
            for ends in zip(*((of_group.low, of_group.high) for of_group in ranges), strict=True)
        )
        return cls(low, high, units)


def largest_size_range(
    gaps: Sequence[GroupGap], ranges: Mapping[str, MeanRange]
) -> tuple[float, float]:
    """The least and the greatest size of the largest gap, whatever missing units are.

    Args:
        gaps: of the groups that are compared.
        ranges: of these, and of groups that only missing units keep from being compared.
    """
    size = abs(largest_gap(gaps).value)
    if all(of_group.low == of_group.high for of_group in ranges.values()):
        return size, size
    compared = {gap.group: gap.others for gap in gaps}
    unnamed = tuple(gap.group for gap in gaps if not gap.named)
    least, greatest = 0.0, size
    for group, alone in ranges.items():
        rest = MeanRange.joined([ranges[other] for other in compared.get(group, unnamed)])
        low, high = alone.low - rest.high, alone.high - rest.low
        greatest = max(greatest, high, -low)
        if group in compared:
            least = max(least, low, -high)
    return min(least, size), greatest
