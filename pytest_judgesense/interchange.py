"""Recordings to and from other programs: vcrpy, and those that execute a batch file.

What comes from outside is recorded on a tape like the answer to a live call: without secrets, in
the same order, and never in place of what is recorded already. Each function returns what there is
to tell, in lines.
"""

from __future__ import annotations

import os
import shlex
import sys
import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from pytest_judgesense.cassettes.credentials import Credentials, environment_credentials
from pytest_judgesense.cassettes.exchange import (
    FAULT,
    NO_RESPONSE,
    Exchange,
    RecordedRequest,
    as_body,
)
from pytest_judgesense.cassettes.interchange import (
    BATCH_URL,
    JSON_HEADERS,
    Answered,
    Form,
    batch_line,
    read_batch_results,
    read_vcr,
    vcr_text,
)
from pytest_judgesense.cassettes.journal import read_exchanges
from pytest_judgesense.cassettes.key import request_digest
from pytest_judgesense.cassettes.ledger import received
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.cassettes.tape import Tape, utc_now
from pytest_judgesense.errors import (
    CassetteError,
    LogError,
    UsageError,
)
from pytest_judgesense.judges.calls import first_calls
from pytest_judgesense.judges.lines import fault_of, line_of
from pytest_judgesense.judges.prompts import judge_for_suite, suite_for_judge
from pytest_judgesense.judges.resolving import credentials_of
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.traffic import Traffic
from pytest_judgesense.judges.wire import HttpRequest
from pytest_judgesense.output import write_text
from pytest_judgesense.suites.planning import plan_trials, recording_of, trial_order
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Trial

__all__ = ["export_batch", "from_foreign_vcr", "from_vcr", "import_batch", "requests_of", "to_vcr"]

_FORMS: Final[Mapping[str, Form]] = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}
_ERROR: Final = 400  # the first HTTP status that is one
# What OpenAI takes in one batch.
_MOST_LINES: Final = 50_000
_MOST_BYTES: Final = 200_000_000
_DIGEST: Final = 12


def requests_of(judge: JudgeSpec, suite: Suite) -> Iterator[tuple[Trial, HttpRequest]]:
    """What every trial of ``suite`` sends to ``judge``, without its key; nobody is asked.

    A trial whose candidates are graded one by one sends two requests. What a reply has to be
    mended by depends on it, and is left out.

    Raises:
        UsageError: a prompt of the judge is wrong, or the judge is a Python function.
    """
    if judge.provider == "callable":
        raise UsageError(
            f"what judge {judge.name!r} sends is not known",
            found="a Python function, which asks whom it likes",
            expected="a judge with a provider",
            remedy="record it with --judge-mode record",
        )
    own = suite_for_judge(suite, judge)
    calls = first_calls(own, judge)
    asked_as = judge_for_suite(judge, own)
    line = replace(line_of(asked_as, Traffic(asked_as, 1)), key=None)
    for trial in plan_trials(own):
        for call in calls(trial):
            yield trial, line.request_of(call)


def to_vcr(source: Path, target: Path) -> list[str]:
    """Write the cassette ``source`` as a vcrpy file, YAML or JSON by the suffix of ``target``.

    Raises:
        UsageError: the suffix is wrong, the file exists, or it cannot be written.
        CassetteError: the cassette cannot be read, or an exchange has no form in a vcrpy file.
    """
    form = _FORMS.get(target.suffix)
    if form is None or target.exists():
        raise UsageError(
            f"{target} cannot be written",
            found="a file that exists" if form else f"the suffix {target.suffix!r}",
            expected="a new file with the suffix .yaml, .yml or .json",
        )
    exchanges = _recorded(source)
    played = [one for one in exchanges if one.response.status != NO_RESPONSE]
    write_text(target, vcr_text(played, form))
    lines = [f"{len(played)} exchanges written: {target}"]
    if left := len(exchanges) - len(played):
        lines.append(f"{left} requests that got no response have no form there and are left out")
    return lines


def from_vcr(source: Path, target: Path) -> list[str]:
    """Record a vcrpy file that was made by `to_vcr` in the cassette ``target``.

    Raises:
        UsageError: an interaction does not say which trial it belongs to.
        CassetteError: one of the files cannot be read.
    """
    found = read_vcr(source)
    nameless = [one for one in found if one.trial is None]
    if nameless:
        raise UsageError(
            f"{len(nameless)} of {len(found)} interactions do not say which trial they belong to",
            found=f"{nameless[0].where}: {nameless[0].method} {nameless[0].url}",
            expected="a file that judgesense has converted",
            remedy="name the judge and the suite that were recorded, by --judge-name and "
            "--judge-suite: their requests tell the trials",
        )
    trials: dict[str, list[Answered]] = {}
    for one in found:
        trials.setdefault(one.trial or "", []).append(one)
    return _told(target, _record(target, trials))


def from_foreign_vcr(source: Path, judge: JudgeSpec, suite: Suite, cassettes: Path) -> list[str]:
    """Record what vcrpy has recorded of ``judge`` on ``suite``.

    An interaction belongs to the trial that sends its request; of several that send the same one,
    as replicates do, the first gets the first answer.

    Raises:
        CassetteError: the file cannot be read, or nothing in it is of this judge and suite.
    """
    waiting: dict[str, deque[Trial]] = {}
    for trial, request in requests_of(judge, suite):
        digest = request_digest(request.method, request.url, request.body)
        waiting.setdefault(digest, deque()).append(trial)
    trials: dict[str, list[Answered]] = {}
    foreign: list[Answered] = []
    for one in read_vcr(source):
        asking = waiting.get(request_digest(one.method, one.url, one.body))
        if not asking:
            foreign.append(one)
            continue
        trials.setdefault(asking[0].id, []).append(one)
        if one.status < _ERROR and _fault(one, judge) is None:
            asking.popleft()
    if not trials:
        raise CassetteError(
            f"nothing in {source} is of judge {judge.name!r} on suite {suite.name}",
            found=f"{foreign[0].method} {foreign[0].url}" if foreign else "no interaction",
            expected="requests that this judge sends for this suite",
            remedy="declare the judge with the model, base_url and settings of the recording",
        )
    lines = [f"{len(trials)} trials of {judge.name} on {suite.name} in {source}"]
    if foreign:
        lines.append(
            f"{len(foreign)} interactions are of no trial and left out, the first is "
            f"{foreign[0].where}: {foreign[0].method} {foreign[0].url}"
        )
    return lines + _record_all(judge, cassettes, trials)


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
    told: Counter[str] = Counter()
    first: dict[str, str] = {}
    answered: dict[str, list[Answered]] = {}

    def tell(kind: str, text: str) -> None:
        told[kind] += 1
        first.setdefault(kind, text)

    for result in (result for path in sources for result in read_batch_results(path)):
        if result.custom_id not in by_id:
            known = result.custom_id.rpartition("#")[0] in planned_trials
            kind = "answer another request than this judge would send now" if known else "foreign"
            tell(kind, f"{result.where}: {result.custom_id}")
            continue
        if result.status is None:
            tell("unanswered", f"{result.custom_id}: {result.reason}")
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
    if not answered and not told["unanswered"]:
        raise LogError(
            f"no result is of judge {judge.name!r} on suite {suite.name}",
            found=next(iter(first.values()), "no line"),
            expected="results of a file that judgesense batch export wrote for them",
            remedy="name the judge and the suite of the export; if a prompt has changed since, "
            "export and run the batch again",
        )
    trials: dict[str, list[Answered]] = {}
    # The calls of a trial in their order, whatever that of the results.
    for custom_id in sorted(answered, key=place.__getitem__):
        trial = by_id[custom_id][0].id
        trials.setdefault(trial, []).extend(_in_order(answered[custom_id], judge))
    lines = _record_all(judge, cassettes, trials)
    names = {"foreign": "are of other judges or suites", "unanswered": "were not answered"}
    lines += [
        f"{count} results {names.get(kind, kind)} and left out, the first is {first[kind]}"
        for kind, count in told.items()
    ]
    count, missing = _trials(requests), _trials(_missing(judge, requests, cassettes))
    return [*lines, f"{count - missing} of {count} trials are recorded now"]


def _in_order(given: Sequence[Answered], judge: JudgeSpec) -> list[Answered]:
    """What came of one request: errors, then its answer. What came twice alike counts once."""
    once = list({(one.status, one.data): one for one in reversed(given)}.values())
    errors = [one for one in once if one.status >= _ERROR or _fault(one, judge)]
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
    if judge.provider == "anthropic" or judge.wire is not None:
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


def _cassette(judge: JudgeSpec, cassettes: Path, trial: str) -> Path:
    return cassettes / judge.slug / f"{recording_of(trial)}.jsonl"


def _missing(
    judge: JudgeSpec, requests: Iterable[tuple[Trial, HttpRequest]], cassettes: Path
) -> Iterator[tuple[Trial, HttpRequest]]:
    """The trials whose request, as it would be sent now, has no recorded answer."""
    tapes: dict[Path, Tape] = {}
    for trial, request in requests:
        path = _cassette(judge, cassettes, trial.id)
        if path not in tapes:
            tapes[path] = Tape.open(path, "replay", secrets=credentials_of(judge))
        with tapes[path].trial(trial.id) as scope:
            if tapes[path].answer_to(scope, request.method, request.url, request.body) is None:
                yield trial, request


def _record_all(
    judge: JudgeSpec, cassettes: Path, trials: Mapping[str, Sequence[Answered]]
) -> list[str]:
    by_path: dict[Path, dict[str, Sequence[Answered]]] = {}
    for trial, given in trials.items():
        by_path.setdefault(_cassette(judge, cassettes, trial), {})[trial] = given
    return [
        line
        for path, part in sorted(by_path.items())
        for line in _told(path, _record(path, part, judge))
    ]


def _record(
    path: Path, trials: Mapping[str, Sequence[Answered]], judge: JudgeSpec | None = None
) -> Counter[str]:
    """Record what the trials were answered; how many exchanges are new, known, and contradicted."""
    counts: Counter[str] = Counter()
    secrets = credentials_of(judge) if judge else Credentials(environment_credentials(os.environ))
    instant = ""
    recorder = Recorder(uuid.uuid4().hex, os.getpid(), shlex.join(sys.argv))
    with recording_alone(path, recorder):
        tape = Tape.open(path, "record", secrets=secrets, now=lambda: instant)
        errors = {(e.trial, e.response.body) for e in read_exchanges(path) if not e.answers}
        try:
            for trial, given in trials.items():
                with tape.trial(trial) as scope:
                    for one in given:
                        response = received(one.status, one.headers, one.data)
                        if (trial, response.body) in errors:
                            counts["known"] += 1
                            continue
                        instant = one.recorded_at or utc_now()
                        scope.fault_of = _saying(_fault(one, judge))
                        request = RecordedRequest(one.method, one.url, one.body)
                        known = tape.record_answer(request, one.status, one.headers, one.data)
                        counts["known" if known else "new"] += 1
                        if known and one.status < _ERROR and known.body != response.body:
                            counts["contradicted"] += 1
        finally:
            tape.finish(trial_order(tape.trials))
    return counts


def _fault(one: Answered, judge: JudgeSpec | None) -> str | None:
    """What is wrong with an answer in spite of its status: as recorded, or as the judge finds."""
    if judge is None or judge.provider == "callable":
        return dict(one.headers).get(FAULT)
    return fault_of(judge)(one.status, received(one.status, one.headers, one.data).body)


def _saying(fault: str | None) -> Callable[[int, str | bytes], str | None]:
    return lambda _status, _body: fault


def _told(path: Path, counts: Counter[str]) -> list[str]:
    lines = [f"{counts['new']} exchanges recorded: {path}"]
    if counts["known"]:
        other = counts["contradicted"]
        lines.append(
            f"{counts['known']} were recorded there already"
            + (f", {other} of them with another answer, which stays" if other else "")
        )
    return lines


def _recorded(path: Path) -> list[Exchange]:
    if not path.is_file():
        raise UsageError(f"there is no cassette {path}", expected="the path of a cassette")
    return read_exchanges(path)
