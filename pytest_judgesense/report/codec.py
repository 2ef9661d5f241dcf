"""The datasheet as JSON, version 1, and parts of it to and from plain values.

The file has the same bytes for the same judgments and seed: keys are in a fixed order, rates are
unrounded, and it does not contain the time of writing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Final

from pytest_judgesense.datasheet import (
    Calls,
    CheckLine,
    Datasheet,
    GatedNumber,
    SuiteSheet,
    changed_between,
    merge_parts,
    prompts_digest,
    setting_notices,
    span_of,
    state_of,
    wall_clock_s,
)
from pytest_judgesense.estimate import Clustered, Estimate, Interval, Missing, NewWordings
from pytest_judgesense.report.kinds import refuse_other_kinds

SCHEMA: Final = "judgesense/datasheet/1"
# The fields of a judge besides its identity, which follow from its parts.
DERIVED: Final = frozenset(("served", "prompts", "suites", "state", "recorded"))
# What stays in the process that has counted the units of an estimate.
_NOT_WRITTEN: Final = frozenset(("at", "each", "observations", "anew"))


def datasheet_json(sheet: Datasheet) -> str:
    """The datasheet as JSON text, with a newline at its end."""
    head = {"seed": sheet.seed, "mode": sheet.mode, "versions": dict(sheet.versions)}
    judges = [
        summed_up(
            judge.identity,
            [_part(part, sheet.mode) for part in judge.parts],
            [_estimate(estimate) for estimate in judge.estimates],
            part_to_plain(judge.checks),
            [dict(analysis) for analysis in judge.analyses],
        )
        for judge in sheet.judges
    ]
    return sheet_text(head, judges, sheet.analyses)


def sheet_text(
    head: Mapping[str, Any],
    judges: Sequence[Mapping[str, Any]],
    compared: Sequence[Mapping[str, Any]],
) -> str:
    """The text of a datasheet from its head (seed, mode and versions) and its judges' entries.

    Each judge has those tables of ``compared`` that are of its suites.
    """
    budgets = [{one["suite"]: one.get("max_tokens") for one in entry["parts"]} for entry in judges]
    notices = setting_notices((entry["judge"] for entry in judges), budgets)
    entries = []
    for entry in judges:
        of_suites = [one for one in compared if one["suite"] in entry["judge"]["suites"]]
        beside: dict[str, list[Any]] = {"analyses": of_suites, "notices": notices}
        entries.append({**entry, **{key: [*entry[key], *more] for key, more in beside.items()}})
    value = {"schema": SCHEMA, **head, "judges": entries}
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def summed_up(
    identity: Mapping[str, Any],
    parts: list[dict[str, Any]],
    measures: list[dict[str, Any]],
    checks: list[dict[str, Any]],
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
        "analyses": analyses,
        "calls": part_to_plain(sum((Calls(**part["calls"]) for part in parts), Calls())),
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
        "calls": part_to_plain(part.calls),
        "notices": part.notices,
        "material": part.material,
        **({} if part.max_tokens is None else {"max_tokens": part.max_tokens}),
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
    made: dict[str, Any] = part_to_plain(estimate)
    count, clustered = made["count"], made["clustered"]
    if count is not None and count == int(count):
        made["count"] = int(count)  # it is whole except where pairs share a call: 3, not 3.0
    if clustered:
        del clustered["lower_bound"], clustered["upper_bound"]
    del made["missing"]["share"]
    return made


def part_to_plain(value: Any) -> Any:
    """A part, or a value of one, as JSON values, as a worker process sends it."""
    if isinstance(value, tuple):
        return [part_to_plain(one) for one in value]
    kind: Any = type(value)
    if not (names := _sent(kind)):
        return value
    made = {name: part_to_plain(getattr(value, name)) for name in names}
    if made.get("limit", False) is None:
        del made["limit"]  # of a check with a bar alone
    return made


@cache
def _sent(kind: Any) -> tuple[str, ...]:
    """The fields of a record that its plain form holds; none of any other value."""
    names = (one.name for one in fields(kind)) if is_dataclass(kind) else ()
    return tuple(name for name in names if name not in _NOT_WRITTEN)


def part_from_plain(value: Mapping[str, Any]) -> SuiteSheet:
    """The part that `part_to_plain` was given; its estimates may be as they were."""
    made = _with_tuples(value)
    made["estimates"] = tuple(
        one if isinstance(one, Estimate) else estimate_from(one) for one in value["estimates"]
    )
    made["calls"] = Calls(**value["calls"])
    made["checks"] = tuple(map(check_from, value["checks"]))
    return SuiteSheet(**made)


def check_from(value: Mapping[str, Any]) -> CheckLine:
    """The check from its JSON fields."""
    gates = tuple(GatedNumber(**gate) for gate in value.get("gates", ()))
    return CheckLine(**{**_with_tuples(value), "gates": gates})


def estimate_from(value: Mapping[str, Any]) -> Estimate:
    """The estimate from its JSON fields."""
    made, interval, clustered = _with_tuples(value), value["interval"], value["clustered"]
    made["interval"] = interval and Interval(**interval)
    made["clustered"] = clustered and Clustered(**clustered)
    made["new_wordings"] = (ends := value.get("new_wordings")) and NewWordings(**ends)
    made["missing"] = Missing(**value["missing"])
    return Estimate(**made)


def _with_tuples(value: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a frozen value, which JSON holds lists of."""
    return {name: tuple(one) if isinstance(one, list) else one for name, one in value.items()}


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
        return [one for one in entry[kind] if one["suite"] == part["suite"]]

    return SuiteSheet(
        judge=part["judge"],
        suite=part["suite"],
        identity={key: one for key, one in entry["judge"].items() if key not in DERIVED},
        suite_digest=part["digest"],
        served=tuple(part["served"]),
        recorded=(str(span["first"]), str(span["last"])) if span else None,
        estimates=tuple(one for one in measures if one.suite == part["suite"]),
        calls=Calls(**part["calls"]),
        checks=tuple(map(check_from, of_suite("checks"))),
        notices=tuple(part["notices"]),
        analyses=tuple(of_suite("analyses")),
        material=part["material"],
        prompts_of_file=part["prompts"],
        max_tokens=part.get("max_tokens"),
    )


def _estimate_of_file(value: Mapping[str, Any]) -> Estimate:
    """An estimate as a datasheet's file holds it."""
    ends = value["clustered"]
    # The file holds no one-sided bounds, and nothing that is read from it needs them.
    bounds = ends and {"lower_bound": ends["lower"], "upper_bound": ends["upper"]}
    return estimate_from({**value, "clustered": ends and {**ends, **bounds}})
