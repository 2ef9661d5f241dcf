"""A cassette holds what is recorded of the calls of one judge on one suite.

There are two kinds with one face, `Cassette`: one replays (`replaying`) and one records
(`writing`).

==========  =============================  ==========================================
kind        a request that is recorded     one that is not
==========  =============================  ==========================================
replaying   its exchange                   `MissingRecording` or `StaleRecording`
recording   its exchange                   goes out; its answer is appended at once
==========  =============================  ==========================================

There are two ways to a cassette. The built-in client asks it directly. Any other client, inside a
judge's own code, is intercepted (see `interception`): a request of the running trial goes to the
cassette, any other to the handler that was in place before (the network, a test's mock, another
vcr cassette).

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
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from pytest_judgesense.cassettes.bodies import readable, sent_bytes
from pytest_judgesense.cassettes.credentials import (
    request_credentials,
    response_credentials,
    variable_in,
)
from pytest_judgesense.cassettes.exchange import (
    CALL,
    CARRIED,
    LOOK_UP,
    NO_RESPONSE,
    RAISED,
    WAITED,
    Exchange,
    RecordedRequest,
    RecordedResponse,
    as_body,
)
from pytest_judgesense.cassettes.matching import ALL_OF_IT, Identity, RecordedTrials, normal_url
from pytest_judgesense.cassettes.received import received
from pytest_judgesense.cassettes.redaction import Redactor, same_but_for_secrets
from pytest_judgesense.cassettes.scope import Abandoned, CallScope, current_scope
from pytest_judgesense.cassettes.storage import CassetteLine
from pytest_judgesense.errors import CassetteError, JudgeError, JudgesenseError, MissingRecording

HOW_TO_RECORD: Final = "record it with --judge-mode record"

# What any answer seems to have come by where it is replayed; it is no part of a recording.
REPLAYED_PROTOCOL: Final = "HTTP/1.1"
# Headers of a recorded answer that no client is given.
_NOT_DELIVERED: Final = frozenset({"retry-after", CARRIED})
# No timer of a cassette waits longer: a day.
_LONGEST_WAIT_S: Final = 86_400.0
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class Cassette(ABC):
    """The recordings of one judge on one suite. Safe with threads.

    Attributes:
        path: the file; a missing one holds nothing.
        recordings: the exchanges, found by trial and request.
        redactor: what removes the secrets of all that leaves the cassette.
        identity: which requests are the same.
        how_to_record: remedy of a miss: the command that records it.
        protocols: by trial, what its last answer came by in this process, where a client says so.
    """

    def __init__(
        self,
        path: Path,
        lines: Iterable[CassetteLine],
        redactor: Redactor,
        *,
        identity: Identity = ALL_OF_IT,
        how_to_record: str = HOW_TO_RECORD,
    ) -> None:
        """``lines`` are those of the file.

        Raises:
            BrokenCassette: a line cannot be read.
        """
        self.path = path
        self.recordings = RecordedTrials(lines, identity)
        self.redactor = redactor
        self.identity = identity
        self.how_to_record = how_to_record
        self.protocols: dict[str, str] = {}

    @property
    def notices(self) -> tuple[str, ...]:
        """Remarks about this recording for the end of the run."""
        return ()

    @property
    def trials(self) -> set[str]:
        """Ids of the trials with any recorded exchange."""
        return self.recordings.trials

    def recorded_of(self, trials: Iterable[str]) -> tuple[str, str] | None:
        """When the first and the last answer to these trials was; ``None`` without any."""
        return self.recordings.span_of(trials)

    def complete(self, trial_id: str) -> bool:
        """Whether the last exchange of the trial is an answer (status below 400)."""
        return self.recordings.complete(trial_id)

    def redacted(self, text: str) -> str:
        """``text`` without secrets, as everything that leaves a recording."""
        return self.redactor.text(text)

    @abstractmethod
    def trial(
        self, trial_id: str, *, anew: bool = False, of_function: bool = False
    ) -> AbstractContextManager[CallScope]:
        """Let the requests of a block, and of all that it starts, belong to a trial.

        The value of the block is the scope of this attempt. Raise its ``error`` after the judge has
        returned, because the judge's client may have swallowed it.

        Args:
            trial_id: the trial.
            anew: nothing that is recorded of it is found; it goes once an endpoint has responded.
            of_function: the code of a user runs, all of whose requests are to be seen.

        Raises:
            CassetteError: the trial is to be asked, and its answer could not be recorded.
        """

    def find(self, scope: CallScope, method: str, url: str, body: str | bytes) -> Exchange:
        """The exchange that answers a request; each one serves once in a scope.

        Raises:
            MissingRecording: there is none; the error names trial, cassette and remedy.
            StaleRecording: the trial is recorded with another request; shows the difference.
        """
        call = self.look_up(scope, RecordedRequest(method, url, as_body(body)))
        if call.exchange is None:
            present = "no answer to this request"
            raise scope.remember(missing(self, scope.trial, call.request, present))
        return call.exchange

    def listens(self) -> bool:
        """Whether the running code belongs to a trial of this cassette."""
        scope = current_scope()
        return scope is not None and scope.owner is self

    def intercept(
        self, method: str, url: str, body: Any, headers: Iterable[tuple[Any, Any]] = ()
    ) -> InterceptedCall:
        """A request as one more call of the running trial, looked up or to be recorded.

        Raises:
            CassetteError: on replay, it is not recorded; while recording, its answer could not be
                written. The scope remembers the error, because the client may swallow it.
            JudgeError: it would go out with a placeholder for a key.
            LimitReached: it must not be made.
        """
        scope = current_scope()
        assert scope is not None, "only the requests of trials are intercepted"
        scope.intercept()
        try:
            pairs = texts_of(headers)
            self.learn(request_credentials(url, pairs))
            content = readable(sent_bytes(body), pairs)
            call = self.look_up(scope, RecordedRequest(method, url, as_body(content)))
            if call.goes_out and (key := variable_in((url, *(text for _, text in pairs)))):
                scope.come_to_end(call.number)  # before it has begun: nothing of it is recorded
                raise _without_key(scope.trial, call.request, key)
        except JudgesenseError as error:
            scope.remember(error)
            raise
        return call

    @abstractmethod
    def learn(self, credentials: Iterable[tuple[str, str]]) -> None:
        """Know the credentials that a request has shown, by their names."""

    @abstractmethod
    def look_up(self, scope: CallScope, request: RecordedRequest) -> InterceptedCall:
        """Look ``request`` up, as one more call of the scope's trial; raises as `intercept`."""

    @abstractmethod
    def append(self, call: InterceptedCall, response: RecordedResponse) -> RecordedResponse:
        """Record the answer to a request that was made; returns it as it is recorded."""

    @abstractmethod
    def take_return(self, scope: CallScope, request: RecordedRequest, text: str) -> None:
        """Take what a Python function returned that made no HTTP request.

        Raises:
            MissingRecording: on replay: it should have made a request, and has returned something
                else than with it.
        """

    def as_stored(self, trial: str, request: RecordedRequest) -> tuple[RecordedRequest, str]:
        """``request`` as the file holds it, and its digest.

        The request is looked up before the search for secrets: that is cheaper, and a variable of
        this machine that contains a word of the prompt does not change the request. Placeholders of
        removed secrets match anything, because a replay has no key, or another one.
        """
        plain = replace(request, method=request.method.upper(), url=normal_url(request.url))
        digest_of, recordings = self.identity.digest, self.recordings
        if recordings.last_call(trial) and recordings.knows(trial, digest := digest_of(plain)):
            return plain, digest
        clean = without_secrets(self.redactor, plain)
        digest = digest_of(clean)
        if not recordings.knows(trial, digest):
            for exchange, _ in (*recordings.of(trial), *recordings.of(LOOK_UP)):
                if _fits(exchange.request, clean):
                    return exchange.request, digest_of(exchange.request)
        return clean, digest

    @abstractmethod
    def finish(self, order: Sequence[str]) -> None:
        """Give a recorded file its final form, with the trials in ``order``."""


class InterceptedCall(NamedTuple):
    """A request of a trial on its way: its answer is recorded, or will be.

    Credentials in the response are found here, before any of it is written.

    Attributes:
        request: as it is stored.
        exchange: its recorded answer; ``None`` where it is to be made.
        number: under which a new answer is recorded.
        is_look_up: whether the request answers any trial, and is made again in each process.
        miss: on replay, of a request that the recording does not answer, and nobody may wait for.
    """

    cassette: Cassette
    scope: CallScope
    request: RecordedRequest
    exchange: Exchange | None = None
    number: int = 0
    is_look_up: bool = False
    miss: CassetteError | None = None

    @property
    def goes_out(self) -> bool:
        """Whether the request is to be made."""
        return self.exchange is None and self.miss is None

    def missed(self) -> CassetteError:
        """Note in the scope that somebody wants the answer; returns the error to raise."""
        assert self.miss is not None, "it is recorded, or to be made"
        self.scope.missed.append(self.request)
        return self.scope.remember(self.miss)

    @property
    def recorded(self) -> RecordedResponse | None:
        """The recorded answer, without waits (``Retry-After`` has passed) and where it is from."""
        if self.exchange is None:
            return None
        response = self.exchange.response
        if _NOT_DELIVERED.isdisjoint(response.headers):
            return response
        headers = {n: text for n, text in response.headers.items() if n not in _NOT_DELIVERED}
        return replace(response, headers=headers)

    def answered(
        self, status: int, headers: Iterable[tuple[Any, Any]], content: bytes
    ) -> RecordedResponse:
        """Record the answer of the endpoint; returns it as recorded.

        Raises:
            BodyTooLarge: it is, and nothing is recorded.
        """
        pairs = texts_of(headers)
        return self._arrived(pairs, received(status, pairs, content, self.scope.most_bytes))

    def arrived(
        self,
        status: int,
        headers: Iterable[tuple[Any, Any]],
        content: bytes,
        by_client: Callable[[bytes], bytes],
        **how: Any,
    ) -> RecordedResponse:
        """Record the answer as a client gets it; see `received`. Returns it with its secrets.

        Raises:
            BodyTooLarge: it is, and nothing is recorded.
        """
        pairs, most = texts_of(headers), self.scope.most_bytes
        response = received(status, pairs, content, most, by_client, **how)
        self._arrived(pairs, response)
        return response

    def _arrived(
        self, headers: list[tuple[str, str]], response: RecordedResponse
    ) -> RecordedResponse:
        self.cassette.redactor.credentials.learn(response_credentials(headers), "response")
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
            self.cassette.append(self, RecordedResponse(NO_RESPONSE, headers, reason))

    def recorded_as(self, response: RecordedResponse) -> RecordedResponse:
        """Record the response, unless the request was given up; returns it as recorded."""
        if not self.is_look_up and self.scope.come_to_end(self.number) is None:
            return response
        return self.cassette.append(self, response)

    @property
    def pending_s(self) -> float | None:
        """Of a request that was given up or came late: the seconds that it waits on replay."""
        if self.miss is not None:
            return 1.0
        waited = self.exchange and self.exchange.response.headers.get(WAITED)
        return None if not waited else min(_LONGEST_WAIT_S, float(waited)) + 1.0


def _without_key(trial: str, request: RecordedRequest, variable: str) -> JudgeError:
    return JudgeError(
        f"trial {trial} is to be asked, and there is no key",
        found=f"{request.method} {request.url} with a placeholder for {variable}",
        expected=f"the key in {variable}: what is recorded needs none, and this request is not "
        "recorded",
        remedy=f"export {variable}=...",
    )


def missing(
    cassette: Cassette, trial: str, request: RecordedRequest, present: str
) -> CassetteError:
    """The error of a request that is not recorded, where ``present`` is there instead."""
    return MissingRecording(
        f"trial {trial} is not recorded in {cassette.path}",
        found=present,
        expected=f"an answer to {request.method} {request.url}",
        remedy=cassette.how_to_record,
    )


def without_secrets(redactor: Redactor, request: RecordedRequest) -> RecordedRequest:
    """``request`` in its normal form, without secrets."""
    url = redactor.url(normal_url(request.url))
    return RecordedRequest(request.method.upper(), url, redactor.body(request.body))


def recorded_answer(
    cassette: Cassette, scope: CallScope, method: str, url: str, body: str | bytes
) -> Exchange | None:
    """The recorded answer to a request, or ``None`` if it has to be made; counts nothing.

    Raises:
        Abandoned: other requests of the trial are recorded, and this is none of them.
    """
    recordings = cassette.recordings
    if scope.anew or not recordings.last_call(scope.trial):
        return None
    request = without_secrets(cassette.redactor, RecordedRequest(method, url, as_body(body)))
    digest = cassette.identity.digest(request)
    recorded = recordings.find(scope.trial, digest, 0, replay_errors=False)
    if recorded is None and is_changed(recordings, scope, digest):
        raise Abandoned(scope.trial)
    return recorded


def answered_first(
    cassette: Cassette, trial_id: str, requests: Sequence[tuple[str, str, str | bytes]]
) -> int:
    """How many of the ``requests`` of a trial, from the first one, a recording need not make.

    Raises:
        Abandoned: one of them is not the recorded one, and all are made anew.
    """
    scope = CallScope(trial_id, cassette, after=cassette.recordings.last_call(trial_id))
    for count, (method, url, body) in enumerate(requests):
        if recorded_answer(cassette, scope, method, url, body) is None:
            return count
        request = RecordedRequest(method, url, as_body(body))
        scope.asked(cassette.as_stored(trial_id, request)[1])
    return len(requests)


def is_changed(recordings: RecordedTrials, scope: CallScope, digest: str) -> bool:
    """Whether a request, which is not found, is not the next one of what is recorded.

    Calls that were made before an interruption count, where all that is recorded has been asked: of
    a provider, and of a function that did not come to its return. One that did is called anew.
    """
    if scope.of_function and recordings.returned(scope.trial) is not None:
        return scope.after > 0
    unasked = recordings.digests_of(scope.trial, scope.after) - scope.digests
    return bool(unasked) and not recordings.knows(scope.trial, digest)


def call_of_function(
    target: str, messages: Sequence[Mapping[str, Any]], settings: Mapping[str, Any] = _NOTHING
) -> RecordedRequest:
    """The call of a Python function, as a request.

    ``target`` is ``package.module:function``; ``settings`` are the inputs besides the ``messages``
    that determine its answer.
    """
    body = {"messages": [dict(message) for message in messages], "settings": dict(settings)}
    return RecordedRequest(CALL, f"python:{target}", json.dumps(body, ensure_ascii=False))


def next_return(recordings: RecordedTrials, scope: CallScope) -> str | None:
    """What the function of a trial returned next when it was recorded; ``None`` if not known.

    So it is where that is not recorded, or the function failed.
    """
    exchange = recordings.returned(scope.trial)
    texts = exchange.returned_texts if exchange else []
    return next(iter(texts[len(scope.returns) :]), None)


def texts_of(headers: Iterable[tuple[Any, Any]]) -> list[tuple[str, str]]:
    """Names and values of headers as texts."""

    def text(value: Any) -> str:
        return value.decode("latin-1") if isinstance(value, bytes) else str(value)

    return [(text(name), text(value)) for name, value in headers]


def _fits(recorded: RecordedRequest, wanted: RecordedRequest) -> bool:
    """Whether they are the same except at the places of secrets."""
    return recorded.method == wanted.method and all(
        isinstance(before, str) and isinstance(now, str) and same_but_for_secrets(before, now)
        for before, now in ((recorded.url, wanted.url), (recorded.body, wanted.body))
    )
