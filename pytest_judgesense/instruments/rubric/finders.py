"""The replies behind a number on grades. Pure.

Finders get whole replies and look at grades in derived cells (see `grades`); they return the
replies that hold these grades.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any

import numpy as np

from pytest_judgesense.instruments.paraphrase.estimators import flips as differing
from pytest_judgesense.instruments.rubric.grades import (
    APART,
    SYSTEM,
    WORDS,
    by_criterion,
    grades_said,
    marked,
    named,
    overall,
    scores,
)
from pytest_judgesense.instruments.rubric.halo import worst_pair
from pytest_judgesense.instruments.rubric.separability import system_pairs
from pytest_judgesense.measures.cell import Cell, answered
from pytest_judgesense.measures.evidence import Find, Group
from pytest_judgesense.measures.evidence import repeats as differing_repeats
from pytest_judgesense.measures.rates import disagree
from pytest_judgesense.trial import grouped

# Of each end of a scale on which no single reply is at fault.
_AT_EACH_END = 10


def _whole(cell: Cell, groups: Iterable[Group]) -> list[Group]:
    """The replies behind grades, each group once."""
    by_id = {judgment.trial.id: judgment for judgment in cell.judgments}
    ids_of_groups = {
        tuple(judgment.trial.id.rpartition(APART)[0] for judgment in group): None
        for group in groups
    }
    return [tuple(by_id[name] for name in ids) for ids in ids_of_groups]


def flips(cell: Cell, condition: Mapping[str, Any]) -> list[Group]:
    """Replies under two wordings whose grades differ."""
    groups = _whole(cell, differing(named(cell, condition), {}))
    two = str(condition.get("template_pair", "")).split("~")
    if len(two) < 2:
        return groups
    return [
        group for group in groups if {judgment.trial.template for judgment in group} == set(two)
    ]


def repeated(cell: Cell, condition: Mapping[str, Any]) -> list[Group]:
    """Replicates whose grades differ."""
    return _whole(cell, differing_repeats(named(cell, condition), {}))


def over_the_mark(cell: Cell, _: Mapping[str, Any]) -> list[Group]:
    """Replies on one output that put it on both sides of the mark."""
    sides = marked(cell)
    groups = sides.judged(sides.alike("order", "replicate")) if sides else ()
    return _whole(cell, (group for group in groups if disagree(*group)))


def _with_grade(grade: Callable[[Cell], str | None]) -> Find:
    """A finder of replies with a grade of each criterion, those with most of them first."""

    def find(cell: Cell, condition: Mapping[str, Any]) -> list[Group]:
        name = condition.get("criterion")
        counts: Counter[str] = Counter()
        for part in by_criterion(cell).values() if name is None else [named(cell, condition)]:
            graded = filter(answered, part.judgments)
            wanted = grade(part)
            counts.update(j.trial.id.rpartition(APART)[0] for j in graded if j.verdict == wanted)
        return _ranked(cell, counts)

    return find


def _usual(cell: Cell) -> str | None:
    grades = Counter(judgment.verdict for judgment in cell.judgments if answered(judgment))
    return max(grades, key=grades.__getitem__, default=None)


at_the_ceiling = _with_grade(lambda cell: cell.design.labels[-1])
most_frequent = _with_grade(_usual)


def _ranked(cell: Cell, counts: Mapping[str, float]) -> list[Group]:
    """The replies with the highest counts, as single calls."""
    counted = [judgment for judgment in cell.judgments if counts.get(judgment.trial.id)]
    return [(judgment,) for judgment in sorted(counted, key=lambda j: -counts[j.trial.id])]


def lacking(cell: Cell, condition: Mapping[str, Any]) -> list[Group]:
    """Replies without a grade that was asked for."""
    derived = named(cell, condition)
    return _whole(cell, ((judgment,) for judgment in derived.judgments if not answered(judgment)))


def not_apart(cell: Cell, _: Mapping[str, Any]) -> list[Group]:
    """Replies on the two systems with the least significant difference, by item of a cluster."""
    together = [pair for pair in system_pairs(cell) if not pair.apart]
    if not together:
        return []
    pair = max(together, key=lambda pair: pair.p)
    place = attrgetter("trial.cluster", "trial.template", "trial.replicate")
    groups = grouped(cell.judgments, place).values()
    by_system = [
        {judgment.trial.condition.get(SYSTEM): judgment for judgment in some} for some in groups
    ]
    both: list[Group] = [
        (by[pair.first], by[pair.second]) for by in by_system if {*pair[:2]} <= {*by}
    ]
    return both


def alike_in_pair(cell: Cell, condition: Mapping[str, Any]) -> list[Group]:
    """Replies that grade two criteria alike, those that people grade most unlike first.

    The criteria are those of the condition, else those of the worst pair.
    """
    names = list(by_criterion(cell))
    pair = str(condition.get("criterion_pair", "")).split("~")
    if len(pair) != 2:
        worst = worst_pair(cell)
        pair = [] if worst is None else [worst.first, worst.second]
    if not {*pair} <= {*names} or not pair:
        return []
    table, (first_criterion, other) = scores(cell), map(names.index, pair)
    apart = np.abs(np.nan_to_num(table.human[:, first_criterion] - table.human[:, other]))
    even = np.flatnonzero(table.judge[:, first_criterion] == table.judge[:, other])
    first = even[np.argsort(-apart[even], kind="stable")]
    return [(cell.judgments[position],) for position in table.replies[first].tolist()]


def by_length(cell: Cell, _: Mapping[str, Any]) -> list[Group]:
    """Replies on the longest and the shortest output that have an overall score."""
    design = cell.design
    read = [
        j for j in cell.judgments if not np.isnan(overall(design, grades_said(design, j.verdict)))
    ]
    ranked = sorted(read, key=lambda judgment: float(judgment.trial.condition.get(WORDS, 0)))
    return [(judgment,) for judgment in (*ranked[::-1][:_AT_EACH_END], *ranked[:_AT_EACH_END])]


def far_from_human(cell: Cell, condition: Mapping[str, Any]) -> list[Group]:
    """Replies whose grades are farthest from the human ones."""
    table = scores(cell)
    names = list(by_criterion(cell))
    name = condition.get("criterion")
    columns = [names.index(str(name))] if name in names else list(range(len(names)))
    distances = np.nan_to_num(np.abs(table.judge - table.human)[:, columns]).sum(axis=1)
    read = [cell.judgments[position] for position in table.replies.tolist()]
    far = {judgment.trial.id: float(d) for judgment, d in zip(read, distances, strict=True)}
    return _ranked(cell, far)
