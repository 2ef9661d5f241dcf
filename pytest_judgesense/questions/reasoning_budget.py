"""Budgets of replies that reasoning may use up, as plans and lint warn of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.errors import CassetteError
from pytest_judgesense.judges.prompts import judge_for_suite, suite_for_judge
from pytest_judgesense.judges.remembered import recorded_trials
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.usage import usage_and_settings
from pytest_judgesense.suites.builtin import cassettes_in
from pytest_judgesense.suites.finding import LintFinding
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Usage

# Tokens below which reasoning often leaves none for the reply.
_ENOUGH: Final = 1024


def budget_findings(judge: JudgeSpec, suite: Suite, cassettes: Path) -> Iterator[LintFinding]:
    """A warning where a judge reasons, by its settings or its recorded replies, on few tokens."""
    allowed = judge_for_suite(judge, suite_for_judge(suite, judge)).max_tokens
    if judge.provider != "callable" and allowed >= _ENOUGH:
        return
    usages, settings = _recorded(judge, suite, cassettes)
    if judge.provider == "callable":
        allowed = settings["max_tokens"] or _ENOUGH  # those of its requests, where they agree
    spent = [count for usage in usages.values() if (count := usage.reasoning_tokens)]
    if allowed >= _ENOUGH or not (spent or judge.reasoning is not None):
        return
    why = f"its recorded replies had up to {max(spent)} reasoning tokens" if spent else "it reasons"
    yield LintFinding(
        "warning",
        "reasoning-budget",
        f"judge {judge.name}",
        "reasoning may leave no tokens for the verdict",
        f"{allowed} tokens a reply, and {why}",
        f"{_ENOUGH} tokens or more for a judge that reasons",
        f"raise max_tokens to {_ENOUGH} or more",
    )


def _recorded(
    judge: JudgeSpec, suite: Suite, cassettes: Path
) -> tuple[dict[str, Usage], dict[str, Any]]:
    """The usage and the settings that are recorded; none of a broken recording.

    Whoever replays it, or checks it, gets the error.
    """
    paths = cassettes_in(cassettes, judge.slug, suite.recordings).values()
    try:
        recorded = recorded_trials(path for path in paths if path.is_file())
    except CassetteError:
        recorded = {}
    return usage_and_settings(chain.from_iterable(recorded.values()))
