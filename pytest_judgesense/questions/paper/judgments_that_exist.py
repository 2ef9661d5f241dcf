"""What a paper prints of judgments that exist: its tables from logs, and from foreign files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Final

from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.datasheets.published_design import LogForm, Paper, printed
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.files.first_sight import FirstSight
from pytest_judgesense.files.foreign_results import short_named
from pytest_judgesense.files.tables import is_there
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.questions.paper.answer import PaperAnswer, notices_of, paper_named
from pytest_judgesense.questions.place import Place
from pytest_judgesense.report.log import is_log, read_log
from pytest_judgesense.report.logged_cells import (
    LoggedJudgment,
    cells_of_judgments,
    datasheet_of_cells,
)
from pytest_judgesense.text.layout import indented

_LOG: Final = "judgment logs (.jsonl, as --judge-datasheet and `judgesense import` write them)"


@dataclass(frozen=True)
class LoggedPaperQuestion:
    """What a paper prints of judgments that exist. No call is made.

    Attributes:
        name: of the paper.
        logs: judgment logs, and foreign files and folders of the forms that the paper knows; all
            of them together.
        seed: of every random draw.
        place: whose instruments are used.
    """

    name: str
    logs: tuple[Path, ...]
    seed: int = 0
    place: Place = field(default_factory=Place)

    @cached_property
    def paper(self) -> Paper:
        """The paper; a `UsageError` if there is none of this name."""
        return paper_named(self.name, self.place)

    def heading(self) -> Iterator[str]:
        """The name and the title of the paper."""
        return indented(f"{self.paper.name}: {self.paper.title}", width=0)

    def notices(self) -> Iterator[str]:
        """What was read, what is to be known of it, and what cannot be had here.

        Raises:
            UsageError: a file is not there, or is of no known form.
            LogError: a file is malformed.
        """
        read = self._read
        for cell in self._cells:
            named = f"{cell.judge} on {cell.suite}: {len(cell.judgments):,} judgments"
            yield from indented(named, width=0)
        if left := [cell.suite for cell in read.cells if cell not in self._cells]:
            of_others = f"suites of other kinds are left out: {listed(dict.fromkeys(left))}"
            yield from indented(f"notice: {of_others}", width=0)
        for notice in read.notices:
            yield from indented(f"notice: {notice}", width=0)
        yield from notices_of(self.paper)

    def answer(self) -> PaperAnswer:
        """What the paper prints of the judgments.

        Raises:
            UsageError: a file is not there, is of no known form, or none holds such judgments.
            LogError: a file is malformed, or files contradict each other.
        """
        cells, registry = self._cells, self.place.registry
        sheet = datasheet_of_cells(cells, self.seed, registry=registry)
        contents = {of_sheet.name: getattr(sheet, of_sheet.name) for of_sheet in fields(sheet)}
        measured = MeasuredDatasheet(**contents, cells=tuple(cells), registry=registry)
        return PaperAnswer(measured, printed(self.paper, measured, cells))

    @cached_property
    def _cells(self) -> list[Cell]:
        """Those of suites that the paper is about."""
        cells = [cell for cell in self._read.cells if cell.design.kind in self.paper.kinds]
        if not cells:
            suites = {f"{cell.suite} ({cell.design.kind})": None for cell in self._read.cells}
            raise UsageError(
                f"there are no judgments of the paper {self.name}",
                found=listed(suites) or f"no judgment in {listed(map(str, self.logs))}",
                expected=f"judgments on suites of the kind {' or '.join(self.paper.kinds)}",
            )
        return cells

    @cached_property
    def _read(self) -> _ReadLogs:
        """The judgments of all files."""
        for path in self.logs:
            if not is_there(path):
                raise UsageError(f"there is no judgment log at {path}", expected=self._expected)
        logs = [path for path in self.logs if path.is_file() and is_log(path)]
        registry = self.place.registry
        lines = [
            LoggedJudgment(str(path), *line) for path in logs for line in read_log(path, registry)
        ]
        by_form: dict[LogForm, list[Path]] = {}
        for path in self.logs:
            if path not in logs:
                by_form.setdefault(self._form_of(path), []).append(path)
        notices: list[str] = []
        for form, paths in by_form.items():
            imported = form.read(paths)
            if imported.objections:
                raise imported.objections[0]
            notices += imported.notices
            where = listed(map(str, paths))
            lines += [
                LoggedJudgment(where, short_named(judgment), design)
                for judgment, design in imported.judgments
            ]
        return _ReadLogs(cells_of_judgments(lines, self.seed, registry, logs), tuple(notices))

    def _form_of(self, path: Path) -> LogForm:
        sight = FirstSight(path)
        form = next((form for form in self.paper.forms if form.holds(sight)), None)
        if form is None:
            raise UsageError(
                f"{path} is no file that `paper {self.name}` reads",
                found="neither a judgment log nor a form of this paper",
                expected=self._expected,
                remedy="judgesense import makes a judgment log of other files",
            )
        return form

    @property
    def _expected(self) -> str:
        return " or ".join([_LOG, *(form.name for form in self.paper.forms)])


def refuse_asking(given: Sequence[str], log: str) -> None:
    """Raise a `UsageError` if arguments that ask judges are ``given`` beside the one of logs."""
    if given:
        raise UsageError(
            "judgments that exist are not asked for again",
            found=listed(given),
            expected=f"{log} without {'it' if len(given) == 1 else 'them'}",
        )


@dataclass(frozen=True)
class _ReadLogs:
    """The judgments of files as cells, and what is to be known of them."""

    cells: list[Cell]
    notices: tuple[str, ...]
