"""Bars that so few items cannot decide: lint against the gate itself, on a judge without error."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_judgesense.checks.suite_faults import lint_notices
from pytest_judgesense.errors import SuiteError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.suites.suite import Template
from tests.checks.known import lint_suite
from tests.checks.undecidable import assert_fewest_clusters, passes, suite_with
from tests.suites.known import builtin_suites, load_suite


# The lower bound of K clusters of two and more units that all agree is the 0.05 quantile of
# Beta(K a, 0.55), a the shape of `stats.dirichlet` (by betaincinv): 0.9 from 22 clusters on, 0.93
# (a ceiling of 0.07) from 31, 0.8 (or a ceiling of 0.2) from 12. Both slots named equally often:
# 1/2 times that. The bound of kappa is a quantile of draws, by 500,000 others of numpy: of 17
# clusters 0.782 if labels are balanced and 0.775 as they are here (10 YES), of 16 0.766 and 0.764.
# So 0.77 needs 17 either way.
@pytest.mark.parametrize(
    ("name", "check", "arguments", "needed"),
    [
        ("factuality", "jss_floor", {"bar": 0.9}, 22),
        ("factuality", "flip_rate_bound", {"bar": 0.1}, 22),
        ("preference", "jss_floor", {"bar": 0.9}, 22),
        ("preference", "side_bias_limit", {"bar": 0.1}, 12),
        ("vacuum", "dark_current_ceiling", {"bar": 0.07}, 31),
        ("ladder", "target_sensitivity_floor", {"bar": 0.8, "distance": 1}, 12),
        ("factuality", "agreement_floor", {"bar": 0.8}, 12),
        ("coherence", "jss_binary_floor", {"bar": 0.9}, 22),
        ("coherence", "within_one_agreement_floor", {"bar": 0.9}, 22),
        ("ladder", "wrong_choice_ceiling", {"bar": 0.2, "distance": 1}, 12),
        ("ladder", "filler_preference_ceiling", {"bar": 0.2}, 12),
        ("factuality", "kappa_floor", {"bar": 0.77}, 17),
        ("factuality", "failed_rate_ceiling", {"bar": 0.1}, 22),
    ],
)
def test_lint_names_the_fewest_clusters_on_which_the_gate_can_pass(
    name: str, check: str, arguments: dict[str, float], needed: int
) -> None:
    assert_fewest_clusters(name, check, arguments, needed)


def test_lint_knows_where_a_cluster_is_one_unit() -> None:
    # One wording, and one reply to each item: the lower bound of K right ones is Clopper and
    # Pearson's, 0.05^(1/K): 0.9019 of 29 and 0.8985 of 28; asking twice adds nothing. Two wordings
    # of an item need 22.
    for clusters, wordings, replicates, decided in (
        (29, 1, 1, True),
        (28, 1, 1, False),
        (28, 1, 2, False),
        (22, 2, 1, True),
    ):
        suite = suite_with("factuality", clusters, "agreement_floor", bar=0.9)
        suite = replace(suite, templates=suite.templates[:wordings], replicates=replicates)
        assert passes(suite) is decided
        found = [f.expected for f in lint_suite(suite) if f.rule == "undecidable-bar"]
        assert found == ([] if decided else ["at least 29 clusters"])


def test_lint_takes_the_labels_of_the_suite_for_kappa() -> None:
    # Of the first 18 clusters 11 say YES: the gate's lower bound is 0.792 (0.786 by draws of numpy;
    # balanced labels would have 0.796), of 19 it is 0.804 (0.802).
    assert_fewest_clusters("factuality", "kappa_floor", {"bar": 0.8}, 19)


def test_kappa_of_labels_that_are_all_alike_clears_no_bar() -> None:
    # Kappa is undefined where both wordings give one label throughout, on any number of clusters.
    suite = suite_with("factuality", 40, "kappa_floor", bar=0.1)
    alike = tuple(item for item in suite.items if item.label == "YES")
    (finding,) = [f for f in lint_suite(replace(suite, items=alike)) if f.rule == "undecidable-bar"]
    assert "no number of items" in finding.expected


def test_errors_before_repair_need_as_many_clusters_as_errors() -> None:
    # Where nothing is repaired it is not measured, so the gate cannot say the same.
    check = "error_rate_before_repair_ceiling"
    enough, fewer = (suite_with("temperature", clusters, check, bar=0.3) for clusters in (8, 7))
    assert "undecidable-bar" not in {finding.rule for finding in lint_suite(enough)}
    (finding,) = [f for f in lint_suite(fewer) if f.rule == "undecidable-bar"]
    assert finding.expected == "at least 8 clusters"  # Beta(8 a, 0.55) has 0.704, and 0.654 of 7


def test_the_bars_of_a_tradeoff_are_looked_at_one_by_one() -> None:
    bars = {"false_preference": 0.2, "distance_1": 0.8, "distance_5": 0.5}
    suite = suite_with("criterion", 10, "criterion_tradeoff", **bars)
    found = [f.expected for f in lint_suite(suite) if f.rule == "undecidable-bar"]
    # 0.2 and 0.8 need 12, and there are 10 tasks; 0.5 needs 6.
    assert found == ["at least 12 clusters"] * 2


def test_a_bar_of_perfection_cannot_be_decided_by_any_number() -> None:
    (finding,) = lint_suite(suite_with("factuality", 40, "jss_floor", bar=1.0))
    assert "no number of items" in finding.expected


def test_warnings_are_notices_and_errors_refuse_the_suite() -> None:
    suite = suite_with("factuality", 10, "jss_floor", bar=0.9)
    # Ten answers are the fewest that are searched for shortcuts, and of so few words tell labels
    # apart by chance: right ones have 37, 31, 42, 39 and 35 words, wrong ones 38, 35, 13, 41, 18;
    # of the 25 pairs 16 have the right one longer, one has both alike: 16.5 / 25 = 66%. The whole
    # suite has no such finding.
    shortcut, notice = lint_notices(suite, BUILT_IN)
    assert shortcut.startswith("lint lexical-shortcut: suite factuality: its labels can be found ")
    assert "length alone finds 66%" in shortcut
    whole = load_suite(builtin_suites()["factuality"])
    assert "lexical-shortcut" not in {finding.rule for finding in lint_suite(whole)}
    assert notice.startswith("lint undecidable-bar: jss_floor[0.9] of suite factuality: ")
    twins = tuple(Template(f"t{i}", "YES or NO? {{question}} {{answer}}") for i in (1, 2))
    with pytest.raises(SuiteError, match="lint identical-sides") as caught:
        lint_notices(replace(suite, templates=twins), BUILT_IN)
    assert "judgesense plan --lint" in caught.value.remedy
