"""A cassette that replays: it has no way to the network, and writes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pytest_judgesense.cassettes.cassette import (
    HOW_TO_RECORD,
    Cassette,
    InterceptedCall,
    missing,
    next_return,
)
from pytest_judgesense.cassettes.credentials import Credentials, looks_secret
from pytest_judgesense.cassettes.exchange import (
    CALL,
    LATE,
    LOOK_UP,
    NO_RESPONSE,
    OUT_OF_TIME,
    RAISED,
    Exchange,
    RecordedRequest,
    RecordedResponse,
    as_text,
)
from pytest_judgesense.cassettes.matching import ALL_OF_IT, Identity, normal_url, stale
from pytest_judgesense.cassettes.redaction import Redactor
from pytest_judgesense.cassettes.scope import Abandoned, CallScope, entered
from pytest_judgesense.cassettes.storage import read_lines
from pytest_judgesense.errors import CassetteError


class ReplayingCassette(Cassette):
    """What is recorded of one judge on one suite, to be replayed."""

    def __init__(
        self,
        path: Path,
        *,
        secrets: Credentials | None = None,
        how_to_record: str = HOW_TO_RECORD,
        identity: Identity = ALL_OF_IT,
        lending: Mapping[str, Exchange] | None = None,
    ) -> None:
        """Open a recording. A missing file holds nothing: every request misses it.

        Args:
            path: the file.
            secrets: credentials that its outputs must not quote.
            how_to_record: remedy of a miss: the command that records it.
            identity: which requests are the same.
            lending: for a proof: what is missing is lent, and noted in the scope, from these
                exchanges by digest, else from the first other trial that has asked it.

        Raises:
            BrokenCassette: a line cannot be read, or the last one is torn, or a call is missing.
        """
        redactor = Redactor(secrets or Credentials(), noting=False)
        lines = read_lines(path)
        super().__init__(path, lines, redactor, identity=identity, how_to_record=how_to_record)
        self.recordings.check_numbers()
        self._lending = lending

    @contextmanager
    def trial(
        self, trial_id: str, *, anew: bool = False, of_function: bool = False
    ) -> Iterator[CallScope]:
        scope = CallScope(
            trial_id,
            self,
            settled=self.complete(trial_id),
            after=self.recordings.last_call(trial_id),
            replaying=True,
            anew=anew,
            of_function=of_function,
        )
        with entered(scope):
            try:
                yield scope
            finally:
                scope.close()

    def learn(self, credentials: Iterable[tuple[str, str]]) -> None:
        # Outputs may quote a key; a placeholder for one may be a word of a prompt.
        secret = ((name, value) for name, value in credentials if looks_secret(value))
        self.redactor.credentials.learn(secret)

    def look_up(self, scope: CallScope, request: RecordedRequest) -> InterceptedCall:
        recordings, digest_of = self.recordings, self.identity.digest
        method, url = request.method.upper(), normal_url(request.url)
        sole = recordings.sole_answer(scope.trial, method, url, request.body)
        if sole is not None and scope.asked_first(lambda: digest_of(sole.request)):
            return InterceptedCall(self, scope, sole.request, sole)
        if scope.abandoned:
            raise Abandoned(scope.trial)
        request, digest = self.as_stored(scope.trial, request)
        number, occurrence = scope.asked(digest)
        exchange = None
        if not scope.anew:
            exchange = recordings.find(scope.trial, digest, occurrence, replay_errors=True)
        exchange = exchange or recordings.last(LOOK_UP, digest) or self._lent(scope, digest)
        if exchange is not None:
            return InterceptedCall(self, scope, request, exchange)
        miss = self._miss(scope.trial, request, digest, number, occurrence)
        call = InterceptedCall(self, scope, request, miss=miss)
        if request.method != CALL and (scope.closed or self._is_late(scope.trial)):
            return call
        raise call.missed()

    def append(self, call: InterceptedCall, response: RecordedResponse) -> RecordedResponse:
        raise AssertionError(f"a replay makes no request, and got an answer to {call.request.url}")

    def finish(self, order: Sequence[str]) -> None:
        """The file is as it was."""

    def find_call(
        self, scope: CallScope, request: RecordedRequest, *, alone: bool = False
    ) -> str | None:
        """The recorded return of a Python function, or ``None`` if it has to be called.

        The function is needed if its trial is recorded as HTTP exchanges: it runs and gets these
        answers. Where its return ``alone`` is recorded, it is not needed.

        Raises:
            MissingRecording: nothing is recorded of the trial.
            StaleRecording: the function was given something else.
        """
        recorded = self.recordings.of(scope.trial)
        if recorded and all(exchange.request.method != CALL for exchange, _ in recorded):
            if not alone:
                return None
            before = 'HTTP exchanges, from before the judge had calls = "function"'
            raise scope.remember(missing(self, scope.trial, request, before))
        exchange = self.look_up(scope, request).exchange
        assert exchange is not None, "what is not recorded is missed"
        return as_text(exchange.response.body)

    def take_return(self, scope: CallScope, request: RecordedRequest, text: str) -> None:
        if not scope.anew and next_return(self.recordings, scope) == self.redacted(text):
            return  # an answer from a cache of its own, the same as by its requests
        present = "HTTP exchanges; the judge makes no request, and returns another text"
        raise scope.remember(missing(self, scope.trial, request, present))

    def failed_return(self, scope: CallScope) -> str | None:
        """Why the function of a trial failed, where running it would not tell.

        So it is where the failed call has made no request, or has not returned in its time: its
        replay would only wait.
        """
        exchange = self.recordings.returned(scope.trial)
        if exchange is None or exchange.response.status != NO_RESPONSE:
            return None
        recorded = self.recordings.of(scope.trial)
        by_return = all(call.request.method == CALL for call, _ in recorded)
        if exchange.response.headers.get(RAISED) == OUT_OF_TIME or (
            by_return and len(recorded) == len(scope.returns)
        ):
            return as_text(exchange.response.body)
        return None

    def arguments_of(self, trial_id: str) -> list[str] | None:
        """The parameters of a Python function that a recorded call of a trial has given values.

        ``None`` where no call is recorded, or one that was given messages.
        """
        for exchange, _ in self.recordings.of(trial_id):
            if exchange.request.method == CALL:
                try:
                    settings = json.loads(exchange.request.body)["settings"]
                    return list(settings["arguments"])
                except (ValueError, KeyError, TypeError):
                    return None
        return None

    def _is_late(self, trial: str) -> bool:
        """Whether a request of a trial may come before its end that came after it."""
        exchange = self.recordings.returned(trial)
        return exchange is not None and LATE in exchange.response.headers

    def _lent(self, scope: CallScope, digest: str) -> Exchange | None:
        """For a proof, what a request that only other trials have made got at last."""
        if self._lending is None:
            return None
        exchange = self._lending.get(digest)
        if exchange is None and (holders := self.recordings.trials_with(digest)):
            exchange = self.recordings.last(holders[0], digest)
        if exchange is not None:
            scope.lent.append(exchange)
        return exchange

    def _miss(
        self, trial: str, request: RecordedRequest, digest: str, number: int, occurrence: int
    ) -> CassetteError:
        recorded = self.recordings.of(trial)
        answers = [pair for pair in recorded if pair[0].answers] or recorded
        if self.recordings.knows(trial, digest):
            present = f"{occurrence} of this request, which is made once more"
        elif number <= len(answers):
            exchange, line = answers[number - 1]
            return stale(exchange, request, self.path, line, self.how_to_record)
        elif recorded:
            present = f"{len(answers)} calls of this trial; this is call {number}"
        else:
            present = f"{len(self.trials)} other trials" if self.path.exists() else "no such file"
        return missing(self, trial, request, present)
