"""Answers that were received elsewhere, recorded like those to live calls.

They are recorded without secrets, in the same order, and never in place of existing recordings.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from pytest_judgesense.cassettes.batch_files import Answered
from pytest_judgesense.cassettes.cassette import answered_first
from pytest_judgesense.cassettes.exchange import FAULT
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.cassettes.received import received
from pytest_judgesense.cassettes.scope import Abandoned
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.cassettes.writing import RecordingCassette, utc_now
from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.calls import first_calls
from pytest_judgesense.judges.client import fault_of, unasked_endpoint
from pytest_judgesense.judges.prompts import judge_for_suite, suite_for_judge
from pytest_judgesense.judges.providers.base import HttpRequest
from pytest_judgesense.judges.resolving import credentials_of
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.suites.planning import plan_trials, recording_of, trial_order
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Trial

FIRST_ERROR: Final = 400  # the first HTTP status that is one


def requests_of(judge: JudgeSpec, suite: Suite) -> Iterator[tuple[Trial, HttpRequest]]:
    """The requests that the trials of ``suite`` send to ``judge``, without its key.

    A trial whose candidates are graded one by one sends two requests. Repair requests depend on the
    reply and are left out.
    """
    if judge.provider == "callable":
        raise UsageError(
            f"what judge {judge.name!r} sends is not known",
            found="a Python function, which makes its own requests",
            expected="a judge with a provider",
            remedy="record it with --judge-mode record",
        )
    suite = suite_for_judge(suite, judge)
    if suite.form.settling is not None:
        raise UsageError(
            f"what suite {suite.name} asks depends on answers to it",
            found=f'kind = "{suite.kind}", some of whose texts follow from the first verdicts',
            expected="a suite all of whose requests can be written before any answer",
            remedy="record it with --judge-mode record",
        )
    calls = first_calls(suite, judge)
    asked_as = judge_for_suite(judge, suite)
    endpoint = replace(unasked_endpoint(asked_as), key=None)
    for trial in plan_trials(suite):
        for call in calls(trial):
            yield trial, endpoint.request_of(call)


def cassette_of(judge: JudgeSpec, cassettes: Path, trial: str) -> Path:
    """The file that a trial is recorded in."""
    return cassettes / judge.slug / f"{recording_of(trial)}.jsonl"


def record_all(
    judge: JudgeSpec, cassettes: Path, trials: Mapping[str, Sequence[Answered]]
) -> list[str]:
    """Record the answers to the trials; lines that say how many are new."""
    by_path: dict[Path, dict[str, Sequence[Answered]]] = defaultdict(dict)
    for trial, answers in trials.items():
        by_path[cassette_of(judge, cassettes, trial)][trial] = answers
    return [line for path in sorted(by_path) for line in _record(path, by_path[path], judge)]


def _record(path: Path, trials: Mapping[str, Sequence[Answered]], judge: JudgeSpec) -> list[str]:
    """Record the answers; lines that say how many are new, known and contradicted."""
    counts: Counter[str] = Counter()
    secrets = credentials_of(judge)
    instant = ""
    recorder = Recorder.here()
    with recording_alone(path, recorder):
        cassette = RecordingCassette(path, secrets=secrets, now=lambda: instant)
        errors = {(e.trial, e.response.body) for e in read_exchanges(path) if not e.answers}
        try:
            for trial, answers in trials.items():
                with cassette.trial(trial, anew=_is_other(cassette, trial, answers)) as scope:
                    for answer in answers:
                        response = received(answer.status, answer.headers, answer.data)
                        if (trial, response.body) in errors:
                            counts["known"] += 1
                            continue
                        instant = answer.recorded_at or utc_now()
                        fault = fault_in(answer, judge)
                        scope.fault_of = lambda *_, fault=fault: fault
                        call = cassette.intercept(answer.method, answer.url, answer.body)
                        recorded = call.recorded
                        if recorded is None:
                            call.answered(answer.status, answer.headers, answer.data)
                        counts["known" if recorded else "new"] += 1
                        if (
                            recorded
                            and answer.status < FIRST_ERROR
                            and recorded.body != response.body
                        ):
                            counts["contradicted"] += 1
        finally:
            cassette.finish(trial_order(cassette.trials))
    lines = [f"{counts['new']} exchanges recorded: {path}"]
    if counts["known"]:
        lines.append(f"{counts['known']} were recorded there already")
    if other := counts["contradicted"]:
        lines[-1] += f", {other} of them with another answer, which stays"
    return lines


def _is_other(cassette: RecordingCassette, trial: str, answers: Sequence[Answered]) -> bool:
    """Whether other requests are recorded of a trial than those that were ``given``."""
    requests = [(answered.method, answered.url, answered.body) for answered in answers]
    try:
        answered_first(cassette, trial, requests)
    except Abandoned:
        return True
    return False


def fault_in(answer: Answered, judge: JudgeSpec) -> str | None:
    """The fault of an answer in spite of its status: as recorded, or as the judge finds."""
    if judge.provider == "callable":
        return dict(answer.headers).get(FAULT)
    return fault_of(judge)(answer.status, received(answer.status, answer.headers, answer.data).body)
