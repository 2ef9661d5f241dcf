"""The kinds of values in a datasheet's file, which somebody may have edited."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, NotRequired, TypeAlias

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

_Number: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]
_Condition: TypeAlias = dict[str, str | int | _Number]
_OF_A_JUDGE = 3  # parts of the place of a judge's key: ("judges", 0, "measures")
_Kinds = with_config(ConfigDict(strict=True, extra="allow"))


@_Kinds
class _Interval(TypedDict):
    method: str
    lower: _Number
    upper: _Number
    level: _Number


@_Kinds
class _Clustered(_Interval):
    clusters: int
    design_effect: _Number | None
    effective_n: _Number | None


@_Kinds
class _NewWordings(_Interval):
    wordings: int


@_Kinds
class _Missing(TypedDict):
    unparsed: int
    failed: int
    lower_bound: _Number | None
    upper_bound: _Number | None


@_Kinds
class _Estimate(TypedDict):
    measure: str
    suite: str
    condition: _Condition
    value: _Number | None
    count: _Number | None
    n: int
    unit: str
    interval: _Interval | None
    clustered: _Clustered | None
    new_wordings: NotRequired[_NewWordings | None]
    missing: _Missing
    flags: list[str]
    unavailable: str | None


@_Kinds
class _Gate(TypedDict):
    measure: str
    condition: _Condition
    bar: _Number
    sign: str
    outcome: str
    limit: NotRequired[_Number | None]
    value: NotRequired[_Number | None]
    lower: NotRequired[_Number | None]
    upper: NotRequired[_Number | None]


@_Kinds
class _Check(TypedDict):
    check: str
    measure: str
    suite: str
    condition: NotRequired[_Condition]
    bar: _Number | dict[str, _Number]
    limit: NotRequired[_Number | dict[str, _Number] | None]
    outcome: str
    policy: str
    explanation: str
    warnings: NotRequired[list[str]]
    sentence: NotRequired[str]
    measured: NotRequired[str]
    example: NotRequired[str]
    gates: NotRequired[list[_Gate]]


@_Kinds
class _Analysis(TypedDict):
    analysis: str
    suite: str
    rows: list[dict[str, Any]]
    lines: NotRequired[list[str]]


@_Kinds
class _Span(TypedDict):
    first: str
    last: str


@_Kinds
class _Calls(TypedDict, total=False):
    made: int
    replayed: int
    retried: int
    failed: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: _Number | None


@_Kinds
class _Part(TypedDict):
    judge: str
    suite: str
    digest: str | None
    served: list[str]
    recorded: _Span | None
    calls: _Calls
    notices: list[str]
    material: dict[str, Any] | None


@_Kinds
class _Identity(TypedDict):
    name: str


@_Kinds
class _Judge(TypedDict):
    judge: _Identity
    measures: list[_Estimate]
    checks: list[_Check]
    analyses: list[_Analysis]
    parts: list[_Part]


@_Kinds
class _Sheet(TypedDict):
    seed: int
    mode: str
    versions: dict[str, str]
    judges: list[_Judge]


def refuse_other_kinds(sheet: Mapping[str, Any]) -> None:
    """Raise `ValueError` for the first value of a datasheet's file that is of another kind."""
    try:
        _validator().validate_python(sheet)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        # Who looks up a key of the whole, or of a judge, names it where there is none.
        shown = [
            one for one in problems if one["type"] != "missing" or len(one["loc"]) > _OF_A_JUDGE
        ]
        if not shown:
            return
        problem = shown[0]
        place = ".".join(map(str, problem["loc"]))
        raise ValueError(f"{place}: {problem['msg']}") from error


@lru_cache
def _validator() -> Any:
    """Made for the first file that is read: most sessions read none."""
    return TypeAdapter(_Sheet).validator
