"""Budgets of replies that reasoning may use up, as ``plan`` and ``lint`` warn of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Final

from pytest_judgesense.errors import JudgesenseError
from pytest_judgesense.judges.prompts import judge_for_suite, suite_for_judge
from pytest_judgesense.judges.remembered import recorded_trials
from pytest_judgesense.judges.resolving import declared_judges
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.usage import usage_and_settings
from pytest_judgesense.registry import Registry
from pytest_judgesense.suites.builtin import cassettes_in
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.suite import Suite

# Tokens below which reasoning often leaves none for the reply.
_ENOUGH: Final = 1024
_CASSETTES: Final = Path("cassettes")


def budget_warnings(judge: JudgeSpec, suite: Suite, cassettes: Path) -> Iterator[str]:
    """A warning where a judge reasons, by its settings or its recorded replies, on few tokens."""
    paths = cassettes_in(cassettes, judge.slug, suite.recordings).values()
    recorded = recorded_trials(path for path in paths if path.is_file())
    usages, settings = usage_and_settings(chain.from_iterable(recorded.values()))
    allowed = judge_for_suite(judge, suite_for_judge(suite, judge)).max_tokens
    if judge.provider == "callable":
        allowed = settings["max_tokens"] or _ENOUGH  # those of its requests, where they agree
    spent = [count for usage in usages.values() if (count := usage.reasoning_tokens)]
    if allowed >= _ENOUGH or not (spent or judge.reasoning is not None):
        return
    why = f"its recorded replies had up to {max(spent)} reasoning tokens" if spent else "it reasons"
    yield (
        f"warning reasoning-budget: judge {judge.name} on {suite.name} may use {allowed} tokens, "
        f"and {why}: raise max_tokens to {_ENOUGH} or more"
    )


def declared_warnings(paths: Iterable[Path], registry: Registry) -> Iterator[str]:
    """The same of every declared judge on suite files; what cannot be read has its own error."""
    for path in paths:
        with suppress(JudgesenseError):
            suite = load_suite(path, None, registry.forms)
            for judge in declared_judges(Path.cwd(), registry.providers).values():
                yield from budget_warnings(judge, suite, _CASSETTES)
