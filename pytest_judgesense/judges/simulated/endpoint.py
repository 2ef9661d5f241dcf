"""The embedded judge over real HTTP on 127.0.0.1, in the wire formats of OpenAI and Anthropic.

``POST /v1/chat/completions`` and ``POST /v1/messages``; ``model`` names a profile. Replies are a
function of the request alone: no time, no counter. They name the embedded judge as their
origin, so that no recording of it can pass for one of a language model. Tokens are counted as
words.

A reply may state the probabilities of its label. With the logits of the decision model over K
labels and the lapse rate l, the probability of a label before temperature is::

    p(k) = l / K + (1 - l) softmax(logits)(k)

That is how often it gives the label at temperature 1, of the replies that state one. Without lapses
it gives k at temperature T with p(k)^(1/T), made to add up to 1; lapses are the same at every
temperature, so with them that holds at 1 alone.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import urlsplit

from pytest_judgesense.cassettes.matching import is_loopback
from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.simulated.named_observers import (
    answer_logits,
    form_asked_for,
    judge_answers,
    observer_named,
    said_as,
)
from pytest_judgesense.judges.simulated.observer import ObservedPrompt, Observer
from pytest_judgesense.judges.simulated.parsing import ParsedPrompt, read_prompt

_PIECES: Final = re.compile(r"\s*\w+|\s*[^\w\s]|\s+")
# OpenAI's value for a token of probability 0.
_NEVER: Final = -9999.0


def chances(observer: Observer, prompt: str) -> dict[str, float]:
    """The probability of each label as written; empty if the reply states none.

    So it is of speeches, of verdicts on debates, and of repaired replies.
    """
    parsed = read_prompt(prompt)
    logits = _logits(observer, parsed, prompt)
    if not logits:
        return {}
    top = max(logits.values())
    weights = {label: math.exp(logit - top) for label, logit in logits.items()}
    total, lapse = sum(weights.values()), observer.lapse_rate
    return {
        said_as(label, parsed): lapse / len(weights) + (1 - lapse) * weight / total
        for label, weight in weights.items()
    }


def _logits(observer: Observer, parsed: ParsedPrompt, prompt: str) -> Mapping[str, float]:
    observed = ObservedPrompt(prompt, parsed, 0.0, 0)
    for skill in observer.skills:
        if skill(observer, observed) is None:
            continue
        form = form_asked_for(parsed)
        if skill is not judge_answers or form is None:
            return {}
        return answer_logits(observer, parsed, reasoned=form[1])[0]
    return observer.logits(parsed)


def logprobs(text: str, chances: Mapping[str, float], most: int) -> dict[str, Any]:
    """The tokens of a reply in the form of OpenAI, with at most ``most`` alternatives each.

    The last label in the text is a separate token, with the labels as alternatives. Everything
    else could not have been said otherwise.
    """
    labels = "|".join(re.escape(label) for label in sorted(chances, key=len, reverse=True))
    mentions = [*re.finditer(rf"(?<!\w)(?:{labels})(?!\w)", text)] if labels else []
    start, end = mentions[-1].span() if mentions else (len(text), len(text))
    content = [*_plain(text[:start], most)]
    if mentions:
        ranked = sorted(chances.items(), key=lambda pair: -pair[1])
        label = text[start:end]
        top = [_stated(token, chance) for token, chance in ranked[:most]]
        content.append({**_stated(label, chances[label]), "top_logprobs": top})
    return {"content": [*content, *_plain(text[end:], most)]}


def _plain(text: str, most: int) -> Iterator[dict[str, Any]]:
    for piece in _PIECES.findall(text):
        alone = _stated(piece, 1.0)
        yield {**alone, "top_logprobs": [alone] if most else []}


def _stated(token: str, chance: float) -> dict[str, Any]:
    logprob = math.log(chance) if chance > 0 else _NEVER
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}


_ORIGIN: Final = "embedded judge, no model"
_LARGEST_BODY: Final = 64 * 1024 * 1024
# The response to a malformed request.
REFUSED: Final = (ValueError, TypeError, AttributeError, OverflowError, RecursionError)


def answer(
    path: str, body: Mapping[str, Any], find: Callable[[str], Observer] = observer_named
) -> tuple[int, dict[str, Any]]:
    """Status and JSON body for a request to ``path``. Pure."""
    try:
        observer = find(str(body.get("model", "")))
    except UsageError as error:
        return 404, {"error": {"type": "not_found_error", "message": str(error)}}
    prompt = _prompt(body)
    text = observer.reply(
        prompt,
        temperature=float(body.get("temperature") or 0.0),
        seed=int(body.get("seed") or 0),
        permitted=_permitted(body),
    )
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:12]
    tokens = len(prompt.split()), len(text.split())
    model = f"judgesense-embedded:{observer.name}"
    if path == "/v1/messages":
        used = _tool_input(body, text)
        return 200, {
            "id": f"msg_{digest}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "origin": _ORIGIN,
            "content": [used or {"type": "text", "text": text}],
            "stop_reason": "tool_use" if used else "end_turn",
            "usage": dict(zip(("input_tokens", "output_tokens"), tokens, strict=True)),
        }
    message = {"role": "assistant", "content": text}
    stated = {}
    if body.get("logprobs") is True:
        most = int(body.get("top_logprobs") or 0)
        stated["logprobs"] = logprobs(text, chances(observer, prompt), most)
    return 200, {
        "id": f"chatcmpl-{digest}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "system_fingerprint": _ORIGIN,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", **stated}],
        "usage": dict(zip(("prompt_tokens", "completion_tokens"), tokens, strict=True)),
    }


def _permitted(body: Mapping[str, Any]) -> tuple[str, ...]:
    """The verdicts that a structured reply may state; none where it is to state more, or else."""
    if name := (body.get("tool_choice") or {}).get("name"):
        tools = body.get("tools") or ()
        schemas = [tool.get("input_schema") for tool in tools if tool.get("name") == name]
    else:
        form = body.get("response_format") or {}
        schemas = [(form.get("json_schema") or {}).get("schema")]
    properties = (schemas[0] or {}).get("properties") or {} if schemas else {}
    if set(properties) != {"verdict"}:
        return ()
    return tuple(map(str, properties["verdict"].get("enum") or ()))


def _tool_input(body: Mapping[str, Any], text: str) -> dict[str, Any] | None:
    """The reply as the input of the required tool; ``None`` if there is none, or the reply is not
    an object.
    """
    name = (body.get("tool_choice") or {}).get("name")
    start, end = text.find("{"), text.rfind("}")
    try:
        value = json.loads(text[start : end + 1]) if name and start >= 0 else None
    except ValueError:
        return None
    return value and {"type": "tool_use", "id": "toolu_0", "name": name, "input": value}


def _prompt(body: Mapping[str, Any]) -> str:
    parts = [_text(body.get("system", ""))]
    parts += [_text(message.get("content", "")) for message in body.get("messages", [])]
    return "\n\n".join(part for part in parts if part)


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content)


# Of RFC 9110, section 15.5.20.
_MISDIRECTED: Final = (421, {"error": {"message": "Host is none of this machine's names"}})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: EmbeddedServer
    timeout = 60  # seconds in which the next bytes of a request have to come
    # Headers and body leave in two writes: without this, Nagle's algorithm delays the second.
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        self._send(*(self._answer() if self._is_asked_here() else _MISDIRECTED))

    def _is_asked_here(self) -> bool:
        """Whether the client means this machine: a page in a browser may name it otherwise."""
        with suppress(ValueError):
            host = urlsplit(f"//{self.headers.get('Host', 'localhost')}").hostname
            if host is not None and is_loopback(host):
                return True
        self.close_connection = True  # the body of the request is not read
        return False

    def _answer(self) -> tuple[int, dict[str, Any]]:
        try:
            length = int(self.headers.get("Content-Length") or 0)
        except ValueError:
            length = -1
        if not 0 <= length <= _LARGEST_BODY:
            self.close_connection = True
        if length < 0:
            return 400, {"error": {"message": "Content-Length is not a number of bytes"}}
        if length > _LARGEST_BODY:
            return 413, {"error": {"message": "the request is larger than 64 MiB"}}
        raw = self.rfile.read(length)
        path = self.path.partition("?")[0]
        if path not in ("/v1/chat/completions", "/v1/messages"):
            return 404, {"error": {"message": f"there is no {path} here"}}
        try:
            status, reply = answer(path, json.loads(raw), self.server.find)
            if self.server.totals and "prompt_tokens" in (usage := reply.get("usage", {})):
                usage["total_tokens"] = usage["prompt_tokens"] + usage["completion_tokens"]
        except REFUSED as error:
            return 400, {"error": {"type": "invalid_request_error", "message": str(error)}}
        return status, reply

    def do_GET(self) -> None:
        ok = 200, {"status": "ok", "origin": _ORIGIN}
        self._send(*(ok if self._is_asked_here() else _MISDIRECTED))

    def _send(self, status: int, body: Mapping[str, Any]) -> None:
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a judge's calls belong in a cassette, not on the terminal."""


class EmbeddedServer(ThreadingHTTPServer):
    """The server; bound to 127.0.0.1 only, at ``port`` 0 to one that the system chooses.

    ``find`` maps a model name to an observer, for simulations with other parameters. With
    ``totals`` a chat reply also states the total of tokens, which some clients need; recordings do
    not have it.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        port: int = 0,
        find: Callable[[str], Observer] = observer_named,
        *,
        totals: bool = False,
    ) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.find = find
        self.totals = totals

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing of a client that has gone away; anything else is printed."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    @property
    def base_url(self) -> str:
        """Base URL for an OpenAI-compatible client."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


@contextmanager
def serving(
    find: Callable[[str], Observer] = observer_named, port: int = 0, *, totals: bool = False
) -> Iterator[EmbeddedServer]:
    """The embedded judge served from a thread, ended on leaving the block; see `EmbeddedServer`."""
    server = EmbeddedServer(port, find, totals=totals)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)
