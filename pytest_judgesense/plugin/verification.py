"""Recorded trials of a judge, asked again and compared."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_judgesense.cassettes.cassette import Cassette
from pytest_judgesense.cassettes.credentials import Credentials
from pytest_judgesense.checks.verifying import Verification, compare, sampled
from pytest_judgesense.errors import LimitReached
from pytest_judgesense.judges.calls import judgment_of
from pytest_judgesense.judges.client import Answer
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.prompts import judge_for_suite
from pytest_judgesense.judges.resolving import credentials_of
from pytest_judgesense.judges.session import AskedOn
from pytest_judgesense.judges.throttle import Throttle
from pytest_judgesense.measurement import Measurement, ask_all, models_named
from pytest_judgesense.suites.planning import recording_of


def ask_again(
    measurement: Measurement,
    cassettes: Mapping[str, Path],
    loop: AskingLoop,
    throttle: Throttle,
    *,
    count: int,
    concurrency: int,
    credentials: Credentials,
) -> Verification:
    """Ask some trials of a replayed measurement again, and compare.

    Args:
        measurement: what the recordings say.
        cassettes: files for what is asked now, not the recordings, by name of the recording.
        loop: where calls run.
        throttle: of the judge in this session.
        count: the most trials to ask.
        concurrency: calls under way at once.
        credentials: what the session knows of secrets; it is added to.

    Raises:
        JudgeError: the judge cannot be asked.
        UsageError: a function of the judge is wrong.
    """
    judge, suite, seed = measurement.judge, measurement.suite, measurement.seed
    asked_as = judge_for_suite(judge, suite)
    trials = sampled(measurement.judgments, count, seed)
    secrets = credentials_of(judge, credentials)
    answers: dict[str, Answer] = {}
    opened = []
    for recording, path in cassettes.items():
        part = [trial for trial in trials if recording_of(trial.id) == recording]
        cassette = Cassette(path, "record", secrets=secrets)
        opened.append((cassette, part))
        asked = loop.run(
            ask_all(
                asked_as,
                suite,
                part,
                cassette,
                throttle,
                concurrency,
                AskedOn(),
                measurement.registry.skills,
            )
        )
        for trial, answer in zip(part, asked, strict=True):
            if not isinstance(answer, LimitReached):
                answers[trial.id] = answer
    answered = [trial for trial in trials if trial.id in answers]
    fresh = [judgment_of(suite, judge, trial, answers[trial.id]) for trial in answered]
    named = models_named(judge, answers.values(), opened).values()
    served = (measurement.served, tuple(sorted(set().union(*named))))
    return compare(measurement.judgments, trials, fresh, judge.slug, suite.name, seed, served)
