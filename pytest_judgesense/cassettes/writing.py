"""A cassette that records: what is missing goes out, and its answer is appended at once."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TypeAlias

from pytest_judgesense.cassettes.carrying import Given, RecordedTrial
from pytest_judgesense.cassettes.cassette import (
    HOW_TO_RECORD,
    Cassette,
    InterceptedCall,
    is_changed,
    next_return,
    without_secrets,
)
from pytest_judgesense.cassettes.credentials import Credentials
from pytest_judgesense.cassettes.exchange import (
    CALL,
    CARRIED,
    CODE,
    FAULT,
    GIVEN,
    LATE,
    LOOK_UP,
    NO_RESPONSE,
    OUT_OF_TIME,
    RAISED,
    RETURN,
    RETURNS,
    Exchange,
    RecordedRequest,
    RecordedResponse,
    as_bytes,
    as_text,
    in_final_form,
)
from pytest_judgesense.cassettes.known_values import forms_in_lines
from pytest_judgesense.cassettes.matching import ALL_OF_IT, Identity, RecordedTrials
from pytest_judgesense.cassettes.received import UNDECODED
from pytest_judgesense.cassettes.redaction import Redactor
from pytest_judgesense.cassettes.scope import Abandoned, CallScope, current_scope, entered
from pytest_judgesense.cassettes.storage import Journal, has_content, read_exchanges, rewrite
from pytest_judgesense.errors import CassetteError
from pytest_judgesense.files.opening import read_bytes

OnRecorded: TypeAlias = Callable[[Path, bytes], None]


def utc_now() -> str:
    """This moment in UTC: ISO 8601, whole seconds, ``Z``."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def holds(path: Path, values: Collection[str]) -> bool:
    """Whether a recording contains any of these ``values``."""
    content = read_bytes(path) if values else b""
    return any(as_bytes(form) in content for value in values for form in forms_in_lines(value))


class RecordingCassette(Cassette):
    """What is recorded of one judge on one suite, and is to be recorded of it.

    Attributes:
        requests_elsewhere: requests while it records whose code belongs to no running trial.
        code: returns the digests of the code of a judge that is a function; empty for others.
        reread: trials whose recorded answers the function has read otherwise than before.
        unasked: trials that are recorded with requests, and whose function has made none now, each
            with whether it has returned the same.
    """

    def __init__(
        self,
        path: Path,
        *,
        secrets: Credentials | None = None,
        now: Callable[[], str] = utc_now,
        how_to_record: str = HOW_TO_RECORD,
        on_recorded: OnRecorded = lambda _path, _line: None,
        identity: Identity = ALL_OF_IT,
    ) -> None:
        """Open a recording, to be made or continued.

        Args:
            path: the file; it appears with the first answer.
            secrets: credentials that are never written; those found in requests are added.
            now: returns the date of a recorded exchange.
            how_to_record: remedy of a miss: the command that records it.
            on_recorded: called with the path and each recorded line.
            identity: which requests are the same.

        Raises:
            BrokenCassette: a line cannot be read. A torn last one is cut off, and `notices` say so.
        """
        self._journal = Journal(path)
        redactor, lines = (
            Redactor(secrets or Credentials(), noting=True),
            self._journal.take_lines(),
        )
        super().__init__(path, lines, redactor, identity=identity, how_to_record=how_to_record)
        self._on_recorded = on_recorded
        self._now = now
        # A process that was forked of this one writes nothing.
        self._writer = os.getpid()
        # Why bodies were not recorded.
        self._undecoded: set[str] = set()
        # For trials that were asked anew: the last call of what was there before, and whether a
        # return was recorded since.
        self._superseded: dict[str, tuple[int, bool]] = {}
        # Look-ups that were made again, by digest.
        self._looked_up: dict[str, RecordedResponse] = {}
        # Credentials found in requests that are no longer in any line, and the last look at all.
        self._shown: frozenset[str] = frozenset()
        self._shown_before: Mapping[str, str] = {}
        self.requests_elsewhere = 0
        self.code: Callable[[], str] = str
        self.reread: set[str] = set()
        self.unasked: dict[str, bool] = {}
        # Trials with a return of this session, which came from the code as it is.
        self._returning: set[str] = set()
        # Trials that have ended, and whose code made requests since.
        self._late: set[str] = set()
        # Whether anything was recorded here.
        self._has_grown = False
        # One line is written, or all of them.
        self._writing = Lock()

    @property
    def notices(self) -> tuple[str, ...]:
        notices = [self._journal.notice] if self._journal.notice else []
        if removed := self.redactor.removed:
            notices.append(f"removed from the recording: {', '.join(sorted(removed))}")
        if count := len(self.reread):
            answers = f"{count} recorded answer{'s' * (count != 1)}"
            notices.append(f"the judge's code reads {answers} otherwise than before")
        return (*notices, *sorted(self._undecoded))

    @contextmanager
    def trial(
        self, trial_id: str, *, anew: bool = False, of_function: bool = False
    ) -> Iterator[CallScope]:
        after, settled = self.recordings.last_call(trial_id), self.complete(trial_id)
        if not settled:
            self._journal.prepare()
        scope = CallScope(
            trial_id, self, settled=settled, after=after, anew=anew, of_function=of_function
        )
        with entered(scope):
            try:
                yield scope
            finally:
                if of_function:
                    _give_up(scope)
                scope.close()
        # What an endpoint that is out of reach says is no reason to lose what was complete.
        if anew and scope.made and (scope.responded or not settled):
            self._superseded[trial_id] = after, scope.returned

    def listens(self) -> bool:
        scope = current_scope()
        if scope is None or scope.closed:
            # A thread that outlives its trial records nothing, and while replaying reaches nothing.
            self.requests_elsewhere += 1
            if scope is not None and scope.owner is self:
                self._late.add(scope.trial)
            return False
        return scope.owner is self

    def learn(self, credentials: Iterable[tuple[str, str]]) -> None:
        self.redactor.credentials.learn(credentials)
        self.remove_shown()

    def look_up(self, scope: CallScope, request: RecordedRequest) -> InterceptedCall:
        if scope.abandoned:
            raise Abandoned(scope.trial)
        recordings = self.recordings
        if not recordings.last_call(scope.trial) and not recordings.last_call(LOOK_UP):
            # As most are: nothing is there that could be compared with it.
            clean = without_secrets(self.redactor, request)
            if scope.asked_first(lambda: self.identity.digest(clean)):
                return self._to_make(scope, clean)
        request, digest = self.as_stored(scope.trial, request)
        _, occurrence = scope.asked(digest)
        if not scope.anew:
            errors = scope.settled
            exchange = recordings.find(scope.trial, digest, occurrence, replay_errors=errors)
            if exchange is not None:
                return InterceptedCall(self, scope, request, exchange)
        is_look_up = scope.of_function and recordings.last(LOOK_UP, digest) is not None
        if not is_look_up and not scope.anew and is_changed(recordings, scope, digest):
            scope.abandoned = True
            raise Abandoned(scope.trial)
        return self._to_make(scope, request, is_look_up=is_look_up)

    def _to_make(
        self, scope: CallScope, request: RecordedRequest, *, is_look_up: bool = False
    ) -> InterceptedCall:
        """The call of a request that goes out; raises where that may not be."""
        # Before it is paid for.
        _refuse_forked(self.path, self._writer)
        self._journal.prepare()
        if is_look_up:  # made in each process that records: a recorded token would not serve
            scope.ask_permission()
            return InterceptedCall(self, scope, request, is_look_up=True)
        # The number is given now: the order of requests is the program's, that of answers chance.
        call = InterceptedCall(self, scope, request, number=scope.make())
        scope.begin(call.number, call)
        return call

    def append(self, call: InterceptedCall, response: RecordedResponse) -> RecordedResponse:
        scope = call.scope
        if scope.closed:
            return response  # its trial was given up and has failed: this came too late
        _refuse_forked(self.path, self._writer)
        scope.responded = scope.responded or response.status > NO_RESPONSE
        by_http = call.request.method not in (CALL, RETURN)
        if by_http and (fault := scope.fault_of(response.status, response.body)):
            response = replace(response, headers={**response.headers, FAULT: fault})
        if response.headers.get(FAULT) == UNDECODED:
            self._undecoded.add(str(response.body))
        try:
            # Credentials shown by other requests meanwhile are removed from this line.
            values = self.redactor.credentials.values
            clean = self.redactor.response(response)
            with self._writing:
                if self.redactor.credentials.values is not values:
                    clean = self.redactor.response(response)
                exchange = Exchange(scope.trial, call.number, call.request, clean, self._now())
                (exchange,) = self._without_shown([exchange])  # its request, from before
                if call.is_look_up:
                    if exchange.answers:
                        self._looked_up[self.identity.digest(exchange.request)] = exchange.response
                    return exchange.response
                self._add(exchange)
        except CassetteError as error:
            scope.remember(error)
            raise
        return exchange.response

    def find_call(self, scope: CallScope, request: RecordedRequest) -> str | None:
        """The recorded return of a Python function, or ``None`` if it has to be called.

        So it is if its trial is recorded as HTTP exchanges (it runs and gets these answers), or
        this call is not recorded, or the trial is asked anew.
        """
        recorded = self.recordings.of(scope.trial)
        if scope.anew or all(exchange.request.method != CALL for exchange, _ in recorded):
            return None
        _, digest = self.as_stored(scope.trial, request)
        if not self.recordings.knows(scope.trial, digest):
            return None
        exchange = self.look_up(scope, request).exchange
        assert exchange is not None, "what is recorded is found"
        return as_text(exchange.response.body)

    def take_return(self, scope: CallScope, request: RecordedRequest, text: str) -> None:
        """Record what a Python function returned that made no HTTP request.

        Not of a trial that is recorded with requests: they are kept, and it is `unasked`.
        """
        recorded = None if scope.anew else next_return(self.recordings, scope)
        if recorded is not None:
            self.unasked[scope.trial] = recorded == self.redacted(text)
            return
        call = self.look_up(scope, request)
        if call.exchange is None:
            call.recorded_as(RecordedResponse(200, self._code_headers(scope), text))

    def _code_headers(self, scope: CallScope) -> dict[str, str]:
        """What a line of a return says of the code that it came from."""
        self._returning.add(scope.trial)
        return {CODE: state} if (state := self.code()) else {}

    def record_return(
        self,
        scope: CallScope,
        target: str,
        texts: Sequence[str],
        *,
        failed: bool = False,
        is_other: bool = False,
        given: Given | None = None,
    ) -> None:
        """Record what a Python function has returned after its requests, call by call.

        Of one that ``failed``, the reason. Nothing where an attempt has found all that it asked,
        and its return is recorded, unless it ``is_other`` than that. ``given`` is what the function
        was given.
        """
        before = self.recordings.returned(scope.trial)
        if is_other:
            self.reread.add(scope.trial)
        elif not scope.anew and ((failed and not scope.made) or (before and before.returned_texts)):
            return
        headers, text = self._code_headers(scope), texts[0]
        if len(texts) > 1:
            headers[RETURNS], text = str(len(texts)), json.dumps(list(texts), ensure_ascii=False)
        if given is not None:
            headers[GIVEN] = given.text
        if failed and scope.out_of_time:
            headers[RAISED] = OUT_OF_TIME
        response = RecordedResponse(NO_RESPONSE if failed else 200, headers, text)
        request = RecordedRequest(RETURN, f"python:{target}", "")
        self.append(InterceptedCall(self, scope, request), response)
        scope.returned = True

    def carry_over(self, trial_id: str, recorded: RecordedTrial) -> None:
        """Append the calls of another trial as those of one that asks the same, see `carrying`.

        Not its return: that is recorded when the function has run on these answers.

        Raises:
            CassetteError: the file cannot be written.
        """
        self._journal.prepare()
        with self._writing:
            for exchange in recorded.exchanges:
                headers = {**exchange.response.headers, CARRIED: recorded.id}
                response = replace(exchange.response, headers=headers)
                self._add(replace(exchange, trial=trial_id, response=response))

    def _add(self, exchange: Exchange) -> None:
        """Write one line more."""
        self._has_grown = True
        line = self._journal.append(exchange)
        self.recordings.add(line)
        self._on_recorded(self.path, line.data)

    def is_finished(self) -> bool:
        """Whether nothing was recorded here, and the file has a final form, in whatever order.

        It has none where the session that recorded it was killed.
        """
        if self._has_grown:
            return False
        with self._writing:
            exchanges = in_final_form(read_exchanges(self.path), self.recordings.in_file_order)
            return has_content(self.path, exchanges)

    def finish(self, order: Sequence[str]) -> None:
        """Give the file its final form, independent of the order of the answers.

        Trials are in ``order``, followed by others by id; the calls of a trial are numbered from 1.
        If a prompt has changed and was recorded again, its old exchanges are dropped. Credentials
        that later requests have shown are removed from earlier lines, too.
        """
        if not self.path.exists():
            return
        with self._writing:
            state = self.code() if self._returning else ""
            lasting = [
                _marked_late(_refreshed(exchange, self._looked_up, self.identity), self._late)
                for exchange in read_exchanges(self.path)
                if not _is_old(exchange, self._superseded)
            ]
            # All that the code has opened by now, whichever trial came first.
            lasting = [
                _with_code(exchange, state) if exchange.trial in self._returning else exchange
                for exchange in lasting
            ]
            self._rewrite(in_final_form(self._without_shown(lasting), order))
        self._superseded.clear()
        self._looked_up.clear()
        self._late.clear()
        self._returning.clear()

    def keep_as_look_ups(self, exchanges: Iterable[Exchange]) -> None:
        """Let exchanges answer any trial, as look-ups that are made once in a process.

        Where one is recorded of trials that have other calls, it is moved, with the attempts before
        it; those keep their order. A trial that got another answer keeps that.
        """
        look_ups = {self.identity.digest(exchange.request): exchange for exchange in exchanges}
        if not look_ups:
            return
        with self._writing:
            present = read_exchanges(self.path)
            for exchange in present:
                if exchange.trial == LOOK_UP:
                    look_ups.pop(self.identity.digest(exchange.request), None)
            if not look_ups:
                return
            after = max((e.call for e in present if e.trial == LOOK_UP), default=0)
            lasting = _without_moved(present, look_ups, self.identity)
            lasting += [
                replace(exchange, trial=LOOK_UP, call=after + number)
                for number, exchange in enumerate(look_ups.values(), start=1)
            ]
            trials = dict.fromkeys(exchange.trial for exchange in present)
            self._rewrite(in_final_form(lasting, [trial for trial in trials if trial != LOOK_UP]))

    def remove_shown(self) -> None:
        """Remove credentials that requests, also those to other cassettes, have shown since.

        Plain occurrences are removed at once, because a killed recording is never finished; other
        encodings are removed by `finish`.
        """
        shown = self.redactor.credentials.shown
        if shown is self._shown_before:  # as at nearly every request
            return
        with self._writing:
            fresh = {*shown} - self._shown
            self._shown |= fresh
            if fresh and self.path.exists() and holds(self.path, fresh):
                self._rewrite(self._without_shown(read_exchanges(self.path)))
            self._shown_before = shown

    def _rewrite(self, exchanges: Iterable[Exchange]) -> None:
        self.recordings = RecordedTrials(rewrite(self.path, exchanges), self.identity)

    def _without_shown(self, exchanges: Iterable[Exchange]) -> Iterable[Exchange]:
        """``exchanges`` without the credentials that requests have shown.

        Only these: other credentials were already known when the lines were written.
        """
        if not self._shown:
            return exchanges
        return map(self.redactor.narrowed_to(self._shown).exchange, exchanges)


def _give_up(scope: CallScope) -> None:
    """Record of the requests under way that nobody waits for their answers any more."""
    for call in scope.under_way():
        if scope.out_of_time:  # it is why the trial has failed
            call.unanswered("no answer until the function's time was up")
        else:
            call.given_up()


def _refuse_forked(path: Path, writer: int) -> None:
    """Raise `CassetteError` in a process that a judge has forked: it cannot record."""
    if os.getpid() != writer:
        raise CassetteError(
            f"{path} is not written by a process that a judge has forked",
            found="a request in a process of the function's own",
            expected="requests in the process that records",
            remedy='put calls = "function" into the table of the judge: then what the function '
            "returns is recorded, and a replay does not run it",
        )


def _refreshed(
    exchange: Exchange, answers: Mapping[str, RecordedResponse], identity: Identity
) -> Exchange:
    """A look-up with its answer of this session, of those by digest."""
    if exchange.trial != LOOK_UP or not answers:
        return exchange
    response = answers.get(identity.digest(exchange.request))
    return replace(exchange, response=response) if response else exchange


def _marked_late(exchange: Exchange, late: Collection[str]) -> Exchange:
    """A return with the mark that requests came after the end of its trial, if they did."""
    if not exchange.returns or exchange.trial not in late:
        return exchange
    headers = {**exchange.response.headers, LATE: "1"}
    return replace(exchange, response=replace(exchange.response, headers=headers))


def _with_code(exchange: Exchange, state: str) -> Exchange:
    """A return with the digests of its code; any other exchange as it is."""
    if CODE not in exchange.response.headers:
        return exchange
    headers = {**exchange.response.headers, CODE: state}
    return replace(exchange, response=replace(exchange.response, headers=headers))


def _is_old(exchange: Exchange, superseded: Mapping[str, tuple[int, bool]]) -> bool:
    """Whether an exchange is of an attempt that another one has taken the place of."""
    last_old, has_returned = superseded.get(exchange.trial, (0, True))
    return not has_returned if exchange.returns else exchange.call <= last_old


def _without_moved(
    present: Sequence[Exchange], look_ups: Mapping[str, Exchange], identity: Identity
) -> list[Exchange]:
    """``present`` without what becomes a look-up, of trials that have other calls."""
    digests = [identity.digest(exchange.request) for exchange in present]
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
