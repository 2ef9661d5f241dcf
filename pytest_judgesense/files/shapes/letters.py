"""Letters that a judge gave without two texts beside them: only the owner of a file knows them.

``A`` and ``B`` may be the two candidates of a pair, or two answers to a question that is about one
text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pytest_judgesense.files.proposals import OpenQuestion, PossibleReading, Setting
from pytest_judgesense.files.rows import Row

_LETTERS = ("A", "B")


def asked_of_letters(
    said: Collection[str],
    example: Row,
    of_a_pair: Iterable[Setting] = (),
    of_one_text: Iterable[Setting] = (),
) -> tuple[OpenQuestion, ...]:
    """The question what A and B are, if nothing else was said; else none.

    Args:
        said: all verdicts.
        example: a row with one of them.
        of_a_pair: what is set besides, where they are candidates.
        of_one_text: and where they are answers.
    """
    if not {*said} or not {*said} <= {*_LETTERS}:
        return ()
    renamed = tuple(Setting("value", (letter, f"option {letter}")) for letter in _LETTERS)
    return (
        OpenQuestion(
            "are A and B two candidates, or two answers about one text?",
            example,
            (
                PossibleReading(
                    (*of_a_pair, Setting("names", ("verdict", "slot"))),
                    "the judge prefers the candidate that stands at this letter",
                ),
                PossibleReading(
                    (*of_one_text, *renamed), "the judge gives one text the answer of this letter"
                ),
            ),
        ),
    )
