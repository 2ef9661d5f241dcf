"""``judgesense record``: suites recorded in shards, by processes of this machine or a Ray cluster.

A shard is defined and recorded as with ``--judge-shard``; see `recording` for the cooperation of
workers, desk and driver. Ray or the operating system schedules the workers.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_judgesense.checks.suite_faults import lint_notices
from pytest_judgesense.commands.options import (
    BROKEN_FILE,
    add_cassettes,
    complain,
    number,
    place_of,
    registry_of,
    show,
)
from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.throttle import CONCURRENCY
from pytest_judgesense.judges.trust import Trust
from pytest_judgesense.questions.place import JUDGE
from pytest_judgesense.questions.record.ray_tasks import (
    TEMPORARY,
    RayTasks,
    protect_temporary_cluster,
)
from pytest_judgesense.questions.record.shards import Job, JobResult, Processes, run_job
from pytest_judgesense.text.display import told_each_minute
from pytest_judgesense.text.layout import pace


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the suites, the judge, the shards, where they run, and the limits of the job."""
    meaning = "a suite by name, NAME@PRESET, or its file; or a folder of them"
    parser.add_argument("suites", nargs="+", metavar="SUITE", help=meaning)
    parser.add_argument("--judge-name", required=True, metavar="NAME", help=JUDGE)
    meaning = "number of shards, of whole clusters each, to record at once (default: 1)"
    parser.add_argument("--shards", type=number("number of shards", int), default=1, help=meaning)
    meaning = "as tasks of the Ray cluster at ADDRESS (default: a temporary one on 127.0.0.1)"
    parser.add_argument("--ray", nargs="?", const=TEMPORARY, metavar="ADDRESS", help=meaning)
    add_cassettes(parser)
    kinds: dict[str, Any] = {
        "--judge-concurrency": (int, "maximum number of concurrent calls in each shard"),
        "--judge-max-calls": (int, "maximum number of calls of the whole job, including retries"),
        "--judge-max-cost": (float, "maximum cost of the whole job in USD, by the judge's prices"),
        "--judge-deadline": (float, "seconds after which no shard starts a call"),
        "--judge-max-unparsed": (int, "stop a shard whose first N replies all lack a verdict"),
    }
    defaults = {"--judge-concurrency": CONCURRENCY, "--judge-max-unparsed": 20}
    for name, (kind, meaning) in kinds.items():
        reader = number(name.removeprefix("--judge-"), kind)
        parser.add_argument(name, type=reader, default=defaults.get(name), help=meaning)


def run(options: argparse.Namespace) -> int:
    """Record suites in shards."""
    if options.shards < 1 or options.judge_concurrency < 1:
        raise UsageError("--shards and --judge-concurrency are whole numbers, at least 1")
    if options.ray == TEMPORARY:
        protect_temporary_cluster()  # before a plugin or a judge imports Ray
    suites = tuple(suite for name in options.suites for suite in place_of(options).suites(name))
    judge = place_of(options).judge_to_ask(options.judge_name)
    trust = Trust.here(*(Path(name.partition("@")[0]) for name in options.suites))
    for suite in suites:
        trust.refuse_suite(suite)
    trust.refuse_files(f"judge {judge.name!r}", judge.prompts.files)
    for suite in suites:
        lint_notices(suite_for_judge(suite, judge), registry_of(options))
    # Trust was decided here; the location of a worker's installation must not change it.
    trust = replace(trust, typed=(*trust.typed, *(suite.path for suite in suites)))
    seconds = options.judge_deadline
    counted = options.judge_max_calls, options.judge_max_cost
    job = Job(
        judge,
        suites,
        options.shards,
        trust,
        options.judge_concurrency,
        options.judge_max_unparsed,
        plugins=tuple(options.plugin),
        path=tuple(str(Path(entry).resolve()) for entry in sys.path),
        environment={k: v for k, v in os.environ.items() if k.startswith("JUDGESENSE_")},
        deadline=None if seconds is None else (seconds, time.time() + seconds),
        limited=counted != (None, None),
    )
    begin = Processes if options.ray is None else lambda *limits: RayTasks(options.ray, *limits)
    with closing(begin(*counted)) as pool:
        watch, plans = _watch(judge.name), place_of(options).plans
        outcome = run_job(job, pool, options.judge_cassettes, watch, plans)
    show(_lines(job, outcome, options.judge_cassettes))
    for error in outcome.errors:
        complain(error)
    return 0 if outcome.answered == outcome.trials else BROKEN_FILE


def _watch(name: str) -> Callable[[int, int, int], None]:
    tell = told_each_minute()

    def watch(trials: int, answered: int, calls: int) -> None:
        tell(
            lambda seconds: (
                f"judge {name}: {answered:,} of {trials:,} trials, {calls:,} calls, "
                f"{pace(calls, seconds)}, {trials - answered:,} left"
            )
        )

    return watch


def _lines(job: Job, outcome: JobResult, folder: Path) -> Iterator[str]:
    suites = ", ".join(suite.name for suite in job.suites)
    recorded = f"{outcome.answered} of {outcome.trials} trials recorded"
    yield f"judge {job.judge.name} on {suites}: {recorded}"
    shards = f"{job.shards} shard{'s' * (job.shards != 1)}"
    parts = [", ".join([*outcome.requests.words, shards])]
    if outcome.carried:
        parts.insert(0, f"{outcome.carried} answers carried over")
    if outcome.lost:
        parts.append(f"{outcome.lost} workers lost and their shards begun again")
    yield f"  {', '.join(parts)}: {folder / job.judge.slug}"
    yield from (f"  {notice}" for notice in outcome.notices)
    if outcome.interrupted:
        yield "  interrupted; the same command asks only what is missing"
