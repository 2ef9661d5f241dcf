"""Two judges as a question: a suite, the judge that is replaced, and the one that replaces it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.questions.compare.judges.comparison import CompareJudgesAnswer
from pytest_judgesense.questions.compare.judges.judge_pair import (
    MeasuredJudge,
    by_name,
    judge_of_log,
    judges_to_ask,
    on_common_trials,
)
from pytest_judgesense.questions.compare.judges.model_change import ModelChange
from pytest_judgesense.questions.compare.judges.old_mark import WITHIN, share_of_mark
from pytest_judgesense.questions.compare.variants import against_the_first
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.pricing import CallPlan, call_plan, how_to_record
from pytest_judgesense.questions.terms import AskingTerms, measured
from pytest_judgesense.suites.suite import Suite


@dataclass(frozen=True)
class CompareJudgesQuestion:
    """What moving a judge to another model changes, on one suite.

    Attributes:
        suite: by name, ``NAME@PRESET``, or its file.
        old: the judge that is replaced: declared, ``provider:model``, or its judgment log (.jsonl).
        new: the judge that replaces it, likewise.
        mark: the old judge's pass mark: a grade of the scale or between two, or a share of it up
            to 1; ``None`` for that of the suite.
        within: how far from the old pass rate a rate is that keeps it, from 0 to 1.
    """

    suite: str
    old: str
    new: str
    mark: str | None = None
    within: float = WITHIN
    terms: AskingTerms = field(default_factory=AskingTerms)
    place: Place = field(default_factory=Place)

    def plan(self) -> CallPlan:
        """What each judge that is no log would be asked, and for what price.

        Raises:
            UsageError: the suite, its mark or the judges are not ones that can be compared.
        """
        return self._plan

    def answer(self) -> CompareJudgesAnswer:
        """What moves, and whether a mark keeps the old pass rate.

        Raises:
            UsageError: as `plan`, or the judges have no trial in common.
            LogError: a judgment log cannot be read.
            MissingRecording: replaying, and something is not recorded.
            LimitReached: a call would pass a limit; the answers so far are recorded.
        """
        plan = self.plan()
        old, new, left_out = on_common_trials(*self._both_judges(plan))
        names = old.cell.judge, new.cell.judge
        if names[0] == names[1]:  # two logs of one judge
            names = self.old, self.new
        (measures,) = against_the_first(dict(zip(names, (old, new), strict=True)))
        return CompareJudgesAnswer(
            ModelChange(
                replace(old.cell, judge=names[0]),
                replace(new.cell, judge=names[1]),
                measures,
                self.place.registry.kinds[self._asked_suite.kind].score,
                self._share_of_mark,
                self.within,
                left_out,
            )
        )

    def _both_judges(self, plan: CallPlan) -> tuple[MeasuredJudge, MeasuredJudge]:
        """What the two judges said, from their recordings or their logs."""
        suite, specs = self._asked_suite, self._specs
        asked: dict[str, MeasuredJudge] = {}
        if specs:
            words = ["judgesense", "compare", self.suite, "--judges", self.old, self.new]
            how = how_to_record(words, self.place.cassettes, plan)
            sheet = measured(self.place, self.terms, [*specs.values()], [suite], how)
            asked = by_name(specs, sheet)

        def judge_of(name: str) -> MeasuredJudge:
            if name in asked:
                return asked[name]
            return judge_of_log(Path(name), suite, self.place, self.terms.seed)

        return judge_of(self.old), judge_of(self.new)

    @cached_property
    def _plan(self) -> CallPlan:
        # What is wrong is told before anything is asked.
        self._refuse_wrong_share()
        _ = self._share_of_mark
        asked = [(spec.name, spec, self._asked_suite) for spec in self._specs.values()]
        afresh = self.terms.mode == "live"
        return call_plan("", asked, self.place.cassettes, afresh=afresh)

    def _refuse_wrong_share(self) -> None:
        if not 0 <= self.within <= 1:
            raise UsageError(
                "a rate cannot be kept within this share",
                found=f"within = {self.within}",
                expected="a share from 0 to 1",
                remedy=f"leave it out for {WITHIN}",
            )

    @cached_property
    def _asked_suite(self) -> Suite:
        """The suite without its checks."""
        return replace(self.place.suite(self.suite, labelled=False), checks=())

    @cached_property
    def _share_of_mark(self) -> float | None:
        """The old mark as a share of the scale; ``None`` for that of the suite."""
        return None if self.mark is None else share_of_mark(self.mark, self._asked_suite)

    @cached_property
    def _specs(self) -> dict[str, JudgeSpec]:
        """The judges that are no logs, by name."""
        return judges_to_ask(self.old, self.new, self.place)
