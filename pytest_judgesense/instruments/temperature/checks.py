"""Checks on a sweep of temperatures: the one that is recommended, and the size of an effect.

The recommended temperature is the highest one such that it and every lower one of the grid clear
all given bars. Each bar is judged like that of a single check, under the same policy: a
temperature that a provider refuses, or at which an interval straddles a bar under ``confident``,
ends the climb. The check fails if there is none, or if it is below ``at_least``.

``temperature_effect_bound`` bounds the size of an effect, which has a sign among the estimates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pytest_judgesense.checks.declaration import bar_of, named_arguments
from pytest_judgesense.checks.outcome import (
    MOST_MISSING,
    Finding,
    Outcome,
    OutcomeWord,
    Policy,
    judge_estimate,
)
from pytest_judgesense.errors import UsageError, unknown_name
from pytest_judgesense.estimate import Estimate, find_estimate, number_text
from pytest_judgesense.instruments.temperature.measures import (
    EFFECT_SIZE,
    EFFECTS,
    OUTCOMES,
    RECOMMENDED,
    RECOMMENDED_TEMPERATURE,
)
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.check import Check, CheckKind
from pytest_judgesense.measures.order import folded
from pytest_judgesense.registry import Registry
from pytest_judgesense.suites.suite import CheckDeclaration, Suite

_OUTCOME: Final = {outcome.name: outcome for outcome in OUTCOMES}


def declare_recommendation(
    kind: CheckKind, args: Sequence[Any], kwargs: Mapping[str, Any], _: Registry | None
) -> Check:
    """The check with a bar for each outcome that it names."""
    # Each bar is one of its measure; ``at_least`` is a temperature.
    known = {**_OUTCOME, "at_least": RECOMMENDED}
    given = named_arguments(kind, (), args, kwargs, (*known, "suite"))
    bars = {bar: bar_of(kind, bar, given[bar], known[bar]) for bar in known if bar in given}
    if not bars.keys() & _OUTCOME.keys():
        raise UsageError(
            f"{kind.name} has no bar",
            found=", ".join(bars) or "no argument",
            expected="at least one of " + ", ".join(_OUTCOME) + ", as in " + kind.signature,
            remedy=f"write {kind.name} = {{ agreement = 0.8, error_rate = 0.05 }}",
        )
    return Check(kind, kind.name, bars, {}, given.get("suite") or "temperature")


def declare_effect_bound(
    kind: CheckKind, args: Sequence[Any], kwargs: Mapping[str, Any], _: Registry
) -> Check:
    """The check with the outcome that it names, and its bar."""
    given = named_arguments(kind, ("outcome", "bar"), args, kwargs)
    outcome = given.get("outcome")
    if outcome not in _OUTCOME:
        raise unknown_name(f"outcome of {kind.name}", str(outcome), _OUTCOME)
    bars = {"bar": bar_of(kind, "bar", given.get("bar"), EFFECT_SIZE)}
    suite = given.get("suite") or "temperature"
    return Check(kind, EFFECT_SIZE.name, bars, {"outcome": str(outcome)}, suite, EFFECT_SIZE)


def judge_effect(
    check: Check,
    suite: str,
    estimates: tuple[Estimate, ...],
    policy: Policy,
    _: float,
) -> Outcome:
    """Whether the size of an effect is within the bar, under ``confident`` on both sides."""
    effect = find_estimate(estimates, EFFECTS[str(check.condition["outcome"])].name)
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
            clustered=effect.clustered and folded(effect.clustered, 0.0),
            unavailable=effect.unavailable,
        )
    finding = judge_estimate(size, check.bars["bar"], EFFECT_SIZE, policy, MOST_MISSING)
    return Outcome(check, suite, policy, (finding,), () if effect is None else (effect,))


@dataclass(frozen=True, slots=True)
class _Step:
    """A temperature of the grid, with what came of every bar there."""

    temperature: float
    findings: tuple[Finding, ...]

    @property
    def passes(self) -> bool:
        return all(finding.outcome == "pass" for finding in self.findings)

    @property
    def outcome(self) -> OutcomeWord:
        failed = any(finding.outcome == "fail" for finding in self.findings)
        return "fail" if failed else "inconclusive"

    @property
    def missed(self) -> str:
        """The bars that are not cleared, in words."""
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
            if one.measure in EFFECTS and set(one.condition) == {"temperature"}
        }
    )
    bars = {measure: bar for measure, bar in check.bars.items() if measure in EFFECTS}
    return [
        _Step(
            temperature,
            tuple(
                judge_estimate(found, bar, _OUTCOME[measure], policy, most_missing)
                for measure, bar in bars.items()
                if (found := find_estimate(estimates, measure, {"temperature": temperature}))
            ),
        )
        for temperature in grid
    ]


def _recommended(steps: Sequence[_Step]) -> tuple[_Step | None, _Step | None]:
    """The highest step such that it and every lower one pass, and the one that ends the climb."""
    best = None
    for step in steps:
        if not step.passes:
            return best, step
        best = step
    return best, None


def judge_recommendation(
    check: Check,
    suite: str,
    estimates: tuple[Estimate, ...],
    policy: Policy,
    most_missing: float,
) -> Outcome:
    """The highest temperature such that it and every lower one clear all bars."""
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
        unit=RECOMMENDED.unit,
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
    finding = Finding(estimate, least, RECOMMENDED, outcome, reason, warning)
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
        if declaration.name != RECOMMENDED_TEMPERATURE.name:
            continue
        check = declare_recommendation(
            RECOMMENDED_TEMPERATURE, (), dict(declaration.arguments), None
        )
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
                    for measure in EFFECTS
                    for found in (
                        find_estimate(estimates, measure, {"temperature": plain.temperature}),
                    )
                },
                "holds": plain.passes,
                "holds_confident": sure.passes,
                "recommended": plain is best["estimate"],
                "recommended_confident": sure is best["confident"],
            }
            for plain, sure in zip(climbs["estimate"], climbs["confident"], strict=True)
        ]


def recommended_rows(
    _cell: Cell, estimates: tuple[Estimate, ...], suite: Suite | None
) -> list[dict[str, Any]] | None:
    """The climbs of a suite that declares any, for the report."""
    climbs = [*recommendations(suite.checks, estimates)] if suite else []
    return [row for rows in climbs for row in rows] if climbs else None
