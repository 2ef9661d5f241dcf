"""What a judge would be asked on a suite now, and for what price: the numbers and their words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_judgesense.judges.prompts import suite_for_judge, unsent_notices
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.questions.pricing import Quote, QuotedCalls, cost_words, quote
from pytest_judgesense.questions.reasoning_budget import budget_findings
from pytest_judgesense.suites.finding import LintFinding
from pytest_judgesense.suites.planning import Plans, plan_trials
from pytest_judgesense.suites.suite import Suite


@dataclass(frozen=True)
class PlannedCalls:
    """What a recording of a judge on a suite would ask now, and what it would cost.

    Attributes:
        judge: who would be asked.
        suite: with the judge's prompts in it.
        quote: the calls, the recorded ones among them, and the price.
        budgets: warnings where reasoning may leave no tokens for a verdict.
    """

    judge: JudgeSpec
    suite: Suite
    quote: Quote
    budgets: tuple[LintFinding, ...]

    @property
    def part(self) -> QuotedCalls:
        """The same as a part of a plan of several judges or suites."""
        return QuotedCalls(f"{self.suite.name}, judge {self.judge.name}", self.judge, self.quote)

    def lines(self) -> Iterator[str]:
        """Trials, calls, tokens and cost, below the names of suite and judge."""
        yield self.part.label
        yield trials_line(self.suite)
        yield from (f"  {notice}" for notice in unsent_notices(self.judge, self.suite))
        yield from (f"  {finding.line}" for finding in self.budgets)
        yield from self._call_lines()
        is_unsure = self.quote.most > self.quote.to_make
        replies = f"at most {self.quote.completion_tokens} of replies"
        up_to = "as many as" if is_unsure else "about"
        yield f"  tokens: {up_to} {self.quote.prompt_tokens} of prompts, {replies}"
        yield f"  cost: {cost_words(self.judge, self.quote)}"

    def _call_lines(self) -> Iterator[str]:
        calls = self.quote
        if calls.carried:
            yield (
                f"  {calls.carried} answers are carried over from recorded trials that nobody "
                f"plans any more, {calls.asked} trials are asked"
            )
        yield f"  calls to be made: {calls.to_make} ({self._recorded_words()}){self._more_words()}"
        if calls.most > calls.to_make:
            yield (
                f"  as many as {calls.most} calls, if the requests of {self.judge.model} changed: "
                "what it asks is known when it runs, and a plan runs no code"
            )

    def _recorded_words(self) -> str:
        recorded = f"{self.quote.calls - self.quote.to_make} are recorded"
        if not self.quote.changed:
            return recorded
        is_function = self.judge.provider == "callable"
        other = "with other texts or of other code" if is_function else "with another request"
        return f"{recorded}; {self.quote.changed} are recorded {other}, and are asked again"

    def _more_words(self) -> str:
        """For what reason there may be more calls."""
        if self.judge.provider == "callable" and self.quote.to_make > self.quote.changed:
            several = "sends several requests in a trial that is not recorded"
            return f", more where {self.judge.model} {several}"
        return ", one more for each malformed reply" if self.judge.repair else ""

    def to_dict(self) -> Mapping[str, Any]:
        return {"judge": self.judge.name, **self.quote._asdict()}


def planned_calls(
    judge: JudgeSpec, suite: Suite, cassettes: Path, plans: Plans | None = None
) -> PlannedCalls:
    """The calls of a recording of a judge on a suite, compared with what is recorded."""
    asked_suite = suite_for_judge(suite, judge)
    now = quote(judge, asked_suite, cassettes, plans)
    return PlannedCalls(judge, asked_suite, now, tuple(budget_findings(judge, suite, cassettes)))


def trials_line(suite: Suite) -> str:
    """How many trials a suite has, and of what they are made."""
    count = len(suite.templates)
    templates = f"{count} template{'s' * (count != 1)}"
    return f"  trials: {len(plan_trials(suite))}, of {len(suite.items)} items, {templates}"
