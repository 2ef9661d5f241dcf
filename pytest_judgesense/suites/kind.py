"""The definition of a suite kind, as one value.

A suite file names its kind. Decision space, design, templates, presets and checks mean the same in
every suite; items, rules, calls and replies may be those of the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pytest_judgesense.errors import ExtensionError, SuiteError
from pytest_judgesense.suites.finding import Rule
from pytest_judgesense.suites.item import ITEM_ID, Item
from pytest_judgesense.trial import Outcome, Trial

if TYPE_CHECKING:
    from pytest_judgesense.suites.schema import SuiteForm
    from pytest_judgesense.suites.space import DecisionSpace
    from pytest_judgesense.suites.stimuli import Stimuli

# The outcome of replies, and the detail of a judgment.
ParsedReply: TypeAlias = tuple[Outcome, dict[str, Any] | None]
_NOBODY: Final = nullcontext()


@dataclass(frozen=True, slots=True)
class ReplyForm:
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


@dataclass(frozen=True, slots=True)
class Question:
    """The question of one call of a trial, in the form of reply of the kind or another one.

    ``content``: the candidate that is shown, where it is one of them alone: ``1`` or ``2``.
    """

    content: str | None = None
    reply: ReplyForm | None = None


def one_question(_: Trial) -> tuple[Question, ...]:
    """The prompt of the trial as it is."""
    return (Question(),)


def _sole(_: Trial, outcomes: Sequence[Outcome]) -> ParsedReply:
    (outcome,) = outcomes
    return outcome, None


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of suites: the built-in ones, and those that plugins add.

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
        questions: the calls of a trial.
        combine: the combined outcome of several questions, none of them `Failed`.
        reply: the form of a reply, or a function that returns it for a decision space; ``None`` for
            a verdict of that space.
        weights: default weights in a judge's instability; ``None`` if the kind has no instability.
        source: the plugin that added it; empty for a built-in kind.

    Raises:
        ValueError: the name is of another form.
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
    questions: Callable[[Trial], tuple[Question, ...]] = one_question
    combine: Callable[[Trial, Sequence[Outcome]], ParsedReply] = _sole
    reply: ReplyForm | Callable[[DecisionSpace], ReplyForm | None] | None = None
    weights: tuple[float, float, float, float] | None = None
    source: str = ""

    def __post_init__(self) -> None:
        if not (self.name.replace("-", "").isalnum() and self.name == self.name.lower()):
            raise ValueError(f"the name of a kind is like my-kind, not {self.name!r}")

    def read(self, stimuli: Stimuli) -> tuple[Item, ...]:
        """The items of the lines of a stimuli file.

        Raises:
            SuiteError: the lines are wrong.
            ExtensionError: the plugin that added the kind is wrong; it is named.
        """
        documented = SuiteError.instead_of(
            ValueError,
            f"the stimuli in {stimuli.file} are not of the kind {self.name}",
            expected=f"what plugin {self.source} documents for the kind {self.name}",
            remedy="fix the lines",
        )
        with documented if self.source else _NOBODY, self.blamed(ValueError):
            items = list(self.items(stimuli))
        ids: set[str] = set()
        for item in items if self.source else ():
            is_item = isinstance(item, Item) and isinstance(item.id, str)
            if not is_item or not ITEM_ID.fullmatch(item.id) or item.id in ids:
                raise ExtensionError(
                    self._unusable,
                    found=repr(item)[:200],
                    expected="items with an id of its own each, made of letters, digits, '.', '_' "
                    "and '-'",
                    remedy="fix the plugin",
                )
            ids.add(item.id)
        if not items:
            raise SuiteError(
                f"suite {stimuli.form.name} has no items",
                found=f"{len(stimuli.lines)} lines, none of which makes an item",
                expected="at least one item",
                remedy=f"fix {stimuli.file}",
            )
        return tuple(items)

    def check(self, form: SuiteForm) -> None:
        """Nothing, if the parts of the suite file belong together.

        Raises:
            ValueError: they do not.
            ExtensionError: the plugin that added the kind is wrong; it is named.
        """
        if self.verify is not None:
            with self.blamed(ValueError):
                self.verify(form)

    def blamed(self, *objections: type[Exception]) -> AbstractContextManager[None]:
        """Run the kind's functions within it: their errors are attributed to the plugin.

        ``objections`` are exceptions that they may raise.

        Raises:
            ExtensionError: a function that a plugin has added fails; the plugin is named.
        """
        if not self.source:  # of every reply: a context that may blame takes longer to enter
            return _NOBODY
        valid = "values as the fields of a kind document them"
        return ExtensionError.blaming(self.source, self._unusable, valid, *objections)

    @property
    def _unusable(self) -> str:
        return f"kind {self.name!r} of plugin {self.source} cannot be used"
