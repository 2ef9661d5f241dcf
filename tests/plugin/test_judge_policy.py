"""``--judge-policy`` and its ini twin: whether the estimate decides or its bound."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.suites.known import of_known_kinds

from .project import PYTHON_JUDGE, Project, parity_suite, run

SHIPPED = of_known_kinds(
    *("coherence", "criterion", "debate", "factuality", "ladder", "ladder-fine", "preference"),
    *("relevance", "temperature", "vacuum"),
)


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
    whole = project.run("parity.suite.toml", "-vv")
    whole.stdout.fnmatch_lines(["*straddles the bar 0.8*"])


@pytest.mark.parametrize("how", ["option", "ini"])
def test_confident_fails_what_too_few_items_cannot_settle(
    pytester: pytest.Pytester, how: str
) -> None:
    parity_suite(pytester.path)
    pytester.makeconftest(PYTHON_JUDGE)
    run(pytester, "parity.suite.toml", "--judge-mode", "record")
    arguments = ["--judge-policy", "confident"]
    if how == "ini":
        pytester.makeini("[pytest]\njudge_policy = confident\n")
        arguments = []
    result = run(pytester, "parity.suite.toml", *arguments, "--judge-datasheet", "x.json")
    # The one-sided 95% bound of 6 clusters that agree is 0.583 (see below), short of 0.8.
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["mine  1 of 1 check inconclusive, 18 replies", "  OPEN parity: 0 of 18 verdicts change *"]
    )
    check = _check(pytester.path)
    assert (check["policy"], check["outcome"]) == ("confident", "inconclusive")
    whole = run(pytester, "parity.suite.toml", *arguments, "-vv")
    whole.stdout.fnmatch_lines(["*jss_floor?0.8? of judge mine on parity: inconclusive"])


def test_confident_passes_what_the_bound_clears(project: Project) -> None:
    # The 0.05 quantile of Beta(6 a, 0.55), a = (1.6449 / 2.0150)^2 = 0.6663, is 0.583.
    parity_suite(project.path, checks="jss_floor = 0.5")
    project.record()
    project.run("parity.suite.toml", "--judge-policy", "confident").assert_outcomes(passed=1)


def test_confident_fails_outright_what_lies_clearly_beyond_the_bar(project: Project) -> None:
    # Under t2 always NO, else always YES: of the three pairs of an item two flip, on all items.
    project.server.reply = lambda prompt: "NO" if prompt.startswith("Tell") else "YES"
    project.record()
    result = project.run(
        "parity.suite.toml", "--judge-policy", "confident", "--judge-datasheet", "x.json"
    )
    result.assert_outcomes(failed=1)
    assert _check(project.path)["outcome"] == "fail"


def test_a_perfect_judge_passes_every_shipped_bar_under_confident(
    pytester: pytest.Pytester,
) -> None:
    chosen = [argument for name in SHIPPED for argument in ("--judge-suite", name)]
    result = run(pytester, *chosen, "--judge-name", "embedded:clean", "--judge-policy", "confident")
    assert result.ret == 0, result.stdout.str()
