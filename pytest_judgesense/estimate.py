"""Estimates: the value of a measure with its counts and both intervals. All frozen.

A *censored* number lies beyond the measured range: the number is the end of that range, and a flag
of the estimate says that the true value is at or below it (``left-censored``) or above it
(``right-censored``). The ends of an interval have separate flags, such as ``upper end
right-censored``, and so have those of the interval of the source paper: ``upper end in the paper
right-censored``. Reports print censored numbers as ``<= 1`` and ``> 5``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

# The sign that reports print before a censored number.
_SIGNS: Final = {"left-censored": "<= ", "right-censored": "> "}
# Where a number stands: the value itself, or an end of one of the two intervals.
NumberPlace: TypeAlias = Literal[
    "", "lower end ", "upper end ", "lower end in the paper ", "upper end in the paper "
]
CENSORED: Final = frozenset(place + word for place in get_args(NumberPlace) for word in _SIGNS)


def censored_value(number: float, first: float, last: float) -> tuple[float, tuple[str, ...]]:
    """A value within ``first`` to ``last``, with its flag if it is infinite."""
    if math.isfinite(number):
        return number, ()
    return (first, ("left-censored",)) if number < 0 else (last, ("right-censored",))


def censored_end(
    end: Literal["lower", "upper"], number: float, first: float, last: float
) -> tuple[float, tuple[str, ...]]:
    """The same for an end of an interval; its flag names the end."""
    shown, flags = censored_value(number, first, last)
    return shown, tuple(f"{end} end {flag}" for flag in flags)


def censored_text(number: float, flags: Iterable[str], place: NumberPlace = "") -> str | None:
    """A number beyond the measured range, such as ``<= 1``; ``None`` if it is not censored.

    ``flags`` are those of its estimate; ``place`` is the end of an interval, if it is one.
    """
    beyond = set(flags)
    for word, sign in _SIGNS.items():
        if place + word in beyond:
            # The end of a range is usually a step of the design: it needs no decimals.
            return f"{sign}{round(number, 3):g}"
    return None


def number_text(number: float, flags: tuple[str, ...] = (), place: NumberPlace = "") -> str:
    """A number as reports print it: three decimals, no negative zero, or ``<= 1`` if censored.

    ``flags`` are those of its estimate; ``place`` is the end of an interval, if it is one.
    """
    if (beyond := censored_text(number, flags, place)) is not None:
        return beyond
    text = f"{number:.3f}"
    return text[1:] if text == "-0.000" else text


def compact(number: float, flags: tuple[str, ...] = (), place: NumberPlace = "") -> str:
    """`number_text` with two decimals, for sentences; a number close to 0 keeps three."""
    if any(place + word in flags for word in _SIGNS):
        return number_text(number, flags, place)
    small = 0.0005 <= abs(number) < 0.0995
    text = f"{number:.{3 if small else 2}f}"
    return text[1:] if text == "-0.00" else text


def bar_text(bar: float) -> str:
    """A bar in a sentence: a share with two decimals, anything else as written."""
    return f"{bar:.2f}" if 0 < bar < 1 and round(bar, 2) == bar else f"{bar:g}"


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided interval of a nominal coverage, such as ``wilson``."""

    method: str
    lower: float
    upper: float
    level: float = 0.95


class Ends(NamedTuple):
    """The ends of an interval over clusters: of the two-sided one, and one-sided bounds."""

    lower: float
    upper: float
    lower_bound: float
    upper_bound: float


@dataclass(frozen=True)
class Clustered:
    """An interval whose units are clusters: the one that gates.

    One that is made `later` computes its ends when one of them is asked for: of most conditions a
    run shows none.

    Attributes:
        method: for example ``bayesian-cluster-bootstrap``.
        lower: lower end of the two-sided interval, of which ``level`` is the nominal coverage.
        design_effect: variance relative to independent units; ``None`` if it has no meaning.
        effective_n: number of independent units with the same information; ``None`` if it has no
            meaning.
        lower_bound: one-sided bound at ``level``: the true value is above it with that confidence.
        upper_bound: one-sided bound at ``level``: the true value is below it with that confidence.
        at: from another one-sided level, above 0.5, to both bounds; ``None`` if the interval was
            read from a file, which does not hold it.
        each: mean number of unlike units of a cluster, for replicates add no weight; ``None`` if
            that is not known, or all are unlike. It is not written to files.
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
    at: Callable[[float], tuple[float, float]] | None = field(
        default=None, compare=False, repr=False
    )
    each: float | None = field(default=None, compare=False, repr=False)

    @classmethod
    def later(cls, ends: Callable[[], Ends], **fields: Any) -> Clustered:
        """The interval of other fields that are ``known``, and of ``ends`` still to be computed."""
        interval = object.__new__(cls)
        vars(interval).update(fields, _ends=ends)
        return interval

    def __getattr__(self, name: str) -> float:
        if name not in Ends._fields or (ends := vars(self).get("_ends")) is None:
            raise AttributeError(name)
        vars(self).update(ends()._asdict())
        return float(vars(self)[name])


@dataclass(frozen=True, slots=True)
class NewWordings(Interval):
    """An interval for wordings and items that were not asked; it gates nothing.

    Attributes:
        wordings: that it is known from.
        at: from numbers of clusters and wordings to the ends with so many; ``None`` if the interval
            was read from a file, which does not hold it.
    """

    wordings: int = field(kw_only=True)
    at: Callable[[int, int], tuple[float, float]] | None = field(
        default=None, compare=False, repr=False, kw_only=True
    )


@dataclass(frozen=True, slots=True)
class Missing:
    """Replies that a rate could not use, and their worst-case effect on it.

    Attributes:
        unparsed: replies without a verdict.
        failed: calls without a reply.
        lower_bound: the rate if all missing units were 0; ``None`` if there is no such bound.
        upper_bound: the rate if all missing units were 1.
        share: missing calls over all calls; of a measure that reads more than a verdict, such as a
            confidence, those without it are missing too.
    """

    unparsed: int = 0
    failed: int = 0
    lower_bound: float | None = None
    upper_bound: float | None = None
    share: float = 0.0

    @property
    def are(self) -> str:
        """What the ``share`` of replies does, in words."""
        return "are missing" if self.unparsed or self.failed else "state nothing that is measured"

    @property
    def words(self) -> str:
        """The missing replies, with the worst cases if they could change the value; or nothing."""
        low, high = self.lower_bound, self.upper_bound
        counts = {"unparsed": self.unparsed, "failed": self.failed}
        parts = [f"{number} {word}" for word, number in counts.items() if number]
        if not parts or (low is not None and low == high):
            return ""  # an equal bound: the measure counts the missing replies itself
        if low is not None and high is not None:
            parts.append(f"worst cases {number_text(low)} to {number_text(high)}")
        return "missing: " + ", ".join(parts)


@dataclass(frozen=True, slots=True)
class SkippedLabels:
    """Items that people were shown to be labelled, and gave no label: missing labels of a rate.

    The interval of the rate counts all of them as 0 for its lower end, and as 1 for its upper.

    Attributes:
        count: how many.
        lowest: the rate if all of them were 0.
        highest: the rate if all of them were 1.
        as_labelled: the interval if they were like the items that have a label.
    """

    count: int
    lowest: float
    highest: float
    as_labelled: Clustered


def labels_to_reach(decisive: float, *, skipped: int, worst: float, as_labelled: float) -> int:
    """About how many skipped items need a label, if these are like the others, to reach a number.

    A rate and its bounds move in proportion to the labels that are missing.

    Args:
        decisive: the number.
        skipped: how many items were skipped.
        worst: the rate, or a bound of it, with all of them at their worst: short of the number.
        as_labelled: the same if they were like the others: on the number, or beyond it.
    """
    share = (decisive - worst) / (as_labelled - worst)
    return min(skipped, math.floor(share * skipped) + 1)


@dataclass(frozen=True)
class Observations:
    """The units behind a rate, so that two measurements can be paired unit by unit.

    Attributes:
        numbers: the value of each unit, within [0, 1]; shape (units,).
        codes: the cluster of each unit, as its place in ``names``; shape (units,).
        names: of the clusters; some may have no unit.
        made_of: returns the keys, which for half a million units are as large as their log and are
            rarely needed.
        weights: what each unit weighs in the mean; ``None`` if all weigh the same.
    """

    numbers: Any = field(repr=False)
    codes: Any = field(repr=False)
    names: Sequence[str] = field(repr=False)
    made_of: Callable[[], Sequence[str]] = field(repr=False)
    weights: Any = field(default=None, repr=False)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The trials of a unit: their ids, one per line."""
        return tuple(self.made_of())

    @cached_property
    def values(self) -> tuple[float, ...]:
        return tuple(self.numbers.tolist())

    @cached_property
    def clusters(self) -> tuple[str, ...]:
        return tuple(str(self.names[code]) for code in self.codes.tolist())


def share_of(total: Any, units: Any) -> Any:
    """The mean of units between 0 and 1."""
    return total / units


def share_of_weights(total: Any, weights: Any, _units: Any) -> Any:
    """The mean of units between 0 and 1 that weigh differently, from their weighted sum."""
    return total / weights


def distance_of_weights(total: Any, weights: Any, _units: Any) -> Any:
    """The distance of such a mean from one half."""
    return abs(total / weights - 0.5)


def distance_from_half(total: Any, units: Any) -> Any:
    """The distance of a share from one half."""
    return abs(total / units - 0.5)


@dataclass(frozen=True, slots=True)
class Anew:
    """The data behind a value, so that it can be computed again for resampled clusters.

    Attributes:
        clusters: the cluster of each unit.
        columns: the columns of the units, each of shape (units,).
        value: from the sums of the columns and the numbers of units, each of shape (draws,), to the
            value of each draw.
    """

    clusters: Any
    columns: Any
    value: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measure's value, or the reason why there is none.

    Attributes:
        condition: what distinguishes it from the pooled estimate; empty for that.
        value: the estimate; ``None`` exactly when ``unavailable`` holds a reason.
        count: numerator in units, if the value is a proportion.
        n: denominator in units.
        unit: ``call``, ``pair of templates``, ``canonical pair``, ``item``, ...
        interval: the interval of the source paper.
        clustered: the interval over clusters, the one that gates; it holds the wordings fixed.
        new_wordings: of what varies with the wording, the interval for other wordings as well.
        flags: warnings that belong to the number, such as ``degenerate``.
        unavailable: why there is no value.
        observations: the units, if the value is their mean and this process has counted them; they
            are not written to files.
        folded_units: those of the share whose distance from 1/2 the value is, likewise.
        moving_units: those of a weighted mean that the value moves with, likewise.
        proportion: by how much the value moves if that mean, or the distance from 1/2, moves by 1;
            it is not written to files.
        reach: the most that one cluster may move the value, times the number of clusters, if it is
            no mean and that is known; it is not written to files.
        skipped_labels: those that it counts at their worst, if there are any; flags count them, and
            it is not written to files.
        anew: returns the data behind the value, if known; it is not written to files.
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
    new_wordings: NewWordings | None = None
    missing: Missing = Missing()
    flags: tuple[str, ...] = ()
    unavailable: str | None = None
    observations: Observations | None = field(default=None, compare=False, repr=False)
    folded_units: Observations | None = field(default=None, compare=False, repr=False)
    moving_units: Observations | None = field(default=None, compare=False, repr=False)
    proportion: float = field(default=1.0, compare=False, repr=False)
    reach: float | None = field(default=None, compare=False, repr=False)
    skipped_labels: SkippedLabels | None = field(default=None, compare=False, repr=False)
    anew: Callable[[], Anew] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if (self.value is None) != (self.unavailable is not None):
            msg = f"{self.measure}: an estimate has either a value or a reason why it has none"
            raise ValueError(msg)


def find_estimate(
    estimates: Iterable[Estimate], measure: str, condition: Mapping[str, object] | None = None
) -> Estimate | None:
    """The estimate of ``measure`` under exactly ``condition``; the pooled one by default."""
    wanted = dict(condition or {})
    matching = (e for e in estimates if e.measure == measure and dict(e.condition) == wanted)
    return next(matching, None)
