"""Which verdicts replies may state, where nothing but the replies is there to tell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from pytest_judgesense.trial import TIE, is_number

# A final form as MT-bench and Arena-Hard ask for it: [[A]], [[7]], [[A>>B]].
_BRACKETED: Final = re.compile(r"\[\[\s*([^\[\]\n]{1,20}?)\s*\]\]")
STEPS: Final = {
    **dict.fromkeys(("A>>B", "A>B", "B<<A", "B<A"), "A"),
    **dict.fromkeys(("B>>A", "B>A", "A<<B", "A<B"), "B"),
    **dict.fromkeys(("A=B", "B=A"), TIE),
}
"""The better one of two by the steps of Arena-Hard, however much better it is."""
# In brackets C is a tie: so MT-bench's prompts ask for it.
_PAIR: Final = {"A": "A", "B": "B", "C": TIE, TIE: TIE}
_MOST_LABELS: Final = 12
_LONGEST_LABEL: Final = 30


class StatedLabels(NamedTuple):
    """The verdicts that replies state.

    Attributes:
        labels: all of them, a tie among them; empty if they are not known.
        meanings: by a word of the replies the label that it means, where they differ.
        why: what shows them.
    """

    labels: tuple[str, ...] = ()
    meanings: tuple[tuple[str, str], ...] = ()
    why: str = ""


def stated_labels(replies: Sequence[str]) -> StatedLabels:
    """The verdicts that replies state: in double brackets, or as whole replies."""
    bracketed = [found[-1] for found in map(_BRACKETED.findall, replies) if found]
    if len(bracketed) * 2 > len(replies):
        return _of_brackets(bracketed)
    whole = dict.fromkeys(reply.strip().strip(".").casefold() for reply in replies)
    if not whole or len(whole) > _MOST_LABELS or max(map(len, whole)) > _LONGEST_LABEL:
        return StatedLabels()
    spelt = {reply.strip().strip(".").casefold(): reply.strip().strip(".") for reply in replies}
    return StatedLabels(_labels(spelt.values()), why="the replies are these words and nothing else")


def _of_brackets(words: Iterable[str]) -> StatedLabels:
    stated = {*words}
    shown = "stated in double brackets"
    if stated <= STEPS.keys():
        meanings = tuple((word, side) for word, side in STEPS.items() if word in stated)
        return StatedLabels(("A", "B", TIE), meanings, shown)
    if stated <= _PAIR.keys():
        has_tie = not stated <= {"A", "B"}
        labels = ("A", "B", TIE) if has_tie else ("A", "B")
        return StatedLabels(labels, (("C", TIE),) if "C" in stated else (), shown)
    if len(stated) > _MOST_LABELS:
        return StatedLabels()
    return StatedLabels(_labels(stated), why=shown)


def _labels(words: Iterable[str]) -> tuple[str, ...]:
    """Labels in the order of the alphabet; of whole numbers all from the least to the greatest."""
    listed = sorted(words)
    if all(map(is_number, listed)):
        numbers = [*map(int, listed)]
        if max(numbers) - min(numbers) <= _MOST_LABELS:
            return tuple(map(str, range(min(numbers), max(numbers) + 1)))
        return tuple(map(str, sorted(numbers)))
    return tuple(listed)
