"""A one-line sketch of a judge, from named rules: descriptions, not classes.

A rule is a word with what must hold for it. Rules read the pooled estimates of the suites that were
run; what was not measured has no word. The table of all rules stands in docs/datasheet.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from pytest_judgesense.estimate import Estimate

Estimates: TypeAlias = Sequence[Estimate]


@dataclass(frozen=True, slots=True)
class Rule:
    """A word of the sketch.

    Attributes:
        holds: whether it holds for the estimates of a judge.
        each: name the suites that it holds on, one by one.
        first: whether its word stands before those of other instruments.
    """

    word: str
    holds: Callable[[Estimates], bool]
    each: bool = False
    first: bool = False

    def words(self, estimates: Estimates) -> list[str]:
        """What the rule has to say of the estimates: nothing, its word, or one for each suite."""
        if not self.each:
            return [self.word] if self.holds(estimates) else []
        return [f"{self.word} on {one.suite}" for one in estimates if self.holds([one])]


def sketch(rules: Iterable[Rule], estimates: Iterable[Estimate]) -> str:
    """The words that hold, in the order of the rules; empty where nothing of them was measured."""
    known = list(estimates)
    words = (word for rule in rules for word in rule.words(known))
    return ", ".join(dict.fromkeys(words))


def pooled(estimates: Estimates, measure: str, **condition: object) -> list[Estimate]:
    """The estimates of a measure that have a value, under exactly ``condition``."""
    return [
        estimate
        for estimate in estimates
        if estimate.measure == measure
        and dict(estimate.condition) == condition
        and estimate.value is not None
    ]


def values(estimates: Estimates, measure: str, **condition: object) -> list[float]:
    """Their values."""
    return [one.value or 0.0 for one in pooled(estimates, measure, **condition)]


def some(
    measure: str, holds: Callable[[float], bool], **condition: object
) -> Callable[[Estimates], bool]:
    """Whether the first estimate of a measure was made, and is as wanted."""
    return lambda estimates: any(map(holds, values(estimates, measure, **condition)[:1]))


def any_above(measure: str, limit: float) -> Callable[[Estimates], bool]:
    """Whether a pooled estimate of a measure is above a limit."""
    return lambda estimates: any(value > limit for value in values(estimates, measure))


# Of measures that several kinds of suites have: their words come last.
SHARED_RULES: Final = (
    Rule("one-sided", any_above("side_bias", 0.1)),
    Rule("unreliable in form", any_above("unparsed_rate", 0.02)),
)
