"""``--judge-concurrency`` and its ini twin: how many calls are under way at once."""

from __future__ import annotations

import pytest

from .project import TRIALS, Project


@pytest.fixture
def slow(project: Project) -> Project:
    project.server.delay_s = 0.03
    return project


def _record(project: Project, *arguments: str) -> int:
    result = project.run("parity.suite.toml", "--judge-mode", "record", *arguments)
    result.assert_outcomes(passed=1)
    assert len(project.server.asked) == TRIALS
    return project.server.most


def test_no_more_calls_are_under_way_than_allowed_and_the_file_does_not_depend_on_it(
    slow: Project,
) -> None:
    def kept() -> list[str]:
        lines = [line.rpartition('"recorded_at"')[0] for line in slow.lines()]
        slow.cassette.unlink()
        slow.server.forget()
        return lines

    assert _record(slow, "--judge-concurrency", "1") == 1
    one_by_one = kept()
    slow.pytester.makeini("[pytest]\njudge_concurrency = 3\n")
    assert 2 <= _record(slow) <= 3
    assert kept() == one_by_one


def test_the_default_is_eight(slow: Project) -> None:
    assert 4 <= _record(slow) <= 8
