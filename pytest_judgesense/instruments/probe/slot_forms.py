r"""How a judge is shown a text and replies to it: what edits take from the way it was asked. Pure.

The marks around a text are those that stand in the prompt immediately before and behind it, white
space apart::

    <answer> ... </answer>      [answer] ... [/answer]      a pair of tags
    ``` ... ```                 === ... ===                 a fence: the same mark on both sides
    "..."   “...”   «...»       (...)  [[...]]  <<<...>>>   quotation marks and brackets
    a line with start or begin in it, and a line with end  [The End of Answer A]

The form of a reply is the last line of one that holds the name of the slot which it chose exactly
once, or all of a short reply; the name of another slot in its place makes the reply that chooses
that one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

# In the name of a tag, beside letters and digits.
_IN_NAMES: Final = "_.:-"
# Of a fence: marks that stand at least three times, and those that may stand once; a language may
# follow on some of them.
_THRICE, _ONCE, _WITH_LANGUAGE = "=-#*~", "\"'`", "`~"
_LEAST: Final = 3
_PAIRS: Final = (
    ("<<<", ">>>"),
    ("[[", "]]"),
    ("{{", "}}"),
    ("“", "”"),
    ("„", "“"),
    ("«", "»"),
    ("‘", "’"),
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
)
_BEGINS: Final = re.compile(r"\b(?:start|begin(?:s|ning)?)\b", re.IGNORECASE)
_ENDS: Final = re.compile(r"\bend(?:s|ing)?\b", re.IGNORECASE)
_LONGEST_MARK: Final = 80
_LONGEST_REPLY: Final = 200
# A short text may stand within other words of a prompt.
_MOST_PLACES: Final = 8
# In place of a mark or a name, as many of them as it has characters: they close and name nothing.
_NOTHING: Final = "."


class Marks(NamedTuple):
    """What stands before and behind a text in a prompt."""

    opening: str
    closing: str


class SlotForm(NamedTuple):
    """How a text is shown and chosen.

    Attributes:
        name: of its slot; of a single output the label that is best to get.
        reply: that chooses it, in the form in which the judge replies.
        marks: around it in the prompt; ``None`` where none were found.
    """

    name: str
    reply: str
    marks: Marks | None = None

    def filled(self, *, names: bool) -> Mapping[str, str]:
        """By placeholder what edits put there; without ``names`` dots, as many as there were."""
        opening, closing = self.marks or _NO_MARKS
        dots = _NOTHING * len(self.name)
        values = {"slot": self.name, "reply": self.reply, "open": opening, "close": closing}
        if names:
            return values
        return {
            "slot": dots,
            "reply": replaced_word(self.reply, self.name, dots),
            "open": _NOTHING * len(opening),
            "close": _NOTHING * len(closing),
        }


# Of a function with a prompt of its own that shows none: a line that ends a part of many prompts.
_NO_MARKS: Final = Marks("---", "---")


def marks_around(prompt: str, text: str) -> Marks | None:
    """The marks around a text in a prompt, at the first place that has any; ``None`` for none."""
    pieces = prompt.split(text, _MOST_PLACES) if text else []
    for place in range(1, len(pieces)):
        before = text.join(pieces[:place]).rstrip()
        behind = text.join(pieces[place:]).lstrip()
        if (marks := next(_marks(before, behind), None)) is not None:
            return marks
    return None


def _marks(before: str, behind: str) -> Iterator[Marks]:
    """The marks at the end of what stands before a text and at the start of what stands behind."""
    for marks in (*_tags(before[-_LONGEST_MARK:]), *_fences(before[-_LONGEST_MARK:])):
        if behind.startswith(marks.closing):
            yield marks
    for opening, closing in _PAIRS:
        if before.endswith(opening) and behind.startswith(closing):
            yield Marks(opening, closing)
    first, last = before.rpartition("\n")[2].strip(), behind.partition("\n")[0].strip()
    are_short = max(len(first), len(last)) <= _LONGEST_MARK
    if are_short and _BEGINS.search(first) and _ENDS.search(last):
        yield Marks(first, last)


def _tags(before: str) -> Iterator[Marks]:
    """The tag at the end of a text, and what closes it."""
    for first, last, slash in (("<", ">", "</"), ("[", "]", "[/")):
        head, found, inner = before.removesuffix(last).rpartition(first)
        if not (found and before.endswith(last)):
            continue
        name = inner.partition(" ")[0] if first == "<" else inner
        is_name = all(sign.isalnum() or sign in _IN_NAMES for sign in name.replace(" ", ""))
        if name[:1].isalpha() and is_name:
            yield Marks(before[len(head) :], f"{slash}{name}{last}")


def _fences(before: str) -> Iterator[Marks]:
    """The fence or quotation mark at the end of a text, and the same without its language."""
    bare = before.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-")
    for text, thrice, once in ((before, _THRICE + _ONCE, _ONCE), (bare, _WITH_LANGUAGE, "")):
        sign = text[-1:] or " "
        times = len(text) - len(text.rstrip(sign))
        if sign in once or (sign in thrice and times >= _LEAST):
            yield Marks(before[len(text) - times :], sign * times)


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def replaced_word(text: str, name: str, instead: str) -> str:
    """A text with another word for every place where a name stands as a whole word."""
    return _word(name).sub(lambda _: instead, text)


def name_shown(prompt: str, names: Sequence[str]) -> str:
    """The first of the names of a slot that a prompt holds as a word; else the first of all."""
    return next((name for name in names if _word(name).search(prompt)), names[0])


def reply_asked_for(prompt: str, name: str) -> str:
    """The reply that names a slot, in the form that a prompt shows, before any reply is known."""
    if '"verdict"' in prompt:
        return f'{{"verdict": "{name}"}}'
    return f"[[{name}]]" if f"[[{name}]]" in prompt else name


def reply_naming(
    replies: Iterable[tuple[str, str]], names: Mapping[str, Sequence[str]], slot: str
) -> tuple[str, str] | None:
    """The name of a slot, and the reply that chooses it, in the form of replies that chose one.

    Args:
        replies: texts of replies with the slots that they chose, of which the first that shows a
            form counts.
        names: of each slot, in the same order for all of them.
        slot: that is to be chosen.

    Returns:
        ``None`` where no reply holds the name of the slot that it chose exactly once.
    """
    for text, chosen in replies:
        for form in _forms(text):
            for place, name in enumerate(names[chosen]):
                if place < len(names[slot]) and len(_word(name).findall(form)) == 1:
                    other = names[slot][place]
                    return other, replaced_word(form, name, other)
    return None


def _forms(reply: str) -> Iterator[str]:
    """The last line of a reply, and all of it, as far as they are short."""
    text = reply.strip()
    for form in (text.rpartition("\n")[2].strip(), text):
        if 0 < len(form) <= _LONGEST_REPLY:
            yield form
