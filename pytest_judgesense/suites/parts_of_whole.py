"""Numbers that are written with the end of their scale: ``4/5``, ``8 / 10`` and ``36%``. Pure.

``4/5`` is 4 on a scale that ends at 5, and ``36%`` is 36 on a scale from 0 to 100, as replies are
read for a score (`replies.spellings`). Dates such as ``13/5`` are above their whole, and none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from pytest_judgesense.suites.answer_kinds import odd_among_numbers
from pytest_judgesense.suites.space import number_of
from pytest_judgesense.trial import ScoreRange, score_text

_PART: Final = re.compile(
    r"(?P<number>\d{1,9}(?:[.,]\d{1,9})?) ?(?:/ ?(?P<whole>[1-9]\d{0,8})(?:\.0)?|%)"
)
PERCENT: Final = 100
"""The whole of a per cent."""
# Scales up to here begin at 1, unless a 0 is given; longer ones at 0.
_LONGEST_FROM_ONE: Final = 10


class PartOfWhole(NamedTuple):
    """A number, and where its scale ends."""

    number: float
    whole: int


def part_of_whole(word: str) -> PartOfWhole | None:
    """The number and the whole that a word states; ``None`` for any other word."""
    match = _PART.fullmatch(word.strip())
    number = None if match is None else number_of(match["number"])
    if match is None or number is None:
        return None
    return PartOfWhole(number, int(match["whole"] or PERCENT))


def wholes_of(words: Sequence[str]) -> tuple[int, ...]:
    """The different wholes that the words of a column state, the least first.

    None where the column is of other words: where a number is above its whole, or more than few odd
    words stand beside. Plain numbers may, up to the whole; between 0 and 1 they may be shares, and
    are no per cents.

    Args:
        words: as they are written, each as often as it is.
    """
    parts = {word: part for word in {*words} if (part := part_of_whole(word)) is not None}
    if not parts or any(part.number > part.whole for part in parts.values()):
        return ()
    wholes = sorted({part.whole for part in parts.values()})
    plain = [score_text(parts[word].number) if word in parts else word for word in words]
    odd = {*odd_among_numbers(plain)}
    beside = [word for word in {*words} - parts.keys() if word.strip() not in odd]
    numbers = [number_of(word) for word in beside]
    if all(number is not None and _may_stand_beside(number, wholes[0]) for number in numbers):
        return tuple(wholes)
    return ()


def _may_stand_beside(number: float, whole: int) -> bool:
    is_share = whole == PERCENT and 0 < number < 1
    return 0 <= number <= whole and not is_share


def without_whole(word: str) -> str:
    """The number of ``4/5`` as a word, ``4``; any other word as it is."""
    part = part_of_whole(word)
    return word if part is None else score_text(part.number)


def range_to(whole: int, least: float) -> ScoreRange:
    """The scale that ends at ``whole``, whose least number that is given is ``least``."""
    from_one = 1 < whole <= _LONGEST_FROM_ONE and least >= 1
    return ScoreRange(1 if from_one else 0, whole)
