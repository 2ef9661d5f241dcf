"""The embedded judge over real HTTP on 127.0.0.1, in both wire formats."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import httpx
import pytest

from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.simulated.endpoint import (
    EmbeddedServer,
    _Handler,
    _tool_input,
    answer,
    serving,
)
from pytest_judgesense.judges.simulated.named_observers import PROFILES, Observer, observer_named
from tests.shipped import CASSETTES
from tests.suites.known import builtin_suites

PROMPT = (
    "<task>\nGreet.\nRequired elements:\n1. friendly hello\n</task>\n\n"
    "<response_a>\nA friendly hello to you.\n</response_a>\n\n<response_b>\nGo.\n</response_b>\n\n"
    "Which is better? Reply with A or B."
)
SYSTEM = "You compare responses."


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def client(server: EmbeddedServer) -> Iterator[httpx.Client]:
    root = server.base_url.removesuffix("/v1")
    with httpx.Client(base_url=root, timeout=10) as running:
        yield running


def _openai(**changes: Any) -> dict[str, Any]:
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": PROMPT}]
    return {"model": "clean", "messages": messages, "temperature": 0.0, **changes}


def _anthropic(**changes: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": PROMPT}]
    return {"model": "clean", "system": SYSTEM, "messages": messages, "max_tokens": 16, **changes}


def test_it_listens_on_this_machine_alone(server: EmbeddedServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert server.base_url == f"http://127.0.0.1:{server.server_address[1]}/v1"


def test_the_openai_format(client: httpx.Client) -> None:
    response = client.post("/v1/chat/completions", json=_openai())
    body = response.json()
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    assert body["object"] == "chat.completion"
    assert body["choices"] == [
        {"index": 0, "message": {"role": "assistant", "content": "A"}, "finish_reason": "stop"}
    ]
    # Tokens are words: of system prompt and user turn, and of the reply.
    words = len(SYSTEM.split()) + len(PROMPT.split())
    assert body["usage"] == {"prompt_tokens": words, "completion_tokens": 1}


def test_it_counts_all_tokens_together_where_that_is_wanted() -> None:
    with EmbeddedServer(totals=True) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            root = server.base_url.removesuffix("/v1")
            chat = httpx.post(f"{root}/v1/chat/completions", json=_openai()).json()
            other = httpx.post(f"{root}/v1/messages", json=_anthropic()).json()
        finally:
            server.shutdown()
            thread.join()
    words = len(SYSTEM.split()) + len(PROMPT.split())
    assert chat["usage"]["total_tokens"] == words + 1
    # Anthropic's form has no such number.
    assert set(other["usage"]) == {"input_tokens", "output_tokens"}


def test_the_anthropic_format(client: httpx.Client) -> None:
    response = client.post("/v1/messages", json=_anthropic())
    body = response.json()
    assert response.status_code == 200
    assert (body["type"], body["role"], body["stop_reason"]) == ("message", "assistant", "end_turn")
    assert body["content"] == [{"type": "text", "text": "A"}]
    words = len(SYSTEM.split()) + len(PROMPT.split())
    assert body["usage"] == {"input_tokens": words, "output_tokens": 1}


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
def test_a_reply_names_the_embedded_judge_as_its_origin(client: httpx.Client, path: str) -> None:
    # No recording of it may pass for one of a language model.
    body = client.post(path, json=_openai()).json()
    assert body["model"] == "judgesense-embedded:clean"
    assert "embedded judge, no model" in body.values()


def test_both_formats_bring_the_same_prompt_to_the_observer(client: httpx.Client) -> None:
    for profile in PROFILES:
        openai = client.post("/v1/chat/completions", json=_openai(model=profile)).json()
        anthropic = client.post("/v1/messages", json=_anthropic(model=profile)).json()
        assert openai["choices"][0]["message"]["content"] == anthropic["content"][0]["text"]


def test_content_may_come_in_parts(client: httpx.Client) -> None:
    parts = [{"type": "text", "text": PROMPT[:80]}, {"type": "text", "text": PROMPT[80:]}]
    whole = client.post("/v1/messages", json=_anthropic()).json()
    split = client.post(
        "/v1/messages", json=_anthropic(messages=[{"role": "user", "content": parts}])
    ).json()
    assert split["content"] == whole["content"]
    assert split["usage"] == whole["usage"]


def test_equal_requests_get_equal_bytes(client: httpx.Client) -> None:
    first, again = (client.post("/v1/chat/completions", json=_openai(seed=1)) for _ in range(2))
    assert first.content == again.content


def test_the_seed_and_the_temperature_of_the_request_reach_the_observer() -> None:
    seen = []

    class Curious(Observer):
        def reply(
            self,
            prompt: str,
            *,
            temperature: float = 0.0,
            seed: int = 0,
            permitted: tuple[str, ...] = (),
        ) -> str:
            seen.append((prompt, temperature, seed, permitted))
            return "A"

    with serving(find=Curious) as own:
        httpx.post(f"{own.base_url}/chat/completions", json=_openai(temperature=0.7, seed=9))
        httpx.post(f"{own.base_url}/chat/completions", json=_openai(temperature=None))
        schema = {"properties": {"verdict": {"type": "string", "enum": ["A", "B"]}}}
        form = {"type": "json_schema", "json_schema": {"schema": schema}}
        httpx.post(f"{own.base_url}/chat/completions", json=_openai(response_format=form))
    prompt = f"{SYSTEM}\n\n{PROMPT}"
    assert seen == [(prompt, 0.7, 9, ()), (prompt, 0.0, 0, ()), (prompt, 0.0, 0, ("A", "B"))]


def test_concurrent_requests_get_their_own_answers(client: httpx.Client) -> None:
    bodies = [_openai(model="noisy", temperature=1.0, seed=seed) for seed in range(48)]

    def ask(body: dict[str, Any]) -> bytes:
        return client.post("/v1/chat/completions", json=body).content

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(ask, bodies))
    assert [json.loads(found) for found in together] == [
        answer("/v1/chat/completions", body)[1] for body in bodies
    ]


@pytest.mark.parametrize(
    ("path", "content", "status"),
    [
        ("/v1/chat/completions", b"{", 400),
        ("/v1/chat/completions", b"\xff\xfe", 400),
        ("/v1/chat/completions", b"[]", 400),
        ("/v1/chat/completions", b"null", 400),
        ("/v1/chat/completions", b"[" * 100_000, 400),
        ("/v1/chat/completions", b"{}", 404),  # no such profile: no model is named
        ("/v1/completions", b"{}", 404),
        ("/", b"{}", 404),
    ],
)
def test_a_request_that_cannot_be_answered_gets_an_error_status(
    client: httpx.Client, path: str, content: bytes, status: int
) -> None:
    response = client.post(path, content=content)
    assert response.status_code == status
    assert response.json()["error"]["message"]


@pytest.mark.parametrize(
    "changes",
    [
        {"messages": ["text"]},
        {"messages": 5},
        {"temperature": "hot"},
        {"temperature": [1]},
        {"seed": "x"},
    ],
)
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
def test_a_wrong_field_is_a_bad_request(
    client: httpx.Client, path: str, changes: dict[str, Any]
) -> None:
    response = client.post(path, json=_openai(**changes))
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("number", ["NaN", "1e999"])
@pytest.mark.parametrize("field", ["temperature", "seed"])
def test_numbers_beyond_numbers_end_no_connection(
    client: httpx.Client, field: str, number: str
) -> None:
    content = json.dumps(_openai(**{field: 12345})).replace("12345", number)
    response = client.post("/v1/chat/completions", content=content)
    # An endless temperature is a uniform draw; the others are no numbers to draw with.
    assert response.status_code == (200 if (field, number) == ("temperature", "1e999") else 400)


def test_an_unknown_profile_is_not_found_and_the_valid_ones_are_listed(
    client: httpx.Client,
) -> None:
    response = client.post("/v1/chat/completions", json=_openai(model="gpt"))
    assert response.status_code == 404
    assert "clean, mixed, noisy, positional" in response.json()["error"]["message"]


def test_the_server_says_that_it_is_there(client: httpx.Client) -> None:
    assert client.get("/").json() == {"status": "ok", "origin": "embedded judge, no model"}


def _raw(server: EmbeddedServer, length: str) -> bytes:
    """The status line for a request that declares a length and sends no body."""
    request = f"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n"
    with socket.create_connection(server.server_address[:2], timeout=10) as connection:  # type: ignore[arg-type]
        connection.sendall(request.encode())
        return connection.makefile("rb").readline()


def test_a_body_that_is_too_large_is_refused_before_it_is_read(server: EmbeddedServer) -> None:
    assert b" 413 " in _raw(server, str(64 * 1024 * 1024 + 1))


@pytest.mark.parametrize("length", ["many", "-1"])
def test_a_length_that_is_none_is_a_bad_request(server: EmbeddedServer, length: str) -> None:
    assert b" 400 " in _raw(server, length)


def test_who_goes_away_before_the_answer_leaves_no_traceback(
    server: EmbeddedServer, client: httpx.Client, capfd: pytest.CaptureFixture[str]
) -> None:
    body = json.dumps(_openai()).encode()
    head = f"POST /v1/messages HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    for _ in range(20):
        with socket.create_connection(server.server_address[:2], timeout=10) as connection:  # type: ignore[arg-type]
            # Closed at once, so that whoever answers is told that nobody is there.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.sendall(head + body)
    assert client.post("/v1/chat/completions", json=_openai()).status_code == 200
    assert capfd.readouterr().err == ""


def test_a_fault_of_its_own_is_still_told(capfd: pytest.CaptureFixture[str]) -> None:
    def broken(_: str) -> Observer:
        raise KeyError("no profile at all")

    with serving(find=broken) as own, pytest.raises(httpx.RemoteProtocolError):
        httpx.post(f"{own.base_url}/chat/completions", json=_openai())
    assert "no profile at all" in capfd.readouterr().err


def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0 < _Handler.timeout <= 60
    monkeypatch.setattr(_Handler, "timeout", 0.2)
    with serving() as own:
        request = b"POST /v1/messages HTTP/1.1\r\nContent-Length: 100\r\n\r\n{"
        with socket.create_connection(own.server_address[:2], timeout=10) as connection:  # type: ignore[arg-type]
            connection.sendall(request)
            assert connection.recv(1) == b""  # closed from there


def test_after_the_block_nobody_listens() -> None:
    with serving() as own:
        address = own.server_address[:2]
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, timeout=10)  # type: ignore[arg-type]


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_it_answers_today_what_the_shipped_cassettes_hold(profile: str) -> None:
    # Equal requests, equal replies: on other days, in other processes, on other machines.
    exchanges = [
        exchange
        for suite in builtin_suites()
        for exchange in read_exchanges(CASSETTES / profile / f"{suite}.jsonl")[::10]
    ]
    assert len(exchanges) > 60
    find = partial(observer_named, skills=BUILT_IN.skills)
    for exchange in exchanges:
        assert answer("/v1/chat/completions", json.loads(exchange.request.body), find) == (
            exchange.response.status,
            json.loads(exchange.response.body),
        )


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "192.0.2.1", "localhost.evil.example", "[", "0.0.0.0", ""],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_page_that_names_this_machine_otherwise_is_not_answered(
    client: httpx.Client, host: str, method: str
) -> None:
    """A page of a browser reaches 127.0.0.1 under a name that it has pointed here."""
    answer = client.request(method, "/v1/chat/completions", json=_openai(), headers={"Host": host})
    assert answer.status_code == 421
    assert "choices" not in answer.json()


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8000", "127.0.0.1", "[::1]:80", "127.1.2.3"]
)
def test_the_names_of_this_machine_are_answered(client: httpx.Client, host: str) -> None:
    answer = client.post("/v1/chat/completions", json=_openai(), headers={"Host": host})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"verdict": "A"}', {"verdict": "A"}),
        ('It is {"verdict": "A"}.', {"verdict": "A"}),
        ("A", None),
        ("{A}", None),
    ],
)
def test_the_input_of_a_tool_is_the_object_of_the_reply(
    text: str, expected: dict[str, str] | None
) -> None:
    body = {"tool_choice": {"type": "tool", "name": "judge"}}
    used = _tool_input(body, text)
    assert (used and used["input"]) == expected
    assert _tool_input({}, text) is None
