"""From the reply of a debate judge to its judgment: winner, scores, confidence. Pure.

The reply is one JSON object, anywhere in the text::

    {"scores": {"argument_quality": {"PRO": 7, "CON": 5}, "evidence": {...}, "clash": {...},
     "weighing": {...}}, "winner": "PRO", "confidence": 0.8, "short_reason": "..."}

Scores lie between 0 and 10, the confidence between 0 and 1; further keys are ignored. What is
missing, of the wrong kind or out of range is never filled in nor cut to size: the reply is
`Unparsed`, for one reason of a closed list:

=======================================  ====================================================
``empty reply``                          no text, or only blanks
``refusal``                              no object, and the judge declines
``no JSON object``                       no object with a winner or scores
``truncated JSON``                       an object that is not closed, or thinking without end
``malformed JSON``                       an object that is closed and yet no JSON
``several judgments``                    objects that differ in what they state
``missing: scores.clash.CON``            a field is not there
``out of range: confidence = 85``        a number beyond its range
``not a number: scores.clash.CON``       anything else where a number belongs
``no winner: 'TIE'``                     neither PRO nor CON, in any case
=======================================  ====================================================

Flags go with a judgment that counts: ``text around the JSON``, ``no short_reason``, and ``winner
contradicts the scores`` where the other side has the higher total.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NotRequired, TypeAlias

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from pytest_judgesense.errors import LogError
from pytest_judgesense.replies.formal import stated_objects
from pytest_judgesense.suites.space import object_schema
from pytest_judgesense.trial import Unparsed, Verdict

if TYPE_CHECKING:
    from pytest_judgesense.measures.cell import Cell

SIDES: Final = ("PRO", "CON")
CATEGORIES: Final = ("argument_quality", "evidence", "clash", "weighing")
# The outcome of a reply, and its other content.
_Judged: TypeAlias = tuple[Verdict | Unparsed, dict[str, Any] | None]
_KEYS: Final = frozenset({"scores", "winner"})
_FENCE: Final = re.compile(r"```(?:json)?|\s+", re.IGNORECASE)


def holds_debates(cell: Cell) -> bool:
    """Whether the judgments of a cell are on debates, whatever name a plugin gives their kind.

    One of two sides wins, and a judge has an instability or scores: the labels of any other suite
    may be the sides as well.
    """
    if cell.design.labels != SIDES:
        return False
    scored = any("scores" in (judgment.detail or {}) for judgment in cell.judgments)
    return cell.design.weights is not None or scored


def _no_truth(value: Any) -> Any:
    if isinstance(value, bool):  # JSON's true is not 1
        raise PydanticCustomError("float_type", "a truth value")
    return value


def _side(value: Any) -> Any:
    return value.strip().upper() if isinstance(value, str) else value


_Score = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False), BeforeValidator(_no_truth)]
_Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), BeforeValidator(_no_truth)]


class _Sides(TypedDict):
    PRO: _Score
    CON: _Score


class _Scores(TypedDict):
    argument_quality: _Sides
    evidence: _Sides
    clash: _Sides
    weighing: _Sides


class _Reply(TypedDict):
    scores: _Scores
    winner: Annotated[Literal["PRO", "CON"], BeforeValidator(_side)]
    confidence: _Share
    short_reason: NotRequired[str | None]


class _Logged(TypedDict):
    scores: _Scores
    confidence: _Share
    short_reason: str
    flags: list[str]


_REPLY: Final = TypeAdapter(_Reply)
_LOGGED: Final = TypeAdapter(_Logged)
_NUMBER: Final = {"type": "number"}


# The schema that providers with structured output are sent.
REPLY_SCHEMA: Final[Mapping[str, Any]] = object_schema(
    scores=object_schema(**{name: object_schema(PRO=_NUMBER, CON=_NUMBER) for name in CATEGORIES}),
    winner={"type": "string", "enum": list(SIDES)},
    confidence={"type": "number"},
    short_reason={"type": "string"},
)


def parse_debate(text: str, truncated: bool = False) -> _Judged:
    """The winner that the reply names and its other content, or why it states none.

    ``truncated`` is whether the endpoint says that it cut the reply.

    Returns:
        The verdict, ``PRO`` or ``CON``, with the detail of its `Judgment`; or `Unparsed` with a
        reason of the list in the head of this module, and ``None``.
    """
    objects = stated_objects(
        text, lambda value: value if _KEYS & set(value) else None, truncated=truncated
    )
    if isinstance(objects, Unparsed):
        return objects, None
    answer, stated = objects
    judged = [judgment_of_object(value) for _, _, value in stated]
    if any(other != judged[0] for other in judged):
        return Unparsed("several judgments"), None
    outcome, detail = judged[0]
    start, end, _ = stated[0]
    if detail is not None and (len(stated) > 1 or _FENCE.sub("", answer[:start] + answer[end:])):
        detail = {**detail, "flags": ["text around the JSON", *detail["flags"]]}
    return outcome, detail


def judgment_of_object(value: Mapping[str, Any]) -> _Judged:
    """The content of the object of a reply; see `parse_debate`."""
    try:
        reply = _REPLY.validate_python(value)
    except ValidationError as error:
        return Unparsed(_reason(error)), None
    reason, winner = reply.get("short_reason") or "", reply["winner"]
    scores: Mapping[str, Any] = reply["scores"]
    pro, con = (sum(of[side] for of in scores.values()) for side in SIDES)
    flags = [] if reason else ["no short_reason"]
    if con > pro if winner == "PRO" else pro > con:
        flags.append("winner contradicts the scores")
    stated = {"scores": scores, "confidence": reply["confidence"]}
    return Verdict(winner), {**stated, "short_reason": reason, "flags": flags}


def logged_detail(value: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The detail of the judgment in a line of a log; `LogError` where it is wrong."""
    try:
        # As logs are written here; incomplete values of other programs are completed, or refused
        # with a reason.
        return dict(_LOGGED.validate_python(value, strict=True))
    except ValidationError:
        outcome, detail = judgment_of_object({**value, "winner": value.get("verdict")})
    if detail is None:
        raise LogError(
            f"{where}: the scores or the confidence are wrong",
            found=outcome.reason if isinstance(outcome, Unparsed) else "",
            expected="a score from 0 to 10 for each category and side, and a confidence",
            remedy="fix the line, or make the log again; its form: judgesense explain files",
        )
    return {**detail, "flags": value.get("flags", detail["flags"])}


def _reason(error: ValidationError) -> str:
    problem = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in problem["loc"])
    kind, value = problem["type"], problem["input"]
    if kind == "missing":
        return f"missing: {place}"
    if place == "winner":
        return f"no winner: {str(value)[:20]!r}"
    if kind in ("greater_than_equal", "less_than_equal", "finite_number"):
        return f"out of range: {place} = {value}"
    return f"{'not a text' if place == 'short_reason' else 'not a number'}: {place}"
