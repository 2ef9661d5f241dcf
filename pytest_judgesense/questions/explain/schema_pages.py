"""Pages that are made of the JSON Schemas: suite files, judge tables, and the files written.

``judgesense explain`` shows them, and the site of the documentation is built with them, so that
what a key means stands in one place, the schema.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from pytest_judgesense.judges.providers.base import provider_names
from pytest_judgesense.judges.providers.builtin import BUILT_IN
from pytest_judgesense.suites.builtin import schema_text

Schema = Mapping[str, Any]

# The forms of a suite file that are tables of their own, with their headings.
SUITE_HEADINGS: Final = MappingProxyType(
    {
        "SuiteForm": "## Top level",
        "SpaceForm": "## `[space]`",
        "StimuliForm": "## `[stimuli]`",
        "DesignForm": "## `[design]`",
        "TemplateForm": "## `[[templates]]`",
        "EquivalenceForm": "## `[[equivalence]]`",
        "PresetForm": "## `[presets.NAME]`",
    }
)
# The schemas that there are, and the page that explains each file that the plugin writes.
SCHEMAS: Final = (
    *("suite", "item", "judge", "datasheet", "judgment", "exchange", "baseline", "history"),
)
_WRITTEN: Final = {
    "datasheet": "datasheet.md",
    "judgment": "logs.md",
    "exchange": "recordings.md",
    "baseline": "regression.md",
    "history": "howto/drift.md",
}
_TYPE_WORDS: Final = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "table",
    None: "any",
}
_LIMIT_SIGNS: Final = {
    "minimum": ">=",
    "exclusiveMinimum": ">",
    "maximum": "<=",
    "exclusiveMaximum": "<",
}


def code(text: object) -> str:
    """Text as code, nothing as nothing."""
    return f"`{text}`" if text not in ("", None) else ""


def table(head: str, rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """A Markdown table; ``head`` names the columns, separated by bars."""
    columns = [name.strip() for name in head.split("|")]
    yield "| " + " | ".join(columns) + " |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        yield "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in row) + " |"
    yield ""


def _suite_page() -> Iterator[str]:
    schema = _schema("suite")
    yield "# Suite files\n"
    yield (
        "A suite is a file `NAME.suite.toml`: what a judge may answer (`[space]`), what it is "
        "asked (`[stimuli]` names a file with an item a line, `[[templates]]` are the wordings of "
        "the prompt), how often and in which order (`[design]`), and what must hold (`[checks]`). "
        "`judgesense init` writes one to begin with, `judgesense plan --lint` finds faults in it. "
        "In the source repository [suites.md](../suites.md) explains it with examples; the schema "
        "is [suite.json](../schemas/suite.json).\n"
    )
    for form, heading in SUITE_HEADINGS.items():
        yield f"{heading}\n"
        yield from _keys(schema if form == "SuiteForm" else schema["$defs"][form], schema)
    for form in sorted(set(schema["$defs"]) - set(SUITE_HEADINGS)):
        if "properties" in schema["$defs"][form]:
            yield f"## {form}\n"
            yield from _described_keys(schema["$defs"][form], schema)
    yield "## Items\n"
    yield "A line of the JSON Lines file. Schema: [item.json](../schemas/item.json).\n"
    lines = _schema("item")
    for form in (option["$ref"].rpartition("/")[2] for option in lines["anyOf"]):
        yield f"### {form}\n"
        yield from _described_keys(lines["$defs"][form], lines)


def _judge_page() -> Iterator[str]:
    schema = _schema("judge")
    yield "# Judge tables\n"
    yield "A table `[tool.judgesense.judges.NAME]`, explained in [judges.md](../judges.md)."
    yield "Providers: " + ", ".join(map(code, provider_names(BUILT_IN))) + "."
    yield "Schema: [judge.json](../schemas/judge.json).\n"
    yield from _keys(schema, schema)
    for name, form in schema["$defs"].items():
        if "properties" in form:
            yield f"## {name.strip('_')}\n"
            yield from _keys(form, schema)


def _files_page() -> Iterator[str]:
    schemas = {name: _schema(name) for name in SCHEMAS}
    yield "# Files that are written\n"
    yield "Their JSON Schemas, to check files with, and to read them in other languages.\n"
    yield from table(
        "schema | of",
        (
            (f"[{name}.json](../schemas/{name}.json)", _tidy(schema["title"]))
            for name, schema in schemas.items()
        ),
    )
    for name, page in _WRITTEN.items():
        yield f"## {name}.json\n"
        yield f"{_tidy(schemas[name]['title'])} See [{page}](../{page}).\n"
        yield from table("field | type | meaning", _paths(schemas[name], schemas[name]))


SCHEMA_PAGES: Final[Mapping[str, Callable[[], Iterator[str]]]] = MappingProxyType(
    {"suite-files": _suite_page, "judge-tables": _judge_page, "files": _files_page}
)


def schema_page(name: str) -> str:
    """The text of one of `SCHEMA_PAGES`, in Markdown."""
    return "\n".join(SCHEMA_PAGES[name]()).rstrip() + "\n"


def _schema(name: str) -> Schema:
    schema: Schema = json.loads(schema_text(name))
    return schema


def _tidy(text: str) -> str:
    return text.replace("``", "`")


def _described_keys(form: Schema, schema: Schema) -> Iterator[str]:
    if description := form.get("description"):
        yield _tidy(description) + "\n"
    yield from _keys(form, schema)


def _keys(form: Schema, schema: Schema) -> Iterator[str]:
    """The properties of an object as a table of keys."""
    required = form.get("required", ())
    yield from table(
        "key | type | default | meaning",
        (
            (
                code(name),
                _kind(key, schema),
                "required" if name in required else _default(key),
                key.get("description", ""),
            )
            for name, key in form["properties"].items()
        ),
    )


def _default(key: Schema) -> str:
    """The default of a key as TOML writes it."""
    if key.get("default") is None or isinstance(key["default"], dict):
        return "none"
    return code(json.dumps(key["default"]))


def _kind(key: Schema, schema: Schema) -> str:
    """What a key or a field holds, in a few words."""
    if "$ref" in key:
        return _kind_of_form(key["$ref"].rpartition("/")[2], schema)
    if "const" in key:
        return code(json.dumps(key["const"]))
    if "enum" in key:
        return ", ".join(code(json.dumps(value)) for value in key["enum"])
    if "anyOf" in key:
        kinds = (_kind(option, schema) for option in key["anyOf"] if option.get("type") != "null")
        return " or ".join(dict.fromkeys(kinds))
    if "prefixItems" in key:
        kinds = (_kind(item, schema) for item in key["prefixItems"])
        return f"{len(key['prefixItems'])} times " + " or ".join(dict.fromkeys(kinds))
    if key.get("type") == "array":
        item = key.get("items") or {}
        return "list" + (f" of {_kind(item, schema)}" if item else "")
    limits = [f"{sign} {key[word]:g}" for word, sign in _LIMIT_SIGNS.items() if word in key]
    return ", ".join([_TYPE_WORDS[key.get("type")], *limits])


def _kind_of_form(name: str, schema: Schema) -> str:
    form = schema["$defs"][name]
    if form.get("type") != "object":
        return _kind(form, schema)
    return f"table ({name})" if not name.startswith("_") else "table"


def _paths(form: Schema, schema: Schema, prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """Every field of a file by its path, however deep: ``judges[].calls.made``."""
    if "$ref" in form:
        form = schema["$defs"][form["$ref"].rpartition("/")[2]]
    for name, field in form.get("properties", {}).items():
        path = f"{prefix}{name}"
        null = " or null" if {"type": "null"} in field.get("anyOf", ()) else ""
        yield code(path), _kind(field, schema) + null, field.get("description", "")
        for part in (field, *field.get("anyOf", ())):
            if part.get("type") == "array":
                yield from _paths(part.get("items") or {}, schema, f"{path}[].")
            else:
                yield from _paths(part, schema, f"{path}.")
