r"""Which group is treated otherwise: gaps between a group and the rest, one named at a time.

With m the mean of the units of a group and r that of the units of all other groups, each with the
interval ``(l, u)`` of a clustered share, the gap ``m - r`` has the ends of MOVER::

    lower = m - r - sqrt((m - l_m)^2 + (u_r - r)^2)
    upper = m - r + sqrt((u_m - m)^2 + (r - l_r)^2)

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

Clusters with units in several groups (translations of one text) are in the intervals of both, as if
these were independent: where both are judged alike, as is usual, that is on the safe side.

References:
    G. Y. Zou, A. Donner (2008), Statistics in Medicine 27, 1693-1702 (MOVER).
    B. Rosner (1983), Technometrics 25, 165-172 (outliers that are taken out one at a time).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import Clustered
from pytest_judgesense.stats.clustered import clustered_proportion

FEWEST_CLUSTERS: Final = 10
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
            every = (np.ones(g.values.size) if g.weights is None else g.weights for g in groups)
            weights = np.concatenate([*every])
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
        tests: the comparisons that the level is divided among: those of its step, times those of
            the family.
        named: whether it is treated otherwise.
    """

    group: str
    in_group: ShareWithBounds
    rest: ShareWithBounds
    tests: int
    named: bool = False

    @property
    def value(self) -> float:
        """The mean of the group less that of the rest."""
        return self.in_group.mean - self.rest.mean

    def bounds(self, level: float) -> _Ends:
        """Both one-sided bounds of the gap at a level, for this gap alone."""
        of_group, of_rest = self.in_group.at(level), self.rest.at(level)
        down = math.hypot(self.in_group.mean - of_group[0], of_rest[1] - self.rest.mean)
        up = math.hypot(of_group[1] - self.in_group.mean, self.rest.mean - of_rest[0])
        return self.value - down, self.value + up

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
        gaps.append(_as_named(first))
        del left[first.group]
        if len(left) == 1:
            gaps += [gap for gap in step if gap.group in left]
    return gaps


def _step(left: Mapping[str, GroupUnits], *, higher: bool, tests: int) -> list[GroupGap]:
    """Each of the groups against the rest of them; of two the worse one first."""
    means = {group: units.mean for group, units in left.items()}
    worst_first = sorted(left, key=lambda group: means[group], reverse=not higher)
    compared = 1 if len(left) == 2 else len(left)
    return [
        GroupGap(
            group,
            ShareWithBounds.of([left[group]]),
            ShareWithBounds.of([units for other, units in left.items() if other != group]),
            tests * compared,
        )
        for group in worst_first
    ]


def _as_named(gap: GroupGap) -> GroupGap:
    return GroupGap(gap.group, gap.in_group, gap.rest, gap.tests, named=True)


def largest_gap(gaps: Sequence[GroupGap]) -> GroupGap:
    """The gap of the largest size; of equal ones the first."""
    return max(gaps, key=lambda gap: abs(gap.value))


def largest_size_bounds(gaps: Sequence[GroupGap], level: float) -> _Ends:
    """Both one-sided bounds of the size of the largest gap at a level."""
    bounds = [gap.size_bounds(level) for gap in gaps]
    return max(low for low, _ in bounds), max(high for _, high in bounds)
