"""Markers of checks on Python tests: they parametrize over judges, and they always run."""

from __future__ import annotations

import pytest

from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.plugin.check_names import CHECK_MARKERS
from tests.suites.known import absent_measures

from .project import PYTHON_JUDGE, Project, ids, no_traceback, parity_suite, run

CHECKS = BUILT_IN.checks

MARK = '@pytest.mark.jss_floor({}, suite="parity.suite.toml")'


@pytest.fixture
def recorded(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder with the suite, a perfect judge as a Python object, and its recording."""
    parity_suite(pytester.path)
    pytester.makeconftest(PYTHON_JUDGE)
    run(pytester, "parity.suite.toml", "--judge-mode", "record").assert_outcomes(passed=1)
    return pytester


@pytest.fixture
def stubborn(recorded: pytest.Pytester) -> pytest.Pytester:
    """The same, but the judge says YES to everything: degenerate, so no floor passes."""
    tape = recorded.path / "cassettes" / "mine" / "parity.jsonl"
    text = tape.read_text(encoding="utf-8")
    tape.write_text(text.replace('"body": "NO"', '"body": "YES"'), encoding="utf-8")
    return recorded


@pytest.mark.parametrize("parameters", ["", "judge_check", "judge_datasheet", "tmp_path"])
def test_a_marker_runs_its_check_with_and_without_a_fixture(
    stubborn: pytest.Pytester, parameters: str
) -> None:
    stubborn.makepyfile(
        f"import pytest\n\n{MARK.format(0.8)}\ndef test_it({parameters}):\n    pass\n"
    )
    result = run(stubborn, "test_a_marker_runs_its_check_with_and_without_a_fixture.py")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["jss_floor?0.8? of judge mine on parity: fail", "*degenerate*"])
    no_traceback(result)


def test_a_failed_marker_points_at_its_test(stubborn: pytest.Pytester) -> None:
    stubborn.makepyfile(test_one=f"import pytest\n\n{MARK.format(0.8)}\ndef test_it(): pass\n")
    shown = run(stubborn, "test_one.py", "--tb=line").outlines
    place = f"{stubborn.path / 'test_one.py'}:3: Failed: "
    assert [line for line in shown if line.startswith(place)], shown
    assert not [line for line in shown if "contextlib" in line]


def test_a_marker_that_passes_lets_the_body_run(recorded: pytest.Pytester) -> None:
    recorded.makepyfile(
        test_one=f"import pytest\n\n{MARK.format(0.8)}\ndef test_it():\n    assert 1 == 2\n"
    )
    result = run(recorded, "test_one.py")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*assert 1 == 2*"])


def test_the_body_is_not_run_where_the_check_of_its_marker_fails(
    stubborn: pytest.Pytester,
) -> None:
    stubborn.makepyfile(
        test_one=f"import pytest\n\n{MARK.format(0.8)}\ndef test_it():\n    print('body ran')\n"
    )
    result = run(stubborn, "test_one.py", "-rA")
    result.assert_outcomes(failed=1)
    assert "body ran" not in result.stdout.str()


def test_a_marker_parametrizes_over_all_judges(recorded: pytest.Pytester) -> None:
    recorded.makepyfile(test_one=f"import pytest\n\n{MARK.format(0.8)}\ndef test_it(): pass\n")
    result = run(
        recorded,
        "test_one.py",
        "--collect-only",
        "-q",
        *("--judge-name", "mine", "--judge-name", "embedded:clean"),
    )
    assert ids(result) == ["test_one.py::test_it[mine]", "test_one.py::test_it[clean]"]


def test_a_marker_goes_with_parametrize_of_the_user(recorded: pytest.Pytester) -> None:
    recorded.makepyfile(
        test_one=(
            f"import pytest\n\n{MARK.format(0.8)}\n"
            "@pytest.mark.parametrize('n', [1, 2])\ndef test_it(n): pass\n"
        )
    )
    run(recorded, "test_one.py").assert_outcomes(passed=2)


def test_several_markers_are_all_held_and_all_told(stubborn: pytest.Pytester) -> None:
    stubborn.makepyfile(
        test_one=(
            f"import pytest\n\n{MARK.format(0.8)}\n{MARK.format(0.9)}\n"
            '@pytest.mark.agreement_floor(0.9, suite="parity.suite.toml")\n'
            "def test_it(): pass\n"
        )
    )
    result = run(stubborn, "test_one.py")
    result.assert_outcomes(failed=1)
    shown = result.stdout.str()
    for check in ("jss_floor[0.8]", "jss_floor[0.9]", "agreement_floor[0.9]"):
        assert f"{check} of judge mine on parity: fail" in shown


@pytest.mark.parametrize("level", ["class", "module"])
def test_markers_of_classes_and_modules_hold_for_their_tests(
    stubborn: pytest.Pytester, level: str
) -> None:
    mark = 'pytest.mark.jss_floor(0.8, suite="parity.suite.toml")'
    head = f"pytestmark = {mark}\n\n" if level == "module" else f"@{mark}\n"
    stubborn.makepyfile(
        test_one=(
            f"import pytest\n\n{head}class TestJudge:\n"
            "    def test_one(self): pass\n    def test_two(self): pass\n"
        )
    )
    result = run(stubborn, "test_one.py")
    result.assert_outcomes(failed=2)
    no_traceback(result)


def test_a_preset_may_be_named_by_a_marker(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_one=(
            "import pytest\n\n@pytest.mark.jss_floor(0.9, suite='coherence@published')\n"
            "def test_it(): pass\n"
        )
    )
    result = run(pytester, "test_one.py", "--judge-name", "embedded:clean")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["  coherence@published  close  jss 125/125 1.00 *"])


def test_a_check_of_one_suite_needs_no_name_of_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_one=(
            "import pytest\n\n@pytest.mark.dark_current_ceiling(0.05)\ndef test_a(): pass\n\n"
            "@pytest.mark.criterion_tradeoff(false_preference=0.2, distance_1=0.8, distance_5=0.8)"
            "\ndef test_b(): pass\n"
        )
    )
    run(pytester, "test_one.py", "--judge-name", "embedded:clean").assert_outcomes(passed=2)


def test_every_check_is_listed_with_what_it_takes_and_what_fails_it(
    pytester: pytest.Pytester,
) -> None:
    listed = run(pytester, "--markers").outlines
    told = {line.split("(")[0]: line for line in listed if ": fail unless " in line}
    # The names of an instrument that is deleted may be left over: see `test_laziness`.
    names = CHECK_MARKERS if absent_measures() else CHECKS
    assert set(told) == {f"@pytest.mark.{name}" for name in names}
    assert told["@pytest.mark.jss_floor"] == (
        "@pytest.mark.jss_floor(bar, limit=, suite=, **condition): fail unless jss >= bar, for "
        "each judge. jss: same verdict under two wordings of the prompt; name one, "
        'suite="coherence".'
    )
    assert "dark_current <= bar" in told["@pytest.mark.dark_current_ceiling"]
    assert "suite= is vacuum by default" in told["@pytest.mark.dark_current_ceiling"]
    # What an error expects is spelt out, what the list shows is not: it is the same for all.
    assert "distance=" in CHECKS["jss_floor"].signature


def test_the_five_headline_checks_are_markers() -> None:
    headline = "jss_floor dark_current_ceiling flip_rate_bound side_bias_limit criterion_tradeoff"
    assert set(headline.split()) <= set(CHECKS)


def test_strict_markers_know_them(recorded: pytest.Pytester) -> None:
    recorded.makepyfile(test_one=f"import pytest\n\n{MARK.format(0.8)}\ndef test_it(): pass\n")
    run(recorded, "test_one.py", "--strict-markers").assert_outcomes(passed=1)


def test_m_selects_marked_tests_and_items_of_suites(recorded: pytest.Pytester) -> None:
    recorded.makepyfile(
        test_one=f"import pytest\n\n{MARK.format(0.8)}\ndef test_it(): pass\n\ndef test_no(): pass"
    )
    parity_suite(recorded.path, checks="jss_floor = 0.8\nagreement_floor = 0.8")
    result = run(recorded, ".", "-m", "jss_floor", "--collect-only", "-q")
    assert sorted(ids(result)) == [
        "parity.suite.toml::mine::jss_floor[0.8]",
        "test_one.py::test_it[mine]",
    ]


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


@pytest.mark.parametrize("level", ["method", "class"])
def test_a_check_on_a_unittest_test_case_is_a_usage_error(
    recorded: pytest.Pytester, level: str
) -> None:
    on_class, on_method = (MARK.format(0.8), "") if level == "class" else ("", MARK.format(0.8))
    recorded.makepyfile(
        test_one=(
            f"import pytest, unittest\n\n{on_class}\nclass TestJudge(unittest.TestCase):\n"
            f"    {on_method}\n    def test_it(self): pass\n"
        )
    )
    result = run(recorded, "test_one.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*test_one.py::TestJudge::test_it*unittest.TestCase*"])
    no_traceback(result)


def test_the_same_bar_on_two_suites_is_two_checks(pytester: pytest.Pytester) -> None:
    """Both suites stand in the datasheet: the second is not taken for the first."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.jss_floor(0.9, suite="coherence")
        @pytest.mark.jss_floor(0.9, suite="factuality")
        def test_both():
            pass
        """
    )
    result = run(pytester, "--judge-name", "embedded:clean")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "clean  2 checks pass, 400 replies",
            "  coherence   ok     jss 200/200 1.00 *",
            "  factuality  ok     jss 200/200 1.00 *",
        ]
    )
    tables = run(pytester, "--judge-name", "embedded:clean", "-vv")
    line = "    jss *>= 0.9 PASS"
    tables.stdout.fnmatch_lines(["  coherence", line, "  factuality", line])


@pytest.mark.parametrize("own", ["", "@pytest.mark.dark_current_ceiling(0.2)\n"])
def test_a_check_on_one_parameter_is_a_wrong_declaration(
    pytester: pytest.Pytester, own: str
) -> None:
    # It would be in no family of checks, for these are known before parameters are.
    pytester.makepyfile(
        "import pytest\n"
        "CHECK = pytest.mark.dark_current_ceiling(0.1)\n"
        f"{own}@pytest.mark.parametrize('x', [pytest.param(1, marks=CHECK), 2])\n"
        "def test_it(x): pass\n"
        "@pytest.mark.dark_current_ceiling(0.1)\n"
        "def test_other(): pass\n"
    )
    result = pytester.runpytest("--judge-name", "embedded:clean")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "*::test_it*1* after it was parametrized over judges",
            "*found: *pytest.param(..., marks=pytest.mark.dark_current_ceiling(...))",
        ]
    )
    no_traceback(result)


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("order", ["tryfirst", "trylast"])
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
    result = pytester.runpytest(*(() if alone else ("--judge-name", "embedded:clean")))
    assert result.ret in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.TESTS_FAILED)
    said = result.stdout.str() + result.stderr.str()
    assert "after it was parametrized over judges" in said
    assert "a marker that was added to the collected test" in said
    no_traceback(result)
