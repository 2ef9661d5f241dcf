"""Asking a judge, live or from its tape: messages of a trial to a `Reply` or a `Failed`.

The built-in clients look the tape up directly in replay; while recording they go through it like
any other client. A callable judge runs as it is: its HTTP traffic is intercepted, and one that
makes none is recorded at the call itself.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlsplit

from pytest_judgesense.cassettes.exchange import NO_RESPONSE, Exchange, as_bytes
from pytest_judgesense.cassettes.key import is_loopback
from pytest_judgesense.cassettes.scope import CallScope, entered
from pytest_judgesense.cassettes.tape import Tape
from pytest_judgesense.errors import JudgeError, JudgesenseError
from pytest_judgesense.judges.connections import Connections, NoResponse, Unsendable
from pytest_judgesense.judges.embedded.server import serving
from pytest_judgesense.judges.resolving import function_of, key_of
from pytest_judgesense.judges.spec import JudgeFunction, JudgeSpec
from pytest_judgesense.judges.statuses import Kind, kind_of_status, overloaded, wait_asked_for
from pytest_judgesense.judges.traffic import Attempt, Traffic
from pytest_judgesense.judges.wire import HttpRequest, Reply, wire_of
from pytest_judgesense.judgment import Failed, Usage

__all__ = ["Answer", "Asker", "fault_of", "open_asker", "request_of"]

# Where the embedded judge stands in recordings: its port is an accident of the run.
_EMBEDDED_URL: Final = "http://127.0.0.1/v1"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a trial's call brought.

    Attributes:
        reply: the reply, or why there is none.
        latency_s: seconds that it took; ``None`` when a recording answered.
        made: whether anybody was asked, or a recording answered.
        retried: how often it was made again in this session.
    """

    reply: Reply | Failed
    latency_s: float | None = None
    made: bool = False
    retried: int = 0


def _base_url(spec: JudgeSpec) -> str:
    if spec.provider == "embedded":
        return spec.base_url or _EMBEDDED_URL
    if spec.provider == "callable":
        return ""  # it asks whom it likes
    return spec.base_url or wire_of(spec.provider).default_base_url


def request_of(
    spec: JudgeSpec,
    messages: Sequence[Mapping[str, str]],
    replicate: int = 1,
    base_url: str | None = None,
    key: str | None = None,
) -> HttpRequest:
    """What a judge with a provider is sent for ``messages``, at its own URL unless one is given."""
    seed = None if spec.seed is None else spec.seed + replicate - 1
    url = _base_url(spec) if base_url is None else base_url
    return wire_of(spec.provider).request(spec, url, key, messages, seed)


def fault_of(spec: JudgeSpec) -> Callable[[int, str | bytes], str | None]:
    """What is wrong with a response that holds no reply in spite of its status; see `CallScope`."""

    def fault(status: int, body: str | bytes) -> str | None:
        if kind_of_status(status) != "answer":
            return None  # the status says it
        reply = wire_of(spec.provider).read(status, _text_of(as_bytes(body)))
        return "no reply in the response" if isinstance(reply, Failed) else None

    return fault


class Asker:
    """Asks one judge on one tape. Made by `open_asker`."""

    def __init__(
        self,
        spec: JudgeSpec,
        tape: Tape,
        *,
        base_url: str,
        key: str | None = None,
        connections: Connections | None = None,
        traffic: Traffic | None = None,
        threads: ThreadPoolExecutor | None = None,
    ) -> None:
        self._spec = spec
        self._threads = threads
        self._traffic = traffic or Traffic(spec, 1)
        self._tape = tape
        self._base_url = base_url
        self._key = key
        self._connections = connections
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
        with self._tape.trial(trial_id) as scope:
            if self._spec.provider == "callable":
                answer = await self._call(scope, messages)
            else:
                answer = await self._request(scope, messages, replicate)
            # While recording, what the tape knows already answers at no cost and in no time.
            failed = isinstance(answer.reply, Failed) and self._tape.mode == "record"
            made = scope.made > 0 or failed
            return replace(answer, made=made, latency_s=answer.latency_s if made else None)

    def replay(
        self, trial_id: str, messages: Sequence[Mapping[str, str]], replicate: int = 1
    ) -> Answer:
        """The same from the tape alone, for judges that are asked over a known wire format."""
        with self._tape.trial(trial_id) as scope:
            request = self._wire_request(messages, replicate)
            body = request.body.decode()
            found = self._tape.find(scope, request.method, request.url, body)
            while not found.answers:
                # It never got an answer: the last attempt, which is given again, is its outcome.
                again = self._tape.find(scope, request.method, request.url, body)
                if again == found:
                    break
                found = again
            return Answer(self._read(found))

    def _read(self, found: Exchange) -> Reply | Failed:
        text = _text_of(as_bytes(found.response.body))
        if found.response.status == NO_RESPONSE:
            return Failed(text)
        return wire_of(self._spec.provider).read(found.response.status, text)

    def _wire_request(self, messages: Sequence[Mapping[str, str]], replicate: int) -> HttpRequest:
        return request_of(self._spec, messages, replicate, self._base_url, self._key)

    async def _request(
        self, scope: CallScope, messages: Sequence[Mapping[str, str]], replicate: int
    ) -> Answer:
        request = self._wire_request(messages, replicate)
        recorded = self._tape.answer_to(scope, request.method, request.url, request.body)
        if recorded is not None:
            return Answer(self._read(recorded))
        scope.fault_of = fault_of(self._spec)
        most = Usage(len(request.body), self._spec.max_tokens)  # no token is shorter than a byte
        made = await self._traffic.call(
            lambda: self._attempt(scope, request),
            tokens=len(request.body) // 4 + self._spec.max_tokens,
            most_usd=self._usd(most),
            cost=self._cost,
        )
        return Answer(made.reply, made.latency_s, retried=made.retried)

    async def _attempt(self, scope: CallScope, request: HttpRequest) -> Attempt:
        assert self._connections is not None, "an asker that records has connections"
        call = self._tape.call(scope, request.method, request.url, request.body, request.headers)
        started = time.perf_counter()
        try:
            # The tape has this request already: it is not to be intercepted on its way.
            with entered(None):
                response = await self._connections.send(request)
        except Unsendable as error:
            return Attempt(Failed(f"{error}: the request cannot be sent"), "end")
        except NoResponse as error:
            reason = self._tape.cleaned(str(error))
            call.unanswered(reason)
            return Attempt(Failed(reason), "retry")
        latency = time.perf_counter() - started
        # As it is recorded: a reply that quotes the key must not take it into a judgment.
        kept = call.answered(response.status, response.headers.items(), response.data)
        text = _text_of(as_bytes(kept.body))
        reply = wire_of(self._spec.provider).read(response.status, text)
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

    def _usd(self, usage: Usage) -> float | None:
        if self._spec.provider == "embedded":
            return 0.0
        prices = self._spec.prices
        if prices is None or usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        return (
            usage.prompt_tokens * prices.prompt + usage.completion_tokens * prices.completion
        ) / 1e6

    def _cost(self, attempt: Attempt) -> float | None:
        """What a call has cost; ``None`` where the endpoint does not say and may well charge it."""
        if isinstance(attempt.reply, Reply):
            return self._usd(attempt.reply.usage)
        return 0.0 if attempt.reply.reason.startswith("HTTP ") else None

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
            text = await _awaited(self._function, own, self._threads)
        except JudgesenseError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a user's judge raises is a failed call
            _raise_remembered(scope)
            # Clients retry by themselves; what they raise in the end is not tried once more.
            status = _status_of(error)
            kind: Kind = "end" if kind_of_status(status) == "end" else "fail"
            reason = self._tape.cleaned(_reason(error))
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
        return Attempt(Reply(self._tape.cleaned(text)), latency_s=latency)


def _text_of(body: bytes) -> str:
    # JSON is UTF-8 whatever a header says; so a recorded answer reads like the one that came.
    return body.decode("utf-8", "replace")


def _raise_remembered(scope: CallScope) -> None:
    # A client may have swallowed the tape's error or retried upon it: it counts all the same.
    if scope.error is not None:
        raise scope.error


def _reason(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _status_of(error: BaseException) -> int:
    """The HTTP status that a client's exception carries; 0 for none."""
    response = getattr(error, "response", None)
    found = getattr(error, "status_code", None) or getattr(response, "status_code", None)
    return found if isinstance(found, int) else 0


async def _awaited(
    function: JudgeFunction, messages: list[dict[str, str]], threads: ThreadPoolExecutor | None
) -> object:
    if inspect.iscoroutinefunction(function):
        return await function(messages)
    # A synchronous judge must not hold up the others: it runs in a thread with this context. The
    # loop's own threads are a few more than there are processors, which is no measure for waiting.
    loop = asyncio.get_running_loop()
    result: object = await loop.run_in_executor(threads, copy_context().run, function, messages)
    if inspect.isawaitable(result):
        awaitable: Awaitable[object] = result
        return await awaitable
    return result


@asynccontextmanager
async def open_asker(
    spec: JudgeSpec, tape: Tape, *, concurrency: int, traffic: Traffic | None = None
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
    base_url = _base_url(spec)
    traffic = traffic or Traffic(spec, concurrency)
    name, key = key_of(spec)
    if tape.mode == "replay" or spec.provider == "callable":
        threads = ThreadPoolExecutor(concurrency, "judgesense-judge")
        try:
            yield Asker(spec, tape, base_url=base_url, traffic=traffic, threads=threads)
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
        return
    local = spec.provider == "embedded" or is_loopback(urlsplit(base_url).hostname or "")
    if key is None and not local:
        raise JudgeError(
            f"judge {spec.name!r} has no key to be asked with",
            found=f"no environment variable {name}",
            expected=f"the key of {base_url} in {name}",
            remedy=f"export {name}=..., or name another variable by api_key_env",
        )
    async with AsyncExitStack() as stack:
        if spec.provider == "embedded" and spec.base_url is None:
            base_url = stack.enter_context(serving()).base_url
        connections = Connections(concurrency, base_url, spec.timeout_s)
        await stack.enter_async_context(connections)
        yield Asker(
            spec, tape, base_url=base_url, key=key, connections=connections, traffic=traffic
        )
