"""More items for a paper's design, written by models: what they would be asked, what they wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_judgesense.datasheets.item_writing import ItemWriting, WritingOrder, WrittenItems
from pytest_judgesense.errors import UsageError, listed, unknown_name
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.questions.paper.question import paper_named
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.pricing import (
    CallPlan,
    QuotedCalls,
    how_to_record,
    quote_of_calls,
)
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.questions.terms import AskingTerms

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
        debaters: two models, by name; or none, and ``pairs``.
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
        remedy = how_to_record(self._words, self.place.cassettes, self.plan())
        order = self._order._replace(how_to_record=remedy)
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
        if uneven or bool(names) == bool(self.debaters):
            raise UsageError(
                "it is not said who debates whom",
                found=" ".join([*self.debaters, *self.pairs]) or "no debater",
                expected="--debater A --debater B, or --pair A,B once or more",
            )
        return [*names, *self.debaters]

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
        for name in self.debaters:
            words += ["--debater", name]
        for pair in self.pairs:
            words += ["--pair", pair]
        if self.topics is not None:
            words += ["--topics", str(self.topics)]
        if self.style is not None:
            words += ["--style", self.style]
        if self.temperature != TEMPERATURE:
            words += ["--temperature", f"{self.temperature:g}"]
        return [*words, "-o", str(self.target or f"{self._writing.items}.jsonl")]
