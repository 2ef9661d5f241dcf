from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pytest_judgesense.judges.providers.base import HttpRequest
from pytest_judgesense.judges.transport import Connections, Received
from tests.judges.raw import playing, response


class Heard:
    """What a server was asked: the targets, the headers, and the most calls at once."""

    def __init__(self) -> None:
        self.targets: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.connections: set[tuple[str, int]] = set()
        self.together = threading.Barrier(4, timeout=20)


@contextmanager
def served(*, wait_for_all: bool = False) -> Iterator[tuple[str, Heard]]:
    heard = Heard()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            heard.targets.append(self.path)
            heard.headers.append({name.lower(): value for name, value in self.headers.items()})
            heard.connections.add(self.client_address)
            if wait_for_all:
                heard.together.wait()
            self.send_response(200)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        do_GET = do_POST  # noqa: N815 - http.server's name

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", heard
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def send(base: str, url: str, *, concurrency: int, calls: int) -> list[Received]:
    async def all_of_them() -> list[Received]:
        async with Connections(concurrency, base, 30.0) as connections:
            asked = HttpRequest("POST", url, {"Content-Type": "application/json"}, b"{}")
            return await asyncio.gather(*(connections.send(asked) for _ in range(calls)))

    return asyncio.run(all_of_them())


def test_as_many_calls_are_under_way_as_the_concurrency_says() -> None:
    # The server answers none of the four before all have come.
    with served(wait_for_all=True) as (base, heard):
        responses = send(base, f"{base}/v1", concurrency=4, calls=4)
    assert [response.content for response in responses] == [b"{}"] * 4
    assert len(heard.connections) == 4


def test_calls_beyond_the_concurrency_share_its_connections() -> None:
    with served() as (base, heard):
        assert len(send(base, f"{base}/v1", concurrency=2, calls=6)) == 6
    assert len(heard.connections) == 2


def test_the_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with served() as (proxy, heard):
        monkeypatch.setenv("http_proxy", proxy)
        monkeypatch.delenv("no_proxy", raising=False)
        # A name that leads nowhere: only the proxy can answer. A proxy is asked for whole URLs.
        send("http://judge.invalid/v1", "http://judge.invalid/v1/x", concurrency=1, calls=1)
    assert heard.targets == ["http://judge.invalid/v1/x"]


def test_hosts_that_need_no_proxy_are_asked_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    with served() as (base, heard), served() as (proxy, unheard):
        monkeypatch.setenv("http_proxy", proxy)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        send(base, f"{base}/v1", concurrency=1, calls=1)
    assert (heard.targets, unheard.targets) == (["/v1"], [])


def test_a_request_says_who_asks_and_keeps_its_own_headers() -> None:
    with served() as (base, heard):
        send(base, f"{base}/v1", concurrency=1, calls=1)
    assert heard.headers[0]["user-agent"].startswith("pytest-judgesense/")
    assert heard.headers[0]["content-type"] == "application/json"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_key_follows_no_redirect(status: int) -> None:
    with served() as (elsewhere, heard):
        moved = response(b"", f"Location: {elsewhere}/v1", status=f"{status} Moved")
        with playing(lambda connection, _: connection.sendall(moved)) as base:
            (received,) = send(base, f"{base}/chat", concurrency=1, calls=1)
    assert received.status == status
    assert heard.targets == []
