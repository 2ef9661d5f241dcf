"""One event loop for all asking, in a thread of its own, and how an interrupt ends it.

Because the loop has a separate thread, it serves synchronous tests and tests with a running loop of
their own.

The first interrupt (Ctrl-C; SIGTERM where the session has taken it) lets nothing begin any more and
waits for the calls under way: they are paid for, and recorded when they have come to their end,
which their ``timeout_s`` bounds. The second one ends at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterable
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, Final, TypeVar

from pytest_judgesense.judges.apart import Apart, LoopThread, running_in

_T = TypeVar("_T")
_LOOK_UP_S: Final = 0.25
_PATIENCE_S: Final = 10.0


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
    """The event loop of all calls. Judges' own code runs beside it, see `apart`.

    Attributes:
        on_wait: called a few times a second by the thread that waits in `run`; if it raises
            ``KeyboardInterrupt``, that is an interrupt.
        on_interrupt: called at the first interrupt, and to let no call begin any more; without it
            an interrupt ends at once.
        around: makes a context for the time of each `run`.
    """

    def __init__(
        self,
        on_wait: Callable[[], None] = lambda: None,
        on_interrupt: Callable[[], None] | None = None,
        around: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        super().__init__("judgesense-asking")
        self.on_wait = on_wait
        self.on_interrupt = on_interrupt
        self.around = around
        self._apart = Apart(beside=True)
        self._under_way: set[Future[Any]] = set()
        self._interrupted = False

    def submit(self, coroutine: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Start ``coroutine`` on the loop; its result is in the future."""
        with running_in(self._apart):
            future = super().submit(coroutine)
        self._under_way.add(future)
        future.add_done_callback(self._under_way.discard)
        return future

    def run(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        """Run ``coroutine`` to its end and return its result.

        The first interrupt lets the calls under way come to their end, and is then raised. Another
        one cancels them, and waits until they have cleaned up or for `_PATIENCE_S`.
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
                self.on_interrupt()
                self.wait_for(self._under_way)
        finally:
            self._cancel(self._under_way)

    def wait_for(self, futures: Collection[Future[Any]]) -> None:
        """Wait until all are done; their results are read elsewhere."""
        while wait(list(futures), _LOOK_UP_S).not_done:
            self.on_wait()

    def _cancel(self, futures: Collection[Future[Any]]) -> None:
        left = [future for future in list(futures) if not future.done()]
        if not left:
            return
        for future in left:
            future.cancel()
        with suppress(TimeoutError):
            self.submit(_drained()).result(timeout=_PATIENCE_S + 1)

    def close(self, status: int = 1) -> None:
        """End the loops and their threads; a loop that was never used has nothing to end.

        If judges' code delays the end of the process, the process exits with ``status``.
        """
        super().close()
        self._apart.close(status)


async def _drained() -> None:
    """Wait until all other tasks of the loop have cleaned up."""
    if others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others, timeout=_PATIENCE_S)
