"""``judgesense plan``: the cost of a suite, and the power of its checks, before any call."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
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
from pytest_judgesense.judges.prompts import judge_for_suite, suite_for_judge
from pytest_judgesense.judges.spec import JudgeSpec
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
    findings = lint_suite(suite_for_judge(suite, judge), registry_of(options))
    if errors := [one for one in findings if one.severity == "error"]:
        # An undecidable check has no power to report.
        return show(line for one in errors for line in one.lines) or BAR_FAILED
    return show(power.run(options, _most_usd(judge, suite)))


def plan_lines(judge: JudgeSpec, suite: Suite, cassettes: Path) -> Iterator[str]:
    """Calls, tokens and cost of trials without a recording.

    Prompt tokens are a quarter of the characters; a reply takes ``max_tokens`` at the most.
    """
    asked = suite_for_judge(suite, judge)
    trials = plan_trials(asked)
    recorded = Counter(
        exchange.trial
        for path in power.cassettes_of(judge, suite, cassettes).values()
        if path.exists()
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
    characters = sum(len(m["content"]) for call in open_calls for m in call.messages)
    prompt = -(-characters // _CHARACTERS_A_TOKEN)
    completion = len(open_calls) * judge_for_suite(judge, asked).max_tokens
    yield f"  tokens: about {prompt} of prompts, at most {completion} of replies"
    if (prices := judge.prices) is None:
        yield f"  cost: unknown; set prices in [tool.judgesense.judges.{judge.name}]"
        return
    low, most = prompt * prices.prompt / 1e6, completion * prices.completion / 1e6
    yield f"  cost: {low:.4f} to {low + most:.4f} USD"


def _most_usd(judge: JudgeSpec, suite: Suite) -> float | None:
    """The mean maximum cost of a trial; ``None`` without prices."""
    if (prices := judge.prices) is None:
        return None
    asked = suite_for_judge(suite, judge)
    calls_of, trials = first_calls(asked, judge), plan_trials(asked)
    calls = [call for trial in trials for call in calls_of(trial)]
    characters = sum(len(message["content"]) for call in calls for message in call.messages)
    replies = len(calls) * judge_for_suite(judge, asked).max_tokens
    usd = characters / _CHARACTERS_A_TOKEN * prices.prompt + replies * prices.completion
    return usd / 1e6 / len(trials)
