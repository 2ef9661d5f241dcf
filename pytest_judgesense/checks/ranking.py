"""Checks that choose: ``ranked_first`` a configuration, ``recommended_temperature`` a temperature.

Like any check ``ranked_first`` passes by the estimate, here the rank; policy ``confident`` asks for
a share of first ranks among the resamples of topics as well.

The recommended temperature is the highest one such that it and every lower one of the grid hold
all given bars. Each bar is held as a check of its own would be, under the same policy: a
temperature that a provider refuses, or at which an interval straddles a bar under ``confident``,
ends the climb. The check fails if there is none, or if it is below ``at_least``.

``temperature_effect_bound`` holds the size of an effect, which has a sign among the estimates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pytest_judgesense.checks.declaration import Check, declare_check
from pytest_judgesense.checks.outcome import (
    MOST_MISSING,
    Finding,
    Outcome,
    OutcomeWord,
    Policy,
    hold,
    judge_check,
)
from pytest_judgesense.estimate import Clustered, Estimate, number_text
from pytest_judgesense.instruments.debate.ranking import Ranking
from pytest_judgesense.instruments.estimation import find_estimate
from pytest_judgesense.measures.catalogue import MEASURES, OUTCOMES
from pytest_judgesense.suites.suite import CheckDeclaration

__all__ = ["judge_any", "judge_ranking", "recommendations"]

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


def judge_any(
    check: Check,
    suite: str,
    estimates: tuple[Estimate, ...],
    policy: Policy = "estimate",
    most_missing: float = MOST_MISSING,
) -> Outcome:
    """The outcome of a check on one judge's estimates; for the arguments see `judge_check`."""
    if check.name == "recommended_temperature":
        return _judge_recommendation(check, suite, estimates, policy, most_missing)
    if check.name == "temperature_effect_bound":
        return _judge_effect(check, suite, estimates, policy)
    return judge_check(check, suite, estimates, policy, most_missing)


def _judge_effect(
    check: Check, suite: str, estimates: tuple[Estimate, ...], policy: Policy
) -> Outcome:
    """Whether the size of an effect is within the bar, under ``confident`` on both sides."""
    effect = find_estimate(estimates, f"{check.condition['outcome']}_effect")
    size = Estimate(
        measure=check.measure,
        suite=suite,
        condition=check.condition,
        unavailable=f"suite {suite} does not vary the temperature",
    )
    if effect is not None:
        size = replace(
            size,
            value=None if effect.value is None else abs(effect.value),
            n=effect.n,
            unit=effect.unit,
            clustered=effect.clustered and _folded(effect.clustered),
            unavailable=effect.unavailable,
        )
    finding = hold(size, check.bars["bar"], floor=False, policy=policy, most_missing=MOST_MISSING)
    return Outcome(check, suite, policy, (finding,), () if effect is None else (effect,))


def _folded(found: Clustered) -> Clustered:
    """The interval of the size of a difference, from that of the difference."""

    def ends(lower: float, upper: float) -> tuple[float, float]:
        low, high = sorted((abs(lower), abs(upper)))
        return (0.0 if lower <= 0 <= upper else low), high

    lower, upper = ends(found.lower, found.upper)
    bound_low, bound_high = ends(found.lower_bound, found.upper_bound)
    return replace(
        found,
        method=f"{found.method}-folded",
        lower=lower,
        upper=upper,
        lower_bound=bound_low,
        upper_bound=bound_high,
    )


@dataclass(frozen=True, slots=True)
class _Step:
    """A temperature of the grid, with what came of every bar there."""

    temperature: float
    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        return all(finding.outcome == "pass" for finding in self.findings)

    @property
    def outcome(self) -> OutcomeWord:
        failed = any(finding.outcome == "fail" for finding in self.findings)
        return "fail" if failed else "inconclusive"

    @property
    def missed(self) -> str:
        """Which bars do not hold, in words."""
        return ", ".join(
            f"{finding.estimate.measure} "
            + (
                str(finding.estimate.unavailable)
                if finding.estimate.value is None
                else f"{number_text(finding.estimate.value)}, wanted "
                f"{'>=' if finding.floor else '<='} {finding.bar:g}"
                + (f" ({finding.reason})" if finding.reason else "")
            )
            for finding in self.findings
            if finding.outcome != "pass"
        )


def _climb(
    check: Check, estimates: tuple[Estimate, ...], policy: Policy, most_missing: float
) -> list[_Step]:
    """Every temperature of the grid, from the lowest on."""
    grid = sorted(
        {
            float(one.condition["temperature"])
            for one in estimates
            if one.measure in OUTCOMES and set(one.condition) == {"temperature"}
        }
    )
    bars = {measure: bar for measure, bar in check.bars.items() if measure in OUTCOMES}
    return [
        _Step(
            temperature,
            tuple(
                hold(found, bar, MEASURES[measure].direction == "higher", policy, most_missing)
                for measure, bar in bars.items()
                if (found := find_estimate(estimates, measure, {"temperature": temperature}))
            ),
        )
        for temperature in grid
    ]


def _recommended(steps: Sequence[_Step]) -> tuple[_Step | None, _Step | None]:
    """The highest step such that it and every lower one hold, and the one that ends the climb."""
    best = None
    for step in steps:
        if not step.holds:
            return best, step
        best = step
    return best, None


def _judge_recommendation(
    check: Check,
    suite: str,
    estimates: tuple[Estimate, ...],
    policy: Policy,
    most_missing: float,
) -> Outcome:
    steps = _climb(check, estimates, policy, most_missing)
    best, end = _recommended(steps)
    least = check.bars.get("at_least", steps[0].temperature if steps else 0.0)
    nothing = (
        "no temperature was measured"
        if end is None
        else (f"not even {end.temperature:g} holds: {end.missed}")
    )
    estimate = Estimate(
        measure=check.measure,
        suite=suite,
        value=None if best is None else best.temperature,
        n=len(steps),
        unit="temperature",
        unavailable=None if best else nothing,
    )
    outcome: OutcomeWord = "pass"
    if best is None or best.temperature < least:
        outcome = end.outcome if end else "inconclusive" if best is None else "fail"
    reason = None
    if best is not None:
        reason = "every temperature of the grid holds"
        reason = f"at {end.temperature:g}: {end.missed}" if end else reason
    straddling = [f.warning for f in best.findings if f.warning] if best else []
    warning = f"at {best.temperature:g}: {'; '.join(straddling)}" if best and straddling else None
    finding = Finding(estimate, least, True, outcome, reason, warning)
    shown = [step for step in (best, end) if step]
    beside = tuple(found.estimate for step in shown for found in step.findings)
    return Outcome(check, suite, policy, (finding,), beside)


def recommendations(
    declared: Iterable[CheckDeclaration], estimates: tuple[Estimate, ...]
) -> Iterator[list[dict[str, Any]]]:
    """The climb of each ``recommended_temperature`` of a suite, a row a temperature.

    Both policies stand beside one another, whichever the session has.
    """
    for declaration in declared:
        if declaration.name != "recommended_temperature":
            continue
        check = declare_check(declaration.name, (), dict(declaration.arguments))
        climbs = {
            policy: _climb(check, estimates, policy, MOST_MISSING)
            for policy in ("estimate", "confident")
        }
        best = {policy: _recommended(steps)[0] for policy, steps in climbs.items()}
        yield [
            {
                "check": check.id,
                "temperature": plain.temperature,
                **{
                    measure: found and found.value
                    for measure in OUTCOMES
                    for found in (
                        find_estimate(estimates, measure, {"temperature": plain.temperature}),
                    )
                },
                "holds": plain.holds,
                "holds_confident": sure.holds,
                "recommended": plain is best["estimate"],
                "recommended_confident": sure is best["confident"],
            }
            for plain, sure in zip(climbs["estimate"], climbs["confident"], strict=True)
        ]
