"""Statements of a verdict: their positions, their weights, and their outcome.

Where several are made, the heaviest decide: "Final answer: A" before the verdicts, those before a
choice ("I choose A") and a label under some other heading ("Coherence: 4"). If they name different
verdicts, or a lighter statement after the last of them contradicts it, the reply states several.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from pytest_judgesense.replies.spellings import ParseOutcome, agreed
from pytest_judgesense.replies.text import UNREADABLE

# Words that a verdict stands under, or after.
VERDICTS: Final = (
    "verdict|answer|winner|decision|choice|judge?ment|rating|score|grade|label|result|preference"
    "|conclusion|selection|vote|classification|assessment|correction"
)
FINAL: Final = "final|overall|definitive|ultimate"
# How headings in other languages begin that announce the last word.
FINAL_ELSEWHERE: Final = (
    "最终|最終|최종|endgültig|définiti|definitiv|definitief|окончательн|итогов|نهائي|الحكم النهائي"
)
_ANNOUNCES_FINAL: Final = re.compile(
    rf"(?:\b(?:{FINAL})"
    rf"(?:,? (?:\w{{1,12}},? ){{0,2}}(?:{VERDICTS})|(?= ?[:=\n]))"
    rf"|(?:{FINAL_ELSEWHERE})[\w ]{{0,24}}(?= ?[:\n]))(?: ?\([^()\n]{{0,40}}\))?"
    r"(?: (?:is|would be)(?: (?:therefore|thus|hence|then|clearly|simply))?)?[^\w.!?]{0,8}$",
    re.IGNORECASE,
)
_LONGEST_ANNOUNCEMENT: Final = 80


def announces_final(text: str) -> bool:
    """Whether the last word follows ``text``, because it ends as "My final verdict is: " does."""
    return _ANNOUNCES_FINAL.search(text[-_LONGEST_ANNOUNCEMENT:]) is not None


# A line that begins with what a number in it is: "Rating: 2", "**Final score** = 4"; and one of a
# number alone.
_NO_WORD: Final = rf"[^\w\n{UNREADABLE}]"
_LABELLED: Final = re.compile(
    rf"{_NO_WORD}{{0,8}}(?:\w{{1,20}} ){{0,3}}(?:{VERDICTS}){_NO_WORD}{{0,4}}[:=]", re.IGNORECASE
)
_NUMBER_ALONE: Final = re.compile(rf"{_NO_WORD}{{0,8}}\d[\d./]{{0,8}}{_NO_WORD}{{0,8}}(?=\n|\Z)")
# What may stand behind the form that ends a reply.
_BEHIND: Final = " \n.!*_`\"')]"


class Weight(IntEnum):
    """How surely a statement is meant as the verdict of the whole reply."""

    ASIDE = 0  # decides nothing, and contradicts an earlier decision
    OPINION = 1
    VERDICT = 2
    FINAL = 3


class StatedVerdict(NamedTuple):
    """A statement at a position of the text, and its weight."""

    position: int
    weight: Weight
    outcome: ParseOutcome


def beside_closing_form(prose: Sequence[StatedVerdict], text: str) -> Sequence[StatedVerdict]:
    """What counts in prose about numbers, where a form or a labelled line ends the reply.

    "The answer is 0, not 3. Rating: [[2]]": the numbers in the sentences are about what was judged.
    Labelled lines before the last one count, for they may be other verdicts.

    Args:
        prose: the statements in a text.
        text: the text, with `UNREADABLE` in the place of forms.
    """
    whole = text.rstrip(_BEHIND)
    last = whole.rfind("\n") + 1
    if not whole.endswith(UNREADABLE) and not _LABELLED.match(text, last):
        return prose
    begins = (text.rfind("\n", 0, statement.position) + 1 for statement in prose)
    return [
        statement
        for statement, line in zip(prose, begins, strict=True)
        if line >= last or _LABELLED.match(text, line) or _NUMBER_ALONE.match(text, line)
    ]


def decision(statements: Sequence[StatedVerdict]) -> ParseOutcome | None:
    """The outcome of the statements; ``None`` if none of them decides."""
    heaviest = max([weight for _, weight, _ in statements], default=Weight.ASIDE)
    if heaviest == Weight.ASIDE:
        return None
    last = max([position for position, weight, _ in statements if weight == heaviest])
    return agreed(
        [
            outcome
            for position, weight, outcome in statements
            if weight == heaviest or position > last
        ]
    )
