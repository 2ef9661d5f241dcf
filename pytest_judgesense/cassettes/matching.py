"""Finding the exchange that answers a request, and saying why there is none.

Two requests are the same if method, normal URL and body are:

* ``normal_url`` drops user info, fragment and default port; on a loopback host every port, because
  a test server's port is an accident of the run. The query keeps its order.
* A body that is a JSON object or list counts in canonical form (sorted keys, no spaces), so that
  the order in which a client writes its keys does not matter; any other body counts byte for byte.

Headers are no part of it: they hold credentials and client versions, and no part of the prompt.

An exchange is found by trial, request digest and occurrence, in constant time. Only answers count
as occurrences: an attempt that ended in an error status and was made again is evidence, and replay
goes straight to the answer. Where a request of a trial never got an answer, its errors are replayed
in turn and the last one again for every further attempt: the trial fails as it failed when it was
recorded.

A line stays as its bytes until its trial is looked up: a large cassette takes little more memory
than its size on the disk, whatever its characters.
"""

from __future__ import annotations

import difflib
import hashlib
import ipaddress
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest, as_bytes
from pytest_judgesense.cassettes.storage import Line
from pytest_judgesense.errors import MissingRecording, StaleRecording

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


def is_loopback(host: str) -> bool:
    """Whether ``host`` is this machine: ``localhost``, 127.0.0.0/8 or ``::1``."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@lru_cache(maxsize=256)  # a judge asks one URL thousands of times
def normal_url(url: str) -> str:
    """``url`` without user info, fragment, and a port that says nothing; ``/`` for no path."""
    parts = urlsplit(url)
    if parts.hostname is None:
        return urlunsplit(parts._replace(fragment=""))
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    if (
        parts.port is not None
        and parts.port != _DEFAULT_PORTS.get(parts.scheme)
        and not is_loopback(parts.hostname)
    ):
        host = f"{host}:{parts.port}"
    return urlunsplit((parts.scheme, host, parts.path or "/", parts.query, ""))


@lru_cache(maxsize=256)  # a request under way is looked up more than once
def request_digest(method: str, url: str, body: str | bytes) -> str:
    """SHA-256, in hexadecimal, of what makes a request what it is."""
    head = f"{method.upper()}\n{normal_url(url)}\n".encode("utf-8", "surrogatepass")
    return hashlib.sha256(head + _canonical(as_bytes(body))).hexdigest()


def _canonical(body: bytes) -> bytes:
    if body.lstrip()[:1] not in (b"{", b"["):
        return body
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return body
    return json.dumps(data, sort_keys=True, separators=(",", ":")).encode()


def digest_of(exchange: Exchange) -> str:
    """The request digest of ``exchange``."""
    request = exchange.request
    return request_digest(request.method, request.url, request.body)


# --- the exchanges of a cassette ------------------------------------------------------------------


@dataclass(slots=True)
class _Replies:
    """What one request of a trial was answered, in the order of the calls."""

    answers: list[Exchange] = field(default_factory=list)
    errors: list[Exchange] = field(default_factory=list)

    def add(self, exchange: Exchange) -> None:
        (self.answers if exchange.answers else self.errors).append(exchange)


class _Entry(NamedTuple):
    """An exchange, or its line, with what is asked of it often."""

    call: int
    answers: bool
    at: str
    source: Line | Exchange

    @property
    def exchange(self) -> Exchange:
        return self.source.exchange if isinstance(self.source, Line) else self.source

    @property
    def number(self) -> int | None:
        """The number of its line, if it was read from the file."""
        return self.source.number if isinstance(self.source, Line) else None


@dataclass(slots=True)
class _OfTrial:
    """The exchanges of one trial by call; ``by_digest`` is ``None`` until needed."""

    entries: list[_Entry] = field(default_factory=list)
    by_digest: dict[str, _Replies] | None = None

    def add(self, entry: _Entry) -> None:
        if self.by_digest is not None:
            exchange = entry.exchange
            self.by_digest.setdefault(digest_of(exchange), _Replies()).add(exchange)
        self.entries.append(entry)
        if len(self.entries) > 1 and entry.call < self.entries[-2].call:
            self.entries.sort(key=lambda item: item.call)

    def index(self) -> dict[str, _Replies]:
        if self.by_digest is None:
            self.by_digest = {}
            for entry in self.entries:
                exchange = entry.exchange
                self.by_digest.setdefault(digest_of(exchange), _Replies()).add(exchange)
        return self.by_digest


class Recordings:
    """The exchanges of one cassette. Not safe with threads: `Cassette` holds a lock around it."""

    def __init__(self, lines: Iterable[Line] = ()) -> None:
        """Index ``lines``, as a file is read."""
        self._trials: dict[str, _OfTrial] = {}
        self._span: tuple[str, str] | None = None
        for line in lines:
            head = line.head
            at = sys.intern(head.recorded_at)  # many lines share a second
            self._add(head.trial, _Entry(head.call, head.answers, at, line))

    @property
    def trials(self) -> set[str]:
        """Ids of the trials of which anything is recorded."""
        return set(self._trials)

    @property
    def span(self) -> tuple[str, str] | None:
        """When the first and the last exchange were recorded; ``None`` if there is none."""
        return self._span

    def span_of(self, trials: Iterable[str]) -> tuple[str, str] | None:
        """When the first and the last answer to ``trials`` was recorded; ``None`` without any.

        An attempt that failed before its answer came is evidence, and makes the answer no older;
        of a trial that never got one, its errors count.
        """
        moments = []
        for trial in trials:
            entries = self._entries(trial)
            moments += [e.at for e in entries if e.answers] or [e.at for e in entries]
        return (min(moments), max(moments)) if moments else None

    def add(self, exchange: Exchange) -> None:
        """Add an exchange that was recorded just now."""
        entry = _Entry(exchange.call, exchange.answers, exchange.recorded_at, exchange)
        self._add(exchange.trial, entry)

    def _add(self, trial: str, entry: _Entry) -> None:
        of_trial = self._trials.get(trial)
        if of_trial is None:
            of_trial = self._trials[trial] = _OfTrial()
        of_trial.add(entry)
        first, last = self._span or (entry.at, entry.at)
        self._span = (min(first, entry.at), max(last, entry.at))

    def sole_answer(self, trial: str, method: str, url: str, body: str | bytes) -> Exchange | None:
        """The answer to a request if it is the only one recorded of ``trial``, text for text.

        Of nearly every trial there is one exchange, and its request is asked as it was recorded:
        comparing the texts is all it takes.
        """
        of_trial = self._trials.get(trial)
        if of_trial is None or len(of_trial.entries) != 1 or not of_trial.entries[0].answers:
            return None
        exchange = of_trial.entries[0].exchange
        recorded = exchange.request
        same = recorded.body == body and recorded.url == url and recorded.method == method
        return exchange if same else None

    def find(
        self, trial: str, digest: str, occurrence: int, *, replay_errors: bool
    ) -> Exchange | None:
        """The exchange that answers the request ``digest`` of ``trial`` for this ``occurrence``.

        Args:
            trial: id of the trial.
            digest: digest of the request.
            occurrence: how often the trial has made this request before, from 0.
            replay_errors: whether errors stand in where there is no answer.
        """
        of_trial = self._trials.get(trial)
        replies = of_trial.index().get(digest) if of_trial else None
        if replies is None:
            return None
        if occurrence < len(replies.answers):
            return replies.answers[occurrence]
        if replies.answers or not replay_errors:
            return None
        return replies.errors[min(occurrence, len(replies.errors) - 1)]

    def knows(self, trial: str, digest: str) -> bool:
        """Whether ``trial`` has made the request ``digest``, answered or not."""
        of_trial = self._trials.get(trial)
        return of_trial is not None and digest in of_trial.index()

    def of(self, trial: str) -> list[tuple[Exchange, int | None]]:
        """The exchanges of ``trial`` by call, each with its line if it was read from the file."""
        return [(entry.exchange, entry.number) for entry in self._entries(trial)]

    def last_call(self, trial: str) -> int:
        """The highest call number of ``trial``; 0 if nothing is recorded."""
        entries = self._entries(trial)
        return entries[-1].call if entries else 0

    def complete(self, trial: str) -> bool:
        """Whether the last exchange of ``trial`` is an answer."""
        entries = self._entries(trial)
        return bool(entries) and entries[-1].answers

    def _entries(self, trial: str) -> list[_Entry]:
        of_trial = self._trials.get(trial)
        return of_trial.entries if of_trial else []


# --- why there is none ----------------------------------------------------------------------------


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


def readable(body: str | bytes) -> list[str]:
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
