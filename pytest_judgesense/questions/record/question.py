"""Suites recorded in shards, by processes of this machine or a Ray cluster.

A shard is defined and recorded as with ``--judge-shard``; see `shards` for the cooperation of
workers, desk and driver. Ray or the operating system schedules the workers.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_judgesense.checks.suite_faults import lint_notices
from pytest_judgesense.errors import JudgesenseError, UsageError
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.trust import Trust
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.pricing import CallPlan, call_plan
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.questions.record.ray_tasks import RayTasks
from pytest_judgesense.questions.record.shards import Job, JobResult, Processes, run_job
from pytest_judgesense.questions.terms import AskingTerms
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.display import told_each_minute
from pytest_judgesense.text.layout import pace


@dataclass(frozen=True)
class RecordQuestion:
    """What a judge says to suites that are recorded in shards.

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

    def answer(self) -> RecordAnswer:
        """Record what is missing of the suites.

        Raises:
            UsageError: no shard is asked for, or what is named is not known or cannot be sent.
            CassetteError: another session records one of the suites.
            JudgeError: a shard lost its worker repeatedly, or there is no such cluster.
        """
        if self.shards < 1 or self.terms.concurrency < 1:
            raise UsageError("--shards and --judge-concurrency are whole numbers, at least 1")
        job = self._job(self._trust())
        with closing(self._workers()) as workers:
            folder, watch = self.place.cassettes, _watch(job.judge.name)
            return RecordAnswer(job, run_job(job, workers, folder, watch, self.place.plans), folder)

    def _trust(self) -> Trust:
        """What may be sent from here; raises an error for a suite that may not, or has faults."""
        trust = Trust.here(*(Path(name.partition("@")[0]) for name in self.suites))
        judge = self._judge
        for suite in self._suites:
            trust.refuse_suite(suite)
        trust.refuse_files(f"judge {judge.name!r}", judge.prompts.files)
        for suite in self._suites:
            lint_notices(suite_for_judge(suite, judge), self.place.registry)
        # It is decided here; the location of a worker's installation must not change it.
        return replace(trust, typed=(*trust.typed, *(suite.path for suite in self._suites)))

    def _job(self, trust: Trust) -> Job:
        seconds, terms = self.deadline_s, self.terms
        return Job(
            self._judge,
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
