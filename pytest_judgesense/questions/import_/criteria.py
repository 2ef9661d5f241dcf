"""By which criterion a column says how good something is, as its name tells."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.files.rows import name_words
from pytest_judgesense.questions.import_ import role_words as words_of
from pytest_judgesense.questions.import_.column_facts import ColumnFacts

_GRADE_FIELDS: Final = ("score", "grade", "rating", "value")
# Fields of objects that are called so are criteria.
_GRADE_OBJECTS: Final = (
    "scores", "grades", "ratings", "score", "grade", "rating", "feedback", "evals", "evaluations",
)  # fmt: skip
# Objects that are called so hold what was said, by whatever criterion.
_OF_ANSWERS: Final = words_of.ANSWERS.keys() | words_of.REPLIES | words_of.JUDGE | {"parsed"}


def criterion_of(facts: ColumnFacts) -> str:
    """The criterion that a column's name names: one of the usual ones, or a key with a score.

    Empty for a column that is called otherwise.
    """
    parts = facts.name.split(".")
    if len(parts) > 1 and parts[-1].casefold() in _GRADE_FIELDS:
        return "" if {*name_words(parts[-2])} <= _OF_ANSWERS - words_of.CRITERIA else parts[-2]
    if len(parts) > 1 and parts[-2].casefold() in _GRADE_OBJECTS:
        return parts[-1]
    usual = [word for word in facts.words if word in words_of.CRITERIA]
    beside = words_of.JUDGE | words_of.PEOPLE | words_of.ANSWERS.keys()
    is_answer = len(facts.words) == 1 and facts.words[0] in words_of.ANSWERS
    is_other = bool({*facts.words} - {*usual} - beside)
    return "" if is_answer or is_other else "_".join(usual)
