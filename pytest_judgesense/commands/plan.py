"""``judgesense plan``: the cost of a suite, and the power of its checks, before any call."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from pytest_judgesense.asking.carrying_over import Plans
from pytest_judgesense.checks.suite_faults import lint_suite
from pytest_judgesense.commands import power
from pytest_judgesense.commands.options import BAR_FAILED, place_of, registry_of, show
from pytest_judgesense.commands.reasoning_budget import budget_findings
from pytest_judgesense.judges.calls import first_calls
from pytest_judgesense.judges.prompts import suite_for_judge, unsent_notices
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.questions.pricing import cost_words, quote, quote_of_all, tokens_of
from pytest_judgesense.stats.drift import PlannedSessions
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite

_CHARACTERS_A_TOKEN: Final = 4
# Of nights: in a month, before a loss, and the spread of their log-odds where they differ.
_MONTH, _BEFORE, _DAYS = 30, 30, 0.3
_LOSS: Final = 0.1
_RUNS: Final = 200  # histories that are simulated


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add those of ``power``; without a judge the one that is declared is meant."""
    power.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Print the cost of a suite, its lint findings, and the power of its checks."""
    options.judge_name = options.judge_name or place_of(options).only_judge
    judge, suite = (
        place_of(options).judge(options.judge_name),
        place_of(options).suite(options.judge_suite),
    )
    show(plan_lines(judge, suite, options.judge_cassettes, place_of(options).plans))
    asked_suite, prices, usd = suite_for_judge(suite, judge), judge.prices, None
    findings = lint_suite(asked_suite, registry_of(options))
    if errors := [finding for finding in findings if finding.is_fatal]:
        # An undecidable check has no power to report.
        return show(line for error in errors for line in error.lines) or BAR_FAILED
    if prices is not None:
        trials, calls_of = plan_trials(asked_suite), first_calls(asked_suite, judge)
        prompt, replies = tokens_of(
            [call for t in trials for call in calls_of(t)], judge, asked_suite
        )
        usd = (prompt * prices.prompt + replies * prices.completion) / 1e6 / len(trials)
    show(power.run(options, usd))
    return show(nightly_lines(judge, suite, power.assumptions_of(options)))


def plan_lines(judge: JudgeSpec, suite: Suite, cassettes: Path, plans: Plans) -> Iterator[str]:
    """Calls, tokens and cost of what a recording would ask now."""
    asked_suite = suite_for_judge(suite, judge)
    now = quote(judge, asked_suite, cassettes, plans)
    yield f"{suite.name}, judge {judge.name}"
    templates = f"{(n := len(asked_suite.templates))} template{'s' * (n != 1)}"
    yield f"  trials: {now.trials}, of {len(asked_suite.items)} items, {templates}"
    yield from (f"  {notice}" for notice in unsent_notices(judge, asked_suite))
    yield from (f"  {finding.line}" for finding in budget_findings(judge, suite, cassettes))
    if now.carried:
        yield (
            f"  {now.carried} answers are carried over from recorded trials that nobody plans any "
            f"more, {now.asked} trials are asked"
        )
    recorded = f"{now.calls - now.to_make} are recorded"
    if now.changed:
        other = "with another request"
        if judge.provider == "callable":
            other = "with other texts or of other code"
        recorded += f"; {now.changed} are recorded {other}, and are asked again"
    more = ", one more for each malformed reply" if judge.repair else ""
    if judge.provider == "callable" and now.to_make > now.changed:
        more = f", more where {judge.model} sends several requests in a trial that is not recorded"
    yield f"  calls to be made: {now.to_make} ({recorded}){more}"
    if now.most > now.to_make:
        yield (
            f"  as many as {now.most} calls, if the requests of {judge.model} changed: "
            "what it asks is known when it runs, and a plan runs no code"
        )
    up_to = "as many as" if now.most > now.to_make else "about"
    tokens = f"{now.prompt_tokens} of prompts, at most {now.completion_tokens} of replies"
    yield f"  tokens: {up_to} {tokens}"
    yield f"  cost: {cost_words(judge, now)}"


def nightly_lines(judge: JudgeSpec, suite: Suite, assumed: power.PowerAssumptions) -> Iterator[str]:
    """What a run that asks all afresh costs each night, and how soon it finds a loss.

    By `checks.drift`, after thirty sessions; where days differ, by as much as `_DAYS`.
    """
    asked_suite = suite_for_judge(suite, judge)
    now, loss = quote_of_all(judge, asked_suite), assumed.drop or _LOSS
    calls = f"{now.calls:,} calls a night, {now.calls * _MONTH:,} in {_MONTH} nights"
    yield f"nightly (--judge-mode live --judge-history FILE): {calls}"
    cost = cost_words(judge, now)
    if now.usd is not None and judge.prices:
        month = now._replace(usd=(now.usd[0] * _MONTH, now.usd[1] * _MONTH))
        cost = f"{cost} a night, {cost_words(judge, month)} in {_MONTH} nights"
    yield f"  cost: {cost}"
    followed = power.shares_followed(asked_suite, assumed)
    if not followed:
        yield "  no check is about a share, which no_drift could follow"
        return
    yield (
        f"  a loss of {100 * loss:g} points after {_BEFORE} nights is found in night so many "
        "(half of cases, nine of ten)"
    )
    for name, planned in followed.items():
        if loss >= planned.share:
            continue
        alike, else_ = (_nights_words(planned, days, loss, assumed.seed) for days in (0.0, _DAYS))
        differ = f"where they differ (by {_DAYS:g} in log-odds)"
        yield f"    {name}: {alike} where days are alike; {else_} {differ}"
    yield "  the first sessions find little: judgesense explain drift"


def _nights_words(planned: PlannedSessions, days: float, loss: float, seed: int) -> str:
    """In which night a loss is found: in half of cases, and in nine of ten."""
    runs = _RUNS if len(planned.sizes) <= _RUNS else _RUNS // 4
    nights = replace(planned, spread=days).found_after(loss, _BEFORE, _MONTH, runs, seed)
    counted = (nights[int(part * runs) - 1] for part in (0.5, 0.9))
    return ", ".join(f"{n:.0f}" if n < math.inf else f"over {_MONTH}" for n in counted)
