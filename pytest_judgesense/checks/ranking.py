"""Whether a configuration is the most stable one: what comes of ``ranked_first``.

Like any check it passes by the estimate, here the rank; policy ``confident`` asks for a share of
first ranks among the resamples of topics as well.
"""

from __future__ import annotations

from typing import Final

from pytest_judgesense.checks.declaration import Check
from pytest_judgesense.checks.outcome import Finding, Outcome, OutcomeWord, Policy
from pytest_judgesense.measures.ranking import Ranking
from pytest_judgesense.stats.estimate import Estimate

__all__ = ["judge_ranking"]

# The least share of resamples in which a configuration has to be first, to be so for sure.
_RANKED_FIRST: Final = 0.95


def judge_ranking(check: Check, ranking: Ranking, policy: Policy = "estimate") -> Outcome:
    """The outcome of ``ranked_first``: the configuration has the lowest instability.

    Policy ``confident``: it has it in at least 95% of the resamples as well.
    """
    name = str(check.condition["config"])
    row = ranking.find(name)
    beside = tuple(
        Estimate(
            measure="instability",
            suite=ranking.suite,
            condition={"config": one.name},
            value=one.instability,
        )
        for one in ranking.rows[:3]
    )
    if row is None:
        known = ", ".join(one.name for one in ranking.rows) or "none"
        reason = ranking.excluded.get(name, f"not among the configurations: {known}")
        estimate = Estimate(
            measure="rank", suite=ranking.suite, condition=check.condition, unavailable=reason
        )
        finding = Finding(estimate, 1.0, False, "inconclusive", reason)
        return Outcome(check, ranking.suite, policy, (finding,), beside)
    said = f"first in {row.shares[0]:.1%} of the resamples of topics"
    settled = row.shares[0] >= _RANKED_FIRST
    outcome: OutcomeWord = "pass" if row.rank == 1 else "fail"
    if outcome == "pass" and policy == "confident" and not settled:
        outcome = "inconclusive"
    warning = None if settled or row.rank > 1 else f"{said}: below {_RANKED_FIRST:.0%}, not settled"
    estimate = Estimate(
        measure="rank",
        suite=ranking.suite,
        condition=check.condition,
        value=float(row.rank),
        n=len(ranking.rows),
        unit="configuration",
    )
    finding = Finding(estimate, 1.0, False, outcome, said, warning)
    return Outcome(check, ranking.suite, policy, (finding,), beside)
