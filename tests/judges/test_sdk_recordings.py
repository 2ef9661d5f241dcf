"""A judge upon each SDK as people write it, recorded once and replayed without endpoint and key.

Every judge makes one look-up a process (its list of models), lets its SDK try again what is refused
at first sight (429), falls back to a second model where the first is gone (404), and streams under
one of three wordings. The endpoint on 127.0.0.1 speaks the wire format of
each. `.ci/full` installs the SDKs; what is not installed is skipped.
"""

from __future__ import annotations

import binascii
import importlib.util
import json
import re
import struct
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from tests.judges.test_sdks import KEY, keyless
from tests.plugin.project import TRIALS, even, parity_suite
from tests.processes import PLUGINS, environment_of

pytestmark = pytest.mark.long

# By `_gone`, half of the numbers fall back to the second model.
FALLS_BACK: Final = TRIALS // 2


def _gone(model: str, prompt: str) -> bool:
    """Whether the first model is not there: of the numbers 4, 5 and 6."""
    found = re.search(r"[0-9]", prompt)
    assert found, prompt
    return model == "m-1" and int(found[0]) > 3


class Vendors:
    """All vendors at one address; each request with a prompt is refused at its first sight.

    Attributes:
        asked: how many requests have come, by kind: ``models``, ``refused``, ``gone``,
            ``answered`` or ``streamed``.
    """

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self._seen: set[tuple[str, bytes]] = set()
        self._lock = threading.Lock()
        vendors = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._answer(b"")

            def do_POST(self) -> None:
                self._answer(self.rfile.read(int(self.headers["Content-Length"])))

            def _answer(self, raw: bytes) -> None:
                status, kind, content, headers = vendors.answer(self.path, raw)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                for name, text in headers.items():
                    self.send_header(name, text)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None: ...

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_: object) -> None: ...

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, raw: bytes) -> tuple[int, str, bytes, dict[str, str]]:
        path, _, _ = path.partition("?")
        if not raw:
            self._count("models")
            return 200, "application/json", json.dumps(MODELS).encode(), {}
        body = json.loads(raw)
        model = body.get("model") or re.split(r"[/:]", path)[-2]
        prompt = _prompt_of(body)
        if _gone(model, prompt):
            self._count("gone")
            return 404, "application/json", json.dumps(_error(404)).encode(), _aws(404)
        with self._lock:
            is_new = (path, raw) not in self._seen
            self._seen.add((path, raw))
        if is_new:
            self._count("refused")
            headers = {"retry-after-ms": "20", **_aws(429)}
            return 429, "application/json", json.dumps(_error(429)).encode(), headers
        kind, content = _reply(path, body, even(prompt))
        self._count("answered" if kind == "application/json" else "streamed")
        return 200, kind, content, {}

    def _count(self, kind: str) -> None:
        with self._lock:
            self.asked[kind] += 1


@contextmanager
def vendors() -> Iterator[Vendors]:
    served = Vendors()
    try:
        yield served
    finally:
        served.close()


# OpenAI's and Anthropic's `data`, Gemini's and Cohere's `models`, Bedrock's `modelSummaries`.
MODELS: Final = {
    "object": "list",
    "data": [
        {
            "id": "m-1",
            "object": "model",
            "type": "model",
            "created": 1,
            "owned_by": "us",
            "display_name": "M",
            "created_at": "2026-01-01T00:00:00Z",
        }
    ],
    "has_more": False,
    "models": [{"name": "models/m-1"}],
    "modelSummaries": [{"modelId": "m-1", "modelArn": "arn:aws:bedrock:::foundation-model/m-1"}],
}


def _error(status: int) -> dict[str, Any]:
    text = "no such model" if status == 404 else "not now"
    return {
        "type": "error",
        "error": {"type": "error", "message": text, "code": status, "status": text},
        "message": text,
    }


def _aws(status: int) -> dict[str, str]:
    return {
        "x-amzn-ErrorType": "ThrottlingException" if status == 429 else "ResourceNotFoundException"
    }


def _prompt_of(body: dict[str, Any]) -> str:
    last = (body.get("messages") or body["contents"])[-1]
    content = last.get("content") or last["parts"]
    return content if isinstance(content, str) else content[-1]["text"]


def _reply(path: str, body: dict[str, Any], text: str) -> tuple[str, bytes]:
    """Content type and content of an answer, in the format of its path, letter by letter in a
    stream.
    """
    if path.endswith(("generateContent", "streamGenerateContent", "GenerateContent")):
        return _of_gemini(text, streams="stream" in path)
    if "/model/" in path:
        return _of_bedrock(text, streams=path.endswith("-stream"))
    of = {"/v1/messages": _of_anthropic, "/v2/chat": _of_cohere}
    make = next((make for end, make in of.items() if path.endswith(end)), _of_openai)
    return make(text, streams=bool(body.get("stream")))


def _whole(answer: dict[str, Any]) -> tuple[str, bytes]:
    return "application/json", json.dumps(answer).encode()


def _events(*events: Any) -> tuple[str, bytes]:
    lines = []
    for event in events:
        if isinstance(event, dict) and "type" in event:
            lines.append(f"event: {event['type']}")
        lines.append(f"data: {event if isinstance(event, str) else json.dumps(event)}\n")
    return "text/event-stream", ("\n".join(lines) + "\n").encode()


def _of_openai(text: str, *, streams: bool) -> tuple[str, bytes]:
    head = {"id": "c-1", "created": 1, "model": "served"}
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
    if not streams:
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return _whole({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
    deltas: list[dict[str, str]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": letter} for letter in text]
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    head["object"] = "chat.completion.chunk"
    last = {**head, "choices": [], "usage": usage}
    return _events(*({**head, "choices": [choice]} for choice in choices), last, "[DONE]")


def _of_anthropic(text: str, *, streams: bool) -> tuple[str, bytes]:
    head = {"id": "msg-1", "type": "message", "role": "assistant", "model": "served"}
    usage = {"input_tokens": 10, "output_tokens": 1}
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    if not streams:
        return _whole({**head, **end, "content": [{"type": "text", "text": text}], "usage": usage})
    begun = {**head, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    block = {"type": "text", "text": ""}
    deltas = [{"type": "text_delta", "text": letter} for letter in text]
    return _events(
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    )


def _of_gemini(text: str, *, streams: bool) -> tuple[str, bytes]:
    def piece(part: str, **more: Any) -> dict[str, Any]:
        candidate = {"content": {"role": "model", "parts": [{"text": part}]}, "index": 0, **more}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 1, "totalTokenCount": 11}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "served"}

    if not streams:
        return _whole(piece(text, finishReason="STOP"))
    return _events(*map(piece, text), piece("", finishReason="STOP"))


def _of_cohere(text: str, *, streams: bool) -> tuple[str, bytes]:
    usage = {"tokens": {"input_tokens": 10, "output_tokens": 1}}
    end = {"finish_reason": "COMPLETE", "usage": usage}
    if not streams:
        content = [{"type": "text", "text": text}]
        return _whole({"id": "c-1", "message": {"role": "assistant", "content": content}, **end})
    begun = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    opened = {"message": {"content": {"type": "text", "text": ""}}}
    return _events(
        {"type": "message-start", "id": "c-1", "delta": {"message": begun}},
        {"type": "content-start", "index": 0, "delta": opened},
        *(
            {
                "type": "content-delta",
                "index": 0,
                "delta": {"message": {"content": {"text": letter}}},
            }
            for letter in text
        ),
        {"type": "content-end", "index": 0},
        {"type": "message-end", "delta": end},
    )


def _of_bedrock(text: str, *, streams: bool) -> tuple[str, bytes]:
    usage = {"inputTokens": 10, "outputTokens": 1, "totalTokens": 11}
    metrics = {"latencyMs": 1}
    if not streams:
        message = {"role": "assistant", "content": [{"text": text}]}
        answer = {"output": {"message": message}, "stopReason": "end_turn"}
        return _whole({**answer, "usage": usage, "metrics": metrics})
    events: list[tuple[str, dict[str, Any]]] = [("messageStart", {"role": "assistant"})]
    events += [
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": letter}})
        for letter in text
    ]
    events += [
        ("contentBlockStop", {"contentBlockIndex": 0}),
        ("messageStop", {"stopReason": "end_turn"}),
        ("metadata", {"usage": usage, "metrics": metrics}),
    ]
    return "application/vnd.amazon.eventstream", b"".join(_frame(*event) for event in events)


def _frame(kind: str, payload: dict[str, Any]) -> bytes:
    """An event of the Amazon event stream: lengths, their checksum, headers, payload, checksum."""
    named = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    headers = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(text)) + text.encode()
        for name, text in named.items()
    )
    body = json.dumps(payload).encode()
    lengths = struct.pack(">II", 16 + len(headers) + len(body), len(headers))
    message = lengths + struct.pack(">I", binascii.crc32(lengths)) + headers + body
    return message + struct.pack(">I", binascii.crc32(message))


# --- the judges -----------------------------------------------------------------------------------


class Sdk(NamedTuple):
    """A package, the variables that it needs, and a module upon it.

    The module has ``look_up()``, ``ask(model, prompt)``, ``stream(model, prompt)`` and ``Gone``,
    the exception of a model that is not there; or its own ``judge``. ``URL`` is the endpoint.
    """

    package: str
    keys: tuple[str, ...]
    code: str


JUDGE: Final = """
@functools.cache
def models():
    return look_up()

def judge(number, template, template_id):
    assert models()
    prompt = template.replace("{{number}}", number)
    answer = stream if template_id == "t3" else ask
    try:
        return answer("m-1", prompt)
    except Gone:
        return answer("m-2", prompt)
"""
AJUDGE: Final = """
known = []

async def judge(number, template, template_id):
    if not known:  # whoever comes while the first one asks, asks as well
        known.append(await look_up())
    prompt = template.replace("{{number}}", number)
    answer = stream if template_id == "t3" else ask
    try:
        return await answer("m-1", prompt)
    except Gone:
        return await answer("m-2", prompt)
"""
SDKS: Final = (
    Sdk(
        "openai",
        ("OPENAI_API_KEY",),
        """
import openai
from openai import NotFoundError as Gone
client = openai.OpenAI(base_url=URL + "/v1")

def look_up():
    return [model.id for model in client.models.list()]

def ask(model, prompt, **more):
    messages = [{"role": "user", "content": prompt}]
    made = client.chat.completions.create(model=model, messages=messages, **more)
    return made if more else made.choices[0].message.content

def stream(model, prompt):
    pieces = ask(model, prompt, stream=True)
    return "".join(p.choices[0].delta.content or "" for p in pieces if p.choices)
"""
        + JUDGE,
    ),
    Sdk(
        "anthropic",
        ("ANTHROPIC_API_KEY",),
        """
import anthropic
from anthropic import NotFoundError as Gone
client = anthropic.AsyncAnthropic(base_url=URL)

async def look_up():
    return [model.id async for model in client.models.list()]

def _said(model, prompt):
    messages = [{"role": "user", "content": prompt}]
    return {"model": model, "max_tokens": 16, "messages": messages}

async def ask(model, prompt):
    return (await client.messages.create(**_said(model, prompt))).content[0].text

async def stream(model, prompt):
    async with client.messages.stream(**_said(model, prompt)) as pieces:
        return "".join([text async for text in pieces.text_stream])
"""
        + AJUDGE,
    ),
    Sdk(
        "google.genai",
        ("GEMINI_API_KEY",),
        """
from google import genai
from google.genai import types
from google.genai.errors import ClientError as Gone
retries = types.HttpRetryOptions(attempts=4, initial_delay=0.02, http_status_codes=[429, 503])
client = genai.Client(http_options=types.HttpOptions(base_url=URL, retry_options=retries))

def look_up():
    return [model.name for model in client.models.list()]

def ask(model, prompt):
    return client.models.generate_content(model=model, contents=prompt).text

def stream(model, prompt):
    pieces = client.models.generate_content_stream(model=model, contents=prompt)
    return "".join(piece.text or "" for piece in pieces)
"""
        + JUDGE,
    ),
    Sdk(
        "boto3",
        ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
        """
import boto3
from botocore.config import Config
settings = {
    "region_name": "us-east-1",
    "endpoint_url": URL,
    "config": Config(retries={"mode": "standard", "max_attempts": 4}),
}
# A replay has no key, and needs one to sign by.
if "AWS_ACCESS_KEY_ID" not in os.environ:
    settings |= {"aws_access_key_id": "none", "aws_secret_access_key": "none"}
client = boto3.client("bedrock-runtime", **settings)
listing = boto3.client("bedrock", **settings)
Gone = client.exceptions.ResourceNotFoundException

def look_up():
    return listing.list_foundation_models()["modelSummaries"]

def _said(model, prompt):
    return {"modelId": model, "messages": [{"role": "user", "content": [{"text": prompt}]}]}

def ask(model, prompt):
    return client.converse(**_said(model, prompt))["output"]["message"]["content"][0]["text"]

def stream(model, prompt):
    events = client.converse_stream(**_said(model, prompt))["stream"]
    deltas = [e["contentBlockDelta"]["delta"]["text"] for e in events if "contentBlockDelta" in e]
    return "".join(deltas)
"""
        + JUDGE,
    ),
    Sdk(
        "mistralai",
        ("MISTRAL_API_KEY",),
        """
import httpx
from mistralai.client import Mistral
from mistralai.client.errors import SDKError as Gone
from mistralai.client.utils import BackoffStrategy, RetryConfig
retries = RetryConfig("backoff", BackoffStrategy(20, 100, 1.5, 20_000), True)
client = Mistral(server_url=URL, api_key=os.environ["MISTRAL_API_KEY"], retry_config=retries)

def look_up():
    return httpx.get(URL + "/v1/models").json()["data"]

def _said(model, prompt):
    return {"model": model, "messages": [{"role": "user", "content": prompt}]}

def ask(model, prompt):
    return client.chat.complete(**_said(model, prompt)).choices[0].message.content

def stream(model, prompt):
    with client.chat.stream(**_said(model, prompt)) as events:
        deltas = [choice.delta.content for e in events for choice in e.data.choices]
    return "".join(delta or "" for delta in deltas)
"""
        + JUDGE,
    ),
    Sdk(
        "cohere",
        ("CO_API_KEY",),
        """
import cohere
from cohere import NotFoundError as Gone
client = cohere.ClientV2(base_url=URL)

def look_up():
    return [model.name for model in client.models.list().models]

def _said(model, prompt):
    return {"model": model, "messages": [{"role": "user", "content": prompt}]}

def ask(model, prompt):
    return client.chat(**_said(model, prompt)).message.content[0].text

def stream(model, prompt):
    try:
        events = [*client.chat_stream(**_said(model, prompt))]
    except cohere.TooManyRequestsError:  # it tries no stream again by itself
        events = client.chat_stream(**_said(model, prompt))
    deltas = [e.delta.message.content.text for e in events if e.type == "content-delta"]
    return "".join(deltas)
"""
        + JUDGE,
    ),
    Sdk(
        "litellm",
        ("OPENAI_API_KEY",),
        """
import httpx, litellm
from litellm.exceptions import NotFoundError as Gone
settings = {"api_base": URL + "/v1", "num_retries": 3}

def look_up():
    return httpx.get(URL + "/v1/models").json()["data"]

def _made(model, prompt, **more):
    messages = [{"role": "user", "content": prompt}]
    return litellm.completion(model="openai/" + model, messages=messages, **settings, **more)

def ask(model, prompt):
    return _made(model, prompt, fallbacks=["openai/m-2"]).choices[0].message.content

def stream(model, prompt):  # where its own fallbacks take an asynchronous stream
    pieces = _made(model, prompt, stream=True)
    return "".join(p.choices[0].delta.content or "" for p in pieces if p.choices)
"""
        + JUDGE,
    ),
    Sdk(
        "langchain_openai",
        ("OPENAI_API_KEY",),
        """
from langchain_openai import ChatOpenAI
first, second = (ChatOpenAI(model=m, base_url=URL + "/v1", max_retries=3) for m in ("m-1", "m-2"))
chain = first.with_fallbacks([second])

def look_up():
    return [model.id for model in first.root_client.models.list()]

def ask(model, prompt):
    return chain.invoke(prompt).content

def stream(model, prompt):
    return "".join(piece.content for piece in chain.stream(prompt))

class Gone(Exception): ...
"""
        + JUDGE,
    ),
    Sdk(
        "pydantic_ai",
        ("OPENAI_API_KEY",),
        """
import httpx
from pydantic_ai import Agent
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
provider = OpenAIProvider(base_url=URL + "/v1")
models = (OpenAIChatModel(name, provider=provider) for name in ("m-1", "m-2"))
agent = Agent(FallbackModel(*models))

async def look_up():
    async with httpx.AsyncClient() as client:
        return (await client.get(URL + "/v1/models")).json()["data"]

async def ask(model, prompt):
    return (await agent.run(prompt)).output

async def stream(model, prompt):
    async with agent.run_stream(prompt) as pieces:
        return [text async for text in pieces.stream_text()][-1]

class Gone(Exception): ...
"""
        + AJUDGE,
    ),
)
DSPY: Final = """
import dspy
first, second = (
    dspy.LM("openai/" + m, api_base=URL + "/v1", api_key="none", cache=False, num_retries=3)
    for m in ("m-1", "m-2")
)

def judge(number, template):
    prompt = template.replace("{{number}}", number)
    try:
        answer = first(prompt)[0]
    except Exception:
        answer = second(prompt)[0]
    return answer if isinstance(answer, str) else answer["text"]
"""


def _has(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # of the package that it is part of
        return False


def _pytest(
    folder: Path, *arguments: str, keys: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """A session as an installation has it: in an interpreter of its own."""
    without = {name: text for name, text in keyless().items() if not name.startswith("AWS_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={**without, **environment_of(PLUGINS[:2]), **dict.fromkeys(keys, KEY)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def _project(folder: Path, url: str, code: str, *settings: str) -> None:
    (folder / "graders.py").write_text(f"import functools, os\nURL = {url!r}\n{code}")
    table = ['provider = "callable"', 'model = "graders:judge"', *settings]
    text = "\n".join(["[tool.judgesense.judges.mine]", *table])
    (folder / "pyproject.toml").write_text(text)
    parity_suite(folder)


def _assert_passed(result: subprocess.CompletedProcess[str]) -> None:
    assert result.returncode == 0, result.stdout + result.stderr
    assert "1 passed" in result.stdout


def _replay_in_parts(folder: Path) -> None:
    """Without endpoint and key: with workers, by its id, one item alone, and without the first."""
    for workers in ("0", "2"):
        replayed = _pytest(folder, "parity.suite.toml", "-n", workers)
        _assert_passed(replayed)
        assert f"0 made, {TRIALS} replayed" in replayed.stdout
    _assert_passed(_pytest(folder, "parity.suite.toml::mine::jss_floor[0.8]"))
    _assert_passed(_pytest(folder, "parity.suite.toml", "-k", "jss_floor"))
    items = folder / "parity.jsonl"
    lines = items.read_text().splitlines(keepends=True)
    parity_suite(folder, checks="jss_floor = 0.0")  # one item alone is a degenerate judge
    items.write_text("".join(lines[1:]))
    _assert_passed(_pytest(folder, "parity.suite.toml"))
    items.write_text(lines[3])
    one = _pytest(folder, "parity.suite.toml", "-v")
    assert "0 made, 3 replayed" in one.stdout, one.stdout  # under three wordings
    assert "not recorded" not in one.stdout


@pytest.mark.parametrize("sdk", [pytest.param(sdk, id=sdk.package) for sdk in SDKS])
@pytest.mark.timeout(600)
def test_a_judge_upon_an_sdk_is_proven_and_replays(sdk: Sdk, tmp_path: Path) -> None:
    if not _has(sdk.package):
        pytest.skip(f"{sdk.package} is not installed")
    with vendors() as served:
        # Its synchronous clients are asked from four threads.
        _project(tmp_path, served.url, sdk.code, "concurrency = 4")
        recorded = _pytest(tmp_path, "parity.suite.toml", "--judge-mode", "record", keys=sdk.keys)
    _assert_passed(recorded)
    # Of each trial one request is refused, and the next one is answered; half are gone before.
    streamed = TRIALS // 3
    assert served.asked["models"] >= 1
    assert served.asked["gone"] >= FALLS_BACK
    assert served.asked["refused"] == TRIALS
    assert (served.asked["answered"], served.asked["streamed"]) == (TRIALS - streamed, streamed)
    lines = (tmp_path / "cassettes/mine/parity.jsonl").read_text()
    assert KEY not in lines
    exchanges = [json.loads(line) for line in lines.splitlines()]
    look_ups = [line for line in exchanges if line.get("trial") == ""]
    assert [line["request"]["method"] for line in look_ups] == ["GET"]
    _replay_in_parts(tmp_path)


@pytest.mark.skipif(not _has("dspy"), reason="dspy is not installed")
@pytest.mark.timeout(600)
def test_dspy_has_its_own_http_and_is_recorded_by_what_it_returns(tmp_path: Path) -> None:
    with vendors() as served:
        _project(tmp_path, served.url, DSPY)
        refused = _pytest(tmp_path, "parity.suite.toml", "--judge-mode", "record")
        assert refused.returncode == 1, refused.stdout
        said = " ".join(refused.stdout.split())
        assert served.url.rpartition(":")[2] in said  # the address
        assert 'put calls = "function" into the table of the judge' in said
        assert not served.asked
        _project(tmp_path, served.url, DSPY, 'calls = "function"')
        _assert_passed(_pytest(tmp_path, "parity.suite.toml", "--judge-mode", "record"))
    assert served.asked["answered"] == TRIALS
    _replay_in_parts(tmp_path)
