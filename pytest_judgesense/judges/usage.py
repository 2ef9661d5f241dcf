"""The tokens and the settings of a Python judge, as its recorded requests and answers state them.

A function may call any API, and returns only a verdict. Its requests and answers are in the
recording, in the formats of the usual APIs: OpenAI's and compatible ones, Anthropic's, Gemini's,
Cohere's, Ollama's, whole or as an event stream. Other formats are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pytest_judgesense.cassettes.exchange import CALL, Exchange, as_bytes
from pytest_judgesense.limits import json_value
from pytest_judgesense.trial import Usage

# Paths of keys, the first that is there counts.
_PROMPT: Final = (
    "usage.prompt_tokens",
    "usage.input_tokens",
    "usage.tokens.input_tokens",
    "message.usage.input_tokens",
    "response.usage.input_tokens",
    "usageMetadata.promptTokenCount",
    "prompt_eval_count",
)
_COMPLETION: Final = (
    "usage.completion_tokens",
    "usage.output_tokens",
    "usage.tokens.output_tokens",
    "message.usage.output_tokens",
    "response.usage.output_tokens",
    "usageMetadata.candidatesTokenCount",
    "eval_count",
)
_SETTINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "temperature": ("temperature", "generationConfig.temperature", "options.temperature"),
    "max_tokens": (
        "max_tokens",
        "max_completion_tokens",
        "max_output_tokens",
        "generationConfig.maxOutputTokens",
        "options.num_predict",
    ),
    "seed": ("seed", "generationConfig.seed", "options.seed"),
}


# No response without one of them states an error.
_FAULTS: Final = (b'"error"', b'"choices"')


def usage_and_settings(
    exchanges: Iterable[Exchange],
) -> tuple[dict[str, Usage], dict[str, Any]]:
    """What ``exchanges`` say, without calls of the function and unanswered calls.

    Returns:
        The tokens by trial, summed over its answers; missing if not stated. And ``temperature``,
        ``max_tokens`` and ``seed`` as every request has them; ``None`` where one has another, or
        has none.
    """
    usages: dict[str, list[Usage]] = {}
    values: dict[str, set[Any]] = {name: set() for name in _SETTINGS}
    for exchange in exchanges:
        if exchange.request.method == CALL or not exchange.answers:
            continue
        if (usage := _usage(exchange.response.body)) is not None:
            usages.setdefault(exchange.trial, []).append(usage)
        request = next(_objects(exchange.request.body), {})
        for name, paths in _SETTINGS.items():
            values[name].add(_first(request, paths))
    settings = {name: of.pop() if len(of) == 1 else None for name, of in values.items()}
    return {trial: Usage.summed(parts) for trial, parts in usages.items()}, settings


def fault_of_api(status: int, body: str | bytes) -> str | None:
    """The error that a response states despite its status, as gateways and streams do."""
    if status >= 400 or not any(word in as_bytes(body) for word in _FAULTS):
        return None
    for event in _objects(body):
        if event.get("error"):
            return "an error in the response"
        if "choices" in event and event["choices"] is None:
            return "no choices in the response"
    return None


def _usage(body: str | bytes) -> Usage | None:
    """The tokens of an answer: of a stream, the last numbers that it gives."""
    prompt = completion = None
    for event in _objects(body):
        prompt = _count(_first(event, _PROMPT), prompt)
        completion = _count(_first(event, _COMPLETION), completion)
    return None if prompt is None and completion is None else Usage(prompt, completion)


def _objects(body: str | bytes) -> Iterator[Mapping[str, Any]]:
    """The JSON object that ``body`` is, or those of its events."""
    text = as_bytes(body).decode("utf-8", "replace")
    whole = _object(text)
    lines = () if whole is not None else text.splitlines()
    for part in (whole, *(_object(line.removeprefix("data:")) for line in lines)):
        if part is not None:
            yield part


def _object(text: str) -> Mapping[str, Any] | None:
    if not text.strip().startswith("{"):
        return None
    try:
        value = json_value(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _first(value: Mapping[str, Any], paths: Iterable[str]) -> Any:
    """The first number found at one of ``paths``; ``None`` if there is none."""
    for path in paths:
        part: Any = value
        for key in path.split("."):
            part = part.get(key) if isinstance(part, dict) else None
        if isinstance(part, int | float) and not isinstance(part, bool):
            return part
    return None


def _count(value: Any, before: int | None) -> int | None:
    return value if isinstance(value, int) and value >= 0 else before
