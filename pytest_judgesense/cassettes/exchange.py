r"""One exchange of a judge with its endpoint, and the cassette line that holds it.

A line is a JSON object with its keys in a fixed order and no line break inside::

    {"trial": ..., "call": 1, "request": {"method", "url", "body"},
     "response": {"status", "headers", "body"}, "recorded_at": "2026-01-31T12:00:00Z"}

A body is text, byte for byte what was sent once its content encoding is undone. Bytes that are not
UTF-8 stand as ``{"base64": "..."}`` and come back as ``bytes``. A body with long parts is a list of
texts and of references to the file of parts (see `bodies`). Characters that some program takes
for the end of a line (U+0085, U+2028, U+2029), other controls and lone surrogates are written as
``\uXXXX``: one exchange is one line to every reader.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar

from pydantic_core import from_json

from pytest_judgesense.cassettes.bodies import Parts, joined, with_references
from pytest_judgesense.errors import BrokenCassette

__all__ = [
    "FAULT",
    "NO_RESPONSE",
    "Body",
    "Exchange",
    "RecordedRequest",
    "RecordedResponse",
    "as_body",
    "as_bytes",
    "entry_of",
    "is_answer",
    "verified_entry",
]

# Stands among the recorded headers of a response that holds no reply in spite of its status.
FAULT: Final = "judgesense-fault"
# Stands for the status where no response came; the body then says why.
NO_RESPONSE: Final = 0

Body: TypeAlias = str | bytes
_T = TypeVar("_T")

_UNSAFE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
# Of an object of JSON, or of the first event of a stream that holds one; not of a quoted text.
_MODEL: Final = re.compile(r'(?<!\\)"model"\s*:\s*"((?:[^"\\]|\\.)*)"')
_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_REMEDY: Final = (
    "restore the file from version control, or delete the line and record what is missing with "
    "--judge-mode record"
)


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """What was asked.

    Attributes:
        method: HTTP method in capitals; ``CALL`` for a Python callable.
        url: normal form of the URL (see `key.normal_url`), its secrets redacted.
        body: what was sent; text, or ``bytes`` where it is not UTF-8.
    """

    method: str
    url: str
    body: Body


@dataclass(frozen=True, slots=True)
class RecordedResponse:
    """What was answered.

    Attributes:
        status: HTTP status; 200 for the return of a Python callable; `NO_RESPONSE`.
        headers: the headers of the allow-list, names in lower case.
        body: what came back, its content encoding undone.
    """

    status: int
    headers: Mapping[str, str]
    body: Body


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request of a trial and its answer.

    Attributes:
        trial: id of the trial.
        call: number of the call within its trial, from 1.
        recorded_at: when the answer arrived: UTC, ISO 8601, whole seconds, ``Z``.
    """

    trial: str
    call: int
    request: RecordedRequest
    response: RecordedResponse
    recorded_at: str

    @property
    def answers(self) -> bool:
        """Whether the endpoint answered; an error or a fault is evidence, and no answer."""
        return is_answer(self.response.status, self.response.headers)

    @property
    def models(self) -> tuple[str, str] | None:
        """The model that was asked for (else the URL), and the one that the answer names, if any.

        Bodies of JSON and streams of it are read alike, whatever provider they are from.
        """
        served = _model_of(self.response.body)
        if served is None or self.request.method == "CALL":
            return None
        return _model_of(self.request.body) or self.request.url, served

    def to_line(self, keep_apart: Callable[[str], str | None] | None = None) -> str:
        """The cassette line of this exchange, without a line break.

        Args:
            keep_apart: from a long part of a body to the digest that it is kept under, or
                ``None`` if it stays in the line; without it, everything does.
        """
        line = json.dumps(
            {
                "trial": self.trial,
                "call": self.call,
                "request": {
                    "method": self.request.method,
                    "url": self.request.url,
                    "body": _body_to_json(self.request.body, keep_apart),
                },
                "response": {
                    "status": self.response.status,
                    "headers": dict(sorted(self.response.headers.items())),
                    "body": _body_to_json(self.response.body, keep_apart),
                },
                "recorded_at": self.recorded_at,
            },
            ensure_ascii=False,
        )
        return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", line)

    @classmethod
    def from_line(
        cls, text: str, path: Path, number: int, parts: Parts = MappingProxyType({})
    ) -> Exchange:
        """The exchange that a cassette line holds.

        Args:
            text: the line.
            path: the cassette, for the message of an error.
            number: the line's number, from 1, likewise.
            parts: what its bodies may refer to.

        Raises:
            BrokenCassette: the line is not such an object.
        """
        return cls.from_entry(verified_entry(text, path, number, parts), parts)

    @classmethod
    def from_entry(cls, entry: Mapping[str, Any], parts: Parts = MappingProxyType({})) -> Exchange:
        """The exchange of a line that was verified: its object as JSON gives it."""
        request, response = entry["request"], entry["response"]
        return cls(
            entry["trial"],
            entry["call"],
            RecordedRequest(
                request["method"], request["url"], _body_from_json(request["body"], parts)
            ),
            RecordedResponse(
                response["status"],
                MappingProxyType(response["headers"]),
                _body_from_json(response["body"], parts),
            ),
            entry["recorded_at"],
        )


def is_answer(status: int, headers: Mapping[str, str]) -> bool:
    """Whether a response with that HTTP status and these headers is an answer."""
    return NO_RESPONSE < status < 400 and FAULT not in headers


def entry_of(line: str) -> Any:
    """The object of a line, as JSON gives it; ``ValueError`` if it is no JSON."""
    try:
        # Three times as fast as `json`, which bounds the price of opening a cassette.
        return from_json(line, cache_strings="keys")
    except ValueError:
        # It refuses the escapes of lone surrogates, and says less about what is wrong.
        return json.loads(line)


def verified_entry(
    text: str, path: Path, number: int, parts: Parts = MappingProxyType({})
) -> dict[str, Any]:
    """The object of a cassette line, every part of it of its type; see `Exchange.from_line`."""
    try:
        return _verified(entry_of(text), parts)
    except (ValueError, RecursionError) as error:
        raise BrokenCassette(
            f"{path}:{number}: the line cannot be read ({error})",
            found=_excerpt(text),
            expected="one exchange: a JSON object with trial, call, request, response, recorded_at",
            remedy=_REMEDY,
        ) from error


def as_body(data: bytes) -> Body:
    """``data`` as text if it is UTF-8, else as it is."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data


def as_bytes(body: Body) -> bytes:
    """The bytes of ``body``; text as UTF-8, lone surrogates (from a callable) kept as such."""
    return body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")


def _model_of(body: Body) -> str | None:
    found = _MODEL.search(body) if isinstance(body, str) else None
    return found and found[1]


def _verified(data: Any, parts: Parts) -> dict[str, Any]:
    entry = _object(data, "the line")
    request = _object(entry.get("request"), "request")
    response = _object(entry.get("response"), "response")
    headers = _object(response.get("headers"), "response.headers")
    for name, value in headers.items():
        if type(value) is not str:
            _typed(value, str, f"response.headers[{name!r}]")
    recorded_at = _typed(entry.get("recorded_at"), str, "recorded_at")
    if not _INSTANT.fullmatch(recorded_at):
        raise ValueError(f"recorded_at is {recorded_at!r}, not YYYY-MM-DDTHH:MM:SSZ")
    _typed(entry.get("trial"), str, "trial")
    _typed(entry.get("call"), int, "call")
    _typed(request.get("method"), str, "request.method")
    _typed(request.get("url"), str, "request.url")
    _typed(response.get("status"), int, "response.status")
    _verify_body(request.get("body"), "request.body", parts)
    _verify_body(response.get("body"), "response.body", parts)
    return entry


def _typed(value: Any, kind: type[_T], name: str) -> _T:
    if type(value) is not kind:  # exactly: True is no number
        message = f"{name} is {type(value).__name__}, not {kind.__name__}"
        raise ValueError(message)
    return value


def _object(value: Any, name: str) -> dict[str, Any]:
    return _typed(value, dict, name)


def _body_to_json(body: Body, keep_apart: Callable[[str], str | None] | None) -> Any:
    if isinstance(body, str):
        return body if keep_apart is None else with_references(body, keep_apart)
    return {"base64": base64.b64encode(body).decode("ascii")}


def _body_from_json(value: Any, parts: Parts) -> Body:
    if isinstance(value, list):
        return joined(value, parts)
    return value if isinstance(value, str) else base64.b64decode(value["base64"])


def _verify_body(value: Any, name: str, parts: Parts) -> None:
    if type(value) is str:
        return
    if type(value) is list:
        for piece in value:
            if type(piece) is not str:
                digest = _typed(_object(piece, name).get("part"), str, f"{name}: part")
                if digest not in parts:
                    message = f"{name} refers to part {digest}, which is not beside the cassette"
                    raise ValueError(message)
        return
    if isinstance(value, dict) and set(value) == {"base64"}:
        try:
            base64.b64decode(_typed(value["base64"], str, name), validate=True)
        except binascii.Error as error:
            raise ValueError(f"{name} is not base64: {error}") from error
        return
    _typed(value, str, name)


def _excerpt(text: str) -> str:
    shown = text if len(text) <= 80 else f"{text[:50]} ... {text[-25:]}"
    return repr(shown)
