"""One call or several as a question: a rubric whose criteria a judge is asked together and apart.

Both are asked of one judge on the same trials and recorded side by side, with their prices. The
answer says what asking apart changes (halo, grades at the ceiling, agreement with people), and what
it costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.datasheets.datasheet import Calls
from pytest_judgesense.datasheets.published_design import Table, Value
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.estimate import number_text
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.spec import FREE, JudgeSpec
from pytest_judgesense.questions.compare.variants import word_of
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.pricing import (
    CallPlan,
    RecordingCommand,
    call_plan,
    quote_of_all,
)
from pytest_judgesense.questions.question import QuestionAnswer, dataframe_of
from pytest_judgesense.questions.terms import AskingTerms, measured
from pytest_judgesense.registry import ChangeByCalls
from pytest_judgesense.report.terminal import tables_lines
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.layout import indented

if TYPE_CHECKING:
    import pandas as pd

_MANNERS: Final[tuple[Literal["joint", "each"], ...]] = ("joint", "each")
_NOT_TOLD_APART: Final = "not told apart"
# USD are told of so many trials.
_TRIALS_PRICED: Final = 1000


class CallCost(NamedTuple):
    """What a trial costs in one of both manners.

    Attributes:
        manner: ``joint`` or ``each``.
        trials: that were asked.
        calls: that they take, repairs apart.
        used: their tokens, and their price.
    """

    manner: str
    trials: int
    calls: int
    used: Calls

    def to_dict(self) -> dict[str, Value]:
        """By column, a trial; ``None`` for what nobody counts or prices."""
        usd = self.used.cost_usd
        return {
            "criteria": self.manner,
            "calls": self.calls / self.trials,
            "prompt tokens": _share(self.used.prompt_tokens, self.trials),
            "reply tokens": _share(self.used.completion_tokens, self.trials),
            "USD": None if usd is None else usd * _TRIALS_PRICED / self.trials,
        }


def _share(tokens: int | None, trials: int) -> float | None:
    return None if tokens is None else tokens / trials


@dataclass(frozen=True)
class CompareCallsAnswer(QuestionAnswer):
    """What a call for each criterion changes, and what it costs.

    Attributes:
        suite: the name of the suite; ``judge`` that of the judge.
        changes: measure by measure, each less joint.
        costs: of both manners, joint first.
    """

    suite: str
    judge: str
    changes: tuple[ChangeByCalls, ...]
    costs: tuple[CallCost, ...]

    @property
    def worse(self) -> bool:
        """Whether asking apart is worse in some measure, beyond chance."""
        return any(change.verdict == "worse" for change in self.changes)

    def lines(self) -> Iterator[str]:
        """The sentences, and the tables."""
        for sentence in self._sentences():
            yield from indented(sentence, width=0)
        yield from tables_lines(self.tables)

    def _sentences(self) -> Iterator[str]:
        """What is better and what is worse, and how much more is asked."""
        yield f"judge {self.judge} on {self.suite}: a call for each criterion, against one for all"
        for verdict in ("better", "worse"):
            if moved := [change for change in self.changes if change.verdict == verdict]:
                yield f"each is {verdict}: {', '.join(map(_move, moved))}"
        if not any(change.verdict for change in self.changes):
            yield f"the two cannot be told apart{self._on_clusters()}"
        yield f"each takes {self._factors()}"

    def _on_clusters(self) -> str:
        halo = next(iter(self.changes), None)
        return f" on {halo.clusters:,} clusters" if halo else ": no trial has replies to both"

    def _factors(self) -> str:
        """How many times as much asking apart takes, of what is known."""
        joint, each = (cost.to_dict() for cost in self.costs)
        words = {
            "calls": "the calls",
            "prompt tokens": "the prompt tokens",
            "reply tokens": "the reply tokens",
            "USD": "the price",
        }
        factors = (
            f"{each_value / joint_value:.1f} times {word}"
            for name, word in words.items()
            if isinstance(joint_value := joint[name], int | float)
            and isinstance(each_value := each[name], int | float)
            and joint_value
        )
        return listed(factors)

    @property
    def tables(self) -> tuple[Table, ...]:
        """A line a measure, and a line a manner of asking."""
        rows = [cost.to_dict() for cost in self.costs]
        return (
            Table(
                "calls",
                "criteria in one call (joint) and in a call of their own (each); change and "
                "interval over whole clusters, p by Holm over all lines",
                ("measure", "joint", "each", "change", "95% clustered", "p", "n", "verdict"),
                tuple(
                    (
                        word_of(change.measure),
                        change.joint,
                        change.each,
                        change.change,
                        change.ends,
                        f"{change.p:.3g}",
                        change.n,
                        change.verdict or _NOT_TOLD_APART,
                    )
                    for change in self.changes
                ),
            ),
            Table(
                "cost",
                f"calls and tokens a trial, USD a {_TRIALS_PRICED:,} trials",
                (*rows[0],),
                tuple(tuple(row.values()) for row in rows),
            ),
        )

    def to_dict(self) -> Mapping[str, Any]:
        """Its values, unrounded."""
        return {
            "suite": self.suite,
            "judge": self.judge,
            "changes": [_row(change) for change in self.changes],
            "costs": [cost.to_dict() for cost in self.costs],
        }

    def to_dataframe(self) -> pd.DataFrame:
        """A row for each measure.

        Raises:
            UsageError: pandas is not installed.
        """
        return dataframe_of(map(_row, self.changes))


def _move(change: ChangeByCalls) -> str:
    joint, each = map(number_text, (change.joint, change.each))
    return f"{word_of(change.measure)} {joint} -> {each}"


def _row(change: ChangeByCalls) -> dict[str, Any]:
    lower, upper = change.ends or (None, None)
    return {
        "measure": change.measure.name,
        "joint": change.joint,
        "each": change.each,
        "change": change.change,
        "lower": lower,
        "upper": upper,
        "p": change.p,
        "n": change.n,
        "clusters": change.clusters,
        "verdict": change.verdict or _NOT_TOLD_APART,
    }


@dataclass(frozen=True)
class CompareCallsQuestion:
    """What a judge's grades gain where each criterion has a call of its own, and for what price.

    Attributes:
        suite: by name, ``NAME@PRESET``, or its file; it has several criteria, and asks for them in
            either manner.
        judge: its name; without one the judge that the project declares.
    """

    suite: str
    judge: str | None = None
    terms: AskingTerms = field(default_factory=AskingTerms)
    place: Place = field(default_factory=Place)

    def plan(self) -> CallPlan:
        """What either manner asks, what of it is recorded, and what the rest would cost.

        Raises:
            UsageError: the suite has no criteria that could be asked apart, or there is no such
                judge.
        """
        suites, judge = self._suites, self._judge
        heading = f"{self._named.name}, judge {judge.name}: criteria together and apart"
        asked = [(manner, judge, suite) for manner, suite in suites.items()]
        return call_plan(heading, asked, self.place.cassettes, afresh=self.terms.mode == "live")

    def answer(self) -> CompareCallsAnswer:
        """What asking apart changes.

        Raises:
            UsageError: as `plan`.
            MissingRecording: replaying, and something is not recorded.
            LimitReached: a call would pass a limit; the answers so far are recorded.
        """
        suites, judge = self._suites, self._judge
        how = RecordingCommand(self._words, self.place.cassettes, self.plan)
        sheet = measured(self.place, self.terms, [judge], [*suites.values()], how)
        compared = self.place.registry.kinds[suites["joint"].kind].by_calls
        assert compared is not None, "a kind whose criteria can be asked apart compares them"
        costs = tuple(
            _cost(manner, judge, suite, sheet, len(cell.judgments))
            for (manner, suite), cell in zip(suites.items(), sheet.cells, strict=True)
        )
        return CompareCallsAnswer(self._named.name, judge.name, compared(*sheet.cells), costs)

    @cached_property
    def _judge(self) -> JudgeSpec:
        return self.place.judge_to_ask(self.judge)

    @cached_property
    def _named(self) -> Suite:
        """The suite as it asks."""
        return self.place.suite(self.suite, labelled=False)

    @cached_property
    def _suites(self) -> dict[Literal["joint", "each"], Suite]:
        """The suite in both manners, without its checks."""
        suite = self._named
        if len(suite.in_every_manner) < 2:
            raise UsageError(
                f"criteria of suite {suite.name} cannot be asked together and apart",
                found=f"kind {suite.kind!r}, with {len(suite.space.criteria)} criteria",
                expected="a suite of a rubric: [space] has two criteria or more",
                remedy="name another suite: judgesense compare SUITE --calls",
            )
        return {manner: replace(suite, checks=()).with_calls(manner) for manner in _MANNERS}

    @property
    def _words(self) -> list[str]:
        """The command that asks this question."""
        words = ["judgesense", "compare", self.suite, "--calls"]
        return [*words, "--judge-name", self.judge] if self.judge else words


def _cost(
    manner: str, judge: JudgeSpec, suite: Suite, sheet: MeasuredDatasheet, trials: int
) -> CallCost:
    """What the trials of a suite took; of a jury what its members took."""
    used = {
        of_judge.judge: part.calls
        for of_judge in sheet.judges
        for part in of_judge.parts
        if part.suite == suite.name
    }
    calls, total = 0, Calls()
    prices: list[float | None] = []
    for asked in judge.asked_judges:
        calls += quote_of_all(asked, suite_for_judge(suite, asked)).calls
        total += used[asked.slug]
        price = used[asked.slug].cost_usd
        prices.append(0.0 if price is None and asked.provider in FREE else price)
    stated = [price for price in prices if price is not None]
    cost = sum(stated) if len(stated) == len(prices) else None
    return CallCost(manner, trials, calls, replace(total, cost_usd=cost))
