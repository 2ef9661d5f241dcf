"""A recording proves itself: what a session has asked is replayed offline to the same verdicts.

A judge that is a function is replayed in a fresh process, in the opposite order and with another
seed of hashes: what a process remembers (a look-up, an answer, a number that counts up, a circuit
breaker) is then not there, as it is not in CI. A function that only this process has, of a
``conftest.py`` or a notebook, is replayed here, and so is a judge of a built-in provider, of whose
code none is the user's.

The clock of that process is set on by more than a year, so that a prompt with the day, the month or
the year in it is no longer the one that was recorded. Only where a trial does not replay there, all
of them are replayed once more, on this day: what replays today alone goes by the day, or by
something that expires. What replays on neither is asked twice in the same course, once on either
day: if it is the same both times, neither chance nor the time has changed it, but what came before
it in its process.

A look-up that a judge makes once in a process stands in the trials that came first (several, where
trials run at the same time, or what it brought has expired), and every other trial that comes
first would miss it. It is found by the replay, where it is lent, and becomes a line of its own only
where a trial asks all that it was recorded with, and this in addition, to the same verdict. In the
process that has recorded, nothing has to be looked up any more: there a look-up is what a trial
asks no second time, while it asks its other requests again.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Final, NamedTuple

from pytest_judgesense.asking.later_clock import SET_ON_BY, can_be_set_on
from pytest_judgesense.asking.proof import Proof
from pytest_judgesense.cassettes.cassette import REPLAYED_PROTOCOL, Cassette
from pytest_judgesense.cassettes.exchange import CALL, LOOK_UP, Exchange, RecordedRequest
from pytest_judgesense.cassettes.matching import (
    WITHOUT_THE_DAY,
    Identity,
    differ_in_dates,
    fields_that_differ,
    ignoring,
    is_of_the_prompt,
    normal_url,
    texts_of_prompt,
)
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
    shortened,
)
from pytest_judgesense.judges.calls import calls_of, judgment_of
from pytest_judgesense.judges.client import ReplayingClient, open_replaying
from pytest_judgesense.judges.loop import AskingLoop, together
from pytest_judgesense.judges.prompts import judge_for_suite
from pytest_judgesense.judges.providers.builtin import BUILT_IN
from pytest_judgesense.judges.remembered import measured_alike, shown
from pytest_judgesense.judges.spec import JudgeSpec, table_of
from pytest_judgesense.judges.throttle import CONCURRENCY, Deadline
from pytest_judgesense.judges.trust import Trust
from pytest_judgesense.judges.unseen import traffic_of, unseen_remedy
from pytest_judgesense.suites.planning import recording_of
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Failed, Judgment, Trial

# Between two looks at whether the session is interrupted, or its deadline has passed.
_LOOK_S: Final = 0.25
# Trials that an error names.
_MOST_SHOWN: Final = 5
# Without a network from its beginning, where the system can take it away.
_WITHOUT_A_NETWORK: Final = (
    "from pytest_judgesense.asking.isolation import leave_network; is_cut_off = leave_network(); "
    "from pytest_judgesense.asking.proving import main; main(is_cut_off)"
)
_WITH_A_NETWORK: Final = "from pytest_judgesense.asking.proving import main; main(False)"
# Before all imports of the judge, and of what it may share with us.
_SET_ON: Final = "from pytest_judgesense.asking.later_clock import set_on; set_on(); "
# Trials that are asked again to see whether chance has changed them.
_MOST_REPEATED: Final = 8
# Seeds of hashes: a recording with the first is replayed with the second.
_SEEDS: Final = ("0", "1")
_ANOTHER_SEED: Final = "2"


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


def _usual_seed() -> str:
    """A seed of hashes that the recording process does not have."""
    return _SEEDS[os.environ.get("PYTHONHASHSEED") == _SEEDS[0]]


def _freshly_replayed(
    task: Task,
    loop: AskingLoop,
    deadline: Deadline,
    *,
    later: bool = False,
    seed: str,
    networked: bool = False,
) -> _Fresh:
    """The replays of another process, which is ended if this one is interrupted.

    Args:
        task: what is replayed there.
        loop: that of this process, for interrupts.
        deadline: of the session.
        later: whether its clock is set on.
        seed: of its hashes.
        networked: whether it keeps its network.

    Raises:
        LimitReached: the deadline has passed.
    """
    try:
        pickled = pickle.dumps(task)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise _NoFreshProcess(str(error)) from error
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    main_of = _WITH_A_NETWORK if networked else _WITHOUT_A_NETWORK
    # A file, for what a pipe does not take at once would be written by nobody after a look.
    with tempfile.TemporaryFile() as task_file:
        task_file.write(pickled)
        task_file.seek(0)
        process = subprocess.Popen(  # noqa: S603 - this Python, with code of ours
            # -P: it imports what this process does, and no more of the working folder.
            [sys.executable, "-P", "-c", _SET_ON * later + main_of],
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
    findings_of = partial(_Findings, task, opened, judgments)
    notices: list[str] = []
    is_cut_off = False
    try:
        if _lives_elsewhere(task.judge):
            findings, notices, is_cut_off = _of_fresh_processes(task, loop, deadline, findings_of)
        else:
            deadline.check()
            findings = findings_of(task.replayed(loop), is_fresh=False)
    except _NoFreshProcess as reason:
        if task.judge.function is None:
            return Proof(_no_process(task, str(reason)))
        findings = findings_of(task.replayed(loop), is_fresh=False)
    except LimitReached as limit:
        return Proof(notices=(f"{task.suite.name} was not replayed for a proof: {limit.what}",))
    except JudgesenseError as error:
        return Proof(_error(task, {task.trials[0].id: _Reason(error.what, error.remedy)}))
    for cassette in opened:
        cassette.keep_as_look_ups(findings.kept_in(cassette))
    unproven = _error(task, findings.reasons) if findings.reasons else None
    return Proof(unproven, (*findings.notices(), *notices), findings.look_ups, is_cut_off)


def _of_fresh_processes(
    task: Task, loop: AskingLoop, deadline: Deadline, findings_of: Callable[..., _Findings]
) -> tuple[_Findings, list[str], bool]:
    """What replays in fresh processes say of a recording, and remarks for its readers.

    The last value is whether no network was there for anybody.

    Raises:
        LimitReached: the deadline has passed.
    """
    fresh = partial(_freshly_replayed, loop=loop, deadline=deadline, seed=_usual_seed())
    later, fault = None, ""
    if can_be_set_on():
        try:
            replays, is_cut_off = fresh(task, later=True)
            later = findings_of(replays)
        except _NoFreshProcess as reason:
            fault = str(reason)
        if later is not None and not later.reasons:
            return later, [], is_cut_off
    replays, is_cut_off = fresh(task)
    today = findings_of(replays)
    if today.reasons:
        if is_cut_off and _name_unseen(task, today, loop, deadline):
            return today, [], is_cut_off
        if today.in_doubt and _are_repeated(today.sample(task), loop, deadline):
            today.blame_the_course()
        return today, [], is_cut_off
    if later is not None:
        return *today.with_the_day(later), is_cut_off
    if fault:
        return today, [_expiring(task, len(task.trials), fault)], is_cut_off
    untried = f"whether prompts of {task.suite.name} change with the day was not tried"
    unset = f"{untried}: time-machine is not installed, or not for this Python"
    return today, [unset], is_cut_off


def _name_unseen(task: Task, findings: _Findings, loop: AskingLoop, deadline: Deadline) -> bool:
    """Name the network as the cause of what fails for want of it; whether anything does.

    The first trial of each reason is replayed alone, without a network and with one: its recorded
    requests are answered as before, and what gives the recorded verdict with it alone has asked
    beside them.
    """
    firsts: dict[_Reason, str] = {}
    for trial, reason in findings.reasons.items():
        firsts.setdefault(reason, trial)
    chosen = {*[*firsts.values()][:_MOST_SHOWN]}
    trials = tuple(trial for trial in task.trials if trial.id in chosen)
    if not trials:
        return False
    try:
        without, with_network = (
            _freshly_replayed(
                task._replace(trials=trials),
                loop,
                deadline,
                seed=_usual_seed(),
                networked=networked,
            ).replays
            for networked in (False, True)
        )
    except (_NoFreshProcess, LimitReached):
        return False  # the reasons stay as they are
    passing = {
        trial
        for trial, replay in with_network.items()
        if findings.is_as_recorded(trial, replay)
        and not findings.is_as_recorded(trial, without[trial])
    }
    traffic = traffic_of(task.judge)
    for trial, reason in findings.reasons.items():
        if firsts[reason] in passing:
            by = f" (seen: {', '.join(traffic)})" if traffic else ""
            findings.reasons[trial] = _Reason(
                f"it asks the network beside what is recorded{by}, and a replay has none: "
                f"{reason.text}",
                unseen_remedy(task.judge),
            )
    return bool(passing)


def _are_repeated(task: Task, loop: AskingLoop, deadline: Deadline) -> bool:
    """Whether trials ask and say the same in two processes that differ in day and hashes alone."""
    try:
        before, after = (
            _freshly_replayed(task, loop, deadline, later=later, seed=seed).replays
            for later, seed in ((False, _usual_seed()), (can_be_set_on(), _ANOTHER_SEED))
        )
    except _NoFreshProcess:
        return False
    return all(_alike(replay, after[trial]) for trial, replay in before.items())


def _alike(first: Replay, second: Replay) -> bool:
    """Whether two replays have made the same requests, to the same verdict or to none."""
    if first.digests != second.digests or (first.judgment is None) != (second.judgment is None):
        return False
    return (
        first.judgment is None
        or second.judgment is None
        or measured_alike(first.judgment, second.judgment)
    )


def _expiring(task: Task, count: int, fault: str) -> str:
    """The remark on trials that fail on a later day."""
    return (
        f"{count} of {len(task.trials)} trials of {task.suite.name} replay today, and fail where "
        f"the clock is {SET_ON_BY.days} days on: credentials or a token expire ({fault}); whether "
        "their prompts change with the day was not tried"
    )


def _lives_elsewhere(judge: JudgeSpec) -> bool:
    """Whether another process can have the judge, and its code is not ours."""
    if judge.provider != "callable":
        return judge.provider not in BUILT_IN
    if judge.function is None:
        return True
    module = getattr(judge.function, "__module__", "__main__")
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is not None and module != "__main__" and Path(file).name != "conftest.py"


class _Reason(NamedTuple):
    """Why a trial does not replay, and what to do.

    Attributes:
        text: why.
        remedy: what to do.
        in_course: why, if what came before it in its process has changed it; empty where that
            makes no difference.
    """

    text: str
    remedy: str
    in_course: str = ""

    def of_the_course(self) -> _Reason:
        """The reason where what came before in the process has changed what is asked."""
        if not self.in_course:
            return self
        return _Reason(f"{self.in_course} with {_THE_COURSE}", _ANEW)


_THE_COURSE: Final = (
    "what came before it in its process: an earlier trial (a memory, a checkpointer, a generator), "
    "or what the session alone has set"
)
_NO_CLOCK: Final = "let the function not go by the clock"
_ANEW: Final = "let each trial begin anew: make what remembers, or draws, inside of the function"


class _Findings:
    """What the replays of a task say: why trials do not replay, and which requests are look-ups."""

    def __init__(
        self,
        task: Task,
        opened: Sequence[RecordingCassette],
        judgments: Mapping[str, Judgment],
        replays: Mapping[str, Replay],
        *,
        is_fresh: bool = True,
    ) -> None:
        """``is_fresh``: the replays are of another process than the recording."""
        self._task, self._opened, self._judgments = task, opened, judgments
        self._replays = replays
        self._identity = Identity(task.judge.ignore)
        self.reasons: dict[str, _Reason] = {}
        self.look_ups: dict[str, Exchange] = {}
        for trial in task.trials:
            if (reason := self._reason(trial.id)) is not None:
                self.reasons[trial.id] = reason
        if is_fresh:
            self._settle_lent()
        elif task.judge.provider == "callable":  # code of ours makes no look-ups
            self._settle_unasked()

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
        text = (
            f"{shown(recorded)} was recorded, and {shown(replay.judgment)} is replayed from the "
            "same answers"
        )
        remedy = "let what the function returns depend on its arguments and its answers alone"
        protocol = self._cassette_of(trial).protocols.get(trial, REPLAYED_PROTOCOL)
        if protocol != REPLAYED_PROTOCOL:
            came_by = f", which came by {protocol} and are replayed as {REPLAYED_PROTOCOL}"
            return _Reason(f"{text}{came_by}", f"{remedy}, not on the protocol's version")
        return _Reason(text, remedy, f"{text}: it changes")

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
                    f"its prompt, at {field}, changes",
                )
            return _Reason(
                f"a value changes on each run: {field}",
                f"put {ignoring([field])} into {table_of(self._task.judge.name)}",
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
            f"no answer is recorded to {where}, which changes",
        )

    @property
    def in_doubt(self) -> list[str]:
        """The trials that do not replay, and may be changed by what came before them."""
        return [trial for trial, reason in self.reasons.items() if reason.in_course]

    def sample(self, task: Task) -> Task:
        """Some of the trials that are in doubt, one at a time."""
        doubtful = set(self.in_doubt[:_MOST_REPEATED])
        trials = tuple(trial for trial in task.trials if trial.id in doubtful)
        return task._replace(trials=trials, judge=replace(task.judge, concurrency=1))

    def blame_the_course(self) -> None:
        """Say of the trials in doubt that what came before them has changed them."""
        self.reasons = {trial: reason.of_the_course() for trial, reason in self.reasons.items()}

    # --- a later day ---

    def with_the_day(self, later: _Findings) -> tuple[_Findings, list[str]]:
        """These of today, without fault, with the reasons of a later day, and remarks."""
        expired = []
        for trial in later.reasons:
            if (reason := later._of_the_day(trial)) is None:
                expired.append(trial)
            else:
                self.reasons[trial] = reason
        if not expired:
            return self, []
        return self, [_expiring(self._task, len(expired), later._fault(expired[0]))]

    def _of_the_day(self, trial: str) -> _Reason | None:
        """Why a trial does not replay on this later day; ``None`` if it cannot be asked there."""
        replay, recorded = self._replays[trial], self._judgments[trial]
        lent = (exchange.request for exchange in replay.lent)
        unknown = [r for r in lent if self._identity.digest(r) not in self.look_ups]
        missed = [*replay.missed, *unknown]
        for request in missed:
            if (reason := self._dated(trial, request)) is not None:
                return reason
        if isinstance(replay.error, MissingRecording) and not replay.digests:
            return _Reason("it makes no request on another day", f"{_NO_CLOCK}: {WITHOUT_THE_DAY}")
        if missed or replay.judgment is None:
            return None
        if isinstance(replay.judgment.outcome, Failed) and not isinstance(recorded.outcome, Failed):
            return None
        return _Reason(
            f"{shown(recorded)} was recorded, and {shown(replay.judgment)} is replayed on another "
            "day from the same answers",
            f"{_NO_CLOCK}: {WITHOUT_THE_DAY}",
        )

    def _dated(self, trial: str, request: RecordedRequest) -> _Reason | None:
        """Why a request is another one on a later day; ``None`` if it is of another kind."""
        now = datetime.now(UTC)
        alike = []
        for recorded in self._recorded[trial].values():
            fields = fields_that_differ(recorded, request)
            if (
                fields is not None
                or _is_at_one_place(recorded, request)
                or texts_of_prompt(recorded) & texts_of_prompt(request)
                or differ_in_dates(recorded, request, now, now + SET_ON_BY)
            ):
                alike.append(fields or [])
        if not alike:
            return None
        fields = min(alike, key=lambda fields: (not fields, len(fields)))
        where = f", at {', '.join(fields)}" * bool(fields)
        if fields and not any(map(is_of_the_prompt, fields)):
            table = table_of(self._task.judge.name)
            return _Reason(
                f"a value changes with the day{where}", f"put {ignoring(fields)} into {table}"
            )
        return _Reason(f"its prompt changes with the day{where}", WITHOUT_THE_DAY)

    def _fault(self, trial: str) -> str:
        """What a trial met that cannot be asked on this later day."""
        replay = self._replays[trial]
        if replay.missed:
            request = replay.missed[0]
            return f"it asks {request.method} {request.url}"
        if replay.error is not None:
            return shortened(str(replay.error.found or replay.error.what))
        assert replay.judgment is not None, "it has an outcome or an error"
        return shown(replay.judgment)

    def _settle_lent(self) -> None:
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

    def _settle_unasked(self) -> None:
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


def _is_at_one_place(first: RecordedRequest, second: RecordedRequest) -> bool:
    """Whether two requests go to the same URL, whatever its query."""
    places = (
        (request.method, normal_url(request.url).partition("?")[0]) for request in (first, second)
    )
    return len(set(places)) == 1


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
