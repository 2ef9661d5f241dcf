"""Which kind of answers a column of labels, or the verdicts of a log, hold. Pure.

The words themselves decide, whatever their column is called:

- two different ones are *labels*, numbers included: 0 and 1 are no and yes, and a scale of two
  grades would call every wrong answer one step away;
- whole numbers of three to twelve levels are *grades*, where the levels are all whole numbers from
  the least to the greatest, for a grade that nobody has given is one as well;
- more levels, or decimals, are a *score*;
- all other words are *labels*.

Case, blanks around a word and the zeros of ``4.0`` tell no two words apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from pytest_judgesense.trial import ABSTAIN, TIE, as_whole

ContentKind: TypeAlias = Literal["labels", "grades", "score"]

SCORE: Final[ContentKind] = "score"
"""Numbers with decimals, or of more levels than grades have."""
MOST_GRADES: Final = 12
"""Levels of a scale; more of them are a score."""
_LONGEST_FILLED: Final = 101
FEWEST_LEVELS: Final = 3
"""Levels of numbers among which a few other words may be no answers."""
_MOST_ODD: Final = 4

# "007" is a name, and no number.
_WHOLE: Final = re.compile(r"0|-?[1-9][0-9]{0,17}")
_DECIMAL: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})?[.,][0-9]+|-?[0-9.]+[eE][-+]?[0-9]{1,3}")


class InferredAnswers(NamedTuple):
    """What the words of a column are.

    Attributes:
        kind: of the answers.
        labels: the different ones in the order of the alphabet, numbers in theirs; of grades all
            levels from the lowest; of a score none.
    """

    kind: ContentKind
    labels: tuple[str, ...]

    @property
    def are_grades(self) -> bool:
        """Whether their order means more and less."""
        return self.kind == "grades"

    @property
    def are_scores(self) -> bool:
        """Whether they are numbers that no list of labels holds."""
        return self.kind == SCORE


def inferred_answers(words: Iterable[str], *, are_all: bool = False) -> InferredAnswers:
    """The kind of answers that ``words`` are, and the possible ones.

    Args:
        words: as they are written, each as often as it may be; empty ones say nothing.
        are_all: whether they are all possible answers, so that a scale of them has no other level.
    """
    different = different_words(words)
    kind = _kind_of(different, are_all=are_all)
    labels = in_order(different) if are_all and kind == "grades" else answers_of(different, kind)
    return InferredAnswers(kind, labels)


def _kind_of(different: Sequence[str], *, are_all: bool) -> ContentKind:
    are_numbers = all(_WHOLE.fullmatch(word) or _DECIMAL.fullmatch(word) for word in different)
    if len(different) <= 2 or not are_numbers:
        return "labels"
    if not is_whole(different):
        return "score"
    return "grades" if are_all or len(levels(different)) <= MOST_GRADES else "score"


def odd_among_numbers(words: Sequence[str]) -> tuple[str, ...]:
    """The few different words that stand among grades or scores, in one of ten cells at most.

    None where numbers are of fewer than three levels, which words may stand beside as labels; nor
    a tie or an abstention.

    Args:
        words: as they are written, each as often as it is.
    """
    odd = [word for word in words if not _is_number(word)]
    levels_stated = different_words(word for word in words if _is_number(word))
    different = tuple(different_words(odd))
    if 10 * len(odd) > len(words) or len(levels_stated) < FEWEST_LEVELS:
        return ()
    if len(different) > _MOST_ODD or any(word.casefold() in (TIE, ABSTAIN) for word in different):
        return ()
    return different


def _is_number(word: str) -> bool:
    return bool(_WHOLE.fullmatch(word.strip()) or _DECIMAL.fullmatch(word.strip()))


def answers_of(words: Iterable[str], kind: ContentKind) -> tuple[str, ...]:
    """The possible answers where those of this kind are ``words``, and none of a score.

    Gaps in grades are filled where these are at most a hundred apart.
    """
    different = different_words(words)
    if kind == "score":
        return ()
    if kind == "grades" and is_whole(different) and len(levels(different)) <= _LONGEST_FILLED:
        return tuple(map(str, levels(different)))
    return in_order(different)


def as_steps(words: Iterable[str]) -> InferredAnswers:
    """Words of a score as what has labels: up to 101 levels of whole numbers, else the words."""
    different = different_words(words)
    is_scale = is_whole(different) and len(levels(different)) <= _LONGEST_FILLED
    kind: ContentKind = "grades" if is_scale else "labels"
    return InferredAnswers(kind, answers_of(different, kind))


def is_whole(words: Iterable[str]) -> bool:
    """Whether all words are whole numbers, without zeros before them."""
    return all(map(_WHOLE.fullmatch, words))


def levels(words: Iterable[str]) -> range:
    """The whole numbers from the least of ``words``, which are such, to the greatest."""
    numbers = [*map(int, words)]
    return range(min(numbers), max(numbers) + 1) if numbers else range(0)


def different_words(words: Iterable[str]) -> list[str]:
    """The words that differ in more than case, blanks around them and zeros, as the first is."""
    different: dict[str, str] = {}
    for word in words:
        if plain := as_whole(word.strip()):
            different.setdefault(plain.casefold(), plain)
    return [*different.values()]


def in_order(words: Iterable[str]) -> tuple[str, ...]:
    """The words in the order of the alphabet; whole numbers in theirs."""
    listed = [*words]
    if is_whole(listed):
        return tuple(sorted(listed, key=int))
    return tuple(sorted(listed))
