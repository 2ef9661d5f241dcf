"""Suites of texts that cover increasing parts of a task: ladders, and criteria on them.

Ladder items (Judge Datasheet, arXiv 2606.15610): of each task, every two of its six levels make
one canonical pair (5, 4, 3, 2, 1 pairs at distance 1 to 5), each level and its rewording one
same-subset pair at distance 0, each alternative and the level with as many elements one
different-subset pair, and each filler and the plain text of its level one filler control.

Quarter items: one required element of a task has four named parts, and a text that states k of
them covers k quarters of the element. The five texts of a task differ in nothing else. Each task
makes two pairs at each of the distances 0.25, 0.5 and 0.75: one from nothing upwards and one up to
the whole element. Four quarters are one whole step of the ladder: both are distances in elements.

Before anything is asked:

- levels form a prefix chain: each has a sentence that no level below it has, and such sentences
  stand in all levels above, so that a higher level lacks nothing that a lower one has gained;
- lengths are matched: the longest text of a task has at most 10% more words than the shortest, or
  sensitivity could be a liking for length;
- both presentation orders are asked, or sensitivity could be a liking for a slot.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import Final, TypeAlias

from pydantic import Field, model_validator

from pytest_judgesense.errors import SuiteError, listed
from pytest_judgesense.suites.finding import LintFinding, Rule, some
from pytest_judgesense.suites.from_lines import with_elements
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.schema import Form, Slug, SuiteForm, two_candidates
from pytest_judgesense.suites.shortcuts import in_one_alone
from pytest_judgesense.suites.stimuli import Stimuli
from pytest_judgesense.suites.suite import Kind, Suite
from pytest_judgesense.trial import Condition

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_MOST_LONGER: Final = 1.1
# Quarters that the worse and the better text cover: from nothing, and up to the whole.
_QUARTER_PAIRS: Final = ((0, 1), (3, 4), (0, 2), (2, 4), (0, 3), (1, 4))


class _Alternative(Form):
    elements: list[int]
    text: str


class _Filler(Form):
    level: int = Field(ge=0, le=5)
    text: str


class LadderTask(Form):
    """A line of a ladder: one task, its five required elements and the texts that cover them.

    ``levels[q]`` and ``rewordings[q]`` cover the first ``q`` elements; ``alternatives`` cover
    other sets; ``fillers`` say what ``levels[level]`` says, at greater length.
    """

    id: Slug
    task: str
    elements: list[str] = Field(min_length=5, max_length=5)
    levels: list[str] = Field(min_length=6, max_length=6)
    rewordings: list[str] = Field(min_length=6, max_length=6)
    alternatives: list[_Alternative]
    fillers: list[_Filler]

    @property
    def chains(self) -> Mapping[str, Sequence[str]]:
        """The texts in a chain: each covers more than the one before it."""
        return {"levels": self.levels, "rewordings": self.rewordings}

    @property
    def shown_task(self) -> str:
        """The task as the judge reads it: the request, then the required elements."""
        return with_elements(self.task, self.elements)

    def items(self, parity: int) -> Iterator[Item]:
        """Its pairs; a filler is always content 2."""
        pairs = sorted(combinations(range(6), 2), key=lambda pair: (pair[1] - pair[0], pair))
        for index, (low, high) in enumerate(pairs):
            texts = (self.levels[low], self.levels[high])
            yield _pair(self, f"d{high - low}-{low}{high}", texts, index + parity, high - low)
        for level, texts in enumerate(zip(self.levels, self.rewordings, strict=True)):
            yield _pair(self, f"same-{level}", texts, level + parity)
        for index, other in enumerate(self.alternatives):
            texts = (self.levels[len(other.elements)], other.text)
            yield _pair(self, f"diff-{index + 1}", texts, index + parity, subset="different")
        for index, filler in enumerate(self.fillers):
            texts = (self.levels[filler.level], filler.text)
            yield _pair(self, f"filler-{index + 1}", texts, 1, subset="filler")


class QuarterTask(Form):
    """A line of a ladder in quarter steps: a task with one required element in four parts.

    ``quarters[k]`` states the first ``k`` parts of the element that ``parted`` names (by its
    number, from 1) and is the same in everything else, so that k of its quarters are covered.
    """

    id: Slug
    task: str
    elements: list[str] = Field(min_length=1)
    parted: int = Field(ge=1)
    parts: list[str] = Field(min_length=4, max_length=4)
    quarters: list[str] = Field(min_length=5, max_length=5)

    @model_validator(mode="after")
    def _listed(self) -> QuarterTask:
        if self.parted > len(self.elements):
            raise ValueError(f"parted is the number of an element, 1 to {len(self.elements)}")
        return self

    @property
    def chains(self) -> Mapping[str, Sequence[str]]:
        """The texts in a chain: each covers more than the one before it."""
        return {"quarters": self.quarters}

    @property
    def shown_task(self) -> str:
        """The task as the judge reads it: the parts follow their element, after a colon."""
        elements = list(self.elements)
        elements[self.parted - 1] += ": " + "; ".join(self.parts)
        return with_elements(self.task, elements)

    def items(self, parity: int) -> Iterator[Item]:
        """Its pairs; at each distance the better candidate is content 1 in one of the two."""
        for index, (low, high) in enumerate(_QUARTER_PAIRS):
            texts = (self.quarters[low], self.quarters[high])
            yield _pair(self, f"q{low}{high}", texts, index + parity, (high - low) / 4)


_Task: TypeAlias = LadderTask | QuarterTask


def _pair(
    task: _Task,
    name: str,
    texts: tuple[str, str],
    turn: int,
    distance: float = 0,
    subset: str = "same",
) -> Item:
    """Two texts. The second, better at a distance, is content 1 at every other turn."""
    contents, second = (texts, "2") if turn % 2 else (texts[::-1], "1")
    condition: Condition = {"distance": distance, "subset": subset}
    label = second if distance else None
    return Item(f"{task.id}-{name}", task.id, {"task": task.shown_task}, contents, label, condition)


def items_of(
    tasks: Iterable[_Task],
    distances: Collection[int | float] | None = None,
    subsets: Collection[str] | None = None,
) -> list[Item]:
    """All items of the tasks, or those of the given ``distances`` and ``subsets``.

    The better candidate is content 1 in every other pair, so that no fixed answer is right more
    often than half of the time.
    """
    return [
        item
        for parity, task in enumerate(tasks)
        for item in task.items(parity)
        if (distances is None or item.condition["distance"] in distances)
        and (subsets is None or item.condition["subset"] in subsets)
    ]


def _verify_task(task: _Task, where: str) -> None:
    for name, texts in task.chains.items():
        _verify_chain(f"{where}: the {name}", texts)
    every = list(chain(*task.chains.values()))
    if isinstance(task, LadderTask):
        _verify_alternatives(task, where)
        every += [other.text for other in task.alternatives]
    lengths = [len(text.split()) for text in every]
    if max(lengths) > _MOST_LONGER * min(lengths):
        raise SuiteError(
            f"{where}: the texts differ in length",
            found=f"{min(lengths)} to {max(lengths)} words",
            expected="at most 10% more words in the longest than in the shortest",
            remedy="pad the shorter texts with sentences that cover no element",
        )


def _verify_chain(name: str, texts: Sequence[str]) -> None:
    sentences = [set(filter(None, _SENTENCE_END.split(text.strip()))) for text in texts]
    # A sentence of a lower level that comes back is padding: it covers no element.
    known_sentences, gained = set(sentences[0]), set[str]()
    for level, level_sentences in enumerate(sentences[1:], start=1):
        new, lost = level_sentences - known_sentences, gained - level_sentences
        known_sentences |= level_sentences
        if new and not lost:
            gained |= new
            continue
        raise SuiteError(
            f"{name} are no prefix chain",
            found=f"level {level} lacks {min(lost)!r}, which a level below has"
            if lost
            else f"level {level} has no sentence that no level below has",
            expected="every level: the sentences that the levels below it gained, and one more",
            remedy="fix the text, or the order of the texts",
        )


def _verify_alternatives(task: LadderTask, where: str) -> None:
    for other in task.alternatives:
        level = list(range(1, len(other.elements) + 1))
        if sorted(other.elements) == level or not set(other.elements) <= set(range(1, 6)):
            raise SuiteError(
                f"{where}: an alternative is none",
                found=f"elements = {other.elements}",
                expected="elements of 1 to 5, other ones than the level with as many has",
                remedy="fix the elements: distances count what the texts hold",
            )


def _both_orders(suite: Suite) -> Iterator[LintFinding]:
    """Position and content are distinguished by using both orders."""
    if suite.orders != "both":
        yield LintFinding(
            "error",
            "option-order",
            f"suite {suite.name}",
            "asks a ladder in one presentation order",
            f"orders = {suite.orders!r}",
            'orders = "both": otherwise a slot habit passes for sensitivity',
            f"fix [design] or the preset in {suite.path}",
        )


def _fact_parity(suite: Suite) -> Iterator[LintFinding]:
    """Texts of the same quality of which only one states some fact."""
    yield from _unlike(suite, "same", "fact-parity", "the wording changes, and nothing else")


def _filler_parity(suite: Suite) -> Iterator[LintFinding]:
    """Fillers that are not longer than the plain text, or say something else."""
    yield from _unlike(suite, "filler", "filler-parity", "a filler dresses the same content up")
    short = [
        item.id
        for item in suite.items
        if item.condition["subset"] == "filler"
        for plain, filler in [[len(text.split()) for text in item.contents]]
        if filler <= plain
    ]
    if short:
        yield LintFinding(
            "warning",
            "filler-parity",
            f"items {some(short)}",
            "the filler is not longer than the plain text",
            f"{len(short)} items",
            "more words for the same content: what is liked must be the length",
            "pad the filler with phrases that say nothing",
        )


def _unlike(suite: Suite, subset: str, rule: str, expected: str) -> Iterator[LintFinding]:
    differing = {
        item.id: word
        for item in suite.items
        if item.condition["distance"] == 0 and item.condition["subset"] == subset
        if (word := in_one_alone(*item.contents))
    }
    if differing:
        first, facts = next(iter(differing.items()))
        yield LintFinding(
            "warning",
            rule,
            f"items {some(differing)}",
            "one of two texts states what the other does not",
            f"{len(differing)} pairs; in {first} alone in one text: {listed(facts)}",
            expected,
            "state the same numbers, names, days, negations and conditions in both",
        )


def _items(stimuli: Stimuli) -> list[Item]:
    options = stimuli.form.stimuli
    quarters = options.steps == "quarter"
    tasks: list[_Task] = stimuli.parse(QuarterTask if quarters else LadderTask)
    for task in tasks:
        _verify_task(task, f"task {task.id} in {stimuli.file}")
    items = items_of(tasks, options.distances, None if quarters else options.subsets)
    if not items:
        raise SuiteError(
            f"suite {stimuli.form.name} has no items",
            found=f"distances = {options.distances}, subsets = {options.subsets}",
            expected="distances from 0 to 5; subsets other than same have distance 0",
            remedy="fix [stimuli] in the suite file",
        )
    return items


def _two_arms(form: SuiteForm) -> None:
    if {template.arm for template in form.templates} != {"baseline", "strict"}:
        raise ValueError('a criterion suite has templates with arm = "baseline" and arm = "strict"')
    two_candidates(form)


LADDER: Final = Kind(
    "ladder",
    _items,
    line_forms=(LadderTask, QuarterTask),
    verify=two_candidates,
    rules=(
        Rule(_both_orders, loading=True),
        Rule(_fact_parity, of_texts=True),
        Rule(_filler_parity, of_texts=True),
    ),
    keys=("steps", "distances", "subsets"),
)
CRITERION: Final = replace(LADDER, name="criterion", verify=_two_arms)
