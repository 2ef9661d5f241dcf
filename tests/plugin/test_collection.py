"""Suite files as pytest collects them: items, their ids, and what selects them."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from .project import (
    PYTHON_JUDGE,
    SPREAD_AT_NIGHT,
    RecordedOnce,
    flips_on_two,
    ids,
    no_traceback,
    parity_suite,
    run,
)

CHECKS = "jss_floor = 0.9\nflip_rate_bound = 0.1\nagreement_floor = 0.9"
NAME = "suites/parity/parity.suite.toml::mine"
IDS = [
    f"{NAME}::jss_floor[0.9]",
    f"{NAME}::flip_rate_bound[0.1]",
    f"{NAME}::agreement_floor[0.9]",
]


@pytest.fixture
def project(recorded_once: RecordedOnce) -> RecordedOnce:
    return recorded_once


@pytest.fixture
def nested(project: RecordedOnce) -> RecordedOnce:
    """Recorded, with the suite in a folder of its own; JSS 16/18, agreement 17/18."""
    project.suite.unlink()
    parity_suite(
        project.path / "suites" / "parity", checks=CHECKS, extra="[presets.small]\nitems = 2\n"
    )
    project.server.reply = flips_on_two
    result = project.run_once("suites", "--judge-mode", "record")
    # 0.889 < 0.9; 0.111 > 0.1; 0.944 >= 0.9
    result.assert_outcomes(passed=1, failed=2)
    project.server.forget()
    return project


@pytest.mark.parametrize(
    "argument",
    [
        *(pytest.param(name, marks=pytest.mark.long) for name in (".", "suites")),
        "suites/parity/parity.suite.toml",
        NAME,
    ],
)
def test_items_are_one_a_judge_and_check_with_readable_ids(
    nested: RecordedOnce, argument: str
) -> None:
    assert ids(nested.run(argument, "--collect-only", "-q")) == IDS


def test_without_arguments_suites_of_testpaths_and_of_the_folder_are_collected(
    nested: RecordedOnce,
) -> None:
    assert ids(nested.run("--collect-only", "-q")) == IDS
    nested.pytester.makeini("[pytest]\ntestpaths = suites\n")
    assert ids(nested.run("--collect-only", "-q")) == IDS


@SPREAD_AT_NIGHT
def test_an_id_can_be_pasted_back(nested: RecordedOnce, workers: tuple[str, ...]) -> None:
    result = nested.run(IDS[2], *workers, "-vv", "--durations=0")
    result.assert_outcomes(passed=1)
    shown = result.stdout.str()
    assert IDS[2] in shown
    if not workers:
        assert f"\n{IDS[2]} PASSED" in shown
        assert f"s call     {IDS[2]}\n" in shown


@pytest.mark.parametrize(
    "workers",
    [
        pytest.param((), id="plain", marks=pytest.mark.long),
        pytest.param(("-n", "0"), id="n0", marks=pytest.mark.long),
        pytest.param(("-n", "2"), id="n2"),
    ],
)
def test_ids_of_a_report_are_those_of_the_collection(
    nested: RecordedOnce, workers: tuple[str, ...]
) -> None:
    nested.pytester.makepyfile(test_ordinary="def test_one(): pass\n")
    result = nested.run(".", *workers, "-rfp")
    result.assert_outcomes(passed=2, failed=2)
    shown = [line.split(" ")[:2] for line in result.outlines if line[:6] in ("FAILED", "PASSED")]
    expected = [["FAILED", IDS[0]], ["FAILED", IDS[1]], ["PASSED", IDS[2]]]
    expected.append(["PASSED", "test_ordinary.py::test_one"])
    assert sorted(shown) == sorted(expected)


def test_lf_runs_what_failed_and_changes_no_outcome(nested: RecordedOnce) -> None:
    nested.run(".").assert_outcomes(passed=1, failed=2)
    result = nested.run(".", "--lf", "-rf", "--judge-datasheet", "x.json")
    result.assert_outcomes(failed=2)
    failed = [line.split()[1] for line in result.outlines if line.startswith("FAILED ")]
    assert failed == IDS[:2]
    # A suite that is touched is estimated whole.
    result.stdout.fnmatch_lines(["  parity  FAIL   jss 16/18 .89 * agreement .94*"])


def test_stepwise_goes_on_at_the_failed_item(nested: RecordedOnce) -> None:
    suite = nested.path / "suites" / "parity"
    parity_suite(suite, checks="agreement_floor = 0.9\njss_floor = 0.9\nflip_rate_bound = 0.1")
    nested.run(".", "--sw").assert_outcomes(passed=1, failed=1)
    nested.run(".", "--sw").assert_outcomes(failed=1, deselected=1)


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (("-k", "mine and not jss and not agreement"), IDS[1:2]),
        pytest.param(("-k", "0.9"), [IDS[0], IDS[2]], marks=pytest.mark.long),
        (("-m", "not jss_floor"), IDS[1:]),
        pytest.param(("-m", "jss_floor"), IDS[:1], marks=pytest.mark.long),
        (("--deselect", IDS[0], "--deselect", IDS[1]), IDS[2:]),
    ],
)
def test_items_are_selected_as_others_are(
    nested: RecordedOnce, selection: tuple[str, ...], expected: list[str]
) -> None:
    assert ids(nested.run(".", *selection, "--collect-only", "-q")) == expected


def test_a_preset_stands_in_the_id_and_pastes_back(nested: RecordedOnce) -> None:
    result = nested.run(".", "--judge-suite", "parity@small", "--collect-only", "-q")
    expected = [name.replace("]", "@small]") for name in IDS]
    assert ids(result) == expected
    # Beside the id without a preset.
    pasted = nested.run(IDS[2], expected[2], "-rp")
    # Items p1 and p2 under three wordings: 5 of 6 verdicts are right (see `flips_on_two`).
    pasted.assert_outcomes(passed=1, failed=1)
    assert f"PASSED {IDS[2]}" in pasted.outlines
    pasted.stdout.fnmatch_lines(["  FAIL parity@small: 1 of 6 replies do not give the label"])
    assert nested.server.asked == []


def test_a_pasted_id_that_names_nothing_is_told_like_any_other(nested: RecordedOnce) -> None:
    result = nested.run(f"{NAME}::jss_floor[0.7]")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    no_traceback(result)


def test_a_check_may_stand_with_several_bars_and_conditions(project: RecordedOnce) -> None:
    parity_suite(project.path, checks='jss_floor = [0.8, 0.85, { bar = 0.7, polarity = "raw" }]')
    found = ids(project.run("--collect-only", "-q"))
    assert [name.rpartition("::")[2] for name in found] == [
        "jss_floor[0.8]",
        "jss_floor[0.85]",
        "jss_floor[0.7,polarity=raw]",
    ]


def test_junit_xml_is_well_formed_with_failing_checks(project: RecordedOnce) -> None:
    parity_suite(project.path, checks="unparsed_rate_ceiling = 0.01\nagreement_floor = 0.5")
    # Control characters of a reply, none of which XML 1.0 permits, must not break the file.
    project.server.reply = lambda prompt: (
        "<b>\x1b[31m\x00\x0b\ufffe ]]>" if prompt.startswith("Is 2 ") else flips_on_two(prompt)
    )
    arguments = ["--judge-mode", "record", "--junitxml", "report.xml"]
    project.run("parity.suite.toml", *arguments).assert_outcomes(passed=1, failed=1)
    failed, passed = ET.parse(project.path / "report.xml").getroot().iter("testcase")
    assert failed.get("name") == "unparsed_rate_ceiling[0.01]"
    told = failed.findtext("failure") or ""
    assert told.startswith("unparsed_rate 0.056 [")  # 1 of 18 replies
    assert ", at most 0.01 wanted\n" in told
    assert "replied: <b>" in told
    assert passed.get("name") == "agreement_floor[0.5]"
    assert passed.find("failure") is None


def test_a_broken_suite_is_told_with_its_place_by_its_file_and_by_a_marker(
    project: RecordedOnce,
) -> None:
    project.suite.write_text(project.suite.read_text().replace("kind =", "kinds ="))
    project.pytester.makepyfile(
        test_one=(
            "import pytest\n\n@pytest.mark.jss_floor(0.8, suite='parity.suite.toml')\n"
            "def test_it(): pass\n"
        )
    )
    result = project.run("parity.suite.toml", "test_one.py", "--continue-on-collection-errors")
    result.assert_outcomes(errors=2)
    for section in ("parity.suite.toml", "test_one.py"):
        result.stdout.fnmatch_lines([f"*_ ERROR * {section} *", f"*{project.suite}*", "*kinds*"])
    no_traceback(result)


@SPREAD_AT_NIGHT
def test_a_named_suite_without_checks_is_an_error_and_within_a_folder_a_source_of_others(
    project: RecordedOnce, workers: tuple[str, ...]
) -> None:
    project.suite.write_text(project.suite.read_text().partition("[checks]")[0])
    result = project.run("parity.suite.toml", *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    no_traceback(result)
    said = result.stdout.str() + result.stderr.str()
    assert "suite parity has no checks, so no judge would be asked" in said
    assert "add [checks] to the file" in said
    assert project.run(".").ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_other_toml_files_are_left_alone(pytester: pytest.Pytester) -> None:
    (pytester.path / "suite.toml").write_text("x = 1\n")
    (pytester.path / "a.toml").write_text("not toml at all\n")
    assert run(pytester, ".").ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_items_run_beside_ordinary_tests(nested: RecordedOnce) -> None:
    nested.pytester.makepyfile(test_ordinary="def test_one(): pass\n\ndef test_two(): pass\n")
    nested.run(".").assert_outcomes(passed=3, failed=2)


def test_a_python_judge_needs_no_pyproject(pytester: pytest.Pytester) -> None:
    parity_suite(pytester.path)
    pytester.makeconftest(PYTHON_JUDGE)
    assert ids(run(pytester, "--collect-only", "-q")) == ["parity.suite.toml::mine::jss_floor[0.8]"]


@pytest.mark.long
def test_warnings_as_errors_find_nothing(nested: RecordedOnce) -> None:
    result = nested.pytester.runpytest_subprocess(
        "-W", "error", "-o", "asyncio_default_fixture_loop_scope=function", "."
    )
    result.assert_outcomes(passed=1, failed=2, warnings=0)
    assert "Warning" not in result.stdout.str() + result.stderr.str()


def test_warnings_as_errors_find_nothing_while_recording(project: RecordedOnce) -> None:
    result = project.pytester.runpytest_subprocess(
        *("-W", "error", "-o", "asyncio_default_fixture_loop_scope=function"),
        *("parity.suite.toml", "--judge-mode", "record"),
    )
    result.assert_outcomes(passed=1, warnings=0)
    assert "Warning" not in result.stdout.str() + result.stderr.str()
