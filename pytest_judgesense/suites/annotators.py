"""Labels of people: from the lines of a stimuli file to the items. Pure.

A table has a column a person, a line of JSON Lines a list or an object::

    columns = { people = ["anna", "ben"] }      columns = { "people.clarity" = ["anna_clarity"] }
    {"people": ["YES", null]}                   {"people": {"clarity": {"anna": 4, "ben": 3.5}}}

They are taken out of a line before it is read as an item, so no template can show them. A gap is an
empty cell or null. A label is one of the suite, in any case, or what ``values`` says; of a pair the
better content (``1``, ``2``, ``tie``), its slot in the item's own order (``A``, ``B``) or its
column; a grade on a scale of numbers any number within it, for people may give halves, and files
hold means. Persons of a list are called by their places.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from pytest_judgesense.errors import SuiteError, listed
from pytest_judgesense.files.rows import field_of, without_fields
from pytest_judgesense.suites.from_lines import pair_meanings
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.people import PersonLabel
from pytest_judgesense.suites.schema import PEOPLE, STRATUM, SuiteForm
from pytest_judgesense.suites.stimuli import (
    Misfit,
    Stimuli,
    row_label,
    stated_id,
    text_of,
)
from pytest_judgesense.trial import LABEL, Criterion, Drawn, People, grouped, is_number

# Labels as they are written, by criterion and person.
Written: TypeAlias = Mapping[str, Mapping[str, Any]]


class LabelledLine(NamedTuple):
    """What people said of a line, as it is written, and the stratum that it was drawn from.

    ``picked``: whether it was chosen to be labelled for what was seen of it.
    """

    written: Written
    stratum: str = ""
    picked: bool = False


def without_labels(stimuli: Stimuli) -> tuple[Stimuli, dict[int, LabelledLine]]:
    """The lines without the labels of people, and those by the number of the line.

    Raises:
        SuiteError: labels are stratified, and a line has no stratum.
    """
    table = stimuli.form.stimuli
    by_strata = table.labelled == "stratified"
    if not table.people and not by_strata and not any(map(_has_people, stimuli.rows)):
        return stimuli, {}
    of_stratum = table.renamed.get(STRATUM, STRATUM)
    out = {column for persons in table.people.values() for column in persons}
    out |= {of_stratum} if by_strata else set()
    lines: list[tuple[int, Any]] = []
    labelled: dict[int, LabelledLine] = {}
    for number, row in stimuli.lines:
        if isinstance(row, dict):
            hidden = {*out, PEOPLE} if _has_people(row) else out
            stratum = text_of(field_of(row, of_stratum)) or "" if by_strata else ""
            labelled[number] = LabelledLine(_written(stimuli, row), stratum)
            lines.append((number, without_fields(row, hidden)))
            if by_strata and not stratum:
                raise SuiteError(
                    f"{stimuli.place(number)} has no stratum",
                    found=f"{of_stratum} = {_cell(row, of_stratum)!r}",
                    expected='that of every line, labelled or not, for labelled = "stratified"',
                    remedy=f'add it, or name its column: columns = {{ {STRATUM} = "..." }}',
                )
        else:
            lines.append((number, row))
    return replace(stimuli, lines=lines), labelled


def _cell(row: Mapping[str, Any], column: str) -> Any:
    """The value of a row in a column; ``None`` if it has none."""
    value = field_of(row, column)
    return None if value is ... else value


def _has_people(row: Any) -> bool:
    return isinstance(row, dict) and isinstance(row.get(PEOPLE), list | dict)


def _written(stimuli: Stimuli, row: Mapping[str, Any]) -> Written:
    """The labels that stand in a line."""
    if columns := stimuli.form.stimuli.people:
        return {
            field.removeprefix(PEOPLE).removeprefix(".") or LABEL: {
                person: _cell(row, person) for person in persons
            }
            for field, persons in columns.items()
        }
    if not _has_people(row):
        return {}
    stated = row[PEOPLE]
    if stimuli.form.space.criteria and isinstance(stated, dict):
        return {criterion: _by_person(labels) for criterion, labels in stated.items()}
    return {LABEL: _by_person(stated)}


def _by_person(labels: Any) -> dict[str, Any]:
    if isinstance(labels, dict):
        return labels
    listed = labels if isinstance(labels, list) else [labels]
    return {str(place): label for place, label in enumerate(listed, start=1)}


def with_labels(
    items: Iterable[Item], stimuli: Stimuli, labelled: Mapping[int, LabelledLine]
) -> tuple[Item, ...]:
    """The items with what people said of the lines that they are made of.

    Raises:
        SuiteError: a label is not one of the suite, or is of no item.
    """
    items = tuple(items)
    # Where lines need no id, each is an item.
    by_place = [item.id for item in items] if len(items) == len(stimuli.lines) else []
    by_id: dict[str, LabelledLine] = {}
    for place, (number, row) in enumerate(stimuli.lines):
        if number in labelled:
            stated = stated_id(_cell(row, stimuli.columns.get("id", "id")))
            name = stated or (by_place[place] if by_place else f"{stimuli.word} {number}")
            by_id[name] = labelled[number]
    return labelled_items(items, stimuli, by_id)


def labelled_items(
    items: tuple[Item, ...], stimuli: Stimuli, by_id: Mapping[str, LabelledLine]
) -> tuple[Item, ...]:
    """The items with labels as they are written, by the id of the item.

    Raises:
        SuiteError: a label is not one of the suite, or none is of an item.
    """
    if not by_id:
        return items
    ids = [item.id for item in items]
    if by_id.keys().isdisjoint(ids):
        raise SuiteError(
            f"labels of people in suite {stimuli.form.name} are of no item",
            found=f"labels of {next(iter(by_id))!r}",
            expected=f"ids of items, such as {ids[0]!r}: a line of such a suite is an item",
        )
    return tuple(
        replace(
            item,
            people=_read(stimuli, item, line.written),
            stratum=line.stratum or item.stratum,
            picked=line.picked and not item.people,
        )
        if (line := by_id.get(item.id))
        else item
        for item in items
    )


def with_answers(
    items: tuple[Item, ...], stimuli: Stimuli, answers: Iterable[PersonLabel]
) -> tuple[Item, ...]:
    """The items with the answers about them, see `matched`, beside those of their lines.

    Raises:
        SuiteError: a label is not one of the suite.
    """
    answers = tuple(answers)
    by_item = grouped((answer for answer in answers if answer.counts), attrgetter("item"))
    by_id = {}
    for item, of_item in by_item.items():
        written: dict[str, dict[str, Any]] = {}
        for answer in of_item:
            written.setdefault(answer.criterion or LABEL, {})[answer.person] = answer.label
        picked = all(answer.drawn == "chosen" for answer in of_item)
        by_id[item] = LabelledLine(written, picked=picked)
    items = labelled_items(items, stimuli, by_id)
    passed = {answer.item for answer in answers if not answer.counts and answer.drawn != "chosen"}
    return tuple(
        replace(item, skipped=True)
        if item.id in passed and item.label is None and (item.picked or not item.people)
        else item
        for item in items
    )


def drawn_by(
    form: SuiteForm, answers: Iterable[PersonLabel], by_columns: Iterable[Item]
) -> Drawn | None:
    """How the labelled items were drawn: as the suite file says, else the file of labels.

    ``answers``: those that count. Items that were chosen are marked by themselves, where chance
    drew others. The file speaks for its own lines: ``None`` if items have labels in
    ``by_columns``, as the items' own file gives them, that it does not have, and the suite file
    does not say how they were drawn.

    Raises:
        SuiteError: they contradict each other.
    """
    answers = tuple(answer for answer in answers if answer.counts)
    drawn = {answer.drawn for answer in answers}
    if form.stimuli.labelled == "random" and "stratified" in drawn:
        raise SuiteError(
            f"suite {form.name} and the file of people's labels differ in how items were drawn",
            found='labelled = "random" in [stimuli], and lines with drawn = stratified',
            expected="one of them: a rate of all items is weighted by strata, or not",
            remedy='labelled = "stratified", with a stratum on every line of the items',
        )
    if form.stimuli.labelled is not None:
        return form.stimuli.labelled
    of_file = {answer.item for answer in answers}
    if any(item.id not in of_file and (item.people or item.label) for item in by_columns):
        return None
    ways: tuple[Drawn, ...] = ("stratified", "random", "chosen")
    return next((way for way in ways if way in drawn), None)


def _read(stimuli: Stimuli, item: Item, written: Written) -> People:
    """The labels of an item in the terms of the suite, beside those that it has."""
    space = stimuli.form.space
    scales = {criterion.name: criterion for criterion in space.graded}
    scales = scales or {LABEL: Criterion(LABEL, tuple(space.labels))}
    people = {criterion: dict(labels) for criterion, labels in item.people.items()}
    for criterion, labels in written.items():
        if criterion not in scales:
            raise SuiteError(
                f"labels of people in suite {stimuli.form.name} are of no criterion of it",
                found=PEOPLE if criterion == LABEL else f"{PEOPLE}.{criterion}",
                expected=listed(f"{PEOPLE}.{n}" for n in scales if n != LABEL) or PEOPLE,
            )
        for person, value in labels.items():
            label = _label(stimuli, value, scales[criterion])
            if isinstance(label, Misfit):
                raise SuiteError(
                    f"{person} gives item {item.id} of suite {stimuli.form.name} another label",
                    found=label.found,
                    expected=label.expected,
                    remedy="fix the label, or map it: values = { ... } in [stimuli]",
                )
            if label is None:
                continue
            if (before := people.setdefault(criterion, {}).setdefault(person, label)) != label:
                raise SuiteError(
                    f"{person} gives item {item.id} of suite {stimuli.form.name} two labels",
                    found=f"{before} in {stimuli.file.name}, {label} in the people.csv beside it",
                    expected="one label of a person: neither of two files is the later one",
                    remedy="take one away, or call one of the two people otherwise",
                )
    return people


def _label(stimuli: Stimuli, value: Any, scale: Criterion) -> str | Misfit | None:
    space = stimuli.form.space
    if space.pairwise:
        return row_label(stimuli, value, pair_meanings(stimuli))
    label = row_label(stimuli, value, {label: label for label in scale.labels})
    graded = (space.ordinal or bool(space.criteria)) and all(map(is_number, scale.labels))
    if not isinstance(label, Misfit) or not graded:
        return label
    try:
        grade = float(str(value).replace(",", "."))
    except ValueError:
        return label
    ends = sorted(map(int, scale.labels))
    if ends[0] <= grade <= ends[-1]:
        return f"{grade:.12g}"
    return label._replace(expected=f"a number from {ends[0]} to {ends[-1]}")


def persons_of(items: Iterable[Item]) -> list[str]:
    """Everybody who labelled one of the items, once each."""
    labelled = (labels for item in items for labels in item.people.values())
    return [*dict.fromkeys(person for labels in labelled for person in labels)]


def refuse_spellings(suite: str, persons: Iterable[str]) -> None:
    """Raise a `SuiteError` if two names differ in case or blanks alone: they are one person's."""
    spelt: dict[str, str] = {}
    for person in persons:
        before = spelt.setdefault("".join(person.split()).casefold(), person)
        if before != person:
            raise SuiteError(
                f"people who labelled suite {suite} have names that differ in case or blanks alone",
                found=f"{before!r} and {person!r}",
                expected="one spelling of each name: agreement of people would be of one person",
                remedy="use one spelling in the columns, the items and the people.csv",
            )


def refuse_columns_of_people(path: Path, stimuli: Stimuli) -> None:
    """Raise a `SuiteError` if the file has not the column of a person, or it is named twice."""
    for field, columns in stimuli.form.stimuli.people.items():
        if twice := [column for column in columns if columns.count(column) > 1]:
            raise SuiteError(
                f"columns of {path} names a person twice",
                found=f"{field} = [{listed(map(repr, columns))}]",
                expected="the column of each person once",
                remedy=f"take one {twice[0]!r} out",
            )
        refuse_spellings(stimuli.form.name, columns)
    persons = dict.fromkeys(p for of in stimuli.form.stimuli.people.values() for p in of)
    there = dict.fromkeys(n for row in stimuli.rows if isinstance(row, dict) for n in row)
    missing = [
        person
        for person in persons
        if person not in there and all(field_of(row, person) is ... for row in stimuli.rows)
    ]
    if missing:
        raise SuiteError(
            f"columns of {path} names people that {stimuli.file.name} does not have",
            found=listed(missing),
            expected=f"the columns of {stimuli.file.name}: {listed(there)}",
            remedy="fix [stimuli] columns",
        )
