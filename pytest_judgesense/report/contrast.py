"""Two texts side by side, with differing words marked. Pure.

Texts are judges' and suites': they are compared word by word after what both begin and end with is
taken off, and what remains only where that is little work, so that no text takes long.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple

# Words of each text that are compared, and pairs of equal ones among them: where there are more,
# all that lies between the common ends is marked.
MOST_WORDS: Final = 400
MOST_PAIRS: Final = 4_000
_WORD: Final = re.compile(r"\s*\S+|\s+$")


class Piece(NamedTuple):
    """A part of a text, and whether the other text lacks it."""

    text: str
    marked: bool


def contrasted(text: str, other: str) -> tuple[list[Piece], list[Piece]]:
    """Both texts in pieces; joined they are the texts. Blanks that differ are not marked."""
    texts = [_WORD.findall(each) for each in (text, other)]
    a, b = ([word.strip() for word in words] for words in texts)
    shorter = min(len(a), len(b))
    start = next((index for index in range(shorter) if a[index] != b[index]), shorter)
    room = shorter - start
    end = next((index for index in range(room) if a[-1 - index] != b[-1 - index]), room)
    first, second = (words[start : len(words) - end] for words in (a, b))
    counts = Counter(second)
    few = max(len(first), len(second)) <= MOST_WORDS
    few = few and sum(counts[word] for word in first) <= MOST_PAIRS
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    same = matcher.get_matching_blocks() if few else []
    return (
        _pieces(texts[0], start, end, [(block.a, block.size) for block in same]),
        _pieces(texts[1], start, end, [(block.b, block.size) for block in same]),
    )


def _pieces(
    words: Sequence[str], start: int, end: int, same: Sequence[tuple[int, int]]
) -> list[Piece]:
    """The words in pieces; the pieces between ``start`` and ``end`` are marked if they differ."""
    shared = set(range(start)) | set(range(len(words) - end, len(words)))
    shared |= {start + place + by for place, size in same for by in range(size)}
    marks = [place not in shared and bool(word.strip()) for place, word in enumerate(words)]
    return [
        Piece("".join(word for word, _ in run), marked)
        for marked, run in groupby(zip(words, marks, strict=True), key=itemgetter(1))
    ]
