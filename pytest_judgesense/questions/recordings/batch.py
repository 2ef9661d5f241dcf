"""A suite asked by a file of requests, as OpenAI's batch API takes it.

The answers are recorded like those to live calls: without secrets, in the same order, and never in
place of existing recordings.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.asking.carrying_over import in_recording_order, suites_in_recording
from pytest_judgesense.asking.stopping_point import forget_stop
from pytest_judgesense.cassettes.batch_files import (
    BATCH_URL,
    JSON_HEADERS,
    Answered,
    batch_line,
    read_batch_results,
)
from pytest_judgesense.cassettes.cassette import answered_first
from pytest_judgesense.cassettes.exchange import FAULT, as_body
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.cassettes.matching import Identity, request_digest
from pytest_judgesense.cassettes.received import received
from pytest_judgesense.cassettes.replaying import ReplayingCassette
from pytest_judgesense.cassettes.scope import Abandoned
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.cassettes.writing import RecordingCassette, utc_now
from pytest_judgesense.checks.suite_faults import lint_notices
from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.judges.calls import first_calls
from pytest_judgesense.judges.client import fault_of, unasked_endpoint
from pytest_judgesense.judges.prompts import judge_for_suite, suite_for_judge
from pytest_judgesense.judges.providers.base import HttpRequest
from pytest_judgesense.judges.providers.builtin import provider_of
from pytest_judgesense.judges.resolving import credentials_of
from pytest_judgesense.judges.spec import JudgeSpec, refuse_jury
from pytest_judgesense.questions.place import Place, trust_of
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.suites.builtin import cassettes_in
from pytest_judgesense.suites.planning import Plans, plan_trials, recording_of
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
    judge: JudgeSpec, suite: Suite, trials: Mapping[str, Sequence[Answered]], plans: Plans
) -> list[str]:
    """Record the answers to trials of a suite; lines that say how many are new."""
    by_path: dict[Path, dict[str, Sequence[Answered]]] = defaultdict(dict)
    for trial, answers in trials.items():
        by_path[cassette_of(judge, plans.cassettes, trial)][trial] = answers
    return [
        line
        for path in sorted(by_path)
        for line in _record(path, by_path[path], judge, suite_for_judge(suite, judge), plans)
    ]


def _record(
    path: Path,
    trials: Mapping[str, Sequence[Answered]],
    judge: JudgeSpec,
    suite: Suite,
    plans: Plans,
) -> list[str]:
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
            order = cassette.recordings.in_file_order
            if not cassette.is_finished():
                suites = suites_in_recording(path.stem, judge, suite, plans)
                order = in_recording_order(path.stem, order, suites)
            cassette.finish(order)
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


# Limits of one batch of OpenAI.
_MOST_LINES: Final = 50_000
_MOST_BYTES: Final = 200_000_000
_DIGEST: Final = 12
# Why results are left out.
_OUTDATED: Final = "answer another request than this judge would send now"
_FOREIGN: Final = "are of other judges or suites"
_UNANSWERED: Final = "were not answered"


@dataclass(frozen=True)
class BatchExportQuestion:
    """Which requests a batch has to answer.

    Attributes:
        suite: its name, NAME@PRESET, or its file.
        output: the file that takes the requests.
        judge: its name; ``None`` for the one that the project declares.
        place: the project of this folder.
    """

    suite: str
    output: Path
    judge: str | None = None
    place: Place = field(default_factory=Place)

    def answer(self) -> BatchExportAnswer:
        """The requests of all trials that are not recorded; none is sent.

        Raises:
            UsageError: the judge cannot be asked by such a file, or the suite not by any.
        """
        judge, suite = self.place.judge(self.judge), self.place.suite(self.suite)
        trust = trust_of(self.suite)
        trust.refuse_suite(suite)
        trust.refuse_files(f"judge {judge.name!r}", judge.prompts.files)
        lint_notices(suite_for_judge(suite, judge), self.place.registry)
        requests = _batch_requests(judge, suite)
        missing = tuple(_missing(judge, requests, self.place.cassettes))
        return BatchExportAnswer(judge, suite, self.output, _trials(requests), missing)


@dataclass(frozen=True)
class BatchExportAnswer(QuestionAnswer):
    """The requests of a batch.

    Attributes:
        judge: who would be asked.
        suite: about what.
        output: the file that takes the requests.
        trials: of the suite.
        missing: the trials that are not recorded, each with a request.
    """

    judge: JudgeSpec
    suite: Suite
    output: Path
    trials: int
    missing: tuple[tuple[Trial, HttpRequest], ...]

    @cached_property
    def text(self) -> str:
        """The input file of the batch."""
        lines = (batch_line(_custom_id(*planned), planned[1].body) for planned in self.missing)
        return "".join(f"{line}\n" for line in lines)

    def lines(self) -> Iterator[str]:
        """How many trials are not recorded, and what has to be known of the batch."""
        of_suite = f"{self.trials} trials of {self.judge.name} on {self.suite.name}"
        if not self.missing:
            yield f"all {of_suite} are recorded"
            return
        missing_trials = _trials(self.missing)
        count = f"{missing_trials} of {of_suite}"
        yield f"{count} are not recorded, their requests are written: {self.output}"
        if len(self.missing) > missing_trials:
            yield f"{len(self.missing)} requests: answers that are graded one by one take two"
        if self.judge.repair is not None:
            yield "replies that have to be repaired are asked for by --judge-mode record"
        if len(self.missing) > _MOST_LINES or len(self.text.encode()) > _MOST_BYTES:
            yield (
                f"OpenAI takes {_MOST_LINES:,} requests and {_MOST_BYTES // 10**6} MB in one "
                "batch: split the file by lines, and import all results together"
            )

    def to_dict(self) -> Mapping[str, Any]:
        """How many trials there are, and the lines of the file."""
        return {
            "judge": self.judge.name,
            "suite": self.suite.name,
            "trials": self.trials,
            "missing": _trials(self.missing),
            "requests": [json.loads(line) for line in self.text.splitlines()],
        }


@dataclass(frozen=True)
class BatchImportQuestion:
    """The results of a batch, to be recorded.

    Attributes:
        suite: its name, NAME@PRESET, or its file.
        results: files of answers, in any order and number.
        judge: its name; ``None`` for the one that the project declares.
        place: the project of this folder.
    """

    suite: str
    results: tuple[Path, ...]
    judge: str | None = None
    place: Place = field(default_factory=Place)

    def answer(self) -> BatchImportAnswer:
        """Record the results.

        Raises:
            LogError: no result is of this judge on this suite, or two contradict each other.
            CassetteError: another session records them.
        """
        judge, suite = self.place.judge(self.judge), self.place.suite(self.suite)
        requests, cassettes = _batch_requests(judge, suite), self.place.cassettes
        by_id = {_custom_id(*planned): planned for planned in requests}
        answered, left_out = _answers_of(self.results, by_id)
        if not any(answered.values()) and _UNANSWERED not in left_out:
            raise LogError(
                f"no result is of judge {judge.name!r} on suite {suite.name}",
                found=next((texts[0] for texts in left_out.values()), "no line"),
                expected="results of a file that judgesense recordings batch export wrote for them",
                remedy="name the judge and the suite of the export; if a prompt has changed since, "
                "export and run the batch again",
            )
        trials: dict[str, list[Answered]] = defaultdict(list)
        for custom_id, attempts in answered.items():
            if attempts:
                trials[by_id[custom_id][0].id] += _in_order(attempts, judge)
        written = tuple(record_all(judge, suite, trials, self.place.plans))
        names = suite_for_judge(suite, judge).recordings
        forget_stop(judge, suite, cassettes_in(cassettes, judge.slug, names))
        count = _trials(requests)
        recorded = count - _trials(_missing(judge, requests, cassettes))
        return BatchImportAnswer(
            count, recorded, written, {why: tuple(texts) for why, texts in left_out.items()}
        )


@dataclass(frozen=True)
class BatchImportAnswer(QuestionAnswer):
    """What was recorded of a batch.

    Attributes:
        trials: of the suite.
        recorded: of these, how many have a recorded answer now.
        written: how many exchanges are new in each recording, in words.
        left_out: by the reason, the results that were left out.
    """

    trials: int
    recorded: int
    written: tuple[str, ...]
    left_out: Mapping[str, tuple[str, ...]]

    def lines(self) -> Iterator[str]:
        """What was recorded, what was left out, and how far the suite is."""
        yield from self.written
        for why, texts in self.left_out.items():
            yield f"{len(texts)} results {why} and left out, the first is {texts[0]}"
        yield f"{self.recorded} of {self.trials} trials are recorded now"

    def to_dict(self) -> Mapping[str, Any]:
        """How many trials are recorded, and what was left out."""
        left_out = {why: list(texts) for why, texts in self.left_out.items()}
        return {"trials": self.trials, "recorded": self.recorded, "left_out": left_out}


def _answers_of(
    results: Iterable[Path], by_id: Mapping[str, tuple[Trial, HttpRequest]]
) -> tuple[dict[str, list[Answered]], dict[str, list[str]]]:
    """The answers to the requests ``by_id``, and by the reason the results that are left out.

    The calls of a trial are in their order, whatever the order of the results.
    """
    planned_trials = {trial.id for trial, _ in by_id.values()}
    answered: dict[str, list[Answered]] = {custom_id: [] for custom_id in by_id}
    left_out: dict[str, list[str]] = defaultdict(list)
    for result in chain.from_iterable(map(read_batch_results, results)):
        name = result.custom_id
        if name not in by_id:
            is_planned = name.rpartition("#")[0] in planned_trials
            left_out[_OUTDATED if is_planned else _FOREIGN].append(f"{result.where}: {name}")
        elif result.status is None:
            left_out[_UNANSWERED].append(f"{name}: {result.reason}")
        else:
            _, request = by_id[name]
            sent = request.method, request.url, as_body(request.body)
            got = result.status, JSON_HEADERS, result.data
            answer = Answered(result.where, *sent, *got, recorded_at=result.recorded_at)
            answered[name].append(answer)
    return answered, left_out


def _in_order(answered: Sequence[Answered], judge: JudgeSpec) -> list[Answered]:
    """The errors of one request, then its answer; of equal results one."""
    once = list({(answer.status, answer.data): answer for answer in reversed(answered)}.values())
    errors = [answer for answer in once if answer.status >= FIRST_ERROR or fault_in(answer, judge)]
    answers = [answer for answer in once if answer not in errors]
    if len(answers) > 1:
        raise LogError(
            f"{answers[0].where} and {answers[1].where} answer the same request",
            found="two different answers",
            expected="one answer to a request",
            remedy="delete one of the two lines",
        )
    return [*reversed(errors), *answers]


def _trials(requests: Iterable[tuple[Trial, HttpRequest]]) -> int:
    return len({trial.id for trial, _ in requests})


def _batch_requests(judge: JudgeSpec, suite: Suite) -> list[tuple[Trial, HttpRequest]]:
    refuse_jury(judge, "a batch file asks one judge")
    if judge.provider == "callable" or not provider_of(judge).chat_completions:
        raise UsageError(
            f"judge {judge.name!r} cannot be asked by a batch file",
            found=f"the provider {judge.provider}",
            expected="an OpenAI-compatible endpoint",
            remedy="record it with --judge-mode record",
        )
    return list(requests_of(judge, suite))


def _custom_id(trial: Trial, request: HttpRequest) -> str:
    """The trial's id and a digest of its request: an answer to another one is not taken for its."""
    digest = request_digest("POST", BATCH_URL, request.body)
    return f"{trial.id}#{digest[:_DIGEST]}"


def _missing(
    judge: JudgeSpec, requests: Iterable[tuple[Trial, HttpRequest]], cassettes: Path
) -> Iterator[tuple[Trial, HttpRequest]]:
    """The trials whose present request has no recorded answer."""
    opened = cache(
        lambda path: ReplayingCassette(
            path, secrets=credentials_of(judge), identity=Identity(judge.ignore)
        )
    )
    for trial, request in requests:
        cassette = opened(cassette_of(judge, cassettes, trial.id))
        request_key = (request.method, request.url, request.body)
        with suppress(Abandoned):  # another request is recorded
            if answered_first(cassette, trial.id, [request_key]):
                continue
        yield trial, request
