"""``judgesense plan``: the cost of a suite, and the power of its checks, before any call."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.checks.outcome import lint_suite
from pytest_judgesense.commands import power
from pytest_judgesense.commands.options import (
    BAR_FAILED,
    judge_and_suite,
    only_judge,
    registry_of,
    show,
)
from pytest_judgesense.judges.calls import first_calls
from pytest_judgesense.judges.client import Call
from pytest_judgesense.judges.prompts import judge_for_suite, suite_for_judge
from pytest_judgesense.judges.spec import JudgeSpec, table_of
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite

_CHARACTERS_A_TOKEN: Final = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add those of ``power``; without a judge the one that is declared is meant."""
    power.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Print the cost of a suite, its lint findings, and the power of its checks."""
    options.judge_name = options.judge_name or only_judge(options)
    judge, suite = judge_and_suite(options)
    show(plan_lines(judge, suite, options.judge_cassettes))
    asked, prices, usd = suite_for_judge(suite, judge), judge.prices, None
    findings = lint_suite(asked, registry_of(options))
    if errors := [one for one in findings if one.severity == "error"]:
        # An undecidable check has no power to report.
        return show(line for one in errors for line in one.lines) or BAR_FAILED
    if prices is not None:
        trials, calls_of = plan_trials(asked), first_calls(asked, judge)
        prompt, replies = _tokens([one for t in trials for one in calls_of(t)], judge, asked)
        usd = (prompt * prices.prompt + replies * prices.completion) / 1e6 / len(trials)
    return show(power.run(options, usd))


def plan_lines(judge: JudgeSpec, suite: Suite, cassettes: Path) -> Iterator[str]:
    """Calls, tokens and cost of trials without a recording."""
    asked = suite_for_judge(suite, judge)
    trials = plan_trials(asked)
    recorded = Counter(
        exchange.trial
        for path in power.cassettes_of(judge, suite, cassettes).values()
        for exchange in read_exchanges(path)
        if exchange.answers
    )
    calls_of = first_calls(asked, judge)
    planned = {trial.id: calls_of(trial) for trial in trials}
    open_calls = [call for id_, calls in planned.items() for call in calls[recorded[id_] :]]
    yield f"{suite.name}, judge {judge.name}"
    templates = f"{(n := len(asked.templates))} template{'s' * (n != 1)}"
    yield f"  trials: {len(trials)}, of {len(asked.items)} items, {templates}"
    known = sum(map(len, planned.values())) - len(open_calls)
    more = ", one more for each malformed reply" if judge.repair else ""
    yield f"  calls to be made: {len(open_calls)} ({known} are recorded){more}"
    prompt, completion = _tokens(open_calls, judge, asked)
    yield f"  tokens: about {prompt} of prompts, at most {completion} of replies"
    if (prices := judge.prices) is None:
        unknown = f"  cost: unknown; set prices in {table_of(judge.name)}"
        yield unknown if open_calls else "  cost: none"
        return
    low, most = prompt * prices.prompt / 1e6, completion * prices.completion / 1e6
    yield f"  cost: {low:.4f} to {low + most:.4f} USD"


def _tokens(calls: Sequence[Call], judge: JudgeSpec, asked: Suite) -> tuple[int, int]:
    """Of the prompts, a quarter of their characters; of the replies, ``max_tokens`` at the most."""
    characters = sum(len(message["content"]) for call in calls for message in call.messages)
    completion = len(calls) * judge_for_suite(judge, asked).max_tokens
    return -(-characters // _CHARACTERS_A_TOKEN), completion
