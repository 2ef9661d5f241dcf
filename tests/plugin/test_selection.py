"""What an ini file of a branch leaves out that it did not."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_judgesense.plugin.selection import narrowed
from tests.repository import commit, repository

from .project import Project, no_traceback, parity_suite


@pytest.mark.parametrize(
    ("own", "then", "left_out"),
    [
        ({}, {}, []),
        ({"addopts": "-q -n 2 --cov src"}, {}, []),
        ({"addopts": "-k jss"}, {}, ["addopts -k jss"]),
        ({"addopts": ["-kjss", "--co"]}, {}, ["addopts -kjss", "addopts --co"]),
        ({"addopts": "--ignore=a.suite.toml"}, {}, ["addopts --ignore=a.suite.toml"]),
        (
            {"addopts": "--ignore a.py -q b.suite.toml"},
            {"addopts": "--ignore a.py"},
            ["addopts b.suite.toml"],
        ),
        # As it was, or less of it.
        ({"addopts": "-k jss"}, {"addopts": "-q -k jss"}, []),
        ({"testpaths": "suites"}, {}, ["testpaths = suites"]),
        ({"testpaths": ["suites", "tests"]}, {"testpaths": "suites"}, []),
        ({"testpaths": "tests"}, {"testpaths": "suites tests"}, ["testpaths = tests"]),
        ({"judge_name": "k"}, {"judge_name": "j"}, ["judge_name = k"]),
        ({}, {"judge_name": "j"}, []),
        ({"norecursedirs": "build old"}, {"norecursedirs": "build"}, ["norecursedirs = build old"]),
        ({"norecursedirs": "build"}, {"norecursedirs": "build old"}, []),
        ({"addopts": "'", "testpaths": 3}, {}, []),
    ],
)
def test_what_is_newly_left_out_is_named(
    own: dict[str, Any], then: dict[str, Any], left_out: list[str]
) -> None:
    assert [*narrowed(own, then)] == left_out


def test_a_session_that_leaves_something_out_is_refused_before_it_collects(
    project: Project,
) -> None:
    parity_suite(project.path)
    project.record()
    repository(project.path)
    commit(project.path)
    project.run("--judge-baseline=git:HEAD").assert_outcomes(passed=1)
    ini = project.path / "pytest.ini"
    ini.write_text("[pytest]\naddopts = --co\n")
    result = project.run("--judge-baseline=git:HEAD")
    no_traceback(result)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = " ".join(result.stderr.str().split())
    assert "pytest's ini file leaves out what it did not leave out at HEAD" in text
    assert "found: addopts --co" in text
    # What is typed is the choice of whoever runs it, and so is what stood there.
    ini.unlink()
    project.run("--judge-baseline=git:HEAD", "-k", "nothing").assert_outcomes(deselected=1)
    ini.write_text("[pytest]\naddopts = --co\n")
    commit(project.path)
    assert project.run("--judge-baseline=git:HEAD").ret == pytest.ExitCode.OK
