"""Asking a judge, live or from its cassette: the calls of a trial to a `Reply` or a `Failed`.

The built-in providers look the cassette up directly in replay; while recording they go through it
like any other client. A callable judge runs as it is: its HTTP requests are intercepted, and one
that makes none is recorded at the call itself.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import urlsplit

from pytest_judgesense.cassettes.bodies import too_large
from pytest_judgesense.cassettes.cassette import Cassette
from pytest_judgesense.cassettes.exchange import NO_RESPONSE, Exchange, as_bytes
from pytest_judgesense.cassettes.matching import is_loopback
from pytest_judgesense.cassettes.scope import Abandoned, CallScope, entered
from pytest_judgesense.errors import BodyTooLarge, JudgeError, JudgesenseError
from pytest_judgesense.judges.apart import Apart, OutOfTime, apart
from pytest_judgesense.judges.functions import MESSAGES, Binding, binding_of, is_async, said_by
from pytest_judgesense.judges.local.serving import served
from pytest_judgesense.judges.placeholders import placeholder_credentials
from pytest_judgesense.judges.providers.base import HttpRequest, Reply
from pytest_judgesense.judges.providers.builtin import provider_of
from pytest_judgesense.judges.resolving import base_url_of, function_of, key_of
from pytest_judgesense.judges.simulated.observer import Observer, Skill
from pytest_judgesense.judges.simulated.profiles import observer_named
from pytest_judgesense.judges.spec import JudgeFunction, JudgeSpec
from pytest_judgesense.judges.statuses import (
    Kind,
    kind_of_status,
    overloaded,
    reason_of,
    setting_to_change,
    status_of,
    wait_asked_for,
)
from pytest_judgesense.judges.throttle import Attempt, Throttle
from pytest_judgesense.judges.traffic import fault_of_api
from pytest_judgesense.judges.trust import ANY_FILES, Trust
from pytest_judgesense.suites.kind import ReplyForm
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Failed, Usage

if TYPE_CHECKING:
    from pytest_judgesense.judges.transport import Connections


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a trial.

    The seed increases with the ``replicate``; without a ``temperature`` the judge's is sent; a
    call that ``repairs`` goes to the judge that repairs malformed replies. ``form`` is the form of
    its reply, if it differs from the suite's. ``fields`` are the parts of the messages, for
    functions that take fields.
    """

    messages: Sequence[Mapping[str, str]]
    replicate: int = 1
    temperature: float | None = None
    repairs: bool = False
    form: ReplyForm | None = None
    fields: Mapping[str, str] = field(default_factory=dict)


# The arguments of a function as recorded: messages; or none, and settings with its arguments.
_Said: TypeAlias = tuple[Sequence[Mapping[str, str]], Mapping[str, Any]]
# Providers whose judges run on this machine.
FREE: Final = ("embedded", "local")
# Where the embedded judge is asked in the format of its requests.
_COMPLETIONS: Final = "/v1/chat/completions"
# A module may load a model while it is imported.
_LONGEST_IMPORT_S: Final = 600.0
# Replies of judges have some thousands.
_LARGE_BYTES: Final = 2**18

# The calls of a trial: each outcome is sent in before the next call is returned.
Course: TypeAlias = Generator[Call, Reply | Failed, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of the call or calls of a trial.

    ``reply`` is that of the first call, or of the failed call on which the verdict depends;
    ``later`` are the outcomes of later calls. For a recorded answer ``latency_s`` is ``None``;
    ``made`` says whether a call was made, ``retried`` how often it was repeated.
    """

    reply: Reply | Failed
    latency_s: float | None = None
    made: bool = False
    retried: int = 0
    later: tuple[Reply | Failed, ...] = ()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a judge is asked, and how; it has connections unless recordings answer."""

    spec: JudgeSpec
    base_url: str
    throttle: Throttle
    key: str | None = None
    connections: Connections | None = None
    # Made anew by `replace`: that of another judge holds other settings.
    _tempered: dict[float, JudgeSpec] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def _at(self, temperature: float) -> JudgeSpec:
        """The judge with another temperature; a sweep calls it a thousand times at a few."""
        if temperature not in self._tempered:
            self._tempered[temperature] = replace(self.spec, temperature=temperature)
        return self._tempered[temperature]

    def request_of(self, call: Call) -> HttpRequest:
        """The request of the call."""
        spec = self.spec
        if call.temperature is not None:
            spec = self._at(call.temperature)
        if call.form is not None and spec.reply_schema is not None:
            spec = replace(spec, reply_schema=call.form.schema)
        seed = None if spec.seed is None or spec.seed is False else spec.seed + call.replicate - 1
        return provider_of(spec).request(spec, self.base_url, self.key, call.messages, seed)

    def reply_in(self, found: Exchange) -> Reply | Failed:
        """The reply in a recorded exchange."""
        text = _text_of(found.response.body)
        if found.response.status == NO_RESPONSE:
            return Failed(text)
        return provider_of(self.spec).read(found.response.status, text)

    def usd(self, usage: Usage) -> float | None:
        """The cost of tokens; ``None`` if not known."""
        if self.spec.provider in FREE:
            return 0.0
        prices, prompt, completion = self.spec.prices, usage.prompt_tokens, usage.completion_tokens
        if prices is None or prompt is None or completion is None:
            return None
        return (prompt * prices.prompt + completion * prices.completion) / 1e6

    def cost(self, reply: Reply | Failed) -> float | None:
        """The cost of a call; ``None`` if the endpoint does not state it and may charge."""
        if isinstance(reply, Reply):
            return self.usd(reply.usage)
        return 0.0 if reply.reason.startswith("HTTP ") else None


def unasked_endpoint(spec: JudgeSpec, throttle: Throttle) -> Endpoint:
    """The endpoint of a judge without requests: it is replayed, or it is a function."""
    base_url = ""  # a function asks whom it likes
    if spec.provider != "callable":
        base_url = base_url_of(spec)
    return Endpoint(spec, base_url, throttle, key_of(spec)[1])


def fault_of(spec: JudgeSpec) -> Callable[[int, str | bytes], str | None]:
    """The fault of a response that holds no reply despite its status; see `CallScope`."""

    def fault(status: int, body: str | bytes) -> str | None:
        if kind_of_status(status) != "answer":
            return None  # the status says it
        reply = provider_of(spec).read(status, _text_of(body))
        return "no reply in the response" if isinstance(reply, Failed) else None

    return fault


def _text_of(body: str | bytes) -> str:
    # JSON is UTF-8 whatever a header says, so recorded and live answers are decoded alike.
    return as_bytes(body).decode("utf-8", "replace")


def is_embedded(spec: JudgeSpec) -> bool:
    """Whether the judge is a function in this package: the embedded one, and who repairs for it.

    Its replies follow from the requests, on any machine, without a call.
    """
    repairer = spec.repair.spec if spec.repair else None
    here = spec.provider == "embedded" and spec.base_url is None
    return here and (repairer is None or is_embedded(replace(repairer, repair=None)))


def is_profile(spec: JudgeSpec) -> bool:
    """Whether the judge was named ``embedded:PROFILE``.

    One that a table declares is a rehearsal for a provider: what it has not recorded is missing.
    """
    return is_embedded(spec) and spec.called == f"embedded:{spec.model}"


class Client:
    """Asks one judge on one cassette. Made by `open_client`."""

    def __init__(
        self,
        endpoint: Endpoint,
        cassette: Cassette,
        *,
        repairing: Endpoint | None = None,
        place: Apart,
        trust: Trust = ANY_FILES,
        suite: Suite | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._spec = endpoint.spec
        self._repairing = repairing
        self._apart = place
        self._trust = trust
        self._importing = asyncio.Lock()
        self._cassette = cassette
        self._suite = suite
        self._bound: tuple[JudgeFunction, Binding | None] | None = None
        # A synchronous function that is replayed blocks nothing.
        self._turns = asyncio.Semaphore(endpoint.spec.concurrency or 1)

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

    async def ask_calls(
        self,
        trial_id: str,
        course: Callable[[], Course],
        watch: Callable[[CallScope], None] = lambda _: None,
    ) -> Answer:
        """The outcomes of the calls of a trial, made one after the other; raises as `ask`.

        A trial that is recorded with another request is asked from its first call on: ``course``
        begins its calls. ``watch`` is given the scope of each attempt.
        """
        is_function = self._spec.provider == "callable"
        recording = self._cassette.mode == "record"
        # A function that retries must not meet what is left of an attempt that failed.
        anew = recording and is_function and not self._cassette.complete(trial_id)
        try:
            return await self._attempted(trial_id, course(), watch, anew=anew)
        except Abandoned:
            return await self._attempted(trial_id, course(), watch, anew=True)

    async def _attempted(
        self, trial_id: str, calls: Course, watch: Callable[[CallScope], None], *, anew: bool
    ) -> Answer:
        is_function = self._spec.provider == "callable"
        given: list[Answer] = []
        with self._cassette.trial(trial_id, anew=anew, of_function=is_function) as scope:
            watch(scope)
            scope.most_bytes = self._spec.max_body_bytes
            if is_function:
                scope.fault_of = fault_of_api
            asking = self._call if is_function else self._request
            for call in _in_turn(calls, given):
                given.append(await asking(scope, call))
            answer = _joined(given, call)
            if self._cassette.mode == "replay":
                return answer
            if is_function:
                self._record_return(scope, answer)
            # While recording, existing recordings answer at once and without cost.
            made = scope.made > 0 or isinstance(answer.reply, Failed)
            return replace(answer, made=made, latency_s=answer.latency_s if made else None)

    def _record_return(self, scope: CallScope, answer: Answer) -> None:
        """Record what the function has returned after its requests, or why it has not."""
        if isinstance(answer.reply, Failed):
            reason = answer.reply.reason
            self._cassette.record_return(scope, self._spec.model, [reason], failed=True)
        elif scope.intercepted:
            self._cassette.record_return(scope, self._spec.model, scope.returns)

    def replay(self, trial_id: str, calls: Course) -> Answer:
        """`ask_calls` from the cassette alone, for judges that a provider asks.

        No code of the judge runs, so none has to know the trial that it belongs to.
        """
        given: list[Answer] = []
        scope = CallScope(trial_id, self._cassette, replaying=True)
        for call in _in_turn(calls, given):
            given.append(self._recorded(scope, *self._asked(call)))
        return _joined(given, call)

    def compute(self, calls: Course, find: Callable[[str], Observer]) -> Answer:
        """The embedded judge's answer to the calls of a trial, for which see `is_embedded`."""
        from pytest_judgesense.judges.simulated.server import answer

        given: list[Answer] = []
        for call in _in_turn(calls, given):
            endpoint, request = self._asked(call)
            status, body = answer(_COMPLETIONS, json.loads(request.body), find)
            given.append(Answer(provider_of(endpoint.spec).read(status, json.dumps(body))))
        return _joined(given, call)

    def _asked(self, call: Call) -> tuple[Endpoint, HttpRequest]:
        """Who is asked, and the request."""
        endpoint = self._repairing if call.repairs else self._endpoint
        assert endpoint is not None, "only the replies of a judge with repair are repaired"
        return endpoint, endpoint.request_of(call)

    def _recorded(self, scope: CallScope, endpoint: Endpoint, request: HttpRequest) -> Answer:
        """The recorded answer, which counts as used: unused exchanges of a trial are dropped."""
        asked = (request.method, request.url, request.body)
        found = self._cassette.find(scope, *asked)
        # A call without an answer ended with its last attempt, which is returned each time.
        while not found.answers and (again := self._cassette.find(scope, *asked)) != found:
            found = again
        return Answer(endpoint.reply_in(found))

    async def _request(self, scope: CallScope, call: Call) -> Answer:
        endpoint, request = self._asked(call)
        asked = (request.method, request.url, request.body)
        replaying = self._cassette.mode == "replay"
        if replaying or self._cassette.answer_to(scope, *asked) is not None:
            return self._recorded(scope, endpoint, request)
        scope.fault_of = fault_of(endpoint.spec)
        most = Usage(len(request.body), endpoint.spec.max_tokens)  # no token is shorter than a byte
        made = await endpoint.throttle.call(
            lambda: self._attempt(endpoint, request, swept=call.temperature is not None),
            tokens=len(request.body) // 4 + endpoint.spec.max_tokens,
            most_usd=endpoint.usd(most),
            cost=lambda attempt: endpoint.cost(attempt.reply),
        )
        return Answer(made.reply, made.latency_s, retried=made.retried)

    async def _attempt(self, endpoint: Endpoint, request: HttpRequest, *, swept: bool) -> Attempt:
        from pytest_judgesense.judges.transport import NoResponse, TooLate, Unsendable

        assert endpoint.connections is not None, "a client that records has connections"
        call = self._cassette.intercept(
            request.method, request.url, request.body, request.headers.items()
        )
        started = time.perf_counter()
        try:
            response = await endpoint.connections.send(request)
            latency = time.perf_counter() - started
            # As it is recorded: a reply that quotes the key must not take it into a judgment.
            recording = partial(
                call.answered, response.status, response.headers.items(), response.data
            )
            # To search and write a large body takes longer than others may wait for the loop.
            is_large = len(response.data) > _LARGE_BYTES
            recorded = await asyncio.to_thread(recording) if is_large else recording()
        except Unsendable as error:
            call.scope.come_to_end(call.number)
            return Attempt(Failed(f"{error}: the request cannot be sent"), "end")
        except (NoResponse, BodyTooLarge) as error:
            reason = self._cassette.redacted(getattr(error, "what", str(error)))
            call.unanswered(reason)
            # An answer that is too large will be so again.
            kind: Kind = "retry" if isinstance(error, NoResponse) else "fail"
            return Attempt(Failed(reason), kind, late=isinstance(error, TooLate))
        text = _text_of(recorded.body)
        reply = provider_of(endpoint.spec).read(response.status, text)
        kind = kind_of_status(response.status, text)
        if isinstance(reply, Failed) and kind == "answer":
            kind = "retry"  # an HTML page, half a body, no choices: the response holds no reply
        if kind == "fail" and isinstance(reply, Failed) and not swept:
            # A setting of the judge that its model does not take: so it is with every trial. Where
            # a suite varies the temperature, that is a result.
            kind = "end" if setting_to_change(reply.reason) else kind
        return Attempt(
            reply,
            kind,
            overloaded=overloaded(response.status),
            wait_s=wait_asked_for(response.headers),
            latency_s=latency,
        )

    async def _call(self, scope: CallScope, call: Call) -> Answer:
        cassette, throttle = self._cassette, self._endpoint.throttle
        given: dict[str, Any] = {
            **call.fields,
            MESSAGES: [dict(message) for message in call.messages],
        }
        said: _Said = given[MESSAGES], {}
        if cassette.mode == "replay":
            # The recorded call holds the function's arguments: a replay needs neither the model nor
            # the module around it.
            names = cassette.arguments_of(scope.trial)
            if names is not None:
                sources = {name: self._spec.arguments.get(name, name) for name in names}
                said = _said({name: given.get(source) for name, source in sources.items()})
        else:
            function, binding = await self._imported()
            if binding is not None:
                said = _said(binding.arguments(given))
            if self._spec.concurrency is None and not is_async(function):
                throttle.one_at_a_time()
        if cassette.mode == "replay" and (reason := cassette.failed_return(scope)) is not None:
            return Answer(Failed(reason))
        recorded = cassette.find_call(scope, self._spec.model, *said, alone=self._spec.by_return)
        if recorded is not None:
            scope.returns.append(recorded)
            return Answer(Reply(recorded))
        if cassette.mode == "replay":
            function, _ = await self._imported()
            async with nullcontext() if is_async(function) else self._turns:
                return Answer((await self._run(scope, given, said)).reply)
        # The booked call is the first request of the function; further requests are booked when
        # they are made. A function whose requests are all recorded makes none.
        booked = [None] if scope.anew else []

        def permit() -> None:
            if booked:
                booked.pop()
            else:
                throttle.limits.take(self._spec, None)

        async with throttle.permit() as started:
            if booked:
                await throttle.admitted(0, None)
            scope.permit = permit
            made = await self._run(scope, given, said)
            throttle.learn(made, started)
        return Answer(made.reply, made.latency_s)

    async def _run(self, scope: CallScope, given: Mapping[str, Any], said: _Said) -> Attempt:
        function, binding = await self._imported()
        # A copy, because a judge may change its messages.
        given = {**given, MESSAGES: [dict(message) for message in given[MESSAGES]]}
        if binding is None:
            asking = partial(function, given[MESSAGES])
        else:
            asking = binding.call(function, binding.arguments(given))
        started = time.perf_counter()
        try:
            # Where its return alone is recorded, no request of it is looked at.
            with entered(None) if self._spec.by_return else nullcontext():
                value = await self._apart.call(asking, self._spec.timeout_s, is_async(function))
        except (OutOfTime, BodyTooLarge) as error:
            _raise_remembered(scope)
            scope.out_of_time = isinstance(error, OutOfTime)
            reason = f"{error} (timeout_s)" if isinstance(error, OutOfTime) else error.what
            return Attempt(Failed(self._cassette.redacted(reason)), "fail")
        except JudgesenseError:
            raise
        except Exception as error:
            _raise_remembered(scope)
            # Clients retry by themselves; their final exception is not retried.
            status = status_of(error)
            kind: Kind = "end" if kind_of_status(status) == "end" else "fail"
            reason = self._cassette.redacted(reason_of(error))
            if self._cassette.mode == "replay" and not scope.intercepted:
                # No request was made: this machine lacks what the function needs.
                raise self._not_replayable(reason) from error
            return Attempt(Failed(reason), kind, overloaded=overloaded(status))
        _raise_remembered(scope)
        latency = time.perf_counter() - started
        try:
            text = said_by(value, self._spec, self._suite.space if self._suite else None)
        except JudgesenseError:
            raise
        except Exception as error:  # noqa: BLE001 - such as a dictionary that holds itself
            reason = f"the function returned what cannot be written: {reason_of(error)}"
            return Attempt(Failed(self._cassette.redacted(reason)), "fail")
        try:
            if len(text) > self._spec.max_body_bytes:
                raise too_large(self._spec.max_body_bytes, "returned")
            if not scope.intercepted:
                messages, settings = said
                self._cassette.record_call(scope, self._spec.model, messages, text, settings)
        except BodyTooLarge as error:
            return Attempt(Failed(error.what), "fail")
        text = self._cassette.redacted(text)
        scope.returns.append(text)
        return Attempt(Reply(text), latency_s=latency)

    def _not_replayable(self, reason: str) -> JudgeError:
        return JudgeError(
            f"judge {self._spec.name!r} cannot be replayed here: it fails before its first request",
            found=f"{self._spec.model}: {reason}",
            expected="a function that needs only its recorded answers; keys that common clients "
            "read get placeholders",
            remedy="name the variable of another key in the judge's table, "
            'api_key_env = "NAME"; where there are several, set them to any value: nothing is sent '
            "(boto3 needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)",
        )

    async def _imported(self) -> tuple[JudgeFunction, Binding | None]:
        # Imported only when needed. Requests that a module makes during import belong to no trial;
        # otherwise they would be missing if another trial comes first. While replaying, imports
        # make no requests either.
        async with self._importing:
            if self._bound is None:
                self._trust.refuse_code(self._spec)
                replaying = self._cassette.mode == "replay"
                importing = CallScope(self._spec.model, self, replaying=True, imports=True)
                with entered(importing if replaying else None):
                    function = await imported(self._spec, self._apart)
                self._bound = function, binding_of(function, self._spec, self._suite)
            return self._bound


def _said(arguments: Mapping[str, Any]) -> _Said:
    return (), {"arguments": dict(arguments)}


async def imported(spec: JudgeSpec, place: Apart) -> JudgeFunction:
    """The function of a callable judge, its module imported where judges run.

    Raises:
        UsageError: it cannot be imported, or is not a function.
        JudgeError: the import does not end.
    """
    try:
        found: JudgeFunction = await place.call(partial(function_of, spec), _LONGEST_IMPORT_S)
    except OutOfTime as error:
        raise JudgeError(
            f"the module of judge {spec.name!r} has not been imported",
            found=f"{spec.model}: {error}",
            expected="a module that is imported within 10 minutes",
            remedy="load models at the first call, not at import",
        ) from error
    return found


def one_call(messages: Sequence[Mapping[str, str]], replicate: int = 1) -> Course:
    """The calls of a trial that is asked once, with the judge's settings."""
    yield Call(messages, replicate)


def _in_turn(calls: Course, given: Sequence[Answer]) -> Iterator[Call]:
    """The calls of a trial, each once the answer to the one before is in ``given``."""
    call = next(calls)
    with suppress(StopIteration):
        while True:
            yield call
            call = calls.send(given[-1].reply)


def _joined(given: Sequence[Answer], last: Call) -> Answer:
    """The answers to the calls of a trial as one; ``last`` is the call that ended it."""
    if len(given) == 1:
        return given[0]
    failed = isinstance(given[-1].reply, Failed) and not last.repairs
    latencies = [answer.latency_s for answer in given if answer.latency_s is not None]
    return Answer(
        given[-1 if failed else 0].reply,
        latency_s=sum(latencies) if latencies else None,
        retried=sum(answer.retried for answer in given),
        later=() if failed else tuple(answer.reply for answer in given[1:]),
    )


def _raise_remembered(scope: CallScope) -> None:
    # A client may have swallowed the cassette's error or retried upon it: it counts all the same.
    if scope.abandoned:
        raise Abandoned(scope.trial)
    if scope.error is not None:
        raise scope.error


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
) -> AsyncIterator[Client]:
    """A client for ``spec`` on ``cassette``; while recording with its connections, and for the
    embedded judge or a local model with its server on 127.0.0.1.

    ``concurrency`` is the number of concurrent calls. A given ``throttle`` continues with the pace
    and back-off of earlier clients of this judge. ``skills`` are additional skills of the embedded
    judge. ``trust`` says what may be sent while recording, and whether functions may be imported.

    Raises:
        UsageError: a callable cannot be imported.
        SendingRefused: a prompt's file, or the host, is not for the repository to choose.
        JudgeError: a key is needed and is not in the environment; `CodeNotRun`, while asking: a
            function is needed that may not be imported.
    """
    throttle = throttle or Throttle(spec, concurrency)
    if cassette.mode != "replay":
        trust.refuse_files(f"judge {spec.name!r}", spec.prompts.files)
    async with AsyncExitStack() as stack:
        place = apart()
        if place is None:
            place = Apart(beside=False)
            stack.callback(place.close)

        async def opened(spec: JudgeSpec, throttle: Throttle) -> Endpoint:
            endpoint = unasked_endpoint(spec, throttle)
            if cassette.mode == "replay" or spec.provider == "callable":
                return endpoint
            return await _connected(stack, endpoint, concurrency, skills, trust)

        endpoint = await opened(spec, throttle)
        repairing, repairer = None, spec.repair and spec.repair.spec
        unrepaired = replace(spec, repair=None, reply_schema=None)
        if repairer and replace(repairer, temperature=spec.temperature) == unrepaired:
            repairing = replace(endpoint, spec=repairer)
        elif repairer:
            repairing = await opened(repairer, throttle.beside(repairer))
        if cassette.mode == "replay" and spec.provider == "callable":
            stack.enter_context(placeholder_credentials(spec.api_key_env))
        yield Client(endpoint, cassette, repairing=repairing, place=place, trust=trust, suite=suite)


async def _connected(
    stack: AsyncExitStack,
    endpoint: Endpoint,
    concurrency: int,
    skills: Sequence[Skill],
    trust: Trust,
) -> Endpoint:
    spec, base_url = endpoint.spec, endpoint.base_url
    name, key = key_of(spec)
    trust.refuse_host(spec, base_url, name)
    if key is None and name and not is_loopback(urlsplit(base_url).hostname or ""):
        raise JudgeError(
            f"judge {spec.name!r} has no key",
            found=f"no environment variable {name}",
            expected=f"the key of {base_url} in {name}",
            remedy=f"export {name}=..., or name another variable by api_key_env",
        )
    if spec.provider == "embedded" and spec.base_url is None:
        from pytest_judgesense.judges.simulated.server import serving

        find = partial(observer_named, skills=skills)
        base_url = stack.enter_context(serving(find=find)).base_url
    elif spec.provider == "local" and spec.base_url is None:
        running = served(spec.model, threads=spec.threads, context=spec.context)
        base_url = stack.enter_context(running)
    # aiohttp and all that comes with it are for those who ask.
    from pytest_judgesense.judges.transport import Connections

    connections = Connections(concurrency, base_url, spec.timeout_s, spec.max_body_bytes)
    await stack.enter_async_context(connections)
    return replace(endpoint, base_url=base_url, connections=connections)
