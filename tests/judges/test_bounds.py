"""What a judge may cost in time and bytes: bounds that hold whoever answers."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import socket
import sys
import textwrap
import threading
import time
import zlib
from asyncio import SelectorEventLoop
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from pytest_judgesense.cassettes.bodies import MOST_BYTES
from pytest_judgesense.cassettes.interception import intercepting
from pytest_judgesense.cassettes.writing import RecordingCassette
from pytest_judgesense.judges.client import open_client
from pytest_judgesense.judges.judge_table import declared_judge
from pytest_judgesense.judges.loop import AskingLoop, LoopThread
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.providers.builtin import ANTHROPIC, OPENAI
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import Answer
from pytest_judgesense.trial import Failed, Usage
from tests import processes
from tests.judges.raw import connections_to, dripping, playing, response

from .recorded import requests_in

REPLY = json.dumps({"choices": [{"message": {"content": "YES"}}]}).encode()


@pytest.fixture
def loop() -> Iterator[AskingLoop]:
    asking = AskingLoop()
    yield asking
    asking.close()


@pytest.fixture
def stop() -> Iterator[threading.Event]:
    """Set when the test is over: what it has left running ends."""
    event = threading.Event()
    yield event
    event.set()


def _ask(
    loop: AskingLoop, spec: JudgeSpec, path: Path, prompts: Sequence[str] = ("p",)
) -> list[Answer]:
    tape = RecordingCassette(path)

    async def asking() -> list[Answer]:
        async with open_client(spec, tape, concurrency=4) as client:
            with intercepting(tape):
                return [
                    await client.ask(f"s/{p}", [{"role": "user", "content": p}]) for p in prompts
                ]

    return loop.run(asking())


def _openai(url: str, **settings: Any) -> JudgeSpec:
    return declared_judge(
        "mine", provider="openai", model="m", base_url=url, **{"max_retries": 0, **settings}
    )


def _reason(answer: Answer) -> str:
    assert isinstance(answer.reply, Failed), answer
    return answer.reply.reason


# --- time ----------------------------------------------------------------------------------------


def test_timeout_s_holds_for_an_answer_that_drips(
    loop: AskingLoop, stop: threading.Event, tmp_path: Path
) -> None:
    # A byte every 50 ms: no wait for a byte is ever as long as the limit of 0.5 s.
    with playing(dripping(stop, 0.05)) as url:
        (answer,) = _ask(loop, _openai(url, timeout_s=0.5), tmp_path / "c.jsonl")
    assert _reason(answer) == "no whole answer within timeout_s = 0.5 s"
    (evidence,) = requests_in(tmp_path / "c.jsonl")
    assert evidence.response.body == "no whole answer within timeout_s = 0.5 s"


def test_timeout_s_holds_for_headers_that_never_end(
    loop: AskingLoop, stop: threading.Event, tmp_path: Path
) -> None:
    def play(connection: socket.socket, _: int) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
        while not stop.wait(0.05):
            connection.sendall(b"x")

    with playing(play) as url:
        (answer,) = _ask(loop, _openai(url, timeout_s=0.5), tmp_path / "c.jsonl")
    assert _reason(answer).startswith("no whole answer within timeout_s")


def test_a_call_without_an_answer_in_time_is_made_again_twice_at_most(
    loop: AskingLoop, stop: threading.Event, tmp_path: Path
) -> None:
    asked: list[int] = []

    def play(_: socket.socket, before: int) -> None:
        asked.append(before)
        stop.wait(5)

    with playing(play) as url:
        (answer,) = _ask(loop, _openai(url, timeout_s=0.1, max_retries=5), tmp_path / "c.jsonl")
    assert (asked, answer.retried) == ([0, 1, 2], 2)


def _sleeping(stop: threading.Event) -> dict[str, Callable[..., Any]]:
    def never_returns(messages: object) -> str:
        stop.wait(60)
        return "YES"

    async def blocks_its_loop(messages: object) -> str:
        stop.wait(60)
        return "YES"

    async def refuses_to_be_ended(messages: object) -> str:
        import asyncio

        while not stop.is_set():
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                continue
        return "YES"

    return {one.__name__: one for one in (never_returns, blocks_its_loop, refuses_to_be_ended)}


@pytest.mark.parametrize("how", ["never_returns", "blocks_its_loop", "refuses_to_be_ended"])
def test_a_callable_that_does_not_return_is_a_failed_trial(
    loop: AskingLoop, stop: threading.Event, tmp_path: Path, how: str
) -> None:
    judge = declared_judge("mine", _sleeping(stop)[how], timeout_s=0.3)
    answers = _ask(loop, judge, tmp_path / "c.jsonl", ["p", "q"])
    assert [_reason(answer) for answer in answers] == ["no return within 0.3 s (timeout_s)"] * 2
    # The loop that asks goes on, for this judge and for others.
    (answer,) = _ask(loop, declared_judge("other", lambda _: "NO"), tmp_path / "other.jsonl")
    assert answer.reply == Reply("NO")


@pytest.mark.filterwarnings("error")
def test_what_a_blocked_loop_had_not_begun_is_never_told_as_unawaited(
    stop: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: told.append(found.exc_value))
    begun = threading.Event()

    async def blocks() -> None:
        begun.set()
        stop.wait(60)

    apart = LoopThread("blocked")
    waiting = [apart.submit(blocks()) for _ in range(3)]
    assert begun.wait(10)
    threading.Timer(0.05, stop.set).start()
    apart.close()
    gc.collect()
    # Those that began came to their end; the others are cancelled, and nobody is warned of them.
    assert all(one.done() for one in waiting)
    assert told == []


def test_calls_that_hang_take_no_thread_from_those_that_do_not(
    loop: AskingLoop, stop: threading.Event, tmp_path: Path
) -> None:
    def judge(messages: list[dict[str, str]]) -> str:
        if messages[-1]["content"].startswith("hang"):
            stop.wait(60)
        return "YES"

    # Four hang where four may be under way: a pool of four threads would serve nobody after them.
    # The time is one in which a busy machine starts a thread for the fifth.
    prompts = [f"hang {n}" for n in range(4)] + ["fine"]
    answers = _ask(loop, declared_judge("mine", judge, timeout_s=2), tmp_path / "c.jsonl", prompts)
    assert answers[-1].reply == Reply("YES")


def test_a_judge_that_never_returns_keeps_a_bounded_number_of_threads(
    loop: AskingLoop, stop: threading.Event, tmp_path: Path
) -> None:
    before = threading.active_count()
    spec = declared_judge("mine", _sleeping(stop)["never_returns"], timeout_s=0.02)
    answers = _ask(loop, spec, tmp_path / "c.jsonl", [str(n) for n in range(40)])
    assert _reason(answers[-1]) == "not called: 32 calls of judges have not returned (timeout_s)"
    assert threading.active_count() - before <= 32 + 2  # and the threads of the two loops


def test_what_a_callable_returns_too_late_is_not_recorded(
    loop: AskingLoop, stop: threading.Event, tmp_path: Path
) -> None:
    released, done = threading.Event(), threading.Event()

    def judge(messages: object) -> str:
        import urllib.request

        try:
            with urllib.request.urlopen(f"{url}/late", b"{}", timeout=10) as got:
                text: str = got.read().decode()
            return text
        finally:
            done.set()

    def play(connection: socket.socket, _: int) -> None:
        released.wait(10)
        connection.sendall(response(b"YES"))

    path = tmp_path / "c.jsonl"
    with playing(play) as url:
        (answer,) = _ask(loop, declared_judge("mine", judge, timeout_s=0.3), path)
        released.set()
        assert done.wait(10)
    assert _reason(answer).startswith("no return within")
    # That no answer came is recorded, and what came later is nowhere.
    (line,) = requests_in(path)
    assert line.response.status == 0
    assert line.response.body == "no answer until the function's time was up"


# What ends a thread, a loop, a task or a test where it is not held up.
ENDING = """
import asyncio, pytest

class Mute(Exception):
    def __str__(self):
        raise ValueError("no text")

class Tricky(str):
    def __len__(self):
        raise ValueError("no length")

itself, deep = {}, {}
itself["verdict"] = itself
for _ in range(100_000):
    deep = {"verdict": deep}
"""


@pytest.mark.parametrize("form", ["def", "async def"])
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise SystemExit(3)", "RuntimeError: the judge raised SystemExit: 3"),
        ("raise KeyboardInterrupt", "RuntimeError: the judge raised KeyboardInterrupt"),
        ("raise asyncio.CancelledError", "RuntimeError: the judge raised CancelledError"),
        ("raise BaseException('x')", "RuntimeError: the judge raised BaseException: x"),
        ("pytest.skip('not here')", "RuntimeError: the judge raised Skipped: not here"),
        ("pytest.fail('no')", "RuntimeError: the judge raised Failed: no"),
        ("raise Mute", "Mute"),
        ("return 10**100_000", "the function returned what cannot be written: ValueError: "),
        ("return itself", "the function returned what cannot be written: "),
        ("return deep", "the function returned what cannot be written: RecursionError"),
    ],
)
def test_a_callable_that_ends_in_an_odd_way_fails_its_trial_alone(
    loop: AskingLoop, tmp_path: Path, form: str, body: str, reason: str
) -> None:
    names: dict[str, Any] = {}
    exec(f"{ENDING}\ncalls = []\n{form} judge(messages):\n    calls.append(1)\n"
         f"    if len(calls) == 2:\n        {body}\n    return Tricky('YES')", names)  # fmt: skip
    judge = declared_judge("mine", names["judge"], timeout_s=20)
    first, second, third = _ask(loop, judge, tmp_path / "c.jsonl", ("a", "b", "c"))
    assert _reason(second).startswith(reason)
    assert [first.reply, third.reply] == [Reply("YES")] * 2


def test_a_callable_that_cancels_its_own_task_fails_its_trial_alone(
    loop: AskingLoop, tmp_path: Path
) -> None:
    calls = []

    async def judge(messages: object) -> str:
        calls.append(1)
        if len(calls) == 2:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            await asyncio.sleep(1)
        return "YES"

    mine = declared_judge("mine", judge, timeout_s=20)
    first, second, third = _ask(loop, mine, tmp_path / "c.jsonl", ("a", "b", "c"))
    assert _reason(second) == "RuntimeError: the judge raised CancelledError"
    assert [first.reply, third.reply] == [Reply("YES")] * 2


@pytest.mark.parametrize(
    "body",
    [
        "time.sleep(600)",
        "await asyncio.to_thread(time.sleep, 600)",
        # The end of the interpreter waits for these two.
        pytest.param(
            "ThreadPoolExecutor().submit(time.sleep, 600).result()", marks=pytest.mark.long
        ),
        "thread = threading.Thread(target=time.sleep, args=(600,)); thread.start(); thread.join()",
    ],
    ids=["sync", "a thread of its loop", "an executor", "a thread"],
)
def test_the_process_ends_whatever_a_callable_has_left_running(tmp_path: Path, body: str) -> None:
    form = "async def" if "await" in body else "def"
    (tmp_path / "conftest.py").write_text(
        "import asyncio, threading, time\nfrom concurrent.futures import ThreadPoolExecutor\n"
        f"from pytest_judgesense import Judge\n{form} hangs(messages):\n"
        f"    {body}\n\ndef pytest_judgesense_judges(config):\n"
        "    return [Judge('mine', hangs, timeout_s=0.2)]\n"
    )
    (tmp_path / "test_it.py").write_text(
        textwrap.dedent(
            """
            import pytest
            from pytest_judgesense.errors import JudgeError

            def test_it(judge):
                with pytest.raises(JudgeError, match="no return within"):
                    judge.ask("p")
            """
        )
    )
    arguments = ("-q", "--judge-mode=live", "-p", "no:cacheprovider")
    # Far less than the 600 s that the function sleeps, and enough for a busy machine.
    done = processes.run("pytest", *arguments, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


# --- bytes ---------------------------------------------------------------------------------------


def test_a_reply_of_a_megabyte_is_fine(loop: AskingLoop, tmp_path: Path) -> None:
    text = "x" * 1_000_000
    body = gzip.compress(json.dumps({"choices": [{"message": {"content": text}}]}).encode())
    with playing(lambda c, _: c.sendall(response(body, "Content-Encoding: gzip"))) as url:
        (answer,) = _ask(loop, _openai(url), tmp_path / "c.jsonl")
    assert answer.reply == Reply(text)


def test_an_endless_body_fails_at_the_limit_and_is_not_asked_for_again(
    loop: AskingLoop, tmp_path: Path
) -> None:
    sent = [0]

    def play(connection: socket.socket, before: int) -> None:
        assert before == 0
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            connection.sendall(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
            sent[0] += 0x10000

    with playing(play) as url:
        spec = _openai(url, max_body_bytes=1_000_000, max_retries=3)
        (answer,) = _ask(loop, spec, tmp_path / "c.jsonl")
    expected = "a body is larger than max_body_bytes = 1000000, on the wire"
    assert _reason(answer) == expected
    assert [one.response.body for one in requests_in(tmp_path / "c.jsonl")] == [expected]
    # What the sockets and the buffers of both sides hold comes on top.
    assert sent[0] < 20_000_000


def _encoded(encoding: str, size: int) -> bytes:
    text = b" " * size
    if encoding == "br":
        return pytest.importorskip("brotli").compress(text, quality=1)  # type: ignore[no-any-return]
    if encoding == "zstd":
        return pytest.importorskip("zstandard").ZstdCompressor().compress(text)  # type: ignore[no-any-return]
    return gzip.compress(text) if encoding == "gzip" else zlib.compress(text)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_a_body_that_grows_while_it_is_decoded_fails_at_the_limit(
    loop: AskingLoop, tmp_path: Path, encoding: str
) -> None:
    bomb = _encoded(encoding, 4 * MOST_BYTES)
    assert len(bomb) < MOST_BYTES / 100
    header = f"Content-Encoding: {encoding}"
    with playing(lambda c, _: c.sendall(response(bomb, header))) as url:
        (answer,) = _ask(loop, _openai(url), tmp_path / "c.jsonl")
    assert _reason(answer) == (
        f"a body is larger than max_body_bytes = {MOST_BYTES}, decoded from {encoding}"
    )


def _urllib3(url: str) -> str:
    import urllib3

    return urllib3.request("POST", url, body=b"{}", retries=False).data.decode()


def _urllib_request(url: str) -> str:
    import urllib.request

    with urllib.request.urlopen(url, b"{}") as got:
        text: str = got.read().decode()
    return text


def _httpx(url: str) -> str:
    import httpx

    return httpx.post(url, content=b"{}").text


def _asynchronous_httpx(url: str) -> str:
    import httpx

    async def ask() -> str:
        async with httpx.AsyncClient() as client:
            return (await client.post(url, content=b"{}")).text

    return asyncio.run(ask())


def _aiohttp(url: str) -> str:
    import aiohttp

    async def ask() -> str:
        async with aiohttp.ClientSession() as session, session.post(url, data=b"{}") as got:
            return await got.text()

    return asyncio.run(ask())


_CLIENTS = (_urllib3, _urllib_request, _httpx, _asynchronous_httpx, _aiohttp)


@pytest.mark.parametrize("client", _CLIENTS)
def test_an_endless_body_ends_at_the_limit_for_clients_of_other_people(
    loop: AskingLoop, tmp_path: Path, client: Callable[[str], str]
) -> None:
    sent = [0]

    def play(connection: socket.socket, before: int) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while sent[0] < 200_000_000:
            connection.sendall(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
            sent[0] += 0x10000

    with playing(play) as url:
        spec = declared_judge(
            "mine", lambda messages: client(url), max_body_bytes=1_000_000, timeout_s=20
        )
        (answer,) = _ask(loop, spec, tmp_path / "c.jsonl")
        assert connections_to(urlsplit(url).port) == []
    assert _reason(answer) == "a body is larger than max_body_bytes = 1000000, on the wire"
    # What the sockets and the buffers of both sides hold comes on top.
    assert sent[0] < 20_000_000


@pytest.mark.parametrize("client", _CLIENTS)
def test_a_body_that_breaks_off_leaves_no_connection_to_clients_of_other_people(
    loop: AskingLoop, tmp_path: Path, client: Callable[[str], str]
) -> None:
    torn = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf"
    kept = []

    def judge(messages: object) -> str:
        try:
            return client(url)
        except Exception as error:
            kept.append(error)  # with all that its frames hold, which the collector would close
            raise

    def play(connection: socket.socket, _: int) -> None:
        connection.sendall(torn)
        connection.shutdown(socket.SHUT_WR)

    with playing(play) as url:
        (answer,) = _ask(loop, declared_judge("mine", judge, timeout_s=20), tmp_path / "c.jsonl")
        assert isinstance(answer.reply, Failed)
        assert kept
        assert connections_to(urlsplit(url).port) == []


@pytest.mark.parametrize("client", _CLIENTS)
def test_the_limit_holds_for_clients_of_other_people(
    loop: AskingLoop, tmp_path: Path, client: Callable[[str], str]
) -> None:
    def judge(messages: object) -> str:
        return client(url)

    with playing(lambda c, _: c.sendall(response(b" " * 2001))) as url:
        spec = declared_judge("mine", judge, max_body_bytes=2000, timeout_s=20)
        (answer,) = _ask(loop, spec, tmp_path / "c.jsonl")
        assert _reason(answer) == "a body is larger than max_body_bytes = 2000, on the wire"
        fits = declared_judge("fits", judge, max_body_bytes=2001, timeout_s=20)
        assert _ask(loop, fits, tmp_path / "d.jsonl")[0].reply == Reply(" " * 2001)


def test_a_function_returns_no_more_than_its_limit(
    loop: AskingLoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judge(messages: object) -> str:
        return "\x01" * 2000

    (answer,) = _ask(loop, declared_judge("long", judge, max_body_bytes=1999), tmp_path / "c.jsonl")
    assert _reason(answer) == "a body is larger than max_body_bytes = 1999, returned"
    # It fits, and its line would not: each character is written as six.
    monkeypatch.setenv("JUDGESENSE_LIMITS", "line_bytes=12000")
    (answer,) = _ask(loop, declared_judge("fits", judge, max_body_bytes=2000), tmp_path / "d.jsonl")
    assert "is too long for a line" in _reason(answer)
    assert requests_in(tmp_path / "d.jsonl") == []


# --- what is no answer ---------------------------------------------------------------------------


@pytest.mark.parametrize("busy", [False, True], ids=["the loop waits", "the loop is busy"])
def test_an_answer_that_nobody_asked_for_never_answers_the_next_question(
    loop: AskingLoop, tmp_path: Path, *, busy: bool
) -> None:
    def says(text: str) -> bytes:
        return response(json.dumps({"choices": [{"message": {"content": text}}]}).encode())

    sent = threading.Event()

    def play(connection: socket.socket, before: int) -> None:
        connection.sendall(says(f"answer {before}"))
        if before == 0:
            time.sleep(0.1)  # the first answer is read, and its connection kept
            connection.sendall(says("unasked"))
            sent.set()

    path = tmp_path / "c.jsonl"
    tape = RecordingCassette(path)

    async def asking(spec: JudgeSpec) -> list[Answer]:
        import asyncio

        async with open_client(spec, tape, concurrency=1) as client:
            first = await client.ask("s/1", [{"role": "user", "content": "one"}])
            if busy:  # it has read nothing of what has come when the next question goes out
                sent.wait(10)
                time.sleep(0.1)  # noqa: ASYNC251
            else:
                await asyncio.to_thread(sent.wait, 10)
                await asyncio.sleep(0.1)
            return [first, await client.ask("s/2", [{"role": "user", "content": "two"}])]

    with playing(play) as url:
        answers = loop.run(asking(_openai(url)))
    assert [answer.reply for answer in answers] == [Reply("answer 0"), Reply("answer 1")]


def test_an_endpoint_that_speaks_before_it_is_asked_is_not_connected_to_for_ever(
    loop: AskingLoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    greeted: list[socket.socket] = []
    connected: list[socket.socket] = []
    connect = SelectorEventLoop.sock_connect

    def greet(connection: socket.socket) -> None:
        connection.sendall(b"220 mail.example ESMTP\r\n")
        greeted.append(connection)

    async def connect_and_be_greeted(loop: Any, sock: socket.socket, address: object) -> None:
        await connect(loop, sock, address)  # type: ignore[arg-type]
        connected.append(sock)
        while len(greeted) < len(connected):  # the greeting comes before the request goes
            time.sleep(0.001)  # noqa: ASYNC251

    async def asking(spec: JudgeSpec) -> Answer:
        tape = RecordingCassette(tmp_path / "c.jsonl")
        async with open_client(spec, tape, concurrency=4) as client:
            return await client.ask("s/1", [{"role": "user", "content": "one"}])

    monkeypatch.setattr(SelectorEventLoop, "sock_connect", connect_and_be_greeted)
    with playing(lambda *_: None, greet) as url:
        answer = loop.run(asking(_openai(url, timeout_s=3)))
    assert answer.reply == Failed("the endpoint speaks before it is asked")
    assert len(greeted) == 5  # each of four connections may have been kept; the fifth is new


@pytest.mark.parametrize("provider", [OPENAI, ANTHROPIC], ids=["openai", "anthropic"])
def test_a_part_of_a_response_is_no_reply(provider: Any) -> None:
    body = '{"choices": [{"message": {"content": "YES"}}], "content": [{"text": "YES"}]}'
    assert isinstance(provider.read(200, body), Reply)
    assert provider.read(206, body) == Failed(
        "a partial response (HTTP 206) to a request for a whole one"
    )


@pytest.mark.parametrize(
    ("count", "kept"),
    [
        *(("0", 0), ("7", 7), ("1000000000", 10**9), ("-1", None), ("1000000001", None)),
        *(("1e400", None), ("1.5", None), ("true", None), ('"7"', None), ("9" * 400, None)),
    ],
)
def test_a_count_of_tokens_that_no_call_can_have_counts_as_not_said(
    count: str, kept: int | None
) -> None:
    usage = f'{{"prompt_tokens": {count}, "completion_tokens": 3}}'
    reply = OPENAI.read(
        200, f'{{"choices": [{{"message": {{"content": "Y"}}}}], "usage": {usage}}}'
    )
    assert isinstance(reply, Reply)
    assert reply.usage == Usage(kept, 3)
