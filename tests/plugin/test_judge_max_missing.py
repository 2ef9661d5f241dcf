"""``--judge-max-missing`` and its ini twin: how many replies may be missing."""

from __future__ import annotations

import re

import pytest

from .project import SPREAD_AT_NIGHT, Project, even


def silent_on_two(prompt: str) -> str:
    """Perfect, but without a verdict on the number 2 under the second wording: 1 of 18 calls."""
    return "Who knows." if prompt.startswith("Tell whether 2 ") else even(prompt)


@pytest.fixture
def project(recorded_once: Project) -> Project:
    return recorded_once


@pytest.fixture
def recorded(project: Project) -> Project:
    # Two of 18 pairs lack a verdict: JSS 16/16, at the worst 16/18 = 0.889; 1/18 = 5.6% missing.
    project.server.reply = silent_on_two
    path = project.path / "parity.suite.toml"
    path.write_text(path.read_text().replace("jss_floor = 0.8", "jss_floor = 0.9"))
    project.record()
    return project


def test_more_than_five_percent_missing_leave_a_floor_undecided(recorded: Project) -> None:
    result = recorded.run("parity.suite.toml")
    result.assert_outcomes(failed=1)
    text = re.sub(r"\s+", " ", result.stdout.str())
    assert "mine 1 of 1 check inconclusive, 18 replies (1 without a verdict)" in text
    assert "5.6% of the replies are missing; in the worst case it is 0.889" in text
    assert "at least 0.90 wanted; 1 reply missing: 0.89 to 1.00" in text


def test_no_share_frees_a_bar_that_the_worst_case_would_miss(recorded: Project) -> None:
    result = recorded.run("parity.suite.toml", "--judge-max-missing", "0.06")
    result.assert_outcomes(failed=1)


@pytest.fixture
def of_kappa(recorded: Project) -> Project:
    # Of kappa with three labels nobody knows the worst case: the share of missing replies decides.
    path = recorded.path / "parity.suite.toml"
    text = path.read_text().replace("jss_floor = 0.9", "kappa_floor = 0.9")
    path.write_text(text.replace('"YES", "NO"', '"YES", "NO", "UNKNOWN"'))
    return recorded


def test_more_than_five_percent_missing_leave_open_what_has_no_worst_case(
    of_kappa: Project,
) -> None:
    result = of_kappa.run("parity.suite.toml")
    result.assert_outcomes(failed=1)
    assert "5.6% of the replies are missing" in re.sub(r"\s+", " ", result.stdout.str())


@SPREAD_AT_NIGHT
def test_the_share_may_be_chosen(of_kappa: Project, workers: tuple[str, ...]) -> None:
    result = of_kappa.run("parity.suite.toml", "--judge-max-missing", "0.06", *workers)
    result.assert_outcomes(passed=1)
