"""``criterion_tradeoff``: a strict prompt moves the criterion, and should keep the sensitivity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pytest_judgesense.checks.declaration import bars_and_limits, named_arguments
from pytest_judgesense.checks.outcome import DecisionRule, Outcome, judge_estimate
from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.instruments.ladder.measures import (
    CRITERION_SHIFT,
    RAW_FALSE_PREFERENCE,
    TARGET_SENSITIVITY,
)
from pytest_judgesense.measures.bar import Check, CheckKind, limit_name
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.registry import Registry

# Bar, measure, condition under the strict prompt.
_TRADEOFF: Final[tuple[tuple[str, Measure, dict[str, str | int | float]], ...]] = (
    ("false_preference", RAW_FALSE_PREFERENCE, {}),
    ("distance_1", TARGET_SENSITIVITY, {"distance": 1}),
    ("distance_5", TARGET_SENSITIVITY, {"distance": 5}),
)


def declare_tradeoff(
    kind: CheckKind, args: Sequence[Any], kwargs: Mapping[str, Any], _: Registry
) -> Check:
    """The check with its three bars, and the limits that it names."""
    measures = {bar: measure for bar, measure, _ in _TRADEOFF}
    further = (*map(limit_name, measures), "suite")
    arguments = named_arguments(kind, [*measures], args, kwargs, further)
    bars, limits = bars_and_limits(kind, arguments, measures)
    return Check(kind, kind.name, bars, {}, arguments.get("suite") or "criterion", limits=limits)


def judge_tradeoff(
    check: Check, suite: str, estimates: tuple[Estimate, ...], rule: DecisionRule
) -> Outcome:
    """Each bar against its measure under the strict prompt, with the baseline prompt beside it."""
    findings, beside = [], []
    for bar, measure, condition in _TRADEOFF:
        strict = find_estimate(estimates, measure.name, {"arm": "strict", **condition})
        if strict is None:
            pooled = find_estimate(estimates, measure.name)
            reason = pooled.unavailable if pooled else None
            reason = reason or "the suite was not run under a strict prompt at this distance"
            strict = Estimate(measure=measure.name, suite=suite, unavailable=reason)
        limit = check.limits.get(bar)
        findings.append(judge_estimate(strict, check.bars[bar], measure, rule, limit))
        baseline = find_estimate(estimates, measure.name, {"arm": "baseline", **condition})
        beside += [baseline] if baseline else []
    shift = find_estimate(estimates, CRITERION_SHIFT.name)
    beside += [shift] if shift else []
    return Outcome(check, suite, rule.policy, tuple(findings), tuple(beside))


def bars_of_tradeoff(
    check: Check,
) -> Iterator[tuple[Measure, str, dict[str, str | int | float]]]:
    """Measure, name and condition of the trials of each bar."""
    for bar, measure, condition in _TRADEOFF:
        if bar in check.bars:
            yield measure, bar, {"arm": "strict", **condition}


CRITERION_TRADEOFF: Final = CheckKind(
    "criterion_tradeoff",
    "false_preference, distance_1, distance_5, false_preference_limit=, distance_1_limit=, "
    "distance_5_limit=, suite=",
    "under a strict prompt raw_false_preference <= the first bar, and target_sensitivity at "
    "distances 1 and 5 >= the others",
    declare_tradeoff,
    judge_tradeoff,
    bars_of_tradeoff,
)
