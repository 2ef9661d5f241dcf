"""A published design as a value: the suites that it asks, its tables and its figures.

A room gives its paper as it gives its measures (`registry.Instrument.papers`); ``judgesense paper
NAME`` measures the suites and shows what the paper makes of the datasheet. Tables are values, and
every rendering shows the same digits.

A room may give an `ItemWriting` with its paper, by which models write further items; ``judgesense
paper NAME --generate`` says who writes, on which terms, as a `WritingOrder`, and shows the
`WrittenItems`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_judgesense.cassettes.opening import Mode
    from pytest_judgesense.datasheets.datasheet import Datasheet
    from pytest_judgesense.datasheets.figures import Found
    from pytest_judgesense.files.first_sight import FirstSight
    from pytest_judgesense.files.foreign_results import Imported
    from pytest_judgesense.judges.spec import JudgeSpec
    from pytest_judgesense.judges.throttle import Budget
    from pytest_judgesense.judges.trial_call import Call
    from pytest_judgesense.measures.cell import Cell


class WritingOrder(NamedTuple):
    """What models are to write, and on which terms they are asked.

    Attributes:
        writers: two and two of them write together.
        topics: the file of what they write about, a topic a line; ``None`` for the built-in topics.
        style: how they write.
        temperature: of all their calls; a writer that sends none goes on sending none.
        cassettes: the folder of the recordings.
        mode: ``replay`` makes no calls; ``record`` makes those that are not recorded yet.
        concurrency: how many items are under way at once.
        budget: the limits.
        how_to_record: what an error about a missing recording tells to do.
    """

    writers: Sequence[JudgeSpec]
    topics: Path | None
    style: str
    temperature: float
    cassettes: Path
    mode: Mode
    concurrency: int
    budget: Budget
    how_to_record: str


class WriterCalls(NamedTuple):
    """What one writer is asked.

    Attributes:
        writer: as it is asked.
        calls: how many there are.
        to_make: those without a recorded answer; a text that nobody has written yet is as long in
            their prompts as it may become.
    """

    writer: JudgeSpec
    calls: int
    to_make: Sequence[Call]


class WrittenItems(NamedTuple):
    """What was written.

    Attributes:
        lines: the complete items, each a JSON text in the form of the suite's stimuli.
        wanted: how many there were to be.
        notices: what readers of them should know.
    """

    lines: tuple[str, ...]
    wanted: int
    notices: tuple[str, ...]


class ItemWriting(NamedTuple):
    """How models write further items for the design of a paper.

    Attributes:
        items: what they write, in the plural.
        styles: how they may write; the first is the usual one.
        plan: from an order to what each writer is asked; no call is made and no code is run.
        write: from an order to what they wrote. Raises a `UsageError` if it cannot be written so, a
            `CassetteError` if a recording does not serve, a `JudgeError` if a writer cannot be
            asked, and `LimitReached` if a call would pass a limit; the answers so far are recorded.
    """

    items: str
    styles: tuple[str, ...]
    plan: Callable[[WritingOrder], Sequence[WriterCalls]]
    write: Callable[[WritingOrder], WrittenItems]


# An end of an interval; a text is one beyond the measured range, such as `<= 1`.
End: TypeAlias = "float | str"
# A cell of a table; two ends are an interval, and `None` is what was not measured.
Value: TypeAlias = "str | int | float | tuple[End, End] | None"

# What the name of a preset has at its end for about a fifth of the design.
QUICK: Final = "-quick"


class Table(NamedTuple):
    """A table as a paper prints it.

    Attributes:
        name: lower-case letters, digits and ``-``: in names of files and in LaTeX labels.
        caption: what it shows, in sentences that a paper could print.
        rows: of as many cells as there are columns, numbers unrounded.
        notes: sentences below it.
        digits: decimals of its numbers.
        keys: how many columns at its left say what a row is; a narrow screen repeats them.
    """

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    notes: tuple[str, ...] = ()
    digits: int = 3
    keys: int = 1

    def texts(self) -> list[list[str]]:
        """The cells of all rows as text."""
        return [[cell_text(cell, self.digits) for cell in row] for row in self.rows]

    def records(self) -> list[dict[str, Value]]:
        """The rows as values by column."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def first(self, lines: int) -> Table:
        """Its first lines, and how many more there are."""
        more = len(self.rows) - lines
        if more <= 0:
            return self
        notes = (*self.notes, f"{more:,} more lines: -o FILE")
        return self._replace(rows=self.rows[:lines], notes=notes)


class Arm(NamedTuple):
    """A part of a design.

    Attributes:
        name: in words.
        suite: ``NAME@PRESET``, whose trials it is, or a part of them.
        trials: how many verdicts it asks of a judge, all runs counted.
        calls: how many calls they take.
        beyond: whether the paper does not have it.
    """

    name: str
    suite: str
    trials: int
    calls: int
    beyond: bool = False


class LogForm(NamedTuple):
    """A form of foreign files with judgments on the design of a paper.

    Attributes:
        name: what they are, in words.
        holds: from the first look at a file or folder to whether it is one.
        read: from all of them to the judgments. A `LogError` says what of them is malformed.
    """

    name: str
    holds: Callable[[FirstSight], bool]
    read: Callable[[Sequence[Path]], Imported]


class Paper(NamedTuple):
    """A published design, and what its paper prints.

    Attributes:
        name: as ``judgesense paper NAME`` has it.
        title: of the publication.
        cite: how to cite it, in a line.
        arms: together all trials of its suites.
        tables: from a datasheet and its cells, one for each judge and suite, to the tables.
        figures: from the same to the figures.
        writing: how models write further items for it; ``None`` if they do not.
        kinds: of the suites whose judgments its tables are made of; others of a log are left out.
        forms: of foreign files that hold such judgments.
        measured_by: the measure that a column shows, which says why it has no value.
        why_absent: why a column has no value, where no measure says it.
        lacking: what of it cannot be had on this machine, and why: said before the first call.
    """

    name: str
    title: str
    cite: str
    arms: tuple[Arm, ...]
    tables: Callable[[Datasheet, Sequence[Cell]], Iterable[Table]]
    figures: Callable[[Datasheet, Sequence[Cell]], Iterable[Found]] = lambda *_: ()
    writing: ItemWriting | None = None
    kinds: tuple[str, ...] = ()
    forms: tuple[LogForm, ...] = ()
    measured_by: Mapping[str, str] = MappingProxyType({})
    why_absent: Mapping[str, str] = MappingProxyType({})
    lacking: Callable[[], Iterable[str]] = lambda: ()

    def suites(self, *, quick: bool = False) -> tuple[str, ...]:
        """The suites that it runs, ``NAME@PRESET``, each once; ``quick``: their small presets."""
        return tuple(
            f"{suite}{QUICK * quick}" for suite in dict.fromkeys(a.suite for a in self.arms)
        )


class Printed(NamedTuple):
    """What a paper made of a datasheet."""

    paper: Paper
    tables: tuple[Table, ...]
    figures: tuple[Found, ...]


def printed(paper: Paper, sheet: Datasheet, cells: Sequence[Cell]) -> Printed:
    """The tables and figures of ``paper`` for what was measured; empty cells have their reasons."""
    tables = [_with_reasons(table, paper, sheet) for table in paper.tables(sheet, cells)]
    if tables and (absent := _not_measured(paper, sheet)):
        tables[0] = tables[0]._replace(notes=(*tables[0].notes, *absent))
    return Printed(paper, tuple(tables), tuple(paper.figures(sheet, cells)))


_NOT_AVAILABLE: Final = "N/A"


def not_available(
    columns: Sequence[str], rows: Iterable[Sequence[Value]], reasons: Mapping[str, str]
) -> tuple[str, ...]:
    """A note of each reason why columns have empty cells, for the notes of a `Table`.

    Args:
        columns: the headings.
        rows: as the table has them.
        reasons: by heading, a phrase each.
    """
    rows = list(rows)
    by_reason: dict[str, list[str]] = {}
    for place, head in enumerate(columns):
        if head in reasons and any(row[place] is None for row in rows):
            by_reason.setdefault(reasons[head], []).append(head)
    return tuple(_note(heads, reason) for reason, heads in by_reason.items())


def _note(heads: Iterable[str], reason: str) -> str:
    return f"{_NOT_AVAILABLE}: {', '.join(heads)}: {reason}"


def _with_reasons(table: Table, paper: Paper, sheet: Datasheet) -> Table:
    """The table, with the reason of each empty cell for which it gives none itself."""
    if any(note.startswith(_NOT_AVAILABLE) for note in table.notes):
        return table
    if not table.rows and not table.notes:
        return table._replace(notes=(f"{_NOT_AVAILABLE}: nothing of it was measured",))
    by_reason: dict[str, dict[str, None]] = {}
    for row in table.rows:
        for head, cell in zip(table.columns, row, strict=True):
            if cell is None:
                for reason in _reasons(head, str(row[0]), paper, sheet):
                    by_reason.setdefault(reason, {})[head] = None
    notes = (_note(heads, reason) for reason, heads in by_reason.items())
    return table._replace(notes=(*table.notes, *notes))


def _reasons(head: str, row: str, paper: Paper, sheet: Datasheet) -> Iterator[str]:
    """Why the row of a judge, or of one of its configurations, has no value in a column."""
    measure = paper.measured_by.get(head)
    # A configuration is called JUDGE:PROMPT.
    estimates = [
        estimate
        for judge in sheet.judges
        if row == judge.name or row.startswith(f"{judge.name}:")
        for estimate in judge.estimates
        if estimate.measure == measure
    ]
    stated = dict.fromkeys(e.unavailable for e in estimates if e.unavailable)
    yield from stated or (paper.why_absent.get(head, "there is nothing that it is taken of"),)


def _not_measured(paper: Paper, sheet: Datasheet) -> list[str]:
    """The suites of a paper of several on which no judge was measured."""
    bases = [suite.partition("@")[0] for suite in paper.suites()]
    names = {part.suite for judge in sheet.judges for part in judge.parts}
    absent = [base for base in bases if not any(base in name for name in names)]
    if not absent or len(bases) == 1:
        return []
    return [_note(absent, "there are no judgments on such a suite")]


def cell_text(cell: Value, digits: int = 3) -> str:
    """A cell as every rendering shows it; no negative zero."""
    if cell is None:
        return "N/A"
    if isinstance(cell, tuple):
        return f"[{', '.join(cell_text(end, digits) for end in cell)}]"
    if isinstance(cell, float):
        text = f"{cell:.{digits}f}"
        return text.lstrip("-") if not float(text) else text
    return str(cell)
