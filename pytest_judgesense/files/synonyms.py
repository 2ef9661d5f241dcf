"""What files of others may call a field, a candidate, a tie, yes and no, besides our own names.

All that is read by another name than its own stands here; whatever else a column or a word may mean
is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import permutations
from typing import Final

from pytest_judgesense.trial import grouped

# By field, the columns that may hold it.
_COLUMNS: Final = {
    "item": ("id", "item_id"),
    "label": ("gold", "expected", "better"),
    "task": ("question",),
    "output": ("answer", "response", "reply", "completion"),
}
# The words for the first and the second of two candidates: alone, or in equal names.
_CANDIDATES: Final = (
    ("a", "b"),
    ("1", "2"),
    ("x", "y"),
    ("first", "second"),
    ("left", "right"),
    ("chosen", "rejected"),
)
_PAIR_OF_WORD: Final = {word: pair for pair in _CANDIDATES for word in pair}
TIES: Final = ("tied", "draw", "equal")
_WORD: Final = re.compile(r"[a-z]+|[0-9]+")
# The words for no and yes of two labels: what a judge in code returns comes first.
_NO_AND_YES: Final = (
    ("no", "yes"),
    ("false", "true"),
    ("0", "1"),
    ("fail", "pass"),
    ("failed", "passed"),
    ("bad", "good"),
    ("incorrect", "correct"),
    ("wrong", "right"),
    ("invalid", "valid"),
    ("negative", "positive"),
    ("n", "y"),
    ("f", "t"),
    ("-1", "1"),
    ("nein", "ja"),
    ("non", "oui"),
    ("no", "sí"),
    ("no", "si"),
    ("não", "sim"),
    ("nee", "ja"),
    ("nej", "ja"),
    ("nie", "tak"),
    ("нет", "да"),
    ("いいえ", "はい"),
    ("否", "是"),
)
_RETURNED: Final = 4


def column_of(field: str, columns: Collection[str]) -> str | None:
    """The column of that name, else the only one that may hold the field; ``None`` without one."""
    named = [name for name in _COLUMNS.get(field, ()) if name in columns]
    return field if field in columns else named[0] if len(named) == 1 else None


def candidates_among(names: Iterable[str]) -> tuple[str, str] | None:
    """The two names that differ in the words for a first and a second candidate alone.

    ``None`` if no two do, or if several pairs do.
    """
    words = {name: _WORD.findall(name.lower()) for name in names}
    found = [
        (first, second)
        for first, second in permutations(words, 2)
        if len(words[first]) == len(words[second])
        and _differing(words[first], words[second]) in [[pair] for pair in _CANDIDATES]
    ]
    return found[0] if len(found) == 1 else None


def candidate_pairs(names: Iterable[str]) -> list[tuple[str, str]]:
    """Every two names that differ in the words for a first and a second candidate alone.

    Names of which more than two are alike but for such words are none: ``a_1``, ``a_2``, ``b_1``.
    """

    def without_place(name: str) -> tuple[object, ...]:
        return tuple(_PAIR_OF_WORD.get(word, word) for word in _WORD.findall(name.lower()))

    alike = grouped(names, without_place).values()
    pairs = (candidates_among(same) for same in alike if len(same) == 2)
    return [pair for pair in pairs if pair is not None]


def differing_words(first: str, second: str) -> tuple[str, str] | None:
    """The words in which the names of two candidates' fields differ; ``None`` unless it is one."""
    differing = _differing(_WORD.findall(first.lower()), _WORD.findall(second.lower()))
    return differing[0] if len(differing) == 1 else None


def no_and_yes(labels: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """What a judge in code may call each of two labels that say no and yes, in any spelling.

    Empty for other labels.
    """
    folded = [label.casefold() for label in labels]
    pair = next((pair for pair in _NO_AND_YES if sorted(pair) == sorted(folded)), None)
    if pair is None:
        return {}
    places = [pair.index(word) for word in folded]
    return {
        label: tuple(
            words[place] for words in _NO_AND_YES[:_RETURNED] if words[place] not in folded
        )
        for label, place in zip(labels, places, strict=True)
    }


def _differing(first: list[str], second: list[str]) -> list[tuple[str, str]]:
    return [pair for pair in zip(first, second, strict=True) if pair[0] != pair[1]]
