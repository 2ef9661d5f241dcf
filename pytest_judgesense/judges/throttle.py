"""How a judge is asked when its provider falters: which faults are retried, when, how many at once.

=========  ==========================================================  ============================
kind       what it is                                                  what follows
=========  ==========================================================  ============================
retry      408, 409, 425, 429, 5xx but 501 and 505; no connection, no  the call is made again, after
           answer in time, a body cut off; status 200 with no reply    a wait with jitter
           in it (no JSON, an HTML page, no choices)
end        a redirect, 401, 402, 403, 404, 405, 407, 410; 429 where    the judge is not asked again
           the account is out of credit; a URL or key that cannot be
           sent
fail       any other error status (400, 413, 422, ...)                 `Failed`, and no call more
=========  ==========================================================  ============================

The first call of a judge goes alone: a wrong key costs one call. Once a judge has answered, one
fault of kind *end* (a filter's 403, a gateway's 404) fails its trial alone; `_ENDED` of them in a
row, with no answer in between, end the judge. A call without an answer in time is made again
`_LATE` times at most: it costs its whole time, and perhaps its price. Where `_DOWN` trials in a row
have failed in spite of their retries, the endpoint is taken to be down: a call is not retried until
one is answered.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from aiolimiter import AsyncLimiter

from pytest_judgesense.errors import JudgeError, LimitReached
from pytest_judgesense.judges.local import PARALLEL_CALLS
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.spec import JudgeSpec, table_of
from pytest_judgesense.trial import Failed, RequestCount, Usage

if TYPE_CHECKING:
    from tenacity import RetryCallState

# The consequence of a response; see the head of this module for the kinds.
Consequence: TypeAlias = Literal["answer", "retry", "end", "fail"]

_RETRIED: Final = frozenset({408, 409, 425, 429, *range(500, 600)} - {501, 505})
_ENDING: Final = frozenset({*range(300, 400), 401, 402, 403, 404, 405, 407, 410})
_OVERLOADED: Final = frozenset({429, 503, 529})
# An invalid request, and settings that an endpoint may not support.
_WRONG: Final = re.compile(r"HTTP (?:400|422): .*\b(?:temperature|seed|top_?p)\b", re.IGNORECASE)
_REFUSES: Final = re.compile(
    r"HTTP (?:400|422): .*(?:unsupported|support|unknown|unrecogni[sz]ed|permitted|allowed|may only"
    r"|cannot (?:both )?be)",
    re.IGNORECASE,
)
# The settings of requests that models refuse, and what leaves them out of a judge's.
_LEFT_OUT: Final[Mapping[str, str]] = {
    "temperature": 'temperature = false; reasoning = "low" sends none either, and names the budget '
    "as models that reason take it",
    "max_tokens": 'reasoning = "low" (or another effort), which sends max_completion_tokens',
    "top_p": "top_p = false",
    "seed": "seed = false",
    "top_logprobs": "logprobs = false",
    "logprobs": "logprobs = false",
    "response_format": "structured = false",
    "reasoning_effort": "take reasoning out",
}
_NAMED: Final = re.compile(rf"(?<![A-Za-z_])(?:{'|'.join(_LEFT_OUT)})(?![A-Za-z_])")
# A 429 with one of these codes does not pass by waiting.
_OUT_OF_CREDIT: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
# Sums of floats are off by less; a call at the very limit is still within it.
_ROUNDING_USD: Final = 1e-12
# A process holds the file of the limits for a millisecond, unless somebody has stopped it.
_LONGEST_BOOKING_S: Final = 30.0
# Calls under way at once, unless the user says another number.
CONCURRENCY: Final = 8
_ENDED: Final = 10
_FIX: Final = "fix its key, model, base_url or account"
_DOWN: Final = 10
_LATE: Final = 2
_FIRST_WAIT_S: Final = 0.5
_LONGEST_WAIT_S: Final = 30.0
# An endpoint that asks for more is not waited for: its trial fails and says so.
_LONGEST_WAIT_ASKED_S: Final = 120.0
_ALONE_S: Final = 5.0


def kind_of_status(status: int, body: str = "") -> Consequence:
    """The consequence of a response with ``status``; below 300 the body decides."""
    if status == 429 and _code(body) in _OUT_OF_CREDIT:
        return "end"
    if status in _RETRIED:
        return "retry"
    if status in _ENDING:
        return "end"
    return "fail" if status >= 400 else "answer"


def overloaded(status: int) -> bool:
    """Whether ``status`` says that the endpoint is asked too much."""
    return status in _OVERLOADED


def refusal(reason: str) -> str | None:
    """The message of an endpoint about an unsupported setting, from the reason of a `Failed`."""
    return f"refused: {reason}" if _WRONG.match(reason) else None


def setting_to_change(reason: str) -> str | None:
    """What to write in a judge's table so that what a model refuses is left out of its requests.

    From the reason of a `Failed`; ``None`` where the endpoint refuses no setting by name.
    """
    named = _NAMED.search(reason) if _REFUSES.match(reason) else None
    return _LEFT_OUT[named[0]] if named else None


def status_of(error: BaseException) -> int:
    """The HTTP status that a client's exception carries; 0 for none."""
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
    return status if isinstance(status, int) else 0


def wait_asked_for(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds that ``Retry-After`` (seconds or a date) or ``retry-after-ms`` asks to wait."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        wait = headers.get("retry-after")
        if wait is None:
            return None
        if wait.strip().replace(".", "", 1).isdigit():
            return float(wait)
        until = parsedate_to_datetime(wait)
        aware = until if until.tzinfo else until.replace(tzinfo=UTC)
        return max(0.0, (aware - (now or datetime.now(UTC))).total_seconds())
    except (ValueError, OverflowError):
        return None  # not a time, whatever it means


def _code(body: str) -> str | None:
    try:
        error = json.loads(body)["error"]
        return str(error.get("code") or error.get("type"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


class Deadline:
    """When a session stops calling: no call begins, and no wait for one continues.

    It passes with its time, or when the session is interrupted. Calls under way come to their end,
    and so does a function that has started, with the requests that it still makes: cut between two
    of them, it would be asked for both again.
    """

    def __init__(self, seconds: float | None = None, left_s: float | None = None) -> None:
        """``seconds`` as the user set them, ``None`` for never; ``left_s`` of them from now."""
        self._seconds = seconds
        self._until = None if left_s is None else time.monotonic() + left_s
        self._interrupted = False
        self._waiting: dict[asyncio.Timeout, asyncio.AbstractEventLoop] = {}

    def interrupt(self) -> None:
        """Let it pass now. Safe with threads."""
        self._interrupted = True
        # A new waiter checks first; waiting ones are woken on their loops.
        for bound, loop in list(self._waiting.items()):
            with suppress(RuntimeError):  # a loop that has been closed waits for nothing
                loop.call_soon_threadsafe(self._wake, bound)

    def _wake(self, bound: asyncio.Timeout) -> None:
        if bound in self._waiting:
            bound.reschedule(asyncio.get_running_loop().time())

    def check(self) -> None:
        """Raise `LimitReached` if it has passed."""
        if self._interrupted:
            raise LimitReached("the session was interrupted", expected="calls that may begin")
        if self._until is not None and time.monotonic() >= self._until:
            raise LimitReached(
                f"--judge-deadline {self._seconds:g} is reached",
                found=f"{self._seconds:g} s since the session began",
            )

    @asynccontextmanager
    async def waiting(self) -> AsyncIterator[None]:
        """End the waits of this block when it passes, with `LimitReached`."""
        left = None if self._until is None else self._until - time.monotonic()
        try:
            async with asyncio.timeout(left) as bound:
                self._waiting[bound] = asyncio.get_running_loop()
                try:
                    self.check()
                    yield
                finally:
                    del self._waiting[bound]
        except TimeoutError:
            if bound.expired():
                self.check()
            raise


NO_DEADLINE: Final = Deadline()


def stopping(deadline: Deadline, judges: Sequence[JudgeSpec]) -> Callable[[], float]:
    """What lets no call of ``judges`` begin any more, and returns how long one may be under way."""
    repairers = (judge.repair.spec for judge in judges if judge.repair)
    seconds = [judge.timeout_s for judge in (*judges, *repairers) if judge is not None]

    def stop() -> float:
        deadline.interrupt()
        return max(seconds, default=0.0)

    return stop


class Budget:
    """The limits that the user sets to the calls of a session, and the calls so far: here, none."""

    def __init__(self, deadline: Deadline = NO_DEADLINE) -> None:
        self.deadline = deadline

    def take(
        self,
        spec: JudgeSpec,
        most_usd: float | None,
        *,
        patient: bool = False,
        begun: bool = False,
    ) -> bool:
        """Book a call before it is made; at most ``most_usd``, ``None`` where that is not known.

        One of a function that has ``begun`` is made though the deadline has passed.

        Returns:
            Whether it may be made now. If not (only to the ``patient``, who can wait), it may be
            when calls under way have turned out cheaper than they might have been.

        Raises:
            LimitReached: it would pass a limit.
        """
        return True

    def settle(self, most_usd: float | None, usd: float | None) -> None:
        """Replace the cost booked by `take` by the real one; ``None`` if that is not known."""

    def retried(self) -> None:
        """Note that a call is made again."""

    def timed_out(self) -> None:
        """Note that a call had no answer in time."""

    async def flush_recordings(self) -> None:
        """Wait until recordings are stored outside of this process; here they already are."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of one call, or of the calls of a trial.

    Attributes:
        reply: that of the first call, or of the failed call on which the verdict depends; or the
            reason for its absence.
        latency_s: from the request to the last byte; ``None`` for a recorded answer.
        made: whether a call was made.
        retried: how many calls were made before this one for the same reply.
        sent: how many requests were sent for it, as the limits of the user count them.
        timed_out: how many of them, or of a function's calls, had no answer in time.
        later: the outcomes of the later calls of a trial.
        kind: what follows from it, see the head of this module.
        overloaded: whether the endpoint is asked too much.
        late: whether no whole answer came in time.
        wait_s: how long the endpoint asks to wait.
    """

    reply: Reply | Failed
    latency_s: float | None = None
    made: bool = False
    retried: int = 0
    sent: int = 0
    timed_out: int = 0
    later: tuple[Reply | Failed, ...] = ()
    kind: Consequence = "answer"
    overloaded: bool = False
    late: bool = False
    wait_s: float | None = None

    @property
    def requests(self) -> RequestCount:
        """The requests that were sent for it."""
        return RequestCount(self.sent, self.retried, self.timed_out)

    def spending(self, usage: Usage) -> Answer:
        """The same with ``usage`` for all of its calls together."""
        if not isinstance(self.reply, Reply):
            return self
        later = tuple(
            replace(reply, usage=Usage()) if isinstance(reply, Reply) else reply
            for reply in self.later
        )
        return replace(self, reply=replace(self.reply, usage=usage), later=later)


@dataclass(slots=True)
class _Spent:
    """Calls made, USD that they have cost at most, and USD booked for calls under way."""

    calls: int = 0
    usd: float = 0.0
    booked: float = 0.0


class SessionBudget(Budget):
    """Counts calls and USD, and refuses the call that would pass a limit. Safe with threads.

    ``None`` sets no limit. ``shared`` is the folder that the processes of the session share. It has
    the ``deadline`` of the session.
    """

    def __init__(
        self,
        max_calls: int | None,
        max_cost: float | None,
        shared: Path | None = None,
        deadline: Deadline = NO_DEADLINE,
    ) -> None:
        super().__init__(deadline)
        self._max_calls = max_calls
        self._max_cost = max_cost
        self._lock = threading.Lock()
        self._here = _Spent()
        limited = max_calls is not None or max_cost is not None
        self._file = shared / "spent.json" if shared and limited else None
        self._between: Any = None
        if self._file:
            from filelock import FileLock  # no replay needs it

            self._between = FileLock(self._file.with_suffix(".lock"), timeout=_LONGEST_BOOKING_S)
        self.retries = 0

    @property
    def usd(self) -> float:
        """The cost of the calls so far; not known if processes share a limit."""
        return self._here.usd

    def take(
        self,
        spec: JudgeSpec,
        most_usd: float | None,
        *,
        patient: bool = False,
        begun: bool = False,
    ) -> bool:
        if not begun:
            self.deadline.check()
        if self._max_cost is not None and most_usd is None:
            raise _unpriced(spec)
        most = most_usd or 0.0
        with self._spent() as spent:
            if self._max_calls is not None and spent.calls >= self._max_calls:
                raise LimitReached(
                    f"--judge-max-calls {self._max_calls} is reached",
                    found=f"{spent.calls} calls made in this session, retries counted",
                )
            most_of_all = (self._max_cost or 0.0) + _ROUNDING_USD
            if self._max_cost is not None and spent.usd + spent.booked + most > most_of_all:
                if patient and spent.usd + most <= most_of_all:
                    return False
                raise LimitReached(
                    f"--judge-max-cost {self._max_cost:g} is reached",
                    found=f"{spent.usd:.6f} USD spent in this session, and up to {most:.6f} USD "
                    "for the next call",
                )
            spent.calls += 1
            spent.booked += most
        return True

    def settle(self, most_usd: float | None, usd: float | None) -> None:
        """Replace the booked cost by the real one; if that is unknown, the maximum stays."""
        most = most_usd or 0.0
        with self._spent() as spent:
            spent.booked -= most
            spent.usd += most if usd is None else usd

    def retried(self) -> None:
        """Count a call that is made again."""
        self.retries += 1

    @contextmanager
    def _spent(self) -> Iterator[_Spent]:
        """The running totals, held against other threads and processes while they are changed."""
        if self._file is None:
            with self._lock:
                yield self._here
            return
        from filelock import Timeout

        try:
            with self._lock, self._between:
                stored = self._file.exists() and json.loads(self._file.read_text(encoding="utf-8"))
                spent = _Spent(**stored or {})
                yield spent
                # In one step: a worker that is killed here leaves a whole file.
                new = self._file.with_suffix(".new")
                new.write_text(json.dumps(asdict(spent)), encoding="utf-8")
                new.replace(self._file)
        except Timeout as error:
            raise LimitReached(
                "the limits of the session cannot be kept",
                found=f"{self._file} held by another process for {_LONGEST_BOOKING_S:g} s",
                expected="workers that note a call within moments",
                remedy="end that process, which may have been stopped, and run again",
            ) from error


def _unpriced(spec: JudgeSpec) -> LimitReached:
    reason, remedy = "a callable, whose tokens are not known", "limit it by --judge-max-calls"
    if spec.provider != "callable":
        reason = "no prices"
        remedy = (
            f"give {table_of(spec.name)} prices = {{ prompt = ..., completion = "
            f"... }} in USD per million tokens, or {remedy}"
        )
    return LimitReached(
        f"--judge-max-cost cannot be kept for judge {spec.name!r}",
        found=reason,
        expected="a limit that holds whatever is asked",
        remedy=remedy,
    )


class _Pace:
    """At most ``per_minute`` units in any minute, in the order of their asking.

    The bucket holds one second's worth, so that a run does not begin with the burst of a whole
    minute, which providers refuse; its size is subtracted from the rate.
    """

    def __init__(self, per_minute: float) -> None:
        burst = max(1.0, per_minute / 60)
        rate = (per_minute - (burst - 1)) / 60
        self._limiter = AsyncLimiter(burst, burst / rate)
        self._turn = asyncio.Lock()

    async def take(self, amount: float) -> None:
        async with self._turn:
            while amount > 0:
                part = min(amount, self._limiter.max_rate)
                await self._limiter.acquire(part)
                amount -= part


class _Turns:
    """How many calls of a judge may be under way at once, and those that wait for their turn.

    At most ``most``; they are halved when the endpoint is overloaded, and each answer adds its
    share of one, as TCP does. The first call is made ``alone``. Where all ``is_over`` nobody waits.
    """

    def __init__(self, most: int, is_over: Callable[[], bool], *, alone: bool) -> None:
        self.under_way = 0
        self._most = most
        self._is_over = is_over
        self._alone = alone
        self._limit = 1.0 if alone else float(most)
        self._halved_at = 0.0
        # The first one that waits first.
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._opening: asyncio.TimerHandle | None = None

    @property
    def limit(self) -> int:
        """How many calls may be under way now."""
        return int(self._limit)

    async def take(self, deadline: Deadline) -> None:
        """Wait until one more call may be under way; raise where none may begin any more."""
        deadline.check()
        if self._may_begin:
            self.under_way += 1
        else:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                # A bound costs as much as all the rest: only those have one that wait.
                async with deadline.waiting():
                    await turn  # whoever ends it has counted this call
            except BaseException:
                if turn.done() and not turn.cancelled():
                    self.under_way -= 1
                    self._wake()
                raise
        if self._alone and self._opening is None:
            # A slow first answer must not hold up the others for long.
            loop = asyncio.get_running_loop()
            self._opening = loop.call_later(_ALONE_S, self._open_for_others)

    def give(self) -> None:
        """End a call, and let those begin that may now."""
        if self._opening is not None:
            self._opening.cancel()
            self._opening = None
        self.under_way -= 1
        self._wake()

    @property
    def _may_begin(self) -> bool:
        return self._is_over() or self.under_way < self.limit

    def _wake(self) -> None:
        while self._waiting and self._may_begin:
            turn = self._waiting.popleft()
            if not turn.done():  # else nobody waits any more
                turn.set_result(None)
                self.under_way += 1

    def _open_for_others(self) -> None:
        self.let_others_begin()
        self._wake()

    def let_others_begin(self) -> None:
        """End the time of the first call, which is made alone."""
        if self._alone:
            self._alone, self._limit = False, float(self._most)

    def allow_one(self) -> None:
        """Let one call be under way, and no more from now on."""
        self._most, self._limit = 1, 1.0

    def halve(self, started: float, now: float) -> None:
        """Halve them for a call that began at ``started``.

        Calls that were under way when they were halved last bring no news.
        """
        if started >= self._halved_at:
            self._limit, self._halved_at = max(1.0, self._limit / 2), now

    def add(self) -> None:
        """Add the share of an answer."""
        self._limit = min(float(self._most), self._limit + 1 / self._limit)


class Throttle:
    """The calls of one judge in one process: their concurrency, their pace, their retries.

    It lives as long as the session: pace and back-off continue from one suite to the next. At most
    ``concurrency`` calls run at once; ``budget`` holds the user's limits, and this number of
    processes are ``sharing`` the judge's limits.

    Attributes:
        ended: why the judge is not to be asked again; ``None`` if it may be.
        serial: whether calls are made one at a time, since the judge is a synchronous function.
    """

    def __init__(
        self,
        spec: JudgeSpec,
        concurrency: int,
        *,
        budget: Budget | None = None,
        sharing: int = 1,
    ) -> None:
        self.budget = budget or Budget()
        self.ended: JudgeError | None = None
        self.serial = False
        self._spec = spec
        # Further calls to a model on this machine would only queue until they time out.
        concurrency = PARALLEL_CALLS if spec.provider == "local" else concurrency
        self._most = spec.concurrency or concurrency
        self._sharing = sharing
        self._beside: dict[str, Throttle] = {}
        self._requests, self._tokens = (
            _Pace(most / sharing) if most else None
            for most in (spec.requests_per_minute, spec.tokens_per_minute)
        )
        # A callable asks whom it likes: no first call.
        self._turns = _Turns(self._most, self._is_over, alone=spec.provider != "callable")
        self._paused_until = 0.0
        self._answered = False
        self._endings = 0
        self._failures = 0

    @property
    def longest_s(self) -> float:
        """The most seconds until the calls under way have come to their end; 0 if none is."""
        beside = max((throttle.longest_s for throttle in self._beside.values()), default=0.0)
        return max(self._spec.timeout_s if self._turns.under_way else 0.0, beside)

    @property
    def timeout_s(self) -> float:
        """The most seconds that a call may take."""
        return max([self._spec.timeout_s, *(each.timeout_s for each in self._beside.values())])

    @property
    def concurrency(self) -> int:
        """How many calls may be under way now."""
        return self._turns.limit

    def one_at_a_time(self) -> None:
        """Let one call be under way, and no more: code that is not async may not expect another."""
        self.serial, self._most = True, 1
        self._turns.allow_one()

    def _is_over(self) -> bool:
        return self.ended is not None

    def end(self, error: JudgeError) -> None:
        """Ask the judge no more: somebody else has found that it cannot be."""
        self.ended = self.ended or error

    def beside(self, spec: JudgeSpec) -> Throttle:
        """The calls of another judge on behalf of this one: its own pace, the same limits."""
        return self._beside.setdefault(
            spec.name, Throttle(spec, self._most, budget=self.budget, sharing=self._sharing)
        )

    async def call(
        self,
        once: Callable[[], Awaitable[Answer]],
        *,
        tokens: int = 0,
        most_usd: float | None = None,
        cost: Callable[[Answer], float | None] = lambda _: None,
    ) -> Answer:
        """The result of ``once``, one call, repeated if that may help.

        It takes at most ``tokens`` for the pace and ``most_usd``; ``cost`` returns the real cost,
        ``None`` if that is not known.

        Raises:
            LimitReached: a call more would pass a limit of the user.
            JudgeError: the judge cannot be asked at all.
        """
        sent = timed_out = 0

        async def attempt() -> Answer:
            nonlocal sent, timed_out
            # As in `permit`, without what a context manager costs for each call.
            await self._turns.take(self.budget.deadline)
            try:
                await self._not_paused(self.budget.deadline)
                started = time.monotonic()
                await self.admitted(tokens, most_usd)
                sent += 1
                spent = most_usd  # the cost of an aborted call is unknown
                try:
                    answer = await once()
                    spent = cost(answer)
                finally:
                    self.budget.settle(most_usd, spent)
                timed_out += answer.late
                self.learn(answer, started)
                return answer
            finally:
                await self._give_turn()

        try:
            last = await attempt()
            if _worth_a_retry(last):
                last = await self._retried(last, attempt)
        except LimitReached as limit:
            limit.requests = RequestCount(sent, max(sent - 1, 0), timed_out)
            raise
        self._failures = 0 if last.kind in ("answer", "fail") else self._failures + 1
        return replace(last, sent=sent, timed_out=timed_out)

    async def _retried(self, first: Answer, again: Callable[[], Awaitable[Answer]]) -> Answer:
        """The last of the attempts that begin with ``first`` and go on with ``again``."""
        from tenacity import AsyncRetrying, retry_if_result  # most calls are made once

        unread = [first]

        async def attempt() -> Answer:
            return unread.pop() if unread else await again()

        most = self._spec.max_retries
        retrying = AsyncRetrying(
            retry=retry_if_result(_worth_a_retry),
            stop=lambda state: (
                state.attempt_number > (min(most, _LATE) if _attempt_of(state).late else most)
                or self._failures >= _DOWN
            ),
            wait=_wait,
            sleep=self._sleep,
            before=lambda state: self.budget.retried() if state.attempt_number > 1 else None,
            retry_error_callback=_attempt_of,
        )
        last: Answer = await retrying(attempt)
        return replace(last, retried=retrying.statistics["attempt_number"] - 1)

    @asynccontextmanager
    async def permit(self, *, begun: bool = False) -> AsyncIterator[float]:
        """A permit for one call; yields the moment at which it was given.

        One of a trial that has ``begun`` is given though the deadline has passed.

        Raises:
            LimitReached: the deadline has passed.
            JudgeError: the judge has been found not to be askable.
        """
        deadline = NO_DEADLINE if begun else self.budget.deadline
        await self._turns.take(deadline)
        try:
            await self._not_paused(deadline)
            yield time.monotonic()
        finally:
            await self._give_turn()

    async def _give_turn(self) -> None:
        try:
            await self.budget.flush_recordings()
        finally:
            self._turns.give()

    async def admitted(self, tokens: int, most_usd: float | None, *, begun: bool = False) -> None:
        """Wait until a call is in pace and booked; ``begun`` as of `permit`.

        Raises:
            LimitReached: it would pass a limit of the user.
            JudgeError: the judge has been found not to be askable.
        """
        deadline = NO_DEADLINE if begun else self.budget.deadline
        if self._requests or self._tokens:
            async with deadline.waiting():
                if self._requests:
                    await self._requests.take(1)
                if self._tokens:
                    await self._tokens.take(tokens)
        await self._not_paused(deadline)
        # Bookings of a process that died remain: other processes wait for calls in flight to become
        # cheaper no longer than one call may take.
        until = time.monotonic() + self._spec.timeout_s
        while not self.budget.take(  # noqa: ASYNC110 - other processes book, and set no event
            self._spec, most_usd, patient=time.monotonic() < until, begun=begun
        ):
            await asyncio.sleep(0.02)

    async def _sleep(self, seconds: float, deadline: Deadline | None = None) -> None:
        async with (deadline or self.budget.deadline).waiting():
            await asyncio.sleep(seconds)

    def learn(self, attempt: Answer, started: float) -> None:
        """Apply the result of an attempt, begun at ``started``, to later calls.

        Raises:
            JudgeError: the judge is not to be asked again.
        """
        if attempt.kind == "end":
            self._endings += 1
            if not self._answered or self._endings >= _ENDED:
                spec, reply = self._spec, attempt.reply
                reason = reply.reason if isinstance(reply, Failed) else ""
                setting = setting_to_change(reason)
                fix = f"in {table_of(spec.name)}: {setting}" if setting else _FIX
                self.ended = JudgeError(
                    f"judge {spec.name!r} cannot be asked",
                    found=reason,
                    expected=f"an answer of {spec.base_url or spec.provider} to {spec.model}",
                    remedy=f"{fix}; no more calls were made, and with --judge-mode record the "
                    "answers so far are kept",
                )
                raise self.ended
        self._turns.let_others_begin()
        if attempt.late or attempt.timed_out:
            self.budget.timed_out()
        if attempt.overloaded:
            now = time.monotonic()
            if attempt.wait_s and attempt.wait_s <= _LONGEST_WAIT_ASKED_S:
                self._paused_until = max(self._paused_until, now + attempt.wait_s)
            self._turns.halve(started, now)
        elif attempt.kind == "answer":
            self._answered, self._endings = True, 0
            self._turns.add()

    async def _not_paused(self, deadline: Deadline) -> None:
        """Wait as long as the endpoint has asked for; raise if the judge or the time has ended."""
        deadline.check()
        while self.ended is None and self._paused_until > time.monotonic():
            left = self._paused_until - time.monotonic()  # it may grow meanwhile
            await self._sleep(left * random.uniform(1.0, 1.1), deadline)
        if self.ended is not None:
            # One error, raised in many tasks, would collect all their frames.
            raise self.ended.with_traceback(None)


def _worth_a_retry(attempt: Answer) -> bool:
    return attempt.kind == "retry" and (attempt.wait_s or 0.0) <= _LONGEST_WAIT_ASKED_S


def _attempt_of(state: RetryCallState) -> Answer:
    assert state.outcome is not None, "tenacity asks after an attempt"
    attempt: Answer = state.outcome.result()
    return attempt


def _wait(state: RetryCallState) -> float:
    """The wait before the next call: full jitter, and never less than the endpoint asks for."""
    from tenacity import wait_random_exponential

    wait_s = _attempt_of(state).wait_s
    jittered = wait_random_exponential(multiplier=_FIRST_WAIT_S, max=_LONGEST_WAIT_S)(state)
    return jittered if wait_s is None else wait_s + min(jittered, wait_s / 10)
