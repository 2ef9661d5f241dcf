"""``limit`` beside a bar in a suite file and as a keyword of a marker, as every report shows it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.plugin.declared_check import checks_of
from pytest_judgesense.suites.loading import load_suite

from .project import Project, flips_on_two, parity_suite, recorded
from .test_ci import properties

# JSS is 16/18 = 0.889 over 6 clusters (see `flips_on_two`); its one-sided bound is 0.46 (by
# `clustered_proportion`), that of 18/18 is 0.583 (see test_judge_policy).
PASSES = "jss_floor = { bar = 0.95, limit = 0.4 }"
TOO_FEW = "jss_floor = { bar = 0.95, limit = 0.6 }"


def record(project: Project, checks: str) -> None:
    parity_suite(project.path, checks=checks)
    project.server.reply = flips_on_two
    recorded(project)


def check_of(project: Project) -> dict[str, Any]:
    sheet = json.loads((project.path / "x.json").read_text(encoding="utf-8"))
    (check,) = sheet["judges"][0]["checks"]
    return dict(check)


def test_a_limit_is_in_every_report(project: Project) -> None:
    record(project, PASSES)
    reports = ("x.json", "x.md", "x.html")
    asked = [part for name in reports for part in ("--judge-datasheet", name)]
    result = project.run("parity.suite.toml", "-vv", "--junitxml", "x.xml", *asked)
    result.assert_outcomes(passed=1)
    words = "passes the limit 0.40; below the bar 0.95"
    result.stdout.fnmatch_lines(
        [
            "*::jss_floor[[]0.95[]] PASSED*",
            "*>= 0.95, limit 0.4 PASS*",
            f"*jss_floor?0.95?: {words}*",
        ]
    )
    check = check_of(project)
    assert (check["check"], check["bar"], check["limit"]) == ("jss_floor[0.95]", 0.95, 0.4)
    assert (check["outcome"], check["warnings"]) == ("pass", [words])
    assert check["explanation"] == f"jss = 0.889, wanted >= 0.95: {words}"
    assert [gate["limit"] for gate in check["gates"]] == [0.4]
    markdown = (project.path / "x.md").read_text(encoding="utf-8")
    assert markdown.count(words) == 1
    page = (project.path / "x.html").read_text(encoding="utf-8")
    assert "at least 0.95 wanted, limit 0.40" in page
    assert re.search(r'<line class="limit"', page)
    (entry,) = properties(project.path / "x.xml").values()
    assert (entry["bar"], entry["limit"], entry["outcome"]) == ("0.95", "0.4", "pass")
    assert entry["explanation"].count(words) == 1


def test_the_first_screen_calls_it_close(project: Project) -> None:
    record(project, PASSES)
    result = project.run("parity.suite.toml")
    result.stdout.fnmatch_lines(
        ["*close: passes, clears its limit and not its bar*", "*parity  close  jss 16/18*"]
    )


# By `estimate` too a marker below is inconclusive; all outcomes: tests/checks/test_limit.py.
@pytest.mark.parametrize("policy", ["confident", pytest.param("estimate", marks=pytest.mark.long)])
def test_under_both_policies_too_few_items_are_inconclusive(project: Project, policy: str) -> None:
    record(project, TOO_FEW)
    asked = ("--judge-policy", policy, "--judge-datasheet", "x.json")
    result = project.run("parity.suite.toml", *asked)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*OPEN parity:*the 95% bound does not*", "*limit 0.60*"])
    check = check_of(project)
    assert check["outcome"] == "inconclusive"
    assert re.search(r"straddles the limit 0\.6; about \d+ clusters", check["warnings"][0])


def test_refuted_tolerates_what_does_not_lie_beyond_the_limit(project: Project) -> None:
    record(project, TOO_FEW)
    project.run("parity.suite.toml", "--judge-policy", "refuted").assert_outcomes(passed=1)


def test_a_marker_takes_it_and_tells_two_of_one_bar_apart(project: Project) -> None:
    record(project, PASSES)
    project.pytester.makepyfile(
        test_it="""
        import pytest

        @pytest.mark.jss_floor(0.95, limit=0.4, suite="parity.suite.toml")
        def test_passes():
            pass

        @pytest.mark.jss_floor(0.95, limit=0.6, suite="parity.suite.toml")
        def test_open(judge_check):
            judge_check("jss_floor", 0.95, limit=0.4, suite="parity.suite.toml")
        """
    )
    result = project.run("test_it.py", "--judge-datasheet", "x.json")
    result.assert_outcomes(passed=1, failed=1)
    sheet = json.loads((project.path / "x.json").read_text(encoding="utf-8"))
    checks = sheet["judges"][0]["checks"]
    assert {(one["check"], one["limit"], one["outcome"]) for one in checks} == {
        ("jss_floor[0.95]", 0.4, "pass"),
        ("jss_floor[0.95]", 0.6, "inconclusive"),
    }


def test_ids_of_a_suite_file_name_limits_where_only_they_differ(project: Project) -> None:
    record(project, "jss_floor = [{ bar = 0.95, limit = 0.4 }, { bar = 0.95, limit = 0.6 }]")
    first = "parity.suite.toml::mine::jss_floor[0.95,limit=0.4]"
    result = project.run("parity.suite.toml", "-v")
    result.assert_outcomes(passed=1, failed=1)
    pasted = project.run(first)
    pasted.assert_outcomes(passed=1)


def test_the_same_check_twice_is_still_an_error(project: Project) -> None:
    parity_suite(
        project.path, checks="jss_floor = [{ bar = 0.9, limit = 0.4 }, { limit = 0.4, bar = 0.9 }]"
    )
    result = project.run("parity.suite.toml", "--collect-only")
    assert "declares jss_floor[0.9,limit=0.4] twice" in result.stdout.str()


def test_a_limit_on_the_wrong_side_is_told_with_its_line(tmp_path: Path) -> None:
    path = parity_suite(tmp_path, checks="jss_floor = { bar = 0.8, limit = 0.9 }")
    line = path.read_text().splitlines().index("[checks]") + 2
    suite = load_suite(path, None, BUILT_IN.forms)
    with pytest.raises(UsageError) as caught:
        checks_of(suite, BUILT_IN)
    text = str(caught.value)
    assert f"{path}:{line}: jss_floor has its limit on the wrong side of its bar" in text
    assert "write bar = 0.9, limit = 0.8" in text
