"""What instruments and plugins add to the report, as values that renderers iterate over.

A *section* is a table of one judge on one suite, a *comparison* sets the judges of a run side by
side on one. Tables are plain values: ``{"analysis": name, "suite": ..., "rows": [...]}``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from pytest_judgesense.errors import ExtensionError, JudgesenseError
from pytest_judgesense.estimate import Estimate

if TYPE_CHECKING:  # a plugin imports this when pytest starts
    from pytest_judgesense.datasheet import Datasheet
    from pytest_judgesense.figures import Found
    from pytest_judgesense.measures.cell import Cell
    from pytest_judgesense.profile import Word
    from pytest_judgesense.suites.suite import Suite
    from pytest_judgesense.trial import Judgment

Row: TypeAlias = Mapping[str, Any]
Rows: TypeAlias = Sequence[Row]
Analysis: TypeAlias = Mapping[str, Any]
Estimates: TypeAlias = tuple[Estimate, ...]

_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


class Beside(NamedTuple):
    """An estimate of a condition that the terminal shows, with other words in its line."""

    estimate: Estimate
    words: str
    only_gated: bool


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A table of one judge on one suite, beside its estimates.

    Attributes:
        name: of the table: lower-case letters, digits and ``_``.
        rows: from a cell, its estimates and the suite, where more than a log of it is known, to
            plain values; ``None``, or of a plugin no row, for no table.
        lines: from the rows to what people read.
        kinds: the kinds of suites that have it; empty for all.
        figures: from a datasheet to the figures of a page.
        only_drawn: the rows are points of a figure, too many for a table to be read.
        covers: keys of conditions whose estimates a terminal leaves to the table.
        every: one of these keys, if a check without it holds at every value of it; estimates that a
            check gates at one value have a row each.
        beside: estimates of ``covers`` that the terminal shows below their measure nevertheless.
        flips: pairs of judgments that contradict one another in what the instrument varies, and
            what that is called.
        brief: from the rows to a word or two in the one line of the suite.
        source: the plugin that adds it; set when it is added.

    Raises:
        ValueError: the name is of another form.
    """

    name: str
    rows: Callable[[Cell, Estimates, Suite | None], Rows | None] = lambda *_: None
    lines: Callable[[Rows], Iterable[str]] = lambda _: ()
    kinds: tuple[str, ...] = ()
    figures: Callable[[Datasheet], Iterable[Found]] = lambda _: ()
    only_drawn: bool = False
    covers: tuple[str, ...] = ()
    every: str = ""
    beside: Callable[[Iterable[Estimate]], Iterable[Beside]] = lambda _: ()
    flips: Callable[[Cell], Iterable[tuple[Judgment, Judgment, str]]] = lambda _: ()
    brief: Callable[[Rows], str] = lambda _: ""
    source: str = ""

    def __post_init__(self) -> None:
        _verify(self.name)

    @property
    def all_names(self) -> tuple[str, ...]:
        """The name of its one table."""
        return (self.name,)

    def contradictions(self, cell: Cell) -> Iterable[tuple[Judgment, Judgment, str]]:
        """The ``flips`` of a cell of its kinds."""
        return self.flips(cell) if _is_of(cell, self.kinds) else ()

    def analysis(self, cell: Cell, estimates: Estimates, suite: Suite | None) -> Analysis | None:
        """The table of a cell; ``None`` where it has none.

        A plugin's holds its lines, so that it can be shown where the plugin is not installed; an
        `ExtensionError` names the plugin that gave no such rows or lines.
        """
        if not _is_of(cell, self.kinds):
            return None
        if not self.source:
            found = self.rows(cell, estimates, suite)
            return None if found is None else _table(self.name, cell.suite, found)
        try:
            # By JSON and back: what workers send and files hold is what is shown.
            given = list(self.rows(cell, estimates, suite) or ())
            rows = json.loads(json.dumps(given, allow_nan=False))
            lines = [str(line) for line in self.lines(rows)] if rows else []
        except JudgesenseError:
            raise
        except Exception as error:
            raise ExtensionError(
                f"report section {self.name!r} of plugin {self.source} cannot be made of judge "
                f"{cell.judge} on suite {cell.suite}",
                found=f"{type(error).__name__}: {error}",
                expected="rows of plain values, and lines of text",
                remedy="fix the plugin",
            ) from error
        return {**_table(self.name, cell.suite, rows), "lines": lines} if rows else None


class Entrant(NamedTuple):
    """One judge of a comparison: what its sheet of the suite holds."""

    judge: str
    name: str
    material: Mapping[str, Any] | None
    analyses: Sequence[Analysis]


class Digits(str):
    """A cell of digits and words of the instrument; any other is shown as code."""

    __slots__ = ()


class Board(NamedTuple):
    """A comparison in words: a table of texts, and sentences below it."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """What compares the judges of a run on one suite.

    Attributes:
        name: of its first table, the one that its words and its board are drawn up from.
        tables: from the suite's name, its judges, the seed and whether secondary analyses are
            wanted to rows by name of the table; nothing where there is nothing to compare.
        board: from a suite and the rows of its tables to what Markdown shows.
        lines: from the same to lines of a terminal, laid out.
        names: of all tables.
        secondary: names of those that take an optional package, made for files alone.
        kinds: the kinds of suites whose judges it compares by their material; empty for all.
        material: from a cell of one of them to what the comparison needs of it, plain values.
        figures: from a datasheet to the figures of a page.
        apart: whether a terminal shows it in a separate section, above the datasheet.
        first: from a suite and its judges to a number: suites with a greater one come first, those
            with the same in alphabetical order.
        brief: from a suite and the rows of its tables to the line or two of a summary, each of
            which may be cut.
        source: the plugin that adds it; set when it is added.

    Raises:
        ValueError: a name is of another form.
    """

    name: str
    tables: Callable[[str, Sequence[Entrant], int, bool], Mapping[str, Rows]]
    board: Callable[[str, Mapping[str, Rows]], Board]
    lines: Callable[[str, Mapping[str, Rows]], Iterable[str]]
    names: tuple[str, ...] = ()
    secondary: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    material: Callable[[Cell], Mapping[str, Any] | None] = lambda _: None
    figures: Callable[[Datasheet], Iterable[Found]] = lambda _: ()
    apart: bool = False
    first: Callable[[str, Sequence[Entrant]], float] = lambda *_: 0
    brief: Callable[[str, Mapping[str, Rows]], Iterable[str]] = lambda *_: ()
    source: str = ""

    def __post_init__(self) -> None:
        for name in self.all_names:
            _verify(name)

    @property
    def all_names(self) -> tuple[str, ...]:
        """Names of all tables, each once."""
        return tuple(dict.fromkeys((self.name, *self.names, *self.secondary)))

    def material_of(self, cell: Cell) -> Mapping[str, Any] | None:
        """What the comparison needs of a cell; it names the comparison."""
        found = self.material(cell) if _is_of(cell, self.kinds) else None
        return {"comparison": self.name, **found} if found else found

    def analyses(
        self, suite: str, entrants: Sequence[Entrant], seed: int, *, secondary: bool
    ) -> list[Analysis]:
        """The tables of a suite; none where there is nothing to compare."""
        known = [
            one
            if (one.material or {}).get("comparison") == self.name
            else one._replace(material=None)
            for one in entrants
        ]
        tables = self.tables(suite, known, seed, secondary)
        return [_table(name, suite, rows) for name, rows in tables.items()]


class Report(NamedTuple):
    """What an instrument adds to the report; ``doubts``: what readers of a cell should know."""

    sections: tuple[ReportSection, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    words: tuple[Word, ...] = ()
    doubts: tuple[Callable[[Cell], Iterable[str]], ...] = ()
    # What must hold among the estimates of a datasheet; an `InternalError` where it does not.
    identities: tuple[Callable[[Estimates], None], ...] = ()
    # From all judges with their suites, and the seed, to the sentences that end the report.
    closing: tuple[Callable[[Sequence[tuple[str, Entrant]], int], Iterable[str]], ...] = ()


def compare(
    comparisons: Iterable[Comparison],
    entrants: Iterable[tuple[str, Entrant]],
    seed: int,
    *,
    secondary: bool = False,
) -> tuple[Analysis, ...]:
    """The tables that compare judges, by comparison and suite; ``entrants`` with their suites."""
    by_suite: dict[str, list[Entrant]] = {}
    for suite, entrant in entrants:
        by_suite.setdefault(suite, []).append(entrant)
    return tuple(
        table
        for comparison in comparisons
        for suite in sorted(
            by_suite, key=lambda suite: (-comparison.first(suite, by_suite[suite]), suite)
        )
        for table in comparison.analyses(suite, by_suite[suite], seed, secondary=secondary)
    )


def tables_named(sheet: Datasheet, name: str) -> list[tuple[str, str, Rows]]:
    """Judge, suite and rows of every table so named; the judge is empty for those of a run."""
    of_judges = [(judge.name, table) for judge in sheet.judges for table in judge.analyses]
    known = [*of_judges, *(("", table) for table in sheet.analyses)]
    return [(of, str(one["suite"]), one["rows"]) for of, one in known if one["analysis"] == name]


def _is_of(cell: Cell, kinds: tuple[str, ...]) -> bool:
    return not kinds or cell.design.kind in kinds


def _table(name: str, suite: str, rows: Rows) -> dict[str, Any]:
    return {"analysis": name, "suite": suite, "rows": rows}


def _verify(name: str) -> None:
    if not _NAME.fullmatch(name):
        msg = f"the name of a report section is like my_section, not {name!r}"
        raise ValueError(msg)
