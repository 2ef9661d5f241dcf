"""``--judge-save-baseline`` and its ini twin: what was judged, as version control shows it."""

from __future__ import annotations

import json
import re

import pytest

from tests import processes

from .project import TRIALS, Project, flips_on_two, no_traceback, parity_suite

GATED = 'jss_floor = 0.5\nno_regression = ["jss", {measure = "kappa", margin = 0.2}]'


@pytest.fixture
def project(recorded_once: Project) -> Project:
    return recorded_once


def test_the_file_holds_judge_prompts_design_and_one_judgment_a_line(project: Project) -> None:
    project.record("--judge-save-baseline", "b.json")
    text = (project.path / "b.json").read_text(encoding="utf-8")
    value = json.loads(text)
    assert list(value) == ["schema", "seed", "versions", "judges"]
    assert value["schema"] == "judgesense/baseline/1"
    (judge,) = value["judges"]
    assert judge["identity"]["model"] == "m-1"
    (suite,) = judge["suites"]
    assert list(suite) == ["suite", "digest", "design", "prompts", "recorded", "judgments"]
    assert suite["prompts"]["templates"].keys() == {"t1", "t2", "t3"}
    assert len(suite["judgments"]) == TRIALS
    lines = [line for line in text.splitlines() if line.startswith('{"trial"')]
    assert len(lines) == TRIALS
    assert not any(key in lines[0] for key in ("latency", "design"))


def test_one_other_reply_is_one_other_line(project: Project) -> None:
    project.record("--judge-save-baseline", "a.json")
    project.cassette.unlink()
    project.server.reply = flips_on_two
    project.record("--judge-save-baseline", "b.json")
    old, new = ((project.path / name).read_text().splitlines() for name in ("a.json", "b.json"))
    (changed,) = [
        index
        for index, line in enumerate(old)
        if line != new[index] and not line.startswith('"recorded": ')
    ]
    assert '"trial": "parity/p2/t2/ab/r1"' in old[changed]


def test_a_key_in_a_judges_own_prompt_is_not_in_the_file(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-proj-5f1c9be27a604d38b2"
    monkeypatch.setenv("MINE_API_KEY", secret)
    project.server.reply = lambda prompt: f"YES {secret}"
    project.declare(f'api_key_env = "MINE_API_KEY"\nsystem = "The password is {secret}."')
    project.record("--judge-save-baseline", "b.json")
    text = (project.path / "b.json").read_text(encoding="utf-8")
    assert len(json.loads(text)["judges"][0]["suites"][0]["judgments"]) == TRIALS
    assert secret not in text


def test_a_place_that_cannot_be_written_is_an_error_below_the_results(project: Project) -> None:
    project.record()
    (project.path / "taken").write_text("a file, no folder")
    result = project.run("parity.suite.toml", "--judge-save-baseline", "taken/b.json")
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["ERROR: *b.json cannot be written: *"])
    no_traceback(result)


def test_saving_over_the_baseline_compares_with_the_old_one_first(project: Project) -> None:
    parity_suite(project.path, checks=GATED)
    project.record()
    both = ("--judge-baseline", "out/b.json", "--judge-save-baseline", "out/b.json")
    # There is nothing to be held against yet; what is gated otherwise is gated.
    first = project.run("parity.suite.toml", *both)
    first.assert_outcomes(passed=1, skipped=2)
    first.stdout.fnmatch_lines(["baseline written: *b.json"])
    project.run("parity.suite.toml", *both).assert_outcomes(passed=3)


@pytest.mark.parametrize(
    ("early", "code"),
    [
        (("raise KeyboardInterrupt",), pytest.ExitCode.INTERRUPTED),
        (("pass", "-x"), pytest.ExitCode.TESTS_FAILED),
    ],
)
def test_a_session_that_ends_early_leaves_the_baseline_as_it_is(
    project: Project, early: tuple[str, ...], code: pytest.ExitCode
) -> None:
    parity_suite(project.path, name="second")
    project.server.reply = flips_on_two
    project.record("second.suite.toml")
    (project.path / "base.json").write_text("of another day")
    raised, *options = early
    (project.path / "conftest.py").write_text(
        "def pytest_runtest_logreport(report):\n"
        "    if report.when == 'teardown':\n"
        f"        {raised}\n"
    )
    if options:
        suite = project.path / "parity.suite.toml"
        suite.write_text(re.sub(r"(?m)^(\w+_floor) = .*$", r"\1 = 1.0", suite.read_text()))
    both = ("parity.suite.toml", "second.suite.toml", "--judge-save-baseline", "base.json")
    result = processes.run("pytest", *both, *options, cwd=project.path, merged=True)
    assert result.returncode == code, result.stdout
    assert "baseline not written, for the session ended early" in result.stdout
    assert (project.path / "base.json").read_text() == "of another day"
