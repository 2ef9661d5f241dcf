"""Answers that are carried over to other names: what a session, a replay and a plan say of it."""

from __future__ import annotations

import pytest

from tests import processes

from .project import SPREAD_AT_NIGHT, TRIALS, Project, parity_suite, times_asked


@pytest.fixture
def project(recorded_once: Project) -> Project:
    return recorded_once


@SPREAD_AT_NIGHT
def test_a_session_says_what_was_carried_over_and_what_was_asked(
    project: Project, workers: tuple[str, ...]
) -> None:
    project.record()
    project.suite.unlink()
    path = parity_suite(project.path, name="numbers", checks="jss_floor = 0.8\nkappa_floor = 0.5")
    items = project.path / "numbers.jsonl"
    # One of six items is another number: three wordings of it are asked, and five items are not.
    items.write_text(items.read_text().replace('"number": "6"', '"number": "8"'))
    carried, asked = TRIALS - 3, 3

    missing = project.run(path.name)
    missing.stdout.fnmatch_lines(
        ["*record it: pytest *numbers.suite.toml*", f"*without a call for {carried} of them*"]
    )
    planned = processes.run("judgesense", "plan", path.name, cwd=project.path)
    assert f"{carried} answers are carried over" in planned.stdout, planned.stderr
    assert f"{asked} trials are asked" in planned.stdout
    assert f"calls to be made: {asked} ({carried} are recorded)" in planned.stdout
    assert project.server.asked == []

    result = project.run(path.name, "--judge-mode", "record", *workers)
    result.stdout.fnmatch_lines([f"*{carried} answers carried over, {asked} asked"])
    assert times_asked(project.server.prompts) == {1: asked}
    recordings = project.cassette.parent
    assert sorted(path.name for path in recordings.iterdir()) == ["numbers.jsonl", "parity.jsonl"]
    project.run(path.name).assert_outcomes(passed=2)
