"""Answers of trials that nobody plans any more, carried over to trials of other names.

A recorded trial is free where no preset of any suite file below the project's folder plans it: its
item was called otherwise, its suite was renamed, a row was moved. A trial that is not recorded gets
its answers if order, temperature, replicate and all requests are equal; each free trial serves one.
The requests are made as they would be sent, and compared as a replay compares them. Of functions
no code is run: what they were given is compared, and what they then ask is held against the
recording as always, when they run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol, TypeAlias

from pytest_judgesense.cassettes.carrying import (
    FreeTrials,
    Given,
    JudgeRecordings,
    RecordedTrial,
)
from pytest_judgesense.cassettes.cassette import without_secrets
from pytest_judgesense.cassettes.exchange import (
    GIVEN,
    NO_RESPONSE,
    RecordedRequest,
    as_body,
)
from pytest_judgesense.cassettes.locking import one_at_a_time
from pytest_judgesense.cassettes.matching import Identity
from pytest_judgesense.cassettes.redaction import Redactor
from pytest_judgesense.cassettes.writing import RecordingCassette
from pytest_judgesense.errors import SuiteError, UsageError
from pytest_judgesense.judges.calls import calls_of, first_calls
from pytest_judgesense.judges.client import Endpoints, in_turn
from pytest_judgesense.judges.prompts import judge_for_suite, suite_for_judge
from pytest_judgesense.judges.resolving import credentials_of
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import Answer
from pytest_judgesense.judges.trial_call import Call, call_with
from pytest_judgesense.suites.below import head_of, suite_files_below
from pytest_judgesense.suites.builtin import SUITE_SUFFIX, builtin_suites, suite_file
from pytest_judgesense.suites.loading import load_suite, presets_of
from pytest_judgesense.suites.planning import (
    LABELS,
    Plans,
    in_plan_order,
    plan_trials,
    recording_aside,
    recording_of,
    setting_of,
)
from pytest_judgesense.suites.suite import Kind, Suite
from pytest_judgesense.trial import Trial


def carried_over(
    judge: JudgeSpec, suite: Suite, planned: Sequence[Trial], plans: Plans
) -> dict[str, RecordedTrial]:
    """The recorded trials that serve those of ``planned`` which are not recorded, by their ids.

    Args:
        judge: as it is declared.
        suite: with the judge's prompts.
        planned: all trials of the suite whose texts are settled: then a shard gets what it would
            get in the whole.
        plans: where the recordings are, and what is planned.

    Raises:
        UsageError: a prompt of the judge is wrong.
    """
    if head_of(suite.path).get("name") != suite.base:
        return {}  # made by a command, which asks for answers of its own
    recordings = JudgeRecordings(plans.cassettes / judge.slug, Identity(judge.ignore))
    own = {trial.id for trial in planned}
    missing = [trial for trial in planned if trial.id not in recordings.trials]
    others = [recorded for recorded in recordings.complete if recorded.id not in own]
    if not _matched(judge, suite, missing, others):  # as nearly always: no suite file is read
        return {}
    still_planned = _planned_below(plans, judge, suite)
    free = [recorded for recorded in others if not still_planned.holds(recorded.id)]
    return _matched(judge, suite, missing, free)


def carry_over(
    judge: JudgeSpec,
    suite: Suite,
    planned: Sequence[Trial],
    trials: Iterable[Trial],
    into: Mapping[str, RecordingCassette],
    plans: Plans,
) -> frozenset[str]:
    """Record what serves ``trials``, of all that are ``planned``; the ids of those that it serves.

    ``into`` are the cassettes of a judge by the name of the recording, held by this process; the
    others are as in `carried_over`.

    Raises:
        CassetteError: a cassette cannot be written.
        UsageError: a prompt of the judge is wrong.
    """
    missing = {trial.id for trial in trials if trial.id not in into[recording_of(trial.id)].trials}
    if not missing:
        return frozenset()
    with one_at_a_time(plans.cassettes / judge.slug):
        serving = carried_over(judge, suite, planned, plans)
        served = {trial: serving[trial] for trial in serving if trial in missing}
        for trial, recorded in served.items():
            into[recording_of(trial)].carry_over(trial, recorded)
        _carry_look_ups(served, into)
    return frozenset(served)


def _carry_look_ups(
    served: Mapping[str, RecordedTrial], into: Mapping[str, RecordingCassette]
) -> None:
    """What a function has asked for any trial comes along into another cassette."""
    from_cassettes = {
        (recording_of(trial), recorded.path): recorded for trial, recorded in served.items()
    }
    for (recording, path), recorded in from_cassettes.items():
        if path != into[recording].path:
            into[recording].keep_as_look_ups(recorded.look_ups)


# --- which trials ask the same --------------------------------------------------------------------

_Keys: TypeAlias = Sequence[Hashable]


class _Asked(Protocol):
    """What the trials of a suite ask, and what recorded trials asked, by keys."""

    def keys_of_recorded(self, recorded: RecordedTrial) -> _Keys:
        """The keys that find a recorded trial; none if it serves nobody."""

    def keys_of(self, trial: Trial, free: FreeTrials) -> Iterator[_Keys]:
        """The keys of what serves a trial: all of the first ones, else all of the next ones."""

    def is_same(self, trial: Trial, recorded: RecordedTrial) -> bool:
        """Whether both ask the same, where the keys are equal."""


def _matched(
    judge: JudgeSpec, suite: Suite, missing: Sequence[Trial], others: Sequence[RecordedTrial]
) -> dict[str, RecordedTrial]:
    """By trial, the recorded one that asked the same; each of them once."""
    if not missing or not others:
        return {}
    by_function = judge.provider == "callable"
    asked: _Asked = _Given(judge, suite) if by_function else _Sent(judge, suite)
    free = FreeTrials()
    for recorded in others:
        free.add(recorded, asked.keys_of_recorded(recorded))
    matched: dict[str, RecordedTrial] = {}
    for trial in missing:
        is_same = partial(asked.is_same, trial)
        taken = (free.take(keys, is_same) for keys in asked.keys_of(trial, free))
        if (serving := next(filter(None, taken), None)) is not None:
            matched[trial.id] = serving
    return matched


class _Sent:
    """The requests of a judge that a provider asks: they follow from the suite and the replies."""

    def __init__(self, judge: JudgeSpec, suite: Suite) -> None:
        asked_as = judge_for_suite(judge, suite)
        self._endpoints = Endpoints.unasked(asked_as)
        self._first_calls = first_calls(suite, asked_as)
        self._calls = calls_of(suite, asked_as)
        self._identity = Identity(judge.ignore)
        self._redactor = Redactor(credentials_of(judge), noting=False)

    def keys_of_recorded(self, recorded: RecordedTrial) -> _Keys:
        setting = setting_of(recorded.id)
        return [(setting, digest) for digest in recorded.answers] if setting else []

    def keys_of(self, trial: Trial, free: FreeTrials) -> Iterator[_Keys]:
        setting = setting_of(trial.id)
        requests = [self._request_of(call) for call in self._first_calls(trial)]
        plain = [(setting, self._identity.digest(request)) for request in requests]
        yield plain
        if not all(key in free for key in plain):
            # The search for secrets, which a recording is without, costs most.
            yield [(setting, self._identity.digest(self._clean(request))) for request in requests]

    def is_same(self, trial: Trial, recorded: RecordedTrial) -> bool:
        """Whether the course of a trial asks, of these answers, all that was asked, and no more."""
        answers: list[Answer] = []
        answered, asked = recorded.answers, Counter[str]()
        for call in in_turn(self._calls(trial), answers):
            endpoint, _ = self._endpoints.asked(call)
            request = self._request_of(call)
            digests = map(self._identity.digest, (request, self._clean(request)))
            digest = next((digest for digest in digests if digest in answered), "")
            exchange = recorded.answer(digest, asked[digest])
            if exchange is None:
                return False
            asked[digest] += 1
            answers.append(Answer(endpoint.reply_in(exchange)))
        return asked == answered

    def _request_of(self, call: Call) -> RecordedRequest:
        _, request = self._endpoints.asked(call)
        return RecordedRequest(request.method, request.url, as_body(request.body))

    def _clean(self, request: RecordedRequest) -> RecordedRequest:
        return without_secrets(self._redactor, request)


class _Given:
    """What a function is given: what it asks is known when it runs, and no code is run here."""

    def __init__(self, judge: JudgeSpec, suite: Suite) -> None:
        self._judge = judge
        self._calls = first_calls(suite, judge)
        # The parameters that functions of the recordings had; few, however many trials there are.
        self._parameters: dict[tuple[str, ...] | None, None] = {}

    def keys_of_recorded(self, recorded: RecordedTrial) -> _Keys:
        setting, arguments = setting_of(recorded.id), _given_to_function(self._judge, recorded)
        if arguments is None or not setting:
            return []
        self._parameters[arguments.names] = None
        # Of a recorded call the function is not run to be proved: it has to be the same one.
        function = recorded.exchanges[0].request.url if recorded.is_of_calls else ""
        return [(setting, function, arguments)]

    def keys_of(self, trial: Trial, free: FreeTrials) -> Iterator[_Keys]:
        calls, setting = self._calls(trial), setting_of(trial.id)
        for names in self._parameters:
            requests = [call_with(self._judge, call, names) for call in calls]
            arguments = Given.in_calls(requests)
            yield [(setting, "", arguments)]
            yield [(setting, requests[0].url, arguments)]

    def is_same(self, trial: Trial, recorded: RecordedTrial) -> bool:
        return True


def is_given_otherwise(judge: JudgeSpec, calls: Sequence[Call], recorded: RecordedTrial) -> bool:
    """Whether a function was given something else than by these calls, where that is recorded."""
    arguments = _given_to_function(judge, recorded)
    if arguments is None:
        return False
    return arguments != Given.in_calls([call_with(judge, call, arguments.names) for call in calls])


def _given_to_function(judge: JudgeSpec, recorded: RecordedTrial) -> Given | None:
    """What the function of a trial was given; ``None`` where it raised, or nobody knows."""
    returned = recorded.returned
    if returned is not None and returned.response.status == NO_RESPONSE:
        return None
    if recorded.is_of_calls:
        return Given.in_calls([exchange.request for exchange in recorded.exchanges])
    if returned is None or judge.by_return:
        return None
    return Given.of_text(returned.response.headers.get(GIVEN, ""))


# --- which recorded trials are planned ------------------------------------------------------------


@dataclass
class _StillPlanned:
    """The ids of planned trials, and recordings all of whose trials count as planned."""

    trials: set[str]
    recordings: set[str]

    def holds(self, trial_id: str) -> bool:
        """Whether a recorded trial is not free."""
        return trial_id in self.trials or recording_of(trial_id) in self.recordings


def _planned_below(plans: Plans, judge: JudgeSpec, suite: Suite) -> _StillPlanned:
    """What suite files of the project plan for a judge, in any preset; with the file of ``suite``.

    Built-in suites that are recorded there count as well. Of a file that cannot be read
    nobody knows what it plans: a recording of its name is left alone. So are labels that the judge
    gave for a suite: an answer that was a label must not be held against it.
    """
    planned, folder = _StillPlanned(set(), set()), plans.cassettes / judge.slug
    built_in = (
        path for name, path in builtin_suites().items() if (folder / f"{name}.jsonl").is_file()
    )
    for path in dict.fromkeys((suite.path, *built_in, *suite_files_below(plans.root))):
        planned.recordings.add(recording_aside(LABELS, path.name.removesuffix(SUITE_SUFFIX)))
        try:
            for preset_suite in in_every_preset(path, plans.kinds, judge):
                planned.recordings.add(recording_aside(LABELS, preset_suite.base))
                planned.trials |= {trial.id for trial in plan_trials(preset_suite)}
        except SuiteError:
            planned.recordings.add(path.name.removesuffix(SUITE_SUFFIX))
    return planned


def in_every_preset(
    path: Path, kinds: Mapping[str, Kind], judge: JudgeSpec | None = None
) -> Iterator[Suite]:
    """The suite of a file, then its presets; with the prompts of a judge, where one is named.

    Behind each stands the same with its criteria asked together or apart, if it has several: a
    comparison records both.

    Raises:
        SuiteError: the file, or a preset in it, cannot be read.
    """
    for preset in (None, *presets_of(path, kinds)):
        suite = load_suite(path, preset, kinds, labelled=False)
        if judge is not None:
            with suppress(UsageError):  # the judge's prompts are not for this suite
                suite = suite_for_judge(suite, judge)
        yield from suite.in_every_manner


# --- in which order they are recorded -------------------------------------------------------------


def in_recording_order(
    recording: str, recorded: Sequence[str], suites: Iterable[Suite]
) -> list[str]:
    """The trials of a recording as it holds them when it is finished: as they are planned.

    Args:
        recording: its name.
        recorded: its trials, in the order of the file.
        suites: whose plans count, the first ones first, as many as it takes to plan all trials.
    """
    missing, planned = set(recorded), dict[str, None]()
    for suite in suites:
        trials = [trial.id for trial in plan_trials(suite)]
        planned.update((id_, None) for id_ in trials if recording_of(id_) == recording)
        missing.difference_update(trials)
        if not missing:
            break
    return in_plan_order(recorded, planned)


def suites_in_recording(
    recording: str, judge: JudgeSpec, suite: Suite, plans: Plans
) -> Iterator[Suite]:
    """The suites whose plans order a recording in which a judge was asked ``suite``.

    They are those of the file that the recording is called after, in every preset, so that the
    order does not hang on which of them was recorded first; and last the suite itself, which has
    the judge's prompts.
    """
    is_of_a_file = head_of(suite.path).get("name") == suite.base
    file = suite.path if recording == suite.base else file_recorded_as(recording, plans.root)
    if is_of_a_file and file is not None:
        with suppress(SuiteError):  # of a file or a preset that cannot be read
            yield from in_every_preset(file, plans.kinds, judge)
    yield suite


def file_recorded_as(recording: str, root: Path) -> Path | None:
    """The suite file of a project that a recording is called after, else the built-in one."""
    files = (path for path in suite_files_below(root) if head_of(path).get("name") == recording)
    return next(files, None) or suite_file(recording, root)
