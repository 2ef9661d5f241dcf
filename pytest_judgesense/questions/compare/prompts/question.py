"""Prompts as a question: a suite, a judge, and the prompt files that it is to be asked with."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.questions.compare.prompts.comparison import (
    ComparePromptsAnswer,
    compared_prompts,
)
from pytest_judgesense.questions.compare.prompts.prompt_variants import (
    PromptVariant,
    reads_its_prompt,
    refuse_faults,
    refuse_wrong_prompts,
    variants_of,
    with_one_wording,
)
from pytest_judgesense.questions.compare.prompts.variant_calls import VariantCalls
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.pricing import CallPlan, call_plan, how_to_record
from pytest_judgesense.questions.terms import AskingTerms
from pytest_judgesense.suites.suite import Suite


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
        return self._prepared.plan if runs_code else self._prepare(runs_code=False).plan

    def answer(self) -> ComparePromptsAnswer:
        """Each prompt against the first.

        Raises:
            UsageError: as `plan`, or the prompts do not reach the judge.
            MissingRecording: replaying, and something is not recorded.
            LimitReached: a call would pass a limit; the answers so far are recorded.
        """
        suite, judge, variants, plan = self._prepared
        how = how_to_record(self._words, self.place.cassettes, plan)
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
        variants = variants_of(
            self.prompts,
            judge,
            suite,
            is_read_by_judge=runs_code and reads_its_prompt(judge, suite),
        )
        for variant in variants:
            refuse_faults(variant, suite, self.place.registry)
        heading = f"{suite.name}, judge {judge.name}: {len(variants)} prompts"
        asked = [(variant.name, variant.judge, suite) for variant in variants]
        afresh = self.terms.mode == "live"
        plan = call_plan(heading, asked, self.place.cassettes, afresh=afresh)
        # The prices of every prompt are those of the judge, which is declared without one.
        parts = tuple(replace(part, judge=judge) for part in plan.parts)
        return _Prepared(suite, judge, variants, replace(plan, parts=parts))


class _Prepared(NamedTuple):
    """What is asked.

    Attributes:
        suite: with one wording.
        judge: without a prompt of the question.
    """

    suite: Suite
    judge: JudgeSpec
    variants: list[PromptVariant]
    plan: CallPlan
