"""Estimates: what a measure says, with its counts and both of its intervals. All frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Clustered", "Estimate", "Interval", "Missing"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided interval, named by its method.

    Attributes:
        method: for example ``wilson`` or ``percentile-bootstrap``.
        lower: lower end.
        upper: upper end.
        level: nominal coverage, 0.95 unless said otherwise.
    """

    method: str
    lower: float
    upper: float
    level: float = 0.95


@dataclass(frozen=True, slots=True)
class Clustered:
    """An interval whose units are clusters: the one that gates.

    Attributes:
        method: for example ``korn-graubard``.
        lower: lower end of the two-sided interval; ``upper`` likewise.
        level: nominal coverage of the two-sided interval.
        clusters: number of clusters.
        design_effect: variance over that of independent units; ``None`` where it has no meaning.
        effective_n: number of independent units worth the same; ``None`` likewise.
        lower_bound: one-sided bound at ``level``: with that confidence the truth is above it.
        upper_bound: one-sided bound at ``level``: with that confidence the truth is below it.
    """

    method: str
    lower: float
    upper: float
    level: float
    clusters: int
    design_effect: float | None
    effective_n: float | None
    lower_bound: float
    upper_bound: float


@dataclass(frozen=True, slots=True)
class Missing:
    """Replies that a rate could not use, and what they could have done to it at the worst.

    Attributes:
        unparsed: replies without a verdict; ``failed`` calls without a reply. Counted in calls.
        lower_bound: the rate if all missing units were 0; ``None`` where there is no such bound.
        upper_bound: the rate if all missing units were 1.
        share: missing calls over all calls.
    """

    unparsed: int = 0
    failed: int = 0
    lower_bound: float | None = None
    upper_bound: float | None = None
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measure's value, or the reason why there is none.

    Attributes:
        measure: name of the measure (``jss``, ``dark_current``, ...).
        suite: suite that it was measured on.
        condition: what distinguishes it from the pooled estimate; empty for the pooled one.
        value: the estimate; ``None`` exactly when ``unavailable`` holds a reason.
        count: numerator in units, where the value is a proportion.
        n: denominator in units.
        unit: ``call``, ``pair of templates``, ``canonical pair``, ``item``, ...
        interval: the interval of the source paper, under its own name.
        clustered: the interval over clusters, the one that gates.
        missing: unparsed and failed replies.
        flags: warnings that belong to the number, such as ``degenerate``.
        unavailable: why nothing was measured.
    """

    measure: str
    suite: str
    condition: Mapping[str, str | int | float] = field(default_factory=dict)
    value: float | None = None
    count: float | None = None
    n: int = 0
    unit: str = "call"
    interval: Interval | None = None
    clustered: Clustered | None = None
    missing: Missing = Missing()
    flags: tuple[str, ...] = ()
    unavailable: str | None = None

    def __post_init__(self) -> None:
        if (self.value is None) != (self.unavailable is not None):
            msg = f"{self.measure}: an estimate has either a value or a reason why it has none"
            raise ValueError(msg)
