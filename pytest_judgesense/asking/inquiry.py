"""Asking a judge for trials of a suite, or replaying what it was asked: cassettes and answers.

An `Inquiry` holds both for one judge on one suite; it is asked for some trials, or all, at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_judgesense.cassettes.cassette import HOW_TO_RECORD, Cassette
from pytest_judgesense.cassettes.credentials import Credentials
from pytest_judgesense.cassettes.exchange import CALL, RETURN, Exchange, models_of
from pytest_judgesense.cassettes.matching import Identity
from pytest_judgesense.cassettes.opening import Mode, open_cassette
from pytest_judgesense.cassettes.replaying import ReplayingCassette
from pytest_judgesense.cassettes.writing import OnRecorded, RecordingCassette
from pytest_judgesense.checks.sent import texts_sent
from pytest_judgesense.errors import LimitReached, MissingRecording
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.calls import calls_of, judgment_of, renderer, takes_one_call
from pytest_judgesense.judges.client import (
    CallSequence,
    Client,
    ReplayingClient,
    is_profile,
    one_call,
    open_client,
)
from pytest_judgesense.judges.loop import AskingLoop, together
from pytest_judgesense.judges.prompts import judge_for_suite
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.readable import BY_OPTION, FirstReplies
from pytest_judgesense.judges.remembered import ReadingOf, Rereading, recorded_trials
from pytest_judgesense.judges.resolving import credentials_of, missing_key
from pytest_judgesense.judges.session import AskedTrials, Refusals, SessionCalls, refused_unasked
from pytest_judgesense.judges.simulated.named_observers import observer_named
from pytest_judgesense.judges.spec import JudgeSpec, refuse_jury
from pytest_judgesense.judges.throttle import CONCURRENCY, Answer, Throttle
from pytest_judgesense.judges.trust import ANY_FILES, Trust
from pytest_judgesense.judges.usage import usage_and_settings
from pytest_judgesense.registry import Registry
from pytest_judgesense.suites.planning import Plans, plan_trials, recording_of
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Judgment, RequestCount, Trial, Usage

if TYPE_CHECKING:
    from pytest_judgesense.judges.code_digest import RecordedCode

_MOST_NAMED: Final = 12  # verdicts that an error lists


@dataclass(frozen=True, kw_only=True)
class Asking:
    """How a judge is called, or its recording replayed.

    Attributes:
        trust: what may be sent, and where to.
        concurrency: number of concurrent calls.
        how_to_record: the command for the message about a missing recording.
        throttle: limits and pace of the judge's calls, if the session has already called it.
        watch: called with the trials to be called; the function it returns is called with each
            judgment.
        credentials: the secrets known to the session; new ones are added.
        session: the trials that the session has called; new ones are added. Failed ones are not
            repeated.
        registry: the instruments and plugins in use.
        max_unparsed: stop calling after this many replies if none of them states a verdict; 0 for
            no limit.
        max_unparsed_set_by: how errors say where that number is set, with ``{}`` for it.
        on_recorded: called with the path of a cassette and each line recorded in it.
        proves: whether what was asked and recorded is replayed, see `proving`.
        computes: whether the embedded judge is run, in a replay, for what is not recorded of it.
        live_answers: what becomes of the answers of a live session that a limit ends.
        plans: where recordings are, and which of their trials are planned; the others serve
            trials that ask the same, see `carrying_over`. ``None``: none does.
    """

    trust: Trust
    concurrency: int = CONCURRENCY
    how_to_record: str = ""
    throttle: Throttle | None = None
    watch: Callable[[Sequence[Trial]], Callable[[Judgment], None]] = lambda _: lambda _: None
    credentials: Credentials | None = None
    session: SessionCalls | None = None
    registry: Registry = BUILT_IN
    max_unparsed: int = 0
    max_unparsed_set_by: str = BY_OPTION
    on_recorded: OnRecorded = lambda _path, _line: None
    proves: bool = False
    computes: Callable[[JudgeSpec], bool] = is_profile
    live_answers: str = "nothing keeps what was paid for"
    plans: Plans | None = None


# Of a caller that is code.
UNRESTRICTED: Final = Asking(trust=ANY_FILES)


class Inquiry:
    """The recording of one judge on one suite, open, with the answers so far.

    Args:
        judge: its prompts are those of ``suite``.
        suite: with the prompts of the judge in place of its templates.
        trials: all that may be asked.
        cassettes: the files to replay or to record into, by the name of the recording.
        loop: the loop for live calls.
        mode: ``replay`` makes no calls; ``record`` and ``live`` make calls for what the files lack.
        asking: how the judge is called.

    Attributes:
        suite: with the texts that follow from the answers so far, see `suites.kind.Settling`.
        answers: by trial, of all that was asked so far.
        cassettes: open, by the name of the recording.
        carried: the trials that answers of other names were carried over to.
    """

    def __init__(
        self,
        judge: JudgeSpec,
        suite: Suite,
        trials: Sequence[Trial],
        cassettes: Mapping[str, Path],
        loop: AskingLoop,
        mode: Mode,
        asking: Asking,
    ) -> None:
        refuse_jury(judge, f"nobody can be asked about suite {suite.name} here")
        self.judge = judge
        self.suite = suite
        self.mode: Final[Mode] = mode
        self.answers: dict[str, Answer] = {}
        self.trials = trials
        self._recorded: Mapping[str, Sequence[Exchange]] | None = None
        self._loop = loop
        self._asking = asking
        self._computed = 0
        secrets = credentials_of(judge, asking.credentials)
        self.cassettes: dict[str, Cassette] = {
            recording: open_cassette(
                path,
                mode,
                secrets=secrets,
                how_to_record=asking.how_to_record,
                on_recorded=asking.on_recorded,
                identity=Identity(judge.ignore),
            )
            for recording, path in cassettes.items()
        }
        session = asking.session or SessionCalls()
        self._before = {recording: session.on(path) for recording, path in cassettes.items()}
        self.carried: frozenset[str] = frozenset()
        if mode == "record":
            self._carry_over(self._settled_first())
        self._throttle = asking.throttle or Throttle(judge, asking.concurrency)
        failed = frozenset[str]().union(*(before.failed for before in self._before.values()))
        self._code: RecordedCode | None = None
        if judge.provider == "callable":
            from pytest_judgesense.judges.code_digest import RecordedCode

            self._code = RecordedCode(judge)
        # By trial, the files that are not as they were when its return was recorded.
        self._other_code: dict[str, tuple[str, ...]] = {}
        self._rereading = Rereading()
        unknown = [
            trial
            for recording, part in self._by_recording(trials)
            for trial in part
            if trial.id not in failed and self._is_asked(trial, self.cassettes[recording])
        ]
        if unknown and mode != "replay" and (without_key := missing_key(judge)) is not None:
            raise without_key
        self._counted = {trial.id for trial in unknown}
        self._count = asking.watch(unknown)
        self._first_replies = _first_replies(suite, mode, asking)

    @property
    def replays(self) -> bool:
        """Whether nothing is asked."""
        return self.mode == "replay"

    def ask(self, trials: Iterable[Trial]) -> None:
        """Ask those of the trials that have no answer yet, together.

        Raises:
            LimitReached: trials were left out; it says how many. Answers so far are recorded.
            MissingRecording: a replay lacks trials.
            StaleRecording: what is recorded is not what the judge asks now, or it asks nothing.
        """
        trials = [trial for trial in trials if trial.id not in self.answers]
        if self.replays:
            self._verify_recorded(self._by_recording(trials))
        self._look_at_code(trials)
        if (settling := self.suite.form.settling) is not None:
            self._ask([trial for trial in trials if settling.comes_first(trial)])
            answered = (trial for trial in self.trials if trial.id in self.answers)
            first = [trial for trial in answered if settling.comes_first(trial)]
            self.suite = settling.settled(
                self.suite, self.judgments_of(first), self._prompts_sent(first)
            )
            if self.mode == "record":
                self._carry_over(plan_trials(self.suite))
            trials = [trial for trial in trials if not settling.comes_first(trial)]
        self._ask(trials)

    def _ask(self, trials: Sequence[Trial]) -> None:
        """Ask the trials, whose texts are settled."""
        asked_as = judge_for_suite(self.judge, self.suite)
        left_out: list[tuple[Trial, LimitReached]] = []
        for recording, part in self._by_recording(trials):
            cassette = self.cassettes[recording]
            answers = self._loop.run(
                ask_all(
                    asked_as,
                    self.suite,
                    part,
                    cassette,
                    self._throttle,
                    self._before[recording],
                    asking=self._asking,
                    tell=self._tell,
                    first=self._first_replies,
                    rereading=self._rereading,
                )
            )
            for trial, answer in zip(part, answers, strict=True):
                if isinstance(answer, LimitReached):
                    left_out.append((trial, answer))
                else:
                    self.answers[trial.id] = _redacted(answer, cassette)
        if self.replays and self._rereading.others:
            raise self._rereading.error(self.judge, self.suite, self._asking.how_to_record)
        self._refuse_cached(trials)
        if left_out:
            self.finish()
            raise _gap(left_out, self, self._asking.live_answers)

    def _refuse_cached(self, trials: Sequence[Trial]) -> None:
        """Raise `StaleRecording` where a cache has answered for requests of an earlier session.

        One in the process answers some trials, to the same return, and others have made requests.
        """
        requests_made = self.made
        cassettes = [
            tape for tape in self.cassettes.values() if isinstance(tape, RecordingCassette)
        ]
        unasked = {
            id_: same
            for tape in cassettes
            for id_, same in tape.unasked.items()
            if id_ not in requests_made
        }
        if not unasked:
            return
        from pytest_judgesense.judges.unseen import UNSEEN, from_cache

        if all(unasked.values()) and UNSEEN.asks(self.judge):
            return
        self.finish()
        paths = [tape.path for tape in cassettes if tape.unasked]
        raise from_cache(self.judge, self.suite.name, [*unasked], len(trials), paths)

    @property
    def is_plain(self) -> bool:
        """Whether a function was called, and all that is recorded of it is what it returned."""
        if self.judge.provider != "callable" or self.judge.by_return or not self.made:
            return False
        return self._methods == {CALL}

    @property
    def has_requests(self) -> bool:
        """Whether requests of a function are recorded, and it was called."""
        return (
            self.judge.provider == "callable" and bool(self.made) and bool(self._methods - {CALL})
        )

    @property
    def _methods(self) -> set[str]:
        """The methods of what is recorded of the trials."""
        return {
            exchange.request.method
            for recording, part in self._by_recording(self.trials)
            for trial in part
            for exchange, _ in self.cassettes[recording].recordings.of(trial.id)
        }

    def tells(self, topic: str) -> bool:
        """Whether something that the session says once of this judge is said here."""
        session = self._asking.session or SessionCalls()
        return session.tells(topic, self.judge.slug, str(next(iter(self.cassettes.values())).path))

    def _settled_first(self) -> tuple[Trial, ...]:
        """The trials of the suite whose texts hang on no answer."""
        planned, settling = plan_trials(self.suite), self.suite.form.settling
        return planned if settling is None else tuple(filter(settling.comes_first, planned))

    def _prompts_sent(self, trials: Sequence[Trial]) -> dict[str, list[str]]:
        """By trial the texts of the prompts in its recorded requests.

        Of what is computed there are none, nor of what a function was called with: what it makes of
        that is not known.
        """
        return {
            trial.id: [
                text
                for exchange, _ in self.cassettes[recording].recordings.of(trial.id)
                if exchange.request.method not in (CALL, RETURN)
                for part, text in texts_sent(exchange.request)
                if part == "prompt"
            ]
            for recording, of_recording in self._by_recording(trials)
            for trial in of_recording
        }

    def _carry_over(self, planned: Sequence[Trial]) -> None:
        """Let recorded answers of other names serve those ``planned`` trials that may be asked."""
        if (plans := self._asking.plans) is None:
            return
        may_be_asked = {trial.id for trial in self.trials}
        trials = [trial for trial in planned if trial.id in may_be_asked]
        into = {
            recording: cassette
            for recording, cassette in self.cassettes.items()
            if isinstance(cassette, RecordingCassette)
        }
        from pytest_judgesense.asking.carrying_over import carry_over

        self.carried |= carry_over(self.judge, self.suite, planned, trials, into, plans)

    def finish(self) -> None:
        """Put what was recorded in order, without secrets that later calls have shown."""
        recorded = [c for c in self.cassettes.values() if isinstance(c, RecordingCassette)]
        for recording, cassette in self.cassettes.items():
            if isinstance(cassette, RecordingCassette):
                cassette.finish(self._order_of(recording, cassette))
        for cassette in recorded:
            cassette.remove_shown()

    def _order_of(self, recording: str, cassette: RecordingCassette) -> Sequence[str]:
        """The order of the trials in a finished file; what was finished before stays as it is."""
        trials = cassette.recordings.in_file_order
        if not trials or cassette.is_finished():
            return trials
        # Only who records imports what loads suites.
        from pytest_judgesense.asking.carrying_over import in_recording_order, suites_in_recording

        plans = self._asking.plans or Plans(Path(), Path(), self._asking.registry.forms)
        suites = suites_in_recording(recording, self.judge, self.suite, plans)
        return in_recording_order(recording, trials, suites)

    @property
    def made(self) -> dict[str, RequestCount]:
        """The trials that were called in this session, each with the requests sent for it."""
        return {id_: answer.requests for id_, answer in self.answers.items() if answer.made}

    @property
    def to_prove(self) -> set[str]:
        """The trials that were called, read otherwise, or that answers were carried over to."""
        carried = self.carried & self.answers.keys()
        return self.made.keys() | self._rereading.others | carried

    def judgments_of(self, trials: Iterable[Trial]) -> tuple[Judgment, ...]:
        """What the answers say."""
        return tuple(
            judgment_of(self.suite, self.judge, trial, self.answers[trial.id]) for trial in trials
        )

    def recorded_judgments(
        self, trials: Sequence[Trial], usages: Mapping[str, Usage]
    ) -> tuple[Judgment, ...]:
        """The same, with the usage of each trial where it is known, and when it was recorded."""
        for id_, usage in usages.items():
            self.answers[id_] = self.answers[id_].spending(usage)
        return tuple(
            judgment_of(
                self.suite,
                self.judge,
                trial,
                self.answers[trial.id],
                self.cassettes[recording_of(trial.id)].recordings.recorded_at(trial.id),
            )
            for trial in trials
        )

    def usage_and_settings(
        self, trials: Sequence[Trial]
    ) -> tuple[dict[str, Usage], dict[str, Any]]:
        """What the recording of a Python judge shows about it; for other judges the replies do."""
        if self.judge.provider != "callable":
            return {}, {}
        return usage_and_settings(chain.from_iterable(self.recorded(trials).values()))

    def served(self, trials: Sequence[Trial]) -> dict[str, Counter[str]]:
        """Number of replies by requested model and by the model that they name."""
        if self.judge.provider == "callable":  # its model is known only from its calls
            return models_of(chain.from_iterable(self.recorded(trials).values()))
        replies = [answer.reply for answer in self.answers.values()]
        named = (reply.model for reply in replies if isinstance(reply, Reply) and reply.model)
        return {self.judge.model: Counter(named)}

    def spans(self, trials: Sequence[Trial]) -> list[tuple[tuple[str, str], Path]]:
        """When the first and the last answer of each cassette were recorded, with its file."""
        return [
            (span, self.cassettes[recording].path)
            for recording, part in self._by_recording(trials)
            if (span := self.cassettes[recording].recorded_of(trial.id for trial in part))
        ]

    @property
    def notices(self) -> tuple[str, ...]:
        """What the session has noted about these cassettes, each once."""
        notices = [
            notice
            for recording, cassette in self.cassettes.items()
            for notice in self._before[recording].noted(
                (*cassette.notices, *self._carried_words, *self._plain_words)
            )
        ]
        if self._computed:
            notices.append(
                f"{self._computed} of {len(self.trials)} trials are not recorded: "
                "the embedded judge was run here"
            )
        if self._other_code:
            from pytest_judgesense.judges.code_digest import files_named

            every = dict.fromkeys(chain(*self._other_code.values()))
            notices.append(
                f"{len(self._other_code)} of {len(self.trials)} trials are of other code "
                f'({files_named(every)}), and taken as they were recorded (code = "any")'
            )
        return tuple(dict.fromkeys(notices))

    @property
    def _carried_words(self) -> tuple[str, ...]:
        """How many trials were served, and how many were asked: a function may ask otherwise."""
        if not self.carried:
            return ()
        asked = self.made.keys()
        kept = len(self.carried - asked)
        return (f"{kept} answers carried over, {len(asked)} asked",)

    @property
    def _plain_words(self) -> tuple[str, ...]:
        """That nothing else is known of a function than what it returned; once for a judge."""
        if not (self._asking.proves and self.is_plain and self.tells("plain")):
            return ()
        elsewhere = sum(
            cassette.requests_elsewhere
            for cassette in self.cassettes.values()
            if isinstance(cassette, RecordingCassette)
        )
        from pytest_judgesense.judges.unseen import plain_call_notice

        return (plain_call_notice(self.judge, elsewhere),)

    def _by_recording(self, trials: Sequence[Trial]) -> list[tuple[str, list[Trial]]]:
        if len(self.cassettes) == 1 and trials:  # as of nearly every suite
            return [(recording, list(trials)) for recording in self.cassettes]
        parts: dict[str, list[Trial]] = {recording: [] for recording in self.cassettes}
        for trial in trials:
            parts[recording_of(trial.id)].append(trial)
        return [(recording, part) for recording, part in parts.items() if part]

    def _tell(self, judgment: Judgment) -> None:
        if judgment.trial.id in self._counted:
            self._count(judgment)

    def recorded(self, trials: Sequence[Trial]) -> dict[str, Sequence[Exchange]]:
        """What is recorded of the trials of a Python judge, which makes requests of its own.

        It is read once, after `finish`; of other judges it is empty.
        """
        if self.judge.provider != "callable":
            return {}
        if self._recorded is None:
            self._recorded = recorded_trials(cassette.path for cassette in self.cassettes.values())
        ids = (trial.id for trial in trials)
        return {id_: self._recorded[id_] for id_ in ids if id_ in self._recorded}

    def _is_asked(self, trial: Trial, cassette: Cassette) -> bool:
        """Whether a recording asks a trial, as far as is known before it does."""
        if not cassette.complete(trial.id):
            return True
        return self._code is not None and self._code.is_changed(cassette, trial.id)

    def _look_at_code(self, trials: Sequence[Trial]) -> None:
        """Note returns of other code that are taken; raise `StaleRecording` if a replay may not."""
        if self._code is None or not (self.replays or self.judge.code == "any"):
            return
        changed = {
            trial.id: files
            for recording, part in self._by_recording(trials)
            for trial in part
            if (files := self._code.changes(self.cassettes[recording], trial.id))
        }
        if changed and self.judge.code != "any":
            every = dict.fromkeys(chain(*changed.values()))
            how_to_record = self._asking.how_to_record or HOW_TO_RECORD
            from pytest_judgesense.judges.code_digest import code_changed

            raise code_changed(self.judge, every, changed, len(trials), how_to_record)
        self._other_code |= changed

    def _verify_recorded(self, parts: Sequence[tuple[str, Sequence[Trial]]]) -> None:
        """Raise `MissingRecording` with the number of missing trials, before any replay."""
        judge = judge_for_suite(self.judge, self.suite)
        missing: list[tuple[Trial, Cassette]] = []
        computed = 0
        for recording, trials in parts:
            cassette = self.cassettes[recording]
            computed += len(_computed(judge, cassette, trials, self._asking))
            recorded = cassette.trials | refused_unasked(judge, cassette, trials).keys()
            missing += [(trial, cassette) for trial in trials if trial.id not in recorded]
        self._computed += computed
        if missing and not computed:
            planned = [trial for _, trials in parts for trial in trials]
            raise _missing_recording(
                missing, planned, self._asking.how_to_record, self._count_to_carry(missing)
            )

    def _count_to_carry(self, missing: Sequence[tuple[Trial, Cassette]]) -> int:
        """How many of the trials that a replay lacks would be served without a call."""
        if (plans := self._asking.plans) is None:
            return 0
        from pytest_judgesense.asking.carrying_over import carried_over

        served = carried_over(self.judge, self.suite, self._settled_first(), plans)
        return len(served.keys() & {trial.id for trial, _ in missing})


def _first_replies(suite: Suite, mode: Mode, asking: Asking) -> FirstReplies:
    verdicts = suite.space.verdicts
    if suite.space.criteria or len(verdicts) > _MOST_NAMED:
        verdicts = ()
    return FirstReplies(
        0 if mode == "replay" else asking.max_unparsed,
        verdicts,
        asking.max_unparsed_set_by,
        recording=mode == "record",
    )


def _gap(
    left_out: Sequence[tuple[Trial, LimitReached]], inquiry: Inquiry, live_answers: str
) -> LimitReached:
    """The error about trials that were left out: nothing is estimated from the others."""
    trial, limit = left_out[0]
    paid = "what is recorded is not asked again, and is replayed for a proof once all of it is"
    if inquiry.mode == "live":
        paid = live_answers
    return LimitReached(
        f"{limit.what}: {len(left_out)} of {len(inquiry.trials)} trials of judge "
        f"{inquiry.judge.name!r} on suite {inquiry.suite.name} are left out, the first is "
        f"{trial.id}",
        found=limit.found,
        expected=limit.expected,
        remedy=limit.remedy or f"raise the limit and run again; {paid}",
    )


def _missing_recording(
    missing: Sequence[tuple[Trial, Cassette]],
    planned: Sequence[Trial],
    how_to_record: str,
    to_carry: int,
) -> MissingRecording:
    trial, cassette = missing[0]
    ids = {trial.id for trial, _ in missing}
    missing_clusters = {trial.cluster for trial, _ in missing}
    recorded_clusters = {trial.cluster for trial in planned if trial.id not in ids}
    if recorded_clusters and missing_clusters.isdisjoint(recorded_clusters):  # as in shards
        how_to_record += (
            f"\n{' ' * 12}if this is a shard: join all first, by judgesense recordings join"
        )
    if to_carry:
        how_to_record += (
            f"\n{' ' * 12}without a call for {to_carry} of them: recorded trials that nobody plans "
            "any more have asked the same"
        )
    return MissingRecording(
        f"{len(missing)} of {len(planned)} trials are not recorded, the first is {trial.id}",
        found=f"{len(cassette.trials)} trials in {cassette.path}"
        if cassette.path.exists()
        else f"no cassette at {cassette.path}",
        expected="a recorded exchange for every trial: replay never asks the network",
        remedy=how_to_record,
    )


def _redacted(answer: Answer, cassette: Cassette) -> Answer:
    """``answer`` without secrets that were found in later calls, as in the recording."""
    reply = answer.reply
    if not answer.made or not isinstance(reply, Reply) or reply.text is None:
        return answer
    return replace(answer, reply=replace(reply, text=cassette.redacted(reply.text)))


def _computed(
    judge: JudgeSpec, cassette: Cassette, trials: Sequence[Trial], asking: Asking
) -> frozenset[str]:
    """Ids of the trials of the embedded judge that are computed, for they are not recorded."""
    if not asking.computes(judge):
        return frozenset()
    return frozenset(trial.id for trial in trials) - cassette.trials


async def ask_all(
    judge: JudgeSpec,
    suite: Suite,
    trials: Sequence[Trial],
    cassette: Cassette,
    throttle: Throttle,
    before: AskedTrials,
    *,
    asking: Asking,
    tell: Callable[[Judgment], None] = lambda _: None,
    first: FirstReplies | None = None,
    rereading: Rereading | None = None,
) -> list[Answer | LimitReached]:
    """The answers to ``trials`` in order; a trial that a limit left out has the limit.

    Recorded answers that a function reads otherwise than before are noted in ``rereading``.
    """
    if not isinstance(cassette, ReplayingCassette):
        asking.trust.refuse_suite(suite)
    concurrency = judge.concurrency or asking.concurrency
    other_readings = ReadingOf(rereading or Rereading(), judge, suite, cassette, trials)
    async with open_client(
        judge,
        cassette,
        concurrency=concurrency,
        throttle=throttle,
        skills=asking.registry.skills,
        trust=asking.trust,
        suite=suite,
        reads_otherwise=other_readings.is_other,
    ) as client:
        if isinstance(client, ReplayingClient) and judge.provider != "callable":
            return _replayed(client, judge, suite, trials, cassette, asking)
        messages, calls = renderer(suite, judge), calls_of(suite, judge)
        questions = [_Question(trial, messages(trial), partial(calls, trial)) for trial in trials]
        first = first or FirstReplies()
        asked = _Asked(client, judge, suite, cassette, before, first, tell, other_readings)
        asked.learn_failures(questions)
        with nullcontext() if judge.by_return else _intercepting(cassette):
            # The judge's throttle limits concurrent calls. As many again may wait for a retry; more
            # would mean that an endpoint that is down gets a request for every trial before the
            # first one fails.
            return await together(map(asked.answer, questions), 2 * concurrency)


def _intercepting(cassette: Cassette) -> AbstractContextManager[None]:
    """Route requests to the cassette; all HTTP clients are imported where code makes some."""
    from pytest_judgesense.cassettes.interception import intercepting

    return intercepting(cassette)


def _replayed(
    client: ReplayingClient,
    judge: JudgeSpec,
    suite: Suite,
    trials: Sequence[Trial],
    cassette: Cassette,
    asking: Asking,
) -> list[Answer | LimitReached]:
    """The recorded answers of a judge whose requests are built here."""
    calls = calls_of(suite, judge)
    if unrecorded := _computed(judge, cassette, trials, asking):
        find = partial(observer_named, skills=asking.registry.skills)
        return [
            client.compute(calls(trial), find)
            if trial.id in unrecorded
            else client.replay(trial.id, calls(trial))
            for trial in trials
        ]
    if takes_one_call(suite, judge):
        messages = renderer(suite, judge)
        return [
            client.replay(trial.id, one_call(messages(trial), trial.replicate)) for trial in trials
        ]
    refused = refused_unasked(judge, cassette, trials)
    return [refused.get(trial.id) or client.replay(trial.id, calls(trial)) for trial in trials]


class _Question(NamedTuple):
    trial: Trial
    messages: list[dict[str, str]]
    course: Callable[[], CallSequence]


class _Asked:
    """Asks one trial at a time; what is refused or unreadable at first is not asked of all."""

    def __init__(
        self,
        client: Client,
        judge: JudgeSpec,
        suite: Suite,
        cassette: Cassette,
        before: AskedTrials,
        first: FirstReplies,
        tell: Callable[[Judgment], None],
        others: ReadingOf,
    ) -> None:
        self._client = client
        self._judge = judge
        self._suite = suite
        self._cassette = cassette
        self._before = before
        self._first = first
        self._tell = tell
        self._others = others
        self._refusals = Refusals()

    def learn_failures(self, questions: Sequence[_Question]) -> None:
        """Take over which trials the session was refused before."""
        for question in questions if self._before.failed else ():
            if failure := self._before.failure(question.trial.id, question.messages):
                self._refusals.learn(question.trial, failure.reply)

    async def answer(self, question: _Question) -> Answer | LimitReached:
        trial, before = question.trial, self._before
        if failure := before.failure(trial.id, question.messages):
            return failure
        try:
            refusal = self._refusals.of(trial)
            if refusal is not None and not self._cassette.complete(trial.id):
                return refusal
            async with self._first.turn():
                answer = await self._client.ask_calls(trial.id, question.course)
                if isinstance(self._cassette, ReplayingCassette):
                    self._others.is_other(trial.id, answer)
                    return answer
                judgment = judgment_of(self._suite, self._judge, trial, answer)
                self._first.learn(judgment, None if answer.made else self._cassette.path)
        except LimitReached as limit:
            before.add_cut(trial.id, RequestCount(*limit.requests))
            return limit  # calls in flight are paid for: they are completed
        self._refusals.learn(trial, answer.reply)
        self._tell(judgment)
        if answer.made:
            before.add(trial.id, question.messages, answer)
        elif earlier := before.of(trial.id, question.messages):
            return earlier.again(answer)
        return answer
