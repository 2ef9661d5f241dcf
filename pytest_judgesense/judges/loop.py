"""One event loop for all asking, in a thread of its own.

In a thread of its own, the loop serves synchronous tests and tests whose own loop is running alike.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Any, Final, TypeVar

from pytest_judgesense.judges.apart import Apart, LoopThread, running_in

_T = TypeVar("_T")
_LOOK_UP_S: Final = 0.25
_PATIENCE_S: Final = 10.0


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


class AskingLoop(LoopThread):
    """The loop of all asking. What judges run of their own runs beside it, see `apart`.

    ``on_wait`` is called a few times a second by the thread that waits in `run`.
    """

    def __init__(self) -> None:
        super().__init__("judgesense-asking")
        self.on_wait: Callable[[], None] | None = None
        self._apart = Apart(beside=True)

    def submit(self, coroutine: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Start ``coroutine`` on the loop; its result is in the future."""
        with running_in(self._apart):
            return super().submit(coroutine)

    def run(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        """Run ``coroutine`` to its end and return its result.

        An interrupt cancels it and waits until it has cleaned up, or for `_PATIENCE_S`.
        """
        future = self.submit(coroutine)
        try:
            while self.on_wait is not None and wait([future], _LOOK_UP_S).not_done:
                self.on_wait()
            return future.result()
        except BaseException:
            if not future.done():
                future.cancel()
                with suppress(TimeoutError):
                    self.submit(_drained()).result(timeout=_PATIENCE_S + 1)
            raise

    def close(self, status: int = 1) -> None:
        """End the loops and their threads; a loop that was never used has nothing to end.

        A process whose end is held up by what judges have left running ends with ``status``.
        """
        super().close()
        self._apart.close(status)


async def _drained() -> None:
    """Wait until all other tasks of the loop have cleaned up."""
    if others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others, timeout=_PATIENCE_S)
