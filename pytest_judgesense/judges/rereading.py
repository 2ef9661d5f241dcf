"""Reading recorded answers once more: the code of a function, and what it returned of them before.

What a function made of its answers is recorded with them, and a baseline is read from that. So its
code has to make the same of them: a replay refuses another verdict as it refuses another prompt,
and a recording puts it in place of the old one. Compared is what is measured, not the text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Final, NamedTuple

from pytest_judgesense.cassettes.cassette import HOW_TO_RECORD, Cassette
from pytest_judgesense.errors import StaleRecording, shortened
from pytest_judgesense.judges.calls import calls_of, judgment_of
from pytest_judgesense.judges.client import CallSequence
from pytest_judgesense.judges.remembered import returned_answer, returns_in
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import Answer
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Failed, Judgment, Trial, Unparsed, Verdict, is_refusal

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
