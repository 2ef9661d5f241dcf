"""Looking up and keeping: what a tape does with a request, whatever way it came.

A request is scrubbed first, and compared as it is stored: a replay without any credential finds
what a recording with one has written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, TypeVar

from pytest_judgesense.cassettes.bodies import decoded, parts_path, read_parts
from pytest_judgesense.cassettes.credentials import Credentials
from pytest_judgesense.cassettes.exchange import (
    FAULT,
    Body,
    Exchange,
    RecordedRequest,
    RecordedResponse,
    as_body,
)
from pytest_judgesense.cassettes.journal import Journal, read_exchanges, read_lines, rewrite
from pytest_judgesense.cassettes.key import normal_url, request_digest
from pytest_judgesense.cassettes.recordings import Recordings, digest_of
from pytest_judgesense.cassettes.scope import CallScope
from pytest_judgesense.cassettes.scrubbing import (
    allowed_headers,
    same_but_for_secrets,
    scrub,
    scrub_body,
    scrub_url,
)
from pytest_judgesense.cassettes.staleness import missing, stale
from pytest_judgesense.errors import CassetteError

__all__ = ["Ledger", "Lookup", "Mode", "received"]

Mode: TypeAlias = Literal["replay", "record"]

_NO_WAIT: Final = "retry-after"
# Texts of which it is known what they are without secrets: those of the calls under way.
_REMEMBERED: Final = 512
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Lookup:
    """A request of a trial that was looked up.

    Attributes:
        request: the request as it is stored.
        found: the exchange that answers it; ``None``, while recording, if it has to be made.
        number: the call number to record its answer under; 0 where it was found.
    """

    request: RecordedRequest
    found: Exchange | None
    number: int

    @property
    def answer(self) -> RecordedResponse | None:
        """The recorded answer, which asks nobody to wait: ``Retry-After`` has passed."""
        if self.found is None:
            return None
        response = self.found.response
        if _NO_WAIT not in response.headers:
            return response
        kept = {name: text for name, text in response.headers.items() if name != _NO_WAIT}
        return replace(response, headers=kept)


def received(status: int, headers: Iterable[tuple[str, str]], data: bytes) -> RecordedResponse:
    """A response as it is recorded: allowed headers, content encoding undone where possible."""
    pairs = list(headers)
    encodings = ",".join(text for name, text in pairs if name.lower() == "content-encoding")
    content = decoded(data, encodings)
    kept = dict(allowed_headers(pairs))
    if content is None:
        content, kept["content-encoding"] = data, encodings
    return RecordedResponse(status, MappingProxyType(kept), as_body(content))


class Ledger:
    """The recordings of one cassette, and the file behind them. Safe with threads.

    Attributes:
        path: the cassette.
        mode: ``replay`` or ``record``.
        how_to_record: remedy of a miss.
        notice: what opening the file for recording had to mend; ``None`` if it was whole.
    """

    def __init__(
        self,
        path: Path,
        mode: Mode,
        *,
        credentials: Credentials,
        now: Callable[[], str],
        how_to_record: str,
    ) -> None:
        self.path = path
        self.mode = mode
        self.how_to_record = how_to_record
        self.credentials = credentials
        self._removed: set[str] = set()
        self._unread: set[str] = set()
        # By what was searched how: for which secrets, what it is without them, which were found.
        self._cleaned: dict[tuple[Any, Any], tuple[Any, Any, frozenset[str]]] = {}
        self._now = now
        self._journal = Journal(path) if mode == "record" else None
        self.notice = self._journal.notice if self._journal else None
        if self._journal:
            lines, parts = iter(self._journal.take_lines()), self._journal.parts
        else:
            parts = read_parts(parts_path(path))
            lines = read_lines(path, parts)
        self._recordings = Recordings.of_lines(lines, parts)
        self._lock = Lock()
        self._renewed: dict[str, frozenset[str]] = {}

    @property
    def notices(self) -> tuple[str, ...]:
        """What should be told of this recording: a mended end, removed secrets, unread bodies."""
        notices = [self.notice] if self.notice else []
        with self._lock:
            if self._removed:
                notices.append(f"removed from the recording: {', '.join(sorted(self._removed))}")
            if self._unread:
                notices.append(
                    f"bodies encoded as {', '.join(sorted(self._unread))} are kept as they came, "
                    "unsearched for secrets: install brotli or zstandard and record again"
                )
        return tuple(notices)

    @property
    def span(self) -> tuple[str, str] | None:
        """When the first and the last exchange were recorded; ``None`` if there is none."""
        return self._recordings.span

    def span_of(self, trials: Iterable[str]) -> tuple[str, str] | None:
        """When the first and the last answer to ``trials`` was recorded (see `Recordings`)."""
        return self._recordings.span_of(trials)

    @property
    def trials(self) -> set[str]:
        """Ids of the trials of which anything is recorded."""
        return self._recordings.trials

    def complete(self, trial: str) -> bool:
        """Whether the last exchange of ``trial`` is an answer."""
        with self._lock:
            return self._recordings.complete(trial)

    def exchanges(self, trial: str) -> list[Exchange]:
        """The exchanges of ``trial`` by call."""
        with self._lock:
            return [exchange for exchange, _ in self._recordings.of(trial)]

    def open(self, trial: str, owner: object) -> CallScope:
        """A scope for a new attempt at ``trial``.

        Raises:
            CassetteError: the trial is to be asked, and its answer could not be recorded.
        """
        with self._lock:
            settled = self._recordings.complete(trial)
            after = self._recordings.last_call(trial)
        if self._journal is not None and not settled:
            self._journal.prepare()
        return CallScope(trial, owner, settled=settled, after=after)

    def close(self, scope: CallScope) -> None:
        """Note that the attempt went well: what the trial asked before and now did not is old."""
        if scope.made and scope.error is None and self.complete(scope.trial):
            self._renewed[scope.trial] = scope.digests

    def peek(self, trial: str, request: RecordedRequest) -> Exchange | None:
        """The first answer to ``request``, if it is recorded; counts nothing."""
        request = self.scrubbed(request)
        digest = request_digest(request.method, request.url, request.body)
        with self._lock:
            return self._recordings.find(trial, digest, 0, replay_errors=False)

    def look_up(self, scope: CallScope, request: RecordedRequest) -> Lookup:
        """Look ``request`` up, as one more call of the scope's trial.

        Raises:
            MissingRecording, StaleRecording: while replaying, if it is not recorded.
            CassetteError: while recording, if its answer could not be recorded.
        """
        replaying = self.mode == "replay"
        if replaying and scope.fresh:
            method, url = request.method.upper(), normal_url(request.url)
            with self._lock:
                sole = self._recordings.sole_answer(scope.trial, method, url, request.body)
            if sole is not None and scope.asked_first(lambda: digest_of(sole)):
                return Lookup(sole.request, sole, 0)
        request, digest = self._as_stored(scope.trial, request)
        call, occurrence = scope.asked(digest)
        with self._lock:
            found = self._recordings.find(
                scope.trial, digest, occurrence, replay_errors=replaying or scope.settled
            )
        if found is not None:
            return Lookup(request, found, 0)
        if replaying:
            error = self._miss(scope.trial, request, digest, call, occurrence)
            scope.remember(error)
            raise error
        assert self._journal is not None, "what is not replayed is recorded"
        # Before the request goes out and is paid for.
        self._journal.prepare()
        # The number is given now: the order of requests is the program's, that of answers chance.
        return Lookup(request, None, scope.make())

    def keep(
        self, scope: CallScope, request: RecordedRequest, response: RecordedResponse, number: int
    ) -> RecordedResponse:
        """Record an answer to a request that was scrubbed already; returns it as it is recorded.

        Raises:
            CassetteError: the file cannot be written.
        """
        assert self._journal is not None, "only a recording has answers to keep"
        headers = {name: self.cleaned(text) for name, text in response.headers.items()}
        body = self.cleaned_body(response.body)
        if fault := scope.fault_of(response.status, response.body):
            headers[FAULT] = self.cleaned(fault)
        clean = RecordedResponse(response.status, MappingProxyType(headers), body)
        if encoding := response.headers.get("content-encoding"):
            self._unread.add(encoding)
        exchange = Exchange(scope.trial, number, request, clean, self._now())
        try:
            self._journal.append(exchange)
        except CassetteError as error:
            scope.remember(error)
            raise
        with self._lock:
            self._recordings.add(exchange)
        return clean

    def scrubbed(self, request: RecordedRequest) -> RecordedRequest:
        """``request`` in its normal form, without secrets."""
        url = self._without_secrets(scrub_url, normal_url(request.url))
        return RecordedRequest(request.method.upper(), url, self.cleaned_body(request.body))

    def cleaned(self, text: str) -> str:
        """``text`` without secrets; what was found is reported at the end."""
        return self._without_secrets(scrub, text)

    def cleaned_body(self, body: Body) -> Body:
        """``body`` without secret fields and values; what was found is reported at the end."""
        return self._without_secrets(scrub_body, body)

    def _without_secrets(
        self, clean: Callable[[_T, Mapping[str, str]], tuple[_T, set[str]]], dirty: _T
    ) -> _T:
        # A URL is the same in every call, and a body comes by several times on its way: searching
        # costs more than anything else that is done with it here.
        values = self.credentials.values
        searched, known, found = self._cleaned.get((clean, dirty), (None, dirty, frozenset()))
        result: _T = known
        if searched is not values:  # they grow, and are another mapping then
            result, names = clean(dirty, values)
            found = frozenset(names)
            if len(self._cleaned) >= _REMEMBERED:
                self._cleaned.clear()
            self._cleaned[clean, dirty] = values, result, found
        self._note(found)
        return result

    def _note(self, found: frozenset[str]) -> None:
        if found and self.mode == "record":
            self.credentials.note_removed(found)
            with self._lock:
                self._removed |= found

    def _as_stored(self, trial: str, request: RecordedRequest) -> tuple[RecordedRequest, str]:
        """``request`` as the file holds it, and its digest.

        It is looked up as it is before it is searched for secrets: that costs less, and a variable
        that happens to hold a word of the prompt, on this machine and not on the one that
        recorded, does not make it another prompt. What was removed while recording matches
        anything: whoever replays has no key, or another one.
        """
        plain = RecordedRequest(request.method.upper(), normal_url(request.url), request.body)
        digest = request_digest(plain.method, plain.url, plain.body)
        with self._lock:
            if self._recordings.knows(trial, digest):
                return plain, digest
        clean = self.scrubbed(plain)
        digest = request_digest(clean.method, clean.url, clean.body)
        with self._lock:
            if not self._recordings.knows(trial, digest):
                for exchange, _ in self._recordings.of(trial):
                    if _fits(exchange.request, clean):
                        return exchange.request, digest_of(exchange)
        return clean, digest

    def finish(self, order: Sequence[str]) -> None:
        """Rewrite a recorded file: see `Tape.finish`."""
        if self.mode == "replay" or not self.path.exists():
            return
        place = {trial: index for index, trial in enumerate(order)}
        kept = sorted(
            (exchange for exchange in read_exchanges(self.path) if not self._is_old(exchange)),
            key=lambda item: (place.get(item.trial, len(place)), item.trial, item.call),
        )
        numbered = [
            replace(exchange, call=call)
            for _, calls in groupby(kept, key=lambda item: item.trial)
            for call, exchange in enumerate(calls, start=1)
        ]
        rewrite(self.path, numbered)
        with self._lock:
            self._recordings = Recordings(numbered)
            self._renewed.clear()

    def _is_old(self, exchange: Exchange) -> bool:
        asked = self._renewed.get(exchange.trial)
        return asked is not None and digest_of(exchange) not in asked

    def _miss(
        self, trial: str, request: RecordedRequest, digest: str, call: int, occurrence: int
    ) -> CassetteError:
        with self._lock:
            recorded = self._recordings.of(trial)
            known = self._recordings.knows(trial, digest)
            others = len(self._recordings.trials)
        answers = [pair for pair in recorded if pair[0].answers] or recorded
        if not known and call <= len(answers):
            exchange, line = answers[call - 1]
            return stale(exchange, request, path=self.path, line=line, remedy=self.how_to_record)
        if known:
            found = f"{occurrence} of this request, which is made once more"
        elif recorded:
            found = f"{len(answers)} calls of this trial; this is call {call}"
        else:
            found = f"{others} other trials" if self.path.exists() else "no such file"
        return missing(trial, request, path=self.path, found=found, remedy=self.how_to_record)


def _fits(recorded: RecordedRequest, asked: RecordedRequest) -> bool:
    """Whether they are the same but for what stood in the places of secrets."""
    return recorded.method == asked.method and all(
        isinstance(there, str) and isinstance(here, str) and same_but_for_secrets(there, here)
        for there, here in ((recorded.url, asked.url), (recorded.body, asked.body))
    )
