"""Judges that are asked to think more or less, in `judgesense compare SUITE --judges A B...`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.datasheets.datasheet import Calls, JudgeSheet, SuiteSheet
from pytest_judgesense.judges.spec import JudgeSpec, Jury, Prices
from pytest_judgesense.questions.compare.judges.effort import (
    JudgeEffort,
    calls_of,
    effort_of,
    effort_table,
)
from tests.judges.endpoint import endpoint
from tests.plugin.project import TRIALS, even, parity_suite

# By effort, the tokens of a reply and how many of them are reasoning.
TOKENS = {"low": (12, 10), "high": (52, 50)}


def thinks(path: str, body: dict[str, Any]) -> tuple[int, str, bytes]:
    """Right at high effort; at low NO to everything. Beside the reply it thinks the opposite."""
    effort = body["reasoning_effort"]
    prompt = body["messages"][-1]["content"]
    reply = even(prompt) if effort == "high" else "NO"
    thought = f"The answer is {'NO' if reply == 'YES' else 'YES'}."
    message = {"content": reply, "reasoning_content": thought, "reasoning": thought}
    total, reasoning = TOKENS[effort]
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": total,
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }
    answer = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
    return 200, "application/json", json.dumps(answer).encode()


def test_effort_beside_what_it_buys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    parity_suite(tmp_path)
    with endpoint(thinks) as server:
        tables = (
            f'[tool.judgesense.judges.{effort}]\nprovider = "openai"\nmodel = "m"\n'
            f'base_url = "{server.url}"\nreasoning = "{effort}"\n'
            "prices = { prompt = 1.0, completion = 10.0 }\n"
            for effort in TOKENS
        )
        (tmp_path / "pyproject.toml").write_text("".join(tables))
        command = ["compare", "parity.suite.toml", "--judges", "low", "high"]
        main([*command, "--judge-mode", "record", "-o", "x.json"])
        assert len(server.asked) == 2 * TRIALS
    capsys.readouterr()
    main(command)
    shown = capsys.readouterr().out
    assert "effort: of all that each was asked of parity; tokens a trial, USD a 1,000" in shown
    low, high = json.loads((tmp_path / "x.json").read_text())["tables"]["effort"]
    # What is thought beside the reply is never read: at high effort all are right.
    assert (low["agreement"], high["agreement"]) == (0.5, 1.0)
    assert (low["jss"], high["jss"]) == (1.0, 1.0)
    assert (low["effort"], low["reasoning tokens"], low["reply tokens"]) == ("low", 10, 12)
    assert (high["effort"], high["reasoning tokens"], high["reply tokens"]) == ("high", 50, 52)
    # 1,000 trials: 100,000 prompt tokens at 1 USD a million, and 12,000 or 52,000 at 10.
    assert low["USD"] == pytest.approx(0.1 + 0.12)
    assert high["USD"] == pytest.approx(0.1 + 0.52)


def spec(name: str, **settings: Any) -> JudgeSpec:
    return JudgeSpec(name, "openai", "m", **settings)


def test_the_effort_of_a_jury_is_that_of_its_members() -> None:
    low, thinking = spec("a", reasoning="low"), spec("b", reasoning=2048)
    members = (low, thinking, spec("c"))
    jury = spec("panel", jury=Jury(("a", "b", "c"), judges=members))
    assert [effort_of(judge) for judge in (*members, jury)] == [
        "low",
        "2,048 tokens",
        None,
        "low, 2,048 tokens, none",
    ]


def test_a_jury_takes_the_calls_of_its_members_and_their_price() -> None:
    prices = Prices(1.0, 2.0)
    members = (spec("a", prices=prices), spec("b", prices=prices))
    jury = spec("panel", jury=Jury(("a", "b"), judges=members))

    def sheet(name: str, cost: float | None) -> JudgeSheet:
        calls = Calls(replayed=3, completion_tokens=5, reasoning_tokens=2, cost_usd=cost)
        return JudgeSheet(name, {}, (SuiteSheet(name, "s", {}, (), calls),))

    both = calls_of(jury, [sheet("a", 0.25), sheet("b", 0.5)])
    assert (both.completion_tokens, both.reasoning_tokens, both.cost_usd) == (10, 4, 0.75)
    # One price that is not known leaves the sum unknown.
    assert calls_of(jury, [sheet("a", 0.25), sheet("b", None)]).cost_usd is None


def test_without_effort_and_without_reasoning_there_is_no_table() -> None:
    plain = JudgeEffort("a", None, (), 3, Calls(completion_tokens=5))
    assert effort_table([plain], "s", ()) is None
    thinking = plain._replace(calls=Calls(completion_tokens=6, reasoning_tokens=3))
    table = effort_table([plain, thinking], "s", ())
    assert table is not None
    # Nothing is known of agreement and of a price: there is no column of it.
    assert table.columns == ("judge", "reasoning tokens", "reply tokens")
    assert table.rows == (("a", None, 5 / 3), ("a", 1.0, 2.0))
