"""The consequence of a response's status: an answer, another attempt, or an end. Pure."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, Literal, TypeAlias

# The consequence of a response; see `throttle` for the kinds.
Kind: TypeAlias = Literal["answer", "retry", "end", "fail"]

_RETRIED: Final = frozenset({408, 409, 425, 429, *range(500, 600)} - {501, 505})
_ENDING: Final = frozenset({*range(300, 400), 401, 402, 403, 404, 405, 407, 410})
_OVERLOADED: Final = frozenset({429, 503, 529})
# An invalid request, and settings that an endpoint may not support.
_WRONG: Final = re.compile(r"HTTP (?:400|422): .*\b(?:temperature|seed|top_?p)\b", re.IGNORECASE)
_REFUSES: Final = re.compile(
    r"HTTP (?:400|422): .*(?:unsupported|support|unknown|unrecogni[sz]ed|permitted|allowed|may only"
    r"|cannot (?:both )?be)",
    re.IGNORECASE,
)
# The settings of requests that models refuse, and what leaves them out of a judge's.
_LEFT_OUT: Final[Mapping[str, str]] = {
    "temperature": 'temperature = false; reasoning = "low" sends none either, and names the budget '
    "as models that reason take it",
    "max_tokens": 'reasoning = "low" (or another effort), which sends max_completion_tokens',
    "top_p": "top_p = false",
    "seed": "seed = false",
    "top_logprobs": "logprobs = false",
    "logprobs": "logprobs = false",
    "response_format": "structured = false",
    "reasoning_effort": "take reasoning out",
}
_NAMED: Final = re.compile(rf"(?<![A-Za-z_])(?:{'|'.join(_LEFT_OUT)})(?![A-Za-z_])")
# A 429 with one of these codes does not pass by waiting.
_OUT_OF_CREDIT: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached"})


def kind_of_status(status: int, body: str = "") -> Kind:
    """The consequence of a response with ``status``; below 300 the body decides."""
    if status == 429 and _code(body) in _OUT_OF_CREDIT:
        return "end"
    if status in _RETRIED:
        return "retry"
    if status in _ENDING:
        return "end"
    return "fail" if status >= 400 else "answer"


def overloaded(status: int) -> bool:
    """Whether ``status`` says that the endpoint is asked too much."""
    return status in _OVERLOADED


def refusal(reason: str) -> str | None:
    """The message of an endpoint about an unsupported setting, from the reason of a `Failed`."""
    return f"refused: {reason}" if _WRONG.match(reason) else None


def setting_to_change(reason: str) -> str | None:
    """What to write in a judge's table so that what a model refuses is left out of its requests.

    From the reason of a `Failed`; ``None`` where the endpoint refuses no setting by name.
    """
    named = _NAMED.search(reason) if _REFUSES.match(reason) else None
    return _LEFT_OUT[named[0]] if named else None


def status_of(error: BaseException) -> int:
    """The HTTP status that a client's exception carries; 0 for none."""
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
    return status if isinstance(status, int) else 0


def reason_of(error: BaseException) -> str:
    """The kind of error and its text, if it can be shown, in one line."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - an error of any class
        text = ""
    if (variable := unset_variable(error)) is not None:
        text += f", an environment variable that is not set: export {variable}=..."
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def unset_variable(error: BaseException) -> str | None:
    """The environment variable that ``os.environ`` was asked for and does not have, if any."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    read = type(os.environ).__getitem__.__code__
    if not isinstance(error, KeyError) or place is None or place.tb_frame.f_code is not read:
        return None
    return str(error.args[0])


def wait_asked_for(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds that ``Retry-After`` (seconds or a date) or ``retry-after-ms`` asks to wait."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        wait = headers.get("retry-after")
        if wait is None:
            return None
        if wait.strip().replace(".", "", 1).isdigit():
            return float(wait)
        until = parsedate_to_datetime(wait)
        aware = until if until.tzinfo else until.replace(tzinfo=UTC)
        return max(0.0, (aware - (now or datetime.now(UTC))).total_seconds())
    except (ValueError, OverflowError):
        return None  # not a time, whatever it means


def _code(body: str) -> str | None:
    try:
        error = json.loads(body)["error"]
        return str(error.get("code") or error.get("type"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
