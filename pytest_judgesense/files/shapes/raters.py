"""What people said beside what judges said, where a file has both, a row each.

Tools keep every score of an output in a row of its own, whoever gave it. A judgment is a row of a
judge; what people said of the same becomes columns ``people.NAME`` of it. Whatever a judge said
again of the same is another replicate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final, NamedTuple

from pytest_judgesense.errors import listed
from pytest_judgesense.files.reshaping import PEOPLE
from pytest_judgesense.files.rows import Row
from pytest_judgesense.files.shapes.repeated import with_rows
from pytest_judgesense.files.tables import RowTable

_REPLICATE: Final = "replicate"


class Statement(NamedTuple):
    """What somebody said.

    Attributes:
        row: in which it stands.
        about: what it is about: the same of a judge and of people.
        rater: who said it; empty if the file does not say.
        answer: what was said.
        is_person: whether a person said it.
        order: the two candidates, in the order of the row, if what is said names places.
    """

    row: Row
    about: tuple[str, ...]
    rater: str
    answer: Any
    is_person: bool
    order: tuple[str, ...] = ()


def with_people(table: RowTable, statements: Callable[[RowTable], Iterable[Statement]]) -> RowTable:
    """The rows of judges, with what people said of the same; all rows, if no judge speaks."""
    every = [*statements(table)]
    judged = [statement for statement in every if not statement.is_person]
    if not judged:
        return with_rows(table, [statement.row for statement in every])
    labels, notes = _labels([statement for statement in every if statement.is_person])
    if alone := labels.keys() - {statement.about for statement in judged}:
        notes.append(f"people labelled {len(alone)} items that no judge judged: they are left out")
    numbers = _numbers(judged)
    is_repeated = max(numbers) > 1
    if is_repeated:
        notes.append("what a judge said of the same again is another replicate")
    names = dict.fromkeys(name for of_item in labels.values() for name in of_item)
    rows = []
    for statement, number in zip(judged, numbers, strict=True):
        of_item = labels.get(statement.about, {})
        people = {
            f"{PEOPLE}{name}": _in_order(of_item[name], statement) if name in of_item else None
            for name in names
        }
        replicate = {_REPLICATE: number} if is_repeated else {}
        row = statement.row
        rows.append(replace(row, value={**row.value, **people, **replicate}))
    return with_rows(table, rows, *notes)


def _numbers(statements: Iterable[Statement]) -> list[int]:
    """Of each statement, the how many of this judge about the same it is."""
    times: Counter[tuple[object, ...]] = Counter()
    numbers = []
    for statement in statements:
        key = (statement.about, statement.rater, statement.order)
        times[key] += 1
        numbers.append(times[key])
    return numbers


def _labels(
    statements: Iterable[Statement],
) -> tuple[dict[tuple[str, ...], dict[str, Statement]], list[str]]:
    """What people said, by what it is about and by their names, and notes; the last one counts."""
    labels: dict[tuple[str, ...], dict[str, Statement]] = {}
    changed = 0
    for statement in statements:
        of_item = labels.setdefault(statement.about, {})
        name = statement.rater or "person"
        changed += name in of_item
        of_item[name] = statement
    names = dict.fromkeys(name for of_item in labels.values() for name in of_item)
    notes = [f"labels of people stand beside those of judges: {listed(names)}"] * bool(names)
    if changed:
        notes.append(f"people labelled {changed} items again: of each the last label counts")
    return labels, notes


def _in_order(label: Statement, judged: Statement) -> Any:
    """What a person said, in the judge's order of the two candidates."""
    if label.order == judged.order:
        return label.answer
    swapped = {"model_a": "model_b", "model_b": "model_a"}
    return swapped.get(str(label.answer), label.answer)
