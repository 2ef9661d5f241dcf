"""The story: a judge is planned for, asked, understood and measured.

``Suite -> Trials -> messages -> (tape) replies -> Judgments -> Estimates``. This is the only
module that imports every station. It reads like that arrow.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

from pytest_judgesense.cassettes.credentials import Credentials
from pytest_judgesense.cassettes.tape import Tape
from pytest_judgesense.checks.explanation import failures
from pytest_judgesense.datasheet.sheet import Calls, SuiteSheet
from pytest_judgesense.datasheet.standing import wording_analyses
from pytest_judgesense.errors import LimitReached, MissingRecording, UsageError
from pytest_judgesense.judges.asking import Answer, Asker, open_asker
from pytest_judgesense.judges.judging import identity_of, judgment_of, renderer
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.prompts import judge_for_suite, suite_for_judge
from pytest_judgesense.judges.resolving import credentials_of
from pytest_judgesense.judges.spec import JudgeSpec, Prices
from pytest_judgesense.judges.traffic import Traffic
from pytest_judgesense.judges.wire import Reply
from pytest_judgesense.judgment import (
    Judgment,
    Trial,
)
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.estimating import estimate_all
from pytest_judgesense.measures.ranking import Ranking, material_of, ranking_of
from pytest_judgesense.measures.wording import wording_notices
from pytest_judgesense.stats.estimate import Estimate
from pytest_judgesense.suites.planning import plan_trials, recording_of, trial_order
from pytest_judgesense.suites.suite import Suite

__all__ = ["Measurement", "Mode", "cell_of", "measure", "ranking_among"]

Mode: TypeAlias = Literal["replay", "record", "live"]


@dataclass(frozen=True)
class Measurement:
    """One judge measured on one suite.

    Attributes:
        judge: the judge.
        suite: the suite under the judge's own prompts.
        judgments: all of them, in trial order.
        estimates: all of them.
        calls: what it took.
        served: models that the replies named.
        recorded: when the first and the last exchange were recorded.
        notices: what should be told but is no error.
    """

    judge: JudgeSpec
    suite: Suite
    judgments: tuple[Judgment, ...]
    estimates: tuple[Estimate, ...]
    calls: Calls
    served: tuple[str, ...]
    recorded: tuple[str, str] | None
    seed: int
    notices: tuple[str, ...] = ()

    @property
    def cell(self) -> Cell:
        """The judgments as measures take them."""
        return cell_of(self.judge.name, self.suite, self.judgments, self.seed)

    def prompt_of(self, trial_id: str) -> str:
        """The prompt that a trial sent, roles left out."""
        return "\n".join(m["content"] for m in self._messages(self._by_id[trial_id]))

    @cached_property
    def _by_id(self) -> dict[str, Trial]:
        return {judgment.trial.id: judgment.trial for judgment in self.judgments}

    @cached_property
    def _messages(self) -> Callable[[Trial], list[dict[str, str]]]:
        return renderer(self.suite, self.judge)

    @cached_property
    def sheet(self) -> SuiteSheet:
        """What the datasheet holds of this measurement, without outcomes."""
        return SuiteSheet(
            judge=self.judge.slug,
            suite=self.suite.name,
            identity=identity_of(self.judge),
            prompts={
                self.suite.name: {
                    "system": self.suite.system,
                    "templates": {t.id: t.text for t in self.suite.templates},
                }
            },
            suite_digest=self.suite.digest,
            served=self.served,
            recorded=self.recorded,
            estimates=self.estimates,
            calls=self.calls,
            notices=(*self.notices, *wording_notices(self.cell)),
            analyses=wording_analyses(self.cell, self.estimates, self.suite.reviews),
            material=material_of(self.cell),
        )


def measure(
    judge: JudgeSpec,
    suite: Suite,
    cassettes: Mapping[str, Path],
    loop: AskingLoop,
    *,
    mode: Mode = "replay",
    seed: int = 0,
    concurrency: int = 8,
    how_to_record: str = "",
    traffic: Traffic | None = None,
    told: Callable[[Sequence[Trial]], Callable[[Answer], None]] = lambda _: lambda _: None,
    credentials: Credentials | None = None,
) -> Measurement:
    """Measure ``judge`` on ``suite``.

    Args:
        judge: what is measured.
        suite: what it is measured on; the judge's own prompts replace templates of it.
        cassettes: the files that are replayed, or recorded into, by name of the recording.
        loop: where live calls run.
        mode: ``replay`` asks nobody; ``record`` and ``live`` ask what the files do not hold.
        seed: for every random draw of the estimators.
        concurrency: calls under way at once.
        how_to_record: the command for the message about a missing recording.
        traffic: the judge's calls so far: pace, places and limits go on from there.
        told: given the trials that are to be asked, returns what is given each of their answers.
        credentials: what the session knows of secrets; it is added to.

    Raises:
        LimitReached: trials were left out; it says how many. What was answered is recorded.
        CassetteError: the recording does not serve.
        JudgeError: the judge cannot be asked.
        UsageError: a prompt or a function of the judge is wrong.
    """
    own = suite_for_judge(suite, judge)
    asked_as = judge_for_suite(judge, own)
    trials = plan_trials(own)
    secrets = credentials_of(judge, credentials)
    tapes = [
        Tape.open(
            path,
            "replay" if mode == "replay" else "record",
            secrets=secrets,
            how_to_record=how_to_record,
        )
        for path in cassettes.values()
    ]
    by_tape = [
        (tape, [trial for trial in trials if recording_of(trial.id) == recording])
        for tape, recording in zip(tapes, cassettes, strict=True)
    ]
    if mode == "replay":
        _verify_recorded(by_tape, how_to_record)
    known = {trial.id for tape, part in by_tape for trial in part if tape.complete(trial.id)}
    traffic = traffic or Traffic(judge, concurrency)
    unknown = [trial for trial in trials if trial.id not in known]
    tell = told(unknown)
    answers: dict[str, Answer] = {}
    left_out: list[tuple[Trial, LimitReached]] = []
    for tape, part in by_tape:
        asked = loop.run(
            _ask_all(asked_as, own, part, tape, traffic, concurrency, _of(unknown, tell))
        )
        for trial, answer in zip(part, asked, strict=True):
            if isinstance(answer, LimitReached):
                left_out.append((trial, answer))
            else:
                answers[trial.id] = answer
        tape.finish(trial_order(tape.trials))
    _refuse_gaps(left_out, len(trials), judge, own, mode)
    judgments = tuple(judgment_of(own, judge.name, trial, answers[trial.id]) for trial in trials)
    replies = [answer.reply for answer in answers.values()]
    spans = [tape.recorded for tape in tapes if tape.recorded]
    return Measurement(
        judge=judge,
        suite=own,
        judgments=judgments,
        estimates=estimate_all(cell_of(judge.name, own, judgments, seed)),
        calls=_calls(judgments, answers.values(), judge.prices),
        served=tuple(sorted({r.model for r in replies if isinstance(r, Reply) and r.model})),
        recorded=(min(a for a, _ in spans), max(b for _, b in spans)) if spans else None,
        seed=seed,
        notices=(
            *dict.fromkeys(notice for tape in tapes for notice in tape.notices),
            *failures(judgments),
        ),
    )


def ranking_among(measurements: Sequence[Measurement]) -> Ranking:
    """The ranking of the configurations of several judges, measured on one suite of debates.

    Raises:
        UsageError: the suite has no debates.
    """
    materials = {one.judge.slug: material_of(one.cell) for one in measurements}
    known = {slug: material for slug, material in sorted(materials.items()) if material}
    suite, seed = measurements[0].suite, measurements[0].seed
    if not known:
        raise UsageError(
            f"suite {suite.name} ranks no judges",
            found=f'kind = "{suite.kind}"',
            expected='a suite with kind = "debate" for ranked_first',
        )
    return ranking_of(suite.name, known, seed)[0]


def cell_of(judge: str, suite: Suite, judgments: Sequence[Judgment], seed: int) -> Cell:
    """The cell of a judge's judgments on a suite."""
    return Cell(judge, suite.name, suite.design, tuple(judgments), seed)


async def _ask_all(
    judge: JudgeSpec,
    suite: Suite,
    trials: Sequence[Trial],
    tape: Tape,
    traffic: Traffic,
    concurrency: int,
    tell: Callable[[Trial, Answer], None],
) -> list[Answer | LimitReached]:
    messages = renderer(suite, judge)
    async with open_asker(judge, tape, concurrency=concurrency, traffic=traffic) as asker:
        if tape.mode == "replay" and judge.provider != "callable":
            return [asker.replay(t.id, messages(t), t.replicate) for t in trials]
        with tape.intercepting():
            return await _together(
                asker, [(trial, messages(trial)) for trial in trials], concurrency, tell
            )


async def _together(
    asker: Asker,
    asked: Iterable[tuple[Trial, list[dict[str, str]]]],
    concurrency: int,
    tell: Callable[[Trial, Answer], None],
) -> list[Answer | LimitReached]:
    # The judge's traffic decides how many call at once. As many again may wait for a retry: not
    # all, or an endpoint that is down would be asked for every trial before the first had failed.
    begun = asyncio.Semaphore(2 * concurrency)

    async def one(trial: Trial, messages: list[dict[str, str]]) -> Answer | LimitReached:
        try:
            async with begun:
                answer = await asker.ask(trial.id, messages, trial.replicate)
        except LimitReached as limit:
            return limit  # calls under way are paid for: they come to their end
        tell(trial, answer)
        return answer

    tasks = [asyncio.ensure_future(one(trial, messages)) for trial, messages in asked]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def _of(
    unknown: Sequence[Trial], tell: Callable[[Answer], None]
) -> Callable[[Trial, Answer], None]:
    ids = {trial.id for trial in unknown}

    def tell_of_asked(trial: Trial, answer: Answer) -> None:
        if trial.id in ids:
            tell(answer)

    return tell_of_asked


def _refuse_gaps(
    left_out: Sequence[tuple[Trial, LimitReached]],
    planned: int,
    judge: JudgeSpec,
    suite: Suite,
    mode: Mode,
) -> None:
    """Say what a limit has left out: nothing is estimated from whatever came before it."""
    if not left_out:
        return
    trial, limit = left_out[0]
    kept = "keep what is asked with --judge-save-live" if mode == "live" else "what is recorded"
    raise LimitReached(
        f"{limit.what}: {len(left_out)} of {planned} trials of judge {judge.name!r} on suite "
        f"{suite.name} are left out, the first is {trial.id}",
        found=limit.found,
        expected=limit.expected,
        remedy=f"raise the limit and run again; {kept}"
        + ("" if mode == "live" else " is not asked again"),
    )


def _verify_recorded(by_tape: Sequence[tuple[Tape, Sequence[Trial]]], how_to_record: str) -> None:
    """Say at once how much is missing, not only which trial is the first."""
    missing = [
        (trial.id, tape)
        for tape, trials in by_tape
        for recorded in (tape.trials,)
        for trial in trials
        if trial.id not in recorded
    ]
    if not missing:
        return
    first, tape = missing[0]
    asked = sum(len(trials) for _, trials in by_tape)
    raise MissingRecording(
        f"{len(missing)} of {asked} trials are not recorded, the first is {first}",
        found=f"{len(tape.trials)} trials in {tape.path}"
        if tape.path.exists()
        else f"no cassette at {tape.path}",
        expected="a recorded exchange for every trial: replay never asks the network",
        remedy=how_to_record,
    )


def _calls(
    judgments: Sequence[Judgment], answers: Collection[Answer], prices: Prices | None
) -> Calls:
    calls = Calls.of(
        judgments,
        made=sum(answer.made for answer in answers),
        retried=sum(answer.retried for answer in answers),
    )
    if prices is None:
        return calls
    prompt, completion = calls.prompt_tokens or 0, calls.completion_tokens or 0
    cost = (prompt * prices.prompt + completion * prices.completion) / 1e6
    return replace(calls, cost_usd=cost)
