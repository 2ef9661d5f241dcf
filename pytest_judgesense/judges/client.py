"""Asking a judge, live or from its cassette: the calls of a trial to a `Reply` or a `Failed`.

A client replays or records, as its cassette does. The built-in providers look the cassette up
directly in replay; while recording they go through it like any other client. A callable judge runs
as it is: its HTTP requests are intercepted, and one that makes none is recorded at the call itself.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import (
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from pytest_judgesense.cassettes.carrying import Given
from pytest_judgesense.cassettes.cassette import Cassette, recorded_answer
from pytest_judgesense.cassettes.exchange import (
    NO_RESPONSE,
    Exchange,
    RecordedRequest,
    RecordedResponse,
    as_bytes,
)
from pytest_judgesense.cassettes.replaying import ReplayingCassette
from pytest_judgesense.cassettes.scope import Abandoned, CallScope
from pytest_judgesense.cassettes.writing import RecordingCassette
from pytest_judgesense.errors import (
    BodyTooLarge,
    LimitReached,
)
from pytest_judgesense.judges.local import served
from pytest_judgesense.judges.loop import FunctionRunner, current_runner
from pytest_judgesense.judges.placeholders import placeholder_credentials
from pytest_judgesense.judges.providers.base import HttpRequest, Reply
from pytest_judgesense.judges.providers.builtin import provider_of
from pytest_judgesense.judges.resolving import (
    base_url_of,
    key_of,
    missing_key,
)
from pytest_judgesense.judges.simulated.named_observers import observer_named
from pytest_judgesense.judges.simulated.observer import Observer, Skill
from pytest_judgesense.judges.spec import FREE, JudgeSpec
from pytest_judgesense.judges.throttle import (
    Answer,
    Consequence,
    Throttle,
    kind_of_status,
    overloaded,
    setting_to_change,
    wait_asked_for,
)
from pytest_judgesense.judges.trial_call import Call, call_with
from pytest_judgesense.judges.trust import ANY_FILES, Trust
from pytest_judgesense.judges.usage import fault_of_api
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.layout import excerpt
from pytest_judgesense.trial import Failed, RequestCount, Usage

if TYPE_CHECKING:
    from pytest_judgesense.judges.asked_function import AskedFunction
    from pytest_judgesense.judges.transport import Connections


# Where the embedded judge is asked in the format of its requests.
_COMPLETIONS: Final = "/v1/chat/completions"
# Replies of judges have some thousands.
_LARGE_BYTES: Final = 2**18
# What an error quotes of where a redirect leads.
_LONGEST_LOCATION: Final = 300

# The calls of a trial: each outcome is sent in before the next call is returned.
CallSequence: TypeAlias = Generator[Call, Reply | Failed, Any]
# Whether an answer, of a trial and of recorded requests alone, is another than its recorded return.
ReadsOtherwise: TypeAlias = Callable[[str, "Answer"], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a judge is asked, and with which requests."""

    spec: JudgeSpec
    base_url: str
    key: str | None = None
    # Made anew by `replace`: that of another judge holds other settings.
    _tempered: dict[float, JudgeSpec] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def _with_temperature(self, temperature: float) -> JudgeSpec:
        """The judge with another temperature; a sweep calls it a thousand times at a few."""
        if temperature not in self._tempered:
            self._tempered[temperature] = replace(self.spec, temperature=temperature)
        return self._tempered[temperature]

    def request_of(self, call: Call) -> HttpRequest:
        """The request of the call."""
        spec = self.spec
        if call.temperature is not None:
            spec = self._with_temperature(call.temperature)
        if call.form is not None and spec.reply_schema is not None:
            spec = replace(spec, reply_schema=call.form.schema)
        seed = None if spec.seed is None or spec.seed is False else spec.seed + call.replicate - 1
        return provider_of(spec).request(spec, self.base_url, self.key, call.messages, seed)

    def reply_in(self, exchange: Exchange) -> Reply | Failed:
        """The reply in a recorded exchange."""
        return reply_in(exchange, self.spec)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenEndpoint(Endpoint):
    """One that is asked: its calls by ``throttle``, on ``connections``."""

    throttle: Throttle
    connections: Connections

    def usd(self, usage: Usage) -> float | None:
        """The cost of tokens; ``None`` if not known."""
        if self.spec.provider in FREE:
            return 0.0
        prices, prompt, completion = self.spec.prices, usage.prompt_tokens, usage.completion_tokens
        if prices is None or prompt is None or completion is None:
            return None
        return (prompt * prices.prompt + completion * prices.completion) / 1e6

    def cost(self, answer: Answer) -> float | None:
        """The cost of a call; ``None`` if the endpoint does not state it and may charge."""
        if isinstance(answer.reply, Reply):
            return self.usd(answer.reply.usage)
        return 0.0 if answer.reply.reason.startswith("HTTP ") else None


def unasked_endpoint(spec: JudgeSpec) -> Endpoint:
    """The endpoint of a judge without requests: it is replayed, or it is a function."""
    base_url = ""  # a function asks whom it likes
    if spec.provider != "callable":
        base_url = base_url_of(spec)
    return Endpoint(spec=spec, base_url=base_url, key=key_of(spec)[1])


def reply_in(exchange: Exchange, spec: JudgeSpec) -> Reply | Failed:
    """The reply in a recorded exchange with a judge that a provider asks."""
    text = _text_of(exchange.response.body)
    if exchange.response.status == NO_RESPONSE:
        return Failed(text)
    reply = provider_of(spec).read(exchange.response.status, text)
    return _with_location(reply, exchange.response)


def _with_location(reply: Reply | Failed, response: RecordedResponse) -> Reply | Failed:
    """``reply``; of a redirect, which is not followed, with where it leads."""
    location = response.headers.get("location")
    if not (isinstance(reply, Failed) and 300 <= response.status < 400 and location):
        return reply
    return Failed(f"{reply.reason}; not followed, location: {excerpt(location, _LONGEST_LOCATION)}")


class _ResponseReader:
    """Reads the responses to a request: each once, though it is asked for a fault and a reply."""

    def __init__(self, spec: JudgeSpec) -> None:
        self._provider = provider_of(spec)
        self._last: tuple[int, str, Reply | Failed] = (0, "", Failed("no response"))

    def reply(self, status: int, text: str) -> Reply | Failed:
        """The reply in a response."""
        if (status, text) != self._last[:2]:
            self._last = status, text, self._provider.read(status, text)
        return self._last[2]

    def fault(self, status: int, body: str | bytes) -> str | None:
        """The fault of a response that holds no reply despite its status; see `CallScope`."""
        if kind_of_status(status) != "answer":
            return None  # the status says it
        reply = self.reply(status, _text_of(body))
        return "no reply in the response" if isinstance(reply, Failed) else None


def fault_of(spec: JudgeSpec) -> Callable[[int, str | bytes], str | None]:
    """The fault of a response that holds no reply despite its status; see `CallScope`."""
    return _ResponseReader(spec).fault


def _text_of(body: str | bytes) -> str:
    # JSON is UTF-8 whatever a header says, so recorded and live answers are decoded alike.
    if isinstance(body, str) and body.isascii():
        return body
    return as_bytes(body).decode("utf-8", "replace")


def is_embedded(spec: JudgeSpec) -> bool:
    """Whether the judge is a function in this package: the embedded one, and who repairs for it.

    Its replies follow from the requests, on any machine, without a call.
    """
    repairer = spec.repair.spec if spec.repair else None
    is_ours = spec.provider == "embedded" and spec.base_url is None
    return is_ours and (repairer is None or is_embedded(replace(repairer, repair=None)))


def is_profile(spec: JudgeSpec) -> bool:
    """Whether the judge was named ``embedded:PROFILE``.

    One that a table declares is a rehearsal for a provider: what it has not recorded is missing.
    """
    return is_embedded(spec) and spec.called == f"embedded:{spec.model}"


class Client(ABC):
    """Asks one judge on one cassette. Made by `open_client`."""

    async def ask(
        self, trial_id: str, messages: Sequence[Mapping[str, str]], replicate: int = 1
    ) -> Answer:
        """The judge's reply to ``messages``, as the given replicate of a trial.

        Raises:
            CassetteError: replaying, and the recording does not serve.
            LimitReached: a call would pass a limit of the user.
            JudgeError: the judge cannot be asked at all.
        """
        return await self.ask_calls(trial_id, partial(one_call, messages, replicate))

    @abstractmethod
    async def ask_calls(
        self,
        trial_id: str,
        course: Callable[[], CallSequence],
        watch: Callable[[CallScope], None] = lambda _: None,
    ) -> Answer:
        """The outcomes of the calls of a trial, made one after the other; raises as `ask`.

        A trial that is recorded with another request is asked from its first call on: ``course``
        begins its calls. ``watch`` is given the scope of each attempt at a function.
        """


class Endpoints(NamedTuple):
    """The endpoint of a judge, and of who repairs its replies."""

    judge: Endpoint
    repairer: Endpoint | None = None

    @classmethod
    def unasked(cls, spec: JudgeSpec) -> Endpoints:
        """Those of a judge that nobody asks: its requests are made, and not sent."""
        repairer = _repairer(spec)
        return cls(unasked_endpoint(spec), unasked_endpoint(repairer) if repairer else None)

    def asked(self, call: Call) -> tuple[Endpoint, HttpRequest]:
        """Who is asked, and the request."""
        endpoint = self.repairer if call.repairs else self.judge
        assert endpoint is not None, "only the replies of a judge with repair are repaired"
        return endpoint, endpoint.request_of(call)


class ReplayingClient(Client):
    """Asks nobody: the recordings of a cassette answer, to a function if it is one."""

    def __init__(
        self, cassette: ReplayingCassette, judge: Endpoints | AskedFunction, spec: JudgeSpec
    ) -> None:
        self._cassette = cassette
        self._judge = judge
        self._spec = spec
        # A synchronous function that is replayed blocks nothing.
        self._turns = asyncio.Semaphore(spec.concurrency or 1)

    async def ask_calls(
        self,
        trial_id: str,
        course: Callable[[], CallSequence],
        watch: Callable[[CallScope], None] = lambda _: None,
    ) -> Answer:
        if isinstance(self._judge, Endpoints):
            return self.replay(trial_id, course())
        self._judge.code.refuse_changed(self._cassette, trial_id)
        answers: list[Answer] = []
        with self._cassette.trial(trial_id, of_function=True) as scope:
            watch(scope)
            scope.most_bytes = self._spec.max_body_bytes
            for call in in_turn(course(), answers):
                answers.append(await self._returned(self._judge, scope, call))
        return joined(answers, call)

    def replay(self, trial_id: str, course: CallSequence) -> Answer:
        """`ask_calls` for judges that a provider asks.

        No code of the judge runs, so none has to know the trial that it belongs to.
        """
        assert isinstance(self._judge, Endpoints), "a function is called"
        answers: list[Answer] = []
        scope = CallScope(trial_id, self._cassette, replaying=True)
        for call in in_turn(course, answers):
            answers.append(_recorded(self._cassette, scope, *self._judge.asked(call)))
        return joined(answers, call)

    def compute(self, course: CallSequence, find: Callable[[str], Observer]) -> Answer:
        """The embedded judge's answer to the calls of a trial, for which see `is_embedded`."""
        from pytest_judgesense.judges.simulated.endpoint import answer

        assert isinstance(self._judge, Endpoints), "the embedded judge is a provider's"
        answers: list[Answer] = []
        for call in in_turn(course, answers):
            endpoint, request = self._judge.asked(call)
            status, body = answer(_COMPLETIONS, json.loads(request.body), find)
            answers.append(Answer(provider_of(endpoint.spec).read(status, json.dumps(body))))
        return joined(answers, call)

    async def _returned(self, function: AskedFunction, scope: CallScope, call: Call) -> Answer:
        """What the function returns, or has returned: a recorded return needs no call of it."""
        # The recorded call holds the function's arguments: a replay needs neither the model nor
        # the module around it.
        names = self._cassette.arguments_of(scope.trial)
        request = call_with(self._spec, call, names)
        if (reason := self._cassette.failed_return(scope)) is not None:
            return Answer(Failed(reason))
        recorded = self._cassette.find_call(scope, request, alone=self._spec.by_return)
        if recorded is not None:
            scope.returns.append(recorded)
            return Answer(Reply(recorded))
        scope.edits = call.edits
        async with nullcontext() if await function.is_async() else self._turns:
            return Answer((await function.run(scope, call, request)).reply)


class RecordingClient(Client):
    """Asks a judge for what a cassette lacks, and records its answers."""

    def __init__(
        self,
        cassette: RecordingCassette,
        judge: Endpoints | AskedFunction,
        spec: JudgeSpec,
        throttle: Throttle,
        reads_otherwise: ReadsOtherwise,
    ) -> None:
        self._cassette = cassette
        self._judge = judge
        self._spec = spec
        self._throttle = throttle
        self._reads_otherwise = reads_otherwise

    async def ask_calls(
        self,
        trial_id: str,
        course: Callable[[], CallSequence],
        watch: Callable[[CallScope], None] = lambda _: None,
    ) -> Answer:
        # A function that retries must not meet what is left of an attempt that failed, nor one that
        # changed what another one returned.
        anew = not isinstance(self._judge, Endpoints) and (
            not self._cassette.complete(trial_id)
            or self._judge.code.is_changed(self._cassette, trial_id)
        )
        try:
            return await self._attempted(trial_id, course(), watch, anew=anew)
        except Abandoned:
            return await self._attempted(trial_id, course(), watch, anew=True)

    async def _attempted(
        self, trial_id: str, course: CallSequence, watch: Callable[[CallScope], None], *, anew: bool
    ) -> Answer:
        function = None if isinstance(self._judge, Endpoints) else self._judge
        answers: list[Answer] = []
        calls: list[RecordedRequest] = []
        with self._cassette.trial(trial_id, anew=anew, of_function=bool(function)) as scope:
            watch(scope)
            scope.most_bytes = self._spec.max_body_bytes
            if function:
                scope.fault_of = fault_of_api
            try:
                for call in in_turn(course, answers):
                    if function:
                        calls.append(await function.call_of(call))
                        answers.append(await self._returned(function, scope, call, calls[-1]))
                    else:
                        answers.append(await self._answered(scope, call))
            except LimitReached as limit:
                before = (answer.requests for answer in answers)
                limit.requests = RequestCount.summed((*before, limit.requests))
                raise
            answer = joined(answers, call)
            if function:
                self._record_return(scope, answer, calls)
            # Existing recordings answer at once and without cost.
            if scope.made > 0 or isinstance(answer.reply, Failed):
                return answer if answer.made else replace(answer, made=True)
            return replace(answer, made=False, latency_s=None)

    def _record_return(
        self, scope: CallScope, answer: Answer, calls: Sequence[RecordedRequest]
    ) -> None:
        """Record what the function has returned after its requests, or why it has not."""
        reread = scope.intercepted and not scope.made and not scope.out_of_time
        is_other = bool(reread) and self._reads_otherwise(scope.trial, answer)
        target = self._spec.model
        if isinstance(answer.reply, Failed):
            reasons = [answer.reply.reason]
            self._cassette.record_return(scope, target, reasons, failed=True, is_other=is_other)
        elif scope.intercepted:
            self._cassette.record_return(
                scope, target, scope.returns, is_other=is_other, given=Given.in_calls(calls)
            )

    async def _answered(self, scope: CallScope, call: Call) -> Answer:
        """The answer of the endpoint, recorded or made now."""
        assert isinstance(self._judge, Endpoints), "a function is called"
        endpoint, request = self._judge.asked(call)
        assert isinstance(endpoint, OpenEndpoint), "a client that records has connections"
        recorded = recorded_answer(self._cassette, scope, request.method, request.url, request.body)
        if recorded is not None:
            return _recorded(self._cassette, scope, endpoint, request)
        if not endpoint.key and (error := missing_key(endpoint.spec)) is not None:
            raise error
        reader = _ResponseReader(endpoint.spec)
        scope.fault_of = reader.fault
        swept = call.temperature is not None
        most = Usage(len(request.body), endpoint.spec.max_tokens)  # no token is shorter than a byte
        return await endpoint.throttle.call(
            partial(_attempt, self._cassette, endpoint, request, reader, swept=swept),
            tokens=len(request.body) // 4 + endpoint.spec.max_tokens,
            most_usd=endpoint.usd(most),
            cost=endpoint.cost,
        )

    async def _returned(
        self, function: AskedFunction, scope: CallScope, call: Call, request: RecordedRequest
    ) -> Answer:
        """What the function returns: as it is recorded, or called now."""
        if self._spec.concurrency is None and not await function.is_async():
            self._throttle.one_at_a_time()
        recorded = self._cassette.find_call(scope, request)
        if recorded is not None:
            scope.returns.append(recorded)
            return Answer(Reply(recorded))
        begun = scope.made > 0  # by an earlier call for the same trial
        async with self._throttle.permit(begun=begun) as started:
            # A function whose requests are all recorded makes none; else its first one is booked
            # here, and each further one when it is made.
            if scope.anew:
                await self._throttle.admitted(0, None, begun=begun)
            book = partial(self._throttle.budget.take, self._spec, None, begun=True)
            scope.edits = call.edits
            booking = _Booking(book, first_is_booked=scope.anew)
            scope.permit = booking.permit
            try:
                answer = await function.run(scope, call, request)
            except LimitReached as limit:
                limit.requests = RequestCount(booking.booked)
                raise
            answer = replace(answer, sent=booking.booked)
            if scope.intercepted:
                function.has_asked()
            self._throttle.learn(answer, started)
        return answer


class _Booking:
    """Books each request of a function that is to be made; the first one may be booked already.

    Attributes:
        booked: how many are booked. Requests of several threads are counted one after the other.
    """

    def __init__(self, book: Callable[[], object], *, first_is_booked: bool) -> None:
        self.booked = int(first_is_booked)
        self._book = book
        self._is_unused = first_is_booked
        self._lock = threading.Lock()

    def permit(self) -> None:
        """Book a request; raises `LimitReached` where it must not be made."""
        with self._lock:
            if self._is_unused:
                self._is_unused = False
                return
        self._book()
        with self._lock:
            self.booked += 1


def _recorded(
    cassette: Cassette, scope: CallScope, endpoint: Endpoint, request: HttpRequest
) -> Answer:
    """The recorded answer, which counts as used: unused exchanges of a trial are dropped."""
    look_up = partial(cassette.find, scope, request.method, request.url, request.body)
    exchange = look_up()
    # A call without an answer ended with its last attempt, which is returned each time.
    while not exchange.answers and (following := look_up()) != exchange:
        exchange = following
    return Answer(endpoint.reply_in(exchange))


async def _attempt(
    cassette: RecordingCassette,
    endpoint: OpenEndpoint,
    request: HttpRequest,
    reader: _ResponseReader,
    *,
    swept: bool,
) -> Answer:
    """The answer to one request, recorded; ``swept`` where the suite varies the temperature."""
    from pytest_judgesense.judges.transport import NoResponse, TooLate, Unsendable

    call = cassette.intercept(request.method, request.url, request.body, request.headers.items())
    started = time.perf_counter()
    try:
        response = await endpoint.connections.send(request)
        latency = time.perf_counter() - started
        # As it is recorded: a reply that quotes the key must not take it into a judgment.
        recording = partial(
            call.answered, response.status, response.headers.items(), response.content
        )
        # To search and write a large body takes longer than others may wait for the loop.
        is_large = len(response.content) > _LARGE_BYTES
        recorded = await asyncio.to_thread(recording) if is_large else recording()
    except Unsendable as error:
        call.scope.come_to_end(call.number)
        return Answer(Failed(f"{error}: the request cannot be sent"), kind="end")
    except (NoResponse, BodyTooLarge) as error:
        reason = cassette.redacted(getattr(error, "what", str(error)))
        call.unanswered(reason)
        # An answer that is too large will be so again.
        kind: Consequence = "retry" if isinstance(error, NoResponse) else "fail"
        return Answer(Failed(reason), kind=kind, late=isinstance(error, TooLate))
    text = _text_of(recorded.body)
    reply = _with_location(reader.reply(response.status, text), recorded)
    return Answer(
        reply,
        latency_s=latency,
        made=True,
        kind=_kind_of(reply, kind_of_status(response.status, text), swept=swept),
        overloaded=overloaded(response.status),
        wait_s=wait_asked_for(response.headers),
    )


def _kind_of(reply: Reply | Failed, kind: Consequence, *, swept: bool) -> Consequence:
    """The consequence of a response whose status has this ``kind``."""
    if isinstance(reply, Failed) and kind == "answer":
        return "retry"  # an HTML page, half a body, no choices: the response holds no reply
    if isinstance(reply, Failed) and kind == "fail" and not swept:
        # A setting of the judge that its model does not take: so it is with every trial. Where a
        # suite varies the temperature, that is a result.
        return "end" if setting_to_change(reply.reason) else kind
    return kind


def one_call(messages: Sequence[Mapping[str, str]], replicate: int = 1) -> CallSequence:
    """The calls of a trial that is asked once, with the judge's settings."""
    yield Call(messages, replicate)


def in_turn(course: CallSequence, answers: Sequence[Answer]) -> Iterator[Call]:
    """The calls of a trial, each once the answer to the one before is in ``answers``."""
    call = next(course)
    with suppress(StopIteration):
        while True:
            yield call
            call = course.send(answers[-1].reply)


def joined(answers: Sequence[Answer], last: Call) -> Answer:
    """The answers to the calls of a trial as one; ``last`` is the call that ended it."""
    if len(answers) == 1:
        return answers[0]
    failed = isinstance(answers[-1].reply, Failed) and not last.repairs
    latencies = [answer.latency_s for answer in answers if answer.latency_s is not None]
    return Answer(
        answers[-1 if failed else 0].reply,
        latency_s=sum(latencies) if latencies else None,
        retried=sum(answer.retried for answer in answers),
        sent=sum(answer.sent for answer in answers),
        timed_out=sum(answer.timed_out for answer in answers),
        later=() if failed else tuple(answer.reply for answer in answers[1:]),
    )


@asynccontextmanager
async def open_client(
    spec: JudgeSpec,
    cassette: Cassette,
    *,
    concurrency: int,
    throttle: Throttle | None = None,
    skills: Sequence[Skill] = (),
    trust: Trust = ANY_FILES,
    suite: Suite | None = None,
    reads_otherwise: ReadsOtherwise = lambda _trial, _answer: False,
) -> AsyncIterator[Client]:
    """A client for ``spec`` on ``cassette``; while recording with its connections, and for the
    embedded judge or a local model with its server on 127.0.0.1.

    ``concurrency`` is the number of concurrent calls. A given ``throttle`` continues with the pace
    and back-off of earlier clients of this judge. ``skills`` are additional skills of the embedded
    judge. ``trust`` says what may be sent while recording, and whether functions may be imported.
    What a function ``reads_otherwise`` takes the place of what it had returned.

    Raises:
        UsageError: a callable cannot be imported.
        SendingRefused: a prompt's file, or the host, is not for the repository to choose.
        JudgeError: while asking: a key is needed and is not in the environment; `CodeNotRun`: a
            function is needed that may not be imported.
    """
    if isinstance(cassette, ReplayingCassette):
        with open_replaying(spec, cassette, trust=trust, suite=suite) as replaying:
            yield replaying
        return
    assert isinstance(cassette, RecordingCassette), "a cassette replays or records"
    throttle = throttle or Throttle(spec, concurrency)
    trust.refuse_files(f"judge {spec.name!r}", spec.prompts.files)
    async with AsyncExitStack() as stack:
        judge: Endpoints | AskedFunction
        if spec.provider == "callable":
            runner = stack.enter_context(_runner())
            stack.enter_context(placeholder_credentials(spec.api_key_env))
            from pytest_judgesense.judges.asked_function import AskedFunction

            judge = AskedFunction(spec, cassette, runner, trust, suite)
        else:
            connect = partial(_connected, stack, concurrency, skills, trust)
            endpoint = await connect(spec, throttle)
            judge = Endpoints(endpoint)
            if repairer := _repairer(spec):
                judge = Endpoints(
                    endpoint,
                    replace(endpoint, spec=repairer)
                    if _asks_alike(repairer, spec)
                    else await connect(repairer, throttle.beside(repairer)),
                )
        yield RecordingClient(cassette, judge, spec, throttle, reads_otherwise)


@contextmanager
def open_replaying(
    spec: JudgeSpec,
    cassette: ReplayingCassette,
    *,
    trust: Trust = ANY_FILES,
    suite: Suite | None = None,
) -> Iterator[ReplayingClient]:
    """A client for ``spec`` that replays ``cassette``; raises as `open_client`."""
    if spec.provider == "callable":
        with _runner() as runner, placeholder_credentials(spec.api_key_env):
            from pytest_judgesense.judges.asked_function import AskedFunction

            function = AskedFunction(spec, cassette, runner, trust, suite)
            yield ReplayingClient(cassette, function, spec)
        return
    yield ReplayingClient(cassette, Endpoints.unasked(spec), spec)


@contextmanager
def _runner() -> Iterator[FunctionRunner]:
    """Where functions run: as the session says, else on the calling loop for this block."""
    if (runner := current_runner()) is not None:
        yield runner
        return
    runner = FunctionRunner(beside=False)
    try:
        yield runner
    finally:
        runner.close()


def _repairer(spec: JudgeSpec) -> JudgeSpec | None:
    """The judge that repairs the replies of ``spec``, if any."""
    return spec.repair.spec if spec.repair else None


def _asks_alike(repairer: JudgeSpec, spec: JudgeSpec) -> bool:
    """Whether a repairer is asked as the judge itself, but for the temperature."""
    unrepaired = replace(spec, repair=None, reply_schema=None)
    return replace(repairer, temperature=spec.temperature) == unrepaired


async def _connected(
    stack: AsyncExitStack,
    concurrency: int,
    skills: Sequence[Skill],
    trust: Trust,
    spec: JudgeSpec,
    throttle: Throttle,
) -> OpenEndpoint:
    base_url = base_url_of(spec)
    name, key = key_of(spec)
    trust.refuse_host(spec, base_url, name)
    if spec.provider == "embedded" and spec.base_url is None:
        from pytest_judgesense.judges.simulated.endpoint import serving

        find = partial(observer_named, skills=skills)
        base_url = stack.enter_context(serving(find=find)).base_url
    elif spec.provider == "local" and spec.base_url is None:
        running = served(spec.model, threads=spec.threads, context=spec.context)
        base_url = stack.enter_context(running)
    # aiohttp and all that comes with it are for those who ask.
    from pytest_judgesense.judges.transport import Connections

    connections = Connections(concurrency, base_url, spec.timeout_s, spec.max_body_bytes)
    await stack.enter_async_context(connections)
    return OpenEndpoint(
        spec=spec, base_url=base_url, key=key, throttle=throttle, connections=connections
    )
