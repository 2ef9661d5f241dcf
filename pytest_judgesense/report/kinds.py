"""The form of a datasheet's file, which somebody may have edited: its values by their kinds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, NotRequired

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from pytest_judgesense.datasheet import Calls, CheckLine

_OF_A_JUDGE: Final = 3  # parts of the place of a judge's key: ("judges", 0, "measures")
# Also for the records within: no number is infinite.
_Kinds = with_config(ConfigDict(allow_inf_nan=False))
# A later version may add keys, which stay.
_Open = with_config(ConfigDict(extra="allow"))


@_Kinds
class _Interval(TypedDict):
    method: str
    lower: float
    upper: float
    level: float


@_Kinds
class _Clustered(_Interval):
    clusters: int
    design_effect: float | None
    effective_n: float | None


@_Kinds
class _Missing(TypedDict):
    unparsed: int
    failed: int
    lower_bound: float | None
    upper_bound: float | None


@_Kinds
class EstimateOfFile(TypedDict):
    """An estimate, without what its other fields imply."""

    measure: str
    suite: str
    condition: dict[str, str | int | float]
    value: float | None
    count: float | None
    n: int
    unit: str
    interval: _Interval | None
    clustered: _Clustered | None
    missing: _Missing
    flags: tuple[str, ...]
    unavailable: str | None


@_Open
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
class PartOfFile(TypedDict):
    """One judge on one suite, without what stands with its judge."""

    judge: str
    suite: str
    digest: str | None
    prompts: str | None
    served: tuple[str, ...]
    recorded: _Span | None
    calls: Calls
    notices: tuple[str, ...]
    material: dict[str, Any] | None


@_Open
class _Identity(TypedDict):
    name: str


@_Kinds
class JudgeOfFile(TypedDict):
    """One judge, with the estimates, checks and tables of all its suites."""

    measures: list[EstimateOfFile]
    checks: list[CheckLine]
    analyses: list[_Analysis]
    judge: _Identity
    parts: list[PartOfFile]


@_Kinds
class SheetOfFile(TypedDict):
    """A whole datasheet."""

    judges: list[JudgeOfFile]
    seed: int
    mode: str
    versions: dict[str, str]


def sheet_of_file(value: Mapping[str, Any]) -> SheetOfFile:
    """The datasheet of a file's plain values.

    Raises:
        KeyError: the whole, or a judge, lacks a key.
        ValueError: a value is of another kind; it names the place of the first one.
    """
    try:
        # As JSON, in which a list may be a tuple, and an object a record.
        sheet: SheetOfFile = _adapter().validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        wrong = [
            one for one in problems if one["type"] != "missing" or len(one["loc"]) > _OF_A_JUDGE
        ]
        if not wrong:
            raise KeyError(problems[0]["loc"][-1]) from error
        place = ".".join(map(str, wrong[0]["loc"]))
        raise ValueError(f"{place}: {wrong[0]['msg']}") from error
    return sheet


@cache
def _adapter() -> TypeAdapter[SheetOfFile]:
    """Made for the first file that is read: most sessions read none."""
    return TypeAdapter(SheetOfFile)
