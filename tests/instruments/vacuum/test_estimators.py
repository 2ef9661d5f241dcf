"""The dark current, by hand."""

from __future__ import annotations

import pytest

from pytest_judgesense.measures.cell_estimates import estimate_all
from tests.measures.building import VACUUM, both_orders, cell, estimate


def test_dark_current_counts_preferences_where_nothing_is_there() -> None:
    # A, B, tie, abstain: the last two prefer neither. 2 of 4.
    of = cell(VACUUM, both_orders("v", [("A", "B"), ("tie", "abstain")]))
    found = estimate(of, "dark_current")
    assert (found.value, found.count, found.n, found.unit) == (0.5, 2, 4, "call")
    assert (estimate(of, "tie_rate").value, estimate(of, "abstain_rate").value) == (0.25, 0.25)


def test_dark_current_stands_by_category_beside_the_pooled_one() -> None:
    judgments = both_orders("e", [("A", "A")], condition={"category": "empty"})
    judgments += both_orders("i", [("tie", "tie")], condition={"category": "identical"})
    of = cell(VACUUM, judgments)
    assert estimate(of, "dark_current", category="empty").value == 1.0
    assert estimate(of, "dark_current", category="identical").value == 0.0
    assert estimate(of, "dark_current").value == 0.5


def test_vacuum_under_two_prompts_has_a_dark_current_under_each() -> None:
    judgments = both_orders("v", [("A", "B")], condition={"arm": "baseline"}, template="baseline")
    judgments += both_orders("v", [("tie", "B")], condition={"arm": "strict"}, template="strict")
    of = cell(VACUUM, judgments)
    # That of the baseline prompt is the dark current, and names no arm: 2 of its 2 calls prefer,
    # and not 3 of the 4 of both prompts. Under the strict prompt 1 of 2.
    found = estimate(of, "dark_current")
    assert (found.value, found.count, found.n) == (1.0, 2, 2)
    assert estimate(of, "dark_current", arm="strict").value == 0.5
    assert estimate(of, "tie_rate").value == 0.0
    assert estimate(of, "tie_rate", arm="strict").value == 0.5
    named = {one.condition.get("arm") for one in estimate_all(of) if one.measure == "dark_current"}
    assert named == {None, "strict"}


def test_dark_current_with_missing_replies_says_how_many_and_bounds_them() -> None:
    # 1 of 2 verdicts decisive; over all 4 calls 1/4 to 3/4.
    of = cell(VACUUM, both_orders("v", [("A", "tie"), ("?", "!")]))
    found = estimate(of, "dark_current")
    assert (found.count, found.n) == (1, 2)
    assert (found.missing.unparsed, found.missing.failed, found.missing.share) == (1, 1, 0.5)
    assert (found.missing.lower_bound, found.missing.upper_bound) == (0.25, 0.75)


def test_one_cluster_has_no_clustered_interval() -> None:
    of = cell(VACUUM, both_orders("v", [("A", "B")] * 3, of_cluster=3))
    assert estimate(of, "dark_current").clustered is None
    assert estimate(of, "dark_current").value == pytest.approx(1.0)
