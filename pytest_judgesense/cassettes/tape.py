"""A tape replays or records what one judge is asked on one suite.

Two ways lead to a tape. A client of ours asks it directly (`Tape.find`). Any other client, inside a
judge's own code, is intercepted while `Tape.intercepting` holds: vcrpy's stubs for httpx, aiohttp
and tornado, and stand-ins for urllib3 and urllib.request (`pools`), take a request of the running
trial to the tape.
A request outside every trial, or of another tape's trial, goes to the handler that was in place on
entry: the network, a test's mock, or somebody's own vcr cassette.

========  =============================  ==========================================
mode      a request that is recorded     one that is not
========  =============================  ==========================================
replay    its exchange                   `MissingRecording` or `StaleRecording`
record    its exchange                   goes out; its answer is appended at once
========  =============================  ==========================================

While recording, errors that a trial ended with do not count as recorded: it is asked again.
Tapes that intercept at the same time must be left in the reverse order of their entry.
Other clients on bare ``http.client`` are not intercepted; while replaying, they are refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from pytest_judgesense.cassettes.credentials import Credentials
from pytest_judgesense.cassettes.dispatch import silenced
from pytest_judgesense.cassettes.exchange import (
    Body,
    Exchange,
    RecordedRequest,
    RecordedResponse,
    as_body,
    as_bytes,
)
from pytest_judgesense.cassettes.intercepted import Intercepted, intercepted
from pytest_judgesense.cassettes.ledger import Ledger, Mode
from pytest_judgesense.cassettes.offline import refuse_sockets
from pytest_judgesense.cassettes.scope import CallScope, current_scope, entered, following_threads
from pytest_judgesense.cassettes.staleness import missing
from pytest_judgesense.errors import JudgesenseError

__all__ = ["HOW_TO_RECORD", "CallScope", "Mode", "Tape", "utc_now"]

HOW_TO_RECORD: Final = "record it with --judge-mode record"

# They write requests, URLs and bodies to the log.
_TALKATIVE: Final = tuple(
    """
    vcr httpx httpx2 httpcore httpcore2 h11 h2 hpack urllib3 requests aiohttp tornado botocore boto3
    openai anthropic litellm LiteLLM mistralai groq cohere google
    """.split()
)

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


def utc_now() -> str:
    """This moment in UTC: ISO 8601, whole seconds, ``Z``."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Tape:
    """The recordings of one judge on one suite. Safe with threads; made by `Tape.open`."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    @classmethod
    def open(
        cls,
        path: Path,
        mode: Mode,
        *,
        secrets: Mapping[str, str] | Credentials = _NOTHING,
        now: Callable[[], str] = utc_now,
        how_to_record: str = HOW_TO_RECORD,
    ) -> Tape:
        """Open a cassette. A missing file holds nothing: replaying, every request misses it.

        Args:
            path: the cassette.
            mode: ``replay``, or ``record`` to add what is missing.
            secrets: values of credentials by name, none of which is ever written; or what is
                known of them, to which a recording adds what requests show.
            now: the clock that dates what is recorded.
            how_to_record: remedy of a miss: the command that records it.

        Raises:
            BrokenCassette: a line cannot be read. A torn last line is an error to a replay; a
                recording cuts it off and says so in `notice`.
        """
        known = secrets if isinstance(secrets, Credentials) else Credentials(secrets.items())
        return cls(Ledger(path, mode, credentials=known, now=now, how_to_record=how_to_record))

    @property
    def path(self) -> Path:
        """The cassette."""
        return self._ledger.path

    @property
    def mode(self) -> Mode:
        """``replay`` or ``record``."""
        return self._ledger.mode

    @property
    def notice(self) -> str | None:
        """What opening the file for recording had to mend; ``None`` if it was whole."""
        return self._ledger.notice

    @property
    def notices(self) -> tuple[str, ...]:
        """What should be told of this recording at the end of the run."""
        return self._ledger.notices

    def cleaned(self, text: str) -> str:
        """``text`` without secrets, as everything that leaves a recording."""
        return self._ledger.cleaned(text)

    @property
    def recorded(self) -> tuple[str, str] | None:
        """When the first and the last exchange were recorded; ``None`` if there is none."""
        return self._ledger.span

    def recorded_of(self, trials: Iterable[str]) -> tuple[str, str] | None:
        """When the first and the last answer to these trials was; ``None`` without any."""
        return self._ledger.span_of(trials)

    @property
    def trials(self) -> set[str]:
        """Ids of the trials of which anything is recorded."""
        return self._ledger.trials

    def complete(self, trial_id: str) -> bool:
        """Whether the last exchange of the trial is an answer (status below 400)."""
        return self._ledger.complete(trial_id)

    @contextmanager
    def trial(self, trial_id: str) -> Iterator[CallScope]:
        """Let the requests of this block, and of all that it starts, belong to a trial.

        Yields:
            The scope of this attempt. When the judge has returned, raise its ``error`` if there is
            one: the judge's client may have swallowed it.
        """
        scope = self._ledger.open(trial_id, self)
        with entered(scope):
            try:
                yield scope
            finally:
                scope.closed = True
        self._ledger.close(scope)

    def find(self, scope: CallScope, method: str, url: str, body: Body) -> Exchange:
        """The exchange that answers a request; each one serves once in a scope.

        Raises:
            MissingRecording: there is none; names trial, cassette and remedy.
            StaleRecording: the trial is recorded with another request; shows the difference.
        """
        body = as_body(body) if isinstance(body, bytes) else body
        lookup = self._ledger.look_up(scope, RecordedRequest(method, url, body))
        if lookup.found is None:
            raise self._missing(scope, lookup.request, "no answer to this request")
        return lookup.found

    def answer_to(self, scope: CallScope, method: str, url: str, body: Body) -> Exchange | None:
        """The recorded answer to a request, or ``None`` if it has to be made; counts nothing."""
        body = as_body(body) if isinstance(body, bytes) else body
        return self._ledger.peek(scope.trial, RecordedRequest(method, url, body))

    def record_answer(
        self, request: RecordedRequest, status: int, headers: Iterable[tuple[str, str]], data: bytes
    ) -> RecordedResponse | None:
        """Record what another program was answered; if an answer is recorded, return that one."""
        asked = self.intercept(request.method, request.url, request.body)
        if asked.recorded is None:
            asked.answered(status, headers, data)
        return asked.recorded

    def find_call(
        self,
        scope: CallScope,
        target: str,
        messages: Sequence[Mapping[str, Any]],
        settings: Mapping[str, Any] = _NOTHING,
    ) -> str | None:
        """The recorded return of a Python callable, or ``None`` if it has to be called.

        It has to be called where its trial is recorded by HTTP exchanges (they answer while it
        runs) and, while recording, where this call is not recorded yet.

        Args:
            scope: the running trial.
            target: ``package.module:function``.
            messages: what it is given, as JSON can hold it.
            settings: what else decides its answer, likewise.

        Raises:
            MissingRecording: replaying, nothing is recorded of the trial.
            StaleRecording: replaying, the callable was given something else.
        """
        recorded = self._ledger.exchanges(scope.trial)
        if recorded and all(exchange.request.method != "CALL" for exchange in recorded):
            return None
        request = _call(target, messages, settings)
        if self.mode == "record" and not recorded:
            return None
        found = self._ledger.look_up(scope, request).found
        if found is None:
            return None
        return as_bytes(found.response.body).decode("utf-8", "surrogatepass")

    def record_call(
        self,
        scope: CallScope,
        target: str,
        messages: Sequence[Mapping[str, Any]],
        text: str,
        settings: Mapping[str, Any] = _NOTHING,
    ) -> None:
        """Record what a Python callable returned that made no HTTP request.

        Raises:
            MissingRecording: while replaying, for then the callable should have made one.
        """
        request = _call(target, messages, settings)
        if self.mode == "replay":
            raise self._missing(scope, request, "HTTP exchanges, and the judge makes no request")
        lookup = self._ledger.look_up(scope, request)
        if lookup.found is None:
            answer = RecordedResponse(200, _NOTHING, text)
            self._ledger.keep(scope, lookup.request, answer, lookup.number)

    @contextmanager
    def intercepting(self) -> Iterator[None]:
        """Take the requests of trials to this tape, whatever client makes them.

        While replaying, connections inside trials are refused as well (see `offline`).
        """
        from pytest_judgesense.cassettes.stubs import taping

        with ExitStack() as stack:
            stack.enter_context(silenced(_TALKATIVE))
            stack.enter_context(following_threads())
            if self.mode == "replay":
                stack.enter_context(refuse_sockets())
            stack.enter_context(taping(str(self.path), self))
            yield

    def finish(self, order: Sequence[str]) -> None:
        """Give a recorded file its final form; nothing happens to a replayed one.

        Trials stand in ``order``, others behind them by id; the calls of a trial are numbered from
        1 without gaps. The bytes do not depend on the order in which answers arrived. Where a trial
        was recorded anew because its prompt had changed, what it asked before is dropped.
        """
        self._ledger.finish(order)

    def _missing(self, scope: CallScope, request: RecordedRequest, found: str) -> JudgesenseError:
        remedy = self._ledger.how_to_record
        error = missing(scope.trial, request, path=self.path, found=found, remedy=remedy)
        scope.remember(error)
        return error

    def listens(self) -> bool:
        """Whether the running code belongs to a trial of this tape."""
        scope = current_scope()
        if scope is None or scope.owner is not self:
            return False
        # A thread that outlives its trial records nothing, and while replaying reaches nothing.
        return self.mode == "replay" or not scope.closed

    def recorded_at(self, url: str) -> RecordedRequest | None:
        """The recorded request of the running trial to a URL."""
        scope = current_scope()
        recorded = self._ledger.exchanges(scope.trial) if scope else []
        wanted = self._ledger.scrubbed(RecordedRequest("GET", url, "")).url
        return next((item.request for item in recorded if item.request.url == wanted), None)

    def intercept(
        self, method: str, url: str, body: Any, headers: Iterable[tuple[Any, Any]] = ()
    ) -> Intercepted:
        """A request of the running trial, looked up or to be recorded.

        Raises:
            CassetteError: replaying, it is not recorded; recording, its answer could not be.
            LimitReached: it must not be made.
        """
        scope = current_scope()
        assert scope is not None, "only the requests of trials are intercepted"
        return intercepted(self._ledger, scope, method, url, body, headers)


def _call(
    target: str, messages: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]
) -> RecordedRequest:
    body = {"messages": [dict(message) for message in messages], "settings": dict(settings)}
    return RecordedRequest("CALL", f"python:{target}", json.dumps(body, ensure_ascii=False))
