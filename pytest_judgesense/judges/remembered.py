"""What a recording says that its trials got, whatever would be asked today.

A replay finds an answer by its request, so a changed prompt is an error. An earlier recording that
is compared with is read without requests: by trial and call number, and of a function by the line
of its return, so that neither its code nor its prompt has to be there any more.

What a function made of its answers is recorded with them, and a baseline is read from that. So its
code has to make the same of them: a replay refuses another verdict as it refuses another prompt,
and a recording puts it in place of the old one. Compared is what is measured, not the text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from pytest_judgesense.cassettes.cassette import HOW_TO_RECORD, Cassette
from pytest_judgesense.cassettes.exchange import CALL, NO_RESPONSE, Exchange, as_text
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.errors import CassetteError, StaleRecording, shortened
from pytest_judgesense.judges.calls import calls_of, judgment_of
from pytest_judgesense.judges.client import CallSequence, in_turn, joined, reply_in
from pytest_judgesense.judges.prompts import judge_for_suite
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import Answer
from pytest_judgesense.judges.usage import function_reply
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Failed, Judgment, Trial, Unparsed, Verdict, is_refusal


class NoReturns(CassetteError):
    """A recording of a function's requests that does not say what the function returned."""


def recorded_trials(paths: Iterable[Path]) -> dict[str, list[Exchange]]:
    """The exchanges of the trials in some cassettes, in the order of their calls."""
    trials: dict[str, list[Exchange]] = {}
    for path in paths:
        for exchange in read_exchanges(path):
            if exchange.trial:
                trials.setdefault(exchange.trial, []).append(exchange)
    return trials


def remembered(
    judge: JudgeSpec,
    suite: Suite,
    trials: Sequence[Trial],
    recorded: Mapping[str, Sequence[Exchange]],
) -> dict[str, Answer]:
    """The answers of those of the trials that are recorded, by trial.

    Args:
        judge: as it was when it was recorded, with the prompts of ``suite``.
        suite: as it was.
        trials: of the suite.
        recorded: the exchanges by trial, see `recorded_trials`.

    Raises:
        NoReturns: requests of a function are recorded, and no return.
    """
    there = [trial for trial in trials if trial.id in recorded]
    asked_as = judge_for_suite(judge, suite)
    calls = calls_of(suite, asked_as)
    if judge.provider == "callable":
        answers = {}
        for trial in there:
            texts, failed = _returns(judge, suite, trial, recorded[trial.id])
            answers[trial.id] = returned_answer(calls(trial), texts, failed, recorded[trial.id])
        return answers
    repairer = (asked_as.repair and asked_as.repair.spec) or asked_as
    answers = {}
    for trial in there:
        by_number = _last_by_call(recorded[trial.id])
        answers_so_far: list[Answer] = []
        for number, call in enumerate(in_turn(calls(trial), answers_so_far), start=1):
            exchange = by_number.get(number)
            spec = repairer if call.repairs else asked_as
            reply = reply_in(exchange, spec) if exchange else Failed("the call is not recorded")
            answers_so_far.append(Answer(reply))
        answers[trial.id] = joined(answers_so_far, call)
    return answers


def _last_by_call(exchanges: Sequence[Exchange]) -> dict[int, Exchange]:
    """The exchange that settled each call: its answer, else its last attempt.

    Attempts have numbers of their own; those that failed come before the answer to their request.
    """
    calls: dict[int, Exchange] = {}
    number, body = 0, None
    for exchange in exchanges:
        again = number and not calls[number].answers and exchange.request.body == body
        number += not again
        calls[number], body = exchange, exchange.request.body
    return calls


def _returns(
    judge: JudgeSpec, suite: Suite, trial: Trial, exchanges: Sequence[Exchange]
) -> tuple[list[str], str | None]:
    """What the function of a trial returned, call by call; else why it failed."""
    texts: list[str] = []
    failed: str | None = None
    for exchange in exchanges:
        if exchange.returns:
            texts, failed = returns_in(exchange)
    if not texts and failed is None:
        texts = [
            as_text(exchange.response.body)
            for exchange in exchanges
            if exchange.request.method == CALL
        ]
        if not texts:
            raise NoReturns(
                f"the recording of judge {judge.name} on suite {suite.name} holds no returns",
                found=f"requests of {trial.id} without a line of method RETURN",
                expected="a recording of this version, which ends each trial of a function with "
                "what it returned",
                remedy="record and commit once (pytest --judge-mode record); compare with a file "
                "until then: --judge-baseline PATH",
            )
    return texts, failed


def returns_in(exchange: Exchange) -> tuple[list[str], str | None]:
    """What the line of a function's return says: the texts by call, or why it failed."""
    is_failure = exchange.response.status == NO_RESPONSE
    return exchange.returned_texts, as_text(exchange.response.body) if is_failure else None


def returned_answer(
    calls: CallSequence,
    texts: Sequence[str],
    failed: str | None,
    exchanges: Sequence[Exchange],
) -> Answer:
    """The answer that a function gave to the calls of a trial, with these exchanges."""
    answers: list[Answer] = []
    for call in in_turn(calls, answers):  # noqa: B007 - the last one joins them
        number = len(answers)
        reply: Reply | Failed = Failed(failed or "not recorded")
        if number < len(texts):
            reply = function_reply(texts[number], exchanges)
        answers.append(Answer(reply))
    return joined(answers, call)


# Of what a reply states beside its verdict, what is measured.
_MEASURED: Final = ("grades", "scores", "confidence")
_CLOSE: Final = 1e-9


class OtherReading(NamedTuple):
    """A trial whose recorded answers the code reads otherwise than before."""

    before: Judgment
    now: Judgment


class Rereading:
    """What functions make now of the recorded answers of a suite.

    Attributes:
        read: trials that have a recorded return, and were read once more.
        others: of these, those with another outcome.
    """

    def __init__(self) -> None:
        self.read: set[str] = set()
        self.others: dict[str, OtherReading] = {}

    def error(self, judge: JudgeSpec, suite: Suite, how_to_record: str) -> StaleRecording:
        """The error of a replay in which there are others."""
        first = min(self.others)
        reading = self.others[first]
        return StaleRecording(
            f"judge {judge.name!r} on suite {suite.name} reads {len(self.others)} of "
            f"{len(self.read)} recorded answers otherwise than it did, the first is {first}",
            found=f"{shown(reading.now)} now, and {shown(reading.before)} when it was recorded, "
            "of the same answers",
            expected="the verdicts that were recorded: a baseline is read from them",
            remedy=f"{how_to_record or HOW_TO_RECORD}, which makes no call for it; where the code "
            "has not changed, let what it returns depend on its arguments and its answers alone: "
            "not on this machine, an environment variable or the time",
        )


class ReadingOf:
    """Notes in a `Rereading` how a judge reads the recorded answers of a cassette."""

    def __init__(
        self,
        rereading: Rereading,
        judge: JudgeSpec,
        suite: Suite,
        cassette: Cassette,
        trials: Sequence[Trial],
    ) -> None:
        self._rereading = rereading
        self._judge, self._suite, self._cassette = judge, suite, cassette
        self._every = trials

    @cached_property
    def _trials(self) -> dict[str, Trial]:
        return {trial.id: trial for trial in self._every}

    @cached_property
    def _calls(self) -> Callable[[Trial], CallSequence]:
        return calls_of(self._suite, self._judge)

    def is_other(self, trial_id: str, answer: Answer) -> bool:
        """Whether an answer is another than the recorded return of its trial, which is noted."""
        returned = self._cassette.recordings.returned(trial_id)
        if returned is None:
            return False
        trial = self._trials[trial_id]
        judged = partial(judgment_of, self._suite, self._judge, trial)
        exchanges = [exchange for exchange, _ in self._cassette.recordings.of(trial_id)]
        before = judged(returned_answer(self._calls(trial), *returns_in(returned), exchanges))
        now = judged(answer)
        self._rereading.read.add(trial_id)
        if measured_alike(before, now):
            return False
        self._rereading.others[trial_id] = OtherReading(before, now)
        return True


def measured_alike(first: Judgment, second: Judgment) -> bool:
    """Whether two judgments of a trial count alike in every measure."""
    return (
        type(first.outcome) is type(second.outcome)
        and first.verdict == second.verdict
        and _declines(first) == _declines(second)
        and _close(_stated(first), _stated(second))
        and _close(first.probabilities, second.probabilities)
    )


def _declines(judgment: Judgment) -> bool:
    return isinstance(judgment.outcome, Unparsed) and is_refusal(judgment.outcome.reason)


def _stated(judgment: Judgment) -> dict[str, Any]:
    detail = judgment.detail or {}
    return {name: detail[name] for name in _MEASURED if name in detail}


def _close(first: Any, second: Any) -> bool:
    """Whether two values are equal, their numbers within a rounding error."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(
            _close(value, second[name]) for name, value in first.items()
        )
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(_close, first, second))
    if isinstance(first, float) and isinstance(second, int | float):
        return math.isclose(first, second, rel_tol=0, abs_tol=_CLOSE)
    return bool(first == second)


def shown(judgment: Judgment) -> str:
    """What a judgment says, as an error shows it."""
    outcome = judgment.outcome
    if isinstance(outcome, Verdict):
        stated = "".join(f", {name} {value}" for name, value in _stated(judgment).items())
        return shortened(f"{outcome.value}{stated}")
    kind = "a failed call" if isinstance(outcome, Failed) else "no verdict"
    return shortened(f"{kind} ({outcome.reason})")
