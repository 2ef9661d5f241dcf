"""The labels that people give to the items of a suite: a CSV file beside the suite file.

``pairs.people.csv`` belongs to ``pairs.suite.toml``. A line is an answer of one person about one
item, by one criterion where the suite has criteria. The file only grows, so that its versions merge
line by line and a killed session loses nothing. The last line of an item, person and criterion
counts; an empty label withdraws the answer. Each line holds the digest of the text that was
labelled: an answer is one about that text, wherever it stands by now, see `suites.labelled_texts`.
A last line whose writing was interrupted is no answer: it is left out where the file is read, and
cut off where a line is appended.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, get_args

from pytest_judgesense.errors import SuiteError, listed
from pytest_judgesense.files.opening import UnfinishedLine, open_bytes, read_bytes, text_so_far
from pytest_judgesense.files.output import alone, append_whole, cut_off
from pytest_judgesense.files.rows import csv_rows, harmless_cell, text_of_cell
from pytest_judgesense.suites.item import ITEM_ID, Item
from pytest_judgesense.trial import Drawn

SKIPPED: Final = "skipped"
COLUMNS: Final = ("item", "person", "label", "criterion", "note", "drawn", "labelled_at", "text")
_HEADER: Final = ",".join(COLUMNS)
_SUITE_END: Final = ".suite.toml"
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
# Of the digest of an item: as many digits name its text in a file that people read.
_TEXT_DIGITS: Final = 16
_TEXT: Final = re.compile(rf"[0-9a-f]{{{_TEXT_DIGITS}}}")
# With what every line ends, its line break aside.
_END_OF_LINE: Final = re.compile(rf",{_TIME.pattern},{_TEXT.pattern}$", re.MULTILINE)
_PART_OF_TEXT: Final = re.compile(rf"[0-9a-f]{{0,{_TEXT_DIGITS - 1}}}")
# Others hold the lock while they read and append, which takes milliseconds.
_PATIENCE_S: Final = 10.0
_REMEDY: Final = "mend the line, or delete it: the other answers stay"


@dataclass(frozen=True, slots=True)
class PersonLabel:
    """An answer of a person about an item, as a line of the file.

    Attributes:
        label: in the terms of the content: ``1``, ``2`` or ``tie`` of a pair (never the slot in
            which it was shown), a label of the suite, a grade; `SKIPPED`; empty for an answer that
            is withdrawn.
        criterion: by which a grade was given, where the suite has criteria; otherwise empty.
        drawn: how the items were drawn: from all with the same chance, from groups, or for what
            was seen of them.
        labelled_at: UTC, ``2026-01-31T12:00:00Z``.
        text: what was labelled, as `labelled_text` names it.
        line: its number in the file; 0 before it is there.
    """

    item: str
    person: str
    label: str
    criterion: str
    note: str
    drawn: Drawn
    labelled_at: str
    text: str
    line: int = field(default=0, compare=False)

    @property
    def counts(self) -> bool:
        """Whether it is a label: neither withdrawn nor skipped."""
        return self.label not in ("", SKIPPED)


def labelled_text(item: Item) -> str:
    """The name of what an item shows, whatever its id: the first digits of its digest."""
    return item.digest[:_TEXT_DIGITS]


def people_file(suite_file: Path) -> Path:
    """The file of people's labels of a suite file; it need not exist."""
    return suite_file.with_name(f"{suite_file.name.removesuffix(_SUITE_END)}.people.csv")


class PeopleLines(NamedTuple):
    """What a file of people's labels holds.

    Attributes:
        labels: of all its lines, in order.
        unfinished: its last line, if the writing of that was interrupted.
    """

    labels: tuple[PersonLabel, ...]
    unfinished: UnfinishedLine | None = None


def people_lines(path: Path) -> PeopleLines:
    """All lines of a file of people's labels; none if there is no such file.

    Raises:
        SuiteError: it cannot be read, or a line is not of the form; names file and line.
    """
    content, unfinished = _content(path)
    return PeopleLines(_labels_of(path, content), unfinished)


def read_people(path: Path) -> tuple[PersonLabel, ...]:
    """The labels of `people_lines`; raises the same."""
    return people_lines(path).labels


def is_of_people(path: Path) -> bool:
    """Whether the first line of a table names the columns of people's labels, or all but the texts.

    Raises:
        OSError: it cannot be opened.
    """
    with open_bytes(path) as file:
        header = file.readline(10 * len(_HEADER)).decode("utf-8-sig", "replace")
    return {name.strip(' "\r\n') for name in re.split("[,;\t]", header)} | {"text"} == {*COLUMNS}


def in_force(labels: Iterable[PersonLabel]) -> dict[tuple[str, str, str], PersonLabel]:
    """The answers that count, by item, person and criterion, the latest at the end.

    Withdrawn answers are left out, skipped items are not: see `PersonLabel.counts`.
    """
    latest: dict[tuple[str, str, str], PersonLabel] = {}
    for answer in labels:
        key = (answer.item, answer.person, answer.criterion)
        latest.pop(key, None)
        if answer.label:
            latest[key] = answer
    return latest


def skipped_words(count: int) -> str:
    """What is to be said of drawn items without a label."""
    items = "item was" if count == 1 else "items were"
    return f"{count} drawn {items} skipped: 0 for the lower end of the interval, 1 for the upper"


def labels_settle(needed: int, skipped: int) -> str:
    """That skipped labels alone leave something open, and how many of them would settle it."""
    labels = "label" if needed == 1 else "labels"
    return (
        f"only skipped labels leave it open: about {needed} {labels} of the {skipped} skipped, if "
        "like the others, would settle it (judgesense label shows them again)"
    )


def append_people(
    path: Path, answers: Callable[[tuple[PersonLabel, ...]], Sequence[PersonLabel]]
) -> tuple[PersonLabel, ...]:
    """Append what ``answers`` makes of the lines of a file, alone among processes, and sync it.

    Returns:
        The lines before and the appended ones.

    Raises:
        SuiteError: the file cannot be read, locked or written, or is a link out of its folder. What
            was in it stays.
    """
    alone_in = alone(
        path,
        SuiteError,
        expected="a file beside the suite file",
        remedy="remove the link",
        patience_s=_PATIENCE_S,
    )
    with alone_in:
        content, unfinished = _content(path)
        before = _labels_of(path, content)
        added = tuple(answers(before))
        if added:
            if unfinished is not None:
                cut_off(path, unfinished)
            _append(path, content, added)
    return (*before, *added)


def _append(path: Path, content: str, added: Sequence[PersonLabel]) -> None:
    """Write the lines in one piece; without a header the file gets one."""
    lines = io.StringIO(newline="")
    writer = csv.writer(lines, lineterminator="\n")
    if not content:
        writer.writerow(COLUMNS)
    elif (header := content.partition("\n")[0]).removeprefix("\ufeff") != _HEADER:
        raise _not_of_the_form(path, 1, header, _HEADER)
    elif not content.endswith("\n"):
        lines.write("\n")
    first = content.count("\n") + 1
    for number, answer in enumerate(added, start=first):
        # Without the number of its line.
        cells = [harmless_cell(text) for text in astuple(answer)[: len(COLUMNS)]]
        _label_of(path, number, dict(zip(COLUMNS, cells, strict=True)))  # what is kept can be read
        writer.writerow(cells)
    append_whole(path, lines.getvalue())


def _content(path: Path) -> tuple[str, UnfinishedLine | None]:
    """The text of the whole lines of the file, and the line behind them that is unfinished."""
    with SuiteError.instead_of(
        (OSError, UnicodeDecodeError),
        f"the labels of people in {path} cannot be read",
        expected="a CSV file in UTF-8",
    ):
        try:
            data = read_bytes(path)
        except FileNotFoundError:
            return "", None
        content = text_so_far(data)
        last = _last_row(content)
        if not _is_unfinished(last, content):
            # Elsewhere a character that is cut off is a fault.
            data.decode("utf-8")
            return content, None
    whole = content[: len(content) - len(last)]
    return whole, UnfinishedLine.at(data, whole.count("\n") + 1)


def _last_row(content: str) -> str:
    """What stands behind the last line break that ends a row; others are in the quotes of a cell.

    Of a file that ends as it should: nothing.
    """
    begins, ends, is_quoted = 0, 0, False
    *lines, _ = content.split("\n")
    for line in lines:
        ends += len(line) + 1
        is_quoted ^= line.count('"') % 2 == 1
        if not is_quoted:
            begins = ends
    return content[begins:]


def _is_unfinished(last: str, content: str) -> bool:
    """Whether the ``last`` row of a file is one that was cut off in mid-write, by its ending.

    Others are the work of an editor: a whole line without a line break, or one that was edited.
    """
    if last == content:
        return _HEADER.startswith(last) and last not in ("", _HEADER)
    if content.partition("\n")[0].removeprefix("\ufeff") != _HEADER or not last.strip():
        return False
    if last.endswith("\0"):  # a machine that lost its power may leave zeros
        return True
    if _END_OF_LINE.search(last):
        return False
    if last.count('"') % 2:
        return True
    cells = next(csv.reader(io.StringIO(last, newline="")))
    return len(cells) < len(COLUMNS) or (
        len(cells) == len(COLUMNS) and _PART_OF_TEXT.fullmatch(cells[-1]) is not None
    )


def _labels_of(path: Path, content: str) -> tuple[PersonLabel, ...]:
    if not content:
        return ()
    rows = list(csv_rows(path, content.removeprefix("\ufeff"), SuiteError))
    names = set(rows[0][1]) if rows else {*COLUMNS}
    if names == {*COLUMNS} - {"text"}:
        raise _without_texts(path)
    if names != {*COLUMNS}:
        raise _not_of_the_form(path, 1, listed(rows[0][1]), f"columns {listed(COLUMNS)}")
    return tuple(_label_of(path, number, row) for number, row in rows)


def _label_of(path: Path, number: int, row: dict[str, str]) -> PersonLabel:
    expected = {
        "item": "the id of an item",
        "person": "a name of letters, digits, '.', '_' and '-'",
        "drawn": " or ".join(get_args(Drawn)),
        "labelled_at": "a time as in 2026-01-31T12:00:00Z",
        "text": f"{_TEXT_DIGITS} hexadecimal digits, those of the text that was labelled",
    }
    texts = {column: text_of_cell(cell) for column, cell in row.items()}
    valid = {
        "item": ITEM_ID.fullmatch(texts["item"]),
        "person": ITEM_ID.fullmatch(texts["person"]),
        "drawn": texts["drawn"] in get_args(Drawn),
        "labelled_at": _TIME.fullmatch(texts["labelled_at"]),
        "text": _TEXT.fullmatch(texts["text"]),
    }
    for column, is_valid in valid.items():
        if not is_valid:
            found = f"{column} = {texts[column]!r}"
            raise _not_of_the_form(path, number, found, f"{column}: {expected[column]}")
    return PersonLabel(**texts, line=number)  # type: ignore[arg-type] # the columns are its fields


def _without_texts(path: Path) -> SuiteError:
    """Nothing tells whether such labels are of the texts as they are: their file is left alone."""
    return SuiteError(
        f"{path} does not say which texts people labelled",
        found="no column text",
        expected=f"columns {listed(COLUMNS)}",
        remedy="move the file aside, and label again: judgesense label; or, if no text has changed "
        "since, give the items a column of each person: columns = { people = [...] }",
    )


def _not_of_the_form(path: Path, number: int, found: str, expected: str) -> SuiteError:
    return SuiteError(
        f"{path}:{number} is not a line of people's labels",
        found=found,
        expected=expected,
        remedy=_REMEDY,
    )
