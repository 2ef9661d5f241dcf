"""Suites recorded in shards, by processes of this machine or a Ray cluster.

A shard is defined and recorded as with ``--judge-shard``; see `shards` for the cooperation of
workers, desk and driver. Ray or the operating system schedules the workers.

The workers of ``judgesense record`` as tasks of a Ray cluster: the user's, or a temporary one.

Whoever reaches a Ray cluster runs code in it, with the environment of whoever started it, keys
included. The temporary cluster is therefore reached from this machine alone, and by nobody who
lacks a token that is drawn for it; its folder is closed to other users. A cluster that the user
started is used as it is.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from pytest_judgesense.checks.suite_faults import lint_notices
from pytest_judgesense.errors import JudgeError, JudgesenseError, UsageError, listed
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.trust import Trust
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.pricing import CallPlan, call_plan
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.questions.record.shards import (
    Desk,
    Job,
    JobResult,
    Processes,
    ShardResult,
    record_shard,
    run_job,
)
from pytest_judgesense.questions.terms import AskingTerms
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.display import told_each_minute
from pytest_judgesense.text.layout import pace

TEMPORARY: Final = "local"
"""The address that stands for a temporary cluster on this machine."""
# No job has as many: it ends where workers are lost in vain.
_ATTEMPTS_A_JOB: Final = 10**6
# The path of a socket has at most 104 bytes, of which the temporary folder of macOS takes half.
_SHORT: Final = "/tmp" if sys.platform == "darwin" else None  # noqa: S108 - its name is not known


def protect_temporary_cluster() -> None:
    """Set what a temporary cluster is protected by, in the environment that its processes inherit.

    To be called before anything may import Ray, which reads it once.

    Raises:
        UsageError: Ray has been imported already, without it.
    """
    protection = _protection()
    if sys.modules.get("ray") and any(os.environ.get(k) != v for k, v in protection.items()):
        raise UsageError(
            "a temporary Ray cluster cannot be protected",
            found="Ray was imported before the command began",
            expected="Ray to be imported after the command has set what its processes inherit",
            remedy="start a cluster by 'ray start' and name it: --ray ADDRESS; or leave --ray out",
        )
    os.environ.update(protection)


# Once a process: Ray's client keeps the first token that it has read.
@cache
def _protection() -> dict[str, str]:
    return {
        # Off, services listen on the loopback address alone, on every system.
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_AUTH_MODE": "token",
        # In the environment, for other users read neither it nor a file of it.
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
    }


class RayTasks:
    """Tasks of a Ray cluster, one a shard, and an actor for the desk.

    Args:
        address: of a cluster that runs, ``"auto"``, or `TEMPORARY` for one that ends with the job.
        max_calls: of the whole job.
        max_cost: of the whole job, in USD.

    Raises:
        UsageError: Ray is not installed, or is too old to protect a temporary cluster, or was
            imported before it could be.
        JudgeError: there is no such cluster, or the temporary one can be reached from other
            machines and was ended.
    """

    def __init__(self, address: str, max_calls: int | None, max_cost: float | None) -> None:
        if address == TEMPORARY:
            protect_temporary_cluster()
        with UsageError.instead_of(
            ImportError,
            "--ray needs Ray, which is not installed",
            remedy="pip install 'pytest-judgesense[ray]', or leave --ray out",
        ):
            import ray
            from ray import exceptions
        self.lost: tuple[type[Exception], ...] = (
            exceptions.WorkerCrashedError,
            exceptions.NodeDiedError,
            exceptions.ObjectLostError,
        )
        self._ray: Any = ray
        self._folder: TemporaryDirectory[str] | None = None
        self._was_there = bool(self._ray.is_initialized())
        if not self._was_there:
            self._connect(address)
        # Only the driver restarts a task, because it knows what is recorded.
        self._task: Any = self._ray.remote(max_retries=0)(record_shard)
        self._desk: Any = self._ray.remote(num_cpus=0, max_concurrency=64)(Desk).remote(
            max_calls, max_cost
        )
        self._ask = partial(_ask_actor, self._desk)

    def _connect(self, address: str) -> None:
        more = self._temporary() if address == TEMPORARY else {}
        with JudgeError.instead_of(
            (OSError, ValueError, RuntimeError, self._ray.exceptions.RayError),
            f"the Ray cluster {address!r} cannot be reached or started",
            expected="the address of a cluster that runs Ray of this version, or 'auto'",
            remedy="look at 'ray status --address ADDRESS'; a cluster that asks for a token finds "
            "it in RAY_AUTH_TOKEN, with RAY_AUTH_MODE=token",
        ):
            self._ray.init(address=address, log_to_driver=False, logging_level="ERROR", **more)
        if address == TEMPORARY:
            self._refuse_reachable()

    def _temporary(self) -> dict[str, Any]:
        # Ray has asked for tokens since 2.52; older ones ignore the environment above.
        if not hasattr(self._ray.exceptions, "AuthenticationError"):
            raise UsageError(
                "a temporary Ray cluster cannot be protected",
                found=f"Ray {self._ray.__version__}, which runs the tasks of whoever reaches it",
                expected="Ray 2.52 or later",
                remedy="pip install --upgrade 'pytest-judgesense[ray]', or leave --ray out",
            )
        # Ray opens its folders to all users; the one above them is not.
        self._folder = TemporaryDirectory(prefix="ray-", dir=_SHORT, ignore_cleanup_errors=True)
        return {"include_dashboard": False, "_temp_dir": str(Path(self._folder.name, "ray"))}

    def _refuse_reachable(self) -> None:
        addresses = [node["NodeManagerAddress"] for node in self._ray.nodes()]
        if not all(ip_address(address).is_loopback for address in addresses):
            self.close()
            raise JudgeError(
                "the temporary Ray cluster can be reached from other machines, and was ended",
                found=f"Ray {self._ray.__version__} on {listed(addresses)}",
                expected="a cluster on 127.0.0.1",
                remedy="use an older Ray, from 2.52 on, or leave --ray out",
            )

    def begin(self, *arguments: Any) -> Future[ShardResult]:
        """Start the task of a shard, with the arguments of `record_shard` but the last."""
        future: Future[ShardResult] = self._task.remote(*arguments, self._ask).future()
        return future

    def ask(self, method: str, *args: Any, **named: Any) -> Any:
        """The desk, which ends with its cluster."""
        with JudgeError.instead_of(
            self._ray.exceptions.RayActorError,
            "the Ray cluster of this job has ended",
            expected="a cluster that lives as long as the job; workers and nodes of it may be lost",
            remedy="run the same command again: what was answered is recorded, and not asked again",
        ):
            return self._ask(method, *args, **named)

    def close(self) -> None:
        """Leave the cluster; a temporary one ends."""
        if not self._was_there:
            self._ray.shutdown()
        if self._folder:
            self._folder.cleanup()


def _ask_actor(desk: Any, method: str, *args: Any, **named: Any) -> Any:
    from ray import get

    return get(getattr(desk, method).remote(*args, **named))


@dataclass(frozen=True)
class RecordQuestion:
    """What a judge says to suites that are recorded in shards; of a jury what its members say.

    Attributes:
        suites: each by name, NAME@PRESET or its file; or folders of them.
        judge: its name; ``None`` for the one that the project declares.
        shards: number of them, of whole clusters each, to record at once.
        ray: the address of a Ray cluster, or `TEMPORARY`; ``None`` for processes of this machine.
        deadline_s: seconds after which no shard starts a call; ``None`` sets no limit.
        plugins: modules that workers load.
        terms: limits of the whole job; concurrency and unparsed replies are those of a shard.
        place: the project of this folder, whose recordings are added to.
    """

    suites: tuple[str, ...]
    judge: str | None = None
    shards: int = 1
    ray: str | None = None
    deadline_s: float | None = None
    plugins: tuple[str, ...] = ()
    terms: AskingTerms = field(default_factory=lambda: AskingTerms(mode="record"))
    place: Place = field(default_factory=Place)

    @cached_property
    def _suites(self) -> tuple[Suite, ...]:
        return tuple(suite for name in self.suites for suite in self.place.suites(name))

    @cached_property
    def _judge(self) -> JudgeSpec:
        return self.place.judge_to_ask(self.judge)

    def plan(self) -> CallPlan:
        """The calls of the suites that are not recorded, and their price; nothing is asked."""
        judge = self.place.judge(self.judge)
        asked = ((suite.name, judge, suite) for suite in self._suites)
        return call_plan(f"judge {judge.name}", asked, self.place.cassettes, self.place.plans)

    def answer(self) -> RecordAnswer | RecordJuryAnswer:
        """Record what is missing of the suites.

        Raises:
            UsageError: no shard is asked for, or what is named is not known or cannot be sent.
            CassetteError: another session records one of the suites.
            JudgeError: a shard lost its worker repeatedly, or there is no such cluster.
        """
        if self.shards < 1 or self.terms.concurrency < 1:
            raise UsageError("--shards and --judge-concurrency are whole numbers, at least 1")
        judge, folder = self._judge, self.place.cassettes
        jobs = [self._job(asked, self._trust(asked)) for asked in judge.asked_judges]
        parts: list[RecordAnswer] = []
        with closing(self._workers()) as workers:
            for number, job in enumerate(jobs):
                watch, first = _watch(job.judge.name), number * _ATTEMPTS_A_JOB + 1
                result = run_job(job, workers, folder, watch, self.place.plans, first)
                parts.append(RecordAnswer(job, result, folder))
                if result.interrupted:
                    break
        return RecordJuryAnswer(judge, tuple(parts)) if judge.members else parts[0]

    def _trust(self, judge: JudgeSpec) -> Trust:
        """What may be sent from here; raises an error for a suite that may not, or has faults."""
        trust = Trust.here(*(Path(name.partition("@")[0]) for name in self.suites))
        for suite in self._suites:
            trust.refuse_suite(suite)
        trust.refuse_files(f"judge {judge.name!r}", judge.prompts.files)
        for suite in self._suites:
            lint_notices(suite_for_judge(suite, judge), self.place.registry)
        # It is decided here; the location of a worker's installation must not change it.
        return replace(trust, typed=(*trust.typed, *(suite.path for suite in self._suites)))

    def _job(self, judge: JudgeSpec, trust: Trust) -> Job:
        seconds, terms = self.deadline_s, self.terms
        return Job(
            judge,
            self._suites,
            self.shards,
            trust,
            terms.concurrency,
            terms.max_unparsed,
            plugins=self.plugins,
            path=tuple(str(Path(entry).resolve()) for entry in sys.path),
            environment={k: v for k, v in os.environ.items() if k.startswith("JUDGESENSE_")},
            deadline=None if seconds is None else (seconds, time.time() + seconds),
            limited=(terms.max_calls, terms.max_cost) != (None, None),
        )

    def _workers(self) -> Processes | RayTasks:
        limits = self.terms.max_calls, self.terms.max_cost
        return Processes(*limits) if self.ray is None else RayTasks(self.ray, *limits)


def _watch(name: str) -> Callable[[int, int, int], None]:
    """Say every minute how far the job is."""
    tell = told_each_minute()

    def watch(trials: int, answered: int, calls: int) -> None:
        tell(
            lambda seconds: (
                f"judge {name}: {answered:,} of {trials:,} trials, {calls:,} calls, "
                f"{pace(calls, seconds)}, {trials - answered:,} left"
            )
        )

    return watch


@dataclass(frozen=True)
class RecordAnswer(QuestionAnswer):
    """What was recorded.

    Attributes:
        job: the judge, the suites, and the number of shards.
        result: what has come of it.
        folder: of the recordings.
    """

    job: Job
    result: JobResult
    folder: Path

    @property
    def complete(self) -> bool:
        """Whether every trial has a recorded answer."""
        return self.result.answered == self.result.trials

    @property
    def errors(self) -> tuple[JudgesenseError, ...]:
        """Why it is not complete."""
        return self.result.errors

    def lines(self) -> Iterator[str]:
        """How many trials are recorded, by how many calls, and what was noticed."""
        job, result = self.job, self.result
        suites = ", ".join(suite.name for suite in job.suites)
        recorded = f"{result.answered} of {result.trials} trials recorded"
        yield f"judge {job.judge.name} on {suites}: {recorded}"
        shards = f"{job.shards} shard{'s' * (job.shards != 1)}"
        parts = [", ".join([*result.requests.words, shards])]
        if result.carried:
            parts.insert(0, f"{result.carried} answers carried over")
        if result.lost:
            parts.append(f"{result.lost} workers lost and their shards begun again")
        yield f"  {', '.join(parts)}: {self.folder / job.judge.slug}"
        yield from (f"  {notice}" for notice in result.notices)
        if result.interrupted:
            yield "  interrupted; the same command asks only what is missing"

    def to_dict(self) -> Mapping[str, Any]:
        """How many trials are recorded, and by how many requests."""
        return {
            "judge": self.job.judge.name,
            "suites": [suite.name for suite in self.job.suites],
            "trials": self.result.trials,
            "recorded": self.result.answered,
            "carried": self.result.carried,
            "requests": self.result.requests.sent,
            "lost_workers": self.result.lost,
            "notices": list(self.result.notices),
            "interrupted": self.result.interrupted,
        }


@dataclass(frozen=True)
class RecordJuryAnswer(QuestionAnswer):
    """What was recorded of the members of a jury, one after the other.

    Attributes:
        judge: the jury.
        parts: what was recorded of each member, up to one that was interrupted.
    """

    judge: JudgeSpec
    parts: tuple[RecordAnswer, ...]

    @property
    def complete(self) -> bool:
        """Whether every trial has a recorded answer of every member."""
        return len(self.parts) == len(self.judge.members) and all(p.complete for p in self.parts)

    @property
    def errors(self) -> tuple[JudgesenseError, ...]:
        """Why it is not complete."""
        return tuple(error for part in self.parts for error in part.errors)

    def lines(self) -> Iterator[str]:
        """What is recorded of each member."""
        for part in self.parts:
            yield from part.lines()

    def to_dict(self) -> Mapping[str, Any]:
        """What is recorded of each member."""
        return {"judge": self.judge.name, "members": [part.to_dict() for part in self.parts]}
