"""``criterion_tradeoff``: a strict prompt moves the criterion, and should keep the sensitivity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pytest_judgesense.checks.declaration import bar_of, named_arguments
from pytest_judgesense.checks.outcome import Outcome, Rule, judge_estimate
from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.instruments.ladder.measures import (
    CRITERION_SHIFT,
    RAW_FALSE_PREFERENCE,
    TARGET_SENSITIVITY,
)
from pytest_judgesense.measures.check import Check, CheckKind
from pytest_judgesense.measures.measure import Measure
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
    """The check with its three bars."""
    given = named_arguments(kind, [bar for bar, *_ in _TRADEOFF], args, kwargs)
    bars = {bar: bar_of(kind, bar, given.get(bar), RAW_FALSE_PREFERENCE) for bar, *_ in _TRADEOFF}
    return Check(kind, kind.name, bars, {}, given.get("suite") or "criterion")


def judge_tradeoff(
    check: Check, suite: str, estimates: tuple[Estimate, ...], rule: Rule
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
        findings.append(judge_estimate(strict, check.bars[bar], measure, rule))
        baseline = find_estimate(estimates, measure.name, {"arm": "baseline", **condition})
        beside += [baseline] if baseline else []
    shift = find_estimate(estimates, CRITERION_SHIFT.name)
    beside += [shift] if shift else []
    return Outcome(check, suite, rule.policy, tuple(findings), tuple(beside))


def bars_of_tradeoff(
    check: Check,
) -> Iterator[tuple[Measure, float, dict[str, str | int | float]]]:
    """Measure, bar and condition of the trials of each bar."""
    for bar, measure, condition in _TRADEOFF:
        yield measure, check.bars[bar], {"arm": "strict", **condition}
