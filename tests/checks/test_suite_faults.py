"""What a judge without error reaches, and the limits that follow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta

from pytest_judgesense.checks.outcome import judge_check
from pytest_judgesense.checks.suite_faults import (
    can_clear,
    default_limit,
    error_free_bound,
    lint_suite,
)
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.suites.suite import CheckDeclaration
from tests.checks.known import declare_check
from tests.checks.undecidable import passes, suite_with

MEASURES = BUILT_IN.measures
JSS, FLIPS, SIDE = (MEASURES[name] for name in ("jss", "flip_rate", "side_bias"))


# The lower bound of K - 1 right units of K single ones is Clopper and Pearson's, the 0.05 quantile
# of Beta(K - 1, 2); of larger clusters `stats.dirichlet`: 0.803, 0.868, 0.901 and 0.934.
@pytest.mark.parametrize(
    ("units", "limits"), [(1, (0.75, 0.85, 0.85, 0.9)), (5, (0.8, 0.85, 0.9, 0.9))]
)
def test_the_default_limit_is_cleared_after_one_lost_item(
    units: int, limits: tuple[float, ...]
) -> None:
    for clusters, limit in zip((20, 30, 40, 60), limits, strict=True):
        sizes = [units] * clusters
        assert default_limit(JSS, 0.99, sizes) == limit
        assert default_limit(FLIPS, 0.01, sizes) == pytest.approx(1 - limit)
        bound = error_free_bound(JSS, sizes, lost=1)
        assert bound is not None
        assert limit <= bound < limit + 0.05
        if units == 1:
            assert bound == pytest.approx(beta.ppf(0.05, clusters - 1, 2), abs=1e-5)


def test_where_that_is_not_short_of_the_bar_the_default_lies_a_tenth_short_of_it() -> None:
    # Of 40 clusters of five 0.90, which is a bar of 0.9 itself.
    assert default_limit(JSS, 0.9, [5] * 40) == 0.8
    assert default_limit(FLIPS, 0.1, [5] * 40) == 0.2
    assert default_limit(JSS, 0.95, [5] * 40) == 0.9


def test_the_largest_cluster_is_the_one_that_is_lost() -> None:
    # Twenty clusters by Zipf's law: what is lost is more than a quarter of all units.
    sizes = [max(1, round(28 / rank)) for rank in range(1, 21)]
    assert max(sizes) / sum(sizes) > 0.25
    bound = error_free_bound(JSS, sizes, lost=1)
    assert bound is not None
    assert bound < 1 - max(sizes) / sum(sizes)
    limit = default_limit(JSS, 0.9, sizes)
    assert limit is not None
    assert limit <= bound


def test_a_slot_bias_lies_within_its_limit_on_both_sides() -> None:
    # Forty clusters of two calls: one names slot A twice, 41 of 80. Half the width of the bound of
    # a share, as `stats.dirichlet` has it: 0.0496 on the far side.
    assert error_free_bound(SIDE, [2] * 40, lost=1) == pytest.approx(0.0496, abs=1e-3)
    assert default_limit(SIDE, 0.05, [2] * 40) == 0.15  # 0.05 is the bar itself
    assert default_limit(SIDE, 0.03, [2] * 40) == 0.05


@pytest.mark.parametrize("sizes", [(), (5,)])
def test_a_single_cluster_bounds_nothing(sizes: tuple[int, ...]) -> None:
    assert error_free_bound(JSS, sizes) is None
    assert default_limit(JSS, 0.9, sizes) is None
    assert not can_clear(JSS, 0.1, sizes)


def test_two_clusters_of_which_one_is_lost_exclude_nothing() -> None:
    # 0.05 quantile of one of two: 0.0253 by Clopper and Pearson, rounded down to nothing.
    assert default_limit(JSS, 0.4, [1, 1]) is None


def test_a_measure_without_a_known_best_has_no_default() -> None:
    assert default_limit(MEASURES["kappa"], 0.9, [2] * 40) is None


# As for bars: 0.8 needs 12 clusters of two units and more (see test_undecidable).
@pytest.mark.parametrize(("clusters", "cleared"), [(12, True), (11, False)])
def test_lint_says_where_a_limit_cannot_be_cleared(clusters: int, cleared: bool) -> None:
    suite = suite_with("factuality", clusters, "jss_floor", bar=0.99, limit=0.8)
    assert passes(suite) is cleared
    found = [one for one in lint_suite(suite, BUILT_IN) if one.rule.startswith("undecidable")]
    # That no judge clears a bar of 0.99 on so few clusters decides nothing.
    assert [one.rule for one in found] == ([] if cleared else ["undecidable-limit"])
    if not cleared:
        assert found[0].expected == "at least 12 clusters"
        assert "set a limit that fewer can clear" in found[0].remedy


def test_lint_takes_the_sizes_of_the_clusters() -> None:
    # Forty answers in equal clusters of two, or in one of 21 and 19 of one: the same number of
    # clusters, and the large one weighs more than half.
    suite = suite_with("factuality", 40, "jss_floor", bar=0.9, limit=0.85)

    def grouped(clusters: list[str]) -> list[str]:
        items = tuple(
            replace(item, cluster=cluster)
            for item, cluster in zip(suite.items, clusters, strict=True)
        )
        found = lint_suite(replace(suite, items=items), BUILT_IN)
        return [one.found for one in found if one.rule == "undecidable-limit"]

    assert grouped([f"c{at // 2}" for at in range(40)]) == []
    sizes = np.array([21, *[1] * 19])
    uneven = grouped([f"c{at}" for at in np.repeat(np.arange(20), sizes)])
    bound = error_free_bound(JSS, [int(size) * 5 for size in sizes])
    assert bound is not None
    assert uneven == ([] if bound >= 0.85 else ["20 clusters of unlike sizes"])


def test_each_limit_of_a_composite_check_is_looked_at() -> None:
    suite = suite_with("criterion", 11, "criterion_tradeoff")
    given = {"false_preference": 0.2, "distance_1": 0.9, "distance_5": 0.9}
    given |= {"distance_1_limit": 0.8, "distance_5_limit": 0.5}
    checks = (CheckDeclaration("criterion_tradeoff", given),)
    found = lint_suite(replace(suite, checks=checks), BUILT_IN)
    # 0.2 and 0.8 need 12 clusters, 0.5 needs 6.
    assert [one.rule for one in found if one.rule.startswith("undecidable")] == [
        "undecidable-bar",
        "undecidable-limit",
    ]


def test_the_ids_of_composite_limits_are_their_bars() -> None:
    check = declare_check(
        "criterion_tradeoff", (0.2, 0.8, 0.8), {"distance_1_limit": 0.7, "distance_5_limit": 0.6}
    )
    assert check.id == "criterion_tradeoff[0.2,0.8,0.8]"
    assert check.limit == {"distance_1": 0.7, "distance_5": 0.6}
    assert check.key == (
        "criterion_tradeoff[0.2,0.8,0.8,distance_1_limit=0.7,distance_5_limit=0.6]"
    )
    assert judge_check(check, "s", ()).findings[1].limit == 0.7
