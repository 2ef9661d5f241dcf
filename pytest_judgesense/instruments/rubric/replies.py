"""From the reply of a rubric judge to its grades, as one verdict. Pure.

The reply is one JSON object, anywhere in the text, with a grade for each criterion::

    {"accuracy": 4, "coverage": 5, "tone": "pass"}

A grade may be under ``scores`` or ``grades``, and may be an object with ``score`` or ``grade`` and
a reason beside it; ``4.0``, a number or text, and ``4/5`` are 4 (on a scale that ends at 5); case
is ignored in names and words. A value that is not a grade of its scale is missing: it is never
filled in or clipped.

The verdict is the grades as JSON, with criteria in their order and ``null`` for missing ones, so
one line of a judgment log holds them all. A reply without any grade is `Unparsed`:

=======================================  ====================================================
``empty reply``                          no text, or only blanks
``refusal``                              no object, and the judge declines
``no JSON object``                       no object that names a criterion
``truncated JSON``                       an object that is not closed, or thinking without end
``malformed JSON``                       an object that is closed and yet no JSON
``several judgments``                    objects that give one criterion different grades
``no grade: accuracy = 'good'``          criteria are named, and none has a grade of its scale
=======================================  ====================================================
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from pytest_judgesense.replies.formal import stated_objects
from pytest_judgesense.suites.space import (
    DecisionSpace,
    grades_in,
    object_schema,
    verdict_of_grades,
)
from pytest_judgesense.suites.suite import ParsedReply, ReplyForm
from pytest_judgesense.trial import Criterion, Unparsed, Verdict, is_number

_AROUND: Final = frozenset({"scores", "grades", "ratings", "criteria"})
_WITHIN: Final = ("score", "grade", "rating", "value")
_OF: Final = re.compile(r"(\d{1,18})\s*/\s*(\d{1,18})")
_WHOLE: Final = re.compile(r"(-?\d{1,18})\.0{1,18}")
_MISSING: Final = object()


def reply_form(space: DecisionSpace) -> ReplyForm | None:
    """The form of a reply with several grades; ``None`` for one overall score, a plain verdict."""
    if not space.criteria:
        return None
    listed = "; ".join(
        f"{criterion.name}: {', '.join(criterion.labels)}" for criterion in space.criteria
    )
    example = json.dumps({criterion.name: "..." for criterion in space.criteria})
    return ReplyForm(
        partial(parse_grades, space.criteria),
        f"Each criterion has one grade. The grades are {listed}.",
        f"{example} with the grades.",
        object_schema(
            **{criterion.name: _schema(criterion.labels) for criterion in space.criteria}
        ),
    )


def form_of_criterion(criterion: Criterion, criteria: Sequence[Criterion]) -> ReplyForm:
    """The form of a reply to a call that asks for one of several criteria.

    A reply may also be nothing but the grade. The verdict has ``null`` for the other criteria,
    whatever the reply says of them.
    """

    def read(text: str, truncated: bool) -> ParsedReply:
        grade = grade_of(text, criterion.labels)
        if grade is None:
            parsed, detail = parse_grades((criterion,), text, truncated)
            if not isinstance(parsed, Verdict):
                return parsed, detail
            grade = grades_in(parsed.value)[criterion.name]
        of_all = {name.name: None for name in criteria} | {criterion.name: grade}
        return Verdict(verdict_of_grades(of_all)), None

    return ReplyForm(
        read,
        f"The grade for {criterion.name} is one of {', '.join(criterion.labels)}.",
        f"{json.dumps({criterion.name: '...'})} with the grade.",
        object_schema(**{criterion.name: _schema(criterion.labels)}),
    )


def _schema(labels: Sequence[str]) -> dict[str, Any]:
    if all(map(is_number, labels)):
        return {"type": "integer", "enum": [int(label) for label in labels]}
    return {"type": "string", "enum": list(labels)}


def parse_grades(criteria: Sequence[Criterion], text: str, truncated: bool = False) -> ParsedReply:
    """The grades that a reply states, or why it states none; a verdict holds all that counts.

    ``truncated`` is whether the endpoint says that it cut the reply.
    """
    objects = stated_objects(text, partial(_named, criteria), truncated=truncated)
    if isinstance(objects, Unparsed):
        return objects, None
    _, stated = objects
    grades: dict[str, str | None] = {criterion.name: None for criterion in criteria}
    for _, _, of_object in stated:
        for criterion in criteria:
            grade = grade_of(of_object.get(criterion.name, _MISSING), criterion.labels)
            if grade is not None and grades[criterion.name] not in (None, grade):
                return Unparsed("several judgments"), None
            grades[criterion.name] = grade or grades[criterion.name]
    if not any(grades.values()):
        name, value = next(iter(stated[0][2].items()))
        return Unparsed(f"no grade: {name} = {json.dumps(value)[:40]}"), None
    return Verdict(verdict_of_grades(grades)), None


def grade_of(value: object, labels: Sequence[str]) -> str | None:
    """The grade of a scale that a value of a reply means; ``None`` if it means none."""
    if isinstance(value, Mapping):
        folded = {str(key).casefold(): inner for key, inner in value.items()}
        inner = next((folded[name] for name in _WITHIN if name in folded), None)
        return None if isinstance(inner, Mapping) else grade_of(inner, labels)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, float):
        if not value.is_integer():
            return None
        value = int(value) if abs(value) < 1e9 else ""
    if isinstance(value, int) and abs(value) >= 10**18:  # no label has that many digits
        return None
    text = str(value).strip()
    if (of := _OF.fullmatch(text)) and of[2] == labels[-1]:
        text = of[1]
    text = whole[1] if (whole := _WHOLE.fullmatch(text)) else text
    return next((label for label in labels if label.casefold() == text.casefold()), None)


def _named(criteria: Sequence[Criterion], value: Mapping[str, Any]) -> dict[str, Any]:
    """The values of an object under the names of criteria, or of one nested in it."""
    names = {_folded(criterion.name): criterion.name for criterion in criteria}
    grades = {
        names[folded_key]: inner
        for key, inner in value.items()
        if (folded_key := _folded(key)) in names
    }
    for key, inner in () if grades else value.items():
        if str(key).casefold() in _AROUND and isinstance(inner, Mapping):
            return {
                names[folded_key]: value_within
                for k, value_within in inner.items()
                if (folded_key := _folded(k)) in names
            }
    return grades


def _folded(name: object) -> str:
    return re.sub(r"[\s_-]+", "-", str(name).strip().casefold())
