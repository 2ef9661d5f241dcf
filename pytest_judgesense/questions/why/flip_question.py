"""Why a verdict flipped: the smallest change of a prompt that turns it.

The two ends of a flip are asked several times each, and told apart or called noise; then hybrids of
the two prompts are asked, by a bisection that expects noise (`stats.bisection`), until one change
holds the turn. It is named once answers of its own tell the prompts just before it and just with it
apart. All answers are recorded, and a replay goes the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.spec import FREE
from pytest_judgesense.questions.place import Place, suite_files
from pytest_judgesense.questions.pricing import (
    CallPlan,
    Quote,
    QuotedCalls,
    cost_words,
    how_to_record,
)
from pytest_judgesense.questions.terms import AskingTerms
from pytest_judgesense.questions.why.flip import Flip, label_of
from pytest_judgesense.questions.why.flip_answer import FlipAnswer
from pytest_judgesense.questions.why.flip_words import changes_words, ends_words
from pytest_judgesense.questions.why.hybrids import asking_hybrids
from pytest_judgesense.questions.why.prompt_path import PromptPath, Unit
from pytest_judgesense.questions.why.recorded_flips import (
    RecordedAnswers,
    flip_of_recordings,
    flip_of_trials,
)
from pytest_judgesense.stats.bisection import AFRESH, CONTRAST_CALLS, FEWEST, begin
from pytest_judgesense.suites.planning import recording_of
from pytest_judgesense.text.layout import indented

# Of the search, where no limit is set.
_ANSWERS: Final = 60
_FEWEST_ANSWERS: Final = 2 * FEWEST + CONTRAST_CALLS  # with less nothing could be named
_CHARACTERS_A_TOKEN: Final = 4


@dataclass(frozen=True)
class FlipPlan(CallPlan):
    """What a search may ask, of which the answers decide how much it takes.

    Attributes:
        differing: how many words or sentences differ, in words.
        confirming: the calls that confirm a change, and their price.
    """

    differing: str
    confirming: QuotedCalls

    def lines(self) -> Iterator[str]:
        """The two ends, how far they are apart, and what the search may cost."""
        (search,) = self.parts
        yield from indented(self.heading, width=0)
        yield f"  {self.differing}"
        yield (
            f"  at most {search.quote.calls} calls, fewer where they are recorded; "
            f"cost: {_most_cost(search)}"
        )
        confirming = (
            f"{CONTRAST_CALLS} of them confirm a change ({AFRESH} just before it, {AFRESH} with "
            f"it), {CONTRAST_CALLS} more each change of a set"
        )
        if search.judge.prices is not None:
            confirming += f"; cost of {CONTRAST_CALLS}: {_most_cost(self.confirming)}"
        yield from indented(confirming, width=2)

    @property
    def words(self) -> str:
        """All of it in a few words."""
        (search,) = self.parts
        return f"at most {search.quote.calls} calls, cost: {_most_cost(search)}"


@dataclass(frozen=True)
class FlipQuestion:
    """Which smallest change of its prompt turns a verdict.

    Attributes:
        trial: an end of the flip, as datasheets and logs name it: SUITE/ITEM/TEMPLATE/ORDER/rN.
        other: the trial that says otherwise; ``None`` for the one in the other order, else the
            first under another wording.
        against: another recording of the same trial, which is then the other end: a folder, or
            ``git:REF``.
        suite: its name or its file; ``None`` for the one that the trial begins with.
        judge: its name; ``None`` for the one that the project declares.
        unit: what a change is.
        place: the project.
        terms: how the judge is asked. Limits of calls also bound the search.
    """

    trial: str
    other: str | None = None
    against: str | None = None
    suite: str | None = None
    judge: str | None = None
    unit: Unit = "words"
    place: Place = field(default_factory=Place)
    terms: AskingTerms = field(default_factory=AskingTerms)

    def plan(self) -> FlipPlan:
        """The two ends, and what the search may cost; nothing is asked.

        Raises:
            UsageError: the ends are no flip, or differ in more than texts.
            MissingRecording: an end is not recorded.
        """
        return FlipPlan(
            ends_words(self.flip),
            (self._quoted(self.most_answers),),
            changes_words(self.path),
            self._quoted(CONTRAST_CALLS),
        )

    def answer(self) -> FlipAnswer:
        """Ask, or read what is recorded, until the change is named or the calls are spent.

        Raises:
            UsageError: the ends are no flip, or differ in more than texts.
            MissingRecording: an end is not recorded; replaying, an answer is not.
            JudgeError: a call failed; what was answered before is recorded.
            LimitReached: a call would pass a limit.
        """
        search = begin(len(self.path.changes), self.most_answers)
        with asking_hybrids(
            self.flip, self.path, self.place, self.terms, self._how_to_record
        ) as asker:
            while (hybrid := search.question) is not None:
                search = search.learn(label_of(asker.ask(hybrid)))
        return FlipAnswer(self.flip, self.path, search)

    @cached_property
    def flip(self) -> Flip:
        """The two ends, as they are recorded."""
        if self.other is not None and self.against is not None:
            raise UsageError(
                "two other ends are named",
                found=f"{self.other} and --against {self.against}",
                expected="one of them",
            )
        judge = self.place.judge_to_ask(self.judge)
        suite = self.place.suite(self.suite or _suite_of_trial(self.trial), labelled=False)
        recorded = RecordedAnswers.of_today(self.place, judge, suite)
        trial = recorded.planned(self.trial)
        if self.against is not None:
            return flip_of_recordings(self.place, recorded, suite, trial, self.against)
        return flip_of_trials(recorded, trial, self.other)

    @cached_property
    def path(self) -> PromptPath:
        """The changes that lead from the prompt of the old end to that of the new one."""
        return self.flip.path(self.unit)

    @property
    def most_answers(self) -> int:
        """How many answers the search may take: as many as calls may be made.

        Raises:
            UsageError: with so few no change could be confirmed.
        """
        most = _ANSWERS if self.terms.max_calls is None else self.terms.max_calls
        if most < _FEWEST_ANSWERS:
            raise UsageError(
                f"--judge-max-calls {most} is too small",
                expected=f"at least {_FEWEST_ANSWERS}: with less no change is confirmed",
            )
        return most

    @property
    def _how_to_record(self) -> str:
        words = ["judgesense", "why", self.trial, *([self.other] if self.other else [])]
        named = {"against": self.against, "judge-name": self.judge, "judge-suite": self.suite}
        for name, value in named.items():
            words += [f"--{name}", value] if value else []
        words += [] if self.unit == "words" else ["--by", self.unit]
        if self.terms.max_calls is not None:
            words += ["--judge-max-calls", str(self.terms.max_calls)]
        return how_to_record(words, self.place.cassettes, self.plan())

    def _quoted(self, calls: int) -> QuotedCalls:
        """So many calls with the longer of the two prompts; none of them may be needed."""
        judge = self.flip.judge
        longest = max(sum(map(len, prompt.values())) for prompt in (self.path.old, self.path.new))
        prompt = -(-calls * longest // _CHARACTERS_A_TOKEN)
        completion = calls * judge.max_tokens
        usd: tuple[float, float] | None = None
        if judge.prices is None and judge.provider in FREE:
            usd = 0.0, 0.0
        elif (prices := judge.prices) is not None:
            usd = 0.0, (prompt * prices.prompt + completion * prices.completion) / 1e6
        quote = Quote(calls, calls, calls, 0, calls, prompt, completion, usd)
        return QuotedCalls("search", judge, quote)


def _most_cost(of: QuotedCalls) -> str:
    """What calls cost at the most, in words."""
    if of.judge.prices is None or of.quote.usd is None:
        return cost_words(of.judge, of.quote)
    return f"up to {of.quote.usd[1]:.4f} USD"


def _suite_of_trial(name: str) -> str:
    """The suite that a trial begins with, where its name leads to its file."""
    suite = recording_of(name)
    try:
        suite_files(suite)
    except UsageError as error:
        raise UsageError(
            f"the suite of trial {name} is not found by its name",
            found=suite,
            expected="a built-in suite, or one in a folder of that name in suites",
            remedy="name its file: --judge-suite FILE",
        ) from error
    return suite
