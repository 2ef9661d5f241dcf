"""What `scripts/seed_faults.py` changes, draws and finds: on small sources, and a small package."""

from __future__ import annotations

import ast
import json
from collections import Counter
from pathlib import Path

import pytest

from scripts.seed_faults import (
    Fault,
    draw,
    going_through,
    imported_by,
    line_now,
    main,
    map_of,
    mirrors,
    possible_faults,
    room_of,
    with_line,
)
from tests.repository import commit, repository


def changed(line: str) -> set[tuple[str, str]]:
    """The kinds of faults that are put into a line of a function, and what then stands there."""
    source = f"def function(a, b):\n    {line}\n"
    return {
        (fault.kind, fault.after.strip())
        for fault in possible_faults(source, "pytest_judgesense/a.py")
    }


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("return a == b", {("comparison", "return a != b")}),
        ("return a is not b", {("comparison", "return a is b")}),
        ("return a not in b", {("comparison", "return a in b")}),
        ("return not a", {("comparison", "return a")}),
        ("return a < b", {("comparison", "return a > b"), ("bound", "return a <= b")}),
        ("return a >= b", {("comparison", "return a <= b"), ("bound", "return a > b")}),
        (
            "return len(a) > 1",
            {
                ("comparison", "return len(a) < 1"),
                ("bound", "return len(a) >= 1"),
                ("bound", "return len(a) > 2"),
            },
        ),
        # In parentheses, and behind letters of more than a byte.
        ("return 'ä' + (a) == (b)", {("comparison", "return 'ä' + (a) != (b)")}),
    ],
)
def test_comparisons_are_turned_and_their_bounds_moved(
    line: str, expected: set[tuple[str, str]]
) -> None:
    assert changed(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("return a[2:]", {("bound", "return a[3:]")}),
        ("return a[:8]", {("bound", "return a[:9]")}),
        ("return range(3)", {("bound", "return range(4)")}),
        (
            "return max(a, 0)",
            {("bound", "return max(a, 1)"), ("call", "return (a)")},
        ),
        ("return a[-1]", {("sign", "return a[1]")}),
        ("return a + b", {("sign", "return a - b")}),
        ("a -= b", {("sign", "a += b")}),
        ("return sorted(a, key=b)", {("call", "return list(a)")}),
        ("return abs(a[b])", {("call", "return (a[b])")}),
        ("return a.strip().split(b)", {("call", "return a.split(b)")}),
        ("a.append(b)", {("call", "pass")}),
        ("yield a", set()),
    ],
)
def test_bounds_signs_and_calls(line: str, expected: set[tuple[str, str]]) -> None:
    assert changed(line) == expected


def test_defaults_are_those_of_parameters_fields_and_constants_of_a_module() -> None:
    source = (
        "MOST: Final = 7\n"
        "class Setting:\n"
        "    quiet: bool = False\n"
        "    share: float = 0.25\n"
        "    name: str = 'a'\n"
        "def ask(seed: int = 0, *, none: int | None = None):\n"
        "    local = 3\n"
    )
    faults = possible_faults(source, "pytest_judgesense/a.py")
    assert [(fault.kind, fault.line, fault.within, fault.after) for fault in faults] == [
        ("default", 1, "", "MOST: Final = 8"),
        ("default", 3, "Setting", "    quiet: bool = True"),
        ("default", 4, "Setting", "    share: float = 0.5"),
        ("default", 6, "ask", "def ask(seed: int = 1, *, none: int | None = None):"),
    ]


LEFT_ALONE = '''"""A docstring: 1 < 2."""

from typing import TYPE_CHECKING, Literal, TypeAlias

__all__ = ["a" + "b"]
if TYPE_CHECKING:
    LIMIT = 3
if sys.version_info >= (3, 12):
    pass
Answer: TypeAlias = Literal[1, -1]


@decorated(most=3 - 1)
def told(answer: Literal[-1]) -> Literal[-1]:
    """Whether 1 < 2."""
    assert isinstance(answer, int) and answer < 2
    logger.debug("%d", answer - 1)
    text: Literal[-1] = answer
    return f"{answer - 1} of {text:>8}" + "."
'''


def test_words_types_assertions_and_logging_are_left_alone() -> None:
    assert possible_faults(LEFT_ALONE, "pytest_judgesense/a.py") == []


def test_a_fault_is_its_line_alone_and_everything_else_stays_as_it_is() -> None:
    source = "def f(a):  # why\r\n\treturn  a<1   # as it was\r\n"
    (turned,) = (f for f in possible_faults(source, "a.py") if f.kind == "comparison")
    expected = "def f(a):  # why\r\n\treturn  a>1   # as it was\r\n"
    assert with_line(source, turned.line, turned) == expected


def test_a_fault_is_found_again_by_its_words_in_its_function() -> None:
    fault = Fault("comparison", "a.py", 2, "g", "    return a < b", "    return a > b")
    twice = "def f(a, b):\n    return a < b\n\n\ndef g(a, b):\n    return a < b\n"
    # The nearest is that of line 2, but it stands in the other function.
    assert line_now(fault, twice) == 6
    assert line_now(fault._replace(within="h", line=3), twice) == 2
    assert line_now(fault, "def g(a, b):\n    return a <= b\n") is None


# --- the draw ------------------------------------------------------------------------------------


def many(count: int) -> str:
    return "".join(f"def f{number}(a):\n    return a < {number}\n" for number in range(count))


def test_the_same_seed_draws_the_same_faults_and_another_one_others() -> None:
    sources = {"pytest_judgesense/stats/a.py": many(40), "pytest_judgesense/text/b.py": many(40)}
    drawn = draw(sources, seed=5, count=20)
    assert len({(fault.file, fault.line) for fault in drawn}) == 20
    # Whatever the order in which the files are listed.
    assert draw(dict(reversed(sources.items())), seed=5, count=20) == drawn
    assert draw(sources, seed=6, count=20) != drawn
    for fault in drawn:
        program = ast.dump(ast.parse(sources[fault.file]))
        assert ast.dump(ast.parse(with_line(sources[fault.file], fault.line, fault))) != program


def test_a_large_room_counts_as_much_as_the_cap_permits(monkeypatch: pytest.MonkeyPatch) -> None:
    # 600 and 60 lines of code: by the code ten to one, by a cap of 60 one to one.
    sources = {"pytest_judgesense/stats/a.py": many(300), "pytest_judgesense/text/b.py": many(30)}
    monkeypatch.setattr("scripts.seed_faults.CAP", 60)
    rooms = Counter(room_of(fault.file) for fault in draw(sources, seed=1, count=40))
    # Of 40 draws with a probability of one half 20 are expected, with a standard deviation of
    # sqrt(40 / 4) = 3.2; by the code alone it were 36.
    assert 10 <= rooms["stats"] <= 30


def test_rooms_are_folders_and_those_of_instruments_and_questions_theirs() -> None:
    assert room_of("pytest_judgesense/trial.py") == ""
    assert room_of("pytest_judgesense/judges/simulated/observer.py") == "judges"
    assert (
        room_of("pytest_judgesense/instruments/paraphrase/tools/a.py") == "instruments/paraphrase"
    )
    assert room_of("pytest_judgesense/questions/question.py") == "questions"


def test_the_mirror_of_a_module_is_of_its_name_or_imports_it() -> None:
    tests = {
        "tests/stats/test_ranks.py": set[str](),
        "tests/stats/test_others.py": imported_by("from pytest_judgesense.stats import losses"),
        "tests/test_far.py": imported_by("import pytest_judgesense.stats.losses\n"),
        "tests/test_text.py": imported_by("from pytest_judgesense.text.words import plural"),
    }
    assert mirrors("pytest_judgesense/stats/ranks.py", tests) == ["tests/stats/test_ranks.py"]
    assert mirrors("pytest_judgesense/stats/losses.py", tests) == ["tests/stats/test_others.py"]
    assert mirrors("pytest_judgesense/text/words.py", tests) == ["tests/test_text.py"]
    assert mirrors("pytest_judgesense/text/other.py", tests) == []


def test_a_map_names_the_test_files_of_a_function_and_for_other_lines_those_of_the_file() -> None:
    tests = {"pytest_judgesense/a.py": {"f": ["tests/test_f.py"], "C.g": ["tests/test_g.py"]}}
    fault = Fault("bound", "pytest_judgesense/a.py", 3, "f", "", "")
    assert going_through(tests, fault) == ["tests/test_f.py"]
    every = ["tests/test_f.py", "tests/test_g.py"]
    assert going_through(tests, fault._replace(within="C")) == every
    assert going_through(tests, fault._replace(file="pytest_judgesense/b.py")) == []


def test_a_map_is_made_of_the_lines_that_tests_go_through(tmp_path: Path) -> None:
    # It comes with pytest-cov, which the tests do not need.
    coverage = pytest.importorskip("coverage")
    source = (
        "MOST = 3\n\n\nclass C:\n    def g(self):\n        return 1\n\n\ndef f():\n    return 2\n"
    )
    covered = coverage.CoverageData(str(tmp_path / "contexts"))
    for context, lines in (
        # What is imported by the first test: lines of the module, and of definitions.
        ("tests/test_f.py::test_f|run", [1, 4, 5, 9, 10]),
        ("tests/test_g.py::test_g|setup", [6]),
        ("", [6, 10]),
    ):
        covered.set_context(context)
        covered.add_lines({"pytest_judgesense/a.py": lines})
    covered.write()
    assert map_of(tmp_path / "contexts", {"pytest_judgesense/a.py": source}) == {
        "pytest_judgesense/a.py": {"C.g": ["tests/test_g.py"], "f": ["tests/test_f.py"]}
    }


# --- a small package with tests of its own -------------------------------------------------------

WITHIN = "def within(share):\n    return share <= 0.5\n"
BEYOND = "def beyond(share):\n    return share > 0.5\n"
# The first notices whatever becomes of `within`; nothing asks for `beyond` at its bound; and one
# fails with and without a fault.
TESTS = """
import subprocess
import sys

from pytest_judgesense.bounds import beyond, within


def test_that_cannot_pass_here():
    assert False


def test_within():
    code = "from pytest_judgesense.bounds import within; print(within(0.5), within(0.6))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd="/", env={}, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "False"], done.stderr


def test_beyond():
    assert beyond(0.6) and not beyond(0.4)
"""
CAUGHT = Fault(
    "bound",
    "pytest_judgesense/bounds.py",
    2,
    "within",
    "    return share <= 0.5",
    "    return share < 0.5",
)
NOT_CAUGHT = CAUGHT._replace(
    line=6, within="beyond", before="    return share > 0.5", after="    return share >= 0.5"
)
ENDLESS = CAUGHT._replace(kind="call", after="    while share: pass")
GONE = CAUGHT._replace(before="    return share <= 0.4")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout of a package of this name, which nothing but a copy of it can be imported from."""
    folder = repository(tmp_path_factory.mktemp("checkout"))
    for name, text in (
        ("pytest_judgesense/__init__.py", ""),
        ("pytest_judgesense/plugin.py", "# what the environment has pytest load\n"),
        ("pytest_judgesense/bounds.py", f"{WITHIN}\n\n{BEYOND}"),
        ("tests/__init__.py", ""),
        ("tests/test_bounds.py", TESTS),
        ("pyproject.toml", '[tool.pytest.ini_options]\nmarkers = ["long: of the project"]\n'),
    ):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    commit(folder)
    return folder


def judged(
    checkout: Path, folder: Path, faults: list[Fault], *arguments: str
) -> tuple[int, list[dict[str, object]]]:
    """The exit status of the script for a plan of faults, and its results."""
    plan, results = folder / "faults.json", folder / "results.json"
    plan.write_text(json.dumps([fault._asdict() for fault in faults]), encoding="utf-8")
    options = ["--checkout", checkout, "--faults", plan, "--results", results, "--workers", "1"]
    code = main([*map(str, options), *arguments])
    return code, json.loads(results.read_text(encoding="utf-8"))


def test_a_planted_fault_is_caught_and_one_that_no_test_sees_is_not(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (checkout / "pytest_judgesense/bounds.py").read_text(encoding="utf-8")
    code, results = judged(checkout, tmp_path, [CAUGHT, NOT_CAUGHT, GONE], "--gate", "none")
    assert code == 0
    # The process that the test starts imports the copy, though its environment is empty; what fails
    # anyway catches nothing.
    assert [(result["there"], result["stage"], result["test"]) for result in results] == [
        (True, "mirror", "tests/test_bounds.py::test_within"),
        (True, "", ""),
        (False, "", ""),
    ]
    caught, not_caught, gone, count = capsys.readouterr().out.splitlines()
    assert "bounds.py:2 bound: return share <= 0.5  ->  return share < 0.5: caught by" in caught
    assert "NOT CAUGHT" in not_caught
    assert "no such line here" in gone
    assert count == "1 of 2 faults caught (1 by mirror)"
    assert (checkout / "pytest_judgesense/bounds.py").read_text(encoding="utf-8") == before


def test_what_goes_through_a_function_in_another_checkout_judges_the_same_faults(
    checkout: Path, tmp_path: Path
) -> None:
    other = repository(tmp_path / "other")
    (other / "tests").mkdir()
    # No test file of that name, nor one that imports the module itself: there is no mirror.
    for name, text in (
        ("__init__.py", ""),
        ("helper.py", "from pytest_judgesense.bounds import beyond\n"),
        ("test_all.py", "from tests import helper\n\n\ndef test_it():\n"),
    ):
        (other / "tests" / name).write_text(text, encoding="utf-8")
    with (other / "tests" / "test_all.py").open("a", encoding="utf-8") as file:
        file.write("    assert not helper.beyond(0.5)\n")
    commit(other)
    tests = ("--tests", str(other / "tests"))
    through = {"pytest_judgesense/bounds.py": {"beyond": ["tests/test_all.py"]}}
    (tmp_path / "map.json").write_text(json.dumps(through), encoding="utf-8")
    quick = ("--gate", "quick", "--map", str(tmp_path / "map.json"))
    faults = [NOT_CAUGHT, CAUGHT]
    code, results = judged(checkout, tmp_path, faults, *tests, *quick, "--at-least", "0.6")
    # Half of them.
    assert code == 1
    assert [(result["stage"], result["test"]) for result in results] == [
        ("map", "tests/test_all.py::test_it"),
        ("", ""),
    ]


@pytest.mark.long
def test_a_fault_whose_tests_hang_is_caught_by_time(checkout: Path, tmp_path: Path) -> None:
    _, (result,) = judged(checkout, tmp_path, [ENDLESS], "--timeout", "5", "--gate", "none")
    assert (result["stage"], result["test"]) == ("mirror", "time: 5 s")


def test_a_plan_is_listed_saved_and_read_and_what_is_wrong_in_it_is_usage(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.json"
    drawn = ["--checkout", str(checkout), "--seed", "3", "--count", "2"]
    assert main([*drawn, "--list", "--save", str(plan)]) == 0
    listed = capsys.readouterr().out
    assert len(listed.splitlines()) == 2
    assert main(["--faults", str(plan), "--list"]) == 0
    assert capsys.readouterr().out == listed
    assert main(["--faults", str(plan), "--list", "--only", "2"]) == 0
    assert capsys.readouterr().out.split()[1:] == listed.splitlines()[1].split()[1:]
    plan.write_text('[{"line": 3}]', encoding="utf-8")
    for arguments, words in (
        (["--faults", str(plan)], "no faults as --save writes"),
        ([*drawn, "--only", "3"], "there are faults 1 to 2"),
        ([*drawn, "--gate", "quick"], "needs a map"),
        ([*drawn, "--gate", "quick", "--map", str(plan)], "no map as --make-map writes"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2
        assert words in capsys.readouterr().err
