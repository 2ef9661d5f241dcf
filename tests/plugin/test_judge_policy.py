"""``--judge-policy`` and its ini twin: whether the estimate decides or its bound."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .project import Project


@pytest.fixture
def project(recorded_once: Project) -> Project:
    return recorded_once


def _check(path: Path) -> dict[str, object]:
    sheet = json.loads((path / "x.json").read_text(encoding="utf-8"))
    return sheet["judges"][0]["checks"][0]


def test_the_estimate_decides_by_default_and_a_close_call_is_told(project: Project) -> None:
    project.record()
    result = project.run("parity.suite.toml", "--judge-datasheet", "x.json")
    result.assert_outcomes(passed=1, warnings=0)
    check = _check(project.path)
    assert (check["policy"], check["outcome"]) == ("estimate", "pass")
    # All of 18 pairs in 6 clusters agree: the lower end is the 0.025 quantile of Beta(6 a, 0.55),
    # a = (1.9600 / 2.5706)^2 = 0.5813 (stats.dirichlet), which is 0.447.
    (warning,) = check["warnings"]  # type: ignore[misc]
    assert "0.447 to 1.000 straddles the bar 0.8" in warning
    result.stdout.fnmatch_lines(
        ["*close: passes, straddles the bar*", "*parity  close  jss 18/18 1.00 *.45, 1.00*"]
    )


def test_confident_fails_what_too_few_items_cannot_settle(project: Project) -> None:
    project.record()
    confident = ("--judge-policy", "confident")
    result = project.run("parity.suite.toml", *confident, "--judge-datasheet", "x.json")
    # The one-sided 95% bound of 6 clusters that agree is the 0.05 quantile of Beta(6 a, 0.55),
    # a = (1.6449 / 2.0150)^2 = 0.6663, which is 0.583: short of 0.8.
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["mine  1 of 1 check inconclusive, 18 replies", "  OPEN parity: 0 of 18 verdicts change *"]
    )
    check = _check(project.path)
    assert (check["policy"], check["outcome"]) == ("confident", "inconclusive")
    whole = project.run("parity.suite.toml", *confident, "-vv")
    whole.stdout.fnmatch_lines(["*jss_floor?0.8? of judge mine on parity: inconclusive"])
