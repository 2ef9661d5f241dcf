"""The datasheet as JSON, version 1, and parts of it to and from plain values.

The file is the same byte for byte for the same judgments and seed: keys stand in a fixed order,
rates are unrounded, and no time of writing is in it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from pytest_judgesense.datasheet import (
    Calls,
    CheckLine,
    Datasheet,
    SuiteSheet,
    changed_between,
    prompts_digest,
    setting_notices,
    state_of,
)
from pytest_judgesense.estimate import Clustered, Estimate, Interval, Missing

SCHEMA: Final = "judgesense/datasheet/1"

_INTERVAL: Final = ("method", "lower", "upper", "level")
_CLUSTERED: Final = ("clusters", "design_effect", "effective_n")
_MISSING: Final = ("unparsed", "failed", "lower_bound", "upper_bound")


def datasheet_json(sheet: Datasheet) -> str:
    """The datasheet as JSON text, with a newline at its end."""
    head = {"seed": sheet.seed, "mode": sheet.mode, "versions": dict(sheet.versions)}
    judges = [
        summed_up(
            judge.identity,
            [_part(part, sheet.mode) for part in judge.parts],
            [_estimate(estimate) for estimate in judge.estimates],
            [_check(line) for line in judge.checks],
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
    notices = setting_notices(entry["judge"] for entry in judges)
    entries = [
        {
            **entry,
            "analyses": [
                *entry["analyses"],
                *(one for one in compared if one["suite"] in entry["judge"]["suites"]),
            ],
            "notices": [*entry["notices"], *notices],
        }
        for entry in judges
    ]
    value = {"schema": SCHEMA, **head, "judges": entries}
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def summed_up(
    identity: Mapping[str, Any],
    parts: list[dict[str, Any]],
    measures: list[dict[str, Any]],
    checks: list[dict[str, Any]],
    analyses: list[dict[str, Any]],
) -> dict[str, Any]:
    """A judge's entry in the datasheet, from what is known of each of its suites."""
    spans = [part["recorded"] for part in parts if part["recorded"]]
    calls = sum((Calls(**part["calls"]) for part in parts), Calls())
    states = {part["state"] for part in parts}
    return {
        "judge": {
            **identity,
            "served": sorted({model for part in parts for model in part["served"]}),
            "prompts": prompts_digest({part["suite"]: part["prompts"] for part in parts}),
            "suites": {part["suite"]: part["digest"] for part in parts},
            "state": states.pop() if len(states) == 1 else "PARTLY FRESH",
            "recorded": {
                "first": min(span["first"] for span in spans),
                "last": max(span["last"] for span in spans),
            }
            if spans
            else None,
        },
        "measures": measures,
        "checks": checks,
        "analyses": analyses,
        "calls": asdict(calls),
        "notices": [
            *(notice for part in parts for notice in part["notices"]),
            *changed_between({part["suite"]: part["served"] for part in parts}),
        ],
        "parts": parts,
    }


def _part(part: SuiteSheet, mode: str) -> dict[str, Any]:
    recorded = part.recorded
    return {
        "judge": part.judge,
        "suite": part.suite,
        "digest": part.suite_digest,
        "prompts": part.prompts_digest,
        "served": list(part.served),
        "state": state_of(mode, part.calls),
        "recorded": {"first": recorded[0], "last": recorded[1]} if recorded else None,
        "calls": asdict(part.calls),
        "notices": list(part.notices),
        "material": part.material and dict(part.material),
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    interval, clustered, missing = estimate.interval, estimate.clustered, estimate.missing
    return {
        "measure": estimate.measure,
        "suite": estimate.suite,
        "condition": dict(estimate.condition),
        "value": _finite(estimate.value),
        "count": _whole(estimate.count),
        "n": estimate.n,
        "unit": estimate.unit,
        "interval": interval and _fields(interval, *_INTERVAL),
        "clustered": clustered and _fields(clustered, *_INTERVAL, *_CLUSTERED),
        "missing": _fields(missing, *_MISSING),
        "flags": list(estimate.flags),
        "unavailable": estimate.unavailable,
    }


def _fields(value: object, *names: str) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}


def _check(line: CheckLine) -> dict[str, Any]:
    return {
        "check": line.check,
        "measure": line.measure,
        "suite": line.suite,
        "condition": dict(line.condition),
        "bar": line.bar if isinstance(line.bar, float) else dict(line.bar),
        "outcome": line.outcome,
        "policy": line.policy,
        "explanation": line.explanation,
        "warnings": list(line.warnings),
    }


def _finite(value: float | None) -> float | None:
    assert value is None or math.isfinite(value), "an estimate that is no number is unavailable"
    return value


def _whole(value: float | None) -> float | int | None:
    # A count is a whole number except where pairs share a call: 3, not 3.0.
    return int(value) if value is not None and value == int(value) else value


def part_to_plain(part: SuiteSheet) -> dict[str, Any]:
    """A part as JSON can hold it: what a worker process sends."""
    # The units behind an estimate stay in the process that has counted them.
    bare = tuple(replace(estimate, observations=None) for estimate in part.estimates)
    return asdict(replace(part, estimates=bare))


def part_from_plain(value: Mapping[str, Any]) -> SuiteSheet:
    """The part that `part_to_plain` was given."""
    recorded = value["recorded"]
    return SuiteSheet(
        judge=value["judge"],
        suite=value["suite"],
        identity=value["identity"],
        prompts=value["prompts"],
        suite_digest=value["suite_digest"],
        served=tuple(value["served"]),
        recorded=(recorded[0], recorded[1]) if recorded else None,
        estimates=tuple(_estimate_from(estimate) for estimate in value["estimates"]),
        calls=Calls(**value["calls"]),
        checks=tuple(
            CheckLine(**{**line, "warnings": tuple(line["warnings"])}) for line in value["checks"]
        ),
        notices=tuple(value["notices"]),
        material=value["material"],
        analyses=tuple(value["analyses"]),
    )


def _estimate_from(value: Mapping[str, Any]) -> Estimate:
    interval, clustered = value["interval"], value["clustered"]
    return Estimate(
        **{
            **value,
            "interval": interval and Interval(**interval),
            "clustered": clustered and Clustered(**clustered),
            "missing": Missing(**value["missing"]),
            "flags": tuple(value["flags"]),
        }
    )
