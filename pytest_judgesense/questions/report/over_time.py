"""Several datasheets and baselines, each measure over time: a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.errors import UsageError
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.questions.report.saved_sheets import saved_sheet
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.assembly import datasheet_text
from pytest_judgesense.report.datasheet_file import datasheet_values
from pytest_judgesense.report.history import DatedDatasheet, in_order
from pytest_judgesense.report.markdown import badge
from pytest_judgesense.report.view import outcome_words, view_of

_PAGE = ".html"
# Those of a datasheet that hold what its file has already, or what it lacks.
_NOT_OF_SAVED = (".jsonl", ".json")


@dataclass(frozen=True)
class OverTimeAnswer(QuestionAnswer):
    """The last of several datasheets, and all of them over time.

    Attributes:
        sheets: in the order of time, if it is known, else as they were given.
        dated: whether it is known.
        registry: the instruments and plugins in use.
    """

    sheets: tuple[DatedDatasheet, ...]
    dated: bool
    registry: Registry

    @property
    def last(self) -> Datasheet:
        """The datasheet that a file is about."""
        return self.sheets[-1].sheet

    @property
    def outcomes(self) -> list[str]:
        """Those of the checks of the last datasheet."""
        return [line.outcome for judge in self.last.judges for line in judge.checks]

    def lines(self) -> Iterator[str]:
        """How many there are in which order, and the outcome of the last one."""
        if len(self.sheets) > 1:
            order = "by date of recording" if self.dated else "in the order given"
            files = ", ".join(dated_sheet.name for dated_sheet in self.sheets)
            yield f"{len(self.sheets)} measurements, {order}: {files}"
        yield f"{self.sheets[-1].name}: {outcome_words(self.outcomes)}"

    def to_dict(self) -> Mapping[str, Any]:
        """The datasheets by the names of their files, in their order."""
        values = {sheet.name: datasheet_values(sheet.sheet) for sheet in self.sheets}
        return {"dated": self.dated, "datasheets": values}

    def text_of(self, suffix: str) -> str:
        """The last datasheet in the form of a file with this suffix; a page holds all."""
        view = view_of(self.last, self.registry)
        return datasheet_text(suffix, view, history=self.sheets)

    def badge(self) -> str:
        """The outcomes of the last datasheet as an SVG badge."""
        return badge(self.outcomes, [judge.judge for judge in self.last.judges])

    def refuse_other_forms(self, paths: Iterable[Path]) -> None:
        """Raise a `UsageError` for a file that these datasheets cannot be written to."""
        for path in paths:
            is_page = path.suffix == _PAGE
            if path.suffix in _NOT_OF_SAVED or (len(self.sheets) > 1 and not is_page):
                raise UsageError(
                    "datasheets cannot be written in this form",
                    found=str(path),
                    expected="a page (.html) of several; of one .html, .md, .csv or .tex",
                    remedy="judgesense report A.json B.json -o history.html",
                )


@dataclass(frozen=True)
class OverTimeQuestion:
    """What datasheets and baselines say over time. No call is made.

    Attributes:
        files: datasheets and baselines (.json).
        seed: of every random draw, for the measures of baselines.
        place: whose instruments and plugins are used.
    """

    files: tuple[Path, ...]
    seed: int = 0
    place: Place = field(default_factory=Place)

    def answer(self) -> OverTimeAnswer:
        """The datasheets in their order.

        Raises:
            UsageError: a file is not there.
            LogError: a file cannot be read.
        """
        registry = self.place.registry
        sheets, dated = in_order(
            [
                DatedDatasheet(path.name, saved_sheet(path, self.seed, registry))
                for path in self.files
            ]
        )
        return OverTimeAnswer(tuple(sheets), dated, registry)
