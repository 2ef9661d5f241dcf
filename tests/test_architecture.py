"""The imports of every module, read from its source, against the plan of the project.

Imports inside functions and under ``TYPE_CHECKING`` count like those at the head of a file.
"""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.sources import SOURCES, tree_of
from tests.test_rooms import foundations, rooms_of

ROOT = "pytest_judgesense"

# A room of the package imports those of lower levels and itself, nothing else. The values stand
# below all. What instruments and plugins give is put together in the registry; checks are declared
# by it and serve the checks of instruments, which nothing but the renderers, the commands and the
# session stands above.
LEVELS: dict[str, int] = {
    # The values.
    "errors": 0,
    "trial": 0,
    "estimate": 0,
    # Lines of a terminal, files of users and of ours, numbers.
    "text": 1,
    "files": 1,
    "stats": 1,
    # Git, suites, and recordings.
    "revisions": 2,
    "suites": 2,
    "cassettes": 2,
    # It reads a reply under the decision space of a suite.
    "replies": 3,
    "judges": 4,
    "measures": 4,
    # The datasheet as a value, and what instruments add to it.
    "datasheets": 5,
    # What instruments and plugins give.
    "registry": 6,
    "checks": 7,
    "instruments": 8,
    "report": 9,
    "asking": 9,
    "measurement": 10,
    # What a judge was measured to be earlier.
    "earlier": 10,
    "api": 11,
    "questions": 12,
    "plugin": 13,
    "commands": 13,
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
    "filelock": ("judges.throttle", "cassettes.locking", "files.output", "plugin.workers"),
    "numpy": ("stats.", "measures.", "instruments.", "questions.report.panel."),
    "scipy": ("stats.", "measures.", "instruments."),
    # Optional, for language models on this machine.
    "xllamacpp": ("judges.local",),
    # Optional, for the page alone.
    "jinja2": ("report.page",),
    "markupsafe": ("report.page",),
    "matplotlib": ("report.drawing",),
    # The day of a proof.
    "time_machine": ("asking.later_clock",),
    # pytest's own parser of its ini files.
    "iniconfig": ("files.pytest_ini",),
    # Optional, for tasks of a cluster.
    "ray": ("questions.record.question",),
    # Optional, for tables of spreadsheets and of data frames.
    "openpyxl": ("files.workbooks",),
    "pyarrow": ("files.workbooks",),
    # Optional, for shells.
    "argcomplete": ("commands.main",),
    # Optional, for analyses that decide nothing.
    "statsmodels": ("instruments.debate.secondary",),
    "pandas": ("instruments.debate.secondary", "api", "questions."),
    "lightgbm": ("instruments.temperature.causal",),
    "shap": ("instruments.temperature.causal",),
    "pydantic": (
        "cassettes.exchange",
        "suites.schema",
        "suites.stimuli",
        "suites.loading",
        "instruments.",
        "judges.judge_table",
        "report.datasheet_file",
        "report.log",
        "files.own_fields",
        "earlier.baseline",
        "datasheets.live_sessions",
        "plugin.results",
    ),
    # Its parser of JSON, where time is spent on it.
    "pydantic_core": (
        "files.rows",
        "cassettes.exchange",
        "judges.providers.formats",
        "instruments.debate.replies",
        "report.log",
    ),
    # Its `TypedDict` is the one that pydantic reads on Python 3.11.
    "typing_extensions": ("report.datasheet_file", "report.log", "instruments.debate.replies"),
}


TYPES = "TYPE_CHECKING"


def _imported(
    source: str, module: str, modules: Iterable[str], *, of_types: bool = True
) -> set[str]:
    """Absolute names that ``source`` imports: a module of ours by its full name."""
    known = set(modules)
    found: set[str] = set()
    statements: list[ast.stmt] = tree_of(source).body
    if not of_types:
        blocks = [one for one in statements if isinstance(one, ast.If)]
        statements = [s for s in statements if s not in blocks or ast.unparse(s.test) != TYPES]
    for node in ast.walk(ast.Module(statements, type_ignores=[])):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno} imports relatively"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                is_module = full.removeprefix(f"{ROOT}.") in known
                found.add(full if is_module else str(node.module))
    return found


def imports_of(sources: Mapping[str, str]) -> dict[str, set[str]]:
    return {name: _imported(source, name, sources) for name, source in sources.items()}


def own_of(imports: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The modules of ours that each imports."""
    return {
        name: {
            found.removeprefix(ROOT).removeprefix(".")
            for found in imported
            if found.partition(".")[0] == ROOT
        }
        for name, imported in imports.items()
    }


@cache
def all_imports() -> dict[str, set[str]]:
    """Of each module all that it imports."""
    return imports_of(SOURCES)


@cache
def own_imports() -> dict[str, set[str]]:
    """Of each module those of ours that it imports."""
    return own_of(all_imports())


@cache
def foreign_imports() -> dict[str, set[str]]:
    """Of each module the packages from outside that it imports."""
    return {
        name: {
            top
            for target in targets
            if (top := target.partition(".")[0]) != ROOT and top not in sys.stdlib_module_names
        }
        for name, targets in all_imports().items()
    }


def _station(module: str) -> str:
    return module.partition(".")[0]


def room_of(module: str, rooms: Iterable[str]) -> str:
    """The room that a module stands in; empty for none."""
    folder, _, within = module.partition(".")
    room = within.partition(".")[0]
    return room if folder == "instruments" and room in rooms else ""


def climbs(module: str, targets: Iterable[str]) -> set[str]:
    """What a module imports of its own level or of one above."""
    own = _station(module)
    return {
        target
        for target in targets
        if _station(target) != own and LEVELS[_station(target)] >= LEVELS[own]
    }


def intrudes(module: str, targets: Iterable[str], rooms: Mapping[str, set[str]]) -> set[str]:
    """What a module imports of rooms that it neither stands in nor builds on."""
    own = room_of(module, rooms)
    entered = {target: room for target in targets if (room := room_of(target, rooms))}
    # The list of all instruments takes what each gives, and what reads foreign files.
    given = {f"instruments.{room}.instrument" for room in rooms}
    given |= {name for name, source in SOURCES.items() if "\nIMPORTERS: Final" in source}
    return {
        target
        for target, room in entered.items()
        if room not in (own, *rooms.get(own, ()))
        and not (module == "instruments.builtin" and target in given)
    }


def circle(own: Mapping[str, set[str]], rooms: Iterable[str]) -> list[str]:
    """Rooms, or modules outside them, that import one another in a circle; empty if none do."""

    def place(module: str) -> str:
        room = room_of(module, rooms)
        return f"instruments.{room}" if room else module

    graph: dict[str, set[str]] = {}
    for module, targets in own.items():
        if _station(module) == "instruments":
            found = {place(one) for one in targets if _station(one) == "instruments"}
            graph.setdefault(place(module), set()).update(found - {place(module)})
    return _cycle(graph)


def _cycle(graph: Mapping[str, set[str]]) -> list[str]:
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        return list(error.args[1])
    return []


def test_the_reader_sees_imports_at_the_head_inside_functions_and_of_whole_modules() -> None:
    source = "import a.b\nfrom c import d\ndef f():\n    from pytest_judgesense.stats import x\n"
    assert _imported(source, "m", ["stats.x"]) == {"a.b", "c", "pytest_judgesense.stats.x"}
    assert _imported(source, "m", []) == {"a.b", "c", "pytest_judgesense.stats"}
    types = "import a\nif TYPE_CHECKING:\n    import b\n"
    assert _imported(types, "m", []) == {"a", "b"}
    assert _imported(types, "m", [], of_types=False) == {"a"}


def test_every_module_belongs_to_a_station_that_the_plan_knows() -> None:
    assert {_station(name) for name in SOURCES} - {""} <= set(LEVELS)


# Below, what is wrong is by the module that does it: no module does.


def test_imports_run_downward_only() -> None:
    # The root holds the version and a lazy door for users (tested below): it is below all.
    modules = sorted(own_imports().keys() - {""})
    upward = {module: climbs(module, own_imports()[module] - {""}) for module in modules}
    assert {module: targets for module, targets in upward.items() if targets} == {}


def test_a_room_is_entered_from_those_that_build_on_it() -> None:
    entered = {
        module: intrudes(module, targets, foundations())
        for module, targets in own_imports().items()
    }
    assert {module: targets for module, targets in entered.items() if targets} == {}


def test_a_room_says_what_it_builds_on_and_nothing_else() -> None:
    assert len(foundations()) > 1
    for room, others in foundations().items():
        inside = (
            targets
            for name, targets in own_imports().items()
            if room_of(name, foundations()) == room
        )
        entered = {room_of(target, foundations()) for target in set.union(*inside)} - {"", room}
        assert entered == others, f"the docstring of instruments.{room}"


def test_no_two_rooms_build_on_each_other() -> None:
    assert circle(own_imports(), foundations()) == []


# A made-up package, in which a room builds on another.
HOUSE = {
    "measures.definition": "",
    "checks.outcome": "",
    "instruments": "",
    "instruments.builtin": "from pytest_judgesense.instruments.one import instrument as one",
    "instruments.board": "",
    "instruments.one": "",
    "instruments.one.instrument": "import pytest_judgesense.instruments.one.figures",
    "instruments.one.figures": "",
    "instruments.two": "'''Builds on `one`.'''",
    "instruments.two.instrument": "import pytest_judgesense.instruments.one.figures",
    "instruments.two.figures": "import pytest_judgesense.instruments.one.instrument",
    "instruments.three": "",
    "instruments.three.instrument": "",
    "commands.explain": "import pytest_judgesense.instruments.builtin",
}


def wrong_in(house: Mapping[str, str]) -> dict[str, set[str]]:
    """What modules import against the rules, and the places of a circle."""
    own, rooms = own_of(imports_of(house)), rooms_of(house)
    found = {
        module: climbs(module, targets) | intrudes(module, targets, rooms)
        for module, targets in own.items()
    }
    found["circle"] = set(circle(own, rooms))
    return {name: wrong for name, wrong in found.items() if wrong}


def test_a_house_in_order_has_no_wrong_import() -> None:
    assert rooms_of(HOUSE) == {"one": set(), "two": {"one"}, "three": set()}
    assert wrong_in(HOUSE) == {}


@pytest.mark.parametrize(
    ("module", "source", "target"),
    [
        # Upward, at the head and inside a function.
        ("measures.definition", "import pytest_judgesense.checks.outcome", "checks.outcome"),
        (
            "measures.definition",
            "def f():\n    from pytest_judgesense.checks import outcome",
            "checks.outcome",
        ),
        # Into a room: from another, from what all rooms share, and from outside.
        *(
            (module, "import pytest_judgesense.instruments.one.figures", "instruments.one.figures")
            for module in (
                "instruments.three.instrument",
                "instruments.board",
                "instruments.builtin",
                "commands.explain",
            )
        ),
        # Back from a room to one that builds on it.
        (
            "instruments.one.figures",
            "import pytest_judgesense.instruments.two.figures",
            "instruments.two.figures",
        ),
    ],
)
def test_a_wrong_import_is_found_however_it_is_written(
    module: str, source: str, target: str
) -> None:
    assert target in wrong_in({**HOUSE, module: source})[module]


def test_rooms_that_state_to_build_on_each_other_are_a_circle() -> None:
    house = {
        **HOUSE,
        "instruments.one": "'''Builds on `two`.'''",
        "instruments.one.figures": "import pytest_judgesense.instruments.two.figures",
    }
    assert set(wrong_in(house)) == {"circle"}
    assert wrong_in(house)["circle"] == {"instruments.one", "instruments.two"}


def test_the_root_gives_users_judges_fixtures_the_api_reading_and_comparing_and_no_more() -> None:
    doors = {"judges.judge", "api", "stats.ranks", "plugin.fixture_values"}
    questions = {target for target in own_imports()[""] if _station(target) == "questions"}
    assert own_imports()[""] - questions == doors
    assert foreign_imports()[""] == set()


def test_of_the_root_modules_take_only_the_version() -> None:
    for name, source in SOURCES.items():
        for node in ast.walk(tree_of(source)):
            if isinstance(node, ast.ImportFrom) and node.module == ROOT:
                taken = {alias.name for alias in node.names}
                assert taken <= {"__version__"} | {_station(n) for n in SOURCES}, name
            if isinstance(node, ast.Import):
                assert ROOT not in {alias.name for alias in node.names}, name


def is_module(name: str) -> bool:
    """Whether a name of a station is that of a file, and not of a room."""
    return not any(other.startswith(f"{name}.") for other in SOURCES)


def is_door(module: str, package: str) -> bool:
    doors = DOORS.get(package, ())
    return any(f"{module}.".startswith(d) if d[-1] == "." else module == d for d in doors)


def test_at_the_top_stand_the_values_and_the_story() -> None:
    loose = {name for name in SOURCES if name and "." not in name and is_module(name)}
    assert loose == {"errors", "trial", "estimate", "registry", "measurement", "api"}


def test_packages_from_outside_come_in_by_their_door() -> None:
    taken = [
        (module, package) for module, packages in foreign_imports().items() for package in packages
    ]
    assert [(module, package) for module, package in taken if not is_door(module, package)] == []


def test_the_statistics_know_numbers_and_nothing_of_ours() -> None:
    for module in SOURCES:
        if _station(module) == "stats":
            assert {_station(target) for target in own_imports()[module]} <= {
                "stats",
                "estimate",
            }, module
            assert foreign_imports()[module] <= {"numpy", "scipy"}, module


def test_the_values_stand_on_the_standard_library_alone() -> None:
    for module in ("errors", "trial", "estimate"):
        assert own_imports()[module] == set()
        assert foreign_imports()[module] == set()


def test_private_modules_of_pytest_are_left_alone() -> None:
    taken = {
        name for name, imported in all_imports().items() for i in imported if i.startswith("_")
    }
    assert {name for name in taken if "_pytest" in all_imports()[name]} == set()
    assert not any(i.startswith("_pytest") for imported in all_imports().values() for i in imported)


def test_there_is_no_cycle() -> None:
    # Types may name one another.
    graph = {
        name: {
            target.removeprefix(f"{ROOT}.")
            for target in _imported(source, name, SOURCES, of_types=False)
        }
        & set(SOURCES) - {name}
        for name, source in SOURCES.items()
    }
    assert not (found := _cycle(graph)), "a cycle of imports: " + " -> ".join(found)


@pytest.mark.parametrize("station", ["instruments", "measures", "suites"])
def test_files_of_a_station_form_no_circle_by_types_or_within_functions_either(
    station: str,
) -> None:
    files = {name for name in SOURCES if _station(name) == station}
    graph = {name: own_imports()[name] & files - {name} for name in files}
    assert not (found := _cycle(graph)), "a cycle of imports: " + " -> ".join(found)


def test_all_names_only_what_exists() -> None:
    for module in SOURCES:
        loaded = importlib.import_module(f"{ROOT}.{module}".rstrip("."))
        names = getattr(loaded, "__all__", [])
        assert [name for name in names if not hasattr(loaded, name)] == [], module
        assert len(set(names)) == len(names), module


def test_the_plugin_alone_imports_nothing_heavy() -> None:
    # A fresh interpreter: in this one everything is imported already.
    code = (
        "import sys, pytest_judgesense.plugin\n"
        "heavy = ('numpy', 'scipy', 'pydantic', 'vcr', 'httpx', 'filelock', 'tenacity')\n"
        "print(*[name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


# What the files of a room are called in every one of them, and the packages, which are plurals of
# what they hold; `suites.planning` plans what the command `plan` shows.
SHARED_NAMES = frozenset({"checks", "measures", "tables", "figures", "words", "replies", "answer"})
SUFFIXES = ("s", "es", "ed", "ing", "ings", "er", "ers", "ment", "ments", "ion", "ation", "ations")
NAMESAKES = {("plan", "planning"), ("state", "statements")}


def _with_suffix(name: str) -> set[str]:
    """A name with each suffix, also where its last letter goes or is doubled."""
    stems = {name, name + name[-1], name.removesuffix("e")}
    return {stem + suffix for stem in stems for suffix in SUFFIXES}


def same_but_for_a_suffix(modules: Iterable[str]) -> set[tuple[str, str]]:
    """Pairs of files where the name of one is that of the other with a suffix."""
    packages = {part for module in modules for part in module.split(".")[:-1]}
    names = {module.rpartition(".")[2].strip("_") for module in modules if module}
    names -= packages | SHARED_NAMES
    return {(name, longer) for name in names for longer in names & _with_suffix(name)} - NAMESAKES


def test_no_file_is_called_as_another_with_a_suffix() -> None:
    assert same_but_for_a_suffix(SOURCES) == set()


def test_a_file_called_as_another_with_a_suffix_is_found() -> None:
    modules = [
        "suites.draw",
        "report.drawing",
        "a.merge",
        "a.merging",
        "a.run",
        "b.running",
        "c.row",
    ]
    assert same_but_for_a_suffix(modules) == {
        ("draw", "drawing"),
        ("merge", "merging"),
        ("run", "running"),
    }


def with_two_meanings(sources: Mapping[str, str]) -> set[str]:
    """Public names of a class that another module gives to a class or type of its own."""
    classes, types = Counter[str](), Counter[str]()
    for source in sources.values():
        for node in tree_of(source).body:
            if isinstance(node, ast.ClassDef):
                classes[node.name] += 1
            elif isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
                types[ast.unparse(node.target)] += 1
    return {
        name
        for name, times in classes.items()
        if not name.startswith("_") and times + types[name] > 1
    }


def test_the_name_of_a_class_means_one_thing() -> None:
    assert with_two_meanings(SOURCES) == set()


def test_a_name_with_two_meanings_is_found() -> None:
    sources = {
        "a": "class Row: ...\nclass Pair: ...\nclass _Own: ...",
        "b": "Row: TypeAlias = dict[str, str]\nclass _Own: ...",
        "c": "class Pair: ...\nclass Single: ...",
    }
    assert with_two_meanings(sources) == {"Row", "Pair"}


# Words of everyday speech that say nothing of judges, recordings or statistics.
VAGUE = frozenset(
    """
    standing handout screening starting sweeping using places frames meter completing reading clock
    lines wire tape ledger told kept own hold mend
    """.split()
)
TERMS = {"lines": "the lines that a text consists of: of a report, of a file"}


def _vague(module: str, source: str) -> set[str]:
    """Names of a module, of its classes and functions, and of fields that are one vague word."""
    names = [module.rpartition(".")[2]]
    for node in ast.walk(tree_of(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(node.name)
        if isinstance(node, ast.ClassDef):
            fields = [one.target for one in node.body if isinstance(one, ast.AnnAssign)]
            names += [one.id for one in fields if isinstance(one, ast.Name)]
    return {name for name in names if name.lstrip("_").lower() in VAGUE - TERMS.keys()}


def test_names_are_terms_of_the_field() -> None:
    vague = {module: _vague(module, source) for module, source in SOURCES.items()}
    assert {module: names for module, names in vague.items() if names} == {}, "see VAGUE"


def test_a_vague_name_is_found() -> None:
    source = """
class Reading:
    kept: int
    def told(self): ...
    async def _hold(self): ...
    def told_apart(self): ...
    def lines(self): ...
"""
    assert _vague("commands.own", source) == {"own", "Reading", "kept", "told", "_hold"}
    assert _vague("stats.ownership", "owner = own = 1") == set()
