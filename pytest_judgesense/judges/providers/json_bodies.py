"""What the JSON bodies of chat endpoints have in common. Reading one never raises."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic_core import from_json, to_json

from pytest_judgesense.trial import Failed, Usage

# What a structured reply is called where it needs a name.
STRUCTURED: Final = "judgment"
_SHOWN: Final = 200


def encoded(body: Mapping[str, Any]) -> bytes:
    """The body of a request."""
    try:
        return to_json(body)  # four times as fast as `json`
    except ValueError:
        # It refuses lone surrogates; `json` escapes them.
        return json.dumps(body, separators=(",", ":")).encode()


def parsed(status: int, body: str) -> Mapping[str, Any] | Failed:
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


def usage_of(value: Any, prompt: str, completion: str) -> Usage:
    """The numbers of tokens that a response gives under these names."""
    counts = value if isinstance(value, dict) else {}
    return Usage(_count(counts.get(prompt)), _count(counts.get(completion)))


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def name_of(value: Any) -> str | None:
    """The model that a response names."""
    return value if isinstance(value, str) else None


def joined_texts(parts: Sequence[Any]) -> str | None:
    """The texts of content parts; ``None`` if no part is a text."""
    texts = [
        str(part.get("text", ""))
        for part in parts
        if isinstance(part, dict) and part.get("type", "text") == "text"
    ]
    return "".join(texts) if texts else None
