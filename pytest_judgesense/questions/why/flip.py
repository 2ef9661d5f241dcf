"""A flip of a judge: two trials of one item, or two recordings of one trial, that say otherwise.

What each of both was asked is told from what was sent, never from a template: texts by the name of
the part of a request that holds them. Where two prompts differ, the words (or sentences) of the one
are aligned with those of the other: each pair of them is a change, and so is each that only one of
the two has. A hybrid of the prompts has some of the changes made.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Final, Literal, TypeAlias

from pytest_judgesense.cassettes.exchange import RecordedRequest
from pytest_judgesense.checks.sent import SentPart, parts_sent
from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Judgment

Prompt: TypeAlias = Mapping[str, str]
Unit: TypeAlias = Literal["words", "sentences"]
# A word with the blanks behind it; leading blanks are of their own.
_WORD: Final = re.compile(r"\s+|\S+\s*")
_ENDS: Final = (".", "!", "?", ":")
_CLOSING: Final = "\"')]"


@dataclass(frozen=True, slots=True)
class PromptChange:
    """One place at which two prompts differ.

    Attributes:
        part: the part of the request.
        place: before which piece of the old text; ``removed`` begins there.
        removed: the text of the old prompt; empty where the new one has more.
        added: the text of the new prompt in its place; empty where it has less.
    """

    part: str
    place: int
    removed: str
    added: str


@dataclass(frozen=True, slots=True)
class PromptPath:
    """Two prompts, and the changes that lead from the old one to the new one.

    Attributes:
        old: the texts by part; ``new`` has the same parts.
        changes: in the order of the parts and of the old text.
    """

    old: Prompt
    new: Prompt
    unit: Unit
    changes: tuple[PromptChange, ...]

    @classmethod
    def between(cls, old: Prompt, new: Prompt, unit: Unit) -> PromptPath:
        """The changes between two prompts with the same parts."""
        changes = [
            change
            for part, text in old.items()
            for change in _changes(part, pieces_of(text, unit), pieces_of(new[part], unit))
        ]
        return cls(old, new, unit, tuple(changes))

    def hybrid(self, made: Collection[int]) -> dict[str, str]:
        """The prompt with the changes of these numbers, from 0, made, and no other."""
        texts = {}
        for part, text in self.old.items():
            pieces, written = pieces_of(text, self.unit), list[str]()
            changes = {
                (change.place, number): change
                for number, change in enumerate(self.changes)
                if change.part == part and number in made
            }
            start = 0
            for (place, _), change in changes.items():
                written += [*pieces[start:place], change.added]
                start = place + bool(change.removed)
            texts[part] = "".join([*written, *pieces[start:]])
        return texts

    def around(self, made: Collection[int], words: int = 8) -> Iterator[tuple[str, str, str, str]]:
        """Each change that is made: what stands before it, what goes, what comes, what follows.

        Changes next to each other are one; before and after are at most so many ``words``.
        """
        for group in _neighbours([self.changes[number] for number in sorted(made)]):
            first, last = group[0], group[-1]
            pieces = pieces_of(self.old[first.part], self.unit)
            end = last.place + bool(last.removed)
            before = "".join(pieces[max(0, first.place - words) : first.place])
            after = "".join(pieces[end : end + words])
            removed = "".join(change.removed for change in group)
            yield before, removed, "".join(change.added for change in group), after


def pieces_of(text: str, unit: Unit) -> list[str]:
    """The words, or sentences, of a text, each with the blanks behind it; joined they are it.

    A sentence ends behind a full stop or the like, and with its line.
    """
    words: list[str] = _WORD.findall(text)
    if unit == "words":
        return words
    sentences, begun = list[str](), list[str]()
    for word in words:
        begun.append(word)
        bare = word.rstrip()
        if not bare or "\n" in word or bare.rstrip(_CLOSING).endswith(_ENDS):
            sentences.append("".join(begun))
            begun = []
    return [*sentences, "".join(begun)] if begun else sentences


def _changes(part: str, old: Sequence[str], new: Sequence[str]) -> Iterator[PromptChange]:
    # What only differs in the blanks behind it is aligned, and is a change too.
    aligned = SequenceMatcher(None, [p.rstrip() for p in old], [p.rstrip() for p in new], False)
    for tag, start, end, first, last in aligned.get_opcodes():
        pairs = zip_longest(old[start:end], new[first:last], fillvalue="")
        for offset, (removed, added) in enumerate(pairs):
            if removed != added or tag != "equal":
                yield PromptChange(part, min(start + offset, end), removed, added)


def _neighbours(changes: Sequence[PromptChange]) -> Iterator[list[PromptChange]]:
    """Changes of one part that follow each other without a piece between them."""
    group: list[PromptChange] = []
    for change in changes:
        if group and (
            change.part != group[-1].part
            or change.place > group[-1].place + bool(group[-1].removed)
        ):
            yield group
            group = []
        group.append(change)
    if group:
        yield group


_TEXTS: Final[tuple[SentPart, ...]] = ("system prompt", "prompt")
# Of two requests, what no change of words explains.
_OTHERS: Final[tuple[SentPart, ...]] = ("endpoint", "model", "settings", "reply form")
_NOT_COMPARED: Final = "seed"


@dataclass(frozen=True, slots=True)
class FlipEnd:
    """One side of a flip.

    Attributes:
        name: of the wording, the order or the recording, where that differs.
        judgment: what was recorded.
        requests: what was sent.
    """

    name: str
    judgment: Judgment
    requests: tuple[RecordedRequest, ...]

    @property
    def texts(self) -> dict[str, str]:
        """The texts that were sent, by the part of the request."""
        parts = parts_sent(self.requests)
        texts = {part: parts.get(part, {}) for part in _TEXTS}
        return {f"{part} {name}": text for part in _TEXTS for name, text in texts[part].items()}


@dataclass(frozen=True, slots=True)
class Flip:
    """Two ends that say otherwise, of one judge.

    Attributes:
        suite: with the prompts of the judge.
        old: as it is asked today, where the ends are two trials; else the earlier recording.
        of_orders: whether the ends differ in the order of presentation.
    """

    judge: JudgeSpec
    suite: Suite
    old: FlipEnd
    new: FlipEnd
    of_orders: bool = False

    @property
    def prompts(self) -> tuple[Prompt, Prompt]:
        """The texts of both ends; a part that one of them lacks is empty there."""
        old, new = self.old.texts, self.new.texts
        parts = dict.fromkeys((*old, *new))
        return tuple({part: texts.get(part, "") for part in parts} for texts in (old, new))  # type: ignore[return-value]

    def path(self, unit: Unit) -> PromptPath:
        """The changes between the two prompts.

        Raises:
            UsageError: the ends were sent the same texts, or differ in more than texts.
        """
        old, new = (parts_sent(end.requests) for end in (self.old, self.new))
        for part in _OTHERS:
            if _compared(old.get(part, {})) != _compared(new.get(part, {})):
                raise UsageError(
                    f"what differs between {self.old.name} and {self.new.name} is no text",
                    found=f"the {part}: {_compared(old.get(part, {}))} and "
                    f"{_compared(new.get(part, {}))}",
                    expected="two requests that differ in their texts alone",
                    remedy="compare them: judgesense compare, or judgesense compare SUITE --judges",
                )
        path = PromptPath.between(*self.prompts, unit)
        if not path.changes:
            raise UsageError(
                f"{self.old.name} and {self.new.name} were sent the same texts",
                found=f"{label_of(self.old.judgment)} and {label_of(self.new.judgment)}",
                expected="two prompts that differ",
                remedy="how often the judge differs with itself is its repeat flip rate: "
                "judgesense explain repeat_flip_rate",
            )
        return path


def label_of(judgment: Judgment) -> str:
    """What a judgment says, in the judge's own terms."""
    return judgment.verdict if judgment.verdict is not None else "no verdict"


def _compared(values: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value for name, value in values.items() if name.rpartition(".")[-1] != _NOT_COMPARED
    }
