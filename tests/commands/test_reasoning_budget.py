"""Warnings of budgets that reasoning may use up."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_judgesense.commands.reasoning_budget import budget_warnings
from pytest_judgesense.judges.judge_table import judge_from_table
from tests.suites.known import builtin_suites, load_suite


@pytest.mark.parametrize(
    ("reasoning", "max_tokens", "warns"),
    [("low", 256, True), ("low", 1023, True), ("low", 1024, False), (None, 256, False)],
)
def test_a_judge_that_reasons_on_few_tokens_is_named(
    tmp_path: Path, reasoning: str | None, max_tokens: int, warns: bool
) -> None:
    suite = replace(load_suite(builtin_suites()["coherence"]), max_tokens=None)
    table = {"provider": "openai", "model": "m", "max_tokens": max_tokens}
    table |= {} if reasoning is None else {"reasoning": reasoning}
    judge = judge_from_table("mine", table, tmp_path)
    warnings = list(budget_warnings(judge, suite, tmp_path))
    assert len(warnings) == warns
    assert all("raise max_tokens to 1024" in warning for warning in warnings)


def test_recorded_reasoning_is_told_without_a_setting(tmp_path: Path) -> None:
    suite = replace(load_suite(builtin_suites()["coherence"]), max_tokens=None)
    table = {"provider": "openai", "model": "m", "max_tokens": 256}
    usage = {
        "prompt_tokens": 5,
        "completion_tokens": 256,
        "completion_tokens_details": {"reasoning_tokens": 250},
    }
    line = {
        "trial": "coherence/x/t1/ab/r1",
        "call": 1,
        "request": {"method": "POST", "url": "http://x/v1/chat/completions", "body": "{}"},
        "response": {"status": 200, "headers": {}, "body": json.dumps({"usage": usage})},
        "recorded_at": "2026-11-22T15:44:28Z",
    }
    (tmp_path / "mine").mkdir()
    recording = tmp_path / "mine" / "coherence.jsonl"
    recording.write_text(json.dumps(line) + "\n", encoding="utf-8")
    judge = judge_from_table("mine", table, tmp_path)
    (warning,) = budget_warnings(judge, suite, tmp_path)
    assert "may use 256 tokens, and its recorded replies had up to 250 reasoning tokens" in warning
