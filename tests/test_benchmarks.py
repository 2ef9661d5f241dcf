"""Benchmarks, which no gate runs whole, ask for names and options that there are."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from pytest_judgesense.commands.main import build_parser
from pytest_judgesense.suites import builtin
from tests.suites import known

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "benchmarks").glob("*.py"))
PACKAGE = "pytest_judgesense"
# An instrument is its room: benchmarks of one that is deleted have nothing to measure.
is_whole = pytest.mark.skipif(
    len(known.builtin_suites()) < len(builtin.builtin_suites()),
    reason="an instrument is deleted, and benchmarks name what it has",
)


def imported_names(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    """What a script takes from modules of the package: the module, the name, and its own for it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
            for alias in node.names:
                yield str(node.module), alias.name, alias.asname or alias.name


def read_names(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """What a script reads of names, or patches: the name, and the attribute."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=own_name), attr=name):
                yield own_name, name
            case ast.Call(
                func=ast.Attribute(attr="object"),
                args=[ast.Name(id=own_name), ast.Constant(value=str(name)), *_],
            ):
                yield own_name, name


def missing_names(source: str) -> list[str]:
    """The names that a script takes from modules of the package, and that these do not have."""
    tree = ast.parse(source)
    missing, modules = [], dict[str, ModuleType]()
    for module, name, own_name in imported_names(tree):
        holder = import_module(module)
        if not hasattr(holder, name):
            try:
                modules[own_name] = import_module(f"{module}.{name}")
            except ModuleNotFoundError:
                missing.append(f"{module}.{name}")
        elif isinstance(getattr(holder, name), ModuleType):
            modules[own_name] = getattr(holder, name)
    for own_name, name in read_names(tree):
        if own_name in modules and not hasattr(modules[own_name], name):
            missing.append(f"{modules[own_name].__name__}.{name}")
    return missing


@is_whole
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_benchmark_takes_only_names_that_there_are(script: Path) -> None:
    assert missing_names(script.read_text(encoding="utf-8")) == []


def test_a_name_that_is_gone_is_noticed() -> None:
    assert missing_names(
        "from pytest_judgesense.stats import sequential as stopping, nothing_of_the_kind\n"
        "from pytest_judgesense.stats.wealth import MOST_LOST, LEAST_LOST\n"
        "stopping._BOLD = stopping._GONE\n"
        "mock.patch.object(stopping, '_MOVED', 1)\n"
    ) == [
        "pytest_judgesense.stats.nothing_of_the_kind",
        "pytest_judgesense.stats.wealth.LEAST_LOST",
        "pytest_judgesense.stats.sequential._GONE",
        "pytest_judgesense.stats.sequential._MOVED",
    ]


@pytest.fixture
def hostile(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The benchmark of hostile inputs; as a script it takes its own folder off the path."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    return import_module("benchmarks.hostile")


@is_whole
def test_hostile_inputs_meet_commands_that_take_their_options(hostile: ModuleType) -> None:
    request = '{"custom_id": "r1"}\n'
    good = dict.fromkeys((*hostile.OUTPUTS, hostile.TAPE, "base.json", "debates.jsonl"), "{}\n")
    # Three rounds, for some kinds of inputs take turns.
    made = hostile.made(0, good | {"requests.jsonl": request}, 0, 3 * len(hostile.MAKERS))
    steps = [step for case in made for step in case.steps]
    steps += [*hostile.READ, *hostile.LINT, *hostile.TAPES, *hostile.READING]
    steps += [hostile.GENERATE, hostile.EXPORT]
    commands = {step[1:] for step in steps if step[0] == "judgesense"}
    assert len({words[0] for words in commands}) > 6
    for words in sorted(commands):
        # An option that the command does not know would end the test by `SystemExit`.
        build_parser(words).parse_args(words)
