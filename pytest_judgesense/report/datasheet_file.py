"""The datasheet as JSON, version 1: the form of the file, written and read.

The file has the same bytes for the same judgments and seed: keys are in a fixed order, rates are
unrounded, and it does not contain the time of writing. Somebody may have edited it before it is
read, so the kind of every value is looked at.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NotRequired, TypeAlias

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from pytest_judgesense.datasheets.datasheet import (
    AgainstBaseline,
    Calls,
    ChangedItem,
    CheckLine,
    Datasheet,
    GatedNumber,
    KnownState,
    MeasuredChange,
    OverSessions,
    SuiteSheet,
    UncomparedCheck,
    changed_between,
    merge_parts,
    prompts_digest,
    setting_notices,
    span_of,
    state_of,
    wall_clock_s,
)
from pytest_judgesense.errors import LogError
from pytest_judgesense.estimate import Clustered, Estimate, Interval, Missing, NewWordings
from pytest_judgesense.files.limits import json_value
from pytest_judgesense.files.opening import read_text

SCHEMA: Final = "judgesense/datasheet/1"
# The fields of a judge besides its identity, which follow from its parts.
DERIVED: Final = frozenset(("served", "prompts", "suites", "state", "recorded"))
# What stays in the process that has judgments, and has counted the units of an estimate.
_NOT_WRITTEN: Final = frozenset(
    ("each", "observations", "folded_units", "moving_units", "proportion", "reach", "anew")
) | {"skipped_labels", "cell"}
_LEVELS: Final = "at"  # of an interval, a function
# Of a check with a bar alone, of one that compares with no baseline and no sessions, and of one
# without a known failure.
_LEFT_OUT: Final = frozenset(
    ("limit", "against", "change", "over", "known", "reasoning_tokens", "sent", "timed_out")
)
_Number: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]
_Both: TypeAlias = Annotated[list[str], Field(min_length=2, max_length=2)]
_Condition: TypeAlias = dict[str, str | int | _Number]
_OF_A_JUDGE = 3  # parts of the place of a judge's key: ("judges", 0, "measures")
_Form = with_config(ConfigDict(strict=True, extra="allow"))


@_Form
class _Interval(TypedDict):
    method: str
    lower: _Number
    upper: _Number
    level: _Number


@_Form
class _Clustered(_Interval):
    clusters: int
    design_effect: _Number | None
    effective_n: _Number | None


@_Form
class _NewWordings(_Interval):
    wordings: int


@_Form
class _Missing(TypedDict):
    unparsed: int
    failed: int
    lower_bound: _Number | None
    upper_bound: _Number | None


@_Form
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


@_Form
class _GatedNumber(TypedDict):
    measure: str
    condition: _Condition
    bar: _Number
    sign: str
    outcome: str
    limit: NotRequired[_Number | None]
    value: NotRequired[_Number | None]
    lower: NotRequired[_Number | None]
    upper: NotRequired[_Number | None]


@_Form
class _ChangedItem(TypedDict):
    item: str
    trial: str
    times: int
    question: str
    contents: list[str]
    verdicts: _Both
    replies: _Both


@_Form
class _MeasuredChange(TypedDict):
    verdict: Literal["regressed", "improved", "unchanged", "inconclusive"]
    measure: str
    then: _Number | None
    now: _Number | None
    difference: _Number | None
    lower: _Number | None
    upper: _Number | None
    words: str


@_Form
class _Against(TypedDict):
    baseline: str
    summary: str
    changes: list[str]
    moved: int
    items: int
    examples: list[_ChangedItem]
    change: NotRequired[_MeasuredChange]


@_Form
class _OverSessions(TypedDict):
    process: str
    sessions: int
    left_out: int
    wealth: _Number
    alarm: int | None
    since: int | None
    since_at: str
    changes: list[str]
    spread_p: _Number | None
    confirmed_by: NotRequired[int | None]


@_Form
class _Known(TypedDict):
    reason: str
    at: _Number
    until: str
    breach: NotRequired[str]
    since: NotRequired[str]
    widened: NotRequired[str]


@_Form
class _Uncompared(TypedDict):
    check: str
    measure: str
    suite: str
    reason: str


@_Form
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
    gates: NotRequired[list[_GatedNumber]]
    against: NotRequired[_Against]
    over: NotRequired[_OverSessions]
    known: NotRequired[_Known]


@_Form
class _Analysis(TypedDict):
    analysis: str
    suite: str
    rows: list[dict[str, Any]]
    lines: NotRequired[list[str]]


@_Form
class _Span(TypedDict):
    first: str
    last: str


@_Form
class _Calls(TypedDict, total=False):
    made: int
    sent: int
    replayed: int
    retried: int
    timed_out: int
    failed: int
    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None
    cost_usd: _Number | None


@_Form
class _ConfusedCalls(TypedDict):
    label: str
    verdict: str | None
    calls: dict[str, int]
    confidences: NotRequired[dict[str, list[_Number]]]


@_Form
class _SharedRequest(TypedDict):
    prompt: str
    settings: dict[str, str]
    form: str


@_Form
class _Calibration(TypedDict):
    labels: list[str]
    pairwise: bool
    orders: list[str]
    drawn: str | None
    confusion: list[_ConfusedCalls]
    sent: _SharedRequest | None


@_Form
class _Part(TypedDict):
    judge: str
    suite: str
    digest: str | None
    served: list[str]
    recorded: _Span | None
    calls: _Calls
    notices: list[str]
    material: dict[str, Any] | None
    calibration: NotRequired[_Calibration]


@_Form
class _Identity(TypedDict):
    name: str


@_Form
class _Judge(TypedDict):
    judge: _Identity
    measures: list[_Estimate]
    checks: list[_Check]
    not_compared: NotRequired[list[_Uncompared]]
    analyses: list[_Analysis]
    parts: list[_Part]


@_Form
class _Sheet(TypedDict):
    seed: int
    mode: str
    versions: dict[str, str]
    judges: list[_Judge]


def datasheet_json(sheet: Datasheet) -> str:
    """The datasheet as JSON text, with a newline at its end."""
    return _text_of(datasheet_values(sheet))


def datasheet_values(sheet: Datasheet) -> dict[str, Any]:
    """The datasheet as the values of its JSON text."""
    head = {"seed": sheet.seed, "mode": sheet.mode, "versions": dict(sheet.versions)}
    judges = [
        summed_up(
            judge.identity,
            [_part(part, sheet.mode) for part in judge.parts],
            [_estimate(estimate) for estimate in judge.estimates],
            to_plain(judge.checks),
            to_plain(judge.not_compared),
            [dict(analysis) for analysis in judge.analyses],
        )
        for judge in sheet.judges
    ]
    return _sheet_values(head, judges, sheet.analyses)


def sheet_text(
    head: Mapping[str, Any],
    judges: Sequence[Mapping[str, Any]],
    compared: Sequence[Mapping[str, Any]],
) -> str:
    """The text of a datasheet from its head (seed, mode and versions) and its judges' entries.

    Each judge has those tables of ``compared`` that are of its suites.
    """
    return _text_of(_sheet_values(head, judges, compared))


def _sheet_values(
    head: Mapping[str, Any],
    judges: Sequence[Mapping[str, Any]],
    compared: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    budgets = [
        {part["suite"]: part.get("max_tokens") for part in entry["parts"]} for entry in judges
    ]
    notices = setting_notices((entry["judge"] for entry in judges), budgets)
    entries = []
    for entry in judges:
        of_suites = [table for table in compared if table["suite"] in entry["judge"]["suites"]]
        beside: dict[str, list[Any]] = {"analyses": of_suites, "notices": notices}
        entries.append({**entry, **{key: [*entry[key], *more] for key, more in beside.items()}})
    return {"schema": SCHEMA, **head, "judges": entries}


def _text_of(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def summed_up(
    identity: Mapping[str, Any],
    parts: list[dict[str, Any]],
    measures: list[dict[str, Any]],
    checks: list[dict[str, Any]],
    not_compared: list[dict[str, Any]],
    analyses: list[dict[str, Any]],
) -> dict[str, Any]:
    """A judge's entry in the datasheet, from its suites."""
    spans = [(span["first"], span["last"]) for part in parts if (span := part["recorded"])]
    states = {part["state"] for part in parts}
    return {
        "judge": {
            **identity,
            "served": sorted({model for part in parts for model in part["served"]}),
            "prompts": prompts_digest({part["suite"]: part["prompts"] for part in parts}),
            "suites": {part["suite"]: part["digest"] for part in parts},
            "state": states.pop() if len(states) == 1 else "PARTLY FRESH",
            "recorded": _span(span_of(spans), spans),
        },
        "measures": measures,
        "checks": checks,
        **({"not_compared": not_compared} if not_compared else {}),
        "analyses": analyses,
        "calls": to_plain(sum((Calls(**part["calls"]) for part in parts), Calls())),
        "notices": [
            *(notice for part in parts for notice in part["notices"]),
            *changed_between({part["suite"]: part["served"] for part in parts}),
        ],
        "parts": parts,
    }


def _part(part: SuiteSheet, mode: str) -> dict[str, Any]:
    return {
        "judge": part.judge,
        "suite": part.suite,
        "digest": part.suite_digest,
        "prompts": part.prompts_digest,
        "served": part.served,
        "state": state_of(mode, part.calls),
        "recorded": _span(part.recorded, [part.recorded]),
        "calls": to_plain(part.calls),
        "notices": part.notices,
        "material": part.material,
        **({} if part.max_tokens is None else {"max_tokens": part.max_tokens}),
        **({} if part.temperature is None else {"temperature": part.temperature}),
        **({} if part.calibration is None else {"calibration": part.calibration}),
    }


def _span(
    recorded: tuple[str, str] | None, parts: Iterable[tuple[str, str] | None]
) -> dict[str, Any] | None:
    """When the first and the last answer were recorded, and how long that took suite by suite."""
    if recorded is None:
        return None
    first, last = recorded
    return {"first": first, "last": last, "wall_clock_s": wall_clock_s(parts)}


def _estimate(estimate: Estimate) -> dict[str, Any]:
    """An estimate as a datasheet's file holds it: without what another field implies."""
    plain: dict[str, Any] = to_plain(estimate)
    count, clustered = plain["count"], plain["clustered"]
    if count is not None and count == int(count):
        plain["count"] = int(count)  # it is whole except where pairs share a call: 3, not 3.0
    if clustered:
        del clustered["lower_bound"], clustered["upper_bound"]
    del plain["missing"]["share"]
    return plain


def to_plain(value: Any) -> Any:
    """A value of a datasheet as JSON values: a record is an object."""
    if isinstance(value, tuple):
        return [to_plain(item) for item in value]
    kind: Any = type(value)
    if not (names := _sent(kind)):
        return value
    plain = {name: to_plain(getattr(value, name)) for name in names}
    for name in _LEFT_OUT & plain.keys():
        if plain[name] is None:
            del plain[name]
    return plain


@cache
def _sent(kind: Any) -> tuple[str, ...]:
    """The fields of a record that its plain form holds; none of any other value."""
    names = (field.name for field in fields(kind)) if is_dataclass(kind) else ()
    of_levels = issubclass(kind, Clustered | NewWordings)
    left_out = _NOT_WRITTEN | ({_LEVELS} if of_levels else set())
    return tuple(name for name in names if name not in left_out)


def check_from(value: Mapping[str, Any]) -> CheckLine:
    """The check from its JSON fields."""
    gates = tuple(GatedNumber(**gate) for gate in value.get("gates", ()))
    values = {**_with_tuples(value), "gates": gates}
    if (against := value.get("against")) is not None:
        examples = tuple(ChangedItem(**_with_tuples(item)) for item in against["examples"])
        change = against.get("change") and MeasuredChange(**against["change"])
        read = {**_with_tuples(against), "examples": examples, "change": change}
        values["against"] = AgainstBaseline(**read)
    if (over := value.get("over")) is not None:
        values["over"] = OverSessions(**_with_tuples(over))
    if (accepted := value.get("known")) is not None:
        values["known"] = KnownState(**accepted)
    return CheckLine(**values)


def estimate_from(value: Mapping[str, Any]) -> Estimate:
    """The estimate from its JSON fields."""
    values, interval, clustered = _with_tuples(value), value["interval"], value["clustered"]
    values["interval"] = interval and Interval(**interval)
    values["clustered"] = clustered and Clustered(**clustered)
    values["new_wordings"] = (ends := value.get("new_wordings")) and NewWordings(**ends)
    values["missing"] = Missing(**value["missing"])
    return Estimate(**values)


def _with_tuples(value: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a frozen value, which JSON holds lists of."""
    return {name: tuple(item) if isinstance(item, list) else item for name, item in value.items()}


def datasheet_object(path: Path) -> dict[str, Any]:
    """The JSON object of a datasheet; raises a `LogError` if there is none."""
    with LogError.instead_of((OSError, ValueError), f"the datasheet {path} cannot be read"):
        value = json_value(read_text(path))
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        raise LogError(f"{path} is not a datasheet", expected=f"a JSON object with schema {SCHEMA}")
    return value


def datasheet_from(value: Mapping[str, Any]) -> Datasheet:
    """The datasheet of a file's plain values: everything but the judgments behind it.

    Raises:
        KeyError, TypeError, AttributeError, ValueError: it is of another form.
    """
    refuse_other_kinds(value)
    parts = [
        _part_of_file(part, entry, measures)
        for entry in value["judges"]
        for measures in [[*map(_estimate_of_file, entry["measures"])]]
        for part in entry["parts"]
    ]
    seed, mode, versions = int(value["seed"]), str(value["mode"]), dict(value["versions"])
    return merge_parts(parts, seed=seed, mode=mode, versions=versions)


def _part_of_file(
    part: Mapping[str, Any], entry: Mapping[str, Any], measures: Iterable[Estimate]
) -> SuiteSheet:
    """A part as a datasheet's file holds it in the ``entry`` of its judge, with its measures."""
    span = part["recorded"]

    def of_suite(kind: str) -> list[Any]:
        return [line for line in entry.get(kind, ()) if line["suite"] == part["suite"]]

    return SuiteSheet(
        judge=part["judge"],
        suite=part["suite"],
        identity={key: item for key, item in entry["judge"].items() if key not in DERIVED},
        suite_digest=part["digest"],
        served=tuple(part["served"]),
        recorded=(str(span["first"]), str(span["last"])) if span else None,
        estimates=tuple(estimate for estimate in measures if estimate.suite == part["suite"]),
        calls=Calls(**part["calls"]),
        checks=tuple(map(check_from, of_suite("checks"))),
        notices=tuple(part["notices"]),
        analyses=tuple(of_suite("analyses")),
        material=part["material"],
        prompts_of_file=part["prompts"],
        max_tokens=part.get("max_tokens"),
        temperature=part.get("temperature"),
        not_compared=tuple(UncomparedCheck(**line) for line in of_suite("not_compared")),
        calibration=part.get("calibration"),
    )


def _estimate_of_file(value: Mapping[str, Any]) -> Estimate:
    """An estimate as a datasheet's file holds it."""
    ends = value["clustered"]
    # The file holds no one-sided bounds, and nothing that is read from it needs them.
    bounds = ends and {"lower_bound": ends["lower"], "upper_bound": ends["upper"]}
    return estimate_from({**value, "clustered": ends and {**ends, **bounds}})


def refuse_other_kinds(sheet: Mapping[str, Any]) -> None:
    """Raise `ValueError` for the first value of a datasheet's file that is of another kind."""
    try:
        _validator().validate_python(sheet)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        # Who looks up a key of the whole, or of a judge, names it where there is none.
        shown = [
            problem
            for problem in problems
            if problem["type"] != "missing" or len(problem["loc"]) > _OF_A_JUDGE
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
