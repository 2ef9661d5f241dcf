"""A one-line sketch of a judge, in named words.

The condition of each word is on the pooled estimates of the suites that were run; there is no word
for what was not measured. The table of words is in docs/datasheet.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from pytest_judgesense.estimate import Estimate

Estimates: TypeAlias = Sequence[Estimate]


class Word(NamedTuple):
    """A word of the profile, and whether it ``holds`` for the estimates of a judge.

    ``each``: whether it names each suite on which it holds; ``first``: words with a larger number
    come before all with a smaller one; ``instead_of``: words that are left out where it holds.
    """

    text: str
    holds: Callable[[Estimates], bool]
    each: bool = False
    first: int = 0
    instead_of: tuple[str, ...] = ()

    def texts(self, estimates: Estimates) -> list[str]:
        if not self.each:
            return [self.text] if self.holds(estimates) else []
        return [
            f"{self.text} on {estimate.suite}" for estimate in estimates if self.holds([estimate])
        ]


def one_of(
    text_of: Callable[[Estimates], str | None], *texts: str, **settings: Any
) -> Iterator[Word]:
    """Words of which at most one holds: the one that ``text_of`` returns for the estimates."""

    def word(text: str) -> Word:
        return Word(text, lambda estimates: text_of(estimates) == text, **settings)

    return map(word, texts)


def sketch(words: Iterable[Word], estimates: Iterable[Estimate]) -> str:
    """The words that hold, in order; empty if nothing relevant was measured."""
    estimates_of_judge = list(estimates)
    texts = [(word, word.texts(estimates_of_judge)) for word in words]
    replaced = {text for word, holding in texts if holding for text in word.instead_of}
    kept_texts = (text for word, text in texts if word.text not in replaced)
    return ", ".join(dict.fromkeys(chain.from_iterable(kept_texts)))


def pooled(estimates: Estimates, measure: str, **condition: object) -> list[Estimate]:
    """The estimates of a measure that have a value, under exactly ``condition``."""
    of_measure = (
        estimate
        for estimate in estimates
        if estimate.measure == measure and estimate.value is not None
    )
    return [estimate for estimate in of_measure if dict(estimate.condition) == condition]


def values(estimates: Estimates, measure: str, **condition: object) -> list[float]:
    """Their values."""
    return [estimate.value or 0.0 for estimate in pooled(estimates, measure, **condition)]


def some(
    measure: str, holds: Callable[[float], bool], **condition: object
) -> Callable[[Estimates], bool]:
    """Whether the first estimate of a measure exists and is as wanted."""
    return lambda estimates: any(map(holds, values(estimates, measure, **condition)[:1]))


def any_above(
    measure: str, limit: float, unless: Callable[[Iterable[str]], bool] = lambda _: False
) -> Callable[[Estimates], bool]:
    """Whether a pooled estimate of a measure is above a limit, ``unless`` its flags forbid it."""
    return lambda estimates: any(
        (estimate.value or 0.0) > limit
        for estimate in pooled(estimates, measure)
        if not unless(estimate.flags)
    )
