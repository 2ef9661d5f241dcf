"""An instrument is its room: without it everything else works as before.

A room goes with those that build on it. Without each room the other suites give the numbers of the
golden files, and all outputs are written. `.ci/full` runs all tests without each of ``ROOMS``. So
that they pass there, the last test keeps what only such a room has out of the tests of everything
else.

A question is its folder, its adapter in `commands/`, its line there, and its export: without it all
other modules load, the other commands are there, and suites run.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import COMMANDS
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.definition import Measure
from tests.golden.outputs import golden, independent
from tests.suites.known import builtin_suites
from tests.test_rooms import foundations, room_of

CHECKOUT = Path(__file__).parents[1]
ROOM = "debate"
ROOMS = (ROOM, "rubric", "people", "groups", "probe", "depth", "confidence", "ablation")
# What tests read and nothing in them changes.
SHARED = (".ci", ".github", "cassettes", "docs", "suites", "templates", "benchmarks", "scripts")
QUICK = (
    "tests/test_rooms.py",
    "tests/test_registry.py",
    "tests/measures/test_published_rates.py",
    "tests/checks/test_explanation.py",
    "tests/suites/test_builtin.py",
    "tests/suites/test_suite_kinds.py",
    "tests/suites/test_loading.py",
)


def gone_with(room: str) -> set[str]:
    """The room, and all that build on it."""
    gone = {room}
    while more := {name for name, others in foundations().items() if others & gone} - gone:
        gone |= more
    return gone


def without_room(folder: Path, room: str = ROOM) -> Path:
    """A copy of the checkout without the room, its tests, and its lines in the list of all.

    Nor has it the rooms that build on this one.
    """
    gone = gone_with(room)
    _copy_without(folder, shutil.ignore_patterns(*gone))
    listed = folder / "pytest_judgesense" / "instruments" / "builtin.py"
    listed.write_text(_unlisted(listed.read_text(encoding="utf-8"), gone), encoding="utf-8")
    return folder


def _unlisted(text: str, rooms: Iterable[str]) -> str:
    """The list of all rooms without those of some, and without the functions that import them."""
    lines = text.splitlines(keepends=True)
    left_out = set()
    for room in rooms:
        listing = [
            place for place, line in enumerate(lines) if line.startswith(f'    Room("{room}"')
        ]
        assert len(listing) == 1, "docs/architecture.md says a line a room, and its functions"
        left_out |= {*listing}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and any(
            f".instruments.{room} import" in ast.unparse(node) for room in rooms
        ):
            left_out |= {*range(node.lineno - 1, node.end_lineno or node.lineno)}
    return "".join(line for place, line in enumerate(lines) if place not in left_out)


def _copy_without(folder: Path, left_out: Callable[[str, list[str]], Iterable[str]]) -> None:
    """Copy the checkout, without what ``left_out`` names of a folder's files."""
    for name in ("pytest_judgesense", "tests"):
        shutil.copytree(CHECKOUT / name, folder / name, ignore=left_out)
    for name in SHARED:
        (folder / name).symlink_to(CHECKOUT / name)
    for file in CHECKOUT.iterdir():
        if file.is_file() and file.name != ".git":
            shutil.copy(file, folder)


def without_question(folder: Path, question: str) -> Path:
    """A copy of the checkout without a question: its folder, its adapters, its tests and its lines.

    Its lines are that of its command, those of older names of it, and its export.
    """
    command = question.removesuffix("_")
    adapters = {
        "pytest_judgesense": re.compile(rf"{command}(_\w*)?\.py"),
        "tests": re.compile(rf"test_{command}(_\w*)?\.py"),
    }

    def left_out(place: str, names: list[str]) -> list[str]:
        match Path(place).name:
            case "questions":
                return [name for name in names if name == question]
            case "commands":
                adapter = adapters[Path(place).relative_to(CHECKOUT).parts[0]]
                return [name for name in names if adapter.fullmatch(name)]
        return []

    _copy_without(folder, left_out)
    package = folder / "pytest_judgesense"
    _drop_lines(package / "commands" / "main.py", rf'    "{command}": |    "\w+": "{command} ')
    exports = package / "__init__.py"
    door = re.compile(rf'"(\w+)": "pytest_judgesense\.questions\.{question}\.')
    exported = door.findall(exports.read_text(encoding="utf-8"))
    names = "".join(rf'|    "{name}",$' for name in exported)
    _drop_lines(exports, rf".*pytest_judgesense\.questions\.{question}\.{names}")
    return folder


def _drop_lines(file: Path, pattern: str) -> None:
    """Drop the lines of a file that begin with a pattern."""
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(line for line in lines if not re.match(pattern, line)), "utf-8")


def run(
    folder: Path, *arguments: str, within: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """A session of pytest that imports the package from ``folder``, there or ``within`` another."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=within or folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def passed(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return done.stdout


QUESTIONS = sorted(
    file.parent.name for file in (CHECKOUT / "pytest_judgesense/questions").glob("*/__init__.py")
)
# What loads every module that there is, and every export.
LOADED = """
import importlib, pkgutil
import pytest_judgesense
for module in pkgutil.walk_packages(pytest_judgesense.__path__, "pytest_judgesense."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
for name in pytest_judgesense.__all__:
    getattr(pytest_judgesense, name)
"""


@pytest.mark.parametrize(
    "question",
    [
        pytest.param(question, marks=() if question == "why" else pytest.mark.long)
        for question in QUESTIONS
    ],
)
def test_a_question_is_its_folder_its_adapter_and_its_lines(tmp_path: Path, question: str) -> None:
    folder = without_question(tmp_path / "copy", question)

    def printed(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "80"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout

    printed("-c", LOADED)
    listed = re.findall(
        r"^    (\w+) ", printed("-m", "pytest_judgesense.commands", "--help"), re.MULTILINE
    )
    assert listed == [name for name in COMMANDS if name != question.removesuffix("_")]
    suites = ("--judge-suite", "vacuum", "--judge-name", "embedded:clean")
    assert "passed" in passed(run(folder, *suites, within=tmp_path))


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return without_room(tmp_path_factory.mktemp("without"))


@pytest.mark.long
def test_what_is_quick_of_the_rest_passes(copy: Path) -> None:
    # The copy of an instrument, shuffles and the largest suite take longer than all others.
    slow = "copy_of_an_instrument or invariants or full"
    passed(run(copy, *QUICK, "-k", f"not ({slow})"))


def suites_by_kind(gone: Iterable[str] = ()) -> dict[str, str]:
    """A built-in suite of each kind of the rooms that are left."""
    folders = {f"instruments/{room}/" for room in gone}
    kinds = {
        tomllib.loads(path.read_text(encoding="utf-8"))["kind"]: name
        for name, path in sorted(builtin_suites().items())
    }
    # A kind whose suites are made of others, or of a user's own items, need not ship any.
    assert set(kinds) <= set(BUILT_IN.kinds)
    return {kind: name for kind, name in kinds.items() if room_of(kind) not in folders}


def kinds_without(gone: Iterable[str]) -> set[str]:
    """The kinds of the rooms that are left."""
    folders = {f"instruments/{room}/" for room in gone}
    return {kind for kind in BUILT_IN.kinds if room_of(kind) not in folders}


def measured(text: str, suites: Iterable[str]) -> list[dict[str, object]]:
    """The estimates and the checks of some suites in a datasheet as JSON."""
    (judge,) = json.loads(text)["judges"]
    parts = (*judge["measures"], *judge["checks"])
    return [one for one in parts if one["suite"] in suites]


def recorded_as(name: str, whole: str) -> str:
    """A suite as the datasheet has it: of one that is recorded by a preset alone, the preset."""
    (judge,) = json.loads(whole)["judges"]
    suites = {part["suite"] for part in judge["measures"]}
    return min((s for s in suites if s.partition("@")[0] == name), key=len)


@pytest.fixture(scope="module")
def whole() -> str:
    """The datasheet with all rooms."""
    return golden("clean", "datasheet.json")


# Kinds whose suites, or the figures of which, take longer than those of all others.
SLOW = ("debate", "ladder", "temperature")


OTHERS = sorted(foundations().keys() - {ROOM})


@pytest.mark.parametrize(
    ("room", "slow"),
    [
        pytest.param(ROOM, (), id=ROOM),
        *(pytest.param(room, SLOW, id=room, marks=pytest.mark.long) for room in OTHERS),
        *(pytest.param(room, (), id=f"{room}-all", marks=pytest.mark.long) for room in OTHERS),
    ],
)
def test_the_other_suites_are_measured_and_written_in_all_forms_without_it(
    whole: str, tmp_path: Path, room: str, slow: tuple[str, ...]
) -> None:
    # One of every other kind; without those of `ROOMS` .ci/full measures them all.
    gone = gone_with(room)
    names = [name for kind, name in suites_by_kind(gone).items() if kind not in slow]
    suites = [recorded_as(name, whole) for name in names]
    assert len(suites) > 1
    project = tmp_path / "project"
    project.mkdir()
    (project / "conftest.py").write_text(
        "from pytest_judgesense.instruments.builtin import BUILT_IN\n"
        f"assert set(BUILT_IN.kinds) == {kinds_without(gone)}\n"
    )
    forms = ("html", "md", "json", "jsonl", "csv", "tex")
    done = run(
        without_room(tmp_path, room),
        *(part for name in suites for part in ("--judge-suite", name)),
        *(part for form in forms for part in ("--judge-datasheet", f"sheet.{form}")),
        *("--judge-name", "embedded:clean", "-p", "tests.golden.without_extras"),
        within=project,
    )
    assert "passed" in passed(done)
    assert all((project / f"sheet.{form}").stat().st_size for form in forms)
    sheet = independent((project / "sheet.json").read_text(encoding="utf-8"))
    assert {one["suite"] for one in measured(sheet, suites)} == set(suites)
    joined_by_it = {measure.name for measure in joined_by(gone)}
    assert measured(sheet, suites) == [
        part for part in measured(whole, suites) if part["measure"] not in joined_by_it
    ]


def joined_by(rooms: set[str]) -> list[Measure]:
    """The measures that some rooms add to suites of every kind."""
    joined = (room.contents().joined for room in BUILT_IN.rooms if room.name in rooms)
    return list(chain.from_iterable(joined))


# --- what tests of everything else name ----------------------------------------------------------

# Not run without a room: they read the pages and the recorded outputs, which tell of all rooms.
OF_ALL = ("docs/", "golden/", "test_golden.py", "test_deletion.py")
# Tests that name what only such a room has, and how they pass where it is deleted.
NAMING = {
    # They go over what is registered, or over the suites that there are, and look names up.
    "checks/test_declaration.py": "of each check that there is",
    "checks/test_shipped_bars.py": "of each check that a suite declares",
    "files/shapes/test_every_shape.py": "of columns of others' files that are called so",
    "files/shapes/test_openai.py": "of columns of others' files that are called so",
    "fuzzing.py": "of each command and each importer that there is",
    "judges/simulated/test_parsing.py": "of each suite that there is",
    "measures/building.py": "of any suite",
    "report/test_figures.py": "of each suite that there is",
    "report/test_page.py": "of each suite that there is",
    "suites/test_data.py": "of each suite that there is",
    "suites/test_digests.py": "of each suite that there is",
    # Suites ship beside their rooms, and what names a kind need not load it.
    "suites/test_builtin.py": "the files that ship",
    "test_rooms.py": "texts that are read as source",
}


def only_there(room: str) -> set[str]:
    """Suites, and what the registry holds by name, that are there by the room alone."""
    kinds = {name for name in BUILT_IN.kinds if room_of(name) == f"instruments/{room}/"}
    files = {name: path.read_text(encoding="utf-8") for name, path in builtin_suites().items()}
    own = {name for name, text in files.items() if tomllib.loads(text)["kind"] in kinds}
    rest = BUILT_IN.of_rooms({name for name in foundations() if name != room})
    for whole, others in (
        (BUILT_IN.kinds, rest.kinds),
        (BUILT_IN.checks, rest.checks),
        (BUILT_IN.importers, rest.importers),
    ):
        own |= set(whole) - set(others)
    if not kinds:  # the checks of what it joins to every kind
        own |= {measure.check for measure in joined_by({room}) if measure.check}
    return own


def named(tree: ast.Module) -> Iterator[str]:
    """What a test names: modules that it imports, and texts but those of ``of_known_kinds``.

    Of a text the first word without what belongs to it (a preset, a bar), and what stands in
    quotation marks within it.
    """
    left_out = {
        part
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "of_known_kinds"
        for part in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{one.name}" for one in node.names)
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in left_out
        ):
            yield from re.findall(r"""(?:^|["'])([\w-]+)(?=$|[@[ "'])""", node.value)


def of_benchmarks(names: set[str]) -> set[str]:
    """What the benchmarks import that a test imports: without it the test is not read."""
    benchmarks = {name.split(".")[1] for name in names if name.startswith("benchmarks.")}
    return {
        name
        for benchmark in benchmarks
        for name in named(tree_of_benchmark(benchmark))
        if "." in name
    }


def tree_of_benchmark(name: str) -> ast.Module:
    return ast.parse((CHECKOUT / "benchmarks" / f"{name}.py").read_text(encoding="utf-8"))


def of_room(name: str, room: str) -> bool:
    """Whether a dotted name is a module of the room or of its tests."""
    return f".instruments.{room}." in f".{name}."


@pytest.fixture(scope="module")
def names() -> dict[str, set[str]]:
    """What every test file names, by its path, with what benchmarks import that it imports."""
    tests = CHECKOUT / "tests"
    files = {path.relative_to(tests).as_posix(): path for path in tests.rglob("*.py")}
    own = {
        name: set(named(ast.parse(path.read_text(encoding="utf-8"))))
        for name, path in files.items()
        if not name.startswith(OF_ALL)
    }
    return {name: names | of_benchmarks(names) for name, names in own.items()}


@pytest.mark.parametrize("room", ROOMS)
def test_what_only_a_room_has_is_named_by_its_own_tests(
    names: dict[str, set[str]], room: str
) -> None:
    own = only_there(room)
    assert own
    # The tests of those that build on it are gone with it.
    folders = tuple(f"instruments/{name}/" for name in gone_with(room))
    naming = {
        f"tests/{file}: {name}"
        for file, said in names.items()
        if not file.startswith(folders)
        for name in said
        if of_room(name, room) or (name in own and file not in NAMING)
    }
    assert not naming, "move it to the tests of the room, or take what there is: of_known_kinds"


def test_whoever_may_name_what_a_room_has_does(names: dict[str, set[str]]) -> None:
    own = set.union(*map(only_there, ROOMS))
    assert [file for file in NAMING if not names[file] & own] == []


def test_names_are_read_of_imports_and_texts() -> None:
    tree = ast.parse(
        "from a.instruments import debate\nimport tests.instruments.debate.x\n"
        'run("debate@quick", "ranked_first[a:b]", "debates generate", \'suite="rubric"\')\n'
        'of_known_kinds("temperature")\n"no debate"'
    )
    found = set(named(tree))
    assert {name for name in found if of_room(name, "debate")} == {
        "a.instruments.debate",
        "tests.instruments.debate.x",
    }
    assert found >= {"debate", "ranked_first", "debates", "rubric"}
    assert not found & {"temperature", "quick", "generate"}
