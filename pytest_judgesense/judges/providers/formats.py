"""The two formats of the built-in providers: chat completions and Anthropic's messages.

Parsing a response never raises.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pydantic_core import from_json, to_json

from pytest_judgesense.judges.local import name_of
from pytest_judgesense.judges.providers.base import HttpRequest, Reply
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.usage import is_reasoning_alone, with_reasoning
from pytest_judgesense.trial import Failed, Token, Usage

# The name of a structured reply, if the API needs one.
_STRUCTURED: Final = "judgment"
_IN_JSON: Final = "Reply with one JSON object and nothing around it. It fits this JSON schema:"
_SHOWN: Final = 200
_UNPUNISHED: Final = {"repeat_penalty": 1, "presence_penalty": 0, "frequency_penalty": 0}
# The places of the message in an error body: OpenAI and most others; vLLM; AWS.
_SAY_WHAT: Final = ("error", "message", "Message")
# A count that is negative or larger says nothing of the call: it counts as not said.
_MOST_TOKENS: Final = 10**9
# The most that OpenAI states for each token of a reply.
TOP_TOKENS: Final = 20
# Bounds on log-probabilities: more tokens, or longer ones, are ignored.
_MOST_READ: Final = 4096
_LONGEST_TOKEN: Final = 200
# Log-probabilities a little above 0 are roundings of 0.
_ROUNDED_UP: Final = 1e-3
_NEVER: Final = -1e6  # its exponential is 0


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def build_completions(
    spec: JudgeSpec,
    base_url: str,
    key: str | None,
    messages: Sequence[Mapping[str, str]],
    seed: int | None,
    *,
    more: Callable[[JudgeSpec], Mapping[str, Any]] = lambda _: {},
    key_header: Callable[[str], Mapping[str, str]] = _bearer,
) -> HttpRequest:
    """A request for a chat completion; with ``more`` settings and ``key_header`` of an endpoint."""
    messages, form = _formed(spec, messages)
    body = {
        "model": spec.model,
        "messages": messages,
        "temperature": spec.temperature,
        # Reasoning models have a differently named budget, for reasoning and answer.
        "max_tokens" if spec.reasoning is None else "max_completion_tokens": spec.max_tokens,
        "reasoning_effort": spec.reasoning,
        "top_p": spec.top_p or None,
        "seed": seed,
        "logprobs": spec.logprobs or None,
        "top_logprobs": TOP_TOKENS if spec.logprobs else None,
        "response_format": form,
        **more(spec),
    }
    url = base_url.rstrip("/") + "/chat/completions"
    return _post(url, key_header(key) if key else {}, body)


def _plainly_sampled(spec: JudgeSpec) -> dict[str, Any]:
    """What has llama.cpp sample from the model's unmodified distribution.

    By default it truncates the distribution (``top_k``, ``min_p``) and penalises repetition.
    """
    # Cached state of another prompt would change the rounding of sums for the next one.
    return {"top_k": 0, "top_p": spec.top_p or 1, "min_p": 0, **_UNPUNISHED, "cache_prompt": False}


def _served_here(spec: JudgeSpec) -> dict[str, Any]:
    """The same for a model that this machine serves, under its name and not its path."""
    return {**_plainly_sampled(spec), "model": name_of(spec.model)}


def build_for_llamacpp(*arguments: Any) -> HttpRequest:
    """A request to a server of llama.cpp."""
    return build_completions(*arguments, more=_plainly_sampled)


def build_for_local(*arguments: Any) -> HttpRequest:
    """A request to a model that this machine serves."""
    return build_completions(*arguments, more=_served_here)


def build_for_azure(*arguments: Any) -> HttpRequest:
    """A request to Azure, which has a header of its own for the key."""
    return build_completions(*arguments, key_header=lambda key: {"api-key": key})


def _formed(
    spec: JudgeSpec, messages: Sequence[Mapping[str, str]]
) -> tuple[list[dict[str, str]], dict[str, Any] | None]:
    """The messages, and the ``response_format`` that they are sent with."""
    sent, schema = [dict(m) for m in messages], spec.reply_schema
    if schema is None:
        return sent, None
    if spec.structured != "json":
        form = {"name": _STRUCTURED, "strict": True, "schema": schema}
        return sent, {"type": "json_schema", "json_schema": form}
    # JSON mode enforces JSON but no schema; endpoints refuse it if no message mentions JSON.
    sent[-1]["content"] += f"\n\n{_IN_JSON}\n{json.dumps(schema, ensure_ascii=False)}"
    return sent, {"type": "json_object"}


def build_messages(
    spec: JudgeSpec,
    base_url: str,
    key: str | None,
    messages: Sequence[Mapping[str, str]],
    _seed: int | None,  # this API knows none
) -> HttpRequest:
    """A request to Anthropic's messages API."""
    schema, budget = spec.reply_schema, spec.reasoning
    body = {
        "model": spec.model,
        "max_tokens": spec.max_tokens,
        "system": "\n\n".join(m["content"] for m in messages if m["role"] == "system") or None,
        "messages": [dict(m) for m in messages if m["role"] != "system"],
        "temperature": spec.temperature,
        "top_p": spec.top_p or None,
        # A tool that has to be used: every model of this API knows that way.
        "tools": schema and [{"name": _STRUCTURED, "input_schema": schema}],
        "tool_choice": schema and {"type": "tool", "name": _STRUCTURED},
        "thinking": budget and {"type": "enabled", "budget_tokens": budget},
    }
    headers = {"anthropic-version": "2023-06-01"} | ({"x-api-key": key} if key else {})
    return _post(base_url.rstrip("/").removesuffix("/v1") + "/v1/messages", headers, body)


def _post(url: str, headers: Mapping[str, str], settings: Mapping[str, Any]) -> HttpRequest:
    body = {name: value for name, value in settings.items() if value is not None}
    try:
        encoded = to_json(body)  # four times as fast as `json`
    except ValueError:
        # It refuses lone surrogates; `json` escapes them.
        encoded = json.dumps(body, separators=(",", ":")).encode()
    return HttpRequest("POST", url, {"Content-Type": "application/json", **headers}, encoded)


def parse_completions(status: int, body: str) -> Reply | Failed:
    """The reply of a chat completion."""
    value = _object(status, body)
    if isinstance(value, Failed):
        return value
    try:
        choice = _first_choice(value["choices"])
        message = choice["message"]
        content = message.get("content")
        refusal = message.get("refusal")
    except (KeyError, IndexError, TypeError, AttributeError):
        return Failed("the response has no choices[0].message")
    if isinstance(content, list):
        content = _joined_texts(content)
    if error := choice.get("error"):  # a router reports a failure of its upstream here
        reason = error.get("message", error) if isinstance(error, dict) else error
        return Failed(f"the endpoint reports an error: {_shown(str(reason))}")
    if content is not None and not isinstance(content, str):
        return Failed(f"choices[0].message.content is a {type(content).__name__}, not a text")
    finish = choice.get("finish_reason")
    refused = str(refusal) if refusal else None
    if not content and finish == "content_filter":
        refused = refused or "no content, finish_reason content_filter"
    usage = _usage(value, "prompt_tokens", "completion_tokens")
    if not content and is_reasoning_alone(value):
        usage = _all_reasoning(usage)
    return Reply(
        text=None if refused and not content else content,
        usage=usage,
        truncated=finish == "length",
        refused=refused,
        model=_model(value),
        tokens=_tokens(choice.get("logprobs")),
    )


def _first_choice(choices: Any) -> Any:
    """The choice with the lowest ``index``, whatever their order; without one its place counts.

    Raises:
        IndexError, KeyError, TypeError: there is none.
    """
    if not isinstance(choices, list) or len(choices) == 1:
        return choices[0]

    def index_of(place: int) -> int:
        choice = choices[place]
        index = choice.get("index") if isinstance(choice, dict) else None
        return index if type(index) is int else place

    return choices[min(range(len(choices)), key=index_of, default=0)]


def parse_messages(status: int, body: str) -> Reply | Failed:
    """The reply of Anthropic's messages API."""
    value = _object(status, body)
    if isinstance(value, Failed):
        return value
    blocks = value.get("content")
    if not isinstance(blocks, list):
        return Failed("the response has no content blocks")
    stop = value.get("stop_reason")
    filled = [
        json.dumps(block.get("input"), ensure_ascii=False)
        for block in blocks
        if isinstance(block, dict)
        and (block.get("type"), block.get("name")) == ("tool_use", _STRUCTURED)
    ]
    usage, text = _usage(value, "input_tokens", "output_tokens"), _joined_texts(blocks)
    if text is None and is_reasoning_alone(value):
        usage = _all_reasoning(usage)  # which this API does not count apart
    return Reply(
        text=filled[0] if filled else text,
        usage=usage,
        truncated=stop == "max_tokens",
        refused="stop_reason refusal" if stop == "refusal" else None,
        model=_model(value),
    )


def _object(status: int, body: str) -> Mapping[str, Any] | Failed:
    """The body as an object, or the reason why it is not one."""
    if status >= 300:  # a redirect is not an answer either: only the judge's base_url is called
        return Failed(f"HTTP {status}: {_error_in(body)}")
    try:
        value = from_json(body)  # faster than `json`
    except (TypeError, ValueError):  # the first for a text that holds a lone surrogate
        try:
            value = json.loads(body)  # which permits the escapes of lone surrogates
        except (ValueError, RecursionError):
            return Failed(f"the response is not JSON: {_shown(body)!r}")
    if not isinstance(value, dict):
        return Failed(f"the response is not a JSON object: {_shown(body)!r}")
    if value.get("error"):
        return Failed(f"the endpoint reports an error: {_error_in(body)}")
    return value


def _shown(text: str) -> str:
    # More words than are shown need not be told apart: the text may have megabytes.
    return " ".join(text.split(None, _SHOWN))[:_SHOWN]


def _error_in(body: str) -> str:
    try:
        value = json.loads(body)
        error = next(value[key] for key in _SAY_WHAT if key in value)
        message = error["message"] if isinstance(error, dict) else error
    except (ValueError, KeyError, TypeError, RecursionError, StopIteration):
        return _shown(body)
    return _shown(str(message)) or _shown(body)


def _usage(value: Mapping[str, Any], *names: str) -> Usage:
    counts = value.get("usage")
    values = [counts.get(name) if isinstance(counts, dict) else None for name in names]
    stated = [n if type(n) is int and 0 <= n <= _MOST_TOKENS else None for n in values]
    return with_reasoning(value, *stated)


def _all_reasoning(usage: Usage) -> Usage:
    """The usage of a reply that is reasoning alone, where the endpoint does not count it."""
    if usage.reasoning_tokens is not None:
        return usage
    return replace(usage, reasoning_tokens=usage.completion_tokens)


def _model(value: Mapping[str, Any]) -> str | None:
    return name if isinstance(name := value.get("model"), str) else None


def _tokens(logprobs: Any) -> tuple[Token, ...]:
    """The tokens of a reply with the probabilities at their positions; empty if not stated."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list):
        return ()
    read = [_token(token) for token in content[:_MOST_READ]]
    # An unreadable token leaves a gap: the tokens after it may belong to another part of the reply.
    tokens = tuple(token for token in read if token is not None)
    return tokens if len(tokens) == len(read) else ()


def _token(stated: Any) -> Token | None:
    if not isinstance(stated, dict) or (drawn := _likelihood(stated)) is None:
        return None
    top = stated.get("top_logprobs")
    # Without the alternatives the drawn token alone would look certain.
    if not isinstance(top, list) or not top:
        return None
    listed = [_likelihood(alternative) for alternative in top[:TOP_TOKENS]]
    # Tokens with equal stripped text ("A" and " A") are the same word to a reader.
    likelihoods: dict[str, float] = {}
    for text, chance in dict.fromkeys(
        alternative for alternative in listed if alternative is not None
    ):
        likelihoods[text] = likelihoods.get(text, 0.0) + chance
    # Endpoints may list the drawn token in addition to the most likely ones.
    likelihoods.setdefault(*drawn)
    return Token(drawn[0], tuple(likelihoods.items()))


def _likelihood(stated: Any) -> tuple[str, float] | None:
    """A token and its probability; ``None`` if malformed."""
    if not isinstance(stated, dict):
        return None
    text, logprob = stated.get("token"), stated.get("logprob")
    if not isinstance(text, str) or len(text) > _LONGEST_TOKEN:
        return None
    if not isinstance(logprob, int | float) or isinstance(logprob, bool):
        return None
    if not logprob <= _ROUNDED_UP:  # nor is NaN
        return None
    return text, math.exp(max(min(logprob, 0.0), _NEVER))


def _joined_texts(parts: Sequence[Any]) -> str | None:
    """The texts of content parts; ``None`` if no part is a text."""
    texts = [
        part["text"]
        for part in parts
        if isinstance(part, dict)
        and part.get("type", "text") == "text"
        and isinstance(part.get("text"), str)
    ]
    return "".join(texts) if texts else None
