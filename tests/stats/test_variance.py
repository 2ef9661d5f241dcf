"""Variance components against worked numbers, a general formula, and simulated truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.stats.variance import (
    REPLICATE,
    Components,
    cheapest_split,
    variance_components,
)

ITEM, TEMPLATE = frozenset({"item"}), frozenset({"template"})
BOTH, REP = ITEM | TEMPLATE, frozenset({REPLICATE})


def test_one_factor_is_the_textbook_one_way_analysis() -> None:
    # Items (1, 3), (5, 7), (9, 11): means 2, 6, 10. MS within = 2 + 2 + 2 over 3 = 2;
    # MS between = 2 * (16 + 0 + 16) / 2 = 32; var_item = (32 - 2) / 2 = 15.
    found = variance_components([[1, 3], [5, 7], [9, 11]], ["item"])
    assert found is not None
    assert found.variances == pytest.approx({ITEM: 15.0, REP: 2.0})
    assert not found.confounded


def test_two_factors_without_replicates_leave_the_interaction_in_the_residual() -> None:
    # Rows 1 3 / 2 8: grand 3.5, item effects -1.5, 1.5, template effects -2, 2, residual
    # 1, -1, -1, 1. MS: item 2 * 4.5 = 9, template 2 * 8 = 16, residual 4.
    # var_item = (9 - 4) / 2, var_template = (16 - 4) / 2.
    found = variance_components([[[1], [3]], [[2], [8]]], ["item", "template"])
    assert found is not None
    assert found.variances == pytest.approx({ITEM: 2.5, TEMPLATE: 6.0, REP: 4.0})
    assert found.confounded


def test_a_negative_solution_is_given_as_nothing() -> None:
    # Items differ by less than their replicates: means 5, 5, MS between 0, MS within 50.
    found = variance_components([[0, 10], [10, 0]], ["item"])
    assert found is not None
    assert found.variances == {ITEM: 0.0, REP: 50.0}


def test_a_factor_of_one_level_was_not_varied() -> None:
    found = variance_components([[[1, 3]], [[5, 7]]], ["item", "template"])
    assert found is not None
    assert set(found.variances) == {ITEM, REP}
    assert variance_components([[[1, 3]]], ["item", "template"]) is None


def test_what_is_nested_has_no_effect_of_its_own() -> None:
    # Clusters (0, 2) and (10, 12), one replicate: items within clusters have MS 2 (with the
    # replicates), clusters 2 * (25 + 25) = 100 over 1 degree: (100 - 2) / 2 = 49.
    found = variance_components(
        [[[0], [2]], [[10], [12]]], ["cluster", "item"], {"item": "cluster"}
    )
    assert found is not None
    assert found.variances == pytest.approx({frozenset({"cluster"}): 49.0, REP: 2.0})


def test_the_planted_components_are_found_on_the_average() -> None:
    # 300 arrays of 30 items, 4 templates, 3 replicates: var 1 (item), 0.5 (template), 0.25 (both),
    # 2 (replicates). The mean of 300 unbiased estimates; the widest is that of the templates,
    # whose standard error is about 0.5 sqrt(2 / 3) / sqrt(300) = 0.024; five of it.
    draw = np.random.default_rng(0)
    sums = dict.fromkeys((ITEM, TEMPLATE, BOTH, REP), 0.0)
    for _ in range(300):
        scores = (
            draw.normal(size=(30, 1, 1))
            + draw.normal(scale=0.5**0.5, size=(1, 4, 1))
            + draw.normal(scale=0.25**0.5, size=(30, 4, 1))
            + draw.normal(scale=2**0.5, size=(30, 4, 3))
        )
        found = variance_components(scores, ["item", "template"])
        assert found is not None
        for name, variance in found.variances.items():
            sums[name] += variance / 300
    assert sums == pytest.approx({ITEM: 1.0, TEMPLATE: 0.5, BOTH: 0.25, REP: 2.0}, abs=0.12)


@given(st.integers(0, 10_000), st.floats(-5, 5), st.floats(0.1, 10))
def test_components_do_not_depend_on_the_origin_and_scale_as_squares(
    seed: int, shift: float, scale: float
) -> None:
    scores = np.random.default_rng(seed).normal(size=(4, 3, 2))
    plain = variance_components(scores, ["item", "template"])
    moved = variance_components(scale * scores + shift, ["item", "template"])
    assert plain is not None
    assert moved is not None
    for name, variance in plain.variances.items():
        assert moved.variances[name] == pytest.approx(scale**2 * variance, abs=1e-6)


def test_the_variance_of_a_mean_divides_each_component_by_its_levels() -> None:
    parts = Components(
        {ITEM: 1.0, TEMPLATE: 0.5, REP: 3.0}, {"item": 2, "template": 2, REPLICATE: 1}, True
    )
    # 1 / 10 + 0.5 / 5 + 3 / (10 * 5 * 2)
    assert parts.of_mean({"item": 10, "template": 5, REPLICATE: 2}) == pytest.approx(0.23)


def test_the_cheapest_design_buys_items_and_not_replicates() -> None:
    # Only items and replicates vary: a call on a new item answers both, so r = 1 is always best.
    # (0.06 + 0.04) / n <= (0.1 / 1.959964)^2 = 0.0026031: n = ceil(38.41) = 39.
    parts = Components({ITEM: 0.06, REP: 0.04}, {"item": 9, REPLICATE: 2}, False)
    split = cheapest_split(parts, 0.1, {REPLICATE: (1, 2, 3)}, scaled="item")
    assert split is not None
    assert split.levels == {"item": 39, REPLICATE: 1}
    assert split.calls == 39
    assert split.half_width <= 0.1


def test_wordings_that_differ_must_be_bought() -> None:
    # Templates alone: 0.01 / t <= 0.0026031 needs t = 4, whatever the number of items; fewer than
    # ten items are never proposed.
    parts = Components({TEMPLATE: 0.01}, {"item": 9, "template": 2, REPLICATE: 1}, True)
    split = cheapest_split(parts, 0.1, {"template": range(1, 11)}, scaled="item")
    assert split is not None
    assert split.levels == {"template": 4, "item": 10}
    assert cheapest_split(parts, 0.1, {"template": (1, 2, 3)}, scaled="item") is None
