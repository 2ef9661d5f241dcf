"""Warnings of budgets that reasoning may use up."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.judges.judge_table import judge_from_table
from pytest_judgesense.questions.lint_report import budget_findings, lint_report
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
    findings = list(budget_findings(judge, suite, tmp_path))
    assert len(findings) == warns
    assert all(finding.remedy == "raise max_tokens to 1024 or more" for finding in findings)


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
    (finding,) = budget_findings(judge, suite, tmp_path)
    assert finding.found == (
        "256 tokens a reply, and its recorded replies had up to 250 reasoning tokens"
    )
    # What a broken recording holds is not known, and replays say what is wrong with it.
    recording.write_text("{\n", encoding="utf-8")
    assert list(budget_findings(judge, suite, tmp_path)) == []


@pytest.mark.parametrize(("max_tokens", "warns"), [(1023, True), (1024, False), (None, False)])
def test_of_a_function_the_recorded_requests_tell_its_budget(
    tmp_path: Path, max_tokens: int | None, warns: bool
) -> None:
    suite = replace(load_suite(builtin_suites()["coherence"]), max_tokens=None)
    usage = {
        "prompt_tokens": 5,
        "completion_tokens": 256,
        "completion_tokens_details": {"reasoning_tokens": 250},
    }
    body = {"model": "m", "messages": []} | ({"max_tokens": max_tokens} if max_tokens else {})
    line = {
        "trial": "coherence/x/t1/ab/r1",
        "call": 1,
        "request": {
            "method": "POST",
            "url": "http://x/v1/chat/completions",
            "body": json.dumps(body),
        },
        "response": {"status": 200, "headers": {}, "body": json.dumps({"usage": usage})},
        "recorded_at": "2026-11-22T15:44:28Z",
    }
    (tmp_path / "mine").mkdir()
    recording = tmp_path / "mine" / "coherence.jsonl"
    recording.write_text(json.dumps(line) + "\n", encoding="utf-8")
    judge = judge_from_table("mine", {"provider": "callable", "model": "m:f"}, tmp_path)
    assert len(list(budget_findings(judge, suite, tmp_path))) == warns


def test_lint_counts_it_below_its_suite(tmp_path: Path) -> None:
    path = builtin_suites()["coherence"]
    table = {"provider": "openai", "model": "m", "max_tokens": 100, "reasoning": "low"}
    judge = judge_from_table("mine", table, tmp_path)
    alone, judged = lint_report([path]), lint_report([path], judges=[judge])
    assert (judged.errors, judged.broken) == (alone.errors, ())
    plain, lines = list(alone.lines()), list(judged.lines())
    place = next(n for n, line in enumerate(lines) if "warning reasoning-budget" in line)
    assert lines[0].startswith("coherence:")
    assert 0 < place < len(lines) - 1, "below the suite, and above the sum"
    counted = [int(re.findall(r"(\d+) warning", report[-1])[0]) for report in (plain, lines)]
    assert counted[1] - counted[0] == 1


def test_lint_stops_at_a_broken_project_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.judgesense\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    codes = [main(["plan", "--lint"]), main(["plan", "coherence"])]
    assert codes[0] == codes[1] != 0
    first, second = capsys.readouterr().err.split("pyproject.toml", 2)[1:]
    assert first.splitlines()[0] == second.splitlines()[0], "the same error"
