"""One measurement: ``Suite -> Trials -> messages -> replies -> Judgments -> Estimates``.

The functions are in the order of that arrow.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from pytest_judgesense.cassettes.cassette import Cassette, OnRecorded
from pytest_judgesense.cassettes.credentials import Credentials
from pytest_judgesense.cassettes.exchange import Exchange, models_of
from pytest_judgesense.cassettes.matching import Identity
from pytest_judgesense.cassettes.storage import read_exchanges, read_lines
from pytest_judgesense.checks.early_stop import Looks, Stop, Stopping, held
from pytest_judgesense.checks.judgment_words import failure_lines
from pytest_judgesense.checks.outcome import DecisionRule, Outcome, judge_check
from pytest_judgesense.datasheet import Calls, SuiteSheet, changed_within, span_of
from pytest_judgesense.errors import (
    CassetteError,
    ExtensionError,
    JudgesenseError,
    LimitReached,
    MissingRecording,
    UnprovenRecording,
)
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.files import read_text
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.calls import (
    calls_of,
    identity_of,
    judgment_of,
    renderer,
    takes_one_call,
)
from pytest_judgesense.judges.client import (
    Answer,
    Client,
    Course,
    is_profile,
    one_call,
    open_client,
)
from pytest_judgesense.judges.loop import AskingLoop, together
from pytest_judgesense.judges.prompts import judge_for_suite, suite_for_judge, unsent_notices
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.readable import BY_OPTION, FirstReplies
from pytest_judgesense.judges.resolving import credentials_of
from pytest_judgesense.judges.session import AskedOn, Refusals, SessionCalls, refused_unasked
from pytest_judgesense.judges.simulated.profiles import observer_named
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import CONCURRENCY, NO_DEADLINE, Throttle
from pytest_judgesense.judges.traffic import Traffic, traffic_of
from pytest_judgesense.judges.trust import ANY_FILES, Trust
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.check import Check
from pytest_judgesense.measures.estimation import estimate_all
from pytest_judgesense.output import replace_text
from pytest_judgesense.proving import Proof, Task, prove
from pytest_judgesense.registry import Registry
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.planning import plan_trials, recording_of, trial_order
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Design, Judgment, Trial

_MOST_NAMED: Final = 12  # verdicts that an error lists
STOPPED: Final = ".stopped.json"  # suffix of the file that says where a suite was stopped

Mode: TypeAlias = Literal["replay", "record", "live"]
_Opened: TypeAlias = Sequence[tuple[Cassette, Sequence[Trial]]]
_Batches: TypeAlias = Callable[[Mapping[str, Answer]], Iterator[Sequence[Trial]]] | None


@dataclass(frozen=True)
class Measurement:
    """One judge measured on one suite.

    Attributes:
        suite: the suite, with the judge's prompts in place of its templates.
        judgments: in trial order.
        cell: the same judgments for the measures, with shared data.
        served: models named in the replies.
        recorded: when the first and the last answer were recorded.
        notices: remarks for readers that are not errors.
        asked: the trials that were called in this session, each with its number of retries.
        oldest: the cassette with the oldest answer.
        settings: the settings that a Python judge used in its requests, in place of its table.
        stop: where it was stopped early; ``None`` if the whole suite was measured.
        fault: the error of a plugin, without whose measures and sections this was then made: no
            check of the suite is judged, and the judgments are kept.
        unproven: what was recorded and does not replay: no check of the suite is judged either.
    """

    judge: JudgeSpec
    suite: Suite
    judgments: tuple[Judgment, ...]
    cell: Cell
    estimates: tuple[Estimate, ...]
    calls: Calls
    served: tuple[str, ...]
    recorded: tuple[str, str] | None
    seed: int
    notices: tuple[str, ...] = ()
    asked: Mapping[str, int] = field(default_factory=dict)
    oldest: Path | None = None
    registry: Registry = BUILT_IN
    settings: Mapping[str, Any] = field(default_factory=dict)
    stop: Stop | None = None
    fault: ExtensionError | None = None
    unproven: UnprovenRecording | None = None

    @property
    def error(self) -> JudgesenseError | None:
        """Why no check is judged by this measurement; ``None`` if they are."""
        return self.fault or self.unproven

    def sound(self) -> Measurement:
        """This measurement; raises the error for which no check is judged by it."""
        if (error := self.error) is not None:
            raise error
        return self

    def outcome_of(self, check: Check, rule: DecisionRule) -> Outcome:
        """The outcome of a check against fixed bars; for a stopped run, only if it was decided."""
        found = judge_check(check, self.suite.name, self.estimates, *rule)
        if self.stop is None:
            return found
        return held(found, self.cell, self.stop, plan_trials(self.suite))

    def prompt_of(self, trial_id: str) -> str:
        """The prompt of a trial, without roles."""
        return "\n".join(m["content"] for m in self._messages(self._by_id[trial_id]))

    def question_of(self, trial_id: str) -> str:
        """The texts of a trial's item beside the answers; without such texts, the answers."""
        item = self._items[self._by_id[trial_id].item]
        texts = [text for text in item.fields.values() if text.strip()] or item.contents
        return " / ".join(texts)

    @cached_property
    def _items(self) -> dict[str, Item]:
        return {item.id: item for item in self.suite.items}

    @cached_property
    def _by_id(self) -> dict[str, Trial]:
        return {judgment.trial.id: judgment.trial for judgment in self.judgments}

    @cached_property
    def _messages(self) -> Callable[[Trial], list[dict[str, str]]]:
        return renderer(self.suite, self.judge)

    @property
    def sheet(self) -> SuiteSheet:
        """The part of the datasheet for this measurement, without outcomes."""
        return self.part(self.registry)

    def part(self, shown: Registry) -> SuiteSheet:
        """The same with the tables of which ``shown`` has the sections; each is made once."""
        tables = [
            self.cell.once(
                f"table {section.name}",
                partial(section.analysis, self.cell, self.estimates, self.suite),
            )
            for section in shown.sections
        ]
        made = (*(table for table in tables if table is not None), *self._stopped)
        return replace(self._bare, analyses=made, material=shown.material(self.cell))

    @cached_property
    def _bare(self) -> SuiteSheet:
        """The part without its tables, which may take longer than the estimates."""
        suite = self.suite
        prompts: dict[str, Any] = {
            "system": suite.system,
            "templates": {template.id: template.text for template in suite.templates},
        }
        if systems := {t.id: t.system for t in suite.templates if t.system is not None}:
            prompts["systems"] = systems
        return SuiteSheet(
            judge=self.judge.slug,
            suite=self.suite.name,
            identity=identity_of(self.judge, self.suite) | dict(self.settings),
            prompts={suite.name: prompts},
            suite_digest=self.suite.digest,
            served=self.served,
            recorded=self.recorded,
            estimates=self.estimates,
            calls=self.calls,
            notices=self.notices,
            max_tokens=_budget(self.judge, self.suite),
        )

    @property
    def design(self) -> Design:
        """The suite as a log describes it."""
        left_out = len(self.stop.left_out) if self.stop else 0
        return replace(self.suite.design, left_out=left_out)

    @property
    def _stopped(self) -> Iterator[dict[str, Any]]:
        """The stopping point, as stored in files."""
        if self.stop is not None:
            row = self.stop.to_plain() | {"left_out": list(self.stop.left_out)}
            yield {"analysis": "early_stop", "suite": self.suite.name, "rows": [row]}


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


# Of a caller that is code.
UNRESTRICTED: Final = Asking(trust=ANY_FILES)


def measure(
    judge: JudgeSpec,
    suite: Suite,
    cassettes: Mapping[str, Path],
    loop: AskingLoop,
    *,
    mode: Mode = "replay",
    seed: int = 0,
    stopping: Stopping | None = None,
    asking: Asking = UNRESTRICTED,
) -> Measurement:
    """Measure ``judge`` on ``suite``.

    Args:
        judge: its prompts, where it has any, replace templates of the suite.
        suite: as its file says, without the prompts of a judge.
        cassettes: the files to replay or to record into, by the name of the recording.
        loop: the loop for live calls.
        mode: ``replay`` makes no calls; ``record`` and ``live`` make calls for what the files lack.
        seed: for all random draws of the estimators.
        stopping: the checks that must be decided for an early stop; ``None``: the whole suite is
            measured. A stopped recording is replayed up to its stopping point in either case.
        asking: how it is asked.

    Raises:
        LimitReached: trials were left out; it says how many. Answers so far are recorded.
        CassetteError: the recording cannot be used.
        JudgeError: the judge cannot be called; `SendingRefused`: a repository alone may not decide
            this.
        UsageError: a prompt or a function of the judge is wrong.
    """
    registry = asking.registry
    suite = suite_for_judge(suite, judge)
    planned = trials = plan_trials(suite)
    note = stop_file(cassettes, suite)
    stop = _stopped_at(note, cassettes, planned) if mode == "replay" else None
    batches: _Batches = None
    left: list[str] = []  # checks that were not decided before the end
    if stop is not None:
        trials = _of_clusters(planned, stop.asked)
    elif stopping is not None and (left := stopping.never):
        pass
    elif stopping is not None:
        looks = Looks.of(planned, stopping.looks, seed)

        def up_to_a_stop(known: Mapping[str, Answer]) -> Iterator[Sequence[Trial]]:
            nonlocal stop
            for look in range(1, len(looks.looks) + 1):
                # Without live calls nothing beyond the look is read.
                until = look if mode == "replay" else looks.asked_for(look)
                ahead = _of_clusters(planned, looks.until(until))
                if new := [trial for trial in ahead if trial.id not in known]:
                    yield new
                now = _of_clusters(planned, looks.until(look))
                at = Stop(looks, look)
                judged = tuple(judgment_of(suite, judge, trial, known[trial.id]) for trial in now)
                seen = cell_of(judge.name, suite, judged, seed, registry)
                if not at.left_out:
                    return
                left[:] = stopping.undecided(seen, at, planned)
                if not left:
                    stop = at
                    return

        batches = up_to_a_stop
    by_cassette, noted, answers = _ask(judge, suite, cassettes, loop, trials, mode, asking, batches)
    proof = Proof()
    if asking.proves and mode != "replay":
        proof = _proved(judge, suite, by_cassette, answers, loop, asking)
    if stop is not None:
        trials = _of_clusters(planned, stop.asked)
        by_cassette = _only(by_cassette, trials)
    if mode != "replay":
        _note_stop(note, stop, cassettes, planned)
    traffic = _traffic(judge, by_cassette)
    for id_, usage in traffic.usage.items():
        if isinstance(reply := answers[id_].reply, Reply):
            answers[id_] = replace(answers[id_], reply=replace(reply, usage=usage))
    moments = {
        trial.id: span[1]
        for cassette, part in by_cassette
        for trial in part
        if (span := cassette.recorded_of([trial.id]))
    }
    judgments = tuple(
        judgment_of(suite, judge, trial, answers[trial.id], moments.get(trial.id))
        for trial in trials
    )
    cell, estimates, said, fault = _taken(judge.name, suite, judgments, seed, registry)
    if stop is not None:
        estimates = stop.adjusted(estimates, planned)
    served = models_named(judge, answers.values(), by_cassette)
    spans = [
        (span, cassette.path)
        for cassette, part in by_cassette
        if (span := cassette.recorded_of(trial.id for trial in part))
    ]
    changed = (changed_within(model, by_name) for model, by_name in served.items())
    made = Measurement(
        judge=judge,
        suite=suite,
        judgments=judgments,
        cell=cell,
        estimates=estimates,
        calls=_calls(judgments, suite, judge, answers),
        served=tuple(sorted(set().union(*served.values()))),
        recorded=span_of(span for span, _ in spans),
        oldest=min(spans)[-1] if spans else None,
        seed=seed,
        notices=(
            *noted,
            *chain(*changed),
            *failure_lines(judgments),
            *unsent_notices(judge, suite),
            *_in_free_text(judge, suite),
            *_set_by_suite(judge, suite),
            *_by_return(judge, mode),
            *([stop.said(suite.name)] if stop else []),
            *([f"{suite.name} was asked completely: {', '.join(left)} needed it"] if left else []),
            *said,
            *proof.notices,
        ),
        asked={id_: answer.retried for id_, answer in answers.items() if answer.made},
        registry=_without_plugins(registry) if fault else registry,
        settings=traffic.settings if judge.provider == "callable" else {},
        stop=stop,
        fault=fault,
        unproven=proof.error,
    )
    return made if fault else _reported(made)


def _proved(
    judge: JudgeSpec,
    suite: Suite,
    opened: _Opened,
    answers: Mapping[str, Answer],
    loop: AskingLoop,
    asking: Asking,
) -> Proof:
    """Whether the trials that were asked replay from their recording."""
    by_id = {trial.id: trial for trial in plan_trials(suite)}
    asked = [by_id[id_] for id_ in trial_order(id_ for id_, given in answers.items() if given.made)]
    outcomes = {
        trial.id: judgment_of(suite, judge, trial, answers[trial.id]).outcome for trial in asked
    }
    cassettes = [cassette for cassette, _ in opened]
    if not asked:
        return Proof()
    known = (asking.session or SessionCalls()).look_ups_of(judge.slug)
    for cassette in cassettes:
        known |= cassette.look_ups()
    paths = {recording_of(trial.id): cassette.path for cassette, part in opened for trial in part}
    deadline = asking.throttle.limits.deadline if asking.throttle else NO_DEADLINE
    task = Task(judge, suite, paths, tuple(asked), known, asking.trust)
    proof = prove(task, cassettes, outcomes, loop, deadline=deadline)
    known |= proof.look_ups
    return proof


def _taken(
    judge: str, suite: Suite, judgments: Sequence[Judgment], seed: int, registry: Registry
) -> tuple[Cell, tuple[Estimate, ...], tuple[str, ...], ExtensionError | None]:
    """A cell with its estimates and notices; without those of plugins if one of them fails."""
    cell = cell_of(judge, suite, judgments, seed, registry)
    try:
        return cell, estimate_all(cell), registry.notices(cell), None
    except ExtensionError as error:
        known = _without_plugins(registry)
        cell = cell_of(judge, suite, judgments, seed, known)
        return cell, estimate_all(cell), known.notices(cell), error


def _reported(made: Measurement) -> Measurement:
    """``made`` if the sections of plugins can be made of it; else without them."""
    shown = made.registry.shown("summary")
    try:
        if any(one.source for one in chain[Any](shown.sections, shown.comparisons)):
            made.part(shown)
    except ExtensionError as error:
        return replace(made, registry=_without_plugins(made.registry), fault=error)
    return made


def _without_plugins(registry: Registry) -> Registry:
    """The same but for the measures of plugins and what they report."""
    kinds = {
        name: replace(kind, measures=tuple(one for one in kind.measures if not one.source))
        for name, kind in registry.kinds.items()
    }
    reported = {name: getattr(BUILT_IN, name) for name in ("sections", "comparisons", "doubts")}
    return replace(registry, kinds=kinds, loose=(), **reported)


@dataclass(frozen=True, slots=True)
class Recorded:
    """The result of recording trials of a suite without measuring.

    Attributes:
        answered: how many of the trials have a recorded answer now.
        made: how many of them were called in this session; ``retried``: calls that were repeated.
        notices: as those of a measurement.
    """

    answered: int
    made: int
    retried: int
    notices: tuple[str, ...]


def record(
    judge: JudgeSpec,
    suite: Suite,
    cassettes: Mapping[str, Path],
    loop: AskingLoop,
    trials: Sequence[Trial],
    *,
    asking: Asking,
    mode: Mode = "record",
) -> Recorded:
    """Record some ``trials`` of a suite; otherwise like `measure`."""
    suite = suite_for_judge(suite, judge)
    opened, noted, answers = _ask(judge, suite, cassettes, loop, trials, mode, asking)
    if mode != "replay":
        forget_stop(judge, suite, cassettes)
        if any(answer.made for answer in answers.values()):
            noted = (*noted, f"{suite.name}: a shard is not replayed for a proof")
    return Recorded(
        answered=sum(
            cassette.complete(trial.id) for cassette, planned in opened for trial in planned
        ),
        made=sum(answer.made for answer in answers.values()),
        retried=sum(answer.retried for answer in answers.values()),
        notices=noted,
    )


def _ask(
    judge: JudgeSpec,
    suite: Suite,
    cassettes: Mapping[str, Path],
    loop: AskingLoop,
    trials: Sequence[Trial],
    mode: Mode,
    asking: Asking,
    batches: _Batches = None,
) -> tuple[_Opened, tuple[str, ...], dict[str, Answer]]:
    """The cassettes of ``trials`` of a suite, the notices about them, and the answers by trial.

    ``batches`` gets the growing answers and yields the trials that are called together, batch by
    batch; ``None``: all together. For the other arguments see `measure`.
    """
    asked_as = judge_for_suite(judge, suite)
    secrets = credentials_of(judge, asking.credentials)
    cassette_mode: Literal["replay", "record"] = "replay" if mode == "replay" else "record"
    by_cassette = []
    for recording, path in cassettes.items():
        cassette = Cassette(
            path,
            cassette_mode,
            secrets=secrets,
            how_to_record=asking.how_to_record,
            on_recorded=asking.on_recorded,
            identity=Identity(judge.ignore),
        )
        part = [trial for trial in trials if recording_of(trial.id) == recording]
        by_cassette.append((cassette, part))
    session = asking.session or SessionCalls()
    before = [session.on(path) for path in cassettes.values()]
    known = {
        trial.id for cassette, part in by_cassette for trial in part if cassette.complete(trial.id)
    }
    known = known.union(*(asked.failed for asked in before))
    throttle = asking.throttle or Throttle(judge, asking.concurrency)
    unknown = [trial for trial in trials if trial.id not in known]
    count, counted = asking.watch(unknown), {trial.id for trial in unknown}

    def tell(judgment: Judgment) -> None:
        if judgment.trial.id in counted:
            count(judgment)

    verdicts = suite.space.verdicts
    if suite.space.criteria or len(verdicts) > _MOST_NAMED:
        verdicts = ()
    first = FirstReplies(
        0 if mode == "replay" else asking.max_unparsed,
        verdicts,
        asking.max_unparsed_set_by,
        recording=mode == "record",
    )
    answers: dict[str, Answer] = {}
    left_out: list[tuple[Trial, LimitReached]] = []
    computed = 0
    for batch in batches(answers) if batches else [trials]:
        parts = _only(by_cassette, batch)
        if mode == "replay":
            of_parts = [_computed(asked_as, *part, asking) for part in parts]
            computed += sum(map(len, of_parts))
            if not any(of_parts):
                _verify_recorded(parts, asked_as, asking.how_to_record)
        for (cassette, part), asked_on in zip(parts, before, strict=True):
            of_part = asked_as, suite, part, cassette, throttle, asked_on
            given = loop.run(ask_all(*of_part, asking=asking, tell=tell, first=first))
            for trial, answer in zip(part, given, strict=True):
                if isinstance(answer, LimitReached):
                    left_out.append((trial, answer))
                else:
                    answers[trial.id] = _redacted(answer, cassette)
        if left_out:
            break
    if mode != "replay":
        for cassette, _ in by_cassette:
            cassette.finish(trial_order(cassette.trials))
        for cassette, _ in by_cassette:
            cassette.remove_shown()  # secrets found in later calls
    _refuse_gaps(left_out, len(trials), judge, suite, mode)
    noted = (
        at.noted(cassette.notices) for (cassette, _), at in zip(by_cassette, before, strict=True)
    )
    here = f"{computed} of {len(trials)} trials are not recorded: the embedded judge was run here"
    return by_cassette, tuple(dict.fromkeys(chain(*noted, [here] * bool(computed)))), answers


def stop_file(cassettes: Mapping[str, Path], suite: Suite) -> Path:
    """The file beside a recording that holds the stopping point of its suite."""
    return cassettes[suite.recordings[0]].parent / f"{suite.name}{STOPPED}"


def _stopped_at(note: Path, cassettes: Mapping[str, Path], planned: Sequence[Trial]) -> Stop | None:
    """The stopping point of a recording; ``None`` if it was not stopped, or is complete by now."""
    if not note.is_file() or _whole(cassettes, planned):
        return None
    try:
        found = Stop.from_plain(json.loads(read_text(note)), {one.cluster for one in planned})
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise CassetteError(
            f"{note} does not say where the recording was stopped",
            found=str(error),
            expected="the file as it was written when the suite was recorded",
            remedy="restore it from version control, or delete it and record the rest with "
            "--judge-mode record",
        ) from error
    return found


def _whole(cassettes: Mapping[str, Path], planned: Sequence[Trial]) -> bool:
    """Whether every trial has a recorded exchange."""
    recorded = {line.head.trial for path in cassettes.values() for line in read_lines(path)}
    return recorded.issuperset(trial.id for trial in planned)


def _note_stop(
    note: Path, stop: Stop | None, cassettes: Mapping[str, Path], planned: Sequence[Trial]
) -> None:
    """Write the stopping point beside a recording; remove it if the suite is complete."""
    if stop is not None and not _whole(cassettes, planned):
        replace_text(note, json.dumps(stop.to_plain(), indent=1) + "\n")
    elif note.exists():  # what is complete may lie in a folder that cannot be written
        note.unlink()


def forget_stop(judge: JudgeSpec, suite: Suite, cassettes: Mapping[str, Path]) -> None:
    """Remove the stopping point beside a recording that is complete by now.

    Left there, it would hide the loss of a line: the clusters of the stop alone would be measured.
    """
    note, suite = stop_file(cassettes, suite), suite_for_judge(suite, judge)
    if note.exists() and _whole(cassettes, plan_trials(suite)):
        note.unlink()


def _of_clusters(trials: Iterable[Trial], clusters: Iterable[str]) -> tuple[Trial, ...]:
    wanted = {*clusters}
    return tuple(trial for trial in trials if trial.cluster in wanted)


def _only(opened: _Opened, trials: Iterable[Trial]) -> list[tuple[Cassette, list[Trial]]]:
    """The cassettes with the trials of ``trials`` that each of them holds."""
    wanted = {trial.id for trial in trials}
    return [
        (cassette, [trial for trial in part if trial.id in wanted]) for cassette, part in opened
    ]


def _in_free_text(judge: JudgeSpec, suite: Suite) -> Iterator[str]:
    if judge.structured and suite.form.sweeps:
        yield (
            f"{suite.name} was asked for free text although the judge has structured = "
            f"{json.dumps(judge.structured)}: it counts malformed replies"
        )


def _by_return(judge: JudgeSpec, mode: Mode) -> Iterator[str]:
    if judge.by_return and mode == "replay":
        yield (
            f"{judge.name} is replayed by what its function returned: the function is not run, "
            'and a change of its code is not noticed (calls = "function")'
        )


def _set_by_suite(judge: JudgeSpec, suite: Suite) -> Iterator[str]:
    """The settings that the suite asks a judge with, where they are not those of its identity."""
    if judge.provider == "callable":
        return
    asked = judge_for_suite(judge, suite)
    names = ("temperature", "max_tokens", "top_p")[bool(suite.temperatures) :]
    set_ = [name for name in names if getattr(asked, name) == getattr(suite, name)]
    changed = [
        f"{one} {getattr(asked, one)}" for one in set_ if getattr(judge, one) != getattr(asked, one)
    ]
    if changed:
        yield f"asked with {' and '.join(changed)}, which the suite sets"


def _budget(judge: JudgeSpec, suite: Suite) -> int | None:
    """The budget of a reply that the suite sends, where it is not that of the judge's identity."""
    if judge.provider == "callable":
        return None
    sent = judge_for_suite(judge, suite).max_tokens
    return None if sent == judge.max_tokens else sent


def _redacted(answer: Answer, cassette: Cassette) -> Answer:
    """``answer`` without secrets that were found in later calls, as in the recording."""
    reply = answer.reply
    if not answer.made or not isinstance(reply, Reply) or reply.text is None:
        return answer
    return replace(answer, reply=replace(reply, text=cassette.redacted(reply.text)))


def _traffic(judge: JudgeSpec, opened: _Opened) -> Traffic:
    """What the recordings of a Python judge show about it; for other judges the replies do."""
    if judge.provider != "callable":
        return Traffic()
    return traffic_of(_exchanges(opened))


def _exchanges(opened: _Opened) -> Iterator[Exchange]:
    """The recorded exchanges of the measured trials."""
    for cassette, trials in opened:
        wanted = {trial.id for trial in trials}
        for exchange in read_exchanges(cassette.path):
            if exchange.trial in wanted:
                yield exchange


def models_named(
    judge: JudgeSpec, answers: Iterable[Answer], opened: _Opened
) -> dict[str, Counter[str]]:
    """Number of replies by requested model and by the model that they name."""
    if judge.provider == "callable":  # the model of a function is known only from its calls
        return models_of(_exchanges(opened))
    replies = [answer.reply for answer in answers]
    return {judge.model: Counter(r.model for r in replies if isinstance(r, Reply) and r.model)}


def cell_of(
    judge: str,
    suite: Suite,
    judgments: Sequence[Judgment],
    seed: int,
    registry: Registry = BUILT_IN,
) -> Cell:
    """The judgments of a judge on a suite as measures take them."""
    measures = registry.measures_on(suite.kind, suite.name)
    return Cell(judge, suite.name, suite.design, tuple(judgments), seed, measures)


async def ask_all(
    judge: JudgeSpec,
    suite: Suite,
    trials: Sequence[Trial],
    cassette: Cassette,
    throttle: Throttle,
    before: AskedOn,
    *,
    asking: Asking,
    tell: Callable[[Judgment], None] = lambda _: None,
    first: FirstReplies | None = None,
) -> list[Answer | LimitReached]:
    """The answers to ``trials`` in order; a trial that a limit left out has the limit."""
    if cassette.mode != "replay":
        asking.trust.refuse_suite(suite)
    concurrency = judge.concurrency or asking.concurrency
    messages, calls = renderer(suite, judge), calls_of(suite, judge)
    refusals, first = Refusals(), first or FirstReplies()

    async def one(
        client: Client, trial: Trial, said: list[dict[str, str]], course: Callable[[], Course]
    ) -> Answer | LimitReached:
        if failed := before.failure(trial.id, said):
            return failed
        try:
            refused = refusals.of(trial)
            if refused is not None and not cassette.complete(trial.id):
                return refused
            async with first.turn():
                answer = await client.ask_calls(trial.id, course)
                if cassette.mode == "replay":
                    return answer
                judgment = judgment_of(suite, judge, trial, answer)
                first.learn(judgment, None if answer.made else cassette.path)
        except LimitReached as limit:
            return limit  # calls in flight are paid for: they are completed
        refusals.learn(trial, answer.reply)
        tell(judgment)
        if answer.made:
            before.add(trial.id, said, answer)
        elif earlier := before.of(trial.id, said):
            return earlier.again(answer)
        return answer

    async with open_client(
        judge,
        cassette,
        concurrency=concurrency,
        throttle=throttle,
        skills=asking.registry.skills,
        trust=asking.trust,
        suite=suite,
    ) as client:
        if cassette.mode == "replay" and judge.provider != "callable":
            if unrecorded := _computed(judge, cassette, trials, asking):
                find = partial(observer_named, skills=asking.registry.skills)
                return [
                    client.compute(calls(t), find)
                    if t.id in unrecorded
                    else client.replay(t.id, calls(t))
                    for t in trials
                ]
            if takes_one_call(suite, judge):
                return [client.replay(t.id, one_call(messages(t), t.replicate)) for t in trials]
            refused = refused_unasked(judge, cassette, trials)
            return [refused.get(t.id) or client.replay(t.id, calls(t)) for t in trials]
        with nullcontext() if judge.by_return else cassette.intercepting():
            asked = [(trial, messages(trial), partial(calls, trial)) for trial in trials]
            for trial, said, _ in asked if before.failed else ():
                if known := before.failure(trial.id, said):
                    refusals.learn(trial, known.reply)
            # The judge's throttle limits concurrent calls. As many again may wait for a retry; more
            # would mean that an endpoint that is down gets a request for every trial before the
            # first one fails.
            return await together((one(client, *each) for each in asked), 2 * concurrency)


def _computed(
    judge: JudgeSpec, cassette: Cassette, trials: Sequence[Trial], asking: Asking
) -> frozenset[str]:
    """Ids of the trials of the embedded judge that are computed, for they are not recorded."""
    if not asking.computes(judge):
        return frozenset()
    return frozenset(trial.id for trial in trials) - cassette.trials


def _refuse_gaps(
    left_out: Sequence[tuple[Trial, LimitReached]],
    planned: int,
    judge: JudgeSpec,
    suite: Suite,
    mode: Mode,
) -> None:
    """Raise `LimitReached` if trials were left out: nothing is estimated from the others."""
    if not left_out:
        return
    trial, limit = left_out[0]
    paid = "what is recorded is not asked again, and is replayed for a proof once all of it is"
    if mode == "live":
        paid = "only --judge-save-live keeps what is paid for"
    raise LimitReached(
        f"{limit.what}: {len(left_out)} of {planned} trials of judge {judge.name!r} on suite "
        f"{suite.name} are left out, the first is {trial.id}",
        found=limit.found,
        expected=limit.expected,
        remedy=limit.remedy or f"raise the limit and run again; {paid}",
    )


def _verify_recorded(
    by_cassette: Sequence[tuple[Cassette, Sequence[Trial]]], judge: JudgeSpec, how_to_record: str
) -> None:
    """Raise `MissingRecording` with the number of missing trials, before any replay."""
    missing = [
        (trial, cassette)
        for cassette, trials in by_cassette
        for recorded in (cassette.trials | refused_unasked(judge, cassette, trials).keys(),)
        for trial in trials
        if trial.id not in recorded
    ]
    if not missing:
        return
    first, cassette = missing[0]
    asked = sum(len(trials) for _, trials in by_cassette)
    gone, ids = {trial.cluster for trial, _ in missing}, {trial.id for trial, _ in missing}
    planned = [trial for _, trials in by_cassette for trial in trials]
    there = {trial.cluster for trial in planned if trial.id not in ids}
    if there and gone.isdisjoint(there):  # whole clusters, as in shards
        how_to_record += f"\n{' ' * 12}if this is a shard: join all first, by judgesense merge"
    raise MissingRecording(
        f"{len(missing)} of {asked} trials are not recorded, the first is {first.id}",
        found=f"{len(cassette.trials)} trials in {cassette.path}"
        if cassette.path.exists()
        else f"no cassette at {cassette.path}",
        expected="a recorded exchange for every trial: replay never asks the network",
        remedy=how_to_record,
    )


def _calls(
    judgments: Sequence[Judgment], suite: Suite, judge: JudgeSpec, answers: Mapping[str, Answer]
) -> Calls:
    """The calls behind ``judgments``, and those beyond the look at which a suite stopped."""
    measured = {judgment.trial.id for judgment in judgments}
    beyond = [
        judgment_of(suite, judge, trial, answers[trial.id])
        for trial in plan_trials(suite)
        if trial.id not in measured and trial.id in answers and answers[trial.id].made
    ]
    calls = Calls.of(
        [*judgments, *beyond],
        made=sum(answer.made for answer in answers.values()),
        retried=sum(answer.retried for answer in answers.values()),
    )
    if (prices := judge.prices) is None:
        return calls
    prompt, completion = calls.prompt_tokens or 0, calls.completion_tokens or 0
    cost = (prompt * prices.prompt + completion * prices.completion) / 1e6
    return replace(calls, cost_usd=cost)
