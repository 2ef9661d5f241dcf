"""What users of pytest type without thinking does here what it does elsewhere."""

from __future__ import annotations

import re
import shlex

import pytest

from .project import QUIET, Once, Project, flips_on_two, ids, parity_suite, run

CHECKS = "jss_floor = 0.9\nflip_rate_bound = 0.1\nagreement_floor = 0.9"
NAME = "parity.suite.toml::mine::"
MARKED = (
    "import pytest\n\n@pytest.mark.agreement_floor(0.9, suite='parity.suite.toml')\n"
    "def test_marked(): pass\n\ndef test_ordinary(): pass\n"
)


@pytest.fixture
def recorded(project: Project, once: Once) -> Project:
    """JSS 16/18 and flip rate 2/18 fail, agreement 17/18 passes: see `flips_on_two`."""

    def record() -> None:
        parity_suite(project.path, checks=CHECKS)
        project.server.reply = flips_on_two
        project.record()
        project.pytester.makepyfile(test_it=MARKED)

    once.project("recorded", project.path, record)
    return project


def test_quiet_keeps_the_dots_the_datasheet_and_the_count(recorded: Project) -> None:
    result = recorded.run(".", "-q")
    assert any(re.fullmatch(r"FF\.\.\. +\[100%\]", line) for line in result.outlines)
    told = "mine: 2 of 3 checks fail: parity flip_rate_bound[0.1], parity jss_floor[0.9]"
    assert told in result.outlines
    assert re.fullmatch(r"2 failed, 3 passed in .*", result.outlines[-1])
    assert not any(line.startswith("judgesense ") for line in result.outlines)  # no header


def test_verbose_shows_a_line_an_item(recorded: Project) -> None:
    result = recorded.run(".", "-v")
    shown = [line.split()[:2] for line in result.outlines if "::" in line and "%]" in line]
    assert shown == [
        [f"{NAME}jss_floor[0.9]", "FAILED"],
        [f"{NAME}flip_rate_bound[0.1]", "FAILED"],
        [f"{NAME}agreement_floor[0.9]", "PASSED"],
        ["test_it.py::test_marked[mine]", "PASSED"],
        ["test_it.py::test_ordinary", "PASSED"],
    ]


def test_exit_first_stops_and_still_prints_the_datasheet(recorded: Project) -> None:
    result = recorded.run(".", "-x")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "mine  1 of 1 check fails, 18 replies",
            "  FAIL parity: 2 of 18 verdicts change with the wording",
            "    jss 0.89 [[]0.37, 1.00[]], at least 0.90 wanted",
            "  parity  FAIL   jss 16/18 .89 * agreement .94*",
        ]
    )


def test_every_listed_id_can_be_pasted_back(recorded: Project) -> None:
    listed = ids(recorded.run(".", "--co", "-q"))
    assert len(listed) == 5
    assert ids(recorded.run(*listed, "--co", "-q")) == listed
    # An item of a suite, and a test with a marker.
    for name in (listed[0], listed[3]):
        assert ids(recorded.run(name, "--co", "-q")) == [name]


def test_ids_of_built_in_suites_can_be_pasted_back(pytester: pytest.Pytester) -> None:
    judges = ("--judge-name", "embedded:clean", "--judge-name", "embedded:mixed")
    suites = ("--judge-suite", "ladder@published", "--judge-suite", "vacuum")
    listed = ids(run(pytester, *suites, *judges, "--co", "-q"))
    assert len({name.split("::")[1] for name in listed}) == 2
    assert sorted(ids(run(pytester, *listed, *judges, "--co", "-q"))) == sorted(listed)


def test_last_failed_and_keywords_reach_marked_tests_and_suites_alike(recorded: Project) -> None:
    recorded.run(".").assert_outcomes(passed=3, failed=2)
    last = ids(recorded.run(".", "--lf", "--co", "-q"))
    assert last == [f"{NAME}jss_floor[0.9]", f"{NAME}flip_rate_bound[0.1]"]
    assert ids(recorded.run(".", "-k", "agreement or marked", "--co", "-q")) == [
        f"{NAME}agreement_floor[0.9]",
        "test_it.py::test_marked[mine]",
    ]


@pytest.mark.parametrize("folder", [pytest.param("sub", marks=pytest.mark.long), "it's mine"])
def test_commands_that_are_told_can_be_pasted_where_pytest_was_started(
    project: Project, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    project.pytester.makeini("[pytest]")  # the root stays where it is
    project.suite.unlink()
    place = project.path / folder
    parity_suite(place, checks="jss_floor = 0.9")
    (place / "test_it.py").write_text("def test_asks(judge): judge.ask('Is 4 even?')\n")
    monkeypatch.chdir(place)
    project.server.reply = flips_on_two
    project.run("parity.suite.toml", "--judge-mode", "record")
    shown = project.run(".", "-vv").stdout.str()
    look, record = (
        re.search(f"{told}: (pytest .*)", shown) for told in ("look further", "record it")
    )
    assert look
    assert record
    project.run(*shlex.split(look[1])[1:]).assert_outcomes(failed=1)
    project.run(*shlex.split(record[1])[1:]).assert_outcomes(passed=1)


def test_durations_name_the_check_that_waited_for_the_measurement(recorded: Project) -> None:
    result = recorded.run("parity.suite.toml", "--durations=1", "--durations-min=0")
    assert [line.split()[1:] for line in result.outlines if "s call" in line] == [
        ["call", f"{NAME}jss_floor[0.9]"]
    ]


def test_switched_off_it_is_as_if_it_were_not_there(recorded: Project) -> None:
    recorded.pytester.makepyfile(
        test_it="import sys\n\ndef test_ordinary():\n"
        "    assert not any(name.startswith('pytest_judgesense') for name in sys.modules)\n"
    )
    result = recorded.pytester.runpytest_subprocess(*QUIET, "-p", "no:judgesense", ".")
    result.assert_outcomes(passed=1)
    text = result.stdout.str()
    assert "judge datasheet" not in text
    assert "parity" not in text.replace(str(recorded.path), "")


def test_help_says_what_to_type_and_what_each_option_does(pytester: pytest.Pytester) -> None:
    text = " ".join(run(pytester, "--help").stdout.str().split())
    assert "try pytest --judge-suite coherence --judge-name embedded:clean" in text
    assert "replay: recorded judgments, offline (the default); record: ask what is not" in text
    assert "one-sided 95% bound" in text
    # That this passes is shown by tests/plugin/test_judge_suite.py.
