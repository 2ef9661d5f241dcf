"""Every place of the package that can wait, with its bound.

The places are found in the source: whatever waits by one of the names below. A new one fails here
until its bound is written beside it. What a bound promises is tested where the place is tested.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from tests.test_architecture import SOURCES

# Functions and methods that wait, and what others can be made to wait for.
WAITING = frozenset(
    """
    accept acquire check_call check_output communicate gather getaddrinfo input iter_any open
    plain_aiohttp_request recv result run_until_complete select serve_forever shutdown sleep
    urlopen do_open wait wait_closed wait_for wrap_future
    Barrier BoundedSemaphore Condition Event FileLock Lock Popen Queue RLock Semaphore SimpleQueue
    """.split()
)
# Of `pathlib.Path`: they wait for whoever writes into a pipe. `files` has those that do not.
READING = frozenset({"read_bytes", "read_text"})

A_MOMENT = "held while a value is read or changed, never while anybody is asked"
OURS = "a file that this session has made, in a folder of its own"
NEVER_WAITS = "opened without waiting; what is no regular file is refused"
TIMEOUT_S = "within the `asyncio.timeout` of the attempt: timeout_s, or 10 minutes for an import"
DEADLINE = "seconds by its setting, and no longer than --judge-deadline"

A_GIVEN_UP_REQUEST = (
    "as long as it had waited when it was recorded, and a second; or its trial ends"
)
BOUNDS = {
    "proving": {
        "os.open": "the null device",
        "subprocess.Popen": "begins this Python; see `process.communicate`",
        "process.communicate": "a quarter of a second at a time, until the session is interrupted "
        "or its deadline passes; each trial has its timeout_s",
        "process.wait": "for a process that has been killed",
    },
    "cassettes.cassette": {"Lock": "held while a line is written, or all of them"},
    "cassettes.credentials": {"Lock": A_MOMENT},
    "cassettes.interception": {
        # The requests of a function; the function as a whole has timeout_s.
        "urlopen": TIMEOUT_S,
        "do_open": TIMEOUT_S,
        "self._content.iter_any": TIMEOUT_S,
        "asyncio.wait": A_GIVEN_UP_REQUEST,
        "asyncio.wrap_future": A_GIVEN_UP_REQUEST,
        "wait": A_GIVEN_UP_REQUEST,
    },
    "cassettes.locking": {
        "holder.open": "makes a file that is not there yet, or fails at once",
        "FileLock": "see `lock.acquire`",
        "lock.acquire": "half a second at a time; another session's is refused then, one that does "
        "not say who it is after 10 s, a worker of this session as long as it lives: its asking "
        "has these bounds",
    },
    "cassettes.matching": {"Lock": A_MOMENT},
    "cassettes.offline": {"threading.RLock": "held while a pair of sockets is made"},
    "cassettes.scope": {"threading.Lock": A_MOMENT},
    "cassettes.storage": {
        "Lock": "held while a line is written",
        "self.path.open": "to append to what was read as a regular file",
        "path.open": "to append to what was read as a regular file",
    },
    "commands.init": {
        "project.open": "to append to what was read as a regular file",
    },
    "commands.serve": {
        "server.serve_forever": "until Ctrl-C: it is what the command is for",
        "time.sleep": "until Ctrl-C as well, while a model is served",
    },
    "files": {"open": NEVER_WAITS, "os.open": NEVER_WAITS},
    "judges.apart": {
        "Lock": "held while a thread is started",
        "self._thread.join": "5 s",
        "Event": "see `ending.wait`",
        "ending.wait": "a daemon thread, which waits for the end of the process",
        "sleep": "5 s, in that daemon thread",
        "SimpleQueue": "see `jobs.get`",
        "jobs.get": "a daemon thread without a job; the end of the session and of the process "
        "wait for none",
        "asyncio.wrap_future": TIMEOUT_S,
        "self._threads.shutdown": "it waits for no thread",
    },
    "judges.client": {
        "asyncio.Lock": "held while the judge's module is imported: 10 minutes",
        "asyncio.Semaphore": "held while a function is replayed: " + TIMEOUT_S,
    },
    "judges.local.getting": {"subprocess.run": "an hour"},
    "judges.loop": {
        "asyncio.gather": "as long as the trials, which are bounded; cancelled ones clean up",
        "future.result": "waited for until it is done",
        "self.wait_for": "see `wait`",
        "wait": "a quarter of a second at a time, as long as the trials, which are bounded; an "
        "interrupt ends it, at the latest the second one",
        "self.submit(_drained()).result": "11 s",
        "asyncio.wait": "10 s",
    },
    "judges.readable": {
        "asyncio.Condition": "see `self._changed.wait_for`",
        "self._changed.wait_for": "as long as the first trials, which are bounded; it ends with "
        "each of them",
    },
    "judges.session": {"file.read_text": OURS, "self._file.open": OURS},
    "judges.simulated.server": {
        "server.shutdown": "a twentieth of a second: its threads are not waited for",
        "thread.join": "5 s",
    },
    "judges.throttle": {
        "state.outcome.result": "of an attempt that has ended",
        "asyncio.Lock": DEADLINE,
        "asyncio.Condition": DEADLINE,
        "self._limiter.acquire": DEADLINE,
        "self._changed.wait_for": "as long as the calls under way, which are bounded, and no "
        "longer than --judge-deadline",
        # Of a retry at most 30 s or what the endpoint asks for, 120 s; of a pause the same; of a
        # booking a fiftieth of a second at a time, for as long as a call may last.
        "asyncio.sleep": DEADLINE,
    },
    "judges.transport": {
        "asyncio.sleep": "one turn of the loop",
        "plain_aiohttp_request": TIMEOUT_S,
        "response.content.iter_any": TIMEOUT_S,
    },
    "judges.simulated.key": {
        "files(__package__).joinpath('key.json').read_bytes": "a file of the package",
    },
    "output": {"os.open": "a file or folder of ours, to sync it", "temporary.open": "a new file"},
    "plugin.fixture_values": {
        "threading.Lock": A_MOMENT,
        "asyncio.wrap_future": "as long as the question, which is bounded",
        "asyncio.wait": "for that",
        "answer.result": "of what is done",
        "self._run.measurements.loop.wait_for": "as long as the questions, which are bounded",
    },
    "plugin.workers": {
        "(folder / _BEFORE).read_text": OURS,
        "file.read_bytes": OURS,
        "time.sleep": "a tenth of a second at a time, while workers are asking, at most 10 minutes",
    },
    "judges.budget": {
        "threading.Lock": "held while a call is booked, see `FileLock`",
        "FileLock": "30 s, and then `LimitReached`",
        "self._file.read_text": OURS,
    },
    "commands.record": {"self._ray.shutdown": "ends a cluster of ours, or leaves one"},
    "recording": {
        "threading.Lock": A_MOMENT,
        "wait": "a fifth of a second at a time, as long as workers live whose calls are bounded",
        "future.result": "of a worker that has ended",
        "one.read_bytes": "a file of ours, in a folder of its own",
        "one.shutdown": "does not wait",
        "self._manager.shutdown": "a second, then the process is ended",
        "cassettes.open": "regular files: others are refused",
    },
    "plugin.measurements": {"file.read_bytes": OURS},
    "layout": {"_columns.get": "a context variable"},
    "suites.builtin": {
        "(_data('templates/') / name).read_text": "a file of the package",
        "_data(f'docs/{PAGES[name]}').read_text": "a page of the package",
        "path.read_text": "a file of the package",
    },
}


def _waits(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        called, named = node.func, {keyword.arg for keyword in node.keywords}
        name = called.attr if isinstance(called, ast.Attribute) else ast.unparse(called)
        owner = ast.unparse(called.value) if isinstance(called, ast.Attribute) else ""
        is_thread = name == "join" and (not node.args or "timeout" in named)
        # `get` of a queue; that of a context variable, which is a constant, waits for nothing.
        is_queue = name == "get" and not node.args and not owner.isupper()
        is_path = name in READING and bool(owner)
        if name in WAITING or is_thread or is_queue or is_path or owner == "subprocess":
            yield ast.unparse(called)


@cache
def found() -> dict[str, set[str]]:
    """Calls that may wait, by module; not read while tests are collected."""
    return {module: set(_waits(source)) for module, source in SOURCES.items()}


def of_a_deleted_room(module: str) -> bool:
    """Whether a module belongs to an instrument that is not there, and its bounds with it."""
    folder, *room = module.split(".")[:2]
    return folder == "instruments" and f"{folder}.{room[0]}" not in found()


def test_every_place_that_can_wait_has_a_bound() -> None:
    unbounded = {
        f"{module}: {place}"
        for module, places in found().items()
        for place in places - BOUNDS.get(module, {}).keys()
    }
    assert not unbounded, "bound what can wait, and say in BOUNDS how"


def test_every_bound_has_a_place() -> None:
    gone = {
        f"{module}: {place}"
        for module, places in BOUNDS.items()
        if not of_a_deleted_room(module)
        for place in places.keys() - found().get(module, set())
    }
    assert not gone


def test_what_waits_is_found() -> None:
    source = """
lock = threading.Lock()
thread.join(); thread.join(timeout=None); queue.get(); path.read_text(); open("x")
subprocess.run([]); "".join(x); known.get(x); _HERE.get(); read_text(path)
"""
    assert sorted(_waits(source)) == [
        *("open", "path.read_text", "queue.get", "subprocess.run"),
        *("thread.join", "thread.join", "threading.Lock"),
    ]
