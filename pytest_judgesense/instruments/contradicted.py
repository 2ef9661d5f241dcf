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

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

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
from pytest_judgesense.trial import ABSTAIN, Judgment, Trial, Verdict, majority

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


@dataclass
class LabelReadings:
    """The readings of an item under its label, or under that of a criterion.

    Attributes:
        verdicts: how often each was given.
        calls: all readings, with those that state no verdict.
    """

    item: str
    criterion: str
    label: str
    verdicts: Counter[str] = field(default_factory=Counter)
    calls: int = 0

    @property
    def other(self) -> str:
        """The most frequent verdict that is not the label; empty for none."""
        others = [
            (-count, verdict) for verdict, count in self.verdicts.items() if verdict != self.label
        ]
        return min(others)[1] if others else ""

    @property
    def is_read(self) -> bool:
        """Whether it was read twice or more often, and every reading states a verdict."""
        return 2 <= self.calls == self.verdicts.total() and ABSTAIN not in self.verdicts

    @property
    def is_contradicted(self) -> bool:
        """Whether every reading is the same other verdict."""
        return self.is_read and self.verdicts[self.other] == self.calls


class LabelsToLookAt(NamedTuple):
    """What the readings of a judge say of the labels of a suite.

    Attributes:
        listed: those that every reading contradicts.
        labels: how many were read twice or more often, with a verdict in every reading.
        expected: how many of these would be listed if all were right; ``None`` if nothing tells.
        not_given: labels that the judge does not give to most readings of items that have them.
    """

    listed: tuple[LabelReadings, ...]
    labels: int
    expected: ExpectedContradictions | None
    not_given: tuple[str, ...]


def labels_to_look_at(cell: Cell) -> LabelsToLookAt:
    """The labels that every reading of a cell contradicts, in the order of its items.

    Of suites whose labels are made with their items, and of none that the judge is measured
    against, there is none.
    """
    measured = {measure.name for measure in cell.measures}
    readings = [*_readings(cell.judgments)] if AGREEMENT.name in measured else []
    given = _labels_given(readings)
    read = [each for each in readings if each.is_read and (each.criterion, each.label) in given]
    listed = tuple(each for each in read if each.is_contradicted)
    rest = [each for each in read if not each.is_contradicted]
    expected = expected_contradictions(
        [each.verdicts[each.other] for each in rest],
        [each.calls for each in rest],
        [each.calls for each in read],
    )
    not_given = {each.label for each in readings if (each.criterion, each.label) not in given}
    return LabelsToLookAt(listed, len(read), expected, tuple(sorted(not_given)))


def _readings(judgments: Iterable[Judgment]) -> Iterator[LabelReadings]:
    """The readings of each item with a label, or of each criterion with one."""
    by_label: dict[tuple[str, str], LabelReadings] = {}
    for judgment in judgments:
        trial = judgment.trial
        answers = dict(answers_of(judgment))
        for criterion, label in _labels(trial):
            readings = by_label.setdefault(
                (trial.item, criterion), LabelReadings(trial.item, criterion, label)
            )
            readings.calls += 1
            if criterion in answers:
                readings.verdicts[str(answers[criterion])] += 1
    yield from by_label.values()


def _labels(trial: Trial) -> Iterator[tuple[str, str]]:
    """The label of the trial's item, or what most people say of each criterion."""
    if trial.label is not None:
        yield "", trial.label
        return
    for criterion, by_person in trial.people.items():
        if (label := majority(by_person.values())) is not None:
            yield criterion, label


def _labels_given(readings: Iterable[LabelReadings]) -> set[tuple[str, str]]:
    """The labels that the judge gives to most readings of the items that have them."""
    right, stated = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for each in readings:
        right[each.criterion, each.label] += each.verdicts[each.label]
        stated[each.criterion, each.label] += each.verdicts.total()
    return {label for label, count in right.items() if 2 * count > stated[label]}


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
    return [numbers, *(_row(readings, items) for readings in looked_at.listed)]


def _row(readings: LabelReadings, items: Mapping[str, Item]) -> dict[str, Any]:
    item = items.get(readings.item)
    about = {"criterion": readings.criterion} if readings.criterion else {}
    return {
        "item": readings.item,
        **about,
        "label": readings.label,
        "verdict": readings.other,
        "readings": readings.calls,
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
        texts = "\n".join(f"{name}: {printable(text)}" for name, text in row["texts"].items())
        yield Passage(row["item"], texts or "(the texts are not in the log)", _both(row), 1)
