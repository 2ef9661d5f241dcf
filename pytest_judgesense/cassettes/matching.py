"""Finding the exchange that answers a request, or the reason why there is none.

Two requests are the same if method, normal URL and body are:

* ``normal_url`` drops user info, fragment and default port; on a loopback host every port, because
  a test server's port is an accident of the run; and the region of Amazon Bedrock, which each
  machine's environment names. The query keeps its order.
* A body that is a JSON object or list counts in canonical form (sorted keys, no spaces), and a
  multipart form without its boundary, which is random; any other counts byte for byte.

Headers are not part of it: they hold credentials and client versions, not the prompt.

An exchange is found by trial, request digest and occurrence, in constant time. Only answers count
as occurrences: an attempt that ended in an error status and was made again is evidence. Where a
request of a trial never got an answer, its errors are replayed in turn, and the last one for every
further attempt: the trial fails as it failed when it was recorded.

Fields that a judge's table names by ``ignore`` are left out of its digests (`Identity`): a user's
id, a time in the query. The lines keep them.

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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, unquote_plus, urlsplit, urlunsplit

from pytest_judgesense.cassettes.dates import without_dates
from pytest_judgesense.cassettes.exchange import LOOK_UP, Exchange, RecordedRequest, as_bytes
from pytest_judgesense.cassettes.storage import CassetteLine
from pytest_judgesense.errors import BrokenCassette, StaleRecording
from pytest_judgesense.trial import grouped

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
    if body.startswith(b"--"):
        boundary = body.partition(b"\r\n")[0]
        is_form = body.rstrip(b"\r\n").endswith(boundary + b"--")
        return body.replace(boundary, b"--boundary") if is_form else body
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


class Identity(NamedTuple):
    """Which requests are the same: those that differ in ``ignore`` alone.

    ``ignore`` names fields as ``body.NAME`` or ``query.NAME``, deeper ones by more dots. Each
    field that is there is left out, whatever it holds.
    """

    ignore: tuple[str, ...] = ()

    def digest(self, request: RecordedRequest) -> str:
        """The digest of ``request`` without the fields that are ignored."""
        return digest_of(self._reduced(request)) if self.ignore else digest_of(request)

    def _reduced(self, request: RecordedRequest) -> RecordedRequest:
        fields = [name.split(".") for name in self.ignore]
        in_query = {path[1] for path in fields if path[0] == "query"}
        in_body = [path[1:] for path in fields if path[0] == "body"]
        url, body = request.url, request.body
        if in_query:
            parts = urlsplit(url)
            pairs = [
                pair
                for pair in parts.query.split("&")
                if unquote_plus(pair.partition("=")[0]) not in in_query
            ]
            url = urlunsplit(parts._replace(query="&".join(pairs)))
        if in_body:
            with suppress(ValueError, RecursionError):
                value = json.loads(body)
                for path in in_body:
                    _remove(value, path)
                body = json.dumps(value, ensure_ascii=False)
        return RecordedRequest(request.method, url, body)


def _remove(value: Any, path: Sequence[str]) -> None:
    """Remove the field at ``path``, in each element of the lists on the way."""
    if isinstance(value, list):
        for element in value:
            _remove(element, path)
    elif isinstance(value, dict):
        if len(path) == 1:
            value.pop(path[0], None)
        else:
            _remove(value.get(path[0]), path[1:])


def fields_that_differ(recorded: RecordedRequest, current: RecordedRequest) -> list[str] | None:
    """The fields in which two requests differ, as ``ignore`` names them; ``None`` if not fields.

    Elements of a list are of one field: ``body.metadata.tags`` for all of them.
    """
    current_url, recorded_url = urlsplit(current.url), urlsplit(recorded.url)
    if recorded.method != current.method or current_url._replace(query="") != recorded_url._replace(
        query=""
    ):
        return None
    before, now = (
        dict(parse_qsl(parts.query, keep_blank_values=True))
        for parts in (recorded_url, current_url)
    )
    fields = [
        f"query.{name}"
        for name in sorted(before.keys() | now.keys())
        if before.get(name) != now.get(name)
    ]
    if recorded.body == current.body:
        return fields
    try:
        bodies = json.loads(recorded.body), json.loads(current.body)
    except (ValueError, RecursionError):
        return None
    if not all(isinstance(body, dict) for body in bodies):
        return None
    return fields + sorted(set(_differences(*bodies, "body")))


def _differences(recorded: Any, current: Any, name: str) -> Iterator[str]:
    if isinstance(recorded, dict) and isinstance(current, dict):
        for key in recorded.keys() | current.keys():
            yield from _differences(recorded.get(key), current.get(key), f"{name}.{key}")
    elif isinstance(recorded, list) and isinstance(current, list) and len(recorded) == len(current):
        for before, now in zip(recorded, current, strict=True):
            yield from _differences(before, now, name)
    elif recorded != current or type(recorded) is not type(current):
        yield name


def differ_in_dates(
    recorded: RecordedRequest, current: RecordedRequest, recorded_at: datetime, now: datetime
) -> bool:
    """Whether two requests are the same but for dates and times, as clocks show at two moments."""
    before, after = (
        without_dates("\n".join([_at_its_place(request), *readable(request.body)]), moment)
        for request, moment in ((recorded, recorded_at), (current, now))
    )
    return before == after


def _at_its_place(request: RecordedRequest) -> str:
    return f"{request.method.upper()} {unquote_plus(normal_url(request.url))}"


ALL_OF_IT: Final = Identity()


def is_of_the_prompt(field: str) -> bool:
    """Whether a field, as ``ignore`` names it, is the model or a part of the prompt."""
    place, _, rest = field.partition(".")
    return place == "body" and (rest == "model" or not _WORDS.isdisjoint(rest.split(".")))


def texts_of_prompt(request: RecordedRequest) -> frozenset[str]:
    """The texts that a request in JSON holds where prompts stand."""
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError):
        return frozenset()
    return frozenset(
        text
        for name, text in _texts(body, "body")
        if name != "body.model" and is_of_the_prompt(name)
    )


def _texts(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, member in value.items():
            if key not in ("role", "type"):
                yield from _texts(member, f"{name}.{key}")
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member, name)
    elif isinstance(value, str):
        yield name, value


# --- the exchanges of a cassette ------------------------------------------------------------------


class RecordedTrials:
    """The exchanges of one cassette. Safe with threads."""

    def __init__(self, lines: Iterable[CassetteLine], identity: Identity = ALL_OF_IT) -> None:
        self._identity = identity
        # By trial, in the order of the calls.
        self._lines: dict[str, list[CassetteLine]] = {}
        # By trial, what its function returned.
        self._returned: dict[str, CassetteLine] = {}
        # By trial and digest; of the trials in which a digest was looked for.
        self._replies: dict[str, dict[str, list[CassetteLine]]] = {}
        self._lock = Lock()
        for line in lines:
            self.add(line)

    def add(self, line: CassetteLine) -> None:
        """Add a line of the file."""
        trial = line.head.trial
        with self._lock:
            if line.head.returns:
                self._returned[trial] = line
                return
            self._replies.pop(trial, None)
            if trial in self._lines:
                insort(self._lines[trial], line, key=lambda line: line.head.call)
            else:
                self._lines[trial] = [line]

    @property
    def trials(self) -> set[str]:
        """Ids of the trials with any recorded exchange, or with what their function raised."""
        return (self._lines.keys() | self._returned.keys()) - {LOOK_UP}

    @property
    def in_file_order(self) -> list[str]:
        """The same, as the lines of the file hold them."""
        return [trial for trial in {**self._lines, **self._returned} if trial != LOOK_UP]

    def check_numbers(self) -> None:
        """Refuse trials of which a call is missing: of a finished recording they count from 1.

        Raises:
            BrokenCassette: one is; a recording that was killed may be so too.
        """
        for trial, lines in self._lines.items():
            for number, line in enumerate(lines, start=1):
                if line.head.call != number:
                    raise BrokenCassette(
                        f"{line.path}: call {number} of trial {trial} is missing",
                        found=f"call {line.head.call} in line {line.number}",
                        expected="the calls of a trial numbered from 1 without a gap",
                        remedy="restore the file from version control, or record it again: what "
                        "is missing is asked for, with --judge-mode record",
                    )

    def recorded_at(self, trial: str) -> str | None:
        """When the last answer to ``trial`` was recorded; as `span_of`."""
        lines = self._lines.get(trial, ())
        if len(lines) == 1:
            return lines[0].head.recorded_at
        span = self.span_of([trial])
        return span and span[1]

    def span_of(self, trials: Iterable[str]) -> tuple[str, str] | None:
        """When the first and the last answer to ``trials`` was recorded; ``None`` without any.

        Of a trial that never got one, its errors count; before an answer they make it no older.
        """
        moments: list[str] = []
        for trial in trials:
            heads = [line.head for line in tuple(self._lines.get(trial, ()))]
            if len(heads) == 1:
                moments.append(heads[0].recorded_at)
                continue
            answers = [head.recorded_at for head in heads if head.answers]
            moments += answers or [head.recorded_at for head in heads]
            if not heads and (line := self._returned.get(trial)):
                moments.append(line.head.recorded_at)
        return _span(moments)

    def sole_answer(self, trial: str, method: str, url: str, body: str | bytes) -> Exchange | None:
        """The answer to a request if it is the only one recorded of ``trial``, text for text.

        So it is of nearly every trial, and comparing the texts is all it takes.
        """
        lines = self._lines.get(trial, ())
        if len(lines) != 1 or not lines[0].head.answers:
            return None
        exchange = lines[0].exchange
        request = exchange.request
        return (
            exchange if (request.method, request.url, request.body) == (method, url, body) else None
        )

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

    def last(self, trial: str, digest: str) -> Exchange | None:
        """The last answer to a request of ``trial``, else its last error; ``None`` without any."""
        replies = self._replies_to(trial, digest)
        answers = [line for line in replies if line.head.answers]
        return (answers or replies)[-1].exchange if replies else None

    def returned(self, trial: str) -> Exchange | None:
        """The line of what the function of ``trial`` returned or raised; ``None`` without one."""
        line = self._returned.get(trial)
        return line.exchange if line else None

    def trials_with(self, digest: str) -> list[str]:
        """The trials that have made the request ``digest``."""
        return [
            trial for trial in tuple(self._lines) if trial != LOOK_UP and self.knows(trial, digest)
        ]

    def digests_of(self, trial: str, last: int) -> frozenset[str]:
        """The digests of the requests of ``trial`` up to the ``last`` call."""
        self._replies_to(trial, "")
        by_digest = self._replies[trial].items()
        return frozenset(d for d, lines in by_digest if lines[0].head.call <= last)

    def answers_of(self, trial: str) -> dict[str, int]:
        """How many answers each request of ``trial`` got, by digest; 0 where it got errors."""
        self._replies_to(trial, "")
        return {
            digest: sum(line.head.answers for line in lines)
            for digest, lines in self._replies[trial].items()
        }

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
        """Whether the last exchange of ``trial`` is an answer; one that was given up is none."""
        for line in reversed(self._lines.get(trial, ())):
            if not line.head.given_up:
                return line.head.answers
        return False

    def _replies_to(self, trial: str, digest: str) -> list[CassetteLine]:
        """The answers to a request of a trial, in the order of the calls."""
        with self._lock:
            if trial not in self._replies:
                lines = tuple(self._lines.get(trial, ()))
                identify = self._identity.digest
                self._replies[trial] = grouped(lines, lambda line: identify(line.exchange.request))
            return self._replies[trial].get(digest, [])


def _span(moments: Iterable[str]) -> tuple[str, str] | None:
    ordered = sorted(moments)
    return (ordered[0], ordered[-1]) if ordered else None


# --- why there is none ----------------------------------------------------------------------------


LONGEST_DIFF: Final = 20
# Where a request holds its prompt, by the formats of providers.
_PROMPT: Final = frozenset(("contents", "input", "instructions", "messages", "prompt", "system"))
# And the parts of one.
_WORDS: Final = _PROMPT | {"content", "documents", "message", "parts", "text"}
LONGEST_LINE: Final = 160
# What to do with a prompt that a clock changes.
WITHOUT_THE_DAY: Final = "take the date out, or give it as an item's field"


def stale(
    recorded: Exchange, request: RecordedRequest, path: Path, line: int | None, remedy: str
) -> StaleRecording:
    """The error for a trial that is recorded with another request than ``request``."""
    place = f"{path}:{line}" if line else str(path)
    diff = request_diff(recorded.request, request, f"{place} ({recorded.recorded_at})", "this run")
    moments = datetime.fromisoformat(recorded.recorded_at), datetime.now(UTC)
    in_dates = differ_in_dates(recorded.request, request, *moments)
    return StaleRecording(
        f"trial {recorded.trial}: {_changed(recorded.request, request)} since it was recorded"
        f"{', in dates alone' * in_dates}",
        found="\n".join([f"call {recorded.call} differs from {place}", *diff]),
        expected="the request that was recorded",
        remedy=f"{_of_dates(recorded.request, request)}; else {remedy}" if in_dates else remedy,
    )


def _of_dates(recorded: RecordedRequest, current: RecordedRequest) -> str:
    """What to do where dates alone differ, and a clock may have given them."""
    fields = fields_that_differ(recorded, current)
    if fields and not any(map(is_of_the_prompt, fields)):
        return f"where they are of the day, put {ignoring(fields)} into the table of the judge"
    return f"where they are of the day, {WITHOUT_THE_DAY}"


def ignoring(fields: Iterable[str]) -> str:
    """The setting of a judge by which fields of its requests may change."""
    return f"ignore = {json.dumps(list(fields))}"


def _changed(recorded: RecordedRequest, current: RecordedRequest) -> str:
    """What changed, as a clause: the prompt, the endpoint, the model, or other settings."""
    parts = ["the endpoint"] if recorded.url != current.url else []
    before = now = None
    with suppress(ValueError, RecursionError):
        before, now = (json.loads(request.body) for request in (recorded, current))
    if not (isinstance(before, dict) and isinstance(now, dict)):
        return f"{' and '.join([*parts, 'the request'])} changed"
    keys = [key for key in sorted(before.keys() | now.keys()) if before.get(key) != now.get(key)]
    parts += ["the model"] if "model" in keys else []
    prompt = [key for key in keys if key in _PROMPT]
    parts += ["the prompt"] if prompt else []
    if recorded.method == current.method == "CALL" and "settings" in keys:
        parts.append("what the function is given")
        keys.remove("settings")
    settings = [key for key in keys if key not in (*prompt, "model")]
    if settings:
        parts.append(f"setting{'s' * (len(settings) > 1)} {', '.join(settings)}")
    return f"{' and '.join(parts) or 'the request'} changed"


def request_diff(
    recorded: RecordedRequest, current: RecordedRequest, before: str, after: str
) -> list[str]:
    """Unified diff of two requests as readable lines, at most twenty of them."""
    before_lines, asked_lines = (
        [f"{request.method} {request.url}", *readable(request.body)]
        for request in (recorded, current)
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
