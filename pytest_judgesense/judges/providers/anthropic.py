"""Anthropic messages. They know no seed, so none is sent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pytest_judgesense.judges.providers.base import HttpRequest, Provider, Reply, Settings
from pytest_judgesense.judges.providers.json_bodies import (
    STRUCTURED,
    encoded,
    joined_texts,
    name_of,
    parsed,
    usage_of,
)
from pytest_judgesense.trial import Failed

_TOOL: Final = ("tool_use", STRUCTURED)


def _build(
    spec: Settings,
    base_url: str,
    key: str | None,
    messages: Sequence[Mapping[str, str]],
    _seed: int | None,
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
        body["tools"] = [{"name": STRUCTURED, "input_schema": spec.reply_schema}]
        body["tool_choice"] = {"type": "tool", "name": STRUCTURED}
    if spec.reasoning is not None:
        body["thinking"] = {"type": "enabled", "budget_tokens": spec.reasoning}
    headers = {"Content-Type": "application/json", "anthropic-version": "2023-06-01"}
    if key:
        headers["x-api-key"] = key
    base = base_url.rstrip("/").removesuffix("/v1")
    return HttpRequest("POST", f"{base}/v1/messages", headers, encoded(body))


def _parse(status: int, body: str) -> Reply | Failed:
    value = parsed(status, body)
    if isinstance(value, Failed):
        return value
    blocks = value.get("content")
    if not isinstance(blocks, list):
        return Failed("the response has no content blocks")
    stop = value.get("stop_reason")
    text = _structured(blocks)
    return Reply(
        text=joined_texts(blocks) if text is None else text,
        usage=usage_of(value.get("usage"), "input_tokens", "output_tokens"),
        truncated=stop == "max_tokens",
        refused="stop_reason refusal" if stop == "refusal" else None,
        model=name_of(value.get("model")),
    )


def _structured(blocks: Sequence[Any]) -> str | None:
    """The input of the tool that stands for the reply, as JSON; ``None`` if it was not used."""
    for block in blocks:
        if isinstance(block, dict) and (block.get("type"), block.get("name")) == _TOOL:
            return json.dumps(block.get("input"), ensure_ascii=False)
    return None


ANTHROPIC: Final = Provider(
    "anthropic",
    _build,
    _parse,
    default_base_url="https://api.anthropic.com",
    default_key_env="ANTHROPIC_API_KEY",
    source="pytest-judgesense",
)
