"""What a client got is what is recorded, and what a replay gives it: clients against faults.

The server sends bytes as they are written here. Each client asks it without a cassette, with one
that records, and with one that replays: what it makes of the answer, a text or an error, is the
same.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import pytest
import requests
import urllib3

from pytest_judgesense.cassettes.bodies import encoded
from pytest_judgesense.cassettes.credentials import Credentials
from pytest_judgesense.cassettes.exchange import (
    Exchange,
    RecordedRequest,
    RecordedResponse,
    as_bytes,
)
from pytest_judgesense.cassettes.interception import intercepting
from pytest_judgesense.cassettes.old_secrets import check_cassettes
from pytest_judgesense.cassettes.replaying import ReplayingCassette
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.cassettes.writing import RecordingCassette
from tests.judges.raw import playing

VERDICT = {"verdict": "YES", "why": "caf\u00e9, " + "because " * 9}
JSON = json.dumps(VERDICT, ensure_ascii=False).encode()
PACKED = gzip.compress(JSON)
DEFLATED = zlib.compress(JSON)
_raw = zlib.compressobj(wbits=-zlib.MAX_WBITS)
UNWRAPPED = _raw.compress(JSON) + _raw.flush()


def _answer(
    body: bytes, encoding: str = "", kind: str = "application/json", *, announced: int = 0
) -> bytes:
    lines = ["HTTP/1.1 200 OK", f"Content-Type: {kind}", f"Content-Length: {len(body) + announced}"]
    lines += [f"Content-Encoding: {encoding}"] * bool(encoding) + ["Connection: close", "", ""]
    return "\r\n".join(lines).encode() + body


def _zstd(body: bytes) -> bytes:
    return encoded(body, "zstd") or b""


# The trailer of gzip is its last eight bytes: a checksum and a length.
FAULTS: dict[str, bytes] = {
    "plain": _answer(JSON),
    "identity": _answer(JSON, "identity"),
    "gzip": _answer(PACKED, "gzip"),
    "GZIP": _answer(PACKED, "GZIP"),
    "x-gzip": _answer(PACKED, "x-gzip"),
    "gzip without its trailer": _answer(PACKED[:-8], "gzip"),
    "gzip with a wrong checksum": _answer(PACKED[:-8] + bytes(8), "gzip"),
    "gzip with bytes behind it": _answer(PACKED + b"and more", "gzip"),
    "gzip that is cut off": _answer(PACKED[: len(PACKED) // 2], "gzip"),
    "gzip of two members": _answer(gzip.compress(JSON[:20]) + gzip.compress(JSON[20:]), "gzip"),
    "gzip and an empty member": _answer(PACKED + gzip.compress(b""), "gzip"),
    "gzip in gzip": _answer(gzip.compress(PACKED), "gzip, gzip"),
    "gzip in gzip, named once": _answer(gzip.compress(PACKED), "gzip"),
    "gzip in deflate": _answer(zlib.compress(PACKED), "gzip, deflate"),
    "gzip without a header": _answer(PACKED),
    "text as gzip": _answer(JSON, "gzip"),
    "no gzip": _answer(b"\xff\x00\x81" * 40, "gzip"),
    "deflate": _answer(DEFLATED, "deflate"),
    "deflate without a wrapper": _answer(UNWRAPPED, "deflate"),
    "deflate without its checksum": _answer(DEFLATED[:-4], "deflate"),
    "deflate that is cut off": _answer(DEFLATED[:-20], "deflate"),
    "zstd": _answer(_zstd(JSON), "zstd"),
    "zstd that is cut off": _answer(_zstd(JSON)[:-3], "zstd"),
    "br that is none": _answer(b"\xff\x00\x81" * 40, "br"),
    "compress": _answer(PACKED, "compress"),
    "text under a name that is no encoding": _answer(JSON, "utf-8"),
    "UTF-16": _answer(JSON.decode().encode("utf-16"), kind="application/json; charset=utf-16"),
    "Latin-1": _answer(JSON.decode().encode("latin-1"), kind="text/plain; charset=iso-8859-1"),
    "a charset that is none": _answer(JSON, kind="application/json; charset=klingon"),
    "no type of JSON": _answer(JSON, kind="text/plain"),
    "no text": _answer(JSON.replace(b"YES", b"\xff\xfe")),
    "with a mark of its order": _answer(b"\xef\xbb\xbf" + JSON),
    "empty": _answer(b""),
    "empty gzip": _answer(b"", "gzip"),
}
# Clients fail at these before they give out a body.
BROKEN: dict[str, bytes] = {
    "a body that breaks off": _answer(JSON, announced=9),
    "gzip that breaks off": _answer(PACKED, "gzip", announced=9),
}


def _httpx(url: str) -> str:
    return str(httpx.post(url, content=b"{}").json()["verdict"])


def _httpx_text(url: str) -> str:
    return httpx.post(url, content=b"{}").text


def _httpx_stream(url: str) -> str:
    with httpx.stream("POST", url, content=b"{}") as response:
        return str(json.loads(b"".join(response.iter_bytes()))["verdict"])


def _asynchronous_httpx(url: str) -> str:
    async def ask() -> str:
        async with httpx.AsyncClient() as client:
            return str((await client.post(url, content=b"{}")).json()["verdict"])

    return asyncio.run(ask())


def _requests(url: str) -> str:
    return str(requests.post(url, data=b"{}", timeout=10).json()["verdict"])


def _requests_text(url: str) -> str:
    return requests.post(url, data=b"{}", timeout=10).text


def _urllib3(url: str) -> str:
    return str(urllib3.request("POST", url, body=b"{}", retries=False).json()["verdict"])


def _urllib3_raw(url: str) -> str:
    response = urllib3.request(
        "POST", url, body=b"{}", retries=False, preload_content=False, decode_content=False
    )
    return str(json.loads(response.read())["verdict"])


def _urllib(url: str) -> str:
    with urllib.request.urlopen(url, b"{}", timeout=10) as response:
        return str(json.load(response)["verdict"])


def _urllib_gzip(url: str) -> str:
    with urllib.request.urlopen(url, b"{}", timeout=10) as response:
        return str(json.loads(gzip.decompress(response.read()))["verdict"])


def _aiohttp(url: str) -> str:
    async def ask() -> str:
        async with aiohttp.ClientSession() as session, session.post(url, data=b"{}") as response:
            return str((await response.json())["verdict"])

    return asyncio.run(ask())


def _aiohttp_text(url: str) -> str:
    async def ask() -> str:
        async with aiohttp.ClientSession() as session, session.post(url, data=b"{}") as response:
            return await response.text()

    return asyncio.run(ask())


def _aiohttp_raw(url: str) -> str:
    async def ask() -> str:
        async with (
            aiohttp.ClientSession(auto_decompress=False) as session,
            session.post(url, data=b"{}") as response,
        ):
            return str(json.loads(gzip.decompress(await response.read()))["verdict"])

    return asyncio.run(ask())


def _bedrock(url: str) -> Any:
    boto3, config = pytest.importorskip("boto3"), pytest.importorskip("botocore.config")
    return boto3.client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=url.rpartition("/v1")[0],
        aws_access_key_id="AKIA" + "A" * 16,
        aws_secret_access_key="a secret of boto3 that nobody has",
        config=config.Config(retries={"max_attempts": 0}),
    )


def _boto3(url: str) -> str:
    return str(json.load(_bedrock(url).invoke_model(modelId="m", body=b"{}")["body"])["verdict"])


def _boto3_whole(url: str) -> str:
    messages = [{"role": "user", "content": [{"text": "Is it?"}]}]
    response = _bedrock(url).converse(modelId="m", messages=messages)
    return repr(response["ResponseMetadata"]["HTTPStatusCode"])


Ask = Callable[[str], str]
CLIENTS: list[Ask] = [
    _httpx, _httpx_text, _httpx_stream, _asynchronous_httpx, _requests, _requests_text, _urllib3,
    _urllib3_raw, _urllib, _urllib_gzip, _aiohttp, _aiohttp_text, _aiohttp_raw, _boto3,
    _boto3_whole,
]  # fmt: skip
# In the gate: a way to read of each library, and the one that sees the bytes of the wire.
IN_GATE = {_httpx_text, _asynchronous_httpx, _requests, _urllib3_raw, _urllib, _aiohttp, _boto3}
# Code that decodes by itself is given the usual form of an encoding: its error names the bytes.
KNOWN: dict[Ask, set[str]] = {_aiohttp_raw: {"deflate without a wrapper"}}


@pytest.fixture
def endpoint() -> Iterator[tuple[str, list[bytes]]]:
    """The URL of a server, and the list whose last element it answers with."""
    answers: list[bytes] = []

    def play(connection: socket.socket, _: int) -> None:
        connection.sendall(answers[-1])
        with suppress(OSError):
            connection.shutdown(socket.SHUT_WR)

    with playing(play) as url:
        yield url, answers


def _outcome(ask: Ask, url: str) -> str:
    try:
        return f"text: {ask(url)}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _kind(outcome: str) -> str:
    return outcome if outcome.startswith("text: ") else outcome.partition(":")[0]


@pytest.mark.parametrize(
    "ask",
    [pytest.param(ask, marks=() if ask in IN_GATE else pytest.mark.long) for ask in CLIENTS],
)
def test_a_replay_gives_what_the_client_got(
    ask: Ask, endpoint: tuple[str, list[bytes]], tmp_path: Path
) -> None:
    url, answers = endpoint
    tape = RecordingCassette(tmp_path / "c.jsonl")
    live, replayed = {}, {}
    faults = {**FAULTS, **BROKEN}

    def outcome(fault: str) -> str:
        answers.append(faults[fault])
        return _outcome(ask, url)

    bare = {fault: outcome(fault) for fault in faults}
    with intercepting(tape):
        for fault in faults:
            with tape.trial(fault):
                live[fault] = outcome(fault)
    tape.finish(list(faults))
    replaying = ReplayingCassette(tmp_path / "c.jsonl")
    with intercepting(replaying):
        for fault in faults:
            with replaying.trial(fault):
                replayed[fault] = _outcome(ask, url)
    assert replaying.trials == live.keys()
    known = live.keys() - KNOWN.get(ask, set())
    # Of a failure the exception is the same; its words may name a port, or what stood behind it.
    assert {fault: _kind(replayed[fault]) for fault in known} == {
        fault: _kind(live[fault]) for fault in known
    }
    # Nothing that is read without a cassette is lost to it, but for what nobody can decode.
    readable = {f for f in bare if bare[f].startswith("text: ") and "\ufffd" not in bare[f]}
    assert {f: live[f] for f in readable} == {f: bare[f] for f in readable}
    silent = {f for f in bare if not bare[f].startswith("text: ")}
    assert not [f for f in silent if live[f].startswith("text: ") and "\ufffd" not in live[f]]


KEY = "Zq7-x/Rv3LmPw9kT2YbNc"
ECHO = json.dumps({"verdict": "YES", "echo": {"authorization": f"Bearer {KEY}"}}).encode()
ECHOES = {
    "gzip without its trailer": _answer(gzip.compress(ECHO)[:-8], "gzip"),
    "gzip with bytes behind it": _answer(gzip.compress(ECHO) + b"\xff\0\xff", "gzip"),
    "gzip that is cut off": _answer(gzip.compress(ECHO)[:-12], "gzip"),
    "gzip, the key in its second member": _answer(
        gzip.compress(b" ") + gzip.compress(ECHO), "gzip"
    ),
    "gzip in gzip, named once": _answer(gzip.compress(gzip.compress(ECHO)), "gzip"),
    "gzip without a header": _answer(gzip.compress(ECHO)),
    "deflate that is cut off": _answer(zlib.compress(ECHO)[:-6], "deflate"),
    "gzip in gzip": _answer(gzip.compress(gzip.compress(ECHO)), "gzip, gzip"),
    "zstd": _answer(_zstd(ECHO), "zstd"),
    "a wrong checksum": _answer(gzip.compress(ECHO)[:-8] + bytes(8), "gzip"),
    "a name that is no encoding": _answer(gzip.compress(ECHO), "compress"),
    "UTF-16": _answer(ECHO.decode().encode("utf-16"), kind="application/json; charset=utf-16"),
    "UTF-16 without a mark": _answer(ECHO.decode().encode("utf-16-be")),
    "UTF-32": _answer(ECHO.decode().encode("utf-32")),
}


def _all_that_is_packed(data: bytes) -> bytes:
    """``data`` and everything that any decoder of Python gets out of it, cut off or not."""
    found, seen = [data], b""
    while found:
        piece = found.pop()
        seen += piece + piece.replace(b"\0", b"")
        for bits in (zlib.MAX_WBITS | 16, zlib.MAX_WBITS, -zlib.MAX_WBITS):
            with suppress(zlib.error):
                if inner := zlib.decompressobj(bits).decompress(piece):
                    found.append(inner)
        with suppress(Exception):
            found.append(pytest.importorskip("zstandard").decompress(piece))
    return seen


@pytest.mark.parametrize("ask", [_httpx, _requests, _urllib, _aiohttp, _aiohttp_raw, _boto3])
def test_an_echoed_key_stays_in_no_encoding(
    ask: Ask, endpoint: tuple[str, list[bytes]], tmp_path: Path
) -> None:
    url, answers = endpoint
    path = tmp_path / "c.jsonl"
    tape = RecordingCassette(path, secrets=Credentials([("TOY_KEY", KEY)]))
    with intercepting(tape):
        for name, answer in ECHOES.items():
            answers.append(answer)
            with tape.trial(name):
                _outcome(ask, url)
    tape.finish(list(ECHOES))
    kept = {exchange.trial: as_bytes(exchange.response.body) for exchange in read_exchanges(path)}
    assert [name for name, body in kept.items() if KEY.encode() in _all_that_is_packed(body)] == []
    checked = check_cassettes([path], {"TOY_KEY": KEY})
    assert checked.faults == ()


@pytest.mark.parametrize("name", ECHOES)
def test_the_search_of_recordings_finds_a_key_that_an_encoding_hides(
    name: str, tmp_path: Path
) -> None:
    body = ECHOES[name].partition(b"\r\n\r\n")[2]
    if name == "a wrong checksum":
        pytest.skip("what is in it cannot be known to be in it")
    exchange = Exchange(
        "one",
        1,
        RecordedRequest("POST", "http://h/v1", "{}"),
        RecordedResponse(200, {}, body),
        "2026-01-31T12:00:00Z",
    )
    (tmp_path / "c.jsonl").write_text(exchange.to_line() + "\n")
    checked = check_cassettes([tmp_path / "c.jsonl"], {"TOY_KEY": KEY})
    assert [fault.kind for fault in checked.faults if fault.kind.startswith("response body: ")]
