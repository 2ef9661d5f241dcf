"""Labels of people for some of the verdicts of a judge, and the rates that follow from both.

A file of labels is that of ``judgesense label``, or any table with the columns ``item`` and
``label``, or others that are named for them; with ``person`` an item may have several. The rates
are those of `stats.prediction_powered`, which holds for labels of items that chance drew from these
verdicts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, get_args

import pytest_judgesense.stats.prediction_powered as powered
from pytest_judgesense.errors import LogError, UsageError, listed, unknown_name
from pytest_judgesense.files.own_order import CandidateColumns, in_own_order
from pytest_judgesense.files.reshaping import PEOPLE
from pytest_judgesense.files.row_options import RenamedWords, RowOptions, read_as_told
from pytest_judgesense.files.rows import Row, field_of
from pytest_judgesense.files.tables import RowTable, file_at
from pytest_judgesense.measures.calibration import CONTENTS, answer_of
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.questions.correct.answer import CorrectedRow, by_system
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.label_errors import rate_without_errors
from pytest_judgesense.suites.finding import some
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.labelled_texts import Uncounted, ids_by_text, matched
from pytest_judgesense.suites.people import (
    SKIPPED,
    PersonLabel,
    in_force,
    is_of_people,
    people_lines,
)
from pytest_judgesense.trial import LABEL, TIE, Drawn, Judgment, as_whole

CHANCE: Final = ("random", "stratified")
_AS_THEY_ARE: Final = RowOptions()
_EXPECTED: Final = "columns item and label, or --map item=COLUMN --map label=COLUMN"
_FIELDS: Final = ("item", "label", "person", "drawn", "order")


class DrawnLabels(NamedTuple):
    """Labels of people, and how chance drew the items: ``random`` or ``stratified``.

    ``of_item``: the labels of each item, one a person. ``skipped``: drawn items without a label,
    which count as 0 for the lower end of a share and as 1 for the upper.
    ``remarks``: what is to be said of the texts that people labelled.
    """

    of_item: Mapping[str, Sequence[str]]
    drawn: str
    skipped: frozenset[str] = frozenset()
    remarks: tuple[str, ...] = ()


class _Row(NamedTuple):
    """A label of a file, and how its item was drawn; empty where that is not said."""

    item: str
    person: str
    label: str
    drawn: str


def labels_of_file(
    path: Path,
    drawn: str | None,
    items: Sequence[Item] = (),
    row_options: RowOptions = _AS_THEY_ARE,
    *,
    is_pair: bool = False,
) -> DrawnLabels:
    """The labels of a file.

    Args:
        path: a file of people's labels, or a table of items and labels.
        drawn: how the items were drawn, where the file does not say.
        items: those of the verdicts, where they are known: of a file of people's labels those of
            the texts of these items count. Without, they go by the ids of items.
        row_options: how the rows of a table are read.
        is_pair: whether the verdicts are of two candidates, whose slots labels may name.

    Raises:
        UsageError: a column is not there or not used, nobody says that chance drew the items, or
            no label is of one of ``items``.
        LogError, SuiteError: the file is not of the form.
    """
    if not row_options.is_given and _is_of_people(path):
        rows, remarks = _rows_of_people(path, items)
    else:
        table = read_as_told(row_options, path)
        columns = _LabelColumns.of(path, table, dict(row_options.map))
        table = _in_own_order(table, columns, row_options, is_pair=is_pair)
        rows, remarks = _rows(table, columns, RenamedWords(dict(row_options.value))), [*table.notes]
    ways = {row.drawn for row in rows if row.drawn} or ({drawn} if drawn else set())
    if not ways & {*CHANCE}:
        raise UsageError(
            f"{path} does not say that chance drew the labelled items",
            found=f"drawn: {listed(sorted(ways)) or 'not stated'}",
            expected="labels of items that were drawn at random from these verdicts: of items that "
            "somebody chose, no rate of the others follows",
            remedy="if chance drew them, say so: --drawn random",
        )
    way = next(way for way in CHANCE[::-1] if way in ways)
    by_person = {(row.item, row.person): row.label for row in rows if row.drawn in ("", way)}
    of_item: dict[str, list[str]] = {}
    for (item, _), label in by_person.items():
        if label != SKIPPED:
            of_item.setdefault(item, []).append(label)
    skipped = frozenset(item for item, _ in by_person) - of_item.keys()
    return DrawnLabels(of_item, way, skipped, (*remarks,))


def _is_of_people(path: Path) -> bool:
    with LogError.instead_of(OSError, f"{path} cannot be read", expected=_EXPECTED):
        return is_of_people(file_at(path)[0])


def _rows_of_people(path: Path, items: Sequence[Item]) -> tuple[list[_Row], list[str]]:
    """The labels of a file of people's labels, and what is to be said of their texts."""
    lines, unfinished = people_lines(path)
    cut = [unfinished.notice(path)] if unfinished is not None else []
    if not items:
        remark = "labels go by the ids of items: a log does not hold what people labelled"
        return [_row_of(label) for label in in_force(lines).values()], [*cut, remark]
    labels = matched(lines, ids_by_text(items))
    uncounted = uncounted_words(labels.uncounted)
    if uncounted and not labels.counted:
        raise UsageError(
            f"no label of {path} is of what was judged",
            found=uncounted[0],
            expected=f"labels of the texts of these verdicts, such as of item {items[0].id!r}",
            remedy="label them: judgesense label",
        )
    return [_row_of(label) for label in labels.counted.values()], [*cut, *uncounted]


def _row_of(label: PersonLabel) -> _Row:
    return _Row(label.item, label.person, label.label, label.drawn)


def uncounted_words(labels: Uncounted) -> list[str]:
    """What is to be said of labels that do not count; nothing if there are none."""
    ids = [label.item for label in (*labels.of_other_texts, *labels.of_no_item)]
    number = f"{len(ids)} label{'s' * (len(ids) != 1)} of people not counted"
    return [f"{number}, for no item shows what they labelled: {some(ids)}"] if ids else []


class _LabelColumns(NamedTuple):
    """The columns of labels: of the item, of labels by the person who gave them, and of the rest.

    ``labels`` has an empty name where the column ``person`` tells who it is, or nobody does.
    """

    item: str
    labels: Mapping[str, str]
    person: str
    drawn: str
    order: str

    @classmethod
    def of(cls, path: Path, table: RowTable, mapping: Mapping[str, str]) -> _LabelColumns:
        """Those of a table, by what the user says and by their names.

        Raises:
            UsageError: a field is none of a label, or a column is not there.
            LogError: no column holds the item, or none labels.
        """
        of_people = {
            column: column
            for column in table.columns
            if column.startswith(PEOPLE) and column != PEOPLE
        } | {name: column for name, column in mapping.items() if name.startswith(PEOPLE)}
        if unknown := [name for name in mapping if name not in {*_FIELDS, *of_people}]:
            raise unknown_name("field of a label", unknown[0], (*_FIELDS, f"{PEOPLE}NAME"))
        if absent := [column for column in mapping.values() if not table.has(column)]:
            raise unknown_name("column", absent[0], table.columns)
        column_of = {name: mapping.get(name, name) for name in _FIELDS}
        labels = {"": column_of["label"]} if table.has(column_of["label"]) else {}
        labels |= {name.removeprefix(PEOPLE): column for name, column in of_people.items()}
        missing = [] if table.has(column_of["item"]) else ["item"]
        if missing := [*missing, *([] if labels else ["label"])]:
            listed_columns = listed(sorted(table.columns)) or "none"
            found = f"no {' and no '.join(missing)}; columns: {listed_columns}"
            raise LogError(f"{path} holds no labels", found=found, expected=_EXPECTED)
        rest = (column_of[name] for name in ("person", "drawn", "order"))
        return cls(column_of["item"], labels, *rest)


def _in_own_order(
    table: RowTable, columns: _LabelColumns, row_options: RowOptions, *, is_pair: bool
) -> RowTable:
    """Rows whose labels name candidates in the items' own order."""
    if not is_pair or not table.has(columns.order):
        if row_options.names or dict(row_options.map).get("order"):
            raise UsageError(
                "--names is about labels of two candidates that changed places",
                found="no order of them" if is_pair else "verdicts of no pairs",
                expected="verdicts of pairs, and a column order (ab or ba)",
            )
        return table
    labels = {"label": tuple(columns.labels.values())}
    of_pair = CandidateColumns(columns.order, {}, labels, dict(row_options.value))
    return in_own_order(table, of_pair, dict(row_options.names))[0]


def _rows(table: RowTable, columns: _LabelColumns, words: RenamedWords) -> list[_Row]:
    """The labels of a table: the same one, where an item and a person have several."""
    rows: list[_Row] = []
    stated: dict[tuple[str, str], str] = {}
    for row in table:
        item, way = _cell(row, columns.item), _cell(row, columns.drawn)
        texts = {name: text for name, of in columns.labels.items() if (text := _cell(row, of))}
        if texts and way not in ("", *get_args(Drawn)):
            raise LogError(
                f"{row.where} does not say how its item was drawn",
                found=f"drawn = {way!r}",
                expected=listed(get_args(Drawn)),
            )
        for name, text in texts.items():
            person, label = name or _cell(row, columns.person), words(text)
            if label and stated.setdefault((item, person), label) != label:
                raise LogError(
                    f"{row.where} gives item {item!r} another label",
                    found=f"{stated[item, person]} and {label}",
                    expected="one label an item, or a column person that tells whose they are",
                )
            rows += [_Row(item, person, label, way)] if label else []
    if unused := [*words.unused(())]:
        raise UsageError(unused[0], expected="a word in the column of labels")
    return rows


def _cell(row: Row, column: str) -> str:
    """The text of a cell; empty where the row has none."""
    value = field_of(row.value, column)
    text = "" if value is ... or value is None else str(value).strip()
    return as_whole(text) if isinstance(value, float) else text


def labels_of_cell(cell: Cell) -> DrawnLabels | None:
    """The labels that the items themselves bring, if chance drew them."""
    drawn = cell.design.labelled
    of_item: dict[str, list[str]] = {}
    skipped: set[str] = set()
    for judgment in cell.judgments:
        trial = judgment.trial
        skipped |= {trial.item} if trial.skipped else set()
        stated = [] if trial.label is None else [trial.label]
        if words := [*trial.people.get(LABEL, {}).values()] or stated:
            of_item |= {} if trial.picked else {trial.item: words}
    if not of_item or drawn not in CHANCE:
        return None
    return DrawnLabels(of_item, drawn, frozenset(skipped - of_item.keys()))


def verdict_words(cell: Cell) -> set[str]:
    """The verdicts of a cell; of pairs the contents."""
    return {answer for judgment in cell.judgments if (answer := answer_of(judgment))}


def rows_by_labels(cell: Cell, labels: DrawnLabels) -> Iterator[CorrectedRow]:
    """The shares of labels that people would give to all items; pooled, and by system.

    Raises:
        UsageError: the labels are of other items or other words, or a stratum is missing.
    """
    of_items: dict[str, list[Judgment]] = {}
    for judgment in cell.judgments:
        of_items.setdefault(judgment.trial.item, []).append(judgment)
    own = CONTENTS if cell.design.pairwise else cell.design.labels
    words = {*own, *([TIE] if cell.design.pairwise else [])} | verdict_words(cell)
    labels = _in_words(labels, words, pairwise=cell.design.pairwise)
    _refuse_strangers(of_items, labels, words)
    for system, items in by_system(of_items).items():
        for label in own[:1] if len(own) == 2 or cell.design.pairwise else own:
            yield _row(cell, items, labels, system, label)


def _in_words(labels: DrawnLabels, words: set[str], *, pairwise: bool) -> DrawnLabels:
    """The labels in the words of the verdicts: in any case, of a pair also its slot in the item."""
    meanings = {word.casefold(): word for word in words}
    meanings |= dict(zip("ab", CONTENTS, strict=True)) if pairwise else {}
    meanings |= {word: word for word in words}
    of_item = {
        item: [meanings.get(word, meanings.get(word.casefold(), word)) for word in of_people]
        for item, of_people in labels.of_item.items()
    }
    return labels._replace(of_item=of_item)


def _refuse_strangers(
    of_items: Mapping[str, Sequence[Judgment]], labels: DrawnLabels, words: set[str]
) -> None:
    answered = [*labels.of_item, *sorted(labels.skipped)]
    if strangers := [item for item in answered if item not in of_items]:
        raise UsageError(
            "people labelled items that the verdicts do not hold",
            found=f"{len(strangers)} of {len(answered)}, such as {strangers[0]!r}",
            expected=f"items of the verdicts, such as {next(iter(of_items))!r}",
        )
    given = {word for of_item in labels.of_item.values() for word in of_item}
    if given - words:
        raise UsageError(
            "labels and verdicts are not in the same words",
            found=f"labels {listed(sorted(given))}",
            expected=f"among {listed(sorted(words))}",
            remedy="write the labels as the verdicts are",
        )
    first = (judgments[0].trial for judgments in of_items.values())
    if labels.drawn == "stratified" and not all(trial.stratum for trial in first):
        raise UsageError(
            "the labelled items were drawn by strata, and not every verdict has a stratum",
            expected="a stratum on every line: what was not labelled is weighed by it",
        )


def _row(
    cell: Cell,
    items: Sequence[Sequence[Judgment]],
    labels: DrawnLabels,
    system: str,
    label: str,
) -> CorrectedRow:
    def worth(word: str) -> float:
        is_half = cell.design.pairwise and word == TIE
        return 0.5 if is_half else float(word == label)

    shares, people, votes, missing = [], [], [], 0
    for judgments in items:
        answers = [answer for judgment in judgments if (answer := answer_of(judgment))]
        missing += len(judgments) - len(answers)
        shares.append(_mean([*map(worth, answers)]))
        words = labels.of_item.get(judgments[0].trial.item, ())
        people.append(_mean([*map(worth, _modes(words))]))
        votes.append([*map(worth, words)])
    raw = _mean([share for share in shares if not math.isnan(share)])
    counts = len(items), missing
    if math.isnan(raw):
        return CorrectedRow(system, label, None, *counts, refused="no item has a verdict")
    first = [judgments[0].trial for judgments in items]
    strata = [trial.stratum for trial in first] if labels.drawn == "stratified" else None
    result = powered.corrected_rate(
        powered.LabelledSample(
            # Whatever stands in the place of a missing verdict, the rate stays right on average.
            [raw if math.isnan(share) else share for share in shares],
            people,
            [trial.cluster for trial in first],
            strata,
            [trial.item in labels.skipped for trial in first],
        )
    )
    if isinstance(result, NotEstimable):
        return CorrectedRow(system, label, raw, *counts, refused=result.reason)
    return CorrectedRow(
        system,
        label,
        raw,
        *counts,
        result.estimate,
        result.interval,
        labels=result.labels,
        labels_only=(result.labels_only, result.labels_only_interval),
        without_errors=rate_without_errors(
            rate=result.estimate,
            interval=result.interval,
            labels=[*filter(None, votes)],
            clusters=[trial.cluster for trial, said in zip(first, votes, strict=True) if said],
        ),
    )


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else math.nan


def _modes(words: Sequence[str]) -> list[str]:
    """The words of most people; several where they tie."""
    counts = Counter(words)
    return [word for word, count in counts.items() if count == max(counts.values())]
