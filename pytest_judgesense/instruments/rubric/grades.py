"""The grades of replies as cells of their own, and as arrays.

A trial is one reply, and its judgment is one line of a log, for any number of grades. Measures of
grades use *derived* cells: one for each criterion, with its grade as the verdict and the human
grade as the label; one of the overall score; one of the side of the pass mark. A missing grade is
`Unparsed` there, so it is counted like a missing reply.

With g the place of a grade on its scale of L labels, from 0::

    share         = g / (L - 1)
    overall score = sum w share / sum w   w the weights; without a grade of each there is none
    overall grade = the label nearest to it on the longest scale, halves upwards
    passes        = overall score >= pass_mark
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.instruments.rubric.replies import grades_in
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.trial import Criterion, Design, Judgment, Outcome, Trial, Unparsed, Verdict

OVERALL: Final = "overall"
# Parts a derived trial from the criterion that it is about: no id of a trial holds it.
APART: Final = "#"
# The parts of a trial's condition that describe its item.
SYSTEM, WORDS, HUMAN = "system", "words", "human."
MARK_LABELS: Final = ("fail", "pass")
_ROUNDING: Final = 1e-9

_Floats = NDArray[np.float64]


def criteria_of(design: Design) -> tuple[Criterion, ...]:
    """The criteria of a design; of one overall score the score itself."""
    return design.criteria or (Criterion(OVERALL, design.labels),)


def overall_labels(design: Design) -> tuple[str, ...]:
    """The scale of overall grades: the longest one."""
    return max((one.labels for one in criteria_of(design)), key=len)


def place(grade: object, labels: Sequence[str]) -> float:
    """The position on a scale as a share; NaN for a value that is not a grade of it."""
    return labels.index(grade) / (len(labels) - 1) if grade in labels else math.nan


def grade_at(share: float, labels: Sequence[str]) -> str | None:
    """The label nearest to a share of the way up, halves upwards; ``None`` for NaN."""
    if math.isnan(share):
        return None
    return labels[math.floor(share * (len(labels) - 1) + 0.5 + _ROUNDING)]


def _weighted(design: Design, shares: Iterable[float]) -> float:
    weights = [one.weight for one in criteria_of(design)]
    return sum(w * s for w, s in zip(weights, shares, strict=True)) / sum(weights)


def said(design: Design, judgment: Judgment) -> Mapping[str, Any]:
    """The grades of a judgment by criterion."""
    verdict = judgment.verdict
    if verdict is None:
        return {}
    return grades_in(verdict) if design.criteria else {OVERALL: verdict}


def human(design: Design, trial: Trial) -> Mapping[str, Any]:
    """The human grades of a trial's item by criterion."""
    of = {one.name: trial.condition.get(HUMAN + one.name) for one in criteria_of(design)}
    return {name: str(grade) for name, grade in of.items() if grade is not None}


def overall(design: Design, grades: Mapping[str, Any]) -> float:
    """The overall score of grades by criterion, from 0 to 1; NaN without a grade of each."""
    return _weighted(design, (place(grades.get(c.name), c.labels) for c in criteria_of(design)))


def _derived(
    cell: Cell,
    name: str,
    labels: Sequence[str],
    grade: Callable[[Mapping[str, Any]], str | None],
) -> Cell:
    """The cell of values that ``grade`` derives from the grades of replies and people."""
    design = cell.design

    def judgment_of(judgment: Judgment) -> Judgment:
        trial, outcome = judgment.trial, judgment.outcome
        found: Outcome = outcome
        if isinstance(outcome, Verdict):
            given = grade(said(design, judgment))
            found = Unparsed(f"missing: {name}") if given is None else Verdict(given)
        derived = replace(
            trial,
            id=f"{trial.id}{APART}{name}",
            item=f"{trial.item}{APART}{name}",
            label=grade(human(design, trial)),
        )
        return replace(judgment, trial=derived, outcome=found, chosen=None)

    return replace(
        cell,
        judgments=tuple(map(judgment_of, cell.judgments)),
        design=replace(
            design,
            labels=tuple(labels),
            ordinal=True,
            criteria=(),
            pass_mark=None,
            cut=design.cut if design.cut in labels[1:] else None,
        ),
    )


def parts(cell: Cell) -> Mapping[str, Cell]:
    """The cell of each criterion by name, that of the overall grade last."""
    return cell.once("grades by criterion", lambda: _parts(cell))


def _parts(cell: Cell) -> dict[str, Cell]:
    def one(criterion: Criterion) -> Cell:
        labels = criterion.labels

        def grade(grades: Mapping[str, Any]) -> str | None:
            found = grades.get(criterion.name)
            return found if found in labels else None

        return _derived(cell, criterion.name, labels, grade)

    design, labels = cell.design, overall_labels(cell.design)
    found = {criterion.name: one(criterion) for criterion in criteria_of(design)}
    if OVERALL not in found:
        found[OVERALL] = _derived(
            cell, OVERALL, labels, lambda grades: grade_at(overall(design, grades), labels)
        )
    return found


def by_criterion(cell: Cell) -> dict[str, Cell]:
    """The cell of each criterion; of one overall score that alone."""
    return {one.name: parts(cell)[one.name] for one in criteria_of(cell.design)}


def pooled(cell: Cell) -> Cell:
    """The grades of all criteria in one cell; ordinal where all have one scale."""
    return cell.once("all grades", lambda: _pooled(cell))


def _pooled(cell: Cell) -> Cell:
    every = list(by_criterion(cell).values())
    scales = [one.design.labels for one in every]
    labels = tuple(dict.fromkeys(label for scale in scales for label in scale))
    design = replace(every[0].design, labels=labels, ordinal=len(set(scales)) == 1)
    # In the order of the trials, as a cell has them.
    judgments = tuple(
        judgment
        for of_trial in zip(*(one.judgments for one in every), strict=True)
        for judgment in of_trial
    )
    return replace(cell, judgments=judgments, design=design)


def marked(cell: Cell) -> Cell | None:
    """The cell of the side of the pass mark on which a reply puts an output; ``None`` without."""
    mark, design = cell.design.pass_mark, cell.design
    if mark is None:
        return None

    def side(grades: Mapping[str, Any]) -> str | None:
        score = overall(design, grades)
        return None if math.isnan(score) else MARK_LABELS[score >= mark - _ROUNDING]

    return cell.once("sides of the mark", lambda: _derived(cell, "mark", MARK_LABELS, side))


def named(cell: Cell, condition: Mapping[str, Any]) -> Cell:
    """The derived cell that an estimate is taken of, by its condition."""
    name = condition.get("criterion")
    return pooled(cell) if name is None else parts(cell)[str(name)]


class Scores(NamedTuple):
    """Replies that hold at least one grade, as arrays; NaN where a number is missing.

    Attributes:
        given: shares of the judge's grades, shape (replies, criteria).
        human: those of the human grades, likewise.
        overall: the judge's overall scores, shape (replies,); ``human_overall`` those of people.
        words: of the outputs.
        items: the item of each reply; ``clusters`` its cluster, ``systems`` what produced it.
    """

    given: _Floats
    human: _Floats
    overall: _Floats
    human_overall: _Floats
    words: _Floats
    items: tuple[str, ...]
    clusters: tuple[str, ...]
    systems: tuple[str | None, ...]


def scores(cell: Cell) -> Scores:
    """The grades of a cell as arrays."""
    return cell.once("scores", lambda: _scores(cell))


def _scores(cell: Cell) -> Scores:
    design, criteria = cell.design, criteria_of(cell.design)
    read = [one for one in cell.judgments if said(design, one)]

    def shares(of: Callable[[Judgment], Mapping[str, Any]]) -> tuple[_Floats, _Floats]:
        table = [[place(of(one).get(c.name), c.labels) for c in criteria] for one in read]
        shaped = np.array(table, dtype=np.float64).reshape(len(read), len(criteria))
        return shaped, np.array([_weighted(design, row) for row in shaped.tolist()])

    given, whole = shares(lambda one: said(design, one))
    of_people, people_whole = shares(lambda one: human(design, one.trial))
    conditions = [one.trial.condition for one in read]
    return Scores(
        given,
        of_people,
        whole,
        people_whole,
        np.array([float(c.get(WORDS, math.nan)) for c in conditions]),
        tuple(one.trial.item for one in read),
        tuple(one.trial.cluster for one in read),
        tuple(None if c.get(SYSTEM) is None else str(c[SYSTEM]) for c in conditions),
    )


def share_right(judgment: Judgment) -> float | None:
    """The share of a reply's grades that are the human ones; ``None`` without human grades."""
    people = {
        key.removeprefix(HUMAN): str(grade)
        for key, grade in judgment.trial.condition.items()
        if key.startswith(HUMAN)
    }
    if not people:
        return None
    verdict = judgment.verdict or ""
    given: Mapping[str, Any] = {OVERALL: verdict} if OVERALL in people else grades_in(verdict)
    right = [float(given.get(name) == grade) for name, grade in people.items()]
    return sum(right) / len(right)
