"""The grades of replies as separate cells, and as arrays.

A trial is one reply, and its judgment is one line of a log, for any number of grades. Measures of
grades use *derived* cells: one for each criterion, with its grade as the verdict and the human
grade as the label; one of the overall score; one of the side of the pass mark. A missing grade is
`Unparsed` there, so it is counted like a missing reply.

With g the place of a grade on its scale of L labels, from 0::

    share         = g / (L - 1)
    overall score = sum w share / sum w   w the weights; without a grade of each there is none
    overall grade = the label nearest to it on the longest scale, halves upwards
    passes        = overall score >= pass_mark

The human grade of an output is the one that is stated, else the mean of the grades of people, who
may give halves: a share between two labels. As a label it is the nearest one, halves upwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.measures.cell import (
    UNPARSED,
    VERDICT,
    Cell,
    Column,
    in_order_of_names,
    once_a_cell,
)
from pytest_judgesense.measures.derived import derived_cell, in_order_of_appearance
from pytest_judgesense.stats.inputs import Floats, first_positions
from pytest_judgesense.suites.space import grades_in, position
from pytest_judgesense.trial import (
    LABEL,
    Condition,
    Criterion,
    Design,
    Judgment,
    People,
    Trial,
    Unparsed,
    Verdict,
    majority,
)

OVERALL: Final = "overall"
# Parts a derived trial from the criterion that it is about: no id of a trial holds it.
APART: Final = "#"
# The parts of a trial's condition that describe its item.
SYSTEM, WORDS, HUMAN = "system", "words", "human."
# What the grades of a reply have in common.
_OF_REPLIES: Final = ("cluster", "template", "order", "replicate", "has_polarity")
MARK_LABELS: Final = ("fail", "pass")
_ROUNDING: Final = 1e-9


def criteria_of(design: Design) -> tuple[Criterion, ...]:
    """The criteria of a design; of one overall score the score itself."""
    return design.criteria or (Criterion(OVERALL, design.labels),)


def place(grade: object, labels: Sequence[str]) -> float:
    """The position on a scale as a share; NaN for no grade of it, and on a scale of one grade."""
    on_scale = len(labels) > 1 and grade in labels
    return labels.index(grade) / (len(labels) - 1) if on_scale else math.nan


def grade_at(share: float, labels: Sequence[str]) -> str | None:
    """The label nearest to a share of the way up, halves upwards; ``None`` for NaN."""
    if math.isnan(share):
        return None
    return labels[math.floor(share * (len(labels) - 1) + 0.5 + _ROUNDING)]


def passes(score: Any, mark: float) -> Any:
    """Whether a score, or each of an array, is at the mark or above it; both are shares."""
    return score >= mark - _ROUNDING


def grades_said(design: Design, verdict: str | None) -> Mapping[str, Any]:
    """The grades of a verdict by criterion."""
    if verdict is None:
        return {}
    return grades_in(verdict) if design.criteria else {OVERALL: verdict}


def human(
    design: Design, condition: Condition, people: People, label: str | None = None
) -> dict[str, float]:
    """The human grades of an output by criterion, as shares; those that nobody gave are left out.

    Args:
        design: its criteria and their scales.
        condition: that of its trials, which holds the stated grades.
        people: what people said of it.
        label: the grade of one overall score, where a log has it as the label.
    """
    shares: dict[str, float] = {}
    for criterion in criteria_of(design):
        stated = condition.get(HUMAN + criterion.name)
        if stated is None and not design.criteria:
            stated = label
        of_people = people.get(criterion.name if design.criteria else LABEL, {})
        grades = of_people.values() if stated is None else (stated,)
        places = [position(grade, criterion.labels) for grade in grades]
        places = [place for place in places if not math.isnan(place)]
        if places and len(criterion.labels) > 1:
            shares[criterion.name] = math.fsum(places) / len(places) / (len(criterion.labels) - 1)
    return shares


def overall(design: Design, grades: Mapping[str, Any]) -> float:
    """The overall score of grades by criterion, from 0 to 1; NaN without a grade of each."""
    return overall_share(
        design, {criterion.name: _share(criterion, grades) for criterion in criteria_of(design)}
    )


def score_of(design: Design, verdict: str) -> float:
    """The overall score of a verdict, from 0 to 1; NaN without a grade of each criterion."""
    return overall(design, grades_said(design, verdict))


def right_score(design: Design, trial: Trial) -> float:
    """The overall score that people gave, from 0 to 1; NaN without a grade of each criterion."""
    return overall_share(design, human(design, trial.condition, trial.people, trial.label))


def overall_share(design: Design, shares: Mapping[str, float]) -> float:
    """The overall score of shares by criterion, from 0 to 1; NaN without one of each."""
    criteria = criteria_of(design)
    weighted = (criterion.weight * shares.get(criterion.name, math.nan) for criterion in criteria)
    return sum(weighted) / sum(criterion.weight for criterion in criteria)


def _share(criterion: Criterion, grades: Mapping[str, Any]) -> float:
    return place(grades.get(criterion.name), criterion.labels)


# --- grades as arrays -----------------------------------------------------------------------------


class _Statements(NamedTuple):
    """What several statements say, each of which stands on many lines.

    Attributes:
        grades: of each statement by criterion: labels of a judge, shares of people.
        positions: the statement of each judgment of the cell, -1 for none.
    """

    grades: Sequence[Mapping[str, Any]]
    positions: NDArray[np.int32]

    def each(self, read: Callable[[Mapping[str, Any]], float], nothing: float) -> NDArray[Any]:
        """What ``read`` says of the grades, for each judgment."""
        return np.array([*map(read, self.grades), nothing])[self.positions]


@once_a_cell
def _by_judge(cell: Cell) -> _Statements:
    codes, verdicts = cell.coded("verdict")
    return _Statements([grades_said(cell.design, verdict) for verdict in verdicts], codes)


def _conditions(cell: Cell) -> tuple[NDArray[np.int32], list[Condition]]:
    """The condition of each judgment as a code, and the conditions; equal ones may be two."""
    codes, _ = cell.coded("condition", lambda judgment: id(judgment.trial.condition))
    return codes, [
        cell.judgments[position].trial.condition for position in first_positions(codes).tolist()
    ]


@once_a_cell
def _by_people(cell: Cell) -> _Statements:
    def parts_of(judgment: Judgment) -> tuple[object, ...]:
        trial = judgment.trial
        people = id(trial.people) if trial.people else 0
        return id(trial.condition), people, trial.label

    codes, _ = cell.coded("human grades", parts_of)
    trials = [cell.judgments[place].trial for place in first_positions(codes).tolist()]
    return _Statements([human(cell.design, t.condition, t.people, t.label) for t in trials], codes)


class _GradeColumn(NamedTuple):
    """A grade of each reply, as its place on a scale; -1 for none.

    Attributes:
        judge: by the judge, shape (judgments,); ``people``: the nearest to that of people, the same
            shape.
    """

    name: str
    labels: tuple[str, ...]
    judge: NDArray[np.int32]
    people: NDArray[np.int32]


def _column(
    cell: Cell,
    name: str,
    labels: Sequence[str],
    grade: Callable[[Mapping[str, Any]], str | None],
    share: Callable[[Mapping[str, float]], float],
) -> _GradeColumn:
    """The column of what ``grade`` makes of the grades of a reply, ``share`` of those of people."""

    def place_of(label: str | None) -> int:
        return -1 if label is None else labels.index(label)

    by_judge = _by_judge(cell).each(lambda grades: place_of(grade(grades)), -1)
    people = _by_people(cell).each(lambda shares: place_of(grade_at(share(shares), labels)), -1)
    return _GradeColumn(name, tuple(labels), by_judge.astype(np.int32), people.astype(np.int32))


def _judgment_of(judgment: Judgment, grades: _GradeColumn, reply: int) -> Judgment:
    """The judgment of a single grade of a reply."""
    trial, outcome = judgment.trial, judgment.outcome
    by_judge, people = int(grades.judge[reply]), int(grades.people[reply])
    if isinstance(outcome, Verdict):
        missing = Unparsed(f"missing: {grades.name}")
        outcome = missing if by_judge < 0 else Verdict(grades.labels[by_judge])
    derived = replace(
        trial,
        id=f"{trial.id}{APART}{grades.name}",
        item=f"{trial.item}{APART}{grades.name}",
        label=None if people < 0 else grades.labels[people],
    )
    return replace(judgment, trial=derived, outcome=outcome, chosen=None)


def _cell(cell: Cell, columns: Sequence[_GradeColumn], design: Design) -> Cell:
    """The cell of the grades of some columns, reply by reply; its labels hold theirs."""
    labels, count = design.labels, len(columns)

    def coded(read: Callable[[_GradeColumn], NDArray[np.int32]]) -> Column:
        table = [
            np.array([*map(labels.index, column.labels), -1], dtype=np.int32)[read(column)]
            for column in columns
        ]
        return in_order_of_appearance(np.stack(table, axis=1).ravel(), labels)

    def each(name: str) -> Column:
        codes, words = cell.coded(name)
        return np.repeat(codes, count) if count > 1 else codes, words

    def judgment_at(position: int) -> Judgment:
        reply, column = divmod(position, count)
        return _judgment_of(cell.judgments[reply], columns[column], reply)

    verdicts, people = coded(attrgetter("judge")), coded(attrgetter("people"))
    outcomes = np.repeat(cell.outcomes, count)
    outcomes[(outcomes == VERDICT) & (verdicts[0] < 0)] = UNPARSED
    which = np.tile(np.arange(count, dtype=np.int32), len(cell.judgments))
    return derived_cell(
        cell,
        replace(
            design,
            ordinal=len({column.labels for column in columns}) == 1,
            criteria=(),
            pass_mark=None,
            cut=design.cut if design.cut in labels[1:] else None,
        ),
        judgment_at,
        items=np.repeat(cell.items, count) * np.int32(count) + which,
        outcomes=outcomes,
        columns={
            "verdict": verdicts,
            "meaning": verdicts,
            "answer": verdicts,
            "label": people,
            "criterion": (which, [column.name for column in columns]),
            **{name: each(name) for name in _OF_REPLIES},
        },
    )


@once_a_cell
def parts(cell: Cell) -> Mapping[str, Cell]:
    """The cell of each criterion by name, that of the overall grade last."""
    return {
        name: _cell(cell, [column], replace(cell.design, labels=column.labels))
        for name, column in _columns(cell).items()
    }


@once_a_cell
def _columns(cell: Cell) -> dict[str, _GradeColumn]:
    design = cell.design
    labels = max((criterion.labels for criterion in criteria_of(design)), key=len)

    def grade(criterion: Criterion, grades: Mapping[str, Any]) -> str | None:
        stated = grades.get(criterion.name)
        return stated if stated in criterion.labels else None

    def whole(grades: Mapping[str, Any]) -> str | None:
        return grade_at(overall(design, grades), labels)

    columns = {
        criterion.name: _column(
            cell, criterion.name, criterion.labels, partial(grade, criterion), _of(criterion.name)
        )
        for criterion in criteria_of(design)
    }
    if OVERALL in columns:
        return columns
    return columns | {
        OVERALL: _column(cell, OVERALL, labels, whole, partial(overall_share, design))
    }


def _of(name: str) -> Callable[[Mapping[str, float]], float]:
    return lambda shares: shares.get(name, math.nan)


def by_criterion(cell: Cell) -> dict[str, Cell]:
    """The cell of each criterion; of one overall score that alone."""
    return {criterion.name: parts(cell)[criterion.name] for criterion in criteria_of(cell.design)}


@once_a_cell
def pooled(cell: Cell) -> Cell:
    """The grades of all criteria in one cell; ordinal where all have one scale."""
    columns = [_columns(cell)[criterion.name] for criterion in criteria_of(cell.design)]
    labels = tuple(dict.fromkeys(label for column in columns for label in column.labels))
    return _cell(cell, columns, replace(cell.design, labels=labels))


@once_a_cell
def marked(cell: Cell) -> Cell | None:
    """The cell of the side of the pass mark on which a reply puts an output; ``None`` without."""
    mark, design = cell.design.pass_mark, cell.design
    if mark is None:
        return None

    def side(score: float) -> str | None:
        return None if math.isnan(score) else MARK_LABELS[bool(passes(score, mark))]

    def side_of_people(shares: Mapping[str, float]) -> float:
        return place(side(overall_share(design, shares)), MARK_LABELS)

    sides = _column(
        cell, "mark", MARK_LABELS, lambda grades: side(overall(design, grades)), side_of_people
    )
    return _cell(cell, [sides], replace(design, labels=MARK_LABELS))


def named(cell: Cell, condition: Mapping[str, Any]) -> Cell:
    """The derived cell that an estimate is taken of, by its condition."""
    name = condition.get("criterion")
    return pooled(cell) if name is None else parts(cell)[str(name)]


class GradeTable(NamedTuple):
    """Replies that hold at least one grade, as arrays; NaN where a number is missing.

    Attributes:
        replies: their positions among the judgments of the cell, shape (replies,).
        judge: shares of the judge's grades, shape (replies, criteria).
        human: shares of the human grades, the same shape.
        overall: the judge's overall scores, shape (replies,); ``human_overall`` those of people.
        words: of the outputs.
        items: the item of each reply, ``clusters`` its cluster: codes that sort like names.
        systems: what produced it, as its place in ``system_names``, which are sorted; -1 for
            nothing.
    """

    replies: NDArray[np.intp]
    judge: Floats
    human: Floats
    overall: Floats
    human_overall: Floats
    words: Floats
    items: NDArray[np.int32]
    clusters: NDArray[np.int32]
    systems: NDArray[np.int32]
    system_names: tuple[str, ...]


@once_a_cell
def scores(cell: Cell) -> GradeTable:
    """The grades of a cell as arrays."""
    design, judge = cell.design, _by_judge(cell)
    read = np.flatnonzero(judge.each(bool, False))

    def shares(
        statements: _Statements,
        share: Callable[[Criterion, Mapping[str, Any]], float],
        whole: Callable[[Design, Mapping[str, Any]], float],
    ) -> tuple[Floats, Floats]:
        of = statements._replace(positions=statements.positions[read])
        columns = [
            of.each(partial(share, criterion), math.nan) for criterion in criteria_of(design)
        ]
        return np.column_stack(columns), of.each(partial(whole, design), math.nan)

    def stated(criterion: Criterion, shares: Mapping[str, float]) -> float:
        return shares.get(criterion.name, math.nan)

    codes, conditions = _conditions(cell)
    condition_codes = codes[read]
    named = [None if c.get(SYSTEM) is None else str(c[SYSTEM]) for c in conditions]
    names = sorted({name for name in named if name is not None})
    system = {name: code for code, name in enumerate(names)}
    by_judge, whole = shares(judge, _share, overall)
    of_people, people_whole = shares(_by_people(cell), stated, overall_share)
    return GradeTable(
        read,
        by_judge,
        of_people,
        whole,
        people_whole,
        np.array([*map(_words, conditions)], dtype=np.float64)[condition_codes],
        in_order_of_names(*cell.coded("item"))[0][read],
        cell.cluster_codes[0][read],
        np.array([-1 if name is None else system[name] for name in named], dtype=np.int32)[
            condition_codes
        ],
        tuple(names),
    )


def _words(condition: Condition) -> float:
    """The words of an output; NaN where they are not known, or are no number."""
    try:
        return float(condition.get(WORDS, math.nan))
    except (ValueError, TypeError):
        return math.nan


def share_right(judgment: Judgment) -> float | None:
    """The share of a reply's grades that are the human ones; ``None`` without human grades.

    Of several people it is the whole number nearest to their mean, or the word of most of them.
    """
    trial = judgment.trial
    people = {OVERALL if name == LABEL else name: _agreed(of) for name, of in trial.people.items()}
    people |= {
        key.removeprefix(HUMAN): str(grade)
        for key, grade in trial.condition.items()
        if key.startswith(HUMAN)
    }
    people = {name: grade for name, grade in people.items() if grade is not None}
    if not people:
        return None
    verdict = judgment.verdict or ""
    grades: Mapping[str, Any] = {OVERALL: verdict} if OVERALL in people else grades_in(verdict)
    right = [float(grades.get(name) == grade) for name, grade in people.items()]
    return sum(right) / len(right)


def _agreed(of_people: Mapping[str, str]) -> str | None:
    try:
        numbers = [float(grade) for grade in of_people.values()]
    except ValueError:
        return majority(of_people.values())
    return str(math.floor(math.fsum(numbers) / len(numbers) + 0.5 + _ROUNDING)) if numbers else None
