"""The definition of a suite kind, as one value.

A suite file names its kind. Decision space, design, templates, presets and checks mean the same in
every suite; items, rules, calls and replies may be those of the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pytest_judgesense.errors import SuiteError
from pytest_judgesense.suites.finding import Rule
from pytest_judgesense.suites.item import Item
from pytest_judgesense.trial import Judgment, JudgmentOutcome, Trial

if TYPE_CHECKING:
    from pytest_judgesense.suites.schema import SuiteForm
    from pytest_judgesense.suites.space import DecisionSpace
    from pytest_judgesense.suites.stimuli import Stimuli
    from pytest_judgesense.suites.suite import Suite, Template

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

    ``content``: the candidate that is shown, where it is one of them alone: ``1`` or ``2``.
    """

    content: str | None = None
    reply: ReplyForm | None = None


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


class Settling(NamedTuple):
    """Items whose texts depend on the answers to others of their suite.

    Attributes:
        comes_first: whether a trial is one of those that settle the texts; they are asked first.
        settled: from the suite and the judgments of such trials so far to the suite with the texts
            that follow, which has the same items and trials by their ids. Where a judgment is
            missing, a text stays as it was loaded.
    """

    comes_first: Callable[[Trial], bool]
    settled: Callable[[Suite, Sequence[Judgment]], Suite]


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
        keys: of ``[stimuli]`` and of presets, by which items of this kind alone are made.
        material: from a suite file and its folder to what items are made with; a `SuiteError` if
            that is wrong. ``None`` for nothing but the lines.
        fitted: from a suite with the prompts of a judge, and the name of its model (empty if it is
            not known), to the suite with the items that this judge can be asked about.
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
    keys: tuple[str, ...] = ()
    material: Callable[[SuiteForm, Path], Material] | None = None
    fitted: Callable[[Suite, str], Suite] | None = None

    def read(self, stimuli: Stimuli) -> tuple[Item, ...]:
        """The items of the lines of a stimuli file.

        Raises:
            SuiteError: the lines are wrong, or there are none.
        """
        items = tuple(self.items(stimuli))
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
