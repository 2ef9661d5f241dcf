"""One event loop for all asking, the threads in which judges' own code runs, and how both end.

Because the loop has a separate thread, it serves synchronous tests and tests with a running loop of
their own.

The first interrupt (Ctrl-C; SIGTERM where the session has taken it) lets nothing begin any more and
waits for the calls under way, and for the functions that have started: they are paid for, and
recorded when they have come to their end, which their ``timeout_s`` bounds. The second one ends at
once.

The function of a judge runs beside that loop, with a time limit (`FunctionRunner`). One that does
not return cannot be stopped. So it is waited for until its time is up and then abandoned: a
synchronous function runs in a separate daemon thread, which does not delay the end of the process;
a coroutine runs on a separate event loop, which it may block without delaying anything else. That
loop lives as long as the session, because a judge's module-level async client belongs to the loop
of its first use.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
import threading
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext, suppress
from contextvars import ContextVar, copy_context
from functools import partial
from math import inf
from queue import SimpleQueue
from threading import Event, Lock, Thread
from time import monotonic, sleep
from typing import Any, Final, TypeAlias, TypeVar

from pytest_judgesense.cassettes.offline import socket_pairs
from pytest_judgesense.cassettes.scope import entered, held
from pytest_judgesense.errors import reason_of

_T = TypeVar("_T")
_Job: TypeAlias = tuple[Callable[[], Any], Future[Any]]

# After this many calls that have not returned, the session calls no more functions: each keeps a
# thread and its resources.
_MOST_LEFT: Final = 32
# How long the end of a loop is waited for, and at last that of the threads of others.
_PATIENCE_S: Final = 5.0
# How long calls that were cancelled have to clean up.
_CLEANING_S: Final = 10.0
_LOOK_UP_S: Final = 0.25


class OutOfTime(Exception):
    """The code of a judge has not returned in its time, or is called no more; says which."""


class LoopThread:
    """An event loop in a daemon thread, started at its first use, ended by `close`."""

    def __init__(self, name: str, executor: ThreadPoolExecutor | None = None) -> None:
        self._name, self._executor = name, executor
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None
        self._lock = Lock()

    def submit(self, coroutine: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Start ``coroutine`` on the loop; its result is in the future."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._running())

    def close(self) -> None:
        """End the loop and its thread; a loop that was never used has nothing to end."""
        if self._loop is None or self._thread is None:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=_PATIENCE_S)
        if not self._thread.is_alive():  # else somebody's code blocks it
            self._loop.close()
        self._loop = self._thread = None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                with socket_pairs():  # it wakes itself up by one
                    self._loop = asyncio.new_event_loop()
                if self._executor is not None:
                    self._loop.set_default_executor(self._executor)
                self._thread = Thread(
                    target=_serve, args=(self._loop,), name=self._name, daemon=True
                )
                with entered(None):  # it serves later trials too: it belongs to none
                    self._thread.start()
            return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop until it is stopped; pending tasks that have not begun are cancelled.

    User code may have blocked it until then. Python would warn of coroutines that were never
    awaited, in unrelated code.
    """
    loop.run_forever()
    unbegun = [
        task
        for task in asyncio.all_tasks(loop)
        if inspect.iscoroutine(code := task.get_coro())
        and inspect.getcoroutinestate(code) == inspect.CORO_CREATED
    ]
    for task in unbegun:
        task.cancel()
    # In the first round a cancelled task ends before its first step; in the second its waiter is
    # notified.
    for _ in range(2 if unbegun else 0):
        loop.call_soon(loop.stop)
        loop.run_forever()


class _Threads(ThreadPoolExecutor):
    """Daemon threads, as many as needed; an idle thread waits for the next job.

    No thread is lost to the others by a job that does not end, and the end of the process waits for
    none, as it does for those of a plain executor.
    """

    def __init__(self) -> None:
        super().__init__()
        self._idle: list[SimpleQueue[_Job | None]] = []
        self._ended = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run ``fn`` in this context; its result is in the future."""
        done: Future[Any] = Future()
        try:
            jobs = self._idle.pop()
        except IndexError:
            jobs = SimpleQueue()
            thread = Thread(target=self._work, args=(jobs,), name="judgesense-judge", daemon=True)
            with entered(None):
                thread.start()
        jobs.put((partial(copy_context().run, fn, *args, **kwargs), done))
        return done

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the threads end; those at work when they have done it."""
        self._ended = True
        while self._idle:
            self._idle.pop().put(None)

    def _work(self, jobs: SimpleQueue[_Job | None]) -> None:
        while (job := jobs.get()) is not None:
            run, done = job
            if done.set_running_or_notify_cancel():
                try:
                    value = run()
                except BaseException as error:  # noqa: BLE001 - whoever waits for it gets it
                    tell = partial(done.set_exception, error)
                else:
                    tell = partial(done.set_result, value)
                self._idle.append(jobs)
                tell()
                del tell
            else:
                self._idle.append(jobs)
            del job, run, done  # an idle thread keeps nothing alive
            if self._ended:
                return


class FunctionRunner(LoopThread):
    """Where the functions of judges run; see the head of this module.

    Coroutines run on the calling loop unless they run ``beside`` it.

    Attributes:
        left: calls that have not returned in their time, nor since.
    """

    def __init__(self, *, beside: bool) -> None:
        self._threads = _Threads()
        super().__init__("judgesense-judges", self._threads)
        self._beside = beside
        self._has_left = False
        self.left: set[Future[Any]] = set()

    def close(self, status: int = 1) -> None:
        """End everything that can be ended; code that does not return is left to the process.

        Threads that it has started may hold that up: then it ends with ``status``.
        """
        self._threads.shutdown()
        super().close()
        if self._has_left:
            ending = Event()
            # As executors do: they wait for their threads before the main thread counts as over.
            threading._register_atexit(ending.set)  # type: ignore[attr-defined]
            Thread(target=_end_anyway, args=(ending, status), daemon=True).start()

    async def call(
        self, function: Callable[[], Any], seconds: float, is_async: bool | None = None
    ) -> Any:
        """The result of ``function``, awaited if it is awaitable.

        One that ``is_async`` is called here, any other in a thread; ``None``: it shows itself.

        Raises:
            OutOfTime: it takes longer than this number of ``seconds``.
        """
        if len(self.left) >= _MOST_LEFT:
            raise OutOfTime(f"not called: {len(self.left)} calls of judges have not returned")
        try:
            async with asyncio.timeout(seconds) as bound:
                if inspect.iscoroutinefunction(function) if is_async is None else is_async:
                    return await self._awaited(function)
                value = await self._come(self._threads.submit(_called, function))
                if inspect.isawaitable(value):
                    return await self._awaited(lambda: value)
                return value
        except TimeoutError as error:
            if not bound.expired():
                raise  # an exception of the judge's code
            self._has_left = True
            raise OutOfTime(f"no return within {seconds:g} s") from error

    async def _awaited(self, begin: Callable[[], Awaitable[Any]]) -> Any:
        # A separate task, so that a judge which cancels its task does not cancel this one.
        coming = _stayed(begin)
        task = asyncio.ensure_future(
            self._come(self.submit(coming)) if self._beside else coming,
        )
        try:
            return await task
        except Exception:
            raise
        except BaseException as error:
            current = asyncio.current_task()
            if not task.done() or (current is not None and current.cancelling()):
                raise  # the time is up, or the session ends
            raise _fault(error) from error

    async def _come(self, running: Future[Any]) -> Any:
        try:
            return await asyncio.wrap_future(running)
        finally:
            if not running.done():
                self.left.add(running)
                running.add_done_callback(self.left.discard)


def _end_anyway(ending: Event, status: int) -> None:
    """End the process where its end waits for threads that do not end."""
    ending.wait()
    sleep(_PATIENCE_S)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    exit_at_once(status)


def exit_at_once(status: int) -> None:
    """End this process with ``status``, whatever its other threads do.

    For a process that somebody else's code holds up: there is no other way to end its threads, and
    `sys.exit` waits for those that are no daemons.
    """
    os._exit(status)


def _called(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except Exception:
        raise
    except BaseException as error:
        raise _fault(error) from error


async def _stayed(begin: Callable[[], Awaitable[_T]]) -> _T:
    # Called here: a coroutine created earlier would cause a warning if this one is dropped.
    try:
        return await begin()
    except (SystemExit, KeyboardInterrupt) as error:  # with which a loop would end
        raise _fault(error) from error


def _fault(error: BaseException) -> Exception:
    """What no judge raises: ``sys.exit`` would end a thread, ``pytest.skip`` skip a check."""
    return RuntimeError(f"the judge raised {reason_of(error)}")


_RUNNER: Final[ContextVar[FunctionRunner | None]] = ContextVar("judgesense_functions", default=None)


def current_runner() -> FunctionRunner | None:
    """Where judges run for the code that asks; ``None`` outside of an `AskingLoop`."""
    return _RUNNER.get()


def _running_in(place: FunctionRunner) -> held[FunctionRunner | None]:
    """Let code started in a block find ``place`` by `current_runner`."""
    return held(_RUNNER, place)


async def together(coroutines: Iterable[Coroutine[Any, Any, _T]], at_once: int) -> list[_T]:
    """The results of all, in their order; if one raises, the others are ended before it does.

    At most so many run ``at_once``, and no more are taken of ``coroutines`` before one has ended.
    """
    results: dict[int, _T] = {}
    left = enumerate(coroutines)

    async def in_turn() -> None:
        for place, coroutine in left:
            # In a task of its own: what its code sets in its context is not seen by the next.
            results[place] = await asyncio.ensure_future(coroutine)

    tasks = [asyncio.ensure_future(in_turn()) for _ in range(at_once)]
    try:
        await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
    return [results[place] for place in sorted(results)]


class AskingLoop(LoopThread):
    """The event loop of all calls. Judges' own code runs beside it, see `current_runner`.

    Attributes:
        on_wait: called a few times a second by the thread that waits in `run`; if it raises
            ``KeyboardInterrupt``, that is an interrupt.
        on_interrupt: called at the first interrupt, and to let no call begin any more; returns for
            how many seconds those under way are waited for. Without it an interrupt ends at once.
        around: makes a context for the time of each `run`.
    """

    def __init__(
        self,
        on_wait: Callable[[], None] = lambda: None,
        on_interrupt: Callable[[], float] | None = None,
        around: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        super().__init__("judgesense-asking")
        self.on_wait = on_wait
        self.on_interrupt = on_interrupt
        self.around = around
        self._functions = FunctionRunner(beside=True)
        self._under_way: set[Future[Any]] = set()
        self._interrupted = False

    def submit(self, coroutine: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Start ``coroutine`` on the loop; its result is in the future."""
        with _running_in(self._functions):
            future = super().submit(coroutine)
        self._under_way.add(future)
        future.add_done_callback(self._under_way.discard)
        return future

    def run(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        """Run ``coroutine`` to its end and return its result.

        The first interrupt lets the calls under way come to their end, and is then raised. Another
        one cancels them, and waits until they have cleaned up or for `_CLEANING_S`.
        """
        future: Future[_T] | None = None
        with self.around():
            try:
                future = self.submit(coroutine)
                self.wait_for([future])
                return future.result()
            except KeyboardInterrupt:
                self.drain()
                raise
            except BaseException:
                self._cancel([future] if future else [])
                raise

    def drain(self) -> None:
        """Wait for all calls under way, and let none begin; at once where it was called before."""
        try:
            if self.on_interrupt is not None and not self._interrupted:
                self._interrupted = True
                # What comes at the last moment is still to be recorded.
                self.wait_for(self._under_way, self.on_interrupt() + _PATIENCE_S)
        finally:
            self._cancel(self._under_way)

    def wait_for(self, futures: Collection[Future[Any]], seconds: float = inf) -> None:
        """Wait until all are done, or for so many seconds; their results are read elsewhere."""
        until = monotonic() + seconds
        while wait(list(futures), _LOOK_UP_S).not_done and monotonic() < until:
            self.on_wait()

    def _cancel(self, futures: Collection[Future[Any]]) -> None:
        left = [future for future in list(futures) if not future.done()]
        if not left:
            return
        for future in left:
            future.cancel()
        with suppress(TimeoutError):
            self.submit(_drained()).result(timeout=_CLEANING_S + 1)

    def close(self, status: int = 1) -> None:
        """End the loops and their threads; a loop that was never used has nothing to end.

        If judges' code delays the end of the process, the process exits with ``status``.
        """
        super().close()
        self._functions.close(status)


async def _drained() -> None:
    """Wait until all other tasks of the loop have cleaned up."""
    if tasks := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(tasks, timeout=_CLEANING_S)
