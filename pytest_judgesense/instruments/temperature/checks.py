"""Checks on a sweep of temperatures: the one that is recommended, and the size of an effect.

The recommended temperature is the highest one such that it and every lower one of the grid clear
all given bars. Each bar is evaluated like a single check, under the same policy: a temperature that
a provider refuses, or at which an interval straddles a bar under ``confident``, ends the search.
The check fails if there is none, or if it is below ``at_least``; under ``refuted`` only if a bar is
refuted at a temperature up to there.

``temperature_effect_bound`` bounds the size of an effect, which has a sign among the estimates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import Any, Final

from pytest_judgesense.checks.declaration import bar_of, bars_and_limits, named_arguments
from pytest_judgesense.checks.outcome import (
    Assessment,
    DecisionRule,
    Outcome,
    OutcomeWord,
    Warns,
    judge_estimate,
)
from pytest_judgesense.errors import UsageError, listed, unknown_name
from pytest_judgesense.estimate import Estimate, find_estimate, number_text
from pytest_judgesense.instruments.temperature.measures import (
    EFFECT_SIZE,
    EFFECTS,
    OUTCOMES,
    RECOMMENDED,
)
from pytest_judgesense.measures.bar import Check, CheckKind, limit_name
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.order import in_size
from pytest_judgesense.registry import Registry
from pytest_judgesense.suites.suite import Suite


def declare_recommendation(
    kind: CheckKind, args: Sequence[Any], kwargs: Mapping[str, Any], _: Registry | None
) -> Check:
    """The check with a bar for each outcome that it names, and a limit where it names one."""
    further = (*OUTCOMES, *map(limit_name, OUTCOMES), "at_least", "suite")
    arguments = named_arguments(kind, (), args, kwargs, further)
    named = {
        bar: measure
        for bar, measure in OUTCOMES.items()
        if bar in arguments or limit_name(bar) in arguments
    }
    bars, limits = bars_and_limits(kind, arguments, named)
    if "at_least" in arguments:  # a temperature
        bars["at_least"] = bar_of(kind, "at_least", arguments["at_least"], RECOMMENDED)
    if not named:
        raise UsageError(
            f"{kind.name} has no bar",
            found=listed(bars) or "no argument",
            expected="at least one of " + listed(OUTCOMES) + ", as in " + kind.signature,
            remedy=f"write {kind.name} = {{ agreement = 0.8, error_rate = 0.05 }}",
        )
    return Check(kind, kind.name, bars, {}, arguments.get("suite") or "temperature", limits=limits)


def declare_effect_bound(
    kind: CheckKind, args: Sequence[Any], kwargs: Mapping[str, Any], _: Registry
) -> Check:
    """The check with the outcome that it names, and its bar."""
    arguments = named_arguments(kind, ("outcome", "bar"), args, kwargs, ("limit", "suite"))
    outcome = arguments.get("outcome")
    if outcome not in OUTCOMES:
        raise unknown_name(f"outcome of {kind.name}", str(outcome), OUTCOMES)
    bars, limits = bars_and_limits(kind, arguments, {"bar": EFFECT_SIZE})
    suite, of = arguments.get("suite") or "temperature", {"outcome": str(outcome)}
    return Check(kind, EFFECT_SIZE.name, bars, of, suite, EFFECT_SIZE, limits=limits)


def judge_effect(
    check: Check,
    suite: str,
    estimates: tuple[Estimate, ...],
    rule: DecisionRule,
) -> Outcome:
    """Whether the size of an effect is within the bar, under ``confident`` on both sides."""
    effect = find_estimate(estimates, EFFECTS[str(check.condition["outcome"])].name)
    named: dict[str, Any] = {"measure": check.measure, "condition": check.condition}
    if effect is None:
        reason = f"suite {suite} does not vary the temperature"
        size = Estimate(suite=suite, unavailable=reason, **named)
    else:
        size = replace(in_size(effect), flags=(), **named)
    finding = judge_estimate(size, check.bars["bar"], EFFECT_SIZE, rule, check.limits.get("bar"))
    return Outcome(check, suite, rule.policy, (finding,), () if effect is None else (effect,))


def _missed(missed: Outcome) -> str:
    """The bars that are not cleared, in words."""
    words = []
    for finding in (finding for finding in missed.findings if finding.outcome != "pass"):
        text = str(finding.estimate.unavailable)
        if finding.estimate.value is not None:
            sign = ">=" if finding.floor else "<="
            text = f"{number_text(finding.estimate.value)}, wanted {sign} {finding.bar:g}"
            text += "" if finding.limit is None else f", limit {finding.limit:g}"
            text += f" ({finding.reason})" if finding.reason else ""
        words.append(f"{finding.estimate.measure} {text}")
    return ", ".join(words)


def _climb(
    check: Check, suite: str, estimates: tuple[Estimate, ...], rule: DecisionRule
) -> dict[float, Outcome]:
    """The results of the bars at every temperature of the grid, from the lowest on."""
    grid = {
        float(estimate.condition["temperature"])
        for estimate in estimates
        if estimate.measure in OUTCOMES and set(estimate.condition) == {"temperature"}
    }
    climb = {}
    for temperature in sorted(grid):
        findings = tuple(
            judge_estimate(estimate, bar, OUTCOMES[measure], rule, check.limits.get(measure))
            for measure, bar in check.bars.items()
            if measure in OUTCOMES
            if (estimate := find_estimate(estimates, measure, {"temperature": temperature}))
        )
        climb[temperature] = Outcome(check, suite, rule.policy, findings)
    return climb


def _recommended(climb: Mapping[float, Outcome]) -> tuple[float | None, float | None]:
    """The highest temperature such that it and every lower one pass, and the one that ends the
    climb.
    """
    passing = [*takewhile(lambda temperature: climb[temperature].outcome == "pass", climb)]
    return max(passing, default=None), next(
        (temperature for temperature in climb if temperature not in passing), None
    )


def judge_recommendation(
    check: Check, suite: str, estimates: tuple[Estimate, ...], rule: DecisionRule
) -> Outcome:
    """The highest temperature such that it and every lower one clear all bars."""
    climb = _climb(check, suite, estimates, rule)
    best, end = _recommended(climb)
    least = check.bars.get("at_least", min(climb, default=0.0))
    nothing = reason = None
    warning: Warns | None = None

    def straddling(temperature: float, settled: bool) -> str | None:
        texts = [
            text
            for finding in climb[temperature].findings
            if (text := finding.warning(settled=settled))
        ]
        return f"at {temperature:g}: {'; '.join(texts)}" if texts else None

    if best is None:
        nothing = "no temperature was measured"
        if end is not None:
            nothing = f"not even {end:g} holds: {_missed(climb[end])}"
    else:
        reason = "every temperature of the grid holds"
        if end is not None:
            reason = f"at {end:g}: {_missed(climb[end])}"
        warning = partial(straddling, best)
    outcome: OutcomeWord = "pass"
    if best is None or best < least:
        outcome = "inconclusive" if best is None else "fail"
        outcome = outcome if end is None else climb[end].outcome
    wanted = Outcome(
        check,
        suite,
        rule.policy,
        tuple(
            finding
            for temperature, step_outcome in climb.items()
            if temperature <= least
            for finding in step_outcome.findings
        ),
    )
    tolerated = False
    if rule.policy == "refuted" and outcome != "pass" and end is not None:
        outcome, tolerated = wanted.outcome, not wanted.fails
    estimate = Estimate(
        measure=check.measure,
        suite=suite,
        value=best,
        n=len(climb),
        unit=RECOMMENDED.unit,
        unavailable=nothing,
    )
    finding = Assessment(estimate, least, RECOMMENDED, outcome, reason, warning, tolerated)
    steps = [climb[step] for step in (best, end) if step is not None]
    beside = tuple(step_finding.estimate for step in steps for step_finding in step.findings)
    return Outcome(check, suite, rule.policy, (finding,), beside, wanted.findings)


def recommended_rows(
    cell: Cell, estimates: tuple[Estimate, ...], suite: Suite | None
) -> list[dict[str, Any]] | None:
    """The searches of a suite that declares any, for the report: one row a temperature.

    Both policies are shown, whichever the session has.
    """
    name = RECOMMENDED_TEMPERATURE.name
    declared = (
        [declared_check for declared_check in suite.checks if declared_check.name == name]
        if suite
        else []
    )
    rows = []
    for declared_check in declared:
        check = declare_recommendation(
            RECOMMENDED_TEMPERATURE, (), dict(declared_check.arguments), None
        )
        plain = _climb(check, cell.suite, estimates, DecisionRule())
        sure = _climb(check, cell.suite, estimates, DecisionRule("confident"))
        for temperature in plain:
            condition = {"temperature": temperature}
            by_measure = {
                measure: find_estimate(estimates, measure, condition) for measure in OUTCOMES
            }
            rows.append(
                {
                    "check": check.id,
                    **condition,
                    **{
                        measure: of_measure and of_measure.value
                        for measure, of_measure in by_measure.items()
                    },
                    "holds": plain[temperature].outcome == "pass",
                    "holds_confident": sure[temperature].outcome == "pass",
                    "recommended": temperature == _recommended(plain)[0],
                    "recommended_confident": temperature == _recommended(sure)[0],
                }
            )
    return rows if declared else None


def recommended_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The recommended temperature under both policies."""
    for check in dict.fromkeys(row["check"] for row in rows):
        best = {
            key: f"{row['temperature']:g}"
            for row in rows
            for key in ("recommended", "recommended_confident")
            if row["check"] == check and row[key]
        }
        bars = check.partition("[")[2].rstrip("]")
        yield (
            f"recommended temperature ({bars}): {best.get('recommended', 'none')}; "
            f"with confidence {best.get('recommended_confident', 'none')}"
        )


RECOMMENDED_TEMPERATURE: Final = CheckKind(
    "recommended_temperature",
    "agreement=, agreement_parsed=, consistency=, error_rate=, format_error_rate=, "
    "agreement_limit=, agreement_parsed_limit=, consistency_limit=, error_rate_limit=, "
    "format_error_rate_limit=, at_least=, suite=",
    "up to some temperature of the grid all bars hold",
    declare_recommendation,
    judge_recommendation,
    named_bars=True,
)
TEMPERATURE_EFFECT_BOUND: Final = CheckKind(
    "temperature_effect_bound",
    "outcome, bar, limit=, known=, at=, until=, suite=",
    "what a high temperature changes in an outcome is at most the bar",
    declare_effect_bound,
    judge_effect,
)
