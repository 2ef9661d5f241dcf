"""A recording proves itself: what a session has asked is replayed offline to the same verdicts.

A judge that is a function is replayed in a fresh process, in the opposite order and with another
seed of hashes: what a process remembers (a look-up, an answer, a number that counts up, a circuit
breaker) is then not there, as it is not in CI. A function that only this process has, of a
``conftest.py`` or a notebook, is replayed here, and so is a judge of a built-in provider, of whose
code none is the user's.

A look-up that a judge makes once in a process stands in the trials that came first (several, where
trials run at the same time, or what it brought has expired), and every other trial that comes
first would miss it. It is found by the replay, where it is lent, and becomes a line of its own only
where a trial asks all that it was recorded with, and this in addition, to the same verdict. In the
process that has recorded, nothing has to be looked up any more: there a look-up is what a trial
asks no second time, while it asks its other requests again.
"""

from __future__ import annotations

import copyreg
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from pytest_judgesense.cassettes.cassette import Cassette
from pytest_judgesense.cassettes.exchange import CALL, LOOK_UP, Exchange, RecordedRequest
from pytest_judgesense.cassettes.matching import Identity, fields_that_differ, is_of_the_prompt
from pytest_judgesense.cassettes.offline import UNSEEN_REMEDY
from pytest_judgesense.cassettes.replaying import ReplayingCassette
from pytest_judgesense.cassettes.scope import CallScope
from pytest_judgesense.cassettes.writing import RecordingCassette
from pytest_judgesense.errors import (
    JudgesenseError,
    LimitReached,
    MissingRecording,
    NetworkRefused,
    UnprovenRecording,
)
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.calls import calls_of, judgment_of
from pytest_judgesense.judges.client import ReplayingClient, open_replaying
from pytest_judgesense.judges.loop import AskingLoop, together
from pytest_judgesense.judges.prompts import judge_for_suite
from pytest_judgesense.judges.rereading import measured_alike, shown
from pytest_judgesense.judges.spec import JudgeSpec, table_of
from pytest_judgesense.judges.throttle import CONCURRENCY, Deadline
from pytest_judgesense.judges.trust import Trust
from pytest_judgesense.judges.unseen import traffic_of, unseen_remedy
from pytest_judgesense.suites.planning import recording_of
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Judgment, Trial


def _read_only(table: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(table)


# Judge and suite tables are read-only mappings; the data they are made of can be pickled.
copyreg.pickle(MappingProxyType, lambda table: (_read_only, (dict(table),)))

# Between two looks at whether the session is interrupted, or its deadline has passed.
_LOOK_S: Final = 0.25
# Trials that an error names.
_MOST_SHOWN: Final = 5
# Without a network from its beginning, where the system can take it away.
_IN_A_FRESH_PROCESS: Final = (
    "from pytest_judgesense.isolation import leave_network; is_cut_off = leave_network(); "
    "from pytest_judgesense.proving import main; main(is_cut_off)"
)
_WITH_A_NETWORK: Final = "from pytest_judgesense.proving import main; main(False)"


class Replay(NamedTuple):
    """What a trial gave when it was replayed.

    Attributes:
        judgment: ``None`` where the recording did not serve, and ``error`` says why.
        digests: those of its requests.
        missed: the requests that the recording does not answer.
        lent: the answers that it got from another trial's line, or another recording's.
    """

    judgment: Judgment | None
    error: JudgesenseError | None
    digests: frozenset[str]
    missed: tuple[RecordedRequest, ...]
    lent: tuple[Exchange, ...]


class Task(NamedTuple):
    """What is replayed: trials of a suite, on the recordings of a judge, by their names.

    Attributes:
        lending: look-ups of the judge that this process knows, of any recording, by digest.
        trust: what the session trusts; a replay sends nothing.
    """

    judge: JudgeSpec
    suite: Suite
    cassettes: Mapping[str, Path]
    trials: tuple[Trial, ...]
    lending: Mapping[str, Exchange]
    trust: Trust

    def replayed(self, loop: AskingLoop) -> dict[str, Replay]:
        """The replays by trial, of this process; the last trial comes first."""
        replays: dict[str, Replay] = {}
        for recording, path in self.cassettes.items():
            trials = [trial for trial in self.trials if recording_of(trial.id) == recording]
            identity = Identity(self.judge.ignore)
            cassette = ReplayingCassette(path, identity=identity, lending=self.lending)
            replays |= loop.run(self._of(cassette, trials[::-1]))
        return replays

    async def _of(self, cassette: ReplayingCassette, trials: Sequence[Trial]) -> dict[str, Replay]:
        judge = judge_for_suite(self.judge, self.suite)
        concurrency = judge.concurrency or CONCURRENCY
        course = calls_of(self.suite, judge)

        async def replayed(client: ReplayingClient, trial: Trial) -> Replay:
            scopes: list[CallScope] = []
            judgment, fault = None, None
            try:
                if judge.provider == "callable":
                    begin = partial(course, trial)
                    answer = await client.ask_calls(trial.id, begin, scopes.append)
                else:
                    answer = client.replay(trial.id, course(trial))
                judgment = judgment_of(self.suite, judge, trial, answer)
            except JudgesenseError as error:
                fault = error
            digests = frozenset[str]().union(*(scope.digests for scope in scopes))
            missed = tuple(request for scope in scopes for request in scope.missed)
            lent = tuple(exchange for scope in scopes for exchange in scope.lent)
            return Replay(judgment, fault, digests, missed, lent)

        with open_replaying(judge, cassette, suite=self.suite, trust=self.trust) as client:
            if judge.provider != "callable":
                each = [await replayed(client, trial) for trial in trials]
            else:
                from pytest_judgesense.cassettes.interception import intercepting

                with intercepting(cassette):
                    replays = (replayed(client, trial) for trial in trials)
                    each = await together(replays, concurrency)
        return {trial.id: replay for trial, replay in zip(trials, each, strict=True)}


class _Fresh(NamedTuple):
    """The replays of another process, and whether it had no network."""

    replays: dict[str, Replay]
    is_cut_off: bool


def main(is_cut_off: bool) -> None:
    """Replay the pickled task of standard input; the replays are written to standard output."""
    results = os.fdopen(os.dup(1), "wb")
    # What the judge prints is no result.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    task: Task = pickle.load(sys.stdin.buffer)  # noqa: S301 - of the process that began this one
    with closing(AskingLoop()) as loop:
        replays = task.replayed(loop)
        results.write(pickle.dumps(_Fresh(replays, is_cut_off)))
        results.close()


class _NoFreshProcess(Exception):
    """The judge is not there in another process; says why."""


def _freshly_replayed(
    task: Task, loop: AskingLoop, deadline: Deadline, code: str = _IN_A_FRESH_PROCESS
) -> _Fresh:
    """The replays of another process, which is ended if this one is interrupted.

    Raises:
        LimitReached: the deadline has passed.
    """
    try:
        pickled = pickle.dumps(task)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise _NoFreshProcess(str(error)) from error
    seed = "1" if os.environ.get("PYTHONHASHSEED") == "0" else "0"
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    # A file, for what a pipe does not take at once would be written by nobody after a look.
    with tempfile.TemporaryFile() as task_file:
        task_file.write(pickled)
        task_file.seek(0)
        process = subprocess.Popen(  # noqa: S603 - this Python, with code of ours
            # -P: it imports what this process does, and no more of the working folder.
            [sys.executable, "-P", "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            stdin=task_file,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    try:
        while True:
            with suppress(subprocess.TimeoutExpired):
                written, errors = process.communicate(timeout=_LOOK_S)
                break
            loop.on_wait()
            deadline.check()
    finally:
        process.kill()
        process.wait()
    try:
        fresh: _Fresh = pickle.loads(written)  # noqa: S301 - of the process above
    except (EOFError, pickle.UnpicklingError, AttributeError, ImportError) as error:
        lines = errors.decode("utf-8", "replace").strip().splitlines()
        raise _NoFreshProcess(lines[-1] if lines else str(error)) from error
    return fresh


# --- what a replay says of a recording ------------------------------------------------------------


@dataclass(frozen=True)
class Proof:
    """Whether a recording replays.

    Attributes:
        error: what does not replay, and why; ``None`` if all does.
        notices: remarks for readers.
        look_ups: requests that were found to be look-ups, by digest.
        is_cut_off: whether no network was there for anybody.
    """

    error: UnprovenRecording | None = None
    notices: tuple[str, ...] = ()
    look_ups: Mapping[str, Exchange] = field(default_factory=dict)
    is_cut_off: bool = False


def prove(
    task: Task,
    opened: Sequence[RecordingCassette],
    judgments: Mapping[str, Judgment],
    loop: AskingLoop,
    *,
    deadline: Deadline,
) -> Proof:
    """Replay what was asked, and keep look-ups where they are found.

    Args:
        task: what was asked.
        opened: its cassettes, open for recording; look-ups are moved in them.
        judgments: those of the recording, by trial.
        loop: where judges of this process run.
        deadline: of the session.
    """
    is_fresh, is_cut_off = _lives_elsewhere(task.judge), False
    try:
        if is_fresh:
            replays, is_cut_off = _freshly_replayed(task, loop, deadline)
        else:
            deadline.check()
            replays = task.replayed(loop)
    except _NoFreshProcess as reason:
        if task.judge.function is None:
            return Proof(_no_process(task, str(reason)))
        is_fresh, replays = False, task.replayed(loop)
    except LimitReached as limit:
        return Proof(notices=(f"{task.suite.name} was not replayed for a proof: {limit.what}",))
    except JudgesenseError as error:
        return Proof(_error(task, {task.trials[0].id: _Reason(error.what, error.remedy)}))
    findings = _Findings(task, opened, judgments, replays)
    if is_fresh or task.judge.provider == "callable":  # code of ours makes no look-ups
        if is_fresh:
            findings.settle_lent()
        else:
            findings.settle_unasked()
        for cassette in opened:
            cassette.keep_as_look_ups(findings.kept_in(cassette))
    if is_cut_off:
        _name_unseen(task, findings, loop, deadline)
    unproven = _error(task, findings.reasons) if findings.reasons else None
    return Proof(unproven, tuple(findings.notices()), findings.look_ups, is_cut_off)


def _name_unseen(task: Task, findings: _Findings, loop: AskingLoop, deadline: Deadline) -> None:
    """Name the network as the cause of what fails for want of it.

    The first trial of each reason is replayed once more with a network: its recorded requests are
    answered as before, and what gives the recorded verdict now has asked beside them.
    """
    firsts: dict[_Reason, str] = {}
    for trial, reason in findings.reasons.items():
        firsts.setdefault(reason, trial)
    chosen = {*[*firsts.values()][:_MOST_SHOWN]}
    trials = tuple(trial for trial in task.trials if trial.id in chosen)
    if not trials:
        return
    try:
        replays = _freshly_replayed(
            task._replace(trials=trials), loop, deadline, _WITH_A_NETWORK
        ).replays
    except (_NoFreshProcess, LimitReached):
        return  # the reasons stay as they are
    passing = {trial for trial, replay in replays.items() if findings.is_as_recorded(trial, replay)}
    traffic = traffic_of(task.judge)
    for trial, reason in findings.reasons.items():
        if firsts[reason] in passing:
            by = f" (seen: {', '.join(traffic)})" if traffic else ""
            findings.reasons[trial] = _Reason(
                f"it asks the network beside what is recorded{by}, and a replay has none: "
                f"{reason.text}",
                unseen_remedy(task.judge),
            )


def _lives_elsewhere(judge: JudgeSpec) -> bool:
    """Whether another process can have the judge, and its code is not ours."""
    if judge.provider != "callable":
        return judge.provider not in BUILT_IN.providers
    if judge.function is None:
        return True
    module = getattr(judge.function, "__module__", "__main__")
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is not None and module != "__main__" and Path(file).name != "conftest.py"


class _Reason(NamedTuple):
    """Why a trial does not replay, and what to do."""

    text: str
    remedy: str


class _Findings:
    """What the replays of a task say: why trials do not replay, and which requests are look-ups."""

    def __init__(
        self,
        task: Task,
        opened: Sequence[RecordingCassette],
        judgments: Mapping[str, Judgment],
        replays: Mapping[str, Replay],
    ) -> None:
        self._task, self._opened, self._judgments = task, opened, judgments
        self._replays = replays
        self._identity = Identity(task.judge.ignore)
        self.reasons: dict[str, _Reason] = {}
        self.look_ups: dict[str, Exchange] = {}
        for trial in task.trials:
            if (reason := self._reason(trial.id)) is not None:
                self.reasons[trial.id] = reason

    @cached_property
    def _recorded(self) -> dict[str, dict[str, RecordedRequest]]:
        """The recorded requests by trial and digest."""
        return {
            trial.id: _requests_of(self._cassette_of(trial.id), trial.id)
            for trial in self._task.trials
        }

    def _cassette_of(self, trial: str) -> RecordingCassette:
        path = self._task.cassettes[recording_of(trial)]
        return next(cassette for cassette in self._opened if cassette.path == path)

    def _asked_by(self, digest: str) -> list[str]:
        """The trials of this process that have asked a request."""
        return [trial for trial, by_digest in self._recorded.items() if digest in by_digest]

    def is_as_recorded(self, trial: str, replay: Replay) -> bool:
        """Whether a replay of a trial gives the judgment that was recorded."""
        judgment = replay.judgment
        return judgment is not None and measured_alike(judgment, self._judgments[trial])

    def _reason(self, trial: str) -> _Reason | None:
        replay, recorded = self._replays[trial], self._judgments[trial]
        if self.is_as_recorded(trial, replay):
            return None
        if isinstance(replay.error, NetworkRefused):
            return _Reason(f"a connection that is not seen: {replay.error.what}", UNSEEN_REMEDY)
        if replay.missed:
            return self._missed(trial, replay.missed[0])
        if isinstance(replay.error, MissingRecording) and not replay.digests:
            return _Reason(
                "it makes no request now, and returns another text: an answer from a cache",
                "turn the cache off, or empty it, and record again",
            )
        if replay.error is not None:
            return _Reason(replay.error.what, replay.error.remedy)
        assert replay.judgment is not None, "it has an outcome or an error"
        return _Reason(
            f"{shown(recorded)} was recorded, and {shown(replay.judgment)} is replayed from the "
            "same answers",
            "let what the function returns depend on its arguments and its answers alone",
        )

    def _missed(self, trial: str, request: RecordedRequest) -> _Reason:
        by_digest = self._recorded[trial]
        differing = [
            fields
            for recorded in by_digest.values()
            if (fields := fields_that_differ(recorded, request)) and len(fields) == 1
            if fields != ["body.model"]  # another model is another request
        ]
        if differing:
            (field,) = differing[0]
            if is_of_the_prompt(field):
                return _Reason(
                    f"its prompt changes on each run, at {field}",
                    "take what changes (a time, a random text, the order of a set) out of it",
                )
            return _Reason(
                f"a value changes on each run: {field}",
                f'put ignore = ["{field}"] into {table_of(self._task.judge.name)}',
            )
        holders = self._asked_by(self._identity.digest(request))
        where = f"{request.method} {request.url}"
        if holders:
            return _Reason(
                f"{where} is another trial's look-up, recorded in {holders[0]}",
                "make it in every trial, or before the first one, when the module is imported",
            )
        if any(recorded.method == CALL for recorded in by_digest.values()):
            return _Reason(
                "it has made no request while it was recorded, and makes one now: an answer from "
                "a cache?",
                "turn the cache off, or empty it, and record again",
            )
        return _Reason(
            f"no answer is recorded to {where}",
            "let the requests of a trial depend on its arguments and its answers alone: not on "
            "chance, and not on what trials before it have met",
        )

    def settle_lent(self) -> None:
        """Decide which of the answers that were lent are those of look-ups."""
        lent = [
            (trial, self._identity.digest(exchange.request), exchange)
            for trial, replay in self._replays.items()
            for exchange in replay.lent
        ]
        for trial, digest, exchange in lent:
            if digest in self._task.lending or self._has_only_added(trial):
                self.look_ups[digest] = exchange
        for trial, digest, exchange in lent:
            if digest not in self.look_ups and trial not in self.reasons:
                self.reasons[trial] = self._missed(trial, exchange.request)

    def _has_only_added(self, trial: str) -> bool:
        """Whether a trial has asked all that it was recorded with, to the same verdict."""
        recorded = {
            digest for digest, request in self._recorded[trial].items() if request.method != CALL
        }
        return (
            trial not in self.reasons
            and bool(recorded)
            and recorded <= self._replays[trial].digests
        )

    def settle_unasked(self) -> None:
        """The same of replays in the recording process, where look-ups are not asked again."""
        for trial, by_digest in self._recorded.items():
            replay = self._replays[trial]
            left_out = by_digest.keys() - replay.digests
            if trial in self.reasons or replay.judgment is None or left_out == by_digest.keys():
                continue
            for digest in left_out:
                exchange = self._cassette_of(trial).recordings.last(trial, digest)
                if exchange is not None and exchange.answers:
                    self.look_ups[digest] = exchange

    def kept_in(self, cassette: Cassette) -> list[Exchange]:
        """The look-ups that trials of a cassette want."""
        wanted: dict[str, Exchange] = {}
        for trial, replay in self._replays.items():
            if self._cassette_of(trial) is not cassette:
                continue
            for exchange in replay.lent:
                digest = self._identity.digest(exchange.request)
                if digest in self.look_ups:
                    wanted[digest] = exchange
            for digest in self._recorded[trial].keys() & self.look_ups.keys():
                wanted.setdefault(digest, self.look_ups[digest])
        return list(wanted.values())

    def notices(self) -> Iterator[str]:
        """What a reader of the recording should know of trials that replay."""
        judge, suite = self._task.judge, self._task.suite.name
        if judge.provider != "callable":
            return
        fewer = [
            trial
            for trial, by_digest in self._recorded.items()
            if trial not in self.reasons
            and by_digest.keys() - self._replays[trial].digests - self.look_ups.keys()
        ]
        if fewer:
            yield (
                f"{len(fewer)} of {len(self._recorded)} trials of {suite} replay with fewer "
                f"requests than they were recorded with, to the same return: {judge.name} has a "
                "cache, or asks by the time that answers take"
            )
        alone = [
            trial
            for trial, by_digest in self._recorded.items()
            if by_digest and all(request.method == CALL for request in by_digest.values())
        ]
        elsewhere = sum(cassette.requests_elsewhere for cassette in self._opened)
        if not judge.by_return and 0 < len(alone) < len(self._recorded) and elsewhere:
            yield (
                f"{len(alone)} of {len(self._recorded)} trials of {suite} are recorded by what the "
                f"function returned, and what it sends is not noticed there: {elsewhere} "
                "requests came from threads that belong to no running trial; let each trial start "
                'its threads, or say calls = "function" in the table of the judge'
            )
        elif not judge.by_return and 0 < len(alone) < len(self._recorded):
            yield (
                f"{len(alone)} of {len(self._recorded)} trials of {suite} made no request, and are "
                "recorded by what the function returned: what it sends is not noticed there "
                "(an answer from a cache?)"
            )


def _requests_of(cassette: Cassette, trial: str) -> dict[str, RecordedRequest]:
    """The recorded requests of a trial, and calls of its function, by digest."""
    recorded = (exchange.request for exchange, _ in cassette.recordings.of(trial))
    return {cassette.identity.digest(request): request for request in recorded}


def look_ups_of(cassette: Cassette) -> dict[str, Exchange]:
    """The look-ups that answer any trial of a cassette, by digest."""
    recorded = (exchange for exchange, _ in cassette.recordings.of(LOOK_UP))
    return {cassette.identity.digest(exchange.request): exchange for exchange in recorded}


def _no_process(task: Task, reason: str) -> UnprovenRecording:
    return UnprovenRecording(
        f"the recording of judge {task.judge.name!r} on suite {task.suite.name} could not be "
        "replayed in a fresh process",
        found=reason,
        expected="a judge that another process can import, as CI does",
        remedy="let its module import on its own; what was asked is recorded",
    )


def _error(task: Task, reasons: Mapping[str, _Reason]) -> UnprovenRecording:
    by_reason: dict[_Reason, list[str]] = {}
    for trial, reason in reasons.items():
        by_reason.setdefault(reason, []).append(trial)
    lines = [
        f"{trials[0]}{f' and {len(trials) - 1} more' if len(trials) > 1 else ''}: {reason.text}"
        for reason, trials in by_reason.items()
    ]
    if (left := len(lines) - _MOST_SHOWN) > 0:
        lines[_MOST_SHOWN:] = [f"and {left} more reasons"]
    count = len(task.trials)
    return UnprovenRecording(
        f"the recording of judge {task.judge.name!r} on suite {task.suite.name} does not replay: "
        f"{len(reasons)} of the {count} trials that were asked",
        found="\n            ".join(lines),
        expected="every trial replayed offline to the verdict that was recorded",
        remedy="\n            ".join(dict.fromkeys(reason.remedy for reason in by_reason)),
    )
