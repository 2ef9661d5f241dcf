"""A cassette replays or records the calls of one judge on one suite.

There are two ways to it. The built-in client asks it directly (`Cassette.find`). Any other client,
inside a judge's own code, is intercepted during `Cassette.intercepting` (see `interception`): a
request of the running trial goes to the cassette, any other to the handler that was in place on
entry (the network, a test's mock, another vcr cassette). Clients on bare ``http.client`` are not
intercepted; while replaying, they are refused. Cassettes that intercept at the same time must be
left in the reverse order of their entry.

========  =============================  ==========================================
mode      a request that is recorded     one that is not
========  =============================  ==========================================
replay    its exchange                   `MissingRecording` or `StaleRecording`
record    its exchange                   goes out; its answer is appended at once
========  =============================  ==========================================

A trial has the exchanges of one attempt. While recording, errors that a trial ended with do not
count as recorded: it is asked again. A request that is not the recorded one raises `Abandoned`
before anything is sent, and the trial is asked ``anew``: all its calls are made, and what was there
of it goes. A request is compared as it is stored, without its secrets: a replay needs no
credential.

What got no answer is recorded as that, and fails again on replay. A request that was given up, or
was under way when its trial ended, waits on replay as long as it did, until it is given up again.
A request that came after the end of its trial is not recorded, and no replay misses it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from pytest_judgesense.cassettes.bodies import readable, sent_bytes
from pytest_judgesense.cassettes.credentials import (
    Credentials,
    looks_secret,
    request_credentials,
    response_credentials,
)
from pytest_judgesense.cassettes.exchange import (
    CALL,
    FAULT,
    LATE,
    LOOK_UP,
    NO_RESPONSE,
    OUT_OF_TIME,
    RAISED,
    RETURN,
    RETURNS,
    WAITED,
    Exchange,
    RecordedRequest,
    RecordedResponse,
    as_body,
    as_bytes,
    as_text,
    in_final_form,
)
from pytest_judgesense.cassettes.known_values import forms_in_lines
from pytest_judgesense.cassettes.matching import (
    ALL_OF_IT,
    Identity,
    RecordedTrials,
    normal_url,
    stale,
)
from pytest_judgesense.cassettes.offline import refuse_sockets
from pytest_judgesense.cassettes.received import UNDECODED, received
from pytest_judgesense.cassettes.redaction import Redactor, same_but_for_secrets
from pytest_judgesense.cassettes.scope import (
    Abandoned,
    CallScope,
    current_scope,
    entered,
    following_threads,
)
from pytest_judgesense.cassettes.storage import Journal, read_exchanges, read_lines, rewrite
from pytest_judgesense.errors import CassetteError, JudgesenseError, MissingRecording
from pytest_judgesense.files import read_bytes

Mode: TypeAlias = Literal["replay", "record"]
OnRecorded: TypeAlias = Callable[[Path, bytes], None]

HOW_TO_RECORD: Final = "record it with --judge-mode record"

_NO_WAIT: Final = "retry-after"
# No timer of a cassette waits longer: a day.
_LONGEST_WAIT_S: Final = 86_400.0
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


def utc_now() -> str:
    """This moment in UTC: ISO 8601, whole seconds, ``Z``."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def holds(path: Path, values: Collection[str]) -> bool:
    """Whether a recording contains any of these ``values``."""
    data = read_bytes(path) if values else b""
    return any(as_bytes(form) in data for value in values for form in forms_in_lines(value))


class Cassette:
    """The recordings of one judge on one suite. Safe with threads."""

    def __init__(
        self,
        path: Path,
        mode: Mode,
        *,
        secrets: Credentials | None = None,
        now: Callable[[], str] = utc_now,
        how_to_record: str = HOW_TO_RECORD,
        on_recorded: OnRecorded = lambda _path, _line: None,
        identity: Identity = ALL_OF_IT,
        lending: Mapping[str, Exchange] | None = None,
    ) -> None:
        """Open a cassette. A missing file holds nothing: replaying, every request misses it.

        Args:
            path: the file.
            mode: ``replay``, or ``record`` to add missing exchanges.
            secrets: credentials that are never written; those found in requests are added.
            now: returns the date of a recorded exchange.
            how_to_record: remedy of a miss: the command that records it.
            on_recorded: called with the path and each recorded line.
            identity: which requests are the same.
            lending: for a proof: what is missing is lent, and noted in the scope, from these
                exchanges by digest, else from the first other trial that has asked it.

        Raises:
            BrokenCassette: a line cannot be read. A torn last one is cut off by a recording, which
                says so in `notices`.
        """
        self.path = path
        self.mode: Mode = mode
        self._redactor = Redactor(secrets or Credentials(), noting=mode == "record")
        self._how_to_record = how_to_record
        self._on_recorded = on_recorded
        self._now = now
        self._identity = identity
        self._lending = lending
        # A process that was forked of this one writes nothing.
        self._writer = os.getpid()
        self._journal = Journal(path) if mode == "record" else None
        lines = self._journal.take_lines() if self._journal else read_lines(path)
        self._recordings = RecordedTrials(lines, identity)
        # Why bodies were not recorded.
        self._undecoded: set[str] = set()
        # For trials that were asked anew: the last call of what was there before, and whether a
        # return was recorded since.
        self._superseded: dict[str, tuple[int, bool]] = {}
        # Look-ups that were made again, by digest.
        self._looked_up: dict[str, RecordedResponse] = {}
        # Credentials found in requests that are no longer in any line.
        self._shown: set[str] = set()
        # Requests while it records whose code belongs to no running trial; and trials that have
        # ended, and whose code made some.
        self.requests_elsewhere = 0
        self._late: set[str] = set()
        # One line is written, or all of them.
        self._writing = Lock()

    @property
    def notices(self) -> tuple[str, ...]:
        """Remarks about this recording for the end of the run."""
        notices = [self._journal.notice] if self._journal and self._journal.notice else []
        if removed := self._redactor.removed:
            notices.append(f"removed from the recording: {', '.join(sorted(removed))}")
        notices += sorted(self._undecoded)
        return tuple(notices)

    @property
    def recorded(self) -> tuple[str, str] | None:
        """When the first and the last exchange were recorded; ``None`` if there is none."""
        return self._recordings.span

    def recorded_of(self, trials: Iterable[str]) -> tuple[str, str] | None:
        """When the first and the last answer to these trials was; ``None`` without any."""
        return self._recordings.span_of(trials)

    @property
    def trials(self) -> set[str]:
        """Ids of the trials with any recorded exchange."""
        return self._recordings.trials

    def complete(self, trial_id: str) -> bool:
        """Whether the last exchange of the trial is an answer (status below 400)."""
        return self._recordings.complete(trial_id)

    def redacted(self, text: str) -> str:
        """``text`` without secrets, as everything that leaves a recording."""
        return self._redactor.text(text)

    @contextmanager
    def trial(
        self, trial_id: str, *, anew: bool = False, of_function: bool = False
    ) -> Iterator[CallScope]:
        """Let the requests of this block, and of all that it starts, belong to a trial.

        Args:
            trial_id: the trial.
            anew: nothing that is recorded of it is found; it goes once an endpoint has responded.
            of_function: the code of a user runs, all of whose requests are to be seen.

        Yields:
            The scope of this attempt. Raise its ``error`` after the judge has returned, because the
            judge's client may have swallowed it.

        Raises:
            CassetteError: the trial is to be asked, and its answer could not be recorded.
        """
        after, settled = self._recordings.last_call(trial_id), self.complete(trial_id)
        if self._journal is not None and not settled:
            self._journal.prepare()
        replaying = self.mode == "replay"
        scope = CallScope(
            trial_id,
            self,
            settled=settled,
            after=after,
            replaying=replaying,
            anew=anew,
            of_function=of_function,
        )
        with entered(scope):
            try:
                yield scope
            finally:
                if of_function and self.mode == "record":
                    for call in scope.under_way():
                        if scope.out_of_time:  # it is why the trial has failed
                            call.unanswered("no answer until the function's time was up")
                        else:
                            call.given_up()
                scope.close()
        # What an endpoint that is out of reach says is no reason to lose what was complete.
        if anew and scope.made and (scope.responded or not settled):
            self._superseded[trial_id] = after, scope.returned

    # --- replaying --------------------------------------------------------------------------------

    def find(self, scope: CallScope, method: str, url: str, body: str | bytes) -> Exchange:
        """The exchange that answers a request; each one serves once in a scope.

        Raises:
            MissingRecording: there is none; the error names trial, cassette and remedy.
            StaleRecording: the trial is recorded with another request; shows the difference.
        """
        call = self._look_up(scope, RecordedRequest(method, url, as_body(body)))
        if call.found is None:
            found = "no answer to this request"
            raise scope.remember(self._missing(scope.trial, call.request, found))
        return call.found

    def answer_to(
        self, scope: CallScope, method: str, url: str, body: str | bytes
    ) -> Exchange | None:
        """The recorded answer to a request, or ``None`` if it has to be made; counts nothing.

        Raises:
            Abandoned: other requests of the trial are recorded, and this is none of them.
        """
        if scope.anew or not self._recordings.last_call(scope.trial):
            return None
        request = self._stored(RecordedRequest(method, url, as_body(body)))
        digest = self._identity.digest(request)
        recorded = self._recordings.find(scope.trial, digest, 0, replay_errors=False)
        if recorded is None and self._is_changed(scope, digest):
            raise Abandoned(scope.trial)
        return recorded

    def answered_first(
        self, trial_id: str, requests: Sequence[tuple[str, str, str | bytes]]
    ) -> int:
        """How many of the ``requests`` of a trial, from the first one, a recording need not make.

        Raises:
            Abandoned: one of them is not the recorded one, and all are made anew.
        """
        scope = CallScope(trial_id, self, after=self._recordings.last_call(trial_id))
        for count, (method, url, body) in enumerate(requests):
            if self.answer_to(scope, method, url, body) is None:
                return count
            request = RecordedRequest(method, url, as_body(body))
            scope.asked(self._as_stored(trial_id, request)[1])
        return len(requests)

    def find_call(
        self,
        scope: CallScope,
        target: str,
        messages: Sequence[Mapping[str, Any]],
        settings: Mapping[str, Any] = _NOTHING,
        *,
        alone: bool = False,
    ) -> str | None:
        """The recorded return of a Python callable, or ``None`` if it has to be called.

        The function is needed if its trial is recorded as HTTP exchanges (it runs and gets these
        answers) and, while recording, if this call is not recorded. ``target`` is
        ``package.module:function``; ``settings`` are the inputs besides the ``messages`` that
        determine its answer. Where its return ``alone`` is recorded, it is not needed on replay.

        Raises:
            MissingRecording: replaying, nothing is recorded of the trial.
            StaleRecording: replaying, the callable was given something else.
        """
        recorded = self._recordings.of(scope.trial)
        request = _call(target, messages, settings)
        by_http = recorded and all(exchange.request.method != CALL for exchange, _ in recorded)
        if by_http and self.mode == "replay" and alone:
            before = 'HTTP exchanges, from before the judge had calls = "function"'
            raise scope.remember(self._missing(scope.trial, request, before))
        if by_http or (self.mode == "record" and not self.knows_call(scope, request)):
            return None
        exchange = self._look_up(scope, request).found
        assert exchange is not None, "what is recorded is found"
        return as_text(exchange.response.body)

    def knows_call(self, scope: CallScope, request: RecordedRequest) -> bool:
        """Whether a call is recorded of a trial that is not asked anew; counts nothing."""
        if scope.anew:
            return False
        _, digest = self._as_stored(scope.trial, request)
        return self._recordings.knows(scope.trial, digest)

    def returned(self, trial_id: str) -> list[str]:
        """What the function of a trial returned when it was recorded, call by call.

        Nothing where that is not recorded, or the function failed.
        """
        exchange = self._recordings.returned(trial_id)
        return exchange.returned_texts if exchange else []

    def failed_return(self, scope: CallScope) -> str | None:
        """Why the function of a trial failed, where running it would not tell.

        So it is where the failed call has made no request, or has not returned in its time: its
        replay would only wait.
        """
        exchange = self._recordings.returned(scope.trial)
        if exchange is None or exchange.response.status != NO_RESPONSE:
            return None
        recorded = self._recordings.of(scope.trial)
        by_return = all(call.request.method == CALL for call, _ in recorded)
        if exchange.response.headers.get(RAISED) == OUT_OF_TIME or (
            by_return and len(recorded) == len(scope.returns)
        ):
            return as_text(exchange.response.body)
        return None

    def requests_of(self, trial_id: str) -> dict[str, RecordedRequest]:
        """The recorded requests of a trial, and calls of its function, by digest."""
        recorded = (exchange.request for exchange, _ in self._recordings.of(trial_id))
        return {self._identity.digest(request): request for request in recorded}

    def answered(self, trial_id: str, digest: str) -> Exchange | None:
        """The last answer to a request of a trial; ``None`` if it never got one."""
        exchange = self._recordings.last(trial_id, digest)
        return exchange if exchange is not None and exchange.answers else None

    def look_ups(self) -> dict[str, Exchange]:
        """The look-ups that answer any trial, by digest."""
        recorded = (exchange for exchange, _ in self._recordings.of(LOOK_UP))
        return {self._identity.digest(exchange.request): exchange for exchange in recorded}

    def arguments_of(self, trial_id: str) -> list[str] | None:
        """The parameters of a Python callable that a recorded call of a trial has given values.

        ``None`` where no call is recorded, or one that was given messages.
        """
        for exchange, _ in self._recordings.of(trial_id):
            if exchange.request.method == CALL:
                try:
                    settings = json.loads(exchange.request.body)["settings"]
                    return list(settings["arguments"])
                except (ValueError, KeyError, TypeError):
                    return None
        return None

    # --- recording --------------------------------------------------------------------------------

    def record_call(
        self,
        scope: CallScope,
        target: str,
        messages: Sequence[Mapping[str, Any]],
        text: str,
        settings: Mapping[str, Any] = _NOTHING,
    ) -> None:
        """Record the return value of a Python callable that made no HTTP request.

        Raises:
            MissingRecording: while replaying: it should have made a request, and has returned
                something else than with it.
        """
        request = _call(target, messages, settings)
        recorded = self.returned(scope.trial)[len(scope.returns) :][:1]
        if not scope.anew and recorded == [self._redactor.text(text)]:
            return  # an answer from a cache of its own, the same as by its requests
        if self.mode == "replay":
            found = "HTTP exchanges; the judge makes no request, and returns another text"
            raise scope.remember(self._missing(scope.trial, request, found))
        call = self._look_up(scope, request)
        if call.found is None:
            call.recorded_as(RecordedResponse(200, _NOTHING, text))

    def record_return(
        self, scope: CallScope, target: str, texts: Sequence[str], *, failed: bool = False
    ) -> None:
        """Record what a Python callable has returned after its requests, call by call.

        Of one that ``failed``, the reason. Nothing where an attempt has found all that it asked,
        and its return is recorded.
        """
        if not scope.anew and (failed or self.returned(scope.trial)):
            return
        headers, text = {}, texts[0]
        if len(texts) > 1:
            headers, text = {RETURNS: str(len(texts))}, json.dumps(list(texts), ensure_ascii=False)
        if failed and scope.out_of_time:
            headers = {RAISED: OUT_OF_TIME}
        response = RecordedResponse(NO_RESPONSE if failed else 200, headers, text)
        request = RecordedRequest(RETURN, f"python:{target}", "")
        self._append(InterceptedCall(self, scope, request, None), response)
        scope.returned = True

    def record_answer(
        self, request: RecordedRequest, status: int, headers: Iterable[tuple[str, str]], data: bytes
    ) -> RecordedResponse | None:
        """Record an answer received by another program; return an already recorded one instead."""
        call = self.intercept(request.method, request.url, request.body)
        if call.recorded is None:
            call.answered(status, headers, data)
        return call.recorded

    @contextmanager
    def intercepting(self) -> Iterator[None]:
        """Route the requests of trials to this cassette, from any client.

        While replaying, connections inside trials are refused as well (see `offline`).
        """
        from pytest_judgesense.cassettes.interception import patched_clients, silenced_clients

        with silenced_clients(), following_threads(), refuse_sockets(), patched_clients(self):
            yield

    def listens(self) -> bool:
        """Whether the running code belongs to a trial of this cassette."""
        scope = current_scope()
        if self.mode == "record" and (scope is None or scope.closed):
            # A thread that outlives its trial records nothing, and while replaying reaches nothing.
            self.requests_elsewhere += 1
            if scope is not None and scope.owner is self:
                self._late.add(scope.trial)
            return False
        return scope is not None and scope.owner is self

    def intercept(
        self, method: str, url: str, body: Any, headers: Iterable[tuple[Any, Any]] = ()
    ) -> InterceptedCall:
        """A request as one more call of the running trial, looked up or to be recorded.

        Raises:
            CassetteError: while replaying, it is not recorded; while recording, its answer could
                not be written. The scope remembers the error, because the client may swallow it.
            LimitReached: it must not be made.
        """
        scope = current_scope()
        assert scope is not None, "only the requests of trials are intercepted"
        scope.intercept()
        try:
            pairs = _texts(headers)
            shown: Iterable[tuple[str, str]] = request_credentials(url, pairs)
            if self.mode == "replay":
                # Its outputs may quote a key; a placeholder for one may be a word of a prompt.
                shown = ((name, value) for name, value in shown if looks_secret(value))
            self._redactor.credentials.learn(shown)
            if self.mode == "record":
                self.remove_shown()
            data = readable(sent_bytes(body), pairs)
            return self._look_up(scope, RecordedRequest(method, url, as_body(data)))
        except JudgesenseError as error:
            scope.remember(error)
            raise

    def recorded_at(self, url: str) -> RecordedRequest | None:
        """The recorded request of the running trial to a URL."""
        scope = current_scope()
        recorded = self._recordings.of(scope.trial) if scope else []
        wanted = self._redactor.url(normal_url(url))
        requests = (item.request for item, _ in recorded)
        return next((one for one in requests if same_but_for_secrets(one.url, wanted)), None)

    def finish(self, order: Sequence[str]) -> None:
        """Give a recorded file its final form, independent of the order of the answers.

        Trials are in ``order``, followed by others by id; the calls of a trial are numbered from 1.
        If a prompt has changed and was recorded again, its old exchanges are dropped. Credentials
        that later requests have shown are removed from earlier lines, too.
        """
        if self.mode == "replay" or not self.path.exists():
            return
        with self._writing:
            lasting = [
                self._marked_late(self._refreshed(exchange))
                for exchange in read_exchanges(self.path)
                if not self._is_old(exchange)
            ]
            self._rewrite(in_final_form(self._without_shown(lasting), order))
        self._superseded.clear()
        self._looked_up.clear()
        self._late.clear()

    def keep_as_look_ups(self, exchanges: Iterable[Exchange]) -> None:
        """Let exchanges answer any trial, as look-ups that are made once in a process.

        Where one is recorded of trials that have other calls, it is moved, with the attempts before
        it; those keep their order. A trial that got another answer keeps that.
        """
        digests = {self._identity.digest(exchange.request): exchange for exchange in exchanges}
        if not digests:
            return
        with self._writing:
            present = read_exchanges(self.path)
            for exchange in present:
                if exchange.trial == LOOK_UP:
                    digests.pop(self._identity.digest(exchange.request), None)
            if not digests:
                return
            after = max((e.call for e in present if e.trial == LOOK_UP), default=0)
            kept = self._without_moved(present, digests)
            kept += [
                replace(exchange, trial=LOOK_UP, call=after + number)
                for number, exchange in enumerate(digests.values(), start=1)
            ]
            trials = dict.fromkeys(exchange.trial for exchange in present)
            self._rewrite(in_final_form(kept, [trial for trial in trials if trial != LOOK_UP]))

    def _without_moved(
        self, present: Sequence[Exchange], look_ups: Mapping[str, Exchange]
    ) -> list[Exchange]:
        digests = [self._identity.digest(exchange.request) for exchange in present]
        pairs = [
            (exchange, digest)
            for exchange, digest in zip(present, digests, strict=True)
            if not exchange.returns
        ]
        asking_more = {exchange.trial for exchange, digest in pairs if digest not in look_ups}
        bodies = {
            (exchange.trial, digest): exchange.response.body
            for exchange, digest in pairs
            if exchange.answers
        }

        def is_moved(exchange: Exchange, digest: str) -> bool:
            if exchange.returns or digest not in look_ups or exchange.trial not in asking_more:
                return False
            body = look_ups[digest].response.body
            return bodies.get((exchange.trial, digest), body) == body

        return [e for e, digest in zip(present, digests, strict=True) if not is_moved(e, digest)]

    def _rewrite(self, exchanges: Iterable[Exchange]) -> None:
        self._recordings = RecordedTrials(rewrite(self.path, exchanges), self._identity)

    def _is_old(self, exchange: Exchange) -> bool:
        last_old, has_returned = self._superseded.get(exchange.trial, (0, True))
        return not has_returned if exchange.returns else exchange.call <= last_old

    def _refreshed(self, exchange: Exchange) -> Exchange:
        """A look-up with the answer that it got in this session."""
        if exchange.trial != LOOK_UP or not self._looked_up:
            return exchange
        fresh = self._looked_up.get(self._identity.digest(exchange.request))
        return replace(exchange, response=fresh) if fresh else exchange

    def _marked_late(self, exchange: Exchange) -> Exchange:
        if not exchange.returns or exchange.trial not in self._late:
            return exchange
        headers = {**exchange.response.headers, LATE: "1"}
        return replace(exchange, response=replace(exchange.response, headers=headers))

    def remove_shown(self) -> None:
        """Remove credentials that requests, also those to other cassettes, have shown since.

        Plain occurrences are removed at once, because a killed recording is never finished; other
        encodings are removed by `finish`.
        """
        with self._writing:
            fresh = {*self._redactor.credentials.shown} - self._shown
            self._shown |= fresh
            if fresh and self.path.exists() and holds(self.path, fresh):
                self._rewrite(self._without_shown(read_exchanges(self.path)))

    def _without_shown(self, exchanges: Iterable[Exchange]) -> Iterator[Exchange]:
        """``exchanges`` without the credentials that requests have shown.

        Only these: other credentials were already known when the lines were written.
        """
        if not self._shown:
            yield from exchanges
            return
        redactor = self._redactor.narrowed_to(self._shown)
        yield from map(redactor.exchange, exchanges)

    def _append(self, call: InterceptedCall, response: RecordedResponse) -> RecordedResponse:
        """Record the answer to a request; returns it as it is recorded."""
        assert self._journal is not None, "only a recording appends answers"
        scope = call.scope
        if scope.closed:
            return response  # its trial was given up and has failed: this came too late
        self._refuse_forked()
        scope.responded = scope.responded or response.status > NO_RESPONSE
        by_http = call.request.method not in (CALL, RETURN)
        if by_http and (fault := scope.fault_of(response.status, response.body)):
            response = replace(response, headers={**response.headers, FAULT: fault})
        if response.headers.get(FAULT) == UNDECODED:
            self._undecoded.add(str(response.body))
        exchange = Exchange(scope.trial, call.number, call.request, response, self._now())
        try:
            # Credentials shown by other requests meanwhile are removed from this line.
            known = self._redactor.credentials.values
            clean = self._redactor.response(response)
            with self._writing:
                if self._redactor.credentials.values is not known:
                    clean = self._redactor.response(response)
                exchange = replace(exchange, response=clean)
                (exchange,) = self._without_shown([exchange])  # its request, from before
                if call.is_look_up and not exchange.answers:
                    return exchange.response
                if call.is_look_up:
                    digest = self._identity.digest(exchange.request)
                    self._looked_up[digest] = exchange.response
                    return exchange.response
                line = self._journal.append(exchange)
                self._recordings.add(line)
                self._on_recorded(self.path, line.data)
        except CassetteError as error:
            scope.remember(error)
            raise
        return exchange.response

    def _refuse_forked(self) -> None:
        """Raise `CassetteError` in a process that a judge has forked: it cannot record."""
        if os.getpid() != self._writer:
            raise CassetteError(
                f"{self.path} is not written by a process that a judge has forked",
                found="a request in a process of the function's own",
                expected="requests in the process that records",
                remedy='put calls = "function" into the table of the judge: then what the function '
                "returns is recorded, and a replay does not run it",
            )

    # --- looking up -------------------------------------------------------------------------------

    def _look_up(self, scope: CallScope, request: RecordedRequest) -> InterceptedCall:
        """Look ``request`` up, as one more call of the scope's trial; raises as `intercept`."""
        replaying = self.mode == "replay"
        if replaying:
            method, url = request.method.upper(), normal_url(request.url)
            sole = self._recordings.sole_answer(scope.trial, method, url, request.body)
            digest_of = self._identity.digest
            if sole is not None and scope.asked_first(lambda: digest_of(sole.request)):
                return InterceptedCall(self, scope, sole.request, sole)
        if scope.abandoned:
            raise Abandoned(scope.trial)
        request, digest = self._as_stored(scope.trial, request)
        call, occurrence = scope.asked(digest)
        found = None
        if not scope.anew:
            found = self._recordings.find(
                scope.trial, digest, occurrence, replay_errors=replaying or scope.settled
            )
        if found is None and replaying:
            found = self._recordings.last(LOOK_UP, digest) or self._lent(scope, digest)
        if found is not None:
            return InterceptedCall(self, scope, request, found)
        if replaying:
            missing = self._miss(scope.trial, request, digest, call, occurrence)
            made = InterceptedCall(self, scope, request, None, missing=missing)
            if request.method != CALL and (scope.closed or self._is_late(scope.trial)):
                return made
            raise made.missed()
        is_look_up = scope.of_function and self._recordings.last(LOOK_UP, digest) is not None
        if not is_look_up and not scope.anew and self._is_changed(scope, digest):
            scope.abandoned = True
            raise Abandoned(scope.trial)
        assert self._journal is not None, "what is not replayed is recorded"
        # Before the request goes out and is paid for.
        self._refuse_forked()
        self._journal.prepare()
        if is_look_up:  # made in each process that records: a recorded token would not serve
            scope.ask_permission()
            return InterceptedCall(self, scope, request, None, is_look_up=True)
        # The number is given now: the order of requests is the program's, that of answers chance.
        made = InterceptedCall(self, scope, request, None, scope.make())
        scope.begin(made.number, made)
        return made

    def _is_late(self, trial: str) -> bool:
        """Whether a request of a trial may come before its end that came after it."""
        exchange = self._recordings.returned(trial)
        return exchange is not None and LATE in exchange.response.headers

    def _is_changed(self, scope: CallScope, digest: str) -> bool:
        """Whether a request, which is not found, is not the next one of what is recorded.

        A function is called anew for any; of the calls of a provider those that were made before an
        interruption count, where all that is recorded has been asked.
        """
        if scope.of_function:
            return scope.after > 0
        unasked = self._recordings.digests_of(scope.trial, scope.after) - scope.digests
        return bool(unasked) and not self._recordings.knows(scope.trial, digest)

    def _lent(self, scope: CallScope, digest: str) -> Exchange | None:
        """For a proof, what a request that only other trials have made got at last."""
        if self._lending is None:
            return None
        exchange = self._lending.get(digest)
        if exchange is None and (holders := self._recordings.trials_with(digest)):
            exchange = self._recordings.last(holders[0], digest)
        if exchange is not None:
            scope.lent.append(exchange)
        return exchange

    def _stored(self, request: RecordedRequest) -> RecordedRequest:
        """``request`` in its normal form, without secrets."""
        url = self._redactor.url(normal_url(request.url))
        return RecordedRequest(request.method.upper(), url, self._redactor.body(request.body))

    def _as_stored(self, trial: str, request: RecordedRequest) -> tuple[RecordedRequest, str]:
        """``request`` as the file holds it, and its digest.

        The request is looked up before the search for secrets: that is cheaper, and a variable of
        this machine that contains a word of the prompt does not change the request. Placeholders of
        removed secrets match anything, because a replay has no key, or another one.
        """
        plain = replace(request, method=request.method.upper(), url=normal_url(request.url))
        digest_of = self._identity.digest
        if self._recordings.last_call(trial) and self._recordings.knows(
            trial, digest := digest_of(plain)
        ):
            return plain, digest
        clean = self._stored(plain)
        digest = digest_of(clean)
        if not self._recordings.knows(trial, digest):
            for exchange, _ in (*self._recordings.of(trial), *self._recordings.of(LOOK_UP)):
                if _fits(exchange.request, clean):
                    return exchange.request, digest_of(exchange.request)
        return clean, digest

    def _miss(
        self, trial: str, request: RecordedRequest, digest: str, call: int, occurrence: int
    ) -> CassetteError:
        recorded = self._recordings.of(trial)
        answers = [pair for pair in recorded if pair[0].answers] or recorded
        if self._recordings.knows(trial, digest):
            found = f"{occurrence} of this request, which is made once more"
        elif call <= len(answers):
            exchange, line = answers[call - 1]
            return stale(exchange, request, self.path, line, self._how_to_record)
        elif recorded:
            found = f"{len(answers)} calls of this trial; this is call {call}"
        else:
            found = f"{len(self.trials)} other trials" if self.path.exists() else "no such file"
        return self._missing(trial, request, found)

    def _missing(self, trial: str, request: RecordedRequest, found: str) -> CassetteError:
        return MissingRecording(
            f"trial {trial} is not recorded in {self.path}",
            found=found,
            expected=f"an answer to {request.method} {request.url}",
            remedy=self._how_to_record,
        )


@dataclass(frozen=True, slots=True)
class InterceptedCall:
    """A request of a trial on its way: its answer is recorded, or will be.

    Credentials in the response are found here, before any of it is written.
    """

    cassette: Cassette
    scope: CallScope
    # As it is stored; its answer, or the number under which that is recorded.
    request: RecordedRequest
    found: Exchange | None
    number: int = 0
    is_look_up: bool = False
    # On replay, of a request that the recording does not answer, and nobody may wait for.
    missing: CassetteError | None = None

    def missed(self) -> CassetteError:
        """Note in the scope that somebody wants the answer; returns the error to raise."""
        assert self.missing is not None, "it is recorded, or to be made"
        self.scope.missed.append(self.request)
        return self.scope.remember(self.missing)

    @property
    def recorded(self) -> RecordedResponse | None:
        """The recorded answer, without waits: ``Retry-After`` has passed."""
        if self.found is None:
            return None
        response = self.found.response
        if _NO_WAIT not in response.headers:
            return response
        headers = {name: text for name, text in response.headers.items() if name != _NO_WAIT}
        return replace(response, headers=headers)

    def answered(
        self, status: int, headers: Iterable[tuple[Any, Any]], data: bytes
    ) -> RecordedResponse:
        """Record the answer of the endpoint; returns it as recorded.

        Raises:
            BodyTooLarge: it is, and nothing is recorded.
        """
        pairs = _texts(headers)
        return self._arrived(pairs, received(status, pairs, data, self.scope.most_bytes))

    def arrived(
        self,
        status: int,
        headers: Iterable[tuple[Any, Any]],
        data: bytes,
        by_client: Callable[[bytes], bytes],
        **how: Any,
    ) -> RecordedResponse:
        """Record the answer as a client gets it; see `received`. Returns it with its secrets.

        Raises:
            BodyTooLarge: it is, and nothing is recorded.
        """
        pairs, most = _texts(headers), self.scope.most_bytes
        response = received(status, pairs, data, most, by_client, **how)
        self._arrived(pairs, response)
        return response

    def _arrived(
        self, headers: list[tuple[str, str]], response: RecordedResponse
    ) -> RecordedResponse:
        self.cassette._redactor.credentials.learn(response_credentials(headers), "response")
        return self.recorded_as(response)

    def unanswered(self, reason: str, raised: str = "") -> None:
        """Record, as evidence, that no response came; ``raised`` names what the client raised."""
        headers = {RAISED: raised} if raised else _NOTHING
        self.recorded_as(RecordedResponse(NO_RESPONSE, headers, reason))

    def given_up(self) -> None:
        """Record that nobody waits for the response any more, and how long somebody has."""
        waited = self.scope.come_to_end(self.number)
        if waited is not None:
            headers = {WAITED: f"{waited:.3f}"}
            reason = "given up before an answer came"
            self.cassette._append(self, RecordedResponse(NO_RESPONSE, headers, reason))

    def recorded_as(self, response: RecordedResponse) -> RecordedResponse:
        """Record the response, unless the request was given up; returns it as recorded."""
        if not self.is_look_up and self.scope.come_to_end(self.number) is None:
            return response
        return self.cassette._append(self, response)

    @property
    def pending_s(self) -> float | None:
        """Of a request that was given up or came late: the seconds that it waits on replay."""
        if self.missing is not None:
            return 1.0
        waited = self.found and self.found.response.headers.get(WAITED)
        return None if not waited else min(_LONGEST_WAIT_S, float(waited)) + 1.0


def _call(
    target: str, messages: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]
) -> RecordedRequest:
    body = {"messages": [dict(message) for message in messages], "settings": dict(settings)}
    return RecordedRequest(CALL, f"python:{target}", json.dumps(body, ensure_ascii=False))


def _texts(headers: Iterable[tuple[Any, Any]]) -> list[tuple[str, str]]:
    def text(value: Any) -> str:
        return value.decode("latin-1") if isinstance(value, bytes) else str(value)

    return [(text(name), text(value)) for name, value in headers]


def _fits(recorded: RecordedRequest, asked: RecordedRequest) -> bool:
    """Whether they are the same except at the places of secrets."""
    return recorded.method == asked.method and all(
        isinstance(there, str) and isinstance(here, str) and same_but_for_secrets(there, here)
        for there, here in ((recorded.url, asked.url), (recorded.body, asked.body))
    )
