"""Failures that are declared known, through the doors of a session: files, markers and calls."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from datetime import UTC, datetime, timedelta

import pytest

from tests.repository import commit, repository

from .project import WORDINGS, Project, even, flips_on_two, parity_suite, recorded

TODAY = datetime.now(UTC).date()
LAST = (TODAY + timedelta(days=30)).isoformat()
YESTERDAY = (TODAY - timedelta(days=1)).isoformat()
# JSS is 16/18 = 0.889 over 6 clusters (see `flips_on_two`).
TESTS = f"""
import pytest

KNOWN = dict(known="issue 7", at=0.85, until="{LAST}")
ON = dict(suite="parity.suite.toml")

@pytest.mark.jss_floor(0.95, **ON, **KNOWN)
def test_marked():
    pass

def test_goes_on(judge_check, capsys):
    judge_check("jss_floor", 0.95, **ON, **KNOWN)
    judge_check("unparsed_rate_ceiling", 0.0, **ON)
    print("went on")

@pytest.mark.flip_rate_bound(0.05, **ON)
@pytest.mark.jss_floor(0.95, **ON, **KNOWN)
def test_hides_nothing():
    pass
"""


def declaration(until: str = LAST, at: float = 0.85, reason: str = "issue 212") -> str:
    return f'jss_floor = {{ bar = 0.95, known = "{reason}", at = {at}, until = "{until}" }}'


@pytest.fixture
def doors(project: Project) -> Project:
    """Suites whose failures are known, were known until yesterday, and that pass; and tests."""
    suites = {
        "parity": declaration(),
        "late": declaration(YESTERDAY),
        "fine": declaration().replace("0.95", "0.88"),
    }
    for name, checks in suites.items():
        parity_suite(project.path, name=name, checks=checks)
    (project.path / "test_doors.py").write_text(TESTS)
    project.server.reply = flips_on_two
    recorded(project, *(f"{name}.suite.toml" for name in suites))
    return project


def test_known_late_and_passing_ones_end_as_they_are_declared(doors: Project) -> None:
    result = doors.run(".", "--judge-datasheet", "x.json", "--junitxml", "x.xml")
    # The test that is marked twice fails by the other check, and late by its day.
    result.assert_outcomes(passed=1, failed=2, xfailed=3)
    result.stdout.fnmatch_lines(
        [
            f"known at 0.85 until {YESTERDAY}: issue 212",
            f"fails again: {YESTERDAY} is over",
            "mine  2 of 6 checks fail, 2 known*",
            f"    known at 0.85 until {YESTERDAY}: issue 212",
            f"    fails again: {YESTERDAY} is over",
            "  fine: jss_floor[[]0.88[]] passes now: take `known` out",
        ]
    )
    checks = json.loads((doors.path / "x.json").read_text())["judges"][0]["checks"]
    declared = {
        (check["suite"], check["outcome"], check["known"]["until"], check["known"]["reason"])
        for check in checks
        if "known" in check
    }
    assert declared == {
        ("fine", "pass", LAST, "issue 212"),
        ("late", "fail", YESTERDAY, "issue 212"),
        ("parity", "fail", LAST, "issue 212"),
        ("parity", "fail", LAST, "issue 7"),
    }
    skipped = ET.parse(doors.path / "x.xml").findall(".//skipped")
    assert {case.get("type") for case in skipped} == {"pytest.xfail"}
    messages = [str(case.get("message")) for case in skipped]
    of_suite = f"known at 0.85 until {LAST}: issue 212; 2 of 18 verdicts change with"
    assert [message.startswith(of_suite) for message in messages].count(True) == 1
    assert len(messages) == 3


def test_runxfail_fails_what_is_known(doors: Project) -> None:
    result = doors.run(".", "--runxfail")
    result.assert_outcomes(passed=1, failed=5)
    # The datasheet does not call known what the session fails for. (Where `CI` is set, pytest's
    # summary below it repeats each failure whole, with the day that is over.)
    result.stdout.fnmatch_lines(["mine  4 of 5 checks fail*"])
    datasheet = result.stdout.str().partition("= judge datasheet =")[2]
    assert "known at" not in datasheet.partition("= short test summary info =")[0]


def test_the_lines_that_a_recording_prints_are_pasted_and_pass(project: Project) -> None:
    parity_suite(project.path, checks="jss_floor = { bar = 0.99, limit = 0.95 }")
    project.server.reply = flips_on_two
    result = project.run("parity.suite.toml", "--judge-mode", "record")
    result.assert_outcomes(failed=1)
    until = (TODAY + timedelta(days=90)).isoformat()
    line = f'jss_floor = {{ bar = 0.99, limit = 0.95, known = "", at = 0.88, until = "{until}" }}'
    assert line in result.outlines
    parity_suite(project.path, checks=line.replace('known = ""', 'known = "issue 212"'))
    replayed = project.run("parity.suite.toml")
    replayed.assert_outcomes(xfailed=1)
    assert replayed.ret == 0
    assert line not in replayed.outlines


def worse(prompt: str) -> str:
    """Wrong on all six numbers under the second wording: two pairs of each item flip."""
    right = even(prompt)
    return right if not prompt.startswith(WORDINGS[1][:12]) else "NO" if right == "YES" else "YES"


def test_one_that_became_worse_than_the_baseline_fails_and_is_named_as_wider(
    project: Project,
) -> None:
    parity_suite(project.path, checks=declaration())
    project.server.reply = flips_on_two
    recorded(project)
    repository(project.path)
    commit(project.path, "recorded")
    # Of 18 pairs 6 agree; even the favourable bound of 6 clusters is not below 0.2.
    parity_suite(project.path, checks=declaration(at=0.2))
    project.cassette.unlink()
    project.server.reply = worse
    recorded(project)
    baseline = ("--judge-baseline", "git:HEAD", "-n", "2", "--judge-datasheet", "x.md")
    result = project.run("parity.suite.toml", *baseline)
    result.assert_outcomes(failed=1)
    text = " ".join(result.stdout.str().split())
    wider = "(wider since HEAD, where it was at 0.85)"
    assert f"known at 0.2 until {LAST} {wider}: issue 212 fails again: worse than HEAD: jss" in text
    assert "no check was compared with it" not in text
    markdown = (project.path / "x.md").read_text()
    assert "jss 0.89 to 0.33" in markdown
    assert wider in markdown
