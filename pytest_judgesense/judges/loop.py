"""One event loop for all asking, in a thread of its own.

A judge's module-level async client belongs to the loop of its first use: a second ``asyncio.run``
would find it dead. In a thread of its own, the loop serves synchronous tests and tests whose own
loop is running alike.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Future, wait
from typing import Any, Final, TypeVar

from pytest_judgesense.cassettes.offline import socket_pairs

_T = TypeVar("_T")
_LOOK_UP_S: Final = 0.25


async def together(coroutines: Iterable[Coroutine[Any, Any, _T]]) -> list[_T]:
    """The results of all, in their order; if one raises, the others are ended before it does."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


class AskingLoop:
    """An event loop in a daemon thread, started at its first use, ended by `close`.

    ``on_wait`` is called a few times a second by the thread that waits in `run`.
    """

    def __init__(self) -> None:
        self.on_wait: Callable[[], None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def submit(self, coroutine: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Start ``coroutine`` on the loop; its result is in the future."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._running())

    def run(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        """Run ``coroutine`` to its end and return its result.

        An interrupt cancels it and waits until it has cleaned up.
        """
        future = self.submit(coroutine)
        try:
            while self.on_wait is not None and wait([future], _LOOK_UP_S).not_done:
                self.on_wait()
            return future.result()
        except BaseException:
            if not future.done():
                future.cancel()
                self.submit(_drained()).result()
            raise

    def close(self) -> None:
        """End the loop and its thread; a loop that was never used has nothing to end."""
        if self._loop is None or self._thread is None:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        self._loop.close()
        self._loop = self._thread = None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._loop is None:
                with socket_pairs():  # it wakes itself up by one
                    self._loop = asyncio.new_event_loop()
                run = self._loop.run_forever
                self._thread = threading.Thread(target=run, name="judgesense-asking", daemon=True)
                self._thread.start()
            return self._loop


async def _drained() -> None:
    """Wait until all other tasks of the loop have cleaned up."""
    if others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others, timeout=10)
