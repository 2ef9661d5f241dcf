"""The datasheet as JSON, version 1, and parts of it to and from plain values.

The file has the same bytes for the same judgments and seed: keys are in a fixed order, rates are
unrounded, and it does not contain the time of writing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Final

from pytest_judgesense.datasheet import (
    Calls,
    CheckLine,
    Datasheet,
    Gate,
    JudgeSheet,
    SuiteSheet,
    merge_parts,
    setting_notices,
    state_of,
)
from pytest_judgesense.estimate import Clustered, Estimate, Interval, Missing
from pytest_judgesense.report.kinds import EstimateOfFile, JudgeOfFile, PartOfFile, sheet_of_file

SCHEMA: Final = "judgesense/datasheet/1"
# The fields of a judge besides its identity, which follow from its parts.
_DERIVED: Final = frozenset(("served", "prompts", "suites", "state", "recorded"))
# What stays in the process that has counted the units of an estimate.
_NOT_WRITTEN: Final = frozenset(("at", "observations", "anew"))
# The fields of records that hold records.
_RECORDS: Final = {
    "estimates": Estimate,
    "interval": Interval,
    "clustered": Clustered,
    "missing": Missing,
    "calls": Calls,
    "checks": CheckLine,
    "gates": Gate,
}


def datasheet_json(sheet: Datasheet) -> str:
    """The datasheet as JSON text, with a newline at its end."""
    value = {
        "schema": SCHEMA,
        "seed": sheet.seed,
        "mode": sheet.mode,
        "versions": dict(sheet.versions),
        "judges": [_judge(judge, sheet) for judge in sheet.judges],
    }
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _judge(judge: JudgeSheet, sheet: Datasheet) -> dict[str, Any]:
    """A judge's entry in the datasheet; it has the comparisons of judges on its suites, too."""
    parts = [_part(part, sheet.mode) for part in judge.parts]
    states = {part["state"] for part in parts}
    suites = {part.suite: part.suite_digest for part in judge.parts}
    return {
        "judge": {
            **judge.identity,
            "served": judge.served,
            "prompts": judge.prompts,
            "suites": suites,
            "state": states.pop() if len(states) == 1 else "PARTLY FRESH",
            "recorded": _span(judge.recorded),
        },
        "measures": list(map(_estimate, judge.estimates)),
        "checks": part_to_plain(judge.checks),
        "analyses": [*judge.analyses, *(one for one in sheet.analyses if one["suite"] in suites)],
        "calls": part_to_plain(judge.calls),
        "notices": [
            *(notice for part in judge.parts for notice in part.notices),
            *judge.changed,
            *setting_notices(one.identity for one in sheet.judges),
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
        "recorded": _span(part.recorded),
        "calls": part_to_plain(part.calls),
        "notices": part.notices,
        "material": part.material,
    }


def _span(recorded: tuple[str, str] | None) -> dict[str, str] | None:
    return recorded and dict(zip(("first", "last"), recorded, strict=True))


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
    names = _sent(kind)
    return {name: part_to_plain(getattr(value, name)) for name in names} if names else value


@cache
def _sent(kind: Any) -> tuple[str, ...]:
    """The fields of a record that its plain form holds; none of any other value."""
    names = (one.name for one in fields(kind)) if is_dataclass(kind) else ()
    return tuple(name for name in names if name not in _NOT_WRITTEN)


def part_from_plain(value: Mapping[str, Any]) -> SuiteSheet:
    """The part that `part_to_plain` was given; its estimates may be as they were."""
    part: SuiteSheet = _from_plain(SuiteSheet, value)
    return part


def _from_plain(kind: Any, value: Any) -> Any:
    """The record, or the tuple of records, of this kind; without a kind the value as it is."""
    if isinstance(value, list):
        return tuple(_from_plain(kind, one) for one in value)
    if kind is None or not isinstance(value, Mapping):
        return value
    return kind(**{name: _from_plain(_RECORDS.get(name), one) for name, one in value.items()})


def datasheet_from(value: Mapping[str, Any]) -> Datasheet:
    """The datasheet of a file's plain values: everything but the judgments behind it.

    Raises:
        KeyError, ValueError: it is of another form.
    """
    sheet = sheet_of_file(value)
    parts = [_part_of_file(part, entry) for entry in sheet["judges"] for part in entry["parts"]]
    return merge_parts(parts, seed=sheet["seed"], mode=sheet["mode"], versions=sheet["versions"])


def _part_of_file(part: PartOfFile, entry: JudgeOfFile) -> SuiteSheet:
    """A part as a datasheet's file holds it, in the ``entry`` of its judge."""
    suite, span = part["suite"], part["recorded"]
    return SuiteSheet(
        judge=part["judge"],
        suite=suite,
        identity={key: one for key, one in entry["judge"].items() if key not in _DERIVED},
        suite_digest=part["digest"],
        served=part["served"],
        recorded=span and (span["first"], span["last"]),
        estimates=tuple(_made(one) for one in entry["measures"] if one["suite"] == suite),
        calls=part["calls"],
        checks=tuple(one for one in entry["checks"] if one.suite == suite),
        notices=part["notices"],
        analyses=tuple(one for one in entry["analyses"] if one["suite"] == suite),
        material=part["material"],
        prompts_of_file=part["prompts"],
    )


def _made(estimate: EstimateOfFile) -> Estimate:
    """The estimate of a file, which holds no one-sided bounds: nothing that is read needs them."""
    made, ends = dict(estimate), estimate["clustered"]
    if ends is not None:
        made["clustered"] = {**ends, "lower_bound": ends["lower"], "upper_bound": ends["upper"]}
    found: Estimate = _from_plain(Estimate, made)
    return found
