"""Callable judges upon the real clients: recorded from a provider on 127.0.0.1, replayed from the
tape while the provider still listens, and counts."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import aiohttp
import anthropic
import httpx
import openai
import pytest
import requests
import urllib3

from pytest_judgesense.cassettes.journal import read_exchanges
from pytest_judgesense.cassettes.tape import Tape
from pytest_judgesense.judges.asking import open_asker
from pytest_judgesense.judges.declare import Judge
from pytest_judgesense.judges.wire import Reply

from .provider import Provider, provider

Messages = list[dict[str, Any]]
TRIALS = {f"s/i{n}/t/ab/r1": [{"role": "user", "content": f"item {n}"}] for n in range(4)}


@pytest.fixture
def served() -> Iterator[Provider]:
    with provider() as found:
        yield found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mine" / "s.jsonl"


def _ask(
    judge: Callable[..., Any], path: Path, mode: str, trials: dict[str, Messages] = TRIALS
) -> list[str]:
    """The replies of all trials, asked together on one tape, as a measurement does."""
    spec = Judge("mine", judge)
    tape = Tape.open(path, mode)  # type: ignore[arg-type]

    async def together() -> list[str]:
        async with open_asker(spec, tape, concurrency=32) as asker:
            with tape.intercepting():
                answers = await asyncio.gather(*(asker.ask(id_, trials[id_]) for id_ in trials))
        replies = [answer.reply for answer in answers]
        assert all(isinstance(reply, Reply) for reply in replies), replies
        return [str(reply.text) for reply in replies if isinstance(reply, Reply)]

    found = asyncio.run(together())
    tape.finish(sorted(tape.trials))
    return found


def _recorded_and_replayed(
    judge: Callable[..., Any], path: Path, served: Provider, calls: int = 1
) -> list[str]:
    """Record and replay; the replay gives the same replies and reaches nobody."""
    live = _ask(judge, path, "record")
    assert served.hits == calls * len(TRIALS)
    assert len(read_exchanges(path)) == served.hits
    assert len(set(live)) == len(live)  # else crossed replies could not be seen
    assert _ask(judge, path, "replay") == live
    # What is recorded is not asked again while recording either.
    assert _ask(judge, path, "record") == live
    assert served.hits == calls * len(TRIALS)
    return live


# --- one client each: the url of the provider -> a judge -----------------------------------------


def _chat_body(messages: Messages) -> dict[str, Any]:
    return {"model": "m", "messages": messages}


def _text(answer: Any) -> str:
    return str(answer["choices"][0]["message"]["content"])


def _openai(url: str) -> Any:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="k")

    def judge(messages: Messages) -> str:
        answer = client.chat.completions.create(**_chat_body(messages))
        return answer.choices[0].message.content or ""

    return judge


def _openai_async(url: str) -> Any:
    async def judge(messages: Messages) -> str:
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k") as client:
            answer = await client.chat.completions.create(**_chat_body(messages))
        return answer.choices[0].message.content or ""

    return judge


def _openai_stream(url: str) -> Any:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="k")

    def judge(messages: Messages) -> str:
        events = client.chat.completions.create(**_chat_body(messages), stream=True)
        return "".join(event.choices[0].delta.content or "" for event in events)

    return judge


def _openai_async_stream(url: str) -> Any:
    async def judge(messages: Messages) -> str:
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k") as client:
            events = await client.chat.completions.create(**_chat_body(messages), stream=True)
            return "".join([event.choices[0].delta.content or "" async for event in events])

    return judge


def _message_body(messages: Messages) -> dict[str, Any]:
    return _chat_body(messages) | {"max_tokens": 16}


def _anthropic(url: str) -> Any:
    client = anthropic.Anthropic(base_url=url, api_key="k")

    def judge(messages: Messages) -> str:
        return client.messages.create(**_message_body(messages)).content[0].text

    return judge


def _anthropic_async(url: str) -> Any:
    async def judge(messages: Messages) -> str:
        async with anthropic.AsyncAnthropic(base_url=url, api_key="k") as client:
            return (await client.messages.create(**_message_body(messages))).content[0].text

    return judge


def _anthropic_stream(url: str) -> Any:
    client = anthropic.Anthropic(base_url=url, api_key="k")

    def judge(messages: Messages) -> str:
        with client.messages.stream(**_message_body(messages)) as stream:
            return "".join(stream.text_stream)

    return judge


def _anthropic_async_stream(url: str) -> Any:
    async def judge(messages: Messages) -> str:
        async with (
            anthropic.AsyncAnthropic(base_url=url, api_key="k") as client,
            client.messages.stream(**_message_body(messages)) as stream,
        ):
            return "".join([piece async for piece in stream.text_stream])

    return judge


def _httpx(url: str) -> Any:
    client = httpx.Client(base_url=url)

    def judge(messages: Messages) -> str:
        return _text(client.post("/v1/chat/completions", json=_chat_body(messages)).json())

    return judge


def _httpx_async(url: str) -> Any:
    async def judge(messages: Messages) -> str:
        async with httpx.AsyncClient(base_url=url) as client:
            answer = await client.post("/v1/chat/completions", json=_chat_body(messages))
        return _text(answer.json())

    return judge


def _requests(url: str) -> Any:
    def judge(messages: Messages) -> str:
        body = _chat_body(messages)
        return _text(requests.post(f"{url}/v1/chat/completions", json=body, timeout=10).json())

    return judge


def _requests_stream(url: str) -> Any:
    def judge(messages: Messages) -> str:
        body = _chat_body(messages) | {"stream": True}
        target = f"{url}/v1/chat/completions"
        with requests.post(target, json=body, timeout=10, stream=True) as answer:
            lines = [line.removeprefix(b"data: ") for line in answer.iter_lines() if line]
        return "".join(
            json.loads(line)["choices"][0]["delta"].get("content", "") for line in lines[:-1]
        )

    return judge


def _urllib3(url: str) -> Any:
    pool = urllib3.PoolManager(maxsize=32)

    def judge(messages: Messages) -> str:
        target = f"{url}/v1/chat/completions"
        return _text(pool.request("POST", target, json=_chat_body(messages)).json())

    return judge


def _aiohttp(url: str) -> Any:
    async def judge(messages: Messages) -> str:
        async with (
            aiohttp.ClientSession(url) as session,
            session.post("/v1/chat/completions", json=_chat_body(messages)) as answer,
        ):
            return _text(await answer.json())

    return judge


def _aiohttp_stream(url: str) -> Any:
    async def judge(messages: Messages) -> str:
        body = _chat_body(messages) | {"stream": True}
        pieces = []
        async with (
            aiohttp.ClientSession(url) as session,
            session.post("/v1/chat/completions", json=body) as answer,
        ):
            async for line in answer.content:
                data = line.decode().strip().removeprefix("data: ")
                if data and data != "[DONE]":
                    pieces.append(json.loads(data)["choices"][0]["delta"].get("content", ""))
        return "".join(pieces)

    return judge


def _urllib(url: str) -> Any:
    def judge(messages: Messages) -> str:
        data = json.dumps(_chat_body(messages)).encode()
        asked = urllib.request.Request(  # noqa: S310
            f"{url}/v1/chat/completions", data, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(asked, timeout=10) as answer:
            return _text(json.load(answer))

    return judge


CLIENTS = [
    _openai,
    _openai_async,
    _openai_stream,
    _openai_async_stream,
    _anthropic,
    _anthropic_async,
    _anthropic_stream,
    _anthropic_async_stream,
    _httpx,
    _httpx_async,
    _requests,
    _requests_stream,
    _urllib3,
    _aiohttp,
    _aiohttp_stream,
    _urllib,
]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_judge_is_recorded_and_replayed_whatever_its_client(
    client: Any, path: Path, served: Provider
) -> None:
    live = _recorded_and_replayed(client(served.url), path, served)
    assert [reply.partition(" -> ")[0] for reply in live] == [
        messages[0]["content"] for messages in TRIALS.values()
    ]


@pytest.mark.parametrize("client", [_httpx, _requests, _urllib3, _urllib, _openai])
def test_32_threads_record_every_call_and_reach_nobody_in_replay(
    client: Any, path: Path, served: Provider
) -> None:
    trials = {f"s/i{n}/t/ab/r1": [{"role": "user", "content": "same"}] for n in range(128)}
    judge = client(served.url)
    live = _ask(judge, path, "record", trials)
    assert served.hits == len(read_exchanges(path)) == len(set(live)) == 128
    # In replay too the function runs in 32 threads of one verdict each, 128 times.
    assert _ask(judge, path, "replay", trials) == live
    assert served.hits == 128
