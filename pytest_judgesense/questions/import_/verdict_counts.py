"""What was read, in numbers: how often each verdict stands in a suite, or the mean of numbers.

Whoever imports a file knows some of these from elsewhere, and sees by them whether it was read as
it is meant.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from operator import itemgetter
from statistics import fmean
from typing import Final

from pytest_judgesense.errors import printable
from pytest_judgesense.suites.space import number_of
from pytest_judgesense.trial import Design, Judgment, grouped

_MOST_WORDS: Final = 6
_MOST_LINES: Final = 12
_LONGEST_WORD: Final = 30
_LONGEST_NAME: Final = 50
# Of a line, with room for how many words are not in it.
_WIDTH: Final = 84


def counts_of_verdicts(
    judgments: Iterable[tuple[Judgment, Design]], most: int = _MOST_LINES
) -> Iterator[str]:
    """A line for each suite, or for each criterion of one: ``overall: False 2,179, True 762``.

    Numbers of a scale or a range are their mean and their ends. After ``most`` lines it is said how
    many more there would be.
    """
    by_suite = grouped(judgments, lambda judged: judged[0].trial.suite)
    lines = [line for suite, judged in by_suite.items() for line in _of_suite(suite, judged)]
    yield from lines[:most]
    if (more := len(lines) - most) > 0:
        yield f"  and {more} more suites or criteria"


def _of_suite(suite: str, judged: Iterable[tuple[Judgment, Design]]) -> Iterator[str]:
    stated = [(judgment.verdict, design) for judgment, design in judged if judgment.verdict]
    if not stated:
        return
    design = stated[0][1]
    verdicts = [verdict for verdict, _ in stated if verdict is not None]
    if not design.criteria:
        is_scale = design.ordinal or design.score is not None
        yield _counted(suite, verdicts, is_scale=is_scale)
        return
    replies = [json.loads(verdict) for verdict in verdicts]
    for criterion in design.criteria:
        grades = [*filter(None, map(itemgetter(criterion.name), replies))]
        if grades:
            yield _counted(f"{suite}, {criterion.name}", grades, is_scale=True)


def _counted(name: str, verdicts: list[str], *, is_scale: bool) -> str:
    """Verdicts by their counts, the most frequent first; numbers of a scale by their mean."""
    head = f"  {printable(name)[:_LONGEST_NAME]}: "
    numbers = [number for number in map(number_of, verdicts) if number is not None]
    # Two decimals are too few to be taken for scores, but are no words either; 0 and 1 may be.
    is_measured = is_scale or not all(map(float.is_integer, numbers))
    if is_measured and len(numbers) == len(verdicts):
        ends = f"{min(numbers):g} to {max(numbers):g}"
        return f"{head}mean {fmean(numbers):.4g} of {len(numbers):,}, {ends}"
    counted = Counter(verdicts).most_common()
    shown: list[str] = []
    between = ": " if numbers else " "  # two numbers beside each other would be one to a reader
    for word, count in counted[:_MOST_WORDS]:
        told = f"{printable(word)[:_LONGEST_WORD]}{between}{count:,}"
        if shown and len(head) + len(", ".join((*shown, told))) > _WIDTH:
            break
        shown.append(told)
    more = len(counted) - len(shown)
    return head + ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")
