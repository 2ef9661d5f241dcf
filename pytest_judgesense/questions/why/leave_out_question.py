"""Which sentences of a judge's prompt do anything: each is left out, on the items of a suite.

What is left out, and what the answers ask for, is the part of an instrument (`registry.LeaveOut`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.checks.suite_faults import lint_notices
from pytest_judgesense.errors import MissingRecording, UsageError
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.pricing import CallPlan, call_plan, how_to_record
from pytest_judgesense.questions.terms import AskingTerms, measured
from pytest_judgesense.questions.why.leave_out_answer import LeaveOutAnswer
from pytest_judgesense.registry import LeaveOut, LeaveOutSizes, LeaveOutStep
from pytest_judgesense.suites.suite import Suite

_LEAST: Final = {"--items": 2, "--times": 2, "--judge-seed": 0}


@dataclass(frozen=True)
class LeaveOutPlan(CallPlan):
    """What is asked at first, and what the answers may ask for.

    Attributes:
        further: the lines of the latter.
    """

    further: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """The calls to be made and their price, and how many more there may be."""
        yield from super().lines()
        yield from (f"  {line}" for line in self.further)


@dataclass(frozen=True)
class LeaveOutQuestion:
    """What each sentence of a judge's prompt does: one at a time is left out.

    Attributes:
        suite: the name or the file of the suite whose items are asked.
        judge: the name of the judge; ``None`` for the one that the project declares.
        items: how many items are drawn; ``None`` for the usual number.
        times: how often each is asked with the whole prompt; likewise.
        place: the project.
        terms: how the judge is asked, and the seed of the draw.
    """

    suite: str
    judge: str | None = None
    items: int | None = None
    times: int | None = None
    place: Place = field(default_factory=Place)
    terms: AskingTerms = field(default_factory=AskingTerms)

    def plan(self) -> LeaveOutPlan:
        """The calls of the first step and their price, and what its answers may ask for.

        Raises:
            UsageError: an argument is wrong, or the suite has no prompt that can be taken apart.
            SuiteError: nothing of the prompt can be left out.
        """
        suite = self._first.suite
        # An error of lint ends it: no price is asked for what cannot be measured.
        lint_notices(suite_for_judge(suite, self._asked_judge), self.place.registry)
        plan = self._plan_of(suite)
        return LeaveOutPlan(plan.heading, plan.parts, tuple(self._leave_out.further(suite)))

    def answer(self) -> LeaveOutAnswer:
        """Leave out each sentence, and then what the answers ask for.

        Raises:
            UsageError: an argument is wrong, or the suite has no prompt that can be taken apart.
            SuiteError: nothing of the prompt can be left out.
            MissingRecording: replaying, and what is needed is not recorded.
            LimitReached: a call would pass a limit; the answers so far are recorded.
        """
        step, notes = self._first, list[str]()
        sheet = self._measured(step.suite)
        while (following := step.following(sheet)) is not None:
            if following.note:
                notes.append(following.note)
            try:
                sheet = self._measured(following.suite)
            except MissingRecording:
                if not following.unrecorded:
                    raise
                notes.append(f"{following.unrecorded}; {self._how_to_record(following.suite)}")
                break
            step = following
        return LeaveOutAnswer(sheet, self._leave_out, tuple(notes))

    @cached_property
    def _leave_out(self) -> LeaveOut:
        leave_out = self.place.registry.leave_out
        if leave_out is None:
            raise UsageError(
                "sentences cannot be left out here",
                found="no instrument that does it",
                expected="the package as it is installed",
            )
        return leave_out

    @cached_property
    def _sizes(self) -> LeaveOutSizes:
        usual = self._leave_out.usual
        sizes = LeaveOutSizes(
            usual.items if self.items is None else self.items,
            usual.times if self.times is None else self.times,
            self.terms.seed,
        )
        for (name, least), number in zip(_LEAST.items(), sizes, strict=True):
            if number < least:
                raise UsageError(
                    f"{name} {number} is too small", expected=f"a whole number, at least {least}"
                )
        return sizes

    @cached_property
    def _asked_judge(self) -> JudgeSpec:
        return self.place.judge_to_ask(self.judge)

    @cached_property
    def _first(self) -> LeaveOutStep:
        sizes = self._sizes
        judge, source = self._asked_judge, self.place.suite(self.suite, labelled=False)
        return self._leave_out.begin(judge, source, self.place.cassettes, sizes)

    def _measured(self, suite: Suite) -> MeasuredDatasheet:
        how = "" if self.terms.asks else self._how_to_record(suite)
        return measured(self.place, self.terms, [self._asked_judge], [suite], how)

    def _plan_of(self, suite: Suite) -> CallPlan:
        judge = self._asked_judge
        label = f"{suite.name}, judge {judge.name}"
        return call_plan("", [(label, judge, suite)], self.place.cassettes, self.place.plans)

    def _how_to_record(self, suite: Suite) -> str:
        words = ["judgesense", "why", self.suite, "--leave-out"]
        named = {
            "--judge-name": self.judge,
            "--items": self.items,
            "--times": self.times,
            "--judge-seed": self.terms.seed or None,
        }
        for name, value in named.items():
            words += [] if value is None else [name, str(value)]
        return how_to_record(words, self.place.cassettes, self._plan_of(suite))
