"""``judgesense batch``: a suite asked by a file of requests, as OpenAI's batch API takes it."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Final

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
from pytest_judgesense.commands.answers import (
    FIRST_ERROR,
    cassette_of,
    fault_in,
    record_all,
    requests_of,
)
from pytest_judgesense.commands.options import (
    FILE,
    OUTPUT,
    add_cassettes,
    add_judge,
    place_of,
    registry_of,
)
from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.files.output import write_text
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.providers.base import HttpRequest
from pytest_judgesense.judges.providers.builtin import provider_of
from pytest_judgesense.judges.resolving import credentials_of
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.questions.place import trust_of
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add both steps."""
    steps = parser.add_subparsers(required=True, metavar="STEP")
    export = steps.add_parser("export", help="write the requests of the trials not yet recorded")
    export.add_argument("-o", "--output", required=True, help=OUTPUT, **FILE)
    export.set_defaults(run=export_batch)
    results = steps.add_parser("import", help="record the results: output and error files")
    results.add_argument("results", nargs="+", help="files of answers", **FILE)
    results.set_defaults(run=import_batch)
    for step in (export, results):
        add_judge(step)
        text = "a suite by name, NAME@PRESET, or its file"
        step.add_argument("--judge-suite", required=True, metavar="NAME", help=text)
        add_cassettes(step)


def export_batch(options: argparse.Namespace) -> list[str]:
    """Write the requests of all trials that are not recorded as the input file of a batch."""
    place = place_of(options)
    judge, suite = place.judge(options.judge_name), place.suite(options.judge_suite)
    trust = trust_of(options.judge_suite)
    trust.refuse_suite(suite)
    trust.refuse_files(f"judge {judge.name!r}", judge.prompts.files)
    lint_notices(suite_for_judge(suite, judge), registry_of(options))
    requests = _batch_requests(judge, suite)
    missing = list(_missing(judge, requests, options.judge_cassettes))
    if not missing:
        return [f"all {_trials(requests)} trials of {judge.name} on {suite.name} are recorded"]
    text = "".join(f"{batch_line(_custom_id(t, r), r.body)}\n" for t, r in missing)
    write_text(options.output, text)
    count = f"{_trials(missing)} of {_trials(requests)} trials of {judge.name} on {suite.name}"
    lines = [f"{count} are not recorded, their requests are written: {options.output}"]
    if len(missing) > _trials(missing):
        lines.append(f"{len(missing)} requests: answers that are graded one by one take two")
    if judge.repair is not None:
        lines.append("replies that have to be repaired are asked for by --judge-mode record")
    if len(missing) > _MOST_LINES or len(text.encode()) > _MOST_BYTES:
        lines.append(
            f"OpenAI takes {_MOST_LINES:,} requests and {_MOST_BYTES // 10**6} MB in one batch: "
            "split the file by lines, and import all results together"
        )
    return lines


def import_batch(options: argparse.Namespace) -> list[str]:
    """Record the results of a batch, in any order and number."""
    place = place_of(options)
    judge, suite = place.judge(options.judge_name), place.suite(options.judge_suite)
    requests = _batch_requests(judge, suite)
    by_id = {_custom_id(*planned): planned for planned in requests}
    planned_trials = {trial.id for trial, _ in requests}
    left_out: dict[str, list[str]] = defaultdict(list)
    # The calls of a trial in their order, whatever the order of the results.
    answered: dict[str, list[Answered]] = {custom_id: [] for custom_id in by_id}
    for result in chain.from_iterable(map(read_batch_results, options.results)):
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
    if not any(answered.values()) and _UNANSWERED not in left_out:
        raise LogError(
            f"no result is of judge {judge.name!r} on suite {suite.name}",
            found=next((texts[0] for texts in left_out.values()), "no line"),
            expected="results of a file that judgesense batch export wrote for them",
            remedy="name the judge and the suite of the export; if a prompt has changed since, "
            "export and run the batch again",
        )
    trials: dict[str, list[Answered]] = defaultdict(list)
    for custom_id, attempts in answered.items():
        if attempts:
            trials[by_id[custom_id][0].id] += _in_order(attempts, judge)
    lines = record_all(judge, options.judge_cassettes, trials)
    names = suite_for_judge(suite, judge).recordings
    forget_stop(judge, suite, cassettes_in(options.judge_cassettes, judge.slug, names))
    for why, texts in left_out.items():
        lines.append(f"{len(texts)} results {why} and left out, the first is {texts[0]}")
    count = _trials(requests)
    recorded = count - _trials(_missing(judge, requests, options.judge_cassettes))
    return [*lines, f"{recorded} of {count} trials are recorded now"]


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
