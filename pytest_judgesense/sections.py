"""Additions of instruments and plugins to the report, as values for the renderers.

A *section* is a table for one judge on one suite; a *comparison* shows the judges of a run on one
suite together. Tables are plain values: ``{"analysis": name, "suite": ..., "rows": [...]}``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from pytest_judgesense.errors import ExtensionError
from pytest_judgesense.estimate import Estimate

if TYPE_CHECKING:  # a plugin imports this module when pytest starts
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
# Which tables are made: all, those that the summary shows something of, or none.
Shown: TypeAlias = Literal["all", "summary", "none"]

_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


class Beside(NamedTuple):
    """An estimate under a condition that the terminal shows with other words."""

    estimate: Estimate
    words: str
    only_gated: bool


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A table for one judge on one suite, beside its estimates.

    Attributes:
        name: name of the table: lower-case letters, digits and ``_``.
        title: of the table on a page; without one it is the name, with blanks.
        rows: from a cell, its estimates and the suite (``None`` if only a log is known) to plain
            values; ``None``, or no rows from a plugin, for no table.
        lines: from the rows to printed lines.
        kinds: the suite kinds that have it; empty for all.
        figures: from a datasheet to the figures of a page.
        only_drawn: whether the rows are points of a figure, too many for a readable table.
        covers: keys of conditions whose estimates the terminal shows only in this table.
        every: one of these keys, if a check without it applies to every value of it; estimates that
            a check gates at one value have a row each.
        beside: estimates of ``covers`` that the terminal also shows below their measure.
        flips: pairs of judgments that contradict each other in the factor that the instrument
            varies, and the name of that factor.
        brief: from the rows to a word or two in the line of the suite; ``None`` for nothing.
        with_tables: whether its lines are also shown with the tables of the suites (``-v``).
        compared: whether comparisons of judges read its table.
        source: the plugin that adds it; set when it is added.

    Raises:
        ValueError: the name is malformed.
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
    brief: Callable[[Rows], str] | None = None
    with_tables: bool = False
    compared: bool = False
    title: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        _verify(self.name)

    @property
    def all_names(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def titles(self) -> Mapping[str, str]:
        """The title of its table, if it has one, by the name of the table."""
        return {self.name: self.title} if self.title else {}

    @property
    def summarised(self) -> bool:
        """Whether the summary shows something that its table holds."""
        return bool(self.brief or self.every or self.with_tables or self.compared)

    def contradictions(self, cell: Cell) -> Iterable[tuple[Judgment, Judgment, str]]:
        """The ``flips`` of a cell, if it has this section."""
        return self.flips(cell) if _is_of(cell, self.kinds) else ()

    def analysis(self, cell: Cell, estimates: Estimates, suite: Suite | None) -> Analysis | None:
        """The table of a cell; ``None`` if it has none.

        A plugin's table includes its lines, so that it can be shown without the plugin. An
        `ExtensionError` names a plugin that returns malformed rows or lines.
        """
        if not _is_of(cell, self.kinds):
            return None
        if not self.source:
            found = self.rows(cell, estimates, suite)
            return None if found is None else _table(self.name, cell.suite, found)
        with ExtensionError.blaming(
            self.source,
            f"report section {self.name!r} of plugin {self.source} cannot be made of judge "
            f"{cell.judge} on suite {cell.suite}",
            "rows of plain values, and lines of text",
        ):
            # Converted to JSON and back: the rows are shown as workers send and files hold them.
            given = list(self.rows(cell, estimates, suite) or ())
            rows = json.loads(json.dumps(given, allow_nan=False))
            lines = [str(line) for line in self.lines(rows)] if rows else []
        return {**_table(self.name, cell.suite, rows), "lines": lines} if rows else None


class Entrant(NamedTuple):
    """One judge of a comparison, with its part of the datasheet."""

    judge: str
    name: str
    material: Mapping[str, Any] | None
    analyses: Sequence[Analysis]


class Digits(str):
    """A table cell with text of the instrument; other text is shown as code."""

    __slots__ = ()


class Board(NamedTuple):
    """A comparison as text: a table, and sentences below it."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of the judges of a run on one suite.

    Attributes:
        name: name of its first table, from which lines and board are made.
        tables: from the suite's name, its judges, the seed and whether secondary analyses are
            wanted to rows by the name of the table; empty if there is nothing to compare.
        board: from a suite and the rows of its tables to the table in Markdown.
        lines: from the same to laid-out lines of a terminal.
        names: of all tables.
        titles: of tables on a page, by their names; without one it is the name, with blanks.
        secondary: names of tables that need an optional package and are made only for files.
        kinds: the suite kinds whose judges it compares by their material; empty for all.
        material: from a cell of such a kind to the plain values that the comparison needs.
        figures: from a datasheet to the figures of a page.
        apart: whether the terminal shows it in a separate section above the datasheet.
        first: from a suite and its judges to a number: suites with a larger number come first,
            equal ones in alphabetical order.
        brief: from a suite and the rows of its tables to one or two lines of the summary, each of
            which may be cut; ``None`` for none.
        source: the plugin that adds it; set when it is added.

    Raises:
        ValueError: a name is malformed.
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
    brief: Callable[[str, Mapping[str, Rows]], Iterable[str]] | None = None
    titles: Mapping[str, str] = field(default_factory=dict, hash=False)
    source: str = ""

    def __post_init__(self) -> None:
        for name in self.all_names:
            _verify(name)

    @property
    def all_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.name, *self.names, *self.secondary)))

    def material_of(self, cell: Cell) -> Mapping[str, Any] | None:
        """What the comparison needs of a cell, under the name of the comparison."""
        if not _is_of(cell, self.kinds):
            return None
        found = cell.once(f"material of {self.name}", partial(self.material, cell))
        return {"comparison": self.name, **found} if found else found

    def analyses(
        self, suite: str, entrants: Sequence[Entrant], seed: int, *, secondary: bool
    ) -> list[Analysis]:
        """The tables of a suite; none if there is nothing to compare."""
        known = [
            one
            if (one.material or {}).get("comparison") == self.name
            else one._replace(material=None)
            for one in entrants
        ]
        tables = self.tables(suite, known, seed, secondary)
        return [_table(name, suite, rows) for name, rows in tables.items()]


class Report(NamedTuple):
    """The report parts of an instrument; ``doubts``: from a cell to sentences for its readers."""

    sections: tuple[ReportSection, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    words: tuple[Word, ...] = ()
    doubts: tuple[Callable[[Cell], Iterable[str]], ...] = ()
    # A condition on the estimates of a datasheet; raises an `InternalError` if it is violated.
    identities: tuple[Callable[[Estimates], None], ...] = ()
    # From all judges with their suites, and the seed, to the closing sentences of the report.
    closing: tuple[Callable[[Sequence[tuple[str, Entrant]], int], Iterable[str]], ...] = ()


def compare(
    comparisons: Iterable[Comparison],
    entrants: Iterable[tuple[str, Entrant]],
    seed: int,
    *,
    secondary: bool = False,
    faults: list[ExtensionError] | None = None,
) -> tuple[Analysis, ...]:
    """The tables that compare judges, by comparison and suite; ``entrants`` with their suites.

    Without the tables of comparisons of plugins that fail, whose errors are added to ``faults``.
    """
    by_suite: dict[str, list[Entrant]] = {}
    for suite, entrant in entrants:
        by_suite.setdefault(suite, []).append(entrant)
    tables: list[Analysis] = []
    for comparison in comparisons:
        with kept_apart(faults):
            first = {suite: comparison.first(suite, of) for suite, of in by_suite.items()}
            made = [
                comparison.analyses(suite, by_suite[suite], seed, secondary=secondary)
                for suite in sorted(by_suite, key=lambda suite: (-first[suite], suite))
            ]
            tables += chain.from_iterable(made)
    return tuple(tables)


@contextmanager
def kept_apart(faults: list[ExtensionError] | None) -> Iterator[None]:
    """Add the error of a plugin to ``faults``, if there is such a list; else raise it."""
    try:
        yield
    except ExtensionError as error:
        if faults is None:
            raise
        faults.append(error)


def tables_named(sheet: Datasheet, name: str) -> list[tuple[str, str, Rows]]:
    """Judge, suite and rows of all tables of this name; no judge for tables of the run."""
    of_judges = [(judge.name, table) for judge in sheet.judges for table in judge.analyses]
    known = [*of_judges, *(("", table) for table in sheet.analyses)]
    return [(of, str(one["suite"]), one["rows"]) for of, one in known if one["analysis"] == name]


def _is_of(cell: Cell, kinds: tuple[str, ...]) -> bool:
    return not kinds or cell.design.kind in kinds


def _table(name: str, suite: str, rows: Rows) -> dict[str, Any]:
    return {"analysis": name, "suite": suite, "rows": rows}


def _verify(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"the name of a report section is like my_section, not {name!r}")
