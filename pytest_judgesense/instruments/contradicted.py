"""Labels that every reading of a judge contradicts: a table of items to look at.

A label is listed where the judge read its item twice or more often (wordings, presentation orders,
temperatures and repeats together) and every reading is one and the same other verdict; a reading
without a verdict, or an abstention, contradicts nothing. Either the label is wrong, or the item
misleads this judge: the texts tell. Nothing is counted out for it, and no number changes.

How many right labels the judge would contradict so is told beside it, if it erred there as on its
other items (`stats.contradicted_labels`). Labels that the judge does not give to most readings of
the items that have them are left out: of a judge that never says NO, no NO is to be looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.datasheets.sections import Estimates, Passage, TableRow, TableRows
from pytest_judgesense.errors import printable
from pytest_judgesense.files.limits import json_value
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.shared import AGREEMENT
from pytest_judgesense.stats.contradicted_labels import (
    ExpectedContradictions,
    expected_contradictions,
)
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import ABSTAIN, Judgment, Verdict, majority

CONTRADICTED: Final = "contradicted_labels"
# Of a text, in characters: enough to see what an item is about.
_MOST_TEXT: Final = 1_000
_SHOWN: Final = 10


def answers_of(judgment: Judgment) -> Iterator[tuple[str, Any]]:
    """What a verdict says, by criterion; of several grades it is an object of them."""
    if not isinstance(judgment.outcome, Verdict):
        return
    verdict = judgment.chosen or judgment.outcome.value
    if not verdict.startswith("{"):
        yield "", verdict
        return
    for criterion, grade in json_value(verdict).items():
        if grade is not None:
            yield criterion, grade


class ContradictedLabel(NamedTuple):
    """A label of an item, or of one of its criteria, that every reading contradicts.

    Attributes:
        criterion: empty where a reply has one verdict.
        verdict: that of every reading.
        readings: how many there are.
    """

    item: str
    criterion: str
    label: str
    verdict: str
    readings: int


class LabelsToLookAt(NamedTuple):
    """What the readings of a judge say of the labels of a suite.

    Attributes:
        listed: those that every reading contradicts.
        labels: how many were read twice or more often, with a verdict in every reading.
        expected: how many of these would be listed if all were right; ``None`` if nothing tells.
        not_given: labels that the judge does not give to most readings of items that have them.
    """

    listed: tuple[ContradictedLabel, ...] = ()
    labels: int = 0
    expected: ExpectedContradictions | None = None
    not_given: tuple[str, ...] = ()


class _Readings(NamedTuple):
    """Readings of labels, each a call on an item, or its grade by one of the criteria.

    Attributes:
        about: which of the ``labelled`` each is of, shape (readings,).
        labelled: item and criterion.
        label: of each reading, as a code of ``words``.
        answer: likewise; -1 for no verdict, and for an abstention.
    """

    about: NDArray[np.int64]
    labelled: Sequence[tuple[str, str]]
    label: NDArray[np.int64]
    answer: NDArray[np.int64]
    words: Sequence[str]

    @property
    def labels_given(self) -> NDArray[np.bool_]:
        """Of each word and criterion, shape (words, criteria), whether most readings give it."""
        criteria = [criterion for _, criterion in self.labelled]
        names = list(dict.fromkeys(criteria))
        column = np.array([names.index(name) for name in criteria], dtype=np.int64)[self.about]
        right, stated = np.zeros((2, len(self.words), len(names)), dtype=np.int64)
        np.add.at(right, (self.label, column), self.answer == self.label)
        np.add.at(stated, (self.label, column), self.answer >= 0)
        given: NDArray[np.bool_] = (2 * right > stated)[self.label, column]
        return given


def labels_to_look_at(cell: Cell) -> LabelsToLookAt:
    """The labels that every reading of a cell contradicts, in the order of its items.

    Of suites whose labels are made with their items, and of none that the judge is measured
    against, there is none.
    """
    if AGREEMENT.name not in {measure.name for measure in cell.measures}:
        return LabelsToLookAt()
    readings = _of_grades(cell) if cell.design.criteria else _of_verdicts(cell)
    if not readings.about.size:
        return LabelsToLookAt()
    given = readings.labels_given
    not_given = {readings.words[code] for code in np.unique(readings.label[~given]).tolist()}
    return _looked_at(readings, given)._replace(not_given=tuple(sorted(not_given)))


def _looked_at(readings: _Readings, given: NDArray[np.bool_]) -> LabelsToLookAt:
    """The labels that are contradicted among those that are ``given``, a flag of each reading."""
    about, size = readings.about, len(readings.labelled)
    calls = np.bincount(about, minlength=size)
    stated = np.bincount(about[given & (readings.answer >= 0)], minlength=size)
    is_other = given & (readings.answer >= 0) & (readings.answer != readings.label)
    answers, counts = np.unique(
        about[is_other] * len(readings.words) + readings.answer[is_other], return_counts=True
    )
    wrong = np.zeros(size, dtype=np.int64)
    np.maximum.at(wrong, answers // len(readings.words), counts)
    is_read = (calls == stated) & (calls > 1)
    is_listed = is_read & (wrong == calls)
    rest = is_read & ~is_listed
    expected = expected_contradictions(wrong[rest], calls[rest], calls[is_read])
    first = np.full(size, -1, dtype=np.int64)
    first[about[::-1]] = np.arange(about.size)[::-1]
    listed = tuple(
        ContradictedLabel(
            *readings.labelled[place],
            readings.words[readings.label[first[place]]],
            readings.words[readings.answer[first[place]]],
            int(calls[place]),
        )
        for place in np.flatnonzero(is_listed).tolist()
    )
    return LabelsToLookAt(listed, int(is_read.sum()), expected)


def _of_verdicts(cell: Cell) -> _Readings:
    """The readings of items with a label."""
    labels, label_words = cell.coded("label")
    answers, answer_words = cell.coded("answer")
    words = list(dict.fromkeys([*answer_words, *label_words]))
    place = {word: code for code, word in enumerate(words)}
    of_label = np.array([*(place[word] for word in label_words), -1], dtype=np.int64)
    of_answer = np.array(
        [*(-1 if word == ABSTAIN else place[word] for word in answer_words), -1], dtype=np.int64
    )
    has_label = labels >= 0
    labelled = [(item, "") for item in cell.coded("item")[1]]
    about = cell.items.astype(np.int64)[has_label]
    return _Readings(
        about, labelled, of_label[labels][has_label], of_answer[answers][has_label], words
    )


def _of_grades(cell: Cell) -> _Readings:
    """The readings of criteria that people graded, with what most of them say."""
    labelled: dict[tuple[str, str], int] = {}
    words: dict[str, int] = {}
    rows: list[tuple[int, int, int]] = []
    for judgment in cell.judgments:
        grades = dict(answers_of(judgment))
        for criterion, by_person in judgment.trial.people.items():
            if (label := majority(by_person.values())) is None:
                continue
            about = labelled.setdefault((judgment.trial.item, criterion), len(labelled))
            grade = grades.get(criterion)
            answer = -1 if grade is None else words.setdefault(str(grade), len(words))
            rows.append((about, words.setdefault(label, len(words)), answer))
    about_, label_, answer_ = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return _Readings(about_, [*labelled], label_, answer_, [*words])


# --- the table ------------------------------------------------------------------------------------


def contradicted(cell: Cell, _estimates: Estimates, suite: Suite | None) -> TableRows | None:
    """A row with the numbers, then one for each label; ``None`` where none is listed."""
    looked_at = labels_to_look_at(cell)
    if not looked_at.listed:
        return None
    expected = looked_at.expected
    items = {} if suite is None else {item.id: item for item in suite.items}
    numbers: dict[str, Any] = {
        "listed": len(looked_at.listed),
        "of": looked_at.labels,
        "expected": expected and expected.median,
        "expected_lower": expected and expected.lower,
        "expected_upper": expected and expected.upper,
        "not_given": list(looked_at.not_given),
    }
    return [numbers, *(_row(listed, items) for listed in looked_at.listed)]


def _row(listed: ContradictedLabel, items: Mapping[str, Item]) -> dict[str, Any]:
    item = items.get(listed.item)
    about = {"criterion": listed.criterion} if listed.criterion else {}
    return {
        "item": listed.item,
        **about,
        "label": listed.label,
        "verdict": listed.verdict,
        "readings": listed.readings,
        "texts": {} if item is None else _texts(item),
    }


def _texts(item: Item) -> dict[str, str]:
    """What is shown of an item, the candidates of a pair by the words of labels."""
    shown = {n: text for n, text in item.fields.items() if item.taken is None or n in item.taken}
    numbered = {str(number): text for number, text in enumerate(item.contents, start=1)}
    return {name: text[:_MOST_TEXT] for name, text in {**shown, **numbered}.items()}


def contradicted_lines(rows: TableRows) -> Iterator[str]:
    """How many labels are to be looked at, how many are expected, and the first of them."""
    yield f"{contradicted_brief(rows)}: every reading is the same other verdict; {_expected(rows)}"
    for row in rows[1 : _SHOWN + 1]:
        yield f"  {row['item']}: {_both(row)}"
    if (more := len(rows) - 1 - _SHOWN) > 0:
        yield f"  and {more} more"


def _expected(rows: TableRows) -> str:
    """How many right labels the judge would contradict."""
    numbers = rows[0]
    if numbers["expected"] is None:
        return f"of {numbers['of']} labels, and no other item tells how many would be if right"
    return (
        f"of {numbers['of']} right labels about {numbers['expected']} would be (up to "
        f"{numbers['expected_upper']}), if it erred there as on its other items; more are wrong "
        "labels, or items that mislead this judge in every reading"
    )


def _both(row: TableRow) -> str:
    """The label and the verdict of a row."""
    of = f" of {row['criterion']}" if "criterion" in row else ""
    return f"label{of} {row['label']}, all {row['readings']} readings {row['verdict']}"


def contradicted_brief(rows: TableRows) -> str:
    """How many labels are to be looked at."""
    listed = rows[0]["listed"]
    return f"{listed} label{'s' * (listed != 1)} to look at"


def contradicted_passages(rows: TableRows) -> Iterator[Passage]:
    """The numbers, and the texts of each label with both verdicts, for a page."""
    yield Passage("", f"{contradicted_brief(rows)}: {_expected(rows)}.", "")
    for row in rows[1:]:
        # On one line, as everything that a page prints with a margin.
        texts = " / ".join(f"{name}: {printable(text)}" for name, text in row["texts"].items())
        yield Passage(row["item"], texts or "(the texts are not in the log)", _both(row), 1)
