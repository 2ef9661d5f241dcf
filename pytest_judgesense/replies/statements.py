"""Statements of a verdict: where they stand, how much they weigh, and what they come to.

Where several are made, the heaviest decide: "Final answer: A" before the verdicts, those before a
choice ("I choose A") and a label under some other heading ("Coherence: 4"). If they name different
verdicts, or a lighter statement after the last of them contradicts it, the reply states several.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from pytest_judgesense.replies.labels import Labels, Reading, agreed

_LONGEST_VALUE: Final = 120
_MOST_ENDS: Final = 4
# Not after the number of an item in a list.
_SENTENCE_ENDS: Final = re.compile(
    r"\n|[.!?](?<!^\d\.)(?<!^\d\d\.)(?<!^- \d\.)()[)\]]* +(?!\d)", re.MULTILINE
)
# Where a value may end that a sentence goes on after.
_ENDS: Final = re.compile(
    r"$|\n|[,;:!](?!\w)|\.(?!\d)| \(| - "
    r"| (?:because|as|since|due|over|rather|instead|given|for|but|while|with|so)(?!\w)",
    re.IGNORECASE,
)
_VALUE: Final = re.compile(r"[(\[{<'|]{0,3} ?[\w-](?:.*\w)?[^\w\s]{0,3}\s?", re.DOTALL)
_ANOTHER: Final = re.compile(r" ?(?:[,;/&|]|or(?!\w)|and(?!\w)){1,2} ?", re.IGNORECASE)
_CLAUSE_ENDS: Final = re.compile(
    r"[,;:()]| (?:but|while|whereas|however|although|and|so|therefore|thus|hence) ", re.IGNORECASE
)
_DOUBT: Final = re.compile(
    r"\b(?:if|whether|which|unless|might|may|could|not|never|nor|neither|cannot|hardly|barely"
    r"|doubt|unclear|initially|at first|either|would have|were|\w{2,6}n't|can't|except|unlike"
    r"|some (?:people|readers|users)|one would|someone|no)\b",
    re.IGNORECASE,
)
_FAR_DOUBT: Final = re.compile(
    r"\b(?:not (?:the case|true|clear|believe|think|say)|(?:don't|cannot|can't) (?:think|believe"
    r"|say|claim|conclude)|if|whether|(?:might|could|may) (?:say|argue|think|be argued))\b",
    re.IGNORECASE,
)


class Weight(IntEnum):
    """How surely a statement is meant as the verdict of the whole reply."""

    ASIDE = 0  # decides nothing, and contradicts what was decided before it
    OPINION = 1
    VERDICT = 2
    FINAL = 3


class Sentence(NamedTuple):  # there are many, and this is the fastest to build
    """A sentence, or the rest of a line; ``answers`` where a question stands before it."""

    start: int
    text: str
    first: bool
    last: bool
    answers: bool


class Statement(NamedTuple):
    """What was stated at a place of the text, and how much it weighs."""

    position: int
    weight: Weight
    reading: Reading


def sentences(text: str) -> list[Sentence]:
    """The sentences of ``text``; lines of rules and dashes are left out."""
    spans = []
    start = 0
    for end in _SENTENCE_ENDS.finditer(text):
        spans.append((start, text[start : end.start(end.lastindex or 0)]))
        start = end.end()
    spans.append((start, text[start:]))
    spans = [(start, said) for start, said in spans if said.strip(" -=|")]
    return [
        Sentence(start, said, n == 0, n == len(spans) - 1, spans[n - 1][1].endswith("?") and n > 0)
        for n, (start, said) in enumerate(spans)
    ]


def decision(found: Sequence[Statement]) -> Reading | None:
    """What the statements come to; ``None`` if none of them decides."""
    heaviest = max((statement.weight for statement in found), default=Weight.ASIDE)
    if heaviest == Weight.ASIDE:
        return None
    deciding = [statement for statement in found if statement.weight == heaviest]
    last = max(statement.position for statement in deciding)
    after = [statement for statement in found if statement.position > last]
    return agreed(statement.reading for statement in deciding + after)


def value_at(
    labels: Labels, text: str, place: int, ends: re.Pattern[str] = _ENDS
) -> Reading | None:
    """What the text from ``place`` on begins with: a label, or several in a row."""
    piece = text[place : place + _LONGEST_VALUE]
    if not labels.may_begin(piece):
        return None
    for number, end in enumerate(ends.finditer(piece)):
        value = piece[: end.start()]
        reading = labels.read_several(value) if _VALUE.fullmatch(value) else None
        if reading is not None:
            another = _ANOTHER.match(piece, end.start())
            more = another and value_at(labels, piece, another.end())
            return agreed([reading, more]) if more else reading
        if number == _MOST_ENDS:
            break
    return None


def doubted(before: str) -> bool:
    """Whether the words before a statement deny it, ask for it or make it a condition."""
    clause = _CLAUSE_ENDS.split(before)[-1]
    return bool(_DOUBT.search(clause) or _FAR_DOUBT.search(before))
