"""A table with a judge's grades in a column a criterion, a row a reply, beside people's grades.

``judgesense import FILE --grades clarity=COLUMN,...`` reads it; what a column else holds is said as
for other tables (``--map``). The scale is that of ``--labels``, else the whole numbers from the
least to the greatest grade in the table. A judge's cell is a grade of the scale, or empty; of
people it may be a number between two grades.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from shlex import quote
from typing import Any, Final

from pytest_judgesense.errors import LogError, UsageError, listed
from pytest_judgesense.files.assignments import option_words
from pytest_judgesense.files.foreign_results import Imported, columns_named, left_out
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.judgment_fields import FIELDS
from pytest_judgesense.files.reshaping import PEOPLE
from pytest_judgesense.files.row_options import RenamedWords, RowOptions, read_as_told
from pytest_judgesense.files.rows import Row, field_of
from pytest_judgesense.files.synonyms import column_of
from pytest_judgesense.files.tables import RowTable
from pytest_judgesense.instruments.paraphrase.foreign_table import (
    fixed_fields,
    numbered_replicates,
    refuse_columns,
    with_columns,
)
from pytest_judgesense.instruments.paraphrase.judgment_reader import (
    JudgmentReader,
    of_verdicts,
    refuse_fields,
)
from pytest_judgesense.instruments.paraphrase.results import each_once
from pytest_judgesense.instruments.rubric.grades import WORDS
from pytest_judgesense.instruments.rubric.measures import SUITE
from pytest_judgesense.instruments.rubric.replies import grade_of
from pytest_judgesense.registry import Importer
from pytest_judgesense.suites.shortcuts import length
from pytest_judgesense.suites.space import number_of, position, whole_scale
from pytest_judgesense.trial import (
    ABSTAIN,
    TIE,
    Criterion,
    Design,
    Failed,
    Judgment,
    JudgmentOutcome,
    Unparsed,
    Verdict,
    is_number,
)

# Of tables without grades by criterion.
_VERDICTS: Final = ("verdict", "label", "order", "confidence")
_SHOWN_TEXT: Final = "field.output"
_MOST_GRADES: Final = 101
# What the names of several columns begin with, up to the part that tells them apart.
_SHARED: Final = re.compile(r".*[._ -]")


def imported_grades(options: ImportOptions) -> Imported:
    """The judgments of a table of grades, as ``judgesense import --grades`` reads it."""
    return read_grades(
        options.path,
        dict(options.grades),
        dict(options.people),
        dict(options.map),
        judge=options.judge,
        suite=options.suite,
        values=dict(options.value),
        labels=options.labels or (),
        pass_mark=options.pass_mark,
        lists=options.lists,
        joins=options.join,
        more=options.more,
        looked_at=options.looked_at,
    )


@dataclass(frozen=True)
class _GradeColumns:
    """The columns of the grades: by criterion one of the judge, and those of people."""

    judge: Mapping[str, str]
    people: Mapping[str, Sequence[str]]
    words: RenamedWords

    @property
    def all_columns(self) -> list[str]:
        return [*self.judge.values(), *(column for of in self.people.values() for column in of)]

    def text(self, row: Row, column: str) -> str:
        """A grade as the table has it, renamed; empty where there is none."""
        value = field_of(row.value, column)
        text = "" if value is None or value is ... else str(value).strip()
        text = "" if text.casefold() == "nan" else text
        return self.words(text) if text else ""


def _grade_columns(
    table: RowTable, grades: Mapping[str, str], people: Mapping[str, str], words: RenamedWords
) -> _GradeColumns:
    """The columns of grades; those of people as joined files have them, where nothing is said."""
    of_people = people or _people_of_rows(table, grades)
    return _GradeColumns(
        {criterion: columns_named(column, table)[0] for criterion, column in grades.items()},
        {criterion: columns_named(column, table) for criterion, column in of_people.items()},
        words,
    )


def read_grades(
    path: Path,
    grades: Mapping[str, str],
    people: Mapping[str, str],
    mapping: Mapping[str, str],
    *,
    judge: str | None = None,
    suite: str | None = None,
    values: Mapping[str, str] | None = None,
    labels: Sequence[str] = (),
    pass_mark: str | None = None,
    lists: Sequence[tuple[str, str]] = (),
    joins: Sequence[tuple[Path, str]] = (),
    more: Sequence[Path] = (),
    looked_at: RowTable | None = None,
) -> Imported:
    """The judgments of a table, a row each.

    Args:
        path: a table, as `files.tables` reads it.
        grades: by criterion the column of the judge's grade.
        people: by criterion the columns of people's grades, with ``+`` between them.
        mapping: from other fields of a judgment log to columns.
        judge: the judge of all rows, where no column names it; the file's name by default.
        suite: the suite of all rows, in the same way.
        values: from the words in columns of grades to the scale's, or to nothing.
        labels: the scale, the lowest grade first.
        pass_mark: the grade from which an output passes.
        lists: the columns that hold lists, and patterns of columns; see `files.reshaping`.
        joins: files with more columns of the rows, and the column of both.
        more: more files, whose rows follow.
        looked_at: the rows, where they were read already; then no column is taken by its name.

    Raises:
        UsageError: a column or a criterion is not there, or the scale is not known.
        LogError: a cell is no grade, or a row appears twice.
    """
    row_options = RowOptions(lists=tuple(lists), join=tuple(joins))
    table = looked_at or read_as_told(row_options, path, *more)
    rows = table.rows
    names = dict.fromkeys(table.columns)
    _refuse_options(grades, people, mapping, labels)
    words = RenamedWords(values or {})
    columns = _grade_columns(table, grades, people, words)
    mapping, nowhere = with_columns(mapping)
    used = refuse_columns(rows, mapping, names)
    named = {"judge": judge, "suite": suite}
    by_name = () if looked_at else [name for name in names if name not in nowhere]
    fields, notices = _fields(by_name, mapping, named)
    fixed, of_file = fixed_fields(path, named, fields)
    notices += of_file
    if (column := fields.get("replicate")) is not None:
        rows = tuple(numbered_replicates(rows, column, notices))
    _refuse_scores(path, rows, columns, is_scale_said=bool(labels))
    scale = tuple(labels) or _scale(path, rows, columns)
    if not labels:
        notices.append(f"grades are {scale[0]} to {scale[-1]}; --labels names another scale")
    design = _design(columns, scale, pass_mark)
    reader = JudgmentReader(fields, fixed, words)
    judgments = each_once(
        ((row, _judgment(row, reader.judgment(row), columns, scale)) for row in rows),
        {**fields, **{f"grade {name}": name for name in columns.all_columns}},
        remedy="name the column that tells them apart, by --map replicate=COLUMN or --map "
        "template=COLUMN; or leave the line out",
    )
    notices += words.unused(scale)
    graded = {name if name in names else name.partition(".")[0] for name in columns.all_columns}
    unused = left_out(rows, {*fields.values(), *used, *graded})
    of_design = tuple((judgment, design) for judgment in judgments)
    return Imported(of_design, (*table.notes, *unused, *notices))


def _design(columns: _GradeColumns, scale: tuple[str, ...], pass_mark: str | None) -> Design:
    """The design of a suite whose criteria are graded on one scale, the lowest grade first."""
    criteria = tuple(Criterion(name, scale) for name in columns.judge)
    is_ordinal, mark = all(map(is_number, scale)), _mark(pass_mark, scale)
    return Design(SUITE, scale, is_ordinal, criteria=criteria, pass_mark=mark)


def _fields(
    names: Collection[str], mapping: Mapping[str, str], named: Mapping[str, str | None]
) -> tuple[dict[str, str], list[str]]:
    """The column of each field, and a notice of an item that is called otherwise."""
    fields = {name: name for name in FIELDS if name in names and name not in _VERDICTS}
    fields |= mapping
    notices = []
    if "item" not in fields:
        if (column := column_of("item", names)) is None:
            raise UsageError(
                "no column holds the item",
                found="no column called id",
                expected="--map item=COLUMN",
            )
        fields["item"] = column
        notices.append(f"the item is column {column}; --map item=COLUMN names another")
    return {name: column for name, column in fields.items() if not named.get(name)}, notices


def _people_of_rows(table: RowTable, grades: Mapping[str, str]) -> dict[str, str]:
    """By criterion the columns that hold what people said of it, where a joined file had it a row.

    They are called ``people.CRITERION.PERSON``; of one criterion ``people.PERSON``.
    """
    of_people = [name for name in table.columns if name.startswith(PEOPLE)]
    by_criterion = {
        criterion: [name for name in of_people if name.startswith(f"{PEOPLE}{criterion}.")]
        for criterion in grades
    }
    if len(grades) == 1 and not any(by_criterion.values()):
        by_criterion = dict.fromkeys(grades, of_people)
    return {criterion: "+".join(names) for criterion, names in by_criterion.items() if names}


def _refuse_options(
    grades: Mapping[str, str],
    people: Mapping[str, str],
    mapping: Mapping[str, str],
    labels: Sequence[str],
) -> None:
    refuse_fields(mapping)
    if without := [criterion for criterion, column in grades.items() if not column]:
        raise UsageError(
            f"--grades names no column for {listed(without)}",
            expected="the column of the judge's grade of each criterion: "
            f"{without[0]}=COLUMN (people's stand under --people)",
        )
    if unknown := [criterion for criterion in people if criterion not in grades]:
        raise UsageError(
            f"--people is about what the judge does not grade: {listed(unknown)}",
            found=f"--grades {listed(grades)}",
            expected="criteria of --grades",
            remedy=f"add it: --grades {unknown[0]}=COLUMN",
        )
    if several := [name for name in mapping if name in _VERDICTS or of_verdicts(name)]:
        raise UsageError(
            f"--map {several[0]} is not used beside --grades",
            found=f"{several[0]} = {mapping[several[0]]}",
            expected="grades by criterion; people's stand under --people",
            remedy=f"leave out --map {several[0]}=..., or --grades",
        )
    if {TIE, ABSTAIN} & {*labels}:
        raise UsageError("a scale of grades has no tie and no abstention", found=",".join(labels))


def _scale(path: Path, rows: Iterable[Row], columns: _GradeColumns) -> tuple[str, ...]:
    """The whole numbers from the least to the greatest grade; a `UsageError` if words are there."""
    texts = {columns.text(row, column) for row in rows for column in columns.all_columns} - {""}
    scale = whole_scale(texts)
    if scale is None:
        raise UsageError(
            f"the scale of the grades in {path} is not known",
            found=listed(sorted(texts)) or "no grade",
            expected="whole numbers, or the scale with its lowest grade first",
            remedy="name it: --labels 1,2,3,4,5; what states no grade: --value WORD=",
        )
    return scale


def _refuse_scores(
    path: Path, rows: Iterable[Row], columns: _GradeColumns, *, is_scale_said: bool
) -> None:
    """Raise a `UsageError` if a criterion has decimals, or more numbers than a scale has grades.

    Grades of several criteria are levels; a score is read by itself, in a suite of its criterion.
    """
    scores = {}
    for criterion, column in columns.judge.items():
        texts = {columns.text(row, column) for row in rows} - {""}
        numbers = [number for number in map(number_of, texts) if number is not None]
        if not numbers or len(numbers) < len(texts):
            continue
        is_short = max(numbers) - min(numbers) < _MOST_GRADES
        if not is_short or not all(map(float.is_integer, numbers)):
            scores[criterion] = min(texts, key=lambda text: float(text).is_integer())
    if is_scale_said or not scores:
        return
    criterion, example = next(iter(scores.items()))
    raise UsageError(
        f"{path} holds scores, and no grades of a scale, of {listed(scores)}",
        found=f"{example} in column {columns.judge[criterion]}",
        expected="whole numbers of a scale of at most 101 grades in each column of --grades",
        remedy=_as_scores(columns, criterion),
    )


def _as_scores(columns: _GradeColumns, criterion: str) -> str:
    """How the scores of criteria are read: by a pattern of their columns, or one after another."""
    alone = (
        f"import each by itself: {option_words('--map', 'verdict', columns.judge[criterion])} "
        f"--suite {quote(criterion)}"
    )
    letters = zip(*columns.judge.values(), strict=False)
    alike = takewhile(lambda of_all: len({*of_all}) == 1, letters)
    shared = _SHARED.match("".join(of_all[0] for of_all in alike))
    if shared is None or len(columns.judge) < 2:
        return alone
    pattern = option_words("--lists", shared[0] + "{suite}", "verdict")
    return f"make a suite of each: {pattern} --map verdict=verdict --map suite=suite; or {alone}"


def _mark(pass_mark: str | None, scale: Sequence[str]) -> float | None:
    if pass_mark is None:
        return None
    place = position(pass_mark, scale)
    if not place > 0:
        raise UsageError(
            f"--pass-mark {pass_mark} is no mark on the scale",
            found=pass_mark,
            expected=f"a grade above the lowest: {listed(scale[1:])}, or a number between two",
        )
    return place / (len(scale) - 1)


def _judgment(
    row: Row, judgment: Judgment, columns: _GradeColumns, scale: Sequence[str]
) -> Judgment:
    """The judgment of a row with its grades, and those of people."""
    grades = dict(_grades(row, columns, scale))
    outcome: JudgmentOutcome = judgment.outcome
    if not isinstance(outcome, Failed):
        stated = json.dumps(grades, separators=(",", ":"), ensure_ascii=False)
        outcome = Verdict(stated) if any(grades.values()) else Unparsed("no grade")
    people = {
        criterion: {
            _person(column, criterion): grade
            for column, grade in _of_people(row, columns, persons, scale)
        }
        for criterion, persons in columns.people.items()
    }
    trial = judgment.trial
    condition: dict[str, Any] = dict(trial.condition)
    shown: Mapping[str, str] = ((judgment.detail or {}).get("source") or {}).get("fields", {})
    if (text := shown.get(_SHOWN_TEXT.partition(".")[2])) is not None:
        condition[WORDS] = length(text)
    people = {criterion: said_of for criterion, said_of in people.items() if said_of}
    trial = replace(trial, condition=condition, people=people)
    return replace(judgment, trial=trial, outcome=outcome)


def _person(column: str, criterion: str) -> str:
    """Who gave the grades in a column: its name, without what a joined file is told by."""
    person = column.removeprefix(PEOPLE)
    return column if person == column else person.removeprefix(f"{criterion}.")


def _grades(
    row: Row, columns: _GradeColumns, scale: Sequence[str]
) -> Iterator[tuple[str, str | None]]:
    for criterion, column in columns.judge.items():
        text = columns.text(row, column)
        grade = grade_of(text, scale)
        if text and grade is None:
            raise _no_grade(row, column, text, scale, "nothing")
        yield criterion, grade


def _of_people(
    row: Row, columns: _GradeColumns, persons: Sequence[str], scale: Sequence[str]
) -> Iterator[tuple[str, str]]:
    for person in persons:
        text = columns.text(row, person)
        number = text.replace(",", ".")
        grade = grade_of(text, scale)
        if text and grade is None and math.isnan(position(number, scale)):
            raise _no_grade(row, person, text, scale, "a number between two, or nothing")
        if text:
            yield person, grade or number


def _no_grade(row: Row, column: str, text: str, scale: Sequence[str], more: str) -> LogError:
    return LogError(
        f"{row.where}: column {column} holds no grade",
        found=text,
        expected=f"a grade of the scale {listed(scale)}; or {more}",
        remedy=f"fix it, rename it ({option_words('--value', text, scale[0])}), take it out "
        f"({option_words('--value', text, '')}), or name the scale: --labels LOWEST,...,HIGHEST",
    )


IMPORTERS: Final = (Importer("table", imported_grades, option="grades"),)
