"""What a judge is asked about a suite, as a suite of its own that is recorded beside it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_judgesense.asking.inquiry import Asking
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import Throttle, stopping
from pytest_judgesense.measurement import Measurement, measure
from pytest_judgesense.questions.place import Place, find_code_of_project, trust_of
from pytest_judgesense.questions.pricing import CallPlan, RecordingCommand, call_plan
from pytest_judgesense.questions.terms import AskingTerms
from pytest_judgesense.suites.planning import recording_aside
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Judgment


def suite_aside(suite: Suite, called: str, place: Place, **asking: Any) -> Suite:
    """A question about a suite as a suite ``CALLED-NAME``, recorded beside it.

    ``asking`` is what it asks. Its verdicts are read, its estimates are not.
    """
    return replace(
        suite,
        name=f"{called}-{suite.name}",
        base=recording_aside(called, suite.base),
        form=place.registry.default.form,
        pairs="all",
        checks=(),
        **asking,
    )


@dataclass(frozen=True)
class AskedAside:
    """A judge and what it is asked about a suite.

    Attributes:
        judge: who is asked.
        question: what it is asked, see `suite_aside`.
        about: the suite as the user named it.
        words: of the command that asks it, without the judge and the mode.
        place: where it is recorded.
        terms: how it is asked.
    """

    judge: JudgeSpec
    question: Suite
    about: str
    words: Sequence[str]
    place: Place
    terms: AskingTerms

    def plan(self) -> CallPlan:
        """The calls to be made and their price; nothing is asked."""
        label = f"{self.judge.name} on {self.question.name}"
        return call_plan("", [(label, self.judge, self.question)], self.place.cassettes)

    def judgments(self) -> tuple[Judgment, ...]:
        """What the judge says, from its recording, or asked and recorded.

        Raises:
            CassetteError: it is not recorded, and may not be asked; or it cannot be recorded.
            JudgeError: the judge cannot be called.
            LimitReached: a call would pass a limit; the answers so far are recorded.
        """
        return self._measurement().judgments

    def _measurement(self) -> Measurement:
        terms = self.terms
        find_code_of_project()
        alone = recording_alone(self._recording, Recorder.here()) if terms.asks else nullcontext()
        stop = stopping(terms.budget.deadline, [self.judge]) if terms.asks else None
        how = self._how_to_record
        with closing(AskingLoop(on_interrupt=stop)) as loop, alone, how.priced_where_missing():
            asking = Asking(
                trust=trust_of(self.about),
                concurrency=terms.concurrency,
                how_to_record=str(how),
                throttle=Throttle(self.judge, terms.concurrency, budget=terms.budget),
                max_unparsed=terms.max_unparsed,
            )
            recordings = {self.question.base: self._recording}
            return measure(
                self.judge, self.question, recordings, loop, mode=terms.mode, asking=asking
            )

    @property
    def _recording(self) -> Path:
        return self.place.cassettes / self.judge.slug / f"{self.question.base}.jsonl"

    @property
    def _how_to_record(self) -> RecordingCommand:
        judge = ["--judge-name", self.judge.called or self.judge.name]
        return RecordingCommand([*self.words, *judge], self.place.cassettes, self.plan)
