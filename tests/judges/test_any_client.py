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
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import openai
import pytest
import requests
import urllib3

from pytest_judgesense.cassettes.cassette import Cassette
from pytest_judgesense.cassettes.interception import intercepting
from pytest_judgesense.cassettes.opening import open_cassette
from pytest_judgesense.cassettes.replaying import ReplayingCassette
from pytest_judgesense.cassettes.writing import RecordingCassette
from pytest_judgesense.judges.client import open_client
from pytest_judgesense.judges.judge_table import declared_judge
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.spec import JudgeSpec

from .provider import Provider, provider
from .raw import connections_to
from .recorded import requests_in

# The clients that judges keep for all their calls. The collector would close them too, but their
# sockets now and then before them, which is a warning in whichever test it happens.
_KEPT = ExitStack()

Messages = list[dict[str, Any]]
TRIALS = {f"s/i{n}/t/ab/r1": [{"role": "user", "content": f"item {n}"}] for n in range(4)}


@pytest.fixture
def served() -> Iterator[Provider]:
    """The provider; when it ends, nobody holds a connection to it any more."""
    with provider() as found:
        yield found
        _KEPT.close()
        assert connections_to(found.port) == []


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mine" / "s.jsonl"


def _ask(
    judge: Callable[..., Any],
    path: Path,
    mode: str,
    trials: dict[str, Messages] = TRIALS,
    **settings: Any,
) -> list[str]:
    """The replies of all trials, asked together on one tape, as a measurement does."""
    tape = open_cassette(path, mode)  # type: ignore[arg-type]
    found = _replies(declared_judge("mine", judge, **settings), tape, trials)
    tape.finish(sorted(tape.trials))
    return found


def _replies(spec: JudgeSpec, tape: Cassette, trials: dict[str, Messages] = TRIALS) -> list[str]:
    return asyncio.run(_asked(spec, tape, trials))


async def _asked(
    spec: JudgeSpec, tape: Cassette, trials: dict[str, Messages] = TRIALS
) -> list[str]:
    async with open_client(spec, tape, concurrency=32) as asker:
        with intercepting(tape):
            answers = await asyncio.gather(*(asker.ask(id_, trials[id_]) for id_ in trials))
    replies = [answer.reply for answer in answers]
    assert all(isinstance(reply, Reply) for reply in replies), replies
    return [str(reply.text) for reply in replies if isinstance(reply, Reply)]


def _recorded_and_replayed(
    judge: Callable[..., Any], path: Path, served: Provider, calls: int = 1
) -> list[str]:
    """Record and replay; the replay gives the same replies and reaches nobody."""
    live = _ask(judge, path, "record")
    assert served.hits == calls * len(TRIALS)
    assert len(requests_in(path)) == served.hits
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
    client = _KEPT.enter_context(openai.OpenAI(base_url=f"{url}/v1", api_key="k"))

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
    client = _KEPT.enter_context(openai.OpenAI(base_url=f"{url}/v1", api_key="k"))

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
    import anthropic  # a second of every process that only collects tests

    client = _KEPT.enter_context(anthropic.Anthropic(base_url=url, api_key="k"))

    def judge(messages: Messages) -> str:
        return client.messages.create(**_message_body(messages)).content[0].text

    return judge


def _anthropic_async(url: str) -> Any:
    import anthropic

    async def judge(messages: Messages) -> str:
        async with anthropic.AsyncAnthropic(base_url=url, api_key="k") as client:
            return (await client.messages.create(**_message_body(messages))).content[0].text

    return judge


def _anthropic_stream(url: str) -> Any:
    import anthropic

    client = _KEPT.enter_context(anthropic.Anthropic(base_url=url, api_key="k"))

    def judge(messages: Messages) -> str:
        with client.messages.stream(**_message_body(messages)) as stream:
            return "".join(stream.text_stream)

    return judge


def _anthropic_async_stream(url: str) -> Any:
    import anthropic

    async def judge(messages: Messages) -> str:
        async with (
            anthropic.AsyncAnthropic(base_url=url, api_key="k") as client,
            client.messages.stream(**_message_body(messages)) as stream,
        ):
            return "".join([piece async for piece in stream.text_stream])

    return judge


def _httpx(url: str) -> Any:
    def judge(messages: Messages) -> str:
        with httpx.Client(base_url=url) as client:
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
    pool = _KEPT.enter_context(urllib3.PoolManager(maxsize=32))

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
        asked = urllib.request.Request(
            f"{url}/v1/chat/completions", data, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(asked, timeout=10) as answer:
            return _text(json.load(answer))

    return judge


CLIENTS = [
    _openai,
    _openai_async,
    _openai_stream,
    pytest.param(_openai_async_stream, marks=pytest.mark.long),
    _anthropic,
    pytest.param(_anthropic_async, marks=pytest.mark.long),
    _anthropic_stream,
    pytest.param(_anthropic_async_stream, marks=pytest.mark.long),
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


@pytest.mark.long
@pytest.mark.parametrize("client", [_httpx, _requests, _urllib3, _urllib, _openai])
def test_32_threads_record_every_call_and_reach_nobody_in_replay(
    client: Any, path: Path, served: Provider
) -> None:
    trials = {f"s/i{n}/t/ab/r1": [{"role": "user", "content": "same"}] for n in range(128)}
    ask = client(served.url)
    together = threading.Barrier(32)

    def judge(messages: Messages) -> str:
        together.wait(20)  # fails with fewer threads, and starts 32 requests at once
        return str(ask(messages))

    live = _ask(judge, path, "record", trials, concurrency=32)
    assert served.hits == len(requests_in(path)) == len(set(live)) == 128
    assert _ask(judge, path, "replay", trials, concurrency=32) == live
    assert served.hits == 128


# --- what a judge does beside one request --------------------------------------------------------


def test_several_calls_a_verdict_are_numbered_and_replayed_in_their_places(
    path: Path, served: Provider
) -> None:
    """As G-Eval does: steps first, then several samples of one score prompt, averaged."""
    client = _KEPT.enter_context(openai.OpenAI(base_url=f"{served.url}/v1", api_key="k"))

    def judge(messages: Messages) -> str:
        def ask(content: str) -> str:
            body = _chat_body([{"role": "user", "content": content}])
            return client.chat.completions.create(**body).choices[0].message.content or ""

        steps = ask(f"steps for {messages[0]['content']}")
        samples = [ask(f"score by {steps}") for _ in range(3)]  # identical requests
        assert len(set(samples)) == 3
        return messages[0]["content"] + " -> " + " | ".join(samples)

    _recorded_and_replayed(judge, path, served, calls=4)
    numbers = [exchange.call for exchange in requests_in(path)]
    assert numbers == [1, 2, 3, 4] * len(TRIALS)


def test_the_trial_follows_through_threads_executors_and_tasks(
    path: Path, served: Provider
) -> None:
    client = _KEPT.enter_context(openai.OpenAI(base_url=f"{served.url}/v1", api_key="k"))
    # Older than every trial, and shared by them all.
    shared = ThreadPoolExecutor(2)
    shared.submit(print).result()

    async def in_tasks(item: str) -> list[str]:
        async with httpx.AsyncClient(base_url=served.url) as session:

            async def ask(name: str) -> str:
                body = _chat_body([{"role": "user", "content": f"{item} {name}"}])
                return _text((await session.post("/v1/chat/completions", json=body)).json())

            tasks = [asyncio.create_task(ask(name)) for name in ("task a", "task b")]
            return [*await asyncio.gather(*tasks), await asyncio.to_thread(blocking, item, "hop")]

    def blocking(item: str, name: str) -> str:
        body = _chat_body([{"role": "user", "content": f"{item} {name}"}])
        return client.chat.completions.create(**body).choices[0].message.content or ""

    def judge(messages: Messages) -> str:
        item = messages[0]["content"]
        found: list[str] = []
        thread = threading.Thread(target=lambda: found.append(blocking(item, "thread")))
        thread.start()
        thread.join()
        with ThreadPoolExecutor(2) as own:
            found += own.map(blocking, [item] * 2, ["own a", "own b"])
        found.append(shared.submit(blocking, item, "shared").result())
        return " | ".join(found + asyncio.run(in_tasks(item)))

    with shared:
        _recorded_and_replayed(judge, path, served, calls=7)
    for exchange in requests_in(path):
        (asked,) = json.loads(str(exchange.request.body))["messages"]
        (item,) = TRIALS[exchange.trial]
        assert asked["content"].startswith(item["content"])


def test_a_module_level_async_client_serves_recording_and_replay(
    path: Path, served: Provider
) -> None:
    """One client for all trials, on one loop, as in a session."""
    client = openai.AsyncOpenAI(base_url=f"{served.url}/v1", api_key="k", max_retries=0)

    async def judge(messages: Messages) -> str:
        answer = await client.chat.completions.create(**_chat_body(messages))
        return answer.choices[0].message.content or ""

    async def session() -> None:
        live = await _asked(declared_judge("mine", judge), RecordingCassette(path))
        assert await _asked(declared_judge("mine", judge), ReplayingCassette(path)) == live
        await client.close()

    asyncio.run(session())
    assert served.hits == len(TRIALS)


def test_a_judge_without_http_is_recorded_at_the_call_itself(path: Path) -> None:
    calls: list[str] = []

    def judge(messages: Messages) -> str:
        calls.append(messages[0]["content"])
        return f"local {messages[0]['content']}"

    live = _ask(judge, path, "record")
    assert len(calls) == len(TRIALS)
    assert {exchange.request.method for exchange in requests_in(path)} == {"CALL"}
    assert _ask(judge, path, "replay") == live
    assert len(calls) == len(TRIALS)  # the model is not needed


FETCHES = """
import urllib.request, httpx

try:
    with urllib.request.urlopen("{url}/prices", timeout=10) as answer:
        FETCHED = answer.status == 200
except OSError:
    FETCHED = False
except Exception as error:
    FETCHED = type(error).__name__

def judge(messages):
    body = {{"model": "m", "messages": messages}}
    answer = httpx.post("{url}/v1/chat/completions", json=body).json()
    return answer["choices"][0]["message"]["content"]
"""


def test_what_a_module_fetches_while_it_is_imported_belongs_to_no_trial(
    path: Path, served: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As litellm does with its table of prices."""
    monkeypatch.syspath_prepend(tmp_path)
    found = []
    for mode in ("record", "replay"):
        name = f"fetches_in_{mode}"
        (tmp_path / f"{name}.py").write_text(FETCHES.format(url=served.url))
        spec = declared_judge("mine", provider="callable", model=f"{name}:judge")
        tape = open_cassette(path, mode)  # type: ignore[arg-type]
        found.append(_replies(spec, tape))
        tape.finish(sorted(tape.trials))
        fetched = sys.modules.pop(name).FETCHED
        # Replaying, an import reaches nobody either; the module may do without.
        assert fetched is (mode == "record")
    assert found[0] == found[1]
    assert served.hits == 1 + len(TRIALS)
    assert {exchange.request.method for exchange in requests_in(path)} == {"POST"}


@pytest.mark.parametrize("form", ["def", "async def"])
@pytest.mark.parametrize("reached", [True, False])
def test_nor_does_it_if_a_trial_imports_the_module(
    path: Path, served: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str,
    reached: bool,
) -> None:  # fmt: skip
    monkeypatch.syspath_prepend(tmp_path)
    found = []
    # The trial that imports it is another one each time.
    for mode, trials in (("record", TRIALS), ("replay", dict(reversed(TRIALS.items())))):
        name = f"lazily_{form[:3].strip()}_{reached}_{mode}"
        url = served.url if reached else "http://127.0.0.1:1"
        code = FETCHES.replace("{url}/prices", f"{url}/prices").format(url=served.url)
        (tmp_path / f"{name}.py").write_text(code)
        names: dict[str, Any] = {}
        exec(
            f"{form} judge(messages):\n    import {name}\n    return {name}.judge(messages)", names
        )
        tape = open_cassette(path, mode)  # type: ignore[arg-type]
        replies = _replies(declared_judge("mine", names["judge"]), tape, trials)
        found.append(dict(zip(trials, replies, strict=True)))
        tape.finish(sorted(tape.trials))
        fetched = sys.modules.pop(name).FETCHED
        assert fetched is (reached and mode == "record")
    assert found[0] == found[1]
    assert served.hits == reached + len(TRIALS)
    assert {exchange.request.method for exchange in requests_in(path)} == {"POST"}


LITELLM = """
import asyncio, json, sys
import litellm
from pytest_judgesense.cassettes.cassette import Cassette
from pytest_judgesense.cassettes.interception import intercepting
from pytest_judgesense.cassettes.opening import open_cassette
from pytest_judgesense.cassettes.replaying import ReplayingCassette
from pytest_judgesense.cassettes.writing import RecordingCassette, holds
from pytest_judgesense.judges.client import open_client
from pytest_judgesense.judges.judge_table import declared_judge
from tests.judges.provider import provider

def options(url, messages):
    return dict(model="openai/m", api_base=url + "/v1", api_key="k", messages=messages)

async def main(folder):
    with provider() as served:
        def whole(messages):
            answer = litellm.completion(**options(served.url, messages))
            return answer.choices[0].message.content

        def stream(messages):
            events = litellm.completion(**options(served.url, messages), stream=True)
            return "".join(event.choices[0].delta.content or "" for event in events)

        async def awaited(messages):
            answer = await litellm.acompletion(**options(served.url, messages))
            return answer.choices[0].message.content

        async def streamed(messages):
            events = await litellm.acompletion(**options(served.url, messages), stream=True)
            return "".join([event.choices[0].delta.content or "" async for event in events])

        async def claude(messages):
            called = options(served.url, messages) | {
                "model": "anthropic/m", "api_base": served.url, "max_tokens": 16,
            }
            return (await litellm.acompletion(**called)).choices[0].message.content

        for judge in (whole, stream, awaited, streamed, claude):
            said, before = [], served.hits
            for mode in ("record", "replay"):
                tape = open_cassette(folder / f"{judge.__name__}.jsonl", mode)
                async with open_client(declared_judge("mine", judge), tape, concurrency=4) as asker:
                    with intercepting(tape):
                        said.append([
                            (await asker.ask(f"s/i{n}", [{"role": "user", "content": f"item {n}"}]))
                            .reply.text for n in range(2)
                        ])
            print(json.dumps([judge.__name__, said[0], said[0] == said[1], served.hits - before]))

import pathlib
asyncio.run(main(pathlib.Path(sys.argv[1])))
"""


@pytest.mark.long
def test_a_judge_upon_litellm_is_recorded_and_replayed(tmp_path: Path) -> None:
    # In a process of its own: importing it takes seconds, warns, and sets up logging.
    environment = os.environ | {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    done = subprocess.run(
        [sys.executable, "-c", LITELLM, str(tmp_path)],
        cwd=Path(__file__).parents[2],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    assert [name for name, *_ in found] == ["whole", "stream", "awaited", "streamed", "claude"]
    for _, said, replayed_alike, hits in found:
        assert [text.partition(" -> ")[0] for text in said] == ["item 0", "item 1"]
        assert replayed_alike
        assert hits == 2
