"""What is said of a change: no more than its interval shows.

Every title of a figure, and every sentence of a section, that says which way something differs
comes from here. A change is called one way only where the interval that stands beside it lies
wholly on that side of no change; else the sentence says that it is not visible, with the same
numbers. What has no interval shows nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias, TypeVar

from pytest_judgesense.estimate import Clustered, Estimate, number_text

_Ends: TypeAlias = tuple[float, float]
_Place = TypeVar("_Place")

_NO_INTERVAL: Final = "without an interval"


class ShownChange(NamedTuple):
    """A difference, and the interval that decides what may be said of it.

    Attributes:
        value: the difference; 0 is no change.
        ends: of the interval that is shown; ``None`` where there is none.
    """

    value: float
    ends: _Ends | None

    @classmethod
    def within(cls, value: float, interval: Clustered | None) -> ShownChange:
        """A difference with its clustered interval."""
        return cls(value, None if interval is None else (interval.lower, interval.upper))

    @classmethod
    def of(cls, estimate: Estimate) -> ShownChange:
        """The change that an estimate is, or the size of one, with its clustered interval.

        Raises:
            ValueError: the estimate has no value.
        """
        if estimate.value is None:
            raise ValueError(f"a change has a value, found {estimate.unavailable}")
        return cls.within(estimate.value, estimate.clustered)

    @classmethod
    def between(cls, then: Estimate, now: Estimate) -> ShownChange:
        """The change from one estimate to another, however they depend on one another.

        Its lower end is that of now less the upper one of then, its upper end the other way round.
        So either end is wrong only where one of these two is, which of 95% intervals is so in at
        most 2.5% each.

        Raises:
            ValueError: an estimate has no value.
        """
        before, after = (cls.of(estimate) for estimate in (then, now))
        value = after.value - before.value
        if before.ends is None or after.ends is None:
            return cls(value, None)
        return cls(value, (after.ends[0] - before.ends[1], after.ends[1] - before.ends[0]))

    @property
    def direction(self) -> Literal[-1, 0, 1]:
        """1 where the interval lies above 0, -1 where it lies below, else 0."""
        if self.ends is None:
            return 0
        low, high = self.ends
        return 1 if low > 0 else -1 if high < 0 else 0

    @property
    def is_shown(self) -> bool:
        """Whether the interval excludes that nothing changed."""
        return self.direction != 0

    def numbers(self, text_of: Callable[[float], str] = number_text) -> str:
        """``-0.162 [-0.385, 0.135]``."""
        if self.ends is None:
            return f"{text_of(self.value)}, {_NO_INTERVAL}"
        return f"{text_of(self.value)} {ends_text(self.ends, text_of)}"

    def words(self, *, above: str, below: str, neither: str) -> str:
        """One of three texts, by where the interval lies.

        Args:
            above: said where the interval lies above 0.
            below: where it lies below 0.
            neither: where it holds 0, and where there is none: no claim of a change.
        """
        return {1: above, -1: below, 0: neither}[self.direction]

    def sentence(
        self,
        *,
        above: str,
        below: str,
        neither: str,
        text_of: Callable[[float], str] = number_text,
    ) -> str:
        """The same with the numbers behind it; ``text_of``: how a number is written."""
        words = self.words(above=above, below=below, neither=neither)
        return f"{words}: {self.numbers(text_of)}"


def farthest(changes: Sequence[tuple[ShownChange, _Place]]) -> tuple[ShownChange, _Place]:
    """The largest change of those that are shown, or, where none is, of all."""
    return max(changes, key=lambda place: (place[0].is_shown, abs(place[0].value)))


def ends_text(ends: _Ends, text_of: Callable[[float], str] = number_text) -> str:
    """``[-0.385, 0.135]``: what is printed holds 0 exactly where the interval does."""
    low, high = (end_text(end, text_of) for end in ends)
    return f"[{low}, {high}]"


def end_text(end: float, text_of: Callable[[float], str] = number_text) -> str:
    """An end of an interval; one that is close to 0, and that rounding would put there, is not."""
    text = text_of(end)
    if not end or any(digit in text for digit in "123456789"):
        return text
    return f"{end:+.1g}" if text.startswith("+") else f"{end:.1g}"
