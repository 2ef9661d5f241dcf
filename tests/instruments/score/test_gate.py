"""A function that scores, gated: one session, and what is called worse than before."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from pytest_judgesense.checks.regression import Side, adjust, compare
from pytest_judgesense.instruments.builtin import BUILT_IN
from tests.instruments.score.test_estimators import cell_of, scored
from tests.plugin.project import no_traceback, run

SUITE = """
schema = "judgesense/suite/1"
name = "own"
kind = "score"
[space]
score = { low = 0, high = 100 }
pass_mark = 50
[stimuli]
file = "items.csv"
columns = { label = "gold" }
[[templates]]
id = "t1"
text = "Score {{answer}} from 0 to 100."
[checks]
score_error_bound = 0.05
score_correlation_floor = 0.9
mark_agreement_floor = 0.95
unparsed_rate_ceiling = 0.1
"""
# Ten points too high, and above 100 for nothing.
JUDGE = """
from pytest_judgesense import Judge

def judge(answer):
    return min(100.0, float(answer) + 10)

def pytest_judgesense_judges(config):
    return [Judge("mine", judge)]
"""


def test_a_session_tells_error_bias_and_order_and_names_the_replies_that_are_far(
    pytester: pytest.Pytester,
) -> None:
    suites = pytester.path / "suites"
    suites.mkdir()
    (suites / "own.suite.toml").write_text(SUITE, encoding="utf-8")
    with (suites / "items.csv").open("w", encoding="utf-8", newline="") as file:
        rows = [(number, number + 0.5) for number in range(0, 90, 3)]
        csv.writer(file).writerows([("answer", "gold"), *rows])
    pytester.makeconftest(JUDGE)
    result = run(pytester, "suites", "--judge-mode", "live")
    no_traceback(result)
    shown = " ".join(result.stdout.str().split())
    # Answers are gold - .5 + 10: 9.5 of 100 too high, in perfect order. From 40 on 10 more points
    # reach the mark: 42, 45 and 48 are on its other side, 3 of 30.
    assert "error .095" in shown
    assert "bias .095 rho 1.00" in shown
    assert "mean absolute error 9.50, rank correlation 1.00; 90% on the label's side of 50" in shown
    assert "scores lie 0.095 of their range from the label on average (9.50 on 0 to 100)" in shown
    assert "3 of 30 replies are not on the label's side of the pass mark" in shown
    result.assert_outcomes(passed=2, failed=2)


def verdicts(shift: float) -> dict[str, str]:
    """What is said of a judge whose scores have moved by ``shift`` of the range."""
    rng = np.random.default_rng(2)
    labels = rng.uniform(0.3, 0.6, 60)
    before = labels + rng.normal(0, 0.02, 60)
    then, now = (Side.of(cell_of(scored(s, labels))) for s in (before, before + shift))
    names = ("score_error", "score_correlation")
    compared = [("j", compare(then, now, BUILT_IN.measures[name])) for name in names]
    return {
        name: comparison.verdict(comparison.of.margin, adjustment)
        for name, (_, comparison), adjustment in zip(names, compared, adjust(compared), strict=True)
    }


def test_a_shift_of_all_scores_is_worse_in_error_and_alike_in_order() -> None:
    # The error grows from about .016 to about .2, the order stays.
    assert verdicts(0.2) == {"score_error": "regressed", "score_correlation": "unchanged"}


def test_the_same_scores_are_unchanged() -> None:
    assert verdicts(0.0)["score_error"] == "unchanged"


def test_scores_that_move_nearer_are_improved() -> None:
    rng = np.random.default_rng(4)
    labels = rng.uniform(0.3, 0.6, 60)
    then, now = (
        Side.of(cell_of(scored(labels + shift, labels))) for shift in (np.full(60, 0.3), 0.01)
    )
    comparison = compare(then, now, BUILT_IN.measures["score_error"])
    (adjustment,) = adjust([("j", comparison)])
    assert comparison.verdict(0.05, adjustment) == "improved"
