"""A plan of suites: what would be asked, its price, what early stopping spares, and the chances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_judgesense.checks.early_stop import Stopping
from pytest_judgesense.checks.outcome import Assessment, DecisionRule, Policy, judge_check
from pytest_judgesense.errors import listed
from pytest_judgesense.judges.prompts import suite_for_judge, unsent_notices
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measures.bar import Check
from pytest_judgesense.questions.lint_report import budget_findings
from pytest_judgesense.questions.plan.chances import SuiteChances, check_row
from pytest_judgesense.questions.plan.nights import NightlyPlan
from pytest_judgesense.questions.plan.power import JudgedSuite, PowerAssumptions
from pytest_judgesense.questions.pricing import CallPlan, Quote, QuotedCalls, cost_words, quote
from pytest_judgesense.questions.question import QuestionAnswer, dataframe_of
from pytest_judgesense.stats.sequential import asked_together, expected_clusters, looks_of
from pytest_judgesense.suites.finding import LintFinding
from pytest_judgesense.suites.planning import Plans, plan_trials
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.layout import indented

if TYPE_CHECKING:
    import pandas as pd


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
        if self.judge.jury is not None:
            members = listed(self.judge.jury.members)
            yield f"  calls to be made: none, its verdicts are made of those of {members}"
            return
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


# Of the way from the bar to a judge without error; below 0 away from it.
_TRUTHS: Final = (1.0, 0.5, 0.0, -0.5, -1.0)


@dataclass(frozen=True)
class CheckTrials:
    """The trials until one check is decided.

    Attributes:
        check: its id.
        on_all: whether it is decided on all clusters alone.
        by_value: the expected number by the true value of its measure; empty where it is not
            planned.
    """

    check: str
    on_all: bool = False
    by_value: Mapping[float, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ExpectedTrials:
    """The trials of a suite until its checks are decided.

    Attributes:
        policy: under which they are.
        most: all trials of the suite.
        usd_a_trial: the maximum cost of one; ``None`` if not known.
        checks: a suite stops when the last of them is decided.
    """

    policy: Policy
    most: int
    usd_a_trial: float | None
    checks: tuple[CheckTrials, ...]

    def lines(self) -> Iterator[str]:
        """For each check the expected trials, and their price where it is known."""
        most = self._priced(self.most)
        yield f"early stop, policy {self.policy}: at most {most} trials; expected until decided,"
        yield "by the true value (a suite stops when its last check is decided):"
        for check in self.checks:
            if check.on_all:
                yield f"  {check.check}: all {most}: it is decided on all clusters"
            elif not check.by_value:
                yield f"  {check.check}: not planned: it is not a share with one bar"
            else:
                expected = check.by_value.items()
                shown = (f"{self._priced(number)} at {value:.3f}" for value, number in expected)
                yield f"  {check.check}: {', '.join(shown)}"

    def _priced(self, trials: float) -> str:
        usd = "" if self.usd_a_trial is None else f" ({trials * self.usd_a_trial:.4f} USD)"
        return f"{trials:.0f}{usd}"

    def to_dict(self) -> Mapping[str, Any]:
        return {
            "policy": self.policy,
            "most": self.most,
            "usd_a_trial": self.usd_a_trial,
            "checks": [
                {
                    "check": check.check,
                    "on_all": check.on_all,
                    "expected": [
                        {"value": value, "trials": trials}
                        for value, trials in check.by_value.items()
                    ],
                }
                for check in self.checks
            ],
        }


def expected_trials(
    suite: Suite, assumed: PowerAssumptions, usd_a_trial: float | None
) -> ExpectedTrials:
    """The trials to expect until each check of a suite is decided, at the assumed correlation."""
    judged = JudgedSuite(suite, assumed)
    checks = tuple(_trials_of(check, suite, judged) for check in judged.checks)
    return ExpectedTrials(assumed.policy, len(judged.cell.all_judgments), usd_a_trial, checks)


def _trials_of(check: Check, suite: Suite, judged: JudgedSuite) -> CheckTrials:
    policy = judged.assumed.policy
    findings: Sequence[Assessment] = ()
    if check.of is not None and not (check.kind.earlier or check.kind.compares):
        findings = judge_check(check, suite.name, judged.estimates, policy).findings
    finding = findings[0] if len(findings) == 1 else None
    sizes = [count for _, count in judged.units(finding.estimate)] if finding else []
    is_never_decided = Stopping((check,), DecisionRule(policy)).never
    has_bound = policy == "confident" or bool(check.limits)
    if is_never_decided or not (sizes or has_bound):
        return CheckTrials(check.id, on_all=True)
    if finding is None or len(sizes) < 2:
        return CheckTrials(check.id)
    looks = Stopping(tuple(judged.checks), DecisionRule(policy)).looks
    trials = len(judged.cell.all_judgments)
    by_value = _expected_trials(finding, sizes, trials, judged.assumed, looks)
    return CheckTrials(check.id, by_value=by_value)


def _expected_trials(
    finding: Assessment, sizes: Sequence[int], trials: int, assumed: PowerAssumptions, looks: str
) -> dict[float, float]:
    """The expected number of trials until a check of a share is decided, by the true value.

    Of all ``trials`` of the suite; ``sizes``: units of each cluster, planned as if all were of
    their mean; ``looks``: the policy of the suite's looks.
    """
    clusters, size = len(sizes), max(1, round(sum(sizes) / len(sizes)))
    bets = assumed.policy == "estimate" and finding.limit is None
    every = looks == "estimate"
    together = asked_together(clusters, trials) if every else 1
    # Of a distance from one half, the one side to which the judge leans.
    folded, bar = finding.measure.best == "half", finding.decisive
    bar = 0.5 - bar if folded else bar if finding.floor else 1 - bar
    best = 0.5 if folded else 1.0
    trials_by_value = {}
    for part in _TRUTHS:
        share = min(1.0, max(0.0, bar + part * (best - bar)))
        process = share, assumed.correlation, size, bar, looks_of(clusters, every=every)
        number = expected_clusters(*process, every=bets, together=together, seed=assumed.seed)
        value = 0.5 - share if folded else share if finding.floor else 1 - share
        trials_by_value[round(value, 12)] = trials * number / clusters
    return trials_by_value


@dataclass(frozen=True)
class SuitePlan:
    """A suite, asked of a judge or of none.

    Attributes:
        suite: with the prompts of the judge in it.
        calls: and their price; ``None`` without a judge.
        findings: of lint.
        scores: lines that say what scorers which know no language get right, if they are wanted.
        chances: of the checks; ``None`` where an error of lint leaves them without a meaning.
        early_stop: the trials to expect with early stopping, if they are wanted.
        nights: a run each night; ``None`` without a judge, and of a jury, whose members have them.
    """

    suite: Suite
    calls: PlannedCalls | None
    findings: tuple[LintFinding, ...]
    scores: tuple[str, ...] = ()
    chances: SuiteChances | None = None
    early_stop: ExpectedTrials | None = None
    nights: NightlyPlan | None = None

    @property
    def errors(self) -> tuple[LintFinding, ...]:
        """What stops a run."""
        return tuple(finding for finding in self.findings if finding.is_fatal)

    def lines(self) -> Iterator[str]:
        """Calls and price, what lint finds, the chances, and what a night costs."""
        yield from self._call_lines()
        for finding in self.findings:
            if not finding.is_fatal:
                yield from indented(finding.line, 2)
        yield from self.scores
        for error in self.errors:
            yield from error.lines
        for part in (self.chances, self.early_stop, self.nights):
            if part is not None:
                yield from part.lines()

    def _call_lines(self) -> Iterator[str]:
        if self.calls is not None:
            yield from self.calls.lines()
            return
        yield f"{self.suite.name}, without a judge"
        yield trials_line(self.suite)
        yield "  calls, cost: those of a judge: --judge-name NAME, or declare one in pyproject.toml"

    def to_dict(self) -> Mapping[str, Any]:
        parts = {
            "calls": self.calls,
            "chances": self.chances,
            "early_stop": self.early_stop,
            "nights": self.nights,
        }
        return {
            "suite": self.suite.name,
            "judge": self.calls.judge.name if self.calls else None,
            "trials": len(plan_trials(self.suite)),
            "findings": [finding._asdict() for finding in self.findings],
            **{name: part.to_dict() if part else None for name, part in parts.items()},
        }


@dataclass(frozen=True)
class PlanAnswer(QuestionAnswer):
    """A plan of suites, each of every judge.

    Attributes:
        parts: each suite with each judge; without judges each suite.
    """

    parts: tuple[SuitePlan, ...]

    @property
    def calls(self) -> CallPlan:
        """What all judges would be asked, and for what price."""
        return CallPlan("", tuple(part.calls.part for part in self.parts if part.calls))

    @property
    def worse(self) -> bool:
        """Whether an error of lint would stop a run."""
        return any(part.errors for part in self.parts)

    def lines(self) -> Iterator[str]:
        """The plan of each suite and judge; of several also what all of them cost."""
        for part in self.parts:
            yield from part.lines()
        if len(self.calls.parts) > 1:
            yield f"together: {self.calls.words}"

    def to_dict(self) -> Mapping[str, Any]:
        return {"suites": [part.to_dict() for part in self.parts]}

    def to_dataframe(self) -> pd.DataFrame:
        """The checks, a row each, with the chances as numbers; a reason where there is none.

        Raises:
            UsageError: pandas is not installed.
        """
        return dataframe_of(chain.from_iterable(map(_rows, self.parts)))


def _rows(part: SuitePlan) -> Iterator[Mapping[str, Any]]:
    """The checks of a suite: chances by their value and the ends of their intervals."""
    judge = part.calls.judge.name if part.calls else None
    for check in part.chances.checks if part.chances else ():
        row: dict[str, Any] = {"suite": part.suite.name, "judge": judge}
        for name, value in check_row(check).items():
            if isinstance(value, dict):
                row[name] = value["value"]
                row |= {f"{name}_{end}": value[end] for end in ("lower", "upper")}
            else:
                row[name] = value
        yield row
