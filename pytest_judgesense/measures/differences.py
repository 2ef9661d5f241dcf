"""Intervals of estimates made of paired differences, and the outermost ends of several. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pytest_judgesense.estimate import Clustered, Missing
from pytest_judgesense.stats.comparison import Difference
from pytest_judgesense.stats.inputs import LEVEL


def interval_of(difference: Difference) -> Clustered:
    """The interval of a paired difference as estimates have it."""

    def at(level: float) -> tuple[float, float]:
        return difference.ends(2 * level - 1)

    return Clustered(
        difference.method,
        *difference.ends(LEVEL),
        LEVEL,
        difference.clusters,
        None,
        None,
        *at(LEVEL),
        at,
    )


def outermost(intervals: Sequence[Clustered], choose: Callable[..., Any]) -> Clustered:
    """The lowest, or the highest, ends of several intervals: they hold for every one of them.

    Args:
        intervals: one or more, of one level.
        choose: ``min`` for the lowest, ``max`` for the highest.
    """
    if len(intervals) == 1:
        return intervals[0]

    def at(level: float) -> tuple[float, float]:
        ends = [interval.at(level) for interval in intervals if interval.at is not None]
        return choose(low for low, _ in ends), choose(high for _, high in ends)

    def end(name: str) -> float:
        return float(choose(getattr(interval, name) for interval in intervals))

    return Clustered(
        intervals[0].method,
        end("lower"),
        end("upper"),
        intervals[0].level,
        min(interval.clusters for interval in intervals),
        None,
        None,
        end("lower_bound"),
        end("upper_bound"),
        at,
    )


def outermost_cases(
    missing: Missing, of_each: Sequence[Missing], choose: Callable[..., Any]
) -> Missing:
    """Missing replies with the lowest, or the highest, worst cases of several estimates.

    They hold for every one of these: another may be the worst one with its missing replies.

    Args:
        missing: the counts and the share; its worst cases stay where those of one are not known.
        of_each: the missing replies of each estimate.
        choose: ``min`` for the lowest, ``max`` for the highest.
    """
    bounds = [(each.lower_bound, each.upper_bound) for each in of_each]
    cases = [(low, high) for low, high in bounds if low is not None and high is not None]
    if not cases or len(cases) < len(bounds):
        return missing
    lowest, highest = (choose(ends) for ends in zip(*cases, strict=True))
    return replace(missing, lower_bound=lowest, upper_bound=highest)
