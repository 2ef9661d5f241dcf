"""Bars on debates that so few of them cannot decide."""

from __future__ import annotations

from pytest_judgesense.checks.suite_faults import default_limit
from pytest_judgesense.instruments.builtin import BUILT_IN
from tests.checks.known import lint_suite
from tests.checks.undecidable import assert_fewest_clusters, suite_with


def test_lint_names_the_fewest_topics_on_which_prompts_can_agree() -> None:
    # Topics that all agree have as lower bound the 0.05 quantile of Beta(K a, 0.55) with
    # a = (z / t)^2 (`stats.dirichlet`), by scipy: 0.8127 of 12 topics, 0.7938 of 11.
    assert_fewest_clusters("debate", "prompt_disagreement_bound", {"bar": 0.2}, 12)


def test_a_bar_on_one_pair_of_prompts_is_looked_at_too() -> None:
    suite = suite_with("debate", 11, "prompt_disagreement_bound", bar=0.2, prompt_pair="p0-p1")
    (finding,) = [f for f in lint_suite(suite) if f.rule == "undecidable-bar"]
    assert finding.expected == "at least 12 clusters"


def test_a_variance_without_a_known_best_has_no_default_limit() -> None:
    assert default_limit(BUILT_IN.measures["score_variance"], 3.0, [2] * 40) is None
