"""The tokens and the settings of a Python judge, as its recorded requests and answers state them.

A function may call any API, and returns only a verdict. Its requests and answers are in the
recording, in the formats of the usual APIs: OpenAI's and compatible ones, Anthropic's, Gemini's,
Cohere's, Ollama's, whole or as an event stream. Other formats are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from pytest_judgesense.cassettes.exchange import CALL, Exchange, as_bytes
from pytest_judgesense.limits import json_value
from pytest_judgesense.trial import MOST, Usage

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
_REASONING: Final = (
    "usage.completion_tokens_details.reasoning_tokens",
    "usage.output_tokens_details.reasoning_tokens",
    "response.usage.output_tokens_details.reasoning_tokens",
    "usage.reasoning_tokens",
    "usageMetadata.thoughtsTokenCount",
)
_TOTAL: Final = (
    "usage.total_tokens",
    "response.usage.total_tokens",
    "usageMetadata.totalTokenCount",
)
# How the ends of replies are called that their length ended, by the places where APIs say it.
_ENDED_BY_LENGTH: Final = {
    "choices.0.finish_reason": "length",
    "incomplete_details.reason": "max_output_tokens",
    "response.incomplete_details.reason": "max_output_tokens",
    "stop_reason": "max_tokens",
    "delta.stop_reason": "max_tokens",
    "candidates.0.finishReason": "MAX_TOKENS",
    "done_reason": "length",
}
# Where the texts of replies are; ``*`` is each part of a list.
_TEXTS: Final = (
    "choices.0.message.content",
    "choices.0.message.content.*.text",
    "choices.0.message.tool_calls.0",
    "choices.0.delta.content",
    "choices.0.text",
    "output.*.content.*.text",
    "response.output.*.content.*.text",
    "content.*.text",
    "content.*.input",
    "delta.text",
    "delta.partial_json",
    "candidates.0.content.parts.*.text",
    "message.content",
    "response",
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


def ended_without_text(exchanges: Iterable[Exchange]) -> set[str]:
    """The trials of which the last reply has no text, because its length ended it."""
    ended: dict[str, bool] = {}
    for exchange in exchanges:
        if exchange.request.method != CALL and not exchange.returns and exchange.answers:
            ended[exchange.trial] = _is_without_text(exchange.response.body)
    return {trial for trial, is_without_text in ended.items() if is_without_text}


def with_reasoning(value: Mapping[str, Any], prompt: int | None, completion: int | None) -> Usage:
    """The tokens of a response that states these of the prompt and of the reply.

    Some APIs count reasoning within the reply, as OpenAI's; others beside it, as Gemini's, and
    then the total tells. A compatible endpoint may state the total alone.
    """
    return _counted(prompt, completion, _count(_first(value, _REASONING), None), value)


def _counted(
    prompt: int | None, completion: int | None, reasoning: int | None, value: Mapping[str, Any]
) -> Usage:
    total, beside = _count(_first(value, _TOTAL), None), None
    if total is not None and prompt is not None:
        beside = total - prompt - (completion or 0)
    if reasoning is None and beside is not None and beside > 0 and completion is not None:
        reasoning = beside
    if reasoning is not None and (completion is None or (beside is not None and beside > 0)):
        completion = (completion or 0) + reasoning
    return Usage(prompt, completion, reasoning)


def _usage(body: str | bytes) -> Usage | None:
    """The tokens of an answer: of a stream, the last numbers that it gives."""
    prompt = completion = reasoning = None
    last: Mapping[str, Any] = {}
    for event in _objects(body):
        prompt = _count(_first(event, _PROMPT), prompt)
        completion = _count(_first(event, _COMPLETION), completion)
        reasoning = _count(_first(event, _REASONING), reasoning)
        last = event if _first(event, _TOTAL) is not None else last
    if prompt is None and completion is None:
        return None
    return _counted(prompt, completion, reasoning, last)


def _is_without_text(body: str | bytes) -> bool:
    """Whether a response, or the events of one, ended by its length before any text of a reply."""
    by_length = False
    for event in _objects(body):
        if any(
            isinstance(text, dict) or (isinstance(text, str) and text.strip())
            for path in _TEXTS
            for text in _all_at(event, path.split("."))
        ):
            return False
        by_length = by_length or any(
            end in _all_at(event, path.split(".")) for path, end in _ENDED_BY_LENGTH.items()
        )
    return by_length


def _all_at(value: Any, path: Sequence[str]) -> list[Any]:
    """What stands at a path of keys and places; none of the thoughts that an API sends along."""
    if not path:
        return [value]
    key, *rest = path
    if key == "*":
        parts = value if isinstance(value, list) else []
        shown = (p for p in parts if isinstance(p, dict) and not p.get("thought"))
        return [text for part in shown for text in _all_at(part, rest)]
    if key.isdigit():
        return _all_at(value[int(key)], rest) if isinstance(value, list) and value else []
    return _all_at(value[key], rest) if isinstance(value, dict) and key in value else []


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
    return value if isinstance(value, int) and 0 <= value <= MOST else before
