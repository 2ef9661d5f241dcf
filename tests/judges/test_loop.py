from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Coroutine, Iterator
from contextvars import ContextVar
from typing import Any

import pytest

from pytest_judgesense.judges.loop import AskingLoop, together


@pytest.fixture
def loop() -> Iterator[AskingLoop]:
    running = AskingLoop()
    yield running
    running.close()


async def _here() -> tuple[asyncio.AbstractEventLoop, int]:
    return asyncio.get_running_loop(), threading.get_ident()


def test_all_asking_runs_on_one_loop_in_a_thread_of_its_own(loop: AskingLoop) -> None:
    first, again = loop.run(_here()), loop.run(_here())
    assert first == again
    assert first[1] != threading.get_ident()


def test_it_serves_code_whose_own_loop_is_running(loop: AskingLoop) -> None:
    async def test_body() -> asyncio.AbstractEventLoop:
        own = asyncio.get_running_loop()
        asking, _ = await asyncio.wrap_future(loop.submit(_here()))
        assert asking is not own
        return asking

    assert asyncio.run(test_body()) is loop.run(_here())[0]


def test_a_client_of_one_call_serves_the_next(loop: AskingLoop) -> None:
    # A lock that was waited for belongs to the loop of that wait, like a pooled connection.
    async def contended(event: asyncio.Event) -> None:
        waiting = asyncio.ensure_future(event.wait())
        await asyncio.sleep(0)
        event.set()
        await waiting
        event.clear()

    shared = asyncio.Event()
    loop.run(contended(shared))
    loop.run(contended(shared))


def test_a_result_and_an_error_come_back(loop: AskingLoop) -> None:
    async def failing() -> None:
        raise ValueError("asked and failed")

    with pytest.raises(ValueError, match="asked and failed"):
        loop.run(failing())
    assert loop.run(asyncio.sleep(0, "still running")) == "still running"


def test_submitted_work_runs_together(loop: AskingLoop) -> None:
    async def meet(mine: asyncio.Event, other: asyncio.Event) -> str:
        mine.set()
        await asyncio.wait_for(other.wait(), 5)
        return "met"

    one, two = asyncio.Event(), asyncio.Event()
    futures = [loop.submit(meet(one, two)), loop.submit(meet(two, one))]
    assert [future.result(10) for future in futures] == ["met", "met"]


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to one's own process there")
def test_an_interrupt_cancels_the_work_and_waits_until_it_has_cleaned_up(loop: AskingLoop) -> None:
    started, cleaned = threading.Event(), threading.Event()

    async def asking() -> None:
        try:
            started.set()
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)  # a client that closes its connections
            cleaned.set()

    def interrupt() -> None:
        assert started.wait(5)
        time.sleep(0.1)  # by now the main thread waits for the result
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=interrupt)
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        loop.run(asking())
    assert cleaned.is_set()
    sender.join(5)


def test_an_unused_loop_has_nothing_to_end() -> None:
    before = threading.active_count()
    AskingLoop().close()
    assert threading.active_count() == before


def test_after_closing_its_thread_is_gone_and_it_may_be_closed_again() -> None:
    loop = AskingLoop()
    asking, ident = loop.run(_here())
    loop.close()
    assert asking.is_closed()
    assert ident not in {thread.ident for thread in threading.enumerate()}
    loop.close()


def test_threads_that_ask_at_once_start_one_loop(loop: AskingLoop) -> None:
    barrier = threading.Barrier(8)
    found: list[asyncio.AbstractEventLoop] = []

    def ask() -> None:
        barrier.wait(5)
        found.append(loop.run(_here())[0])

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(found) == 8
    assert len(set(found)) == 1


def test_no_more_is_made_than_may_run_at_once() -> None:
    made, ended, under_way, most = 0, 0, 0, 0

    async def work(number: int) -> int:
        nonlocal ended, under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        ended += 1
        return number

    def works() -> Iterator[Coroutine[Any, Any, int]]:
        nonlocal made
        for number in range(20):
            made += 1
            assert made - ended <= 3, "another is taken when one has ended"
            yield work(number)

    assert asyncio.run(together(works(), 3)) == list(range(20))
    assert most == 3


def test_what_one_sets_in_its_context_the_next_does_not_see() -> None:
    seen: ContextVar[int] = ContextVar("seen", default=0)

    async def work() -> int:
        before = seen.get()
        seen.set(before + 1)
        return before

    assert asyncio.run(together((work() for _ in range(5)), 1)) == [0] * 5


def test_what_fails_ends_the_others_and_begins_no_more() -> None:
    ended: list[str] = []

    async def wait() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cancelled")

    async def fail() -> None:
        await asyncio.sleep(0)
        raise ValueError("no")

    def works() -> Iterator[Coroutine[Any, Any, None]]:
        yield wait()
        yield fail()
        raise AssertionError("begun after a failure")

    with pytest.raises(ValueError, match="no"):
        asyncio.run(together(works(), 2))
    assert ended == ["cancelled"]
