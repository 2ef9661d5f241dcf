"""What a name means that a report or a node id shows.

The pages on suite files, judge tables and the files written are made of their JSON Schemas. The
site of the documentation is built with them too, so that what a key means stands in one place.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from pytest_judgesense.checks.declaration import LISTING
from pytest_judgesense.errors import UsageError, unknown_name
from pytest_judgesense.judges.providers.base import provider_names
from pytest_judgesense.judges.providers.builtin import BUILT_IN
from pytest_judgesense.measures.bar import CheckKind
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.registry import Registry
from pytest_judgesense.suites.builtin import PAGES, measure_page, page, schema_text
from pytest_judgesense.text.layout import WIDTH

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
    yield "A table `[tool.judgesense.judges.NAME]`, explained in [judges.md](../judges.md);"
    yield "of a jury in [juries.md](../juries.md)."
    yield "Providers: " + ", ".join(map(code, provider_names(BUILT_IN))) + "."
    yield "Schema: [judge.json](../schemas/judge.json).\n"
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
    for name, page_name in _WRITTEN.items():
        yield f"## {name}.json\n"
        yield f"{_tidy(schemas[name]['title'])} See [{page_name}](../{page_name}).\n"
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
    for name, entry in form.get("properties", {}).items():
        path = f"{prefix}{name}"
        null = " or null" if {"type": "null"} in entry.get("anyOf", ()) else ""
        yield code(path), _kind(entry, schema) + null, entry.get("description", "")
        for part in (entry, *entry.get("anyOf", ())):
            if part.get("type") == "array":
                yield from _paths(part.get("items") or {}, schema, f"{path}[].")
            else:
                yield from _paths(part, schema, f"{path}.")


class PageSection(NamedTuple):
    """A part of a page: its title, and the text below it, both in Markdown."""

    title: str
    text: str


def sections_of(parts: Sequence[str]) -> tuple[PageSection, ...]:
    """Sections of titles and the texts below them, in turn."""
    titles_and_texts = zip(parts[::2], parts[1::2], strict=True)
    return tuple(PageSection(title, text.strip()) for title, text in titles_and_texts)


@dataclass(frozen=True)
class ExplainAnswer(QuestionAnswer):
    """What a name means.

    Attributes:
        name: of the measure, check or page; ``None`` of the list of all.
        paragraphs: plain sentences.
        introduction: what stands at the head of a page, in Markdown; empty where there is none.
        sections: of the page.
    """

    name: str | None
    paragraphs: tuple[str, ...]
    introduction: str = ""
    sections: tuple[PageSection, ...] = ()

    def lines(self) -> Iterator[str]:
        """The paragraphs, then the page without the marks of Markdown."""
        for paragraph in self.paragraphs:
            yield from _wrapped(paragraph)
        yield from _plain_lines(self.introduction)
        for section in self.sections:
            yield from ("", section.title.replace("`", ""))
            yield from _plain_lines(section.text)

    def to_dict(self) -> Mapping[str, Any]:
        return {
            "name": self.name,
            "paragraphs": list(self.paragraphs),
            "introduction": self.introduction,
            "sections": [section._asdict() for section in self.sections],
        }


def _plain_lines(text: str) -> Iterator[str]:
    """Markdown as plain lines: links by their words, fences by their content."""
    plain = re.sub(r"\[([^\[\]]+)\]\([^()]+\)", r"\1", text)
    for part in re.split(r"(^```.*?^```$)", plain, flags=re.MULTILINE | re.DOTALL):
        if part.startswith("```"):
            yield from (f"  {line}" for line in part.splitlines()[1:-1])
            continue
        for paragraph in filter(None, part.strip().split("\n\n")):
            if paragraph.startswith("|"):
                yield from (f"  {line}" for line in _unmarked(paragraph).splitlines())
            elif not paragraph.startswith("<!--"):
                yield from _wrapped(" ".join(_unmarked(paragraph).split()), "  ")


def _unmarked(text: str) -> str:
    """Without the marks of code and of bold type; within code two stars are a power."""
    words_and_code = text.split("`")
    return "".join(
        part if place % 2 else part.replace("**", "") for place, part in enumerate(words_and_code)
    )


def _wrapped(text: str, first: str = "") -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent="  ", break_on_hyphens=False
    )


ALL_PAGES: Final = (*SCHEMA_PAGES, *PAGES)
# Pages that are named where words are asked for that are no name.
_MOST_SPEAKING: Final = 3
_ACCEPTED: Final = (
    "a failure is accepted for a while where it is declared known beside its bar: "
    '{} = {{ bar = ..., known = "why", at = NUMBER, until = "YYYY-MM-DD" }}; it fails again after '
    "that day, where it is shown to be worse than that number, and where it became worse than the "
    "baseline"
)
_BETTER: Final = {"higher": "higher is better", "lower": "lower is better"}


@dataclass(frozen=True)
class ExplainQuestion:
    """What a name means. No call is made.

    Attributes:
        name: a measure, a check with or without its bar, or a page; ``None`` for the list of all.
        place: whose plugins add measures.
    """

    name: str | None = None
    place: Place = field(default_factory=Place)

    def answer(self) -> ExplainAnswer:
        """The meaning, and the sections of the page.

        Raises:
            UsageError: nothing is called so.
        """
        registry = self.place.registry
        if self.name is None:
            return _list_of(registry)
        if self.name in ALL_PAGES:
            return _page_called(self.name)
        name = self.name.partition("[")[0]
        check = registry.checks.get(name)
        measure = check.measure if check else registry.measures.get(name)
        if measure is not None:
            return _measure_explained(measure, registry, gated=check is not None)
        if check is None:
            raise _unknown(name, registry)
        return _check_explained(name, check)


def _list_of(registry: Registry) -> ExplainAnswer:
    """All measures with their checks, and the pages."""
    measures = (
        f"{measure.name}{f' ({measure.check})' if measure.check else ''}: {measure.meaning}"
        for measure in registry.measures.values()
    )
    return ExplainAnswer(None, (*measures, f"pages: {', '.join(ALL_PAGES)}"))


def _page_called(name: str) -> ExplainAnswer:
    whole = schema_page(name) if name in SCHEMA_PAGES else page(name)
    head, *parts = re.split(r"^##+ (.+)\n", whole, flags=re.MULTILINE)
    introduction = head.partition("# ")[2]
    return ExplainAnswer(name, (), introduction, sections_of(parts))


def _check_explained(name: str, check: CheckKind) -> ExplainAnswer:
    """What a check of several measures holds against its bars."""
    separate = "its measures have separate pages: judgesense explain MEASURE"
    return ExplainAnswer(name, (f"{check.signature}: {check.meaning}", separate))


def _brought_by(measure: Measure, registry: Registry) -> Iterator[str]:
    """What a suite must have for a measure, by the value itself and the kinds that take it."""
    if measure.needs:
        yield measure.needed
    taking = [
        name
        for name, instrument in registry.kinds.items()
        if measure.name in {taken.name for taken in instrument.measures}
    ]
    if 0 < len(taking) < len(registry.kinds):
        kinds = " or ".join(f'kind = "{name}"' for name in taking)
        yield f"it is measured on suites with {kinds}"


def _measure_explained(measure: Measure, registry: Registry, *, gated: bool) -> ExplainAnswer:
    """A measure; where its check was asked for also how a failure of that is accepted."""
    direction = _BETTER.get(measure.direction, "neither direction is better")
    checked = f"; checked by {measure.check}" if measure.check else ""
    paragraphs = (
        f"{measure.name}: {measure.meaning}",
        f"of {measure.unit}s, {direction}{checked}",
        *_brought_by(measure, registry),
        *([_ACCEPTED.format(measure.check)] if gated else ()),
    )
    text = measure_page(measure.name)
    if text is None:
        source = measure.source or "this package"
        no_page = f"it has no page here; it is provided by {source}"
        return ExplainAnswer(measure.name, (*paragraphs, no_page))
    parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)[1:]
    return ExplainAnswer(measure.name, paragraphs, sections=sections_of(parts))


def _unknown(name: str, registry: Registry) -> UsageError:
    """The error that names what is called alike, or the measures whose pages use these words."""
    names = [*registry.measures, *registry.checks]
    error = unknown_name("measure or check", name, names, LISTING)
    words = _words_of(name)
    pages = {name: _words_of(measure_page(name) or "") for name in registry.measures}
    speaking = [name for name, text in pages.items() if len(words) > 4 and words in text]
    if not speaking:
        return error

    def order(name: str) -> tuple[bool, int]:
        return f"also called {words}" not in pages[name], -pages[name].count(words)

    one_of = " or ".join(sorted(speaking, key=order)[:_MOST_SPEAKING])
    remedy = f'read about "{words}" with: judgesense explain {one_of}'
    return UsageError(error.what, expected=error.expected, remedy=remedy)


def _words_of(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))
