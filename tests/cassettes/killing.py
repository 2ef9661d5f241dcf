"""Recordings of 1,000 calls at concurrency 32 that are killed, and what must be left of them.

By SIGKILL, which loses what was under way; by SIGINT and SIGTERM, which lose nothing.

A kill takes a real process: `Nursery` is an interpreter that has imported everything and forks a
child for each session, so that a session costs its calls and not its imports. The child runs
``pytest.main`` with the real plugin. Used by the tests and by ``benchmarks/kill.py``.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ITEMS, WORDINGS, CONCURRENCY = 250, 4, 32
TRIALS = ITEMS * WORDINGS  # 1,000
ROOT = Path(__file__).parents[2]
ENDED_S = 60  # far more than a recording takes
_INTERRUPTED = 2  # the exit status of pytest


class FastServer:
    """An OpenAI-compatible endpoint on 127.0.0.1 that answers after 0 to ``slowest_s`` seconds.

    Attributes:
        asked: the prompt of every request, in the order of their arrival.
        answered: the number of answers that were handed to the operating system.
        overloaded: the requests, counted from 0, that get status 503.
        unanswered: those that get no answer.
    """

    def __init__(self, seed: int = 0, slowest_s: float = 0.01) -> None:
        self.overloaded: set[int] = set()
        self.unanswered: set[int] = set()
        self.asked: list[str] = []
        self.answered = 0
        self._random = random.Random(seed)
        self._slowest_s = slowest_s
        self._loop = asyncio.new_event_loop()
        self._server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=128)
        )
        self.base_url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def close(self) -> None:
        async def end() -> None:
            self._server.close()
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def forget(self) -> None:
        """Count from 0 again; only while nobody asks."""
        self.asked, self.answered = [], 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
                body = json.loads(await reader.readexactly(int(length[1]) if length else 0))
                prompt = body["messages"][-1]["content"]
                number = len(self.asked)
                self.asked.append(prompt)
                if number in self.unanswered:
                    await reader.read()  # until the client gives up
                    return
                await asyncio.sleep(self._random.random() * self._slowest_s)
                writer.write(_OVERLOADED if number in self.overloaded else _answer(prompt))
                await writer.drain()
                self.answered += 1
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client was killed, or is done
        finally:
            writer.close()


_OVERLOADED = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"


def _answer(prompt: str) -> bytes:
    number = int(re.findall(r"\d+", prompt)[0])
    message = {"role": "assistant", "content": "NO" if number % 2 else "YES"}
    data = {
        "model": "served-1",
        "choices": [{"message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 1},
        "padding": "x" * 600,  # replies of real endpoints have some 0.9 kB
    }
    content = json.dumps(data).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(content)}"
    return f"{head}\r\n\r\n".encode() + content


def write_project(folder: Path, base_url: str, items: int = ITEMS) -> Path:
    """Write a suite of ``items`` x 4 trials and its judge; returns the cassette's place."""
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(
        "[tool.pytest.ini_options]\n"
        '[tool.judgesense.judges.mine]\nprovider = "openai"\nmodel = "m"\n'
        f'base_url = "{base_url}"\n'
    )
    (folder / "even.jsonl").write_text(
        "".join(
            json.dumps({"id": f"n{n}", "number": str(n), "label": "NO" if n % 2 else "YES"}) + "\n"
            for n in range(items)
        )
    )
    templates = "".join(
        f'[[templates]]\nid = "t{i}"\ntext = """Is {{{{number}}}} even? Wording {"i" * i}."""\n'
        for i in range(1, WORDINGS + 1)
    )
    (folder / "even.suite.toml").write_text(
        'schema = "judgesense/suite/1"\nname = "even"\nkind = "paraphrase"\n'
        '[space]\nlabels = ["YES", "NO"]\n[stimuli]\nfile = "even.jsonl"\n'
        f"{templates}[checks]\njss_floor = 0.9\n"
    )
    return folder / "cassettes" / "mine" / "even.jsonl"


RECORD = (
    *("even.suite.toml", "--judge-mode", "record", "--judge-concurrency", str(CONCURRENCY)),
    *("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:asyncio", "-p", "no:hypothesispytest"),
)


PLUGIN = "pytest_judgesense.plugin"


class Nursery:
    """Forks sessions of pytest that can be killed. Ended by `close`."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from tests.cassettes.killing import _serve_forks as f; f()"],
            cwd=ROOT,
            # Other plugins that are installed would be imported by every session.
            env={
                **os.environ,
                "OPENBLAS_NUM_THREADS": "1",
                "PYTHONPATH": str(ROOT),
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                "PYTEST_PLUGINS": PLUGIN,
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(self, folder: Path, *args: str) -> int:
        """Start pytest in ``folder``; its output goes to ``output.txt``. Returns its pid."""
        return int(self._tell({"folder": str(folder), "args": args}))

    def wait(self) -> int:
        """Wait for the session; its exit status, or minus the signal that killed it."""
        return int(self._tell({}))

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _tell(self, job: dict[str, object]) -> str:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()


def _serve_forks() -> None:
    import pytest
    import vcr.stubs.httpx_stubs  # noqa: F401 - imported at the first recording

    import pytest_judgesense.plugin.collection
    import pytest_judgesense.plugin.run  # noqa: F401 - likewise

    pid = 0
    for line in sys.stdin:
        job = json.loads(line)
        if not job:
            # Only now: until then the pid of a child that has ended is nobody else's.
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
            continue
        pid = os.fork()
        if pid == 0:
            os.chdir(job["folder"])
            out = os.open("output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(out, 1)
            os.dup2(out, 2)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            try:
                status: int = pytest.main(job["args"])
            except KeyboardInterrupt:  # before pytest was there to take it
                status = _INTERRUPTED
            sys.stdout.flush()
            os._exit(status)
        print(pid, flush=True)


@dataclass
class Left:
    """What is left of a cassette, read without the reader that is on trial."""

    prompts: list[str] = field(default_factory=list)
    torn: bytes = b""

    @classmethod
    def of(cls, cassette: Path) -> Left:
        data = cassette.read_bytes() if cassette.exists() else b""
        *lines, torn = data.split(b"\n")
        # A finished file has lines of shared texts as well.
        exchanges = [line for line in lines if not line.startswith(b'{"id": ')]
        bodies = [json.loads(json.loads(line)["request"]["body"]) for line in exchanges]
        return cls([body["messages"][-1]["content"] for body in bodies], torn)


@dataclass
class Tally:
    """What a series of kills came to; ``faults`` must stay empty.

    Attributes:
        kills: sessions that were killed while they ran; ``gently``: by SIGINT or SIGTERM.
        torn: last lines that were torn after a kill.
        repaired: those that were cut off before the next line was written.
        most_lost: the most calls that one SIGKILL lost; at most what was under way.
        lost_gently: calls that the other signals lost.
        asked_again: calls beyond the 1,000 of a recording, all of them lost by kills.
    """

    kills: int = 0
    gently: int = 0
    recordings: int = 0
    torn: int = 0
    repaired: int = 0
    most_lost: int = 0
    lost_gently: int = 0
    asked_again: int = 0
    faults: list[str] = field(default_factory=list)

    def hold(self, truth: bool, what: str) -> None:
        if not truth:
            self.faults.append(what)


def kill_a_recording(
    nursery: Nursery, server: FastServer, folder: Path, seed: int, kills: int, tally: Tally
) -> bytes:
    """Record 1,000 calls, killed at ``kills`` random moments; returns the finished cassette.

    The signals take turns: SIGKILL, SIGINT, SIGTERM.

    A moment is drawn as a number of answers, and up to 20 ms more; beyond 1,000 answers it lies in
    the finishing: the last one answered, the file is sorted and the suite estimated. After every
    other SIGKILL the last line is cut at a random byte, as a loss of power leaves it.
    """
    chance = random.Random(seed)
    cassette = write_project(folder, server.base_url)
    moments = sorted(chance.randrange(TRIALS + TRIALS // 10) for _ in range(kills))
    everything: set[str] = set()
    number = -1
    finished = False
    while not finished:
        number += 1
        moment = moments.pop(0) if moments else None
        sent = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)[number % 3]
        before = Left.of(cassette)
        had = set(before.prompts)
        server.forget()
        pid = nursery.start(folder, *RECORD)
        if moment is not None:
            _await(server, pid, min(moment, TRIALS) - len(had))
            time.sleep(chance.random() * 0.02 + max(0, moment - TRIALS) * 0.001)
            os.kill(pid, sent)
        status = nursery.wait()
        killed = moment is not None and status in (-sent, _INTERRUPTED)
        if moment is not None and not killed:
            moments.insert(0, 0)  # it was faster than its end: the next one dies as it starts
        finished = moment is None
        where = f"seed {seed}, kill {number} at {moment}"
        output = (folder / "output.txt").read_text()
        after = Left.of(cassette)
        asked, kept = Counter(server.asked), set(after.prompts)
        everything |= set(asked)

        tally.hold(set(asked.values()) <= {1}, f"{where}: asked twice in one session")
        tally.hold(not set(asked) & had, f"{where}: asked what was recorded")
        tally.hold(len(after.prompts) == len(kept), f"{where}: a line appears twice")
        tally.hold(had <= kept, f"{where}: a line was lost")
        tally.hold(kept <= had | set(asked), f"{where}: a line that nobody asked for")
        lost = set(asked) - kept
        if sent == signal.SIGKILL:
            tally.most_lost = max(tally.most_lost, len(lost))
        else:
            tally.lost_gently += len(lost)
            tally.hold(not lost, f"{where}: {sent.name} lost {len(lost)} calls")
        tally.asked_again += len(lost)
        # A call holds its place among the 32 until its line is written.
        tally.hold(len(lost) <= CONCURRENCY, f"{where}: {len(lost)} calls lost")
        # A torn line that stays would be glued to the next one, and `Left` could not read it.
        repaired = bool(before.torn) and (after.torn != before.torn or len(kept) > len(had))
        tally.repaired += repaired
        if killed:
            tally.kills += 1
            tally.gently += sent != signal.SIGKILL
            if number % 6 == 3 and kept:
                _tear(cassette, chance)
                tally.asked_again += 1
            tally.torn += bool(Left.of(cassette).torn) and (repaired or not before.torn)
        else:
            tally.hold(status == 0, f"{where}: ended with {status}:\n{output}")
            tally.hold(len(kept) == TRIALS, f"{where}: finished with {len(kept)} trials")
            tally.hold(not lost, f"{where}: a session that finished lost {len(lost)}")
            if before.torn:
                tally.hold("notice: " in output, f"{where}: a torn line repaired without a notice")
    tally.recordings += 1
    tally.hold(len(everything) == TRIALS, f"seed {seed}: {len(everything)} trials were asked")
    return cassette.read_bytes()


def undated(cassette: bytes) -> bytes:
    """A cassette without its dates, which differ from one recording to the next."""
    return re.sub(rb'"recorded_at": "[^"]*"', b"", cassette)


def _await(server: FastServer, pid: int, answers: int) -> None:
    until = time.monotonic() + ENDED_S
    # A child that has ended is a zombie until it is waited for.
    while server.answered < answers and _state(pid) != "Z":
        assert time.monotonic() < until, f"{server.answered} of {answers} answers"
        time.sleep(0.0005)


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1]


def _tear(cassette: Path, chance: random.Random) -> None:
    data = cassette.read_bytes().rpartition(b"\n")[0]
    last = data.rfind(b"\n") + 1
    # At least one byte of the line is left, and at least its last one is gone.
    os.truncate(cassette, chance.randrange(last + 1, len(data)))
