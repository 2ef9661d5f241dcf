"""The tape under real clients: recorded from a real endpoint, replayed without it."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import logging
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import pytest
import requests
import urllib3
import vcr

from pytest_judgesense.cassettes.cassette import Cassette
from pytest_judgesense.cassettes.interception import intercepting
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.cassettes.writing import RecordingCassette
from pytest_judgesense.errors import MissingRecording, NetworkRefused, StaleRecording

from .endpoint import Endpoint

OpenCassette = Callable[..., Cassette]
Ask = Callable[[str, str], object]


def _httpx(url: str, prompt: str) -> object:
    with httpx.Client(follow_redirects=True) as client:
        return client.post(url, json={"prompt": prompt}).raise_for_status().json()


def _httpx_async(url: str, prompt: str) -> object:
    async def ask() -> object:
        async with httpx.AsyncClient(follow_redirects=True) as client:
            return (await client.post(url, json={"prompt": prompt})).raise_for_status().json()

    return asyncio.run(ask())


def _requests(url: str, prompt: str) -> object:
    with requests.Session() as session:
        response = session.post(url, json={"prompt": prompt}, timeout=10)
        response.raise_for_status()
        return response.json()


def _urllib3(url: str, prompt: str) -> object:
    with urllib3.PoolManager() as pool:
        response = pool.request("POST", url, json={"prompt": prompt})
        assert response.status == 200
        return response.json()


def _urllib3_by_pieces(url: str, prompt: str) -> object:
    with urllib3.PoolManager() as pool:
        body = json.dumps({"prompt": prompt})
        response = pool.request("POST", url, body=body, preload_content=False)
        return json.loads(b"".join(response.stream(7)))


def _aiohttp(url: str, prompt: str) -> object:
    aiohttp = pytest.importorskip("aiohttp")

    async def ask() -> object:
        base, _, path = url.rpartition("/")
        async with (
            aiohttp.ClientSession(base, raise_for_status=True) as session,
            session.post(f"/{path}", json={"prompt": prompt}) as response,
        ):
            return await response.json()

    return asyncio.run(ask())


def _urllib(url: str, prompt: str) -> object:
    data = json.dumps({"prompt": prompt}).encode()
    asked = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(asked, timeout=10) as response:
            content = response.read()
            packed = response.headers.get("Content-Encoding") == "gzip"
    except urllib.error.HTTPError as moved:
        # By itself it follows no 307 of a POST.
        with moved:
            return _urllib(urllib.parse.urljoin(url, moved.headers["Location"]), prompt)
    return json.loads(gzip.decompress(content) if packed else content)


CLIENTS = [_httpx, _httpx_async, _requests, _urllib3, _urllib3_by_pieces, _aiohttp, _urllib]


@contextmanager
def asking(tape: Cassette, trial: str) -> Iterator[None]:
    with intercepting(tape), tape.trial(trial) as scope:
        yield
    assert scope.error is None
    assert scope.intercepted >= 1


@pytest.mark.parametrize("path", ["/chat", "/gzip", "/moved"])
@pytest.mark.parametrize("ask", CLIENTS)
def test_a_recording_answers_as_the_endpoint_did(
    ask: Ask, path: str, endpoint: Endpoint, open_cassette: OpenCassette
) -> None:
    recording = open_cassette("record")
    with asking(recording, "one"):
        live = ask(endpoint.url + path, "Is it? é\n")
    recording.finish(["one"])
    hits = endpoint.hits
    assert hits == (2 if path == "/moved" else 1)
    with asking(open_cassette("replay"), "one"):
        assert ask(endpoint.url + path, "Is it? é\n") == live
    assert endpoint.hits == hits
    last = read_exchanges(recording.path)[-1]
    # Text, whatever the encoding on the wire, and what was sent is what is recorded.
    assert json.loads(last.response.body) == live
    assert last.request.url == "http://127.0.0.1" + ("/chat" if path == "/moved" else path)
    assert "content-encoding" not in last.response.headers


@pytest.mark.parametrize("ask", [_httpx, _requests, _urllib3, _urllib, _aiohttp])
def test_clients_share_a_recording(
    ask: Ask, endpoint: Endpoint, open_cassette: OpenCassette
) -> None:
    with asking(open_cassette("record"), "one"):
        live = _httpx(f"{endpoint.url}/chat", "p")
    with asking(open_cassette("replay"), "one"):
        assert ask(f"{endpoint.url}/chat", "p") == live
    assert endpoint.hits == 1


def test_the_direct_way_and_the_way_through_a_client_give_the_same(
    endpoint: Endpoint, open_cassette: OpenCassette
) -> None:
    with asking(open_cassette("record"), "one"):
        _httpx(f"{endpoint.url}/gzip", "p")
    tape = open_cassette("replay")
    with tape.trial("one") as scope:
        # The keys in another order, spaces, and bytes: the same request.
        direct = tape.find(scope, "post", "http://127.0.0.1:1/gzip", b'{ "prompt" : "p" }')
    with asking(tape, "one"):
        assert _httpx(f"{endpoint.url}/gzip", "p") == json.loads(direct.response.body)


def test_identical_bodies_of_concurrent_trials_do_not_cross(
    endpoint: Endpoint, open_cassette: OpenCassette
) -> None:
    trials = [f"t{number}" for number in range(40)]

    async def ask_all(tape: Cassette) -> list[int]:
        async with httpx.AsyncClient() as client:

            async def ask(trial: str) -> int:
                with tape.trial(trial):
                    response = await client.post(f"{endpoint.url}/chat", json={"prompt": "same"})
                    return int(response.json()["serial"])

            with intercepting(tape):
                return await asyncio.gather(*map(ask, trials))

    recording = open_cassette("record")
    live = asyncio.run(ask_all(recording))
    assert sorted(live) == list(range(1, 41))  # each request has got an answer of its own
    recording.finish(trials)
    assert asyncio.run(ask_all(open_cassette("replay"))) == live
    assert endpoint.hits == 40


@pytest.mark.parametrize("ask", [_requests, _urllib3, _urllib])
def test_threads_record_every_call_and_replay_without_reaching_the_endpoint(
    ask: Ask, endpoint: Endpoint, open_cassette: OpenCassette
) -> None:
    trials = [f"t{number}" for number in range(96)]

    def ask_all(tape: Cassette) -> list[object]:
        def in_trial(trial: str) -> object:
            with tape.trial(trial):
                return ask(f"{endpoint.url}/chat", "same")

        with intercepting(tape), ThreadPoolExecutor(32) as pool:
            return list(pool.map(in_trial, trials))

    recording = open_cassette("record")
    live = ask_all(recording)
    assert endpoint.hits == len(read_exchanges(recording.path)) == 96
    assert ask_all(open_cassette("replay")) == live
    assert endpoint.hits == 96


def test_threads_that_a_judge_starts_belong_to_its_trial(
    endpoint: Endpoint, open_cassette: OpenCassette
) -> None:
    def ask(tape: Cassette) -> list[object]:
        answers: list[object] = []

        def in_thread() -> None:
            answers.append(_requests(f"{endpoint.url}/chat", "p"))

        with asking(tape, "one"):
            thread = threading.Thread(target=in_thread)
            thread.start()
            thread.join()
            with ThreadPoolExecutor(1) as pool:
                answers.append(pool.submit(_httpx, f"{endpoint.url}/chat", "q").result())
        return answers

    live = ask(open_cassette("record"))
    assert ask(open_cassette("replay")) == live
    assert endpoint.hits == 2


def test_streams_are_recorded_whole_and_replayed(
    endpoint: Endpoint, open_cassette: OpenCassette
) -> None:
    def events(tape: Cassette) -> list[str]:
        with (
            asking(tape, "one"),
            httpx.stream("POST", f"{endpoint.url}/stream", json={"prompt": "p"}) as response,
        ):
            assert response.headers["content-type"] == "text/event-stream"
            return [line for line in response.iter_lines() if line]

    assert events(open_cassette("record")) == ["data: one", "data: two"]
    assert events(open_cassette("replay")) == ["data: one", "data: two"]
    assert endpoint.hits == 1


def test_bytes_that_are_not_utf8_come_back_as_they_were(
    endpoint: Endpoint, open_cassette: OpenCassette
) -> None:
    for mode in ("record", "replay"):
        with asking(open_cassette(mode), "one"):
            response = httpx.post(f"{endpoint.url}/latin", json={"prompt": "p"})
        assert response.text == "café"
    assert endpoint.hits == 1


def test_a_changed_prompt_is_remembered_though_the_judge_swallows_the_error(
    endpoint: Endpoint, open_cassette: OpenCassette
) -> None:
    with asking(open_cassette("record"), "one"):
        _httpx(f"{endpoint.url}/chat", "Answer YES or NO.")
    tape = open_cassette("replay")
    with intercepting(tape), tape.trial("one") as scope:
        for _ in range(2):  # as an SDK retries
            with pytest.raises((StaleRecording, MissingRecording)):
                _httpx(f"{endpoint.url}/chat", "Answer yes or no.")
    assert isinstance(scope.error, StaleRecording)
    assert '-prompt: "Answer YES or NO."' in scope.error.found
    assert '+prompt: "Answer yes or no."' in scope.error.found
    assert endpoint.hits == 1


@pytest.mark.parametrize("ask", CLIENTS)
def test_what_is_not_recorded_is_an_error_and_no_call(
    ask: Ask, endpoint: Endpoint, open_cassette: OpenCassette
) -> None:
    tape = open_cassette("replay")
    with intercepting(tape), tape.trial("one") as scope, pytest.raises(MissingRecording):
        ask(f"{endpoint.url}/chat", "p")
    assert isinstance(scope.error, MissingRecording)
    assert endpoint.hits == 0


def test_a_recorded_failure_does_not_make_the_client_wait(
    endpoint: Endpoint, open_cassette: OpenCassette
) -> None:
    endpoint.failures = 1
    headers = []
    for mode in ("record", "replay"):
        with asking(open_cassette(mode), "one"):
            response = httpx.post(f"{endpoint.url}/flaky", json={"prompt": "p"})
        assert response.status_code == 500
        headers.append(response.headers.get("retry-after"))
    assert headers == ["30", None]


def test_bare_http_client_is_refused_while_replaying(
    endpoint: Endpoint, open_cassette: OpenCassette
) -> None:
    tape = open_cassette("replay")
    with intercepting(tape), tape.trial("one") as scope, pytest.raises(NetworkRefused) as caught:
        http.client.HTTPConnection(endpoint.url.removeprefix("http://")).request("POST", "/chat")
    assert scope.error is caught.value
    assert "trial one" in caught.value.what
    assert endpoint.hits == 0


@pytest.mark.parametrize("mode", ["record", "replay"])
@pytest.mark.parametrize("ask", CLIENTS)
def test_calls_outside_a_trial_reach_the_endpoint_and_are_not_recorded(
    ask: Ask, mode: str, endpoint: Endpoint, open_cassette: OpenCassette
) -> None:
    tape = open_cassette(mode)
    with intercepting(tape):
        assert ask(f"{endpoint.url}/chat", "p") == {"reply": "p", "serial": 1}
    assert endpoint.hits == 1
    assert not tape.path.exists()


@pytest.mark.parametrize("ask", [_httpx, _aiohttp])
def test_calls_outside_a_trial_go_to_the_cassette_of_somebody_else(
    ask: Ask, endpoint: Endpoint, open_cassette: OpenCassette, tmp_path: object
) -> None:
    theirs = f"{tmp_path}/theirs.yaml"
    tape = open_cassette("record")
    with vcr.use_cassette(theirs):
        outside = ask(f"{endpoint.url}/chat", "theirs")
    with vcr.use_cassette(theirs, record_mode="none") as their_cassette, intercepting(tape):
        with tape.trial("one"):
            inside = ask(f"{endpoint.url}/chat", "ours")
        assert ask(f"{endpoint.url}/chat", "theirs") == outside
        assert their_cassette.play_count == 1
    assert inside == {"reply": "ours", "serial": 2}
    assert endpoint.hits == 2
    assert [line.trial for line in read_exchanges(tape.path)] == ["one"]


def test_nested_tapes_take_their_own_trials(endpoint: Endpoint, tmp_path: object) -> None:
    tapes = [RecordingCassette(tmp_path / f"{name}.jsonl") for name in "ab"]  # type: ignore[operator]
    with intercepting(tapes[0]), intercepting(tapes[1]):
        for tape, prompt in zip(tapes, "ab", strict=True):
            with tape.trial(f"trial {prompt}"):
                _httpx(f"{endpoint.url}/chat", prompt)
    for tape, prompt in zip(tapes, "ab", strict=True):
        assert [line.trial for line in read_exchanges(tape.path)] == [f"trial {prompt}"]


def test_the_retries_of_urllib3_itself_are_recorded_once(
    endpoint: Endpoint, open_cassette: OpenCassette
) -> None:
    endpoint.failures = 2
    retries = urllib3.Retry(
        status=3, status_forcelist=[500], allowed_methods=None, respect_retry_after_header=False
    )

    def ask() -> object:
        with urllib3.PoolManager(retries=retries) as pool:
            return pool.request("POST", f"{endpoint.url}/flaky", json={"prompt": "p"}).json()

    recording = open_cassette("record")
    with asking(recording, "one"):
        live = ask()
    assert endpoint.hits == 3
    assert [line.response.status for line in read_exchanges(recording.path)] == [200]
    with asking(open_cassette("replay"), "one"):
        assert ask() == live


def test_cookies_and_headers_reach_the_live_client(
    endpoint: Endpoint, open_cassette: OpenCassette
) -> None:
    with asking(open_cassette("record"), "one"), requests.Session() as session:
        session.post(f"{endpoint.url}/chat", json={"prompt": "p"}, timeout=10)
        assert session.cookies.get("session") == "hidden"


def test_a_thread_that_outlives_its_trial_records_nothing(
    endpoint: Endpoint, open_cassette: OpenCassette
) -> None:
    ended = threading.Event()

    def late() -> None:
        assert ended.wait(10)
        _httpx(f"{endpoint.url}/chat", "late")

    tape = open_cassette("record")
    with intercepting(tape):
        with tape.trial("one"):
            thread = threading.Thread(target=late)
            thread.start()
        ended.set()
        thread.join()
    assert endpoint.hits == 1
    assert not tape.path.exists()


@pytest.mark.parametrize("ask", [_httpx, _requests, _aiohttp])
def test_no_log_holds_a_request(
    ask: Ask, endpoint: Endpoint, open_cassette: OpenCassette, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, logger="vcr.cassette")
    for mode in ("record", "replay"):
        with asking(open_cassette(mode), "one"):
            ask(f"{endpoint.url}/chat?key=hidden", "prompt in no log")
    assert "127.0.0.1" not in caplog.text
    assert "prompt in no log" not in caplog.text
    _httpx(f"{endpoint.url}/chat", "p")
    assert "127.0.0.1" in caplog.text  # httpx is heard again


def test_everything_is_put_back(open_cassette: OpenCassette) -> None:
    def handlers() -> list[object]:
        return [
            httpx.HTTPTransport.handle_request,
            httpx.AsyncHTTPTransport.handle_async_request,
            urllib3.HTTPConnectionPool.urlopen,
            urllib.request.AbstractHTTPHandler.do_open,
            threading.Thread.start,
        ]

    before = handlers()
    with pytest.raises(KeyboardInterrupt), intercepting(open_cassette("replay")):
        assert all(now is not then for now, then in zip(handlers(), before, strict=True))
        raise KeyboardInterrupt
    assert handlers() == before


@pytest.mark.parametrize("ask", CLIENTS)
def test_texts_are_exchanged_in_what_is_sent_recorded_and_found(
    ask: Ask, endpoint: Endpoint, open_cassette: OpenCassette
) -> None:
    edits = (('Say "é"\n', ""),)

    def asked(tape: Cassette, prompt: str) -> tuple[object, set[str]]:
        with intercepting(tape), tape.trial("one") as scope:
            scope.edits = edits
            reply = ask(f"{endpoint.url}/echo", prompt)
        assert scope.error is None
        return reply, scope.exchanged

    recording = open_cassette("record")
    live, held = asked(recording, 'Say "é"\nIs it?')
    recording.finish(["one"])
    assert live == {"reply": "Is it?"}  # the endpoint repeats the prompt that has come
    assert held == {'Say "é"\n'}
    (exchange,) = read_exchanges(recording.path)
    assert json.loads(exchange.request.body) == {"prompt": "Is it?"}
    assert asked(open_cassette("replay"), 'Say "é"\nIs it?')[0] == live
    assert endpoint.hits == 1
    # A prompt without the text is sent as it is, and the scope knows that nothing was exchanged.
    assert asked(open_cassette("replay"), "Is it?") == (live, set())
