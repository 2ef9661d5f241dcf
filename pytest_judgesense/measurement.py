"""One measurement, as a story: plan, ask, judge, estimate, report.

`measure` reads like that; the functions below it are in the same order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from pytest_judgesense.asking.inquiry import UNRESTRICTED, Asking, Inquiry
from pytest_judgesense.asking.proof import Proof
from pytest_judgesense.asking.stopping_point import forget_stop, read_stop, stop_file, write_stop
from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest
from pytest_judgesense.cassettes.opening import Mode
from pytest_judgesense.cassettes.writing import RecordingCassette
from pytest_judgesense.checks.early_stop import Looks, Stop, Stopping, held
from pytest_judgesense.checks.judgment_words import (
    contradicted_lines,
    failure_lines,
    spent_lines,
    swallowed_lines,
)
from pytest_judgesense.checks.outcome import DecisionRule, Outcome, judge_check
from pytest_judgesense.checks.shared_request import (
    AskedTexts,
    prompts_sent,
    request_shared,
    requests_of,
)
from pytest_judgesense.datasheets.datasheet import Calls, SuiteSheet, changed_within, span_of
from pytest_judgesense.datasheets.sections import Report
from pytest_judgesense.errors import ExtensionError, JudgesenseError, UsageError
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.calls import identity_of, judgment_of, renderer
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.model_families import family_notices
from pytest_judgesense.judges.prompts import judge_for_suite, suite_for_judge, unsent_notices
from pytest_judgesense.judges.providers.base import JURY
from pytest_judgesense.judges.remembered import recorded_trials
from pytest_judgesense.judges.session import SessionCalls
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import NO_DEADLINE, Answer
from pytest_judgesense.measures.bar import Check
from pytest_judgesense.measures.calibration import calibration_of
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.registry import Registry
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.planning import plan_trials, trial_order
from pytest_judgesense.suites.suite import Suite, Template
from pytest_judgesense.trial import Design, Failed, Judgment, RequestCount, Trial


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
        asked: the trials that were called in this session, each with the requests sent for it.
        oldest: the cassette with the oldest answer.
        cassettes: the files that hold the recorded exchanges.
        prompts: those that were sent, without the texts of items; empty if they are not known, as
            of a function that makes no request.
        requests: of a Python judge by trial, see `requests_of`; empty for other judges, whose
            requests are rendered here.
        settings: the settings that a Python judge used in its requests, in place of its table.
        stop: where it was stopped early; ``None`` if the whole suite was measured.
        error: why no check of the suite is judged: what was recorded does not replay, or a
            measure of a plugin fails, and nothing is estimated. The judgments are kept.
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
    asked: Mapping[str, RequestCount] = field(default_factory=dict)
    oldest: Path | None = None
    cassettes: tuple[Path, ...] = ()
    registry: Registry = BUILT_IN
    prompts: Mapping[str, Any] = field(default_factory=dict)
    requests: Mapping[str, Sequence[RecordedRequest]] = field(default_factory=dict, repr=False)
    settings: Mapping[str, Any] = field(default_factory=dict)
    stop: Stop | None = None
    error: JudgesenseError | None = None

    def sound(self) -> Measurement:
        """This measurement; raises the error for which no check is judged by it."""
        if self.error is not None:
            raise self.error
        return self

    def outcome_of(self, check: Check, rule: DecisionRule) -> Outcome:
        """The outcome of a check against fixed bars; for a stopped run, only if it was decided."""
        outcome = judge_check(check, self.suite.name, self.estimates, *rule)
        if self.stop is None:
            return outcome
        return held(outcome, self.cell, self.stop, plan_trials(self.suite))

    def prompt_of(self, trial_id: str) -> str:
        """The prompt of a trial, without roles."""
        trial = self._by_id[trial_id]
        if self._asked is not None:
            return self._asked.prompt_of(trial)
        return "\n".join(m["content"] for m in self._messages(trial))

    def question_of(self, trial_id: str) -> str:
        """The texts of a trial's item beside the answers; without such texts, the answers.

        Of a function, which may not send them all, those that it did.
        """
        trial = self._by_id[trial_id]
        if self._asked is not None:
            return self._asked.question_of(trial)
        item = self._items[trial.item]
        texts = [text for text in item.fields.values() if text.strip()] or item.contents
        return " / ".join(texts)

    def contents_of(self, trial_id: str) -> tuple[str, ...]:
        """What was judged in a trial, in the item's own order."""
        trial = self._by_id[trial_id]
        if self._asked is not None:
            return self._asked.contents_of(trial)
        return self._items[trial.item].contents_in(trial.order)

    @cached_property
    def _asked(self) -> AskedTexts | None:
        """What a function sent; ``None`` of a judge whose requests are rendered here."""
        if self.judge.asked_judges[0].provider != "callable":
            return None
        return AskedTexts(self._items, self.requests)

    @cached_property
    def _items(self) -> dict[str, Item]:
        return {item.id: item for item in self.suite.items}

    @cached_property
    def _by_id(self) -> dict[str, Trial]:
        return {judgment.trial.id: judgment.trial for judgment in self.judgments}

    @cached_property
    def _messages(self) -> Callable[[Trial], list[dict[str, str]]]:
        return renderer(self.suite, self.judge.asked_judges[0])

    @property
    def sheet(self) -> SuiteSheet:
        """The part of the datasheet for this measurement, without outcomes."""
        return self.part(self.registry.report)

    def part(self, shown: Report) -> SuiteSheet:
        """The same with the tables of the sections of ``shown``; each is made once."""
        tables = [
            self.cell.once(
                f"table {section.name}",
                partial(section.analysis, self.cell, self.estimates, self.suite),
            )
            for section in shown.sections
        ]
        analyses = (*(table for table in tables if table is not None), *self._stopped)
        return replace(self._bare, analyses=analyses, material=shown.material(self.cell))

    @cached_property
    def _bare(self) -> SuiteSheet:
        """The part without its tables, which may take longer than the estimates."""
        return SuiteSheet(
            judge=self.judge.slug,
            suite=self.suite.name,
            identity=identity_of(self.judge, self.suite) | dict(self.settings),
            prompts={self.suite.name: self.prompts} if self.prompts else {},
            suite_digest=self.suite.digest,
            served=self.served,
            recorded=self.recorded,
            estimates=self.estimates,
            calls=self.calls,
            notices=self.notices,
            max_tokens=_budget(self.judge, self.suite),
            temperature=_temperature(self.judge, self.suite),
            calibration=self._calibration,
        )

    @property
    def _calibration(self) -> dict[str, Any] | None:
        """What corrects other verdicts of the judge, and what was sent for it."""
        if (calibration := calibration_of(self.cell)) is None:
            return None
        if self.judge.members:  # there is no request that all of them have in common
            return calibration.to_plain() | {"sent": None}
        trials = (judgment.trial for judgment in self.judgments)
        recorded = recorded_trials(self.cassettes)
        sent = request_shared(self.judge, self.suite, trials, recorded)
        return calibration.to_plain() | {"sent": sent and asdict(sent)}

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
        JudgeError: the judge cannot be called, or (`SendingRefused`) a repository may not say so.
        UsageError: a prompt or a function of the judge is wrong.
    """
    asking = replace(asking, registry=asking.registry.for_suite(suite))
    plan = _plan(judge, suite, cassettes, mode)
    inquiry = Inquiry(judge, plan.suite, plan.of(plan.stop), cassettes, loop, mode, asking)
    end = _ask_until_decided(plan, inquiry, stopping, seed, asking.registry)
    inquiry.finish()
    proof = proof_of(inquiry, plan.trials, loop, asking)
    plan.note_stop(end.stop, inquiry)
    evidence = _evidence_of(inquiry, plan.of(end.stop))
    judgments, recorded, spans = evidence.judgments, evidence.recorded, evidence.spans
    cell = cell_of(judge.name, inquiry.suite, judgments, seed, asking.registry)
    estimates, fault = _estimate(cell, end.stop, plan.trials)
    return Measurement(
        judge=judge,
        suite=inquiry.suite,
        judgments=judgments,
        cell=cell,
        estimates=estimates,
        calls=_calls(plan, judgments, inquiry.answers),
        served=tuple(sorted(set().union(*evidence.served.values()))),
        **_dates_of(spans),
        cassettes=tuple(cassettes.values()),
        seed=seed,
        notices=(
            *inquiry.notices,
            *evidence.notices(),
            *_notices(plan, mode),
            *end.notices(plan.suite.name),
            *asking.registry.report.notices_of(cell),
            *_of_one_family(judge, inquiry.suite, evidence.served),
            *proof.notices,
            *_beside(inquiry, proof, asking),
        ),
        asked=inquiry.made,
        registry=asking.registry,
        prompts=_prompts(judge, inquiry.suite, plan.of(end.stop), recorded),
        requests={id_: requests_of(exchanges) for id_, exchanges in recorded.items()},
        settings=evidence.settings,
        stop=end.stop,
        error=fault or proof.error,
    )


class _Dates(TypedDict):
    """When answers were recorded, and the cassette with the oldest one."""

    recorded: tuple[str, str] | None
    oldest: Path | None


def _dates_of(spans: Sequence[tuple[tuple[str, str], Path | None]]) -> _Dates:
    """The dates of cassettes, of each of which the first and the last answer is known."""
    return {
        "recorded": span_of(span for span, _ in spans),
        "oldest": min(spans)[-1] if spans else None,
    }


class _Evidence(NamedTuple):
    """What an inquiry holds of the trials that count, once it has finished.

    Attributes:
        judgments: one for each trial, in their order.
        settings: of a Python judge, as its requests show them.
        served: number of replies by requested model and by the model that they name.
        recorded: by trial, the exchanges of a Python judge.
        spans: when the first and the last answer of each cassette were recorded, with its file.
    """

    judgments: tuple[Judgment, ...]
    settings: Mapping[str, Any]
    served: Mapping[str, Mapping[str, int]]
    recorded: Mapping[str, Sequence[Exchange]]
    spans: Sequence[tuple[tuple[str, str], Path]]

    def notices(self) -> Iterator[str]:
        """What a reader of the datasheet must know about models and replies."""
        for model, by_name in self.served.items():
            yield from changed_within(model, by_name)
        yield from failure_lines(self.judgments)
        yield from spent_lines(self.judgments)
        yield from contradicted_lines(self.judgments)
        yield from swallowed_lines(self.judgments, self.recorded)


def _evidence_of(inquiry: Inquiry, trials: Sequence[Trial]) -> _Evidence:
    usages, settings = inquiry.usage_and_settings(trials)
    return _Evidence(
        judgments=inquiry.recorded_judgments(trials, usages),
        settings=settings,
        served=inquiry.served(trials),
        recorded=inquiry.recorded(trials),
        spans=inquiry.spans(trials),
    )


class Recorded(NamedTuple):
    """The result of recording trials of a suite without measuring.

    Attributes:
        answered: how many of the trials have a reply now.
        notices: as those of a measurement, without those on failures.
        failed: by trial without a reply, why.
    """

    answered: int
    notices: tuple[str, ...]
    failed: Mapping[str, str]


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
    inquiry = Inquiry(judge, suite, trials, cassettes, loop, mode, asking)
    inquiry.ask(trials)
    inquiry.finish()
    notices = inquiry.notices
    if not inquiry.replays:
        forget_stop(judge, suite, cassettes)
        if inquiry.made:
            notices = (*notices, f"{suite.name}: a shard is not replayed for a proof")
    replies = {trial.id: inquiry.answers[trial.id].reply for trial in trials}
    failed = {id_: reply.reason for id_, reply in replies.items() if isinstance(reply, Failed)}
    return Recorded(
        answered=len(replies) - len(failed),
        notices=notices,
        failed=failed,
    )


# --- plan -----------------------------------------------------------------------------------------


class _Plan(NamedTuple):
    """What is asked: all trials of a suite, or those up to where its recording was stopped."""

    judge: JudgeSpec
    suite: Suite
    trials: tuple[Trial, ...]
    stop_file: Path
    stop: Stop | None

    def of(self, stop: Stop | None) -> tuple[Trial, ...]:
        """The trials up to a stopping point; ``None``: all of them."""
        return self.trials if stop is None else self.of_clusters(stop.asked)

    def note_stop(self, stop: Stop | None, inquiry: Inquiry) -> None:
        """Write beside a new recording where it was stopped."""
        if not inquiry.replays:
            paths = {name: cassette.path for name, cassette in inquiry.cassettes.items()}
            write_stop(self.stop_file, stop, paths, self.trials)

    def of_clusters(self, clusters: Iterable[str]) -> tuple[Trial, ...]:
        wanted = {*clusters}
        return tuple(trial for trial in self.trials if trial.cluster in wanted)


def _plan(judge: JudgeSpec, suite: Suite, cassettes: Mapping[str, Path], mode: Mode) -> _Plan:
    suite = suite_for_judge(suite, judge)
    trials, path = plan_trials(suite), stop_file(cassettes, suite)
    stop = read_stop(path, cassettes, trials) if mode == "replay" else None
    return _Plan(judge, suite, trials, path, stop)


# --- ask ------------------------------------------------------------------------------------------


class _End(NamedTuple):
    """Where asking ended.

    Attributes:
        stop: ``None`` if all was asked.
        undecided: the checks for which all was asked, although it might have stopped.
    """

    stop: Stop | None = None
    undecided: Sequence[str] = ()

    def notices(self, suite: str) -> Iterator[str]:
        if self.stop is not None:
            yield self.stop.said(suite)
        elif self.undecided:
            yield f"{suite} was asked completely: {', '.join(self.undecided)} needed it"


def _ask_until_decided(
    plan: _Plan, inquiry: Inquiry, stopping: Stopping | None, seed: int, registry: Registry
) -> _End:
    """Ask all, or look by look until all checks are decided: see `checks.early_stop`."""
    if plan.stop is not None or stopping is None or stopping.never:
        inquiry.ask(plan.of(plan.stop))
        asked_for = stopping.never if stopping is not None and plan.stop is None else ()
        return _End(plan.stop, asked_for)
    looks = Looks.of(plan.trials, stopping.looks, seed)
    undecided: Sequence[str] = ()
    for look in range(1, len(looks.looks) + 1):
        # Without live calls nothing beyond the look is read.
        ahead = look if inquiry.replays else looks.asked_for(look)
        inquiry.ask(plan.of_clusters(looks.until(ahead)))
        stop = Stop(looks, look)
        if not stop.left_out:
            break
        judgments = inquiry.judgments_of(plan.of(stop))
        cell = cell_of(plan.judge.name, plan.suite, judgments, seed, registry)
        undecided = stopping.undecided(cell, stop, plan.trials)
        if not undecided:
            return _End(stop)
    return _End(None, undecided)


def proof_of(inquiry: Inquiry, planned: Iterable[Trial], loop: AskingLoop, asking: Asking) -> Proof:
    """Whether trials that were asked, read otherwise or carried over replay, of the ``planned``."""
    by_id = {trial.id: trial for trial in planned}
    trials = [by_id[id_] for id_ in trial_order(inquiry.to_prove)]
    if not trials or not asking.proves or inquiry.replays:
        return Proof()
    # Only who records imports what proves it.
    from pytest_judgesense.asking.proving import Task, look_ups_of, prove

    judgments = inquiry.judgments_of(trials)
    cassettes = [tape for tape in inquiry.cassettes.values() if isinstance(tape, RecordingCassette)]
    look_ups = (asking.session or SessionCalls()).look_ups_of(inquiry.judge.slug)
    for cassette in cassettes:
        look_ups |= look_ups_of(cassette)
    paths = {recording: cassette.path for recording, cassette in inquiry.cassettes.items()}
    proof = prove(
        Task(inquiry.judge, inquiry.suite, paths, tuple(trials), look_ups, asking.trust),
        cassettes,
        {judgment.trial.id: judgment for judgment in judgments},
        loop,
        deadline=asking.throttle.budget.deadline if asking.throttle else NO_DEADLINE,
    )
    look_ups |= proof.look_ups
    return proof


# --- judge and estimate ---------------------------------------------------------------------------


def cell_of(
    judge: str,
    suite: Suite,
    judgments: Sequence[Judgment],
    seed: int,
    registry: Registry = BUILT_IN,
) -> Cell:
    """The judgments of a judge on a suite as measures take them."""
    measures = registry.measures_on(suite.kind, suite.name)
    return Cell.with_controls_apart(
        judge, suite.name, suite.design, tuple(judgments), seed, measures
    )


def _estimate(
    cell: Cell, stop: Stop | None, planned: Sequence[Trial]
) -> tuple[tuple[Estimate, ...], ExtensionError | None]:
    """The estimates; none, and the error, where a plugin's measure fails: judgments are kept."""
    try:
        estimates = estimate_all(cell)
    except ExtensionError as error:
        return (), error
    return (estimates if stop is None else stop.adjusted(estimates, planned)), None


# --- report ---------------------------------------------------------------------------------------


def _calls(plan: _Plan, judgments: Sequence[Judgment], answers: Mapping[str, Answer]) -> Calls:
    """The calls behind ``judgments``, and those beyond the look at which a suite stopped."""
    measured = {judgment.trial.id for judgment in judgments}
    beyond = [
        judgment_of(plan.suite, plan.judge, trial, answers[trial.id])
        for trial in plan.trials
        if trial.id not in measured and trial.id in answers and answers[trial.id].made
    ]
    asked = [answer.requests for answer in answers.values() if answer.made]
    calls = Calls.of([*judgments, *beyond], asked)
    if (prices := plan.judge.prices) is None:
        return calls
    prompt, completion = calls.prompt_tokens or 0, calls.completion_tokens or 0
    cost = (prompt * prices.prompt + completion * prices.completion) / 1e6
    return replace(calls, cost_usd=cost)


def _prompts(
    judge: JudgeSpec,
    suite: Suite,
    trials: Sequence[Trial],
    recorded: Mapping[str, Sequence[Exchange]],
) -> dict[str, Any]:
    """What was sent: the suite's templates, which are rendered; of a function what is recorded."""
    if judge.provider == "callable":
        return prompts_sent(suite, trials, recorded)
    prompts: dict[str, Any] = {
        "system": suite.system,
        "templates": {name: text for t in suite.templates for name, text in _texts_of(t).items()},
    }
    if systems := {t.id: t.system for t in suite.templates if t.system is not None}:
        prompts["systems"] = systems
    return prompts


def _texts_of(template: Template) -> dict[str, str]:
    """The text of a template by its id; where each criterion has a call, one for each."""
    if not template.by_criterion:
        return {template.id: template.text}
    return {f"{template.id}, {name}": text for name, text in template.by_criterion.items()}


def _notices(plan: _Plan, mode: Mode) -> Iterator[str]:
    """How the judge was asked, where its table or the suite does not show it."""
    yield from unsent_notices(plan.judge, plan.suite)
    yield from _in_free_text(plan.judge, plan.suite)
    yield from _set_by_suite(plan.judge, plan.suite)
    yield from _by_return(plan.judge, mode)


def _in_free_text(judge: JudgeSpec, suite: Suite) -> Iterator[str]:
    if judge.structured and suite.form.sweeps:
        yield (
            f"{suite.name} was asked for free text although the judge has structured = "
            f"{json.dumps(judge.structured)}: it counts malformed replies"
        )


def _of_one_family(
    judge: JudgeSpec, suite: Suite, served: Mapping[str, Mapping[str, int]]
) -> Iterator[str]:
    """Who wrote what the judge judges, if that is a model of its family."""
    # Of a function its replies alone say which model it asks.
    asked = [] if judge.provider == "callable" else [judge.model]
    models = [*asked, *served, *chain.from_iterable(served.values())]
    return family_notices(suite, judge.name, models)


def _by_return(judge: JudgeSpec, mode: Mode) -> Iterator[str]:
    if judge.by_return and mode == "replay":
        yield (
            f"{judge.name} is replayed by what its function returned: the function is not run, "
            'and a change of what it calls is not noticed (calls = "function")'
        )


def _beside(inquiry: Inquiry, proof: Proof, asking: Asking) -> Iterator[str]:
    """What a function may have asked beside its recorded requests, where no proof has shown it."""
    if not asking.proves or proof.is_cut_off or not inquiry.has_requests:
        return
    from pytest_judgesense.judges.unseen import beside_notice

    notice = beside_notice(inquiry.judge)
    if notice is not None and inquiry.tells("beside"):
        yield notice


def _set_by_suite(judge: JudgeSpec, suite: Suite) -> Iterator[str]:
    """The settings that the suite asks a judge with, where they are not those of its identity."""
    if judge.provider == "callable":
        return
    asked_as = judge_for_suite(judge, suite)
    changed = [
        f"{setting} {getattr(asked_as, setting)}"
        for setting in ("temperature", "max_tokens", "top_p")[bool(suite.temperatures) :]
        if getattr(asked_as, setting) == getattr(suite, setting) != getattr(judge, setting)
    ]
    if changed:
        yield f"asked with {' and '.join(changed)}, which the suite sets"


def _budget(judge: JudgeSpec, suite: Suite) -> int | None:
    """The budget of a reply that the suite sends, where it is not that of the judge's identity."""
    if judge.provider in ("callable", JURY):
        return None
    sent = judge_for_suite(judge, suite).max_tokens
    return None if sent == judge.max_tokens else sent


def _temperature(judge: JudgeSpec, suite: Suite) -> float | None:
    """The temperature that the suite sends, where it is one and not that of the identity."""
    if judge.provider == "callable" or suite.temperatures:
        return None
    sent = judge_for_suite(judge, suite).temperature
    return None if sent == judge.temperature else sent


# --- juries ---------------------------------------------------------------------------------------


def measurement_of(
    judge: JudgeSpec, measure_asked: Callable[[JudgeSpec], Measurement]
) -> Measurement:
    """The measurement of a judge by ``measure_asked``; of a jury what those of its members make.

    Raises:
        UsageError: as `jury_measurement`; and whatever ``measure_asked`` raises.
    """
    if not judge.members:
        return measure_asked(judge)
    return jury_measurement(judge, [measure_asked(member) for member in judge.members])


def jury_measurement(judge: JudgeSpec, members: Sequence[Measurement]) -> Measurement:
    """The measurement of a jury on a suite, made of those of its members: it asks nobody.

    Args:
        judge: the jury.
        members: their measurements on the suite, in the order of the jury.

    Raises:
        UsageError: a member was stopped early, or its items are not those of the others.
    """
    from pytest_judgesense.judges.jury import jury_judgments  # few sessions have a jury

    first = members[0].sound()
    for member in members:
        _refuse_part_of_suite(judge, member.sound(), first)
    by_member = {member.judge.name: member.judgments for member in members}
    judgments = jury_judgments(judge, first.suite, by_member)
    cell = cell_of(judge.name, first.suite, judgments, first.seed, first.registry)
    estimates, fault = _estimate(cell, None, ())
    spans = [(member.recorded, member.oldest) for member in members if member.recorded]
    by_slug = sorted(members, key=lambda member: member.judge.slug)
    return Measurement(
        judge=judge,
        suite=first.suite,
        judgments=judgments,
        cell=cell,
        estimates=estimates,
        calls=Calls(),  # they are those of the members
        served=tuple(sorted({model for member in members for model in member.served})),
        **_dates_of(spans),
        cassettes=tuple(chain.from_iterable(member.cassettes for member in by_slug)),
        seed=first.seed,
        notices=(
            *failure_lines(judgments),
            *first.registry.report.notices_of(cell),
            *(
                notice
                for member in judge.members
                for notice in family_notices(first.suite, member.name, [member.model])
            ),
        ),
        registry=first.registry,
        prompts=_prompts_of_jury(members),
        requests=first.requests,
        error=fault,
    )


def _refuse_part_of_suite(judge: JudgeSpec, member: Measurement, first: Measurement) -> None:
    """Raise `UsageError` where a member has not judged what the first member has."""
    suite, name = member.suite.name, member.judge.name
    if member.stop is not None:
        raise UsageError(
            f"jury {judge.name!r} has no verdicts on suite {suite}: member {name!r} was stopped "
            "early",
            found=f"{len(member.stop.asked)} of {len(member.stop.looks.order)} clusters asked",
            expected="every member asked the whole suite",
            remedy="record the rest, without early stopping: the same command with "
            "--judge-mode record",
        )
    trials, of_first = ({j.trial.id for j in of.judgments} for of in (member, first))
    if trials != of_first:
        raise UsageError(
            f"the members of jury {judge.name!r} are not asked the same of suite {suite}",
            found=f"{len(trials ^ of_first)} trials of either {first.judge.name!r} or {name!r} "
            f"alone, the first is {min(trials ^ of_first)}",
            expected="the same items, wordings, orders and replicates for every member",
            remedy="leave the suite out, or the member",
        )


def _prompts_of_jury(members: Sequence[Measurement]) -> dict[str, Any]:
    """What its members were sent; where that differs, the wordings of each under its name."""
    first = dict(members[0].prompts)
    if all(member.prompts == first for member in members):
        return first
    prompts: dict[str, Any] = {"system": "", "templates": {}, "systems": {}}
    for member in members:
        systems = member.prompts.get("systems", {})
        for wording, text in member.prompts.get("templates", {}).items():
            named = f"{wording} of {member.judge.name}"
            prompts["templates"][named] = text
            prompts["systems"][named] = systems.get(wording, member.prompts["system"])
    return prompts
