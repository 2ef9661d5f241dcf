"""How the embedded judge parses a rendered prompt: candidates, other texts, labels. Pure.

It uses only the text of the prompt, as described in docs/embedded-judge.md: blocks in tags, or
headings if there are none; the rest is the instruction, with the labels that it permits.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

_TAG: Final = re.compile(r"<(/?)([a-z]+(?:_[a-zA-Z0-9]+)?)>")
# Blocks of candidates: by any name for A and B, and where slots are called otherwise.
_SLOT: Final = re.compile(r"(?:.*_(?P<letter>[abAB])|(?:answer|response)_(?P<other>[12xyXY]))")
_LETTERS: Final = {"1": "a", "2": "b", "x": "a", "y": "b"}
# An instruction with labels of its own.
_SECOND: Final = re.compile(r"\bB\b")
_HEADING: Final = re.compile(
    r"^[#*\[ ]*(?:response|answer|candidate|option|passage|output|assistant)[ _]\(?([ab])\)?"
    r"[\]* ]*(?::|$)",
    re.IGNORECASE | re.MULTILINE,
)
_RANGE: Final = re.compile(r"\b(\d{1,2})\s*(?:to|-|–)\s*(\d{1,2})\b")
_CLAUSE_END: Final = re.compile(r"\.|\bNO\b")
_YES: Final = re.compile(r"\bYES\b")
_ERROR: Final = re.compile(r"\b(?:errors?|mistakes?|wrong|incorrect|inaccurate|contradicts?)\b")
_SURFACE_WORDS: Final = ("wording", "style", "fluency", "length", "surface")


@dataclass(frozen=True, slots=True)
class ParsedPrompt:
    """A prompt as the embedded judge reads it.

    Attributes:
        instruction: the prompt without candidates and context.
        context: texts of the other blocks by name.
        candidates: the texts of slot A and slot B, or ``None``.
        labels: the permitted answers, without ``tie``.
        names: what the prompt calls the slots A and B, where it does not call them so.
        tie: whether ``tie`` is permitted.
        inverted: whether ``YES`` means an error.
        strict: whether a tie is asked for when only surface features differ.
        asks_confidence: whether a reply in JSON is asked for that states how sure it is.
    """

    instruction: str
    context: Mapping[str, str]
    candidates: tuple[str, str] | None
    labels: tuple[str, ...]
    names: Mapping[str, str]
    tie: bool
    inverted: bool
    strict: bool
    asks_confidence: bool = False


def read_prompt(prompt: str) -> ParsedPrompt:
    """The parts of ``prompt`` (system and user text joined)."""
    blocks, instruction = _blocks(prompt)
    slots = {slot: text for name, text in blocks.items() if (slot := _slot_of(name))}
    if len(slots) < 2:
        slots, instruction = _by_headings(instruction)
    candidates = (slots["a"], slots["b"]) if len(slots) == 2 else None
    lowered = instruction.lower()
    tie = re.search(r"\bties?\b", lowered) is not None
    return ParsedPrompt(
        instruction=" ".join(instruction.split()),
        context={name: text for name, text in blocks.items() if not _slot_of(name)},
        candidates=candidates,
        labels=_labels(instruction, candidates is not None),
        names={} if _SECOND.search(instruction) else _names_of(blocks),
        tie=tie,
        inverted=any(map(_yes_is_an_error, _CLAUSE_END.split(instruction))),
        strict=tie and sum(word in lowered for word in _SURFACE_WORDS) >= 2,
        asks_confidence='"verdict"' in instruction and '"confidence"' in instruction,
    )


def _names_of(blocks: Iterable[str]) -> dict[str, str]:
    """By slot, the name in the tag of its candidate, where that is another one than A or B."""
    tags = (match for match in map(_SLOT.fullmatch, blocks) if match and match["other"])
    return {_LETTERS[tag["other"].lower()].upper(): tag["other"] for tag in tags}


def _slot_of(block: str) -> str:
    """The slot whose candidate a block holds: ``a`` or ``b``; empty for another block."""
    match = _SLOT.fullmatch(block)
    if match is None:
        return ""
    letter = (match["letter"] or match["other"]).lower()
    return _LETTERS.get(letter, letter)


def _blocks(prompt: str) -> tuple[dict[str, str], str]:
    """The texts between tags, by name, and the text around them.

    A block ends with the first end tag of its name, and everything within it is its text; a tag
    without an end is text. It runs in one pass: the search for end tags of a name continues from
    the last one found.
    """
    ends: dict[str, deque[re.Match[str]]] = defaultdict(deque)
    begins = []
    for tag in _TAG.finditer(prompt):
        if tag[1]:
            ends[tag[2]].append(tag)
        else:
            begins.append(tag)
    blocks: dict[str, str] = {}
    around, done = [], 0
    for begin in begins:
        closing = ends[begin[2]]
        while closing and closing[0].start() < begin.end():
            closing.popleft()
        if begin.start() < done or not closing:
            continue
        text = prompt[begin.end() : closing[0].start()]
        blocks[begin[2]] = text.removeprefix("\n").removesuffix("\n")
        around.append(prompt[done : begin.start()])
        done = closing[0].end()
    return blocks, " ".join([*around, prompt[done:]])


def _yes_is_an_error(clause: str) -> bool:
    yes = _YES.search(clause)
    return yes is not None and _ERROR.search(clause, yes.end()) is not None


# Forms of the reply that a prompt may ask for, each with how a label is written in it.
_FORMS: Final = (
    (re.compile(r'"verdict"'), '{{"verdict": {}}}'),
    (re.compile(r"\[\[\w+\]\]"), "[[{}]]"),
    (re.compile(r"\bVerdict: "), "That is how it looks to me.\nVerdict: {}"),
    (re.compile(r"\bfirst line\b"), "{}"),
)


def written(label: str, instruction: str) -> str | None:
    """``label`` in the form of the reply that is asked for; ``None`` for the label alone."""
    for question, form in _FORMS:
        if question.search(instruction):
            in_json = form.startswith("{{") and not label.isdigit()
            return form.format(json.dumps(label) if in_json else label)
    return None


def _by_headings(text: str) -> tuple[dict[str, str], str]:
    """Candidates under headings: each runs to the next heading, the last to a blank line."""
    headings = list(_HEADING.finditer(text))
    slots: dict[str, str] = {}
    rest = text[: headings[0].start()] if headings else text
    for index, match in enumerate(headings):
        if index + 1 < len(headings):
            body = text[match.end() : headings[index + 1].start()]
        else:
            body, _, tail = text[match.end() :].strip("\n").partition("\n\n")
            rest += "\n" + tail
        slots[match[1].lower()] = body.strip()
    return slots, rest


def _labels(instruction: str, pairwise: bool) -> tuple[str, ...]:
    if pairwise:
        return ("A", "B")
    if re.search(r"\bYES\b", instruction) and re.search(r"\bNO\b", instruction):
        return ("YES", "NO")
    if match := _RANGE.search(instruction):
        low, high = int(match[1]), int(match[2])
        if low < high:
            return tuple(str(value) for value in range(low, high + 1))
    return ()
