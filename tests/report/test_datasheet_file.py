from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from pytest_judgesense.datasheets.datasheet import (
    AgainstBaseline,
    ChangedItem,
    MeasuredChange,
    SuiteSheet,
    UncomparedCheck,
)
from pytest_judgesense.errors import UsageError
from pytest_judgesense.report.assembly import datasheet_text, sheet_of
from pytest_judgesense.report.datasheet_file import SCHEMA, datasheet_from, datasheet_json
from pytest_judgesense.report.joining import joined_datasheets
from pytest_judgesense.report.view import view_of

from .replaying import SHIPPED, parts_of
from .test_terminal import estimate, gate, part

# In the gate the judge with every failure; of the best one tests/docs/test_reference.py validates
# what a session writes.
PROFILES = [
    pytest.param(name, marks=() if name == "noisy" else pytest.mark.long)
    for name in sorted(SHIPPED)
]
NUMBER = {"type": "number"}
NULL_OR_NUMBER = {"type": ["number", "null"]}
COUNT = {"type": "integer", "minimum": 0}
NULL_OR_COUNT = {"type": ["integer", "null"], "minimum": 0}
TEXT = {"type": "string"}
STATE = {"enum": ["REPLAYED", "FRESH", "PARTLY FRESH", "FROM LOGS"]}


def exactly(maybe: Mapping[str, Any] | None = None, **properties: Any) -> dict[str, Any]:
    """An object with these keys, ``maybe`` some more, and no others."""
    return {
        "type": "object",
        "properties": {**properties, **(maybe or {})},
        "required": sorted(properties),
        "additionalProperties": False,
    }


def or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def listed(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": schema}


INTERVAL = {"method": TEXT, "lower": NUMBER, "upper": NUMBER, "level": NUMBER}
NEW_WORDINGS = {**INTERVAL, "wordings": COUNT}
CLUSTERED = {
    **INTERVAL,
    "clusters": COUNT,
    "design_effect": NULL_OR_NUMBER,
    "effective_n": NULL_OR_NUMBER,
}
CONDITION = {
    "type": "object",
    "propertyNames": {
        "enum": """distance subset arm template_pair polarity temperature judge_type prompt_style
        prompt_pair category model gold dataset k criterion
        criterion_pair probe version naming sentence label place length""".split()
    },
}
CALLS = exactly(
    made=COUNT,
    replayed=COUNT,
    retried=COUNT,
    failed=COUNT,
    prompt_tokens=NULL_OR_COUNT,
    completion_tokens=NULL_OR_COUNT,
    cost_usd=NULL_OR_NUMBER,
)
BOTH = {**listed(TEXT), "minItems": 2, "maxItems": 2}
# Of a check that compares with a baseline.
CHANGE = exactly(
    verdict={"enum": ["regressed", "improved", "unchanged", "inconclusive"]},
    measure=TEXT,
    words=TEXT,
    **dict.fromkeys(("then", "now", "difference", "lower", "upper"), or_null({"type": "number"})),
)
AGAINST = exactly(
    {"change": CHANGE},
    baseline=TEXT,
    summary=TEXT,
    changes=listed(TEXT),
    moved=COUNT,
    items=COUNT,
    examples=listed(
        exactly(
            item=TEXT,
            trial=TEXT,
            times=COUNT,
            question=TEXT,
            contents=listed(TEXT),
            verdicts=BOTH,
            replies=BOTH,
        )
    ),
)
# Section 5 of the design, version 1; checks carry their condition and warnings as well, a judge
# its notices and what is known of each suite.
LAYOUT = exactly(
    schema={"const": "judgesense/datasheet/1"},
    seed={"type": "integer"},
    mode={"enum": ["replay", "record", "live", "report"]},
    versions={"type": "object", "additionalProperties": TEXT, "minProperties": 1},
    judges=listed(
        exactly(
            maybe={
                "not_compared": listed(exactly(check=TEXT, measure=TEXT, suite=TEXT, reason=TEXT))
            },
            judge={
                "type": "object",
                "required": """name provider model temperature prompts state recorded""".split(),
                "properties": {
                    "prompts": TEXT,
                    "state": STATE,
                    "recorded": or_null(exactly(first=TEXT, last=TEXT, wall_clock_s=COUNT)),
                },
            },
            measures=listed(
                exactly(
                    measure=TEXT,
                    suite=TEXT,
                    condition=CONDITION,
                    value=NULL_OR_NUMBER,
                    count=NULL_OR_NUMBER,
                    n=COUNT,
                    unit=TEXT,
                    interval=or_null(exactly(**INTERVAL)),
                    clustered=or_null(exactly(**CLUSTERED)),
                    new_wordings=or_null(exactly(**NEW_WORDINGS)),
                    missing=exactly(
                        unparsed=COUNT,
                        failed=COUNT,
                        lower_bound=NULL_OR_NUMBER,
                        upper_bound=NULL_OR_NUMBER,
                    ),
                    flags=listed(TEXT),
                    unavailable={"type": ["string", "null"]},
                )
            ),
            checks=listed(
                exactly(
                    # Absent of a check with a bar alone.
                    maybe={"limit": {"type": ["number", "object"]}, "against": AGAINST},
                    check=TEXT,
                    measure=TEXT,
                    suite=TEXT,
                    condition=CONDITION,
                    bar={"type": ["number", "object"]},
                    outcome={"enum": ["pass", "fail", "inconclusive"]},
                    policy={"enum": ["estimate", "confident", "refuted"]},
                    explanation=TEXT,
                    sentence=TEXT,
                    measured=TEXT,
                    example=TEXT,
                    gates=listed(
                        exactly(
                            maybe={"limit": {"type": "number"}},
                            measure=TEXT,
                            condition={"type": "object"},  # of estimates of comparisons too
                            bar={"type": "number"},
                            sign={"enum": ["at least", "at most", "before"]},
                            outcome={"enum": ["pass", "fail", "inconclusive"]},
                            value=NULL_OR_NUMBER,
                            lower=NULL_OR_NUMBER,
                            upper=NULL_OR_NUMBER,
                        )
                    ),
                    warnings=listed(TEXT),
                )
            ),
            analyses=listed(exactly(analysis=TEXT, suite=TEXT, rows={"type": "array"})),
            calls=CALLS,
            notices=listed(TEXT),
            parts=listed(
                exactly(
                    {"max_tokens": COUNT, "temperature": NUMBER},
                    judge=TEXT,
                    suite=TEXT,
                    digest={"type": ["string", "null"]},
                    prompts={"type": ["string", "null"]},
                    served=listed(TEXT),
                    state=STATE,
                    recorded=or_null(exactly(first=TEXT, last=TEXT, wall_clock_s=COUNT)),
                    calls=CALLS,
                    notices=listed(TEXT),
                    material=or_null({"type": "object"}),
                )
            ),
        )
    ),
)


def as_json(parts: list[SuiteSheet]) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(datasheet_json(sheet_of(parts, seed=0, mode="replay")))
    return value


@pytest.mark.parametrize("profile", PROFILES)
def test_the_datasheet_has_the_layout_of_version_1(profile: str) -> None:
    value = as_json(parts_of(profile))
    jsonschema.validate(value, LAYOUT)
    (judge,) = value["judges"]
    assert value["schema"] == SCHEMA
    assert {measure["suite"] for measure in judge["measures"]} == set(SHIPPED[profile])
    assert judge["checks"]


def compared(suite: str) -> SuiteSheet:
    """A part with a check that was compared with a baseline, and one that was not."""
    both = ("YES", "NO")
    item = ChangedItem("i", "s/i/t1/ab/r1", 2, "q", ("c",), verdicts=both, replies=("", "no"))
    change = MeasuredChange("regressed", "jss", 0.9, 0.5, -0.4, -0.6, -0.1, "jss 0.90 to 0.50")
    changes = ("the model changed",)
    against = AgainstBaseline("HEAD", "the model changed", changes, 2, 1, (item,), change)
    line = gate("fail", suite=suite, against=against)
    left_out = UncomparedCheck("no_regression[jss]", "jss", suite, "no parent")
    whole = part(replace(estimate(), suite=suite), checks=(line,), not_compared=(left_out,))
    return replace(whole, suite=suite)


def test_what_is_said_of_a_baseline_is_written_and_read() -> None:
    sheet = sheet_of([compared("s"), compared("z")], seed=0, mode="replay")
    value = json.loads(datasheet_json(sheet))
    jsonschema.validate(value, LAYOUT)
    again = datasheet_from(value)
    assert [judge.checks for judge in again.judges] == [judge.checks for judge in sheet.judges]
    assert again.judges[0].not_compared == sheet.judges[0].not_compared
    assert len(again.judges[0].not_compared) == 2
    # A file of an earlier version says what changed, and not what became of the measure.
    for judge in value["judges"]:
        for line in judge["checks"]:
            del line["against"]["change"]
    jsonschema.validate(value, LAYOUT)
    earlier = datasheet_from(value).judges[0].checks[0].against
    assert earlier is not None
    assert earlier.change is None


def test_a_wrong_value_of_it_is_named_by_its_place() -> None:
    value = as_json([compared("s")])
    value["judges"][0]["checks"][0]["against"]["examples"][0]["verdicts"] = ["YES"]
    with pytest.raises(ValueError, match=r"against\.examples\.0\.verdicts"):
        datasheet_from(value)


def test_joined_datasheets_hold_what_was_not_compared() -> None:
    apart = [(name, as_json([compared(name)])) for name in ("z", "s")]
    whole = sheet_of([compared("s"), compared("z")], seed=0, mode="replay")
    assert joined_datasheets(apart) == datasheet_json(whole)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_value_and_a_reason_exclude_each_other(profile: str) -> None:
    (judge,) = as_json(parts_of(profile))["judges"]
    for measure in judge["measures"]:
        assert (measure["value"] is None) == (measure["unavailable"] is not None)


def test_rates_are_unrounded_and_counts_are_whole_where_they_can_be() -> None:
    (judge,) = as_json(parts_of("noisy"))["judges"]
    rates = [m for m in judge["measures"] if m["count"] is not None and m["measure"] != "side_bias"]
    assert rates
    for measure in rates:
        assert measure["value"] == measure["count"] / measure["n"]
        assert isinstance(measure["count"], int)


def test_no_time_of_writing_is_in_the_file() -> None:
    text = datasheet_json(sheet_of(parts_of("noisy"), seed=0, mode="replay"))
    parts = parts_of("noisy")
    moments = {moment[:10] for part in parts if part.recorded for moment in part.recorded}
    value = json.loads(text)
    assert value["judges"][0]["judge"]["recorded"]["first"][:10] in moments
    assert datasheet_json(sheet_of(parts, seed=0, mode="replay")) == text


def test_the_digest_of_prompts_follows_the_prompts_alone() -> None:
    part = parts_of("noisy")[0]
    changed = replace(part, prompts={"coherence": {"system": "another", "templates": {}}})
    silent = replace(part, prompts={})

    def digest(one: SuiteSheet) -> str | None:
        return sheet_of([one], seed=0, mode="replay").judges[0].prompts

    assert digest(part) == digest(replace(part, recorded=None, checks=()))
    assert digest(part) != digest(changed)
    assert digest(silent) is None


def test_the_suffix_chooses_datasheet_or_log() -> None:
    sheet = sheet_of(parts_of("noisy"), seed=0, mode="replay")
    assert datasheet_text(".json", view_of(sheet)) == datasheet_json(sheet)
    assert datasheet_text(".jsonl", view_of(sheet), [["a", "b"], ["c"]]) == "a\nb\nc\n"


def test_an_unknown_suffix_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(UsageError) as caught:
        datasheet_text(".xlsx", view_of(sheet_of([], seed=0, mode="replay")))
    assert "'.xlsx'" in str(caught.value)
    assert ".json" in str(caught.value)
