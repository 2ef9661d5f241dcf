"""What instruments add to the report, as values for the renderers.

A *section* is a table for one judge on one suite; a *comparison* shows the judges of a run on one
suite together. Tables are plain values: ``{"analysis": name, "suite": ..., "rows": [...]}``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from pytest_judgesense.estimate import Estimate

if TYPE_CHECKING:  # what plugins import when pytest starts imports this module
    from pytest_judgesense.datasheets.datasheet import Datasheet
    from pytest_judgesense.datasheets.figures import Found
    from pytest_judgesense.datasheets.profile import Word
    from pytest_judgesense.measures.cell import Cell
    from pytest_judgesense.suites.suite import Suite
    from pytest_judgesense.trial import Judgment

TableRow: TypeAlias = Mapping[str, Any]
TableRows: TypeAlias = Sequence[TableRow]
Analysis: TypeAlias = Mapping[str, Any]
Estimates: TypeAlias = tuple[Estimate, ...]
# Which tables are made: all, those that the summary shows something of, or none.
Shown: TypeAlias = Literal["all", "summary", "none"]


class Passage(NamedTuple):
    """A part of a text that a page prints with a margin.

    Attributes:
        name: what it is called in the margin.
        words: what is said of it, beside it.
        depth: how heavy its margin is, from 0 to 4; ``None`` for no margin.
        dashed: whether its margin is of the other kind.
    """

    name: str
    text: str
    words: str
    depth: int | None = None
    dashed: bool = False


class Beside(NamedTuple):
    """An estimate under a condition that the terminal shows with other words."""

    estimate: Estimate
    words: str
    only_gated: bool


class ReportSection(NamedTuple):
    """A table for one judge on one suite, beside its estimates.

    Attributes:
        name: name of the table: lower-case letters, digits and ``_``.
        title: of the table on a page; without one it is the name, with blanks.
        rows: from a cell, its estimates and the suite (``None`` if only a log is known) to plain
            values; ``None`` for no table.
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
        below: from the rows to lines below that of the suite in the summary; ``None`` for none.
        with_tables: whether its lines are also shown with the tables of the suites (``-v``).
        compared: whether comparisons of judges read its table.
        passages: from the rows to a text that a page prints with margins; ``None`` for none.
    """

    name: str
    rows: Callable[[Cell, Estimates, Suite | None], TableRows | None] = lambda *_: None
    lines: Callable[[TableRows], Iterable[str]] = lambda _: ()
    kinds: tuple[str, ...] = ()
    figures: Callable[[Datasheet], Iterable[Found]] = lambda _: ()
    only_drawn: bool = False
    covers: tuple[str, ...] = ()
    every: str = ""
    beside: Callable[[Iterable[Estimate]], Iterable[Beside]] = lambda _: ()
    flips: Callable[[Cell], Iterable[tuple[Judgment, Judgment, str]]] = lambda _: ()
    brief: Callable[[TableRows], str] | None = None
    below: Callable[[TableRows], Iterable[str]] | None = None
    with_tables: bool = False
    compared: bool = False
    passages: Callable[[TableRows], Iterable[Passage]] | None = None
    title: str = ""

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
        shows = self.brief or self.below or self.every or self.with_tables or self.compared
        return bool(shows)

    def contradictions(self, cell: Cell) -> Iterable[tuple[Judgment, Judgment, str]]:
        """The ``flips`` of a cell, if it has this section."""
        return self.flips(cell) if _is_of(cell, self.kinds) else ()

    def analysis(self, cell: Cell, estimates: Estimates, suite: Suite | None) -> Analysis | None:
        """The table of a cell; ``None`` if it has none."""
        rows = self.rows(cell, estimates, suite) if _is_of(cell, self.kinds) else None
        return None if rows is None else _table(self.name, cell.suite, rows)


class ComparedJudge(NamedTuple):
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
class JudgeComparison:
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
    """

    name: str
    tables: Callable[[str, Sequence[ComparedJudge], int, bool], Mapping[str, TableRows]]
    board: Callable[[str, Mapping[str, TableRows]], Board]
    lines: Callable[[str, Mapping[str, TableRows]], Iterable[str]]
    names: tuple[str, ...] = ()
    secondary: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    material: Callable[[Cell], Mapping[str, Any] | None] = lambda _: None
    figures: Callable[[Datasheet], Iterable[Found]] = lambda _: ()
    apart: bool = False
    first: Callable[[str, Sequence[ComparedJudge]], float] = lambda *_: 0
    brief: Callable[[str, Mapping[str, TableRows]], Iterable[str]] | None = None
    titles: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def all_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.name, *self.names, *self.secondary)))

    def material_of(self, cell: Cell) -> Mapping[str, Any] | None:
        """What the comparison needs of a cell, under the name of the comparison."""
        if not _is_of(cell, self.kinds):
            return None
        material = cell.once(f"material of {self.name}", partial(self.material, cell))
        return {"comparison": self.name, **material} if material else material

    def analyses(
        self, suite: str, judges: Sequence[ComparedJudge], seed: int, *, secondary: bool
    ) -> list[Analysis]:
        """The tables of a suite; none if there is nothing to compare."""
        # Material of another comparison is none for this one.
        judges = [
            judge
            if (judge.material or {}).get("comparison") == self.name
            else judge._replace(material=None)
            for judge in judges
        ]
        tables = self.tables(suite, judges, seed, secondary)
        return [_table(name, suite, rows) for name, rows in tables.items()]


class Report(NamedTuple):
    """The report parts of an instrument.

    Attributes:
        notices: from a cell to sentences for readers of its numbers.
        identities: conditions on the estimates of a cell; each raises an `InternalError` if it is
            violated, so that no datasheet is made of numbers that contradict each other.
        closing: from all judges with their suites, and the seed, to the last sentences.
    """

    sections: tuple[ReportSection, ...] = ()
    comparisons: tuple[JudgeComparison, ...] = ()
    words: tuple[Word, ...] = ()
    notices: tuple[Callable[[Cell], Iterable[str]], ...] = ()
    identities: tuple[Callable[[Estimates], None], ...] = ()
    closing: tuple[Callable[[Sequence[tuple[str, ComparedJudge]], int], Iterable[str]], ...] = ()

    @classmethod
    def joined(cls, reports: Iterable[Report]) -> Report:
        """Several reports as one: comparisons that stand apart first, words by their order."""
        parts = [tuple(chain.from_iterable(part)) for part in zip(*reports, strict=True)]
        whole = cls(*parts)
        return whole._replace(
            comparisons=tuple(sorted(whole.comparisons, key=lambda compared: not compared.apart)),
            words=tuple(sorted(whole.words, key=lambda word: -word.first)),
        )

    def shown(self, shown: Shown) -> Report:
        """The same with the sections and comparisons of which something is ``shown``."""
        if shown == "all":
            return self
        if shown == "none":
            return self._replace(sections=(), comparisons=(), closing=())
        sections = (section for section in self.sections if section.summarised)
        comparisons = (compared for compared in self.comparisons if compared.brief)
        return self._replace(sections=tuple(sections), comparisons=tuple(comparisons))

    def analyses(
        self, cell: Cell, estimates: Estimates, suite: Suite | None = None
    ) -> tuple[Analysis, ...]:
        """The tables of a cell; ``suite`` is ``None`` if only its log is known."""
        tables = (section.analysis(cell, estimates, suite) for section in self.sections)
        return tuple(table for table in tables if table is not None)

    def material(self, cell: Cell) -> Mapping[str, Any] | None:
        """What comparisons need of a cell; ``None`` if they need nothing."""
        of_each = (compared.material_of(cell) for compared in self.comparisons)
        return next((material for material in of_each if material is not None), None)

    def verify(self, estimates: Estimates) -> None:
        """Raise an `InternalError` if the estimates of a part contradict each other."""
        for verify in self.identities:
            verify(estimates)

    def notices_of(self, cell: Cell) -> tuple[str, ...]:
        """Notices for readers of the numbers of a cell."""
        return tuple(notice for notices in self.notices for notice in notices(cell))

    @property
    def titles(self) -> dict[str, str]:
        """The names of all tables, and their titles on a page; empty for none."""
        tables: tuple[ReportSection | JudgeComparison, ...] = (*self.sections, *self.comparisons)
        return {name: table.titles.get(name, "") for table in tables for name in table.all_names}


def compare(
    comparisons: Iterable[JudgeComparison],
    judges: Iterable[tuple[str, ComparedJudge]],
    seed: int,
    *,
    secondary: bool = False,
) -> tuple[Analysis, ...]:
    """The tables that compare judges, by comparison and suite; ``judges`` with their suites."""
    by_suite: dict[str, list[ComparedJudge]] = {}
    for suite, judge in judges:
        by_suite.setdefault(suite, []).append(judge)
    tables: list[Analysis] = []
    for comparison in comparisons:
        first = {suite: comparison.first(suite, compared) for suite, compared in by_suite.items()}
        for suite in sorted(by_suite, key=lambda suite: (-first[suite], suite)):
            tables += comparison.analyses(suite, by_suite[suite], seed, secondary=secondary)
    return tuple(tables)


def tables_named(sheet: Datasheet, name: str) -> list[tuple[str, str, TableRows]]:
    """Judge, suite and rows of all tables of this name; no judge for tables of the run."""
    tables = [(judge.name, table) for judge in sheet.judges for table in judge.analyses]
    tables += [("", table) for table in sheet.analyses]
    return [
        (judge, str(table["suite"]), table["rows"])
        for judge, table in tables
        if table["analysis"] == name
    ]


def _is_of(cell: Cell, kinds: tuple[str, ...]) -> bool:
    return not kinds or cell.design.kind in kinds


def _table(name: str, suite: str, rows: TableRows) -> dict[str, Any]:
    return {"analysis": name, "suite": suite, "rows": rows}
