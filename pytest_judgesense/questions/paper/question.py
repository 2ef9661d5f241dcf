"""A published design on any judges: what it would ask, and what the paper prints of it.

Its tables, the datasheet behind them, and their files. Models may write more items for the design.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, combinations
from pathlib import Path
from typing import Any

from pytest_judgesense.cassettes.opening import Mode
from pytest_judgesense.datasheets.published_design import (
    ItemWriting,
    Paper,
    WritingOrder,
    WrittenItems,
    printed,
)
from pytest_judgesense.errors import UsageError, listed, unknown_name
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import CONCURRENCY
from pytest_judgesense.questions.paper.answer import PaperAnswer, notices_of, paper_named
from pytest_judgesense.questions.paper.judgments_that_exist import (
    LoggedPaperQuestion,
    refuse_asking,
)
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.pricing import (
    CallPlan,
    QuotedCalls,
    RecordingCommand,
    call_plan,
    quote_of_calls,
)
from pytest_judgesense.questions.question import QuestionAnswer
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

    def notices(self) -> Iterator[str]:
        """What the paper prints and cannot be had here, whatever the judges say."""
        return notices_of(self.paper)

    def answer(self) -> PaperAnswer:
        """What the paper prints; judges are asked on the ``terms``.

        Raises:
            UsageError: the paper or a judge is not known.
            MissingRecording: replaying, and something is not recorded; it says how to record it.
            LimitReached: a call would pass a limit; the answers so far are recorded.
        """
        how = RecordingCommand(self._words, self.place.cassettes, self.plan)
        sheet = measured(self.place, self.terms, self._specs, self._suites, how)
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


def paper(
    name: str,
    judges: str | Sequence[str] = (),
    *,
    quick: bool = False,
    log: str | Path | Sequence[str | Path] = (),
    mode: Mode = "replay",
    cassettes: str | Path | None = None,
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
        log: judgments that exist, in place of judges: one file or folder, or several, as
            ``judgesense paper NAME --log`` takes them; nothing is asked, and of the other
            arguments only the seed counts.
        mode: ``replay`` makes no calls; ``record`` makes those that are not recorded yet.
        cassettes: folder of the recordings; that of pytest if not given.
        concurrency: the most calls under way at once.
        max_calls: the most calls, retries among them; ``None`` sets no limit.
        max_cost: the most that they may cost in USD, by the prices of the judges; likewise.
        seed: of every random draw.

    Returns:
        The tables of the paper, with the datasheet behind them.

    Raises:
        UsageError: an argument is none of those above, or goes with judges where a log is given.
        LogError: a log is malformed.
        MissingRecording: replaying, and something is not recorded.
        LimitReached: a call would pass a limit; the answers so far are recorded.
    """
    if logs := (log,) if isinstance(log, str | Path) else tuple(log):
        asked = {"judges": judges, "quick": quick, "cassettes": cassettes}
        limits = {"max_calls": max_calls, "max_cost": max_cost}
        recording = {} if mode == "replay" else {"mode": mode}
        given = [argument for argument, value in (asked | limits | recording).items() if value]
        refuse_asking(given, "log")
        return LoggedPaperQuestion(name, tuple(map(Path, logs)), seed).answer()
    names = (judges,) if isinstance(judges, str) else tuple(judges)
    terms = AskingTerms(mode, concurrency, max_calls, max_cost, seed=seed)
    return PaperQuestion(name, names, quick, Place.with_recordings(cassettes), terms).answer()


TEMPERATURE = 0.1


@dataclass(frozen=True)
class GenerationAnswer(QuestionAnswer):
    """What models have written.

    Attributes:
        items: what the written items are, in the plural.
        written: the items, and what readers of them should know.
    """

    items: str
    written: WrittenItems

    def lines(self) -> Iterator[str]:
        """How many are complete, and the notices."""
        yield f"{len(self.written.lines)} of {self.written.wanted} {self.items} are complete"
        yield from self.written.notices

    def to_dict(self) -> dict[str, Any]:
        """The items, as the file has them, and the notices."""
        return {
            "wanted": self.written.wanted,
            self.items: [json.loads(line) for line in self.written.lines],
            "notices": list(self.written.notices),
        }

    def text(self) -> str:
        """The file: an item a line, in the form of the suite's stimuli."""
        return "".join(f"{line}\n" for line in self.written.lines)


@dataclass(frozen=True)
class GenerationQuestion:
    """What models write for the design of a paper.

    Attributes:
        name: of the paper.
        debaters: two models or more, by name, each of which meets every other; or none, and
            ``pairs``.
        pairs: texts ``NAME,NAME``; the pairs share the topics in their order.
        topics: the file of what they write about; ``None`` for the built-in topics.
        style: how they write; ``None`` for the usual way.
        temperature: of all their calls.
        target: the file that the command writes, as its words in an error name it.
        place: where it is asked.
        terms: how the models are asked.
    """

    name: str
    debaters: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    topics: Path | None = None
    style: str | None = None
    temperature: float = TEMPERATURE
    target: Path | None = None
    place: Place = field(default_factory=Place)
    terms: AskingTerms = field(default_factory=AskingTerms)

    def plan(self) -> CallPlan:
        """What each model is asked, and what of it is recorded; nothing is asked.

        Raises:
            UsageError: nothing can be written so.
        """
        return self._call_plan

    def answer(self) -> GenerationAnswer:
        """What the models wrote, asked on the ``terms``.

        Raises:
            UsageError: nothing can be written so.
            MissingRecording: replaying, and something is not recorded; it says how to record it.
            LimitReached: a call would pass a limit; the answers so far are recorded.
        """
        how = RecordingCommand(self._words, self.place.cassettes, self.plan)
        order = self._order._replace(how_to_record=str(how))
        with how.priced_where_missing():
            return GenerationAnswer(self._writing.items, self._writing.write(order))

    @cached_property
    def _writing(self) -> ItemWriting:
        writing = paper_named(self.name, self.place).writing
        if writing is None:
            papers = self.place.registry.papers.values()
            writable = [paper.name for paper in papers if paper.writing]
            raise UsageError(
                f"no model writes items for the paper {self.name}",
                found="--generate",
                expected=f"one of these papers: {listed(writable)}",
                remedy="leave --generate out, and the paper's own items are judged",
            )
        return writing

    @cached_property
    def _order(self) -> WritingOrder:
        usual, *_ = styles = self._writing.styles
        style = self.style or usual
        if style not in styles:
            raise unknown_name("style", style, styles)
        return WritingOrder(
            self._writers,
            self.topics,
            style,
            self.temperature,
            self.place.cassettes,
            self.terms.mode,
            self.terms.concurrency,
            self.terms.budget,
            how_to_record="",
        )

    @cached_property
    def _writers(self) -> list[JudgeSpec]:
        names = self._names()
        every = list(dict.fromkeys(names))
        by_name = dict(zip(every, self.place.judges_to_ask(every), strict=True))
        return [by_name[name] for name in names]

    def _names(self) -> list[str]:
        """Of two and two who write together, from either form of naming them."""
        names = [name.strip() for pair in self.pairs for name in pair.split(",")]
        uneven = any(pair.count(",") != 1 for pair in self.pairs)
        if uneven or bool(names) == bool(self.debaters) or len(self.debaters) == 1:
            raise UsageError(
                "it is not said who debates whom",
                found=" ".join([*self.debaters, *self.pairs]) or "no debater",
                expected="--debaters A,B,C, or --pair A,B once or more",
            )
        return [*names, *chain.from_iterable(combinations(self.debaters, 2))]

    @cached_property
    def _call_plan(self) -> CallPlan:
        asked = self._writing.plan(self._order)
        parts = (
            QuotedCalls(
                f"{of.writer.name} in {self._writing.items}",
                of.writer,
                quote_of_calls(of.writer, of.calls, of.to_make),
            )
            for of in asked
        )
        return CallPlan("", tuple(parts))

    @property
    def _words(self) -> list[str]:
        """Those of the command that asks it."""
        words = ["judgesense", "paper", self.name, "--generate"]
        if self.debaters:
            words += ["--debaters", ",".join(self.debaters)]
        for pair in self.pairs:
            words += ["--pair", pair]
        if self.topics is not None:
            words += ["--topics", str(self.topics)]
        if self.style is not None:
            words += ["--style", self.style]
        if self.temperature != TEMPERATURE:
            words += ["--temperature", f"{self.temperature:g}"]
        return [*words, "-o", str(self.target or f"{self._writing.items}.jsonl")]
