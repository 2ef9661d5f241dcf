"""What a recording would ask now, and for what price; no call is made and no code is run."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from pytest_judgesense.asking.carrying_over import carried_over, is_given_otherwise
from pytest_judgesense.cassettes.carrying import RecordedTrial
from pytest_judgesense.cassettes.cassette import answered_first
from pytest_judgesense.cassettes.matching import Identity
from pytest_judgesense.cassettes.replaying import ReplayingCassette
from pytest_judgesense.cassettes.scope import Abandoned
from pytest_judgesense.errors import MissingRecording, StaleRecording, listed
from pytest_judgesense.files.pytest_ini import usual_recordings
from pytest_judgesense.judges.calls import first_calls
from pytest_judgesense.judges.client import unasked_endpoint
from pytest_judgesense.judges.code_digest import RecordedCode
from pytest_judgesense.judges.prompts import judge_for_suite, suite_for_judge
from pytest_judgesense.judges.resolving import credentials_of
from pytest_judgesense.judges.spec import FREE, JudgeSpec, table_of
from pytest_judgesense.judges.trial_call import Call
from pytest_judgesense.suites.builtin import cassettes_in
from pytest_judgesense.suites.planning import Plans, plan_trials, recording_of
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.layout import indented

_CHARACTERS_A_TOKEN: Final = 4


class Quote(NamedTuple):
    """What a recording would ask now, and what it would cost.

    Attributes:
        trials: of the suite.
        calls: that they take: of a function as many as are recorded of a trial, else one.
        to_make: calls without a recorded answer.
        changed: of these, how many have one to another request, or of other code.
        carried: trials that get the answers of recorded ones which nobody plans any more.
        asked: trials with calls to make.
        most: how many may be made, if the requests of a function changed.
        prompt_tokens: of ``most`` calls; ``completion_tokens`` at the most.
        usd: the least and the most; ``None`` where no prices are known.
    """

    trials: int
    calls: int
    to_make: int
    changed: int
    most: int
    prompt_tokens: int
    completion_tokens: int
    usd: tuple[float, float] | None
    carried: int = 0
    asked: int = 0

    @classmethod
    def summed(cls, quotes: Sequence[Quote]) -> Quote:
        """The sum of the quotes of several suites for one judge."""
        costs = [quote.usd for quote in quotes if quote.usd is not None]
        sums = (sum(least for least, _ in costs), sum(most for _, most in costs))
        return cls(
            sum(quote.trials for quote in quotes),
            sum(quote.calls for quote in quotes),
            sum(quote.to_make for quote in quotes),
            sum(quote.changed for quote in quotes),
            sum(quote.most for quote in quotes),
            sum(quote.prompt_tokens for quote in quotes),
            sum(quote.completion_tokens for quote in quotes),
            sums if len(costs) == len(quotes) else None,
            sum(quote.carried for quote in quotes),
            sum(quote.asked for quote in quotes),
        )


def quote(
    judge: JudgeSpec, asked_suite: Suite, cassettes: Path, plans: Plans | None = None
) -> Quote:
    """What a recording of a judge on a suite, with the judge's prompts in it, would ask now.

    The requests are compared with the recorded ones, as a recording compares them. Those of a
    function are not known before it runs, and no code is run: its trials may all be asked again.
    With ``plans``, answers are carried over to trials of other names, as a recording does it.
    """
    trials = plan_trials(asked_suite)
    if judge.jury is not None:
        return _no_calls(len(trials))
    calls_of = first_calls(asked_suite, judge)
    planned = {trial.id: calls_of(trial) for trial in trials}
    carried: Collection[str] = ()
    if plans is not None:
        carried = carried_over(judge, asked_suite, trials, plans).keys()
    opened = _opened(judge, asked_suite, cassettes)
    by_trial, changed = _open_calls(judge, asked_suite, planned, opened, carried)
    every = [
        call
        for id_, calls in planned.items()
        for call in _as_recorded(judge, calls, opened[recording_of(id_)], id_)
    ]
    open_calls = [call for calls in by_trial for call in calls]
    is_unsure = judge.provider == "callable" and len(open_calls) < len(every)
    most = every if is_unsure else open_calls
    prompt, completion = tokens_of(most, judge, asked_suite)
    least, _ = tokens_of(open_calls, judge, asked_suite)
    usd = _price(judge, least, prompt, completion)
    counts = len(trials), len(every), len(open_calls), changed, len(most)
    return Quote(*counts, prompt, completion, usd, len(carried), sum(map(bool, by_trial)))


def quote_of_all(judge: JudgeSpec, asked_suite: Suite) -> Quote:
    """What it costs to ask all, whatever is recorded."""
    if judge.jury is not None:
        return _no_calls(len(plan_trials(asked_suite)))
    trials, calls_of = plan_trials(asked_suite), first_calls(asked_suite, judge)
    every = [call for trial in trials for call in calls_of(trial)]
    prompt, completion = tokens_of(every, judge, asked_suite)
    counts = len(trials), len(every), len(every), 0, len(every)
    return Quote(*counts, prompt, completion, _price(judge, prompt, prompt, completion))


def _no_calls(trials: int) -> Quote:
    """The quote of a jury: its members are asked, who have quotes of their own."""
    return Quote(trials, 0, 0, 0, 0, 0, 0, (0.0, 0.0))


def cost_words(judge: JudgeSpec, of: Quote) -> str:
    """What the calls of a judge would cost."""
    return _cost_words([QuotedCalls(judge.name, judge, of)])


@dataclass(frozen=True, slots=True)
class QuotedCalls:
    """A part of what a question asks: a judge on a suite, or under a prompt.

    Attributes:
        label: what the part is called in the plan.
        judge: who is asked.
        quote: the calls, and their price.
    """

    label: str
    judge: JudgeSpec
    quote: Quote


@dataclass(frozen=True, slots=True)
class CallPlan:
    """What a question would ask, part by part, before anything is asked.

    Attributes:
        heading: of the plan; empty for none.
        parts: each with its calls and their price.
    """

    heading: str
    parts: tuple[QuotedCalls, ...]

    def lines(self) -> Iterator[str]:
        """The calls to be made and their price; of several parts also together."""
        if self.heading:
            yield from indented(self.heading, width=0)
        width = 2 * bool(self.heading)
        for part in self.parts:
            yield from indented(f"{part.label}: {_calls_words([part])}", width=width)
        if len(self.parts) > 1:
            yield from indented(f"together: {_calls_words(self.parts)}", width=width)

    @property
    def words(self) -> str:
        """All of it in a few words: the calls to be made, and their price."""
        to_make = sum(part.quote.to_make for part in self.parts)
        return f"{to_make:,} call{'s' * (to_make != 1)}, cost: {_cost_words(self.parts)}"


def call_plan(
    heading: str,
    asked: Iterable[tuple[str, JudgeSpec, Suite]],
    cassettes: Path,
    plans: Plans | None = None,
    *,
    afresh: bool = False,
) -> CallPlan:
    """The plan of what is asked: by label a judge and a suite, without the judge's prompts.

    In place of a jury stand its members; who is asked twice about a suite is asked once. With
    ``afresh`` what is recorded is asked again, as a live run does it.
    """
    every: dict[tuple[str, str, str], tuple[str, JudgeSpec, Suite]] = {}
    for label, judge, suite in asked:
        for member in judge.asked_judges:
            own_label = f"{member.name} for {label}" if judge.members else label
            every.setdefault((member.slug, suite.name, suite.digest), (own_label, member, suite))
    parts = []
    for label, judge, suite in every.values():
        own_suite = suite_for_judge(suite, judge)
        quoted = (
            quote_of_all(judge, own_suite) if afresh else quote(judge, own_suite, cassettes, plans)
        )
        parts.append(QuotedCalls(label, judge, quoted))
    return CallPlan(heading, tuple(parts))


def _calls_words(parts: Sequence[QuotedCalls]) -> str:
    total = Quote.summed([part.quote for part in parts])
    changed = f" ({total.changed} recorded with another request)" if total.changed else ""
    calls = f"{total.calls:,} calls, {total.to_make:,} to be made{changed}"
    return f"{calls}; cost: {_cost_words(parts)}"


def _cost_words(parts: Sequence[QuotedCalls]) -> str:
    unpriced = [table_of(part.judge.name) for part in parts if part.quote.usd is None]
    if unpriced:
        return f"unknown; set prices in {listed(dict.fromkeys(unpriced))}"
    total = Quote.summed([part.quote for part in parts])
    has_prices = any(part.judge.prices and part.quote.most for part in parts)
    least, most = total.usd or (0.0, 0.0)
    return f"{least:.4f} to {most:.4f} USD" if has_prices else "none"


@dataclass(frozen=True, slots=True)
class RecordingCommand:
    """The command that records what a question lacks.

    A price takes reading all recordings, so it is told only where something is missing.

    Attributes:
        words: of the command, without the folder of the recordings and the mode.
        cassettes: that folder.
        plan: the calls that it makes, with their price.
        before: what is told before the command.
    """

    words: Sequence[str]
    cassettes: Path
    plan: Callable[[], CallPlan]
    before: str = ""

    def __str__(self) -> str:
        is_usual = self.cassettes == usual_recordings()
        folder = [] if is_usual else ["--judge-cassettes", str(self.cassettes)]
        command = shlex.join([*self.words, *folder, "--judge-mode", "record"])
        return f"{self.before}record it: {command}"

    @property
    def with_price(self) -> str:
        """What is told to do, and what it costs."""
        return f"{self} ({self.plan().words})"

    @contextmanager
    def priced_where_missing(self) -> Iterator[None]:
        """Add the price to an error that tells this command, where one is raised."""
        try:
            yield
        except (MissingRecording, StaleRecording) as error:
            command, with_price = str(self), self.with_price
            priced = error.with_texts(lambda text: text.replace(command, with_price))
            raise priced from error.__cause__


def _opened(judge: JudgeSpec, asked_suite: Suite, cassettes: Path) -> dict[str, ReplayingCassette]:
    """The recordings of a judge on a suite, by name."""
    return {
        name: ReplayingCassette(
            path, secrets=credentials_of(judge), identity=Identity(judge.ignore)
        )
        for name, path in cassettes_of(judge, asked_suite, cassettes).items()
    }


def _as_recorded(
    judge: JudgeSpec, calls: Sequence[Call], cassette: ReplayingCassette, id_: str
) -> Sequence[Call]:
    """The calls of a trial; of a function as many as it has sent requests, where it is recorded.

    What it would send is not known before it runs: each is taken to be like its first one.
    """
    requests = len(cassette.recordings.of(id_)) if judge.provider == "callable" else 0
    return [*calls, *[calls[0]] * (requests - len(calls))]


def _open_calls(
    judge: JudgeSpec,
    asked_suite: Suite,
    planned: Mapping[str, Sequence[Call]],
    opened: Mapping[str, ReplayingCassette],
    carried: Collection[str],
) -> tuple[list[Sequence[Call]], int]:
    """By trial, the calls without a recorded answer; how many of all have one to another request.

    Of a function: also of other code, which is looked at, and not run. Nothing is open of the
    trials that are ``carried`` over.
    """
    spec = judge_for_suite(judge, asked_suite)
    endpoint = unasked_endpoint(spec)
    code = RecordedCode(judge)
    to_make: list[Sequence[Call]] = []
    changed = 0
    for id_, calls in planned.items():
        cassette = opened[recording_of(id_)]
        if id_ in carried:
            continue
        if judge.provider == "callable":
            recorded = RecordedTrial(id_, cassette.path, cassette.recordings)
            is_complete = cassette.complete(id_)
            is_changed = is_complete and (
                is_given_otherwise(judge, calls, recorded) or code.is_changed(cassette, id_)
            )
            as_recorded = _as_recorded(judge, calls, cassette, id_)
            to_make.append([] if is_complete and not is_changed else as_recorded)
            changed += len(as_recorded) if is_changed else 0
            continue
        requests = [endpoint.request_of(call) for call in calls]
        answered = 0
        with suppress(Abandoned):  # its first call is made again as well
            answered = answered_first(cassette, id_, [(r.method, r.url, r.body) for r in requests])
        to_make.append(calls[answered:])
        changed += len(calls) - answered if cassette.complete(id_) else 0
    return to_make, changed


def cassettes_of(judge: JudgeSpec, suite: Suite, cassettes: Path) -> dict[str, Path]:
    """The cassettes of the suite by recording, as pytest would find them."""
    return cassettes_in(cassettes, judge.slug, suite_for_judge(suite, judge).recordings)


def tokens_of(calls: Sequence[Call], judge: JudgeSpec, asked_suite: Suite) -> tuple[int, int]:
    """Of the prompts, a quarter of their characters; of the replies, ``max_tokens`` at the most."""
    return _prompt_tokens(calls), len(calls) * judge_for_suite(judge, asked_suite).max_tokens


def quote_of_calls(judge: JudgeSpec, calls: int, to_make: Sequence[Call]) -> Quote:
    """What it costs to make those of some ``calls`` that have no recorded answer, of no suite."""
    prompt, completion = _prompt_tokens(to_make), len(to_make) * judge.max_tokens
    usd = _price(judge, prompt, prompt, completion)
    return Quote(calls, calls, len(to_make), 0, len(to_make), prompt, completion, usd)


def _price(
    judge: JudgeSpec, least_prompt: int, most_prompt: int, completion: int
) -> tuple[float, float] | None:
    """The least and the most that tokens cost in USD; ``None`` where no prices are known.

    At the least nothing is replied; calls that are none have no token.
    """
    prices = judge.prices
    if not (most_prompt or completion) or (prices is None and judge.provider in FREE):
        return 0.0, 0.0
    if prices is None:
        return None
    most = most_prompt * prices.prompt + completion * prices.completion
    return least_prompt * prices.prompt / 1e6, most / 1e6


def _prompt_tokens(calls: Sequence[Call]) -> int:
    characters = sum(len(message["content"]) for call in calls for message in call.messages)
    return -(-characters // _CHARACTERS_A_TOKEN)
