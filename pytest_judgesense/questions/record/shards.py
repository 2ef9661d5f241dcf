"""One recording made in shards by several workers: the driver, the desk and the workers.

A worker is a process on this machine (`Processes`) or another one (see `ray_tasks`). It records its
shard like a session, into another folder, and passes each line to the `Desk` before its call frees
its slot. So a lost worker costs only the calls in flight. The driver moves the lines from the desk
to the cassettes, which therefore always hold all answers, and the next recording asks what is
missing. The shard of a lost worker is started again with what is known.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import pickle
import re
import shlex
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing, contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from multiprocessing.connection import wait as wait_for_end
from multiprocessing.managers import BaseManager
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from pytest_judgesense.asking.carrying_over import (
    carry_over,
    in_recording_order,
    suites_in_recording,
)
from pytest_judgesense.asking.inquiry import Asking
from pytest_judgesense.asking.stopping_point import forget_stop
from pytest_judgesense.cassettes.exchange import (
    CALL,
    CARRIED,
    LOOK_UP,
    Exchange,
    exchange_of,
    in_final_form,
)
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.cassettes.matching import Identity
from pytest_judgesense.cassettes.scope import entered
from pytest_judgesense.cassettes.storage import Journal, has_content, read_exchanges, rewrite
from pytest_judgesense.cassettes.writing import RecordingCassette
from pytest_judgesense.checks.judgment_words import reason_lines
from pytest_judgesense.errors import JudgeError, JudgesenseError, LimitReached
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.loop import AskingLoop, exit_at_once
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import Budget, Deadline, SessionBudget, Throttle, stopping
from pytest_judgesense.judges.trust import Trust
from pytest_judgesense.measurement import record
from pytest_judgesense.registry import loaded
from pytest_judgesense.suites.planning import Plans, Shard, plan_trials, recording_of
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import RequestCount, Trial

# Time between two polls of the desk.
_LOOK_S: Final = 0.2
# What a worker imports for its first call.
_CLIENT: Final = "pytest_judgesense.judges.transport"
# How often a shard is started again if its workers were lost without a result.
_IN_VAIN: Final = 3


@dataclass(frozen=True)
class Job:
    """The parameters of a job, which all workers get.

    Attributes:
        plugins: modules named by ``-p``; ``path``: Python's module search path.
        environment: the user's variables for this program: limits and permissions.
        deadline: seconds as set by the user, and the Unix time when they end.
        limited: whether calls or their cost have a limit.
    """

    judge: JudgeSpec
    suites: tuple[Suite, ...]
    shards: int
    trust: Trust
    concurrency: int
    max_unparsed: int
    plugins: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    deadline: tuple[float, float] | None = None
    limited: bool = False

    def parts(self, number: int) -> Iterator[tuple[Suite, tuple[Trial, ...]]]:
        """The trials of a shard by suite; a trial that suites share belongs to the first."""
        before: set[str] = set()
        for suite in self.suites:
            trials = plan_trials(suite_for_judge(suite, self.judge))
            part = Shard(number, self.shards).part(trials)
            yield suite, tuple(trial for trial in part if trial.id not in before)
            before |= {trial.id for trial in trials}


class _Parcel(NamedTuple):
    """What a worker hands over: what it has recorded and sent since the last time.

    Attributes:
        number: of the shard.
        attempt: number of the attempt at it.
        lines: each with the name of its recording.
        requests: those that were sent.
    """

    number: int
    attempt: int
    lines: tuple[tuple[str, bytes], ...]
    requests: RequestCount


# Calls the desk, with the name of a method and its arguments.
AskDesk: TypeAlias = Callable[..., Any]


class Desk:
    """The state that the workers of a job share; it lives in a separate process."""

    def __init__(self, max_calls: int | None, max_cost: float | None) -> None:
        self._budget = SessionBudget(max_calls, max_cost)
        self._lock = threading.Lock()
        self._parcels: list[_Parcel] = []
        self._is_stopped = False

    def take(self, spec: JudgeSpec, most: float | None, *, patient: bool) -> bool | LimitReached:
        """Book a call, see `Budget.take`; returns the refusal, if any."""
        try:
            return self._budget.take(spec, most, patient=patient)
        except LimitReached as refused:
            return refused

    def settle(self, most: float | None, usd: float | None) -> None:
        self._budget.settle(most, usd)

    def keep(self, parcel: _Parcel) -> None:
        with self._lock:
            self._parcels.append(parcel)

    def handed_over(self) -> list[_Parcel]:
        """What was received since the last call."""
        with self._lock:
            parcels, self._parcels = self._parcels, []
        return parcels

    def stop(self) -> None:
        self._is_stopped = True

    def is_stopped(self) -> bool:
        return self._is_stopped


@dataclass(frozen=True, slots=True)
class ShardResult:
    """The result of a worker.

    Attributes:
        recordings: the shard's part of each recording, in its final form.
        error: why the shard is incomplete; ``None`` also if it was interrupted.
        failed: by trial without a reply, why.
    """

    recordings: Mapping[str, bytes]
    notices: tuple[str, ...]
    error: JudgesenseError | None = None
    interrupted: bool = False
    failed: Mapping[str, str] = field(default_factory=dict)


def _outside(ask: AskDesk) -> AskDesk:
    """The same, outside of the trial that asks: connections within a trial are a judge's."""

    def ask_outside(method: str, *args: Any, **named: Any) -> Any:
        with entered(None):
            return ask(method, *args, **named)

    return ask_outside


class _Relay(Budget):
    """A worker's limits, which the desk counts, and its way to pass on recorded lines."""

    def __init__(self, job: Job, number: int, attempt: int, ask: AskDesk) -> None:
        seconds, until = job.deadline or (None, None)
        left = None if until is None else until - time.time()
        super().__init__(Deadline(seconds, left))
        self._ask, self._limited, self._of = _outside(ask), job.limited, (number, attempt)
        self._lock, self._sending = threading.Lock(), threading.Lock()
        self._lines: list[tuple[str, bytes]] = []
        self._requests = RequestCount()
        self._is_stopped = False

    def take(
        self,
        spec: JudgeSpec,
        most_usd: float | None,
        *,
        patient: bool = False,
        begun: bool = False,
    ) -> bool:
        if not begun:
            self.deadline.check()
        if self._limited:
            answer: bool | LimitReached = self._ask("take", spec, most_usd, patient=patient)
            if isinstance(answer, LimitReached):
                raise answer
            if not answer:
                return False
        self._count(RequestCount(sent=1))
        return True

    def settle(self, most_usd: float | None, usd: float | None) -> None:
        if self._limited:
            self._ask("settle", most_usd, usd)

    def retried(self) -> None:
        self._count(RequestCount(retried=1))

    def timed_out(self) -> None:
        self._count(RequestCount(timed_out=1))

    def _count(self, requests: RequestCount) -> None:
        with self._lock:
            self._requests = RequestCount.summed((self._requests, requests))

    def queue(self, path: Path, line: bytes) -> None:
        """Queue a line for the desk."""
        with self._lock:
            self._lines.append((path.stem, line))

    async def flush_recordings(self) -> None:
        if self._lines or self._sending.locked():
            await asyncio.to_thread(self.hand_over)

    def hand_over(self) -> None:
        """Send the queued lines and what was counted; returns when the desk has them."""
        with self._sending:
            with self._lock:
                lines, self._lines = tuple(self._lines), []
                requests, self._requests = self._requests, RequestCount()
            if lines or any(requests):
                self._ask("keep", _Parcel(*self._of, lines, requests))

    def look(self) -> None:
        """Raise `KeyboardInterrupt` once if the job is to end; a second one would kill it."""
        if not self._is_stopped and self._ask("is_stopped"):
            self._is_stopped = True
            raise KeyboardInterrupt


def record_shard(
    path: Sequence[str],
    sent: bytes,
    lasting: Path,
    number: int,
    attempt: int,
    recorded: Mapping[str, bytes],
    ask: AskDesk,
) -> ShardResult:
    """Record a shard in this process.

    Args:
        path: Python's module search path, set before ``sent`` is unpickled.
        sent: the `Job`, pickled.
        lasting: the folder of the job's cassettes, which errors name.
        number: of the shard, from 1.
        attempt: number of the attempt, from 1.
        recorded: what is already recorded of its trials, by the name of the recording.
        ask: the function that calls the desk.
    """
    sys.path += [folder for folder in path if folder not in sys.path]
    job: Job = pickle.loads(sent)  # noqa: S301 - of the driver, which runs this code
    os.environ.update(job.environment)
    relay = _Relay(job, number, attempt, ask)
    asking = Asking(
        trust=job.trust,
        concurrency=job.concurrency,
        throttle=Throttle(job.judge, job.concurrency, budget=relay, sharing=job.shards),
        registry=loaded(BUILT_IN, list(job.plugins)),
        max_unparsed=job.max_unparsed,
        on_recorded=relay.queue,
    )
    notices: list[str] = []
    failed: dict[str, str] = {}
    error, interrupted = None, False
    with (
        tempfile.TemporaryDirectory(prefix="judgesense-shard-") as name,
        closing(AskingLoop(relay.look, stopping(relay.deadline, [job.judge]))) as loop,
    ):
        folder = Path(name)
        for recording, data in recorded.items():
            (folder / f"{recording}.jsonl").write_bytes(data)
        try:
            for suite, part in job.parts(number):
                names = sorted({recording_of(trial.id) for trial in part})
                paths = {name: folder / f"{name}.jsonl" for name in names}
                recorded_part = record(job.judge, suite, paths, loop, part, asking=asking)
                notices += recorded_part.notices
                failed |= recorded_part.failed
        except JudgesenseError as raised:
            error = _naming(lasting, folder, raised)
        except KeyboardInterrupt:
            interrupted = True
        relay.hand_over()
        final = {path.stem: path.read_bytes() for path in sorted(folder.glob("*.jsonl"))}
    told = tuple(dict.fromkeys(notices))
    return ShardResult(final, told, error, interrupted, failed)


def _naming(lasting: Path, temporary: Path, error: JudgesenseError) -> JudgesenseError:
    """``error`` with the ``lasting`` files, as a shell takes them, in place of ``temporary``."""
    file = re.compile(re.escape(str(temporary)) + r"((?:/[\w-]+(?:\.[\w-]+)*)?)(?![\w/-])")

    def named(text: str) -> str:
        return file.sub(lambda match: shlex.quote(f"{lasting}{match[1]}"), text)

    return error.with_texts(named)


class Workers(Protocol):
    """Where workers run.

    Attributes:
        lost: the exception that a future raises if its worker is lost.
    """

    lost: tuple[type[Exception], ...]

    def ask(self, method: str, *args: Any, **named: Any) -> Any:
        """Call the desk, see `AskDesk`."""

    def begin(self, *arguments: Any) -> Future[ShardResult]:
        """Start `record_shard` with these arguments and, last, the function that calls the desk."""


@dataclass(frozen=True)
class JobResult:
    """The result of a job.

    Attributes:
        answered: how many of the ``trials`` have a recorded answer.
        requests: those that workers have sent, also the lost ones up to what they handed over last.
        lost: how many workers.
        errors: why shards are incomplete, without duplicates.
        carried: trials that got the answers of recorded ones which nobody plans any more.
    """

    trials: int
    answered: int
    requests: RequestCount
    lost: int
    notices: tuple[str, ...]
    errors: tuple[JudgesenseError, ...]
    interrupted: bool
    carried: int = 0


class _JobCassettes:
    """The cassettes of a job by the name of the recording, and the shard of each trial."""

    def __init__(self, job: Job, folder: Path, plans: Plans | None) -> None:
        self._job = job
        self._plans = plans or Plans(Path(), folder, BUILT_IN.forms)
        self._shards = {
            trial.id: number
            for number in range(1, job.shards + 1)
            for _, part in job.parts(number)
            for trial in part
        }
        names = sorted({recording_of(trial) for trial in self._shards})
        self.paths = {name: folder / job.judge.slug / f"{name}.jsonl" for name in names}
        self._of_function = job.judge.provider == "callable"
        self._journals: dict[str, Journal] = {}
        self._answered: dict[str, bool] = {}

    def open(self) -> None:
        self._journals = {name: Journal(path) for name, path in self.paths.items()}
        for journal in self._journals.values():
            journal.prepare()
        for path in self.paths.values():
            self._answered |= self._answered_in(read_exchanges(path))

    @property
    def notices(self) -> list[str]:
        return [journal.notice for journal in self._journals.values() if journal.notice]

    @property
    def trials(self) -> int:
        return len(self._shards)

    @property
    def answered(self) -> int:
        """How many trials have an answer: the last exchange of each trial is one."""
        return sum(self._answered.get(trial, False) for trial in self._shards)

    @property
    def carried(self) -> set[str]:
        """The trials with answers of other names; a function may have been asked anew since."""
        return {
            exchange.trial
            for path in self.paths.values()
            for exchange in read_exchanges(path)
            if CARRIED in exchange.response.headers
        }

    def of_shard(self, number: int) -> dict[str, bytes]:
        parts = {}
        for name, path in self.paths.items():
            part = [
                exchange
                for exchange in read_exchanges(path)
                if self._shards.get(exchange.trial) == number
            ]
            parts[name] = b"".join(f"{exchange.to_line()}\n".encode() for exchange in part)
        return {name: data for name, data in parts.items() if data}

    def append(self, recording: str, line: bytes) -> None:
        exchange = exchange_of(line)
        self._journals[recording].append(exchange)
        self._answered |= self._answered_in([exchange])

    def finish(self, finished: Mapping[int, Mapping[str, bytes]]) -> None:
        """Write the final files, with the results of finished shards in place of their lines."""
        for name, path in self.paths.items():
            if not path.exists():
                continue
            lasting = [
                exchange
                for exchange in read_exchanges(path)
                if self._shards.get(exchange.trial) not in finished
            ]
            for recordings in finished.values():
                lasting += _exchanges(recordings.get(name, b""))
            trials = dict.fromkeys(exchange.trial for exchange in lasting)
            trials.pop(LOOK_UP, None)
            final = list(in_final_form(lasting, [*trials]))
            if not has_content(path, final):
                final = list(in_final_form(lasting, self._order_of(name, [*trials])))
                rewrite(path, final)
            self._answered |= self._answered_in(final)

    def _order_of(self, recording: str, trials: Sequence[str]) -> Sequence[str]:
        """The order of recorded trials in a finished file."""
        judge = self._job.judge
        own = (suite_for_judge(suite, judge) for suite in self._job.suites)
        suite = next(suite for suite in own if recording in suite.recordings)
        suites = suites_in_recording(recording, judge, suite, self._plans)
        return in_recording_order(recording, trials, suites)

    def _answered_in(self, exchanges: Iterable[Exchange]) -> dict[str, bool]:
        """By trial, whether its last call is an answer; of a function, whether it has returned."""
        if not self._of_function:
            return {exchange.trial: exchange.answers for exchange in exchanges}
        return {
            exchange.trial: bool(exchange.returned_texts) if exchange.returns else exchange.answers
            for exchange in exchanges
            if exchange.returns or exchange.request.method == CALL
        }


def _exchanges(data: bytes) -> list[Exchange]:
    """The exchanges of a cassette, whose lines may share texts."""
    with tempfile.TemporaryDirectory(prefix="judgesense-shard-") as folder:
        path = Path(folder) / "part.jsonl"
        path.write_bytes(data)
        return read_exchanges(path)


def run_job(
    job: Job,
    workers: Workers,
    folder: Path,
    watch: Callable[[int, int, int], None] = lambda *_: None,
    plans: Plans | None = None,
    first_attempt: int = 1,
) -> JobResult:
    """Record the suites of a job into the cassettes below ``folder``.

    With ``plans``, what they no longer hold serves trials of the job first, see `carrying_over`.
    ``watch`` is called a few times a second with the numbers of trials, of those recorded, and of
    requests sent since the start. After the first interrupt, calls in flight are completed. Jobs
    that share ``workers`` number their attempts apart, each from its ``first_attempt`` on: what a
    worker of an earlier one still hands over is none of the later one.

    Raises:
        CassetteError: another session records one of the cassettes, or one cannot be used.
        JudgeError: a shard lost its worker repeatedly.
    """
    recorder = Recorder.here()
    with ExitStack() as stack:
        cassettes = _JobCassettes(job, folder, plans)
        for path in cassettes.paths.values():
            stack.enter_context(recording_alone(path, recorder))
        carried = frozenset() if plans is None else _carry_over(job, cassettes.paths, plans)
        cassettes.open()
        driver = _Driver(job, workers, folder, cassettes, first_attempt)
        try:
            driver.run(watch)
        finally:
            results = driver.results.items()
            cassettes.finish({number: result.recordings for number, result in results})
        for suite in job.suites:
            forget_stop(job.judge, suite, cassettes.paths)
        return replace(driver.job_result(), carried=len(carried & cassettes.carried))


def _carry_over(job: Job, paths: Mapping[str, Path], plans: Plans) -> frozenset[str]:
    """The trials of a job that recorded ones of other names serve, before a worker begins."""
    carried: frozenset[str] = frozenset()
    for suite in job.suites:
        own = suite_for_judge(suite, job.judge)
        planned, settling = plan_trials(own), own.form.settling
        if settling is not None:
            planned = tuple(filter(settling.comes_first, planned))
        into = {
            name: RecordingCassette(paths[name], identity=Identity(job.judge.ignore))
            for name in own.recordings
        }
        carried |= carry_over(job.judge, own, planned, planned, into, plans)
    return carried


class _Driver:
    """A job under way: the shards at work, their attempts, and what has come of them."""

    def __init__(
        self,
        job: Job,
        workers: Workers,
        folder: Path,
        cassettes: _JobCassettes,
        first_attempt: int,
    ) -> None:
        self._job, self._pickled, self._workers = job, pickle.dumps(job), workers
        self._folder, self._cassettes = folder, cassettes
        # By shard: its attempts, and the workers lost in a row that had recorded nothing.
        self._attempts = dict.fromkeys(range(1, job.shards + 1), first_attempt)
        self._in_vain = Counter[int]()
        self._under_way: dict[Future[ShardResult], int] = {}
        self._requests = RequestCount()
        self._lost = 0
        self._interrupted, self._given_up = threading.Event(), threading.Event()
        self.results: dict[int, ShardResult] = {}

    def run(self, watch: Callable[[int, int, int], None]) -> None:
        """Have every shard recorded; the first interrupt lets calls in flight be completed.

        In a thread: Python raises an interrupt in the main one, wherever that stands. If it stood
        between a question to the desk and the answer, the lines handed over would be lost, and
        every later question would get the answer to the one before.
        """
        with ThreadPoolExecutor(1) as executor:
            try:
                self._wait_for(executor.submit(copy_context().run, self._record, watch))
            finally:
                self._given_up.set()

    def _wait_for(self, recording: Future[None]) -> None:
        while True:
            try:
                # With a bound: without one, Windows lets no interrupt through.
                while wait([recording], _LOOK_S).not_done:
                    pass
                return recording.result()
            except KeyboardInterrupt:
                if self._interrupted.is_set():
                    raise
                self._interrupted.set()

    def _record(self, watch: Callable[[int, int, int], None]) -> None:
        for number in self._attempts:
            self._begin(number)
        told_to_stop = False
        while self._under_way and not self._given_up.is_set():
            ended = wait(self._under_way, _LOOK_S, FIRST_COMPLETED).done
            if self._interrupted.is_set() and not told_to_stop:
                self._workers.ask("stop")
                told_to_stop = True
            self._take_lines()
            for future in ended:
                self._take_result(future)
            watch(self._cassettes.trials, self._cassettes.answered, self._requests.sent)

    def _begin(self, number: int) -> None:
        recorded = self._cassettes.of_shard(number)
        lasting = self._folder / self._job.judge.slug
        attempt = self._attempts[number]
        future = self._workers.begin(
            self._job.path, self._pickled, lasting, number, attempt, recorded
        )
        self._under_way[future] = number

    def _take_lines(self) -> None:
        for number, attempt, lines, requests in self._workers.ask("handed_over"):
            self._requests = RequestCount.summed((self._requests, requests))
            # Others are of a worker that was given up but is alive.
            if lines and attempt == self._attempts[number]:
                self._in_vain[number] = 0
                for line in lines:
                    self._cassettes.append(*line)

    def _take_result(self, future: Future[ShardResult]) -> None:
        number = self._under_way.pop(future)
        try:
            self.results[number] = future.result()
        except self._workers.lost as error:
            self._lost += 1
            self._in_vain[number] += 1
            if self._in_vain[number] >= _IN_VAIN:
                self._workers.ask("stop")
                raise JudgeError(
                    f"shard {number}/{self._job.shards} has lost {_IN_VAIN} workers in a row, of "
                    "which none has recorded anything",
                    found=f"{type(error).__name__}: {error}",
                    expected="workers that live as long as their calls",
                    remedy="see what ends them, often too little memory; what was answered is "
                    "recorded, and not asked again",
                ) from error
            self._attempts[number] += 1
            if not self._interrupted.is_set():
                self._begin(number)

    def job_result(self) -> JobResult:
        """What has come of the job."""
        results, cassettes = list(self.results.values()), self._cassettes
        failed = {id_: reason for result in results for id_, reason in result.failed.items()}
        told = (result.notices for result in results)
        notices = chain(reason_lines(failed), cassettes.notices, *told)
        errors = {str(result.error): result.error for result in results if result.error is not None}
        return JobResult(
            cassettes.trials,
            cassettes.answered,
            requests=self._requests,
            lost=self._lost,
            notices=tuple(dict.fromkeys(notices)),
            errors=tuple(errors.values()),
            interrupted=self._interrupted.is_set() or any(result.interrupted for result in results),
        )


# --- workers on this machine ----------------------------------------------------------------------


class _Manager(BaseManager):
    """The process of the desk."""


_Manager.register("desk", Desk)


def _ask(desk: Any, method: str, *args: Any, **named: Any) -> Any:
    return getattr(desk, method)(*args, **named)


class Processes:
    """One process on this machine for each shard, and one for the desk."""

    lost: tuple[type[Exception], ...] = (BrokenProcessPool,)

    def __init__(self, max_calls: int | None, max_cost: float | None) -> None:
        # Forked from a process that has imported everything once, if the system supports it.
        has_server = "forkserver" in multiprocessing.get_all_start_methods()
        self._context = multiprocessing.get_context("forkserver" if has_server else "spawn")
        self._context.set_forkserver_preload([__name__, _CLIENT])
        self._manager = _Manager(ctx=self._context)
        with _ignored_by_children(signal.SIGTERM):
            self._manager.start(_end_with_the_driver)
        desk = self._manager.desk  # type: ignore[attr-defined]
        self._ask: AskDesk = partial(_ask, desk(max_calls, max_cost))
        self._executors: list[ProcessPoolExecutor] = []

    def begin(self, *arguments: Any) -> Future[ShardResult]:
        # Separate executors: a process that dies breaks all others of its executor.
        executor = ProcessPoolExecutor(
            1, mp_context=self._context, initializer=_end_with_the_driver
        )
        self._executors.append(executor)
        worker: Callable[..., ShardResult] = record_shard
        return executor.submit(worker, *arguments, self._ask)

    def ask(self, method: str, *args: Any, **named: Any) -> Any:
        """The desk, whose process ends with the job."""
        with JudgeError.instead_of(
            (EOFError, OSError),
            "the process that counts and collects for the workers of this job has ended",
            expected="a process that lives as long as the job; workers of it may be lost",
            remedy="see what ends it, often too little memory; run the same command again: what "
            "was answered is recorded, and not asked again",
        ):
            return self._ask(method, *args, **named)

    def close(self) -> None:
        for executor in self._executors:
            executor.shutdown(wait=False, cancel_futures=True)
        self._manager.shutdown()


@contextmanager
def _ignored_by_children(number: signal.Signals) -> Iterator[None]:
    """Let processes that are started here ignore a signal, as their children will.

    The server that forks the workers runs no code of ours, and cannot be asked to.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(number, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(number, handler)


def _end_with_the_driver() -> None:
    """Ignore interrupts, which the driver handles, and end when the driver ends."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    driver = multiprocessing.parent_process()
    assert driver is not None, "workers are begun by a driver"

    def follow() -> None:
        with suppress(OSError):
            wait_for_end([driver.sentinel])
        exit_at_once(1)

    threading.Thread(target=follow, daemon=True).start()
