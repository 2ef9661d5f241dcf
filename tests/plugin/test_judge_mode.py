"""``--judge-mode`` and its ini twin: replay, record, live, and recordings that do not serve."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from .project import TRIALS, Project, no_traceback, parity_suite, times_asked

DOORS = ("suite", "marker", "judge_check", "judge_datasheet")
# What a suite file says of a recording, Python tests say too: in the gate, of one recording.
BY_SUITE = pytest.mark.parametrize(
    "arguments",
    ["suite", *(pytest.param(door, marks=pytest.mark.long) for door in DOORS[1:])],
    indirect=True,
)
FOUR_CHECKS = "jss_floor = 0.8\nflip_rate_bound = 0.2\nkappa_floor = 0.5\nagreement_floor = 0.5"


@pytest.fixture
def project(recorded_once: Project) -> Project:
    return recorded_once


def test_a_replay_needs_no_endpoint_at_all(project: Project) -> None:
    project.record()
    project.declare("timeout_s = 5.0")  # no part of the request
    base_url = project.server.base_url
    # Port 1 of this machine serves nothing.
    pyproject = project.path / "pyproject.toml"
    pyproject.write_text(pyproject.read_text().replace(base_url, "http://127.0.0.1:1/v1"))
    project.run("parity.suite.toml").assert_outcomes(passed=1)


def test_record_asks_every_trial_once_and_a_second_record_none(project: Project) -> None:
    arguments = ["--judge-mode", "record"]
    project.run("parity.suite.toml", *arguments).assert_outcomes(passed=1)
    assert times_asked(project.server.prompts) == {1: TRIALS}
    recorded = project.cassette.read_bytes()

    project.server.forget()
    project.run("parity.suite.toml", *arguments).assert_outcomes(passed=1)
    assert project.server.asked == []
    assert project.cassette.read_bytes() == recorded


def test_record_asks_exactly_what_was_removed(project: Project) -> None:
    project.record()
    lines = project.lines()
    removed = [lines[3], lines[11]]
    project.cassette.write_text("".join(f"{line}\n" for line in lines if line not in removed))

    project.run("parity.suite.toml", "--judge-mode", "record").assert_outcomes(passed=1)
    asked = sorted(project.server.prompts)
    bodies = [json.loads(json.loads(line)["request"]["body"]) for line in removed]
    assert asked == sorted(body["messages"][-1]["content"] for body in bodies)
    # They are back in their places.
    assert [json.loads(line)["trial"] for line in project.lines()] == [
        json.loads(line)["trial"] for line in lines
    ]


@pytest.mark.parametrize("mode", ["record", pytest.param("live", marks=pytest.mark.long)])
def test_two_workers_ask_every_trial_exactly_once(project: Project, mode: str) -> None:
    text = project.suite.read_text()
    project.suite.write_text(text.replace("jss_floor = 0.8", FOUR_CHECKS))
    arguments = ["-n", "2", "--judge-mode", mode, "--judge-datasheet", "sheet.json"]
    result = project.run("parity.suite.toml", *arguments)
    result.assert_outcomes(passed=4)
    assert times_asked(project.server.prompts) == {1: TRIALS}
    # Calls count trials, not processes.
    calls = json.loads((project.path / "sheet.json").read_text())["judges"][0]["calls"]
    assert (calls["made"], calls["replayed"]) == (TRIALS, 0)


def test_live_asks_afresh_and_writes_nothing(project: Project) -> None:
    project.record()
    before = project.cassette.read_bytes()
    files = {path for path in project.path.rglob("*") if path.is_file()}

    result = project.run("parity.suite.toml", "--judge-mode", "live", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
    assert times_asked(project.server.prompts) == {1: TRIALS}
    assert project.cassette.read_bytes() == before
    assert {path for path in project.path.rglob("*") if path.is_file()} == files


def test_live_sees_a_judge_that_changed_since_it_was_recorded(project: Project) -> None:
    project.record()
    project.server.reply = lambda prompt: "YES"
    result = project.run("parity.suite.toml", "--judge-mode", "live")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*degenerate*"])


# Recordings that do not serve, each met by a suite file, by a marker, and by the fixtures.

MARKED = """
import pytest

@pytest.mark.jss_floor(0.8, suite="parity.suite.toml")
def test_marked():
    pass
"""
CHECKED = """
import pytest

@pytest.mark.jss_floor(0.8, suite="parity.suite.toml")
def test_checked(judge_check):
    judge_check()
"""
READ = """
def test_read(judge_datasheet):
    assert judge_datasheet("jss", suite="parity.suite.toml").value == 1
"""


@pytest.fixture(params=DOORS)
def arguments(request: pytest.FixtureRequest, project: Project) -> list[str]:
    """What to run: a suite file, or a Python test that measures on it."""
    if request.param == "suite":
        return ["parity.suite.toml"]
    source = {"marker": MARKED, "judge_check": CHECKED, "judge_datasheet": READ}[request.param]
    project.pytester.makepyfile(test_judged=source)
    return ["test_judged.py"]


def _says(result: pytest.RunResult, *texts: str | Path) -> None:
    result.assert_outcomes(failed=1)
    shown = result.stdout.str()
    for text in texts:
        assert str(text) in shown, shown
    no_traceback(result)


@BY_SUITE
def test_a_missing_cassette_names_file_trial_and_command(
    project: Project, arguments: list[str]
) -> None:
    result = project.run(*arguments)
    _says(
        result,
        f"no cassette at {project.cassette}",
        "18 of 18 trials are not recorded, the first is parity/p1/t1/ab/r1",
        "--judge-mode record",
    )
    assert project.server.asked == []


def test_a_missing_trial_names_file_trial_and_command(
    project: Project, arguments: list[str]
) -> None:
    project.record()
    kept = [line for line in project.lines() if "parity/p4/t2/" not in line]
    project.cassette.write_text("".join(f"{line}\n" for line in kept))
    _says(
        project.run(*arguments),
        "1 of 18 trials are not recorded, the first is parity/p4/t2/ab/r1",
        project.cassette,
        "--judge-mode record",
    )
    assert project.server.asked == []


def test_a_preset_that_is_recorded_is_offered_and_not_taken_for_the_whole_suite(
    project: Project,
) -> None:
    # Two items under three wordings, and one: the larger of the two that are recorded is named.
    presets = "[presets.two]\nitems = 2\n[presets.one]\nitems = 1\n[presets.five]\nitems = 5\n"
    parity_suite(project.path, extra=presets)
    offer = "or measure what is recorded whole: pytest "
    shown = project.run("parity.suite.toml").stdout.str()
    assert "18 of 18 trials are not recorded" in shown
    assert offer not in shown

    project.record("--judge-suite", "parity@two")
    result = project.run("parity.suite.toml")
    _says(result, "12 of 18 trials are not recorded, the first is parity/p3/t1/ab/r1", offer)
    command = result.stdout.str().partition(offer)[2].partition("\n")[0]
    assert "--judge-suite parity@two" in command
    project.run(*shlex.split(command)).assert_outcomes(passed=1)
    assert project.server.asked == []


@BY_SUITE
def test_a_changed_prompt_names_file_line_and_trial_and_shows_the_difference(
    project: Project, arguments: list[str]
) -> None:
    project.record()
    text = project.suite.read_text()
    project.suite.write_text(text.replace("Does {{number}} leave", "Would {{number}} leave"))
    _says(
        project.run(*arguments),
        # The third trial of the first item stands in line 3.
        "trial parity/p1/t3/ab/r1: the prompt changed since it was recorded",
        f"{project.cassette}:3",
        "Does 1 leave no rest when halved?",
        "Would 1 leave no rest when halved?",
        "--judge-mode record",
    )
    assert project.server.asked == []


def test_record_renews_what_a_changed_prompt_made_stale(project: Project) -> None:
    project.record()
    text = project.suite.read_text()
    project.suite.write_text(text.replace("Does {{number}} leave", "Would {{number}} leave"))
    project.run("parity.suite.toml", "--judge-mode", "record").assert_outcomes(passed=1)
    assert sorted(prompt[:5] for prompt in project.server.prompts) == ["Would"] * 6
    assert len(project.lines()) == TRIALS


@BY_SUITE
def test_a_truncated_cassette_names_file_line_and_remedy(
    project: Project, arguments: list[str]
) -> None:
    project.record()
    project.cassette.write_bytes(project.cassette.read_bytes()[:-40])
    _says(
        project.run(*arguments),
        f"{project.cassette}:18: the last line is cut off",
        "--judge-mode record",
    )


def test_record_mends_a_truncated_cassette_and_asks_the_lost_trial_again(
    project: Project,
) -> None:
    project.record()
    project.cassette.write_bytes(project.cassette.read_bytes()[:-40])
    result = project.run("parity.suite.toml", "--judge-mode", "record")
    result.assert_outcomes(passed=1)
    assert len(project.server.asked) == 1
    assert len(project.lines()) == TRIALS
    result.stdout.fnmatch_lines(["*notice: *"])


@BY_SUITE
def test_an_undecodable_line_names_file_line_and_remedy(
    project: Project, arguments: list[str]
) -> None:
    project.record()
    project.cassette.write_bytes(b"\xff\n" + project.cassette.read_bytes())
    _says(project.run(*arguments), f"{project.cassette}:1: the line is not UTF-8", "restore")
