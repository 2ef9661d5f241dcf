"""What clients raise where no answer comes, as a cassette names it, and the same again."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import Callable
from http.client import RemoteDisconnected
from typing import Any
from unittest import mock
from urllib.error import URLError

import aiohttp
import httpx
import pytest
import requests
import urllib3

from pytest_judgesense.cassettes import failures

URL = "http://127.0.0.1:9/v1/chat"
REFUSED = ConnectionRefusedError(errno.ECONNREFUSED, "refused")


def _unreachable() -> int:
    """A port of this machine at which nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
    return port


def _by_urllib3(url: str) -> None:
    urllib3.PoolManager().request("GET", url, retries=False, timeout=5)


def _by_retrying_urllib3(url: str) -> None:
    urllib3.PoolManager().request("GET", url, retries=0, timeout=5)


async def _asked_by_aiohttp(url: str) -> None:
    async with aiohttp.ClientSession() as session, session.get(url):
        pass


def _raised(call: Callable[[str], Any], url: str) -> Exception:
    with pytest.raises(Exception) as caught:
        call(url)
    return caught.value


@pytest.mark.parametrize(
    ("client", "call"),
    [
        ("httpx", lambda url: httpx.get(url, timeout=5)),
        ("aiohttp", lambda url: asyncio.run(_asked_by_aiohttp(url))),
        ("urllib3", _by_urllib3),
        ("urllib3", _by_retrying_urllib3),
    ],
)
def test_what_a_client_raises_for_a_closed_port_is_raised_again(
    client: str, call: Callable[[str], Any]
) -> None:
    url = f"http://127.0.0.1:{_unreachable()}/"
    live = _raised(call, url)
    again = failures.again(client, failures.name_of(client, live), str(live), url)
    assert type(again) is type(live)
    # requests looks at what stands behind it.
    assert type(getattr(again, "reason", None)) is type(getattr(live, "reason", None))


@pytest.mark.parametrize(
    ("client", "error", "names"),
    [
        ("httpx", httpx.ReadTimeout("slow"), "httpx.ReadTimeout"),
        ("httpx", httpx.RemoteProtocolError("cut"), "httpx.RemoteProtocolError"),
        ("aiohttp", aiohttp.ServerDisconnectedError(), "aiohttp.ServerDisconnectedError"),
        ("aiohttp", TimeoutError(), "socket.TimeoutError"),
        ("aiohttp", aiohttp.ClientPayloadError("cut"), "aiohttp.ClientPayloadError"),
        ("urllib", URLError(REFUSED), "urllib.URLError socket.ConnectionRefusedError"),
        ("urllib", RemoteDisconnected("gone"), "socket.RemoteDisconnected"),
        ("urllib", ssl.SSLCertVerificationError(1, "x"), "socket.SSLCertVerificationError"),
    ],
)
def test_an_exception_has_a_name_and_is_the_same_again(
    client: str, error: Exception, names: str
) -> None:
    assert failures.name_of(client, error) == names
    again = failures.again(client, names, "the reason", URL)
    assert type(again) is type(error)


def test_requests_makes_of_it_what_it_made_live() -> None:
    # Its adapter reads urllib3's error: a closed port is a ConnectionError, live and again.
    url = f"http://127.0.0.1:{_unreachable()}/"
    with pytest.raises(requests.ConnectionError) as live:
        requests.get(url, timeout=5)
    behind = live.value.args[0]
    names = failures.name_of("urllib3", behind)
    assert names == "urllib3.MaxRetryError urllib3.NewConnectionError"
    again = failures.again("urllib3", names, str(behind), url)
    with (
        mock.patch("urllib3.HTTPConnectionPool.urlopen", side_effect=again),
        pytest.raises(requests.ConnectionError) as replayed,
    ):
        requests.get(url, timeout=5)
    assert type(replayed.value) is type(live.value)


def test_retries_that_a_status_has_used_up_are_a_retry_error_of_requests_again() -> None:
    # `Retry(status_forcelist=[503])` gives up on what the server said, not on a connection.
    behind = urllib3.exceptions.ResponseError("too many 503 error responses")
    error = urllib3.exceptions.MaxRetryError(None, URL, behind)  # type: ignore[arg-type]
    names = failures.name_of("urllib3", error)
    again = failures.again("urllib3", names, str(error), URL)
    with (
        mock.patch("urllib3.HTTPConnectionPool.urlopen", side_effect=again),
        pytest.raises(requests.exceptions.RetryError),
    ):
        requests.get(URL, timeout=5)


@pytest.mark.parametrize(
    ("client", "general"),
    [
        ("httpx", httpx.TransportError),
        ("aiohttp", aiohttp.ClientConnectionError),
        ("urllib3", urllib3.exceptions.HTTPError),
        ("urllib", URLError),
        ("a client that nobody knows", OSError),
    ],
)
@pytest.mark.parametrize("name", ["os.system", "httpx.Client", "builtins.SystemExit", "x" * 99, ""])
def test_a_name_of_a_cassette_is_looked_up_nowhere(
    client: str, general: type[Exception], name: str
) -> None:
    assert type(failures.again(client, name, "the reason", URL)) is general


def test_another_client_raises_its_own_error_of_transport() -> None:
    # Recorded with httpx, replayed with requests since: what it knows of is its own.
    again = failures.again("urllib3", "httpx.ConnectTimeout", "the reason", URL)
    assert type(again) is urllib3.exceptions.HTTPError
