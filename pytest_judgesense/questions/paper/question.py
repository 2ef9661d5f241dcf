"""A published design on any judges: what it would ask, and what the paper prints of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import get_args

from pytest_judgesense.cassettes.opening import Mode
from pytest_judgesense.datasheets.published_design import Paper, printed
from pytest_judgesense.errors import unknown_name
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import CONCURRENCY
from pytest_judgesense.questions.paper.printed_tables import PaperAnswer
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.pricing import CallPlan, call_plan, how_to_record
from pytest_judgesense.questions.terms import AskingTerms, measured
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.layout import indented


@dataclass(frozen=True)
class PaperQuestion:
    """What the design of a paper gives for some judges.

    Attributes:
        name: of the paper.
        judges: by name; without names those that the project declares.
        quick: whether about a fifth of the design is enough.
        place: where it is asked.
        terms: how the judges are asked.
    """

    name: str
    judges: tuple[str, ...] = ()
    quick: bool = False
    place: Place = field(default_factory=Place)
    terms: AskingTerms = field(default_factory=AskingTerms)

    @cached_property
    def paper(self) -> Paper:
        """The paper; a `UsageError` if there is none of this name."""
        return paper_named(self.name, self.place)

    def heading(self) -> Iterator[str]:
        """The name and the title of the paper."""
        return indented(f"{self.paper.name}: {self.paper.title}", width=0)

    def plan(self) -> CallPlan:
        """What the design asks of each judge, and what of it is recorded; nothing is asked.

        Raises:
            UsageError: the paper or a judge is not known.
        """
        return self._call_plan

    def answer(self) -> PaperAnswer:
        """What the paper prints; judges are asked on the ``terms``.

        Raises:
            UsageError: the paper or a judge is not known.
            MissingRecording: replaying, and something is not recorded; it says how to record it.
            LimitReached: a call would pass a limit; the answers so far are recorded.
        """
        remedy = how_to_record(self._words, self.place.cassettes, self.plan())
        sheet = measured(self.place, self.terms, self._specs, self._suites, remedy)
        return PaperAnswer(sheet, printed(self.paper, sheet, sheet.cells))

    @cached_property
    def _specs(self) -> list[JudgeSpec]:
        return self.place.judges_to_ask(self.judges)

    @cached_property
    def _suites(self) -> list[Suite]:
        # Whether the suites ask about items without a label is said by their measures.
        return [
            suite
            for name in self.paper.suites(quick=self.quick)
            for suite in self.place.suites(name, labelled=False)
        ]

    @cached_property
    def _call_plan(self) -> CallPlan:
        asked = (
            (f"{judge.name} on {suite.name}", judge, suite)
            for judge in self._specs
            for suite in self._suites
        )
        return call_plan("", asked, self.place.cassettes)

    @property
    def _words(self) -> list[str]:
        """Those of the command that asks it."""
        words = ["judgesense", "paper", self.name]
        for name in self.judges:
            words += ["--judge-name", name]
        return [*words, *["--quick"] * self.quick]


def paper_named(name: str, place: Place) -> Paper:
    """The paper of this name; a `UsageError` if there is none."""
    papers = place.registry.papers
    if name not in papers:
        raise unknown_name("paper", name, papers)
    return papers[name]


def paper(
    name: str,
    judges: str | Sequence[str] = (),
    *,
    quick: bool = False,
    mode: Mode = "replay",
    cassettes: str | Path = "cassettes",
    concurrency: int = CONCURRENCY,
    max_calls: int | None = None,
    max_cost: float | None = None,
    seed: int = 0,
) -> PaperAnswer:
    """What the design of a published paper gives for judges, as ``judgesense paper NAME`` says it.

    Args:
        name: of the paper: ``jss``, ``datasheet``, ``debates`` or ``temperature``.
        judges: one name or several: declared in ``pyproject.toml``, or ``provider:model``; without
            one the declared judges.
        quick: whether about a fifth of the design is enough.
        mode: ``replay`` makes no calls; ``record`` makes those that are not recorded yet.
        cassettes: folder of the recordings.
        concurrency: the most calls under way at once.
        max_calls: the most calls, retries among them; ``None`` sets no limit.
        max_cost: the most that they may cost in USD, by the prices of the judges; likewise.
        seed: of every random draw.

    Returns:
        The tables of the paper, with the datasheet behind them.

    Raises:
        UsageError: an argument is none of those above.
        MissingRecording: replaying, and something is not recorded.
        LimitReached: a call would pass a limit; the answers so far are recorded.
    """
    if mode not in get_args(Mode):
        raise unknown_name("mode", mode, get_args(Mode))
    names = (judges,) if isinstance(judges, str) else tuple(judges)
    terms = AskingTerms(mode, concurrency, max_calls, max_cost, seed=seed)
    return PaperQuestion(name, names, quick, Place(Path(cassettes)), terms).answer()
