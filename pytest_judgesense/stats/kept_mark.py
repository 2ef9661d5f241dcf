r"""The mark on a new scale that keeps an old pass rate.

Both scores of a unit are known: whether it passed under the old judge, and its score by the new
one. At a mark m it passes under the new one if its score is m or more, and the difference

    d(m) = mean of (new score >= m) - mean of (passed)

falls as m rises. The mark that keeps the rate is the one with the least ``|d(m)|``, the lowest of
several.

**Its interval** is an inversion: it holds the marks whose difference is not told from 0, because
the clustered interval of the paired difference (`stats.comparison`) holds 0. Both ends of that
interval fall with m, unit by unit, so these marks are an unbroken range, and no draws are needed.
A range without a mark says that no mark keeps the rate.

**Whether it is kept** within a distance w has three answers: *kept*, where both ends of the
interval of d at the nearest mark lie within w; *not kept*, where at every mark an end excludes it,
the lower one above w or the upper one below -w; else *undecided*. Both ends fall with m, so the
marks that are not excluded are an unbroken range as well. With the half-width h of K clusters at
the nearest mark, about ``K (h / |w - |d||)^2`` clusters would decide.

**What no mark keeps**: a unit that passed, and whose new score is below the lowest mark of the
range, fails at every mark that may keep the rate; one that failed, with a score at the highest or
above, passes at all of them.

Marks are scores that were given, and one above all of them, at which nothing passes.

References:
    C. J. Clopper, E. S. Pearson (1934), Biometrika 26, 404-413 (an interval as the values that a
    test does not reject).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_judgesense.stats.comparison import bounded_ends
from pytest_judgesense.stats.inputs import (
    Clusters,
    Flags,
    Floats,
    NotEstimable,
    cluster_sums,
    clustered_vector,
)

NOTHING: Final = math.inf  # the mark at which nothing passes

MarkAnswer: TypeAlias = Literal["kept", "not kept", "undecided"]

_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class MarkRate:
    """What passes at a mark of the new scale.

    Attributes:
        mark: the lowest score that passes; `NOTHING` if none does.
        rate: share of the units that pass.
        change: that rate minus the old one, ``ends``: of its paired interval over clusters.
        lost: units that passed and now fail, ``gained``: that failed and now pass.
    """

    mark: float
    rate: float
    change: float
    ends: tuple[float, float]
    lost: int
    gained: int

    @property
    def told_apart(self) -> bool:
        """Whether the interval of the difference does not hold 0."""
        return not self.ends[0] <= 0 <= self.ends[1]

    @property
    def half_width(self) -> float:
        """From the difference to the farther end of its interval."""
        return max(self.change - self.ends[0], self.ends[1] - self.change)


@dataclass(frozen=True, slots=True)
class KeptMark:
    """The mark that keeps a pass rate.

    Attributes:
        nearest: the mark whose rate is nearest to the old one.
        old_rate: share of the units that passed.
        lowest: the lowest mark that is not told apart; ``None`` if there is none.
        highest: the highest one.
        not_kept: of each unit whether no mark in that range keeps its side; where there is no such
            mark, of the nearest.
        fewest: the mark at which fewest units change sides, the lowest of several.
        marks: all of them, where they were stated; else empty.
        answer: whether the rate is kept within the distance that was asked for.
        at_old: what passes at the old judge's mark; ``None`` where it is not on the new scale.
        clusters: how many there are.
    """

    nearest: MarkRate
    old_rate: float
    lowest: float | None
    highest: float | None
    not_kept: Flags
    fewest: MarkRate
    marks: tuple[MarkRate, ...]
    answer: MarkAnswer
    at_old: MarkRate | None
    clusters: int

    def clusters_to_decide(self, within: float) -> int | None:
        """About how many clusters like these decide whether the rate is kept within a distance.

        ``None`` where it is decided, or the difference is as large as the distance.
        """
        apart = abs(within - abs(self.nearest.change))
        if self.answer != "undecided" or apart < _ROUNDING:
            return None
        needed = self.clusters * (self.nearest.half_width / apart) ** 2
        return max(self.clusters + 1, math.ceil(needed))


def kept_mark(
    scores: ArrayLike,
    passed: ArrayLike,
    clusters: Clusters,
    marks: ArrayLike | None = None,
    *,
    within: float,
    old_mark: float | None = None,
) -> KeptMark | NotEstimable:
    """The mark on the new scale that keeps the old pass rate.

    Args:
        scores: by the new judge, finite, one a unit.
        passed: whether the unit passed under the old one, 0 or 1.
        clusters: cluster of each unit.
        marks: the marks that there are; default: every score that was given.
        within: how far from the old pass rate a rate is that keeps it, from 0.
        old_mark: the old judge's mark, where its scale is the new one's.

    Raises:
        ValueError: a score is not finite, or lengths differ.
    """
    vector, codes, count = clustered_vector(scores, clusters)
    old = np.asarray(passed, dtype=np.float64)
    if old.size != vector.size:
        raise ValueError(f"{vector.size} scores and {old.size} outcomes, expected one a unit")
    if count < 2:
        return NotEstimable(f"clusters in both: {count}; at least 2 are needed")
    places = np.unique(vector if marks is None else np.asarray(marks, dtype=np.float64))
    every = [*places.tolist(), NOTHING]

    rate_at = cache(partial(_rate_at, vector, old, codes, count))

    lowest = bisect_left(every, True, key=lambda mark: rate_at(mark).ends[0] <= 0)
    above = bisect_left(every, True, key=lambda mark: rate_at(mark).ends[1] < 0)
    rates = np.array([(vector >= mark).mean() for mark in every])
    moved = np.array([((vector >= mark) != (old > 0)).sum() for mark in every])
    nearest = rate_at(every[int(np.argmin(np.abs(rates - old.mean()).round(12)))])
    in_range = every[lowest:above]
    low, high = (in_range[0], in_range[-1]) if in_range else (nearest.mark, nearest.mark)
    not_kept = np.where(old > 0, vector < low, vector >= high)
    return KeptMark(
        nearest=nearest,
        old_rate=float(old.mean()),
        lowest=in_range[0] if in_range else None,
        highest=in_range[-1] if in_range else None,
        not_kept=not_kept,
        fewest=rate_at(every[int(np.argmin(moved))]),
        marks=() if marks is None else tuple(map(rate_at, every)),
        answer=_answer(nearest, every, rate_at, within),
        at_old=None if old_mark is None else rate_at(old_mark - _ROUNDING),
        clusters=count,
    )


def _rate_at(
    scores: Floats, passed: Floats, codes: NDArray[np.intp], clusters: int, mark: float
) -> MarkRate:
    """What passes at a mark."""
    new = (scores >= mark).astype(np.float64)
    totals, sizes = cluster_sums([new - passed], codes, clusters)
    lost, gained = int((passed > new).sum()), int((new > passed).sum())
    rate, ends = float(new.mean()), bounded_ends(totals, sizes)
    return MarkRate(mark, rate, float((new - passed).mean()), ends, lost, gained)


def _answer(
    nearest: MarkRate, marks: Sequence[float], rate_at: Callable[[float], MarkRate], within: float
) -> MarkAnswer:
    """Whether the rate is kept within a distance; see the module."""
    most = within + _ROUNDING
    if max(abs(end) for end in nearest.ends) <= most:
        return "kept"
    not_above = bisect_left(marks, True, key=lambda mark: rate_at(mark).ends[0] <= most)
    below = bisect_left(marks, True, key=lambda mark: rate_at(mark).ends[1] < -most)
    return "not kept" if not_above >= below else "undecided"
