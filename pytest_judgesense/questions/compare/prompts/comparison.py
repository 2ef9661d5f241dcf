"""Prompts that were compared: which is better than the first, and in what."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.datasheets.published_design import Paper, Printed, Table
from pytest_judgesense.datasheets.sections import tables_named
from pytest_judgesense.questions.compare.prompts.prompt_variants import PromptVariant
from pytest_judgesense.questions.compare.prompts.tables import (
    rows_of_changes,
    table_of_differences,
    table_of_prompts,
)
from pytest_judgesense.questions.compare.variants import VariantChange, against_the_first
from pytest_judgesense.questions.measured_files import files_of
from pytest_judgesense.questions.question import QuestionAnswer, dataframe_of
from pytest_judgesense.report.datasheet_file import datasheet_json
from pytest_judgesense.report.terminal import datasheet_lines, printed_lines
from pytest_judgesense.report.view import View, view_of
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.layout import indented

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ComparePromptsAnswer(QuestionAnswer):
    """Each prompt against the first.

    Attributes:
        suite: with one wording, in whose place the prompts stood.
        changes: of each prompt but the first.
        tables: a line a prompt, then a line a measure of each.
        sheet: the datasheet of all prompts, the comparison among its tables.
    """

    suite: Suite
    changes: tuple[VariantChange, ...]
    tables: tuple[Table, ...]
    sheet: MeasuredDatasheet

    @property
    def worse(self) -> bool:
        """Whether a prompt is worse than the first in some measure, beyond chance."""
        return any(change.moved("worse") for change in self.changes)

    def lines(self) -> Iterator[str]:
        """The sentences, and the tables."""
        yield from self.sentence_lines()
        yield from self.table_lines()

    def sentence_lines(self) -> Iterator[str]:
        """Whether each prompt is better than the first; of several also which is best."""
        clusters = {item.cluster for item in self.suite.items}
        unit = "items" if len(clusters) == len(self.suite.items) else "clusters"
        for change in self.changes:
            yield from indented(change.sentence(unit), width=0)
        if len(self.changes) > 1:
            yield from self._best_lines()

    def _best_lines(self) -> Iterator[str]:
        """Which of all is best, each with every other one, as a session compares judges."""
        for _, _, rows in tables_named(self.sheet, "best_judge"):
            for best in rows:
                yield from indented(f"of all: {best['verdict']}", width=0)

    def table_lines(self) -> Iterator[str]:
        """The tables."""
        return printed_lines(self.printed)

    def datasheet_lines(self) -> Iterator[str]:
        """The datasheet of all prompts."""
        return datasheet_lines(self.view)

    def to_dict(self) -> Mapping[str, Any]:
        """The datasheet, as a file of JSON holds it: the comparison is its table ``variants``."""
        content: dict[str, Any] = json.loads(datasheet_json(self.sheet))
        return content

    def to_dataframe(self) -> pd.DataFrame:
        """A row for each measure of each prompt, against the first.

        Raises:
            UsageError: pandas is not installed.
        """
        return dataframe_of(rows_of_changes(self.changes))

    def files(self, path: Path) -> Iterator[tuple[Path, Callable[[], str]]]:
        """The files of an output, each with what makes its text; their form is its suffix."""
        return files_of(path, self.printed, self.view, self.sheet)

    @cached_property
    def printed(self) -> Printed:
        """The tables, as files have them."""
        title = self.tables[0].caption
        design = Paper("prompts", title, title, (), lambda *_: self.tables)
        return Printed(design, self.tables, ())

    @cached_property
    def view(self) -> View:
        """The datasheet with the tables, as files show it."""
        return view_of(self.sheet, self.sheet.registry, self.printed)


def compared_prompts(
    judge: str, suite: Suite, variants: Sequence[PromptVariant], sheet: MeasuredDatasheet
) -> ComparePromptsAnswer:
    """Each prompt against the first, from the datasheet of all.

    Args:
        judge: its name, without a prompt.
        suite: with one wording.
        variants: the prompts, in the order of the datasheet.
        sheet: without the comparison.
    """
    by_judge = {judge_sheet.judge: judge_sheet.estimates for judge_sheet in sheet.judges}
    estimates = {variant.name: by_judge[variant.judge.slug] for variant in variants}
    cells = dict(zip(estimates, sheet.cells, strict=True))
    changes = against_the_first({name: (cells[name], of) for name, of in estimates.items()})
    verdicts = len(sheet.cells[0].judgments)
    tables = (
        table_of_prompts(judge, suite, estimates, verdicts, changes),
        table_of_differences(changes),
    )
    analysis = {
        "analysis": "variants",
        "suite": suite.name,
        "rows": [*rows_of_changes(changes)],
    }
    sheet = replace(sheet, analyses=(*sheet.analyses, analysis))
    return ComparePromptsAnswer(suite, tuple(changes), tables, sheet)
