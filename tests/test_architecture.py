"""The imports of every module, read from its source, against the plan of the project.

Imports inside functions and under ``TYPE_CHECKING`` count like those at the head of a file.
"""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import pytest_judgesense

ROOT = "pytest_judgesense"
PACKAGE = Path(pytest_judgesense.__file__).parent

# A room of the package imports those of lower levels and itself, nothing else. The values stand
# below all. What instruments and plugins give is put together in the registry; checks are declared
# by it and serve the checks of instruments, which nothing but the renderers, the commands and the
# session stands above.
LEVELS: dict[str, float] = {
    "errors": 0,
    "trial": 0,
    "estimate": 0,
    "grouping": 0,
    # The datasheet as a value, figures on axes that are given, words of a profile, lines laid out.
    "layout": 0.2,
    "datasheet": 0.2,
    "profile": 0.2,
    "figures": 0.4,
    # How much is read, and files that are read without waiting.
    "limits": 0.1,
    # How threads of linear algebra wait; read by numpy and scipy when they are loaded.
    "threads": 0.1,
    "files": 0.2,
    "rows": 0.2,
    # Files that are written whole: of recordings as of reports.
    "output": 0.8,
    "suites": 1,
    "stats": 1,
    "cassettes": 1,
    # It reads a reply under the decision space of a suite.
    "replies": 1.5,
    # What all readers of foreign files need.
    "importers": 1.5,
    "judges": 2,
    "measures": 2,
    "sections": 2.2,
    "registry": 2.4,
    "checks": 2.6,
    "instruments": 3,
    "report": 4,
    "measurement": 5,
    "measuring": 6,
    "recording": 6,
    "baseline": 5,
    "plugin": 7,
    "commands": 7,
}

# Every package from outside that is imported anywhere, and the places that may import it: a module,
# or a package with a dot behind it.
DOORS = {
    # The built-in clients' connections, and the certificates that they trust.
    "aiohttp": ("judges.transport",),
    "httpx": ("judges.transport",),
    "vcr": ("cassettes.interception",),
    # vcrpy's own stub for it is not safe with threads, so the tape has one of ours.
    "urllib3": ("cassettes.interception",),
    "pytest": ("plugin.",),
    "tenacity": ("judges.throttle",),
    "aiolimiter": ("judges.throttle",),
    "filelock": ("judges.budget", "cassettes.locking"),
    "yaml": ("cassettes.interchange",),
    "numpy": ("stats.", "measures.", "instruments."),
    "scipy": ("stats.", "measures.", "instruments."),
    # Optional, for language models on this machine.
    "xllamacpp": ("judges.local.serving",),
    # Optional, for the page alone.
    "jinja2": ("report.page",),
    "markupsafe": ("report.page",),
    "matplotlib": ("report.drawing",),
    # pytest's own parser of its ini files.
    "iniconfig": ("commands.options",),
    # Optional, for logs of many lines.
    "pyarrow": ("report.parquet",),
    # Optional, for tasks of a cluster.
    "ray": ("commands.record",),
    # Optional, for shells.
    "argcomplete": ("commands.main",),
    # Optional, for analyses that decide nothing.
    "statsmodels": ("instruments.debate.secondary",),
    "pandas": ("instruments.debate.secondary", "measuring"),
    "lightgbm": ("instruments.temperature.causal",),
    "shap": ("instruments.temperature.causal",),
    "pydantic": (
        "cassettes.exchange",
        "suites.schema",
        "suites.stimuli",
        "suites.loading",
        "instruments.",
        "judges.table",
        "report.kinds",
        "report.log",
        "baseline",
    ),
    # Its parser of JSON, where time is spent on it.
    "pydantic_core": (
        "cassettes.exchange",
        "judges.providers.builtin",
        "instruments.debate.replies",
        "report.log",
    ),
    # Its `TypedDict` is the one that pydantic reads on Python 3.11.
    "typing_extensions": ("report.kinds", "report.log", "instruments.debate.replies"),
}


TYPES = "TYPE_CHECKING"


def _name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# By name without the root: "" is the package itself.
SOURCES = {_name(path): path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}


def _imported(
    source: str, module: str, modules: Iterable[str], *, of_types: bool = True
) -> set[str]:
    """Absolute names that ``source`` imports: a module of ours by its full name."""
    known = set(modules)
    found: set[str] = set()
    tree = ast.parse(source)
    if not of_types:
        blocks = [one for one in tree.body if isinstance(one, ast.If)]
        tree.body = [b for b in tree.body if b not in blocks or ast.unparse(b.test) != TYPES]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno} imports relatively"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                is_module = full.removeprefix(f"{ROOT}.") in known
                found.add(full if is_module else str(node.module))
    return found


IMPORTS = {name: _imported(source, name, SOURCES) for name, source in SOURCES.items()}
OWN = {
    name: {
        found.removeprefix(ROOT).removeprefix(".")
        for found in imported
        if found.partition(".")[0] == ROOT
    }
    for name, imported in IMPORTS.items()
}
FOREIGN = {
    name: {
        top
        for found in imported
        if (top := found.partition(".")[0]) != ROOT and top not in sys.stdlib_module_names
    }
    for name, imported in IMPORTS.items()
}


def _station(module: str) -> str:
    return module.partition(".")[0]


def test_the_reader_sees_imports_at_the_head_inside_functions_and_of_whole_modules() -> None:
    source = "import a.b\nfrom c import d\ndef f():\n    from pytest_judgesense.stats import x\n"
    assert _imported(source, "m", ["stats.x"]) == {"a.b", "c", "pytest_judgesense.stats.x"}
    assert _imported(source, "m", []) == {"a.b", "c", "pytest_judgesense.stats"}
    types = "import a\nif TYPE_CHECKING:\n    import b\n"
    assert _imported(types, "m", []) == {"a", "b"}
    assert _imported(types, "m", [], of_types=False) == {"a"}


def test_every_module_belongs_to_a_station_that_the_plan_knows() -> None:
    assert {_station(name) for name in SOURCES} - {""} <= set(LEVELS)


@pytest.mark.parametrize("module", sorted(set(SOURCES) - {""}))
def test_imports_run_downward_only(module: str) -> None:
    own = _station(module)
    # The root holds the version and a lazy door for users (tested below): it is below all.
    wrong = {
        target
        for target in OWN[module] - {""}
        if _station(target) != own and LEVELS[_station(target)] >= LEVELS[own]
    }
    assert not wrong, f"{module} imports {sorted(wrong)} of its own level or of one above"


def test_the_root_gives_users_judges_measuring_and_comparing_and_nothing_else() -> None:
    assert OWN[""] == {"judges.table", "measuring", "stats.ranks"}
    assert FOREIGN[""] == set()


def test_of_the_root_modules_take_only_the_version() -> None:
    for name, source in SOURCES.items():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom) and node.module == ROOT:
                taken = {alias.name for alias in node.names}
                assert taken <= {"__version__"} | {_station(n) for n in SOURCES}, name
            if isinstance(node, ast.Import):
                assert ROOT not in {alias.name for alias in node.names}, name


@pytest.mark.parametrize("module", sorted(SOURCES))
def test_packages_from_outside_come_in_by_their_door(module: str) -> None:
    for package in FOREIGN[module]:
        assert package in DOORS, f"{module} imports {package}, which has no door"
        doors = DOORS[package]
        allowed = any(f"{module}.".startswith(d) if d[-1] == "." else module == d for d in doors)
        assert allowed, f"{module} imports {package}, whose doors are {doors}"


def test_the_statistics_know_numbers_and_nothing_of_ours() -> None:
    for module in SOURCES:
        if _station(module) == "stats":
            assert {_station(target) for target in OWN[module]} <= {"stats", "estimate"}, module
            assert FOREIGN[module] <= {"numpy", "scipy"}, module


def test_the_values_stand_on_the_standard_library_alone() -> None:
    for module in ("errors", "trial", "estimate"):
        assert OWN[module] == set()
        assert FOREIGN[module] == set()


def test_private_modules_of_pytest_are_left_alone() -> None:
    taken = {name for name, imported in IMPORTS.items() for i in imported if i.startswith("_")}
    assert {name for name in taken if "_pytest" in IMPORTS[name]} == set()
    assert not any(i.startswith("_pytest") for imported in IMPORTS.values() for i in imported)


def test_there_is_no_cycle() -> None:
    # Types may name one another: a measure is taken on a cell, and a cell holds its measures.
    graph = {
        name: {
            target.removeprefix(f"{ROOT}.")
            for target in _imported(source, name, SOURCES, of_types=False)
        }
        & set(SOURCES) - {name}
        for name, source in SOURCES.items()
    }
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail("a cycle of imports: " + " -> ".join(error.args[1]))
    assert len(order) == len(SOURCES)


@pytest.mark.parametrize("module", sorted(SOURCES))
def test_all_names_only_what_exists(module: str) -> None:
    loaded = importlib.import_module(f"{ROOT}.{module}".rstrip("."))
    names = getattr(loaded, "__all__", [])
    assert [name for name in names if not hasattr(loaded, name)] == []
    assert len(set(names)) == len(names)


def test_the_plugin_alone_imports_nothing_heavy() -> None:
    # A fresh interpreter: in this one everything is imported already.
    code = (
        "import sys, pytest_judgesense.plugin\n"
        "heavy = ('numpy', 'scipy', 'pydantic', 'vcr', 'httpx', 'filelock', 'tenacity')\n"
        "print(*[name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
