"""Replies that reasoning used up: a real endpoint, real SDKs and the clients of providers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from pytest_judgesense.asking.inquiry import Asking
from pytest_judgesense.errors import LimitReached
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.judge_table import declared_judge, judge_from_table
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.trust import ANY_FILES
from pytest_judgesense.measurement import Measurement, measure
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Unparsed, Usage
from tests.suites.files import PAIRWISE, write_suite

from .endpoint import Script, endpoint

Function = Callable[[list[dict[str, str]]], Any]
CUT_OFF: Final = Unparsed("cut off before the verdict")
# What each body states: 7 tokens asked and 256 replied, all of them reasoning.
SPENT: Final = Usage(7, 256, 256)
_CHAT_USAGE: Final = {
    "prompt_tokens": 7,
    "completion_tokens": 256,
    "total_tokens": 263,
    "completion_tokens_details": {"reasoning_tokens": 256},
}


def chat(content: str | None, usage: dict[str, Any], **message: Any) -> dict[str, Any]:
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m-1",
        "choices": [
            {
                "index": 0,
                "finish_reason": "length",
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
        "usage": usage,
    }


EMPTY: Final = chat("", _CHAT_USAGE)
NULL: Final = chat(None, _CHAT_USAGE)
# DeepSeek sends the reasoning along, and may not count it apart.
DEEPSEEK: Final = chat(
    "",
    {"prompt_tokens": 7, "completion_tokens": 256, "total_tokens": 263},
    reasoning_content="Let me see ...",
)
# Gemini's compatible endpoint counts it in the total alone.
GEMINI: Final = chat(None, {"prompt_tokens": 7, "completion_tokens": 0, "total_tokens": 263}) | {
    "model": "gemini-2.5-flash"
}
RESPONSE: Final = {
    "id": "r",
    "object": "response",
    "created_at": 1,
    "model": "m-1",
    "status": "incomplete",
    "incomplete_details": {"reason": "max_output_tokens"},
    "output": [{"id": "rs", "type": "reasoning", "summary": []}],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "usage": {
        "input_tokens": 7,
        "output_tokens": 256,
        "total_tokens": 263,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 256},
    },
}
MESSAGE: Final = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "m-1",
    "content": [{"type": "thinking", "thinking": "Let me see ...", "signature": "s"}],
    "stop_reason": "max_tokens",
    "stop_sequence": None,
    "usage": {"input_tokens": 7, "output_tokens": 256},
}


def answering(body: dict[str, Any]) -> Script:
    return lambda _path, _asked: (200, "application/json", json.dumps(body).encode())


@pytest.fixture
def pairs(tmp_path: Path) -> Suite:
    items = [
        {"id": f"i{n}", "task": f"task {n}", "texts": [f"good {n}", f"poor {n}"], "label": "1"}
        for n in (1, 2)
    ]
    return load_suite(write_suite(tmp_path, PAIRWISE, items), None, BUILT_IN.forms)


@pytest.fixture
def clients() -> Iterator[ExitStack]:
    """Clients of SDKs, closed at the end: a socket that nobody closes fails some later test."""
    with ExitStack() as stack:
        yield stack


def measured(judge: JudgeSpec, suite: Suite, folder: Path, mode: Any, **asking: Any) -> Measurement:
    loop = AskingLoop()
    try:
        tape = {suite.base: folder / "tape.jsonl"}
        ways = Asking(trust=ANY_FILES, **asking)
        return measure(judge, suite, tape, loop, mode=mode, asking=ways)
    finally:
        loop.close()


def by_openai(url: str, clients: ExitStack) -> Function:
    openai = pytest.importorskip("openai")
    client = clients.enter_context(openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0))

    def judge(messages: list[dict[str, str]]) -> Any:
        answer = client.chat.completions.create(model="m-1", messages=messages, max_tokens=256)
        return answer.choices[0].message.content

    return judge


def by_openai_parsed(url: str, clients: ExitStack) -> Function:
    """The SDK raises `LengthFinishReasonError` here."""
    openai, pydantic = pytest.importorskip("openai"), pytest.importorskip("pydantic")
    client = clients.enter_context(openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0))
    verdict = pydantic.create_model("Verdict", winner=(str, ...))

    def judge(messages: list[dict[str, str]]) -> Any:
        answer = client.chat.completions.parse(
            model="m-1", messages=messages, max_tokens=256, response_format=verdict
        )
        return answer.choices[0].message.parsed.winner

    return judge


def by_responses(url: str, clients: ExitStack) -> Function:
    openai = pytest.importorskip("openai")
    client = clients.enter_context(openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0))

    def judge(messages: list[dict[str, str]]) -> Any:
        answer = client.responses.create(model="m-1", input=messages, max_output_tokens=256)
        return answer.output_text

    return judge


def by_anthropic(url: str, clients: ExitStack) -> Function:
    anthropic = pytest.importorskip("anthropic")
    client = clients.enter_context(anthropic.Anthropic(base_url=url, api_key="k", max_retries=0))

    def judge(messages: list[dict[str, str]]) -> Any:
        answer = client.messages.create(model="m-1", max_tokens=256, messages=messages)
        return "".join(block.text for block in answer.content if block.type == "text")

    return judge


def by_anthropic_blindly(url: str, clients: ExitStack) -> Function:
    """Code that takes the first block for a text raises an AttributeError."""
    anthropic = pytest.importorskip("anthropic")
    client = clients.enter_context(anthropic.Anthropic(base_url=url, api_key="k", max_retries=0))

    def judge(messages: list[dict[str, str]]) -> Any:
        answer = client.messages.create(model="m-1", max_tokens=256, messages=messages)
        return answer.content[0].text

    return judge


@pytest.mark.parametrize(
    ("by_sdk", "body"),
    [
        (by_openai, EMPTY),
        (by_openai, NULL),
        (by_openai, DEEPSEEK),
        (by_openai, GEMINI),
        (by_openai_parsed, EMPTY),
        (by_openai_parsed, NULL),
        (by_responses, RESPONSE),
        (by_anthropic, MESSAGE),
        (by_anthropic_blindly, MESSAGE),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_function_whose_replies_are_reasoning_alone_is_told_to_raise_max_tokens(
    pairs: Suite,
    tmp_path: Path,
    clients: ExitStack,
    by_sdk: Callable[[str, ExitStack], Function],
    body: dict[str, Any],
) -> None:
    with endpoint(answering(body)) as server:
        judge = declared_judge("house", by_sdk(server.url, clients))
        with pytest.raises(LimitReached) as stopped:
            measured(judge, pairs, tmp_path, "record", max_unparsed=2)
        recorded = measured(judge, pairs, tmp_path, "record", proves=True)
    shown = str(stopped.value)
    assert "none of the first 2 replies states a verdict" in shown
    assert "cut off before the verdict: (nothing; 256 of 256 tokens were reasoning)" in shown
    assert "raise max_tokens" in shown
    assert "empty reply" not in shown
    # The endpoint is gone.
    replayed = measured(judge, pairs, tmp_path, "replay")
    for found in (recorded, replayed):
        assert {judgment.outcome for judgment in found.judgments} == {CUT_OFF}
        assert {judgment.usage for judgment in found.judgments} == {SPENT}
    assert recorded.error is None, "the proof reads the same"
    lines = [line for line in replayed.notices if "cut off before the verdict" in line]
    assert [line.partition(": ")[2] for line in lines] == [
        "256 of 256 tokens were reasoning: raise max_tokens"
    ]
    # 4 trials of 256 tokens, all reasoning.
    assert (replayed.calls.completion_tokens, replayed.calls.reasoning_tokens) == (1024, 1024)


@pytest.mark.parametrize(
    ("provider", "body"),
    [
        ("openai", EMPTY),
        ("openai", NULL),
        ("openai", DEEPSEEK),
        ("openai", GEMINI),
        ("anthropic", MESSAGE),
    ],
)
def test_so_is_a_declared_judge(
    pairs: Suite, tmp_path: Path, provider: str, body: dict[str, Any]
) -> None:
    with endpoint(answering(body)) as server:
        table = {"provider": provider, "model": "m-1", "base_url": f"{server.url}/v1"}
        judge = replace(judge_from_table("house", table, tmp_path), api_key_env=None)
        with pytest.raises(LimitReached, match="256 of 256 tokens were reasoning"):
            measured(judge, pairs, tmp_path, "record", max_unparsed=2)
        recorded = measured(judge, pairs, tmp_path, "record", proves=True)
    replayed = measured(judge, pairs, tmp_path, "replay")
    for found in (recorded, replayed):
        assert {judgment.outcome for judgment in found.judgments} == {CUT_OFF}
        assert {judgment.usage for judgment in found.judgments} == {SPENT}


def test_an_error_after_a_reply_that_was_cut_off_stays_one(pairs: Suite, tmp_path: Path) -> None:
    """The last request decides: what was refused is asked again."""
    import httpx

    bodies = {"first": (200, EMPTY), "second": (429, {"error": {"message": "slow down"}})}

    def script(path: str, _asked: dict[str, Any]) -> tuple[int, str, bytes]:
        status, body = bodies[path.strip("/")]
        return status, "application/json", json.dumps(body).encode()

    with endpoint(script) as server:

        def judge(messages: list[dict[str, str]]) -> str:
            httpx.post(f"{server.url}/first", json={})
            httpx.post(f"{server.url}/second", json={}).raise_for_status()
            return ""

        found = measured(declared_judge("house", judge), pairs, tmp_path, "record")
    assert {type(judgment.outcome).__name__ for judgment in found.judgments} == {"Failed"}


def test_a_call_of_a_tool_is_no_reasoning(pairs: Suite, tmp_path: Path) -> None:
    tool = {"type": "tool_use", "id": "t", "name": "other", "input": {}}
    with endpoint(answering(MESSAGE | {"content": [tool]})) as server:
        table = {"provider": "anthropic", "model": "m-1", "base_url": server.url}
        judge = replace(judge_from_table("house", table, tmp_path), api_key_env=None)
        found = measured(judge, pairs, tmp_path, "record")
    assert {judgment.usage for judgment in found.judgments} == {Usage(7, 256)}


def test_a_function_that_swallows_refused_requests_is_told(pairs: Suite, tmp_path: Path) -> None:
    import httpx

    refusal = json.dumps({"error": {"message": "slow down"}}).encode()
    with endpoint(lambda _path, _asked: (429, "application/json", refusal)) as server:

        def judge(messages: list[dict[str, str]]) -> str:
            response = httpx.post(f"{server.url}/v1", json={"n": messages[-1]["content"]})
            return "A" if response.is_error else "B"

        found = measured(declared_judge("house", judge), pairs, tmp_path, "record")
    (line,) = [line for line in found.notices if "all its requests failed" in line]
    assert line.startswith("4 verdicts came from the function although all its requests failed")
    assert line.endswith("HTTP 429, and A: let it raise the error")


def test_a_function_that_scores_is_told_to_return_a_bool(pairs: Suite, tmp_path: Path) -> None:
    with pytest.raises(LimitReached, match=r"return a bool, such as score >= 0\.6"):
        measured(
            declared_judge("house", lambda messages: 0.62),
            pairs,
            tmp_path,
            "record",
            max_unparsed=2,
        )
