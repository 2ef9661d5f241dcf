"""The trial of the running code: a context variable, also for its threads.

The id of a trial is never in the request. It is in the context of the calling code: coroutines and
tasks inherit it, and `following_threads` gives threads and executor jobs a copy of the context of
the code that starts them.

Texts exchanged in what a function sends: a prompt in a user's own code, changed on its way.

A function that has its prompt in its code cannot be given another one. Its requests can: what is
sent, recorded and found on replay is the request with the texts exchanged. Everything else of a
body stays byte by byte as it was.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from asyncio import CancelledError
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import KW_ONLY, dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from pytest_judgesense.cassettes.bodies import MOST_BYTES
from pytest_judgesense.errors import JudgesenseError

if TYPE_CHECKING:
    from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest


# A string of JSON; what follows tells a key.
_STRING: Final = re.compile(rb'("(?:[^"\\]|\\.)*")(\s*:)?', re.DOTALL)


def exchanged(body: bytes, edits: Iterable[tuple[str, str]]) -> tuple[bytes, set[str]]:
    """The body with each old text replaced by its new one, and the old texts that it holds.

    A text is a whole string of JSON, however its letters are escaped, and stays within longer ones;
    where it is none, it is looked for within them. Keys stay. A new text is not searched again.
    """
    new_of, held = dict(edits), set[str]()
    strings = {text for match in _STRING.finditer(body) if (text := _value(match)) is not None}
    parts = sorted((old for old in new_of if old and old not in strings), key=len, reverse=True)
    within = re.compile("|".join(map(re.escape, parts)))

    def replaced(match: re.Match[str]) -> str:
        held.add(match[0])
        return new_of[match[0]]

    def changed(match: re.Match[bytes]) -> bytes:
        old = _value(match)
        if old in new_of:
            held.add(old)
            new = new_of[old]
        elif old is None or not parts or (new := within.sub(replaced, old)) == old:
            return match[0]
        return json.dumps(new, ensure_ascii=match[1].isascii()).encode()

    return _STRING.sub(changed, body), held


def _value(match: re.Match[bytes]) -> str | None:
    """What a string says; ``None`` for a key, and for what is no string."""
    with suppress(ValueError):
        return None if match[2] else str(json.loads(match[1]))
    return None


_Error = TypeVar("_Error", bound=JudgesenseError)
_Value = TypeVar("_Value")

# Where every import of a module passes through.
_IMPORT: Final = "<frozen importlib._bootstrap>"
_CURRENT: Final[ContextVar[CallScope | None]] = ContextVar("judgesense_trial", default=None)


class Abandoned(Exception):
    """A request of a recorded trial is not the recorded one: the trial is to be asked anew.

    Raised in the judge's code, before the request is made, and by each further one of the attempt.
    """


@dataclass(eq=False)
class CallScope:
    """One attempt at one trial, with its requests so far. Thread-safe.

    Another cassette than its ``owner`` leaves its requests alone. ``settled`` says that the trial
    is complete, ``after`` is its highest call number; a ``replaying`` scope makes no connection.
    One of modules that are imported (``imports``) fails to connect as it does without a network,
    which modules that fetch something expect. An ``anew`` one finds nothing recorded: all its
    calls are made. One that ``lends_keys`` gives its code placeholders for keys that are not set.
    """

    trial: str
    owner: object
    _: KW_ONLY
    settled: bool = False
    after: int = 0
    replaying: bool = False
    imports: bool = False
    lends_keys: bool = False
    anew: bool = False
    # Whether it runs a function of the user, all of whose requests have to be seen.
    of_function: bool = False
    # The first error of a lookup or of a refused connection. A client may have swallowed or
    # retried it, so the caller raises it when the judge returns.
    error: JudgesenseError | None = None
    # Whether the trial has ended: a thread may outlive it.
    closed: bool = False
    # Whether the attempt was given up, since a request of it is not the recorded one.
    abandoned: bool = False
    # Whether an endpoint has responded to a request that was made; whether the return is recorded.
    responded: bool = False
    returned: bool = False
    # What the function has returned, call by call; whether it has not, within its time.
    returns: list[str] = field(default_factory=list)
    out_of_time: bool = False
    # Requests that the recording does not answer, and answers that were lent from elsewhere.
    missed: list[RecordedRequest] = field(default_factory=list)
    lent: list[Exchange] = field(default_factory=list)
    # Asked before each request that is to be made; raises where it must not be.
    permit: Callable[[], None] = lambda: None
    # The fault of a response that holds no reply despite its status.
    fault_of: Callable[[int, str | bytes], str | None] = lambda _status, _body: None
    # The most bytes that a response's body may have, on the wire and decoded.
    most_bytes: int = MOST_BYTES
    # Texts that are exchanged in the requests, old and new; the old ones that a request has held.
    edits: tuple[tuple[str, str], ...] = ()
    exchanged: set[str] = field(default_factory=set)
    # HTTP requests of clients that came here, and those that were not recorded and so made.
    intercepted: int = 0
    made: int = 0
    _digests: dict[str, int] = field(default_factory=dict)
    _first: Callable[[], str] | None = None
    _calls: int = 0

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        # The requests under way by their number, each with the moment at which it was made.
        self._under_way: dict[int, tuple[Any, float]] = {}
        self._end: Future[None] | None = None

    @property
    def needs_no_key(self) -> bool:
        """Whether all that its code asks is recorded, as far as is known before it asks."""
        is_recorded = self.of_function and self.settled and not self.anew
        return self.replaying or self.lends_keys or is_recorded

    @property
    def importing(self) -> CallScope | None:
        """The scope of modules that the trial imports: no trial, and without network in replays."""
        if not self.needs_no_key:
            return None
        return CallScope(self.trial, None, replaying=self.replaying, imports=True, lends_keys=True)

    @property
    def end(self) -> Future[None]:
        """What ends with the trial; nobody who waits for it can cancel it."""
        with self._lock:
            if self._end is None:  # as of nearly every trial: few requests wait for it
                self._end = Future()
                self._end.set_running_or_notify_cancel()
                if self.closed:
                    self._end.set_result(None)
            return self._end

    @property
    def digests(self) -> frozenset[str]:
        """Digests of all requests."""
        with self._lock:
            self._count_first()
            return frozenset(self._digests)

    def asked_first(self, digest: Callable[[], str]) -> bool:
        """Count a request as the first one; ``False``, uncounted, if it is not.

        ``digest`` is computed when a second request has to be compared, which is hardly ever.
        """
        with self._lock:
            if self._calls:
                return False
            self._calls, self._first = 1, digest
            return True

    def _count_first(self) -> None:
        if self._first is not None:
            self._digests[self._first()] = 1
            self._first = None

    def asked(self, digest: str) -> tuple[int, int]:
        """Count a request: its number within the trial, from 1, and its occurrence, from 0."""
        with self._lock:
            self._count_first()
            occurrence = self._digests.get(digest, 0)
            self._digests[digest] = occurrence + 1
            self._calls += 1
            return self._calls, occurrence

    def intercept(self) -> None:
        """Count an HTTP request of a client."""
        with self._lock:
            self.intercepted += 1

    def edited(self, body: bytes) -> bytes:
        """The body of a request as it is to be sent."""
        if not self.edits:
            return body
        body, held = exchanged(body, self.edits)
        with self._lock:
            self.exchanged |= held
        return body

    def make(self) -> int:
        """Count a request that is to be made: the call number under which it is recorded.

        Raises:
            LimitReached: it must not be made.
        """
        self.ask_permission()
        with self._lock:
            self.made += 1
            return self.after + self.made

    def ask_permission(self) -> None:
        """Ask whether a request may be made; whoever counts them is no code of the trial."""
        with entered(None):
            self.permit()

    def begin(self, number: int, call: Any) -> None:
        """Note that a request is under way."""
        with self._lock:
            self._under_way[number] = call, time.monotonic()

    def come_to_end(self, number: int) -> float | None:
        """The seconds that a request took to its end; ``None`` if its end is known already."""
        with self._lock:
            _, begun = self._under_way.pop(number, (None, None))
        return None if begun is None else time.monotonic() - begun

    def under_way(self) -> list[Any]:
        """The requests that have not come to their end, in the order of their numbers."""
        with self._lock:
            return [call for _, (call, _) in sorted(self._under_way.items())]

    def close(self) -> None:
        """End the trial: code that outlives it records nothing, and what waits for it goes on."""
        with self._lock:
            self.closed, end = True, self._end
        if end is not None:
            end.set_result(None)

    def remember(self, error: _Error) -> _Error:
        """Keep ``error`` if it is the first one; returns it."""
        with self._lock:
            self.error = self.error or error
        return error


# The client whose code runs; its connections are those of a request that is seen.
AT_WORK: Final[ContextVar[object]] = ContextVar("judgesense_client_at_work", default=None)


def current_scope() -> CallScope | None:
    """The scope of the running code; ``None`` outside every trial.

    A module that is imported within a trial is not of it: what it fetches would be missing where
    another trial comes first, as litellm's list of prices.
    """
    scope = _CURRENT.get()
    return scope.importing if scope is not None and _is_importing() else scope


def _is_importing() -> bool:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename == _IMPORT:
            return True
        frame = frame.f_back
    return False


class held(Generic[_Value]):  # noqa: N801 - a context manager, and a class since that is quicker
    """Let a context variable have ``value`` in the code of this block, and all that it starts."""

    __slots__ = ("_token", "_value", "_variable")

    def __init__(self, variable: ContextVar[_Value], value: _Value) -> None:
        self._variable, self._value = variable, value

    def __enter__(self) -> None:
        self._token = self._variable.set(self._value)

    def __exit__(self, *raised: object) -> None:
        self._variable.reset(self._token)


def entered(scope: CallScope | None) -> held[CallScope | None]:
    """Let the code of a block, and all that it starts, belong to ``scope``."""
    return held(_CURRENT, scope)


@contextmanager
def following_threads() -> Iterator[None]:
    """Let threads and executor jobs that a trial starts belong to it, while this block runs."""
    from unittest import mock

    start, submit = threading.Thread.start, ThreadPoolExecutor.submit

    def following_start(thread: threading.Thread) -> None:
        if (scope := current_scope()) is not None:
            with entered(scope):
                context, run = copy_context(), thread.run

            def run_in_context() -> None:
                del thread.run  # else thread and closure would keep each other alive
                try:
                    context.run(run)
                except CancelledError:  # its request waited for the end of a replayed trial
                    if not scope.closed:
                        raise

            # On the instance, because a subclass may override `run`.
            thread.run = run_in_context  # type: ignore[method-assign]
        start(thread)

    def following_submit(
        executor: ThreadPoolExecutor, job: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> Future[Any]:
        if (scope := current_scope()) is None:
            return submit(executor, job, *args, **kwargs)
        with entered(scope):
            context = copy_context()
        # The worker thread that this may start serves later trials too: it belongs to none.
        with entered(None):
            return submit(executor, context.run, job, *args, **kwargs)

    with (
        mock.patch.object(threading.Thread, "start", following_start),
        mock.patch.object(ThreadPoolExecutor, "submit", following_submit),
    ):
        yield
