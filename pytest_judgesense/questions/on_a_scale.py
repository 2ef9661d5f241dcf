"""What judges say as numbers of one scale: grades and scores beside their labels, item by item.

A number is the place of a verdict on the scale, as the instrument of the suite has it, in steps of
the scale or units of the score. Of an item it is the mean over the trials that all judges were
asked and that all of them answered, so that judges differ in nothing but what they said.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations
from typing import Any

from pytest_judgesense.estimate import Clustered, compact
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.registry import Registry
from pytest_judgesense.stats.clustered import clustered_mean
from pytest_judgesense.trial import Design, grouped, is_number, score_text


def is_on_scale(design: Design) -> bool:
    """Whether verdicts are numbers: scores, grades by criterion, or three labels in order."""
    several = design.ordinal and not design.pairwise and len(design.labels) > 2
    return design.score is not None or bool(design.criteria) or several


@dataclass(frozen=True)
class NumberScale:
    """The numbers of a suite.

    Attributes:
        low: the lowest: of whole grades the number itself, of words 0.
        high: the highest.
        is_score: whether any number between them is one.
        words: the labels where these are no whole numbers in a row; empty for numbers.
    """

    low: float
    high: float
    is_score: bool = False
    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, design: Design) -> NumberScale:
        """That of the verdicts of a design, which are on one."""
        if design.score is not None:
            return cls(*design.score, is_score=True)
        labels = design.scale
        if all(map(is_number, labels)):
            low, high = int(labels[0]), int(labels[-1])
            if high - low == len(labels) - 1:
                return cls(float(low), float(high))
        return cls(0.0, float(len(labels) - 1), words=labels)

    @property
    def name(self) -> str:
        """Such as ``grades of 1 to 10``."""
        ends = f"{score_text(self.low)} to {score_text(self.high)}"
        ends = f"{self.words[0]} to {self.words[-1]}" if self.words else ends
        return f"{'scores' if self.is_score else 'grades'} of {ends}"

    @property
    def unit(self) -> str:
        """What a difference of 1 is one of."""
        return f"on {self.name.partition(' of ')[2]}" if self.is_score else "steps"

    def number(self, share: float) -> float:
        """The number of a place on the scale, from 0 to 1."""
        return self.low + share * (self.high - self.low)


def common_scale(designs: Sequence[Design]) -> NumberScale | None:
    """The scale of all of these; ``None`` if their numbers mean different things.

    Whole grades are the same numbers, whichever of them a log happens to hold.
    """
    if not all(map(is_on_scale, designs)):
        return None
    scales = [NumberScale.of(design) for design in designs]
    if len({*scales}) > 1 and any(scale.is_score or scale.words for scale in scales):
        return None
    low, high = min(scale.low for scale in scales), max(scale.high for scale in scales)
    return replace(scales[0], low=low, high=high)


@dataclass(frozen=True)
class NumberedItem:
    """An item with what each judge says of it.

    Attributes:
        numbers: of the judges, in their order.
        label: the right number; NaN without one.
    """

    id: str
    cluster: str
    numbers: tuple[float, ...]
    label: float


@dataclass(frozen=True)
class MeanShift:
    """How far a judge lies above another in the mean, over items.

    Attributes:
        value: in units of the scale; below 0 where it lies below.
        interval: over clusters; ``None`` with fewer than two.
    """

    first: str
    second: str
    value: float
    items: int
    interval: Clustered | None
    scale: NumberScale

    @property
    def ends(self) -> str:
        """The interval in brackets; nothing without one."""
        if self.interval is None:
            return ""
        return f"[{_signed(self.interval.lower)}, {_signed(self.interval.upper)}]"

    def to_dict(self) -> dict[str, Any]:
        """As JSON values, unrounded."""
        ends = self.interval
        return {
            "first": self.first,
            "second": self.second,
            "value": self.value,
            "interval": [ends.lower, ends.upper] if ends else None,
            "items": self.items,
        }

    @property
    def sentence(self) -> str:
        """Such as ``j2 less j1: -1.00 [-1.00, -1.00] steps, mean over 200 items``."""
        ends = f" {self.ends}" if self.ends else ""
        return (
            f"{self.second} less {self.first}: {_signed(self.value)}{ends} {self.scale.unit}, "
            f"mean over {self.items:,} item{'s' * (self.items != 1)}"
        )


def _signed(number: float) -> str:
    return f"+{compact(number)}" if number > 0 else compact(number)


def numbered_items(cells: Sequence[Cell], registry: Registry) -> tuple[NumberedItem, ...]:
    """The items that all judges of some cells gave numbers, which have a `common_scale`."""
    stated = [_stated(cell, registry) for cell in cells]
    labels = {trial: label for cell in cells for trial, label in _labels(cell, registry).items()}
    common = reduce(lambda ids, of: ids & of.keys(), stated[1:], {*stated[0]})
    trials = [j.trial for j in cells[0].judgments if j.trial.id in common]
    return tuple(
        NumberedItem(
            item,
            of_item[0].cluster,
            tuple(math.fsum(of[trial.id] for trial in of_item) / len(of_item) for of in stated),
            next((labels[trial.id] for trial in of_item if trial.id in labels), math.nan),
        )
        for item, of_item in grouped(trials, lambda trial: trial.item).items()
    )


def _stated(cell: Cell, registry: Registry) -> dict[str, float]:
    """The number that the judge gave, by trial, for trials with one."""
    score, design = registry.kinds[cell.design.kind].score, cell.design
    answers = ((j.trial.id, j.verdict if j.chosen is None else j.chosen) for j in cell.judgments)
    return _numbers(design, ((id_, score(design, a)) for id_, a in answers if a is not None))


def _labels(cell: Cell, registry: Registry) -> dict[str, float]:
    """The number that is right, by trial; none where people labelled an item that was chosen."""
    right_score, design = registry.kinds[cell.design.kind].right_score, cell.design
    trials = (judgment.trial for judgment in cell.judgments if not judgment.trial.picked)
    return _numbers(design, ((trial.id, right_score(design, trial)) for trial in trials))


def _numbers(design: Design, places: Iterable[tuple[str, float]]) -> dict[str, float]:
    scale = NumberScale.of(design)
    return {trial: scale.number(place) for trial, place in places if not math.isnan(place)}


def mean_shifts(
    judges: Sequence[str], items: Sequence[NumberedItem], scale: NumberScale
) -> Iterator[MeanShift]:
    """How far every two judges lie apart in the mean; none without items."""
    clusters = [item.cluster for item in items]
    for a, b in combinations(range(len(judges)), 2) if items else ():
        differences = [item.numbers[b] - item.numbers[a] for item in items]
        yield MeanShift(
            judges[a],
            judges[b],
            math.fsum(differences) / len(items),
            len(items),
            clustered_mean(differences, clusters),
            scale,
        )


def mean_shift(first: Cell, second: Cell, registry: Registry) -> MeanShift | None:
    """How far the second judge lies above the first; ``None`` where verdicts are no numbers."""
    scale = common_scale([first.design, second.design])
    if scale is None:
        return None
    items = numbered_items([first, second], registry)
    return next(mean_shifts((first.judge, second.judge), items, scale), None)
