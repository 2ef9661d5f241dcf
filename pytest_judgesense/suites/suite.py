"""A suite of trials as a value, and the definition of a suite kind as one.

A suite file names its kind. Decision space, design, templates, presets and checks mean the same in
every suite; items, rules, calls and replies may be those of the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from itertools import combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar

from pytest_judgesense.errors import SuiteError
from pytest_judgesense.suites.finding import Rule
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.labelled_texts import Uncounted
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import (
    Criterion,
    Design,
    Drawn,
    Judgment,
    JudgmentOutcome,
    PrescribedReply,
    Trial,
)

if TYPE_CHECKING:
    from pytest_judgesense.suites.schema import SuiteForm
    from pytest_judgesense.suites.stimuli import Stimuli


T = TypeVar("T")
# The outcome of replies, and the detail of a judgment.
ParsedReply: TypeAlias = tuple[JudgmentOutcome, dict[str, Any] | None]


class ReplyForm(NamedTuple):
    """The form of replies that state more than, or other than, a verdict of the suite's space.

    Attributes:
        read: from the text of a reply, and whether the endpoint cut it off, to its content.
        described: the form in a sentence, for the repair of a malformed reply.
        example: a reply of this form, with placeholders, for the same use.
        schema: the JSON schema that providers with structured output are given; ``None`` for none.
    """

    read: Callable[[str, bool], ParsedReply]
    described: str
    example: str
    schema: Mapping[str, Any] | None = None


class Question(NamedTuple):
    """The question of one call of a trial, in the form of reply of the kind or another one.

    ``content``: the candidate that is shown, where it is one of them alone: ``1`` or ``2``;
    ``criterion``: that by which alone is graded, where it is one of several.
    """

    content: str | None = None
    reply: ReplyForm | None = None
    criterion: str | None = None


class Apart(NamedTuple):
    """How a kind that grades by several criteria asks for each of them in a call of its own.

    Attributes:
        arranged: from a suite and one of its templates to the template as its calls are to show it:
            with the text for each criterion, or with the one text for all.
        questions: the calls of a trial, one a criterion.
        combine: from the criteria and the outcomes of these calls, none of them `Failed`, to that
            of the trial.
    """

    arranged: Callable[[Suite, Template], Template]
    questions: Callable[[Suite], tuple[Question, ...]]
    combine: Callable[[Sequence[Criterion], Sequence[JudgmentOutcome]], ParsedReply]


class Material(NamedTuple):
    """What the items of a kind are made with beside the lines of the stimuli.

    Attributes:
        value: as the kind uses it.
        text: all that it was read from, for the digest of the suite.
        files: those of the user, with links as they stand.
    """

    value: Any
    text: str
    files: tuple[Path, ...] = ()


class ItemsBeside(NamedTuple):
    """Items that are asked beside those of the stimuli: controls.

    Attributes:
        source: the lines that they are made of.
        items: one of each line, in their order; without an id where the line states none.
    """

    source: Stimuli
    items: Iterable[Item]


class Settling(NamedTuple):
    """Items whose texts depend on the answers to others of their suite.

    Attributes:
        comes_first: whether a trial is one of those that settle the texts; they are asked first.
        settled: from the suite, the judgments of such trials so far, and by the ids of these trials
            the texts of the prompts that were recorded of them, to the suite with the texts that
            follow, which has the same items and trials by their ids. Where a judgment is missing,
            a text stays as it was loaded.
    """

    comes_first: Callable[[Trial], bool]
    settled: Callable[[Suite, Sequence[Judgment], Mapping[str, Sequence[str]]], Suite]


def one_question(_suite: Suite, _trial: Trial) -> tuple[Question, ...]:
    """The prompt of the trial as it is."""
    return (Question(),)


def _sole(_: Trial, outcomes: Sequence[JudgmentOutcome]) -> ParsedReply:
    (outcome,) = outcomes
    return outcome, None


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of suites, as an instrument gives it.

    Attributes:
        name: lower-case letters, digits and ``-``; suite files name it by ``kind = "NAME"``.
        items: from the lines of the stimuli file to the items. It raises a `ValueError` for faulty
            lines.
        line_forms: the pydantic models of a line of the stimuli file, for its documentation.
        verify: checks the suite file. It raises a `ValueError` for inconsistent settings.
        rules: in addition to those for all suites.
        waived: the rules for all suites that it does without.
        labelled: the rule that items have the labels that their suite cannot do without; it is
            put aside while a judge is asked for them.
        wordings: whether the templates are wordings of one prompt and are compared. A judge's
            prompts replace them all.
        sweeps: whether items are called at several temperatures, with templates of several judge
            types and prompt styles, which are not compared as wordings.
        questions: the calls of a trial of a suite, under the prompts of the judge.
        combine: the combined outcome of several questions, none of them `Failed`.
        reply: the form of a reply, or a function that returns it for a decision space; ``None`` for
            a verdict of that space.
        weights: default weights in a judge's instability; ``None`` if the kind has no instability.
        derived: whether suites of the kind may take their items, space and first prompt ``from``
            another suite.
        expand: the templates that are made of those of a suite, under the judge's prompts; ``None``
            for those that it has.
        prompt_in_code: what to do with a function that has its prompt in its own code, which no
            template reaches, where a kind expands prompts; with ``{judge}`` and ``{source}``.
        settling: for items whose texts depend on answers; ``None`` for no such items.
        scored: whether verdicts are numbers within a range, and no labels.
        keys: of ``[stimuli]``, ``[design]`` and presets that suites of this kind have, and not
            those of every kind.
        material: from a suite file and its folder to what items are made with; a `SuiteError` if
            that is wrong. ``None`` for nothing but the lines.
        beside: from the lines, with the material, to items that are asked beside those of the
            lines, and get ids that none of these has; ``None`` for none.
        fitted: from a suite with the prompts of a judge, and the name of its model (empty if it is
            not known), to the suite with the items that this judge can be asked about.
        apart: how criteria are asked one at a time; ``None`` where they are not.
    """

    name: str
    items: Callable[[Stimuli], Iterable[Item]]
    line_forms: tuple[type[Any], ...] = ()
    verify: Callable[[SuiteForm], None] | None = None
    rules: tuple[Rule, ...] = ()
    waived: tuple[Rule, ...] = ()
    labelled: Rule | None = None
    wordings: bool = False
    sweeps: bool = False
    questions: Callable[[Suite, Trial], tuple[Question, ...]] = one_question
    combine: Callable[[Trial, Sequence[JudgmentOutcome]], ParsedReply] = _sole
    reply: ReplyForm | Callable[[DecisionSpace], ReplyForm | None] | None = None
    weights: tuple[float, float, float, float] | None = None
    derived: bool = False
    expand: Callable[[Suite], tuple[Template, ...]] | None = None
    prompt_in_code: str = ""
    settling: Settling | None = None
    scored: bool = False
    keys: tuple[str, ...] = ()
    material: Callable[[SuiteForm, Path], Material] | None = None
    fitted: Callable[[Suite, str], Suite] | None = None
    beside: Callable[[Stimuli], ItemsBeside | None] | None = None
    apart: Apart | None = None

    def read(self, stimuli: Stimuli) -> tuple[Item, ...]:
        """The items of the lines of a stimuli file.

        Raises:
            SuiteError: the lines are wrong, or there are none; or two state one id.
        """
        items = tuple(self.items(stimuli))
        if self.beside is not None and (beside := self.beside(stimuli)) is not None:
            items += tuple(beside.source.named(beside.items, {item.id for item in items}))
        if not items:
            raise SuiteError(
                f"suite {stimuli.form.name} has no items",
                found=f"{len(stimuli.lines)} lines, none of which makes an item",
                expected="at least one item",
                remedy=f"fix {stimuli.file}",
            )
        return items

    def check(self, form: SuiteForm) -> None:
        """Nothing, if the parts of the suite file belong together; else a `ValueError`."""
        if self.verify is not None:
            self.verify(form)


# --- the suite ----------------------------------------------------------------------------------


def derived(make: Callable[[Suite], T]) -> Callable[[Suite], T]:
    """``make``, computed at its first use for a suite, which keeps the value; never changed."""
    name = f"{make.__module__}.{make.__qualname__}"

    @wraps(make)
    def cached(suite: Suite) -> T:
        if name not in suite._derived:
            suite._derived[name] = make(suite)
        value: T = suite._derived[name]
        return value

    return cached


@dataclass(frozen=True, slots=True)
class Template:
    """One wording of the judge prompt.

    Attributes:
        text: the prompt, with ``{{placeholders}}`` for the fields of an item.
        polarity: ``inverted`` if its labels mean the opposite.
        shared_with: name of a suite that asks the same items the same prompt: its trials are
            these trials, asked and recorded once, and serve both.
        condition: by what the suite compares its templates; part of the condition of its trials.
        single: whether a call shows one candidate, so that a trial takes a call for each.
        system: its system prompt, in place of that of the suite; ``None`` for that.
        reply_keys: the keys of the one JSON object that a reply is to be, the last of which holds
            the verdict; ``None`` if it prescribes none.
        times: how often it is asked for each replicate of the design.
        edits: what is exchanged in the requests of a function that has its prompt in its own code:
            old texts, with the new ones. Other judges are sent ``text`` as it stands.
        asked_as: the id that a function is given for it; empty for its own.
        written: the text as its file has it, with the marks of what is about which criterion;
            empty where no part is marked.
        by_criterion: the text by criterion, where each has a call of its own.
    """

    id: str
    text: str
    polarity: Literal["normal", "inverted"] = "normal"
    shared_with: str | None = None
    condition: Mapping[str, str] = field(default_factory=dict, hash=False)
    single: bool = False
    system: str | None = None
    reply_keys: tuple[str, ...] | None = None
    times: int = 1
    edits: tuple[tuple[str, str], ...] = ()
    asked_as: str = ""
    written: str = ""
    by_criterion: Mapping[str, str] = field(default_factory=dict, hash=False)

    def text_for(self, criterion: str | None) -> str:
        """The text of a call that asks for one criterion, or for all."""
        return self.text if criterion is None else self.by_criterion[criterion]


class CheckDeclaration(NamedTuple):
    """A check that a suite file declares: its name, its arguments as written, and its line."""

    name: str
    arguments: Mapping[str, Any]
    line: int | None = None


class Review(NamedTuple):
    """The reviews of a template pair: do both ask the same, with the same labels?

    ``verdicts``: ``YES``, ``NO`` or ``UNSURE`` by reviewer.
    """

    pair: tuple[str, str]
    verdicts: Mapping[str, str]

    @property
    def verdict(self) -> str:
        """``NO`` if most reviewers say so, ``YES`` if all do, otherwise ``UNSURE``."""
        words = list(self.verdicts.values())
        if 2 * words.count("NO") > len(words):
            return "NO"
        return "YES" if set(words) == {"YES"} else "UNSURE"


@dataclass(frozen=True, slots=True)
class Suite:
    """Stimuli, templates, decision space and design of one suite; for this see `DesignForm`.

    Attributes:
        name: with a preset chosen, ``name@preset``.
        base: the name without the preset: trial ids and cassettes use it, so that a preset
            shares the recordings of its suite.
        digest: of everything that determines the questions and how they are counted.
        orders: ``both`` presentation orders, ``ab`` alone, or ``balanced`` (one order an item,
            by its contents); only ``ab`` where items have one content.
        temperature: ``None`` leaves it to the judge, like ``max_tokens``, ``seed`` and ``top_p``.
        most_tokens: the budget of judges that declare neither reasoning nor a larger one than the
            default; ``None`` leaves it to the judge.
        structured: whether judges are asked for the JSON schema of the decision space where they
            give structured output and do not decline it.
        reviewers: what each reviewer of templates or labels is, if stated: ``human``, ``model`` or
            ``author``.
        ddof: subtracted from n in a variance.
        temperatures: empty if every question is asked at one, see ``temperature``.
        accepted: rules of lint whose warnings about the texts are not shown.
        labelled: how the items that people labelled were drawn; ``None`` if nobody says.
        uncounted: labels of people beside the suite file that belong to no item as it is.
        files: those with its items, and the other suites of its preset, links resolved.
        built_in: the items as they come with the installation; ``None`` for other suites.
        source: name of the suite that its items and prompts are ``from``, whose prompts of a judge
            it is sent; empty for none.
        was: name of the suite that it takes the place of; empty for none.
        unexpanded: the same before its kind made several templates of its own (`Kind.expand`);
            ``None`` where it made none.
        material: what its items are made with beside the lines, as its kind has it.
        messages: the fields that hold conversations, which functions are given as chat messages.
        calls: whether a trial of several criteria is one call for all, or ``each`` has its own.
    """

    name: str
    base: str
    form: Kind = field(repr=False, compare=False)
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
    reviewers: Mapping[str, str] = field(default_factory=dict)
    temperature: float | None = None
    max_tokens: int | None = None
    most_tokens: int | None = None
    structured: bool = False
    ddof: int = 0
    weights: tuple[float, float, float, float] | None = None
    effect_threshold: float | None = None
    temperatures: tuple[float, ...] = ()
    seed: int | None = None
    top_p: float | None = None
    early_stop: bool = False
    accepted: tuple[str, ...] = ()
    labelled: Drawn | None = None
    uncounted: Uncounted = Uncounted()
    files: tuple[Path, ...] = field(default=(), repr=False, compare=False)
    built_in: tuple[Item, ...] | None = field(default=None, repr=False, compare=False)
    source: str = ""
    was: str = ""
    unexpanded: Suite | None = field(default=None, repr=False, compare=False)
    material: Any = field(default=None, repr=False, compare=False)
    messages: tuple[str, ...] = ()
    calls: Literal["joint", "each"] = "joint"
    _derived: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def kind(self) -> str:
        return self.form.name

    @property
    @derived
    def reply(self) -> ReplyForm | None:
        """The form of a reply; ``None`` for a verdict of the decision space."""
        form = self.form.reply
        return form(self.space) if callable(form) else form

    @property
    def compared_pairs(self) -> tuple[tuple[str, str], ...]:
        """The template pairs of the design, regardless of reviews."""
        return tuple(template_pairs([t.id for t in self.templates], self.pairs))

    def recorded_as(self, item: Item, template: Template) -> str:
        """Name of the suite that a trial's id begins with, and so of its recording."""
        return item.shared_with or template.shared_with or self.base

    @property
    def recordings(self) -> list[str]:
        """Names of the recordings of its trials, in alphabetical order."""
        return sorted({self.recorded_as(item, t) for item in self.items for t in self.templates})

    @property
    def design(self) -> Design:
        """What the measures need to know about this suite."""
        pairs, space = self.compared_pairs, self.space
        verdicts = {frozenset(review.pair): review.verdict for review in self.reviews}
        # The words of the prompt: "C" where that is the name of a tie.
        words = tuple(w for v in space.verdicts for w in space.names.get(v, ()) or (v,))
        excluded, unsure = (
            tuple(pair for pair in pairs if verdicts.get(frozenset(pair)) == word)
            for word in ("NO", "UNSURE")
        )
        return Design(
            kind=self.kind,
            labels=space.labels,
            ordinal=space.ordinal,
            pairwise=space.pairwise,
            # Listed explicitly: a log must not depend on the order of its lines.
            pairs=pairs,
            others=space.tie or space.abstain,
            cut=space.cut,
            criteria=space.criteria,
            pass_mark=space.pass_mark,
            score=space.score,
            excluded=excluded,
            unsure=unsure,
            ddof=self.ddof,
            weights=self.weights,
            effect_threshold=self.effect_threshold,
            labelled=self.labelled,
            forms=tuple(
                PrescribedReply(template.id, template.reply_keys, () if template.single else words)
                for template in self.templates
                if template.reply_keys
            ),
        )

    @property
    def expanded(self) -> Suite:
        """The suite as it is asked: with the templates that its kind makes of those it has."""
        if self.form.expand is None or self.unexpanded is not None:
            return self
        return replace(self, templates=self.form.expand(self), unexpanded=self)

    @property
    def apart(self) -> Apart | None:
        """How each criterion is asked in a call of its own; ``None`` where one call has all."""
        return self.form.apart if self.calls == "each" else None

    @property
    def arranged(self) -> Suite:
        """The suite with the texts that its calls show, of templates as they are written."""
        if self.form.apart is None:
            return self
        arrange = self.form.apart.arranged
        templates = tuple(arrange(self, template) for template in self.templates)
        return self if templates == self.templates else replace(self, templates=templates)

    def with_calls(self, calls: Literal["joint", "each"]) -> Suite:
        """The suite that asks for all criteria in one call, or for each in one of its own.

        Where that is not how it asks, it has a name of its own: ``rubric+each``.
        """
        if calls == self.calls:
            return self
        name, digest = f"{self.name}+{calls}", f"{self.digest}-{calls}"
        return replace(self, calls=calls, name=name, digest=digest).arranged

    @property
    def in_every_manner(self) -> tuple[Suite, ...]:
        """The suite as it asks and, where it has several criteria, as it could ask for them."""
        if self.form.apart is None or len(self.space.criteria) < 2:
            return (self,)
        return self, self.with_calls("joint" if self.calls == "each" else "each")

    def fitted(self, model: str) -> Suite:
        """The suite with the items that a judge of this ``model`` can be asked about."""
        return self if self.form.fitted is None else self.form.fitted(self, model)

    def with_templates(self, templates: tuple[Template, ...], system: str | None) -> Suite:
        """The suite under a judge's prompts; without a ``system`` it keeps its system prompts."""
        # A review is one of wordings: it does not hold for others that have the same ids.
        replaced = {template.id for template in templates if template not in self.templates}
        if system is not None:
            templates = tuple(replace(template, system=None) for template in templates)
        return replace(
            self,
            templates=templates,
            system=self.system if system is None else system,
            reviews=tuple(review for review in self.reviews if replaced.isdisjoint(review.pair)),
        )


def template_pairs(
    templates: Sequence[str], pairs: str | Iterable[tuple[str, str]]
) -> list[tuple[str, str]]:
    """The template pairs that are compared, each in a fixed order (first, second).

    ``ring`` pairs each template with the next and the last with the first (k pairs of k
    templates; one pair of two); ``all`` takes every combination.
    """
    if pairs == "all":
        return list(combinations(templates, 2))
    if pairs == "ring":
        if len(templates) < 3:
            return list(pairwise(templates))
        return list(zip(templates, [*templates[1:], templates[0]], strict=True))
    assert not isinstance(pairs, str)
    ids = set(templates)
    return [(a, b) for a, b in pairs if a in ids and b in ids]
