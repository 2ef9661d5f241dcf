"""Batch files as OpenAI and vLLM write them: a request a line, and a result a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, TypeVar

from pytest_judgesense.errors import LogError
from pytest_judgesense.files.limits import json_value
from pytest_judgesense.files.opening import read_bytes

_T = TypeVar("_T")

BATCH_URL: Final = "/v1/chat/completions"
_INSTANT: Final = "%Y-%m-%dT%H:%M:%SZ"
# A batch file keeps no headers; the body of an answer is JSON.
JSON_HEADERS: Final = (("content-type", "application/json"),)


@dataclass(frozen=True, slots=True)
class Answered:
    """A request and its answer as somebody else has recorded them, secrets and all.

    ``where`` is the place in the file, ``data`` the answer as it came over the wire;
    ``recorded_at`` is ``None`` where the file does not say.
    """

    where: str
    method: str
    url: str
    body: str | bytes
    status: int
    headers: tuple[tuple[str, str], ...]
    data: bytes
    recorded_at: str | None = None


@dataclass(frozen=True, slots=True)
class BatchResult:
    """A line of the output or error file of a batch.

    Without a ``status`` the request was not answered; ``reason`` is the provider's.
    """

    where: str
    custom_id: str
    status: int | None
    data: bytes
    reason: str = ""
    recorded_at: str | None = None


def batch_line(custom_id: str, body: bytes) -> str:
    """A line of a batch's input file, without a line end; ``body`` is inserted unchanged."""
    head = json.dumps({"custom_id": custom_id, "method": "POST", "url": BATCH_URL})
    return f'{head[:-1]}, "body": {body.decode()}}}'


def read_batch_results(path: Path) -> Iterator[BatchResult]:
    """The lines of the output or error file of a batch, as OpenAI and vLLM write them.

    Raises:
        LogError: the file or a line of it cannot be read; names file and line.
    """
    with LogError.instead_of(OSError, f"the results {path} cannot be read"):
        lines = read_bytes(path).split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            yield _result(_typed(json_value(line), dict, "the line"), where)
        except (ValueError, RecursionError) as error:
            raise LogError(
                f"{where} is not a result of a batch",
                found=str(error),
                expected="a JSON object with custom_id, response (status_code, body) and error",
                remedy="download the output or error file of the batch again",
            ) from error


def _result(line: Mapping[str, Any], where: str) -> BatchResult:
    custom_id = _typed(line.get("custom_id"), str, "custom_id")
    error, response = line.get("error"), line.get("response")
    body = status = None
    if response is not None:
        status = _status(_typed(response, dict, "response").get("status_code"), "status_code")
        body = response.get("body")
        if body is None and status >= HTTPStatus.BAD_REQUEST:
            # vLLM puts its server's answer beside the response.
            body = error if isinstance(error, dict) and "error" in error else {"error": error}
    if body is None:
        return BatchResult(where, custom_id, None, b"", _reason(error))
    return BatchResult(where, custom_id, status, _compact(body), "", _created(body))


def _status(value: Any, name: str) -> int:
    status: int = _typed(value, int, name)
    if not 100 <= status <= 999:
        raise ValueError(f"{name} is {status}, and no status of HTTP")
    return status


def _typed(value: Any, kind: type[_T], name: str) -> _T:
    if not isinstance(value, kind) or isinstance(value, bool):
        message = f"{name} is {type(value).__name__}, not {kind.__name__}"
        raise ValueError(message)  # noqa: TRY004 - the file is wrong, not the program
    return value


def _reason(error: Any) -> str:
    if isinstance(error, dict):
        return str(error.get("message") or error.get("code") or error)
    return str(error or "no response and no error")


def _compact(body: Any) -> bytes:
    """A body as servers send it; a batch file holds it parsed, so its spaces are unknown."""
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(body, separators=(",", ":")).encode()


def _created(body: Any) -> str | None:
    """When the answer was made: ``created``, in seconds since 1970."""
    created = body.get("created") if isinstance(body, dict) else None
    if not isinstance(created, int) or created <= 0:
        return None
    try:
        return datetime.fromtimestamp(created, UTC).strftime(_INSTANT)
    except (ValueError, OverflowError, OSError):
        return None
