"""The JSON Schemas of the project's files, made from the code that reads and writes them.

Forms that are read are pydantic models and bring their schemas. Files that are written are made of
dataclasses: their fields and types are taken, and only the nesting stands here. What a field means
is told once, in the tables of the pages for people, and taken from there.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import BaseModel, TypeAdapter

from pytest_judgesense import estimate
from pytest_judgesense import trial as trials
from pytest_judgesense.datasheets import datasheet as sheet
from pytest_judgesense.datasheets import live_sessions
from pytest_judgesense.earlier import baseline
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges import judge_table
from pytest_judgesense.judges.providers import base, builtin
from pytest_judgesense.questions.explain.question import SUITE_HEADINGS
from pytest_judgesense.report import datasheet_file
from pytest_judgesense.report.datasheet_file import SCHEMA as DATASHEET
from pytest_judgesense.suites import schema

DOCS = Path(__file__).resolve().parents[1]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
TEXT = {"type": "string"}
TABLE: dict[str, Any] = {"type": "object"}
Object = dict[str, Any]


def meanings(page: str, heading: str) -> dict[str, str]:
    """First and last cell of the rows of the first table below a heading of a page."""
    text = (DOCS / page).read_text(encoding="utf-8").split(f"\n{heading}\n", 1)[1]
    rows = {}
    for line in re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)[0].splitlines()[2:]:  # type: ignore[index]
        cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
        key, meaning = cells[0].strip().strip("`"), cells[-1].strip().replace("\\|", "|")
        rows[key] = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", meaning)
    return rows


def described(value: Object, meanings_by_path: Mapping[str, str], prefix: str = "") -> Object:
    """A schema with the meaning of each field whose path (``judges[].calls.made``) has one."""
    properties = value.get("properties", {})
    for name, inner in properties.items():
        path = f"{prefix}{name}"
        if path in meanings_by_path:
            properties[name] = inner = {**inner, "description": meanings_by_path[path]}  # noqa: PLW2901
        for part in (inner, *inner.get("anyOf", ())):
            described(part, meanings_by_path, f"{path}.")
            if isinstance(part.get("items"), dict):
                described(part["items"], meanings_by_path, f"{path}[].")
    return value


def fields_of(kind: type, *leave_out: str, **instead: Object) -> Object:
    """The schema of a dataclass as it is written: a limit and a baseline may be absent."""
    hints = get_type_hints(kind)
    properties: Object = {}
    for field in dataclasses.fields(kind):
        if field.name not in leave_out:
            property_schema = instead.get(field.name) or schema_of_type(hints[field.name])
            properties[field.name] = property_schema
    return record(properties, *datasheet_file._LEFT_OUT)


def schema_of_type(kind: Any) -> Object:
    """The schema of a type, as a part of that of a file.

    Its definitions stand where they are named: a reference begins at the top of the whole file,
    which has none of a part's.
    """
    value: Object = TypeAdapter(kind).json_schema()
    definitions = value.pop("$defs", {})

    def expanded(part: Any) -> Any:
        if isinstance(part, list):
            return [expanded(inner) for inner in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return expanded(definitions[part["$ref"].rpartition("/")[2]])
        return {name: expanded(inner) for name, inner in part.items()}

    whole: Object = expanded(value)
    return whole


def record(properties: Object, *optional: str) -> Object:
    """An object in which every property but the optional ones is required."""
    needed = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": needed}


def maybe(value: Object) -> Object:
    """That, or null."""
    return {"anyOf": [value, {"type": "null"}]}


def array(items: Object) -> Object:
    """A list of that."""
    return {"type": "array", "items": items}


def suite() -> Object:
    """A ``*.suite.toml``."""
    suite_schema = schema.SuiteForm.model_json_schema(by_alias=True)
    for form, heading in SUITE_HEADINGS.items():
        part = suite_schema if form == "SuiteForm" else suite_schema["$defs"][form]
        described(part, meanings("suites.md", heading))
    return suite_schema


def item_forms() -> dict[str, type[BaseModel]]:
    """The forms of a line of the stimuli, by name."""
    forms = {form.__name__: form for kind in BUILT_IN.forms.values() for form in kind.line_forms}
    return dict(sorted(forms.items()))


def item() -> Object:
    """A line of the JSON Lines file beside a suite; its kind decides which."""
    parts = {name: form.model_json_schema() for name, form in item_forms().items()}
    shared: Object = {}
    for part in parts.values():
        shared |= part.pop("$defs", {})
        # They are taken out of a line before it is read as an item.
        part["properties"]["people"] = {"anyOf": [{"type": "array"}, {"type": "object"}]}
    return {
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in parts],
        "$defs": {**parts, **shared},
    }


def judge() -> Object:
    """A table ``[tool.judgesense.judges.NAME]``: of a judge, or of a jury of others."""
    parts = {
        "Judge": described(
            judge_table._JudgeForm.model_json_schema(), meanings("judges.md", "## Keys")
        ),
        "Jury": described(
            judge_table._JuryForm.model_json_schema(), meanings("juries.md", "## Keys")
        ),
    }
    shared: Object = {}
    for part in parts.values():
        shared |= part.pop("$defs", {})
    return {
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in parts],
        "$defs": {**parts, **shared},
    }


def estimate_value() -> Object:
    """An estimate of a datasheet."""
    number = {"type": "number"}
    return fields_of(
        estimate.Estimate,
        *("observations", "folded_units", "moving_units", "proportion"),
        *("reach", "skipped_labels", "anew"),
        count=maybe(number),
        interval=maybe(fields_of(estimate.Interval)),
        clustered=maybe(fields_of(estimate.Clustered, "lower_bound", "upper_bound", "at", "each")),
        new_wordings=maybe(fields_of(estimate.NewWordings, "at")),
        missing=fields_of(estimate.Missing, "share"),
        flags=array(TEXT),
    )


def datasheet() -> Object:
    """``--judge-datasheet x.json``."""
    span = maybe(record({"first": TEXT, "last": TEXT, "wall_clock_s": {"type": "integer"}}))
    state = {"enum": ["REPLAYED", "FRESH", "PARTLY FRESH", "FROM LOGS"]}
    identity = record(
        {
            "name": TEXT,
            "provider": {"enum": [*base.provider_names(builtin.BUILT_IN), base.JURY, "log"]},
            "model": TEXT,
            **{name: {} for name in ("base_url", "temperature", "max_tokens", "reasoning", "seed")},
            "own_prompts": maybe(TEXT),
            "members": array(TABLE),
            "rule": maybe(TEXT),
            "quorum": {"type": "integer", "minimum": 1},
            "served": array(TEXT),
            "prompts": maybe(TEXT),
            "suites": {"type": "object", "additionalProperties": maybe(TEXT)},
            "state": state,
            "recorded": span,
        },
        *("base_url", "temperature", "max_tokens", "reasoning", "seed", "own_prompts"),
        *("members", "rule", "quorum"),
    )
    outcome = {"enum": ["pass", "fail", "inconclusive"]}
    policy = {"enum": ["estimate", "confident", "refuted"]}
    part = {
        "judge": TEXT,
        "suite": TEXT,
        "digest": maybe(TEXT),
        "prompts": maybe(TEXT),
        "served": array(TEXT),
        "state": state,
        "recorded": span,
        "calls": fields_of(sheet.Calls),
        "notices": array(TEXT),
        "material": maybe(TABLE),
        "max_tokens": {"type": "integer", "minimum": 1},
        "temperature": {"type": "number", "minimum": 0},
        "calibration": TABLE,
    }
    both = {**array(TEXT), "minItems": 2, "maxItems": 2}
    examples = array(
        fields_of(sheet.ChangedItem, contents=array(TEXT), verdicts=both, replies=both)
    )
    against = fields_of(
        sheet.AgainstBaseline,
        changes=array(TEXT),
        examples=examples,
        change=fields_of(sheet.MeasuredChange),
    )
    analysis = record({"analysis": TEXT, "suite": TEXT, "rows": array(TABLE)})
    entry = {
        "judge": identity,
        "measures": array(estimate_value()),
        "checks": array(
            fields_of(
                sheet.CheckLine,
                outcome=outcome,
                policy=policy,
                warnings=array(TEXT),
                gates=array(fields_of(sheet.GatedNumber, outcome=outcome)),
                against=against,
                over=fields_of(sheet.OverSessions, changes=array(TEXT)),
                known=fields_of(sheet.KnownState),
            )
        ),
        "not_compared": array(fields_of(sheet.UncomparedCheck)),
        "analyses": array(analysis),
        "calls": fields_of(sheet.Calls),
        "notices": array(TEXT),
        "parts": array(record(part, "max_tokens", "temperature", "calibration")),
    }
    mode = {"enum": ["replay", "record", "live", "report"]}
    versions = {"type": "object", "additionalProperties": TEXT}
    properties = {
        "schema": {"const": DATASHEET},
        "seed": {"type": "integer", "minimum": 0},
        "mode": mode,
        "versions": versions,
        "judges": array(record(entry, "not_compared")),
    }
    return described(record(properties), meanings("datasheet.md", "## JSON, field by field"))


def log_line() -> Object:
    """A line of a judgment log."""
    trial = fields_of(trials.Trial)["properties"]
    design = fields_of(
        trials.Design,
        criteria=array(fields_of(trials.Criterion)),
        forms=array(fields_of(trials.PrescribedReply)),
        score=maybe({**array({"type": "number"}), "minItems": 2, "maxItems": 2}),
    )
    design["required"] = ["kind", "labels"]
    source = record(
        {
            "prompt": array(record({"role": TEXT, "content": TEXT})),
            "fields": {**TABLE, "additionalProperties": TEXT},
            "score": {"type": "number"},
        },
        *("prompt", "fields", "score"),
    )
    properties = {
        "trial": trial.pop("id"),
        "judge": TEXT,
        **trial,
        **dict.fromkeys(("verdict", "unparsed", "failed"), TEXT),
        "chosen": maybe(TEXT),
        "reply": maybe(TEXT),
        "usage": {**fields_of(trials.Usage), "required": []},
        "latency_s": maybe({"type": "number", "minimum": 0}),
        "recorded_at": maybe({"type": "string"}),
        "probabilities": {**TABLE, "additionalProperties": {"type": "number", "minimum": 0}},
        "mass": {"type": "number", "minimum": 0, "maximum": 1},
        "scores": {**TABLE, "description": "debates: a score from 0 to 10, by category and side"},
        "confidence": {"type": "number", "description": "debates: from 0 to 1"},
        "short_reason": {**TEXT, "description": "debates: the judge's words"},
        "flags": {**array(TEXT), "description": "debates: what is odd about the reply"},
        "grades": {**TABLE, "description": "graded answers: the two grades of a trial"},
        "repair": {**TABLE, "description": "what a malformed reply was before it was repaired"},
        "reasoned": {
            **TEXT,
            "description": "another verdict, with which the reasoning of the reply concludes",
        },
        "source": source,
        "design": design,
    }
    return {
        "type": "object",
        "properties": described({"properties": properties}, meanings("logs.md", "## Fields"))[
            "properties"
        ],
        "required": ["trial", "judge", "suite", "item"],
        "oneOf": [{"required": [name]} for name in ("verdict", "unparsed", "failed")],
    }


def exchange() -> Object:
    """A line of a cassette."""
    forms = [record({name: {}}) for name in ("json", "spaced json")]
    body = {"anyOf": [TEXT, record({"base64": TEXT}), *forms]}
    headers = {"type": "object", "additionalProperties": {"anyOf": [TEXT, array(TEXT)]}}
    properties = {
        "trial": TEXT,
        "call": {"type": "integer", "minimum": 1},
        "request": record({"method": TEXT, "url": TEXT, "body": body}),
        "response": record({"status": {"type": "integer"}, "headers": headers, "body": body}),
        "recorded_at": TEXT,
    }
    shared = {"id": TEXT, "text": TEXT}
    meant = meanings("recordings.md", "## A line")
    return {
        "type": "object",
        "properties": described({"properties": {**properties, **shared}}, meant)["properties"],
        "oneOf": [{"required": list(properties)}, {"required": list(shared)}],
    }


def baseline_file() -> Object:
    """``--judge-save-baseline x.json``."""
    return baseline._BaselineForm.model_json_schema(by_alias=True)


def history() -> Object:
    """A line of ``--judge-history x.jsonl``."""
    return live_sessions.LiveSession.model_json_schema(by_alias=True)


def without_titles(value: Any) -> Any:
    """The schema without the titles that pydantic makes of names."""
    if isinstance(value, list):
        return [without_titles(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    return {
        key: {name: without_titles(inner) for name, inner in inner_value.items()}
        if key in ("properties", "$defs")
        else without_titles(inner_value)
        for key, inner_value in value.items()
        if not (key == "title" and isinstance(inner_value, str))
    }


MADE = {
    "suite": suite,
    "item": item,
    "judge": judge,
    "datasheet": datasheet,
    "judgment": log_line,
    "exchange": exchange,
    "baseline": baseline_file,
    "history": history,
}


def all_schemas() -> dict[str, Object]:
    """The schemas by the name of their file."""
    return {
        name: {
            "$schema": DIALECT,
            "title": " ".join((make.__doc__ or "").split()),
            **without_titles(make()),
        }
        for name, make in MADE.items()
    }
