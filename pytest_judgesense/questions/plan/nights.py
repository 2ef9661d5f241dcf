"""What asking all afresh each night costs, and how soon such nights find a loss."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from pytest_judgesense.estimate import find_estimate
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.questions.plan.power import JudgedSuite, PowerAssumptions
from pytest_judgesense.questions.pricing import Quote, cost_words, quote_of_all
from pytest_judgesense.stats.drift import PlannedSessions
from pytest_judgesense.stats.losses import ASSUMED_RATE
from pytest_judgesense.suites.suite import Suite

# Of nights: in a month, before a loss, and the spread of their log-odds where they differ.
_MONTH, _BEFORE, _DAYS = 30, 30, 0.3
_LOSS: Final = 0.1
_RUNS: Final = 200  # histories that are simulated


class FindingNights(NamedTuple):
    """In which night a loss is found: in half of cases, and in nine of ten; maybe never."""

    half: float
    nine_of_ten: float

    @property
    def words(self) -> str:
        return ", ".join(f"{night:.0f}" if night < math.inf else f"over {_MONTH}" for night in self)

    def to_dict(self) -> Mapping[str, float | None]:
        return {name: night if night < math.inf else None for name, night in self._asdict().items()}


@dataclass(frozen=True, slots=True)
class FollowedMeasure:
    """When nights find a loss of a measure.

    Attributes:
        measure: its name.
        alike: where days are alike.
        differing: where they differ, by as much as `_DAYS`.
    """

    measure: str
    alike: FindingNights
    differing: FindingNights


@dataclass(frozen=True)
class NightlyPlan:
    """A run that asks all afresh each night, as `checks.drift` follows it.

    Attributes:
        judge: who is asked.
        quote: of one night.
        loss: that is to be found, after thirty nights.
        follows: whether a check is about a share, which can be followed.
        measures: those of which so much can be lost.
    """

    judge: JudgeSpec
    quote: Quote
    loss: float
    follows: bool
    measures: tuple[FollowedMeasure, ...]

    def lines(self) -> Iterator[str]:
        """Calls and cost of a night and of a month, and the nights in which a loss is found."""
        calls = self.quote.calls
        of_month = f"{calls:,} calls a night, {calls * _MONTH:,} in {_MONTH} nights"
        yield f"nightly (--judge-mode live --judge-history FILE): {of_month}"
        yield f"  cost: {self._cost_words()}"
        if not self.follows:
            yield "  no check is about a share, which no_drift could follow"
            return
        yield (
            f"  a loss of {100 * self.loss:g} points after {_BEFORE} nights is found in night so "
            "many (half of cases, nine of ten)"
        )
        differ = f"where they differ (by {_DAYS:g} in log-odds)"
        for followed in self.measures:
            alike, differing = followed.alike.words, followed.differing.words
            yield f"    {followed.measure}: {alike} where days are alike; {differing} {differ}"
        yield "  the first sessions find little: judgesense explain drift"

    def _cost_words(self) -> str:
        cost, usd = cost_words(self.judge, self.quote), self.quote.usd
        if usd is None or not self.judge.prices:
            return cost
        month = self.quote._replace(usd=(usd[0] * _MONTH, usd[1] * _MONTH))
        return f"{cost} a night, {cost_words(self.judge, month)} in {_MONTH} nights"

    def to_dict(self) -> Mapping[str, Any]:
        return {
            "calls": self.quote.calls,
            "usd": self.quote.usd,
            "loss": self.loss,
            "measures": [
                {
                    "measure": followed.measure,
                    "alike": followed.alike.to_dict(),
                    "differing": followed.differing.to_dict(),
                }
                for followed in self.measures
            ],
        }


def nightly_plan(judge: JudgeSpec, suite: Suite, assumed: PowerAssumptions) -> NightlyPlan:
    """What a run that asks all afresh costs each night, and how soon it finds a loss."""
    asked_suite = suite_for_judge(suite, judge)
    loss, shares = assumed.drop or _LOSS, _shares_followed(asked_suite, assumed)
    measures = tuple(
        FollowedMeasure(
            name,
            _nights(planned, 0.0, loss, assumed.seed),
            _nights(planned, _DAYS, loss, assumed.seed),
        )
        for name, planned in shares.items()
        if loss < planned.share
    )
    return NightlyPlan(judge, quote_of_all(judge, asked_suite), loss, bool(shares), measures)


def _nights(planned: PlannedSessions, spread: float, loss: float, seed: int) -> FindingNights:
    """In which night a loss is found, where days have this spread."""
    runs = _RUNS if len(planned.sizes) <= _RUNS else _RUNS // 4
    nights = replace(planned, spread=spread).found_after(loss, _BEFORE, _MONTH, runs, seed)
    half, nine_of_ten = (float(nights[int(part * runs) - 1]) for part in (0.5, 0.9))
    return FindingNights(half, nine_of_ten)


def _shares_followed(suite: Suite, assumed: PowerAssumptions) -> dict[str, PlannedSessions]:
    """The shares that live sessions of a suite would follow, by measure, as they are planned.

    Those of its `no_drift` checks; without any, those that its other checks are about.
    """
    judged = JudgedSuite(suite, assumed)
    checks = [check for check in judged.checks if check.kind.drift] or judged.checks
    planned = {}
    for check in checks:
        measure = check.of
        if measure is None or measure.bounds != (0.0, 1.0):
            continue
        estimate = find_estimate(judged.estimates, measure.name, check.narrowed)
        sizes = [count for _, count in judged.units(estimate)] if estimate else []
        rest = 1 - ASSUMED_RATE
        value = assumed.shares.get(measure.name, 1 - rest if measure.floor else rest)
        share = value if measure.floor else 1 - value
        if len(sizes) > 1 and 0 < share < 1 and assumed.correlation < 1:
            planned[measure.name] = PlannedSessions(share, assumed.correlation, tuple(sizes))
    return planned
