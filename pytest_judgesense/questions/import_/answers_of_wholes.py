"""Verdicts and labels such as ``4/5`` and ``36%`` become plain numbers, and state their ends.

Names of items and wordings that look alike stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.files.assignments import option_words
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.judgment_fields import of_one_order
from pytest_judgesense.files.proposals import Setting, ShownSetting
from pytest_judgesense.files.reshaping import PEOPLE
from pytest_judgesense.files.rows import Row, field_of
from pytest_judgesense.files.tables import RowTable
from pytest_judgesense.questions.import_.column_facts import ColumnFacts
from pytest_judgesense.suites.parts_of_whole import (
    PERCENT,
    part_of_whole,
    range_to,
    wholes_of,
    without_whole,
)
from pytest_judgesense.suites.space import number_of

_ANSWERS: Final = ("verdict", "label")


def range_of_wholes(
    columns: Mapping[str, ColumnFacts], chosen: ImportOptions
) -> ShownSetting | None:
    """The ends that verdicts and labels state themselves; ``None`` where these are other words.

    Raises:
        UsageError: they state several ends, or shares from 0 to 1 stand beside per cents.
    """
    answers = _words_of_answers(columns, chosen)
    stating = {name: wholes for name, words in answers.items() if (wholes := wholes_of(words))}
    if not stating:
        return None
    every_whole = sorted({whole for wholes in stating.values() for whole in wholes})
    if len(every_whole) > 1:
        raise _several_wholes(answers, every_whole)
    whole = every_whole[0]
    for name in answers.keys() - stating.keys():
        _refuse_shares(name, answers[name], listed(stating), whole)
    plain = (without_whole(word) for words in answers.values() for word in words)
    numbers = [number for number in map(number_of, plain) if number is not None]
    why = f"{listed(stating)}: per cents" if whole == PERCENT else f"{listed(stating)}: of {whole}"
    return ShownSetting(Setting("range", range_to(whole, min(numbers)).ends), why)


def _words_of_answers(
    columns: Mapping[str, ColumnFacts], chosen: ImportOptions
) -> dict[str, list[str]]:
    """By the column of verdicts, of labels or of a person its words, but for those renamed."""
    renamed = {word.casefold() for word, _ in chosen.value}
    return {
        column: [
            word for word in columns[column].written if word and word.casefold() not in renamed
        ]
        for name, column in chosen.map
        if _is_of_answers(name) and column in columns
    }


def _is_of_answers(name: str) -> bool:
    """Whether a field holds what a judge or people said, in one order or in both."""
    plain = name.rpartition(".")[0] if of_one_order(name) else name
    return plain in _ANSWERS or name.startswith(PEOPLE)


def _several_wholes(answers: Mapping[str, list[str]], wholes: list[int]) -> UsageError:
    """The error for words of several wholes, with one of each."""
    by_whole = {
        part.whole: f"{word} in column {column}"
        for column, words in answers.items()
        for word in sorted({*words}, reverse=True)
        if (part := part_of_whole(word)) is not None
    }
    word = by_whole[wholes[-1]].partition(" in column ")[0]
    return UsageError(
        "verdicts and labels are numbers of several scales",
        found=listed(by_whole[whole] for whole in wholes),
        expected="one end in all rows, such as 5 in 4/5",
        remedy="write them on one scale in the file; or say which number each means: "
        + option_words("--value", word, "NUMBER"),
    )


def _refuse_shares(name: str, words: list[str], of_per_cents: str, whole: int) -> None:
    """Raise a `UsageError` for a column of shares from 0 to 1 beside per cents."""
    numbers = [number for number in map(number_of, words) if number is not None]
    are_shares = all(0 <= number <= 1 for number in numbers)
    if whole == PERCENT and are_shares and any(0 < number < 1 for number in numbers):
        raise UsageError(
            f"{of_per_cents} holds per cents, and {name} shares from 0 to 1",
            found=listed(sorted({*words})[:3]),
            expected="verdicts and labels on one scale",
            remedy=f"write {name} in per cents in the file",
        )


def with_plain_answers(
    table: RowTable, columns: Mapping[str, ColumnFacts], chosen: ImportOptions
) -> RowTable:
    """The table with plain numbers in the columns of answers and grades that are of one whole."""
    answers = _words_of_answers(columns, chosen)
    graded = [column for _, of in (*chosen.grades, *chosen.people) for column in of.split("+")]
    answers |= {
        column: list(filter(None, columns[column].written))
        for column in graded
        if column in columns
    }
    of_wholes = [name for name, words in answers.items() if wholes_of(words)]
    if not of_wholes:
        return table
    renamed = {word.casefold() for word, _ in chosen.value}
    rows = tuple(
        replace(row, value={**row.value, **dict(_plain_cells(row, of_wholes, renamed))})
        for row in table
    )
    return replace(table, rows=rows)


def _plain_cells(row: Row, of_wholes: list[str], renamed: set[str]) -> Iterator[tuple[str, str]]:
    for column in of_wholes:
        cell = field_of(row.value, column)
        if isinstance(cell, str) and cell.strip().casefold() not in renamed:
            yield column, without_whole(cell)
