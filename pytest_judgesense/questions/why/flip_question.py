"""Why a verdict flipped: the smallest change of a prompt that turns it.

The two ends of a flip are asked several times each, and told apart or called noise; then hybrids of
the two prompts are asked, by a bisection that expects noise (`stats.bisection`), until one change
holds the turn. It is named once answers of its own tell the prompts just before it and just with it
apart. All answers are recorded, and a replay goes the same way.

Asking a judge hybrids of two prompts, each recorded like a trial.

A judge of a provider, and a function that is recorded by the messages it was given, are sent the
hybrid as it stands. A function that makes requests of its own is called as for the old end, and the
texts are exchanged in what it sends. The recording has a name of its own, made of the two prompts:
other prompts begin another one.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from pytest_judgesense.asking.inquiry import Asking, Inquiry
from pytest_judgesense.cassettes.exchange import CALL
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.errors import JudgeError, UsageError, listed
from pytest_judgesense.judges.calls import judgment_of
from pytest_judgesense.judges.client import is_embedded
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.session import SessionCalls
from pytest_judgesense.judges.spec import FREE
from pytest_judgesense.judges.throttle import Throttle
from pytest_judgesense.judges.trust import Trust
from pytest_judgesense.measurement import proof_of
from pytest_judgesense.questions.place import Place, suite_files
from pytest_judgesense.questions.pricing import (
    CallPlan,
    Quote,
    QuotedCalls,
    RecordingCommand,
    cost_words,
)
from pytest_judgesense.questions.terms import AskingTerms
from pytest_judgesense.questions.why.flip import Flip, PromptPath, Unit, label_of
from pytest_judgesense.questions.why.flip_answer import FlipAnswer, changes_words, ends_words
from pytest_judgesense.questions.why.recorded_flips import (
    RecordedAnswers,
    flip_of_recordings,
    flip_of_trials,
)
from pytest_judgesense.stats.bisection import AFRESH, CONTRAST_CALLS, FEWEST, Hybrid, begin
from pytest_judgesense.suites.item import Item, item_id
from pytest_judgesense.suites.planning import recording_of
from pytest_judgesense.suites.suite import Suite, Template
from pytest_judgesense.text.layout import indented
from pytest_judgesense.trial import TEMPERATURE, Failed, Judgment, Trial

_TEXT: Final = "text"
_LONGEST_ITEM: Final = 60


@dataclass
class HybridAsker:
    """Asks hybrids, one after the other, and counts how often each was asked.

    Attributes:
        name: of the recording.
    """

    flip: Flip
    path: PromptPath
    name: str
    inquiry: Inquiry
    counts: Counter[Hybrid] = field(default_factory=Counter)

    def ask(self, hybrid: Hybrid) -> Judgment:
        """The judgment of a hybrid, asked once more.

        Raises:
            JudgeError: the call failed; what was answered before is recorded.
            LimitReached: the call would pass a limit.
        """
        self.counts[hybrid] += 1
        trial = self._enter(hybrid, self.counts[hybrid])
        self.inquiry.ask([trial])
        judgment = judgment_of(
            self.inquiry.suite, self.inquiry.judge, trial, self.inquiry.answers[trial.id]
        )
        if isinstance(judgment.outcome, Failed):
            self.inquiry.finish()
            raise JudgeError(
                f"judge {self.flip.judge.name!r} did not answer a hybrid of the two prompts",
                found=judgment.outcome.reason,
                remedy="run the command again: what was answered is recorded",
            )
        return judgment

    def _enter(self, hybrid: Hybrid, replicate: int) -> Trial:
        """The trial of a hybrid, which the suite has from here on."""
        old = self.flip.old.judgment.trial
        suite, name = self.inquiry.suite, _name_of(hybrid)
        item, template = self._question(name, hybrid)
        if all(entered.id != template.id for entered in suite.templates):
            suite = replace(suite, templates=(*suite.templates, template))
        if all(entered.id != item.id for entered in suite.items):
            suite = replace(suite, items=(*suite.items, item))
        trial = Trial(
            f"{self.name}/{item.id}/{name}/{old.order}/r{replicate}",
            self.name,
            item.id,
            item.cluster,
            name,
            old.order,
            replicate,
            {key: value for key, value in old.condition.items() if key != TEMPERATURE},
        )
        self.inquiry.suite = suite
        self.inquiry.trials = (*self.inquiry.trials, trial)
        return trial

    def _question(self, name: str, hybrid: Hybrid) -> tuple[Item, Template]:
        old, texts = self.flip.old.judgment.trial, self.path.hybrid(hybrid)
        if _is_given_messages(self.flip):
            system, prompt = (
                [text for part, text in texts.items() if part.startswith(f"{kind} ")]
                for kind in ("system prompt", "prompt")
            )
            if len(prompt) != 1 or len(system) > 1:
                raise UsageError(
                    "the two prompts are no system prompt and one message",
                    found=listed(texts),
                    expected="at most one system prompt, and one message",
                )
            item = Item(name, old.cluster, {_TEXT: prompt[0]})
            return item, Template(name, f"{{{{{_TEXT}}}}}", system=system[0] if system else "")
        edits = tuple(
            (self.path.old[part], text)
            for part, text in texts.items()
            if text != self.path.old[part]
        )
        suite = self.flip.suite
        item = next(item for item in suite.items if item.id == old.item)
        template = next(template for template in suite.templates if template.id == old.template)
        return item, replace(template, id=name, edits=edits, asked_as=template.id)


@contextmanager
def asking_hybrids(
    flip: Flip,
    path: PromptPath,
    place: Place,
    terms: AskingTerms,
    how_to_record: str,
) -> Iterator[HybridAsker]:
    """Ask hybrids within a block; at its end what was asked is recorded in order, and proven.

    Raises:
        UsageError: a function cannot be made to send the texts.
        UnprovenRecording: what was recorded does not replay.
    """
    _refuse_added_part(flip, path)
    name, judge = _recording_of(flip, path), flip.judge
    file = place.cassettes / judge.slug / f"{name}.jsonl"
    with ExitStack() as stack:
        if terms.asks:
            stack.enter_context(recording_alone(file, Recorder.here()))
        loop = stack.enter_context(closing(AskingLoop()))
        asking = Asking(
            trust=Trust.here(flip.suite.path),
            concurrency=1,
            how_to_record=how_to_record,
            throttle=Throttle(judge, 1, budget=terms.budget),
            session=SessionCalls(),
            registry=place.registry,
            proves=terms.asks,
            computes=is_embedded,
        )
        suite = _emptied(flip, name)
        inquiry = Inquiry(judge, suite, (), {name: file}, loop, terms.mode, asking)
        asker = HybridAsker(flip, path, name, inquiry)
        yield asker
        inquiry.finish()
        proof = proof_of(inquiry, asker.inquiry.trials, loop, asking)
        if proof.error is not None:
            raise proof.error


def _emptied(flip: Flip, name: str) -> Suite:
    """The suite of the flip without its items and wordings, at the temperature of the old end."""
    suite, old = flip.suite, flip.old.judgment.trial
    temperature = old.condition.get(TEMPERATURE, suite.temperature)
    return replace(
        suite,
        name=name,
        base=name,
        form=replace(suite.form, expand=None, settling=None),
        items=(),
        templates=(),
        checks=(),
        reviews=(),
        temperature=temperature if isinstance(temperature, int | float) else None,
        temperatures=(),
    )


def _is_given_messages(flip: Flip) -> bool:
    """Whether a hybrid is sent as it stands, and not exchanged in what a function sends."""
    (request,) = flip.old.requests
    return flip.judge.provider != "callable" or request.method == CALL


def _refuse_added_part(flip: Flip, path: PromptPath) -> None:
    """Raise an error if a function would have to send a text where it sends none."""
    added = [part for part, text in path.old.items() if not text]
    if added and not _is_given_messages(flip):
        raise UsageError(
            f"{flip.old.name} sends no text where {flip.new.name} sends one, and the words of a "
            "function are exchanged in what it sends",
            found=f"no {listed(added)}",
            expected="two prompts of the same parts",
            remedy="name the other end first: judgesense why OTHER TRIAL",
        )


def _recording_of(flip: Flip, path: PromptPath) -> str:
    trial = flip.old.judgment.trial
    text = json.dumps([trial.id, flip.new.judgment.trial.id, path.unit, path.old, path.new])
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"why-{item_id(trial.item)[:_LONGEST_ITEM]}-{digest}"


def _name_of(hybrid: Hybrid) -> str:
    """``first-12`` for the first twelve changes, else a digest of their numbers."""
    if hybrid == tuple(range(len(hybrid))):
        return f"first-{len(hybrid)}"
    numbers = ",".join(map(str, hybrid))
    return f"of-{len(hybrid)}-{hashlib.sha256(numbers.encode()).hexdigest()[:8]}"


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
        how = self._how_to_record
        with (
            how.priced_where_missing(),
            asking_hybrids(self.flip, self.path, self.place, self.terms, str(how)) as asker,
        ):
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
    def _how_to_record(self) -> RecordingCommand:
        words = ["judgesense", "why", self.trial, *([self.other] if self.other else [])]
        named = {"against": self.against, "judge-name": self.judge, "judge-suite": self.suite}
        for name, value in named.items():
            words += [f"--{name}", value] if value else []
        words += [] if self.unit == "words" else ["--by", self.unit]
        if self.terms.max_calls is not None:
            words += ["--judge-max-calls", str(self.terms.max_calls)]
        return RecordingCommand(words, self.place.cassettes, self.plan)

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
