"""What a recording says that its trials got, whatever would be asked today.

A replay finds an answer by its request, so a changed prompt is an error. An earlier recording that
is compared with is read without requests: by trial and call number, and of a function by the line
of its return, so that neither its code nor its prompt has to be there any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pytest_judgesense.cassettes.exchange import CALL, NO_RESPONSE, Exchange, as_text
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.errors import CassetteError
from pytest_judgesense.judges.calls import calls_of
from pytest_judgesense.judges.client import CallSequence, in_turn, joined, reply_in
from pytest_judgesense.judges.prompts import judge_for_suite
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import Answer
from pytest_judgesense.judges.usage import function_reply
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Failed, Trial


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
