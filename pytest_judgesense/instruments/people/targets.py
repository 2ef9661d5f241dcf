r"""What people label and a judge answers, as arrays: a verdict, or grades. Pure.

The label of an item is the one that is stated, else that of most people; a tie of people is none.
The grade of a criterion is that nearest to the mean of theirs, halves upwards. Where nobody is
named, the labels of the items stand for one person's: the label. Of pairs labels and
answers are contents (``1``, ``2``, ``tie``), whatever the order in which they were shown.

For rates an item has a *share*, of the judge and of people, of a label c::

    share of the judge = mean over its verdicts of 1[verdict = c]
    share of people    = 1[label = c]; where people tie, 1 / t if c is one of their t labels

So an item that was drawn to be labelled counts, whatever people say of it. Of content 1 of a pair,
a tie is a half: its win rate. Of a scale of grades, the share is the mean place on it, from 0 for
the first grade to 1 for the last.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import Missing
from pytest_judgesense.instruments.people.measures import AGAINST_LABEL
from pytest_judgesense.instruments.rubric.grades import by_criterion
from pytest_judgesense.measures.cell import Cell, missing_of, once_a_cell
from pytest_judgesense.stats.inputs import first_positions
from pytest_judgesense.suites.space import position
from pytest_judgesense.trial import ABSTAIN, LABEL, TIE, Condition, Judgment

_Codes: TypeAlias = NDArray[np.int32]
_Shares: TypeAlias = NDArray[np.float64]

# Means of decimals that end in a half are halves.
_HALF_UP: Final = 0.5 + 1e-9
_CONTENTS: Final = ("1", "2")


@dataclass(frozen=True)
class Target:
    """What people label: the verdict of a suite, or a criterion.

    Attributes:
        name: of the criterion; `LABEL` for the one verdict.
        cell: the judgments, one for each of the whole cell.
        labels: in their order; those that others gave follow.
        scale: whether they are a scale of grades.
        answers: of each judgment, as its place among the labels; -1 for none.
        items: the item of each judgment, 0 to the number of items less 1.
        stated: of each item the label that holds, as its place; -1 for none.
        persons: who labelled items.
        grades: of each item and person what they say: a place among the labels, on a scale of
            numbers between two of them too; NaN for nothing. Shape (items, persons).
    """

    name: str
    cell: Cell
    labels: tuple[str, ...]
    scale: bool
    answers: _Codes
    items: _Codes
    stated: _Codes
    persons: tuple[str, ...]
    grades: _Shares

    @property
    def reference(self) -> str:
        """Whom the judge is held against, in words."""
        return "people" if self.persons else "the label"

    @property
    def flags(self) -> tuple[str, ...]:
        """Those of its estimates."""
        return () if self.persons else (AGAINST_LABEL,)

    @property
    def condition(self) -> Condition:
        """That of its estimates."""
        return {} if self.name == LABEL else {"criterion": self.name}

    @property
    def label(self) -> _Codes:
        """The label of each judgment's item, as its place; -1 for none."""
        return self.stated[self.items]

    @property
    def compared(self) -> NDArray[np.bool_]:
        """The judgments that have a verdict, and a label of people."""
        return (self.answers >= 0) & (self.label >= 0)

    @property
    def clusters(self) -> _Codes:
        """The cluster of each judgment, as a code."""
        return self.cell.cluster_codes[0]

    @cached_property
    def first_judgments(self) -> NDArray[np.intp]:
        """The first judgment of each item."""
        return first_positions(self.items)

    @cached_property
    def by_person(self) -> _Codes:
        """Of each item and person the nearest label, halves upwards; -1 for none."""
        codes = np.floor(np.nan_to_num(self.grades, nan=-1.0) + _HALF_UP)
        return codes.astype(np.int32)

    @property
    def missing(self) -> Missing:
        """The replies on labelled items that state no verdict."""
        outcomes = self.cell.outcomes[self.label >= 0]
        return missing_of(outcomes)

    def first(self, item: int) -> Judgment:
        """A judgment of an item."""
        return self.cell.judgments[int(self.first_judgments[item])]

    def judged(self, place: Callable[[_Codes], _Shares]) -> _Shares:
        """Of each item the mean of a number of its verdicts; NaN without a verdict."""
        count = self.stated.size
        numbers = place(self.answers)
        there = (self.answers >= 0) & ~np.isnan(numbers)
        sizes = np.bincount(self.items[there], minlength=count)
        sums = np.bincount(self.items[there], numbers[there], count)
        return np.asarray(sums / np.where(sizes > 0, sizes, np.nan))

    def shares(self, label: str | None) -> tuple[_Shares, _Shares]:
        """Of each item the share of the judge and of people (see the module); NaN for none.

        ``label``: ``None`` for the mean place on a scale.
        """
        if label is None:
            most = len(self.labels) - 1
            stated = np.where(self.stated >= 0, self.stated / most, np.nan)
            means = _means(self.grades) / most
            means = np.where(np.isnan(means), stated, means)
            return self.judged(lambda answers: answers / most), means
        worth = np.array([self._worth(label, other) for other in self.labels])
        people = np.where(self.stated >= 0, worth[self.stated], np.nan)
        for item in np.flatnonzero((self.stated < 0) & (self.by_person >= 0).any(axis=1)).tolist():
            modes = _modes(self.by_person[item])
            people[item] = float(np.mean(worth[modes]))
        return self.judged(lambda answers: worth[answers]), people

    def votes(self, label: str) -> _Shares:
        """What each person says of each item, as the share of a label; NaN for nothing.

        Shape (items, persons).
        """
        worth = [self._worth(label, other) for other in self.labels]
        return np.array([*worth, math.nan])[self.by_person]  # the last one is that of no label

    @cached_property
    def is_stated_otherwise(self) -> NDArray[np.bool_]:
        """Of each item whether its label is stated, and not that of most people who labelled it."""
        stated = np.zeros(self.stated.size, dtype=np.bool_)
        for item in np.flatnonzero(self.stated >= 0).tolist():
            has_labels = bool((self.by_person[item] >= 0).any())
            of_people = _modes(self.by_person[item]) if has_labels else []
            stated[item] = of_people != [self.stated[item]]
        return stated

    def _worth(self, label: str, other: str) -> float:
        if other == ABSTAIN:
            return math.nan
        if other == TIE and label in _CONTENTS and self.cell.design.pairwise:
            return 0.5
        return float(label == other)


def _means(grades: _Shares) -> _Shares:
    """The mean of the numbers in each row; NaN for none."""
    there = ~np.isnan(grades)
    sizes = there.sum(axis=1)
    sums = np.where(there, grades, 0.0).sum(axis=1)
    return np.asarray(sums / np.where(sizes > 0, sizes, np.nan))


def _modes(codes: _Codes) -> list[int]:
    """The codes that occur most often; -1 counts as none."""
    counts = Counter(code for code in codes.tolist() if code >= 0)
    most = max(counts.values())
    return [code for code, count in counts.items() if count == most]


@once_a_cell
def _people_of_items(cell: Cell) -> tuple[_Codes, list[Mapping[str, Mapping[str, str]]]]:
    """The item of each judgment, and what people say of each item."""
    first = first_positions(cell.items)
    return cell.items, [cell.judgments[place].trial.people for place in first.tolist()]


@once_a_cell
def targets_or_label(cell: Cell) -> tuple[Target, ...]:
    """What people label in a cell; else the items' own labels, if they have any."""
    return targets(cell) or _of_label(cell)


def _of_label(cell: Cell) -> tuple[Target, ...]:
    """The target that nobody but the label speaks of."""
    labelled = any(judgment.trial.label is not None for judgment in cell.judgments)
    design = cell.design
    if not labelled or design.criteria or design.score or not design.labels:
        return ()
    nobody: Sequence[Mapping[str, str]] = [{}] * (int(cell.items.max()) + 1)
    return (_target(LABEL, cell, cell.items, nobody),)


@once_a_cell
def targets(cell: Cell) -> tuple[Target, ...]:
    """What people label in a cell; empty if they label nothing, and of scores, which are none."""
    if cell.design.score is not None or not any(
        judgment.trial.people for judgment in cell.judgments
    ):
        return ()
    items, people = _people_of_items(cell)
    parts = by_criterion(cell) if cell.design.criteria else {LABEL: cell}
    of_people = {
        name: [labels_of_item.get(name, {}) for labels_of_item in people] for name in parts
    }
    return tuple(
        _target(name, part, items, of_people[name])
        for name, part in parts.items()
        if any(of_people[name])
    )


def _target(
    name: str, part: Cell, items: _Codes, labels_by_item: Sequence[Mapping[str, str]]
) -> Target:
    persons = tuple(dict.fromkeys(person for of_item in labels_by_item for person in of_item))
    codes, words = part.coded("answer")
    stated: list[str] = []
    if name == LABEL:
        first = first_positions(items).tolist()
        stated = [part.judgments[place].trial.label or "" for place in first]
    own = _CONTENTS if part.design.pairwise else part.design.labels
    scale = len(own) > 2 and (part.design.ordinal or name != LABEL)
    words_used = (
        *words,
        *(label for of_item in labels_by_item for label in of_item.values()),
        *stated,
    )
    other = (
        () if scale else tuple(word for word in dict.fromkeys(words_used) if word not in ("", *own))
    )
    labels = (*own, *other)
    place = {label: code for code, label in enumerate(labels)}
    grades = np.array(
        [
            [position(of_item.get(person), labels) for person in persons]
            for of_item in labels_by_item
        ]
    ).reshape(len(labels_by_item), len(persons))
    agreed = [position(label, labels) for label in stated] if stated else _means(grades).tolist()
    answers = np.array([*(place.get(word, -1) for word in words), -1], dtype=np.int32)
    return Target(
        name,
        part,
        labels,
        scale,
        answers[codes],
        items,
        np.array([_nearest(agreed_place) for agreed_place in agreed], dtype=np.int32),
        persons,
        grades,
    )


def _nearest(place: float) -> int:
    """The code of the label nearest to a place, halves upwards; -1 for NaN."""
    return -1 if math.isnan(place) else math.floor(place + _HALF_UP)
