"""No wait for a call outlasts the deadline of its session."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from pytest_judgesense.errors import LimitReached
from pytest_judgesense.judges import throttle as throttle_module
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import Answer, Budget, Deadline, SessionBudget, Throttle
from pytest_judgesense.trial import Failed

SPEC = JudgeSpec("mine", "openai", "m")


async def _pace(throttle: Throttle) -> None:
    """One call a minute: the second would wait for a minute."""
    slow = Throttle(replace(SPEC, requests_per_minute=1), 2, budget=throttle.budget)
    await slow.call(_answer)
    await slow.call(_answer)


async def _retry(throttle: Throttle) -> None:
    """The endpoint asks to be asked again in a minute."""

    async def busy() -> Answer:
        return Answer(Failed("busy"), kind="retry", wait_s=60.0)

    await throttle.call(busy)


async def _pause(throttle: Throttle) -> None:
    """The endpoint asks everybody to wait for a minute."""
    throttle.learn(
        Answer(Failed("busy"), kind="retry", overloaded=True, wait_s=60.0), time.monotonic()
    )
    await throttle.call(_answer)


async def _place(throttle: Throttle) -> None:
    """Another call has the only place."""
    ended = asyncio.Event()

    async def long() -> Answer:
        await ended.wait()
        return await _answer()

    other = asyncio.ensure_future(throttle.call(long))
    await asyncio.sleep(0)
    try:
        await throttle.call(_answer)
    finally:
        ended.set()
        assert (await other).reply == Reply("YES")  # what was under way comes to its end


async def _answer() -> Answer:
    return Answer(Reply("YES"))


@pytest.mark.parametrize("waits", [_pace, _retry, _pause, _place])
def test_a_wait_ends_with_the_deadline(waits: Callable[[Throttle], Awaitable[None]]) -> None:
    async def waiting() -> None:
        # Long before what is waited for, and long enough for a busy machine.
        async with asyncio.timeout(30):
            await waits(Throttle(SPEC, 1, budget=Budget(Deadline(0.2, 0.2))))

    with pytest.raises(LimitReached, match=r"--judge-deadline 0\.2 is reached"):
        asyncio.run(waiting())


@pytest.mark.parametrize("waits", [_pace, _retry, _pause, _place])
def test_a_wait_ends_with_an_interrupt(waits: Callable[[Throttle], Awaitable[None]]) -> None:
    deadline = Deadline()

    async def waiting() -> None:
        # From another thread, as the session's main thread does it.
        asyncio.get_running_loop().run_in_executor(None, _interrupt_soon, deadline)
        async with asyncio.timeout(30):
            await waits(Throttle(SPEC, 1, budget=Budget(deadline)))

    with pytest.raises(LimitReached, match="the session was interrupted"):
        asyncio.run(waiting())


def _interrupt_soon(deadline: Deadline) -> None:
    time.sleep(0.2)
    deadline.interrupt()


def test_after_an_interrupt_no_call_begins() -> None:
    deadline = Deadline()
    deadline.interrupt()
    with pytest.raises(LimitReached, match="the session was interrupted"):
        asyncio.run(Throttle(SPEC, 1, budget=Budget(deadline)).call(_answer))


def test_a_slow_first_answer_holds_up_the_others_for_a_while_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(throttle_module, "_ALONE_S", 0.05)

    async def asking() -> None:
        throttle, others = Throttle(SPEC, 3), asyncio.Event()
        begun = 0

        async def slow() -> Answer:
            nonlocal begun
            begun += 1
            if begun == 3:
                others.set()
            # The first ends when the others have begun, which they do beside it.
            await others.wait()
            return await _answer()

        async with asyncio.timeout(30):
            await asyncio.gather(*(throttle.call(slow) for _ in range(3)))

    asyncio.run(asking())


def test_without_a_deadline_nothing_ends() -> None:
    assert asyncio.run(Throttle(SPEC, 1).call(_answer)).reply == Reply("YES")
    Deadline().check()
    Deadline(60.0, 60.0).check()


def test_an_answer_counts_the_requests_that_were_sent_as_the_limit_of_calls_does() -> None:
    late = Answer(Failed("no answer in time"), kind="retry", late=True)
    outcomes = iter([late, Answer(Reply("YES"), made=True)])

    async def once() -> Answer:
        return next(outcomes)

    budget = SessionBudget(2, None)
    throttle = Throttle(SPEC, 1, budget=budget)
    answer = asyncio.run(throttle.call(once))
    # One without an answer in time, and its retry: both of the two that may be made.
    assert answer.requests == (2, 1, 1)
    with pytest.raises(LimitReached, match="--judge-max-calls 2 is reached"):
        asyncio.run(throttle.call(once))
