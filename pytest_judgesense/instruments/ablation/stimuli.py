"""Suites that ask with a judge's prompt, whole and without each of its parts in turn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from pytest_judgesense.errors import UsageError
from pytest_judgesense.instruments.ablation.parts import (
    Part,
    gap_left,
    parts_of,
    runs_of,
    without,
    without_all,
)
from pytest_judgesense.suites.finding import LintFinding, Rule
from pytest_judgesense.suites.from_lines import plain_items
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.rules import IDENTICAL_SIDES, MARKS
from pytest_judgesense.suites.schema import ContentItem, PairItem, SuiteForm
from pytest_judgesense.suites.stimuli import Stimuli
from pytest_judgesense.suites.suite import Kind, Suite, Template
from pytest_judgesense.suites.wordings import polarity, template_labels

# Id of the template that has the whole prompt.
WHOLE: Final = "whole"
# The condition that holds the id of the part that is left out.
SENTENCE: Final = "sentence"
# The condition that holds the ids of several parts that are left out together.
TOGETHER: Final = "together"
# How many items are drawn from a suite.
ITEMS: Final = 40
# How often the whole prompt is asked for each replicate of the design.
TIMES: Final = 6
# Numbers of the two texts of a template.
_SYSTEM, _PROMPT = 0, 1


class PromptPart(NamedTuple):
    """A part of a judge's prompt.

    Attributes:
        id: of the template that leaves it out; empty for a part that is kept.
        where: ``system`` or ``prompt``; of a function the message that it stands in.
        text: as it stands there; of a section only its first line.
        reason: why it is never left out; empty where it is.
        is_section: whether the parts behind it, up to one with the end of its text, are within it.
    """

    id: str
    where: str
    text: str
    reason: str = ""
    is_section: bool = False


class LeftOutTogether(NamedTuple):
    """Parts of a prompt that are left out together.

    Attributes:
        ids: of the parts, in their order.
        times: how often it is asked for each replicate of the design.
    """

    ids: tuple[str, ...]
    times: int

    @property
    def name(self) -> str:
        """The ids in one word: the value of the condition."""
        return "+".join(self.ids)

    @property
    def template(self) -> str:
        """Id of the template without them; another one than of a part that is left out alone."""
        return f"without-{self.name}"


class SentText(NamedTuple):
    """A text that a function sends about every item.

    Attributes:
        where: the message that it is, in words.
        text: with ``{{name}}`` in place of the texts of an item.
        of_items: what the recorded requests have in its place, a text for each.
    """

    where: str
    text: str
    of_items: Sequence[str]


class _Variant(NamedTuple):
    """A part, and the template without it.

    Attributes:
        part: what is shown of it.
        text: number of the text that it stands in: of system prompt and prompt, or of messages.
        place: where it stands there.
        template: ``None`` where it is kept.
    """

    part: PromptPart
    text: int
    place: Part
    template: Template | None

    def stands_within(self, other: _Variant) -> bool:
        """Whether it begins where the other one stands: so does that one itself."""
        return self.text == other.text and other.place.start <= self.place.start < other.place.end


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """From a prompt to the templates with the whole of it, and with one part less each.

    Attributes:
        times: how often the whole prompt is asked for each replicate.
        sent: what a function with the prompt in its own code sends; empty for any other judge.
        twice: ids of the parts without which it is asked twice as often as without the others.
        together: parts that are left out together.
    """

    times: int = TIMES
    sent: tuple[SentText, ...] = ()
    twice: frozenset[str] = frozenset()
    together: tuple[LeftOutTogether, ...] = ()

    def __call__(self, suite: Suite) -> tuple[Template, ...]:
        """The template with the whole prompt, and one without each part that may be left out.

        Behind them stand those without several parts together.

        Raises:
            UsageError: parts that stand together in what a function sends cannot be exchanged.
        """
        whole = self._whole(suite)
        shorter = (
            variant.template for variant in self._variants(suite) if variant.template is not None
        )
        together = (self._without_several(suite, group) for group in self.together)
        return replace(whole, times=self.times), *shorter, *together

    def parts(self, suite: Suite) -> tuple[PromptPart, ...]:
        """The parts of the prompt in their order, those that are kept included."""
        return tuple(variant.part for variant in self._variants(suite))

    def separable(self, suite: Suite, ids: Collection[str]) -> tuple[str, ...]:
        """Those of some parts that can be left out with no other: no section around another."""
        variants = [variant for variant in self._variants(suite) if variant.part.id]
        return tuple(
            variant.part.id
            for variant in variants
            if all(inner.part.id in ids for inner in variants if inner.stands_within(variant))
        )

    def _without_several(self, suite: Suite, group: LeftOutTogether) -> Template:
        whole = self._whole(suite)
        variants = [variant for variant in self._variants(suite) if variant.part.id in group.ids]

        def spans_in(text: int) -> list[Part]:
            return [variant.place for variant in variants if variant.text == text]

        shorter = (
            _sent_without(whole, self.sent, spans_in)
            if self.sent
            else replace(
                whole,
                system=without_all(whole.system or "", spans_in(_SYSTEM)),
                text=without_all(whole.text, spans_in(_PROMPT)),
            )
        )
        condition = {**whole.condition, TOGETHER: group.name}
        return replace(shorter, id=group.template, condition=condition, times=group.times)

    def _whole(self, suite: Suite) -> Template:
        """The template with the whole prompt; of a function, with what it sends."""
        suite = suite.unexpanded or suite
        (first, *_) = suite.templates
        system = suite.system if first.system is None else first.system
        if self.sent:
            return replace(first, id=WHOLE, system="", text=_joined(self.sent))
        return replace(first, id=WHOLE, system=system)

    def _variants(self, suite: Suite) -> Iterator[_Variant]:
        whole, number = self._whole(suite), 0
        for variant in _of_sent(whole, self.sent) if self.sent else _of_template(whole):
            if variant.template is None:
                yield variant
                continue
            number += 1
            name = f"s{number:02}"
            shorter = replace(
                variant.template,
                id=name,
                condition={**variant.template.condition, SENTENCE: name},
                times=1 + (name in self.twice),
            )
            yield variant._replace(part=variant.part._replace(id=name), template=shorter)


def _of_template(whole: Template) -> Iterator[_Variant]:
    """The parts of the prompts of a template, and the template without each."""
    system = whole.system or ""
    for part, place in _shown_parts(system, "system"):
        shorter = None if part.reason else replace(whole, system=without(system, place))
        yield _Variant(part, _SYSTEM, place, shorter)
    for part, place in _shown_parts(whole.text, "prompt"):
        shorter = None if part.reason else replace(whole, text=without(whole.text, place))
        yield _Variant(part, _PROMPT, place, shorter)


def _of_sent(whole: Template, sent: Sequence[SentText]) -> Iterator[_Variant]:
    """The parts of what a function sends, and the template that takes each out of its requests."""
    for number, message in enumerate(sent):
        others = [text for other in sent if other is not message for text in other.of_items]
        for part, place in _shown_parts(message.text, message.where):
            edit = None if part.reason else _edit(message, place)
            if edit is None:
                reason = part.reason or "not the same in every request"
                yield _Variant(part._replace(reason=reason), number, place, None)
            elif any(edit[0] in text for text in others):
                reason = "stands in several messages"
                yield _Variant(part._replace(reason=reason), number, place, None)
            else:
                shorter = message._replace(text=without(message.text, place))
                text = _joined([*sent[:number], shorter, *sent[number + 1 :]])
                yield _Variant(part, number, place, replace(whole, text=text, edits=(edit,)))


def _sent_without(
    whole: Template, sent: Sequence[SentText], spans_in: Callable[[int], Sequence[Part]]
) -> Template:
    """The template that takes several parts out of what a function sends.

    Parts that follow one another share the blanks between them, so they are exchanged as one.
    """
    edits, shorter = [], []
    for number, message in enumerate(sent):
        of_message = spans_in(number)
        for run in runs_of(message.text, of_message):
            edit = _edit(message, run)
            if edit is None:
                raise UsageError(
                    "sentences of the prompt cannot be left out together",
                    found=f"{message.text[run.start : run.end]!r}, which is not once in every "
                    "request",
                    expected="sentences that follow one another in every request as in the first",
                    remedy="give the function a parameter template, and the prompt to its suite",
                )
            edits.append(edit)
        shorter.append(message._replace(text=without_all(message.text, of_message)))
    return replace(whole, text=_joined(shorter), edits=tuple(edits))


def _edit(message: SentText, part: Part) -> tuple[str, str] | None:
    """What is exchanged in a request to leave a part out; ``None`` if it is not once in each.

    The blanks around it are exchanged with it, where they are the same in all requests.
    """
    text = message.text
    words = text[part.start : part.end]
    start, end = len(text[: part.start].rstrip()), len(text) - len(text[part.end :].lstrip())
    for edit in ((text[start:end], gap_left(text, part)), (words, "")):
        if all(of_item.count(edit[0]) == 1 for of_item in message.of_items):
            return edit
    return None


def _joined(sent: Sequence[SentText]) -> str:
    return "\n\n".join(message.text for message in sent)


def _shown_parts(text: str, where: str) -> Iterator[tuple[PromptPart, Part]]:
    """The parts of a text, each with its place there."""
    parts = parts_of(text)
    for part, following in zip(parts, (*parts[1:], None), strict=False):
        end = following.start if part.is_section and following is not None else part.end
        words = text[part.start : end].rstrip()
        yield PromptPart("", where, words, part.reason, part.is_section), part


def of_one_prompt(item: Item) -> Item:
    """The item for other templates than it names, and without labels: nothing is right here."""
    return replace(item, asked_in=(), inverted=(), shared_with=None, label=None, people={})


def _items(stimuli: Stimuli) -> Iterator[Item]:
    return map(of_one_prompt, plain_items(stimuli))


def _one_prompt(form: SuiteForm) -> None:
    """Nothing, if a suite has the one prompt that is taken apart; else a `ValueError`."""
    if len(form.templates) > 1:
        raise ValueError(f"a {form.kind} suite takes one prompt apart: one of the [[templates]]")


def _nothing_to_leave_out(suite: Suite) -> Iterator[LintFinding]:
    """A prompt of which nothing can be left out."""
    expand = suite.form.expand
    if len(suite.templates) == 1 and isinstance(expand, LeaveOneOut):
        parts = expand.parts(suite)
        yield LintFinding(
            "error",
            "no-sentence",
            "the prompt",
            "it has no sentence that could be left out",
            "; ".join(f"{part.text!r} {part.reason}" for part in parts),
            "a sentence, a list item or a section without a {{placeholder}}",
            "take a suite, or a judge, with a prompt that says more",
        )


def _faults_of_the_whole(suite: Suite) -> Iterator[LintFinding]:
    """What the whole prompt says wrong of its labels; without a part it may say less."""
    whole = replace(suite, templates=suite.templates[:1])
    for rule in _OF_PROMPTS:
        yield from rule.find(whole)


_OF_PROMPTS: Final = (Rule(polarity), Rule(template_labels))

ABLATION: Final = Kind(
    "ablation",
    _items,
    line_forms=(ContentItem, PairItem),
    verify=_one_prompt,
    rules=(Rule(_nothing_to_leave_out), Rule(_faults_of_the_whole)),
    # What the texts may be is for the suite to say that they are from.
    waived=(*_OF_PROMPTS, MARKS, IDENTICAL_SIDES),
    derived=True,
    expand=LeaveOneOut(),
    prompt_in_code="judgesense why {source} --leave-out --judge-name {judge}, which takes the "
    "sentences from a recording",
)
