"""Whose turn it is: calls beyond the concurrency begin in the order in which they came."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import Throttle

# A callable asks whom it likes: no call of it goes first, alone.
SPEC = JudgeSpec("fn", "callable", "module:function")


def test_waiting_calls_begin_in_their_order_and_never_more_than_may() -> None:
    begun: list[int] = []

    async def main() -> int:
        throttle, under_way, most = Throttle(SPEC, 3), 0, 0

        async def call(number: int) -> None:
            nonlocal under_way, most
            async with throttle.permit():
                begun.append(number)
                under_way += 1
                most = max(most, under_way)
                await asyncio.sleep(0)
                under_way -= 1

        await asyncio.gather(*map(call, range(20)))
        return most

    assert asyncio.run(main()) == 3
    assert begun == list(range(20))


def test_a_call_that_is_cancelled_when_its_turn_has_come_gives_it_on() -> None:
    begun: list[str] = []

    async def main() -> None:
        throttle = Throttle(SPEC, 1)

        async def call(name: str) -> None:
            async with throttle.permit():
                begun.append(name)

        async with throttle.permit():
            waiting, cancelled, last = (asyncio.ensure_future(call(name)) for name in "abc")
            await asyncio.sleep(0)
            waiting.cancel()  # while it waits
        cancelled.cancel()  # it was let begin, and has not come to it
        async with asyncio.timeout(5):
            await last
        for task in (waiting, cancelled):
            with suppress(asyncio.CancelledError):
                await task
        async with asyncio.timeout(5), throttle.permit():  # none is lost
            begun.append("d")

    asyncio.run(main())
    assert begun == ["c", "d"]
