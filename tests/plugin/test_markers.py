"""Markers of checks on Python tests: they parametrize over judges, and they always run."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest

from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.plugin.hookspecs import CHECK_MARKERS
from pytest_judgesense.plugin.suite_names import SuiteNotFound, SuitesOfRun
from tests.suites.known import absent_measures

from .project import (
    PYTHON_JUDGE,
    Once,
    Project,
    ids,
    no_traceback,
    parity_suite,
    parsed_config,
    run,
)

CHECKS = BUILT_IN.checks

MARK = '@pytest.mark.jss_floor({}, suite="parity.suite.toml")'


@pytest.fixture
def recorded(pytester: pytest.Pytester, once: Once) -> pytest.Pytester:
    """A folder with the suite, a perfect judge as a Python object, and its recording."""

    def record() -> None:
        parity_suite(pytester.path)
        pytester.makeconftest(PYTHON_JUDGE)
        run(pytester, "parity.suite.toml", "--judge-mode", "record").assert_outcomes(passed=1)

    once.project("recorded", pytester.path, record)
    return pytester


# Every test of these is to fail by its check alone: no body does.
STUBBORN = f"""
import pytest

{MARK.format(0.8)}
def test_without_fixtures():
    print("body ran")

{MARK.format(0.8)}
def test_calling(judge_check): pass

{MARK.format(0.8)}
def test_estimating(judge_datasheet): pass

{MARK.format(0.8)}
def test_beside_others(tmp_path): pass

{MARK.format(0.8)}
{MARK.format(0.9)}
@pytest.mark.agreement_floor(0.9, suite="parity.suite.toml")
def test_several(): pass

{MARK.format(0.8)}
class TestOfClass:
    def test_one(self): pass
    def test_two(self): pass
"""
OF_MODULE = f"""
import pytest

pytestmark = {MARK.format(0.8).removeprefix("@")}

def test_of_module(): pass
"""


@pytest.fixture
def stubborn(recorded: pytest.Pytester) -> pytest.Pytester:
    """Tests of a judge that says YES to everything: degenerate, so no floor passes."""
    tape = recorded.path / "cassettes" / "mine" / "parity.jsonl"
    text = tape.read_text(encoding="utf-8")
    tape.write_text(text.replace('"body": "NO"', '"body": "YES"'), encoding="utf-8")
    recorded.makepyfile(test_one=STUBBORN, test_two=OF_MODULE)
    return recorded


@pytest.fixture
def shown(stubborn: pytest.Pytester, once: Once) -> pytest.RunResult:
    """What a session of the tests in `STUBBORN` and `OF_MODULE` prints."""
    return once.result("stubborn", lambda: run(stubborn, "test_one.py", "test_two.py", "-rA"))


def failure_of(shown: pytest.RunResult, test: str) -> str:
    """What FAILURES holds of one test."""
    (start,) = [
        number
        for number, line in enumerate(shown.outlines)
        if line.startswith("___") and f" {test}[mine] " in line
    ]
    rest = shown.outlines[start + 1 :]
    end = next(n for n, line in enumerate(rest) if line.startswith(("___", "===")))
    return "\n".join(rest[:end])


@pytest.mark.parametrize(
    "test",
    [
        *("test_without_fixtures", "test_calling", "test_estimating", "test_beside_others"),
        *("TestOfClass.test_one", "TestOfClass.test_two", "test_of_module"),
    ],
)
def test_a_marker_runs_its_check_with_and_without_a_fixture_wherever_it_stands(
    shown: pytest.RunResult, test: str
) -> None:
    shown.assert_outcomes(failed=8)
    failure = failure_of(shown, test)
    assert "jss_floor[0.8] of judge mine on parity: fail" in failure
    assert "degenerate" in failure
    no_traceback(shown)


def test_the_body_is_not_run_where_the_check_of_its_marker_fails(shown: pytest.RunResult) -> None:
    assert "test_without_fixtures" in shown.stdout.str()
    assert "body ran" not in shown.stdout.str()


def test_several_markers_are_all_held_and_all_told(shown: pytest.RunResult) -> None:
    failure = failure_of(shown, "test_several")
    for check in ("jss_floor[0.8]", "jss_floor[0.9]", "agreement_floor[0.9]"):
        assert f"{check} of judge mine on parity: fail" in failure


def test_a_failed_marker_points_at_its_test(stubborn: pytest.Pytester) -> None:
    lines = run(stubborn, "test_two.py", "--tb=line").outlines
    place = f"{stubborn.path / 'test_two.py'}:5: Failed: "
    assert [line for line in lines if line.startswith(place)], lines
    assert not [line for line in lines if "contextlib" in line]


PASSING = f"""
import pytest

{MARK.format(0.8)}
def test_wrong():
    assert 1 == 2

{MARK.format(0.8)}
@pytest.mark.parametrize("n", [1, 2])
def test_it(n): pass

def test_unmarked(): pass
"""


def test_a_marker_that_passes_lets_the_body_run_with_parameters_of_the_user(
    recorded: pytest.Pytester,
) -> None:
    recorded.makepyfile(test_one=PASSING)
    result = run(recorded, "test_one.py", "--strict-markers")
    result.assert_outcomes(failed=1, passed=3)
    result.stdout.fnmatch_lines(["*assert 1 == 2*"])


def test_a_marker_parametrizes_over_all_judges_and_m_selects_tests_and_items_of_suites(
    recorded: pytest.Pytester,
) -> None:
    recorded.makepyfile(test_one=PASSING)
    parity_suite(recorded.path, checks="jss_floor = 0.8\nagreement_floor = 0.8")
    judges = ("--judge-name", "mine", "--judge-name", "embedded:clean")
    result = run(recorded, ".", "-m", "jss_floor", "--collect-only", "-q", *judges)
    listed = ids(result)
    assert [name for name in listed if name.startswith("parity")] == [
        "parity.suite.toml::mine::jss_floor[0.8]",
        "parity.suite.toml::clean::jss_floor[0.8]",
    ]
    wrong = [name for name in listed if "test_wrong" in name]
    assert wrong == ["test_one.py::test_wrong[mine]", "test_one.py::test_wrong[clean]"]
    assert not [name for name in listed if "test_unmarked" in name]


BUILT_IN_SUITES = """
import pytest

@pytest.mark.jss_floor(0.9, suite="coherence@published")
def test_preset(): pass

@pytest.mark.dark_current_ceiling(0.05)
def test_of_one_suite(): pass

@pytest.mark.criterion_tradeoff(false_preference=0.2, distance_1=0.8, distance_5=0.8)
def test_of_several_bars(): pass

@pytest.mark.jss_floor(0.9, suite="coherence")
@pytest.mark.jss_floor(0.9, suite="factuality")
def test_both(): pass
"""


def test_suites_are_named_by_markers_or_known_by_their_check(pytester: pytest.Pytester) -> None:
    """Of the same bar on two suites both stand in the datasheet: they are two checks."""
    pytester.makepyfile(BUILT_IN_SUITES)
    result = run(pytester, "--judge-name", "embedded:clean", "-v")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["clean  5 checks pass, *"])
    for suite, pairs in (("coherence", 200), ("coherence@published", 125), ("factuality", 200)):
        result.stdout.fnmatch_lines([f"  {suite}", f"    jss *{pairs}/{pairs} *>= 0.9 PASS"])


NAMED = """
import pytest

@pytest.mark.jss_floor(0.8, suite="parity")
def test_named(): pass
"""
MISSPELT = """
@pytest.mark.jss_floor(0.8, suite="partiy")
def test_misspelt(): pass

@pytest.mark.jss_floor(0.8, suite="nowhere.suite.toml")
def test_path(judge_datasheet): pass

def test_estimating(judge_datasheet):
    assert judge_datasheet("jss", suite="parity").value == 1
"""


def test_a_marker_finds_what_the_run_collects_and_one_that_does_not_fails_alone(
    recorded: pytest.Pytester,
) -> None:
    """Two projects of a repository, each with a suite of that name, beside its tests or below."""
    for place in ("a/suites/parity", "b/tests/data"):
        parity_suite(recorded.path / "services" / place)
    (recorded.path / "parity.suite.toml").unlink()
    for project, text in (("a", NAMED), ("b", NAMED + MISSPELT)):
        folder = recorded.path / "services" / project / "tests"
        folder.mkdir(exist_ok=True)
        (folder / f"test_{project}.py").write_text(text)
    result = run(recorded, "services")
    # The suites, a test of each, and one that asks for an estimate; and the two that name nothing.
    result.assert_outcomes(passed=5, failed=2)
    result.stdout.fnmatch_lines(
        [
            "there is no suite named 'partiy'",
            "  found: *: suites, tests/suites, below services/b/tests, below services; and none *",
            "  remedy:   did you mean 'parity'?",
        ]
    )
    result.stdout.fnmatch_lines(["there is no suite named 'nowhere.suite.toml'"])
    no_traceback(result)


@pytest.fixture
def suites_of_run(pytester: pytest.Pytester) -> Callable[..., SuitesOfRun]:
    """What a run of these arguments knows of suites ``s``, in these folders."""

    def found(*folders: str, arguments: Sequence[str] = ("services",)) -> SuitesOfRun:
        for folder in folders:
            (pytester.path / folder).mkdir(parents=True, exist_ok=True)
            (pytester.path / folder / "s.suite.toml").write_text("")
        return SuitesOfRun(parsed_config(pytester, *arguments))

    return found


@pytest.mark.parametrize(
    ("folders", "near", "nearest"),
    [
        (["services/a", "services/b"], "services/a/tests", "services/a"),
        (["services", "services/a/deep/er"], "services/a", "services/a/deep/er"),
        (["services/b"], "services/a", "services/b"),
        (["other"], "services/a", None),  # neither collected nor below
        (["services/node_modules/x", "services/.venv/x"], "services/a", None),
    ],
)
def test_the_suite_of_a_name_is_the_nearest_that_is_collected(
    pytester: pytest.Pytester,
    suites_of_run: Callable[..., SuitesOfRun],
    folders: Sequence[str],
    near: str,
    nearest: str | None,
) -> None:
    (pytester.path / near).mkdir(parents=True)
    path = suites_of_run(*folders).nearest("s", pytester.path / near)
    assert path == (pytester.path / nearest / "s.suite.toml" if nearest else None)


def test_two_suites_that_are_as_near_are_told(
    pytester: pytest.Pytester, suites_of_run: Callable[..., SuitesOfRun]
) -> None:
    run_of_both = suites_of_run("services/a", "services/b")
    with pytest.raises(SuiteNotFound, match="there are 2 suites named 's'"):
        run_of_both.nearest("s", pytester.path)
    # A file that is named is a run of its own.
    one = suites_of_run(arguments=["services/a/s.suite.toml"])
    (pytester.path / "tests").mkdir()
    path = one.nearest("s", pytester.path / "tests")
    assert path == pytester.path / "services" / "a" / "s.suite.toml"


def test_every_check_is_listed_with_what_it_takes_and_what_fails_it(
    pytester: pytest.Pytester,
) -> None:
    listed = run(pytester, "--markers").outlines
    told = {line.split("(")[0]: line for line in listed if ": fail unless " in line}
    # The names of an instrument that is deleted may be left over: see `test_laziness`.
    names = CHECK_MARKERS if absent_measures() else CHECKS
    assert set(told) == {f"@pytest.mark.{name}" for name in names}
    assert told["@pytest.mark.jss_floor"] == (
        "@pytest.mark.jss_floor(bar, limit=, known=, at=, until=, suite=, **condition): fail "
        "unless jss >= bar, for each judge. jss: same verdict under two wordings of the prompt; "
        'name one, suite="coherence".'
    )
    assert "dark_current <= bar" in told["@pytest.mark.dark_current_ceiling"]
    assert "suite= is vacuum by default" in told["@pytest.mark.dark_current_ceiling"]
    # What an error expects is spelt out, what the list shows is not: it is the same for all.
    assert "distance=" in CHECKS["jss_floor"].signature


def test_the_five_headline_checks_are_markers() -> None:
    headline = "jss_floor dark_current_ceiling flip_rate_bound side_bias_limit criterion_tradeoff"
    assert set(headline.split()) <= set(CHECKS)


def test_a_skipped_test_measures_nothing(pytester: pytest.Pytester) -> None:
    parity_suite(pytester.path)
    pytester.makeconftest(PYTHON_JUDGE)
    pytester.makepyfile(
        test_one=f"import pytest\n\n@pytest.mark.skip\n{MARK.format(0.8)}\ndef test_it(): pass\n"
    )
    result = run(pytester, "test_one.py")
    result.assert_outcomes(skipped=1)
    assert "judge datasheet" not in result.stdout.str()


def test_a_marked_test_shares_the_measurement_of_the_suite(project: Project) -> None:
    project.pytester.makepyfile(
        test_one=f"import pytest\n\n{MARK.format(0.8)}\ndef test_it(judge_check): judge_check()\n"
    )
    result = project.run(".", "--judge-mode", "live")
    result.assert_outcomes(passed=2)
    assert len(project.server.asked) == 18


WRONG = f"""
import pytest, unittest

CHECK = pytest.mark.dark_current_ceiling(0.1)

{MARK.format(0.8)}
class TestOfClass(unittest.TestCase):
    def test_it(self): pass

class TestOfMethod(unittest.TestCase):
    {MARK.format(0.8)}
    def test_it(self): pass

@pytest.mark.parametrize("x", [pytest.param(1, marks=CHECK), 2])
def test_parameter(x): pass

@pytest.mark.dark_current_ceiling(0.2)
@pytest.mark.parametrize("x", [pytest.param(1, marks=CHECK), 2])
def test_parameter_of_marked(x): pass

@CHECK
def test_other(): pass
"""


def test_a_check_on_a_test_case_or_on_one_parameter_is_a_usage_error(
    recorded: pytest.Pytester,
) -> None:
    # That of a parameter would be in no family of checks, known before parameters are.
    recorded.makepyfile(test_one=WRONG)
    result = run(recorded, "test_one.py", "--judge-name", "embedded:clean")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    told = result.stderr.str()
    for name in ("TestOfClass", "TestOfMethod"):
        assert f"test_one.py::{name}::test_it, a test of a unittest.TestCase" in told
    late = re.findall(r"a check marks (.*) after it was parametrized over judges", told)
    assert [name.partition("[")[0] for name in late] == [
        "test_one.py::test_parameter",
        "test_one.py::test_parameter_of_marked",
    ]
    given = "found:    pytest.param(..., marks=pytest.mark.dark_current_ceiling(...))"
    assert told.count(given) == 2
    assert "test_other" not in told
    no_traceback(result)


@pytest.mark.parametrize(
    ("order", "alone"),
    [
        ("tryfirst", False),
        ("trylast", True),
        pytest.param("tryfirst", True, marks=pytest.mark.long),
        pytest.param("trylast", False, marks=pytest.mark.long),
    ],
)
def test_a_check_that_is_added_to_a_collected_test_is_told_and_not_passed(
    pytester: pytest.Pytester, order: str, alone: bool
) -> None:
    pytester.makeconftest(
        "import pytest\n"
        f"@pytest.hookimpl({order}=True)\n"
        "def pytest_collection_modifyitems(items):\n"
        "    items[0].add_marker(pytest.mark.dark_current_ceiling(0.1))\n"
    )
    pytester.makepyfile(
        "import pytest\n"
        "def test_it(): pass\n"
        + "@pytest.mark.dark_current_ceiling(0.1)\n" * (not alone)
        + "def test_other(): pass\n"
    )
    result = run(pytester, *(() if alone else ("--judge-name", "embedded:clean")))
    assert result.ret in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.TESTS_FAILED)
    said = result.stdout.str() + result.stderr.str()
    assert "after it was parametrized over judges" in said
    assert "a marker that was added to the collected test" in said
    no_traceback(result)
