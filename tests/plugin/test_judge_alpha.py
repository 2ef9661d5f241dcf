"""``--judge-alpha`` and its ini twin, and the policy that it belongs to: ``refuted``.

The judge flips two of the three pairs of each of six items: JSS 6/18, each cluster 1/3. The upper
bound of six clusters that are alike is 1 - 2/3 B(q), with B(q) the (1 - q) quantile of
Beta(6 a(q), 0.55), a(q) = (z(q) / t(5, q))^2 (stats.dirichlet): 0.611 at 95%, 0.702 at 97.5%,
0.755 at 98.33%. So the bar 0.73 is refuted as one of two bars at alpha 0.05, not as one of three.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from .project import SPREAD_AT_NIGHT, Project, even, parity_suite

REFUTED = ("--judge-policy", "refuted")
ONE = "jss_floor = 0.73"
THREE = f"{ONE}\nfailed_rate_ceiling = 0.9\nunparsed_rate_ceiling = 0.9"


def drifted(prompt: str) -> str:
    """Wrong on all six numbers under the second wording."""
    right = even(prompt)
    return {"YES": "NO", "NO": "YES"}[right] if prompt.startswith("Tell") else right


@pytest.fixture
def project(recorded_once: Project) -> Project:
    return recorded_once


@pytest.fixture
def recorded(project: Project) -> Project:
    project.server.reply = drifted
    parity_suite(project.path, checks=ONE)
    project.record()
    return project


def check(project: Project, name: str) -> dict[str, Any]:
    sheet = json.loads((project.path / "x.json").read_text(encoding="utf-8"))
    (found,) = [one for one in sheet["judges"][0]["checks"] if one["check"].startswith(name)]
    return dict(found)


def flat(result: pytest.RunResult) -> str:
    """What is printed, with its lines joined."""
    return re.sub(r"\s+", " ", result.stdout.str())


@SPREAD_AT_NIGHT
def test_a_bar_that_a_bound_lies_beyond_is_refuted(
    recorded: Project, workers: tuple[str, ...]
) -> None:
    result = recorded.run("parity.suite.toml", *REFUTED, *workers, "--judge-datasheet", "x.json")
    result.assert_outcomes(failed=1)
    assert "refuted: even the 95.00% bound, 0.611, misses" in flat(result)
    assert "at least 0.73 wanted" in flat(result)
    assert (check(recorded, "jss")["outcome"], check(recorded, "jss")["policy"]) == (
        "fail",
        "refuted",
    )


@SPREAD_AT_NIGHT
def test_of_three_bars_it_is_neither_refuted_nor_proven_and_fails_nothing(
    recorded: Project, workers: tuple[str, ...]
) -> None:
    parity_suite(recorded.path, checks=THREE)
    result = recorded.run("parity.suite.toml", *REFUTED, *workers, "--judge-datasheet", "x.json")
    assert result.ret == 0
    result.assert_outcomes(passed=3)
    assert check(recorded, "jss")["outcome"] == "inconclusive"
    assert check(recorded, "failed_rate")["outcome"] == "pass"
    result.stdout.fnmatch_lines(
        ["mine  1 of 3 checks inconclusive, 18 replies", "  parity  OPEN   jss 6/18 *"]
    )
    told = "missed, and not refuted: the 98.33% bound is 0.755"
    assert told in " ".join(check(recorded, "jss")["warnings"])


def test_what_is_deselected_counts_all_the_same(recorded: Project) -> None:
    parity_suite(recorded.path, checks=THREE)
    # So that --lf has one to run again.
    recorded.run("parity.suite.toml", "-k", "jss_floor").assert_outcomes(failed=1, deselected=2)
    result = recorded.run("parity.suite.toml", *REFUTED, "--lf", "--judge-datasheet", "x.json")
    assert result.ret == 0
    assert check(recorded, "jss")["outcome"] == "inconclusive"


def test_markers_and_suite_files_are_one_family(recorded: Project) -> None:
    recorded.pytester.makepyfile(
        """
        import pytest

        @pytest.mark.failed_rate_ceiling(0.9, suite="parity.suite.toml")
        @pytest.mark.unparsed_rate_ceiling(0.9, suite="parity.suite.toml")
        def test_it():
            pass
        """
    )
    result = recorded.run(".", *REFUTED, "--judge-datasheet", "x.json")
    assert result.ret == 0
    assert check(recorded, "jss")["outcome"] == "inconclusive"


@SPREAD_AT_NIGHT
def test_alpha_may_be_chosen(recorded: Project, workers: tuple[str, ...]) -> None:
    # 0.15 for three bars leaves each 0.05: 0.611 again.
    parity_suite(recorded.path, checks=THREE)
    result = recorded.run("parity.suite.toml", *REFUTED, "--judge-alpha", "0.15", *workers)
    result.assert_outcomes(passed=2, failed=1)
    assert "even the 95.00% bound, 0.611, misses" in flat(result)


def test_a_measurement_that_fails_counts_and_does_not_stop_the_others(recorded: Project) -> None:
    # Two suites; the second has no recording, so its bar is not tried, and counts.
    parity_suite(recorded.path, name="other", checks=f"{ONE}\nfailed_rate_ceiling = 0.9")
    result = recorded.run(".", *REFUTED, "--judge-datasheet", "x.json")
    result.assert_outcomes(passed=1, failed=2)
    assert check(recorded, "jss")["outcome"] == "inconclusive"
