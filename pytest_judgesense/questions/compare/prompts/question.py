"""Prompts as a question: a suite, a judge, and the prompt files that it is to be asked with.

The answer says which is better than the first, in what, and shows the tables of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.datasheets.published_design import Paper, Printed, Table
from pytest_judgesense.datasheets.sections import tables_named
from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.judges.spec import JudgeSpec, refuse_jury
from pytest_judgesense.measures.shared import FAILED_RATE, FIRST_SLOT_RATE, SIDE_BIAS, UNPARSED_RATE
from pytest_judgesense.questions.compare.prompts.prompt_variants import (
    PromptVariant,
    VariantCalls,
    reads_its_prompt,
    refuse_faults,
    refuse_wrong_prompts,
    variants_of,
    with_one_wording,
)
from pytest_judgesense.questions.compare.variants import (
    MeasureChange,
    VariantChange,
    against_the_first,
    word_of,
)
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.pricing import CallPlan, RecordingCommand, call_plan
from pytest_judgesense.questions.question import QuestionAnswer, dataframe_of, files_of
from pytest_judgesense.questions.terms import AskingTerms
from pytest_judgesense.report.datasheet_file import datasheet_json
from pytest_judgesense.report.terminal import datasheet_lines, printed_lines
from pytest_judgesense.report.view import View, view_of
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.layout import indented

if TYPE_CHECKING:
    import pandas as pd


_NOT_TOLD_APART = "not told apart"


def table_of_prompts(
    judge: str,
    suite: Suite,
    estimates: Mapping[str, Sequence[Estimate]],
    verdicts: int,
    changes: Sequence[VariantChange],
) -> Table:
    """A line for each prompt, with what it is compared in.

    Args:
        judge: its name.
        suite: that the prompts were asked on.
        estimates: by prompt.
        verdicts: how many of them each prompt has.
        changes: of each prompt but the first.
    """
    columns = _columns(changes[0], estimates)
    items = f"{len(suite.items)} items, {verdicts:,} verdicts each"
    unlabelled = not any(item.label for item in suite.items)
    return Table(
        "prompts",
        f"{len(estimates)} prompts of judge {judge} on {suite.name}, {items}",
        ("prompt", *columns),
        tuple(zip(estimates, *columns.values(), strict=True)),
        ("no agreement: the items have no labels",) * unlabelled,
    )


def table_of_differences(changes: Sequence[VariantChange]) -> Table:
    """A line for each measure of each prompt, against the first."""
    return Table(
        "differences",
        f"each against {changes[0].first}; intervals over whole clusters, p by Holm over all lines",
        ("prompt", "measure", "change", "95% clustered", "p", "verdict"),
        tuple(
            (
                change.name,
                of_measure.measure.name,
                None if of_measure.difference is None else signed(of_measure.difference),
                of_measure.ends,
                f"{of_measure.pair.p:.3g}",
                of_measure.verdict or _NOT_TOLD_APART,
            )
            for change in changes
            for of_measure in change.changes
        ),
        keys=2,
    )


def rows_of_changes(changes: Iterable[VariantChange]) -> Iterator[dict[str, Any]]:
    """The differences as values, unrounded: the rows of the datasheet's table ``variants``."""
    for change in changes:
        for of_measure in change.changes:
            yield _row_of_change(change, of_measure)


def _row_of_change(change: VariantChange, of_measure: MeasureChange) -> dict[str, Any]:
    lower, upper = of_measure.ends or (None, None)
    return {
        "prompt": change.name,
        "first": change.first,
        "measure": of_measure.measure.name,
        "value_of_first": of_measure.first_and_own[0],
        "value": of_measure.first_and_own[1],
        "difference": of_measure.difference,
        "lower": lower,
        "upper": upper,
        "p": of_measure.pair.p,
        "verdict": of_measure.verdict or _NOT_TOLD_APART,
        "clusters": of_measure.pair.clusters,
        "clusters_that_differ": of_measure.pair.differ,
        "clusters_needed": of_measure.pair.needed,
    }


def signed(difference: float) -> str:
    """A difference as a table shows it: with its sign, unless it is none."""
    text = f"{difference:+.3f}"
    return text if float(text) else text[1:]


def _columns(
    change: VariantChange, estimates: Mapping[str, Sequence[Estimate]]
) -> dict[str, list[float | None]]:
    """The values of all prompts, by heading: of what is compared, and beside it."""
    headings: dict[str, str] = {}
    for of_measure in change.changes:
        measure = of_measure.measure
        if measure.name == SIDE_BIAS.name:
            headings[FIRST_SLOT_RATE.name] = "first slot"  # which one the bias is for
        headings[measure.name] = word_of(measure)
    headings |= {UNPARSED_RATE.name: "unparsed", FAILED_RATE.name: "failed"}
    columns = {
        heading: [_value(of_prompt, name) for of_prompt in estimates.values()]
        for name, heading in headings.items()
    }
    if not any(columns["failed"]):
        del columns["failed"]
    return columns


def _value(estimates: Sequence[Estimate], measure: str) -> float | None:
    estimate = find_estimate(estimates, measure)
    return None if estimate is None else estimate.value


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


@dataclass(frozen=True)
class ComparePromptsQuestion:
    """Which prompt of a judge is better: each is compared with the first, on one suite.

    Attributes:
        suite: by name, ``NAME@PRESET``, or its file.
        prompts: two files or more, with ``{{placeholders}}`` as in a suite's template.
        judge: its name; without one the judge that the project declares.
    """

    suite: str
    prompts: tuple[Path, ...]
    judge: str | None = None
    terms: AskingTerms = field(default_factory=AskingTerms)
    place: Place = field(default_factory=Place)

    def plan(self, *, runs_code: bool = False) -> CallPlan:
        """What each prompt asks, what of it is recorded, and what the rest would cost.

        Args:
            runs_code: whether a judge's own code may be imported, to see if it reads its prompt
                itself; answering does so.

        Raises:
            UsageError: a prompt, the suite or the judge is not one that can be compared.
            SuiteError: a prompt makes a suite with an error of lint.
        """
        prepared = self._prepared if runs_code else self._prepare(runs_code=False)
        return self._plan_of(prepared)

    def answer(self) -> ComparePromptsAnswer:
        """Each prompt against the first.

        Raises:
            UsageError: as `plan`, or the prompts do not reach the judge.
            MissingRecording: replaying, and something is not recorded.
            LimitReached: a call would pass a limit; the answers so far are recorded.
        """
        suite, judge, variants = self._prepared
        how = RecordingCommand(self._words, self.place.cassettes, lambda: self.plan(runs_code=True))
        calls = VariantCalls(judge, suite, variants, self.place, self.terms, how)
        if variants[0].is_read_by_judge and self.terms.asks:
            calls.refuse_unread()
        return compared_prompts(judge.name, suite, variants, calls.measured())

    @property
    def _words(self) -> list[str]:
        """The command that asks this question."""
        words = ["judgesense", "compare", self.suite, "--prompts", *map(str, self.prompts)]
        return [*words, "--judge-name", self.judge] if self.judge else words

    @cached_property
    def _prepared(self) -> _Prepared:
        """What is asked when the question is answered: code is imported."""
        return self._prepare(runs_code=True)

    def _prepare(self, *, runs_code: bool) -> _Prepared:
        refuse_wrong_prompts(self.suite, self.prompts)
        suite = with_one_wording(self.place.suite(self.suite, labelled=False))
        judge = self.place.judge_to_ask(self.judge)
        refuse_jury(judge, "prompts are those of one judge")
        variants = variants_of(
            self.prompts,
            judge,
            suite,
            is_read_by_judge=runs_code and reads_its_prompt(judge, suite),
        )
        for variant in variants:
            refuse_faults(variant, suite, self.place.registry)
        return _Prepared(suite, judge, variants)

    def _plan_of(self, prepared: _Prepared) -> CallPlan:
        suite, judge, variants = prepared
        heading = f"{suite.name}, judge {judge.name}: {len(variants)} prompts"
        asked = [(variant.name, variant.judge, suite) for variant in variants]
        afresh = self.terms.mode == "live"
        plan = call_plan(heading, asked, self.place.cassettes, afresh=afresh)
        # The prices of every prompt are those of the judge, which is declared without one.
        parts = tuple(replace(part, judge=judge) for part in plan.parts)
        return replace(plan, parts=parts)


class _Prepared(NamedTuple):
    """What is asked.

    Attributes:
        suite: with one wording.
        judge: without a prompt of the question.
    """

    suite: Suite
    judge: JudgeSpec
    variants: list[PromptVariant]
