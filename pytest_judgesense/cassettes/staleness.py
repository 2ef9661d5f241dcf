"""Why a request was not found: errors that show what is recorded and what was asked.

A JSON body is compared as one line a value, ``messages[0].content: "..."``; a text of several lines
keeps its lines, so that the diff of a prompt reads like the prompt.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.cassettes.exchange import Body, Exchange, RecordedRequest
from pytest_judgesense.errors import MissingRecording, StaleRecording

__all__ = ["missing", "readable", "request_diff", "stale"]

LONGEST_DIFF: Final = 20
LONGEST_LINE: Final = 160


def missing(
    trial: str, request: RecordedRequest, *, path: Path, found: str, remedy: str
) -> MissingRecording:
    """The error for a request of ``trial`` that has no recording; ``found`` says what there is."""
    return MissingRecording(
        f"trial {trial} is not recorded in {path}",
        found=found,
        expected=f"an answer to {request.method} {request.url}",
        remedy=remedy,
    )


def stale(
    recorded: Exchange, request: RecordedRequest, *, path: Path, line: int | None, remedy: str
) -> StaleRecording:
    """The error for a trial that is recorded with another request than ``request``."""
    place = f"{path}:{line}" if line else str(path)
    diff = request_diff(recorded.request, request, f"{place} ({recorded.recorded_at})", "this run")
    return StaleRecording(
        f"trial {recorded.trial}: the prompt changed since it was recorded",
        found="\n".join([f"call {recorded.call} differs from {place}", *diff]),
        expected="the request that was recorded",
        remedy=remedy,
    )


def request_diff(
    recorded: RecordedRequest, asked: RecordedRequest, before: str, after: str
) -> list[str]:
    """Unified diff of two requests as readable lines, at most twenty of them."""
    lines = list(
        difflib.unified_diff(
            _lines(recorded), _lines(asked), fromfile=before, tofile=after, lineterm="", n=1
        )
    )
    shown = [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}..." for line in lines]
    if len(shown) <= LONGEST_DIFF:
        return shown
    return [*shown[: LONGEST_DIFF - 1], f"... and {len(shown) - LONGEST_DIFF + 1} lines more"]


def readable(body: Body) -> list[str]:
    """``body`` as lines to be read: one a value for JSON, else the text's own."""
    if isinstance(body, bytes):
        return [repr(body)]
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return body.splitlines()
    return list(_values(data, ""))


def _lines(request: RecordedRequest) -> list[str]:
    return [f"{request.method} {request.url}", *readable(request.body)]


def _values(data: Any, name: str) -> Iterator[str]:
    if isinstance(data, dict) and data:
        for key in sorted(data):
            yield from _values(data[key], f"{name}.{key}" if name else key)
    elif isinstance(data, list) and data:
        for index, value in enumerate(data):
            yield from _values(value, f"{name}[{index}]")
    elif isinstance(data, str) and "\n" in data:
        yield f"{name}:"
        yield from (f"    {line}" for line in data.split("\n"))
    else:
        yield f"{name}: {json.dumps(data, ensure_ascii=False)}"
