"""The tokens and the settings of a Python judge, as its recorded requests and answers state them.

A function may call any API, and returns only a verdict. Its requests and answers are in the
recording, in the formats of the usual APIs: OpenAI's and compatible ones, Anthropic's, Gemini's,
Cohere's, Ollama's, whole or as an event stream. Other formats are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

from pytest_judgesense.cassettes.bodies import at_path
from pytest_judgesense.cassettes.exchange import CALL, Exchange, as_bytes
from pytest_judgesense.files.limits import json_value
from pytest_judgesense.judges.providers.base import Reply
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
    "choices.0.delta.tool_calls.0",
    "choices.0.text",
    "output.*.content.*.text",
    "response.output.*.content.*.text",
    "content.*.text",
    "content.*.name",  # of a tool, whatever it is given
    "content_block.name",
    "output.*.name",
    "response.output.*.name",
    "message.tool_calls.0",
    "candidates.0.content.parts.*.functionCall",
    "delta.text",
    "delta.partial_json",
    "candidates.0.content.parts.*.text",
    "message.content",
    "response",
)
# Where reasoning is that comes along with a reply.
_REASONING_TEXTS: Final = (
    "choices.0.message.reasoning_content",
    "choices.0.message.reasoning",
    "choices.0.delta.reasoning_content",
    "choices.0.delta.reasoning",
    "content.*.thinking",
    "content.*.signature",
    "content.*.data",  # that is redacted
    "delta.thinking",
    "delta.signature",
    "message.thinking",
)
_GEMINI_USAGE: Final = "usageMetadata"
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


def function_reply(text: str, exchanges: Sequence[Exchange]) -> Reply:
    """The reply that a function gave by returning ``text``, after these exchanges.

    Of an empty one they say whether it was cut off, and what was spent on it.
    """
    if text.strip() or not is_cut_off(exchanges):
        return Reply(text)
    usage = _usage(_requests(exchanges)[-1].response.body)
    return Reply(text, usage=usage or Usage(), truncated=True)


def is_cut_off(exchanges: Sequence[Exchange]) -> bool:
    """Whether the last request of a trial got a reply that its length ended before any text."""
    requests = _requests(exchanges)
    if not requests or not requests[-1].answers:
        return False
    events = list(_objects(requests[-1].response.body))
    return _ended_by_length(events) and not any(map(_has_text, events))


def _requests(exchanges: Iterable[Exchange]) -> list[Exchange]:
    return [e for e in exchanges if e.request.method != CALL and not e.returns]


def is_reasoning_alone(*events: Mapping[str, Any]) -> bool:
    """Whether a response, or its events, hold reasoning, and no text and no call of a tool."""
    if any(map(_has_text, events)):  # as most do, and the first events of a stream
        return False
    return any(_all_of(_REASONING_TEXTS, event) for event in events)


def with_reasoning(value: Mapping[str, Any], prompt: int | None, completion: int | None) -> Usage:
    """The tokens of a response that states these of the prompt and of the reply."""
    return _counted(prompt, completion, _count(_first(value, _REASONING), None), value)


def _counted(
    prompt: int | None, completion: int | None, reasoning: int | None, value: Mapping[str, Any]
) -> Usage:
    """The tokens, with those of reasoning in those of the reply.

    OpenAI's API counts them within the reply, Gemini's beside it; of APIs that are compatible with
    OpenAI's the total tells. Gemini's compatible endpoint states nothing else: of others a total
    that is larger than its parts may hold anything, such as what was read from a cache.
    """
    beside = None
    total = _count(_first(value, _TOTAL), None)
    if total is not None and prompt is not None:
        beside = total - prompt - (completion or 0)
    if reasoning is None and completion is not None and _is_of_gemini(value) and beside:
        reasoning = beside if beside > 0 else None
    if reasoning is not None and (
        completion is None or reasoning == beside or _GEMINI_USAGE in value
    ):
        completion = (completion or 0) + reasoning
    return Usage(prompt, completion, reasoning)


def _is_of_gemini(value: Mapping[str, Any]) -> bool:
    model = value.get("model")
    return isinstance(model, str) and "gemini" in model.casefold()


def _usage(body: str | bytes) -> Usage | None:
    """The tokens of an answer: of a stream, the last numbers that it gives."""
    prompt = completion = reasoning = None
    last: Mapping[str, Any] = {}
    events = list(_objects(body))
    for event in events:
        prompt = _count(_first(event, _PROMPT), prompt)
        completion = _count(_first(event, _COMPLETION), completion)
        reasoning = _count(_first(event, _REASONING), reasoning)
        last = event if _first(event, _TOTAL) is not None else last
    if prompt is None and completion is None:
        return None
    if reasoning is None and is_reasoning_alone(*events):
        return Usage(prompt, completion, completion)  # which does not count it apart
    return _counted(prompt, completion, reasoning, last)


def _ended_by_length(events: Iterable[Mapping[str, Any]]) -> bool:
    return any(
        end in at_path(event, _keys(path))
        for event in events
        for path, end in _ENDED_BY_LENGTH.items()
    )


def _has_text(event: Mapping[str, Any]) -> bool:
    """Whether a response or an event of one holds a text, or the call of a tool."""
    return any(
        isinstance(text, dict) or (isinstance(text, str) and bool(text.strip()))
        for text in _all_of(_TEXTS, event)
    )


def _all_of(paths: Iterable[str], event: Mapping[str, Any]) -> list[Any]:
    """What stands at some paths."""
    return [value for path in paths for value in at_path(event, _keys(path)) if value]


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
        for key in _keys(path):
            part = part.get(key) if isinstance(part, dict) else None
        if isinstance(part, int | float) and not isinstance(part, bool):
            return part
    return None


@cache  # of the few paths above, for every call that is replayed
def _keys(path: str) -> tuple[str, ...]:
    return tuple(path.split("."))


def _count(value: Any, before: int | None) -> int | None:
    return value if isinstance(value, int) and 0 <= value <= MOST else before
