"""The suite as a value: stimuli, templates, decision space and design. All frozen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from pytest_judgesense.errors import ExtensionError, SuiteError
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import Condition, Design, Order, Trial

if TYPE_CHECKING:
    from pytest_judgesense.suites.schema import LadderTask, QuarterTask

__all__ = [
    "CheckDeclaration",
    "Item",
    "Review",
    "Suite",
    "SuiteKind",
    "Template",
    "template_pairs",
]

_ITEM_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


@dataclass(frozen=True, slots=True)
class Template:
    """One wording of the judge prompt.

    Attributes:
        id: short name, part of every trial id.
        text: the prompt, with ``{{placeholders}}`` for the fields of an item.
        polarity: ``inverted`` if its labels mean the opposite.
        arm: ``baseline`` or ``strict`` in suites that compare criteria, otherwise ``None``.
        shared_with: name of a suite that asks the same items the same prompt: its trials are
            these trials, asked and recorded once, and serve both.
        judge_type: of temperature suites: ``pairwise`` shows both candidates, ``reference`` a right
            answer as well, ``single`` one candidate a call, to be graded; otherwise ``None``.
        prompt_style: of temperature suites: ``direct`` (a verdict alone), ``reasoned`` (a reason
            first), or another name; otherwise ``None``.
    """

    id: str
    text: str
    polarity: Literal["normal", "inverted"] = "normal"
    arm: Literal["baseline", "strict"] | None = None
    shared_with: str | None = None
    judge_type: Literal["pairwise", "single", "reference"] | None = None
    prompt_style: str | None = None

    @property
    def single(self) -> bool:
        """Whether a call shows one candidate, so that a trial takes a call for each."""
        return self.judge_type == "single"


@dataclass(frozen=True, slots=True)
class Item:
    """One stimulus.

    Attributes:
        id: short name, part of every trial id; it never reaches a judge.
        cluster: the independent unit that it belongs to.
        fields: texts that the template's placeholders stand for.
        contents: the two candidates of a pairwise item in the item's own order, otherwise empty.
        label: the correct label, or the better content ``1``, ``2``; ``None`` if there is none.
        condition: ``distance``, ``subset`` and whatever else the design varies over items.
        shared_with: name of a suite that asks the same item the same prompt, as with templates.
        inverted: templates whose labels mean the opposite on this item alone, where items bring
            their own prompts.
    """

    id: str
    cluster: str
    fields: Mapping[str, str]
    contents: tuple[str, ...] = ()
    label: str | None = None
    condition: Condition = field(default_factory=dict)
    shared_with: str | None = None
    inverted: tuple[str, ...] = ()

    def texts(self, order: Order, content: str | None = None) -> dict[str, str]:
        """What placeholders stand for when the contents are presented in ``order``.

        Args:
            order: ``ab`` shows content 1 in slot A.
            content: shows this content alone, ``1`` or ``2``, as ``answer``.
        """
        if not self.contents:
            return dict(self.fields)
        if content is not None:
            return {**self.fields, "answer": self.contents[content == "2"]}
        first, second = self.contents if order == "ab" else self.contents[::-1]
        return {**self.fields, "a": first, "b": second}


@dataclass(frozen=True, slots=True)
class CheckDeclaration:
    """A check that a suite file declares: its name, its arguments as written, and its line."""

    name: str
    arguments: Mapping[str, Any]
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Review:
    """What reviewers say of a template pair: do both ask the same, with the same labels?

    Attributes:
        pair: ids of the two templates.
        verdicts: ``YES``, ``NO`` or ``UNSURE`` by reviewer.
    """

    pair: tuple[str, str]
    verdicts: Mapping[str, str]

    @property
    def verdict(self) -> str:
        """``NO`` if most reviewers say so, ``YES`` if all do, otherwise ``UNSURE``."""
        said = list(self.verdicts.values())
        if 2 * said.count("NO") > len(said):
            return "NO"
        return "YES" if set(said) == {"YES"} else "UNSURE"


@dataclass(frozen=True, slots=True)
class Suite:
    """Stimuli, templates, decision space and design of one suite.

    Attributes:
        name: the suite's name; with a preset chosen, ``name@preset``.
        base: the name without the preset: trial ids and cassettes use it, so that a preset
            shares the recordings of its suite.
        kind: ``paraphrase``, ``vacuum``, ``ladder``, ``criterion``, ``debate``, or the name of a
            `SuiteKind`.
        path: the suite file.
        digest: over everything that decides what is asked and how it is counted.
        orders: ``both`` presentation orders, ``ab`` alone, or ``balanced`` (one order an item,
            in turn); only ``ab`` where items have one content.
        reviews: what reviewers say of the equivalence of template pairs.
        tasks: the tasks that the items of a ladder were made of; empty for other kinds.
        temperature: at which it is asked; ``None`` leaves that to the judge.
        max_tokens: the least budget of a reply; ``None`` likewise.
        ddof: what a debate suite takes off n in a variance.
        weights: what a debate suite weighs in the instability of a judge; see `Design`.
        effect_threshold: from which temperature on a temperature suite calls it high.
        temperatures: at which a temperature suite asks every question; empty for other kinds.
        seed: request seed of the first replicate; ``None`` leaves that to the judge.
        top_p: likewise the share of the probability that a reply is drawn from.
    """

    name: str
    base: str
    kind: str
    path: Path
    digest: str
    description: str
    space: DecisionSpace
    system: str
    templates: tuple[Template, ...]
    items: tuple[Item, ...]
    pairs: str | tuple[tuple[str, str], ...]
    orders: Literal["both", "ab", "balanced"]
    replicates: int
    checks: tuple[CheckDeclaration, ...] = ()
    judges: tuple[str, ...] = ()
    reviews: tuple[Review, ...] = ()
    tasks: tuple[LadderTask | QuarterTask, ...] = ()
    temperature: float | None = None
    max_tokens: int | None = None
    ddof: int = 0
    weights: tuple[float, float, float, float] | None = None
    effect_threshold: float | None = None
    temperatures: tuple[float, ...] = ()
    seed: int | None = None
    top_p: float | None = None

    @property
    def compared_pairs(self) -> tuple[tuple[str, str], ...]:
        """The template pairs of the design, whatever reviewers say of them."""
        return tuple(template_pairs([t.id for t in self.templates], self.pairs))

    def recorded_as(self, item: Item, template: Template) -> str:
        """Name of the suite that a trial's id begins with, and so of its recording."""
        return item.shared_with or template.shared_with or self.base

    @property
    def design(self) -> Design:
        """What the measures must know of this suite."""
        pairs = self.compared_pairs
        said = {frozenset(review.pair): review.verdict for review in self.reviews}
        return Design(
            kind=self.kind,
            labels=self.space.labels,
            ordinal=self.space.ordinal,
            pairwise=self.space.pairwise,
            # Spelt out: a log must not depend on the order in which its lines stand.
            pairs=pairs,
            others=self.space.tie or self.space.abstain,
            cut=self.space.cut,
            excluded=tuple(pair for pair in pairs if said.get(frozenset(pair)) == "NO"),
            unsure=tuple(pair for pair in pairs if said.get(frozenset(pair)) == "UNSURE"),
            ddof=self.ddof,
            weights=self.weights,
            effect_threshold=self.effect_threshold,
        )

    def with_templates(self, templates: tuple[Template, ...], system: str | None) -> Suite:
        """The suite under a judge's own prompts; ``system`` ``None`` keeps the suite's own."""
        # A review is one of wordings: it does not hold for others that have the same ids.
        replaced = {template.id for template in templates if template not in self.templates}
        return replace(
            self,
            templates=templates,
            system=self.system if system is None else system,
            reviews=tuple(one for one in self.reviews if replaced.isdisjoint(one.pair)),
        )


@dataclass(frozen=True, slots=True)
class SuiteKind:
    """A kind of suite that a plugin adds; suite files name it by ``kind = "NAME"``.

    Everything else of a suite file means what it means in other suites: decision space, design,
    templates, presets, checks.

    Attributes:
        name: lower-case letters, digits and ``-``.
        items: from the objects of the stimuli file, one a line, to the items. A `ValueError` says
            what is wrong with them.
        verify: looks at the whole suite and at its trials; a `ValueError` says what is wrong.
        families: built-in kinds whose measures are taken here too: ``paraphrase``, ``vacuum``,
            ``ladder``, ``criterion``. They read the conditions of items that these kinds set.
        source: the plugin that added it; set when it is added.

    Raises:
        ValueError: the name is of another form.
    """

    name: str
    items: Callable[[Sequence[Mapping[str, Any]]], Iterable[Item]]
    verify: Callable[[Suite, Sequence[Trial]], None] | None = None
    families: tuple[str, ...] = ()
    source: str = ""

    def __post_init__(self) -> None:
        if not (self.name.replace("-", "").isalnum() and self.name == self.name.lower()):
            msg = f"the name of a kind is like my-kind, not {self.name!r}"
            raise ValueError(msg)

    def read(self, rows: Sequence[Mapping[str, Any]], file: Path) -> tuple[Item, ...]:
        """The items of the lines of ``file``.

        Raises:
            SuiteError: the plugin finds something wrong with the lines.
            ExtensionError: the plugin itself is wrong; it is named.
        """
        try:
            made: list[object] = list(self.items(rows))
        except ValueError as error:
            raise self._wrong(f"the stimuli in {file} are", error) from error
        except Exception as error:
            raise self._broken(file, f"{type(error).__name__}: {error}") from error
        items, seen = [], set()
        for item in made:
            if not isinstance(item, Item) or not _ITEM_ID.fullmatch(item.id) or item.id in seen:
                raise self._broken(file, repr(item)[:200])
            seen.add(item.id)
            items.append(item)
        return tuple(items)

    def look_at(self, suite: Suite, trials: Sequence[Trial]) -> None:
        """Nothing, if the plugin finds nothing wrong with the suite.

        Raises:
            SuiteError: it does.
            ExtensionError: the plugin itself is wrong; it is named.
        """
        if self.verify is None:
            return
        try:
            self.verify(suite, trials)
        except ValueError as error:
            raise self._wrong(f"suite {suite.name} ({suite.path}) is", error) from error
        except Exception as error:
            raise self._broken(suite.path, f"{type(error).__name__}: {error}") from error

    def _wrong(self, what: str, error: ValueError) -> SuiteError:
        return SuiteError(
            f"{what} not of the kind {self.name}",
            found=str(error),
            expected=f"what plugin {self.source} documents for the kind {self.name}",
        )

    def _broken(self, where: Path, found: str) -> ExtensionError:
        return ExtensionError(
            f"kind {self.name!r} of plugin {self.source} cannot be read from {where}",
            found=found,
            expected="items with an id of its own each, made of letters, digits, '.', '_' and '-'; "
            "a ValueError where the file is wrong",
            remedy="mend the plugin",
        )


def template_pairs(
    templates: Sequence[str], pairs: str | Iterable[tuple[str, str]]
) -> list[tuple[str, str]]:
    """The template pairs that are compared, each in a fixed order (first, second).

    ``ring`` pairs each template with the next and the last with the first (k pairs of k
    templates; one pair of two); ``all`` takes every combination.
    """
    if pairs == "all":
        return [(a, b) for i, a in enumerate(templates) for b in templates[i + 1 :]]
    if pairs == "ring":
        if len(templates) < 3:
            return list(pairwise(templates))
        return list(zip(templates, [*templates[1:], templates[0]], strict=True))
    assert not isinstance(pairs, str)
    known = set(templates)
    return [(a, b) for a, b in pairs if a in known and b in known]
