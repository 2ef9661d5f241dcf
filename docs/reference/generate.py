"""Makes the pages of this folder, the JSON Schemas of docs/schemas and the names of checks.

``python docs/reference/generate.py`` writes them; a test fails when what is committed is stale.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import schemas

from pytest_judgesense import plugin
from pytest_judgesense.commands.main import build_parser
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.providers.base import Reply, provider_names
from pytest_judgesense.plugin import hookspecs
from pytest_judgesense.plugin.fixture_values import AskableJudge, DatasheetReader
from pytest_judgesense.plugin.options import OPTIONS

DOCS = schemas.DOCS
CHECK_NAMES = Path(plugin.__file__).with_name("check_names.py")
NOTE = "<!-- made by docs/reference/generate.py from the code: change it there -->"


def table(head: str, rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    """A Markdown table; ``head`` names the columns, separated by bars."""
    columns = [name.strip() for name in head.split("|")]
    yield "| " + " | ".join(columns) + " |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        yield "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in row) + " |"
    yield ""


def code(text: object) -> str:
    """Text as code, nothing as nothing."""
    return f"`{text}`" if text not in ("", None) else ""


def document(thing: Any) -> Iterator[str]:
    """A docstring as paragraphs; its list of arguments or fields as a list, its example as code."""
    listed = ""
    lines = inspect.cleandoc(thing.__doc__).replace("``", "`").splitlines()
    while lines:
        line = lines.pop(0)
        if line in ("Args:", "Attributes:", "Raises:", "Returns:"):
            listed = line
            yield f"{line[:-1]}:\n"
        elif line.endswith("::"):
            yield line[:-1] + "\n"
            example = inspect.cleandoc("\n".join(lines)).splitlines()
            yield from (f"    {shown}".rstrip() for shown in example)
            lines = []
        elif listed and line.startswith("    ") and not line.startswith("     "):
            name, _, told = line.strip().partition(": ")
            yield f"- {code(name) if told else name}: {told}" if told else f"- {name}"
        else:
            yield f"  {line.strip()}" if listed and line.strip() else line
    yield ""


_TYPES = {
    "args": "list",
    "string": "text",
    "int": "whole number",
    "float": "number",
    "bool": "true or false",
}


def _choices(choices: tuple[str, ...] | None) -> str:
    return "{" + ",".join(choices) + "}" if choices else ""


def options_page() -> Iterator[str]:
    """Options of pytest."""
    yield "Each option has a twin in the ini file."
    yield "What they mean together: [options.md](../options.md).\n"
    yield from table(
        "option | ini | type | meaning",
        (
            (
                code(f"--{one.name} {one.metavar or _choices(one.choices)}".rstrip()),
                code(one.ini),
                _TYPES[one.kind],
                one.help.replace("%%", "%"),
            )
            for one in OPTIONS
        ),
    )


def markers_page() -> Iterator[str]:
    """Markers and checks."""
    yield "A marker makes a test run once for each judge."
    yield "How checks decide: [checks.md](../checks.md).\n"
    for name, kind in BUILT_IN.checks.items():
        info = kind.measure
        yield f"## `{name}`\n"
        yield f"    @pytest.mark.{kind.signature}\n"
        if info is None:
            yield f"{kind.meaning[0].upper()}{kind.meaning[1:]}.\n"
            continue
        at = "at least" if info.floor else "at most"
        suite = code(info.suite) if info.suite else "none: it must be named"
        yield (
            f"[`{info.name}`](../measures/{info.name}.md), {at} the bar: {info.meaning}. "
            f"Counted by {info.unit}. Suite without `suite=`: {suite}.\n"
        )


def fixtures_page() -> Iterator[str]:
    """Fixtures and hooks."""
    yield "A test with one of the fixtures runs once for each judge;"
    yield "see [checks.md](../checks.md).\n"
    gives = {"judge_datasheet": (DatasheetReader,), "judge": (AskableJudge, Reply)}
    for name in sorted(name for name in plugin.__all__ if not name.startswith("_")):
        yield f"## `{name}`\n"
        yield from document(getattr(plugin, name))
        for kind in gives.get(name, ()):
            yield f"### {kind.__name__}\n"
            yield from document(kind)
            methods = inspect.getmembers(kind, inspect.isfunction)
            for method, function in methods:
                if function.__doc__ and (method == "__call__" or not method.startswith("_")):
                    shown = "" if method == "__call__" else f".{method}"
                    yield f"**`{name}{shown}{_arguments(function)}`**\n"
                    yield from document(function)
    for name in (name for name in vars(hookspecs) if name.startswith("pytest_judgesense_")):
        yield f"## Hook `{name}`\n"
        yield from document(getattr(hookspecs, name))


def _arguments(function: Any) -> str:
    found = inspect.signature(function).parameters.values()
    shown = ", ".join(str(one) for one in found if one.name != "self")
    return f"({shown})".replace("'", "")


def keys(value: Mapping[str, Any], whole: Mapping[str, Any]) -> Iterator[str]:
    """The properties of an object as a table of keys."""
    needed = value.get("required", ())
    yield from table(
        "key | type | default | meaning",
        (
            (
                code(name),
                kind_of(inner, whole),
                "required" if name in needed else default_of(inner),
                inner.get("description", ""),
            )
            for name, inner in value["properties"].items()
        ),
    )


def default_of(value: Mapping[str, Any]) -> str:
    """The default of a key as TOML writes it."""
    if value.get("default") is None or isinstance(value["default"], dict):
        return "none"
    return code(json.dumps(value["default"]))


def kind_of(value: Mapping[str, Any], whole: Mapping[str, Any]) -> str:
    """A schema in a few words."""
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return _short(name, whole)
    if "const" in value:
        return code(json.dumps(value["const"]))
    if "enum" in value:
        return ", ".join(code(json.dumps(one)) for one in value["enum"])
    if "anyOf" in value:
        kinds = [kind_of(one, whole) for one in value["anyOf"] if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if "prefixItems" in value:
        kinds = dict.fromkeys(kind_of(one, whole) for one in value["prefixItems"])
        return f"{len(value['prefixItems'])} times " + " or ".join(kinds)
    if value.get("type") == "array":
        inner = value.get("items") or {}
        return "list" + (f" of {kind_of(inner, whole)}" if inner else "")
    words = {"string": "text", "integer": "whole number", "number": "number"}
    words |= {"boolean": "true or false", "object": "table", None: "any"}
    return words[value.get("type")] + _limits(value)


def _short(name: str, whole: Mapping[str, Any]) -> str:
    target = whole["$defs"][name]
    if target.get("type") != "object":
        return kind_of(target, whole)
    return f"table ({name})" if not name.startswith("_") else "table"


def _limits(value: Mapping[str, Any]) -> str:
    signs = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}
    found = [f"{sign} {value[key]:g}" for key, sign in signs.items() if key in value]
    return ", " + ", ".join(found) if found else ""


def suite_page() -> Iterator[str]:
    """Suite files."""
    whole = schemas.all_schemas()["suite"]
    yield (
        "A suite is a file `NAME.suite.toml`: what a judge may answer (`[space]`), what it is "
        "asked (`[stimuli]` names a file with an item a line, `[[templates]]` are the wordings of "
        "the prompt), how often and in which order (`[design]`), and what must hold (`[checks]`). "
        "`judgesense init` writes one to begin with, `judgesense lint` finds faults in it. In the "
        "source repository [suites.md](../suites.md) explains it with examples; the schema is "
        "[suite.json](../schemas/suite.json).\n"
    )
    for form, heading in schemas.FORMS.items():
        yield f"{heading}\n"
        yield from keys(whole if form == "SuiteForm" else whole["$defs"][form], whole)
    inner = sorted(set(whole["$defs"]) - set(schemas.FORMS))
    for form in inner:
        if "properties" in whole["$defs"][form]:
            yield f"## {form}\n"
            yield from _told(whole["$defs"][form])
            yield from keys(whole["$defs"][form], whole)
    yield "## Items\n"
    yield "A line of the JSON Lines file. Schema: [item.json](../schemas/item.json).\n"
    lines = schemas.all_schemas()["item"]
    for form in schemas.item_forms():
        yield f"### {form}\n"
        yield from _told(lines["$defs"][form])
        yield from keys(lines["$defs"][form], lines)


def _tidy(text: str) -> str:
    return text.replace("``", "`")


def _told(value: Mapping[str, Any]) -> Iterator[str]:
    if told := value.get("description"):
        yield _tidy(told) + "\n"


def judge_page() -> Iterator[str]:
    """Judge tables."""
    whole = schemas.all_schemas()["judge"]
    yield "A table `[tool.judgesense.judges.NAME]`, explained in [judges.md](../judges.md)."
    yield "Providers: " + ", ".join(code(name) for name in provider_names(BUILT_IN.providers)) + "."
    yield "Schema: [judge.json](../schemas/judge.json).\n"
    yield from keys(whole, whole)
    for name, part in whole["$defs"].items():
        if "properties" in part:
            yield f"## {name.strip('_')}\n"
            yield from keys(part, whole)


def files_page() -> Iterator[str]:
    """Files that are written."""
    yield "Their JSON Schemas, to check files with, and to read them in other languages.\n"
    found = schemas.all_schemas()
    yield from table(
        "schema | of",
        (
            (f"[{name}.json](../schemas/{name}.json)", _tidy(whole["title"]))
            for name, whole in found.items()
        ),
    )
    for name, page in (
        ("datasheet", "datasheet.md"),
        ("judgment", "logs.md"),
        ("exchange", "recordings.md"),
        ("baseline", "regression.md"),
    ):
        whole = found[name]
        yield f"## {name}.json\n"
        yield f"{_tidy(whole['title'])} See [{page}](../{page}).\n"
        yield from table("field | type | meaning", _paths(whole, whole))


def _paths(value: Mapping[str, Any], whole: Mapping[str, Any], path: str = "") -> Iterator[Any]:
    if "$ref" in value:
        value = whole["$defs"][value["$ref"].rpartition("/")[2]]
    for name, inner in value.get("properties", {}).items():
        here = f"{path}{name}"
        null = " or null" if {"type": "null"} in inner.get("anyOf", ()) else ""
        yield code(here), kind_of(inner, whole) + null, inner.get("description", "")
        for part in (inner, *inner.get("anyOf", ())):
            if part.get("type") == "array":
                yield from _paths(part.get("items") or {}, whole, f"{here}[].")
            else:
                yield from _paths(part, whole, f"{here}.")


def cli_page() -> Iterator[str]:
    """The command `judgesense`."""
    yield "What the commands are for stands on the pages that [options.md](../options.md) names.\n"
    told = _cli_meanings()
    for name, parser in _commands(build_parser()):
        yield f"## `judgesense {name}`\n"
        rows = []
        for action in parser._actions:
            if action.dest != "help":
                shown = action.option_strings[-1] if action.option_strings else action.metavar
                names = ", ".join(action.option_strings) or str(action.metavar)
                value = "" if action.nargs == 0 or not action.option_strings else _value(action)
                # None of the three is said alike by every version of Python.
                needed = action.required and action.nargs not in ("*", "?")
                given = action.default not in (None, False, [])
                rows.append(
                    (
                        code(f"{names}{value}"),
                        "required" if needed else code(action.default) if given else "none",
                        told.get((name, shown), action.help or ""),
                    )
                )
        yield from table("argument | default | meaning", iter(rows))


def _value(action: argparse.Action) -> str:
    if action.choices:
        return " {" + ",".join(map(str, action.choices)) + "}"
    return f" {action.metavar or action.dest.upper()}"


def _commands(
    parser: argparse.ArgumentParser, prefix: str = ""
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    if parser._subparsers is None:
        yield prefix.strip(), parser
        return
    for name, inner in parser._subparsers._group_actions[0].choices.items():  # type: ignore[union-attr]
        yield from _commands(inner, f"{prefix} {name}")


def _cli_meanings() -> dict[tuple[str, str | None], str]:
    text = (DOCS / "options.md").read_text(encoding="utf-8").split("\n## Command line\n")[1]
    rows = [line.strip("|").split("|", 2) for line in text.splitlines() if line.startswith("| `")]
    plain = [[cell.strip() for cell in row] for row in rows]
    # Pages stand one folder above the reference.
    return {
        (row[0].strip("`"), row[1].strip("`")): re.sub(r"\]\((?=[\w/-]+\.md)", "](../", row[2])
        for row in plain
    }


def papers_page() -> str:
    """The page of the papers, with the table of their arms."""
    page = (DOCS / "papers.md").read_text(encoding="utf-8")
    begin, end = "<!-- made: arms -->\n", "<!-- end: arms -->"
    before, _, rest = page.partition(begin)
    rows = []
    for name, paper in BUILT_IN.papers.items():
        for arm in (arms := paper.arms):
            beyond = "beyond the paper" if arm.beyond else ""
            rows.append(
                (code(name), arm.name, code(arm.suite), f"{arm.trials:,}", f"{arm.calls:,}", beyond)
            )
        trials, calls = (sum(getattr(arm, of) for arm in arms) for of in ("trials", "calls"))
        rows.append((code(name), "**together**", "", f"**{trials:,}**", f"**{calls:,}**", ""))
    made = table("paper | arm | suite | trials | calls | note", iter(rows))
    return f"{before}{begin}\n{chr(10).join(made)}\n{end}{rest.partition(end)[2]}"


def check_names() -> str:
    """The module of what a run must know of the checks before it imports the registry."""
    markers = "".join(
        f"    {json.dumps(name)}: {_in_lines(check.marker)},\n"
        for name, check in BUILT_IN.checks.items()
    )
    return f'''"""The built-in checks by name, with their lines in ``pytest --markers``.

Every run registers them as markers, and imports no registry for that. Made by
docs/reference/generate.py from the instruments: change them, and run it.
"""

from __future__ import annotations

from typing import Final

CHECK_MARKERS: Final = {{
{markers}}}
'''


def _in_lines(text: str) -> str:
    """A text as Python has it in lines of at most 100 columns."""
    lines = textwrap.wrap(text, 84, drop_whitespace=False, break_on_hyphens=False)
    quoted = (repr(line) if '"' in line else json.dumps(line) for line in lines)
    return "(" + "".join(f"\n        {line}" for line in quoted) + "\n    )"


PAGES = {
    "options": options_page,
    "markers": markers_page,
    "fixtures": fixtures_page,
    "suite-files": suite_page,
    "judge-tables": judge_page,
    "files": files_page,
    "cli": cli_page,
}


def outputs() -> dict[Path, str]:
    """Every file that is made, with its text."""
    made = {
        DOCS / "schemas" / f"{name}.json": json.dumps(value, indent=1, ensure_ascii=False) + "\n"
        for name, value in schemas.all_schemas().items()
    }
    made[CHECK_NAMES] = check_names()
    made[DOCS / "papers.md"] = papers_page()
    for name, page in PAGES.items():
        lines = [NOTE, f"# {(page.__doc__ or '').strip('.')}", "", *page()]
        made[DOCS / "reference" / f"{name}.md"] = "\n".join(lines).rstrip() + "\n"
    return made


if __name__ == "__main__":
    for path, text in outputs().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        print(path.relative_to(DOCS.parent))
