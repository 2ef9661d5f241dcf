"""``judgesense batch``: a suite asked by a file of requests, as OpenAI's batch API takes it."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from pytest_judgesense.cassettes.cassette import Cassette
from pytest_judgesense.cassettes.exchange import as_body
from pytest_judgesense.cassettes.interchange import (
    BATCH_URL,
    JSON_HEADERS,
    Answered,
    batch_line,
    read_batch_results,
)
from pytest_judgesense.cassettes.matching import request_digest
from pytest_judgesense.commands.cassettes import (
    FIRST_ERROR,
    cassette_of,
    fault_in,
    record_all,
    requests_of,
)
from pytest_judgesense.commands.options import add_judge_and_suite, judge_and_suite, show
from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.judges.providers.base import HttpRequest
from pytest_judgesense.judges.resolving import credentials_of
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.output import write_text
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Trial

# What OpenAI takes in one batch.
_MOST_LINES: Final = 50_000
_MOST_BYTES: Final = 200_000_000
_DIGEST: Final = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add both steps."""
    steps = parser.add_subparsers(required=True, metavar="STEP")
    export = steps.add_parser("export", help="write the requests of the trials not yet recorded")
    export.add_argument("-o", "--output", required=True, type=Path, metavar="FILE")
    add_judge_and_suite(export, required=True)
    export.set_defaults(run=run_export)
    results = steps.add_parser("import", help="record the results: output and error files")
    results.add_argument("results", nargs="+", type=Path, metavar="FILE")
    add_judge_and_suite(results, required=True)
    results.set_defaults(run=run_import)


def run_export(options: argparse.Namespace) -> int:
    """Write the requests that are not recorded."""
    judge, suite = judge_and_suite(options)
    return show(export_batch(judge, suite, options.judge_cassettes, options.output))


def run_import(options: argparse.Namespace) -> int:
    """Record the results of a batch."""
    judge, suite = judge_and_suite(options)
    return show(import_batch(judge, suite, options.judge_cassettes, options.results))


def export_batch(judge: JudgeSpec, suite: Suite, cassettes: Path, target: Path) -> list[str]:
    """Write the requests of all trials that are not recorded as the input file of a batch.

    Raises:
        UsageError: the judge does not speak the format, or the file cannot be written.
        CassetteError: a cassette cannot be read.
    """
    requests = _batch_requests(judge, suite)
    missing = list(_missing(judge, requests, cassettes))
    if not missing:
        return [f"all {_trials(requests)} trials of {judge.name} on {suite.name} are recorded"]
    text = "".join(f"{batch_line(_custom_id(t, r), r.body)}\n" for t, r in missing)
    write_text(target, text)
    count = f"{_trials(missing)} of {_trials(requests)} trials of {judge.name} on {suite.name}"
    lines = [f"{count} are not recorded, their requests are written: {target}"]
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


def import_batch(
    judge: JudgeSpec, suite: Suite, cassettes: Path, sources: Sequence[Path]
) -> list[str]:
    """Record the results of a batch, whatever their order and however many there are.

    Raises:
        LogError: a file cannot be read, holds two answers to one request, or none to a request of
            this judge and suite.
        CassetteError: a cassette cannot be read or written.
    """
    requests = _batch_requests(judge, suite)
    by_id = {_custom_id(*planned): planned for planned in requests}
    planned_trials = {trial.id for trial, _ in requests}
    place = {custom_id: number for number, custom_id in enumerate(by_id)}
    left_out: dict[str, list[str]] = {}
    answered: dict[str, list[Answered]] = {}
    for result in (result for path in sources for result in read_batch_results(path)):
        if result.custom_id not in by_id:
            known = result.custom_id.rpartition("#")[0] in planned_trials
            kind = "answer another request than this judge would send now" if known else "foreign"
            left_out.setdefault(kind, []).append(f"{result.where}: {result.custom_id}")
            continue
        if result.status is None:
            text = f"{result.custom_id}: {result.reason}"
            left_out.setdefault("unanswered", []).append(text)
            continue
        _, request = by_id[result.custom_id]
        answered.setdefault(result.custom_id, []).append(
            Answered(
                where=result.where,
                method=request.method,
                url=request.url,
                body=as_body(request.body),
                status=result.status,
                headers=JSON_HEADERS,
                data=result.data,
                recorded_at=result.recorded_at,
            )
        )
    if not answered and "unanswered" not in left_out:
        raise LogError(
            f"no result is of judge {judge.name!r} on suite {suite.name}",
            found=next((texts[0] for texts in left_out.values()), "no line"),
            expected="results of a file that judgesense batch export wrote for them",
            remedy="name the judge and the suite of the export; if a prompt has changed since, "
            "export and run the batch again",
        )
    trials: dict[str, list[Answered]] = {}
    # The calls of a trial in their order, whatever that of the results.
    for custom_id in sorted(answered, key=place.__getitem__):
        trial = by_id[custom_id][0].id
        trials.setdefault(trial, []).extend(_in_order(answered[custom_id], judge))
    lines = record_all(judge, cassettes, trials)
    names = {"foreign": "are of other judges or suites", "unanswered": "were not answered"}
    lines += [
        f"{len(texts)} results {names.get(kind, kind)} and left out, the first is {texts[0]}"
        for kind, texts in left_out.items()
    ]
    count, missing = _trials(requests), _trials(_missing(judge, requests, cassettes))
    return [*lines, f"{count - missing} of {count} trials are recorded now"]


def _in_order(given: Sequence[Answered], judge: JudgeSpec) -> list[Answered]:
    """The errors of one request, then its answer; of equal results one."""
    once = list({(one.status, one.data): one for one in reversed(given)}.values())
    errors = [one for one in once if one.status >= FIRST_ERROR or fault_in(one, judge)]
    answers = [one for one in once if one not in errors]
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
    if judge.provider == "anthropic" or judge.plugin_provider is not None:
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
    """The trials whose request, as it would be sent now, has no recorded answer."""
    opened: dict[Path, Cassette] = {}
    for trial, request in requests:
        path = cassette_of(judge, cassettes, trial.id)
        if path not in opened:
            opened[path] = Cassette(path, "replay", secrets=credentials_of(judge))
        with opened[path].trial(trial.id) as scope:
            asked = (request.method, request.url, request.body)
            if opened[path].answer_to(scope.trial, *asked) is None:
                yield trial, request
