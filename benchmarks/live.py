"""What recording costs a live run: calls per second against a bare aiohttp client, on one core.

``python benchmarks/live.py [--quick]``. A loopback server in a process of its own answers every
call after 50 ms. The judge is asked as `measure` asks it, and every answer is recorded; a bare
client makes the same calls in turn with it, in the same run. What the disk takes to keep what is
recorded (`os.fsync`, in which the loop that asks stands still) is timed on the way, in the folder
of ``TMPDIR``; ``fsync at N`` is its share of the wall time.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import ClassVar, NamedTuple

import aiohttp
from reporting import Bar, conclude, print_table

from pytest_judgesense.cassettes.interception import intercepting
from pytest_judgesense.cassettes.writing import RecordingCassette
from pytest_judgesense.judges.client import open_client
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.spec import JudgeSpec

DELAY_S = 0.05
SIZES = (8, 32, 128)
# Of what a bare aiohttp client does on this machine in this run.
BARS = {
    "share at 8": Bar("at least", 0.85),
    "share at 32": Bar("at least", 0.85),
    "share at 128": Bar("at least", 0.45),
    **{f"fsync at {size}": Bar("at most", 0.05) for size in SIZES},
}
ANSWER = json.dumps(
    {
        "id": "chatcmpl-1",
        "model": "model-1",
        "choices": [{"message": {"role": "assistant", "content": "A"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 310, "completion_tokens": 1},
        "trace": "0123456789abcdef" * 44,
    }
).encode()
RESPONSE = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(ANSWER)
) + ANSWER


class Server(asyncio.Protocol):
    """Answers each request on its connection after `DELAY_S`; when they came is kept for all."""

    arrived: ClassVar[list[float]] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._data = b""

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, end, rest = self._data.partition(b"\r\n\r\n")
        if not end:
            return
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
        if len(rest) >= length:
            self._data = rest[length:]
            self.arrived.append(time.perf_counter())
            asyncio.get_running_loop().call_later(DELAY_S, self._transport.write, RESPONSE)


async def serve() -> None:
    """Serve until the standard input ends; the port is the first line of the output.

    For each line of the input one of the output: the requests since the one before, and the seconds
    from the first of them to the last.
    """
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Server, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    while await loop.run_in_executor(None, sys.stdin.readline):
        arrived, Server.arrived = Server.arrived, []
        print(len(arrived), arrived[-1] - arrived[0] if arrived else 0.0, flush=True)
    server.close()


def prompt(number: int) -> str:
    return f"{number}: {'which is better? ' * 80}"


async def bare_calls_per_second(port: int, concurrency: int, seconds: float) -> tuple[float, float]:
    """The same calls by aiohttp alone: its answers are parsed, and nothing is recorded."""
    waiting = itertools.count()
    done = 0
    url = f"http://127.0.0.1:{port}/v1/chat/completions"

    async def ask_on() -> None:
        nonlocal done
        while time.perf_counter() - started < seconds:
            message = {"role": "user", "content": prompt(next(waiting))}
            body = {"model": "model-1", "messages": [message], "temperature": 0.0}
            async with session.post(url, json=body) as response:
                assert json.loads(await response.read())["choices"]
            done += 1

    connector = aiohttp.TCPConnector(limit=concurrency)
    async with aiohttp.ClientSession(connector=connector) as session:
        started, worked = time.perf_counter(), time.process_time()
        await asyncio.gather(*(ask_on() for _ in range(concurrency)))
        worked = time.process_time() - worked
        return done / (time.perf_counter() - started), worked / done


@contextmanager
def timed_fsync() -> Iterator[list[float]]:
    """The seconds that each call of `os.fsync` takes while the block runs."""
    took: list[float] = []

    def timed(file: int) -> None:
        started = time.perf_counter()
        fsync(file)
        took.append(time.perf_counter() - started)

    fsync, os.fsync = os.fsync, timed
    try:
        yield took
    finally:
        os.fsync = fsync


class Asked(NamedTuple):
    """Calls a second, CPU seconds a call, and the seconds of each fsync, of so many seconds."""

    rate: float
    work: float
    synced: tuple[float, ...]
    seconds: float


async def calls_per_second(port: int, concurrency: int, seconds: float, path: Path) -> Asked:
    """Ask so many at once for so many seconds, and record the answers."""
    judge = JudgeSpec("bench", "openai", "model-1", base_url=f"http://127.0.0.1:{port}/v1")
    tape = RecordingCassette(path)
    waiting = itertools.count()
    done = 0

    async def ask_on() -> None:
        nonlocal done
        while time.perf_counter() - started < seconds:
            number = next(waiting)
            message = {"role": "user", "content": prompt(number)}
            answer = await asker.ask(f"bench/i{number}/t1/ab/r1", [message])
            assert isinstance(answer.reply, Reply), answer.reply
            done += 1

    async with open_client(judge, tape, concurrency=concurrency) as asker:
        with intercepting(tape), timed_fsync() as synced:
            started, worked = time.perf_counter(), time.process_time()
            await asyncio.gather(*(ask_on() for _ in range(concurrency)))
            worked = time.process_time() - worked
            took = time.perf_counter() - started
            return Asked(done / took, worked / done, tuple(synced), took)


def on_core(index: int) -> None:
    """Keep this process on one core, where the system can do that."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[index % len(cores)]})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="end within 50 s")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    logging.disable()
    if arguments.serve:
        on_core(1)
        asyncio.run(serve())
        return 0
    seconds, rounds = (1.5, 2) if arguments.quick else (5.0, 5)
    command = [sys.executable, __file__, "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        on_core(0)
        with tempfile.TemporaryDirectory() as folder:
            runs: dict[int, list[Asked]] = {size: [] for size in SIZES}
            bare: dict[int, tuple[float, float]] = {}
            for n in range(rounds):
                for size in SIZES:  # in turn: a busy moment slows both
                    path = Path(folder, f"{size}-{n}")
                    runs[size].append(asyncio.run(calls_per_second(port, size, seconds, path)))
                    alone = asyncio.run(bare_calls_per_second(port, size, seconds))
                    bare[size] = max(bare.get(size, alone), alone)
        server.communicate()
    best = {size: max(asked) for size, asked in runs.items()}
    # Of all runs: a disk is slow now and then, and the best run would not show it.
    waited = {
        size: sum(sum(one.synced) for one in asked) / sum(one.seconds for one in asked)
        for size, asked in runs.items()
    }
    print(
        f"calls per second, best of {rounds} runs; the server answers after 50 ms;\n"
        "of all runs, the share of the wall time within fsync, and the median of one in ms\n"
    )
    print_table(
        ("concurrency", "calls/s", "bare aiohttp", "share", "CPU us a call", "bare", "fsync", "ms"),
        [
            (
                str(size),
                f"{one.rate:,.0f}",
                f"{bare[size][0]:,.0f}",
                f"{one.rate / bare[size][0]:.1%}",
                f"{one.work * 1e6:,.0f}",
                f"{bare[size][1] * 1e6:,.0f}",
                f"{waited[size]:.2%}",
                f"{median(took for asked in runs[size] for took in asked.synced) * 1e3:.1f}",
            )
            for size, one in best.items()
        ],
    )
    return conclude(
        "live",
        {
            **{f"share at {size}": one.rate / bare[size][0] for size, one in best.items()},
            **{f"fsync at {size}": share for size, share in waited.items()},
        },
        BARS,
    )


if __name__ == "__main__":
    sys.exit(main())
