"""Chat completions, as OpenAI and every compatible endpoint speak them."""

from __future__ import annotations

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


def _build(
    spec: Settings,
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
        form = {"name": STRUCTURED, "strict": True, "schema": spec.reply_schema}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    headers = {"Content-Type": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    url = base_url.rstrip("/") + "/chat/completions"
    return HttpRequest("POST", url, headers, encoded(body))


def _parse(status: int, body: str) -> Reply | Failed:
    value = parsed(status, body)
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
        content = joined_texts(content)
    if content is not None and not isinstance(content, str):
        return Failed(f"choices[0].message.content is a {type(content).__name__}, not a text")
    finish = choice.get("finish_reason")
    refused = str(refusal) if refusal else None
    if not content and finish == "content_filter":
        refused = refused or "no content, finish_reason content_filter"
    return Reply(
        text=None if refused and not content else content,
        usage=usage_of(value.get("usage"), "prompt_tokens", "completion_tokens"),
        truncated=finish == "length",
        refused=refused,
        model=name_of(value.get("model")),
    )


OPENAI: Final = Provider(
    "openai",
    _build,
    _parse,
    default_base_url="https://api.openai.com/v1",
    default_key_env="OPENAI_API_KEY",
    source="pytest-judgesense",
)
