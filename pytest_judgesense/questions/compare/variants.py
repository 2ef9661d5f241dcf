"""Variants of one judge, such as the same model under several prompts, each against the first.

Pure. What a prompt may make better or worse are the measures that ``judgesense init`` has its
suites hold against the version before: side bias, agreement with the labels, repeat flips; on
suites of other kinds also the measure that ranks their judges. Two variants are compared as the
judges of a session are (`stats.ranks`): on the clusters that both were asked, with intervals over
whole clusters, because variants are no two measurements of one judge that could be swapped.

All measures of all variants but the first are one family, with p-values by Holm: if no prompt
changes anything, one is called better or worse in at most 5% of comparisons. Where every two are
compared, as judges are, the family is all measures of all pairs. A measure that is not known of one
of the two counts in the family with a p-value of 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_judgesense.estimate import Estimate, find_estimate, number_text, share_of
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.measures.shared import (
    AGREEMENT,
    REPEAT_FLIP_RATE,
    SIDE_BIAS,
    confounded,
)
from pytest_judgesense.stats import ranks
from pytest_judgesense.stats.comparison import Difference

_OF_PROMPTS: Final = (AGREEMENT.name, SIDE_BIAS.name, REPEAT_FLIP_RATE.name)


@dataclass(frozen=True, slots=True)
class MeasureChange:
    """A measure of a variant, against the first variant.

    Attributes:
        first_and_own: the values of the first variant, and of this one; ``None`` where it was not
            measured.
        pair: the two compared, oriented so that a difference above 0 is better.
    """

    measure: Measure
    first_and_own: tuple[float | None, float | None]
    pair: ranks.Pair

    @property
    def verdict(self) -> str:
        """``better``, ``worse``, or an empty text where it cannot be told."""
        if not self.pair.apart or self.pair.difference is None:
            return ""
        return "better" if self.pair.difference > 0 else "worse"

    @property
    def difference(self) -> float | None:
        """The value of the variant minus that of the first, as the measure counts."""
        of = self.pair.difference
        return None if of is None else _sign(self.measure) * of + 0.0

    @property
    def ends(self) -> tuple[float, float] | None:
        """The interval of the difference at 95%, over clusters, not adjusted."""
        if self.pair.interval is None:
            return None
        low, high = sorted(_sign(self.measure) * end for end in self.pair.interval)
        return low, high


@dataclass(frozen=True, slots=True)
class VariantChange:
    """A variant against the first one, measure by measure."""

    name: str
    first: str
    changes: tuple[MeasureChange, ...]

    def moved(self, verdict: str) -> list[MeasureChange]:
        """The measures with this verdict."""
        return [change for change in self.changes if change.verdict == verdict]

    def sentence(self, unit: str) -> str:
        """Whether it is better, in a sentence; ``unit``: what a cluster is, in the plural."""
        better, worse = self.moved("better"), self.moved("worse")
        if better and worse:
            return (
                f"{self.name} is better than {self.first} in {_moves(better)}, and worse in "
                f"{_moves(worse)}"
            )
        if better or worse:
            word = "better" if better else "worse"
            return f"{self.name} is {word} than {self.first}: {_moves(better or worse)}"
        return f"{self.name} and {self.first} cannot be told apart{self._settled_by(unit)}"

    def _settled_by(self, unit: str) -> str:
        """On how many clusters, and how many like these would settle the first measure."""
        change = next((c for c in self.changes if c.pair.difference is not None), None)
        if change is None:
            return ": nothing is known of both"
        clusters = f" on {change.pair.clusters:,} {unit}"
        if not any(other.pair.differ for other in self.changes):
            return f"{clusters}: they answer alike in all of them"
        name = word_of(change.measure)
        if change.pair.clusters < 2:
            return f"{clusters}: there are too few"
        if change.pair.needed is None:
            return f"{clusters}: in {name} they are so close that more like these would not help"
        needed = f"about {change.pair.needed:,} like these would show this difference in {name}"
        return f"{clusters}; {needed} in four of five cases"


class Variant:
    """A variant of a judge, with what it was asked.

    Attributes:
        name: what it is called.
        cell: its judgments.
        estimates: of them.
    """

    def __init__(self, name: str, cell: Cell, estimates: Sequence[Estimate]) -> None:
        self.name = name
        self.cell = cell
        self.estimates = estimates
        self._rows: dict[str, Mapping[str, Sequence[float]] | None] = {}

    def comparable(self, measure: Measure) -> Estimate | None:
        """The pooled estimate, if it can be compared; no slot's that may be a content's."""
        estimate = find_estimate(self.estimates, measure.name)
        if estimate is None or estimate.value is None or estimate.anew is None:
            return None
        return None if confounded(estimate.flags) else estimate

    def value(self, measure: Measure) -> float | None:
        """The value of a measure that can be compared."""
        estimate = self.comparable(measure)
        return None if estimate is None else estimate.value

    def rows(self, measure: Measure) -> Mapping[str, Sequence[float]] | None:
        """By cluster what the value of a measure is made of; ``None`` where none is known."""
        if measure.name not in self._rows:
            estimate = self.comparable(measure)
            self._rows[measure.name] = None if estimate is None else _rows(estimate)
        return self._rows[measure.name]


def against_the_first(cells: Mapping[str, tuple[Cell, Sequence[Estimate]]]) -> list[VariantChange]:
    """Each variant but the first against the first.

    Args:
        cells: by the name of a variant its judgments and estimates, all of one suite.
    """
    first, *others = (Variant(name, cell, estimates) for name, (cell, estimates) in cells.items())
    return in_one_family([(first, other) for other in others])


def in_one_family(pairs: Sequence[tuple[Variant, Variant]]) -> list[VariantChange]:
    """The second variant of each pair against the first one, all of one suite.

    All measures of all pairs are one family of p-values.
    """
    measures = _measures([variant for pair in pairs for variant in pair])
    compared = [_compared(first, own, measure) for first, own in pairs for measure in measures]
    decided = iter(ranks.family(compared))
    return [
        VariantChange(
            own.name,
            first.name,
            tuple(
                MeasureChange(measure, (first.value(measure), own.value(measure)), next(decided))
                for measure in measures
            ),
        )
        for first, own in pairs
    ]


def _measures(variants: Sequence[Variant]) -> list[Measure]:
    """The measures that a variant has, the one that ranks judges first."""
    of_suite = variants[0].cell.measures
    ranking = [measure for measure in of_suite if measure.ranked]
    of_prompts = [m for name in _OF_PROMPTS for m in of_suite if m.name == name]
    return [
        measure
        for measure in {measure.name: measure for measure in (*ranking, *of_prompts)}.values()
        if any(variant.comparable(measure) is not None for variant in variants)
    ]


def _rows(estimate: Estimate) -> dict[str, list[float]]:
    """By cluster the sums of what the value is made of, and last the number of units."""
    assert estimate.anew is not None, "an estimate that is not compared"
    data = estimate.anew()
    rows: dict[str, list[float]] = {}
    for cluster, *unit in zip(data.clusters, *map(list, data.columns), strict=True):
        row = rows.setdefault(str(cluster), [0.0] * (len(unit) + 1))
        for place, number in enumerate((*unit, 1.0)):
            row[place] += float(number)
    return rows


def _compared(
    first: Variant, own: Variant, measure: Measure
) -> tuple[ranks.Pair, Difference | None]:
    estimate, of_own, of_first = own.comparable(measure), own.rows(measure), first.rows(measure)
    if estimate is None or of_own is None or of_first is None:
        return ranks.Pair(own.name, first.name, None, None, 1.0, 0, 0), None
    rows = {own.name: of_own, first.name: of_first}
    value_of = _value_of(measure, estimate)
    return ranks.compared(own.name, first.name, rows, value_of, seed=own.cell.seed)


def _value_of(measure: Measure, estimate: Estimate) -> ranks.ValueOf:
    """From summed rows to the value of a measure, higher if better."""
    assert estimate.anew is not None, "an estimate that is not compared"
    compute, sign = estimate.anew().value, _sign(measure)
    if compute is share_of:
        return ranks.share if sign > 0 else ranks.shortfall
    return lambda sums: sign * compute(*(sums[..., place] for place in range(sums.shape[-1])))


def _sign(measure: Measure) -> int:
    return 1 if measure.floor else -1


def word_of(measure: Measure) -> str:
    """What a measure is called in a sentence, and above its column."""
    return measure.brief.name if measure.brief else measure.name


def _moves(changes: Sequence[MeasureChange]) -> str:
    """``agreement 0.717 -> 0.900, side bias 0.210 -> 0.010``."""
    return ", ".join(
        f"{word_of(change.measure)} "
        + " -> ".join(number_text(value or 0.0) for value in change.first_and_own)
        for change in changes
    )
