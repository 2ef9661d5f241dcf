"""Asking a judge, live or from its tape: messages of a trial to a `Reply` or a `Failed`.

The built-in clients look the tape up directly in replay; while recording they go through it like
any other client. A callable judge runs as it is: its HTTP traffic is intercepted, and one that
makes none is recorded at the call itself.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from pytest_judgesense.cassettes.cassette import Cassette
from pytest_judgesense.cassettes.exchange import as_bytes
from pytest_judgesense.cassettes.scope import CallScope, entered
from pytest_judgesense.errors import JudgeError, JudgesenseError
from pytest_judgesense.judges.lines import (
    Call,
    Course,
    Line,
    fault_of,
    line_of,
    open_line,
    text_of,
)
from pytest_judgesense.judges.resolving import call_function, function_of
from pytest_judgesense.judges.spec import JudgeFunction, JudgeSpec
from pytest_judgesense.judges.statuses import (
    Kind,
    kind_of_status,
    overloaded,
    status_of,
    wait_asked_for,
)
from pytest_judgesense.judges.traffic import Attempt, Traffic
from pytest_judgesense.judges.wire import HttpRequest, NoResponse, Reply, Unsendable, wire_for
from pytest_judgesense.judgment import Failed, Usage

__all__ = ["Answer", "Asker", "open_asker"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a trial's call, or calls, brought.

    Attributes:
        reply: the reply to the first call, or why there is none.
        latency_s: seconds that it took; ``None`` when a recording answered.
        made: whether anybody was asked, or a recording answered.
        retried: how often it was made again in this session.
        later: what came of the calls that followed, in their order; none where a call on which the
            verdict depends has failed, which is ``reply`` then.
    """

    reply: Reply | Failed
    latency_s: float | None = None
    made: bool = False
    retried: int = 0
    later: tuple[Reply | Failed, ...] = ()


class Asker:
    """Asks one judge on one tape. Made by `open_asker`."""

    def __init__(
        self,
        own: Line,
        tape: Cassette,
        *,
        mending: Line | None = None,
        threads: ThreadPoolExecutor | None = None,
    ) -> None:
        self._own = own
        self._spec = own.spec
        self._traffic = own.traffic
        self._mending = mending
        self._threads = threads
        self._tape = tape
        self._function: JudgeFunction | None = None

    async def ask(
        self, trial_id: str, messages: Sequence[Mapping[str, str]], replicate: int = 1
    ) -> Answer:
        """What the judge replies to ``messages``, as the given replicate of a trial.

        Raises:
            CassetteError: replaying, and the recording does not serve.
            LimitReached: a call would pass a limit of the user.
            JudgeError: the judge cannot be asked at all.
        """
        return await self.ask_calls(trial_id, _only(Call(messages, replicate)))

    async def ask_calls(self, trial_id: str, calls: Course) -> Answer:
        """What comes of the calls of a trial, made one after the other; raises as `ask`."""
        given: list[Answer] = []
        with self._tape.trial(trial_id) as scope:
            call: Call | None = next(calls)
            while call is not None:
                last = call
                if self._spec.provider == "callable":
                    given.append(await self._call(scope, call.messages))
                else:
                    given.append(await self._request(scope, call))
                call = _following(calls, given[-1].reply)
            answer = _joined(given, last)
            # While recording, what the tape knows already answers at no cost and in no time.
            failed = isinstance(answer.reply, Failed) and self._tape.mode == "record"
            made = scope.made > 0 or failed
            return replace(answer, made=made, latency_s=answer.latency_s if made else None)

    def replay(
        self, trial_id: str, messages: Sequence[Mapping[str, str]], replicate: int = 1
    ) -> Answer:
        """The same from the tape alone, for judges that are asked over a known wire format."""
        with self._tape.trial(trial_id) as scope:
            return Answer(self._replayed(scope, Call(messages, replicate)))

    def replay_calls(self, trial_id: str, calls: Course) -> Answer:
        """`ask_calls` from the tape alone, likewise."""
        given: list[Answer] = []
        with self._tape.trial(trial_id) as scope:
            call: Call | None = next(calls)
            while call is not None:
                last = call
                given.append(Answer(self._replayed(scope, call)))
                call = _following(calls, given[-1].reply)
        return _joined(given, last)

    def _replayed(self, scope: CallScope, call: Call) -> Reply | Failed:
        line = self._line(call)
        request = line.request_of(call)
        body = request.body.decode()
        found = self._tape.find(scope, request.method, request.url, body)
        while not found.answers:
            # It never got an answer: the last attempt, which is given again, is its outcome.
            again = self._tape.find(scope, request.method, request.url, body)
            if again == found:
                break
            found = again
        return line.read(found)

    def _line(self, call: Call) -> Line:
        if not call.mends:
            return self._own
        assert self._mending is not None, "only a judge with repair has replies mended"
        return self._mending

    async def _request(self, scope: CallScope, call: Call) -> Answer:
        line = self._line(call)
        request = line.request_of(call)
        body = request.body
        if self._tape.answer_to(scope.trial, request.method, request.url, body) is not None:
            # Found once more, so that it counts as asked: what a trial asks no more is dropped.
            found = self._tape.find(scope, request.method, request.url, body)
            return Answer(line.read(found))
        scope.fault_of = fault_of(line.spec)
        most = Usage(len(body), line.spec.max_tokens)  # no token is shorter than a byte
        made = await line.traffic.call(
            lambda: self._attempt(line, request),
            tokens=len(body) // 4 + line.spec.max_tokens,
            most_usd=line.usd(most),
            cost=lambda attempt: line.cost(attempt.reply),
        )
        return Answer(made.reply, made.latency_s, retried=made.retried)

    async def _attempt(self, line: Line, request: HttpRequest) -> Attempt:
        assert line.connections is not None, "an asker that records has connections"
        call = self._tape.intercept(
            request.method, request.url, request.body, request.headers.items()
        )
        started = time.perf_counter()
        try:
            response = await line.connections.send(request)
        except Unsendable as error:
            return Attempt(Failed(f"{error}: the request cannot be sent"), "end")
        except NoResponse as error:
            reason = self._tape.redacted(str(error))
            call.unanswered(reason)
            return Attempt(Failed(reason), "retry")
        latency = time.perf_counter() - started
        # As it is recorded: a reply that quotes the key must not take it into a judgment.
        kept = call.answered(response.status, response.headers.items(), response.data)
        text = text_of(as_bytes(kept.body))
        reply = wire_for(line.spec).read(response.status, text)
        kind = kind_of_status(response.status, text)
        if isinstance(reply, Failed) and kind == "answer":
            kind = "retry"  # a page, half a body, no choices: what came holds no reply
        return Attempt(
            reply,
            kind,
            overloaded=overloaded(response.status),
            wait_s=wait_asked_for(response.headers),
            latency_s=latency,
        )

    async def _call(self, scope: CallScope, messages: Sequence[Mapping[str, str]]) -> Answer:
        target = self._spec.model
        plain = [dict(message) for message in messages]
        recorded = self._tape.find_call(scope, target, plain)
        if recorded is not None:
            return Answer(Reply(recorded))
        if self._tape.mode == "replay":
            return Answer((await self._run(scope, plain)).reply)
        # The call that is booked here is the first request of the function; more are booked when
        # they are made. A function whose requests are all recorded makes none.
        booked = [] if self._tape.complete(scope.trial) else [None]

        def permit() -> None:
            if booked:
                booked.pop()
            else:
                self._traffic.meter.take(self._spec, None)

        async with self._traffic.place() as started:
            if booked:
                await self._traffic.admitted(0, None)
            scope.permit = permit
            made = await self._run(scope, plain)
            self._traffic.learn(made, started)
        return Answer(made.reply, made.latency_s)

    async def _run(self, scope: CallScope, plain: list[dict[str, str]]) -> Attempt:
        if self._function is None:
            # Not before it is needed: a replay needs neither the model nor the module around it.
            # What a module fetches while it is imported belongs to no trial, or it would be missing
            # wherever another trial comes first. While replaying it may reach nobody either.
            replaying = self._tape.mode == "replay"
            importing = CallScope(f"(import of {self._spec.model})", owner=self)
            with entered(importing if replaying else None):
                self._function = function_of(self._spec)
        target = self._spec.model
        started = time.perf_counter()
        try:
            # Its own copy: what a judge does to its messages is not what it was asked.
            own = [dict(message) for message in plain]
            text = await call_function(self._function, own, self._threads)
        except JudgesenseError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a user's judge raises is a failed call
            _raise_remembered(scope)
            # Clients retry by themselves; what they raise in the end is not tried once more.
            status = status_of(error)
            kind: Kind = "end" if kind_of_status(status) == "end" else "fail"
            reason = self._tape.redacted(_reason(error))
            return Attempt(Failed(reason), kind, overloaded=overloaded(status))
        _raise_remembered(scope)
        latency = time.perf_counter() - started
        if not isinstance(text, str):
            raise JudgeError(
                f"judge {self._spec.name!r} returned no text",
                found=f"a {type(text).__name__}",
                expected="the reply as a str",
                remedy=f"mend {target}",
            )
        if not scope.intercepted:
            self._tape.record_call(scope, target, plain, text)
        return Attempt(Reply(self._tape.redacted(text)), latency_s=latency)


def _only(call: Call) -> Course:
    yield call


def _following(calls: Course, reply: Reply | Failed) -> Call | None:
    """The call after the one that ``reply`` came of; ``None`` after the last."""
    try:
        return calls.send(reply)
    except StopIteration:
        return None


def _joined(given: Sequence[Answer], last: Call) -> Answer:
    """The answers to the calls of a trial as one; ``last`` is the call that ended it."""
    if len(given) == 1:
        return given[0]
    failed = isinstance(given[-1].reply, Failed) and not last.mends
    latencies = [answer.latency_s for answer in given if answer.latency_s is not None]
    return Answer(
        given[-1 if failed else 0].reply,
        latency_s=sum(latencies) if latencies else None,
        retried=sum(answer.retried for answer in given),
        later=() if failed else tuple(answer.reply for answer in given[1:]),
    )


def _raise_remembered(scope: CallScope) -> None:
    # A client may have swallowed the tape's error or retried upon it: it counts all the same.
    if scope.error is not None:
        raise scope.error


def _reason(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


@asynccontextmanager
async def open_asker(
    spec: JudgeSpec, tape: Cassette, *, concurrency: int, traffic: Traffic | None = None
) -> AsyncIterator[Asker]:
    """An asker for ``spec`` on ``tape``; while recording with its connections, and for the embedded
    judge with its server on 127.0.0.1.

    Args:
        spec: the judge.
        tape: what it is asked on.
        concurrency: calls under way at once.
        traffic: goes on with the pace and the backing off of earlier askers of this judge.

    Raises:
        UsageError: a callable cannot be imported.
        JudgeError: a key is needed and is not in the environment.
    """
    traffic = traffic or Traffic(spec, concurrency)
    mender = spec.repair.spec if spec.repair else None
    if tape.mode == "replay" or spec.provider == "callable":
        own = line_of(spec, traffic)
        mending = line_of(mender, traffic) if mender else None
        threads = ThreadPoolExecutor(concurrency, "judgesense-judge")
        try:
            yield Asker(own, tape, mending=mending, threads=threads)
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
        return
    async with AsyncExitStack() as stack:
        own = await open_line(stack, spec, traffic, concurrency)
        if mender and replace(mender, temperature=spec.temperature) == _unrepaired(spec):
            mending = replace(own, spec=mender, at={})
        elif mender:
            beside = traffic.beside(mender)
            mending = await open_line(stack, mender, beside, concurrency)
        else:
            mending = None
        yield Asker(own, tape, mending=mending)


def _unrepaired(spec: JudgeSpec) -> JudgeSpec:
    return replace(spec, repair=None, reply_schema=None)
