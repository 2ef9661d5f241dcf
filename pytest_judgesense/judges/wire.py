"""The wire formats of chat endpoints: messages to a request, a response to a reply. Pure.

Reading never raises: whatever an endpoint sends becomes a `Reply` or a `Failed` with a reason.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from pydantic_core import from_json, to_json

from pytest_judgesense.judges.provider import HttpRequest, Provider, Reply
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.trial import Failed, Usage

__all__ = [
    "AnthropicWire",
    "HttpRequest",
    "NoResponse",
    "OpenAIWire",
    "Received",
    "Reply",
    "Unsendable",
    "Wire",
    "wire_for",
    "wire_of",
]

_SHOWN: Final = 200
# What a structured reply is called where it needs a name.
_REPLY: Final = "judgment"
_TOOL: Final = ("tool_use", _REPLY)


@dataclass(frozen=True, slots=True)
class Received:
    """A response as it came over the wire.

    Attributes:
        status: HTTP status.
        headers: all of them, their names in lower case.
        data: the body, its content encoding still on it.
    """

    status: int
    headers: Mapping[str, str]
    data: bytes


class NoResponse(Exception):
    """A request got no response, or none that is whole; says why."""


class Unsendable(Exception):
    """A request cannot be sent as it is; its text quotes nothing of it."""


class Wire(Protocol):
    """A wire format."""

    default_base_url: str
    default_key_env: str

    def request(
        self,
        spec: JudgeSpec,
        base_url: str,
        key: str | None,
        messages: Sequence[Mapping[str, str]],
        seed: int | None,
    ) -> HttpRequest:
        """The request that asks ``messages``."""

    def read(self, status: int, body: str) -> Reply | Failed:
        """What the response says."""


def _encode(body: Mapping[str, Any]) -> bytes:
    try:
        return to_json(body)  # four times as fast as `json`
    except ValueError:
        # It refuses lone surrogates; `json` escapes them.
        return json.dumps(body, separators=(",", ":")).encode()


def _parsed(status: int, body: str) -> Mapping[str, Any] | Failed:
    """The body as an object, or why it is none."""
    if status >= 300:  # a redirect is none either: a judge's base_url is where it is asked
        return Failed(f"HTTP {status}: {_error_message(body) or _shown(body)}")
    try:
        value = _json(body)
    except (ValueError, RecursionError):
        return Failed(f"the response is not JSON: {_shown(body)!r}")
    if not isinstance(value, dict):
        return Failed(f"the response is not a JSON object: {_shown(body)!r}")
    if value.get("error"):
        return Failed(f"the endpoint reports an error: {_error_message(body) or _shown(body)}")
    return value


def _json(body: str) -> Any:
    try:
        return from_json(body, cache_strings="keys")  # faster than `json`
    except ValueError:
        return json.loads(body)  # which permits the escapes of lone surrogates


def _shown(body: str) -> str:
    return " ".join(body.split())[:_SHOWN]


def _error_message(body: str) -> str:
    try:
        error = json.loads(body)["error"]
        message = error["message"] if isinstance(error, dict) else error
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return " ".join(str(message).split())[:_SHOWN]


def _usage(value: Any, prompt: str, completion: str) -> Usage:
    counts = value if isinstance(value, dict) else {}
    return Usage(_count(counts.get(prompt)), _count(counts.get(completion)))


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _name(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _joined(parts: Sequence[Any]) -> str | None:
    """The texts of content parts; ``None`` if no part is a text."""
    texts = [
        str(part.get("text", ""))
        for part in parts
        if isinstance(part, dict) and part.get("type", "text") == "text"
    ]
    return "".join(texts) if texts else None


def _structured(blocks: Sequence[Any]) -> str | None:
    """The input of the tool that stands for the reply, as JSON; ``None`` if it was not used."""
    for block in blocks:
        if isinstance(block, dict) and (block.get("type"), block.get("name")) == _TOOL:
            return json.dumps(block.get("input"), ensure_ascii=False)
    return None


class OpenAIWire:
    """Chat completions, as OpenAI and every compatible endpoint speak them."""

    default_base_url = "https://api.openai.com/v1"
    default_key_env = "OPENAI_API_KEY"

    def request(
        self,
        spec: JudgeSpec,
        base_url: str,
        key: str | None,
        messages: Sequence[Mapping[str, str]],
        seed: int | None,
    ) -> HttpRequest:
        body: dict[str, Any] = {"model": spec.model, "messages": [dict(m) for m in messages]}
        if spec.temperature is not None:
            body["temperature"] = spec.temperature
        if spec.reasoning is None:
            body["max_tokens"] = spec.max_tokens
        else:  # models that reason take the budget under this name, for thought and answer
            body["max_completion_tokens"] = spec.max_tokens
            body["reasoning_effort"] = spec.reasoning
        if spec.top_p:
            body["top_p"] = spec.top_p
        if seed is not None:
            body["seed"] = seed
        if spec.reply_schema is not None:
            form = {"name": _REPLY, "strict": True, "schema": spec.reply_schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        headers = {"Content-Type": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        url = base_url.rstrip("/") + "/chat/completions"
        return HttpRequest("POST", url, headers, _encode(body))

    def read(self, status: int, body: str) -> Reply | Failed:
        value = _parsed(status, body)
        if isinstance(value, Failed):
            return value
        try:
            choice = value["choices"][0]
            message = choice["message"]
            content = message.get("content")
            refusal = message.get("refusal")
        except (KeyError, IndexError, TypeError, AttributeError):
            return Failed("the response has no choices[0].message")
        if isinstance(content, list):
            content = _joined(content)
        if content is not None and not isinstance(content, str):
            return Failed(f"choices[0].message.content is a {type(content).__name__}, not a text")
        finish = choice.get("finish_reason")
        refused = str(refusal) if refusal else None
        if not content and finish == "content_filter":
            refused = refused or "no content, finish_reason content_filter"
        return Reply(
            text=None if refused and not content else content,
            usage=_usage(value.get("usage"), "prompt_tokens", "completion_tokens"),
            truncated=finish == "length",
            refused=refused,
            model=_name(value.get("model")),
        )


class AnthropicWire:
    """Anthropic messages. It knows no seed, so none is sent."""

    default_base_url = "https://api.anthropic.com"
    default_key_env = "ANTHROPIC_API_KEY"

    def request(
        self,
        spec: JudgeSpec,
        base_url: str,
        key: str | None,
        messages: Sequence[Mapping[str, str]],
        seed: int | None,
    ) -> HttpRequest:
        body: dict[str, Any] = {"model": spec.model, "max_tokens": spec.max_tokens}
        system = "\n\n".join(m["content"] for m in messages if m["role"] == "system")
        if system:
            body["system"] = system
        body["messages"] = [dict(m) for m in messages if m["role"] != "system"]
        if spec.temperature is not None:
            body["temperature"] = spec.temperature
        if spec.top_p:
            body["top_p"] = spec.top_p
        if spec.reply_schema is not None:
            # A tool that has to be used: every model of this API knows that way.
            body["tools"] = [{"name": _REPLY, "input_schema": spec.reply_schema}]
            body["tool_choice"] = {"type": "tool", "name": _REPLY}
        if spec.reasoning is not None:
            body["thinking"] = {"type": "enabled", "budget_tokens": spec.reasoning}
        headers = {"Content-Type": "application/json", "anthropic-version": "2023-06-01"}
        if key:
            headers["x-api-key"] = key
        base = base_url.rstrip("/").removesuffix("/v1")
        return HttpRequest("POST", f"{base}/v1/messages", headers, _encode(body))

    def read(self, status: int, body: str) -> Reply | Failed:
        value = _parsed(status, body)
        if isinstance(value, Failed):
            return value
        blocks = value.get("content")
        if not isinstance(blocks, list):
            return Failed("the response has no content blocks")
        stop = value.get("stop_reason")
        text = _structured(blocks)
        return Reply(
            text=_joined(blocks) if text is None else text,
            usage=_usage(value.get("usage"), "input_tokens", "output_tokens"),
            truncated=stop == "max_tokens",
            refused="stop_reason refusal" if stop == "refusal" else None,
            model=_name(value.get("model")),
        )


_WIRES: Final[Mapping[str, Wire]] = {
    "openai": OpenAIWire(),
    "anthropic": AnthropicWire(),
    "embedded": OpenAIWire(),
}


def wire_of(provider: str) -> Wire:
    """The wire format that ``provider`` speaks; ``KeyError`` for one that speaks none."""
    return _WIRES[provider]


def wire_for(spec: JudgeSpec) -> Wire | Provider:
    """The wire format of a judge: that of the plugin that added its provider, or a built-in one."""
    return spec.wire or wire_of(spec.provider)
