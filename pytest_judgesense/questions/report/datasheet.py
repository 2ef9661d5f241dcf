"""The datasheet of what there is: of judgment logs, or of one file that holds it already."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.errors import UsageError, listed, unknown_name
from pytest_judgesense.files.foreign_results import Exported
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.questions.report.saved_sheets import saved_sheet
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.assembly import datasheet_text
from pytest_judgesense.report.datasheet_file import datasheet_values
from pytest_judgesense.report.log import log_lines
from pytest_judgesense.report.logged_cells import cells_of_logs, datasheet_of_cells
from pytest_judgesense.report.markdown import badge
from pytest_judgesense.report.packing import PageEvidence
from pytest_judgesense.report.terminal import datasheet_lines, ranking_lines
from pytest_judgesense.report.view import View, view_of
from pytest_judgesense.suites.builtin import builtin_suites
from pytest_judgesense.suites.suite import Suite

_SAVED = ".json"


@dataclass(frozen=True, repr=False)
class DatasheetAnswer(MeasuredDatasheet, QuestionAnswer):
    """The datasheet of files: the value that `measure` returns, with the lines of a report."""

    @cached_property
    def view(self) -> View:
        """What all forms of the datasheet show."""
        return view_of(self, self.registry)

    def lines(self) -> Iterator[str]:
        """The whole datasheet; printed, it is the summary that pytest shows."""
        return datasheet_lines(self.view)

    def ranking_lines(self) -> Iterator[str]:
        """The ranking of the judges; nothing where nothing ranks them."""
        return ranking_lines(self.view)

    def to_dict(self) -> Mapping[str, Any]:
        return datasheet_values(self)

    def text_of(self, suffix: str) -> str:
        """The datasheet in the form of a file with this suffix; see `datasheet_text`."""
        is_log = suffix == ".jsonl"
        logs = [list(log_lines(cell.judgments, cell.design)) for cell in self.cells if is_log]
        return datasheet_text(suffix, self.view, logs, evidence=PageEvidence(self.cells))

    def badge(self) -> str:
        """An SVG badge; logs hold no checks."""
        outcomes = [line.outcome for line in self.checks]
        return badge(outcomes, [judge.judge for judge in self.judges])

    def exported(self, form: str, suites: Iterable[Suite]) -> Exported:
        """The judgments as files of a foreign form, with the items of the suites.

        Raises:
            UsageError: judgments are not written in this form.
        """
        written = {
            importer.name: importer.written
            for importer in self.registry.importers.values()
            if importer.written is not None
        }
        if form not in written:
            raise unknown_name("form of --export", form, written)
        return written[form](self.cells, list(suites))


@dataclass(frozen=True)
class DatasheetQuestion:
    """What judgment logs, or a datasheet or baseline, say of their judges. No call is made.

    Attributes:
        files: judgment logs, which are estimated together; or one datasheet or baseline (.json).
        seed: of every random draw, for what is estimated here.
        secondary: whether tables that take long are computed, too, which files alone show.
        replies: whether the texts of the replies are kept, which pages, logs and exports hold.
        place: whose instruments, plugins and suites are used.
    """

    files: tuple[Path, ...]
    seed: int = 0
    secondary: bool = False
    replies: bool = True
    place: Place = field(default_factory=Place)

    def answer(self) -> DatasheetAnswer:
        """The datasheet; that of a file .json has no judgments, its ``cells`` are empty.

        Raises:
            UsageError: there is no file, files of both sorts, or no judgment in them.
            LogError: a file cannot be read, or logs contradict each other.
        """
        if any(path.suffix == _SAVED for path in self.files):
            return self._saved()
        registry = self.place.registry
        with _uncollected():
            cells = cells_of_logs(self.files, self.seed, registry, replies=self.replies)
        if not cells:
            raise UsageError(
                "there is nothing to report on",
                found="no judgment in " + listed(map(str, self.files)) if self.files else "no file",
                expected="at least one line of a judgment log (.jsonl)",
            )
        sheet = datasheet_of_cells(cells, self.seed, secondary=self.secondary, registry=registry)
        return _answer(sheet, cells, registry)

    def _saved(self) -> DatasheetAnswer:
        if len(self.files) > 1:
            raise UsageError(
                "this is no datasheet that can be read",
                found=listed(map(str, self.files)),
                expected="judgment logs (.jsonl), or one datasheet or baseline (.json)",
                remedy="read them apart; judgesense import makes logs of other files",
            )
        registry = self.place.registry
        return _answer(saved_sheet(self.files[0], self.seed, registry), (), registry)


def datasheet_of(
    *files: str | Path,
    seed: int = 0,
    secondary: bool = False,
    registry: Registry | None = None,
) -> DatasheetAnswer:
    """What was measured, from its files: the value that `measure` returns.

    >>> from pytest_judgesense import datasheet_of
    >>> datasheet_of("judgments.jsonl").to_dataframe()

    Args:
        files: judgment logs (``.jsonl``, as ``--judge-datasheet`` and ``judgesense import`` write
            them), which are estimated together; or one datasheet or baseline (``.json``).
        seed: seed of the random draws of the estimators, for what is estimated here.
        secondary: whether tables that take long are computed, too, as for the files of ``judgesense
            report``.
        registry: the instruments and plugins to use; default: the built-in ones, and the plugins
            that are installed.

    Returns:
        The datasheet. That of a file ``.json`` has no judgments: its ``cells`` are empty.

    Raises:
        UsageError: the files are none of these, or hold no judgment.
        LogError: a file cannot be read.
    """
    place = Place() if registry is None else Place(registry=registry)
    paths = tuple(map(Path, files))
    return DatasheetQuestion(paths, seed, secondary=secondary, place=place).answer()


def exported_suites(names: Iterable[str], cells: Iterable[Cell], place: Place) -> Iterator[Suite]:
    """The suites whose items an export writes: those that are named, else the built-in ones."""
    names = list(names)
    if not names:
        shipped = builtin_suites()
        bases = dict.fromkeys(cell.suite.partition("@")[0] for cell in cells)
        names = [str(shipped[base]) for base in bases if base in shipped]
    for name in names:
        yield from place.suites(name)


def _answer(sheet: Datasheet, cells: Iterable[Cell], registry: Registry) -> DatasheetAnswer:
    values = {of_sheet.name: getattr(sheet, of_sheet.name) for of_sheet in fields(sheet)}
    return DatasheetAnswer(**values, cells=tuple(cells), registry=registry)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Collect no garbage while logs are read: no judgment refers to one that refers to it.

    Each search among them finds none, and all of them take a seventh of reading 100,000.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
