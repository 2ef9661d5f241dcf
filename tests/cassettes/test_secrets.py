"""Secrets of every kind, planted in real traffic on 127.0.0.1, and the files searched for them."""

from __future__ import annotations

import base64
import gzip
import json
import re
import struct
import threading
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import httpx
import pytest
import requests

from pytest_judgesense.cassettes.credentials import (
    Credentials,
    environment_credentials,
    request_credentials,
    why_skipped,
)
from pytest_judgesense.cassettes.interception import intercepting
from pytest_judgesense.cassettes.opening import open_cassette
from pytest_judgesense.cassettes.redaction import REDACTED, redact_url, scrub_body
from pytest_judgesense.cassettes.replaying import ReplayingCassette
from pytest_judgesense.cassettes.shapes import BY_MARK, SHAPES
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.cassettes.writing import RecordingCassette

KEY = 'Zq7/x+"v3=LmPw 9&kT%2'  # of the environment: every character that some encoding changes
HIDDEN = "hQ5rVb81nXcW0yTd"  # known from the request alone
TELEGRAM = "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw7"
SHAPED = {
    "openai": "sk-proj-4fT9aKx03LmQz8Rv71YbNcWd",
    "anthropic": "sk-ant-api03-Kx7Rv2YbNc9WdLm4Qz8f",
    "aws": "AKIAQ3EGRT7HXN5PLK2M",
    "google": "AIzaSyB4f8Kx03LmQz8Rv71YbNcWdTgHjU5iO2p",
    "github": "ghp_4fT9aKx03LmQz8Rv71YbNcWd56UiOpAsDfGh",
    "hugging_face": "hf_KxRvYbNcWdLmQzTgHjUiOpAsDfGhJkZx1",
    "slack": "xoxb-123456789012-KxRvYbNcWdLmQzTg",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "telegram": TELEGRAM,
    "organisation": "org-Kx7Rv2YbNc9WdLm4Qz8fTgHj",
    "pem": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n-----END PRIVATE KEY-----",
}


@dataclass(frozen=True)
class Plant:
    """One request and its answer, with a secret in one of them.

    Attributes:
        hidden: what must stand in no file.
        name: what the file or the notice says instead; ``None`` where nothing has to.
    """

    hidden: str
    answer: bytes = b'{"reply": "YES"}'
    status: int = 200
    body: object = field(default_factory=lambda: {"prompt": "p"})
    headers: dict[str, str] = field(default_factory=dict)
    answer_headers: dict[str, str] = field(default_factory=dict)
    cookies: int = 0
    query: str = ""
    user: str = ""
    name: str | None = None


def _echo(text: str) -> bytes:
    return json.dumps({"error": {"message": f"wrong key {text}!"}}).encode()


def _sse(text: str, size: int) -> bytes:
    events = [
        {"id": "x", "choices": [{"index": i % 2, "delta": {"content": part}}]}
        for at in range(0, len(text), size)
        # A second choice is interleaved: pieces belong together by their number.
        for i, part in ((0, text[at : at + size]), (1, "no "))
    ]
    return (
        b"".join(b"data: " + json.dumps(e).encode() + b"\n\n" for e in events) + b"data: [DONE]\n"
    )


def _gemini(text: str, size: int) -> bytes:
    """A stream of Gemini's REST interface: one JSON list, two candidates interleaved."""
    events = [
        {
            "candidates": [
                {"content": {"parts": [{"text": text[at : at + size]}], "role": "model"}},
                {"content": {"parts": [{"text": "no "}], "role": "model"}, "index": 1},
            ]
        }
        for at in range(0, len(text), size)
    ]
    return (
        "[" + "\n,\r\n".join(json.dumps(event, indent=2) for event in events) + "\n]\n"
    ).encode()


def _content(text: str, size: int) -> dict[str, object]:
    """A message in parts, as of OpenAI and Anthropic."""
    parts = [text[at : at + size] for at in range(0, len(text), size)]
    return {"role": "user", "content": [{"type": "text", "text": part} for part in parts]}


def _frame(payload: dict[str, object]) -> bytes:
    """A frame as https://smithy.io/2.0/aws/amazon-eventstream.html lays it out."""
    name = b":event-type"
    # Name and value with their lengths; 7 is the type of a string.
    headers = bytes([len(name)]) + name + bytes([7]) + (5).to_bytes(2, "big") + b"chunk"
    data = json.dumps(payload).encode()
    head = struct.pack(">II", 16 + len(headers) + len(data), len(headers))
    frame = head + struct.pack(">I", zlib.crc32(head)) + headers + data
    return frame + struct.pack(">I", zlib.crc32(frame))


def _bedrock(text: str, size: int) -> bytes:
    """A reply of InvokeModelWithResponseStream: the model's events, in base64, in frames."""
    return b"".join(
        _frame({"bytes": _b64(json.dumps({"delta": {"text": text[at : at + size]}})), "p": "abc"})
        for at in range(0, len(text), size)
    )


def _converse(text: str, size: int) -> bytes:
    """A reply of ConverseStream: events of JSON in frames."""
    return b"".join(
        _frame({"contentBlockIndex": 0, "delta": {"text": text[at : at + size]}, "p": "abcd"})
        for at in range(0, len(text), size)
    )


def _events_of_frames(data: bytes) -> list[str]:
    """The events of a stream, every length and checksum verified."""
    events = []
    while data:
        size, of_headers, check = struct.unpack_from(">III", data)
        assert zlib.crc32(data[:8]) == check
        frame, data = data[:size], data[size:]
        assert struct.pack(">I", zlib.crc32(frame[:-4])) == frame[-4:]
        payload = json.loads(frame[12 + of_headers : -4])
        inner = payload.get("bytes")
        events.append(base64.b64decode(inner).decode() if inner else json.dumps(payload))
    return events


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, list | dict):
        for name, one in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(one, str):
                yield from [one] * (name == "text")
            else:
                yield from _texts(one)


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _percent(text: str) -> str:
    return "".join(f"%{ord(character):02x}" for character in text)


IN_ENV = {"name": "JUDGE_KEY"}
BEARER = {"Authorization": f"Bearer {HIDDEN}"}
PLANTS: dict[str, Plant] = {
    "bearer header": Plant(HIDDEN, headers=BEARER),
    "bearer echoed in an error": Plant(HIDDEN, _echo(HIDDEN), 401, headers=BEARER),
    "x-api-key echoed": Plant(HIDDEN, _echo(HIDDEN), headers={"X-Api-Key": HIDDEN}),
    "header of any name": Plant(HIDDEN, _echo(HIDDEN), headers={"X-Acme-Token": HIDDEN}),
    "cookie echoed": Plant(HIDDEN, _echo(HIDDEN), headers={"Cookie": f"a=b; sid={HIDDEN}"}),
    "set-cookie echoed": Plant(
        HIDDEN, _echo(HIDDEN), answer_headers={"Set-Cookie": f"sid={HIDDEN}; Path=/"}
    ),
    "query key": Plant(HIDDEN, _echo(HIDDEN), query=f"?key={HIDDEN}"),
    "query token, percent-encoded": Plant(
        "a/b c:d12", _echo("a/b c:d12"), query="?token=a%2Fb+c%3Ad12"
    ),
    "basic auth in the URL": Plant(HIDDEN, _echo(HIDDEN), user=f"me:{HIDDEN}@"),
    "basic auth echoed as it was sent": Plant(
        _b64(f"me:{HIDDEN}"), _echo(f"Basic {_b64(f'me:{HIDDEN}')}"), user=f"me:{HIDDEN}@"
    ),
    "organisation of a response header": Plant(
        "acme-research-17",
        _echo("acme-research-17"),
        answer_headers={"OpenAI-Organization": "acme-research-17"},
    ),
    "location": Plant(HIDDEN, answer_headers={"Location": f"/next?access_token={HIDDEN}"}),
    "JSON field": Plant(HIDDEN, body={"prompt": "p", "auth": {"api_key": HIDDEN}}),
    "JSON field of the answer": Plant(HIDDEN, json.dumps({"clientSecret": HIDDEN}).encode()),
    "form field": Plant(HIDDEN, body=f"prompt=p&client_secret={HIDDEN}"),
    "plain in the prompt": Plant(KEY, body={"prompt": f"my key is {KEY}."}, **IN_ENV),
    "JSON within JSON": Plant(KEY, body={"prompt": json.dumps({"x": KEY})}, **IN_ENV),
    "unicode escapes": Plant(
        KEY, ('{"a": "' + "".join(f"\\u{ord(c):04X}" for c in KEY) + '"}').encode(), **IN_ENV
    ),
    "percent-encoded": Plant(KEY, f"see {quote(KEY, safe='')}".encode(), **IN_ENV),
    "percent-encoded twice": Plant(KEY, quote(quote(KEY, safe="")).encode(), **IN_ENV),
    "in a URL's path": Plant(KEY, query=f"/{quote(KEY, safe='')}/x", **IN_ENV),
    "in a URL's path, by its shape": Plant(TELEGRAM, _echo(TELEGRAM), query=f"/bot{TELEGRAM}/ask"),
    "in a URL's path, by the name before it": Plant(
        HIDDEN, _echo(HIDDEN), query=f"/token/{HIDDEN}/chat"
    ),
    "in a URL's path, by a header": Plant(HIDDEN, query=f"/v1/{HIDDEN}/chat", headers=BEARER),
    "in a URL's path, a shape encoded": Plant(
        SHAPED["openai"], query=f"/v1/{_percent(SHAPED['openai'])}/chat"
    ),
    "in a URL's query, a shape encoded": Plant(
        SHAPED["openai"], query=f"?model=a%20b&by={_percent(SHAPED['openai'])}"
    ),
    "base64, first alignment": Plant(KEY, _echo(_b64(KEY + "1")), **IN_ENV),
    "base64, second alignment": Plant(KEY, _echo(_b64(f"u{KEY}12")), **IN_ENV),
    "base64, third alignment": Plant(KEY, _echo(_b64(f"u:{KEY}")), **IN_ENV),
    "base64 for URLs": Plant(KEY, base64.urlsafe_b64encode(f"ÿÿ{KEY}".encode()), **IN_ENV),
    "base64 in lines": Plant(KEY, base64.encodebytes(f"{'x' * 50}{KEY}".encode()), **IN_ENV),
    "hexadecimal": Plant(KEY, KEY.encode().hex().upper().encode(), **IN_ENV),
    "gzip": Plant(
        KEY, gzip.compress(_echo(KEY)), answer_headers={"Content-Encoding": "gzip"}, **IN_ENV
    ),
    "split over a stream": Plant(KEY, _sse(f"It is {KEY}, yes", 4), **IN_ENV),
    "split, a character each": Plant(KEY, _sse(KEY, 1), **IN_ENV),
    "base64 split over a stream": Plant(KEY, _sse(_b64(f"k {KEY}"), 5), **IN_ENV),
    "split over plain events": Plant(
        HIDDEN, f"data: {HIDDEN[:6]}\n\ndata: {HIDDEN[6:]}\n\n".encode(), headers=BEARER
    ),
    **{
        f"{what}, {size} characters each": Plant(secret, body=body, answer=answer)
        for size in (1, 5)
        for secret in (SHAPED["openai"],)
        for what, body, answer in (
            ("Gemini's list", {}, _gemini(f"It is {secret}, yes", size)),
            ("parts of a prompt", {"messages": [_content(f"It is {secret}.", size)]}, b"{}"),
            ("parts of a reply", {}, json.dumps(_content(f"It is {secret}.", size)).encode()),
            ("frames of Bedrock", {}, _bedrock(f"It is {secret}, yes", size)),
            ("frames of Converse", {}, _converse(f"It is {secret}, yes", size)),
        )
    },
    "a known value in frames": Plant(KEY, _bedrock(f"It is {KEY}, yes", 7), **IN_ENV),
    "a key within one frame": Plant(KEY, _bedrock(f"It is {KEY}, yes", 99), **IN_ENV),
    "a field within a frame": Plant(HIDDEN, _frame({"bytes": _b64(f'{{"api_key": "{HIDDEN}"}}')})),
    "escapes of one byte": Plant(
        KEY, ('{"a": "' + "".join(f"\\\\x{ord(c):02x}" for c in KEY) + '"}').encode(), **IN_ENV
    ),
    "escapes in braces": Plant(
        KEY, ('{"a": "' + "".join(f"\\\\u{{{ord(c):x}}}" for c in KEY) + '"}').encode(), **IN_ENV
    ),
    "bytes that are no text": Plant(KEY, b"\xff\xfe" + KEY.encode() + b"\xff", **IN_ENV),
    **{f"shape: {name}": Plant(text, _echo(text)) for name, text in SHAPED.items()},
}


class _Server(ThreadingHTTPServer):
    daemon_threads = True


@pytest.fixture
def serve() -> Iterator[Callable[[Plant], str]]:
    planted: list[Plant] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            plant = planted[-1]
            self.send_response(plant.status)
            for name, value in plant.answer_headers.items():
                self.send_header(name, value)
            for number in range(plant.cookies):
                self.send_header("Set-Cookie", f"c{number}=cookie-{number:064}")
            self.send_header("Content-Length", str(len(plant.answer)))
            self.end_headers()
            self.wfile.write(plant.answer)

        def log_message(self, *args: object) -> None:
            pass

    server = _Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()

    def started(plant: Plant) -> str:
        planted.append(plant)
        tail = plant.query if plant.query.startswith("/") else f"/v1{plant.query}"
        return f"http://{plant.user}127.0.0.1:{server.server_address[1]}{tail}"

    yield started
    server.shutdown()
    server.server_close()
    thread.join()


def _post(client: str, url: str, plant: Plant) -> None:
    data = plant.body if isinstance(plant.body, str) else json.dumps(plant.body)
    if client == "httpx":
        httpx.post(url, content=data, headers=plant.headers, follow_redirects=False)
    else:
        requests.post(url, data=data, headers=plant.headers, allow_redirects=False, timeout=10)


def _character(escape: re.Match[str]) -> str:
    return chr(int(escape[1] or escape[2], 16))


def _visible(text: str) -> str:
    """All that a reader could put together from a cassette: streams joined, encodings undone."""
    found = [text]
    for line in text.splitlines():
        entry = json.loads(line)
        found.append(unquote(entry["request"]["url"]))
        for body in (entry["request"]["body"], entry["response"]["body"]):
            if isinstance(body, dict):
                raw = base64.b64decode(body["base64"]).decode("latin-1")
            else:
                raw = body
            if raw.startswith("\0"):
                raw = "\n".join(_events_of_frames(raw.encode("latin-1")))
            found += [raw, re.sub(r"\\+x(..)|\\+u\{(..)\}", _character, raw)]
            try:
                documents = [json.loads(raw)]
            except ValueError:
                documents = [json.loads(one) for one in raw.splitlines() if one.startswith("{")]
            by_candidate = documents[0] if documents and isinstance(documents[0], list) else []
            found.append("".join(_texts(documents)))
            found.append("".join("".join(islice(_texts(one), 1)) for one in by_candidate))
            for choice in (0, 1):
                streamed = ""
                for event in raw.splitlines():
                    payload = event.removeprefix("data: ")
                    try:
                        part = json.loads(payload)["choices"][0]
                        streamed += part["delta"]["content"] if part["index"] == choice else ""
                    except (ValueError, KeyError, TypeError):
                        streamed += payload if event.startswith("data: ") else ""
                found.append(streamed)
    return "\n".join(found)


def _forms(secret: str) -> set[str]:
    """The secret in the forms that a search of files would try."""
    octets = secret.encode()
    inner = {
        base64.b64encode(b"x" * shift + octets).decode()[
            shift and shift + 1 : (shift + len(octets)) * 8 // 6
        ]
        for shift in range(3)
    }
    urlsafe = {text.replace("+", "-").replace("/", "_") for text in inner}
    return {
        secret, json.dumps(secret)[1:-1], json.dumps(json.dumps(secret)[1:-1])[1:-1],
        quote(secret, safe=""), octets.hex(), octets.hex().upper(), *inner, *urlsafe,
    }  # fmt: skip


@pytest.mark.parametrize("client", ["httpx", "requests"])
@pytest.mark.parametrize("kind", list(PLANTS))
def test_a_planted_secret_stands_in_no_file(
    kind: str, client: str, serve: Callable[[Plant], str], tmp_path: Path
) -> None:
    plant = PLANTS[kind]
    path = tmp_path / "judge" / "suite.jsonl"
    secrets = Credentials(environment_credentials({"JUDGE_KEY": KEY, "HOME": "/root"}))
    url = serve(plant)
    tape = RecordingCassette(path, secrets=secrets)
    with intercepting(tape), tape.trial("one"):
        _post(client, url, plant)
    journal = path.read_text(encoding="utf-8")
    tape.finish(["one"])
    for text in (journal, path.read_text(encoding="utf-8")):
        seen = _visible(text)
        compact = seen.replace("\n", "").replace("\\n", "")
        assert [f for f in _forms(plant.hidden) if f in seen or f in compact] == []
    if plant.name:
        assert plant.name in secrets.removed
        assert any(plant.name in notice for notice in tape.notices)
    # Whoever replays has no credential of the environment, and finds the recording all the same.
    replayed = ReplayingCassette(path)
    with intercepting(replayed), replayed.trial("one") as scope:
        _post(client, url, plant)
    assert scope.error is None
    assert scope.intercepted == 1


@pytest.mark.parametrize(
    ("path", "key", "another"),
    [
        ("/bot{}/ask", TELEGRAM, TELEGRAM.replace("H", "h")),
        ("/v1/{}/ask", KEY, "a key of another person"),
        ("/token/{}/ask", HIDDEN, "Xk4mPq9vTz2wRb7n"),
    ],
)
def test_who_has_another_key_in_the_path_finds_the_recording(
    path: str, key: str, another: str, serve: Callable[[Plant], str], tmp_path: Path
) -> None:
    for mode, secret in (("record", key), ("replay", another)):
        plant = Plant(secret, query=path.format(quote(secret, safe="")))
        known = Credentials([("JUDGE_KEY", KEY)] if mode == "record" else [])
        tape = open_cassette(tmp_path / "c.jsonl", mode, secrets=known)  # type: ignore[arg-type]
        url = serve(plant)
        with intercepting(tape), tape.trial("one") as scope:
            _post("httpx", url, plant)
        assert scope.error is None
        assert scope.made == (mode == "record")


def test_who_has_no_key_finds_a_prompt_in_parts(
    serve: Callable[[Plant], str], tmp_path: Path
) -> None:
    key = "Zq7-x_Rv3LmPw9kT2"
    plant = Plant(key, body={"messages": [_content(f"my key is {key}.", 12)]})
    url = serve(plant)
    for mode, known in (("record", [("JUDGE_KEY", key)]), ("replay", [])):
        tape = open_cassette(tmp_path / "c.jsonl", mode, secrets=Credentials(known))  # type: ignore[arg-type]
        with intercepting(tape), tape.trial("one") as scope:
            _post("httpx", url, plant)
        assert scope.error is None
    (exchange,) = read_exchanges(tmp_path / "c.jsonl")
    parts = json.loads(exchange.request.body)["messages"][0]["content"]
    # "my key is Zq", "7-x_Rv3LmPw9", "kT2."
    hidden = "[secret: JUDGE_KEY]"
    assert [part["text"] for part in parts] == [f"my key is {hidden}", hidden, f"{hidden}."]


def test_the_kinds_are_many() -> None:
    assert len(PLANTS) >= 20


def test_nothing_but_the_secret_is_changed_in_a_stream() -> None:
    stream = _sse(f"before {KEY} behind", 5).decode()
    clean, found = scrub_body(stream, {"JUDGE_KEY": KEY})
    assert found == {"JUDGE_KEY"}
    told = "".join(
        json.loads(line[6:])["choices"][0]["delta"]["content"]
        for line in str(clean).splitlines()
        if line.startswith("data: {") and json.loads(line[6:])["choices"][0]["index"] == 0
    )
    assert told == "before [secret: JUDGE_KEY] behind"
    untouched = [line for line in stream.splitlines() if '"index": 1' in line]
    assert [line for line in str(clean).splitlines() if '"index": 1' in line] == untouched


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("false", "boolean"),
        ("1234567890", "a number"),
        ("3.5e-7", "a number"),
        ("abc", "3 characters"),
    ],
)
def test_words_are_no_secrets_and_named(value: str, why: str) -> None:
    known = Credentials(environment_credentials({"TOKENIZERS_PARALLELISM": value, "A_KEY": KEY}))
    assert known.skipped == {"TOKENIZERS_PARALLELISM": why}
    assert scrub_body(f"it is {value}", known.values) == (f"it is {value}", set())


@pytest.mark.parametrize(
    "name",
    "HF_TOKEN AWS_SECRET_ACCESS_KEY openaiKey DB_PASSWORD GOOGLE_CREDENTIALS OPENAIKEY GH_PAT "
    "OPENAI_ORG_ID MY_AUTH dbPwd".split(),
)
def test_variables_that_are_named_like_a_credential(name: str) -> None:
    assert list(environment_credentials({name: "abc"})) == [(name, "abc")]


@pytest.mark.parametrize(
    "name", ["HOME", "PWD", "MONKEYS", "AUTHOR", "KEYBOARD", "PATH", "COMPASS", "RAY_AUTH_MODE"]
)
def test_variables_that_are_not(name: str) -> None:
    assert list(environment_credentials({name: "abcdefghijkl"})) == []


def test_the_password_of_any_url_in_the_environment_is_one() -> None:
    found = environment_credentials({"DATABASE": "postgres://me:p%40ssword9@db/x"})
    assert list(found) == [("DATABASE", "p@ssword9")]


def test_a_word_that_this_machine_holds_as_a_key_does_not_make_a_prompt_stale(
    serve: Callable[[Plant], str], tmp_path: Path
) -> None:
    plant = Plant("", body={"prompt": "in production"})
    url, path = serve(plant), tmp_path / "c.jsonl"
    tape = RecordingCassette(path)
    with intercepting(tape), tape.trial("one"):
        _post("httpx", url, plant)
    for mode in ("replay", "record"):
        known = Credentials([("DEPLOY_KEY", "production")])
        again = open_cassette(path, mode, secrets=known)  # type: ignore[arg-type]
        with intercepting(again), again.trial("one") as scope:
            _post("httpx", url, plant)
        assert scope.error is None
    assert len(read_exchanges(path)) == 1
    assert why_skipped("production") == ""


@pytest.mark.parametrize(
    "name",
    ["X-Bearer", "X-Passphrase", "OK-ACCESS-PASSPHRASE", "X-JWT", "X-Pass", "X-Access", "X-Sign",
     "Sec-WebSocket-Protocol"],
)  # fmt: skip
def test_further_headers_show_a_key(name: str) -> None:
    assert [value for _, value in request_credentials("https://h/", [(name, "k-123456789")])] == [
        "k-123456789"
    ]


@pytest.mark.parametrize("name", ["Access-Control-Allow-Origin", "Sec-WebSocket-Version"])
def test_headers_that_only_sound_so_show_none(name: str) -> None:
    assert not list(request_credentials("https://h/", [(name, "k-123456789")]))


@pytest.mark.parametrize(
    "field",
    ["token", "secret", "pwd", "passphrase", "jwt", "cookie", "session", "signature",
     "AccountKey", "connectionString"],
)  # fmt: skip
def test_further_fields_hold_a_key(field: str) -> None:
    body, _ = scrub_body(json.dumps({field: "abcdef0123456789abcdef"}), {})
    assert json.loads(body) == {field: "REDACTED"}


def test_the_tokens_of_a_reply_stay() -> None:
    body = '{"logprobs": [{"token": " Verdict:", "logprob": -0.1}, {"token": "1", "logprob": 0}]}'
    assert scrub_body(body, {}) == (body, set())


@pytest.mark.parametrize(
    ("body", "clean"),
    [
        ("grant=x&client_secret=hunter2hunter2\n", "grant=x&client_secret=REDACTED\n"),
        ('\ufeff{"password":"hunter2hunter2"}', '{"password": "REDACTED"}'),
        # What a judge says is text, and may be its verdict.
        (r'{"content":"{\"password\": \"YES\"}"}', r'{"content":"{\"password\": \"YES\"}"}'),
    ],
)
def test_fields_are_found_in_forms_and_documents_with_a_frame(body: str, clean: str) -> None:
    assert scrub_body(body, {})[0] == clean


@pytest.mark.parametrize("name", ["session", "pass", "bearer", "credential"])
def test_further_parameters_of_a_url_hold_a_key(name: str) -> None:
    key = "abcdef0123456789abcdef"
    assert redact_url(f"https://h/?n=1&{name}={key}") == f"https://h/?n=1&{name}=REDACTED"


KEY_IN_TOKENS = "Zq7-plainlooking-Key99"
PIECES = ["YES ", *(KEY_IN_TOKENS[at : at + 4] for at in range(0, len(KEY_IN_TOKENS), 4)), " so"]


def _openai_token(text: str) -> dict[str, Any]:
    return {"token": text, "logprob": -0.1, "bytes": list(text.encode())}


def _of_openai(pieces: list[str]) -> dict[str, Any]:
    others = [
        {**_openai_token(one), "top_logprobs": [_openai_token(one), _openai_token("NO")]}
        for one in pieces
    ]
    return {"choices": [{"logprobs": {"content": others}}]}


def _of_gemini(pieces: list[str]) -> dict[str, Any]:
    chosen = [{"token": one, "logProbability": -0.1} for one in pieces]
    others = [{"candidates": [{"token": one}, {"token": "NO"}]} for one in pieces]
    return {
        "candidates": [{"logprobsResult": {"chosenCandidates": chosen, "topCandidates": others}}]
    }


@pytest.mark.parametrize("form", [_of_openai, _of_gemini])
@pytest.mark.parametrize("pieces", [PIECES, ["YES ", KEY_IN_TOKENS, " so"]], ids=["split", "whole"])
def test_no_copy_of_a_token_keeps_a_key(
    form: Callable[[list[str]], dict[str, Any]], pieces: list[str]
) -> None:
    body, names = scrub_body(json.dumps(form(pieces)), {"TOY_KEY": KEY_IN_TOKENS})
    assert names
    assert scrub_body(body, {"TOY_KEY": KEY_IN_TOKENS}) == (body, set())
    # Each token that held a part of it, as text, as bytes and among the alternatives.
    assert not any(f'"{piece}"' in body for piece in pieces[1:-1])
    assert not any(str([*piece.encode()]) in body for piece in pieces[1:-1])
    kept = json.dumps(form([pieces[0], pieces[-1]]))
    for token in (pieces[0], pieces[-1]):
        assert body.count(f'"{token}"') == kept.count(f'"{token}"')


def test_copies_that_an_older_recording_kept_are_found() -> None:
    body = _of_openai(["YES", "[secret: TOY_KEY]"])
    body["choices"][0]["logprobs"]["content"][1]["bytes"] = list(KEY_IN_TOKENS.encode())
    clean, names = scrub_body(json.dumps(body), {})
    assert names == {"copies of a token"}
    assert json.loads(clean)["choices"][0]["logprobs"]["content"][1] == {
        "token": "[secret: TOY_KEY]", "logprob": -0.1, "bytes": None, "top_logprobs": [],
    }  # fmt: skip


# Made up, in the form that each service documents.
FURTHER_SHAPES = [
    "glpat-abcdefghij0123456789", "npm_" + "a1" * 18, "nvapi-" + "a1" * 20, "r8_" + "a1" * 18,
    "SG." + "a1" * 11 + "." + "b2" * 21, "dop_v1_" + "a1" * 32, "ya29." + "a1" * 20,
    "Basic " + "dXNlcjpwYXNzd29yZDEyMw==",
    "sk-ant-api03-" + "a1B2" * 8, "sk-or-v1-" + "a1" * 32, "sk-svcacct-" + "a1B2" * 10,
    "sk_live_" + "a1B2" * 6, "gsk_" + "a1B2" * 13, "xai-" + "a1B2" * 20, "pplx-" + "a1B2" * 12,
    "AKIA" + "Q3EGRT7HXN5PLK2M", "AIza" + "Sy4f8Kx03LmQz8Rv71YbNcWdTgHjU5iO2pB",
    "ghp_" + "a1B2" * 9, "github_pat_" + "11ABCDEFG0abcdefghijkl_" + "a1B2c3D4e5" * 6,
    "hf_" + "a1B2" * 9,
    "xoxb-123456789012-1234567890123-" + "a1B2" * 6,
    "pk.eyJ1Ijoi" + "a1B2" * 12 + ".a1" + "B2" * 10,
    "ATATT3" + "a1B2" * 46, "HRKU-AA" + "a1B2" * 14, "NRAK-" + "A1B2" * 7, "api_org_" + "a1B2" * 9,
    "csk-" + "a1b2" * 12, "dckr_pat_" + "a1B2" * 7, "dp.pt." + "a1B2" * 11, "figd_" + "a1B2" * 10,
    "fm2_" + "a1B2" * 30, "glsa_" + "a1B2" * 8 + "_a1b2c3d4", "glc_eyJ" + "a1B2" * 10,
    "hvs." + "a1B2" * 24, "jina_" + "a1b2" * 15, "lin_api_" + "a1B2" * 10, "lsv2_pt_" + "a1" * 16,
    "ntn_" + "1" * 11 + "a1B2" * 8, "ops_eyJ" + "a1B2" * 65, "pcsk_" + "a1B2" * 12,
    "phx_" + "a1B2" * 11, "pscale_tkn_" + "a1B2" * 10, "pypi-AgEIcHlwaS5vcmc" + "a1B2" * 20,
    "rubygems_" + "a1" * 24, "sbp_" + "a1" * 20, "shpat_" + "a1" * 16, "sntrys_" + "a1B2" * 20,
    "sq0csp-" + "a1B2" * 10, "tgp_v1_" + "a1B2" * 10, "tvly-dev-" + "a1B2" * 8,
    "xkeysib-" + "a1" * 32, "dor_v1_" + "a1" * 32, "dapi" + "a1" * 16, "SK" + "a1" * 16,
    "a1" * 16 + "-us12", "pat" + "a1B2c3D4e5F6g7" + "." + "a1" * 32, "ABSK" + "a1B2" * 28,
    "AGE-SECRET-KEY-1" + "Q7" * 29,
    "bedrock-api-key-" + "a1B2" * 30 + "/+a1B2==", "AQ.Ab8" + "a1B2" * 12, "GOCSPX-" + "a1B2" * 7,
    "fw_" + "a1B2" * 6, "vck_" + "a1B2" * 12, "rpa_" + "A1B2" * 10, "flp_" + "a1B2" * 9,
    "esecret_" + "a1b2" * 8, "sb_secret_" + "a1B2" * 8, "wandb_v1_" + "a1B2" * 12,
    "whsec_" + "a1B2" * 7 + "/+a=", "PMAK-" + "a1" * 12 + "-" + "b2" * 17, "glrt-" + "a1B2" * 5,
    "dckr_oat_" + "a1B2" * 8, "dp.st.dev." + "a1B2" * 10, "hvb." + "a1B2" * 24,
    "tskey-auth-" + "a1B2" * 8, "xapp-1-A0123456789-" + "a1" * 20, "xoxe-1-" + "a1B2" * 20,
    "a1B8Q~" + "a1B2" * 8 + "x.", "a1B2c3D4e5F6g7.atlasv1." + "a1B2" * 16,
]  # fmt: skip


@pytest.mark.parametrize("key", FURTHER_SHAPES)
def test_further_shapes_of_keys(key: str) -> None:
    text, names = scrub_body(f"the key is {key}, and basic English stays", {})
    assert key.removeprefix("Basic ") not in text
    assert len(names) == 1
    assert text.endswith(", and basic English stays")


def test_no_hint_of_a_key_is_passed_over() -> None:
    # A hint is looked for where its first two characters stand.
    for shape in SHAPES:
        for hint in shape.hints.encode().split(b"|"):
            assert hint in {other for other, _ in BY_MARK[hint[:2]]}


@pytest.mark.parametrize("name", ["client_secret", "clientSecret", "API_KEY", "id-token"])
def test_a_secret_field_is_known_by_the_end_of_its_name(name: str) -> None:
    for before in ("x_", "x-" * 32, "x" * 5000 + "_"):
        body = json.dumps({before + name: "ordinary"})
        assert scrub_body(body, {}) == (
            f'{{"{before}{name}": "{REDACTED}"}}',
            {f"field {before}{name}"},
        )
    assert scrub_body(json.dumps({f"x{name}"[:-1]: "ordinary"}), {})[1] == set()


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("DefaultEndpointsProtocol=https;AccountKey=" + "a1B2" * 21 + "ab==;x", ";AccountKey=*;x"),
        ("see https://hooks.slack.com/services/T00000000/B00000000/" + "X1" * 12, "/services/*"),
        ("https://discord.com/api/webhooks/123456789012345678/" + "a1B2" * 17, "/webhooks/*"),
    ],
)
def test_shapes_with_something_before_them(text: str, clean: str) -> None:
    assert re.sub(r"\[secret: [^]]*\]", "*", scrub_body(text, {})[0]).endswith(clean)


@pytest.mark.parametrize(
    "text",
    [
        "a task-oriented-reply-of-2-sentences", "ask-the-judge-about-risk-averse-agents-2",
        "SKELETON-OF-32-CHARACTERS-AND-MORE", "coh-01/t1/ab/r1 jss_floor[0.9@published]",
        "0123456789abcdef0123456789abcdef", "9f86d081-884c-4d63-a15b-0f3d6a2f5b61",
        "gpt-4o-mini-2024-07-18", "chatcmpl-AbC123dEf456GhI789jKl012MnO345", "fp_0123456789abcdef",
        "patient.0123456789 hvs. 20 lines", "claude-3-5-sonnet-20241022",
        "fw_version_2_of_the_firmware_image", "rpa_process_12_of_the_back_office", "vck_2", "AQ.1",
    ],
)  # fmt: skip
def test_words_and_ids_are_no_keys(text: str) -> None:
    assert scrub_body(text, {}) == (text, set())


def test_a_private_key_of_pgp_is_one() -> None:
    key = "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQ0\n-----END PGP PRIVATE KEY BLOCK-----"
    assert scrub_body(f"it is {key}.", {}) == ("it is [secret: a private key].", {"a private key"})


@pytest.mark.parametrize(
    "written",
    [
        r"\x73ecret-value-1", r"\u{73}ecret-value-1", r"\U00000073ecret-value-1",
        r"\163\145cret-value-1",
    ],
)  # fmt: skip
def test_further_escapes_hide_nothing(written: str) -> None:
    assert scrub_body(f"it is {written}.", {"K": "secret-value-1"})[0] == "it is [secret: K]."


def test_what_a_response_hands_out_pushes_out_no_key_of_a_request() -> None:
    known = Credentials()
    known.learn([("x-api-key header", "the-key-of-the-request-1")])
    known.learn([("cookie", f"cookie-of-the-response-{n}") for n in range(300)], "response")
    assert "the-key-of-the-request-1" in known.values.values()
    assert len(known.values) == 1 + 256


def test_hundreds_of_cookies_hide_no_key_that_the_answer_quotes(
    serve: Callable[[Plant], str], tmp_path: Path
) -> None:
    plant = Plant(HIDDEN, _echo(HIDDEN), headers={"X-Api-Key": HIDDEN}, cookies=300)
    tape, url = RecordingCassette(tmp_path / "c.jsonl"), serve(plant)
    with intercepting(tape), tape.trial("one"):
        _post("httpx", url, plant)
    text = tape.path.read_text(encoding="utf-8")
    assert HIDDEN not in text
    assert "[secret: x-api-key header]" in text


def test_more_keys_of_a_reply_than_one_are_cut_out_of_its_strings() -> None:
    events = "".join(
        f'data: {{"t": "{part}"}}\n' for part in ("a-sec", "ret-1 b ", "a-secret", "-1")
    )
    clean, names = scrub_body(events, {"K": "a-secret-1"})
    assert names == {"K"}
    told = [json.loads(line.removeprefix("data: "))["t"] for line in clean.splitlines()]
    assert told == ["[secret: K]", " b ", "[secret: K]", ""]


OAUTH = (
    'OAuth realm="a", oauth_consumer_key="ck-Zq7x3Lm1", oauth_token="ot-Zq7x3Lm1", '
    'oauth_signature="sig%2BZq7x3Lm1%3D"'
)
HAWK = (
    'Hawk id="dh37fgj492je", ts="1353832234", nonce="j4h3g2", '
    'mac="6R4rV5iE+NPoym+WwjeHzjAGXUtLNIxmo1vpMofpLAE="'
)
AWS = (
    "AWS4-HMAC-SHA256 Credential=AKIAQ3EGRT7HXN5PLK2M/20260131/us-east-1/bedrock/aws4_request, "
    "SignedHeaders=host;x-amz-date, Signature=fe5f80f77d5fa3beca038a248ff027d0445342fe"
)
DIGEST = 'Digest username="Mufasa-1", realm="r@h", nonce="dcd98b", response="6629fae49393a0"'


@pytest.mark.parametrize(
    ("header", "values"),
    [
        ('Token token="k-Zq7x3Lm1PwTd"', {"k-Zq7x3Lm1PwTd"}),
        ("Token token=k-Zq7x3Lm1PwTd, nonce=def", {"k-Zq7x3Lm1PwTd"}),
        (OAUTH, {"ck-Zq7x3Lm1", "ot-Zq7x3Lm1", "sig+Zq7x3Lm1="}),
        ("OAuth ot-Zq7x3Lm1PwTd", {"ot-Zq7x3Lm1PwTd"}),
        ("ApiKey id=a1,key=k-Zq7x3Lm1PwTd", {"k-Zq7x3Lm1PwTd"}),
        ("ApiKey id=Zq7x3Lm1PwTd0yTd, api_key=k-Zq7", {"Zq7x3Lm1PwTd0yTd", "k-Zq7"}),
        (HAWK, {"6R4rV5iE+NPoym+WwjeHzjAGXUtLNIxmo1vpMofpLAE="}),
        (AWS, {"AKIAQ3EGRT7HXN5PLK2M", "fe5f80f77d5fa3beca038a248ff027d0445342fe"}),
        (DIGEST, {"Mufasa-1", "6629fae49393a0"}),
        ("Bearer k-Zq7x3Lm1PwTd==", {"k-Zq7x3Lm1PwTd=="}),
    ],
)
def test_an_authorization_is_taken_apart_by_its_parameters(header: str, values: set[str]) -> None:
    found = {value for _, value in request_credentials("https://h/", [("Authorization", header)])}
    assert values <= found
    assert {value for value in found - values if not header.endswith(value)} == set()
    # An endpoint that quotes one of them is not recorded with it.
    credentials = Credentials()
    credentials.learn([("authorization header", value) for value in found])
    for value in values - {"k-Zq7"}:  # which is too short to be searched for
        assert value not in scrub_body(f'{{"error": "no {value} here"}}', credentials.values)[0]


def test_a_long_word_behind_the_name_of_a_key_is_one() -> None:
    word = "KxRvYbNcWdLmQzTgHjUiOpAs"  # 24 letters, and no digit
    assert [value for _, value in request_credentials(f"https://h/key/{word}/a", ())] == [word]
    for path in (
        "/key/rotate",
        "/token/internationalization",
        "/tokens/count",
        "/key/a-b-c-d-e-f-g-h-i-j-k-l-m",
    ):
        assert [*request_credentials(f"https://h/{path}", ())] == []
