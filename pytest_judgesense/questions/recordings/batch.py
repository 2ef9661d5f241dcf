"""A suite asked by a file of requests, as OpenAI's batch API takes it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.asking.stopping_point import forget_stop
from pytest_judgesense.cassettes.batch_files import (
    BATCH_URL,
    JSON_HEADERS,
    Answered,
    batch_line,
    read_batch_results,
)
from pytest_judgesense.cassettes.cassette import answered_first
from pytest_judgesense.cassettes.exchange import as_body
from pytest_judgesense.cassettes.matching import Identity, request_digest
from pytest_judgesense.cassettes.replaying import ReplayingCassette
from pytest_judgesense.cassettes.scope import Abandoned
from pytest_judgesense.checks.suite_faults import lint_notices
from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.providers.base import HttpRequest
from pytest_judgesense.judges.providers.builtin import provider_of
from pytest_judgesense.judges.resolving import credentials_of
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.questions.place import Place, trust_of
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.questions.recordings.received_answers import (
    FIRST_ERROR,
    cassette_of,
    fault_in,
    record_all,
    requests_of,
)
from pytest_judgesense.suites.builtin import cassettes_in
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Trial

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
        written = tuple(record_all(judge, cassettes, trials))
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
