"""``judgesense plan``: the cost of a suite, and the power of its checks, before any call."""

from __future__ import annotations

import argparse
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from pytest_judgesense.carrying_over import Plans, carried_over, is_given_otherwise
from pytest_judgesense.cassettes.carrying import RecordedTrial
from pytest_judgesense.cassettes.cassette import answered_first
from pytest_judgesense.cassettes.matching import Identity
from pytest_judgesense.cassettes.replaying import ReplayingCassette
from pytest_judgesense.cassettes.scope import Abandoned
from pytest_judgesense.checks.suite_faults import lint_suite
from pytest_judgesense.commands import power
from pytest_judgesense.commands.options import (
    BAR_FAILED,
    judge_and_suite,
    only_judge,
    plans_of,
    registry_of,
    show,
)
from pytest_judgesense.commands.reasoning_budget import budget_findings
from pytest_judgesense.judges.calls import first_calls
from pytest_judgesense.judges.client import Call, unasked_endpoint
from pytest_judgesense.judges.code_digest import RecordedCode
from pytest_judgesense.judges.prompts import judge_for_suite, suite_for_judge, unsent_notices
from pytest_judgesense.judges.resolving import credentials_of
from pytest_judgesense.judges.spec import FREE, JudgeSpec, table_of
from pytest_judgesense.stats.drift import PlannedSessions
from pytest_judgesense.suites.planning import plan_trials, recording_of
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
    options.judge_name = options.judge_name or only_judge(options)
    judge, suite = judge_and_suite(options)
    show(plan_lines(judge, suite, options.judge_cassettes, plans_of(options)))
    asked_suite, prices, usd = suite_for_judge(suite, judge), judge.prices, None
    findings = lint_suite(asked_suite, registry_of(options))
    if errors := [finding for finding in findings if finding.is_fatal]:
        # An undecidable check has no power to report.
        return show(line for error in errors for line in error.lines) or BAR_FAILED
    if prices is not None:
        trials, calls_of = plan_trials(asked_suite), first_calls(asked_suite, judge)
        prompt, replies = _tokens(
            [call for t in trials for call in calls_of(t)], judge, asked_suite
        )
        usd = (prompt * prices.prompt + replies * prices.completion) / 1e6 / len(trials)
    show(power.run(options, usd))
    return show(nightly_lines(judge, suite, power.assumptions_of(options)))


class Quote(NamedTuple):
    """What a recording would ask now, and what it would cost.

    Attributes:
        trials: of the suite.
        calls: that they take: of a function as many as are recorded of a trial, else one.
        to_make: calls without a recorded answer.
        changed: of these, how many have one to another request, or of other code.
        carried: trials that get the answers of recorded ones which nobody plans any more.
        asked: trials with calls to make.
        most: how many may be made, if the requests of a function changed.
        prompt_tokens: of ``most`` calls; ``completion_tokens`` at the most.
        usd: the least and the most; ``None`` where no prices are known.
    """

    trials: int
    calls: int
    to_make: int
    changed: int
    most: int
    prompt_tokens: int
    completion_tokens: int
    usd: tuple[float, float] | None
    carried: int = 0
    asked: int = 0

    @classmethod
    def summed(cls, quotes: Sequence[Quote]) -> Quote:
        """The sum of the quotes of several suites for one judge."""
        costs = [quote.usd for quote in quotes if quote.usd is not None]
        sums = (sum(least for least, _ in costs), sum(most for _, most in costs))
        return cls(
            sum(quote.trials for quote in quotes),
            sum(quote.calls for quote in quotes),
            sum(quote.to_make for quote in quotes),
            sum(quote.changed for quote in quotes),
            sum(quote.most for quote in quotes),
            sum(quote.prompt_tokens for quote in quotes),
            sum(quote.completion_tokens for quote in quotes),
            sums if len(costs) == len(quotes) else None,
            sum(quote.carried for quote in quotes),
            sum(quote.asked for quote in quotes),
        )


def quote(
    judge: JudgeSpec, asked_suite: Suite, cassettes: Path, plans: Plans | None = None
) -> Quote:
    """What a recording of a judge on a suite, with the judge's prompts in it, would ask now.

    The requests are compared with the recorded ones, as a recording compares them. Those of a
    function are not known before it runs, and no code is run: its trials may all be asked again.
    With ``plans``, answers are carried over to trials of other names, as a recording does it.
    """
    trials = plan_trials(asked_suite)
    calls_of = first_calls(asked_suite, judge)
    planned = {trial.id: calls_of(trial) for trial in trials}
    carried: Collection[str] = ()
    if plans is not None:
        carried = carried_over(judge, asked_suite, trials, plans).keys()
    opened = _opened(judge, asked_suite, cassettes)
    by_trial, changed = _open_calls(judge, asked_suite, planned, opened, carried)
    every = [
        call
        for id_, calls in planned.items()
        for call in _as_recorded(judge, calls, opened[recording_of(id_)], id_)
    ]
    open_calls = [call for calls in by_trial for call in calls]
    is_unsure = judge.provider == "callable" and len(open_calls) < len(every)
    most = every if is_unsure else open_calls
    prompt, completion = _tokens(most, judge, asked_suite)
    usd: tuple[float, float] | None = None
    if not most or (judge.prices is None and judge.provider in FREE):
        usd = 0.0, 0.0
    elif (prices := judge.prices) is not None:
        least = _tokens(open_calls, judge, asked_suite)[0] * prices.prompt / 1e6
        usd = least, (prompt * prices.prompt + completion * prices.completion) / 1e6
    counts = len(trials), len(every), len(open_calls), changed, len(most)
    return Quote(*counts, prompt, completion, usd, len(carried), sum(map(bool, by_trial)))


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
    now, loss = _quote_of_all(judge, asked_suite), assumed.drop or _LOSS
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


def _quote_of_all(judge: JudgeSpec, asked_suite: Suite) -> Quote:
    """What it costs to ask all, whatever is recorded."""
    trials, calls_of = plan_trials(asked_suite), first_calls(asked_suite, judge)
    every = [call for trial in trials for call in calls_of(trial)]
    prompt, completion = _tokens(every, judge, asked_suite)
    usd: tuple[float, float] | None = None
    if judge.prices is None and judge.provider in FREE:
        usd = 0.0, 0.0
    elif (prices := judge.prices) is not None:
        least = prompt * prices.prompt / 1e6
        usd = least, least + completion * prices.completion / 1e6
    counts = len(trials), len(every), len(every), 0, len(every)
    return Quote(*counts, prompt, completion, usd)


def cost_words(judge: JudgeSpec, of: Quote) -> str:
    """What the calls of a judge would cost."""
    if of.usd is None:
        return f"unknown; set prices in {table_of(judge.name)}"
    least, most = of.usd
    return f"{least:.4f} to {most:.4f} USD" if of.most and judge.prices else "none"


def _opened(judge: JudgeSpec, asked_suite: Suite, cassettes: Path) -> dict[str, ReplayingCassette]:
    """The recordings of a judge on a suite, by name."""
    return {
        name: ReplayingCassette(
            path, secrets=credentials_of(judge), identity=Identity(judge.ignore)
        )
        for name, path in power.cassettes_of(judge, asked_suite, cassettes).items()
    }


def _as_recorded(
    judge: JudgeSpec, calls: Sequence[Call], cassette: ReplayingCassette, id_: str
) -> Sequence[Call]:
    """The calls of a trial; of a function as many as it has sent requests, where it is recorded.

    What it would send is not known before it runs: each is taken to be like its first one.
    """
    requests = len(cassette.recordings.of(id_)) if judge.provider == "callable" else 0
    return [*calls, *[calls[0]] * (requests - len(calls))]


def _open_calls(
    judge: JudgeSpec,
    asked_suite: Suite,
    planned: Mapping[str, Sequence[Call]],
    opened: Mapping[str, ReplayingCassette],
    carried: Collection[str],
) -> tuple[list[Sequence[Call]], int]:
    """By trial, the calls without a recorded answer; how many of all have one to another request.

    Of a function: also of other code, which is looked at, and not run. Nothing is open of the
    trials that are ``carried`` over.
    """
    spec = judge_for_suite(judge, asked_suite)
    endpoint = unasked_endpoint(spec)
    code = RecordedCode(judge)
    to_make: list[Sequence[Call]] = []
    changed = 0
    for id_, calls in planned.items():
        cassette = opened[recording_of(id_)]
        if id_ in carried:
            continue
        if judge.provider == "callable":
            recorded = RecordedTrial(id_, cassette.path, cassette.recordings)
            is_complete = cassette.complete(id_)
            is_changed = is_complete and (
                is_given_otherwise(judge, calls, recorded) or code.is_changed(cassette, id_)
            )
            as_recorded = _as_recorded(judge, calls, cassette, id_)
            to_make.append([] if is_complete and not is_changed else as_recorded)
            changed += len(as_recorded) if is_changed else 0
            continue
        requests = [endpoint.request_of(call) for call in calls]
        answered = 0
        with suppress(Abandoned):  # its first call is made again as well
            answered = answered_first(cassette, id_, [(r.method, r.url, r.body) for r in requests])
        to_make.append(calls[answered:])
        changed += len(calls) - answered if cassette.complete(id_) else 0
    return to_make, changed


def _tokens(calls: Sequence[Call], judge: JudgeSpec, asked_suite: Suite) -> tuple[int, int]:
    """Of the prompts, a quarter of their characters; of the replies, ``max_tokens`` at the most."""
    characters = sum(len(message["content"]) for call in calls for message in call.messages)
    completion = len(calls) * judge_for_suite(judge, asked_suite).max_tokens
    return -(-characters // _CHARACTERS_A_TOKEN), completion
