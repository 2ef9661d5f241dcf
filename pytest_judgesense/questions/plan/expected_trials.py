"""How many trials early stopping is expected to ask, by what is true of the judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pytest_judgesense.checks.early_stop import Stopping
from pytest_judgesense.checks.outcome import Assessment, DecisionRule, Policy, judge_check
from pytest_judgesense.measures.bar import Check
from pytest_judgesense.questions.plan.power import JudgedSuite, PowerAssumptions
from pytest_judgesense.stats.sequential import asked_together, expected_clusters, looks_of
from pytest_judgesense.suites.suite import Suite

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
    return ExpectedTrials(assumed.policy, len(judged.cell.judgments), usd_a_trial, checks)


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
    trials = len(judged.cell.judgments)
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
