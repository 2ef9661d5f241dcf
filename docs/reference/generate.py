"""Makes the JSON Schemas of docs/schemas, the names of checks, and the site's reference.

``python docs/reference/generate.py`` writes the schemas and the names; a test fails when what is
committed is stale. The pages of the reference are made by the build of the site (``hooks.py``).
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import schemas

from pytest_judgesense import plugin
from pytest_judgesense.commands.main import build_parser
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.judge import Judge
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.measures.bar import CheckKind
from pytest_judgesense.plugin import hookspecs
from pytest_judgesense.plugin.fixture_values import JudgeDatasheet
from pytest_judgesense.plugin.options import OPTIONS
from pytest_judgesense.questions.explain.question import SCHEMA_PAGES, code, schema_page, table

DOCS = schemas.DOCS
CHECK_NAMES = Path(plugin.__file__).with_name("check_markers.txt")
# What the page of a measure says below its title.
_HEAD_OF_MEASURE = re.compile(r"Unit: (.+?); (.+?); check: (.+?); suites: (.+)\.")


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
            name, _, meaning = line.strip().partition(": ")
            yield f"- {code(name) if meaning else name}: {meaning}" if meaning else f"- {name}"
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
                code(f"--{option.name} {option.metavar or _choices(option.choices)}".rstrip()),
                code(option.ini),
                _TYPES[option.kind],
                option.help.replace("%%", "%"),
            )
            for option in OPTIONS
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
        side_of_bar = "at least" if info.floor else "at most"
        suite = code(info.suite) if info.suite else "none: it must be named"
        yield (
            f"[`{info.name}`](../measures/{info.name}.md), {side_of_bar} the bar: {info.meaning}. "
            f"Counted by {info.unit}. Suite without `suite=`: {suite}.\n"
        )


def fixtures_page() -> Iterator[str]:
    """Fixtures and hooks."""
    yield "A test with one of the fixtures runs once for each judge;"
    yield "see [checks.md](../checks.md).\n"
    gives = {"judge_datasheet": (JudgeDatasheet,), "judge": (Judge, Reply)}
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
    parameters = inspect.signature(function).parameters.values()
    shown = ", ".join(str(parameter) for parameter in parameters if parameter.name != "self")
    return f"({shown})".replace("'", "")


def cli_page() -> Iterator[str]:
    """The command `judgesense`."""
    yield "What the commands are for stands on the pages that [options.md](../options.md) names.\n"
    for name, parser in _commands(build_parser()):
        yield f"## `judgesense {name}`\n"
        rows = []
        for action in parser._actions:
            if action.dest == "help":
                continue
            names = ", ".join(action.option_strings) or str(action.metavar)
            value = "" if action.nargs == 0 or not action.option_strings else _value(action)
            # None of the three is said alike by every version of Python.
            required = action.required and action.nargs not in ("*", "?")
            has_default = action.default not in (None, []) and action.default is not False
            default = code(action.default) if has_default else "none"
            meaning = (action.help or "").replace("%%", "%")
            rows.append((code(f"{names}{value}"), "required" if required else default, meaning))
        yield from table("argument | default | meaning", rows)


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


def arms() -> Iterator[str]:
    """The arms of the papers, for their page."""
    rows = []
    for name, paper in BUILT_IN.papers.items():
        for arm in (arms := paper.arms):
            beyond = "beyond the paper" if arm.beyond else ""
            counts = (f"{arm.trials:,}", f"{arm.calls:,}")
            rows.append((code(name), arm.name, code(arm.suite), *counts, beyond))
        trials, calls = (sum(getattr(arm, field) for arm in arms) for field in ("trials", "calls"))
        rows.append((code(name), "**together**", "", f"**{trials:,}**", f"**{calls:,}**", ""))
    yield from table("paper | arm | suite | trials | calls | note", rows)


def measures() -> Iterator[str]:
    """All measures, with what their pages say at their heads, for the page of measures."""
    rows = []
    for name in BUILT_IN.measures:
        page = (DOCS / "measures" / f"{name}.md").read_text(encoding="utf-8")
        head = _HEAD_OF_MEASURE.fullmatch(page.splitlines()[2])
        assert head is not None, f"the page of {name} says its unit, direction, check and suites"
        cells = (cell.replace("../", "") for cell in head.groups())
        rows.append((f"[`{name}`](measures/{name}.md)", *cells))
    yield from table("measure | unit | direction | check | suites", rows)


def check_names() -> str:
    """What a run must know of the checks before it imports the registry."""
    return "".join(f"{_room_of(check)}\t{check.marker}\n" for check in BUILT_IN.checks.values())


def _room_of(check: CheckKind) -> str:
    """The room that gives a check, the default one first; empty for those that no room gives."""
    rooms = sorted(BUILT_IN.rooms, key=lambda room: not room.default)
    giving = (room.name for room in rooms if check.name in BUILT_IN.of_rooms((room.name,)).checks)
    return "" if check.earlier else next(giving)


PAGES = {
    "options": options_page,
    "markers": markers_page,
    "fixtures": fixtures_page,
    "cli": cli_page,
}


def site_pages() -> dict[str, str]:
    """The pages of the site that are made of the code, by their paths in docs/."""
    pages = {}
    for name, lines in PAGES.items():
        head = [f"# {(lines.__doc__ or '').strip('.')}", ""]
        pages[f"reference/{name}.md"] = "\n".join([*head, *lines()]).rstrip() + "\n"
    return pages | {f"reference/{name}.md": schema_page(name) for name in SCHEMA_PAGES}


def outputs() -> dict[Path, str]:
    """Every file that is made and committed, with its text."""
    texts = {
        DOCS / "schemas" / f"{name}.json": json.dumps(value, indent=1, ensure_ascii=False) + "\n"
        for name, value in schemas.all_schemas().items()
    }
    texts[CHECK_NAMES] = check_names()
    return texts


if __name__ == "__main__":
    for path, text in outputs().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        print(path.relative_to(DOCS.parent))
