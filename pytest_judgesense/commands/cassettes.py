"""``judgesense cassettes``: recordings searched for secrets, and converted to and from vcrpy.

Foreign exchanges are recorded like the answers to live calls: without secrets, in the same order,
and never in place of existing recordings.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from pytest_judgesense.cassettes.cassette import Cassette, answered_first
from pytest_judgesense.cassettes.checking import check_cassettes
from pytest_judgesense.cassettes.credentials import Credentials, environment_credentials
from pytest_judgesense.cassettes.exchange import FAULT, NO_RESPONSE
from pytest_judgesense.cassettes.interchange import Answered, Form, read_vcr, vcr_text
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.cassettes.matching import request_digest
from pytest_judgesense.cassettes.received import received
from pytest_judgesense.cassettes.scope import Abandoned
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.cassettes.writing import RecordingCassette, utc_now
from pytest_judgesense.commands.options import (
    BAR_FAILED,
    BROKEN_FILE,
    FILE,
    add_judge_and_suite,
    complain,
    judge_and_suite,
    show,
)
from pytest_judgesense.errors import CassetteError, UsageError
from pytest_judgesense.grouping import grouped
from pytest_judgesense.judges.calls import first_calls
from pytest_judgesense.judges.client import fault_of, unasked_endpoint
from pytest_judgesense.judges.prompts import judge_for_suite, suite_for_judge
from pytest_judgesense.judges.providers.base import HttpRequest
from pytest_judgesense.judges.resolving import credentials_of
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.output import write_text
from pytest_judgesense.suites.planning import plan_trials, recording_of, trial_order
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Trial

_FORMS: Final[Mapping[str, Form]] = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}
FIRST_ERROR: Final = 400  # the first HTTP status that is one


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add both actions."""
    verbs = parser.add_subparsers(required=True, metavar="ACTION")
    convert = verbs.add_parser("convert", help="convert a cassette to or from stock vcrpy")
    said = "cassette (.jsonl), or vcrpy's .yaml or .json"
    convert.add_argument("source", help=said, **FILE)
    convert.add_argument("-o", "--output", help="the other of the two", **FILE)
    add_judge_and_suite(convert, required=False)
    convert.set_defaults(run=run_convert)
    check = verbs.add_parser("check", help="search recordings for secrets (exit code 1: found)")
    said = "cassette of this project (.jsonl) or of vcrpy (.yaml, .yml, .json), or a folder"
    check.add_argument("paths", nargs="+", type=Path, metavar="PATH", help=said)
    check.set_defaults(run=run_check)


def run_check(options: argparse.Namespace) -> int:
    """Search recordings for secrets."""
    checked = check_cassettes(options.paths, os.environ)
    show(f"{finding.place}: {finding.what}" for finding in checked.findings)
    for error in checked.broken:
        complain(error)
    if named := ", ".join(f"{name} ({why})" for name, why in checked.skipped.items()):
        show([f"not removed, for such short or plain values are ordinary words too: {named}"])
    counts = f"{checked.files} files, {checked.exchanges} exchanges"
    show([f"{len(checked.findings)} secrets in {counts}"])
    if checked.broken:
        return BROKEN_FILE
    return BAR_FAILED if checked.findings else 0


def run_convert(options: argparse.Namespace) -> list[str]:
    """Convert a cassette to or from stock vcrpy."""
    source, target = options.source, options.output
    if options.judge_name and options.judge_suite and target is None:
        return _from_foreign_vcr(source, *judge_and_suite(options), options.judge_cassettes)
    if target is None or options.judge_name or options.judge_suite:
        raise UsageError(
            "the command does not say where to convert to",
            expected="-o FILE; or, for what vcrpy has recorded itself, --judge-name and "
            "--judge-suite together, which name the cassette",
        )
    return _to_vcr(source, target) if source.suffix == ".jsonl" else _from_vcr(source, target)


def _to_vcr(source: Path, target: Path) -> list[str]:
    """Write the cassette ``source`` as a vcrpy file, YAML or JSON by the suffix of ``target``."""
    form = _FORMS.get(target.suffix)
    if form is None or target.exists():
        raise UsageError(
            f"{target} cannot be written",
            found="a file that exists" if form else f"the suffix {target.suffix!r}",
            expected="a new file with the suffix .yaml, .yml or .json",
        )
    if not source.is_file():
        raise UsageError(f"there is no cassette {source}", expected="the path of a cassette")
    exchanges = read_exchanges(source)
    played = [one for one in exchanges if one.response.status != NO_RESPONSE]
    write_text(target, vcr_text(played, form))
    lines = [f"{len(played)} exchanges written: {target}"]
    if left := len(exchanges) - len(played):
        lines.append(f"{left} requests that got no response have no form there and are left out")
    return lines


def _from_vcr(source: Path, target: Path) -> list[str]:
    """Record a vcrpy file that was made by `_to_vcr` in the cassette ``target``."""
    if target.suffix in _FORMS:
        raise UsageError(
            f"{target} cannot be written: {source} is a file of vcrpy already",
            found=f"the suffix {target.suffix!r}",
            expected="a cassette of this project, with the suffix .jsonl",
        )
    found = read_vcr(source)
    nameless = [one for one in found if one.trial is None]
    if nameless:
        raise UsageError(
            f"{len(nameless)} of {len(found)} interactions do not say which trial they belong to",
            found=nameless[0].shown,
            expected="a file that judgesense has converted",
            remedy="name the judge and the suite that were recorded, by --judge-name and "
            "--judge-suite: their requests identify the trials",
        )
    return _record(target, grouped(found, lambda one: one.trial or ""))


def _from_foreign_vcr(source: Path, judge: JudgeSpec, suite: Suite, cassettes: Path) -> list[str]:
    """Record the exchanges that vcrpy has recorded of ``judge`` on ``suite``.

    An interaction belongs to the trial that sends its request; of several that send the same one,
    as replicates do, the first gets the first answer.
    """
    waiting: dict[str, deque[Trial]] = defaultdict(deque)
    for trial, request in requests_of(judge, suite):
        waiting[request_digest(request.method, request.url, request.body)].append(trial)
    trials: dict[str, list[Answered]] = defaultdict(list)
    foreign: list[Answered] = []
    for one in read_vcr(source):
        asking = waiting.get(request_digest(one.method, one.url, one.body))
        if not asking:
            foreign.append(one)
            continue
        trials[asking[0].id].append(one)
        if one.status < FIRST_ERROR and fault_in(one, judge) is None:
            asking.popleft()
    if not trials:
        raise CassetteError(
            f"nothing in {source} is of judge {judge.name!r} on suite {suite.name}",
            found=foreign[0].shown if foreign else "no interaction",
            expected="requests that this judge sends for this suite",
            remedy="declare the judge with the model, base_url and settings of the recording",
        )
    lines = [f"{len(trials)} trials of {judge.name} on {suite.name} in {source}"]
    if foreign:
        lines.append(
            f"{len(foreign)} interactions are of no trial and left out, the first is "
            f"{foreign[0].shown}"
        )
    return lines + record_all(judge, cassettes, trials)


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
    for trial, given in trials.items():
        by_path[cassette_of(judge, cassettes, trial)][trial] = given
    return [line for path in sorted(by_path) for line in _record(path, by_path[path], judge)]


def _record(
    path: Path, trials: Mapping[str, Sequence[Answered]], judge: JudgeSpec | None = None
) -> list[str]:
    """Record the answers; lines that say how many are new, known and contradicted."""
    counts: Counter[str] = Counter()
    secrets = credentials_of(judge) if judge else Credentials(environment_credentials(os.environ))
    instant = ""
    recorder = Recorder.here()
    with recording_alone(path, recorder):
        cassette = RecordingCassette(path, secrets=secrets, now=lambda: instant)
        errors = {(e.trial, e.response.body) for e in read_exchanges(path) if not e.answers}
        try:
            for trial, given in trials.items():
                with cassette.trial(trial, anew=_is_other(cassette, trial, given)) as scope:
                    for one in given:
                        response = received(one.status, one.headers, one.data)
                        if (trial, response.body) in errors:
                            counts["known"] += 1
                            continue
                        instant = one.recorded_at or utc_now()
                        fault = fault_in(one, judge)
                        scope.fault_of = lambda *_, fault=fault: fault
                        call = cassette.intercept(one.method, one.url, one.body)
                        known = call.recorded
                        if known is None:
                            call.answered(one.status, one.headers, one.data)
                        counts["known" if known else "new"] += 1
                        if known and one.status < FIRST_ERROR and known.body != response.body:
                            counts["contradicted"] += 1
        finally:
            cassette.finish(trial_order(cassette.trials))
    lines = [f"{counts['new']} exchanges recorded: {path}"]
    if counts["known"]:
        lines.append(f"{counts['known']} were recorded there already")
    if other := counts["contradicted"]:
        lines[-1] += f", {other} of them with another answer, which stays"
    return lines


def _is_other(cassette: Cassette, trial: str, given: Sequence[Answered]) -> bool:
    """Whether other requests are recorded of a trial than those that were ``given``."""
    requests = [(answered.method, answered.url, answered.body) for answered in given]
    try:
        answered_first(cassette, trial, requests)
    except Abandoned:
        return True
    return False


def fault_in(one: Answered, judge: JudgeSpec | None) -> str | None:
    """The fault of an answer in spite of its status: as recorded, or as the judge finds."""
    if judge is None or judge.provider == "callable":
        return dict(one.headers).get(FAULT)
    return fault_of(judge)(one.status, received(one.status, one.headers, one.data).body)
