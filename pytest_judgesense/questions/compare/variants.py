"""Variants of one judge, such as the same model under several prompts, each against the first.

Pure. What a prompt may make better or worse are the measures that ``judgesense init`` has its
suites hold against the version before: side bias, agreement with the labels, repeat flips; on
suites of other kinds also the measure that ranks their judges. Two variants are compared as the
judges of a session are (`stats.ranks`): on the clusters that both were asked, with intervals over
whole clusters, because variants are no two measurements of one judge that could be swapped.

All measures of all variants but the first are one family, with p-values by Holm: if no prompt
changes anything, one is called better or worse in at most 5% of comparisons. A measure that is not
known of one of the two counts in the family with a p-value of 1.
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


def against_the_first(cells: Mapping[str, tuple[Cell, Sequence[Estimate]]]) -> list[VariantChange]:
    """Each variant but the first against the first.

    Args:
        cells: by the name of a variant its judgments and estimates, all of one suite.
    """
    first, *others = cells
    measures = _measures(cells)
    rows = {
        measure.name: {
            name: _rows(estimate)
            for name, (_, estimates) in cells.items()
            if (estimate := _known(estimates, measure)) is not None
        }
        for measure in measures
    }
    compared = [
        _compared(name, first, rows[measure.name], measure, cells)
        for name in others
        for measure in measures
    ]
    pairs = iter(ranks.family(compared))

    def value(name: str, measure: Measure) -> float | None:
        estimate = _known(cells[name][1], measure)
        return None if estimate is None else estimate.value

    return [
        VariantChange(
            name,
            first,
            tuple(
                MeasureChange(m, (value(first, m), value(name, m)), next(pairs)) for m in measures
            ),
        )
        for name in others
    ]


def _measures(cells: Mapping[str, tuple[Cell, Sequence[Estimate]]]) -> list[Measure]:
    """The measures that a variant has, the one that ranks judges first."""
    of_suite = next(iter(cells.values()))[0].measures
    ranking = [measure for measure in of_suite if measure.ranked]
    of_prompts = [m for name in _OF_PROMPTS for m in of_suite if m.name == name]
    return [
        measure
        for measure in {measure.name: measure for measure in (*ranking, *of_prompts)}.values()
        if any(_known(estimates, measure) for _, estimates in cells.values())
    ]


def _known(estimates: Sequence[Estimate], measure: Measure) -> Estimate | None:
    """The pooled estimate, if it can be compared; of a slot only what tells it from a content."""
    estimate = find_estimate(estimates, measure.name)
    if estimate is None or estimate.value is None or estimate.anew is None:
        return None
    return None if confounded(estimate.flags) else estimate


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
    name: str,
    first: str,
    rows: Mapping[str, Mapping[str, Sequence[float]]],
    measure: Measure,
    cells: Mapping[str, tuple[Cell, Sequence[Estimate]]],
) -> tuple[ranks.Pair, Difference | None]:
    if not {name, first} <= rows.keys():
        return ranks.Pair(name, first, None, None, 1.0, 0, 0), None
    estimate = _known(cells[name][1], measure)
    assert estimate is not None, "a measure without rows"
    return ranks.compared(name, first, rows, _value_of(measure, estimate), seed=cells[name][0].seed)


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
