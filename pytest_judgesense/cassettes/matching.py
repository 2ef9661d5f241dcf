"""Finding the exchange that answers a request, or the reason why there is none.

Two requests are the same if method, normal URL and body are:

* ``normal_url`` drops user info, fragment and default port; on a loopback host every port, because
  a test server's port is an accident of the run; and the region of Amazon Bedrock, which each
  machine's environment names. The query keeps its order.
* A body that is a JSON object or list counts in canonical form (sorted keys, no spaces); any other
  counts byte for byte.

Headers are not part of it: they hold credentials and client versions, not the prompt.

An exchange is found by trial, request digest and occurrence, in constant time. Only answers count
as occurrences: an attempt that ended in an error status and was made again is evidence. Where a
request of a trial never got an answer, its errors are replayed in turn, and the last one for every
further attempt: the trial fails as it failed when it was recorded.

A line stays as its bytes until its trial is looked up: a large cassette takes little more memory
than its size on the disk.
"""

from __future__ import annotations

import difflib
import hashlib
import ipaddress
import json
import re
from bisect import insort
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest, as_bytes
from pytest_judgesense.cassettes.storage import Line
from pytest_judgesense.errors import StaleRecording
from pytest_judgesense.grouping import grouped

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_REGION: Final = re.compile(r"(?<=^bedrock-runtime)\.[a-z0-9-]+(?=\.amazonaws\.com$)")


def is_loopback(host: str) -> bool:
    """Whether ``host`` is this machine: ``localhost``, 127.0.0.0/8 or ``::1``."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@lru_cache(maxsize=256)  # a judge asks one URL thousands of times
def normal_url(url: str) -> str:
    """``url`` without user info, fragment, and a port that says nothing; ``/`` for no path."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # no URL: "http://[", or a port beyond 65535
        return url
    if parts.hostname is None:
        return urlunsplit(parts._replace(fragment=""))
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    host = _REGION.sub("", host)
    is_accident = is_loopback(parts.hostname) or port == _DEFAULT_PORTS.get(parts.scheme)
    if port is not None and not is_accident:
        host = f"{host}:{port}"
    return urlunsplit((parts.scheme, host, parts.path or "/", parts.query, ""))


@lru_cache(maxsize=256)  # a request under way is looked up more than once
def request_digest(method: str, url: str, body: str | bytes) -> str:
    """SHA-256, in hexadecimal, of the identity of a request."""
    head = f"{method.upper()}\n{normal_url(url)}\n".encode("utf-8", "surrogatepass")
    return hashlib.sha256(head + _canonical(as_bytes(body))).hexdigest()


def _canonical(body: bytes) -> bytes:
    if body.lstrip()[:1] not in (b"{", b"["):
        return body
    try:
        data = json.loads(body)
        return json.dumps(data, sort_keys=True, separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        return body


def digest_of(request: RecordedRequest) -> str:
    """The digest of ``request``."""
    return request_digest(request.method, request.url, request.body)


# --- the exchanges of a cassette ------------------------------------------------------------------


class Recordings:
    """The exchanges of one cassette. Safe with threads."""

    def __init__(self, lines: Iterable[Line]) -> None:
        # By trial, in the order of the calls.
        self._lines: dict[str, list[Line]] = {}
        # By trial and digest; of the trials in which a digest was looked for.
        self._replies: dict[str, dict[str, list[Line]]] = {}
        self._lock = Lock()
        for line in lines:
            self.add(line)

    def add(self, line: Line) -> None:
        """Add a line of the file."""
        trial = line.head.trial
        with self._lock:
            self._replies.pop(trial, None)
            if trial in self._lines:
                insort(self._lines[trial], line, key=lambda one: one.head.call)
            else:
                self._lines[trial] = [line]

    @property
    def trials(self) -> set[str]:
        """Ids of the trials with any recorded exchange."""
        return set(self._lines)

    @property
    def span(self) -> tuple[str, str] | None:
        """When the first and the last exchange were recorded; ``None`` if there is none."""
        return _span(line.head.recorded_at for lines in self._lines.values() for line in lines)

    def span_of(self, trials: Iterable[str]) -> tuple[str, str] | None:
        """When the first and the last answer to ``trials`` was recorded; ``None`` without any.

        Of a trial that never got one, its errors count; before an answer they make it no older.
        """
        moments: list[str] = []
        for trial in trials:
            heads = [line.head for line in tuple(self._lines.get(trial, ()))]
            answers = [head.recorded_at for head in heads if head.answers]
            moments += answers or [head.recorded_at for head in heads]
        return _span(moments)

    def sole_answer(self, trial: str, method: str, url: str, body: str | bytes) -> Exchange | None:
        """The answer to a request if it is the only one recorded of ``trial``, text for text.

        So it is of nearly every trial, and comparing the texts is all it takes.
        """
        lines = self._lines.get(trial, ())
        if len(lines) != 1 or not lines[0].head.answers:
            return None
        exchange = lines[0].exchange
        asked = exchange.request
        return exchange if (asked.method, asked.url, asked.body) == (method, url, body) else None

    def find(
        self, trial: str, digest: str, occurrence: int, *, replay_errors: bool
    ) -> Exchange | None:
        """The exchange that answers a request of ``trial`` made ``occurrence`` times before.

        With ``replay_errors``, recorded errors are used if there is no answer.
        """
        replies = self._replies_to(trial, digest)
        answers = [line for line in replies if line.head.answers]
        if occurrence < len(answers):
            return answers[occurrence].exchange
        if answers or not replies or not replay_errors:
            return None
        return replies[min(occurrence, len(replies) - 1)].exchange

    def knows(self, trial: str, digest: str) -> bool:
        """Whether ``trial`` has made the request ``digest``, answered or not."""
        return bool(self._replies_to(trial, digest))

    def of(self, trial: str) -> list[tuple[Exchange, int | None]]:
        """The exchanges of ``trial`` by call, each with its line if it was read from the file."""
        return [(line.exchange, line.number) for line in tuple(self._lines.get(trial, ()))]

    def last_call(self, trial: str) -> int:
        """The highest call number of ``trial``; 0 if nothing is recorded."""
        lines = self._lines.get(trial, [])
        return lines[-1].head.call if lines else 0

    def complete(self, trial: str) -> bool:
        """Whether the last exchange of ``trial`` is an answer."""
        lines = self._lines.get(trial, [])
        return bool(lines) and lines[-1].head.answers

    def _replies_to(self, trial: str, digest: str) -> list[Line]:
        """The answers to a request of a trial, in the order of the calls."""
        with self._lock:
            if trial not in self._replies:
                lines = tuple(self._lines.get(trial, ()))
                self._replies[trial] = grouped(lines, lambda one: digest_of(one.exchange.request))
            return self._replies[trial].get(digest, [])


def _span(moments: Iterable[str]) -> tuple[str, str] | None:
    ordered = sorted(moments)
    return (ordered[0], ordered[-1]) if ordered else None


# --- why there is none ----------------------------------------------------------------------------


LONGEST_DIFF: Final = 20
# Where a request holds its prompt, by the formats of providers.
_PROMPT: Final = frozenset(("contents", "input", "instructions", "messages", "prompt", "system"))
LONGEST_LINE: Final = 160


def stale(
    recorded: Exchange, request: RecordedRequest, path: Path, line: int | None, remedy: str
) -> StaleRecording:
    """The error for a trial that is recorded with another request than ``request``."""
    place = f"{path}:{line}" if line else str(path)
    diff = request_diff(recorded.request, request, f"{place} ({recorded.recorded_at})", "this run")
    return StaleRecording(
        f"trial {recorded.trial}: {_changed(recorded.request, request)} since it was recorded",
        found="\n".join([f"call {recorded.call} differs from {place}", *diff]),
        expected="the request that was recorded",
        remedy=remedy,
    )


def _changed(recorded: RecordedRequest, asked: RecordedRequest) -> str:
    """What changed, as a clause: the prompt, the endpoint, the model, or other settings."""
    parts = ["the endpoint"] if recorded.url != asked.url else []
    before = now = None
    with suppress(ValueError, RecursionError):
        before, now = (json.loads(one.body) for one in (recorded, asked))
    if not (isinstance(before, dict) and isinstance(now, dict)):
        return f"{' and '.join([*parts, 'the request'])} changed"
    keys = [key for key in sorted(before.keys() | now.keys()) if before.get(key) != now.get(key)]
    parts += ["the model"] if "model" in keys else []
    prompt = [key for key in keys if key in _PROMPT]
    parts += ["the prompt"] if prompt else []
    if recorded.method == asked.method == "CALL" and "settings" in keys:
        parts.append("what the function is given")
        keys.remove("settings")
    settings = [key for key in keys if key not in (*prompt, "model")]
    if settings:
        parts.append(f"setting{'s' * (len(settings) > 1)} {', '.join(settings)}")
    return f"{' and '.join(parts) or 'the request'} changed"


def request_diff(
    recorded: RecordedRequest, asked: RecordedRequest, before: str, after: str
) -> list[str]:
    """Unified diff of two requests as readable lines, at most twenty of them."""
    before_lines, asked_lines = (
        [f"{one.method} {one.url}", *readable(one.body)] for one in (recorded, asked)
    )
    lines = difflib.unified_diff(before_lines, asked_lines, before, after, lineterm="", n=1)
    shown = [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}..." for line in lines]
    if (left := len(shown) - LONGEST_DIFF + 1) > 1:
        shown[LONGEST_DIFF - 1 :] = [f"... and {left} lines more"]
    return shown


def readable(body: str | bytes) -> list[str]:
    """``body`` as lines to be read: one a value for JSON, else the lines of the text."""
    if isinstance(body, bytes):
        return [repr(body)]
    try:
        return list(_values(json.loads(body), ""))
    except (ValueError, RecursionError):
        return body.splitlines()


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
