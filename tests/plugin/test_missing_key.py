"""A key that is missing stops a session before its first call; where nothing is asked none is."""

from __future__ import annotations

import re

import pytest

from pytest_judgesense import measure
from pytest_judgesense.errors import JudgeError

from .project import TRIALS, Project, measured, no_traceback, recorded

KEYLESS = """
[tool.judgesense.judges.keyless]
provider = "openai"
model = "m-2"
base_url = "https://judge.invalid/v1"
api_key_env = "NOBODYS_API_KEY"
"""
FIRST_WORDS = "*NOBODYS_API_KEY is not set: judge 'keyless' has no key, and nobody was asked"


@pytest.mark.parametrize(
    ("mode", "value"),
    [
        ("record", ""),
        ("live", None),
        pytest.param("record", None, marks=pytest.mark.long),
        pytest.param("live", "", marks=pytest.mark.long),
    ],
)
def test_nobody_is_asked_before_every_judge_has_its_key(
    project: Project, monkeypatch: pytest.MonkeyPatch, mode: str, value: str | None
) -> None:
    if value is not None:  # as CI sets a secret that is not given
        monkeypatch.setenv("NOBODYS_API_KEY", value)
    project.declare(KEYLESS)
    result = project.run("parity.suite.toml", "--judge-mode", mode)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines([FIRST_WORDS.removeprefix("*")] * 2)
    assert project.server.asked == []  # not even by the judge that needs no key
    no_traceback(result)


def test_what_is_not_selected_needs_no_key(project: Project) -> None:
    project.declare(KEYLESS)
    chosen = ("--judge-mode", "record", "-k", "mine")
    project.run("parity.suite.toml", *chosen).assert_outcomes(passed=1, deselected=1)
    assert len(project.server.asked) == TRIALS


def test_what_is_recorded_needs_no_key(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGESENSE_ALLOW_HOSTS", "judge.invalid")
    # Recorded of an endpoint that needs none, and of one elsewhere by the same requests.
    recorded(project)
    lines = project.cassette.read_text()
    elsewhere = project.cassette.parent.parent / "keyless" / project.cassette.name
    elsewhere.parent.mkdir()
    moved = re.sub(r"http://127\.0\.0\.1(:\d+)?/v1", "https://judge.invalid/v1", lines)
    elsewhere.write_text(moved.replace("m-1", "m-2"))
    project.declare(KEYLESS)
    project.run("parity.suite.toml", "--judge-mode", "record").assert_outcomes(passed=2)
    sheet = measure(["mine", "keyless"], "parity.suite.toml")
    assert [line.outcome for line in sheet.checks] == ["pass", "pass"]
    assert project.server.asked == []


READS = 'os.environ["NOBODYS_API_KEY"]'
RAISES = 'raise RuntimeError("set api_key or the environment variable NOBODYS_API_KEY")'


def counted_judge(fails: str) -> str:
    """The code of a judge that leaves a mark for each call."""
    return (
        "import os\n"
        "def judge(messages):\n    with open('called', 'a') as file:\n        file.write('x')\n"
        f"    {fails}\n"
    )


def test_a_function_without_its_key_stops_at_once(project: Project) -> None:
    (project.path / "conftest.py").write_text(
        f"{counted_judge(READS)}"
        "from pytest_judgesense import Judge\n"
        "def pytest_judgesense_judges(config):\n    return [Judge('mine', judge)]\n"
    )
    result = project.run("parity.suite.toml", "--judge-mode", "record", "--judge-name", "mine")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["NOBODYS_API_KEY is not set: judge 'mine' has no key, *"])
    # Of 18 trials one was begun, and the next before it had ended them all.
    assert (project.path / "called").read_text() in ("x", "xx")


def test_a_client_that_asks_for_its_key_stops_at_once_too(project: Project) -> None:
    (project.path / "counted.py").write_text(counted_judge(RAISES))
    (project.path / "pyproject.toml").write_text(
        '[tool.judgesense.judges.mine]\nprovider = "callable"\nmodel = "counted:judge"\n'
    )
    with pytest.raises(JudgeError, match="NOBODYS_API_KEY is not set: judge 'mine' has no key, "):
        measured(project, mode="record")
    assert (project.path / "called").read_text() in ("x", "xx")
